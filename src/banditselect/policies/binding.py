"""Policies described before they are built: ``Policy.bind`` and ``given``.

A binding names a policy class and some of its arguments. Whoever builds it adds what is missing: lanes, seed, the
shapes of the problem - and the constants of the problem that were asked for with ``given``, nothing else.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..validation import refuse

T = TypeVar("T", covariant=True)


@dataclass(frozen=True)
class Constant:
    """A constant of the problem, by name."""

    name: str

    def __repr__(self) -> str:
        return f"given.{self.name}"


class _Given:
    """``given.noise`` stands for the problem's constant ``noise``, resolved when the policy meets the problem."""

    def __getattr__(self, name: str) -> Constant:
        if name.startswith("_"):
            raise AttributeError(name)
        return Constant(name)


given = _Given()


class Binding(Generic[T]):
    """A policy class with some of its arguments; calling it with the others builds the policy."""

    def __init__(self, cls: type[T], arguments: Mapping[str, Any]) -> None:
        known = inspect.signature(cls).parameters
        for name in arguments:
            if name not in known:
                raise refuse(f"{cls.__name__}.bind", name, "one of " + ", ".join(known))
        self.cls = cls
        self.arguments = dict(arguments)

    def __call__(self, **arguments: Any) -> T:
        """Build the policy; arguments given here come on top of those bound."""
        return self.cls(**(self.arguments | arguments))

    def __repr__(self) -> str:
        return f"{self.cls.__name__}.bind({', '.join(f'{k}={v!r}' for k, v in self.arguments.items())})"

    def resolve(self, shapes: Mapping[str, Any], constants: Mapping[str, Any]) -> "Binding[T]":
        """Return a binding with the shapes it lacks and with every ``given`` replaced by the problem's constant."""
        known = inspect.signature(self.cls).parameters
        arguments = {name: value for name, value in shapes.items() if name in known}
        for name, value in self.arguments.items():
            arguments[name] = _resolved(value, shapes, constants)
        return Binding(self.cls, arguments)


def _resolved(value: Any, shapes: Mapping[str, Any], constants: Mapping[str, Any]) -> Any:
    if isinstance(value, Constant):
        if value.name not in constants:
            raise refuse(repr(value), value.name, "a constant of the problem: " + ", ".join(sorted(constants)))
        return constants[value.name]
    if isinstance(value, Binding):
        return value.resolve(shapes, constants)
    if isinstance(value, list | tuple):
        return type(value)(_resolved(part, shapes, constants) for part in value)
    return value
