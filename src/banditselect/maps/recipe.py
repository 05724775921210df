"""What encoders and maps have in common: settings, fitted state, parts inside them, and a dict that stores them."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..runtime.errors import refuse
from ..runtime.settings import literal, same

FORMAT = 1  #: of what ``to_dict`` returns
_known: dict[str, "type[Recipe]"] = {}


class Recipe(ABC):
    """Settings stored under the names of the constructor's arguments, and state that a fit or use fills.

    Where an argument has the name of a property (``width``), it is stored as ``_width``. A subclass is known by its
    name from the moment that it is written, so that it can be restored. A class of the same name in the same module
    takes the place of the one before: the cell of a notebook was run again.

    Attributes
    ----------
    state: the names of the attributes that are filled: plain values, lists of them, or arrays. None before a fit.
    """

    state: ClassVar[tuple[str, ...]] = ()
    _inside: list[tuple[str, "Recipe"]] | None = None
    _arguments: ClassVar[Mapping[str, inspect.Parameter]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._arguments = inspect.signature(cls).parameters
        known = _known.get(cls.__name__, cls)
        if known.__module__ != cls.__module__:
            raise refuse("class", cls.__name__, f"another name: {known.__module__} has a map or encoder of this name")
        _known[cls.__name__] = cls

    @property
    def settings(self) -> dict[str, Any]:
        """The constructor's arguments as given."""
        own = vars(self)
        return {name: own[name] if name in own else own[f"_{name}"] for name in self._arguments}

    def __repr__(self) -> str:
        shown, settings = [], self.settings
        for name, parameter in self._arguments.items():
            value = settings[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                shown += [literal(part) for part in value]
            elif parameter.kind is not parameter.KEYWORD_ONLY:
                shown.append(literal(value, largest=8))
            elif not same(value, parameter.default):
                shown.append(f"{name}={literal(value, largest=8)}")
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """A name of every feature."""

    @property
    def width(self) -> int:
        """The number of features."""
        return len(self.names)

    @property
    def fitted(self) -> bool:
        """Whether it can be used: nothing in it has to be fitted, or it has been."""
        filled = all(getattr(self, name) is not None for name in self.state)
        return filled and all(part.fitted for _, part in self._parts())

    @property
    def unsaved(self) -> str | None:
        """What of it cannot be saved, by name; None if all of it can."""
        return next((part.unsaved for _, part in self._parts() if part.unsaved is not None), None)

    @property
    def changes(self) -> int:
        """How often what it has observed has changed it."""
        return sum(part.changes for _, part in self._parts())

    def _parts(self) -> list[tuple[str, "Recipe"]]:
        """Return the recipes inside this one, each with the argument that it was given as."""
        if self._inside is None:
            pairs = [(n, p) for n, v in self.settings.items() for p in (v if isinstance(v, tuple) else (v,))]
            self._inside = [(name, part) for name, part in pairs if isinstance(part, Recipe)]
        return self._inside

    def __copy__(self) -> Self:
        return self._copy()

    def _copy(self) -> Self:
        """Return a copy that can be fitted: no part is shared, arrays are (none is ever changed in place)."""
        made = object.__new__(type(self))
        vars(made).update(vars(self), _inside=None)
        for name in {name for name, _ in self._parts()}:
            value = getattr(self, name)
            parts = tuple(part._copy() for part in (value if isinstance(value, tuple) else (value,)))
            setattr(made, name, parts if isinstance(value, tuple) else parts[0])
        return made

    def _check_state(self) -> None:  # noqa: B027 # most have nothing to check
        """Raise ValueError for restored state that would not be noticed in use."""

    @abstractmethod
    def _try(self) -> None:
        """Raise whatever is wrong with it, by using it once; nothing if it is not fitted."""

    def _unfitted(self) -> RuntimeError:
        """Return the error of what is asked before it is fitted."""
        return RuntimeError(f"{self!r} is not fitted: call fit(contexts, items) of its map, and use what that returns")


def to_dict(recipe: Recipe) -> dict[str, Any]:
    """Return a map or an encoder as a dict of plain JSON values and NumPy arrays, fitted state included.

    What cannot be stored, a function or an object of another library, is refused by name.
    """
    if recipe.unsaved is not None:
        raise refuse("to_dict", recipe.unsaved, "a map of parts that can be saved: this is code, give it again instead")
    return {"format": FORMAT, **_described(recipe)}


def from_dict(stored: Mapping[str, Any]) -> Any:
    """Return the map or encoder that ``to_dict`` described.

    Examples
    --------
    >>> from banditselect import maps
    >>> fitted = maps.Items(maps.Numbers("price")).fit([{}], [{"price": 2.0}, {"price": 4.0}])
    >>> maps.from_dict(maps.to_dict(fitted)).features({}, [{"price": 5.0}])
    array([[2.]])
    """
    version = stored.get("format") if isinstance(stored, Mapping) else None
    if version != FORMAT:
        raise refuse("from_dict: format", version, f"{FORMAT}, as to_dict of this library writes")
    try:
        made = _restored(stored)
        made._try()
    except ValueError:
        raise
    except Exception as error:  # what is built of it is the dict's choice, and so is how that fails
        raise ValueError(f"from_dict: not what to_dict returned: {type(error).__name__}: {error}") from error
    return made


def _described(recipe: Recipe) -> dict[str, Any]:
    kind = type(recipe).__name__
    if _known[kind] is not type(recipe):
        raise refuse("to_dict", recipe, f"what is of the class {kind} that was written last: make it anew")
    return {
        "kind": kind,
        "settings": {name: _plain(value) for name, value in recipe.settings.items()},
        "state": {name: _plain(getattr(recipe, name)) for name in recipe.state},
    }


def _restored(stored: Mapping[str, Any]) -> Recipe:
    kind = stored["kind"]
    if kind not in _known:
        raise refuse("from_dict: kind", kind, "a class that is known here: first import the module that defines it")
    cls = _known[kind]
    several: list[Any] = []
    others: dict[str, Any] = {}
    settings = {name: _value(value) for name, value in stored["settings"].items()}
    for name, parameter in cls._arguments.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            others[name] = settings[name]
        else:
            several += settings[name] if parameter.kind is parameter.VAR_POSITIONAL else [settings[name]]
    made = cls(*several, **others)
    for name in cls.state:
        setattr(made, name, _value(stored["state"][name]))
    made._check_state()
    return made


def _plain(value: Any) -> Any:
    """Return a setting or a piece of state as plain values and arrays."""
    if isinstance(value, Recipe):
        return _described(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {"keys": _plain(list(value)), "values": _plain(list(value.values()))}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


def _value(stored: Any) -> Any:
    """Return what ``_plain`` was given, tuples as lists."""
    if isinstance(stored, Mapping):
        if "kind" in stored:
            return _restored(stored)
        return dict(zip(_value(stored["keys"]), _value(stored["values"]), strict=True))
    return [_value(part) for part in stored] if isinstance(stored, list | tuple) else stored


def check_shape(recipe: Recipe, features: NDArray[Any]) -> None:
    """Refuse features of one record that are not those of this recipe."""
    if features.shape != (1, recipe.width) or not np.isfinite(features).all():
        raise refuse("from_dict: state", features, f"what makes {recipe.width} finite features")
