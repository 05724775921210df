"""What is published of the rivals and can be checked: rates in T, M and K, and where an assumption is needed.

"Of order" a power: grows no faster. In T, from a quarter of the rounds to all; in M or K, between the ends of what was
varied; in M and T together, where both become four times as large, with a tenth added to the exponent for logarithms:
on one problem a regret may grow as M alone and stay below the root of M T. Of a master this is asked where it has told
its bases apart, that is where it ends with at most half of the regret of uniform play. "Does not grow": an exponent of
at most a tenth. "Linear": an exponent of at least 0.9.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import contestants as who
from ..arena_rates import DESIGN, STAY
from ..fs_shared import UNIFORM
from .latent_sentences import at_a_quarter, since
from .measuring import Evidence, Measured, Runs, Statistic, measure_all
from .sentence import Sentence, models_of, ratio
from .sentences import MUCH

Bounds = tuple[float, float]  #: between which a sentence says that an exponent lies
Measure = Callable[[Evidence], list[Measured]]
ROOT, LINEAR, FLAT, TWO_THIRDS = (-math.inf, 0.5), (0.9, math.inf), (-math.inf, 0.1), (2.0 / 3.0, math.inf)
LOGARITHMS = 0.1  #: what they may add to an exponent


def _ordered(evidence: Evidence, axis: str, *policies: str) -> list[str]:
    """Return the problems that all of these policies played, in the order of M, or K."""
    names = [name for name, own in evidence.results.items() if name.startswith(axis) and {*policies} <= {*own.curves}]
    return sorted(names, key=models_of)


def in_rounds(policy: str, within: Bounds, *, together: float | None = None, smallest: bool = False) -> Measure:
    """Return the measure: the exponents of T in a regret, for the smallest M and for the largest.

    ``within``: where they lie.  ``together``: the exponent that M T has at most, from a quarter of M and of T to the
    largest of both.  ``smallest``: only for the smallest M.
    """

    def measure(evidence: Evidence) -> list[Measured]:
        names = _ordered(evidence, "M", policy)
        quarters = {name: at_a_quarter(evidence.results[name], policy) for name in names}
        parts = []
        for name in dict.fromkeys(names[:1] if smallest else (names[0], names[-1])) if names else ():
            words = f"exponent e of T^e, regret of {policy} in the last three quarters, {name}"
            parts.append(Statistic(words, since(name, policy, quarters[name][1]), *within, (name,)))
        less = f"M = {models_of(names[-1]) // 4}" if names else ""
        if together is not None and less in names:
            words = f"exponent e of (M T)^e, regret of {policy}, from {less} and a quarter of the rounds to {names[-1]}"
            span = quarters[less][1] + math.log(4.0)
            parts.append(
                Statistic(
                    words, _joint(policy, less, names[-1], span), high=together + LOGARITHMS, problems=(names[-1],)
                )
            )
        early = Runs({name: regrets for name, (regrets, _) in quarters.items()})
        return measure_all(parts, [evidence.runs, early]) if parts else []

    return measure


def _joint(policy: str, less: str, more: str, span: float) -> Callable[[Runs, Runs], Any]:
    return lambda late, early: np.log(late.mean(more, policy) / early.mean(less, policy)) / span


def has_learned(policy: str, *, smallest: bool = False) -> Measure:
    """Return the measure: the regret over that of uniform play, for the smallest M and for the largest."""

    def measure(evidence: Evidence) -> list[Measured]:
        names = _ordered(evidence, "M", policy, UNIFORM)
        chosen = dict.fromkeys(names[:1] if smallest else (names[0], names[-1])) if names else ()
        words = f"regret of {policy} over that of {UNIFORM}, "
        parts = [Statistic(words + p, ratio(p, policy, UNIFORM), high=0.5, problems=(p,), log=True) for p in chosen]
        return measure_all(parts, [evidence.runs]) if parts else []

    return measure


def in_size(policy: str, axis: str, within: Bounds, *, over: str | None = None, log: bool = False) -> Measure:
    """Return the measure: the exponent of M or K, ``axis``, in a regret.

    ``over``: the policy whose regret it is divided by, where problems with more actions are harder for all.  ``log``:
    the exponent of log M.
    """

    def measure(evidence: Evidence) -> list[Measured]:
        names = _ordered(evidence, axis, policy, *([over] if over else []))
        if len(names) < 2:
            return []
        ends, symbol = (names[0], names[-1]), axis[-1]
        of = f"regret of {policy}" + (f" over that of {over}" if over else "")
        sizes = [math.log(models_of(end)) if log else float(models_of(end)) for end in ends]
        words = f"exponent e of {f'(log {symbol})' if log else symbol}^e, {of}, between {ends[0]} and {ends[1]}"
        exponent = _exponent(policy, over, ends, math.log(sizes[1] / sizes[0]))
        return measure_all([Statistic(words, exponent, *within, ends)], [evidence.runs])

    return measure


def _exponent(policy: str, over: str | None, ends: tuple[str, str], span: float) -> Callable[[Runs], Any]:
    def regret(runs: Runs, problem: str) -> Any:
        return runs.mean(problem, policy) / (runs.mean(problem, over) if over else 1.0)

    return lambda runs: np.log(regret(runs, ends[1]) / regret(runs, ends[0])) / span


def _times(policy: str, other: str, low: float, *, smallest: bool = False) -> Measure:
    """Return the measure: the regret of one policy over that of another, for every M or the smallest."""

    def measure(evidence: Evidence) -> list[Measured]:
        names = _ordered(evidence, "M", policy, other)[: 1 if smallest else None]
        words = f"regret of {policy} over that of {other}, "
        parts = [Statistic(words + p, ratio(p, policy, other), low=low, problems=(p,), log=True) for p in names]
        return measure_all(parts, [evidence.runs]) if parts else []

    return measure


def _published(experiment: str, id: str, words: str, place: str, measure: Measure, **options: Any) -> Sentence:
    return Sentence(id, words, (experiment,), (), measure, ("defaults",), place=place, ours=True, **options)


DATA_DRIVEN = "Pacchiano, Dann and Gentile 2024"
BALANCING = {  # of whom, where it is proved, the exponent of M T where both grow alike
    who.RB_SCB: ("math.md, Theorem 11, after Abbasi-Yadkori, Pacchiano and Phan 2020", 0.5),
    who.RBE_SCB: ("math.md, Theorem 12, for Pacchiano, Dann, Gentile and Bartlett 2020", 0.5),
    who.DB_SCB: ("math.md, Theorem 13, for Cutkosky et al. 2021", 0.5),
    who.D3RB_SCB: (DATA_DRIVEN, 0.75),
    who.ED2RB_SCB: (DATA_DRIVEN, 0.75),
}


def _balancing(policy: str, place: str, together: float) -> Sentence:
    order = "sqrt(M T), if the reference bounds the regret of one base" if together == 0.5 else "M sqrt(T)"
    words = f"the regret of {policy} is of order {order}"
    measure = in_rounds(policy, ROOT, together=together)
    return _published("arena-masters", f"rate-{policy.lower()}", words, place, measure, premise=has_learned(policy))


ARENA_SENTENCES = (
    *(_balancing(policy, *proved) for policy, proved in BALANCING.items()),
    _published(
        "arena-masters",
        "rate-corral-importance",
        "CORRAL over UCB bases that learn importance-weighted rewards loses at least in the order of T^(2/3)",
        "often said; no proof that we could read",
        in_rounds(who.CORRAL_IMPORTANCE, TWO_THIRDS, smallest=True),
    ),
    _published(
        "arena-masters",
        "fails-corral-importance",
        "CORRAL over UCB bases loses much more with importance-weighted rewards than with smoothing",
        "Pacchiano et al. 2020, of Agarwal et al. 2017",
        _times(who.CORRAL_IMPORTANCE, who.CORRAL_SMOOTHED, MUCH, smallest=True),
        about=(who.CORRAL_SMOOTHED,),
    ),
    _published(
        "arena-masters",
        "rate-corral-smoothed",
        "with smoothing the regret of CORRAL over UCB bases is of order sqrt(T)",
        "Pacchiano et al. 2020",
        in_rounds(who.CORRAL_SMOOTHED, ROOT, smallest=True),
        premise=has_learned(who.CORRAL_SMOOTHED, smallest=True),
    ),
    _published(
        "arena-rates",
        "fails-leader",
        "LEADER needs all maps to be right: with wrong ones its regret is linear in T",
        "Papini et al. 2021, the assumption",
        in_rounds(who.LEADER_MAPS, LINEAR),
    ),
    _published(
        "arena-rates",
        "fails-leader-beside",
        "LEADER loses much more than FS-OFUL where only one map is right",
        "Papini et al. 2021, the assumption",
        _times(who.LEADER_MAPS, who.FS_OFUL, MUCH),
        about=(who.FS_OFUL,),
    ),
    _published(
        "arena-rates",
        "rate-alexp",
        "for actions that stay the same the regret of ALEXP grows with M as (log M)^(3/2) at most",
        "Kassraie et al. 2023",
        in_size(who.ALEXP_MAPS, f"{STAY}M", (-math.inf, 1.5), log=True),
        about=(who.ALEXP_MAPS,),
    ),
    _published(
        "arena-rates",
        "rate-design",
        "with an optimal design the regret of SquareCB does not grow with the number of actions",
        "Zhu et al. 2022",
        in_size(DESIGN, "K", FLAT, over=UNIFORM),
        about=(DESIGN,),
    ),
)
"""Rates and failures that others have published, for their own algorithms."""
