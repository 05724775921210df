"""The only place that checks what comes in: constructor arguments, features, masks, lanes, rewards.

Every refusal is a ValueError that names the argument, what was given and what is expected, and is raised before
anything has changed.
"""

import os
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .kernels.arrays import LIMIT, usable
from .kernels.features import Offer

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

FLOAT = np.dtype(np.float64)
SMALLEST = 1e-30  #: the smallest number that counts as positive, so that squares and quotients stay finite
EVERYTHING: Mask = np.zeros((0, 0), dtype=bool)  #: the mask that offers every action


def shown(value: object) -> str:
    """Return a short picture of a value for a message."""
    if isinstance(value, np.ndarray) and value.size > 8:
        return f"an array of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def refuse(name: str, value: object, expected: str) -> ValueError:
    """Return the error for an argument that cannot be used."""
    return ValueError(f"{name}: got {shown(value)}, expected {expected}")


def warn(message: str) -> None:
    """Warn whoever called into this package."""
    here = str(Path(__file__).parent) + os.sep
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, RuntimeWarning, stacklevel=depth)


class Constraint(Protocol):
    """What an argument must satisfy. ``lanes`` is the number of lanes, or None where the policy has none."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do."""
        ...


def check_all(owner: str, constraints: Mapping[str, Constraint], values: Mapping[str, Any], lanes: int | None) -> None:
    """Check every argument against its constraint; messages begin with ``owner``."""
    for name, constraint in constraints.items():
        if name not in values:
            raise ValueError(f"{owner}: constraints: got {name!r}, expected names of arguments: {', '.join(values)}")
        constraint.check(f"{owner}: {name}", values[name], lanes)


def _number(value: object) -> float:
    """Return a number of magnitude at most ``LIMIT`` as a float, NaN for everything else."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        return np.nan
    try:
        number = float(value)
    except OverflowError:
        return np.nan
    return number if abs(number) <= LIMIT else np.nan


def _is_whole(value: object) -> bool:
    number = _number(value)
    return bool(number == np.floor(number))


def _array(value: Any) -> NDArray[Any]:
    """Return an array; of dtype object for what is ragged."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.array(None)


def _ndim(value: Any) -> int:
    """Return the number of axes, -1 for what has none in common."""
    try:
        return np.ndim(value)
    except ValueError:
        return -1


@dataclass(frozen=True)
class Number:
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
        if self.per_lane and lanes is not None and _ndim(value) == 1:
            values = as_floats(name, value, self.expected)
            if values.shape == (lanes,) and all(self._fits(v) for v in values):
                return
        elif self._fits(value):
            return
        raise refuse(name, value, self.expected)

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
class Choice:
    """One of several names."""

    names: tuple[str, ...]

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do."""
        if not isinstance(value, str) or value not in self.names:
            raise refuse(name, value, "one of " + ", ".join(repr(n) for n in self.names))


@dataclass(frozen=True)
class Interval:
    """A pair (low, high) of finite numbers with low < high; None where it is optional."""

    optional: bool = False

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do."""
        if self.optional and value is None:
            return
        pair = list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else []
        if len(pair) != 2 or not _number(pair[0]) < _number(pair[1]):
            raise refuse(name, value, "a pair (low, high) of finite numbers with low < high")


@dataclass(frozen=True)
class Widths:
    """A whole number >= 1, or one per model."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do."""
        values = list(value) if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else [value]
        if not values or not all(_is_whole(v) and v >= 1 for v in values):
            raise refuse(name, value, "a whole number >= 1, or one for each model")


@dataclass(frozen=True)
class Rate:
    """A number >= 0, a schedule (any callable of t), or one of ``names``."""

    names: tuple[str, ...] = ()

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` will not do."""
        fits = _number(value) >= 0.0
        if not (fits or callable(value) or (isinstance(value, str) and value in self.names)):
            named = "".join(f", {n!r}" for n in self.names)
            raise refuse(name, value, f"a finite number >= 0, a schedule such as Power(scale, exponent){named}")


@dataclass(frozen=True)
class Numbers:
    """An array of finite numbers of one of these shapes (``None`` stands for any length)."""

    shapes: tuple[tuple[int | None, ...], ...]
    low: float = -np.inf
    optional: bool = False

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
            raise refuse(name, value, self.expected)

    @property
    def expected(self) -> str:
        """The constraint in words."""
        shapes = " or ".join(
            "a number" if not s else "shape (" + ", ".join("any" if k is None else str(k) for k in s) + ")"
            for s in self.shapes
        )
        return f"finite numbers{'' if self.low == -np.inf else f' >= {self.low:g}'}, {shapes}"


@dataclass(frozen=True)
class Whatever:
    """An argument that its owner checks itself."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Accept everything."""


def as_floats(name: str, value: Any, expected: str) -> Array:
    """Return ``value`` as a float64 array, refusing what is not real numbers."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise refuse(name, value, expected) from None
    if array.dtype.kind not in "fiub":
        raise refuse(name, value, expected)
    with np.errstate(over="ignore"):
        return array.astype(np.float64, copy=False)


class FeatureShape(ABC):
    """The features that a policy takes. ``many``: they have an axis of maps, ``(M, K, d)``; else ``(K, d)``.

    ``n_actions``: the number K of actions, for a policy that knows actions by their positions; None for any number.
    """

    many: bool
    n_actions: int | None = None
    plain: tuple[int, ...] = ()  #: the shape of one action's features without lanes, where there is only one

    @abstractmethod
    def words(self, lanes: int | None) -> str:
        """Return the shape in words."""

    @abstractmethod
    def accepts(self, widths: tuple[int, ...], padded: bool) -> bool:
        """Tell whether maps of these widths will do; ``padded``: they may come zero-padded to the widest."""

    def actions(self, value: Any, lanes: int | None) -> Array:
        """Return the features of all actions as ``(n, P, K, d)``, zero-padded to the widest map.

        Items of a catalogue are returned as the lookup that stands for that array.
        """
        if type(value) is Offer:
            return self._looked_up(value, lanes)
        x = self._floats(value, lanes, 1)
        shape = x.shape
        if not self._counts(shape[-2]):
            raise refuse("features", x, f"{self.words(lanes)} with at least one action")
        if not usable(x):
            raise self._unusable(value, lanes)
        if lanes is None:
            return x[None] if self.many else x[None, None]
        return x.reshape(lanes, shape[-3] if self.many else 1, shape[-2], shape[-1])

    def _looked_up(self, offer: Offer, lanes: int | None) -> Array:
        """Return the lookup of an offer that fits; kernels read it as they read the array."""
        x = offer.lookup
        fits = isinstance(self, AnyShape) or (offer.many == self.many and self.accepts(offer.widths, False))
        fits = fits and self._counts(x.shape[2])
        if not fits or x.where.size != (lanes or 1):
            front = () if lanes is None else x.shape[:1]
            found = f"items whose features have the shape {(*front, *x.shape[1 if offer.many else 2 :])}"
            raise refuse("features", found, self.words(lanes))
        return cast(Array, x)

    def one(self, value: Any, lanes: int | None) -> Array:
        """Return the features of one action per lane as ``(n, P, d)``."""
        if lanes is None and type(value) is np.ndarray and value.shape == self.plain and value.dtype is FLOAT:
            x = value.copy()  # what a decision carries is read-only, see _floats
        else:
            x = self._floats(value, lanes, 0)
        if not usable(x):
            raise self._unusable(value, lanes)
        if lanes is None:
            return x[None] if self.many else x[None, None]
        return x.reshape(lanes, x.shape[-2] if self.many else 1, x.shape[-1])

    def _floats(self, value: Any, lanes: int | None, inner: int) -> Array:
        """Return float64 features of the right shape, with ``inner`` axes of actions."""
        front = 0 if lanes is None else 1
        ndim = front + self.many + inner + 1
        if type(value) is np.ndarray and value.dtype is FLOAT:
            x, maps = value, None
        else:
            x, maps = self._converted(value, lanes, inner, ndim)
        shape = x.shape
        if len(shape) == ndim and (lanes is None or shape[0] == lanes):
            widths = maps or (shape[-1],) * (shape[front] if self.many else 1)
            if self.accepts(widths, inner == 0 and maps is None):
                flags = x.flags  # a read-only array is another type to the compiler: kernels would compile twice
                return x if flags.c_contiguous and flags.writeable else x.copy()
        raise refuse("features", x if x.size > 8 else value, self._expected(lanes, inner))

    def _converted(self, value: Any, lanes: int | None, inner: int, ndim: int) -> tuple[Array, tuple[int, ...] | None]:
        """Return what is not a float64 array yet as one; a list of maps also tells their widths."""
        expected = self._expected(lanes, inner)
        if not (self.many and isinstance(value, list | tuple) and all(_ndim(m) == ndim - 1 for m in value)) or (
            lanes is not None and not any(isinstance(m, np.ndarray) for m in value)
        ):
            return as_floats("features", value, expected), None
        maps = [as_floats("features", m, expected) for m in value]
        if len({m.shape[:-1] for m in maps}) != 1:
            raise refuse("features", value, expected)
        widths = tuple(m.shape[-1] for m in maps)
        pad = [(0, 0)] * (ndim - 2)
        padded = [np.pad(m, [*pad, (0, max(widths) - m.shape[-1])]) for m in maps]
        return np.stack(padded, axis=0 if lanes is None else 1), widths

    def _counts(self, K: int) -> bool:
        """Tell whether this many actions will do."""
        return K > 0 if self.n_actions is None else self.n_actions == K

    @property
    def _K(self) -> str:
        return "K" if self.n_actions is None else f"K = {self.n_actions}"

    def _expected(self, lanes: int | None, inner: int) -> str:
        return self.words(lanes) if inner else f"{self.words(lanes)} without the axis K"

    def _unusable(self, value: Any, lanes: int | None) -> ValueError:
        return refuse("features", value, f"{self.words(lanes)}, every entry finite and at most {LIMIT:g}")


@dataclass(frozen=True)
class ExactShape(FeatureShape):
    """P maps of widths ``dims``."""

    dims: tuple[int, ...]
    many: bool
    plain: tuple[int, ...] = ()
    n_actions: int | None = None

    def __post_init__(self) -> None:
        width = max(self.dims)
        object.__setattr__(self, "plain", (len(self.dims), width) if self.many else (width,))

    def words(self, lanes: int | None) -> str:
        """Return the shape in words."""
        front = "" if lanes is None else f"{lanes}, "
        K, M, d = self._K, len(self.dims), self.dims[0]
        if not self.many:
            return f"finite numbers of shape ({front}{K}, {d})"
        if len(set(self.dims)) == 1:
            return f"finite numbers of shape ({front}{M}, {K}, {d}), or a list of {M} arrays of shape ({front}{K}, {d})"
        return f"a list of {M} arrays of shape ({front}{K}, d_i) with d_i = {self.dims}"

    def accepts(self, widths: tuple[int, ...], padded: bool) -> bool:
        """Tell whether maps of these widths will do."""
        return widths == self.dims or (padded and widths == (max(self.dims),) * len(self.dims))


@dataclass(frozen=True)
class SomeMaps(FeatureShape):
    """Any number of maps, of which those that are used have known widths: pairs (index, width)."""

    used: tuple[tuple[int, int], ...]
    many: bool = True
    n_actions: int | None = None

    def words(self, lanes: int | None) -> str:
        """Return the shape in words."""
        front, K = "" if lanes is None else f"{lanes}, ", self._K
        maps = ", ".join(f"map {index} of width {width}" for index, width in self.used)
        arrays = f"finite numbers of shape ({front}M, {K}, d), or a list of M arrays of shape ({front}{K}, d_i)"
        return f"{arrays}, with {maps}"

    def accepts(self, widths: tuple[int, ...], padded: bool) -> bool:
        """Tell whether maps of these widths will do."""
        return all(i < len(widths) and (widths[i] == w or (padded and widths[i] > w)) for i, w in self.used)


@dataclass(frozen=True)
class AnyShape(FeatureShape):
    """Features of any shape with the actions on the last axis but one; one map, or all axes before it are maps."""

    many: bool = False
    n_actions: int | None = None

    def words(self, lanes: int | None) -> str:
        """Return the shape in words."""
        front = "" if lanes is None else f"{lanes}, "
        return f"finite numbers of shape ({front}..., {self._K}, d), or a list of such arrays"

    def accepts(self, widths: tuple[int, ...], padded: bool) -> bool:
        """Accept everything."""
        return True

    def actions(self, value: Any, lanes: int | None) -> Array:
        """Return the features as ``(n, P, K, d)``, zero-padded to the widest map."""
        if type(value) is Offer:
            return self._looked_up(value, lanes)
        depth = 2 if lanes is None else 3
        ragged = isinstance(value, list | tuple) and all(_ndim(m) >= depth for m in value)
        maps = [as_floats("features", m, self.words(lanes)) for m in (value if ragged else [value])]
        if not maps:
            raise refuse("features", value, self.words(lanes))
        for x in maps:
            wrong = x.ndim < depth or x.shape[-2] != maps[0].shape[-2] or not self._counts(x.shape[-2])
            if wrong or (lanes is not None and x.shape[0] != lanes) or not usable(np.ascontiguousarray(x)):
                raise refuse("features", x, self.words(lanes))
        widest = max(x.shape[-1] for x in maps)
        padded = [np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, widest - x.shape[-1])]) for x in maps]
        K, rows = maps[0].shape[-2], lanes or 1
        return np.concatenate([x.reshape(rows, -1, K, widest) for x in padded], axis=1)

    def one(self, value: Any, lanes: int | None) -> Array:
        """Return zeros ``(n, 1, 1)``: nothing is learned from it."""
        for m in value if isinstance(value, list | tuple) and value else [value]:
            if not usable(np.ascontiguousarray(as_floats("features", m, "finite numbers"))):
                raise refuse("features", value, "finite numbers")
        return np.zeros((lanes or 1, 1, 1))


def common_shape(name: str, shapes: Sequence[FeatureShape]) -> FeatureShape:
    """Return the one shape that suits all of several policies that are to be given the same features."""
    counts = [s.n_actions for s in shapes]
    known = next((K for K in counts if K is not None), None)
    for i, K in enumerate(counts):
        if K not in (None, known):
            raise ValueError(f"{name}[{i}]: takes {K} actions; expected {known}, as others take")
    return replace(_common_maps(name, [replace(s, n_actions=None) for s in shapes]), n_actions=known)  # type: ignore[type-var]


def _common_maps(name: str, shapes: Sequence[FeatureShape]) -> FeatureShape:
    """Return the one shape that suits all, whatever the number of actions."""
    exact = [s for s in shapes if isinstance(s, ExactShape)]
    some = [s for s in shapes if isinstance(s, SomeMaps)]
    for i, shape in enumerate(shapes):
        widths = dict(pair for s in some[: some.index(shape)] for pair in s.used) if shape in some else {}
        if any(widths.get(index, width) != width for index, width in getattr(shape, "used", ())):
            raise ValueError(f"{name}[{i}]: takes {shape.words(None)}; expected the widths that others take")
    if some and not exact:
        return SomeMaps(tuple(dict.fromkeys(pair for s in some for pair in s.used)))
    if not exact:
        return AnyShape()
    for i, shape in enumerate(shapes):
        fits = shape == exact[0] or isinstance(shape, AnyShape)
        if isinstance(shape, SomeMaps) and exact[0].many:
            fits = shape.accepts(exact[0].dims, padded=False)
        if not fits:
            raise ValueError(f"{name}[{i}]: takes {shape.words(None)}; expected {exact[0].words(None)}, as others take")
    return exact[0]


def offered(available: ArrayLike, n: int, K: int) -> Mask:
    """Return the mask of actions offered, ``(n, K)``."""
    mask = _array(available)
    expected = f"booleans of shape ({K},) or ({n}, {K}) with at least one True for every lane"
    if mask.dtype != bool or mask.shape not in ((K,), (n, K)):
        raise refuse("available", available, expected)
    mask = np.ascontiguousarray(np.broadcast_to(mask, (n, K)))
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


def rewards(reward: Any, n: int, lanes: bool, one: Array | None = None) -> Array:
    """Return rewards as ``(n,)``; a float without lanes is put into ``one (1,)`` if that is given."""
    if one is not None and isinstance(reward, float) and abs(reward) <= LIMIT:
        one[0] = reward
        return one
    expected = f"finite numbers of shape ({n},)" if lanes else "a finite number"
    y = as_floats("reward", reward, expected)
    if y.shape != ((n,) if lanes else ()):
        raise refuse("reward", reward, expected)
    y = np.array(y, order="C").reshape(n)
    if not usable(y):
        raise refuse("reward", reward, f"{expected}, at most {LIMIT:g} in magnitude")
    return y


def probabilities(name: str, p: Any, shape: tuple[int, int]) -> None:
    """Refuse what is not an array of probabilities ``shape``, rows that sum to 1."""
    good = isinstance(p, np.ndarray) and p.shape == shape and p.dtype is FLOAT and bool(p.min() >= 0.0)
    if not good or not np.abs(p.sum(axis=1) - 1.0).max() <= 1e-9:
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
