"""Constraints that arguments must satisfy, each with its wording for error messages."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels.features import usable
from .errors import number_of, refuse
from .inputs import SMALLEST, as_floats, check_seed, depth_of, is_whole, too_large
from .settings import read_only


class Constraint:
    """The condition that an argument must satisfy; this one accepts everything."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it; ``lanes`` is None for an object without lanes."""

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

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it."""
        if value is None and self.optional:
            return
        if lanes is not None and self.is_per_lane(value):
            values = as_floats(name, value, self.expected)
            if values.shape == (lanes,) and all(self._fits(v) for v in values):
                return
        elif self._fits(value):
            return
        raise refuse(name, value, self.expected + (too_large(value) if self.high == np.inf else ""))

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
        if self.per_lane:
            words += " (or one per lane)"
        return words + (" or None" if self.optional else "")


@dataclass(frozen=True)
class OneOf(Constraint):
    """One of several names."""

    names: tuple[str, ...]
    optional: bool = False

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it."""
        known = isinstance(value, str) and value in self.names
        if not (known or (value is None and self.optional)):
            words = "one of " + ", ".join(repr(n) for n in self.names)
            raise refuse(name, value, words + (" or None" if self.optional else ""))


@dataclass(frozen=True)
class YesNo(Constraint):
    """True or False."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it."""
        if not isinstance(value, bool | np.bool_):
            raise refuse(name, value, "True or False")


@dataclass(frozen=True)
class Bounds(Constraint):
    """A pair (low, high) of finite numbers, high so far above low that half the distance counts as positive.

    None where it is optional.
    """

    optional: bool = False

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it."""
        if self.optional and value is None:
            return
        pair = list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else []
        if len(pair) != 2 or not number_of(pair[1]) - number_of(pair[0]) >= 2.0 * SMALLEST:
            expected = f"a pair (low, high) of finite numbers with high - low >= {2.0 * SMALLEST:g}"
            raise refuse(name, value, expected + too_large(pair))


@dataclass(frozen=True)
class Widths(Constraint):
    """A whole number >= 1, or one per model."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it."""
        values = list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else [value]
        if not values or not all(is_whole(v) and v >= 1 for v in values):
            raise refuse(name, value, "a whole number >= 1, or one for each model")


@dataclass(frozen=True)
class Rate(Constraint):
    """A number >= 0, a schedule (any callable of t), or one of ``names``."""

    names: tuple[str, ...] = ()

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it."""
        fits = number_of(value) >= 0.0
        if not (fits or callable(value) or (isinstance(value, str) and value in self.names)):
            named = "".join(f", {n!r}" for n in self.names)
            expected = f"a finite number >= 0, a schedule such as Power(scale, exponent){named}"
            raise refuse(name, value, expected + too_large(value))


@dataclass(frozen=True)
class Numbers(Constraint):
    """An array of finite numbers of one of these shapes (``None`` is any length).

    A value with ``lane_axes`` axes has one entry for every lane on the first.
    """

    shapes: tuple[tuple[int | None, ...], ...]
    low: float = -np.inf
    optional: bool = False
    lane_axes: int | None = None

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it."""
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
        if values.size == 0 or not usable(values.flatten()) or values.min() < self.low:
            raise refuse(name, value, self.expected + too_large(values))
        if values.ndim == self.lane_axes and values.shape[0] != lanes:
            given = "which this policy has not" if lanes is None else f"of which there are {lanes}"
            raise refuse(name, value, f"{self.expected}; {values.ndim} axes mean one entry per lane, {given}")

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


def whole_number(name: str, value: Any, low: int) -> int:
    """Return a whole number >= ``low``."""
    Number(low=low, integer=True).check(name, value, None)
    return int(value)


class Seeds(Constraint):
    """A whole number >= 0, or a tuple of them."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it."""
        check_seed(name, value)
