"""Constraints that arguments must satisfy, each with its wording for error messages."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.features import usable
from .errors import array_of, number_of, refuse
from .inputs import SMALLEST, depth_of, is_whole, too_large
from .settings import read_only


class Constraint:
    """The condition that an argument must satisfy; this one accepts everything. A subclass writes ``_refusal``."""

    optional = False  #: whether None is accepted too

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it; ``lanes`` is None for an object without lanes."""
        expected = "" if value is None and self.optional else self._refusal(value, lanes)
        if expected:
            raise refuse(name, value, expected)

    def _refusal(self, value: Any, lanes: int | None) -> str:
        """Return what is expected where a value is refused; an empty string for one that is accepted."""
        return ""

    def stored(self, name: str, value: Any, lanes: int | None, seed: Any) -> Any:
        """Return the value that an object keeps: arrays read-only, lists and nested tuples copied."""
        if isinstance(value, np.ndarray):
            return read_only(value)
        if isinstance(value, list) or (isinstance(value, tuple) and any(np.ndim(part) for part in value)):
            return copy.deepcopy(value)
        return value

    def is_per_lane(self, value: Any) -> bool:
        """Return whether a value was given per lane."""
        return False


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

    def _refusal(self, value: Any, lanes: int | None) -> str:
        several = lanes is not None and self.is_per_lane(value)
        fits = len(value) == lanes and all(map(self._fits, array_of(value).tolist())) if several else self._fits(value)
        return "" if fits else self.expected + (too_large(value) if self.high == np.inf else "")

    def is_per_lane(self, value: Any) -> bool:
        """Return whether a value was given per lane."""
        return self.per_lane and depth_of(value) == 1

    def _fits(self, value: Any) -> bool:
        number = number_of(value)
        if self.integer and not is_whole(value):
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
        return words + (" (or one per lane)" if self.per_lane else "") + (" or None" if self.optional else "")


@dataclass(frozen=True)
class NumberOrName(Number):
    """A number, or one of several names."""

    names: tuple[str, ...] = ()

    def _fits(self, value: Any) -> bool:
        return value in self.names if isinstance(value, str) else super()._fits(value)

    @property
    def expected(self) -> str:
        """The constraint in words."""
        return f"{', '.join(map(repr, self.names))} or {super().expected}"


@dataclass(frozen=True)
class OneOf(Constraint):
    """One of several names."""

    names: tuple[str, ...]
    optional: bool = False

    def _refusal(self, value: Any, lanes: int | None) -> str:
        if isinstance(value, str) and value in self.names:
            return ""
        return f"one of {', '.join(map(repr, self.names))}{' or None' if self.optional else ''}"


class YesNo(Constraint):
    """True or False."""

    def _refusal(self, value: Any, lanes: int | None) -> str:
        return "" if isinstance(value, bool | np.bool_) else "True or False"


@dataclass(frozen=True)
class Bounds(Constraint):
    """A pair (low, high) of finite numbers, high so far above low that half the distance counts as positive."""

    optional: bool = False

    def _refusal(self, value: Any, lanes: int | None) -> str:
        pair = _entries(value)
        if len(pair) == 2 and number_of(pair[1]) - number_of(pair[0]) >= 2.0 * SMALLEST:
            return ""
        return f"a pair (low, high) of finite numbers with high - low >= {2.0 * SMALLEST:g}{too_large(pair)}"


class Widths(Constraint):
    """A whole number >= 1, or one per model."""

    def _refusal(self, value: Any, lanes: int | None) -> str:
        values = _entries(value)
        fits = len(values) > 0 and all(is_whole(v) and v >= 1 for v in values)
        return "" if fits else "a whole number >= 1, or one for each model"


class Seeds(Constraint):
    """A whole number >= 0, or a tuple of them."""

    def _refusal(self, value: Any, lanes: int | None) -> str:
        parts = value if isinstance(value, list | tuple) else [value]
        whole = (isinstance(p, int | np.integer) and not isinstance(p, bool) and p >= 0 for p in parts)
        return "" if len(parts) > 0 and all(whole) else "a whole number >= 0, or a tuple of them"


@dataclass(frozen=True)
class Rate(Constraint):
    """A number >= 0, a schedule (any callable of t), or one of ``names``."""

    names: tuple[str, ...] = ()

    def _refusal(self, value: Any, lanes: int | None) -> str:
        if number_of(value) >= 0.0 or callable(value) or (isinstance(value, str) and value in self.names):
            return ""
        named = "".join(f", {n!r}" for n in self.names)
        return f"a finite number >= 0, a schedule such as Power(scale, exponent){named}{too_large(value)}"


@dataclass(frozen=True)
class Numbers(Constraint):
    """An array of finite numbers of one of these shapes (``None`` is any length).

    A value with ``lane_axes`` axes has one entry for every lane on the first.
    """

    shapes: tuple[tuple[int | None, ...], ...]
    low: float = -np.inf
    optional: bool = False
    lane_axes: int | None = None

    def _refusal(self, value: Any, lanes: int | None) -> str:
        values = array_of(value)
        numbers = values.dtype.kind in "fiub" and any(_has_shape(values, shape) for shape in self.shapes)
        if not numbers or values.size == 0 or not usable(values.flatten().astype(float)) or values.min() < self.low:
            return self.expected + too_large(value)
        if values.ndim == self.lane_axes and values.shape[0] != lanes:
            given = "which this policy has not" if lanes is None else f"of which there are {lanes}"
            return f"{self.expected}; {values.ndim} axes mean one entry per lane, {given}"
        return ""

    def is_per_lane(self, value: Any) -> bool:
        """Return whether a value was given per lane."""
        return depth_of(value) == self.lane_axes

    @property
    def expected(self) -> str:
        """The constraint in words."""
        shapes = " or ".join(
            "a number" if not s else "shape (" + ", ".join("any" if k is None else str(k) for k in s) + ")"
            for s in self.shapes
        )
        return f"finite numbers{'' if self.low == -np.inf else f' >= {self.low:g}'}, {shapes}"


def _has_shape(values: NDArray[Any], shape: tuple[int | None, ...]) -> bool:
    return values.ndim == len(shape) and all(k in (None, n) for k, n in zip(shape, values.shape, strict=True))


def _entries(value: Any) -> list[Any]:
    """Return the entries of a list, tuple or array; a list of anything else."""
    return list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else [value]


def whole_number(name: str, value: Any, low: int, high: float = np.inf) -> int:
    """Return a whole number between ``low`` and ``high``."""
    Number(low=low, high=high, integer=True).check(name, value, None)
    return int(value)
