"""Refuse a second call while one is running in the same object."""

import sys
from typing import Any


class OneCallAtATime:
    """Lets one call in and refuses a second, which would learn over what the first is learning.

    A call marks the object as busy with its own frame, so that a call that was interrupted just before it could take
    the mark away does not lock the object: its frame has ended.

    Threads take turns where something is called or a loop turns. So a caller takes its frame first, and looks at
    ``busy`` in the ``while`` that stands before it sets it.

    Examples
    --------
    >>> guard = OneCallAtATime()
    >>> with guard, guard:
    ...     pass
    Traceback (most recent call last):
        ...
    RuntimeError: another call is running in this object, which serves one at a time: put a lock around its calls, or \
fork it for every process
    >>> guard.busy is None
    True
    """

    __slots__ = ("busy",)

    def __init__(self) -> None:
        self.busy: Any = None  # the frame of the call that is running

    def __enter__(self) -> None:
        frame = sys._getframe(1)
        while self.busy is not None:
            self.refuse()
        self.busy = frame

    def __exit__(self, *error: object) -> None:
        self.busy = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()  # a copy is free, also while its original is busy

    def refuse(self) -> None:
        """Refuse a second call, unless the first has ended."""
        first = self.busy
        try:
            if first is not None:
                first.clear()  # fails while the frame is running
        except RuntimeError:
            raise RuntimeError(
                "another call is running in this object, which serves one at a time: put a lock around its calls, or "
                "fork it for every process"
            ) from None
        if self.busy is first:
            self.busy = None
