"""What surrounds a command: warnings in one line, mistakes without a traceback, a way back after an interruption."""

import contextlib
import shlex
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import typer

from ..kernels.disk import Kept
from ..simulation.store import Store
from .display import Display, display_for
from .stopping import Stop, stoppable

FAILED, WRONG, INTERRUPTED = 1, 2, 130  #: exit codes


def say(text: str) -> None:
    """Print to stderr."""
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def session(folder: Path, *, quiet: bool) -> Iterator[Display]:
    """Yield the display of a command that writes to ``folder``; what goes wrong becomes a message and an exit code."""
    display = display_for(quiet=quiet)
    try:
        with stoppable(), warnings.catch_warnings():
            warnings.simplefilter("ignore" if quiet else "always", RuntimeWarning)
            Kept.noticed |= quiet
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
