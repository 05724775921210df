"""The constants of FS-SCB as the paper prints them; SquareCB has those of M = 1."""

from functools import partial
from typing import Any

import numpy as np

from ..carriers import validation
from ..theory import feature_selection
from ..types import Array, Index, Mask
from .base import Policy, per_lane
from .tabulated import Tabulated

BOUNDS = ("feature_bound", "reward_bound", "parameter_bound")


class PrintedConstants:
    r"""The printed range of SqAlg, bound of admissible predictions and learning rate, for N lanes.

    With :math:`b_i(t) = G + R L \sqrt{d \log((1 + t L^2 / (\lambda_i d)) / \delta)} + L \sqrt{\lambda_i} S`, the range
    is :math:`\pm \max_i b_i` (eq:boudningrangefor-fs), an expert is admissible while :math:`|f_i| \le b_i`
    (eq:addmisable-experts, two-sided), and :math:`\alpha = \sqrt{K T / D_T(\delta)}`.

    Parameters
    ----------
    policy: a policy with the arguments exploration, delta, horizon (T; the range is that of T, or grows with t where
        there is none), feature_bound, reward_bound and parameter_bound; what is missing is asked for by name.
    dims: widths of the maps.  regularization: ``(N, M)``.  noise: ``(N,)``.
    """

    def __init__(self, policy: Policy, dims: tuple[int, ...], regularization: Array, noise: Array) -> None:
        given = policy.settings
        expected = dict.fromkeys(BOUNDS, 'a number, since "paper" was chosen')
        if given["exploration"] == "paper":
            expected["horizon"] = 'a whole number, since exploration="paper" was chosen'
        for name, what in expected.items():
            if given[name] is None:
                raise validation.refuse(f"{type(policy).__name__}: {name}", None, what)
        N, M = regularization.shape
        columns = {"noise": noise, **{name: per_lane(given[name], N) for name in BOUNDS}}
        shared = {"dim": np.array(dims), "delta": given["delta"], "form": "printed"}
        self.horizon = None if given["horizon"] is None else int(given["horizon"])
        self._n_models = M
        self._lanes: list[dict[str, Any]] = [
            {**shared, "regularization": regularization[n], **{name: float(v[n]) for name, v in columns.items()}}
            for n in range(N)
        ]
        self._prediction_range = Tabulated(feature_selection.prediction_range, self._lanes)
        self._prediction_bound = Tabulated(feature_selection.prediction_bound, self._lanes)
        self._learning_rate: dict[int, Tabulated] = {}

    def range(self, ids: Index, updates: Index) -> tuple[Array, Array]:
        """Return the lower and the upper end of the range after this many updates, ``(n,)`` each."""
        when = updates if self.horizon is None else np.maximum(updates, self.horizon)
        beta, length = self._prediction_range(ids, when).T
        return beta, beta + length

    def prediction_bound(self, ids: Index, updates: Index) -> Array:
        """Return b_i, ``(n, M)``."""
        return self._prediction_bound(ids, updates)

    def learning_rate(self, ids: Index, n_actions: int, offered: Mask) -> Array:
        """Return alpha for the number of actions offered, ``(n,)``."""
        if not offered.size:
            return self._rate(ids, n_actions)
        counts = offered.sum(axis=1)
        alpha = np.empty(ids.size)
        for K in np.unique(counts):
            rows = np.flatnonzero(counts == K)
            alpha[rows] = self._rate(ids[rows], int(K))
        return alpha

    def _rate(self, ids: Index, n_actions: int) -> Array:
        """Return alpha for K actions, ``(n,)``; it does not depend on t, so a page has one value."""
        if n_actions not in self._learning_rate:
            rate = partial(feature_selection.learning_rate, n_models=self._n_models, n_actions=n_actions)
            self._learning_rate[n_actions] = Tabulated(rate, self._lanes, length=1)
        return self._learning_rate[n_actions](ids, np.full(ids.size, self.horizon))

    def extend(self, fresh: "PrintedConstants") -> None:
        """Append the lanes of equal constants."""
        self._lanes += fresh._lanes
        self._prediction_range.extend(fresh._prediction_range)
        self._prediction_bound.extend(fresh._prediction_bound)
        self._learning_rate.clear()
