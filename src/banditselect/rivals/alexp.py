"""ALEXP: exponential weights of M optimistic learners by the rewards that a group lasso predicts for each."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import kernel, ridge
from ..kernels.features import ALL_OFFERED, LIMIT, Features
from ..kernels.weights import exponential_weights, normalise
from ..models.confidence import Ellipsoids, learn_ellipsoids
from ..models.model import Model
from ..models.reward_range import RewardRange, count_outside
from ..plays.optimism import best_actions
from ..policies import shared
from ..policies.contract import Chosen, answer
from ..policies.ellipsoid_policy import ridge_per_map
from ..policies.policy import Policy
from ..runtime.arguments import argument
from ..runtime.constraints import Number
from ..runtime.files import register
from ..runtime.inputs import SMALLEST
from ..types import Array, Index, Mask
from .group_lasso import GroupLasso, learn_lasso


@register
class ALEXP(Policy):
    r"""ALEXP: M learners, OFUL on one map each, drawn by exponential weights of the rewards predicted for all of them.

    In round t learner i would play :math:`a_{t,i}`, the action of its highest upper bound. With :math:`\hat\theta` the
    group lasso estimate on the features :math:`\phi` of all maps side by side, :math:`\gamma_t` and :math:`\eta_t`
    below,

    .. math:: p_t(a) = (1 - \gamma_t) \sum_i q_{t,i} 1[a = a_{t,i}] + \frac{\gamma_t}{K}, \qquad
              q_{t,i} \propto \exp\Big(\eta_t \sum_{s \le t} \langle \phi_s(a_{s,i}), \hat\theta_{s-1} \rangle\Big)

    All learners and the lasso learn from every reward, so the reward of each learner is predicted in every round, not
    only when it plays. The lasso is

    .. math:: \hat\theta_t = \arg\min_\theta \frac1t \sum_{s \le t} (y_s - \langle \phi_s, \theta \rangle)^2
              + 2 \lambda_t \sum_i L_i |\theta^i|

    with :math:`L_i` the root of the mean squared norm of the features played in map i (the reference has features of
    norm at most 1 instead), and

    .. math:: \gamma_t = \min(1, c \, t^{-1/4}), \qquad \eta_t = \frac{e}{hi - lo} \sqrt{\frac{\log M}{t}}, \qquad
              \lambda_t = \frac{8 \ell R}{\sqrt t} \sqrt{1 + \frac{5}{\sqrt2} \sqrt{d \log\frac{8M}{\delta}}
              + \frac{12}{\sqrt2} \log\frac{8M}{\delta}}

    Parameters
    ----------
    n_models, dim: as :class:`FSIDS` has them.
    noise, scale: as :class:`OFUL` has them; the scale multiplies the radii of the learners.
    regularization, intercept: as :class:`LEADER` has them; the lasso penalises constants with the features of their
        maps.
    parameter_bound: S, a bound on the norm of the true map's parameter.
    reward_range: (lo, hi), where rewards are expected: a scale, not a law.
    delta: of the learners' confidence sets, each, and of the penalty.
    exploration: c, the share of rounds played uniformly in the first.
    learning_rate: e, in the rate of the weights.
    penalty: :math:`\ell`, multiplies the penalty of the lasso; 1 is the theory, less is practice.

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

    Propensities are true: each learner's choice is known, and so is their mixture. The predictions of a round are in
    the note of its decision and count when its reward is learned; ``learn``, which knows no action but one, changes
    estimates and no weights. An update costs :math:`(M d)^2 / 2` products for the sums of the lasso, and a lane as many
    numbers.

    Reference: Kassraie, Emmenegger, Krause, Pacchiano, "Anytime model selection in linear bandits", NeurIPS 2023.

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

    n_models: int = argument(shared.SIZE)
    dim: int | Sequence[int] = argument(shared.WIDTHS)
    noise: float | ArrayLike = shared.NOISE
    parameter_bound: float | ArrayLike = shared.PARAMETER_BOUND
    reward_range: tuple[float, float] = shared.REWARD_RANGE
    delta: float = shared.DELTA
    regularization: float | ArrayLike | None = shared.MODEL_REGULARIZATION
    scale: float = shared.SCALE
    exploration: float = argument(Number(low=0.0), default=0.1)
    learning_rate: float = argument(Number(low=0.0), default=100.0)
    penalty: float = argument(Number(low=SMALLEST), default=0.02)
    intercept: bool = shared.NO_INTERCEPT

    model_weights = answer("weights", "Weights of the learners after the rewards so far, ``(M,)``.")
    parameters = answer("learners.parameters", "Ridge estimates of the maps, ``(M, d)``.")
    constants = answer("learners.constants", "Their constant terms, ``(M,)``; 0 without an intercept.")
    lasso = answer("lasso.theta", "The group lasso estimate, ``(M, d_i)``, with an intercept the constants first.")
    outside = shared.OUTSIDE

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return the learners and the lasso; ``_choose`` plays them."""
        bank, terms = ridge_per_map(self, lanes)
        learners = Ellipsoids(bank, delta=self.delta, scale=self.scale, **terms)
        M, widest = bank.dims.size, int(bank.dims.max())
        log_M = np.log(8 * M / self.delta)
        spread = 1 + 5 / np.sqrt(2) * np.sqrt(widest * log_M) + 12 / np.sqrt(2) * log_M
        penalty = self.penalty * (8 * terms["noise"] * np.sqrt(spread))  # the constants of the authors' code
        lasso = GroupLasso(lanes=lanes, n_models=M, dim=widest, penalty=penalty)
        expected = RewardRange(self.reward_range, lanes, "the rate of the weights is scaled to that range")
        return WeighedLearners(learners, lasso, expected, self.learning_rate), None

    def _choose(self, ids: Index, x: Features, offered: Mask | None, numbers: Index) -> Chosen:
        """Return the mixture of the learners' choices, and as a note the reward predicted for each of them."""
        model = self._model
        x = x.with_constant() if model.constant else x
        bounds, score = model.bounds(ids, x), model.lasso.predict(ids, x)
        t, mask = model.updates[ids] + 1.0, ALL_OFFERED if offered is None else offered
        share = np.minimum(1.0, self.exploration * t**-0.25)
        p, gain = mix_choices(ids, bounds, score, model.gained, model.rate / np.sqrt(t), share, mask)
        return Chosen(p, self._streams.keys[ids], gain)

    def _reads(self, note: Array) -> bool:
        return bool((np.abs(note) <= LIMIT).all())


class WeighedLearners(Model):
    """Optimistic learners on one map each, weighted by the rewards that a lasso predicted for them.

    Attributes
    ----------
    gained: the rewards predicted for every learner in the rounds learned, summed, ``(N, M)``.
    rate: of the weights in the first round.
    """

    state = ("gained",)
    one_kernel = True
    reads_lookups = True
    updates = property(attrgetter("learners.updates"))

    def __init__(self, learners: Ellipsoids, lasso: GroupLasso, expected: RewardRange, learning_rate: float) -> None:
        super().__init__(learners.shape)
        lanes, M = learners.radii.squared.shape
        self.constant, self.ridge_estimates, self.note_width = learners.constant, learners.ridge_estimates, M
        self.learners, self.lasso, self.expected = learners, lasso, expected
        self.gained = np.zeros((lanes, M))
        self.rate = learning_rate * (np.sqrt(np.log(M)) / expected.span)

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Let all learners and the lasso learn; ``note (n, M)``: the reward predicted for each learner."""
        learners, expected = self.learners, self.expected
        ellipsoids, lasso = (learners.bank.arrays(), learners.radii.arrays()), self.lasso.arrays()
        gains = self.gained, np.empty((0, 0)) if note is None else np.ascontiguousarray(note)
        limits = expected.lower, expected.upper, expected.outside
        if learn_all(ids, x.values, x.block, y, lasso, gains, limits, *ellipsoids):
            self.warnings += expected.warnings(y)

    def bounds(self, ids: Index, x: Features) -> Array:
        """Return the upper bounds of every learner, ``(M, n, K)``."""
        learners, bank = self.learners, self.learners.bank
        ellipsoids = (bank.theta, bank.root, bank.dims, bank.first, learners.radii.squared)
        return every_bound(ids, x.values, x.block, ellipsoids, learners.scale)

    def weights(self) -> Array:
        """Return the weights of the learners after the rewards so far, ``(N, M)``."""
        rate, every = -self.rate / np.sqrt(self.updates + 1.0), np.ones(self.gained.shape, dtype=bool)
        return exponential_weights(np.arange(len(rate)), self.gained, rate, every)


@kernel
def learn_all(
    ids: Index, x: Array, block: Index, y: Array, lasso: Any, gains: Any, expected: Any, ridges: Any, sets: Any
) -> bool:
    """Learn in the lasso and, last, in all learners; add ``note (n, M)``, unless it is empty, to their gains.

    Counts the rewards outside ``expected = (lower, upper, outside)``; returns whether there was one.
    """
    gained, note = gains
    lower, upper, outside = expected
    learn_lasso(ids, x, y, lasso)
    for r in range(len(note)):
        for i in range(note.shape[1]):
            gained[ids[r], i] += note[r, i]
    found = count_outside(ids, y, lower, upper, outside)
    learn_ellipsoids(ids, x, block, y, ridges, sets)
    return found


@kernel
def every_bound(ids: Index, x: Any, block: Index, ellipsoids: Any, scale: float) -> Array:
    """Return the upper bound of every learner alone, ``(M, n, K)``, see ``kernels.ridge.upper_bounds``."""
    theta, root, dims, first, squared = ellipsoids
    out, only = np.empty((dims.size, ids.size, x.shape[2])), np.full(squared.shape, -1.0)
    for i in range(dims.size):
        only[:, i] = squared[:, i]
        out[i] = ridge.upper_bounds(ids, x, block, (theta, root, dims, first, only), scale, False)
        only[:, i] = -1.0
    return out


@kernel
def mix_choices(
    ids: Index, bound: Array, score: Array, total: Array, rate: Array, share: Array, offered: Mask
) -> tuple[Array, Array]:
    """Return probabilities ``(n, K)`` of M learners' choices by exponential weights, ``share[r]`` of it spread evenly.

    Learner ``i`` plays the actions of highest ``bound[i, r] (K,)``. Also returns ``gain (n, M)``, what these earn by
    the ``score (n, K)`` of actions; weights are proportional to ``exp(rate[r] (total[n, i] + gain[r, i]))``.
    """
    M, n, K = bound.shape
    p, gain, choice = np.empty((n, K)), np.empty((n, M)), np.empty((M, n, K))
    log_weight, weight, everything = np.empty(M), np.empty(M), offered.size < 2
    for i in range(M):
        choice[i] = best_actions(bound[i], offered)
    for r in range(n):
        for i in range(M):
            gain[r, i] = ridge.dot(choice[i, r], score[r])
            log_weight[i] = rate[r] * (total[ids[r], i] + gain[r, i])
        normalise(log_weight, weight)
        kappa = K if everything else offered[r].sum()
        for a in range(K):
            p[r, a] = share[r] / kappa if everything or offered[r, a] else 0.0
            for i in range(M):
                p[r, a] += (1.0 - share[r]) * weight[i] * choice[i, r, a]
    return p, gain
