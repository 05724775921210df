"""Show progress: a bar on a terminal, a line every 30 s elsewhere, nothing with ``--quiet``."""

import time
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bar

from ..reporting.tables import duration
from ..simulation import Progress
from ..simulation.progress import OnProgress

EVERY = 30.0  #: seconds between two lines


class Display:
    """Shows how far what runs is, on stderr, and in the end what was done.

    Attributes
    ----------
    last: the latest progress, None before there is any.
    cells: what these are called, if they are something else.
    """

    def __init__(self, *, quiet: bool, console: Console | None = None) -> None:
        self.last: Progress | None = None
        self.cells = "cells"
        self._console = console or Console(stderr=True, quiet=quiet)
        self._live = self._console.is_terminal and not quiet

    def __enter__(self) -> Self:
        self._title, self._begun = "", time.monotonic()
        self._said = self._phase_begun = self._begun
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

    def phase(self, title: str) -> OnProgress:
        """Return what is to be called with the progress of the phase with this title."""

        def tell(at: Progress) -> None:
            now = time.monotonic()
            if title != self._title:
                self._title, self._phase_begun = title, now
            self.last = at
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
        return f"{at.cells_done} of {at.cells} {self.cells}{f' ({said})' if said else ''}"

    def _say(self, text: str) -> None:
        self._console.print(text, style="dim", markup=False, highlight=False, soft_wrap=True)
