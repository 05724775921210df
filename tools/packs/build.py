"""Build a pack from the images of its data set: features in 8 or 16 bits, fits and provenance.

`build_pack` does everything and writes the file; `assemble` is the part that needs no network.
"""

import platform
from collections.abc import Callable
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from banditselect.experiments.packs import MODELS, SETS, BallPack, Balls, FeaturePack, Pack
from banditselect.problems.labelled_items import fit_classes
from banditselect.types import Array

from .balls import COVERAGE, REGULARIZATION, calibrated, fit_balls, fit_data_sets
from .extraction import Extract, extract
from .files import checksums
from .linear import accuracy, discriminant, whitening, with_one
from .readers import read
from .recipes import RECIPES, Recipe
from .writing import code, coding_errors, save

SHARE = 0.1  #: weight of the class in a fit, to 1 - SHARE of all others: as often as rounds of ten offer it
DATA_SETS = {"fine": (100, 500), "coarse": (10, 50)}  #: data sets for each model, and the images in each


def build_pack(
    name: str,
    data: Path,
    out: Path,
    *,
    say: Callable[[str], None] = print,
    device: str = "auto",
    limit: int | None = None,
) -> Path:
    """Build a pack from the official files of its data set.

    Parameters
    ----------
    name: one of "fs-mnist", "fs-cifar100", "ps-mnist", "ps-cifar10".
    data: the folder with the data sets.  out: the folder that gets ``NAME.npz``; `load_pack(NAME, out)` reads it.
    say: called with progress messages.
    device: "cpu", "cuda", or "auto" for a GPU if there is one. Without one, MNIST takes minutes and CIFAR days.
    limit: at most so many images of each part, and few steps of training, for a trial run only. Files then need not be
        the official ones.

    Returns
    -------
    The path of the pack.
    """
    if name not in RECIPES:
        raise ValueError(f"build_pack: name: got {name!r}, expected one of {', '.join(RECIPES)}")
    recipe = RECIPES[name].limited(limit)
    images = read(recipe.dataset, data, verify=limit is None)
    found = extract(recipe, images, device=device, limit=limit, say=say)
    pack = assemble(name, recipe, found, checksums(recipe.dataset, data), say=say)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}.npz"
    save(pack, path)
    say(f"wrote {path}, {path.stat().st_size / 1e6:.2f} MB")
    return path


def assemble(
    name: str, recipe: Recipe, found: Extract, files: dict[str, str], *, say: Callable[[str], None] = print
) -> Pack:
    """Make a pack out of features: maps, fits, balls, quantisation. Needs no network."""
    provenance = {
        "pack": name,
        "command": f"python -m tools.packs build {name}",
        "data": {"name": recipe.dataset, "sha256": files},
        "network": _network(recipe),
        "training": asdict(recipe.training) | {"device": found.notes["device"]},
        "seed": recipe.seed,
        "split": f"of the official training images, {recipe.train} train the network and {len(found.fit_labels)} "
        f"others, as many of each class, serve the fits; the items are {len(found.labels)} official test images",
        "versions": {"python": platform.python_version(), "numpy": np.__version__, "torch": found.notes["torch"]},
    }
    make = _feature_pack if recipe.kind == "features" else _ball_pack
    return make(recipe, found, provenance, say)


def _network(recipe: Recipe) -> str:
    if recipe.network == "cnn":
        return f"CNN: 16 and 32 filters of 5 x 5, ReLU, pooling; {recipe.dim} ReLU neurons; 10 classes"
    layer = "its 1280 features" if recipe.dim is None else f"a layer of {recipe.dim} ReLU neurons"
    return f"EfficientNet-Lite0 from ImageNet weights, {layer} before the last layer, all of it fine-tuned"


def _feature_pack(
    recipe: Recipe, found: Extract, provenance: dict[str, Any], say: Callable[[str], None]
) -> FeaturePack:
    """Return maps of RMS norm 1, best first, with the class parameters on the best."""
    raw = [(fit, items, head) for fit, items, head in zip(found.fit, found.items, found.heads, strict=True)]
    notes: list[dict[str, Any]] = [
        {"step": step, "active": np.round(np.mean(fit > 0, axis=0), 3).tolist()}
        for step, fit in zip(found.notes["steps"], found.fit, strict=True)
    ]
    stated = "the network's own last layer at that step; probe: a linear discriminant on the images that serve the fits"
    if recipe.projections:
        fit, items, head = raw[0]
        provenance["network accuracy"] = accuracy(items, found.labels, head)
        stated = "a linear discriminant on the images that serve the fits"
        raw, notes = _projected(recipe, found, fit, items)
    coded, heads, scores, before, fits = [], [], [], [], []
    for (fit, items, head), note in zip(raw, notes, strict=True):
        scale = 1.0 / np.sqrt(np.mean(np.sum(fit.astype(float) ** 2, axis=1)))
        fits.append(scale * fit.astype(float))
        coded.append(code(scale * items.astype(float), recipe.bits))
        heads.append(np.column_stack([head[:, :-1] / scale, head[:, -1]]))
        before.append(accuracy(scale * items.astype(float), found.labels, heads[-1]))
        scores.append(accuracy(coded[-1].values, found.labels, heads[-1]))
        probe = discriminant(fits[-1], found.fit_labels)
        note |= {"scale": float(scale), "accuracy before quantisation": before[-1], "accuracy": scores[-1]}
        note |= {"probe": accuracy(coded[-1].values, found.labels, probe)}
        note |= {"RMS error": float(coding_errors(coded[-1], scale * items.astype(float)).max())}
        say(f"map of {items.shape[1]}: accuracy {scores[-1]:.4f}, probe {note['probe']:.4f}")
    order = sorted(range(len(raw)), key=lambda i: -scores[i])
    best = order[0]
    theta = _class_parameters(fits[best], found.fit_labels)
    provenance |= {
        "maps": [notes[i] for i in order],
        "accuracies": stated,
        "scaling": "every map has RMS norm 1 over the images that serve the fits",
        "parameters": f"ridge least squares of the class indicator without intercept on the images that serve the "
        f"fits, classes weighed {SHARE:g} to {1 - SHARE:g}, ridge {REGULARIZATION:g} of the mean eigenvalue",
        "rewards": _rewards(coded[best].values, found.labels, theta),
        "quantisation": _quantisation(recipe, max(note["RMS error"] for note in notes)),
    }
    return FeaturePack(
        coded=[coded[i] for i in order],
        labels=found.labels,
        parameters=theta,
        true_map=0,
        heads=[heads[i] for i in order],
        accuracies=np.array([scores[i] for i in order]),
        provenance=provenance,
    )


def _projected(recipe: Recipe, found: Extract, fit: Any, items: Any) -> tuple[list[Any], list[dict[str, Any]]]:
    """Return maps that are Gaussian random projections of the features, with a discriminant each."""
    raw, notes = [], []
    for i, d in enumerate(recipe.projections):
        matrix = np.random.default_rng([recipe.seed, i]).normal(size=(fit.shape[1], d)) / np.sqrt(fit.shape[1])
        own = fit.astype(float) @ matrix
        raw.append((own, items.astype(float) @ matrix, discriminant(own, found.fit_labels)))
        notes.append({"step": found.notes["steps"][0], "projection": [fit.shape[1], d]})
    return raw, notes


def _ball_pack(recipe: Recipe, found: Extract, provenance: dict[str, Any], say: Callable[[str], None]) -> BallPack:
    """Return whitened features with a one appended, and balls for all M, fine and coarse."""
    fit, items, head = found.fit[0].astype(float), found.items[0].astype(float), found.heads[0]
    mean, matrix = whitening(fit, REGULARIZATION)
    fit_features, features = with_one((fit - mean) @ matrix), with_one((items - mean) @ matrix)
    weights = np.linalg.solve(matrix, head[:, :-1].T).T
    head = np.column_stack([weights, head[:, -1] + head[:, :-1] @ mean])
    coded = code(features, recipe.bits)
    theta = calibrated(_class_parameters(coded.values, found.labels))
    balls, told = {}, {}
    for kind, M in ((kind, M) for kind in SETS for M in MODELS):
        each, size = DATA_SETS[kind]
        size = min(size, len(fit) // 2)
        rng = np.random.default_rng([recipe.seed, M, each, size])
        parameters, classes = fit_data_sets(fit_features, found.fit_labels, models=M, sets=each * M, size=size, rng=rng)
        shared = size * (1.0 / len(fit) + 1.0 / len(items))
        balls[kind, M] = fit_balls(calibrated(parameters), classes, models=M, seed=recipe.seed, shared=shared)
        told[f"{kind} {M}"] = _held(balls[kind, M], theta)
        say(f"{kind} balls, M = {M}: {told[f'{kind} {M}']}")
    score = accuracy(coded.values[:, :-1], found.labels, head)
    provenance |= {
        "features": f"the layer before the last, whitened by the images that serve the fits ({REGULARIZATION:g} of the "
        "mean eigenvalue added to the covariance), then 1",
        "active": np.round(np.mean(fit > 0, axis=0), 3).tolist(),
        "accuracy": {"before quantisation": accuracy(features[:, :-1], found.labels, head), "after": score},
        "parameters": f"ridge least squares on the items, classes weighed {SHARE:g} to {1 - SHARE:g}, ridge "
        f"{REGULARIZATION:g} of the mean eigenvalue, calibrated from 1 and 0 to the rewards .9 and .1",
        "balls": f"data sets of different images drawn at random from those that serve the fits, classes not balanced; "
        f"fine: {DATA_SETS['fine'][0]} M of size {DATA_SETS['fine'][1]}, coarse: {DATA_SETS['coarse'][0]} M of size "
        f"{DATA_SETS['coarse'][1]}; indicator of a random class below M, ridge {REGULARIZATION:g}, calibrated; mixture "
        "of spherical Gaussians",
        "radii": "square root of the trace of a component's covariance",
        "center errors": f"square root of (q / d) trace (1 / n + size / fitted + size / items), q the {COVERAGE:g} "
        "quantile of chi-square with d degrees of freedom, n the data sets of the component: all data sets share the "
        "same images, so that their mean is no better than a fit to all of these",
        "held": told,
        "rewards": _rewards(coded.values, found.labels, theta),
        "quantisation": _quantisation(recipe, float(coding_errors(coded, features).max())),
    }
    provenance["versions"]["scikit-learn"] = metadata.version("scikit-learn")
    return BallPack(coded, found.labels, theta, balls, head, score, provenance)


def _class_parameters(table: Any, labels: Any) -> Array:
    classes = np.arange(int(labels.max()) + 1)
    return fit_classes(table, labels, share=SHARE, regularization=REGULARIZATION, classes=classes)


def _held(balls: Balls, theta: Array) -> dict[str, Any]:
    """Return the distances of the classes' parameters from the centres of their balls."""
    own = balls.components
    distance = np.linalg.norm(theta[: len(own)] - balls.centers[own], axis=1)
    b, c = balls.radii[own], balls.center_errors[own]
    return {
        "distances": np.round(distance, 4).tolist(),
        "radii": np.round(b, 4).tolist(),
        "center errors": np.round(c, 4).tolist(),
        "within b + c": int(np.sum(distance <= b + c)),
        "within c": int(np.sum(distance <= c)),
        "purity": balls.purity,
    }


def _rewards(table: Any, labels: Any, theta: Array) -> dict[str, float]:
    """Return statistics of the linear models on the items: means for their class and for others, spread, best class."""
    scores = np.asarray(table, dtype=float) @ theta.T
    own = np.eye(len(theta), dtype=bool)[labels]
    return {
        "own class": float(scores[own].mean()),
        "other classes": float(scores[~own].mean()),
        "standard deviation": float(scores.std(axis=0).mean()),
        "share of items whose class has the highest": float(np.mean(scores.argmax(axis=1) == labels)),
    }


def _quantisation(recipe: Recipe, error: float) -> dict[str, Any]:
    return {"bits": recipe.bits, "largest RMS error of a column, as a share of its deviation": error}
