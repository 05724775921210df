"""Balls and ellipsoids of actions: for policies that choose among all points of one."""

import math

import numpy as np
from numpy.typing import ArrayLike

from ..runtime.constraints import whole_number
from ..runtime.errors import refuse
from ..runtime.inputs import SMALLEST, as_floats
from ..types import Array


class Ellipsoid:
    r"""The actions :math:`\{A u : |u| \le 1\}`, in the place of features: ``policy.act(Ellipsoid(A))``.

    Parameters
    ----------
    axes: the matrix A, ``(d, d)``, not singular; its columns are the half axes, if they are orthogonal.

    Notes
    -----
    Predictions :math:`\langle x, \theta \rangle` are largest at :math:`x = A e`, with
    :math:`e = A^\top \theta / |A^\top \theta|`. For :math:`\beta = \alpha |A^\top \theta|` the optimal design of the
    points divided by :math:`\sqrt{d + \beta (1 - \langle e, u \rangle)}` lies on one latitude:
    :math:`u_k = v e + \sqrt{1 - v^2} t_k`, with equal weights on the d corners :math:`t_k` of a regular simplex that is
    orthogonal to e, and v the largest of :math:`2 \log v + (d - 1) \log(1 - v^2) - d \log(d + \beta (1 - v))`
    (``docs/math.md``, section 15).

    Examples
    --------
    >>> Ellipsoid([[2.0, 0.0], [0.0, 1.0]]).points([1.0, 0.0], 0.0).round(2)
    array([[ 2.  ,  0.  ],
           [ 1.41,  0.71],
           [ 1.41, -0.71]])
    """

    def __init__(self, axes: ArrayLike) -> None:
        name, expected = f"{type(self).__name__}: axes", "a regular matrix of finite numbers, of shape (d, d)"
        self.axes = np.array(as_floats(name, axes, expected))
        right = self.axes.ndim == 2 and self.axes.shape[0] == self.axes.shape[1] > 0 and np.isfinite(self.axes).all()
        if not right or np.linalg.matrix_rank(self.axes) < len(self.axes):
            raise refuse(name, axes, expected)
        self.axes.setflags(write=False)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in {len(self.axes)} dimensions>"

    def points(self, theta: ArrayLike, alpha: float) -> Array:
        """Return the best point for predictions ``<x, theta>`` and those of the optimal design, ``(d + 1, d)``."""
        d, along = len(self.axes), self.axes.T @ np.asarray(theta, dtype=float)
        length = float(np.linalg.norm(along))
        e = along / length if length > 0.0 else np.eye(d)[0]
        depth = _depth(d, float(alpha) * length)
        v, aside = 1.0 - depth, math.sqrt(depth * (2.0 - depth))
        frame = np.eye(d)  # orthonormal vectors whose mean lies along e: the mean of the unit vectors, reflected to it
        normal = np.full(d, 1.0 / math.sqrt(d)) - e
        if normal @ normal > 0.0:
            frame -= 2.0 * np.outer(normal, normal) / (normal @ normal)
        simplex = (frame - e / math.sqrt(d)) / math.sqrt(1.0 - 1.0 / d) if d > 1 else np.zeros((1, 1))
        return np.vstack([e, v * e + aside * simplex]) @ self.axes.T


class Ball(Ellipsoid):
    """The ball of all actions with a norm of at most ``radius``, in ``dim`` dimensions: ``policy.act(Ball(20))``.

    Examples
    --------
    >>> from banditselect import SquareCB
    >>> policy = SquareCB(dim=3, design="optimal")
    >>> decision = policy.act(Ball(3))
    >>> round(float(decision.features @ decision.features), 6)
    1.0
    """

    def __init__(self, dim: int, radius: float = 1.0) -> None:
        d = whole_number("Ball: dim", dim, 1)
        if isinstance(radius, bool) or not isinstance(radius, int | float) or not SMALLEST <= radius < math.inf:
            raise refuse("Ball: radius", radius, "a finite number > 0")
        super().__init__(radius * np.eye(d))


def _depth(d: int, beta: float) -> float:
    """Return 1 - v for the latitude v of the optimal design, by bisection: small where beta is large."""
    low, high = 0.0, 1.0 - 1.0 / math.sqrt(d)
    for _ in range(100):
        x = (low + high) / 2.0
        outwards = (2.0 * x * (2.0 - x) - 2.0 * (d - 1) * (1.0 - x) ** 2) * (d + beta * x)
        if outwards + d * beta * (1.0 - x) * x * (2.0 - x) > 0.0:
            high = x
        else:
            low = x
    return high
