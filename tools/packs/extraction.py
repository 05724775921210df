"""From images to features: train the network of a recipe; its last hidden layer is the feature map.

A recipe may save the network at several accuracies during training; each gives a feature map.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from banditselect.experiments.packs import Features
from banditselect.reporting.tables import duration
from banditselect.types import Array, Index

from .networks import import_torch, lite0_network, mnist_network
from .readers import Images
from .recipes import Recipe
from .training import choose_device, features_of, head_of, seeded, train

_WATCHED = 2000  #: images on which the accuracy is measured


class Extract(NamedTuple):
    """The features from the network.

    Attributes
    ----------
    fit, items: one array ``(n, d)`` for each map: of training images that the network has not seen, of test images.
    heads: the network's own last layer at each map, ``(C, d + 1)``.
    fit_labels, labels: of both.
    notes: steps of each map, versions.
    """

    fit: list[Features]
    items: list[Features]
    heads: list[Array]
    fit_labels: Index
    labels: Index
    notes: dict[str, Any]


def extract(
    recipe: Recipe, images: Mapping[str, Images], *, device: str, limit: int | None, say: Callable[[str], None]
) -> Extract:
    """Train the network of a recipe on ``images["train"]`` and return the features of others.

    Parameters
    ----------
    limit: at most so many of the test images, spread evenly over the classes.
    """
    torch = import_torch()
    device = choose_device(device)
    own, other = split(images["train"].labels, recipe.train, recipe.fit, recipe.seed)
    rest = first(images["test"].labels, limit)
    classes = int(images["train"].labels.max()) + 1
    learned, fit, items = (
        Images(images[part].pixels[chosen], images[part].labels[chosen])
        for part, chosen in (("train", own), ("train", other), ("test", rest))
    )
    make = mnist_network if recipe.network == "cnn" else lite0_network
    network = seeded(recipe.seed, lambda: make(recipe.dim, classes))
    training, kept = recipe.training, _Kept(recipe.snapshots)
    started = time.perf_counter()
    watched = Images(fit.pixels[:_WATCHED], fit.labels[:_WATCHED])

    def watch(step: int, loss: Any) -> None:
        if not kept.full:
            kept.add(step, _accuracy(network, watched, recipe, device), network)
        if step % max(training.steps // 10, 1) == 0:
            say(f"step {step} of {training.steps}, loss {float(loss):.3f}, {duration(time.perf_counter() - started)}")

    train(network, learned.pixels, learned.labels, training, seed=recipe.seed, device=device, watch=watch)
    states = [(training.steps, network.state_dict()), *kept.chosen()]
    found = Extract([], [], [], fit.labels, items.labels, {})
    for _, state in states:
        network.load_state_dict({name: value.clone() for name, value in state.items()})
        found.fit.append(features_of(network, fit.pixels, training, device=device))
        found.items.append(features_of(network, items.pixels, training, device=device))
        found.heads.append(head_of(network))
    found.notes.update(steps=[step for step, _ in states], torch=str(torch.__version__), device=device)
    return found


def split(labels: Index, train: int, fit: int, seed: int) -> tuple[Index, Index]:
    """Return ``train`` images to learn from and ``fit`` others, both spread evenly over the classes."""
    order = np.random.default_rng(seed).permutation(labels.size)
    if train + fit > labels.size:
        raise ValueError(f"there are {labels.size} training images, expected at least {train + fit}")
    held = order[first(labels[order], fit)]
    rest = order[~np.isin(order, held)]
    return rest[first(labels[rest], train)], held


def first(labels: Index, limit: int | None) -> Index:
    """Return the first ``limit`` images, spread evenly over the classes; None for all, in their order."""
    if limit is None or limit >= labels.size:
        return np.arange(labels.size)
    rank = np.empty(labels.size, dtype=np.int64)
    for s in np.unique(labels):
        rank[labels == s] = np.arange(np.count_nonzero(labels == s))
    return np.argsort(rank, kind="stable")[:limit]


def nearest(accuracies: Sequence[float], targets: Sequence[float]) -> list[int]:
    """Return for each target, in turn, the position of the nearest unused accuracy.

    >>> nearest([0.1, 0.5, 0.52, 0.9], [0.5, 0.5, 0.8])
    [1, 2, 3]
    """
    distance = np.abs(np.subtract.outer(np.asarray(targets), np.asarray(accuracies)))
    chosen: list[int] = []
    for row in distance:
        row[chosen] = np.inf
        chosen.append(int(np.argmin(row)))
    return chosen


class _Kept:
    """Snapshots of a network during training, until the highest requested accuracy is passed."""

    def __init__(self, targets: Sequence[float]) -> None:
        self._targets = targets
        self._seen: list[tuple[int, float, dict[str, Any]]] = []
        self.full = not targets

    def add(self, step: int, accuracy: float, network: Any) -> None:
        state = {name: value.detach().cpu().clone() for name, value in network.state_dict().items()}
        self._seen.append((step, accuracy, state))
        self.full = accuracy > max(self._targets) + 0.02 and len(self._seen) >= len(self._targets)

    def chosen(self) -> list[tuple[int, dict[str, Any]]]:
        if not self._seen:
            return []
        places = nearest([accuracy for _, accuracy, _ in self._seen], self._targets)
        return [(self._seen[i][0], self._seen[i][2]) for i in reversed(places)]


def _accuracy(network: Any, images: Images, recipe: Recipe, device: str) -> float:
    features = features_of(network, images.pixels, recipe.training, device=device)
    head = head_of(network)
    return float(np.mean(np.argmax(features @ head[:, :-1].T + head[:, -1], axis=1) == images.labels))
