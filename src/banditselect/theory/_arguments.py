"""The arguments that the equations share: one table says what each may be, and `equation` checks it at every call.

Here too is how arguments become arrays: as floats, with types that the checker knows, and with an axis for the models.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from threading import local
from types import NoneType
from typing import Literal, NamedTuple, ParamSpec, TypeAlias, TypeVar, cast, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike

from ..types import Array, Mask

Float: TypeAlias = float | Array
Form: TypeAlias = Literal["printed", "corrected"]
Horizon: TypeAlias = ArrayLike | Literal["anytime"] | None
Kappa: TypeAlias = float | Literal["best"]
Range: TypeAlias = Literal["clip", "experts"]

P = ParamSpec("P")
T = TypeVar("T")


def array(x: ArrayLike) -> Array:
    """Convert to an array of floats."""
    return np.asarray(x, dtype=np.float64)


class _Constraint(NamedTuple):
    holds: Callable[[Array], Mask]
    expected: str
    many: bool = False


def _finite(low: float) -> Callable[[Array], Mask]:
    return lambda x: np.isfinite(x) & (x >= low)


def _inside(x: Array) -> Mask:
    return (x > 0) & (x < 1)


_NUMBER = _Constraint(_finite(0), "a finite number >= 0")
_NUMBERS = _Constraint(_finite(0), "finite numbers >= 0", many=True)
_COUNT = _Constraint(_finite(1), "a number >= 1")
_POSITIVE = _Constraint(lambda x: np.isfinite(x) & (x > 0), "a finite number > 0")
_FRACTION = _Constraint(_inside, "a number in (0, 1)")

CONSTRAINTS: Mapping[str, _Constraint] = {
    "t": _NUMBERS,
    "horizon": _Constraint(_finite(1), "finite numbers >= 1", many=True),
    "dim": _Constraint(_finite(1), "numbers >= 1", many=True),
    "n_models": _COUNT,
    "n_actions": _COUNT,
    "noise": _NUMBER,
    "feature_bound": _POSITIVE,
    "reward_bound": _NUMBER,
    "parameter_bound": _NUMBER,
    "regularization": _Constraint(lambda x: x > 0, "numbers > 0, scalar or (M,)", many=True),
    "radius": _Constraint(_finite(0), "finite numbers >= 0, scalar or (M,)", many=True),
    "delta": _FRACTION,
    "kappa": _FRACTION,
    "prior": _Constraint(lambda x: (x > 0) & (x <= 1), "a number in (0, 1]"),
    "width": _NUMBERS,
    "learning_rate": _Constraint(lambda x: np.isfinite(x) & (x > 0), "finite numbers > 0", many=True),
    "set_regularization": _POSITIVE,
    "center_distance": _NUMBER,
    "misspecification": _NUMBER,
    "complexity": _NUMBERS,
    "leverage": _POSITIVE,
    "threshold": _POSITIVE,
    "cap": _NUMBERS,
    "slope": _NUMBERS,
    "v": _NUMBERS,
    "sq_regret": _NUMBERS,
    "expert_error": _NUMBERS,
    "realized": _NUMBERS,
    "upper": _NUMBER,
    "prediction_loss": _Constraint(np.isfinite, "finite numbers", many=True),
    "ridge_loss": _Constraint(np.isfinite, "finite numbers", many=True),
}


PER_LANE = frozenset({"noise", "feature_bound", "reward_bound", "parameter_bound", "n_actions"})
PER_MODEL = frozenset({"dim", "regularization", "radius"})


def _words(annotation: object) -> tuple[object, ...]:
    """List the words, and None, that a type admits."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(w for part in get_args(annotation) for w in ([None] if part is NoneType else _words(part)))


def _check(name: str, value: object, words: tuple[object, ...], many: bool) -> None:
    is_word = value is None or isinstance(value, str)
    if is_word and value in words:
        return
    number = CONSTRAINTS.get(name)
    if number is not None and not is_word:
        with suppress(TypeError, ValueError):
            x = np.asarray(value, dtype=np.float64)
            if (many or number.many or x.ndim == 0) and np.all(number.holds(x)):
                return
    if number is not None or words:
        expected = [number.expected] if number is not None else []
        raise ValueError(f"{name} must be {' or '.join(expected + [repr(w) for w in words])}; got {value!r}")


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(_plain(v) for v in value)
    x = np.asarray(value)
    return x.item() if x.ndim == 0 else x


class _Trust(local):
    """Whether this thread's arguments need no check: they come from an equation, or from who checked them before."""

    given = False


_TRUST = _Trust()


def trusted(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function, an equation perhaps, whose arguments and those of the equations in it are not checked."""

    @wraps(function)
    def unchecked(*args: P.args, **kwargs: P.kwargs) -> T:
        before, _TRUST.given = _TRUST.given, True
        try:
            return function(*args, **kwargs)
        finally:
            _TRUST.given = before

    return unchecked


def equation(function: Callable[P, T]) -> Callable[P, T]:
    """Check numbers against the table and words against the signature; return floats for scalars.

    What equations pass on to equations is not checked again.

    Constants of a problem may be arrays that broadcast with ``t`` where that cannot be confused with the axis of the
    models: in printed forms, which keep them apart (`column`), in equations that know no models, and where the
    signature says ``ArrayLike``; ``regularization`` then has the axes of ``t`` before that of the models.
    """
    words = {name: _words(annotation) for name, annotation in function.__annotations__.items()}
    plain = not PER_MODEL & words.keys()
    arrays = {name for name, annotation in function.__annotations__.items() if annotation is ArrayLike}

    inner = trusted(function)

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        if _TRUST.given:
            return cast(T, _plain(function(*args, **kwargs)))
        lanes = plain or kwargs.get("form") == "printed"
        for name, value in kwargs.items():
            _check(name, value, words.get(name, ()), name in arrays or (lanes and name in PER_LANE))
        return cast(T, _plain(inner(*args, **kwargs)))

    return checked


def ratio(a: ArrayLike, b: ArrayLike, otherwise: ArrayLike) -> Array:
    """Divide where ``b`` is positive; elsewhere return ``otherwise``."""
    x, y, out = np.broadcast_arrays(a, b, array(otherwise))
    return np.asarray(np.divide(x, y, out=out.copy(), where=y > 0))


def last_round(t: ArrayLike, horizon: Horizon) -> Array:
    """Return the last round T that a bound at ``t`` speaks of: the horizon, or ``t`` itself."""
    if horizon is None or isinstance(horizon, str):
        return array(t)
    T, rounds = array(horizon), array(t)
    if np.any(rounds > T):
        raise ValueError(f"horizon must be >= t; got horizon={horizon!r} with t={t!r}")
    return np.broadcast_arrays(T, rounds)[0]


class Models(NamedTuple):
    """The per-model constants, broadcast to one shape: (), (M,), or (..., M) with the axes of ``t`` in front."""

    d: Array
    lam: Array
    penalty: Array
    """``lam r^2``, and ``known`` for a model with ``lam = inf``, whose parameter is known."""
    known: Mask


def models(
    dim: ArrayLike, regularization: ArrayLike | None, radius: ArrayLike, *, n_models: int = 0, known: float = 0.0
) -> Models:
    """Broadcast the per-model arguments; ``regularization=None`` is the paper's choice ``1 / radius**2``."""
    chosen = regularization is None
    if regularization is None:
        with np.errstate(divide="ignore", over="ignore"):
            regularization = 1 / array(radius) ** 2
    try:
        d, lam, r = np.broadcast_arrays(array(dim), array(regularization), array(radius))
    except ValueError:
        raise ValueError("dim, regularization and radius must be scalars or of one shape (M,)") from None
    if n_models and lam.ndim and lam.shape[-1] != n_models:
        raise ValueError(f"regularization and radius must be scalars or of shape ({n_models},); got {lam.shape}")
    if not chosen and np.any(np.isinf(lam) & (r > 0)):
        raise ValueError(f"regularization may be inf only where radius is 0; got {regularization!r} with {radius!r}")
    is_known = np.isinf(lam)
    return Models(d, lam, np.where(is_known, known, np.where(is_known, 0, lam) * r**2), is_known)


def outer(t: ArrayLike, like: Array) -> Array:
    """Append to ``t`` the axis of the models, so that results have the shape of ``t`` followed by ``(M,)``."""
    return column(t) if like.ndim else array(t)


def column(x: ArrayLike) -> Array:
    """Append the axis of the models; a number needs none."""
    values = array(x)
    return values[..., None] if values.ndim else values


def worst(x: Float, t: ArrayLike) -> Array:
    """Take the maximum over the models, if they have an axis."""
    return array(x).max(axis=-1) if np.ndim(x) > np.ndim(t) else array(x)
