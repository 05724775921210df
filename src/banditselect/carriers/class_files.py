"""The files of classes from outside the library, noted when the classes are made.

A policy or problem of the user's own may be edited while a process still runs what it has loaded. Results are stored
under a digest of the code, so whoever forms that digest must be able to tell.
"""

import hashlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

_NOTE = "_file_when_made"
_LIBRARY = __name__.partition(".")[0]


def is_foreign(made: type | Callable[..., Any]) -> bool:
    """Tell whether a class or function is from outside the library."""
    return made.__module__.partition(".")[0] != _LIBRARY


def rewrites_steps(cls: type) -> bool:
    """Tell whether code from outside writes private methods of the library anew, which no shortcut may pass by."""
    foreign = [c for c in cls.__mro__ if is_foreign(c)]
    own = {name for c in foreign for name, value in vars(c).items() if callable(value) and re.match("_[^_]", name)}
    return any(own & vars(c).keys() for c in cls.__mro__ if c not in foreign)


def note(cls: type) -> None:
    """Note the file of a class that has just been made; a class of the library needs none."""
    if is_foreign(cls):
        setattr(cls, _NOTE, _digest(cls))


def has_changed(cls: type) -> bool:
    """Tell whether the file of a class is no longer what was noted; False where nothing was."""
    return vars(cls).get(_NOTE) not in (None, _digest(cls))


def _digest(cls: type) -> str | None:
    """Return a digest of the file that a class is written in, None where there is no file."""
    try:
        return hashlib.sha256(Path(inspect.getsourcefile(cls) or "").read_bytes()).hexdigest()
    except (OSError, TypeError):
        return None
