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
offset for each column; everything else as it is. The tool that builds packs from images and writes them is in the
repository, not in the wheel: `tools/build_image_features.py`, described in docs/data.md.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
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
    def _read(cls, arrays: Mapping[str, NDArray[Any]], name: str) -> "Coded":
        """Return it from the arrays of a file."""
        return cls(*(arrays[f"{name}.{field}"] for field in ("codes", "scale", "offset")))


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

    @classmethod
    def _read(cls, arrays: Mapping[str, NDArray[Any]], provenance: dict[str, Any]) -> "FeaturePack":
        several = range(arrays["accuracies"].size)
        coded, heads = [Coded._read(arrays, f"map{i}") for i in several], [arrays[f"head{i}"] for i in several]
        labels, parameters, true_map = arrays["labels"], arrays["parameters"], int(arrays["true_map"])
        return cls(coded, labels, parameters, true_map, heads, arrays["accuracies"], provenance)


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

    @classmethod
    def _read(cls, arrays: Mapping[str, NDArray[Any]], provenance: dict[str, Any]) -> "BallPack":
        balls = {}
        for kind, M in ((kind, M) for kind in SETS for M in MODELS):
            parts: dict[str, Any] = {field.name: arrays[f"{kind}{M}.{field.name}"] for field in fields(Balls)}
            balls[kind, M] = Balls(**parts | {"purity": float(parts["purity"])})
        labels, parameters, head = (arrays[name] for name in ("labels", "parameters", "head"))
        accuracy = float(arrays["accuracy"])
        return cls(Coded._read(arrays, "map"), labels, parameters, balls, head, accuracy, provenance)


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
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = dict(archive)
        form = json.loads(arrays["header"].tobytes().decode())
        if form["format"] != FORMAT:
            raise ValueError(f"its format is {form['format']!r}, not {FORMAT!r}")
        return KINDS[form["kind"]]._read(arrays, form["provenance"])
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no pack {path}; docs/data.md says how to build one") from None
    except Exception as error:  # zipfile, zlib and numpy have a dozen kinds for damage
        raise ValueError(f"{path}: damaged, or no pack of banditselect: {error}") from error
