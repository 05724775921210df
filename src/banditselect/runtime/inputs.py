"""Checks of the data that users pass: numbers, masks, lanes, rewards, values per lane or per model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.features import LIMIT, usable
from ..types import Array, Index, Mask
from .errors import SMALL, array_of, number_of, refuse

FLOAT = np.dtype(np.float64)
SMALLEST = 1e-30  #: the smallest number that counts as positive, so that squares and quotients stay finite


def as_floats(name: str, value: Any, expected: str) -> Array:
    """Return ``value`` as a float64 array, refusing what is not real numbers."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise refuse(name, value, expected) from None
    if array.dtype is FLOAT:
        return array
    if array.dtype.kind not in "fiub":
        raise refuse(name, array if array.size > SMALL else value, expected)
    with np.errstate(over="ignore"):
        return array.astype(np.float64, copy=False)


def depth_of(value: Any) -> int:
    """Return the number of axes, -1 for parts of different shapes."""
    try:
        return np.ndim(value)
    except ValueError:
        return -1


def offered(available: ArrayLike, n: int, K: int) -> Mask:
    """Return the mask of actions offered, ``(n, K)``."""
    mask = array_of(available)
    expected = f"booleans of shape ({K},) or ({n}, {K}) with at least one True for every lane"
    if mask.dtype != bool or mask.shape not in ((K,), (n, K)):
        raise refuse("available", available, expected)
    mask = np.array(np.broadcast_to(mask, (n, K)), order="C")
    if not mask.any(axis=1).all():
        raise refuse("available", available, expected)
    return mask


def lane_ids(lanes: ArrayLike, total: int) -> Index:
    """Return the lanes named, ``(n,)``, each existing and named once."""
    ids = np.atleast_1d(array_of(lanes))
    expected = f"different lanes between 0 and {total - 1}"
    if ids.dtype.kind not in "iu" or ids.ndim != 1 or ids.size == 0:
        raise refuse("lanes", lanes, expected)
    if ids.min() < 0 or ids.max() >= total or np.unique(ids).size != ids.size:
        raise refuse("lanes", lanes, expected)
    return ids.astype(np.int64)


def rewards(reward: Any, n: int, lanes: bool) -> Array:
    """Return rewards as ``(n,)``."""
    if isinstance(reward, float) and -LIMIT <= reward <= LIMIT and not lanes:  # NumPy's float64 is one
        return np.array([reward])
    expected = f"finite numbers of shape ({n},)" if lanes else "a finite number"
    y = as_floats("reward", reward, expected)
    if y.shape != ((n,) if lanes else ()):
        raise refuse("reward", reward, expected)
    y = y.reshape(n).copy()
    if not usable(y):
        raise refuse("reward", reward, f"{expected}, at most {LIMIT:g} in magnitude")
    return y


def lane_vectors(theta: ArrayLike, lanes: int, dim: int) -> Array:
    """Return one parameter, or one per lane, as ``(N, d)``."""
    expected = f"finite numbers of shape ({dim},) or ({lanes}, {dim})"
    values = as_floats("theta", theta, expected)
    if values.shape not in ((dim,), (lanes, dim)) or not np.isfinite(values).all():
        raise refuse("theta", theta, expected)
    return np.array(np.broadcast_to(values, (lanes, dim)), order="C")


def model_index(model: int, n_models: int) -> int:
    """Return the index of a model."""
    if not (is_whole(model) and 0 <= model < n_models):
        raise refuse("model", model, f"a whole number between 0 and {n_models - 1}")
    return int(model)


def map_widths(owner: str, dim: int | Sequence[int], n_models: int, name: str = "dim") -> tuple[int, ...]:
    """Return the width of each of the M maps, or what else an argument of this name says of each."""
    widths = (dim,) * n_models if np.ndim(dim) == 0 else tuple(dim)  # type: ignore[arg-type]
    if len(widths) != n_models:
        raise refuse(f"{owner}: {name}", dim, f"a whole number, or one for each of n_models={n_models} models")
    return tuple(int(w) for w in widths)  # type: ignore[arg-type]


def model_numbers(name: str, value: ArrayLike, lanes: int, n_models: int) -> Array:
    """Return a number, or one per model, as ``(N, M)``."""
    values = np.asarray(value, dtype=float)
    if values.shape not in ((), (n_models,)):
        raise refuse(name, value, f"a number, or one for each of n_models={n_models} models")
    return np.array(np.broadcast_to(values, (lanes, n_models)), order="C")


def prior_weights(name: str, value: ArrayLike | None, n_models: int) -> Array:
    """Return prior weights of the models, ``(M,)``, of sum 1; equal ones for None."""
    weights = np.ones(n_models) if value is None else np.asarray(value, dtype=float)
    if weights.shape != (n_models,) or weights.min() <= 0.0:
        raise refuse(name, value, f"numbers > 0 of shape ({n_models},)")
    return weights / weights.sum()


def too_large(value: Any) -> str:
    """Return what is to be said of a number, or of several, if it is only too large."""
    numbers = np.array(array_of(value).ravel().tolist(), dtype=object)
    large = any(isinstance(v, int | float) and LIMIT < abs(v) < np.inf for v in numbers)
    return f"; at most {LIMIT:g} in magnitude" if large else ""


def is_whole(value: object) -> bool:
    """Return whether a value is a whole number."""
    number = number_of(value)
    return bool(number == np.floor(number))
