"""Files of the official formats give the arrays back; anything else is refused by the name of the file."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from image_server import described, idx

from tools.packs.official import DATASETS, DataSet, Source
from tools.packs.readers import CLASSES, Images, read

MNIST = {
    "train": ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
    "test": ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
}
here = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def drawn(name: str, n: int, seed: int) -> Images:
    rng = np.random.default_rng(seed)
    shape = (n, 28, 28) if name == "mnist" else (n, 32, 32, 3)
    labels = rng.integers(0, CLASSES[name], n)
    return Images(rng.integers(0, 256, shape, dtype=np.uint8), labels)


def records(images: Images, coarse: bool) -> bytes:
    """Return a CIFAR file, pixel by pixel as its authors describe it."""
    content = bytearray()
    for pixels, label in zip(images.pixels, images.labels, strict=True):
        content += bytes([7, label] if coarse else [label])
        for colour in range(3):
            content += pixels[:, :, colour].tobytes()
    return bytes(content)


def encoded(name: str, parts: dict[str, Images]) -> dict[str, bytes]:
    """Return the files of a data set; cifar10 has its images in five files of nearly equal length."""
    contents = {}
    for part, images in parts.items():
        if name == "mnist":
            contents[MNIST[part][0]] = idx(images.pixels)
            contents[MNIST[part][1]] = idx(images.labels.astype(np.uint8))
        elif name == "cifar100":
            contents[f"{part}.bin"] = records(images, coarse=True)
        else:
            names = ["test_batch.bin"] if part == "test" else [f"data_batch_{k}.bin" for k in range(1, 6)]
            split = np.array_split(np.arange(len(images.labels)), len(names))
            for file, rows in zip(names, split, strict=True):
                contents[file] = records(Images(images.pixels[rows], images.labels[rows]), coarse=False)
    return contents


def write(name: str, contents: dict[str, bytes], folder: Path) -> DataSet:
    """Write files; return a data set whose official files they are."""
    place = folder / DATASETS[name].folder
    place.mkdir(parents=True, exist_ok=True)
    for file, content in contents.items():
        (place / file).write_bytes(content)
    files = tuple(described(file, content) for file, content in contents.items())
    return DataSet(name, DATASETS[name].folder, (Source(("nowhere/x.tar.gz",), 0, "", files),))


def small(name: str, folder: Path, seed: int = 0) -> tuple[DataSet, dict[str, bytes]]:
    contents = encoded(name, {"train": drawn(name, 5, seed), "test": drawn(name, 1, seed + 1)})
    return write(name, contents, folder), contents


@here
@given(name=st.sampled_from(list(DATASETS)), n=st.integers(5, 12), m=st.integers(1, 4), seed=st.integers(0, 99))
def test_what_is_written_is_read(tmp_path: Path, name: str, n: int, m: int, seed: int) -> None:
    parts = {"train": drawn(name, n, seed), "test": drawn(name, m, seed + 1)}
    dataset = write(name, encoded(name, parts), tmp_path)
    for found in (read(dataset, tmp_path), read(name, str(tmp_path), verify=False)):
        assert list(found) == ["train", "test"]
        for part, images in found.items():
            assert images.pixels.dtype == np.uint8
            assert images.labels.dtype == np.int64
            assert images.pixels.flags.c_contiguous
            assert images.pixels.flags.writeable
            np.testing.assert_array_equal(images.pixels, parts[part].pixels)
            np.testing.assert_array_equal(images.labels, parts[part].labels)


@here
@given(name=st.sampled_from(list(DATASETS)), which=st.integers(0, 5), keep=st.floats(0.0, 1.0, exclude_max=True))
def test_every_truncation_is_refused(tmp_path: Path, name: str, which: int, keep: float) -> None:
    dataset, contents = small(name, tmp_path)
    file = sorted(contents)[which % len(contents)]
    short = contents[file][: int(keep * len(contents[file]))]
    (tmp_path / dataset.folder / file).write_bytes(short)
    with pytest.raises(ValueError, match=rf"{file}: got {len(short)} bytes, expected {len(contents[file])}: cut"):
        read(dataset, tmp_path)
    if name == "mnist" or len(short) % (3073 if name == "cifar10" else 3074) or not short:
        with pytest.raises(ValueError, match=file):
            read(dataset, tmp_path, verify=False)


@pytest.mark.parametrize("name", DATASETS)
def test_every_last_byte_counts(tmp_path: Path, name: str) -> None:
    dataset, contents = small(name, tmp_path)
    for file, content in contents.items():
        path = tmp_path / dataset.folder / file
        for wrong in (content[:-1], content + b"\1"):
            path.write_bytes(wrong)
            for verify in (True, False):
                with pytest.raises(ValueError, match=file):
                    read(dataset, tmp_path, verify=verify)
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(
            ValueError, match=rf"{file}: got sha256 \w+, expected {dataset.files[file].sha256}: damaged"
        ):
            read(dataset, tmp_path)
        path.write_bytes(content)


@pytest.mark.parametrize("name", DATASETS)
def test_other_files_than_the_official_are_refused(tmp_path: Path, name: str) -> None:
    small(name, tmp_path)
    with pytest.raises(ValueError, match=r"bytes, expected .*: cut short or another file"):
        read(name, tmp_path)


@pytest.mark.parametrize("name", DATASETS)
def test_a_missing_file_says_how_to_get_it(tmp_path: Path, name: str) -> None:
    dataset, contents = small(name, tmp_path)
    for file, content in contents.items():
        (tmp_path / dataset.folder / file).unlink()
        with pytest.raises(FileNotFoundError) as caught:
            read(dataset, tmp_path)
        assert file in str(caught.value)
        assert str(caught.value).endswith(f"missing; get it with: python -m tools.packs fetch {name} --to {tmp_path}")
        (tmp_path / dataset.folder / file).write_bytes(content)


def packed(*numbers: int) -> bytes:
    return gzip.compress(struct.pack(f">{len(numbers)}I", *numbers), mtime=0)


@pytest.mark.parametrize(
    ("number", "content", "words"),
    [
        (0, idx(np.zeros((5, 28, 28), np.uint8), magic=0x801), "begins with 0x801"),
        (0, idx(np.zeros((5, 27, 28), np.uint8)), r"axes \(5, 27, 28\), expected 0x803 and axes \('n', 28, 28\)"),
        (0, idx(np.zeros((0, 28, 28), np.uint8)), "holds nothing"),
        (0, packed(0x803, 2**32 - 1, 28, 28), "got 16 bytes, expected 3367254359296 for the 4294967295 entries"),
        (0, packed(0x803), "got 4 bytes, expected a header of 16"),
        (0, b"no gzip", "not a whole gzip file"),
        (1, idx(np.zeros(4, np.uint8)), "got 4, expected 5 labels, one per image"),
        (1, idx(np.full(5, 10, np.uint8)), "got 10, expected labels from 0 to 9"),
    ],
    ids=["magic", "axes", "empty", "huge", "no header", "no gzip", "fewer labels", "labels out of range"],
)
def test_mnist_of_another_format_is_refused(tmp_path: Path, number: int, content: bytes, words: str) -> None:
    dataset, _ = small("mnist", tmp_path)
    name = MNIST["train"][number]
    (tmp_path / "mnist" / name).write_bytes(content)
    with pytest.raises(ValueError, match=f"{name}: .*{words}"):
        read(dataset, tmp_path, verify=False)


@pytest.mark.parametrize(("name", "file", "most"), [("cifar10", "data_batch_4.bin", 9), ("cifar100", "test.bin", 99)])
def test_labels_out_of_range_are_refused(tmp_path: Path, name: str, file: str, most: int) -> None:
    dataset, contents = small(name, tmp_path)
    content = bytearray(contents[file])
    content[0 if name == "cifar10" else 1] = most + 1
    (tmp_path / dataset.folder / file).write_bytes(content)
    with pytest.raises(ValueError, match=f"{file}: got {most + 1}, expected labels from 0 to {most}"):
        read(dataset, tmp_path, verify=False)


def test_a_data_set_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="dataset: got 'svhn', expected one of mnist, cifar10, cifar100"):
        read("svhn", tmp_path)
