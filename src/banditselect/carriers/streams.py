"""Random streams: one key per lane, one counter per act."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..kernels import acting
from .lanes import LaneArrays

Seed = int | Sequence[int]
Channel = tuple[int | str, ...]


def seed_path(seed: Seed) -> tuple[int, ...]:
    """Return a seed as a tuple of integers."""
    return (int(seed),) if isinstance(seed, int | np.integer) else tuple(int(part) for part in seed)


def key(path: tuple[int, ...], channel: Channel = ()) -> int:
    """Return the 64-bit key of a seed path, the same on every machine and in every version of NumPy."""
    digest = hashlib.blake2b(repr((path, channel)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


class Streams(LaneArrays):
    """The keys of a policy's lanes.

    Lane ``j`` of a policy with seed ``s`` has the key of the path ``(*s, j)``, which is the key of a policy without
    lanes whose seed is ``(*s, j)``. ``channel`` separates the policies inside a meta-policy.
    """

    fixed = ("keys",)

    def __init__(self, seed: Seed, lanes: range | None, channel: Channel = ()) -> None:
        path = seed_path(seed)
        paths = [path] if lanes is None else [(*path, lane) for lane in lanes]
        self.keys = np.array([key(p, channel) for p in paths], dtype=np.int64)

    def copy_lanes(self, ids: NDArray[np.int64], other: "Streams") -> None:
        """Keep the keys, which belong to whoever draws."""

    def draw(
        self, ids: NDArray[np.int64], numbers: NDArray[np.int64], p: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Draw an action per row of ``p (n, K)``; return the actions and their probabilities."""
        drawn = np.empty(ids.size, dtype=acting.DRAWN)
        acting.draw_actions(ids, self.keys, numbers, p, drawn)
        return drawn["action"], drawn["probability"]

    def normals(self, ids: NDArray[np.int64], numbers: NDArray[np.int64], dim: int) -> NDArray[np.float64]:
        """Return standard normals ``(n, dim)``."""
        out = np.empty((ids.size, dim))
        acting.standard_normals(ids, self.keys, numbers, out)
        return out
