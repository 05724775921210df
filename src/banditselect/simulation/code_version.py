"""Which code makes the numbers, so that what one version made is never taken for what another would make.

Cells are stored under it and workers compare theirs with it. It is a digest of the library's files, one of every file
with a class of the user's own and of those that it imports, and the versions of what is installed beneath. Comments,
docstrings and layout do not count.
"""

import ast
import dataclasses
import functools
import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite.binding import get_host_cpu_name
from numba.core import config

from .. import __imported_at__, __version__
from ..carriers import class_files, validation
from ..policies import Binding, Policy
from ..problems import Problem
from .fingerprint import digest, full_name

_ROOT = Path(__file__).parent.parent
_ROOMS = (
    *("theory/", "kernels/", "carriers/", "parts/", "maps/"),
    *("policies/", "regions/", "problems/", "logs/", "agent/"),
)
_COUNTED = ("types.py", "statistics.py", *_ROOMS, "simulation/loop.py")  #: the files that numbers depend on


def code_version(*parts: Any) -> dict[str, str]:
    """Return the version of all the code that bindings and problems need, by name of its parts."""
    code = installed()
    for cls in sorted(set().union(*map(_classes_in, parts)), key=full_name):
        code[full_name(cls)] = _class_digest(cls)
        for name, path in _imported_by(cls.__module__).items():
            code[name] = _code_digest(path.read_text(encoding="utf-8"))
    return code


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
    """Return a digest of the library's files, which must be those that were loaded: none touched since the import.

    ``st_ctime`` tells a file that was put in place with an older date. The clocks are trusted: a file server that is a
    second late hides a change in the first second after the import.
    """
    files = {path.relative_to(_ROOT).as_posix(): path for path in sorted(_ROOT.rglob("*.py"))}
    counted = {name: path for name, path in files.items() if name.startswith(_COUNTED)}
    if any(max(stat.st_mtime, stat.st_ctime) > __imported_at__ for stat in map(Path.stat, counted.values())):
        raise validation.refuse("banditselect", "files that were changed after they were loaded", "a fresh process")
    return digest([[name, _code_digest(path.read_text(encoding="utf-8"))] for name, path in counted.items()])


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
    return {c for c in cls.__mro__ if class_files.is_foreign(c) and c.__module__ not in ("builtins", "abc")}


def _class_digest(cls: type) -> str:
    """Return the digest of the file that a class is written in, or of its own source where there is no file."""
    if "<locals>" in cls.__qualname__:
        raise validation.refuse("out", cls, "a class at the top of its file: one made inside a function may differ")
    try:
        path = inspect.getsourcefile(cls)
        source = Path(path).read_text(encoding="utf-8") if path and Path(path).is_file() else inspect.getsource(cls)
    except (OSError, TypeError):
        raise validation.refuse("out", cls, "a class whose source can be read, so that changes are noticed") from None
    if class_files.has_changed(cls):
        raise validation.refuse("out", cls, "a class as its file has it: the file was changed after it was loaded")
    return _code_digest(source)


def _code_digest(source: str) -> str:
    """Return a digest that comments, docstrings and layout do not change."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:32]


def _imported_by(module: str) -> dict[str, Path]:
    """Return the user's own modules that a module imports, and those that they import, with their files."""
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        for name in _imports(waiting.pop()):
            path = _own_file(name)
            if path is not None and name not in found and name != module:
                found[name] = path
                waiting.append(name)
    return found


def _own_file(module: str) -> Path | None:
    """Return the file of a loaded module, None for one of the library, of Python, or installed."""
    path = getattr(sys.modules.get(module), "__file__", None)
    if not path or not path.endswith(".py") or module.partition(".")[0] == _ROOT.name:
        return None
    installed = (sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib"))
    return None if any(Path(path).is_relative_to(place) for place in installed) else Path(path)


def _imports(module: str) -> set[str]:
    """Return the names that a module's file imports, submodules or not."""
    path = _own_file(module)
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if path is not None else ():
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = module if path is not None and path.name == "__init__.py" else module.rpartition(".")[0]
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            names |= {start, *(f"{start}.{alias.name}" for alias in node.names)}
    return names
