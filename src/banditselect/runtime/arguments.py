"""Arguments declared once: what a constructor takes, checks, stores and shows follows from one line per argument."""

import copy
import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self, dataclass_transform

from .binding import Binding
from .constraints import Constraint
from .settings import literal, same


class Argument(NamedTuple):
    """An argument of a constructor.

    Attributes
    ----------
    constraint: the condition that it must satisfy.
    default: its default; ``inspect.Parameter.empty`` for a required argument.
    unit: ``"reward"`` for an argument measured in rewards, which scales with them; else None.
    """

    constraint: Constraint
    default: Any
    unit: str | None


def argument(
    constraint: Constraint | None = None, *, default: Any = inspect.Parameter.empty, unit: str | None = None
) -> Any:
    """Declare an argument of a :class:`Configured` class; see :class:`Argument`."""
    return Argument(constraint or Constraint(), default, unit)


class _Written(str):
    """An annotation as it is written, which a signature shows without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


@dataclass_transform(kw_only_default=True, field_specifiers=(argument,))
class Configured:
    """An object made from keyword arguments, which it checks, keeps unchanged, and shows in its ``repr``.

    A subclass declares every argument in its body; signature, checks and attributes follow. Work that has to be done
    once the arguments are stored goes into ``_set_up``.

    Examples
    --------
    >>> from banditselect.runtime.constraints import Number
    >>> class Ball(Configured):
    ...     dim: int = argument(Number(low=1, integer=True))
    ...     radius: float = argument(Number(low=0.0), default=1.0)
    >>> Ball(dim=2)
    Ball(dim=2)
    >>> inspect.signature(Ball)
    <Signature (*, dim: int, radius: float = 1.0)>
    >>> Ball(dim=2, radius=-1)
    Traceback (most recent call last):
        ...
    banditselect.runtime.errors.ArgumentError: Ball: radius: got -1, expected a finite number >= 0
    """

    arguments: ClassVar[Mapping[str, Argument]] = {}  #: the arguments by name, inherited ones last
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__init__" in vars(cls):
            remedy = "declare every argument with argument(...) in the class, and do what follows from them in _set_up"
            raise TypeError(f"{cls.__name__} has an __init__ of its own: {remedy}")
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Argument)}
        for name in own:
            delattr(cls, name)
        cls.arguments = own | {name: a for name, a in cls.arguments.items() if name not in own}
        annotations = {
            name: _Written(kind) if isinstance(kind, str) else kind
            for c in reversed(cls.__mro__)
            for name, kind in inspect.get_annotations(c).items()
        }
        cls.__signature__ = inspect.Signature(
            [
                inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=a.default, annotation=annotations.get(name, Any)
                )
                for name, a in cls.arguments.items()
            ]
        )

    def __init__(self, **given: Any) -> None:
        owner = type(self).__name__
        try:
            bound = self.__signature__.bind(**given)
        except TypeError as error:
            raise TypeError(f"{owner}: {error}; the arguments are {', '.join(self.arguments)}") from None
        bound.apply_defaults()
        values = bound.arguments
        for name in sorted(values, key=lambda name: name != "lanes"):
            self.arguments[name].constraint.check(f"{owner}: {name}", values[name], values.get("lanes"))
        for name, value in values.items():
            constraint = self.arguments[name].constraint
            self.__dict__[name] = constraint.stored(
                f"{owner}: {name}", value, values.get("lanes"), values.get("seed", 0)
            )
        self._set_up()

    def _set_up(self) -> None:
        """Build what follows from the arguments."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.arguments:
            raise AttributeError(
                f"{type(self).__name__}: {name} is a setting and cannot be changed; build a new object"
            )
        object.__setattr__(self, name, value)

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # two objects never share state

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments as given."""
        return {name: getattr(self, name) for name in self.arguments}

    def __repr__(self) -> str:
        shown = [
            f"{name}={literal(value)}"
            for name, value in self.settings.items()
            if not same(value, self.arguments[name].default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    @classmethod
    def bind(cls, **arguments: Any) -> Binding[Self]:
        """Return a factory with these arguments; ``given.<name>`` is a constant of the problem that it will meet."""
        return Binding(cls, arguments)
