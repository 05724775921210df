"""ALEXP: exponential weights of M optimistic learners by what a group lasso predicts that each would earn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.lanes import LaneArrays
from ..carriers.persistence import register
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Bounds, Constraint, Number, Numbers, Widths, YesNo
from ..kernels.acting import every_bound, mask_of
from ..kernels.arrays import LIMIT
from ..kernels.features import prepared
from ..kernels.ledger import NO_BOOK, UNNUMBERED
from ..kernels.selection import exponential_weights, mix_choices
from ..parts.experts import RidgeBank
from ..parts.lasso import GroupLasso
from ..parts.reward_range import RewardRange
from ..theory import anytime
from ..types import Array, Index, Mask
from .regimes.optimism import Ellipsoids
from .regimes.ridge_per_map import RidgePerMap


class Gains(LaneArrays):
    """What every learner would have earned in the rounds learned, as predicted in each: ``total (N, M)``."""

    state = ("total",)

    def __init__(self, lanes: int, n_models: int) -> None:
        self.total = np.zeros((lanes, n_models))


@register
class ALEXP(RidgePerMap):
    r"""ALEXP: M learners, OFUL on one map each, drawn by exponential weights of the rewards predicted for all of them.

    In round t learner i would play :math:`a_{t,i}`, the action of its highest upper bound. With :math:`\hat\theta` the
    group lasso estimate on the features :math:`\phi` of all maps side by side, :math:`\gamma_t` and :math:`\eta_t`
    below,

    .. math:: p_t(a) = (1 - \gamma_t) \sum_i q_{t,i} 1[a = a_{t,i}] + \frac{\gamma_t}{K}, \qquad
              q_{t,i} \propto \exp\Big(\eta_t \sum_{s \le t} \langle \phi_s(a_{s,i}), \hat\theta_{s-1} \rangle\Big)

    Every reward is learned by all learners and by the lasso, so each learner's reward is predicted in every round, not
    only when it plays. The lasso is

    .. math:: \hat\theta_t = \arg\min_\theta \frac1t \sum_{s \le t} (y_s - \langle \phi_s, \theta \rangle)^2
              + 2 \lambda_t \sum_i L_i |\theta^i|

    with :math:`\lambda_t` of ``theory.anytime.lasso_penalty`` and :math:`L_i` the root of the mean squared norm of
    what was played in map i, for which the reference has features of norm at most 1; and

    .. math:: \gamma_t = \min(1, c \, t^{-1/4}), \qquad \eta_t = \frac{e}{hi - lo} \sqrt{\frac{\log M}{t}}, \qquad
              \lambda_t = \frac{8 \ell R}{\sqrt t} \sqrt{1 + \frac{5}{\sqrt2} \sqrt{d \log\frac{8M}{\delta}}
              + \frac{12}{\sqrt2} \log\frac{8M}{\delta}}

    Parameters
    ----------
    n_models: number of feature maps M.
    dim: their width d, or one per map; features are ``(M, K, d)``, or a list of M arrays ``(K, d_i)``.
    noise: sub-Gaussian constant R of the rewards.
    parameter_bound: S, a bound on the norm of the true map's parameter.
    reward_range: (lo, hi), where rewards are expected: a scale, not a law.
    delta: of the learners' confidence sets, each, and of the penalty.
    regularization: ridge penalty of the learners, a number or one per map; by default :math:`d_i R^2 / S^2`.
    scale: multiplies the radii of the learners; 1 is the theory, less is practice.
    exploration: c, the share of rounds played uniformly in the first.
    learning_rate: e, in the rate of the weights.
    penalty: :math:`\ell`, multiplies the penalty of the lasso; 1 is the theory, less is practice.
    intercept: whether a constant feature 1 stands before the features of every map; it counts in :math:`d_i`, and is
        penalised with them.

    Attributes
    ----------
    model_weights: q for what was learned, ``(M,)``.  parameters: ridge estimates of the learners, ``(M, d)``.
    constants: their constant terms, ``(M,)``.  lasso: the group lasso estimate, ``(M, d_i)``, constants first.
    outside: how many rewards fell outside ``reward_range``.

    Notes
    -----
    Guarantee (the reference, for learners whose sets hold, a set of actions that stays and features whose uniform
    average has a covariance bounded away from 0): with :math:`\gamma_t` of order :math:`t^{-1/4}`, :math:`\lambda_t`
    and :math:`\eta_t` of order :math:`\sqrt{\log M / t}`, with probability :math:`1 - \delta` for all T at once, regret
    of order :math:`\sqrt{T \log^3 M} + T^{3/4} \sqrt{\log M}`. The constants are the three last arguments but one;
    the defaults are practice.

    Departures: actions may change from round to round, and the predictions of a round are those of its own actions. The
    authors' code takes log M of a list that is empty then, so that M does not enter its rates, explores in
    :math:`t^{-1/2}` of the rounds, and lets every prediction keep the rate of its round.

    Propensities are true: each learner's choice is known, and so is their mixture. What a round predicts of the
    learners is in the memo of its decision and counts when its reward is learned; ``learn``, which knows of no actions
    but one, changes estimates and no weights. An update costs :math:`(M d)^2 / 2` products for the sums of the lasso,
    and a lane as many numbers.

    References
    ----------
    Kassraie, Emmenegger, Krause, Pacchiano, "Anytime model selection in linear bandits", NeurIPS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = ALEXP(n_models=3, dim=2, noise=0.1, reward_range=(-4.0, 4.0), seed=0)
    >>> for _ in range(300):
    ...     decision = policy.act(rng.normal(size=(3, 5, 2)))
    ...     policy.update(decision, decision.features[2] @ [0.6, -0.6] + 0.1 * rng.normal())
    >>> policy.model_weights.round(2)
    array([0., 0., 1.])
    >>> policy.lasso.round(1)
    array([[ 0. ,  0. ],
           [ 0. ,  0. ],
           [ 0.6, -0.6]])
    """

    reward_units = ("noise", "parameter_bound", "reward_range")
    constraints: ClassVar[dict[str, Constraint]] = {
        "n_models": Number(low=1, integer=True),
        "dim": Widths(),
        "noise": Number(low=SMALLEST, per_lane=True),
        "parameter_bound": Number(low=0.0, per_lane=True),
        "reward_range": Bounds(),
        "delta": Number(low=0.0, high=1.0, above=True, below=True),
        "regularization": Numbers(shapes=((), (None,)), low=SMALLEST, optional=True),
        "scale": Number(low=0.0),
        "exploration": Number(low=0.0),
        "learning_rate": Number(low=0.0),
        "penalty": Number(low=SMALLEST),
        "intercept": YesNo(),
    }
    _looks_up = True

    def __init__(
        self,
        *,
        n_models: int,
        dim: int | Sequence[int],
        noise: float | ArrayLike = 0.5,
        parameter_bound: float | ArrayLike = 1.0,
        reward_range: tuple[float, float] = (0.0, 1.0),
        delta: float = 0.05,
        regularization: float | ArrayLike | None = None,
        scale: float = 1.0,
        exploration: float = 0.1,
        learning_rate: float = 100.0,
        penalty: float = 0.02,
        intercept: bool = False,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.n_models = n_models
        self.dim = dim
        self.noise = noise
        self.parameter_bound = parameter_bound
        self.reward_range = reward_range
        self.delta = delta
        self.regularization = regularization
        self.scale = scale
        self.exploration = exploration
        self.learning_rate = learning_rate
        self.penalty = penalty
        self.intercept = intercept
        super().__init__(lanes, seed)

    def _begin(self, lanes: int) -> None:
        M = self._memo_width = int(self.n_models)
        bank, told = self._fresh_ridges(lanes)
        noise, widest = told["noise"], int(bank.dims.max())
        self._learners = Ellipsoids(bank, delta=self.delta, scale=self.scale, **told)
        first = anytime.lasso_penalty(t=1, dim=widest, n_models=M, noise=noise, delta=self.delta)
        self._lasso = GroupLasso(lanes=lanes, n_models=M, dim=widest, penalty=self.penalty * np.asarray(first))
        self._gains = Gains(lanes, M)
        self._range = RewardRange(self.reward_range, lanes, "the rate of the weights is scaled to that range")
        self._rate = self.learning_rate * anytime.weight_rate(t=1, n_models=M, width=self._range.span)

    @property
    def _ridges(self) -> RidgeBank:
        return self._learners.bank

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, Index]:
        seen, learners = prepared(ids, x) if self.intercept else x, self._learners
        bank, n, M, K = learners.bank, ids.size, int(self.n_models), x.shape[2]
        bounds, p, gain = np.empty((n, M, K)), np.empty((n, K)), np.empty((n, M))
        every_bound(ids, seen, bank.theta, bank.root, bank.dims, learners.radii, learners.scale, bounds)
        t, score = bank.updates[ids] + 1.0, self._lasso.predict(ids, seen)
        share = np.minimum(1.0, self.exploration * t**-0.25)
        mix_choices(ids, bounds, score, self._gains.total, self._rate / np.sqrt(t), share, mask_of(offered), p, gain)
        return p, gain.view(np.int64)

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        seen = prepared(ids, x) if self.intercept else x
        self._learners.learn(ids, seen, y, UNNUMBERED, NO_BOOK)
        self._lasso.learn(ids, seen, y)
        if memo is not None:
            self._gains.total[ids] += _gains_in(memo)
        self._messages += self._range.watch(ids, y)

    def _wrote(self, memo: Index) -> bool:
        return bool((np.abs(_gains_in(memo)) <= LIMIT).all())

    @property
    def model_weights(self) -> Array:
        """Weights of the learners for what was learned, ``(M,)``."""
        ids, total = np.arange(self._size), self._gains.total
        out, rate = np.empty(total.shape), -self._rate / np.sqrt(self._learners.bank.updates + 1.0)
        exponential_weights(ids, total, rate, np.ones(total.shape, dtype=bool), out)
        return self._answer(out)

    @property
    def lasso(self) -> Array:
        """The group lasso estimate, ``(M, d_i)``, with an intercept the constants first."""
        return self._answer(self._lasso.theta)

    @property
    def outside(self) -> Any:
        """How many rewards fell outside ``reward_range``."""
        return self._answer(self._range.outside)


def _gains_in(memo: Index) -> Array:
    """Return the predictions ``(n, M)`` whose bits a memo has."""
    return np.ascontiguousarray(memo, dtype=np.int64).view(np.float64)
