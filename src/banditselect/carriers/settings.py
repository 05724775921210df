"""Settings as values: arrays that cannot be changed, equality with a default, how they are written."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def read_only(value: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that cannot be changed."""
    mine = np.array(value)
    mine.flags.writeable = False
    return mine


def same(value: Any, default: Any) -> bool:
    """Tell whether a value is its default."""
    return type(value) is type(default) and not isinstance(value, np.ndarray) and bool(value == default)


def literal(value: Any) -> str:
    """Return a value as it is written; large arrays by their shape."""
    if isinstance(value, np.ndarray):
        return repr(value.tolist()) if value.size <= 1000 else f"<array {value.shape}>"
    return repr(value.item()) if isinstance(value, np.generic) else repr(value)
