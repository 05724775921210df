"""One object <-> one file: versioned, checksummed, replaced atomically, no pickle.

An object that can be saved is of a class known by name (:func:`register`): a policy, an agent, a feature map, regions,
a sequence of tasks. Its ``settings`` are what its class makes it from. A policy has learned arrays with a row per lane;
what any other object has learned, ``learned`` returns and ``restored`` takes over.

Layout: 4 bytes ``BSEL``, format version (uint16), length of the header (uint64), header (JSON), the arrays one after
another as raw little-endian bytes, SHA-256 of everything before it. The header holds the settings and, per array,
name, dtype and shape. Any change of any byte is found by the checksum.
"""

import contextlib
import dataclasses
import errno
import hashlib
import itertools
import json
import math
import os
import secrets
import stat
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .arguments import Configured
from .errors import refuse
from .workers import Worker

C = TypeVar("C", bound=type)
Verify = Callable[[Path], None] | None

MAGIC = b"BSEL"
VERSION = 1  #: of the format; what reads a later one has to read this one too (tests/golden)
_PREFIX = struct.Struct("<4sHQ")
_DIGEST = hashlib.sha256().digest_size
_DTYPES = {"<f8", "<i8", "|u1", "|b1"}
_FEW = 10_000  # so many features, models or arms need not have left a number each

_classes: dict[str, type] = {}


def register(cls: C) -> C:
    """Class decorator: make a policy known by its name, so that it can be loaded and is checked with all others.

    A dataclass is made known in the same way, so that an object that has one among its settings can be saved. A class
    of the same name in the same module takes the place of the one before: the cell of a notebook was run again.
    """
    known = _classes.get(cls.__name__, cls)
    if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(f"register: a class named {cls.__name__!r} is already registered, by {known.__module__}")
    _classes[cls.__name__] = cls
    return cls


def registered() -> dict[str, Any]:
    """Return all registered policies by name."""
    return {name: cls for name, cls in _classes.items() if issubclass(cls, Configured) and hasattr(cls, "act")}


def save(value: Any, path: str | os.PathLike[str]) -> None:
    """Write an object to a file that can be loaded, or to none."""
    arrays: dict[str, NDArray[Any]] = {}
    settings = _whole(type(value).__name__, value, arrays)

    def verify(written: Path) -> None:
        try:
            load(written)
        except Exception as error:
            reason = str(error).removeprefix(f"{written}: ")
            what = f"save: what was written cannot be loaded, so it was deleted and {path} left as it was ({reason})"
            advice = "a call may have been interrupted: continue with the last file that was saved (banditselect.load)"
            raise RuntimeError(f"{what}; {advice}") from error

    write(path, settings, arrays, verify)


def load(path: str | os.PathLike[str], *, worker: Any = None) -> Any:
    """Read what ``save`` wrote: a policy or an agent continues bit-identically, or as a worker.

    A file that is damaged, cut short, of another format, of a class that is not registered, or that holds what no
    object has written raises ValueError.

    Parameters
    ----------
    worker: None, or the number or name of the process that acts with it, as in :meth:`Policy.fork`. Several processes
        that load one file and act each need one: else they draw the same random numbers, and their decisions cannot be
        distinguished.
    """
    settings, arrays = read(path)
    try:
        found = _decode(settings, arrays)
        if _classes.get(type(found).__name__) is not type(found):
            raise ValueError(f"its content is no object that can be saved, but {found!r:.80}")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    except Exception as error:  # what is built of it is the file's choice, and so is how that fails
        raise ValueError(f"{path}: not what save wrote: {type(error).__name__}: {error}") from error
    if worker is None:
        return found
    if not hasattr(found, "fork"):
        raise refuse("load: worker", worker, f"None for {type(found).__name__}, which does not act")
    return found.fork(worker)


def _is_policy(value: Any) -> bool:
    return isinstance(value, Configured) and hasattr(value, "act")


def _whole(name: str, value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return an object as JSON and arrays; a policy with all that it has learned, of which a file has one."""
    if not _is_policy(value):
        return encode("save", name, value, arrays)
    policy = {
        "policy": encode("save", "policy", value, arrays),
        "lineage": value._lineage,
        "worker": value._acts.worker,
        "closed": value._acts.from_workers.closed,
        "changes": list(value._changes),
    }
    arrays["from_workers"] = value._acts.from_workers.table()
    for part, content in value._parts:
        for key, array in content.learned().items():
            content.check(key, array)
            arrays[f"state/{part}/{key}"] = array
    return policy


def _policy(stored: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return a policy in its learned state."""
    policy = _decode(stored["policy"], arrays)
    if not _is_policy(policy):
        raise ValueError("its content is not a policy")
    for part, content in policy._parts:
        content.restore(content.learned() | {name: arrays[f"state/{part}/{name}"] for name in content.state})
    policy._lineage = int(stored["lineage"])
    policy._acts.worker = Worker(*map(int, stored["worker"]))
    policy._acts.from_workers.restore(arrays["from_workers"], int(stored["closed"]), policy._size)
    policy._seed_streams(policy._acts.worker.channel)
    policy._restore_model_history(stored["changes"])
    return policy


def encode(owner: str, name: str, value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return a setting as JSON; arrays go to ``arrays`` under a name. ``owner`` refuses what no file can hold.

    A policy among the settings is written as it was given, before it learned anything.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.bool_ | np.number | np.str_):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        key = f"settings/{name}"
        arrays[key] = value.astype({"f": float, "b": bool}.get(value.dtype.kind, int))
        return {"array": key}
    if isinstance(value, list | tuple):
        parts = [encode(owner, f"{name}.{k}", part, arrays) for k, part in enumerate(value)]
        return {"tuple" if isinstance(value, tuple) else "list": parts}
    if type(value) is dict and all(isinstance(key, str) for key in value):
        return {"dict": {key: encode(owner, f"{name}.{key}", part, arrays) for key, part in value.items()}}
    cls = type(value).__name__
    if not getattr(value, "savable", True):
        what = "cannot be saved: it keeps objects that no file holds; build it again after loading"
        raise ValueError(f"{owner}: {name}: {cls} {what}")
    known = _classes.get(cls) is type(value)
    if isinstance(value, Configured) and not known:
        again = "; this object is of an earlier version of the class, make it anew" if cls in _classes else ""
        raise ValueError(
            f"{owner}: class {cls!r} is not registered: decorate it with banditselect.authoring.register{again}"
        )
    if not known:
        what, hint = getattr(value, "__name__", repr(value)), "; a Power(scale, exponent) can" * callable(value)
        raise ValueError(f"{owner}: {name.removeprefix('policy.')}={what:.80} cannot be stored{hint}")
    dataclass = dataclasses.is_dataclass(value)
    own = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)} if dataclass else value.settings
    described: dict[str, Any] = {cls: {key: encode(owner, f"{name}.{key}", v, arrays) for key, v in own.items()}}
    learned = value.learned() if hasattr(value, "learned") else {}
    if learned:
        described["learned"] = {key: _whole(f"{name}.{key}", v, arrays) for key, v in learned.items()}
    return described


def _decode(value: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    if not isinstance(value, dict):
        return value
    (kind, content), *_ = value.items()
    if kind == "array":
        return arrays[content]
    if kind in ("list", "tuple"):
        parts = [_decode(part, arrays) for part in content]
        return tuple(parts) if kind == "tuple" else parts
    if kind == "dict":
        return {name: _decode(part, arrays) for name, part in content.items()}
    if kind == "policy":
        return _policy(value, arrays)
    if kind not in _classes:
        raise ValueError(f"class {kind!r} is not known here: first import the module that defines it")
    cls: Any = _classes[kind]
    arguments = {name: _decode(part, arrays) for name, part in content.items()}
    if issubclass(cls, Configured):
        _check_sizes(arguments, arrays)
    if not hasattr(cls, "restored"):
        return cls(**arguments)
    return cls.restored(arguments, {name: _decode(part, arrays) for name, part in value.get("learned", {}).items()})


def _check_sizes(arguments: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse, before anything is built, lanes without a row in the state, and sizes far above what the file holds."""
    rows = max((len(a) for name, a in arrays.items() if name.startswith("state/") and a.ndim), default=0)
    numbers = max(_FEW, sum(a.size for a in arrays.values()))
    for name, most in {"lanes": rows, "n_models": numbers, "n_arms": numbers, "dim": numbers}.items():
        value = arguments.get(name, 0)
        for size in np.ravel(1 if value is None else value).tolist():
            if not size <= most:
                raise ValueError(f"{name}={value!r:.80}, of which the file holds nothing")


def write(
    path: str | os.PathLike[str], settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], verify: Verify = None
) -> None:
    """Write JSON ``settings`` and ``arrays`` to ``path``; a reader sees the old file or the new one, never a part."""
    blobs = {name: np.asarray(array, array.dtype.newbyteorder("<"), order="C") for name, array in arrays.items()}
    table = [[name, a.dtype.str, list(a.shape)] for name, a in blobs.items()]
    for name, dtype, _ in table:
        if dtype not in _DTYPES:
            raise ValueError(f"array {name!r}: cannot store dtype {dtype}")
    header = json.dumps({"settings": settings, "arrays": table}).encode()
    digest = hashlib.sha256()
    with replacing(path, verify) as file:
        for piece in (_PREFIX.pack(MAGIC, VERSION, len(header)), header, *(a.tobytes() for a in blobs.values())):
            digest.update(piece)
            file.write(piece)
        file.write(digest.digest())


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], verify: Verify = None) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of ``path`` when all is written, and leaves it as it was if anything fails.

    A link stays one, and the file that it points to is replaced; a file that was there keeps its permissions.
    ``verify`` is called with the file written, before it takes that place.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{secrets.token_hex(8)}.part")
    with _naming(path):
        try:
            before = target.stat().st_mode
        except FileNotFoundError:
            before = None
        if before is not None and not stat.S_ISREG(before):
            raise FileExistsError(errno.EEXIST, "not a file that could be replaced")
        mode = 0o666 if before is None else stat.S_IMODE(before)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if verify is not None:
            verify(temporary)
        with _naming(path):
            if before is not None:
                os.chmod(temporary, mode)
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file that was asked for where the system names another."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


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
    try:
        return _unpacked(body[_PREFIX.size :], length)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"{path}: not what this library writes: {error}") from error


def _unpacked(body: bytes, length: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the settings and the arrays that the header, of this length, describes; the whole of it is read first."""
    header = json.loads(body[:length])
    settings, table = header["settings"], [(name, dtype, tuple(shape)) for name, dtype, shape in header["arrays"]]
    for name, dtype, shape in table:
        if dtype not in _DTYPES or not all(type(k) is int and k >= 0 for k in shape):
            raise ValueError(f"array {name!r} of {dtype} {shape}")
    sizes = [math.prod(shape) * np.dtype(dtype).itemsize for _, dtype, shape in table]
    if length + sum(sizes) != len(body) or not isinstance(settings, dict):
        raise ValueError(f"{len(body)} bytes, of which its header names {length + sum(sizes)}")
    arrays: dict[str, NDArray[Any]] = {}
    for (name, dtype, shape), offset in zip(table, itertools.accumulate([length, *sizes]), strict=False):
        flat = np.frombuffer(body, np.dtype(dtype), math.prod(shape), offset)
        if dtype == "|b1" and flat.view(np.uint8).max(initial=0) > 1:
            raise ValueError(f"array {name!r} of other bytes than true and false")
        arrays[name] = flat.reshape(shape).astype(flat.dtype.newbyteorder("="))
    return settings, arrays
