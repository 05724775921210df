"""The constants of FS-SCB as the paper prints them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import validation
from ..theory import feature_selection
from .base import Array, Index, per_lane


class PrintedConstants:
    r"""The printed range of SqAlg, bound of admissible predictions and learning rate, for N lanes.

    With :math:`b_i(t) = G + R L \sqrt{d \log((1 + t L^2 / (\lambda_i d)) / \delta)} + L \sqrt{\lambda_i} S`, the range
    is :math:`\pm \max_i b_i` (eq:boudningrangefor-fs), an expert is admissible while :math:`|f_i| \le b_i`
    (eq:addmisable-experts, two-sided), and :math:`\alpha = \sqrt{K T / D_T(\delta)}`.

    Parameters
    ----------
    dims: widths of the maps.  regularization: ``(M,)``.  noise: ``(N,)``.  horizon: T; the range is that of T, or grows
        with t where there is none.
    bounds: feature_bound, reward_bound, parameter_bound, a number or one per lane each; what is missing is asked for by
        name.
    """

    def __init__(
        self,
        dims: tuple[int, ...],
        regularization: Array,
        noise: Array,
        delta: float,
        horizon: int | None,
        **bounds: ArrayLike | None,
    ) -> None:
        for name, value in bounds.items():
            if value is None:
                raise validation.refuse(f"FSSquareCB: {name}", None, 'a number, since "paper" was chosen')
        columns = {name: per_lane(value, noise.size) for name, value in bounds.items() if value is not None}
        shared = {"dim": np.array(dims), "regularization": regularization, "delta": delta, "form": "printed"}
        self.horizon = horizon
        self.lanes: list[dict[str, Any]] = [
            {**shared, "noise": float(noise[n]), **{name: float(column[n]) for name, column in columns.items()}}
            for n in range(noise.size)
        ]

    def range(self, ids: Index, updates: Index) -> tuple[Array, Array]:
        """Return the lower and the upper end of the range after this many updates, ``(n,)`` each."""
        when = updates if self.horizon is None else np.maximum(updates, self.horizon)
        pairs = [feature_selection.prediction_range(t=int(t), **self.lanes[n]) for n, t in zip(ids, when, strict=True)]
        beta, length = np.array(pairs, dtype=float).reshape(-1, 2).T
        return beta, beta + length

    def prediction_bound(self, ids: Index, updates: Index) -> Array:
        """Return b_i, ``(n, M)``."""
        rows = zip(ids, updates, strict=True)
        return np.array([feature_selection.prediction_bound(t=int(t), **self.lanes[n]) for n, t in rows])

    def learning_rate(self, ids: Index, n_actions: Index) -> Array:
        """Return alpha for the number of actions offered, ``(n,)``."""
        M = self.lanes[0]["regularization"].size
        rows = zip(ids, n_actions, strict=True)
        return np.array(
            [
                feature_selection.learning_rate(t=self.horizon or 1, n_models=M, n_actions=int(k), **self.lanes[n])
                for n, k in rows
            ]
        )
