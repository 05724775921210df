"""Catalogues: the features of all items, given once; a policy then acts on the numbers of the items offered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels.features import LIMIT, Lookup, Offer
from ..runtime.errors import refuse
from ..runtime.inputs import as_floats
from ..runtime.shapes import values_of
from ..types import Blocked, Index


class Catalogue:
    """The features of all items, for policies that act on some of them at a time: nothing is copied per decision.

    Parameters
    ----------
    features: ``(items, d)`` for policies with one map; ``(M, items, d)``, or a list of M arrays ``(items, d_i)``, for
        policies with several. Copied and checked once; single precision is kept. A map with several blocks of
        parameters is a ``Blocked(values, block)``, ``(items, d)`` and ``(items,)``.

    Attributes
    ----------
    n_items: how many items there are.

    Examples
    --------
    >>> import numpy as np
    >>> from banditselect import FSSquareCB
    >>> catalogue = Catalogue(np.random.default_rng(0).normal(size=(3, 1000, 4)))
    >>> policy = FSSquareCB(n_models=3, dim=4)
    >>> decision = policy.act(catalogue.offer([17, 4, 711]))
    >>> decision.features.shape
    (3, 4)
    >>> policy.update(decision, 1.0)
    """

    def __init__(self, features: ArrayLike | Sequence[ArrayLike]) -> None:
        expected = "finite numbers of shape (items, d) or (M, items, d), or a list of M arrays of shape (items, d_i)"
        parts = [features] if isinstance(features, Blocked) else features
        if isinstance(parts, list | tuple) and all(isinstance(part, Blocked) or np.ndim(part) == 2 for part in parts):
            maps, many = [_map(values_of(part), expected) for part in parts], not isinstance(features, Blocked)
        else:
            whole = _map(features, expected)
            many = whole.ndim == 3
            maps = parts = list(whole) if many else [whole]
        shapes = {part.shape[0] for part in maps}
        if not maps or any(part.ndim != 2 for part in maps) or len(shapes) != 1 or 0 in shapes:
            raise refuse("Catalogue: features", features, expected)
        widths, n = tuple(part.shape[1] for part in maps), maps[0].shape[0]
        blocks = tuple(_count(part.block, n) if isinstance(part, Blocked) else 0 for part in parts)
        divided = any(blocks)
        table = np.zeros((1, n, len(maps), max(widths) + divided), dtype=float if divided else np.result_type(*maps))
        for i, part in enumerate(maps):
            table[0, :, i, : widths[i]] = part
            if blocks[i]:
                table[0, :, i, -1] = parts[i].block  # type: ignore[union-attr]
        self._table, self._widths, self._many, self._blocks = table, widths, many, blocks if divided else ()

    @classmethod
    def _of(cls, table: NDArray[Any], widths: tuple[int, ...], many: bool) -> Self:
        """Return the catalogue on a table ``(lanes or 1, items, M, d)`` that has been checked, without a copy."""
        made = cls.__new__(cls)
        made._table, made._widths, made._many, made._blocks = table, widths, many, ()
        return made

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self._table.shape[1]

    def __repr__(self) -> str:
        return f"<Catalogue: {self.n_items} items, maps of widths {self._widths}>"

    def offer(self, items: ArrayLike) -> Offer:
        """Return some items in the place of features.

        Parameters
        ----------
        items: numbers of the items, ``(K,)``; for a policy with lanes ``(n, K)``, one row for every lane served, or
            ``(K,)`` for all of them.
        """
        chosen = np.asarray(items)
        if (
            chosen.dtype.kind not in "iu"
            or chosen.ndim not in (1, 2)
            or chosen.size == 0
            or chosen.min() < 0
            or chosen.max() >= self.n_items
        ):
            expected = f"whole numbers between 0 and {self.n_items - 1} of shape (K,), or (n, K) with lanes"
            raise refuse("items", items, expected)
        rows = np.array(chosen if chosen.ndim == 2 else chosen[None], dtype=np.int64, order="C")
        return self._offer(np.zeros(rows.shape[0], dtype=np.int64), rows)._replace(shared=chosen.ndim == 1)

    def _offer(self, where: Index, items: Index) -> Offer:
        """Return items ``(n, K)`` of the tables ``where (n,)``, both checked, without a copy."""
        maps, width = self._table.shape[2:]
        lookup = Lookup(self._table, where, items, 0, (where.size, maps, items.shape[1], width))
        return Offer(lookup, self._widths, self._many, blocks=self._blocks)


def _count(block: Any, n: int) -> int:
    """Return how many blocks n items have, the largest number and one more."""
    found = np.asarray(block)
    if found.dtype.kind not in "iu" or found.shape != (n,) or found.min() < 0:
        raise refuse("Catalogue: block", block, f"whole numbers >= 0 of shape ({n},)")
    return int(found.max()) + 1


def _map(value: Any, expected: str) -> NDArray[Any]:
    """Return features as numbers that can be used, single precision as it is."""
    single = getattr(value, "dtype", None) == np.float32
    array = np.asarray(value) if single else as_floats("Catalogue: features", value, expected)
    if array.ndim not in (2, 3) or array.size == 0 or not (np.abs(array) <= LIMIT).all():
        raise refuse("Catalogue: features", value, f"{expected}, every entry finite and at most {LIMIT:g}")
    return array
