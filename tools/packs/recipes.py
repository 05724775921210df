"""The settings of the four packs: data set, network, training, snapshots or projections, bits. Changed here only."""

from dataclasses import dataclass, replace

from .training import Training


@dataclass(frozen=True)
class Recipe:
    """The settings of a pack.

    Attributes
    ----------
    kind: "features" or "balls".  dataset: the images.  network: "cnn" or "lite0".
    dim: neurons of the ReLU layer before the last; None for the 1280 features of Lite0.
    train, fit: how many of the training images the network learns from, and how many others the fits use.
    training: of the network.  seed: of everything.
    snapshots: accuracies at which the network is saved during training, besides the one at the end.
    projections: widths of the Gaussian random matrices that make maps out of the features; empty for none.
    bits: of a coded feature.
    """

    kind: str
    dataset: str
    network: str
    dim: int | None
    train: int
    fit: int
    training: Training
    seed: int
    snapshots: tuple[float, ...]
    projections: tuple[int, ...]
    bits: int

    def limited(self, limit: int | None) -> "Recipe":
        """Return a recipe for a small slice: at most ``limit`` images of each part, and few steps."""
        if limit is None:
            return self
        steps = min(self.training.steps, max(limit // 20, len(self.snapshots) + 2))
        training = replace(self.training, steps=steps, batch=min(self.training.batch, max(limit // 8, 2)))
        return replace(self, train=min(self.train, limit), fit=min(self.fit, limit), training=training)


_CNN = Training(
    steps=1560, batch=64, rate=0.01, warmup=0.3, decay=1e-4, smoothing=0.0, augment=False, size=0, center=0, spread=255
)
_LITE0 = Training(
    steps=2500,
    batch=128,
    rate=0.05,
    warmup=0.3,
    decay=5e-4,
    smoothing=0.0,
    augment=True,
    size=128,
    center=127,
    spread=128,
)

RECIPES = {
    "fs-mnist": Recipe(
        kind="features",
        dataset="mnist",
        network="cnn",
        dim=10,
        train=50_000,
        fit=10_000,
        training=_CNN,
        seed=0,
        snapshots=tuple(0.20 + 0.64 * i / 18 for i in range(19)),
        projections=(),
        bits=8,
    ),
    "fs-cifar100": Recipe(
        kind="features",
        dataset="cifar100",
        network="lite0",
        dim=None,
        train=40_000,
        fit=10_000,
        training=replace(_LITE0, steps=4680, smoothing=0.1),
        seed=2,
        snapshots=(),
        projections=(128, 13, 12, 11, 10, 9, 8, 8, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2),
        bits=8,
    ),
    "ps-mnist": Recipe(
        kind="balls",
        dataset="mnist",
        network="cnn",
        dim=12,
        train=50_000,
        fit=10_000,
        training=_CNN,
        seed=1,
        snapshots=(),
        projections=(),
        bits=16,
    ),
    "ps-cifar10": Recipe(
        kind="balls",
        dataset="cifar10",
        network="lite0",
        dim=12,
        train=40_000,
        fit=10_000,
        training=_LITE0,
        seed=3,
        snapshots=(),
        projections=(),
        bits=16,
    ),
}
