"""The shipped packs are those of the recipes: same settings, and numbers that the tool's own fits give again."""

import dataclasses

import numpy as np
import pytest

from banditselect.experiments.packs import MODELS, NAMES, BallPack, FeaturePack, load_pack
from banditselect.problems.labelled_items import fit_classes
from tools.packs.balls import REGULARIZATION, calibrated
from tools.packs.build import SHARE
from tools.packs.linear import accuracy, discriminant
from tools.packs.official import DATASETS
from tools.packs.recipes import RECIPES

FEATURES = ("fs-mnist", "fs-cifar100")
BALLS = ("ps-mnist", "ps-cifar10")


@pytest.mark.parametrize("name", NAMES)
def test_shipped_packs_say_where_they_come_from(name: str) -> None:
    pack, recipe = load_pack(name), RECIPES[name]
    told = pack.provenance
    assert told["command"] == f"python -m tools.packs build {name}"
    assert told["data"]["sha256"] == {k: file.sha256 for k, file in DATASETS[recipe.dataset].files.items()}
    assert told["seed"] == recipe.seed
    assert {k: told["training"][k] for k in dataclasses.asdict(recipe.training)} == dataclasses.asdict(recipe.training)
    assert pack.labels.size == 10_000


@pytest.mark.parametrize("name", FEATURES)
def test_shipped_maps_are_as_accurate_as_they_say(name: str) -> None:
    pack = load_pack(name)
    assert isinstance(pack, FeaturePack)
    assert len(pack.maps) == 20
    for table, head, stated in zip(pack.maps, pack.heads, pack.accuracies, strict=True):
        assert accuracy(table, pack.labels, head) == pytest.approx(stated, abs=2e-4)
        assert np.sqrt(np.mean(np.sum(table.astype(float) ** 2, axis=1))) == pytest.approx(1.0, abs=0.03)
        assert np.all(table.std(axis=0) > 0.0)
    told = pack.provenance["maps"]
    assert [note["accuracy"] for note in told] == pack.accuracies.tolist()
    assert np.all(np.diff(pack.accuracies) <= 0.0)
    assert max(abs(note["accuracy"] - note["accuracy before quantisation"]) for note in told) < 0.005
    half = np.arange(pack.labels.size) % 2 == 0  # a probe from the pack's own features, on half of the items
    probe = discriminant(pack.maps[1][half], pack.labels[half])
    assert accuracy(pack.maps[1][~half], pack.labels[~half], probe) == pytest.approx(told[1]["probe"], abs=0.03)


@pytest.mark.parametrize(
    ("name", "best", "second", "worst"), [("fs-mnist", 0.98, 0.84, 0.2), ("fs-cifar100", 0.8, 0.55, 0.06)]
)
def test_the_best_map_stands_out_as_in_the_paper(name: str, best: float, second: float, worst: float) -> None:
    accuracies = load_pack(name).accuracies  # type: ignore[union-attr]
    assert accuracies[[0, 1, -1]] == pytest.approx([best, second, worst], abs=0.025)


@pytest.mark.parametrize("name", FEATURES)
def test_shipped_parameters_are_those_of_the_classes(name: str) -> None:
    """They were fitted on other images: a fit on the items is near, and what they pay tells classes apart."""
    pack = load_pack(name)
    assert isinstance(pack, FeaturePack)
    C = len(pack.parameters)
    fitted = fit_classes(pack.maps[0], pack.labels, share=SHARE, regularization=REGULARIZATION, classes=np.arange(C))
    scores, refitted = (pack.maps[0].astype(float) @ theta.T for theta in (pack.parameters, fitted))
    assert min(np.corrcoef(scores[:, s], refitted[:, s])[0, 1] for s in range(C)) > 0.8
    own = np.eye(C, dtype=bool)[pack.labels]
    told = pack.provenance["rewards"]
    assert scores[own].mean() == pytest.approx(told["own class"], abs=1e-4)
    assert scores[~own].mean() == pytest.approx(told["other classes"], abs=1e-4)


@pytest.mark.parametrize("name", BALLS)
def test_shipped_balls_hold_the_parameters_of_their_classes(name: str) -> None:
    pack = load_pack(name)
    assert isinstance(pack, BallPack)
    assert accuracy(pack.features[:, :-1], pack.labels, pack.head) == pytest.approx(pack.accuracy, abs=2e-4)
    assert np.all(pack.features[:, -1] == 1.0)
    classes = np.arange(10)
    fitted = fit_classes(pack.features, pack.labels, share=SHARE, regularization=REGULARIZATION, classes=classes)
    np.testing.assert_allclose(pack.parameters, calibrated(fitted), atol=1e-8)
    for (_, M), balls in pack.balls.items():
        assert np.array_equal(balls.components, np.arange(M))
        assert balls.purity > 0.95
        distance = np.linalg.norm(pack.parameters[:M] - balls.centers, axis=1)
        assert np.all(distance <= balls.radii + balls.center_errors)
    for M in MODELS:
        assert np.all(pack.balls["fine", M].radii < pack.balls["coarse", M].radii)
