"""The only place that checks what comes in: constructor arguments, features, masks, lanes, rewards.

Every refusal is an ArgumentError, which knows whose argument it is, its name, what was given and what is expected, and
is raised before anything has changed.
"""

import copyreg
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels.arrays import LIMIT, sums_to_one, usable
from ..types import Array, Index, Mask
from .settings import literal

FLOAT = np.dtype(np.float64)
SMALLEST = 1e-30  #: the smallest number that counts as positive, so that squares and quotients stay finite


SMALL = 8  #: entries of an array that a message shows one by one


def shown(value: object) -> str:
    """Return a short picture of a value for a message; of a long one, what is wrong with its numbers if anything is."""
    text = literal(value, word=_in_words)
    if len(text) <= 80 or (isinstance(value, np.ndarray) and value.size > SMALL):
        return text
    return _first_fault(value) or text[:77] + "..."


def _in_words(value: object) -> str | None:
    """Return a short array as NumPy writes it, which tells its type, any other by its shape and its first fault."""
    if not isinstance(value, np.ndarray):
        return None
    if value.size <= SMALL:
        return repr(value)
    fault = _fault(value)
    return f"an array of shape {value.shape}{f' {fault}' if fault else ''}"


def _first_fault(value: object) -> str:
    """Return what is wrong with a long list or table, empty if its entries are usable numbers."""
    if isinstance(value, list | tuple) and all(isinstance(part, np.ndarray) for part in value):
        faults = ((k, _in_words(part)) for k, part in enumerate(value) if _fault(part))
        return next((f"a list of {len(value)} with, at [{k}], {words}" for k, words in faults), "")
    array = _array(value)
    return f"values of shape {array.shape} {_fault(array)}" if array.ndim > 1 and _fault(array) else ""


def _fault(array: NDArray[Any]) -> str:
    """Return why an array cannot be used, by its type or its first entry that is none; empty if it can."""
    if array.dtype.kind in "iub":
        return ""
    if array.dtype.kind not in "fO":
        return f"and dtype {array.dtype}"
    typed = ["and dtype object"] if array.dtype.hasobject else []
    numbers = np.array([_number(v) for v in array.flat]) if typed else array.ravel()
    odd = np.flatnonzero(~(np.abs(numbers) <= LIMIT))[:1].tolist()
    places = [f"with {literal(array.flat[k])} at {np.array(np.unravel_index(k, array.shape)).tolist()}" for k in odd]
    return ", ".join(typed + places)


class ArgumentError(ValueError):
    """An argument that cannot be used.

    Attributes
    ----------
    owner: the class or function whose argument it is; empty where it was not named.
    argument: its name.
    value: what was given; its picture, after a journey between processes that it could not make itself.
    expected: what would do, in words.
    """

    def __init__(self, name: str, value: object, expected: str) -> None:
        super().__init__(f"{name}: got {shown(value)}, expected {expected}")
        owner, colon, argument = name.partition(": ")
        owned = bool(colon) and owner.replace(".", "_").isidentifier()
        self.owner, self.argument = (owner, argument) if owned else ("", name)
        self.value, self.expected = value, expected

    def __reduce__(self) -> tuple[Any, ...]:
        value = self.value if _is_plain(self.value) else shown(self.value)
        return copyreg.__newobj__, (type(self), *self.args), vars(self) | {"value": value}  # type: ignore[attr-defined]


def _is_plain(value: object) -> bool:
    """Tell whether a value is made of numbers, words and arrays of them, so that every process knows it."""
    if isinstance(value, dict):
        return all(map(_is_plain, (*value.keys(), *value.values())))
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    return value is None or isinstance(value, bool | int | float | complex | str | np.generic)


def refuse(name: str, value: object, expected: str) -> ArgumentError:
    """Return the error for an argument, named ``"argument"`` or ``"Owner: argument"``."""
    return ArgumentError(name, value, expected)


def warn(message: str) -> None:
    """Warn whoever called into this package."""
    here = str(Path(__file__).parents[1]) + os.sep
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, RuntimeWarning, stacklevel=depth)


class Constraint:
    """What an argument must satisfy; this one accepts everything, for what its owner checks itself."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do; ``lanes`` is None where the policy has none."""

    def is_per_lane(self, value: Any) -> bool:
        """Tell whether a value was given per lane."""
        return False


def check_all(owner: str, constraints: Mapping[str, Constraint], values: Mapping[str, Any], lanes: int | None) -> None:
    """Check every argument against its constraint, in the order of the arguments; messages begin with ``owner``."""
    for name in constraints:
        if name not in values:
            raise refuse(f"{owner}: constraints", name, f"names of arguments: {', '.join(values)}")
    for name, value in values.items():
        if name in constraints:
            constraints[name].check(f"{owner}: {name}", value, lanes)


def _number(value: object) -> float:
    """Return a number of magnitude at most ``LIMIT`` as a float, NaN for everything else."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        return np.nan
    try:
        number = float(value)
    except OverflowError:
        return np.nan
    return number if abs(number) <= LIMIT else np.nan


def _limit(value: Any) -> str:
    """Return what is to be said of a number, or of several, if it is only too large."""
    numbers = np.array(_array(value).ravel().tolist(), dtype=object)
    large = any(isinstance(v, int | float) and LIMIT < abs(v) < np.inf for v in numbers)
    return f"; at most {LIMIT:g} in magnitude" if large else ""


def _is_whole(value: object) -> bool:
    number = _number(value)
    return bool(number == np.floor(number))


def _array(value: Any) -> NDArray[Any]:
    """Return an array; of dtype object for what is ragged."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.array(None)


def depth_of(value: Any) -> int:
    """Return the number of axes, -1 for what has none in common."""
    try:
        return np.ndim(value)
    except ValueError:
        return -1


@dataclass(frozen=True)
class Number(Constraint):
    """A finite number between ``low`` and ``high``; with ``per_lane`` also one for every lane, ``(N,)``."""

    low: float = -np.inf
    high: float = np.inf
    above: bool = False  # low itself is excluded
    below: bool = False  # high itself is excluded
    integer: bool = False
    per_lane: bool = False
    optional: bool = False

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do."""
        if value is None and self.optional:
            return
        if lanes is not None and self.is_per_lane(value):
            values = as_floats(name, value, self.expected)
            if values.shape == (lanes,) and all(self._fits(v) for v in values):
                return
        elif self._fits(value):
            return
        raise refuse(name, value, self.expected + (_limit(value) if self.high == np.inf else ""))

    def is_per_lane(self, value: Any) -> bool:
        """Tell whether a value was given per lane."""
        return self.per_lane and depth_of(value) == 1

    def _fits(self, value: Any) -> bool:
        number = _number(value)
        if self.integer and not _is_whole(value):
            return False
        low = number > self.low if self.above else number >= self.low
        high = number < self.high if self.below else number <= self.high
        return low and high

    @property
    def expected(self) -> str:
        """The constraint in words."""
        words = "a whole number" if self.integer else "a finite number"
        if self.low > -np.inf:
            words += f" {'>' if self.above else '>='} {self.low:g}"
        if self.high < np.inf:
            words += f"{' and' if self.low > -np.inf else ''} {'<' if self.below else '<='} {self.high:g}"
        if self.per_lane:
            words += " (or one per lane)"
        return words + (" or None" if self.optional else "")


@dataclass(frozen=True)
class OneOf(Constraint):
    """One of several names."""

    names: tuple[str, ...]

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do."""
        if not isinstance(value, str) or value not in self.names:
            raise refuse(name, value, "one of " + ", ".join(repr(n) for n in self.names))


@dataclass(frozen=True)
class YesNo(Constraint):
    """True or False."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do."""
        if not isinstance(value, bool | np.bool_):
            raise refuse(name, value, "True or False")


@dataclass(frozen=True)
class Bounds(Constraint):
    """A pair (low, high) of finite numbers, high so far above low that half the distance counts as positive.

    None where it is optional.
    """

    optional: bool = False

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do."""
        if self.optional and value is None:
            return
        pair = list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else []
        if len(pair) != 2 or not _number(pair[1]) - _number(pair[0]) >= 2.0 * SMALLEST:
            expected = f"a pair (low, high) of finite numbers with high - low >= {2.0 * SMALLEST:g}"
            raise refuse(name, value, expected + _limit(pair))


@dataclass(frozen=True)
class Widths(Constraint):
    """A whole number >= 1, or one per model."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do."""
        values = list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else [value]
        if not values or not all(_is_whole(v) and v >= 1 for v in values):
            raise refuse(name, value, "a whole number >= 1, or one for each model")


@dataclass(frozen=True)
class Rate(Constraint):
    """A number >= 0, a schedule (any callable of t), or one of ``names``."""

    names: tuple[str, ...] = ()

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do."""
        fits = _number(value) >= 0.0
        if not (fits or callable(value) or (isinstance(value, str) and value in self.names)):
            named = "".join(f", {n!r}" for n in self.names)
            expected = f"a finite number >= 0, a schedule such as Power(scale, exponent){named}"
            raise refuse(name, value, expected + _limit(value))


@dataclass(frozen=True)
class Numbers(Constraint):
    """An array of finite numbers of one of these shapes (``None`` stands for any length).

    A value with ``lane_axes`` axes has one entry for every lane on the first.
    """

    shapes: tuple[tuple[int | None, ...], ...]
    low: float = -np.inf
    optional: bool = False
    lane_axes: int | None = None

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do."""
        if value is None and self.optional:
            return
        values = as_floats(name, value, self.expected)
        for shape in self.shapes:
            if values.ndim == len(shape) and all(
                wanted is None or wanted == got for wanted, got in zip(shape, values.shape, strict=True)
            ):
                break
        else:
            raise refuse(name, value, self.expected)
        if values.size == 0 or not usable(np.ascontiguousarray(values)) or values.min() < self.low:
            raise refuse(name, value, self.expected + _limit(values))
        if values.ndim == self.lane_axes and values.shape[0] != lanes:
            given = "which this policy has not" if lanes is None else f"of which there are {lanes}"
            raise refuse(name, value, f"{self.expected}; {values.ndim} axes mean one entry per lane, {given}")

    def is_per_lane(self, value: Any) -> bool:
        """Tell whether a value was given per lane."""
        return depth_of(value) == self.lane_axes

    @property
    def expected(self) -> str:
        """The constraint in words."""
        shapes = " or ".join(
            "a number" if not s else "shape (" + ", ".join("any" if k is None else str(k) for k in s) + ")"
            for s in self.shapes
        )
        return f"finite numbers{'' if self.low == -np.inf else f' >= {self.low:g}'}, {shapes}"


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


def offered(available: ArrayLike, n: int, K: int) -> Mask:
    """Return the mask of actions offered, ``(n, K)``."""
    mask = _array(available)
    expected = f"booleans of shape ({K},) or ({n}, {K}) with at least one True for every lane"
    if mask.dtype != bool or mask.shape not in ((K,), (n, K)):
        raise refuse("available", available, expected)
    mask = np.array(np.broadcast_to(mask, (n, K)), order="C")
    if not mask.any(axis=1).all():
        raise refuse("available", available, expected)
    return mask


def lane_ids(lanes: ArrayLike, total: int) -> Index:
    """Return the lanes named, ``(n,)``, each existing and named once."""
    ids = np.atleast_1d(_array(lanes))
    expected = f"different lanes between 0 and {total - 1}"
    if ids.dtype.kind not in "iu" or ids.ndim != 1 or ids.size == 0:
        raise refuse("lanes", lanes, expected)
    if ids.min() < 0 or ids.max() >= total or np.unique(ids).size != ids.size:
        raise refuse("lanes", lanes, expected)
    return ids.astype(np.int64)


def rewards(reward: Any, n: int, lanes: bool) -> Array:
    """Return rewards as ``(n,)``."""
    expected = f"finite numbers of shape ({n},)" if lanes else "a finite number"
    y = as_floats("reward", reward, expected)
    if y.shape != ((n,) if lanes else ()):
        raise refuse("reward", reward, expected)
    y = y.reshape(n).copy()
    if not usable(y):
        raise refuse("reward", reward, f"{expected}, at most {LIMIT:g} in magnitude")
    return y


def probabilities(name: str, p: Any, shape: tuple[int, int]) -> None:
    """Refuse what is not an array of probabilities of this shape, rows that sum to 1."""
    right = isinstance(p, np.ndarray) and p.shape == shape and p.dtype == FLOAT
    if not right or not sums_to_one(np.ascontiguousarray(p)):
        raise refuse(name, p, f"probabilities, float64 of shape {shape}, whose rows sum to 1")


def whole_number(name: str, value: Any, low: int) -> int:
    """Return a whole number >= ``low``."""
    Number(low=low, integer=True).check(name, value, None)
    return int(value)


def seed(name: str, value: Any) -> None:
    """Refuse what is not a whole number >= 0 or a sequence of them."""
    parts = [value] if isinstance(value, int | np.integer) else list(value) if isinstance(value, list | tuple) else []
    if not parts or not all(isinstance(p, int | np.integer) and not isinstance(p, bool) and p >= 0 for p in parts):
        raise refuse(name, value, "a whole number >= 0, or a tuple of them")


def lane_vectors(theta: ArrayLike, lanes: int, dim: int) -> Array:
    """Return one parameter, or one per lane, as ``(N, d)``."""
    expected = f"finite numbers of shape ({dim},) or ({lanes}, {dim})"
    values = as_floats("theta", theta, expected)
    if values.shape not in ((dim,), (lanes, dim)) or not np.isfinite(values).all():
        raise refuse("theta", theta, expected)
    return np.array(np.broadcast_to(values, (lanes, dim)), order="C")


def model_index(model: int, n_models: int) -> int:
    """Return the index of a model."""
    Number(low=0, high=n_models - 1, integer=True).check("model", model, None)
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
