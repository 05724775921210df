"""The files that classes from outside the library are written in, as they were when the classes were made."""

import hashlib
import inspect
from pathlib import Path

_NAME = "_file_when_made"


def note(cls: type) -> None:
    """Remember the file of a class that has just been made; a class of the library needs none."""
    if cls.__module__.split(".")[0] != __name__.split(".")[0]:
        try:
            setattr(cls, _NAME, fingerprint(inspect.getsourcefile(cls)))
        except (OSError, TypeError):
            setattr(cls, _NAME, None)


def noted(cls: type) -> str | None:
    """Return the fingerprint of its file that was noted for a class, None where there is none."""
    return vars(cls).get(_NAME)


def fingerprint(path: str | None) -> str | None:
    """Return a digest of a file, None where there is no file."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest() if path and Path(path).is_file() else None
