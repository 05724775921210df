"""Read images and labels as arrays from the official files; check their checksums, headers, sizes and labels."""

import gzip
import hashlib
import struct
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from banditselect.runtime import errors
from banditselect.types import Index

from .official import DataSet, lookup

SIDE = {"mnist": 28, "cifar10": 32, "cifar100": 32}  #: pixels
CLASSES = {"mnist": 10, "cifar10": 10, "cifar100": 100}

_IMAGES, _LABELS = 0x803, 0x801  # how an idx file of unsigned bytes with three axes, with one, begins
_CIFAR10 = {"train": [f"data_batch_{k}.bin" for k in range(1, 6)], "test": ["test_batch.bin"]}
_CIFAR100 = {"train": ["train.bin"], "test": ["test.bin"]}


class Images(NamedTuple):
    """Images with their labels.

    Attributes
    ----------
    pixels: uint8, ``(n, 28, 28)`` for mnist, ``(n, 32, 32, 3)`` (red, green, blue) for cifar10 and cifar100.
    labels: int64 ``(n,)``, from 0; the 100 fine ones of cifar100.
    """

    pixels: NDArray[np.uint8]
    labels: Index


def read(dataset: str | DataSet, folder: str | Path, *, verify: bool = True) -> dict[str, Images]:
    """Return the images of a data set: ``"train"`` and ``"test"``, in the order of the official files.

    Parameters
    ----------
    dataset: ``"mnist"``, ``"cifar10"`` or ``"cifar100"``.
    folder: the folder of ``python -m tools.packs fetch``, with ``mnist/``, ``cifar-10-batches-bin/``,
        ``cifar-100-binary/``.
    verify: False also accepts files of the right format with other content and any number of images.

    Raises
    ------
    FileNotFoundError: a file is missing.
    ValueError: a file is not the official one, or not of the format; the message begins with its path.
    """
    found = lookup(dataset)
    split = _mnist if found.name == "mnist" else _cifar
    return {part: split(found, Path(folder), part, verify) for part in ("train", "test")}


def _mnist(dataset: DataSet, folder: Path, part: str, verify: bool) -> Images:
    start, side = {"train": "train", "test": "t10k"}[part], SIDE[dataset.name]
    pixels = _idx(dataset, folder, f"{start}-images-idx3-ubyte.gz", _IMAGES, (side, side), verify)
    name = f"{start}-labels-idx1-ubyte.gz"
    labels = _idx(dataset, folder, name, _LABELS, (), verify)
    if len(labels) != len(pixels):
        raise errors.refuse(_shown(dataset, folder, name), len(labels), f"{len(pixels)} labels, one per image")
    return Images(pixels, _checked(dataset, folder, name, labels))


def _idx(
    dataset: DataSet, folder: Path, name: str, magic: int, shape: tuple[int, ...], verify: bool
) -> NDArray[np.uint8]:
    """Return the array ``(n, *shape)`` of an idx file."""
    where = _shown(dataset, folder, name)
    try:
        content = gzip.decompress(_content(dataset, folder, name, verify))
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{where}: cut short or damaged, not a whole gzip file: {error}") from None
    head = struct.Struct(f">{2 + len(shape)}I")
    if len(content) < head.size:
        raise ValueError(f"{where}: got {len(content)} bytes, expected a header of {head.size}")
    got, n, *rest = head.unpack_from(content)
    if (got, tuple(rest)) != (magic, shape):
        raise ValueError(
            f"{where}: begins with {got:#x} and axes {(n, *rest)}, expected {magic:#x} and axes {('n', *shape)}"
        )
    size = head.size + n * int(np.prod(shape, dtype=np.int64))
    if n == 0:
        raise ValueError(f"{where}: holds nothing, expected at least one entry")
    if len(content) != size:
        raise ValueError(f"{where}: got {len(content)} bytes, expected {size} for the {n} entries that it announces")
    return np.frombuffer(content, np.uint8, offset=head.size).reshape(n, *shape).copy()


def _cifar(dataset: DataSet, folder: Path, part: str, verify: bool) -> Images:
    names, before = (_CIFAR10, 1) if dataset.name == "cifar10" else (_CIFAR100, 2)  # before the pixels: coarse, fine
    side = SIDE[dataset.name]
    length = before + 3 * side**2
    pixels, labels = [], []
    for name in names[part]:
        content = _content(dataset, folder, name, verify)
        if not content or len(content) % length:
            where = _shown(dataset, folder, name)
            raise ValueError(
                f"{where}: got {len(content)} bytes, expected a multiple of {length}, the size of an image"
            )
        records = np.frombuffer(content, np.uint8).reshape(-1, length)
        labels.append(_checked(dataset, folder, name, records[:, before - 1]))
        planes = records[:, before:].reshape(-1, 3, side, side)
        pixels.append(np.ascontiguousarray(planes.transpose(0, 2, 3, 1)))
    return Images(np.concatenate(pixels) if pixels[1:] else pixels[0], np.concatenate(labels))


def _content(dataset: DataSet, folder: Path, name: str, verify: bool) -> bytes:
    """Return the bytes of a file, if they are the official ones."""
    path, file = folder / dataset.folder / name, dataset.files[name]
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{path}: missing; get it with: python -m tools.packs fetch {dataset.name} --to {folder}"
        ) from None
    if verify and len(content) != file.size:
        raise ValueError(f"{path}: got {len(content)} bytes, expected {file.size}: cut short or another file")
    if verify and (found := hashlib.sha256(content).hexdigest()) != file.sha256:
        raise ValueError(f"{path}: got sha256 {found}, expected {file.sha256}: damaged or another file")
    return content


def _checked(dataset: DataSet, folder: Path, name: str, labels: NDArray[np.uint8]) -> Index:
    classes = CLASSES[dataset.name]
    if labels.max() >= classes:
        raise errors.refuse(_shown(dataset, folder, name), int(labels.max()), f"labels from 0 to {classes - 1}")
    return labels.astype(np.int64)


def _shown(dataset: DataSet, folder: Path, name: str) -> str:
    return str(folder / dataset.folder / name)
