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
    kind: keyword-only, or one that may be given by position, or all that are given by position, as a tuple.
    """

    constraint: Constraint
    default: Any
    unit: str | None
    kind: Any


def argument(
    constraint: Constraint | None = None,
    *,
    default: Any = inspect.Parameter.empty,
    unit: str | None = None,
    kw_only: bool = True,
    several: bool = False,
) -> Any:
    """Declare an argument of a :class:`Configured` class; see :class:`Argument`.

    ``several`` collects what is given by position, which no type checker derives: it needs an ``__init__`` written out
    under ``TYPE_CHECKING``.
    """
    kind = inspect.Parameter.KEYWORD_ONLY if kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
    return Argument(constraint or Constraint(), default, unit, inspect.Parameter.VAR_POSITIONAL if several else kind)


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
        all_of_them = own | {name: a for name, a in cls.arguments.items() if name not in own}
        cls.arguments = dict(sorted(all_of_them.items(), key=lambda pair: pair[1].kind))
        annotations = {
            name: _Written(kind) if isinstance(kind, str) else kind
            for c in reversed(cls.__mro__)
            for name, kind in inspect.get_annotations(c).items()
        }
        cls.__signature__ = inspect.Signature(
            [
                inspect.Parameter(name, a.kind, default=a.default, annotation=annotations.get(name, Any))
                for name, a in cls.arguments.items()
            ]
        )

    def __init__(self, *several: Any, **given: Any) -> None:
        owner = type(self).__name__
        together = inspect.Parameter.VAR_POSITIONAL
        named = [name for name, a in self.arguments.items() if a.kind is together and name in given and not several]
        collected = {name: given.pop(name) for name in named}
        try:
            bound = self.__signature__.bind(*several, **given)
        except TypeError as error:
            raise TypeError(f"{owner}: {error}; the arguments are {', '.join(self.arguments)}") from None
        bound.apply_defaults()
        values = bound.arguments | collected  # as a file has them: by name
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
        return {name: vars(self)[name] for name in self.arguments}

    def __repr__(self) -> str:
        shown = []
        for name, value in self.settings.items():
            kind, default = self.arguments[name].kind, self.arguments[name].default
            if kind is inspect.Parameter.VAR_POSITIONAL:
                shown += [literal(part) for part in value]
            elif not same(value, default):
                shown.append(f"{name}={literal(value)}" if kind is inspect.Parameter.KEYWORD_ONLY else literal(value))
        return f"{type(self).__name__}({', '.join(shown)})"

    @classmethod
    def bind(cls, **arguments: Any) -> Binding[Self]:
        """Return a factory with these arguments; ``given.<name>`` is a constant of the problem that it will meet."""
        return Binding(cls, arguments)
