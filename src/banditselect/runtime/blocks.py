"""Features of maps with several blocks of parameters: their shape, checked and brought into one form.

Inside they are arrays ``(n, P, K, d + 1)`` whose last column is the block that an action belongs to, 0 for a map that
has one block; so are the features that a decision carries. See ``kernels.features.InBlocks``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from ..kernels.features import Offer
from ..types import Array, Blocked
from .errors import refuse
from .inputs import as_floats, depth_of
from .shapes import ExactShape


def maps_of(dims: Any, blocks: Any = 1, *, many: bool = False) -> ExactShape:
    """Return the shape of P maps of these widths, a number or one per map, of which some may have several blocks."""
    widths = tuple(int(d) for d in np.atleast_1d(np.asarray(dims)))
    each = tuple(int(b) for b in np.broadcast_to(blocks, len(widths)))
    return ExactShape(widths, many=many) if max(each) == 1 else BlockedShape(widths, many=many, blocks=each)


@dataclass(frozen=True)
class BlockedShape(ExactShape):
    """P maps of widths ``dims``; those with more than one block come as ``Blocked``."""

    blocked: ClassVar[bool] = True
    blocks: tuple[int, ...] = ()

    def words(self, lanes: int | None) -> str:
        """Return the shape in words."""
        return self._words(lanes, self._K)

    def _words(self, lanes: int | None, K: str) -> str:
        front = [*([] if lanes is None else [str(lanes)]), *([K] if K else [])]
        each = []
        for d, B in zip(self.dims, self.blocks, strict=True):
            values, block = f"({', '.join([*front, str(d)])})", f"({', '.join(front)})"
            each.append(f"Blocked(values {values}, block {block} below {B})" if B > 1 else f"an array {values}")
        return f"a list of {len(each)} maps: {', '.join(each)}" if self.many else each[0]

    def by_map(self, cells: Array) -> list[Array]:
        """Return what belongs to all blocks in a row, ``(N, cells, ...)``, by maps: ``(N, B_i, ...)``, or ``(N, ...)``.

        Vectors are cut to the width of the map.
        """
        parts = np.split(cells, np.cumsum(self.blocks)[:-1], axis=1)
        parts = [part[..., :d] if part.ndim == 3 else part for part, d in zip(parts, self.dims, strict=True)]
        return [part if B > 1 else part[:, 0] for part, B in zip(parts, self.blocks, strict=True)]

    def _expected(self, lanes: int | None, inner: int) -> str:
        return self._words(lanes, self._K if inner else "")

    def shaped_actions(self, value: Any, lanes: int | None) -> Array:
        """Return the features of all actions as ``(n, P, K, d + 1)``, zero-padded to the widest map."""
        if type(value) is Offer:
            return cast(Any, self._looked_up(value, lanes)).array()
        return self._joined(value, lanes, 1)

    def _divides(self, blocks: tuple[int, ...]) -> bool:
        return bool(blocks) and all(0 < b <= B if B > 1 else b == 0 for b, B in zip(blocks, self.blocks, strict=True))

    def shaped_one(self, value: Any, lanes: int | None) -> Array:
        """Return the features of one action per lane as ``(n, P, d + 1)``."""
        front = () if lanes is None else (lanes,)
        maps = (len(self.dims),) if self.many else ()
        if type(value) is np.ndarray and value.shape == (*front, *maps, max(self.dims) + 1):
            x = np.array(value, dtype=float).reshape(lanes or 1, len(self.dims), -1)
            block = x[..., -1]
            if not ((block >= 0) & (block < self.blocks) & (block == np.floor(block))).all():
                raise refuse("features", value, self._expected(lanes, 0))
        else:
            x = self._joined(value, lanes, 0)
        return x

    def _joined(self, value: Any, lanes: int | None, inner: int) -> Array:
        """Return maps with ``inner`` axes of actions side by side, the block of each behind them."""
        expected = self._expected(lanes, inner)
        maps = value if self.many else [value]
        if not isinstance(maps, Sequence) or isinstance(maps, Blocked) or len(maps) != len(self.dims):
            raise refuse("features", value, expected)
        values = [
            as_floats("features", given.values if B > 1 else given, expected)
            for given, B in zip(maps, self.blocks, strict=True)
            if isinstance(given, Blocked) == (B > 1)
        ]
        front = values[0].shape[:-1] if len(values) == len(maps) else ()
        right = len(front) == inner + (lanes is not None) and (lanes is None or front[0] == lanes)
        if not right or [v.shape for v in values] != [(*front, d) for d in self.dims] or 0 in front:
            raise refuse("features", value, expected)
        x = np.zeros((lanes or 1, len(maps), front[-1] if inner else 1, max(self.dims) + 1))
        for i, (given, B) in enumerate(zip(maps, self.blocks, strict=True)):
            x[:, i, :, : self.dims[i]] = values[i].reshape(len(x), -1, self.dims[i])
            if B > 1:
                block = np.asarray(given.block) if depth_of(given.block) == len(front) else np.empty(0)
                if block.dtype.kind not in "iu" or block.shape != front:
                    raise refuse("features", value, expected)
                if block.min() < 0 or block.max() >= B:
                    raise refuse("features: block", given.block, f"whole numbers from 0 to {B - 1}")
                x[:, i, :, -1] = block.reshape(len(x), -1)
        return x if inner else x[:, :, 0].copy()
