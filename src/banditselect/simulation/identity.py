"""The settings and the code of a cell as JSON, so that other settings or code never find its outcome.

A description differs wherever settings differ, and its digest is the name of a cell; a record, which results carry, is
for readers: everything is filled in that a policy was given, and long arrays are abbreviated. The code is the
library's files, every file with a class of the user's own (not its imports), and installed versions.
"""

import dataclasses
import functools
import hashlib
import inspect
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite.binding import get_host_cpu_name
from numba.core import config

from .. import __version__
from ..policies import Binding, Constant, EveryBall, EveryMap, Policy
from ..problems import Problem
from ..runtime import errors
from ..runtime.binding import resolved
from ..runtime.files import encode
from ..runtime.settings import is_foreign

_LONG = 64  #: arrays with more entries than this are recorded by a digest
_ROOT = Path(__file__).parent.parent
_APART = ("checks", "cli", "experiments", "reporting")  #: packages that no number depends on


def digest(description: Any) -> str:
    """Return the name that belongs to a description: 32 hexadecimal digits."""
    return _hexadecimal(json.dumps(description, sort_keys=True).encode())


def describe(name: str, value: Any) -> Any:
    """Return a setting as JSON, different for different settings; refuse a function, which has no such form.

    A class of the user's own is described with the digest of its file.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Binding):
        return {"bind": _class(value.cls), "arguments": _parts(name, value.arguments)}
    if isinstance(value, Problem):
        described = {"settings": value.settings, "shapes": value.shapes}
        if is_foreign(type(value)):  # it may have read data that are not among its arguments
            described["held"] = {key: part for key, part in vars(value).items() if key not in value.settings}
        return {"problem": _class(type(value)), **{key: _parts(name, part) for key, part in described.items()}}
    if isinstance(value, Constant):
        return {"given": value.name} | ({"factor": value.factor} if value.factor != 1.0 else {})
    if isinstance(value, Mapping):
        return {"mapping": _parts(name, value)}
    if isinstance(value, list | tuple):
        return [describe(f"{name}[{k}]", part) for k, part in enumerate(value)]
    if isinstance(value, np.ndarray):
        return {"array": _array_digest(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"is": _class(type(value)), "fields": _parts(name, fields)}
    arrays: dict[str, Any] = {}
    encoded = encode("out", name, value, arrays)
    own = {"class": _class(type(value))} if isinstance(value, Policy) else {}
    return own | {"value": encoded, "arrays": {key: _array_digest(array) for key, array in arrays.items()}}


def _parts(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    if not all(isinstance(key, str) for key in values):
        raise errors.refuse(name, values, "text as keys")
    return {key: describe(f"{name}: {key}", part) for key, part in values.items()}


def _class(cls: type) -> Any:
    """Return the name of a class with its module; for one of the user's own, and its bases, the digest of the file."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    own = [c for c in cls.__mro__ if is_foreign(c) and c.__module__ not in ("builtins", "abc")]
    return [name, *map(_class_digest, own)] if own else name


@functools.cache
def _class_digest(cls: type) -> str:
    """Return the digest of the file that a class is written in, or of its own source where there is no file."""
    if "<locals>" in cls.__qualname__:
        raise errors.refuse("out", cls, "a class at the top of its file: one made inside a function may differ")
    try:
        path = Path(inspect.getsourcefile(cls) or "")
        return _hexadecimal(path.read_bytes() if path.is_file() else inspect.getsource(cls).encode())
    except (OSError, TypeError):
        raise errors.refuse("out", cls, "a class whose source can be read, so that changes are noticed") from None


def installed() -> dict[str, str]:
    """Return the digest of the library's code, and installed versions, as this process has them."""
    compiled = not config.DISABLE_JIT  # type: ignore[attr-defined]
    processor = (config.CPU_NAME or get_host_cpu_name()) if compiled else "none"  # type: ignore[attr-defined]
    return versions() | {"banditselect": _library_digest(), "compiled for": str(processor)}


def versions() -> dict[str, str]:
    """Return the versions of the library, Python, numpy and numba."""
    return {
        "banditselect": __version__,
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


@functools.cache
def _library_digest() -> str:
    """Return a digest of the library's files and their names, as they are when the process first asks."""
    found = hashlib.sha256()
    for path in sorted(_ROOT.rglob("*.py")):
        name = path.relative_to(_ROOT)
        if name.parts[0] not in _APART:
            found.update(f"{name.as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}".encode())
    return found.hexdigest()[:32]


def record_of(value: Any, shapes: Mapping[str, Any], constants: Mapping[str, Any]) -> Any:
    """Return a policy or a problem with the arguments that it really had: shapes, defaults and ``given`` filled in.

    A constant with one entry per lane becomes ``{"per replicate": [...]}``; long arrays become digests, and values
    without a form in JSON their ``repr``.
    """
    if isinstance(value, Binding):
        arguments = {name: shapes.get(name, parameter.default) for name, parameter in value.parameters.items()}
        arguments |= value.arguments
        settings = {name: part for name, part in arguments.items() if name not in ("lanes", "seed")}
        return {"policy": value.cls.__name__, "arguments": record_of(settings, value.inside(shapes), constants)}
    if isinstance(value, Constant):
        known = value.resolve(shapes, constants)
        alike = not isinstance(known, np.ndarray)
        return record_of(known, {}, {}) if alike else {"per replicate": [record_of(row, {}, {}) for row in known]}
    if isinstance(value, EveryMap):
        inside = {name: part for name, part in shapes.items() if name != "n_models"}
        return {"on every map": record_of(value.policy, inside, constants)}
    if isinstance(value, EveryBall):
        return {"on every ball": record_of(value.whole, shapes, constants)}
    if isinstance(value, Policy | Problem):
        own = {name: part for name, part in value.settings.items() if name not in ("lanes", "seed")}
        kind = "problem" if isinstance(value, Problem) else "policy"
        return {kind: type(value).__name__, "arguments": record_of(own, shapes, constants)}
    if isinstance(value, Mapping):
        return {str(name): record_of(part, shapes, constants) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [record_of(part, shapes, constants) for part in value]
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size <= _LONG else f"array {value.shape}, sha256 {_array_digest(value)}"
    known = resolved(value, shapes, constants)
    if known is not value:
        return record_of(known, {}, {})
    known = value.item() if isinstance(value, np.generic) else value
    return known if known is None or isinstance(known, bool | int | float | str) else repr(known)


def join_records(parts: Iterable[Any]) -> Any:
    """Return the record of consecutive lanes from the records of its blocks."""
    first, *rest = parts
    if isinstance(first, dict) and set(first) == {"per replicate"}:
        return {"per replicate": [row for part in (first, *rest) for row in part["per replicate"]]}
    if isinstance(first, dict):
        return {key: join_records([first[key], *(part[key] for part in rest)]) for key in first}
    if isinstance(first, list):
        return [join_records(column) for column in zip(first, *rest, strict=True)]
    return first


def _array_digest(array: np.ndarray) -> str:
    if array.dtype.hasobject:
        raise errors.refuse("out", array, "arrays of numbers, truth values or text: objects have no form to compare")
    return _hexadecimal(f"{array.dtype.descr}{array.shape}".encode() + array.tobytes())


def _hexadecimal(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
