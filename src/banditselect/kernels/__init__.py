"""The arithmetic that every round repeats, compiled, on plain C-contiguous float64 and int64 arrays.

Each kernel also runs as plain Python (``NUMBA_DISABLE_JIT=1``), and its tests pass there too. Its compiled form on disk
(``disk``) is named by a stamp (``stamps``) of the kernel and of the functions and constants that it uses, so an edit
recompiles only the kernels that depend on it. A call between kernels costs about 0.1 us, half of it is saved where the
callee is ``inlined``; an array that comes from Python costs 0.06 us.

Shapes: ``n`` rows are served, row ``r`` belonging to lane ``ids[r]`` of ``N``; ``M`` models over ``P`` feature maps
(``P = M``, or ``P = 1`` where all models share one), ``K`` actions, ``d`` features. State arrays lead with ``N``,
arguments and results of one call with ``n``.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

from numba import njit

from .disk import keep

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F, inline: Literal["never", "always"] = "never") -> F:
    """Compile ``function`` on first use, keep the result on disk, release the interpreter lock while it runs.

    Of fast-math only the two flags that leave NaN and infinity honest are on: contraction and re-association.
    """
    # a form for C would only cost time
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled: Any = njit(**options, fastmath={"contract", "reassoc"}, inline=inline)(function)
    if hasattr(compiled, "py_func"):  # it is compiled, not run as plain Python
        keep(compiled)
    return cast(F, compiled)


def inlined(function: F) -> F:
    """Compile a small kernel that is put in place of its calls in others."""
    return kernel(function, "always")
