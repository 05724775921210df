"""Settings as values: arrays that cannot be changed, equality with a default, how they are written."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def read_only(value: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that cannot be changed."""
    mine = np.array(value)
    mine.flags.writeable = False
    return mine


def same(value: Any, default: Any) -> bool:
    """Return whether a value is its default."""
    return type(value) is type(default) and not isinstance(value, np.ndarray) and bool(value == default)


def literal(value: Any, largest: int = 1000, word: Callable[[Any], str | None] = lambda part: None) -> str:
    """Return a value as it is written; arrays with more entries than ``largest`` by their shape.

    A value, or a part of it, that ``word`` has a word for is written as that: messages and reports have their own.
    """
    own = word(value)
    if own is not None:
        return own
    if isinstance(value, np.ndarray):
        return repr(value.tolist()) if value.size <= largest else f"<array {value.shape}>"
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {literal(part, largest, word)}" for key, part in value.items()) + "}"
    if type(value) in (list, tuple):
        parts = ", ".join(literal(part, largest, word) for part in value)
        return f"[{parts}]" if isinstance(value, list) else f"({parts}{',' * (len(value) == 1)})"
    return repr(value)


def is_foreign(cls: type) -> bool:
    """Return whether a class is from outside the library."""
    return cls.__module__.partition(".")[0] != __name__.partition(".")[0]
