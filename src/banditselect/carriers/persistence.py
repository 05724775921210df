"""Named arrays and settings <-> one file: versioned, checksummed, replaced atomically, no pickle. Knows no policy.

Layout: 4 bytes ``BSEL``, format version (uint16), length of the header (uint64), header (JSON), the arrays one after
another as raw little-endian bytes, SHA-256 of everything before it. The header holds the settings and, per array,
name, dtype and shape. Any change of any byte is found by the checksum.
"""

import contextlib
import hashlib
import json
import math
import os
import struct
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"BSEL"
VERSION = 2
_PREFIX = struct.Struct("<4sHQ")
_DIGEST = hashlib.sha256().digest_size
_DTYPES = {"<f8", "<i8", "|u1", "|b1"}


def write(path: str | os.PathLike[str], settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write JSON ``settings`` and ``arrays`` to ``path``; a reader sees the old file or the new one, never a part."""
    blobs = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    table = [[name, a.dtype.newbyteorder("<").str, list(a.shape)] for name, a in blobs.items()]
    for name, dtype, _ in table:
        if dtype not in _DTYPES:
            raise ValueError(f"array {name!r}: cannot store dtype {dtype}")
    header = json.dumps({"settings": settings, "arrays": table}).encode()
    digest = hashlib.sha256()
    with replacing(path) as file:
        for piece in (_PREFIX.pack(MAGIC, VERSION, len(header)), header, *map(_bytes, blobs.values())):
            digest.update(piece)
            file.write(piece)
        file.write(digest.digest())


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of ``path`` when all is written, and leaves it as it was if anything fails."""
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what ``write`` wrote; a file that is not exactly that raises ValueError."""
    content = Path(path).read_bytes()
    if len(content) < _PREFIX.size + _DIGEST or content[:4] != MAGIC:
        raise ValueError(f"{path}: not a file of this library, or cut short")
    _, version, length = _PREFIX.unpack_from(content)
    if version != VERSION:
        raise ValueError(f"{path}: format version {version}, this library reads version {VERSION}")
    body, checksum = content[:-_DIGEST], content[-_DIGEST:]
    if hashlib.sha256(body).digest() != checksum:
        raise ValueError(f"{path}: damaged: its checksum does not match its content")
    header = json.loads(body[_PREFIX.size : _PREFIX.size + length])
    arrays: dict[str, NDArray[Any]] = {}
    offset = _PREFIX.size + length
    for name, dtype, shape in header["arrays"]:
        kind = np.dtype(dtype)
        count = math.prod(shape)
        arrays[name] = np.frombuffer(body, kind, count, offset).reshape(shape).astype(kind.newbyteorder("="))
        offset += count * kind.itemsize
    return header["settings"], arrays


def _bytes(array: NDArray[Any]) -> bytes:
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
