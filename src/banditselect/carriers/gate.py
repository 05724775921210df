"""The gate of an object that serves one call at a time."""

import sys
from typing import Any


class Gate:
    """Lets one call in and refuses a second, which would learn over what the first is learning.

    ``with gate:`` costs half a microsecond. Where that is too much the caller writes what it does: nothing can come
    between looking at ``busy`` and setting it, since threads take turns, and signals come, only where a function is
    called or a loop turns.

    Examples
    --------
    >>> gate = Gate()
    >>> with gate, gate:
    ...     pass
    Traceback (most recent call last):
        ...
    RuntimeError: another call is running in this object, which serves one at a time: put a lock around its calls, or \
fork it for every process
    >>> gate.busy
    False
    """

    __slots__ = ("busy",)

    def __init__(self) -> None:
        self.busy: Any = False  # True, or the frame of the call that is inside

    def __enter__(self) -> None:
        if self.busy:
            self.refuse()
        self.busy = sys._getframe(1)

    def __exit__(self, *error: object) -> None:
        self.busy = False

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()  # a copy is free, whatever its original is doing

    def refuse(self) -> None:
        """Refuse a second call, unless the first is over: an interruption came just before it let the next one in."""
        try:
            self.busy.clear()  # fails while the frame is running
        except (AttributeError, RuntimeError):
            raise RuntimeError(
                "another call is running in this object, which serves one at a time: put a lock around its calls, or "
                "fork it for every process"
            ) from None
