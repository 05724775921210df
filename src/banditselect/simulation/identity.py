"""What exactly was run: settings as plain values, and a fingerprint of the code that makes the numbers."""

import ast
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

from ..carriers import user_code as sources
from ..carriers import validation
from ..carriers.binding import resolved
from ..policies import Binding, Constant, EveryBall, EveryMap, Policy
from ..policies.registry import encode
from ..problems import Problem

_ROOT = Path(__file__).parent.parent
_SILENT = ("checks", "statistics", "reporting", "experiments", "cli", "simulation")  #: rooms that no number depends on
_LONG = 64  #: arrays with more entries than this are told by a digest


def digest(description: Any) -> str:
    """Return the name of a description: 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:32]


def describe(name: str, value: Any) -> Any:
    """Return a setting as JSON that tells it from every other; a function, which has no such form, is refused."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Binding):
        return {"bind": _class(value.cls), "arguments": _parts(name, value.arguments)}
    if isinstance(value, Problem):
        told = {"settings": value.settings, "shapes": value.shapes}
        if sources.is_foreign(type(value)):  # it may have read data that are not among its arguments
            told["held"] = {key: part for key, part in vars(value).items() if key not in value.settings}
        return {"problem": _class(type(value)), **{key: _parts(name, part) for key, part in told.items()}}
    if isinstance(value, Constant):
        return {"given": value.name}
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
    return {"value": encoded, "arrays": {key: _array_digest(array) for key, array in arrays.items()}}


def _parts(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    if not all(isinstance(key, str) for key in values):
        raise validation.refuse(name, values, "text as keys")
    return {key: describe(f"{name}: {key}", part) for key, part in values.items()}


def recorded(value: Any, shapes: Mapping[str, Any], constants: Mapping[str, Any]) -> Any:
    """Return the arguments that a policy really had, as JSON: shapes, defaults and what was ``given`` filled in.

    A constant with one entry per lane becomes ``{"per replicate": [...]}``; long arrays become digests.
    """
    if isinstance(value, Binding):
        arguments = {name: shapes.get(name, parameter.default) for name, parameter in value.parameters.items()}
        arguments |= value.arguments
        told = {name: part for name, part in arguments.items() if name not in ("lanes", "seed")}
        return {"policy": value.cls.__name__, "arguments": recorded(told, value.inside(shapes), constants)}
    if isinstance(value, Constant):
        known = value.resolve(shapes, constants)
        return {"per replicate": [_plain(row) for row in known]} if isinstance(known, np.ndarray) else _plain(known)
    if isinstance(value, EveryMap):
        inside = {name: part for name, part in shapes.items() if name != "n_models"}
        return {"on every map": recorded(value.policy, inside, constants)}
    if isinstance(value, EveryBall):
        return {"on every ball": recorded(value.whole, shapes, constants)}
    if isinstance(value, Policy):
        own = {name: part for name, part in value.settings.items() if name not in ("lanes", "seed")}
        return {"policy": type(value).__name__, "arguments": recorded(own, shapes, constants)}
    if isinstance(value, Mapping):
        return {str(name): recorded(part, shapes, constants) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [recorded(part, shapes, constants) for part in value]
    return _plain(resolved(value, shapes, constants))


def joined(parts: Iterable[Any]) -> Any:
    """Return the record of consecutive lanes from the records of its blocks."""
    first, *rest = parts
    if isinstance(first, dict) and set(first) == {"per replicate"}:
        return {"per replicate": [row for part in (first, *rest) for row in part["per replicate"]]}
    if isinstance(first, dict):
        return {key: joined([first[key], *(part[key] for part in rest)]) for key in first}
    if isinstance(first, list):
        return [joined(column) for column in zip(first, *rest, strict=True)]
    return first


def code_version(*parts: Any) -> dict[str, str]:
    """Return what the numbers depend on besides the settings: the library's code and the versions beneath it.

    Classes from outside the library are told by the source file they are written in and by the files that it imports,
    but for installed ones. Comments and docstrings do not count.
    """
    code = installed()
    for cls in sorted(set().union(*map(_classes_in, parts)), key=_class):
        code[_class(cls)] = _source_digest(cls)
        for name, path in sources.imported_by(cls.__module__).items():
            code[name] = _code_digest(path.read_text())
    return code


def installed() -> dict[str, str]:
    """Return the library's code and the versions beneath it, as this process has them."""
    compiled = not config.DISABLE_JIT  # type: ignore[attr-defined]
    processor = (config.CPU_NAME or get_host_cpu_name()) if compiled else "none"  # type: ignore[attr-defined]
    return versions() | {"banditselect": _library_digest(), "compiled for": str(processor)}


def versions() -> dict[str, str]:
    """Return the versions of the library and of what is beneath it."""
    from .. import __version__

    return {
        "banditselect": __version__,
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def _plain(value: Any) -> Any:
    """Return a value as JSON: short arrays as lists, long ones as digests, what has no such form by its ``repr``."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size <= _LONG else f"array {value.shape}, sha256 {_array_digest(value)}"
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _array_digest(array: np.ndarray) -> str:
    if array.dtype.hasobject:
        raise validation.refuse(
            "out", array, "arrays of numbers, truth values or text: objects have no form to compare"
        )
    header = f"{array.dtype.descr}{array.shape}".encode()
    return hashlib.sha256(header + array.tobytes()).hexdigest()[:32]


def _class(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _classes_in(value: Any) -> set[type]:
    """Return the classes from outside the library that a binding or a problem is made of."""
    if isinstance(value, Binding):
        return _foreign(value.cls) | _classes_in(value.arguments)
    if isinstance(value, Problem | Policy):
        return _foreign(type(value)) | _classes_in(value.settings)
    if isinstance(value, Mapping):
        return set().union(*map(_classes_in, value.values()))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _foreign(type(value)).union(*(_classes_in(getattr(value, f.name)) for f in dataclasses.fields(value)))
    return set().union(*map(_classes_in, value)) if isinstance(value, list | tuple) else set()


def _foreign(cls: type) -> set[type]:
    return {c for c in cls.__mro__ if sources.is_foreign(c) and c.__module__ not in ("builtins", "abc")}


def _source_digest(cls: type) -> str:
    """Return the digest of the file that a class is written in, or of its own source where there is no file."""
    if "<locals>" in cls.__qualname__:
        raise validation.refuse("out", cls, "a class at the top of its file: one made inside a function may differ")
    try:
        path = inspect.getsourcefile(cls)
        source = Path(path).read_text() if path and Path(path).is_file() else inspect.getsource(cls)
    except (OSError, TypeError):
        raise validation.refuse("out", cls, "a class whose source can be read, so that changes are noticed") from None
    if sources.noted(cls) not in (None, sources.fingerprint(path)):
        raise validation.refuse("out", cls, "a class as its file has it: the file was changed after it was loaded")
    return _code_digest(source)


def _stamps() -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(_ROOT.rglob("*.py"))}


_LOADED = _stamps()  #: of the library's files when they were imported


@functools.cache
def _library_digest() -> str:
    if _stamps() != _LOADED:
        raise validation.refuse("banditselect", "files that were changed after they were loaded", "a fresh process")
    files = [
        path
        for path in sorted(_ROOT.rglob("*.py"))
        if path.relative_to(_ROOT).with_suffix("").parts[0] not in _SILENT or path.name == "loop.py"
    ]
    return digest([[path.relative_to(_ROOT).as_posix(), _code_digest(path.read_text())] for path in files])


def _code_digest(source: str) -> str:
    """Return a digest that comments, docstrings and layout do not change."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:32]
