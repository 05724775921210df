"""The arguments that equations share: their ranges, checked by `equation` at every call, and their arrays."""

import inspect
import math
import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from functools import wraps
from types import NoneType
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from ..types import Array, Mask

Float: TypeAlias = float | Array
Form: TypeAlias = Literal["printed", "corrected"]
Horizon: TypeAlias = ArrayLike | Literal["anytime"] | None
Kappa: TypeAlias = float | Literal["best"]

P = ParamSpec("P")
T = TypeVar("T")

TINY, HUGE, BELOW_ONE = math.ulp(0.0), sys.float_info.max, math.nextafter(1.0, 0.0)
RANGES = [  # least, largest, in words, and the arguments: one such number, unless ArrayLike in a signature, or arrays
    (0, HUGE, "a finite number >= 0", "noise reward_bound parameter_bound center_distance upper"),
    (TINY, HUGE, "a finite number > 0", "feature_bound set_regularization"),
    (1, HUGE, "a number >= 1", "n_models n_actions"),
    (TINY, BELOW_ONE, "a number in (0, 1)", "delta kappa"),
    (TINY, 1, "a number in (0, 1]", "prior"),
    (0, HUGE, "finite numbers >= 0", "t cap slope v width sq_regret expert_error realized"),
    (1, HUGE, "finite numbers >= 1", "horizon"),
    (1, HUGE, "numbers >= 1", "dim"),
    (TINY, math.inf, "numbers > 0, scalar or (M,)", "regularization"),
    (0, HUGE, "finite numbers >= 0, scalar or (M,)", "radius"),
    (-HUGE, HUGE, "finite numbers", "prediction_loss ridge_loss"),
]
EXPECTED = {name: row[:3] for row in RANGES for name in row[3].split()}
MANY = {name for name, (*_, words) in EXPECTED.items() if "numbers" in words}
PRINTED = {"noise", "feature_bound", "reward_bound", "parameter_bound"}  # these may be arrays in printed forms too
CHECKED = ContextVar("CHECKED", default=False)  # the arguments come from an equation, or were checked before


def array(x: ArrayLike) -> Array:
    """Convert to an array of floats."""
    return np.asarray(x, dtype=np.float64)


def trusted(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function, an equation perhaps, whose arguments and those of the equations in it are not checked."""

    @wraps(function)
    def unchecked(*args: P.args, **kwargs: P.kwargs) -> T:
        token = CHECKED.set(True)
        try:
            return function(*args, **kwargs)
        finally:
            CHECKED.reset(token)

    return unchecked


def equation(function: Callable[P, T]) -> Callable[P, T]:
    """Check numbers by their names and words by the signature, once; return floats for scalars.

    ``**model`` are the constants of its type, which become arguments of their own. They may be arrays that
    broadcast with ``t`` in printed forms and where the type is ``ArrayLike``; ``regularization`` then has the axes of
    ``t`` before that of the models.
    """
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "model"]
    for constants in get_args(function.__annotations__.get("model")):
        for name, hint in get_type_hints(constants).items():
            default = parameters[0].empty if name in constants.__required_keys__ else None
            parameters.append(inspect.Parameter(name, parameters[0].kind, default=default, annotation=hint))
    signature = inspect.Signature(parameters, return_annotation=Float)
    words = {p.name: _words(p.annotation) for p in parameters}
    many = MANY | {p.name for p in parameters if p.annotation is ArrayLike}
    inner = trusted(function)

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        if not CHECKED.get():
            signature.bind(*args, **kwargs)
            arrays = many | PRINTED if kwargs.get("form") == "printed" else many
            for name, value in kwargs.items():
                _check(name, value, words[name], name in arrays)
        return cast(T, _plain(inner(*args, **kwargs)))

    vars(checked)["__signature__"] = signature
    return checked


def _words(annotation: object) -> tuple[object, ...]:
    """List the words, and None, that a type admits."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(w for part in get_args(annotation) for w in ([None] if part is NoneType else _words(part)))


def _check(name: str, value: object, words: tuple[object, ...], many: bool) -> None:
    low, high, *expected = EXPECTED.get(name, (0, 0))
    if (value is None or isinstance(value, str)) and value in words:
        return
    if expected and not isinstance(value, str | None):
        with suppress(TypeError, ValueError):
            x = array(cast(ArrayLike, value))
            if (many or x.ndim == 0) and np.all((x >= low) & (x <= high)):
                return
    if expected or words:
        raise ValueError(f"{name} must be {' or '.join(expected + [repr(w) for w in words])}; got {value!r}")


def _plain(value: object) -> object:
    x = np.asarray(value)
    return x.item() if x.ndim == 0 else x


def ratio(a: ArrayLike, b: ArrayLike, otherwise: ArrayLike) -> Array:
    """Divide where ``b`` is positive; elsewhere return ``otherwise``."""
    x, y, out = np.broadcast_arrays(a, b, array(otherwise))
    return np.asarray(np.divide(x, y, out=out.copy(), where=y > 0))


def last_round(t: ArrayLike, horizon: Horizon) -> Array:
    """Return the last round T of a bound at ``t``: the horizon, or ``t`` itself."""
    if horizon is None or isinstance(horizon, str):
        return array(t)
    if np.any(array(t) > array(horizon)):
        raise ValueError(f"horizon must be >= t; got horizon={horizon!r} with t={t!r}")
    return np.broadcast_arrays(array(horizon), array(t))[0]


def models(model: Any, radius: ArrayLike, *, n_models: int = 0, known: float = 0.0) -> tuple[Array, Array, Array, Mask]:
    """Return d, lambda, lambda r^2 and which parameters are known, of one shape: (), (M,), or (..., M) with those of t.

    ``regularization=None`` is the paper's choice 1 / r^2; with lambda = inf a parameter is known, and ``known`` its
    lambda r^2.
    """
    dim, regularization = model["dim"], model.get("regularization")
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
    return d, lam, np.where(is_known, known, np.where(is_known, 0, lam) * r**2), is_known


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
