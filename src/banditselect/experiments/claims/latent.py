"""Sentences on latent bandits beside the rate: PS-OFUL, the algorithms of Hong et al., and which is better.

"Scales as" a power: grows no faster, between the ends of the axis; in T, from a quarter of the rounds to all.
"A better dependence": a smaller exponent. "The best of" two: within a quarter of the smaller.
"""

import math
from typing import Any

import numpy as np

from ...simulation import Result
from ...types import Array
from .. import latent
from .. import parameter_selection as ps
from .claim import CLOSE, Compute, Measure, Runs, Sentence, Statistic, exponent, measure, part_of

CENTRAL, LARGE = latent.CENTRE["error"], latent.ERRORS[-1]

Ends = tuple[tuple[float, str], tuple[float, str]]  #: the smallest and the largest value on an axis, with problems


def _ends(runs: Runs, axis: str, *policies: str, **others: float) -> Ends | None:
    """Return the ends of an axis about the centre, among problems that all of these policies played."""
    fixed = {name: value for name, value in (latent.CENTRE | others).items() if name != axis}
    found = []
    for problem, result in runs.results.items():
        told = result.settings["problem"]["arguments"]
        if fixed.items() <= told.items() and told[axis] > 0 and set(policies) <= set(result.policies):
            found.append((told[axis], problem))
    return (min(found), max(found)) if len(found) > 1 else None


def _exponent(runs: Runs, ends: Ends, policy: str) -> Compute:
    """Return the statistic: e if the regret grows as the e-th power of the axis."""
    (small, first), (large, last) = ends
    few, many = (part_of(runs, problem, policy, 1.0) for problem in (first, last))
    return exponent(few, many, math.log(large / small))


@measure
def _root_of_arms_and_rounds(runs: Runs, policy: str) -> list[Statistic]:
    """Measure the exponents of K, and of T for both ends of K, where the error is large."""
    ends = _ends(runs, "n_arms", policy, error=LARGE)
    if ends is None:
        return []
    words = f"exponent e of K^e, regret of {policy}, between {ends[0][1]} and {ends[1][1]}"
    parts = [Statistic(words, _exponent(runs, ends, policy), high=0.5)]
    for _, problem in ends:
        words = f"exponent e of T^e, regret of {policy} in the last three quarters, {problem}"
        parts.append(Statistic(words, since_a_quarter(runs, problem, policy), high=0.5))
    return parts


def at_a_quarter(result: Result, policy: str) -> tuple[Array, float]:
    """Return the regret of a policy after a quarter of the rounds, and the logarithm of all rounds over these."""
    quarter = int(np.abs(result.checkpoints - result.checkpoints[-1] / 4).argmin())
    return result.curve(policy)[quarter], math.log(result.checkpoints[-1] / result.checkpoints[quarter])


def since_a_quarter(runs: Runs, problem: str, policy: str) -> Compute:
    """Return the statistic: e if the regret grew as the e-th power of T in the last three quarters of the rounds."""
    early, span = at_a_quarter(runs.results[problem], policy)
    return exponent(lambda mean: mean(early[: runs.n]), part_of(runs, problem, policy, 1.0), span)


def _within_bound(runs: Runs) -> list[Statistic]:
    """Compare the regret of both algorithms of Hong et al. with their bound, problem by problem."""
    parts = []
    for problem, result in runs.results.items():
        told, noise = result.settings["problem"]["arguments"], result.settings["policies"][latent.OPTIMISM]
        arguments = {"n_models": told["n_models"], "error": told["error"], "noise": noise["arguments"]["noise"]}
        bound = latent.rivals_bound(result.settings["rounds"], **arguments)
        for policy in (latent.OPTIMISM, latent.SAMPLING):
            over = part_of(runs, problem, policy, bound)
            parts.append(Statistic(f"regret of {policy} over its bound, {problem}", over, high=1.0))
    return parts


def _best_of_both(runs: Runs) -> list[Statistic]:
    """Compare the regret of regret balancing with the smaller of PS-OFUL's and mmUCB's."""

    def to_smaller(problem: str) -> Compute:
        own, *both = (runs.final(problem, one) for one in (latent.PRINTED, ps.LIKELIHOOD, latent.OPTIMISM))
        return lambda mean: mean(own) / np.minimum(*(mean(one) for one in both))

    words = f"regret of {latent.PRINTED} over the smaller of those of PS-OFUL and {latent.OPTIMISM}, "
    played = [problem for problem, result in runs.results.items() if ps.LIKELIHOOD in result.policies]
    return [Statistic(words + p, to_smaller(p), high=CLOSE) for p in played]


@measure
def _dependence(runs: Runs, a: str, b: str, *axes: tuple[str, str, float]) -> list[Statistic]:
    """Measure the exponent of ``a`` minus that of ``b``, along (an axis, its symbol, at this error)."""

    def difference(ends: Ends) -> Compute:
        one, other = (_exponent(runs, ends, policy) for policy in (a, b))
        return lambda mean: one(mean) - other(mean)

    parts = []
    for axis, symbol, error in axes:
        ends = _ends(runs, axis, a, b, error=error)
        if ends is not None:
            words = f"exponent of {symbol} in the regret of {a} minus that of {b}, {ends[0][1]} to {ends[1][1]}"
            parts.append(Statistic(words, difference(ends), high=0.0))
    return parts


def _sentence(id: str, quote: str, needs: tuple[str, ...], parts: Measure, *about: str, **options: Any) -> Sentence:
    """Return a sentence on latent bandits; ``needs``: policies without which it cannot be judged."""
    return Sentence(id, quote, ("latent",), needs, parts, about=about, ours=id.endswith("-ours"), **options)


ROOT = "the regret of PS-OFUL, which scales as sqrt(KT)"
OURS_ROOT = "the regret of PS-OFUL with likelihood sets scales as sqrt(KT)"
BOUND = "their regret (Bayes regret in case of TS) are bounded as 3M + 2T eps + 2R sqrt(6MT log T)"
SMALLER = "regret balancing has about the smaller of the regrets of PS-OFUL with likelihood sets and of mmUCB"
GROWS = "the regret of PS-OFUL with likelihood sets grows slower with the number and the error of the models than that "
ARMS = "the regret of mmUCB grows slower with the number of actions than that of PS-OFUL with likelihood sets"
IN_MODELS = _dependence(ps.LIKELIHOOD, latent.OPTIMISM, ("n_models", "M", CENTRAL), ("error", "eps", CENTRAL))
IN_ARMS = _dependence(latent.OPTIMISM, ps.LIKELIHOOD, ("n_arms", "K", CENTRAL), ("n_arms", "K", LARGE))
HONG = {"regimes": ("theory",), "place": "Section 4.2, of Hong et al. (2020)"}
OF_BOTH, RELATED = "said in Appendix E of its rate and theirs", "Section 4.2, said of the bounds"
RIVAL, RIVALS = (latent.OPTIMISM,), (latent.OPTIMISM, latent.SAMPLING)

LATENT_SENTENCES = (
    _sentence("latent-ps", ROOT, (), _root_of_arms_and_rounds(ps.PS), ps.PS),
    _sentence("latent-ps-ours", OURS_ROOT, (), _root_of_arms_and_rounds(ps.LIKELIHOOD), ps.LIKELIHOOD),
    _sentence("latent-rivals", BOUND, RIVALS, _within_bound, **HONG),
    _sentence("latent-best-ours", SMALLER, (latent.PRINTED, *RIVAL), _best_of_both, latent.PRINTED, place=OF_BOTH),
    _sentence("latent-dependence-ours", f"{GROWS}of mmUCB", RIVAL, IN_MODELS, ps.LIKELIHOOD, place=RELATED),
    _sentence("latent-arms-ours", ARMS, RIVAL, IN_ARMS, latent.OPTIMISM, place=RELATED),
)
