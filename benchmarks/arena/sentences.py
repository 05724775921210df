"""Published claims about the rivals that can be checked: rates in T, M and K, and necessary assumptions.

"Of order" a power: grows no faster, except for a tenth that is added to exponents of T, which is about the effect of a
factor log T from a quarter of the rounds to all. Exponents in T are over these rounds; in M or K, between the smallest
and the largest value; in M and T together, where both become four times as large, because at a fixed T a regret
proportional to M may be far below the root of M T. "Holds" means that the regret grew no faster on these problems; no
run proves a bound. Bounds of masters hold with a probability and not in the mean: their exponents are those of the mean
logarithm, and are judged only where the master had identified good bases before, that is, where its regret was at most
half of that of uniform play. "Does not grow": an exponent of at most a tenth. "Linear": an exponent of at least 0.9.
"""

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from banditselect.experiments.beyond import arena_policies as who
from banditselect.experiments.claims.claim import Measure, Runs, Sentence, Statistic, measure_all, models_of
from banditselect.experiments.claims.latent import at_a_quarter, since
from banditselect.experiments.claims.paper import MUCH
from banditselect.experiments.claims.statistics import ratio
from banditselect.experiments.feature_selection import UNIFORM
from banditselect.types import Array

from .experiments import BASE, DESIGN, MASTERS, OWN_RATE, PLAIN, RATES, STAY

Bounds = tuple[float, float]  #: of an exponent, in a sentence

LOGARITHMS, LEARNED = 0.1, 0.5  #: what may be added to an exponent; of the regret of uniform play
TINY = 1e-12  #: replaces a regret of 0
ROOT, FLAT = (-math.inf, 0.5 + LOGARITHMS), (-math.inf, 0.1)
TWO_THIRDS, LINEAR, GROWS = (2.0 / 3.0, math.inf), (0.9, math.inf), (0.1, math.inf)


Evidence = tuple[list[Statistic], list[Runs]]


def measured(parts: Callable[..., Evidence]) -> Callable[..., Measure]:
    """Turn a function of runs and arguments into one of the arguments that returns the measure."""
    return lambda *args, **options: lambda runs: measure_all(*parts(runs, *args, **options))


def _ordered(runs: Runs, axis: str) -> list[str]:
    """Return the problems in which M, or K, differs, in its order."""
    return sorted((name for name in runs.results if name.startswith(axis)), key=models_of)


def _early(runs: Runs, names: Sequence[str], *policies: str) -> tuple[Runs, float]:
    """Return the regrets after a quarter of the rounds, and the logarithm of all rounds over these."""
    found: dict[str, dict[str, Array]] = {name: {} for name in names}
    span = 0.0
    for name in names:
        for policy in policies:
            own, span = at_a_quarter(runs.results[name], policy)
            found[name] |= own
    return Runs(found), span


def _learned(runs: Runs, problem: str, policy: str) -> bool:
    return bool(runs.mean(problem, policy) <= LEARNED * runs.mean(problem, UNIFORM))


def _logarithms(runs: Runs) -> Runs:
    finals = runs.finals.items()
    return Runs({name: {one: np.log(np.maximum(values, TINY)) for one, values in own.items()} for name, own in finals})


@measured
def of_master(
    runs: Runs, policy: str, *, rounds: Bounds = ROOT, together: float | None = None, two: bool = False
) -> Evidence:
    """Measure the exponents of T in a typical regret, for the smallest M and the largest that it learned.

    ``rounds``: where they lie.  ``together``: the exponent that M T has at most, from a quarter of M and of T to the
    largest M and all rounds.  ``two``: only for M = 2.
    """
    names = _ordered(runs, "M")[: 1 if two else None]
    early, span = _early(runs, names, policy, UNIFORM)
    learned = [name for name in names if _learned(early, name, policy)] or names[:1]
    parts = []
    for name in dict.fromkeys((learned[0], learned[-1])):
        words = f"exponent e of T^e, regret of {policy} in the last three quarters, {name}"
        parts.append(Statistic(words, _growth(policy, name, name, span), *rounds, (name,)))
    if together is not None:
        more, less = names[-1], f"M = {models_of(names[-1]) // 4}"
        if less in names and _learned(early, less, policy) and _learned(runs, more, policy):
            words = f"exponent e of (M T)^e, regret of {policy}, from {less} and a quarter of the rounds to {more}"
            joint = _growth(policy, less, more, span + math.log(4.0))
            parts.append(Statistic(words, joint, high=together + LOGARITHMS, problems=(less, more)))
    played = Runs({name: {policy: runs.finals[name][policy]} for name in names})
    return parts, [_logarithms(played), _logarithms(early)]


def _growth(policy: str, less: str, more: str, span: float) -> Callable[[Runs, Runs], Any]:
    return lambda late, early: (late.mean(more, policy) - early.mean(less, policy)) / span


@measured
def has_learned(runs: Runs, policy: str, *others: str) -> Evidence:
    """Measure the regret after a quarter of the rounds with M = 2, over that of uniform play.

    ``others``: policies whose regret over sqrt(t) is at most 1 there and at the end, on every problem.
    """
    names = _ordered(runs, "M")
    early, span = _early(runs, names, policy, UNIFORM, *others)
    words = f"regret of {policy} over that of {UNIFORM} after a quarter of the rounds, {names[0]}"
    share = _contrast(names[0], policy, float(early.mean(names[0], UNIFORM)))
    parts = [Statistic(words, share, high=LEARNED, problems=(names[0],))]
    T = float(runs.results[names[0]].checkpoints[-1])
    times = {"after a quarter of the rounds": (1, T * math.exp(-span)), "at the end": (0, T)}
    for other, name in product(others, names):
        for when, (which, t) in times.items():
            words = f"regret of {other} over sqrt(t), {name}, {when}"
            parts.append(Statistic(words, _over(name, other, math.sqrt(t), which), high=1.0, problems=(name,)))
    return parts, [runs, early]


def _contrast(problem: str, policy: str, unit: float) -> Callable[[Runs, Runs], Any]:
    """Return the statistic: a share of uniform play, with the interval of the difference from the share in question.

    One stuck run makes the interval of a ratio useless, but not that of this difference.
    """

    return lambda _, early: LEARNED + (early.mean(problem, policy) - LEARNED * early.mean(problem, UNIFORM)) / unit


def _over(problem: str, policy: str, unit: float, which: int) -> Callable[..., Any]:
    return lambda *runs: runs[which].mean(problem, policy) / unit


@measured
def in_rounds(runs: Runs, policy: str, within: Bounds) -> Evidence:
    """Measure the exponents of T in a mean regret, for the smallest M and the largest."""
    names = _ordered(runs, "M")
    early, span = _early(runs, names, policy)
    words = f"exponent e of T^e, regret of {policy} in the last three quarters, "
    ends = dict.fromkeys((names[0], names[-1]))
    parts = [Statistic(words + name, since(name, policy, span), *within, (name,)) for name in ends]
    return parts, [runs, early]


@measured
def in_size(
    runs: Runs, policy: str, axis: str, within: Bounds, *, over: str | None = None, log: bool = False
) -> Evidence:
    """Measure the exponent of M or K, ``axis``, in a regret.

    ``over``: the policy whose regret it is divided by, if problems with more actions are harder for all.  ``log``:
    the exponent of log M.
    """
    names = _ordered(runs, axis)
    ends, symbol = (names[0], names[-1]), axis[-1]
    of = f"regret of {policy}" + (f" over that of {over}" if over else "")
    sizes = [math.log(models_of(end)) if log else float(models_of(end)) for end in ends]
    words = f"exponent e of {f'(log {symbol})' if log else symbol}^e, {of}, between {ends[0]} and {ends[1]}"
    exponent = _exponent(policy, over, ends, math.log(sizes[1] / sizes[0]))
    return [Statistic(words, exponent, *within, ends)], [runs]


def _exponent(policy: str, over: str | None, ends: tuple[str, str], span: float) -> Callable[[Runs], Any]:
    def regret(runs: Runs, problem: str) -> Any:
        return runs.mean(problem, policy) / (runs.mean(problem, over) if over else 1.0)

    return lambda runs: np.log(regret(runs, ends[1]) / regret(runs, ends[0])) / span


@measured
def times(runs: Runs, policy: str, other: str, low: float, *, two: bool = False) -> Evidence:
    """Measure the regret of one policy over that of another, for every M, or for M = 2."""
    names = _ordered(runs, "M")[: 1 if two else None]
    words = f"regret of {policy} over that of {other}, "
    parts = [Statistic(words + p, ratio(p, policy, other), low=low, problems=(p,), log=True) for p in names]
    return parts, [runs]


DATA_DRIVEN, CORRAL = "Pacchiano, Dann and Gentile 2024", "Pacchiano et al. 2020"
PAPINI = "Papini et al. 2021, the assumption"
BALANCING = {  # policy: (reference, exponent of M T if both grow alike)
    who.RB_SCB: ("math.md, Theorem 11, after Abbasi-Yadkori, Pacchiano and Phan 2020", 0.5),
    who.RBE_SCB: ("math.md, Theorem 12, for Pacchiano, Dann, Gentile and Bartlett 2020", 0.5),
    who.DB_SCB: ("math.md, Theorem 13, for Cutkosky et al. 2021", 0.5),
    who.D3RB_SCB: (DATA_DRIVEN, 0.75),
    who.ED2RB_SCB: (DATA_DRIVEN, 0.75),
}
WORDS = {
    "rate-corral-importance": "over two UCB bases that learn importance-weighted rewards, CORRAL has regret of at "
    "least the order T^(2/3)",
    "fails-corral-importance": "over two UCB bases, CORRAL loses much more with importance-weighted rewards than "
    "with smoothing",
    "fails-leader": "LEADER needs all maps to be right: with wrong ones its regret is linear in T",
    "fails-leader-beside": "LEADER loses much more than FS-OFUL if only one map is right",
    "rate-alexp": "for fixed actions, the regret of ALEXP grows with M at most as (log M)^(3/2)",
    "rate-design": "with an optimal design, the regret of SquareCB, over that of uniform play, does not grow with K",
    "rate-plain": "without an optimal design, this ratio grows with K",
}


def _published(experiment: str, id: str, place: str, measure: Measure, *about: str, **options: Any) -> Sentence:
    words = options.pop("words", None) or WORDS[id]
    return Sentence(
        id, words, (experiment,), (), measure, ("defaults",), place=place, ours=True, about=about, **options
    )


def _balancing(policy: str, place: str, together: float) -> Sentence:
    bounded = together == 0.5  # by a reference for the regret of a base
    order = "sqrt(M T), if the reference bounds the regret of one base" if bounded else "M sqrt(T)"
    words, premise = f"the regret of {policy} is of order {order}", has_learned(policy, *([BASE] if bounded else []))
    measure = of_master(policy, together=together)
    return _published(MASTERS, f"rate-{policy.lower()}", place, measure, words=words, premise=premise)


def _smoothed(id: str, policy: str, rate: str) -> Sentence:
    words = f"with smoothing, the regret of CORRAL over two UCB bases is of order sqrt(T), at {rate}"
    return _published(MASTERS, id, CORRAL, of_master(policy, two=True), words=words, premise=has_learned(policy))


IMPORTANCE, SMOOTHED, LEADER = who.CORRAL_IMPORTANCE, who.CORRAL_SMOOTHED, who.LEADER_MAPS
TWO_BASES = of_master(IMPORTANCE, rounds=TWO_THIRDS, two=True), times(IMPORTANCE, SMOOTHED, MUCH, two=True)
LOGARITHMIC = in_size(who.ALEXP_MAPS, f"{STAY}M", (-math.inf, 1.5), log=True)
BOUND = "Foster and Rakhlin 2020, the bound"
SENTENCES = (
    *(_balancing(policy, *proved) for policy, proved in BALANCING.items()),
    _published(MASTERS, "rate-corral-importance", "often stated; we found no proof", TWO_BASES[0], IMPORTANCE),
    _published(MASTERS, "fails-corral-importance", f"{CORRAL}, of Agarwal et al. 2017", TWO_BASES[1], SMOOTHED),
    _smoothed("rate-corral-smoothed-own", OWN_RATE, "its own rate"),
    _smoothed("rate-corral-smoothed", SMOOTHED, "ten times its rate"),
    _published(RATES, "fails-leader", PAPINI, in_rounds(LEADER, LINEAR), LEADER),
    _published(RATES, "fails-leader-beside", PAPINI, times(LEADER, who.FS_OFUL, MUCH), who.FS_OFUL),
    _published(RATES, "rate-alexp", "Kassraie et al. 2023", LOGARITHMIC, who.ALEXP_MAPS),
    _published(RATES, "rate-design", "Zhu et al. 2022", in_size(DESIGN, "K", FLAT, over=UNIFORM), DESIGN),
    _published(RATES, "rate-plain", BOUND, in_size(PLAIN, "K", GROWS, over=UNIFORM), PLAIN),
)
"""Rates and failures that others have published, for their own algorithms."""
