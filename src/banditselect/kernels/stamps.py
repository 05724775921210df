"""Digests of the code that is compiled into a kernel; the cache on disk names its files by them.

They are computed from loaded code and not from files, so an edit after the import does not count, an edit of comments
recompiles nothing, and a kernel defined in a notebook has one too.
"""

import enum
import functools
import hashlib
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

_PLAIN = (bool, int, float, complex, str, bytes, type(None), enum.Enum, np.generic, np.dtype)


def stamp(kernel: Callable[..., Any]) -> str:
    """Return a digest of a kernel and of the functions, constants and named tuples that it uses, directly or not.

    Functions of other libraries count only if they are compiled themselves. If one that is not, such as a function
    with ``numba.extending.overload``, is used, all functions of its module count: its overloads are among them.
    """
    packages = {_module(value).partition(".")[0] for value in (kernel, stamp)}
    seen, marks, waiting = set[int](), set[str](), [("", kernel)]
    while waiting:
        name, value = waiting.pop()
        function = getattr(value, "py_func", value)
        if isinstance(value, tuple):
            waiting += [(f"{name}[{k}]", entry) for k, entry in enumerate(value)]
        elif isinstance(value, type) and hasattr(value, "_fields"):
            marks.add(f"{_module(value)}.{value.__qualname__}{value._fields}")
        elif not isinstance(function, FunctionType):
            marks.add(f"{name} = {_picture(value)}")
        elif id(function) not in seen and (function is not value or _module(value).partition(".")[0] in packages):
            seen.add(id(function))
            settings = getattr(value, "targetoptions", {}), function.__defaults__, function.__kwdefaults__
            code = _written(function.__code__, function.__doc__)
            marks.add(f"{_module(function)}.{function.__name__}{_picture(settings)}{code}")
            waiting += _used(function)
            if function is value and id(space := function.__globals__) not in seen:
                seen.add(id(space))
                waiting += [other for other in space.items() if getattr(other[1], "__module__", "") == value.__module__]
    return hashlib.sha256("\n".join(sorted(marks)).encode()).hexdigest()


def _module(value: Any) -> str:
    return str(value.__module__).replace("__mp_main__", "__main__")  # a script is the latter, in its workers the former


def _used(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the objects that a function names, some in modules, and named tuples that may be passed to it."""
    named = [value for value in function.__globals__.values() if isinstance(value, type) and hasattr(value, "_fields")]
    yield from (("", value) for value in named)
    for cell, name in zip(function.__closure__ or (), function.__code__.co_freevars, strict=True):
        yield f"{_module(function)}.{function.__qualname__}.{name}", cell.cell_contents
    names, spaces = _names(function.__code__), {_module(function): function.__globals__}
    for module in (waiting := [_module(function)]):
        for name in names & spaces[module].keys():
            value = spaces[module][name]
            if not isinstance(value, ModuleType):
                yield f"{module}.{name}", value
            elif value.__name__ not in spaces:
                spaces[value.__name__] = value.__dict__
                waiting.append(value.__name__)


@functools.cache
def _names(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names(const) for const in code.co_consts if isinstance(const, CodeType)))


@functools.cache
def _written(code: CodeType, docstring: str | None = None) -> str:
    """Return the instructions of a function, without its docstring and the numbers of its lines."""
    kept = [None if c is docstring else c for c in code.co_consts]
    consts = [_written(c) if isinstance(c, CodeType) else _picture(c) for c in kept]
    return f"{code.co_code!r}{code.co_exceptiontable!r}{code.co_names}{code.co_varnames}{code.co_argcount}{consts}"


def _picture(value: Any) -> str:
    """Return a constant as text that is the same in every process, and an empty text for any other object."""
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}{[_picture(entry) for entry in value]}"
    if isinstance(value, dict):
        return f"dict{sorted(map(_picture, value.items()))}"
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__}{sorted(map(_picture, value))}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype!r}{value.shape}{value.strides}{value.tobytes()!r}"
    return f"{type(value).__name__} {value!r}" if isinstance(value, _PLAIN) else ""
