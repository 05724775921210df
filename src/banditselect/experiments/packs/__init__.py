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
offset for each column; everything else as it is. What comes out of a file is checked: types, shapes, finite numbers,
labels without a gap. The tool that builds packs from images and writes them is in the repository, not in the wheel:
``python -m tools.packs``, described in docs/data.md.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ...types import Array, Index

NAMES = ("fs-mnist", "fs-cifar100", "ps-mnist", "ps-cifar10")
SETS = ("fine", "coarse")
MODELS = (2, 5, 10)
FORMAT = "banditselect pack 1"

Features = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Coded:
    """Features ``(items, d)`` as whole numbers: column j has the values ``offset[j] + scale[j] * codes[:, j]``.

    Attributes
    ----------
    codes: ``(items, d)``, of 8 or 16 bits, without sign.  scale, offset: ``(d,)``.
    """

    codes: NDArray[Any]
    scale: Features
    offset: Features

    @cached_property
    def values(self) -> Features:
        """The features as numbers, ``(items, d)``, read-only."""
        values = self.offset + self.scale * self.codes.astype(np.float32)
        values.flags.writeable = False
        return values

    @classmethod
    def _read(cls, arrays: Mapping[str, NDArray[Any]], name: str, items: int) -> "Coded":
        """Return it from the arrays of a file."""
        codes = arrays[f"{name}.codes"]
        if codes.dtype not in (np.uint8, np.uint16) or codes.ndim != 2 or codes.shape[0] != items:
            raise ValueError(f"{name}.codes has type {codes.dtype} and shape {codes.shape}")
        scale, offset = (_numbers(arrays, f"{name}.{field}", codes.shape[1:]) for field in ("scale", "offset"))
        return cls(codes, scale.astype(np.float32), offset.astype(np.float32))


def _labels(arrays: Mapping[str, NDArray[Any]]) -> Index:
    """Return the labels of a file: 0, 1, ..., C - 1, all of which occur."""
    labels = arrays["labels"]
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or labels.size == 0 or np.bincount(labels).min() == 0:
        raise ValueError(f"labels has type {labels.dtype} and shape {labels.shape}, or lacks a class")
    return labels.astype(np.int64)


def _numbers(arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> Array:
    """Return finite numbers of this shape from a file."""
    array = arrays[name]
    if array.shape != shape or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise ValueError(f"{name} has type {array.dtype} and shape {array.shape}, or is not finite; expected {shape}")
    return array.astype(float)


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

    @property
    def facts(self) -> dict[str, str]:
        """What the pack holds, in words."""
        return {
            "images": f"{self.labels.size}, {self.provenance['split']}",
            "network": self.provenance["network"],
            "widths of the maps, best first": ", ".join(str(part.scale.size) for part in self.coded),
            "their accuracies": ", ".join(f"{100.0 * accuracy:.0f} %" for accuracy in self.accuracies),
        }

    @classmethod
    def _read(cls, arrays: Mapping[str, NDArray[Any]], provenance: dict[str, Any]) -> "FeaturePack":
        labels = _labels(arrays)
        C, M = int(labels.max()) + 1, arrays["accuracies"].size
        coded = [Coded._read(arrays, f"map{i}", labels.size) for i in range(M)]
        heads = [_numbers(arrays, f"head{i}", (C, part.scale.size + 1)) for i, part in enumerate(coded)]
        true_map = range(M)[int(arrays["true_map"])]
        parameters = _numbers(arrays, "parameters", (C, coded[true_map].scale.size))
        accuracies = _numbers(arrays, "accuracies", (M,))
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

    @property
    def facts(self) -> dict[str, str]:
        """What the pack holds, in words."""
        return {
            "images": f"{self.labels.size}, {self.provenance['split']}",
            "network": f"{self.provenance['network']}; accuracy {100.0 * self.accuracy:.1f} %",
            "features": f"{self.coded.scale.size}: {self.provenance['features']}",
            "balls": self.provenance["balls"],
        }

    @classmethod
    def _read(cls, arrays: Mapping[str, NDArray[Any]], provenance: dict[str, Any]) -> "BallPack":
        labels = _labels(arrays)
        coded = Coded._read(arrays, "map", labels.size)
        C, d = int(labels.max()) + 1, coded.scale.size
        balls = {}
        for kind, M in ((kind, M) for kind in SETS for M in MODELS):
            shapes = {"centers": (M, d), "radii": (M,), "center_errors": (M,), "components": (M,)}
            shapes |= {"weights": (M,), "purity": ()}
            parts: dict[str, Any] = {name: _numbers(arrays, f"{kind}{M}.{name}", shapes[name]) for name in shapes}
            parts |= {"components": parts["components"].astype(np.int64), "purity": float(parts["purity"])}
            balls[kind, M] = Balls(**parts)
        parameters, head = _numbers(arrays, "parameters", (C, d)), _numbers(arrays, "head", (C, d))
        return cls(coded, labels, parameters, balls, head, float(arrays["accuracy"]), provenance)


Pack = FeaturePack | BallPack
KINDS: dict[str, type[FeaturePack] | type[BallPack]] = {"features": FeaturePack, "balls": BallPack}


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
        if form["format"] != FORMAT:
            raise ValueError(f"its format is {form['format']!r}, not {FORMAT!r}")
        return KINDS[form["kind"]]._read(arrays, form["provenance"])
    except Exception as error:  # zipfile, zlib and numpy have a dozen kinds for damage
        raise ValueError(f"{path}: damaged, or no pack of banditselect: {error}") from error
