"""The arrays that every room speaks of."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Blocked(NamedTuple):
    """Features of a map that has several blocks of parameters, and the block that every action belongs to."""

    values: Array  # (K, d)
    block: Index  # (K,)
