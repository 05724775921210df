"""Off-policy evaluation: what another policy would have earned on the decisions of a log.

Three estimators that correct for what was played with logged propensities (inverse propensity scores, self-normalised,
doubly robust), each with an interval, and the warning signs that say when not to trust them.
"""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..carriers import validation
from ..policies import Binding, Policy
from ..statistics import standard_error
from ..types import Array, Index
from .log import Log, chunks

_TOLERANCE = 1e-6  #: how far probabilities may be from summing to 1


@dataclass(frozen=True)
class Estimate:
    """An estimate and its confidence interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.4g} [{self.low:.4g}, {self.high:.4g}]"


@dataclass(frozen=True)
class Estimates:
    """What :func:`evaluate` returns.

    Attributes
    ----------
    ips, snips, dr: the mean reward that the policy would have earned, by three estimators.
    mean_reward: what was earned in the log.
    n: decisions in the log.
    effective_sample_size: how many decisions of weight 1 tell as much as these, (sum w)^2 / sum w^2.
    mean_weight, largest_weight: of the importance weights as they were used; the mean is 1 but for chance.
    """

    ips: Estimate
    snips: Estimate
    dr: Estimate
    mean_reward: float
    n: int
    effective_sample_size: float
    mean_weight: float
    largest_weight: float

    def __str__(self) -> str:
        return (
            f"ips    {self.ips}\nsnips  {self.snips}\ndr     {self.dr}\n"
            f"logged {self.mean_reward:.4g}; {self.n} decisions, effective {self.effective_sample_size:.1f}; "
            f"weights: mean {self.mean_weight:.3f}, largest {self.largest_weight:.3g}"
        )


def evaluate(
    policy: Policy | Callable[[Any], ArrayLike] | ArrayLike,
    log: Log,
    *,
    learn: bool = False,
    predictions: ArrayLike | None = None,
    map: int | None = None,
    folds: int = 5,
    clip: float | None = None,
    delta: float = 0.05,
    seed: int = 0,
) -> Estimates:
    r"""Estimate what ``policy`` would have earned per decision, had it made the decisions of the log.

    With :math:`\pi_t(a)` the probabilities of the policy, :math:`p_t` the logged propensity of the logged action
    :math:`a_t`, :math:`r_t` its reward, :math:`w_t = \pi_t(a_t) / p_t`, and :math:`q_t(a)` the reward model's
    predictions:

    .. math::
        \text{ips} = \frac1T \sum_t w_t r_t, \quad
        \text{snips} = \frac{\sum_t w_t r_t}{\sum_t w_t}, \quad
        \text{dr} = \frac1T \sum_t \Bigl[ \sum_a \pi_t(a) q_t(a) + w_t (r_t - q_t(a_t)) \Bigr]

    Parameters
    ----------
    policy: a policy without lanes and with propensities, which is not changed; or the probabilities of all actions,
        ``(T, K)``; or a function from the features of the actions that one decision offered, as ``Log.offers`` returns
        them, to their probabilities.
    log: its propensities must be the exact probabilities of the draws.
    learn: False: the policy as it is. True: at every decision a copy is asked for its probabilities and then learns
        the logged action and reward. That estimates what decision t would have earned under a policy that has learned
        from the t - 1 logged decisions before it, averaged over t; not what the policy would have earned by learning
        from its own decisions, see :class:`LoggedReplay` for that.
    predictions: q, ``(T, K)``, of a model that did not see these rewards. None: ridge regression with a constant on the
        standardised features (penalty 1), where the decisions of each of ``folds`` random folds are predicted from the
        other folds.
    map: the map that the ridge regression uses; None: all of them side by side.
    clip: weights above it count as ``clip``: less variance, and a bias that the intervals do not know of.
    delta: the intervals have confidence 1 - delta.
    seed: of the folds.

    Notes
    -----
    Unbiased for independent decisions with exact propensities, if every action that the policy may play had a positive
    propensity: ips, and dr whatever the model. snips has a bias of order 1/T, but is exact for constant rewards, and a
    constant added to all rewards is added to it. Where the logging policy learned meanwhile, ips stays unbiased; dr
    does with ``predictions`` from earlier data.

    The intervals are those of the central limit theorem: the sample variance of the terms for ips and dr, the delta
    method for snips. They hold for large T and moderate weights. A few large weights make them too narrow, because the
    sample variance has not seen larger ones yet: look at ``effective_sample_size``, and distrust intervals that rest on
    fewer than some 50. Bounds that hold for every T (Bernstein's) are proportional to the largest weight possible, and
    mostly say nothing.

    Warns if the mean weight is more than 5 standard errors from 1, which exact propensities make unlikely.

    References
    ----------
    Horvitz, Thompson, "A generalization of sampling without replacement from a finite universe", JASA 1952 (ips).
    Swaminathan, Joachims, "The self-normalized estimator for counterfactual learning", NeurIPS 2015 (snips).
    Dudik, Langford, Li, "Doubly robust policy evaluation and learning", ICML 2011 (dr).

    Examples
    --------
    >>> import numpy as np
    >>> p, r = [0.5, 0.5, 0.5, 0.25], [1.0, 0.0, 2.0, 1.0]
    >>> log = Log(features=np.ones((4, 2, 1)), action=[0, 0, 1, 1], propensity=p, reward=r)
    >>> found = evaluate(np.full((4, 2), 0.5), log, predictions=np.ones((4, 2)))
    >>> found.ips.estimate, found.snips.estimate, found.dr.estimate  # weights 1, 1, 1, 2
    (1.25, 1.0, 1.0)
    """
    if not isinstance(log, Log) or len(log) < 2:
        raise validation.refuse("evaluate: log", log, "a Log of at least 2 decisions")
    if isinstance(policy, Binding | type):
        raise validation.refuse("evaluate: policy", policy, "a policy that is built, such as SquareCB(dim=3)")
    T, K = len(log), log.features.n_actions
    validation.whole_number("evaluate: folds", folds, 2)
    validation.Number(low=0.0, above=True, optional=True).check("evaluate: clip", clip, None)
    validation.Number(low=0.0, above=True, high=1.0, below=True).check("evaluate: delta", delta, None)
    validation.seed("evaluate: seed", seed)
    if predictions is None:
        q = _cross_fitted(log, map, min(folds, T), np.random.default_rng(seed))
    else:
        q = validation.as_floats("evaluate: predictions", predictions, f"finite numbers of shape {(T, K)}")
        if q.shape != (T, K) or not np.isfinite(q).all():
            raise validation.refuse("evaluate: predictions", predictions, f"finite numbers of shape {(T, K)}")
    probabilities = _probabilities(policy, log, learn)
    rows = np.arange(T)
    w = probabilities[rows, log.action] / log.propensity
    _doubt(w)
    if clip is not None:
        w = np.minimum(w, clip)
    y, total = log.reward, float(w.sum())
    z = NormalDist().inv_cdf(1.0 - 0.5 * delta)
    normalised = float(w @ y) / total if total else math.nan
    deviation = math.sqrt(T / (T - 1) * float(((w * (y - normalised)) ** 2).sum())) / total if total else math.nan
    return Estimates(
        ips=_mean(w * y, z),
        snips=Estimate(normalised, normalised - z * deviation, normalised + z * deviation),
        dr=_mean((probabilities * q).sum(axis=1) + w * (y - q[rows, log.action]), z),
        mean_reward=float(y.mean()),
        n=T,
        effective_sample_size=total**2 / float(w @ w) if total else 0.0,
        mean_weight=total / T,
        largest_weight=float(w.max()),
    )


def _mean(terms: Array, z: float) -> Estimate:
    middle, deviation = float(terms.mean()), float(standard_error(terms))
    return Estimate(middle, middle - z * deviation, middle + z * deviation)


def _doubt(w: Array) -> None:
    """Warn where the weights cannot be those of exact propensities and full support."""
    mean, error = float(w.mean()), float(standard_error(w))
    if abs(mean - 1.0) > 5.0 * error + _TOLERANCE:
        validation.warn(
            f"evaluate: the importance weights have mean {mean:.3g}, more than 5 standard errors ({error:.2g}) from 1: "
            "the propensities are not those of the draws, the policy plays what could not be logged, or too few "
            "decisions of the log are ones that it would make. The estimates cannot be trusted."
        )


def _probabilities(policy: Any, log: Log, learn: bool) -> Array:
    """Return the target's probabilities of all actions, ``(T, K)``; zero where an action was not offered."""
    T, K, offered = len(log), log.features.n_actions, log.offered
    if isinstance(policy, Policy):
        if policy.lanes is not None:
            raise validation.refuse("evaluate: policy", f"{policy.lanes} lanes", "a policy without lanes")
        if not policy.has_propensity:
            name = type(policy).__name__
            raise validation.refuse("evaluate: policy", name, "a policy whose probabilities have a closed form")
        learner = copy.deepcopy(policy) if learn else policy
        ask = learner.probabilities
    elif learn:
        raise validation.refuse("evaluate: learn", learn, "False: only a policy learns")
    elif callable(policy):
        ask = policy
    else:
        p = validation.as_floats("evaluate: policy", policy, f"probabilities of shape {(T, K)}")
        if p.shape != (T, K):
            raise validation.refuse("evaluate: policy", policy, f"probabilities of shape {(T, K)}")
        for t in np.flatnonzero(~(_sums_to_one(p) & (np.where(offered, 0.0, p) == 0.0).all(axis=1)))[:1]:
            expected = "probabilities that sum to 1, and 0 for what was not offered"
            raise validation.refuse(f"evaluate: policy[{t}]", p[t], expected)
        return p
    p = np.zeros((T, K))
    for t in range(T):
        n = int(offered[t].sum())
        expected = f"{n} probabilities that sum to 1"
        asked = validation.as_floats(f"evaluate: policy at decision {t}", ask(log.offers(t)), expected)
        if asked.shape != (n,) or not _sums_to_one(asked[None]).all():
            raise validation.refuse(f"evaluate: policy at decision {t}", asked, expected)
        p[t, offered[t]] = asked
        if learn:
            learner.learn(log.played(t), float(log.reward[t]))
    return p


def _sums_to_one(p: Array) -> Any:
    return (p >= 0.0).all(axis=1) & (np.abs(p.sum(axis=1) - 1.0) <= _TOLERANCE)


def _cross_fitted(log: Log, map: int | None, folds: int, rng: np.random.Generator) -> Array:
    """Return ridge predictions of all actions, ``(T, K)``, each from the folds that its decision is not in.

    The regression uses one map, or all of them side by side. Features are standardised by all that was offered: given
    the contexts, the model of a fold depends on nothing that was played or earned in it.
    """
    last = len(log.features.dims) - 1
    validation.Number(low=0, high=last, integer=True, optional=True).check("evaluate: map", map, None)
    offered, parts = log.offered, chunks(log)

    def features(part: Index) -> Array:
        maps = log.features.maps(part)
        return np.concatenate(maps, axis=2) if map is None else maps[map]

    count = offered.sum()
    mean = sum(features(part)[offered[part]].sum(axis=0) for part in parts) / count
    spread = np.sqrt(sum(((features(part)[offered[part]] - mean) ** 2).sum(axis=0) for part in parts) / count)
    spread = np.where(spread > 1e-12 * np.abs(mean), spread, np.inf)  # a constant column says nothing

    def design(part: Index) -> Array:
        x = (features(part) - mean) / spread
        return np.concatenate([x, np.ones((*x.shape[:2], 1))], axis=2)

    fold = rng.permutation(len(log)) % folds
    width = mean.size + 1
    gram, moment = np.zeros((folds, width, width)), np.zeros((folds, width))
    for part in parts:
        x = design(part)[np.arange(part.size), log.action[part]]
        for f in range(folds):
            mine = fold[part] == f
            gram[f] += x[mine].T @ x[mine]
            moment[f] += x[mine].T @ log.reward[part][mine]
    penalty = np.append(np.ones(width - 1), 0.0)
    theta = np.linalg.solve(gram.sum(axis=0) - gram + np.diag(penalty), (moment.sum(axis=0) - moment)[..., None])
    return np.concatenate([np.einsum("nkd,nd->nk", design(part), theta[fold[part]][..., 0]) for part in parts])
