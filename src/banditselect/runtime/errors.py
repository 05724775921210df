"""Errors and warnings for users: the argument, the value given, and what is expected.

Every refusal is an ArgumentError, raised before anything has changed.
"""

import copyreg
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.features import LIMIT
from .settings import literal

SMALL = 8  #: entries of an array that a message shows one by one


class ArgumentError(ValueError):
    """An argument that cannot be used.

    Attributes
    ----------
    owner: the class or function whose argument it is; empty where it was not named.
    argument: its name.
    value: what was given; its picture, after a journey between processes that it could not make itself.
    expected: the values that are accepted, in words.
    """

    def __init__(self, name: str, value: object, expected: str) -> None:
        super().__init__(f"{name}: got {shown(value)}, expected {expected}")
        owner, colon, argument = name.partition(": ")
        owned = bool(colon) and owner.replace(".", "_").isidentifier()
        self.owner, self.argument = (owner, argument) if owned else ("", name)
        self.value, self.expected = value, expected

    def __reduce__(self) -> tuple[Any, ...]:
        value = self.value if _is_plain(self.value) else shown(self.value)
        return copyreg.__newobj__, (type(self), *self.args), vars(self) | {"value": value}  # type: ignore[attr-defined]


def refuse(name: str, value: object, expected: str) -> ArgumentError:
    """Return the error for an argument, named ``"argument"`` or ``"Owner: argument"``."""
    return ArgumentError(name, value, expected)


def warn(message: str) -> None:
    """Give a warning at the line that called into this package."""
    here = str(Path(__file__).parents[1]) + os.sep
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, RuntimeWarning, stacklevel=depth)


def shown(value: object) -> str:
    """Return a short picture of a value for a message; of a long one, what is wrong with its numbers if anything is."""
    text = literal(value, word=_in_words)
    if len(text) <= 80 or (isinstance(value, np.ndarray) and value.size > SMALL):
        return text
    return _first_fault(value) or text[:77] + "..."


def _in_words(value: object) -> str | None:
    """Return a short array as NumPy writes it, with its type, any other by its shape and its first fault."""
    if not isinstance(value, np.ndarray):
        return None
    if value.size <= SMALL:
        return repr(value)
    fault = _fault(value)
    return f"an array of shape {value.shape}{f' {fault}' if fault else ''}"


def _first_fault(value: object) -> str:
    """Return what is wrong with a long list or table, empty if its entries are usable numbers."""
    if isinstance(value, list | tuple) and all(isinstance(part, np.ndarray) for part in value):
        faults = ((k, _in_words(part)) for k, part in enumerate(value) if _fault(part))
        return next((f"a list of {len(value)} with, at [{k}], {words}" for k, words in faults), "")
    array = array_of(value)
    return f"values of shape {array.shape} {_fault(array)}" if array.ndim > 1 and _fault(array) else ""


def _fault(array: NDArray[Any]) -> str:
    """Return why an array cannot be used, by its type or its first unusable entry; empty if it can."""
    if array.dtype.kind in "iub":
        return ""
    if array.dtype.kind not in "fO":
        return f"and dtype {array.dtype}"
    typed = ["and dtype object"] if array.dtype.hasobject else []
    numbers = np.array([number_of(v) for v in array.flat]) if typed else array.ravel()
    odd = np.flatnonzero(~(np.abs(numbers) <= LIMIT))[:1].tolist()
    places = [f"with {literal(array.flat[k])} at {np.array(np.unravel_index(k, array.shape)).tolist()}" for k in odd]
    return ", ".join(typed + places)


def _is_plain(value: object) -> bool:
    """Return whether a value is made of numbers, words and arrays of them, so that every process knows it."""
    if isinstance(value, dict):
        return all(map(_is_plain, (*value.keys(), *value.values())))
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    return value is None or isinstance(value, bool | int | float | complex | str | np.generic)


def number_of(value: object) -> float:
    """Return a number of magnitude at most ``LIMIT`` as a float, NaN for everything else."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        return np.nan
    try:
        number = float(value)
    except OverflowError:
        return np.nan
    return number if abs(number) <= LIMIT else np.nan


def array_of(value: Any) -> NDArray[Any]:
    """Return an array; of dtype object for ragged lists."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.array(None)
