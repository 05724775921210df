"""Off-policy evaluation: what another policy would have earned on the decisions of a log.

Three estimators that correct for what was played with logged propensities (inverse propensity scores, self-normalised,
doubly robust), each with an interval, and the warning signs that say when not to trust them.
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..policies import Binding, Policy
from ..policies.on_map import OnMap
from ..problems.base import stacked
from ..runtime import constraints, errors, inputs
from ..types import Array, Blocked
from .estimates import TOLERANCE, Estimates, WeightedRewards
from .features import part_of
from .log import Log, chunks
from .reward_model import cross_fitted


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
    map: the map that the ridge regression uses; None: the one on which it predicts best, by generalised
        cross-validation in the other folds.
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
        raise errors.refuse("evaluate: log", log, "a Log of at least 2 decisions")
    if isinstance(policy, Binding | type):
        raise errors.refuse("evaluate: policy", policy, "a policy that is built, such as SquareCB(dim=3)")
    T, K = len(log), log.features.n_actions
    constraints.whole_number("evaluate: folds", folds, 2)
    constraints.Number(low=0.0, above=True, optional=True).check("evaluate: clip", clip, None)
    constraints.Number(low=0.0, above=True, high=1.0, below=True).check("evaluate: delta", delta, None)
    inputs.check_seed("evaluate: seed", seed)
    if predictions is None:
        q = cross_fitted(log, map, min(folds, T), np.random.default_rng(seed))
    else:
        q = inputs.as_floats("evaluate: predictions", predictions, f"finite numbers of shape {(T, K)}")
        if q.shape != (T, K) or not np.isfinite(q).all():
            raise errors.refuse("evaluate: predictions", predictions, f"finite numbers of shape {(T, K)}")
    probabilities = _probabilities(policy, log, learn)
    rows = np.arange(T)
    sums = WeightedRewards(clip)
    w = probabilities[rows, log.action] / log.propensity
    sums.add(w, log.reward, (probabilities * q).sum(axis=1), log.reward - q[rows, log.action])
    return sums.estimates(delta)


def _probabilities(policy: Any, log: Log, learn: bool) -> Array:
    """Return the target's probabilities of all actions, ``(T, K)``; zero where an action was not offered."""
    T, K, offered = len(log), log.features.n_actions, log.offered
    if isinstance(policy, Policy):
        if policy.lanes is not None:
            raise errors.refuse("evaluate: policy", f"{policy.lanes} lanes", "a policy without lanes")
        if not policy.has_propensity:
            name = type(policy).__name__
            raise errors.refuse("evaluate: policy", name, "a policy whose probabilities have a closed form")
        learner = copy.deepcopy(policy) if learn else policy
        ask = learner.probabilities
    elif learn:
        raise errors.refuse("evaluate: learn", learn, "False: only a policy learns")
    elif callable(policy):
        ask = policy
    else:
        p = inputs.as_floats("evaluate: policy", policy, f"probabilities of shape {(T, K)}")
        if p.shape != (T, K):
            raise errors.refuse("evaluate: policy", policy, f"probabilities of shape {(T, K)}")
        for t in np.flatnonzero(~(_sums_to_one(p) & (np.where(offered, 0.0, p) == 0.0).all(axis=1)))[:1]:
            expected = "probabilities that sum to 1, and 0 for what was not offered"
            raise errors.refuse(f"evaluate: policy[{t}]", p[t], expected)
        return p
    if isinstance(policy, Policy) and not learn:
        return _as_it_is(policy, log)
    p = np.zeros((T, K))
    for part in chunks(log):
        maps = log.features.shown(part) if isinstance(policy, Policy) else log.features.maps(part)
        x = stacked(maps, log.features.many, axis=1)
        for i, t in enumerate(part.tolist()):
            mine = part_of(x, i)
            here = mine if log.available is None else _actions(mine, offered[t])
            n = int(offered[t].sum())
            expected = f"{n} probabilities that sum to 1"
            asked = inputs.as_floats(f"evaluate: policy at decision {t}", ask(here), expected)
            if asked.shape != (n,) or not _sums_to_one(asked[None]).all():
                raise errors.refuse(f"evaluate: policy at decision {t}", asked, expected)
            p[t, offered[t]] = asked
            if learn:
                learner.learn(_actions(mine, log.action[t]), float(log.reward[t]))
    return p


def _as_it_is(policy: Policy, log: Log) -> Array:
    """Return the probabilities of a policy that does not learn meanwhile; on one map, only that one is read."""
    features, reader, only = log.features, policy, None
    if isinstance(policy, OnMap) and features.many and (index := int(np.asarray(policy.index))) < len(features.dims):
        reader, only = policy.policy, index
    p = np.zeros((len(log), features.n_actions))
    for part in chunks(log):
        maps = features.shown(part) if only is None else features.maps(part, only)
        x = stacked(maps, features.many and only is None, axis=1)
        p[part] = reader.probabilities_many(x, available=None if log.available is None else log.available[part])
    return p


def _actions(x: Any, places: Any) -> Any:
    """Return some of the actions of a decision, in every map."""
    return part_of(x, places) if isinstance(x, list | Blocked) else x[..., places, :]


def _sums_to_one(p: Array) -> Any:
    return (p >= 0.0).all(axis=1) & (np.abs(p.sum(axis=1) - 1.0) <= TOLERANCE)
