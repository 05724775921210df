"""FS-SCB by the formulas of the paper, as printed and as corrected: the range of SqAlg, and the learning rate."""

from typing import Any

import numpy as np

from ...carriers import validation
from ...carriers.lanes import LaneArrays, per_lane
from ...carriers.validation import SMALLEST, Constraint, Number
from ...parts.experts import RidgeBank
from ...parts.exploration import Rates, as_rates
from ...parts.reward_range import RewardRange
from ...theory import feature_selection, oracle, trusted
from ...types import Array, Index, Mask
from ..base import Policy
from .inverse_gap import BySqAlg

prediction_bound = trusted(feature_selection.prediction_bound)
FORMS = {"paper": "printed", "corrected": "corrected"}
"""What an argument may choose, and the form of the formulas that it means."""
BOUNDS = ("feature_bound", "reward_bound", "parameter_bound")
FORMULA_ARGUMENTS: dict[str, Constraint] = {
    "delta": Number(low=0.0, high=1.0, above=True, below=True),
    "feature_bound": Number(low=SMALLEST, per_lane=True, optional=True),
    "reward_bound": Number(low=0.0, per_lane=True, optional=True),
    "parameter_bound": Number(low=0.0, per_lane=True, optional=True),
    "horizon": Number(low=1, integer=True, optional=True),
}
"""The arguments that a policy has for the formulas, and what they must satisfy."""


def refuse_change(policy: Policy) -> None:
    """Refuse what is for a world that changes, of which the formulas know nothing."""
    expected = 'since "paper" and "corrected" are formulas for a world that does not change'
    for name, none in (("memory", None), ("share", 0.0)):
        given = policy.settings.get(name, none)
        if given != none:
            raise validation.refuse(f"{type(policy).__name__}: {name}", given, f"{none}, {expected}")


class Formulas(LaneArrays):
    r"""Range of SqAlg and learning rate, printed or corrected, for N lanes.

    Printed, with :math:`b_i(t) = G + R L \sqrt{d \log((1 + t L^2 / (\lambda_i d)) / \delta)} + L \sqrt{\lambda_i} S`:
    the range is :math:`\pm \max_i b_i` (eq:boudningrangefor-fs), an expert is admissible while :math:`|f_i| \le b_i`
    (eq:addmisable-experts, two-sided), and :math:`\alpha = \sqrt{K T / D_T(\delta)}`.

    Corrected (``docs/math.md``, Theorem 5): the range is :math:`\pm (G + n_T)`,
    :math:`n_T = R \sqrt{2 \log(10 T / \delta)}`, and :math:`\alpha = \sqrt{8 (K - 1) T / D'}`.

    Parameters
    ----------
    policy: a policy with the arguments exploration, delta, horizon (T; the printed range is that of T, or grows with t
        where there is none), feature_bound, reward_bound and parameter_bound; what is missing is asked for by name,
        and an intercept, which the paper does not know, refused.
    choice: ``"paper"`` or ``"corrected"``.
    dims: widths of the maps.  regularization: ``(N, M)``.  noise: ``(N,)``.
    """

    fixed = ("noise", *BOUNDS, "regularization")
    reward_bound: Array

    def __init__(self, policy: Policy, choice: str, dims: tuple[int, ...], regularization: Array, noise: Array) -> None:
        given, owner = policy.settings, type(policy).__name__
        expected = dict.fromkeys(BOUNDS, f'a number, since "{choice}" was chosen')
        if choice == "corrected":
            expected["horizon"] = 'a whole number, since "corrected" was chosen'
        elif given["exploration"] == choice:
            expected["horizon"] = 'a whole number, since exploration="paper" was chosen'
        if given["intercept"]:
            raise validation.refuse(f"{owner}: intercept", True, f'False, since "{choice}" was chosen')
        for name, what in expected.items():
            if given[name] is None:
                raise validation.refuse(f"{owner}: {name}", None, what)
            if name in BOUNDS:
                setattr(self, name, per_lane(given[name], noise.size))
        self.noise = noise
        self.regularization = regularization
        self.horizon = None if given["horizon"] is None else int(given["horizon"])
        self._shared = {"dim": np.array(dims), "delta": given["delta"], "form": FORMS[choice]}
        self._kept: dict[int, Array] = {}  # alpha of all lanes by the number of actions

    def _arguments(self, ids: Index) -> dict[str, Any]:
        """Return the arguments that every formula has."""
        return {**self._shared, **{name: getattr(self, name)[ids] for name in self.fixed}}

    def prediction_bound(self, ids: Index, updates: Index) -> Array:
        """Return b_i after this many updates, ``(n, M)``."""
        return np.asarray(prediction_bound(t=updates, **self._arguments(ids)))

    def largest_reward(self, ids: Index) -> Array:
        """Return G + n_T, which no reward of T rounds exceeds with probability 1 - delta / 5, ``(n,)``."""
        T, fifth = np.full(ids.size, self.horizon), self._shared["delta"] / 5.0
        noise, G = self.noise[ids], self.reward_bound[ids]
        return np.asarray(oracle.clipping_width(t=T, noise=noise, reward_bound=G, delta=fifth)) / 2.0

    def __call__(self, ids: Index, updates: Index, n_actions: int, offered: Mask | None) -> Rates:
        """Return alpha for the number of actions offered; it does not depend on the updates, so it is kept."""
        N = self.noise.size
        if offered is not None:
            return as_rates(ids, self._alpha(ids, offered.sum(axis=1)), N)
        if self._kept.get(n_actions, self.noise[:0]).size != N:  # else no lane was added
            self._kept[n_actions] = self._alpha(np.arange(N), np.full(N, n_actions))
        return self._kept[n_actions], 1.0, 1.0

    def _alpha(self, ids: Index, n_actions: Index) -> Array:
        T, M = np.full(ids.size, self.horizon), self.regularization.shape[1]
        given: dict[str, Any] = {**self._arguments(ids), "t": T, "n_models": M, "n_actions": n_actions}
        return np.asarray(feature_selection.learning_rate(**given))


class Printed(BySqAlg):
    """SqAlg on the printed range, over the experts that are admissible; which these are is the memo of an act."""

    def __init__(
        self, bank: RidgeBank, expected: RewardRange, messages: list[str], constant: bool, formulas: Formulas
    ) -> None:
        self.formulas = formulas
        self.memo_width = bank.dims.size
        super().__init__(bank, expected, messages, constant)

    def _range(self, ids: Index) -> tuple[Array, Array]:
        updates, horizon = self.bank.updates[ids], self.formulas.horizon or 0
        largest = self.formulas.prediction_bound(ids, np.maximum(updates, horizon)).max(axis=1)
        return -largest, largest

    def _widen(self, ids: Index) -> None:
        if self.bank.updates[ids].max() > (self.formulas.horizon or 0):
            self.sqalg.widen(ids, *self._range(ids))

    def predict(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, Index]:
        """Return SqAlg's prediction for every action, ``(n, K)``, and the experts that stay admissible."""
        f = self.bank.predict(ids, x)
        largest = np.where(True if offered is None else offered[:, None], np.abs(f), 0.0).max(axis=2)
        excess = largest - self.formulas.prediction_bound(ids, self.bank.updates[ids])
        admitted = self.sqalg.admit(ids, excess)
        return self.sqalg.predict(ids, f, admitted > 0), admitted


class Corrected(BySqAlg):
    """SqAlg on the range that holds all rewards of T rounds; its prediction is clipped to that of the means."""

    def __init__(
        self, bank: RidgeBank, expected: RewardRange, messages: list[str], constant: bool, formulas: Formulas
    ) -> None:
        self.formulas = formulas
        super().__init__(bank, expected, messages, constant)

    def _range(self, ids: Index) -> tuple[Array, Array]:
        largest = self.formulas.largest_reward(ids)
        return -largest, largest

    def predict(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        """Return SqAlg's prediction for every action, clipped to [-G, G], ``(n, K)``."""
        prediction, _ = super().predict(ids, x, offered)
        G = self.formulas.reward_bound[ids, None]
        return np.clip(prediction, -G, G), None
