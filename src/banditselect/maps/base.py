"""Encoders turn records into numbers; feature maps bring a context and its items together, one call for all items."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..runtime import files
from ..runtime.arguments import Configured, argument
from ..runtime.constraints import Constraint
from ..runtime.errors import refuse
from ..runtime.settings import is_foreign
from ..runtime.shapes import values_of
from ..types import Array, Blocked
from .hashing import hashes_of
from .records import Records

Tokens = tuple[NDArray[np.uint64], Array]


class Part(Configured, ABC):
    """The common base of encoders and maps: arguments, and attributes that a fit or observations fill.

    A subclass declares its arguments in its body; work that has to be done once they are stored goes into ``_set_up``.
    It is registered under its name when it is defined, so that it can be loaded from a file.

    Attributes
    ----------
    state: the names of these attributes: plain values, lists of them, or arrays. None before a fit.
    """

    state: ClassVar[tuple[str, ...]] = ()
    _changes = 0  #: how often an observation has changed what is not inside one of its parts

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        files.register(cls)

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """A name of every feature."""

    @property
    def width(self) -> int:
        """The number of features; where something has to be fitted, only after the fit."""
        given = vars(self).get("width")  # an argument of this name
        return len(self.names) if given is None else int(given)

    @property
    def fitted(self) -> bool:
        """True if it can be used: nothing in it has to be fitted, or it has been."""
        filled = all(getattr(self, name) is not None for name in self.state)
        return filled and all(part.fitted for _, part in self._parts)

    @property
    def changes(self) -> int:
        """The number of times that an observation has changed it."""
        changes = self._changes
        for _, part in self._parts:
            changes += part.changes
        return changes

    @cached_property
    def _parts(self) -> "list[tuple[str, Encoder]]":
        """The encoders inside this one, each with the argument that it was given as."""
        pairs = [(name, part) for name, v in self.settings.items() for part in (v if isinstance(v, tuple) else (v,))]
        return [(name, part) for name, part in pairs if isinstance(part, Encoder)]

    def columns_read(self, of: str = "") -> frozenset[str] | None:
        """Return the columns that it reads, of a map those of the ``"context"`` or the ``"items"``; None: any."""
        columns = [self.settings[name] for name, a in self.arguments.items() if isinstance(a.constraint, ColumnNames)]
        if is_foreign(type(self)) or not (columns or self._parts):
            return None
        found = {name for c in columns if of != "context" for name in (c if isinstance(c, tuple) else (c,))}
        for name, part in self._parts:
            if not of or (name == "context") == (of == "context"):
                inside = part.columns_read()
                if inside is None:
                    return None
                found |= inside
        return frozenset(found)

    def __copy__(self) -> Self:
        """Return a copy that can be fitted: no part is shared, arrays are (none is ever changed in place)."""
        made = object.__new__(type(self))
        vars(made).update((name, value) for name, value in vars(self).items() if name != "_parts")
        for name in {name for name, _ in self._parts}:
            value = getattr(self, name)
            vars(made)[name] = tuple(map(copy, value)) if isinstance(value, tuple) else copy(value)
        return made

    def learned(self) -> dict[str, Any]:
        """Return the state by name, as files have it."""
        return {name: getattr(self, name) for name in self.state}

    @classmethod
    def restored(cls, settings: Mapping[str, Any], learned: Mapping[str, Any]) -> Self:
        """Return an object of these settings and this state, of which arrays have the shape of those before a fit."""
        made = cls(**settings)
        for name in cls.state:
            mine, theirs = getattr(made, name), learned[name]
            array = np.asarray(theirs) if isinstance(mine, np.ndarray) else None
            if array is not None and (array.shape, array.dtype) != (mine.shape, mine.dtype):
                raise refuse(f"{cls.__name__}: {name}", theirs, f"{mine.dtype} numbers of shape {mine.shape}")
            setattr(made, name, theirs)
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to one file, with the state of its fit; ``banditselect.load`` reads it."""
        files.save(self, path)

    def _unfitted(self) -> RuntimeError:
        """Return the error of a call before the fit."""
        advice = "call fit(contexts, items) of its map, which returns a fitted copy"
        return RuntimeError(f"{self!r} is not fitted: {advice}")


class Encoder(Part):
    """Turns n records into ``(n, width)``; for any records, the numbers are finite and at most 1e15 in magnitude.

    A subclass declares its arguments, names its features (``names``) and writes ``_encode``; if something has to be
    fitted, ``_fit`` as well, and ``state`` says which attributes that fills.
    """

    def fit(self, records: Any) -> Self:
        """Return a fitted copy; ``records`` are dicts or a DataFrame.

        A column in which none of them has a value that the encoder can use is refused by name.
        """
        made = copy(self)
        made._fit(Records.of(records))
        return made

    def encode(self, records: Any) -> Array:
        """Return the features of records, dicts or a DataFrame, ``(n, width)``; there is a number for any value."""
        return np.array(Records.of(records).encoded(self))

    def observe(self, records: Records) -> None:
        """Update what is learned online with records that are about to be encoded."""
        for _, part in self._parts:
            part.observe(records)

    def _fit(self, records: Records) -> None:
        """Fill the state."""
        for _, part in self._parts:
            part._fit(records)

    @abstractmethod
    def _encode(self, records: Records) -> Array:
        """Return the features of records; nothing is changed."""

    def _tokens(self, records: Records) -> Tokens:
        """Return hashes of the features that may not be 0, and their values, for hashed interactions."""
        values = records.encoded(self)
        return np.ascontiguousarray(np.broadcast_to(hashes_of(*self.names), values.shape)), values

    def _check_examples(self, records: Records, column: str, usable: Iterable[Any], expected: str) -> None:
        """Refuse examples of which none has a usable value in a column: its name or type is likely wrong."""
        if len(records) and not any(usable):
            name = f"{type(self).__name__}.fit: {column}"
            raise refuse(name, records.column(column)[0], f"{expected} in at least one example")

    def __add__(self, other: "Encoder") -> "Concat":
        return Concat(self, other) if isinstance(other, Encoder) else NotImplemented


class AnEncoder(Constraint):
    """An encoder, or several in a tuple. They are copied: of two maps with the same one, each observes for itself."""

    def __init__(self, optional: bool = False) -> None:
        self.optional = optional

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it."""
        for one in (value or (None,)) if isinstance(value, tuple) else (value,):
            if not (isinstance(one, Encoder) or (one is None and self.optional)):
                raise refuse(name, one, 'an encoder of records, such as maps.Numbers("age")')

    def stored(self, name: str, value: Any, lanes: int | None, seed: Any) -> Any:
        """Return copies; of encoders that are combined already, their parts."""
        if isinstance(value, tuple):
            parts = ((encoder.encoders if type(encoder) is Concat else (encoder,)) for encoder in value)
            return tuple(copy(part) for several in parts for part in several)
        return copy(value)


class ColumnNames(Constraint):
    """The name of a column, or different names of several in a tuple."""

    def check(self, name: str, value: Any, lanes: int | None) -> None:
        """Raise ValueError if ``value`` does not satisfy it."""
        columns = value if isinstance(value, tuple) else (value,)
        if not columns or not all(isinstance(one, str) for one in columns) or len(set(columns)) < len(columns):
            raise refuse(name, value, "different names of columns" if columns is value else "the name of a column")


class Concat(Encoder):
    """Several encoders side by side; ``a + b`` is short for it.

    Examples
    --------
    >>> from banditselect import maps
    >>> both = maps.Numbers("age", scale=None) + maps.Categories("country")
    >>> both.fit([{"age": 30, "country": "FR"}]).encode([{"age": 40, "country": "FR"}, {"age": 50}])
    array([[40.,  1.,  0.],
           [50.,  0.,  1.]])
    """

    encoders: tuple[Encoder, ...] = argument(AnEncoder(), several=True)

    if TYPE_CHECKING:

        def __init__(self, *encoders: Encoder) -> None: ...

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return [name for encoder in self.encoders for name in encoder.names]

    def _encode(self, records: Records) -> Array:
        return np.concatenate([records.encoded(encoder) for encoder in self.encoders], axis=1)

    def _tokens(self, records: Records) -> Tokens:
        hashes, values = zip(*(records.encoded(encoder, "_tokens") for encoder in self.encoders), strict=True)
        return np.concatenate(hashes, axis=1), np.concatenate(values, axis=1)


class FeatureMap(Part):
    """Turns a context record and K item records into features ``(K, width)`` that a policy can use.

    For any records - unknown columns and categories, missing values, words instead of numbers - the features are finite
    and of the right shape. Records are dicts, rows of a DataFrame or named tuples; a word or a number in the place of
    one is an id, ``{"id": value}``.

    A subclass declares its arguments, names its features (``names``) and writes ``_features``; encoders among its
    arguments that are called ``context`` or ``items`` are fitted and observed automatically.
    """

    takes_pairs: ClassVar[bool] = False  #: whether ``_features`` also takes a context for every item

    @property
    def blocks(self) -> int:
        """The number of blocks of parameters; with more than one, ``features`` returns a ``Blocked``."""
        return 1

    def fit(self, contexts: Any, items: Any) -> Self:
        """Return a fitted copy.

        A column in which no example has a value that its encoder can use is refused by name.

        Parameters
        ----------
        contexts, items: examples, dicts or a DataFrame each, or None. They need not belong together.
        """
        made = copy(self)
        made._fit(Records.of(contexts, "contexts"), Records.of(items, "items"))
        return made

    def features(self, context: Any, items: Any) -> Array | Blocked:
        """Return the features of K items in a context, ``(K, width)``; nothing is changed.

        Parameters
        ----------
        context: a record; None for one without columns.
        items: K records, or a :class:`Records`, which caches their encodings.
        """
        rows = Records.of(items, "items")
        found = self._features(Records.one(context), rows)
        if is_foreign(type(self)):
            values, shape = values_of(found), (len(rows), self.width)
            if np.shape(values) != shape or not np.isfinite(values).all():
                expected = f"finite numbers of shape {shape}: a row for every item, a column for every name"
                raise refuse(f"{type(self).__name__}: features", values, expected)
        return found

    def features_many(self, contexts: Records, items: Records) -> Array | Blocked:
        """Return the features of n K items, the K in one of n contexts after those in another, ``(n K, width)``."""
        n, K = len(contexts), len(items) // len(contexts)
        if self.takes_pairs and not is_foreign(type(self)):
            return self._features(contexts.take(np.repeat(np.arange(n), K)), items)
        parts = [self.features(contexts.take([t]), items.take(range(t * K, t * K + K))) for t in range(n)]
        if isinstance(parts[0], Blocked):
            return Blocked(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        return np.concatenate(parts)

    def observe(self, context: Any, items: Any) -> None:
        """Update what is learned online: scales, and blocks of new items. Called once per decision, first."""
        self._observe(Records.one(context), Records.of(items, "items"))

    @classmethod
    def restored(cls, settings: Mapping[str, Any], learned: Mapping[str, Any]) -> Self:
        """Return a map of these settings and this state, with which features can be made."""
        made = super().restored(settings, learned)
        if made.fitted:
            features = values_of(made._features(Records.one(None), Records.of([None])))
            if features.shape != (1, made.width) or not np.isfinite(features).all():
                raise refuse(f"{cls.__name__}: features", features, f"{made.width} finite ones for a record")
        return made

    def _fit(self, contexts: Records, items: Records) -> None:
        """Fit the encoders."""
        for name, part in self._parts:
            part._fit(contexts if name == "context" else items)

    def _observe(self, context: Records, items: Records) -> None:
        """Pass the records on to the encoders."""
        for name, part in self._parts:
            part.observe(context if name == "context" else items)

    @abstractmethod
    def _features(self, context: Records, items: Records) -> Array | Blocked:
        """Return the features of the items in a context of one record; nothing is changed."""
