"""Off-policy evaluation: estimate the reward that another policy would have earned on the decisions of a log.

Three estimators use the logged propensities (inverse propensity scores, self-normalised, doubly robust), each with an
interval, and a warning where the weights show that they cannot be trusted.
"""

import copy
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..policies import Binding, Policy
from ..policies.on_map import OnMap
from ..runtime import constraints, errors, inputs
from ..runtime.shapes import stacked
from ..types import Array
from .estimators import TOLERANCE, Estimates, ImportanceSums
from .log import Log, chunks
from .reward_model import cross_fitted
from .rounds import Round

_BLOCK = 1000  #: rounds whose terms are added at a time


def evaluate(
    target: Any,
    log: Log | Iterable[Round],
    *,
    progressive: bool = False,
    predictions: ArrayLike | Callable[[Any, Any], ArrayLike] | None = None,
    map: int | None = None,
    folds: int = 5,
    clip: float | None = None,
    delta: float = 0.05,
    seed: int = 0,
) -> Estimates:
    r"""Estimate what ``target`` would have earned per decision, had it made the decisions of a log.

    With :math:`\pi_t(a)` the probabilities of the target, :math:`p_t` the logged propensity of the logged action
    :math:`a_t`, :math:`r_t` its reward, :math:`w_t = \pi_t(a_t) / p_t`, and :math:`q_t(a)` the reward model's
    predictions:

    .. math::
        \text{ips} = \frac1T \sum_t w_t r_t, \quad
        \text{snips} = \frac{\sum_t w_t r_t}{\sum_t w_t}, \quad
        \text{dr} = \frac1T \sum_t \Bigl[ \sum_a \pi_t(a) q_t(a) + w_t (r_t - q_t(a_t)) \Bigr]

    Parameters
    ----------
    target: it is not changed. With a ``Log``, a policy without lanes and with propensities, or a function from the
        features of the actions offered, as ``Log.offers`` returns them, to their probabilities. With rounds, an agent
        (anything with ``probabilities(context, items)``), or such a function. With either, the probabilities of all
        actions, ``(T, K)``.
    log: a ``Log``, or rounds of records, which are iterated over once. Its propensities must be the exact probabilities
        of the draws.
    progressive: False: the target as it is. True: at every decision a copy is asked for its probabilities and then
        learns the logged action and reward, so decision t is judged after learning from the t - 1 before it. For
        learning from its own decisions see :func:`replay`.
    predictions: q of a model that did not see these rewards. With a ``Log``, ``(T, K)``; None: ridge regression with a
        constant on the standardised features (penalty 1), where the decisions of each of ``folds`` random folds are
        predicted from the other folds. With rounds, a function from the context and the items to expected rewards;
        None: the mean of all earlier rewards, for every item.
    map: the map that the ridge regression uses; None: the one on which it predicts best, by generalised
        cross-validation in the other folds.
    clip: weights above it count as ``clip``: less variance, and a bias that the intervals do not include.
    delta: the intervals have confidence 1 - delta.
    seed: of the folds.

    Notes
    -----
    Unbiased for independent decisions with exact propensities, if every action that the policy may play had a positive
    propensity: ips, and dr for any model. snips has a bias of order 1/T, but is exact for constant rewards, and a
    constant added to all rewards is added to it. Where the logging policy learned meanwhile, ips stays unbiased; dr
    does with ``predictions`` from earlier data, and with rounds.

    The intervals are those of the central limit theorem: the sample variance of the terms for ips and dr, the delta
    method for snips. They hold for large T and moderate weights. A few large weights make them too narrow, because the
    sample variance has not seen larger ones yet: look at ``effective_sample_size``, and distrust intervals that rest on
    fewer than some 50.

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
    >>> items = [{"id": "a"}, {"id": "b"}]
    >>> rounds = [Round({}, items, 0, 1.0, 0.5), Round({}, items, 1, 0.0, 0.5), Round({}, items, 1, 2.0, 0.25)]
    >>> evaluate(lambda context, items: [0.5, 0.5], rounds).snips.estimate  # weights 1, 1, 2
    1.25
    """
    if isinstance(target, Binding | type):
        raise errors.refuse("evaluate: target", target, "a policy that is built, such as SquareCB(dim=3)")
    constraints.YesNo().check("evaluate: progressive", progressive, None)
    constraints.whole_number("evaluate: folds", folds, 2)
    constraints.Number(low=0.0, above=True, optional=True).check("evaluate: clip", clip, None)
    constraints.Number(low=0.0, above=True, high=1.0, below=True).check("evaluate: delta", delta, None)
    constraints.Seeds().check("evaluate: seed", seed, None)
    if progressive and not hasattr(target, "learn"):
        raise errors.refuse("evaluate: progressive", progressive, "False: this target does not learn")
    learner = copy.deepcopy(target) if progressive else target
    sums = ImportanceSums(clip)
    if isinstance(log, Log):
        if len(log) > 1:
            q = _predictions(predictions, log, map, folds, seed)
            p, rows = _probabilities(learner, log, progressive), np.arange(len(log))
            w = p[rows, log.action] / log.propensity
            sums.add(w, log.reward, (p * q).sum(axis=1), log.reward - q[rows, log.action])
    else:
        for block in _blocks(_terms(learner, log, progressive, predictions)):
            sums.add(*block.T)
    if sums.n < 2:
        raise errors.refuse("evaluate: log", log, f"at least 2 decisions, not {sums.n}")
    return sums.estimates(delta)


def _predictions(given: Any, log: Log, map: int | None, folds: int, seed: int) -> Array:
    """Return the rewards that a model expects of all actions, ``(T, K)``."""
    if given is None:
        return cross_fitted(log, map, min(folds, len(log)), np.random.default_rng(seed))
    return _table("evaluate: predictions", given, log, "finite numbers")


def _table(name: str, given: Any, log: Log, kind: str) -> Array:
    """Return a finite number for every action of every decision, ``(T, K)``."""
    expected = f"{kind} of shape {log.offered.shape}"
    found = inputs.as_floats(name, given, expected)
    if found.shape != log.offered.shape or not np.isfinite(found).all():
        raise errors.refuse(name, given, expected)
    return found


def _probabilities(target: Any, log: Log, progressive: bool) -> Array:
    """Return the target's probabilities of all actions, ``(T, K)``; zero where an action was not offered."""
    offered = log.offered
    if isinstance(target, Policy):
        if target.lanes is not None:
            raise errors.refuse("evaluate: target", f"{target.lanes} lanes", "a policy without lanes")
        if not target.has_propensity:
            name = type(target).__name__
            raise errors.refuse("evaluate: target", name, "a policy whose probabilities have a closed form")
        if not progressive:
            return _at_once(target, log)
    elif hasattr(target, "probabilities"):
        raise errors.refuse("evaluate: log", log, "rounds of records for an agent; features are for policies")
    elif not callable(target):
        return _checked(target, log)
    ask = target.probabilities if isinstance(target, Policy) else target
    p = np.zeros(offered.shape)
    for part in chunks(log):
        maps = log.features.shown(part) if progressive else log.features.maps(part)
        for i, t in enumerate(part.tolist()):
            given = ask(log.part(maps, i, offered[t]))
            p[t, offered[t]] = _numbers(f"evaluate: target at decision {t}", given, int(offered[t].sum()), law=True)
            if progressive:
                target.learn(log.part(maps, i, log.action[t]), float(log.reward[t]))
    return p


def _checked(given: Any, log: Log) -> Array:
    """Return probabilities that were given for all actions of all decisions."""
    p = _table("evaluate: target", given, log, "probabilities")
    right = (p >= 0.0).all(axis=1) & (np.abs(p.sum(axis=1) - 1.0) <= TOLERANCE)
    for t in np.flatnonzero(~(right & (np.where(log.offered, 0.0, p) == 0.0).all(axis=1)))[:1]:
        expected = "probabilities that sum to 1, and 0 for what was not offered"
        raise errors.refuse(f"evaluate: target[{t}]", p[t], expected)
    return p


def _at_once(policy: Policy, log: Log) -> Array:
    """Return the probabilities of a policy that does not learn meanwhile; of a policy on one map, only that is read."""
    features, reader, only = log.features, policy, None
    if isinstance(policy, OnMap) and features.many and (index := int(np.asarray(policy.index))) < len(features.dims):
        reader, only = policy.policy, index
    p = np.zeros(log.offered.shape)
    for part in chunks(log):
        maps = features.shown(part) if only is None else features.maps(part, only)
        x = stacked(maps, features.many and only is None, axis=1)
        p[part] = reader.probabilities_many(x, available=None if log.available is None else log.available[part])
    return p


def _terms(target: Any, rounds: Iterable[Round], progressive: bool, model: Any) -> Iterator[tuple[float, ...]]:
    """Yield for every round the weight, the reward, the model's expected reward of the target, and its error."""
    if isinstance(target, Policy):
        raise errors.refuse("evaluate: log", rounds, "a Log for a policy: Log.from_rounds(rounds, maps)")
    ask = getattr(target, "probabilities", target)
    before = 0.0
    for t, (context, items, action, reward, probability) in enumerate(rounds):
        given = ask(context, items) if callable(ask) else target[t][: len(items)] if t < len(target) else None
        p = _numbers(f"evaluate: target at round {t}", given, len(items), law=True)
        if model is None:
            direct = expected = before
        else:
            q = _numbers(f"evaluate: predictions at round {t}", model(context, items), len(items))
            direct, expected = float(p @ q), float(q[action])
        if progressive:
            target.learn(context, items[action], reward)
        before += (reward - before) / (t + 1)
        yield float(p[action]) / probability, reward, direct, reward - expected


def _blocks(rows: Iterator[tuple[float, ...]]) -> Iterator[Array]:
    """Yield rows of numbers as arrays, a block at a time."""
    for first in rows:
        yield np.array([first, *islice(rows, _BLOCK - 1)])


def _numbers(name: str, value: Any, n: int, law: bool = False) -> Array:
    """Return a finite number for every item; with ``law`` probabilities that sum to 1."""
    expected = f"{n} {'probabilities that sum to 1' if law else 'finite numbers'}"
    found = inputs.as_floats(name, value, expected)
    good = found.shape == (n,) and bool(np.isfinite(found).all())
    if not good or (law and (found.min() < 0.0 or abs(found.sum() - 1.0) > TOLERANCE)):
        raise errors.refuse(name, value, expected)
    return found
