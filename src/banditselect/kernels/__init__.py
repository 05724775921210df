"""The arithmetic that every round repeats, compiled, on plain C-contiguous float64 and int64 arrays.

Two habits keep the kernels honest. Each also runs as plain Python (``NUMBA_DISABLE_JIT=1``), and its tests pass
there too. A kernel calls only kernels of its own file, because the compiler's cache on disk notices a change in the
file of the caller, not in the file of what it calls.

Shapes: ``n`` rows are served, row ``r`` belonging to lane ``ids[r]`` of ``N``; ``M`` models over ``P`` feature maps
(``P = M``, or ``P = 1`` where all models share one), ``K`` actions, ``d`` features. State arrays lead with ``N``,
what is passed in and out for one call leads with ``n``.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile ``function`` on first use, keep the result on disk, release the interpreter lock while it runs.

    Of fast-math only the two flags that leave NaN and infinity honest are on: contraction and re-association.
    """
    compiled = njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})(function)
    return cast(F, compiled)
