"""Run a command: show progress, print one-line warnings and errors, say how to continue after Ctrl-C."""

import contextlib
import os
import shlex
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Self

import typer
from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bar

from ..kernels.disk import DiskCache
from ..reporting.tables import duration
from ..simulation import Progress, Results
from ..simulation.progress import OnProgress
from ..simulation.store import Store

FAILED, WRONG, INTERRUPTED = 1, 2, 130  #: exit codes
SHOWN = 10  #: failures that are shown one by one
EVERY = 30.0  #: seconds between two lines of progress
PATIENCE = 15.0  #: seconds for the workers to stop, after which this process ends without them


class Display:
    """Show progress on stderr: a bar on a terminal, a line every 30 s elsewhere, nothing with ``--quiet``.

    Attributes
    ----------
    last: the latest progress, None before there is any.
    """

    def __init__(self, *, quiet: bool, console: Console | None = None) -> None:
        self.last: Progress | None = None
        self._console = console or Console(stderr=True, quiet=quiet)
        self._live = self._console.is_terminal and not quiet

    def __enter__(self) -> Self:
        self.last, self._title, self._said = None, "", time.monotonic()
        self._begun = self._phase_begun = self._said  #: the whole, the phase that runs
        columns = [TextColumn("{task.description}", markup=False), BarColumn(20), TaskProgressColumn()]
        columns.append(TextColumn("{task.fields[left]}"))
        self._bar = Bar(*columns, console=self._console, transient=True, expand=True, disable=not self._live)
        self._task = self._bar.add_task("", total=1.0, left="")
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Remove the bar; say what was done."""
        self._bar.stop()
        if kind is None and self.last is not None:
            self._say(f"{self._title}: {self._done(self.last)} in {duration(time.monotonic() - self._begun)}")

    def phase(self, title: str, cells: str = "cells") -> OnProgress:
        """Return what is to be called with the progress of the phase with this title; ``cells``: of its parts."""

        def tell(at: Progress) -> None:
            now = time.monotonic()
            if title != self._title:
                self._phase_begun = now
            self.last, self._title, self._cells = at, title, cells
            left = "time left not known yet" if at.seconds_left is None else f"about {duration(at.seconds_left)} left"
            self._bar.update(self._task, description=title, completed=at.fraction, left=left)
            if not self._live and now - self._said >= EVERY:
                self._said, so_far = now, duration(now - self._phase_begun)
                self._say(f"{title}: {100 * at.fraction:.0f} %, {self._done(at)}, {so_far} so far, {left}")

        return tell

    def _done(self, at: Progress) -> str:
        """Return what is done, in words."""
        notes = {"from an earlier run": at.cells_reused, "failed": at.cells_failed}
        said = ", ".join(f"{count} {words}" for words, count in notes.items() if count)
        return f"{at.cells_done} of {at.cells} {self._cells}{f' ({said})' if said else ''}"

    def _say(self, text: str) -> None:
        self._console.print(text, style="dim", markup=False, highlight=False, soft_wrap=True)


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
        say(f"{failure.cell}, {failure.cell.rounds} rounds, seed {failure.cell.seed}")
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

            def say_once(message: str) -> None:
                if message not in said:
                    said.add(message)
                    say(f"warning: {message}")

            warnings.showwarning = lambda message, *_: say_once(str(message))
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
