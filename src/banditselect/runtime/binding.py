"""Policies described before they are built: ``Policy.bind`` and ``given``.

A binding names a policy class and some of its arguments. The caller adds the rest: lanes, seed, the
shapes of the problem - and the constants of the problem that were asked for with ``given``, nothing else.
"""

import dataclasses
import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from .constraints import Number
from .errors import refuse
from .inputs import as_floats

T = TypeVar("T", covariant=True)


class Pending(ABC):
    """A value that is known when the policy meets its problem."""

    @abstractmethod
    def resolve(self, shapes: Mapping[str, Any], constants: Mapping[str, Any]) -> Any:
        """Return the value for a problem with these shapes and constants."""


@dataclass(frozen=True)
class Constant(Pending):
    """A constant of the problem, by name; times a number it is multiplied, ``reward_range`` about its middle."""

    name: str
    factor: float = 1.0

    def __repr__(self) -> str:
        return f"given.{self.name}" + (f" * {self.factor:g}" if self.factor != 1.0 else "")

    def __mul__(self, factor: float) -> "Constant":
        """Return the constant times a number."""
        Number().check(f"{self!r} * factor", factor, None)
        return Constant(self.name, self.factor * float(factor))

    __rmul__ = __mul__

    def resolve(self, shapes: Mapping[str, Any], constants: Mapping[str, Any]) -> Any:
        """Return the constant."""
        if self.name not in constants:
            raise refuse(repr(self), self.name, "a constant of the problem: " + ", ".join(sorted(constants)))
        value = constants[self.name]
        if self.factor == 1.0:
            return value
        if self.name == "reward_range":
            middle, half = (value[0] + value[1]) / 2.0, self.factor * (value[1] - value[0]) / 2.0
            return middle - half, middle + half
        return (self.factor * as_floats(f"given.{self.name}", value, "numbers, since they are to be multiplied"))[()]


class _Given:
    """``given.noise`` is the problem's constant ``noise``, resolved when the policy meets the problem."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return Constant(name)


given = _Given()


class Binding(Pending, Generic[T]):
    """A policy class with some of its arguments; calling it with the others builds the policy."""

    def __init__(self, cls: type[T], arguments: Mapping[str, Any]) -> None:
        self.cls = cls
        self.arguments = dict(arguments)
        for name in arguments:
            if name not in self.parameters:
                raise refuse(f"{cls.__name__}.bind", name, "one of " + ", ".join(self.parameters))

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The arguments that the policy has."""
        return inspect.signature(self.cls).parameters

    def inside(self, shapes: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the shapes that policies inside this one see."""
        narrow = getattr(self.cls, "_shapes_inside", None)
        return shapes if narrow is None else narrow(shapes, self.arguments)

    def __call__(self, **arguments: Any) -> T:
        """Build the policy; arguments given here come on top of those bound."""
        return self.cls(**(self.arguments | arguments))

    def __repr__(self) -> str:
        return f"{self.cls.__name__}.bind({', '.join(f'{k}={v!r}' for k, v in self.arguments.items())})"

    def resolve(self, shapes: Mapping[str, Any], constants: Mapping[str, Any]) -> "Binding[T]":
        """Return a binding with the shapes it lacks and with every ``given`` replaced by the problem's constant.

        ``blocks``, of which ``dim`` is the width of all together, are for policies that know them, and for no other
        inside one that does not, except on one map.
        """
        inside = self.inside(shapes) if hasattr(self.cls, "_shapes_inside") else None
        if "blocks" in shapes:
            several, shapes = shapes["blocks"], {name: value for name, value in shapes.items() if name != "blocks"}
            if "blocks" in self.parameters and not {"dim", "blocks"} & set(self.arguments):
                shapes |= {"dim": _parted(shapes["dim"], several), "blocks": several}
        arguments = {name: value for name, value in shapes.items() if name in self.parameters}
        for name, value in self.arguments.items():
            arguments[name] = resolved(value, shapes if inside is None else inside, constants)
        return Binding(self.cls, arguments)


def _parted(widths: Any, blocks: Any) -> Any:
    """Return how wide the blocks of maps are: a number of all maps, or a list, as widths and blocks are."""
    parts = np.asarray(widths) // np.asarray(blocks)
    return int(parts.flat[0]) if (parts == parts.flat[0]).all() else parts.tolist()


class Several(Pending):
    """As many policies as the problem has models; among the ``bases`` of a meta-policy they stand side by side.

    A frozen dataclass whose ``policy`` is what ``bind`` returned, and whose ``resolve`` returns a list.

    Attributes
    ----------
    filled: the arguments of ``policy`` that follow from the model.
    """

    policy: Binding[Any]
    filled: ClassVar[tuple[str, ...]] = ()


def resolved(value: Any, shapes: Mapping[str, Any], constants: Mapping[str, Any]) -> Any:
    """Return a value in which everything that was pending is resolved."""
    if isinstance(value, Pending):
        return value.resolve(shapes, constants)
    if isinstance(value, list | tuple):
        parts: list[Any] = []
        for part in value:
            known = resolved(part, shapes, constants)
            parts += known if isinstance(part, Several) else [known]
        return type(value)(parts)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):  # a schedule
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        known = {n: part.resolve(shapes, constants) for n, part in fields.items() if isinstance(part, Pending)}
        return dataclasses.replace(value, **known) if known else value
    return value
