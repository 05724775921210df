"""The files of classes from outside the library, noted when the classes are made.

A policy or problem of the user's own may be edited while a process still runs what it has loaded. Results are stored
under a digest of the code, so whoever forms that digest must be able to tell.
"""

import hashlib
import inspect
from pathlib import Path

_NOTE = "_file_when_made"
_LIBRARY = __name__.partition(".")[0]


def is_foreign(cls: type) -> bool:
    """Tell whether a class is from outside the library."""
    return cls.__module__.partition(".")[0] != _LIBRARY


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
