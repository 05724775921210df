"""Python files with policies and problems of the user's own, which a sweep file imports by their path."""

import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType

from .. import logs, problems
from ..carriers.extras import need
from ..problems import Problem


def load_file(path: Path) -> ModuleType:
    """Return a Python file as a module, named after the file; workers are sent its classes.

    What it registers is known from then on. A file that is not there, cannot be run, or whose name another module has
    raises ValueError.
    """
    name, file = path.stem, str(path.resolve())
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == file:
        return loaded
    if path.suffix != ".py" or not path.is_file():
        raise ValueError(f"{path}: no such Python file")
    found = importlib.util.find_spec(name)
    if loaded is not None or (found is not None and found.origin != file):
        raise ValueError(f"{path}: a module {name!r} exists already; give the file another name")
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path}: no such Python file")
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)  # it may import its neighbours
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if isinstance(error, SystemExit):
            raise ValueError(f"{path}: it exits when it is imported") from None
        raise ValueError(message_of(error)) from error
    need("cloudpickle", "experiments").register_pickle_by_value(module)
    return module


def known_problems(*modules: ModuleType) -> dict[str, type[Problem]]:
    """Return the problems of this library and those written in these modules, by name."""
    rooms = (problems, logs)
    known = {name: vars(room)[name] for room in rooms for name in room.__all__ if _is_problem(vars(room)[name])}
    for module in modules:
        own = {n: cls for n, cls in vars(module).items() if _is_problem(cls) and cls.__module__ == module.__name__}
        for name in own:
            if known.get(name, own[name]) is not own[name]:
                raise ValueError(f"{module.__file__}: a problem named {name!r} exists already; give it another name")
        known |= own
    return known


def message_of(error: Exception) -> str:
    """Return what an error says, in one line; of one that is not a refusal also its kind and where it happened."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {error.msg}"
    if isinstance(error, ValueError):
        return str(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({frame.filename}:{frame.lineno})"


def _is_problem(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Problem) and not inspect.isabstract(value)
