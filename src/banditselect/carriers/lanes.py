"""State as named arrays with one row per lane, so that lanes can be added, saved and restored by name alone."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray


class LaneArrays:
    """A part of a policy: ``state`` names the arrays it learns, ``fixed`` those that its settings determine.

    Every array named has a leading axis of lanes. ``fixed`` arrays are rebuilt from the settings when a policy is
    loaded, ``state`` arrays are stored.
    """

    state: ClassVar[tuple[str, ...]] = ()
    elastic: ClassVar[tuple[str, ...]] = ()  # of these, the length of the second axis is part of what is learned
    fixed: ClassVar[tuple[str, ...]] = ()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the learned arrays by name (the arrays themselves, not copies)."""
        return {name: getattr(self, name) for name in self.state}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the learned arrays of an equal part."""
        for name, mine in self.arrays().items():
            theirs = arrays[name]
            shapes = [list(a.shape) for a in (mine, theirs)]
            if name in self.elastic and theirs.ndim == mine.ndim:
                shapes = [shape[:1] + shape[2:] for shape in shapes]
            if theirs.dtype != mine.dtype or shapes[0] != shapes[1]:
                raise ValueError(
                    f"array {name!r}: found {theirs.dtype} {theirs.shape}, expected {mine.dtype} {mine.shape}"
                )
            setattr(self, name, np.array(theirs, order="C"))

    def extend(self, other: Self) -> None:
        """Append the lanes of an equal part."""
        for name in self.state + self.fixed:
            setattr(self, name, np.concatenate([getattr(self, name), getattr(other, name)]))
