"""Types of the arrays that all packages pass to each other."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Blocked(NamedTuple):
    """Features of K actions for a map with several blocks of parameters: the block of an action meets its features.

    Attributes
    ----------
    values: the features, ``(K, d)``.
    block: the block of every action, ``(K,)``, whole numbers from 0.
    """

    values: Array
    block: Index
