"""Features of items in a context: the products of the visitor's numbers and the item's."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..runtime.errors import refuse
from ..runtime.inputs import as_floats, depth_of
from ..types import Array

_CONTEXT = "numbers of shape (p,), or (n, p) with lanes"
_ITEMS = "numbers of shape (K, d) or (M, K, d), or a list of M arrays of shape (K, d_i)"


def cross_features(context: ArrayLike, items: Any) -> Any:
    r"""Return the features of items in a context: all products of a number of the context and one of the item.

    .. math:: \phi_{j p + i}(a) = z_j(a) \, x_i, \qquad 0 \le j < d, \; 0 \le i < p

    A reward that is linear in them has a parameter for every pair. A 1 in the context keeps the items' own features
    among them. Nothing is held but what is returned.

    Parameters
    ----------
    context: x, ``(p,)``; for a policy with lanes ``(n, p)``, one for every lane served.
    items: z, ``(K, d)``; for M maps ``(M, K, d)``, or a list of M arrays ``(K, d_i)``. All lanes are offered the same.

    Returns
    -------
    ``(K, d p)``, ``(M, K, d p)``, or a list of M arrays ``(K, d_i p)``, as ``act`` takes them; with lanes a leading n.

    Examples
    --------
    >>> import numpy as np
    >>> cross_features([1.0, 7.0], [[2.0, 3.0], [4.0, 5.0]])
    array([[ 2., 14.,  3., 21.],
           [ 4., 28.,  5., 35.]])
    >>> cross_features(np.ones((6, 2)), np.ones((3, 10, 4))).shape  # 6 lanes, 3 maps, 10 items
    (6, 3, 10, 8)
    """
    if isinstance(items, list | tuple) and items and all(depth_of(part) == 2 for part in items):
        shapes = [np.shape(part) for part in items]
        if len({K for K, _ in shapes}) == 1 and len(set(shapes)) > 1:
            return [cross_features(context, part) for part in items]
    x, z = as_floats("cross_features: context", context, _CONTEXT), as_floats("cross_features: items", items, _ITEMS)
    if x.ndim not in (1, 2) or not x.size:
        raise refuse("cross_features: context", context, _CONTEXT)
    if z.ndim not in (2, 3) or not z.size:
        raise refuse("cross_features: items", items, _ITEMS)
    rows = np.atleast_2d(x)
    products = crossed_rows(rows, np.broadcast_to(z, (len(rows), *z.shape)))
    return products if x.ndim == 2 else products[0]


def disjoint_rows(context: NDArray[Any], n_actions: int) -> Array:
    """Return contexts ``(n, p)`` in the block of every one of K arms and zeros elsewhere, ``(n, K, K p)``."""
    n, p = context.shape
    arms = np.arange(n_actions)
    blocks = np.zeros((n, n_actions, n_actions, p))
    blocks[:, arms, arms] = context[:, None]
    return blocks.reshape(n, n_actions, -1)


def crossed_rows(context: NDArray[Any], items: NDArray[Any]) -> Array:
    """Return the products of contexts ``(n, p)`` and features ``(n, ..., d)`` of the same rows, ``(n, ..., d p)``."""
    n, p = context.shape
    products = np.empty((*items.shape, p))
    np.multiply(items[..., None], context.reshape(n, *(1,) * (items.ndim - 1), p), out=products)
    return products.reshape(*items.shape[:-1], items.shape[-1] * p)
