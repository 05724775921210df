"""What is published of the rivals and can be checked: rates in T, M and K, and where an assumption is needed.

"Of order" a power: grows no faster, between the ends of what was varied; in T, from a quarter of the rounds to all, at
both ends. "Does not grow": an exponent of at most a tenth. "Linear": an exponent of at least 0.9.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import contestants as who
from ..arena_rates import DESIGN
from ..fs_shared import UNIFORM
from .latent_sentences import at_a_quarter, since
from .measuring import Evidence, Measured, Runs, Statistic, measure_all
from .sentence import Sentence, models_of
from .sentences import MUCH

Bounds = tuple[float, float]  #: between which a sentence says that an exponent lies
ROOT, LINEAR, FLAT = (-math.inf, 0.5), (0.9, math.inf), (-math.inf, 0.1)
TWO_THIRDS, LOGARITHM = (2.0 / 3.0, math.inf), (-math.inf, 1.0)


def _ends(evidence: Evidence, axis: str, *policies: str) -> tuple[str, str] | None:
    """Return the problems with the smallest and the largest M, or K, that all of these policies played."""
    names = [name for name, own in evidence.results.items() if name.startswith(axis) and {*policies} <= {*own.curves}]
    ordered = sorted(names, key=models_of)
    return (ordered[0], ordered[-1]) if len(ordered) > 1 else None


def growth(
    policy: str,
    axis: str,
    within: Bounds | None = None,
    *,
    rounds: Bounds | None = None,
    over: str | None = None,
    log: bool = False,
) -> Callable[[Evidence], list[Measured]]:
    """Return the measure: the exponents of a regret.

    ``axis``, ``within``: M or K, and where its exponent lies.  ``rounds``: where that of T does, at both ends of the
    axis.  ``over``: the policy whose regret it is divided by, where problems with more actions are harder for all.
    ``log``: the exponent of log M.
    """

    def measure(evidence: Evidence) -> list[Measured]:
        ends = _ends(evidence, axis, policy, *([over] if over else []))
        if ends is None:
            return []
        of = f"regret of {policy}" + (f" over that of {over}" if over else "")
        parts, quarters = [], {}
        if within is not None:
            sizes = [math.log(models_of(end)) if log else float(models_of(end)) for end in ends]
            words = f"exponent e of {f'(log {axis})' if log else axis}^e, {of}, between {ends[0]} and {ends[1]}"
            parts.append(Statistic(words, _exponent(policy, over, ends, math.log(sizes[1] / sizes[0])), *within, ends))
        for problem in ends if rounds is not None else ():
            quarters[problem], span = at_a_quarter(evidence.results[problem], policy)
            words = f"exponent e of T^e, regret of {policy} in the last three quarters, {problem}"
            parts.append(Statistic(words, since(problem, policy, span), *(rounds or ROOT), (problem,)))
        return measure_all(parts, [evidence.runs, Runs(quarters) if quarters else evidence.runs])

    return measure


def _exponent(policy: str, over: str | None, ends: tuple[str, str], span: float) -> Callable[[Runs, Runs], Any]:
    def regret(runs: Runs, problem: str) -> Any:
        return runs.mean(problem, policy) / (runs.mean(problem, over) if over else 1.0)

    return lambda late, early: np.log(regret(late, ends[1]) / regret(late, ends[0])) / span


def _times(policy: str, other: str, low: float) -> Callable[[Evidence], list[Measured]]:
    """Return the measure: the regret of one policy over that of another, for every M."""

    def measure(evidence: Evidence) -> list[Measured]:
        names = [name for name, own in evidence.results.items() if {policy, other} <= {*own.curves}]
        words = f"regret of {policy} over that of {other}, "
        parts = [Statistic(words + p, _ratio(p, policy, other), low=low, problems=(p,), log=True) for p in names]
        return measure_all(parts, [evidence.runs]) if parts else []

    return measure


def _ratio(problem: str, a: str, b: str) -> Callable[[Runs], Any]:
    return lambda runs: runs.mean(problem, a) / runs.mean(problem, b)


def _published(id: str, words: str, place: str, measure: Callable[[Evidence], list[Measured]]) -> Sentence:
    return Sentence(id, words, ("arena-rates",), (), measure, ("defaults",), place=place, ours=True)


BALANCING = {
    who.RB_SCB: "Abbasi-Yadkori, Pacchiano and Phan 2020",
    who.RBE_SCB: "Pacchiano, Dann, Gentile and Bartlett 2020",
    who.DB_SCB: "Cutkosky et al. 2021",
    who.D3RB_SCB: "Pacchiano, Dann and Gentile 2024",
    who.ED2RB_SCB: "Pacchiano, Dann and Gentile 2024",
}

ARENA_SENTENCES = (
    *(
        _published(
            f"rate-{policy.lower()}",
            f"the regret of {policy} is of order sqrt(M T)",
            place,
            growth(policy, "M", ROOT, rounds=ROOT),
        )
        for policy, place in BALANCING.items()
    ),
    _published(
        "rate-corral-importance",
        "CORRAL over UCB bases that learn importance-weighted rewards loses at least in the order of T^(2/3)",
        "Pacchiano et al. 2020, of Agarwal et al. 2017",
        growth(who.CORRAL_IMPORTANCE, "M", rounds=TWO_THIRDS),
    ),
    _published(
        "rate-corral-smoothed",
        "smoothing repairs it: the regret of CORRAL over UCB bases is then of order sqrt(T)",
        "Pacchiano et al. 2020",
        growth(who.CORRAL, "M", rounds=ROOT),
    ),
    _published(
        "fails-leader",
        "LEADER needs all maps to be right: with wrong ones its regret is linear in T",
        "Papini et al. 2021, the assumption",
        growth(who.LEADER_MAPS, "M", rounds=LINEAR),
    ),
    _published(
        "fails-leader-beside",
        "LEADER loses much more than FS-OFUL where only one map is right",
        "Papini et al. 2021, the assumption",
        _times(who.LEADER_MAPS, who.FS_OFUL, MUCH),
    ),
    _published(
        "rate-alexp",
        "the regret of ALEXP grows with M as log M at most",
        "Kassraie et al. 2023",
        growth(who.ALEXP_MAPS, "M", LOGARITHM, log=True),
    ),
    _published(
        "rate-design",
        "with an optimal design the regret of SquareCB does not grow with the number of actions",
        "Zhu et al. 2022",
        growth(DESIGN, "K", FLAT, over=UNIFORM),
    ),
)
"""Rates and failures that others have published, for their own algorithms."""
