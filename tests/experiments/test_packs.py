"""Packs come back as they were saved, and the shipped ones are problems."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from banditselect.experiments import packs
from banditselect.experiments.packs import MODELS, NAMES, SETS, BallPack, Balls, FeaturePack, Pack, load_pack
from banditselect.problems import Classification
from tools.packs.writing import code, save


def small_features() -> FeaturePack:
    rng = np.random.default_rng(0)
    coded = [code(rng.normal(size=(30, d))) for d in (4, 2)]
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
    coded = code(rng.normal(size=(40, 3)), bits=16)
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


def test_a_pack_that_there_is_not_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no pack .*ps-mnist\.npz; docs/data\.md says how to build"):
        load_pack("ps-mnist", tmp_path)
    with pytest.raises(ValueError, match="load_pack: name: got 'fs', expected one of fs-mnist, "):
        load_pack("fs")


@settings(max_examples=50)
@given(
    table=arrays(np.float64, (17, 3), elements=st.floats(-1e3, 1e3)),
    bits=st.sampled_from([8, 16]),
    move=st.floats(-100.0, 100.0),
)
def test_no_value_moves_by_more_than_half_a_step(table: np.ndarray, bits: int, move: float) -> None:
    coded = code(table + move, bits)
    rounding = 1e-6 * (1.0 + np.abs(table + move).max())  # of numbers of 32 bits
    assert np.all(np.abs(coded.values - (table + move)) <= coded.scale / 2 + rounding)
    span = np.ptp(table + move, axis=0)
    assert np.all((coded.scale <= span / (2**bits - 1) + rounding) | (span < 1e-30))


def test_constant_columns_are_exact() -> None:
    table = np.column_stack([np.ones(5), np.zeros(5), np.arange(5.0)])
    assert np.array_equal(code(table).values[:, :2], table[:, :2])


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
