"""EXP4 and EXP4.IX over any policies that know their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..kernels.features import Features
from ..models.exponential_weights import ExponentialWeights, counted
from ..models.model import Model
from ..models.reward_range import RewardRange
from ..plays.optimism import best
from ..policies import shared
from ..policies.contract import Chosen, Played, answer
from ..policies.policy import Policy
from ..runtime.arguments import argument
from ..runtime.constraints import Number, OneOf
from ..runtime.errors import refuse
from ..runtime.files import register
from ..types import Array, Index, Mask
from .master import BASES, learn_base, shape_of


@register
class EXP4(Policy):
    r"""EXP4: plays the mixture of the advice of its bases, by exponential weights of the loss of each.

    With :math:`\xi_i` the probabilities of base i, :math:`\kappa` the number of actions offered, S the sum of these
    numbers so far, this round included, and :math:`t = S / \kappa`, :math:`\ell = (hi - y) / (hi - lo)` clipped to
    [0, 1] and :math:`\eta_t = b \sqrt{\log M / \kappa t}`,

    .. math:: q_i \propto e^{-\eta_t L_i}, \qquad
              p(a) = (1 - \gamma_t) \sum_i q_i \xi_i(a) + \frac{\gamma_t}{\kappa}, \qquad
              L_i \leftarrow L_i + \frac{\xi_i(a_t)\, \ell}{p(a_t) + \beta_t}.

    Parameters
    ----------
    bases: as :class:`RegretBalancing` has them. A predictor that does not learn is ``Greedy(center=...)``. A base
        without propensities, or with bases of its own, is refused.
    exploration: ``"ix"`` (EXP4.IX): :math:`\gamma_t = 0`, :math:`\beta_t = \eta_t / 2`; ``"uniform"``:
        :math:`\beta_t = 0`, :math:`\gamma_t` as ``mixing`` says.
    mixing: None for :math:`\gamma_t = \sqrt{\kappa \log M / t}`, or the g of :math:`\gamma_t = g t^{-1/3}`; at most
        1/2. Only ``"uniform"`` mixes.
    reward_range: (lo, hi) of the rewards.
    horizon: T, the number of rounds: it takes the place of t in :math:`\gamma_t`, and T / 2 in :math:`\eta_t`. None if
        unknown.
    learning_rate: b.

    Notes
    -----
    Every base learns from every round: the action is drawn from the mixture, so that all of them can be
    judged by it and learn from it. Those that learn from the rewards of any action lose nothing by that; those
    that weigh by propensities (:class:`SEXP3`) get that of the mixture. Each round asks and teaches all M.

    Guarantee, for losses in [0, 1] fixed in advance, against the advice :math:`\xi_i` as it is given in this play: with
    the horizon and ``"ix"``, with probability 1 - delta, :math:`2 \sqrt{2 K T \log M} + (\sqrt{2 K T / \log M} + 1)
    \log(2 / \delta)` (Neu); with ``"uniform"``, in expectation, :math:`\gamma T + 3 \sqrt{K T \log M / 2}` (the usual
    argument). A base that learns may advise better alone.

    References: Auer, Cesa-Bianchi, Freund, Schapire, "The nonstochastic multiarmed bandit problem", SIAM J. Computing
    2002. Neu, "Explore no more: improved high-probability regret bounds for non-stochastic bandits", NeurIPS 2015.

    Examples
    --------
    >>> from banditselect import Greedy
    >>> policy = EXP4(bases=[Greedy(center=[1.0]), Greedy(center=[-1.0])], seed=0)
    >>> for _ in range(300):
    ...     decision = policy.act([[0.1], [0.9]])
    ...     policy.update(decision, decision.features[0])
    >>> policy.model_weights.round(2)
    array([0.99, 0.01])
    """

    bases: Sequence[Any] = argument(BASES, unit="reward")
    exploration: str = argument(OneOf(("ix", "uniform")), default="ix")
    mixing: float | None = argument(Number(low=0.0, optional=True), default=None)
    reward_range: tuple[float, float] = shared.REWARD_RANGE
    horizon: int | None = shared.HORIZON_OR_NONE
    learning_rate: float = shared.RATE_FACTOR

    is_master: ClassVar[bool] = True
    reads_propensity: ClassVar[bool] = True

    model_weights = answer(
        "weights",
        "Weight of each base where as many actions are offered as on average so far, ``(M,)``; equal at first.",
    )
    outside = shared.OUTSIDE_OF_RANGE

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return the losses of the bases, and the weights that follow."""
        for i, base in enumerate(self.bases):
            if not base.has_propensity:
                raise refuse(f"EXP4: bases[{i}]", base, "a policy whose probabilities have a closed form")
            if base.is_master:
                raise refuse(f"EXP4: bases[{i}]", base, "a policy that learns what others play, not a master")
        M = len(self.bases)
        self._ends = (2 + M + np.cumsum([0, *(base._note_width for base in self.bases)])).tolist()
        return AdviceWeights(self, lanes), None

    def _choose(self, ids: Index, x: Features, offered: Mask | None, numbers: Index) -> Chosen:
        kappa = counted(x, offered)
        eta, gamma, beta = self._model.rates(ids, kappa)
        chosen = [base._choose(ids, x, offered, numbers) for base in self.bases]
        advice = np.stack([one.p for one in chosen], axis=1)
        p = (self._model.weights_at(ids, eta)[:, :, None] * advice).sum(axis=1)
        p += gamma[:, None] * (best(np.zeros_like(p), offered) - p)
        by_action = np.concatenate([advice, *(one.whole_note() for one in chosen)], axis=1)
        return Chosen(p, self._streams.keys[ids], np.column_stack([kappa, beta]), by_action)

    def _learn(self, ids: Index, x: Features, y: Array, played: Played | None) -> None:
        parts: list[Played | None] = [None] * len(self.bases)
        if played is not None:
            note, p = played.note, played.probability
            self._model.learn_losses(ids, y, p + note[:, 1], note[:, 0], note[:, 2 : self._ends[0]])
            self._keep_warnings()
            parts = [played._replace(note=note[:, a:b]) for a, b in zip(self._ends, self._ends[1:], strict=False)]
        for i, part in enumerate(parts):
            learn_base(self, i, ids, x, y, part)

    @property
    def _note_width(self) -> int:
        return self._ends[-1]

    def _reads(self, note: Array) -> bool:
        own = note[:, : self._ends[0]]
        judged = np.isfinite(own).all() and (own[:, 0] >= 1.0).all() and (own >= 0.0).all()
        parts = zip(self.bases, self._ends, self._ends[1:], strict=False)
        return bool(judged and all(base._reads(note[:, a:b]) for base, a, b in parts))


class AdviceWeights(Model):
    """Exponential weights of bases by the losses of their advice."""

    reads_lookups = True

    def __init__(self, master: Any, lanes: int) -> None:
        super().__init__(shape_of(master))
        self.bases = ExponentialWeights(lanes, 1, len(master.bases))
        self.range = RewardRange(master.reward_range, lanes, "losses are clipped to it")
        self.horizon, self.mixing, self.implicit = master.horizon, master.mixing, master.exploration == "ix"
        self.learning_rate = master.learning_rate

    def rates(self, ids: Index, kappa: Array | Index) -> tuple[Array, Array, Array]:
        """Return eta, gamma and beta where so many actions ``(n,)`` are offered, ``(n,)`` each."""
        log, T = np.log(self.bases.losses.shape[2]), self.horizon
        t = 1.0 + self.bases.offers[ids, 0] / kappa if T is None else np.full(kappa.shape, float(T))
        eta = self.learning_rate * np.sqrt(log / (kappa * t / (1.0 if T is None else 2.0)))
        if self.implicit:
            return eta, np.zeros(kappa.shape), eta / 2.0
        gamma = np.sqrt(kappa * log / t) if self.mixing is None else self.mixing / np.cbrt(t)
        return eta, np.minimum(gamma, 0.5), np.zeros(kappa.shape)

    def weights_at(self, ids: Index, eta: Array) -> Array:
        """Return the weights at these rates, ``(n, M)``."""
        return self.bases.weights(ids, np.zeros_like(ids), eta, None)

    def learn_losses(self, ids: Index, y: Array, divisor: Array, kappa: Array, advice: Array) -> None:
        """Learn rewards of actions that the bases advised with probabilities ``(n, M)``; the divisor is p + beta."""
        self.warnings += self.range.watch(ids, y)
        loss = np.clip((self.range.upper - y) / self.range.span, 0.0, 1.0)
        self.bases.losses[ids, 0] += advice * (loss / divisor)[:, None]
        self.bases.count(ids, np.zeros_like(ids), kappa.astype(np.int64))

    def weights(self) -> Array:
        """Return the weight of each base where as many actions are offered as on average so far, ``(N, M)``."""
        bases = self.bases
        kappa = np.maximum(bases.offers[:, 0] / np.maximum(bases.visits[:, 0], 1), 1.0)
        ids = np.arange(len(kappa))
        return self.weights_at(ids, self.rates(ids, kappa)[0])
