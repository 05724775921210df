"""The code that makes the numbers, so that what one version made is never taken for what another would make.

Cells are stored under it and workers compare theirs with it. It is a digest of the library's files, one of every file
with a class of the user's own, and the versions of what is installed beneath. Each file is read once by a process; what
the user's files import is not looked at.
"""

import dataclasses
import functools
import hashlib
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite.binding import get_host_cpu_name
from numba.core import config

from .. import __version__
from ..policies import Binding, Policy
from ..problems import Problem
from ..runtime import errors
from ..runtime.settings import is_foreign
from .fingerprint import full_name

_ROOT = Path(__file__).parent.parent
_APART = ("checks", "cli", "experiments", "reporting")  #: packages that no number depends on


def code_version(*parts: Any) -> dict[str, str]:
    """Return the version of all the code that bindings and problems need, by name of its parts."""
    classes = set().union(*map(_classes_in, parts))
    return installed() | {full_name(cls): _class_digest(cls) for cls in sorted(classes, key=full_name)}


def installed() -> dict[str, str]:
    """Return the version of the library's code and of what is beneath it, as this process has them."""
    compiled = not config.DISABLE_JIT  # type: ignore[attr-defined]
    processor = (config.CPU_NAME or get_host_cpu_name()) if compiled else "none"  # type: ignore[attr-defined]
    return versions() | {"banditselect": _library_digest(), "compiled for": str(processor)}


def versions() -> dict[str, str]:
    """Return the versions of the library and of what is beneath it."""
    return {
        "banditselect": __version__,
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


@functools.cache
def _library_digest() -> str:
    """Return a digest of the library's files and their names."""
    found = hashlib.sha256()
    for path in sorted(_ROOT.rglob("*.py")):
        name = path.relative_to(_ROOT)
        if name.parts[0] not in _APART:
            found.update(f"{name.as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}".encode())
    return found.hexdigest()[:32]


@functools.cache
def _class_digest(cls: type) -> str:
    """Return the digest of the file that a class is written in, or of its own source where there is no file."""
    if "<locals>" in cls.__qualname__:
        raise errors.refuse("out", cls, "a class at the top of its file: one made inside a function may differ")
    try:
        path = Path(inspect.getsourcefile(cls) or "")
        source = path.read_bytes() if path.is_file() else inspect.getsource(cls).encode()
    except (OSError, TypeError):
        raise errors.refuse("out", cls, "a class whose source can be read, so that changes are noticed") from None
    return hashlib.sha256(source).hexdigest()[:32]


def _classes_in(value: Any) -> set[type]:
    """Return the classes from outside the library that a binding or a problem is made of."""
    if isinstance(value, Binding):
        return _foreign(value.cls) | _classes_in(value.arguments)
    if isinstance(value, Problem | Policy):
        return _foreign(type(value)) | _classes_in(value.settings)
    if isinstance(value, Mapping):
        return set().union(*map(_classes_in, value.values()))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _foreign(type(value)).union(*(_classes_in(getattr(value, f.name)) for f in dataclasses.fields(value)))
    return set().union(*map(_classes_in, value)) if isinstance(value, list | tuple) else set()


def _foreign(cls: type) -> set[type]:
    return {c for c in cls.__mro__ if is_foreign(c) and c.__module__ not in ("builtins", "abc")}
