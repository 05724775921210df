"""Maps with several blocks of parameters, and the wide parameter in their place."""

import numpy as np
import pytest

from banditselect import Blocked

EXACT = {"rtol": 1e-9, "atol": 1e-9}


def wide(values, block, blocks, constant=False):
    """``e_block (x) (1, x)``, or without the constant: the one wide parameter that the blocks are cut from."""
    z = np.concatenate([np.ones((*values.shape[:-1], 1)), values], axis=-1) if constant else values
    out = np.zeros((*z.shape[:-1], blocks, z.shape[-1]))
    np.put_along_axis(out, np.expand_dims(block, (-1, -2)), z[..., None, :], axis=-2)
    return out.reshape(*z.shape[:-1], -1)


def with_level(values, block, blocks):
    """``(1, e_block, e_block (x) x)``: the columns of a map with blocks and a constant term."""
    z = wide(values, block, blocks, constant=True)
    return np.concatenate([np.ones((*z.shape[:-1], 1)), z], axis=-1)


class Traffic:
    """Random features of the maps, ``(n, K, d)`` each, and their blocks; rewards that the first map explains."""

    def __init__(self, dims, blocks, lanes, seed=0):
        self.dims, self.blocks, self.lanes = dims, blocks, lanes
        self.rng = np.random.default_rng(seed)
        self.theta = self.rng.normal(size=(blocks[0], dims[0]))
        self.scale = 1.0

    def draw(self):
        n, K = self.lanes or 1, int(self.rng.integers(1, 8))
        values = [self.scale * self.rng.normal(size=(n, K, d)) for d in self.dims]
        return values, [self.rng.integers(0, B, (n, K)) for B in self.blocks]

    def shown(self, values, blocks):
        """As policies take them."""
        if self.lanes is None:
            values, blocks = [v[0] for v in values], [b[0] for b in blocks]
        maps = [Blocked(v, b) if B > 1 else v for v, b, B in zip(values, blocks, self.blocks, strict=True)]
        return maps if len(maps) > 1 else maps[0]

    def wide(self, values, blocks, constant):
        maps = [wide(v, b, B, constant) for v, b, B in zip(values, blocks, self.blocks, strict=True)]
        maps = [m[0] for m in maps] if self.lanes is None else maps
        return maps if len(maps) > 1 else maps[0]

    def reward(self, values, blocks, action):
        row = np.arange(self.lanes or 1), np.atleast_1d(action)
        y = (values[0][row] * self.theta[blocks[0][row]]).sum(axis=1) / self.scale
        return y + 0.3 * self.rng.normal(size=y.size)


QUICK = ("SquareCB", "FSSquareCB", "OFUL", "LinTS", "FSIDS", "FSSquareCB, noise", "FSSquareCB, share")


def marked(name, *more):
    """Return a case for a test; it is slow where kernels have to be compiled that few tests need."""
    return pytest.param(name, *more, marks=() if name in QUICK and not any(more) else pytest.mark.slow)
