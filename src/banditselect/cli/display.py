"""Progress for whoever waits: a bar on a terminal, a line now and then elsewhere, nothing for a quiet run."""

import sys
import time
from collections.abc import Iterator
from typing import Self

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..reporting.numbers import duration
from ..simulation import Progress
from ..simulation.progress import OnProgress

EVERY = 30.0  #: seconds between two lines


class Display:
    """Keeps the latest progress and shows nothing: the display of a quiet run.

    Attributes
    ----------
    last: the latest progress, None before there is any.
    cells: what these are called, if they are something else.
    """

    def __init__(self) -> None:
        self.last: Progress | None = None
        self.cells = "cells"
        self._title = ""
        self._begun = self._updated = self._entered = time.monotonic()

    def __enter__(self) -> Self:
        self._entered = time.monotonic()
        self._title = ""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Stop showing; say how it ended."""
        if kind is None and self.last is not None:
            self._say(f"{self._title}: {self._done(self.last)} in {duration(time.monotonic() - self._entered)}")

    def phase(self, title: str) -> OnProgress:
        """Return what is to be called with the progress of the phase with this title."""

        def tell(progress: Progress) -> None:
            if title != self._title:
                self._title, self._begun = title, time.monotonic()
            self.last, self._updated = progress, time.monotonic()
            self._show(progress)

        return tell

    def _show(self, at: Progress) -> None:
        """Show the latest progress."""

    def _say(self, text: str) -> None:
        """Say a line that stays."""

    def _done(self, at: Progress) -> str:
        """Return what is done, in words."""
        notes = {"from an earlier run": at.cells_reused, "failed": at.cells_failed}
        said = ", ".join(f"{count} {words}" for words, count in notes.items() if count)
        return f"{at.cells_done} of {at.cells} {self.cells}{f' ({said})' if said else ''}"

    def _pace(self, at: Progress) -> str:
        return f"{self._done(at)}, {duration(time.monotonic() - self._begun)} so far"

    def _left(self, at: Progress) -> str:
        if at.seconds_left is None:
            return "time left not known yet"
        left = at.seconds_left - (time.monotonic() - self._updated)
        return f"about {duration(left)} left" if left > 0.0 else "almost done"


class Lines(Display):
    """A line on stderr at most every 30 seconds, and one at the end."""

    _said = 0.0  #: when the last line was

    def _show(self, at: Progress) -> None:
        if time.monotonic() - max(self._said, self._entered) >= EVERY:
            self._said = time.monotonic()
            self._say(f"{self._title}: {100 * at.fraction:.0f} %, {self._pace(at)}, {self._left(at)}")

    def _say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


class Bar(Display):
    """Two lines on a terminal that are drawn again several times a second; the time left counts down."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def __enter__(self) -> Self:
        self._live = Live(self, console=self._console, refresh_per_second=5, transient=True)
        super().__enter__()
        self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Remove the bar; say how it ended."""
        self._live.stop()
        super().__exit__(kind)

    def _say(self, text: str) -> None:
        self._console.print(text, style="dim", highlight=False)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        at = self.last
        if at is None:
            return
        row = Table.grid(padding=(0, 1), expand=True)
        row.add_column(no_wrap=True)
        row.add_column(ratio=1, min_width=10)
        for _ in range(2):
            row.add_column(justify="right", no_wrap=True)
        bar = ProgressBar(total=1.0, completed=at.fraction)
        row.add_row(Text(self._title), bar, f"{100 * at.fraction:3.0f} %", self._left(at))
        yield row
        yield Text(self._pace(at), style="dim")


def display_for(*, quiet: bool) -> Display:
    """Return the display that suits: none, a bar on a terminal, else lines."""
    console = Console(stderr=True)
    if quiet:
        return Display()
    return Bar(console) if console.is_terminal else Lines()
