"""FS-SCB by the formulas of the paper, as printed and as corrected: the range of SqAlg, and the learning rate."""

from typing import Any

import numpy as np

from ..kernels.features import Features
from ..runtime.lanes import LaneArrays
from ..theory import feature_selection, oracle, trusted
from ..types import Array, Index, Mask
from .reward_range import RewardRange
from .ridge_bank import RidgeBank
from .sqalg import SqAlgWeighted

prediction_bound = trusted(feature_selection.prediction_bound)
FORMS = {"paper": "printed", "corrected": "corrected"}  #: the choices of an argument, and the form of the formulas
FIXED = "the formulas of the paper are for a list of models that stays"  #: why no models come and go


class PrintedFS(LaneArrays):
    r"""Range of SqAlg and learning rate, printed or corrected, for N lanes.

    Printed, with :math:`b_i(t) = G + R L \sqrt{d \log((1 + t L^2 / (\lambda_i d)) / \delta)} + L \sqrt{\lambda_i} S`:
    the range is :math:`\pm \max_i b_i` (eq:boudningrangefor-fs), an expert is admissible while :math:`|f_i| \le b_i`
    (eq:addmisable-experts, two-sided), and :math:`\alpha = \sqrt{K T / D_T(\delta)}`.

    Corrected (``docs/math.md``, Theorem 5): the range is :math:`\pm (G + n_T)`,
    :math:`n_T = R \sqrt{2 \log(10 T / \delta)}`, and :math:`\alpha = \sqrt{8 (K - 1) T / D'}`.

    Parameters
    ----------
    choice: ``"paper"`` or ``"corrected"``.  dims: widths of the maps, ``(M,)``.
    horizon: T; the printed range is that of T, or grows with t where it is None.
    arrays: ``regularization (N, M)``; ``noise``, ``feature_bound`` L, ``reward_bound`` G and ``parameter_bound`` S,
        ``(N,)`` each.
    """

    fixed = ("noise", "feature_bound", "reward_bound", "parameter_bound", "regularization")
    shared = ("dims",)
    noise: Array
    reward_bound: Array
    regularization: Array

    def __init__(self, choice: str, dims: Index, *, delta: float, horizon: int | None, **arrays: Array) -> None:
        self.__dict__ |= arrays
        self.horizon = None if horizon is None else int(horizon)
        self.dims = dims
        self._named: dict[str, Any] = {"delta": delta, "form": FORMS[choice]}
        self._alphas: dict[int, Array] = {}  # of all lanes by the number of actions

    def _arguments(self, ids: Index) -> dict[str, Any]:
        """Return the arguments that every formula has."""
        return {"dim": self.dims, **self._named, **{name: getattr(self, name)[ids] for name in self.fixed}}

    def prediction_bound(self, ids: Index, updates: Index) -> Array:
        """Return b_i after this many updates, ``(n, M)``."""
        given = self._arguments(ids)
        radius = given.pop("parameter_bound")[:, None]
        return np.asarray(prediction_bound(t=updates, radius=radius, **given))

    def largest_reward(self, ids: Index) -> Array:
        """Return G + n_T, which no reward of T rounds exceeds with probability 1 - delta / 5, ``(n,)``."""
        T, fifth = np.full(ids.size, self.horizon), self._named["delta"] / 5.0
        noise, G = self.noise[ids], self.reward_bound[ids]
        return np.asarray(oracle.clipping_width(t=T, noise=noise, reward_bound=G, delta=fifth)) / 2.0

    def __call__(self, ids: Index, rounds: Array, n_actions: int, offered: Mask | None) -> tuple[Array, float, float]:
        """Return alpha for the number of actions offered, as plays read rates; it does not depend on the rounds."""
        N = self.noise.size
        if offered is not None:
            alpha = np.zeros(N)
            alpha[ids] = self._alpha(ids, offered.sum(axis=1))
            return alpha, 1.0, 1.0
        if self._alphas.get(n_actions, self.noise[:0]).size != N:  # else no lane was added
            self._alphas[n_actions] = self._alpha(np.arange(N), np.full(N, n_actions))
        return self._alphas[n_actions], 1.0, 1.0

    def _alpha(self, ids: Index, n_actions: Index) -> Array:
        T, M = np.full(ids.size, self.horizon), self.regularization.shape[1]
        given: dict[str, Any] = {**self._arguments(ids), "t": T, "n_models": M, "n_actions": n_actions}
        return np.asarray(feature_selection.learning_rate(**given))


class PrintedSqAlg(SqAlgWeighted):
    """SqAlg on the printed range, over the experts that are admissible; which these are is the note of an act."""

    fixed_members = FIXED

    def __init__(self, bank: RidgeBank, expected: RewardRange, formulas: PrintedFS) -> None:
        super().__init__(bank, expected, formulas)
        self.note_width = bank.dims.size
        self.one_kernel = False

    def _range(self, ids: Index) -> tuple[Array, Array]:
        updates, horizon = self.bank.updates[ids], self.formulas.horizon or 0
        largest = self.formulas.prediction_bound(ids, np.maximum(updates, horizon)).max(axis=1)
        return -largest, largest

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn rewards; drop the experts that were not admissible, let the range grow."""
        super().learn(ids, x, y, note)
        if self.bank.updates[ids].max() > (self.formulas.horizon or 0):
            self.sqalg.widen(ids, *self._range(ids))

    def predict_offered(self, ids: Index, x: Features, offered: Mask | None) -> Array:
        """Return SqAlg's prediction for every action, ``(n, K)``, over experts admissible for the actions offered."""
        f = self.bank.predictions(ids, x)
        return self.sqalg.predict(ids, f, self._admitted(ids, f, offered) > 0.0)

    def note(self, ids: Index, x: Features, offered: Mask | None) -> Array:
        """Return the experts that stay admissible, ``(n, M)``, see ``SqAlg.admit``."""
        return self._admitted(ids, self.bank.predictions(ids, x), offered)

    def _admitted(self, ids: Index, f: Array, offered: Mask | None) -> Array:
        largest = np.where(True if offered is None else offered[:, None], np.abs(f), 0.0).max(axis=2)
        return self.sqalg.admit(ids, largest - self.formulas.prediction_bound(ids, self.bank.updates[ids]))


class CorrectedSqAlg(SqAlgWeighted):
    """SqAlg on the range that holds all rewards of T rounds; its prediction is clipped to that of the means."""

    fixed_members = FIXED

    def _range(self, ids: Index) -> tuple[Array, Array]:
        largest = self.formulas.largest_reward(ids)
        return -largest, largest

    def predict(self, ids: Index, x: Features) -> Array:
        """Return SqAlg's prediction for every action, clipped to [-G, G], ``(n, K)``."""
        G = self.formulas.reward_bound[ids, None]
        return np.clip(super().predict(ids, x), -G, G)
