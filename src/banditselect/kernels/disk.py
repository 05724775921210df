"""Where compiled kernels are kept between processes, and what happens where nothing can be kept.

They are looked for in ``NUMBA_CACHE_DIR``, beside the source, and in the user's own cache, whether or not these can be
written to: what was compiled when an image was built serves whoever runs it. They are written to the first of the three
that takes them. Where none does, each process compiles for itself, and is told so once.
"""

import functools
import os
import warnings
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any, ClassVar

from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    InTreeCacheLocator,
    NullCache,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)

REMEDY = (
    "set the environment variable NUMBA_CACHE_DIR to a folder that can be written to, or run `banditselect warmup` "
    "where the package is installed"
)


@functools.cache
def _caches() -> tuple[type, ...]:
    """Return a cache for each place, which accepts it as it is: what can be done there shows when it is done."""
    made = []
    for place in (UserProvidedCacheLocator, InTreeCacheLocator, UserWideCacheLocator):
        if place is UserProvidedCacheLocator and not config.CACHE_DIR:  # type: ignore[attr-defined]
            continue
        accept = {"from_function": classmethod(lambda cls, function, file: cls(function, file))}
        implementation = {"_locator_classes": [type(place.__name__, (place,), accept)]}
        kept = {"_impl_class": type("Implementation", (CompileResultCacheImpl,), implementation)}
        made.append(type("Kept", (FunctionCache,), kept))
    return tuple(made)


class Kept(NullCache):
    """The compiled forms of one kernel, in the place of the cache that the compiler would give it.

    Attributes
    ----------
    folders: where forms of any kernel were found or put by this process.
    refused: why forms of a kernel could be kept nowhere; the first time, empty before.
    """

    folders: ClassVar[set[str]] = set()
    refused: ClassVar[list[str]] = []

    def __init__(self, function: Callable[..., Any]) -> None:
        caches = [cache(function) for cache in _caches()]
        self._places = [cache for cache in caches if os.path.isabs(cache.cache_path)]  # a user may have no home

    @property
    def cache_path(self) -> str:
        """The folder that is looked into first."""
        return str(self._places[0].cache_path)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return a compiled form, None where there is none that can be read."""
        for place in self._places:
            try:
                found = place.load_overload(signature, context)
            except (OSError, EOFError, UnpicklingError):
                continue
            if found is not None:
                self.folders.add(place.cache_path)
                return found
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled form in the first place that takes it; warn once where none does."""
        reasons = []
        for place in self._places:
            try:
                place.save_overload(signature, compiled)
            except (OSError, EOFError, UnpicklingError) as error:
                reasons.append(f"{place.cache_path}: {getattr(error, 'strerror', None) or error}")
            else:
                self.folders.add(place.cache_path)
                return
        if not self.refused:
            self.refused.extend(reasons)
            why = "; ".join(reasons)
            message = f"compiled kernels cannot be kept ({why}), so each process compiles for itself: {REMEDY}"
            warnings.warn(message, RuntimeWarning, stacklevel=2)
