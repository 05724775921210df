"""Packs come back as they were saved, say what they are, and hold what they say."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from banditselect.experiments import packs
from banditselect.experiments.packs import (
    MODELS,
    NAMES,
    SETS,
    BallPack,
    Balls,
    Coded,
    FeaturePack,
    Pack,
    load_pack,
    read_pack,
    save,
)
from banditselect.images.balls import REGULARIZATION, calibrated
from banditselect.images.build import SHARE
from banditselect.images.linear import accuracy, discriminant
from banditselect.images.official import DATASETS
from banditselect.images.recipes import RECIPES
from banditselect.problems import Classification
from banditselect.problems.one_vs_rest import fit_classes

FEATURES = ("fs-mnist", "fs-cifar100")
BALLS = ("ps-mnist", "ps-cifar10")


def small_features() -> FeaturePack:
    rng = np.random.default_rng(0)
    coded = [Coded.of(rng.normal(size=(30, d))) for d in (4, 2)]
    heads = [rng.normal(size=(3, d + 1)) for d in (4, 2)]
    provenance = {"pack": "fs-mnist", "seed": 5}
    return FeaturePack(coded, np.arange(30) % 3, rng.normal(size=(3, 4)), 0, heads, np.array([0.5, 0.25]), provenance)


def small_balls() -> BallPack:
    rng = np.random.default_rng(1)
    balls = {
        (kind, M): Balls(
            centers=rng.normal(size=(M, 3)),
            radii=rng.random(M),
            center_errors=rng.random(M),
            components=np.arange(M),
            weights=np.full(M, 1.0 / M),
            purity=0.75,
        )
        for kind in SETS
        for M in MODELS
    }
    coded = Coded.of(rng.normal(size=(40, 3)), bits=16)
    theta, head = rng.normal(size=(2, 10, 3))
    return BallPack(coded, np.arange(40) % 10, theta, balls, head, 0.5, {"pack": "ps-mnist"})


def same(a: object, b: object) -> bool:
    if dataclasses.is_dataclass(a):
        pairs = ((getattr(a, field.name), getattr(b, field.name)) for field in dataclasses.fields(a))
        return type(a) is type(b) and all(same(x, y) for x, y in pairs)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return np.array_equal(a, b) and np.asarray(a).dtype == np.asarray(b).dtype  # type: ignore[arg-type]


@pytest.mark.parametrize("pack", [small_features(), small_balls()], ids=["features", "balls"])
def test_a_pack_comes_back_as_it_was_and_its_bytes_do_not_change(pack: Pack, tmp_path: Path) -> None:
    name = pack.provenance["pack"]
    save(pack, tmp_path / f"{name}.npz")
    back = load_pack(name, tmp_path)
    assert same(pack, back)
    save(back, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / f"{name}.npz").read_bytes()


@pytest.mark.parametrize("pack", [small_features(), small_balls()], ids=["features", "balls"])
def test_a_damaged_pack_is_refused_by_name(pack: Pack, tmp_path: Path) -> None:
    path = tmp_path / "some.npz"
    save(pack, path)
    whole = path.read_bytes()
    for damaged in (b"", whole[:100], whole[: len(whole) // 2], whole[:-30], b"no zip at all"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"some\.npz: damaged, or no pack"):
            read_pack(path)
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 60):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            back = read_pack(path)
        except ValueError as error:
            assert "some.npz" in str(error)  # noqa: PT017
        else:  # a byte that says nothing, such as a date
            assert same(back, pack)


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "fs-mnist.npz"
    np.savez(path, x=np.arange(3))
    with pytest.raises(ValueError, match=r"fs-mnist\.npz: damaged, or no pack"):
        read_pack(path)
    np.savez(path, header=np.array([{"format": "pickled"}], dtype=object))
    with pytest.raises(ValueError, match=r"fs-mnist\.npz: damaged, or no pack"):
        read_pack(path)
    save(small_balls(), path)
    with pytest.raises(ValueError, match=r"fs-mnist\.npz: holds the pack 'ps-mnist', expected 'fs-mnist'"):
        load_pack("fs-mnist", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no pack .*ps-mnist\.npz; `banditselect data build`"):
        load_pack("ps-mnist", tmp_path)
    with pytest.raises(ValueError, match="load_pack: name: got 'fs', expected one of fs-mnist, "):
        load_pack("fs")


def test_a_pack_whose_parts_do_not_fit_is_refused(tmp_path: Path) -> None:
    path, pack = tmp_path / "some.npz", small_features()
    for change in (
        {"parameters": np.zeros((3, 5))},
        {"parameters": np.full((3, 4), np.nan)},
        {"labels": np.arange(29) % 3},
        {"labels": np.arange(30) % 3 * 2},
        {"true_map": 2},
        {"accuracies": np.zeros(3)},
    ):
        save(dataclasses.replace(pack, **change), path)
        with pytest.raises(ValueError, match=r"some\.npz: damaged"):
            read_pack(path)


@settings(max_examples=50)
@given(
    table=arrays(np.float64, (17, 3), elements=st.floats(-1e3, 1e3)),
    bits=st.sampled_from([8, 16]),
    move=st.floats(-100.0, 100.0),
)
def test_no_value_moves_by_more_than_half_a_step(table: np.ndarray, bits: int, move: float) -> None:
    coded = Coded.of(table + move, bits)
    rounding = 1e-6 * (1.0 + np.abs(table + move).max())  # of numbers of 32 bits
    assert np.all(np.abs(coded.values - (table + move)) <= coded.scale / 2 + rounding)
    span = np.ptp(table + move, axis=0)
    assert np.all((coded.scale <= span / (2**bits - 1) + rounding) | (span < 1e-30))


def test_constant_columns_are_exact() -> None:
    table = np.column_stack([np.ones(5), np.zeros(5), np.arange(5.0)])
    assert np.array_equal(Coded.of(table).values[:, :2], table[:, :2])


@pytest.mark.parametrize("name", NAMES)
def test_shipped_packs_say_where_they_come_from(name: str) -> None:
    pack, recipe = load_pack(name), RECIPES[name]
    told = pack.provenance
    assert told["command"] == f"banditselect data build {name}"
    assert told["data"]["sha256"] == {k: file.sha256 for k, file in DATASETS[recipe.dataset].files.items()}
    assert told["seed"] == recipe.seed
    assert {k: told["training"][k] for k in dataclasses.asdict(recipe.plan)} == dataclasses.asdict(recipe.plan)
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


@pytest.mark.parametrize("name", NAMES)
def test_shipped_packs_are_problems(name: str) -> None:
    pack = load_pack(name)
    if isinstance(pack, FeaturePack):
        problem = Classification(features=pack.maps[:2], labels=pack.labels, parameters=pack.parameters)
    else:
        problem = Classification(features=pack.features, labels=pack.labels, reward="label", targets=range(2))
    assert problem.draw(range(2), 5, seed=0).constants["label"].shape == (2,)


def test_the_packs_are_small() -> None:
    files = sorted(Path(packs.__file__).parent.glob("*.npz"))
    assert [file.stem for file in files] == sorted(NAMES)
    assert sum(file.stat().st_size for file in files) < 6e6
