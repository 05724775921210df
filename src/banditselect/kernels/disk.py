"""Compiled kernels on disk, shared between processes.

They are looked for in ``NUMBA_CACHE_DIR``, beside the source, and in the cache of the user, even where these are read
only: code compiled when an image was built serves every user. They are written to the first of the three that can be
written to. Where none can, each process compiles for itself, and warns once.

Processes that need the same kernel at the same time compile it once: the first one locks a file beside what is kept,
the others wait for its result.
"""

import contextlib
import functools
import gc
import os
import sys
import time
import warnings
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
from numba.core.compiler_lock import global_compiler_lock
from numba.core.types import unliteral

from .stamps import stamp

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

REMEDY = (
    "set the environment variable NUMBA_CACHE_DIR to a folder that can be written to, or run `banditselect warmup` "
    "where the package is installed"
)
NOTICE = "banditselect: compiling on first use; `banditselect warmup` does this ahead of time"
SILENT = 1.0  #: seconds of compiling before the notice
UNREADABLE = (OSError, EOFError, UnpicklingError)  #: errors of a file that is missing, damaged or cannot be written
PATIENCE, PAUSE = 120.0, 0.02  #: seconds to wait for another process before compiling anyway, and between two looks


@functools.cache
def _caches() -> tuple[type, ...]:
    """Return a cache for each place, without a test whether it can be written to: that shows when it is."""
    places: list[Any] = [InTreeCacheLocator, UserWideCacheLocator]
    if config.CACHE_DIR:  # type: ignore[attr-defined]
        places.insert(0, UserProvidedCacheLocator)
    stamped = {name: lambda self: self.stamp for name in ("get_disambiguator", "get_source_stamp")}
    made = []
    for place in places:
        locator = type(place.__name__, (place,), {"from_function": classmethod(_accept), **stamped})
        implementation = type("Implementation", (CompileResultCacheImpl,), {"_locator_classes": [locator]})
        made.append(type("DiskCache", (FunctionCache,), {"_impl_class": implementation}))
    return tuple(made)


def _accept(place: type, function: Any, file: str) -> Any:
    """Return a place for a function; one without a file, of a notebook, shares the place of the kernels here."""
    locator = place(function, file if os.path.isfile(file) else __file__)
    locator.stamp = function.stamp
    return locator


def keep(compiled: Any) -> None:
    """Keep the compiled forms of a kernel on disk, and compile each form once on a machine.

    A constant argument gets no form of its own. The garbage collector waits meanwhile: looking through the millions of
    objects of the compiler would take a sixth of the time.
    """
    cache, compile = DiskCache(compiled), compiled.compile

    def compile_once(signature: Any) -> Any:
        with global_compiler_lock:
            collects = gc.isenabled()
            gc.disable()
            try:
                return compile(tuple(map(unliteral, signature)))
            finally:
                cache.release()
                if collects:
                    gc.enable()

    compiled._cache, compiled.compile = cache, compile_once


def lock(file: int) -> bool:
    """Lock a file until it is closed; return False while another process has it, True where files cannot be locked."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return not isinstance(error, BlockingIOError | PermissionError)  # another process has it
    return True


class DiskCache(NullCache):
    """The compiled forms of one kernel, in the place of the cache that the compiler would give it.

    Attributes
    ----------
    folders: where forms of any kernel were found or put by this process.
    refused: why forms of a kernel could be kept nowhere; the first time, empty before.
    noticed: whether the user has been notified that this process compiles, or need not be.
    """

    folders: ClassVar[set[str]] = set()
    refused: ClassVar[list[str]] = []
    noticed: ClassVar[bool] = False
    _spent: ClassVar[float] = 0.0  #: seconds spent on the kernels compiled so far

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._lock: int | None = None
        self._begun = 0.0  #: when the compilation began that goes on; 0 at other times
        self._before = 0.0  #: ``_spent`` at that time; kernels are compiled inside others

    @functools.cached_property
    def _places(self) -> list[Any]:
        function = self._kernel.py_func
        function.stamp = stamp(self._kernel)[:12]  # not earlier: the functions that it calls are defined by now
        caches = [cache(function) for cache in _caches()]
        return [cache for cache in caches if os.path.isabs(cache.cache_path)]  # a user may have no home

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return a compiled form; None where this process has to compile it, which lasts until ``release``."""
        found = self._find(signature, context)
        if found is None:
            self._start()
            found = self._find(signature, context)  # another process may have compiled it by now
        return found

    def _find(self, signature: Any, context: Any) -> Any:
        for place in self._places:
            with contextlib.suppress(*UNREADABLE):
                found = place.load_overload(signature, context)
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
                self.folders.add(place.cache_path)
                return
            except UNREADABLE as error:
                reasons.append(f"{place.cache_path}: {getattr(error, 'strerror', None) or error}")
        if not self.refused:
            self.refused.extend(reasons)
            why = "; ".join(reasons)
            message = f"compiled kernels cannot be kept ({why}), so each process compiles for itself: {REMEDY}"
            warnings.warn(message, RuntimeWarning, stacklevel=2)

    def _start(self) -> None:
        """Start to compile; wait while another process compiles this kernel."""
        self._begun, self._before = time.monotonic(), DiskCache._spent
        for place in self._places:
            with contextlib.suppress(OSError):
                place._impl.locator.ensure_cache_path()
                self._lock = os.open(f"{place.cache_path}/{place._impl.filename_base}.lock", os.O_RDWR | os.O_CREAT)
                break
        while self._lock is not None and not lock(self._lock) and time.monotonic() < self._begun + PATIENCE:
            self._notice()
            time.sleep(PAUSE)
        self._notice()

    def release(self) -> None:
        """End the compilation that ``load_overload`` has started, if any."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        if self._begun > 0.0:
            self._notice()
            DiskCache._spent = self._before + time.monotonic() - self._begun
            self._begun = 0.0

    def _notice(self) -> None:
        """Write once that this process compiles, as soon as that has taken long."""
        seconds = self._before + time.monotonic() - self._begun
        if not DiskCache.noticed and seconds > SILENT:
            DiskCache.noticed = True
            with contextlib.suppress(AttributeError, OSError, ValueError):  # stderr is missing or closed
                sys.stderr.write(f"{NOTICE}\n")
