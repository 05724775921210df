"""Ctrl-C and SIGTERM: stop once, cleanly, and never hang."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

PATIENCE = 15.0  #: seconds for the workers to stop, after which this process ends without them


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
