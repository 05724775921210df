"""EXP4 and EXP4.IX over any policies that know their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers import validation
from ..carriers.binding import Binding, Pending
from ..carriers.decisions import read, written
from ..carriers.persistence import register
from ..carriers.shapes import FeatureShape, common_shape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Bounds, Constraint, Number, OneOf
from ..parts.adversarial import ExponentialWeights, counted
from ..parts.exploration import greedy
from ..parts.reward_range import RewardRange
from ..types import Array, Index, Mask
from .base import Chosen, Policy
from .on_map import on_map
from .regimes.meta import own_bases, teach
from .sexp3 import SEXP3


@register
class EXP4(Policy):
    r"""EXP4: plays the mixture of what its bases advise, by exponential weights of what each would have lost.

    With :math:`\xi_i` the probabilities of base i, :math:`\kappa` the number of actions offered, S the sum of these
    numbers so far, this round included, and :math:`t = S / \kappa`, :math:`\ell = (hi - y) / (hi - lo)` clipped to
    [0, 1] and :math:`\eta_t = b \sqrt{\log M / \kappa t}`,

    .. math:: q_i \propto e^{-\eta_t L_i}, \qquad
              p(a) = (1 - \gamma_t) \sum_i q_i \xi_i(a) + \frac{\gamma_t}{\kappa}, \qquad
              L_i \leftarrow L_i + \frac{\xi_i(a_t)\, \ell}{p(a_t) + \beta_t}.

    Parameters
    ----------
    bases: fresh policies, or factories; copied with this policy's lanes and seed, never shared. A predictor that does
        not learn is ``Greedy(center=...)``. What has no propensities, or draws among bases of its own, is refused.
    exploration: ``"ix"`` (EXP4.IX): :math:`\gamma_t = 0`, :math:`\beta_t = \eta_t / 2`; ``"uniform"``:
        :math:`\beta_t = 0`, :math:`\gamma_t` as ``mixing`` says.
    mixing: None for :math:`\gamma_t = \sqrt{\kappa \log M / t}`, or the g of :math:`\gamma_t = g t^{-1/3}`; at most
        1/2. Only ``"uniform"`` mixes.
    reward_range: (lo, hi) of the rewards.
    horizon: T, the number of rounds: it then stands for t in :math:`\gamma_t`, and T / 2 in :math:`\eta_t`. None if
        unknown.
    learning_rate: b.

    Attributes
    ----------
    bases: the copies.  model_weights: q where as many actions are offered as on average so far, ``(M,)``.
    outside: rewards outside ``reward_range``.

    Notes
    -----
    Every base learns from every round: the action is drawn from the mixture, whoever advised it, so that all of them
    can be judged by it and taught by it. Those that learn from the rewards of any action lose nothing by that; those
    that weigh by propensities (:class:`SEXP3`) are told that of the mixture. Each round asks and teaches all M.

    Guarantee, for losses in [0, 1] fixed in advance, against the advice :math:`\xi_i` as it is given in this play: with
    the horizon and ``"ix"``, with probability 1 - delta, :math:`2 \sqrt{2 K T \log M} + (\sqrt{2 K T / \log M} + 1)
    \log(2 / \delta)` (Neu); with ``"uniform"``, in expectation, :math:`\gamma T + 3 \sqrt{K T \log M / 2}` (the usual
    argument). A base that learns may advise better alone.

    References
    ----------
    Auer, Cesa-Bianchi, Freund, Schapire, "The nonstochastic multiarmed bandit problem", SIAM J. Computing 2002. Neu,
    "Explore no more: improved high-probability regret bounds for non-stochastic bandits", NeurIPS 2015.

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

    reward_units = ("bases", "reward_range")
    constraints: ClassVar[dict[str, Constraint]] = {
        "bases": Constraint(),
        "exploration": OneOf(("ix", "uniform")),
        "mixing": Number(low=0.0, optional=True),
        "reward_range": Bounds(),
        "horizon": Number(low=1, integer=True, optional=True),
        "learning_rate": Number(low=SMALLEST),
    }
    _is_master = True
    _looks_up = True

    def __init__(
        self,
        *,
        bases: Sequence[Any],
        exploration: str = "ix",
        mixing: float | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        horizon: int | None = None,
        learning_rate: float = 1.0,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.bases = own_bases("EXP4", bases, lanes, seed)
        self.exploration = exploration
        self.mixing = mixing
        self.reward_range = reward_range
        self.horizon = horizon
        self.learning_rate = learning_rate
        for i, b in enumerate(self.bases):
            if not b.has_propensity:
                raise validation.refuse(f"EXP4: bases[{i}]", b, "a policy whose probabilities have a closed form")
            if b._is_master:
                raise validation.refuse(f"EXP4: bases[{i}]", b, "a policy that learns what others play, not a master")
        widths = [b._memo_width for b in self.bases]
        self._ends = (2 + len(widths) + np.cumsum([0, *widths])).tolist()  # where the memo of each base begins
        self._memo_width = self._ends[-1]
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return common_shape("EXP4: bases", [b.feature_shape for b in self.bases])

    def _begin(self, lanes: int) -> None:
        self._weights = ExponentialWeights(lanes, 1, len(self.bases))
        self._range = RewardRange(self.reward_range, lanes, "losses are clipped to it")

    def _rates(self, ids: Index, kappa: Array | Index) -> tuple[Array, Array]:
        """Return eta and gamma where so many actions ``(n,)`` are offered, ``(n,)`` each."""
        log, T = np.log(len(self.bases)), self.horizon
        t = 1.0 + self._weights.offers[ids, 0] / kappa if T is None else np.full(kappa.shape, float(T))
        eta = self.learning_rate * np.sqrt(log / (kappa * t / (1.0 if T is None else 2.0)))
        if self.exploration == "ix":
            return eta, np.zeros(kappa.shape)
        gamma = np.sqrt(kappa * log / t) if self.mixing is None else self.mixing / np.cbrt(t)
        return eta, np.minimum(gamma, 0.5)

    def _mixed(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, Array, Array, Index]:
        """Return probabilities ``(n, K)``, the advice ``(n, M, K)``, beta ``(n,)``, the memo as far as it is known."""
        kappa = counted(x, offered)
        eta, gamma = self._rates(ids, kappa)
        memo = np.zeros((ids.size, self._memo_width), dtype=np.int64)
        memo[:, 0] = kappa
        advice = np.empty((ids.size, len(self.bases), x.shape[2]))
        for i, (b, first) in enumerate(zip(self.bases, self._ends, strict=False)):
            advice[:, i], inner = b._distribution(ids, x, offered)
            if inner is not None:
                memo[:, first : first + b._memo_width] = inner
        q = self._weights.weights(ids, np.zeros_like(ids), eta, None)
        p = (q[:, :, None] * advice).sum(axis=1)
        if self.exploration == "ix":
            return p, advice, eta / 2.0, memo
        p += gamma[:, None] * (greedy(np.zeros_like(p), offered) - p)
        return p, advice, np.zeros_like(eta), memo

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        return self._mixed(ids, x, offered)[0], None

    def _choose(self, ids: Index, x: Array, offered: Mask | None, numbers: Index) -> Chosen:
        p, advice, beta, memo = self._mixed(ids, x, offered)
        action, probability = self._streams.draw(ids, numbers, p)
        memo[:, 1] = np.maximum(written(probability + beta), 1)
        memo[:, 2 : self._ends[0]] = written(advice[np.arange(ids.size), :, action])
        for b, end in zip(self.bases, self._ends[1:], strict=True):
            if b._weighs:
                memo[:, end - 1] = np.maximum(written(probability), 1)
        return action, probability, memo

    def _wrote(self, memo: Index) -> bool:
        judged = (memo[:, :2] > 0).all() and (memo[:, 2 : self._ends[0]] >= 0).all()
        parts = zip(self.bases, self._ends, strict=False)
        return bool(judged and all(b._wrote(memo[:, at : at + b._memo_width]) for b, at in parts if b._memo_width))

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        if memo is not None:
            self._messages += self._range.watch(ids, y)
            loss = np.clip((self._range.upper - y) / self._range.span, 0.0, 1.0)
            self._weights.losses[ids, 0] += read(memo[:, 2 : self._ends[0]]) * (loss / read(memo[:, 1]))[:, None]
            self._weights.count(ids, np.zeros_like(ids), memo[:, 0])
        for i, at in enumerate(self._ends[:-1]):
            teach(self, i, ids, x, action, y, None if memo is None else memo[:, at:])

    @property
    def model_weights(self) -> Array:
        """Weight of each base where as many actions are offered as on average so far, ``(M,)``; equal at first."""
        weights, ids = self._weights, np.arange(self._size)
        kappa = np.maximum(weights.offers[:, 0] / np.maximum(weights.visits[:, 0], 1), 1.0)
        return self._answer(weights.weights(ids, np.zeros_like(ids), self._rates(ids, kappa)[0], None))

    @property
    def outside(self) -> Any:
        """How many rewards lay outside ``reward_range``."""
        return self._answer(self._range.outside)


def maillard_munos(
    *,
    prototypes: Sequence[ArrayLike],
    n_arms: int,
    reward_range: tuple[float, float] | Pending = (0.0, 1.0),
    horizon: int | None = None,
) -> Binding[EXP4]:
    r"""Return a factory of the construction of Maillard and Munos: :class:`EXP4` over an :class:`SEXP3` per map.

    Map i of the features tells the class of a round by the prototypes i; which map is right is learned. Uniform play is
    mixed in at :math:`\gamma_t = (C K \log K / t)^{1/3}`, C the largest number of classes, at most 1/2.

    With the horizon, for losses in [0, 1] fixed in advance, the expected regret against the best arm of each class of
    the best map is at most :math:`5/2\, (C K \log K)^{1/3} T^{2/3} + 3 \sqrt{K T \log M / 2}` where :math:`\gamma <
    1/2` (the usual argument: a learner whose arms are drawn with probabilities of at least :math:`\gamma / K` loses
    :math:`C \log K / \eta + \eta K T / 2 \gamma`); of the order of the reference in T and C.

    Parameters
    ----------
    prototypes: for each of M maps, ``(C_i, d_i)``.
    n_arms: number K of arms, known by their positions.
    reward_range, horizon: as :class:`EXP4` has them.

    References
    ----------
    Maillard, Munos, "Adaptive bandits: towards the best history-dependent strategy", AISTATS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> policy = maillard_munos(prototypes=[np.eye(2), np.eye(3)], n_arms=4)(seed=0)
    >>> policy.act([np.tile(np.eye(2)[0], (4, 1)), np.tile(np.eye(3)[2], (4, 1))]).probability
    0.25
    """
    classes = max(len(np.asarray(rows)) for rows in prototypes)
    told: dict[str, Any] = {"n_arms": n_arms, "role": "adviser", "reward_range": reward_range, "horizon": horizon}
    return EXP4.bind(
        bases=[on_map(SEXP3.bind(prototypes=rows, **told), i) for i, rows in enumerate(prototypes)],
        exploration="uniform",
        mixing=float(np.cbrt(classes * n_arms * np.log(n_arms))),
        reward_range=reward_range,
        horizon=horizon,
    )
