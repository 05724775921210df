"""Run a command: print one-line warnings and errors, and tell the user how to resume after Ctrl-C."""

import contextlib
import os
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import typer

from ..kernels.disk import DiskCache
from ..simulation import Results
from ..simulation.store import Store
from .progress import Display

FAILED, WRONG, INTERRUPTED = 1, 2, 130  #: exit codes
SHOWN = 10  #: failures that are shown one by one
PATIENCE = 15.0  #: seconds for the workers to stop, after which this process ends without them


def say(text: str) -> None:
    """Print to stderr."""
    print(text, file=sys.stderr, flush=True)


def say_failures(results: Results, folder: Path) -> None:
    """Say what failed, with its settings."""
    failures = results.failures
    if failures:
        tracebacks = folder / "failures.json"
        say(f"\n{len(failures)} cells failed; the results of the others are kept. Tracebacks: {tracebacks}\n")
    for failure in failures[:SHOWN]:
        cell = failure.cell
        say(f"{cell}, {cell.rounds} rounds, seed {cell.seed}")
        say(f"  {type(failure.error).__name__}: {failure.error}\n  {failure.settings}")
    if len(failures) > SHOWN:
        say(f"and {len(failures) - SHOWN} more")


@contextlib.contextmanager
def session(folder: Path, *, quiet: bool) -> Iterator[Display]:
    """Yield the display of a command that writes to ``folder``; what goes wrong becomes a message and an exit code."""
    display = Display(quiet=quiet)
    try:
        with stoppable(), warnings.catch_warnings():
            warnings.simplefilter("ignore" if quiet else "always", RuntimeWarning)
            DiskCache.noticed |= quiet
            said: set[str] = set()
            warnings.showwarning = lambda message, *_: _say_once(str(message), said)
            yield display
    except KeyboardInterrupt as stop:
        if display.last is None:
            say("interrupted before anything was run")
        else:
            safe = sum(len(Store(cells.parent).keys()) for cells in folder.rglob("cells"))
            command = shlex.join(["banditselect", *sys.argv[1:]])
            say(f"interrupted; cells stored in {folder}: {safe}. To continue:\n  {command}")
        raise typer.Exit(stop.code if isinstance(stop, Stop) else INTERRUPTED) from None
    except Exception as error:
        cell = getattr(error, "__notes__", [])  # a cell of the tuning failed
        known = isinstance(error, ValueError | ImportError | OSError) and not isinstance(error, BrokenPipeError)
        if not cell and not known:
            raise
        say(f"error: {'; '.join(cell) or error}")
        raise typer.Exit(FAILED if cell or isinstance(error, OSError) else WRONG) from None


def _say_once(message: str, said: set[str]) -> None:
    if message not in said:
        said.add(message)
        say(f"warning: {message}")


class Stop(KeyboardInterrupt):
    """The user, or the system, wants this to end.

    Attributes
    ----------
    code: what the shell expects as exit code.
    """

    def __init__(self, number: int) -> None:
        self.code = 128 + number


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Raise :class:`Stop` at the first SIGINT or SIGTERM; those that follow are ignored while things are stopped."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    stopping = False

    def stop(number: int, _: FrameType | None) -> None:
        nonlocal stopping
        stopping = True
        for other in numbers:
            signal.signal(other, signal.SIG_IGN)
        watchdog = threading.Timer(PATIENCE, os._exit, (128 + number,))
        watchdog.daemon = True
        watchdog.start()
        raise Stop(number)

    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items() if not stopping else ():
            signal.signal(number, handler)
