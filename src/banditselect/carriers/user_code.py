"""The files that classes from outside the library are written in, as they were when the classes were made."""

import ast
import hashlib
import inspect
import re
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

_NAME = "_file_when_made"
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
    """Remember the file of a class that has just been made; a class of the library needs none."""
    if is_foreign(cls):
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


def imported_by(module: str) -> dict[str, Path]:
    """Return the user's own modules that a module imports, and those that they import, with their files."""
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        for name in _imports(waiting.pop()):
            path = own_file(name)
            if path is not None and name not in found and name != module:
                found[name] = path
                waiting.append(name)
    return found


def own_file(module: str) -> Path | None:
    """Return the file of a loaded module, None for one of the library, of Python, or installed."""
    path = getattr(sys.modules.get(module), "__file__", None)
    if not path or not path.endswith(".py") or module.partition(".")[0] == _LIBRARY:
        return None
    installed = (sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib"))
    return None if any(Path(path).is_relative_to(place) for place in installed) else Path(path)


def _imports(module: str) -> set[str]:
    """Return the names that a module's file imports, submodules or not."""
    path = own_file(module)
    names = set()
    for node in ast.walk(ast.parse(path.read_text())) if path is not None else ():
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = module if path is not None and path.name == "__init__.py" else module.rpartition(".")[0]
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            names |= {start, *(f"{start}.{alias.name}" for alias in node.names)}
    return names
