"""Sentences on latent bandits beside the rate: PS-OFUL, the algorithms of Hong et al., and which is better.

"Scales as" a power: grows no faster, between the ends of the axis; in T, from a quarter of the rounds to all.
"A better dependence": a smaller exponent. "The best of" two: within a quarter of the smaller.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...simulation import Result
from ...types import Array
from .. import latent
from .. import parameter_selection as ps
from .claim import Measure, Measured, Runs, Sentence, Statistic, measure_all
from .statistics import CLOSE, part_of

CENTRAL, LARGE = latent.CENTRE["error"], latent.ERRORS[-1]

Ends = tuple[tuple[float, str], tuple[float, str]]
"""The smallest and the largest value of what was varied, each with its problem."""


def _ends(runs: Runs, axis: str, *policies: str, **others: float) -> Ends | None:
    """Return the ends of an axis about the centre, among problems that all of these policies played."""
    fixed = {name: value for name, value in (latent.CENTRE | others).items() if name != axis}
    found = []
    for problem, result in runs.results.items():
        told = result.settings["problem"]["arguments"]
        if fixed.items() <= told.items() and told[axis] > 0 and set(policies) <= set(result.policies):
            found.append((told[axis], problem))
    return (min(found), max(found)) if len(found) > 1 else None


def _exponent(ends: Ends, policy: str) -> Callable[[Runs], Any]:
    """Return the statistic: e if the regret grows as the e-th power of the axis."""
    (small, first), (large, last) = ends
    return lambda runs: np.log(runs.mean(last, policy) / runs.mean(first, policy)) / math.log(large / small)


def _difference(ends: Ends, a: str, b: str) -> Callable[[Runs], Any]:
    one, other = _exponent(ends, a), _exponent(ends, b)
    return lambda runs: one(runs) - other(runs)


def _root_of_arms_and_rounds(policy: str) -> Measure:
    """Return the measure: the exponents of K, and of T for both ends of K, where the error is large."""

    def measure(runs: Runs) -> list[Measured]:
        ends = _ends(runs, "n_arms", policy, error=LARGE)
        if ends is None:
            return []
        arms = _exponent(ends, policy)
        words = f"regret of {policy}, between {ends[0][1]} and {ends[1][1]}"
        parts = [Statistic(f"exponent e of K^e, {words}", lambda late, early: arms(late), high=0.5)]
        quarters = {}
        for _, problem in ends:
            quarters[problem], span = at_a_quarter(runs.results[problem], policy)
            words = f"exponent e of T^e, regret of {policy} in the last three quarters, {problem}"
            parts.append(Statistic(words, since(problem, policy, span), high=0.5))
        return measure_all(parts, [runs, Runs(quarters)])

    return measure


def at_a_quarter(result: Result, policy: str) -> tuple[dict[str, Array], float]:
    """Return the regrets of a policy after a quarter of the rounds, and the logarithm of all rounds over these."""
    quarter = int(np.abs(result.checkpoints - result.checkpoints[-1] / 4).argmin())
    return {policy: result.curve(policy)[quarter]}, math.log(result.checkpoints[-1] / result.checkpoints[quarter])


def since(problem: str, policy: str, span: float) -> Callable[[Runs, Runs], Any]:
    """Return the statistic: e if the regret grew as the e-th power of T while its logarithm grew by ``span``."""
    return lambda late, early: np.log(late.mean(problem, policy) / early.mean(problem, policy)) / span


def _within_bound(runs: Runs) -> list[Measured]:
    """Measure the regret of both algorithms of Hong et al. over their bound, problem by problem."""
    parts = []
    for problem, result in runs.results.items():
        told, noise = result.settings["problem"]["arguments"], result.settings["policies"][latent.OPTIMISM]
        arguments = {"n_models": told["n_models"], "error": told["error"], "noise": noise["arguments"]["noise"]}
        bound = latent.rivals_bound(result.settings["rounds"], **arguments)
        for policy in (latent.OPTIMISM, latent.SAMPLING):
            parts.append(
                Statistic(f"regret of {policy} over its bound, {problem}", part_of(problem, policy, bound), high=1.0)
            )
    return measure_all(parts, [runs])


def _best_of_both(runs: Runs) -> list[Measured]:
    """Measure the regret of regret balancing over the smaller of PS-OFUL's and mmUCB's."""
    words = f"regret of {latent.PRINTED} over the smaller of those of PS-OFUL and {latent.OPTIMISM}, "
    played = [problem for problem, result in runs.results.items() if ps.LIKELIHOOD in result.policies]
    return measure_all([Statistic(words + p, _to_smaller(p), high=CLOSE) for p in played], [runs])


def _to_smaller(problem: str) -> Callable[[Runs], Any]:
    def compute(runs: Runs) -> Any:
        smaller = np.minimum(runs.mean(problem, ps.LIKELIHOOD), runs.mean(problem, latent.OPTIMISM))
        return runs.mean(problem, latent.PRINTED) / smaller

    return compute


def _dependence(a: str, b: str, *axes: tuple[str, str, float]) -> Measure:
    """Return the measure: the exponent of ``a`` minus that of ``b``, along (an axis, its symbol, at this error)."""

    def measure(runs: Runs) -> list[Measured]:
        parts = []
        for axis, symbol, error in axes:
            ends = _ends(runs, axis, a, b, error=error)
            if ends is not None:
                words = f"exponent of {symbol} in the regret of {a} minus that of {b}, {ends[0][1]} to {ends[1][1]}"
                parts.append(Statistic(words, _difference(ends, a, b), high=0.0))
        return measure_all(parts, [runs])

    return measure


ROOT = "the regret of PS-OFUL, which scales as sqrt(KT)"
OURS_ROOT = "the regret of PS-OFUL with likelihood sets scales as sqrt(KT)"
RELATED = "Section 4.2, said of the bounds"


def _sentence(id: str, quote: str, needs: tuple[str, ...], measure: Measure, about: str, **options: Any) -> Sentence:
    """Return a sentence on latent bandits; ``needs``: policies without which it cannot be judged."""
    ours, speaks_of = id.endswith("-ours"), (about,) if about else ()
    return Sentence(id, quote, ("latent",), needs, measure, about=speaks_of, ours=ours, **options)


BOUND = "their regret (Bayes regret in case of TS) are bounded as 3M + 2T eps + 2R sqrt(6MT log T)"
SMALLER = "regret balancing has about the smaller of the regrets of PS-OFUL with likelihood sets and of mmUCB"
GROWS = "the regret of PS-OFUL with likelihood sets grows slower with the number and the error of the models than that "
ARMS = "the regret of mmUCB grows slower with the number of actions than that of PS-OFUL with likelihood sets"
IN_MODELS = _dependence(ps.LIKELIHOOD, latent.OPTIMISM, ("n_models", "M", CENTRAL), ("error", "eps", CENTRAL))
IN_ARMS = _dependence(latent.OPTIMISM, ps.LIKELIHOOD, ("n_arms", "K", CENTRAL), ("n_arms", "K", LARGE))
HONG = {"regimes": ("theory",), "place": "Section 4.2, of Hong et al. (2020)"}
OF_BOTH, RIVAL = {"place": "said in Appendix E of its rate and theirs"}, (latent.OPTIMISM,)

LATENT_SENTENCES = (
    _sentence("latent-ps", ROOT, (), _root_of_arms_and_rounds(ps.PS), ps.PS),
    _sentence("latent-ps-ours", OURS_ROOT, (), _root_of_arms_and_rounds(ps.LIKELIHOOD), ps.LIKELIHOOD),
    _sentence("latent-rivals", BOUND, (latent.OPTIMISM, latent.SAMPLING), _within_bound, "", **HONG),
    _sentence("latent-best-ours", SMALLER, (latent.PRINTED, latent.OPTIMISM), _best_of_both, latent.PRINTED, **OF_BOTH),
    _sentence("latent-dependence-ours", f"{GROWS}of mmUCB", RIVAL, IN_MODELS, ps.LIKELIHOOD, place=RELATED),
    _sentence("latent-arms-ours", ARMS, RIVAL, IN_ARMS, latent.OPTIMISM, place=RELATED),
)
