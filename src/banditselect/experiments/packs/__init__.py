"""Feature packs: what networks have computed from MNIST and CIFAR images, for the experiments to play on.

Experiments with images need no image and no network, because the features that policies see ship with the library.

``load_pack(name)`` reads one of the four packs that lie beside this file:

========================  =============  =======================================================================
name                      kind           what it holds
========================  =============  =======================================================================
fs-mnist, fs-cifar100     FeaturePack    20 feature maps of the same images, best first, and one parameter for each
                                         class on the best of them
ps-mnist, ps-cifar10      BallPack       one feature map, and for M in (2, 5, 10) balls that were estimated from
                                         many data sets ("fine") and from few small ones ("coarse")
========================  =============  =======================================================================

>>> pack = load_pack("fs-mnist")
>>> len(pack.maps), pack.maps[0].shape, pack.parameters.shape, pack.true_map
(20, (10000, 10), (10, 10), 0)
>>> balls = load_pack("ps-mnist").balls["fine", 5]
>>> balls.centers.shape, balls.radii.shape
((5, 13), (5,))

``provenance`` says where the numbers come from: data set and SHA-256 of its files, network, training, seeds, split,
versions, accuracies before and after quantisation, and the command that builds the pack anew.

A file is a compressed ``.npz`` without pickles. Features are kept as whole numbers of 8 or 16 bits with a scale and an
offset for each column; everything else as it is. This package alone reads and writes the format. The tool that builds
packs from images is in the repository, not in the wheel: ``python -m tools.packs``, described in docs/data.md.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ...carriers.persistence import replacing
from ...types import Array, Index
from .coding import Coded, Features, read_labels, read_numbers

__all__ = [
    "MODELS",
    "NAMES",
    "SETS",
    "BallPack",
    "Balls",
    "Coded",
    "FeaturePack",
    "Pack",
    "load_pack",
    "read_pack",
    "save",
]

NAMES = ("fs-mnist", "fs-cifar100", "ps-mnist", "ps-cifar10")
SETS = ("fine", "coarse")
MODELS = (2, 5, 10)

_FORMAT = "banditselect pack 1"


@dataclass(frozen=True, eq=False)
class FeaturePack:
    """M feature maps of the same items, for feature selection.

    Attributes
    ----------
    coded: the M maps, best first, each of RMS norm 1 over the images that the parameters were fitted on.
    labels: ``(items,)``, classes 0, 1, ..., C - 1.
    parameters: ``(C, d)``, on map ``true_map``: one linear model without intercept for each class, fitted to the 1/0
        indicator on images that are not among the items, classes weighed 1:9.
    true_map: 0.
    heads: for each map ``(C, d_i + 1)``, weights and intercepts of the linear classifier whose accuracy is stated.
    accuracies: ``(M,)``, of those classifiers on the items.
    provenance: where all this comes from; JSON.
    """

    coded: list[Coded]
    labels: Index
    parameters: Array
    true_map: int
    heads: list[Array]
    accuracies: Array
    provenance: dict[str, Any]

    @property
    def maps(self) -> list[Features]:
        """The maps, ``(items, d_i)`` each, read-only."""
        return [part.values for part in self.coded]

    def _arrays(self) -> dict[str, NDArray[Any]]:
        arrays = {"labels": self.labels, "parameters": self.parameters, "accuracies": self.accuracies}
        for i, (part, head) in enumerate(zip(self.coded, self.heads, strict=True)):
            arrays |= part.arrays(f"map{i}") | {f"head{i}": head}
        return arrays | {"true_map": np.array(self.true_map)}

    @classmethod
    def _read(cls, arrays: Mapping[str, NDArray[Any]], provenance: dict[str, Any]) -> "FeaturePack":
        labels = read_labels(arrays)
        C, M = int(labels.max()) + 1, arrays["accuracies"].size
        coded = [Coded.read(arrays, f"map{i}", labels.size) for i in range(M)]
        heads = [read_numbers(arrays, f"head{i}", (C, part.scale.size + 1)) for i, part in enumerate(coded)]
        true_map = range(M)[int(arrays["true_map"])]
        parameters = read_numbers(arrays, "parameters", (C, coded[true_map].scale.size))
        accuracies = read_numbers(arrays, "accuracies", (M,))
        return cls(coded, labels, parameters, true_map, heads, accuracies, provenance)


@dataclass(frozen=True, eq=False)
class Balls:
    """M balls in which the parameters of the classes 0, ..., M - 1 should lie, as a Gaussian mixture has found them.

    Attributes
    ----------
    centers: ``(M, d)``.
    radii: ``(M,)``, b: the RMS distance of the mixture's component to its centre.
    center_errors: ``(M,)``, c: how far the centre may be from the mean of the population the data sets come from.
    components: ``(M,)``, the ball of each of the classes; i for class i unless the mixture has mixed classes up.
    weights: ``(M,)``, of the mixture's components.
    purity: the share of the data sets that lie in the ball of their class.
    """

    centers: Array
    radii: Array
    center_errors: Array
    components: Index
    weights: Array
    purity: float


@dataclass(frozen=True, eq=False)
class BallPack:
    """One feature map with balls for parameter selection.

    Attributes
    ----------
    coded: the map; whitened, the last column is 1.
    labels: ``(items,)``, classes 0, 1, ..., C - 1.
    parameters: ``(C, d)``, the linear model of each class that is best for the rewards .9 (the class) and .1 (others)
        on the items themselves, classes weighed 1:9. A policy does not know it; balls should hold it.
    balls: by ("fine" or "coarse", M), M in (2, 5, 10), for the same rewards.
    head: ``(C, d)``, the network's own last layer.
    accuracy: of that layer on the items.
    provenance: where all this comes from; JSON.
    """

    coded: Coded
    labels: Index
    parameters: Array
    balls: dict[tuple[str, int], Balls]
    head: Array
    accuracy: float
    provenance: dict[str, Any]

    @property
    def features(self) -> Features:
        """The map, ``(items, d)``, read-only."""
        return self.coded.values

    def _arrays(self) -> dict[str, NDArray[Any]]:
        arrays = {"labels": self.labels, "parameters": self.parameters, "head": self.head}
        arrays |= self.coded.arrays("map") | {"accuracy": np.array(self.accuracy)}
        for (kind, M), balls in self.balls.items():
            arrays |= {f"{kind}{M}.{name}": np.asarray(value) for name, value in vars(balls).items()}
        return arrays

    @classmethod
    def _read(cls, arrays: Mapping[str, NDArray[Any]], provenance: dict[str, Any]) -> "BallPack":
        labels = read_labels(arrays)
        coded = Coded.read(arrays, "map", labels.size)
        C, d = int(labels.max()) + 1, coded.scale.size
        balls = {}
        for kind, M in ((kind, M) for kind in SETS for M in MODELS):
            shapes = {"centers": (M, d), "radii": (M,), "center_errors": (M,), "components": (M,)}
            shapes |= {"weights": (M,), "purity": ()}
            parts: dict[str, Any] = {name: read_numbers(arrays, f"{kind}{M}.{name}", shapes[name]) for name in shapes}
            parts |= {"components": parts["components"].astype(np.int64), "purity": float(parts["purity"])}
            balls[kind, M] = Balls(**parts)
        parameters, head = read_numbers(arrays, "parameters", (C, d)), read_numbers(arrays, "head", (C, d))
        return cls(coded, labels, parameters, balls, head, float(arrays["accuracy"]), provenance)


Pack = FeaturePack | BallPack
_KINDS: dict[str, type[FeaturePack] | type[BallPack]] = {"features": FeaturePack, "balls": BallPack}


@overload
def load_pack(name: Literal["fs-mnist", "fs-cifar100"], folder: Path | None = None) -> FeaturePack: ...
@overload
def load_pack(name: Literal["ps-mnist", "ps-cifar10"], folder: Path | None = None) -> BallPack: ...
@overload
def load_pack(name: str, folder: Path | None = None) -> Any: ...
def load_pack(name: str, folder: Path | None = None) -> Pack:
    """Return the pack of this name, the one shipped with the package or the one that was built into ``folder``."""
    if name not in NAMES:
        raise ValueError(f"load_pack: name: got {name!r}, expected one of {', '.join(NAMES)}")
    where = resources.files(__name__) if folder is None else folder
    with resources.as_file(where / f"{name}.npz") as path:
        pack = read_pack(path)
    if pack.provenance.get("pack") != name:
        raise ValueError(f"{path}: holds the pack {pack.provenance.get('pack')!r}, expected {name!r}")
    return pack


def read_pack(path: Path) -> Pack:
    """Read a pack; a file that is damaged or holds something else is refused by its name."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no pack {path}; docs/data.md says how to build one") from None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if (bad := archive.testzip()) is not None:
                raise ValueError(f"{bad} does not have its checksum")
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        form = json.loads(arrays["header"].tobytes().decode())
        if form["format"] != _FORMAT:
            raise ValueError(f"its format is {form['format']!r}, not {_FORMAT!r}")
        return _KINDS[form["kind"]]._read(arrays, form["provenance"])
    except Exception as error:  # zipfile, zlib and numpy have a dozen kinds for damage
        raise ValueError(f"{path}: damaged, or no pack of banditselect: {error}") from error


def save(pack: Pack, path: Path) -> None:
    """Write a pack; equal packs give equal bytes, and a reader sees the old file or the new one, never a part."""
    kind = next(name for name, one in _KINDS.items() if isinstance(pack, one))
    header = json.dumps({"format": _FORMAT, "kind": kind, "provenance": pack.provenance}, indent=1)
    arrays: dict[str, Any] = {"header": np.frombuffer(header.encode(), dtype=np.uint8)} | pack._arrays()
    with replacing(path) as file:
        np.savez_compressed(file, **arrays)
