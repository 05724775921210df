"""Feature packs: features that networks have computed from MNIST and CIFAR images, for the experiments to play on.

``load_pack(name)`` reads one of the four packs that lie beside this file, so that no image and no network is needed:

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

A file is a compressed ``.npz``; features are whole numbers of 8 or 16 bits with a scale and an offset for each column.
``tools/build_image_features.py`` builds packs from images (docs/data.md).
"""

import json
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...types import Array, Index

NAMES = ("fs-mnist", "fs-cifar100", "ps-mnist", "ps-cifar10")
SETS = ("fine", "coarse")
MODELS = (2, 5, 10)

Features = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class FeaturePack:
    """M feature maps of the same items, for feature selection.

    The maps come best first, each of RMS norm 1 over the images that the parameters were fitted on. The parameters are
    one linear model without intercept for each class on map ``true_map``, fitted to the 1/0 indicator on images that
    are not among the items, classes weighed 1:9.
    """

    maps: list[Features]  # (items, d_i) each, read-only
    labels: Index  # (items,), classes 0, 1, ..., C - 1
    parameters: Array  # (C, d)
    true_map: int  # 0
    heads: list[Array]  # for each map (C, d_i + 1), weights and intercepts of the classifier whose accuracy is stated
    accuracies: Array  # (M,), of those classifiers on the items
    provenance: dict[str, Any]  # where all this comes from; JSON


@dataclass(frozen=True, eq=False)
class Balls:
    """M balls in which the parameters of the classes 0, ..., M - 1 should lie, as a Gaussian mixture has found them."""

    centers: Array  # (M, d)
    radii: Array  # (M,), b: the RMS distance of the mixture's component to its centre
    center_errors: Array  # (M,), c: how far the centre may be from the mean of the population of the data sets
    components: Index  # (M,), the ball of each of the classes; i for class i unless the mixture has mixed classes up
    weights: Array  # (M,), of the mixture's components
    purity: float  # the share of the data sets that lie in the ball of their class


@dataclass(frozen=True, eq=False)
class BallPack:
    """One feature map with balls for parameter selection: whitened, the last column is 1.

    The parameters are the linear model of each class that is best for the rewards .9 (the class) and .1 (others) on the
    items themselves, classes weighed 1:9. A policy does not know them; balls should hold them.
    """

    features: Features  # (items, d), read-only
    labels: Index  # (items,), classes 0, 1, ..., C - 1
    parameters: Array  # (C, d)
    balls: dict[tuple[str, int], Balls]  # by ("fine" or "coarse", M), M in (2, 5, 10), for the same rewards
    head: Array  # (C, d), the network's own last layer
    accuracy: float  # of that layer on the items
    provenance: dict[str, Any]  # where all this comes from; JSON


def load_pack(name: str, folder: Path | None = None) -> Any:
    """Return the pack of this name, the one shipped with the package or the one that was built into ``folder``."""
    if name not in NAMES:
        raise ValueError(f"load_pack: name: got {name!r}, expected one of {', '.join(NAMES)}")
    path = (folder or Path(__file__).parent) / f"{name}.npz"
    if not path.is_file():
        raise FileNotFoundError(f"there is no pack {path}; docs/data.md says how to build one")
    with np.load(path) as archive:
        arrays = dict(archive)
    form, labels, parameters = json.loads(arrays["header"].tobytes()), arrays["labels"], arrays["parameters"]

    def decoded(part: str) -> Features:
        codes, scale, offset = (arrays[f"{part}.{field}"] for field in ("codes", "scale", "offset"))
        values: Features = offset + scale * codes.astype(np.float32)
        values.flags.writeable = False
        return values

    if form["kind"] == "features":
        accuracies, true_map = arrays["accuracies"], int(arrays["true_map"])
        maps, heads = zip(*((decoded(f"map{i}"), arrays[f"head{i}"]) for i in range(accuracies.size)), strict=True)
        return FeaturePack([*maps], labels, parameters, true_map, [*heads], accuracies, form["provenance"])
    balls = {}
    for kind, M in product(SETS, MODELS):
        parts: dict[str, Any] = {field.name: arrays[f"{kind}{M}.{field.name}"] for field in fields(Balls)}
        balls[kind, M] = Balls(**parts | {"purity": float(parts["purity"])})
    accuracy = float(arrays["accuracy"])
    return BallPack(decoded("map"), labels, parameters, balls, arrays["head"], accuracy, form["provenance"])
