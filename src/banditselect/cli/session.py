"""What surrounds a command: warnings in one line, mistakes without a traceback, a way back after an interruption."""

import contextlib
import shlex
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import typer

from ..kernels.disk import DiskCache
from ..simulation import Failure, Results
from ..simulation.store import Store
from .display import Display, display_for
from .stopping import Stop, stoppable

FAILED, WRONG, INTERRUPTED = 1, 2, 130  #: exit codes
SHOWN = 10  #: failures that are shown one by one


def say(text: str) -> None:
    """Print to stderr."""
    print(text, file=sys.stderr, flush=True)


def say_failures(results: Results, folder: Path) -> bool:
    """Say what failed, with its settings; return whether anything did."""
    failures = results.failures
    if failures:
        tracebacks = folder / "failures.json"
        say(f"\n{len(failures)} cells failed; the results of the others are kept. Tracebacks: {tracebacks}\n")
    for failure in failures[:SHOWN]:
        cell = failure.cell
        say(f"{cell}, {cell.rounds} rounds, seed {cell.seed}")
        say(f"  {_error(failure)}\n  {failure.settings}")
    if len(failures) > SHOWN:
        say(f"and {len(failures) - SHOWN} more")
    return bool(failures)


def _error(failure: Failure) -> str:
    return f"{type(failure.error).__name__}: {failure.error}"


@contextlib.contextmanager
def session(folder: Path, *, quiet: bool) -> Iterator[Display]:
    """Yield the display of a command that writes to ``folder``; what goes wrong becomes a message and an exit code."""
    display = display_for(quiet=quiet)
    try:
        with stoppable(), warnings.catch_warnings():
            warnings.simplefilter("ignore" if quiet else "always", RuntimeWarning)
            DiskCache.noticed |= quiet
            said: set[str] = set()
            warnings.showwarning = lambda message, *_: _say_once(str(message), said)
            yield display
    except KeyboardInterrupt as stop:
        say(_way_back(display, folder))
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


def _way_back(display: Display, folder: Path) -> str:
    if display.last is None:
        return "interrupted before anything was run"
    safe = sum(len(Store(cells.parent).keys()) for cells in folder.rglob("cells"))
    command = shlex.join(["banditselect", *sys.argv[1:]])
    return f"interrupted; cells stored in {folder}: {safe}. To continue:\n  {command}"
