"""Settings of policies and problems as JSON: as a fingerprint, under which cells are stored, and as a record, to read.

A fingerprint is the digest of a description that equal settings share and no others; in a record, which results carry,
everything is filled in that a policy was given, and what is long is abbreviated.
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..policies import Binding, Constant, EveryBall, EveryMap, Policy
from ..problems import Problem
from ..runtime import errors
from ..runtime.binding import resolved
from ..runtime.files import encode
from ..runtime.settings import is_foreign

_LONG = 64  #: arrays with more entries than this are told by a digest


def digest(description: Any) -> str:
    """Return the fingerprint of a description: 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:32]


def full_name(cls: type) -> str:
    """Return the name of a class with its module."""
    return f"{cls.__module__}.{cls.__qualname__}"


def describe(name: str, value: Any) -> Any:
    """Return a setting as JSON that tells it from every other; a function, which has no such form, is refused."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Binding):
        return {"bind": full_name(value.cls), "arguments": _parts(name, value.arguments)}
    if isinstance(value, Problem):
        described = {"settings": value.settings, "shapes": value.shapes}
        if is_foreign(type(value)):  # it may have read data that are not among its arguments
            described["held"] = {key: part for key, part in vars(value).items() if key not in value.settings}
        return {"problem": full_name(type(value)), **{key: _parts(name, part) for key, part in described.items()}}
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
        return {"is": full_name(type(value)), "fields": _parts(name, fields)}
    arrays: dict[str, Any] = {}
    encoded = encode("out", name, value, arrays)
    return {"value": encoded, "arrays": {key: _array_digest(array) for key, array in arrays.items()}}


def _parts(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    if not all(isinstance(key, str) for key in values):
        raise errors.refuse(name, values, "text as keys")
    return {key: describe(f"{name}: {key}", part) for key, part in values.items()}


def record_of(value: Any, shapes: Mapping[str, Any], constants: Mapping[str, Any]) -> Any:
    """Return a policy or a problem with the arguments that it really had: shapes, defaults and ``given`` filled in.

    A constant with one entry per lane becomes ``{"per replicate": [...]}``; long arrays become digests.
    """
    if isinstance(value, Binding):
        arguments = {name: shapes.get(name, parameter.default) for name, parameter in value.parameters.items()}
        arguments |= value.arguments
        settings = {name: part for name, part in arguments.items() if name not in ("lanes", "seed")}
        return {"policy": value.cls.__name__, "arguments": record_of(settings, value.inside(shapes), constants)}
    if isinstance(value, Constant):
        known = value.resolve(shapes, constants)
        return {"per replicate": [_plain(row) for row in known]} if isinstance(known, np.ndarray) else _plain(known)
    if isinstance(value, EveryMap):
        inside = {name: part for name, part in shapes.items() if name != "n_models"}
        return {"on every map": record_of(value.policy, inside, constants)}
    if isinstance(value, EveryBall):
        return {"on every ball": record_of(value.whole, shapes, constants)}
    if isinstance(value, Policy):
        own = {name: part for name, part in value.settings.items() if name not in ("lanes", "seed")}
        return {"policy": type(value).__name__, "arguments": record_of(own, shapes, constants)}
    if isinstance(value, Problem):
        return {"problem": type(value).__name__, "arguments": record_of(value.settings, shapes, constants)}
    if isinstance(value, Mapping):
        return {str(name): record_of(part, shapes, constants) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [record_of(part, shapes, constants) for part in value]
    return _plain(resolved(value, shapes, constants))


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
        raise errors.refuse("out", array, "arrays of numbers, truth values or text: objects have no form to compare")
    header = f"{array.dtype.descr}{array.shape}".encode()
    return hashlib.sha256(header + array.tobytes()).hexdigest()[:32]
