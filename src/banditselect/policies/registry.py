"""Policies by name; a policy to a file and back."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..carriers import persistence
from ..parts.exploration import SCHEDULES
from .base import Policy

P = TypeVar("P", bound=type[Policy])

_classes: dict[str, type[Policy]] = {}


def register(cls: P) -> P:
    """Class decorator: make a policy known by its name, so that it can be loaded and is checked with all others."""
    if _classes.get(cls.__name__, cls) is not cls:
        raise ValueError(f"register: a policy named {cls.__name__!r} is already registered")
    _classes[cls.__name__] = cls
    return cls


def registered() -> dict[str, type[Policy]]:
    """Return all registered policies by name."""
    return dict(_classes)


def dump(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write a policy to one file."""
    arrays: dict[str, NDArray[Any]] = {}
    settings = {"policy": encode("save", "policy", policy, arrays), "lineage": policy._lineage}
    for part, content in policy._state():
        for name, array in content.arrays().items():
            arrays[f"state/{part}/{name}"] = array
    persistence.write(path, settings, arrays)


def load(path: str | os.PathLike[str]) -> Policy:
    """Read a policy that ``save`` wrote; it continues bit-identically.

    A file that is damaged, cut short, of another format, or of a policy class that is not registered raises
    ValueError.
    """
    settings, arrays = persistence.read(path)
    try:
        policy = _decode(settings["policy"], arrays)
        if not isinstance(policy, Policy):
            raise ValueError("its content is not a policy")
        for part, content in policy._state():
            content.restore({name: arrays[f"state/{part}/{name}"] for name in content.state})
        policy._lineage = int(settings["lineage"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
    return policy


def encode(owner: str, name: str, value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return a setting as JSON; arrays go to ``arrays`` and are named. What cannot be is refused by ``owner``."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        key = f"settings/{name}"
        arrays[key] = value.astype(
            value.dtype if value.dtype.kind == "b" else float if value.dtype.kind == "f" else int
        )
        return {"array": key}
    for kind, schedule in SCHEDULES.items():
        if type(value) is schedule:
            return {kind: [encode(owner, name, part, arrays) for part in vars(value).values()]}
    if isinstance(value, list | tuple):
        parts = [encode(owner, f"{name}.{k}", part, arrays) for k, part in enumerate(value)]
        return {"tuple" if isinstance(value, tuple) else "list": parts}
    if isinstance(value, Policy):
        cls = type(value).__name__
        if _classes.get(cls) is not type(value):
            raise ValueError(f"{owner}: policy class {cls!r} is not registered: decorate it with banditselect.register")
        return {cls: {key: encode(owner, f"{name}.{key}", part, arrays) for key, part in value.settings.items()}}
    what = getattr(value, "__name__", repr(value))
    raise ValueError(f"{owner}: {name.removeprefix('policy.')}={what} cannot be stored; a Power(scale, exponent) can")


_decoders: dict[str, Callable[[Any, Mapping[str, NDArray[Any]]], Any]] = {
    "array": lambda content, arrays: arrays[content],
    "list": lambda content, arrays: _decode_all(content, arrays),
    "tuple": lambda content, arrays: tuple(_decode_all(content, arrays)),
}


def _decode_all(values: Iterable[Any], arrays: Mapping[str, NDArray[Any]]) -> list[Any]:
    return [_decode(value, arrays) for value in values]


def _decode(value: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    if not isinstance(value, dict):
        return value
    (kind, content), *_ = value.items()
    if kind in _decoders:
        return _decoders[kind](content, arrays)
    if kind in SCHEDULES:
        return SCHEDULES[kind](*content)
    if kind not in _classes:
        raise ValueError(f"policy class {kind!r} is not registered here; known: {', '.join(sorted(_classes))}")
    return _classes[kind](**{name: _decode(part, arrays) for name, part in content.items()})
