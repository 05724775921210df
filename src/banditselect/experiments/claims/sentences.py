"""The empirical sentences of the paper: what each says, and the statistics that it is about.

Where words are vague, this is what they are taken to mean: "close": within a quarter; "much better", "much higher": at
least 1.5 times; "good": at least 95 % of the oracle's mean reward; "scales as" a power: grows no faster, between the
smallest and the largest M; "between the best and second-best": not worse than the second best. "Always" is: for every
M, after the last round.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .. import fs_shared as fs
from .. import latent, ps_synthetic
from .. import ps_shared as ps
from ..experiment import REGIMES
from . import theorems
from .measuring import Evidence, Measured, Runs, Statistic, measure_all

CLOSE, MUCH = 1.25, 1.5

Parts: TypeAlias = Callable[..., list[Statistic]]  #: of the runs of an experiment, or of two that are compared
Comparison: TypeAlias = Callable[[str, str, str], Callable[[Runs], Any]]  #: of two policies on a problem

PLACES = {
    "fs-synthetic": "Section 5, on Figure 1",
    "fs-mnist": "Section 5, on Figure 1",
    "fs-cifar100": "Appendix F",
    "ps-synthetic": "Section 5, on Figure 2, left",
    "ps-worst": "Section 2.3",
    "ps-cifar10": "Section 5, on Figure 2, right",
    "ps-mnist": "Appendix F",
    "ps-cifar10-coarse": "Section 5, on Figure 3",
    "ps-mnist-coarse": "Section 5, said of CIFAR-10",
    "latent": "Appendix E",
}

FS = ("fs-synthetic", "fs-mnist", "fs-cifar100")
PS_IMAGES = ("ps-cifar10", "ps-mnist")
COARSE = {"ps-cifar10-coarse": "ps-cifar10", "ps-mnist-coarse": "ps-mnist"}


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper.

    Attributes
    ----------
    id, quote: what it is called, what it says.
    experiments: what it is about.
    policies: without which it cannot be judged; a regime that does not have them is left out.
    measure: from the evidence of an experiment to what was measured; of two for a sentence that compares them.
    regimes: in which it can be judged.
    beside: the experiment that each is compared with, for such a sentence.
    place: where it is, if not where the paper speaks of the experiment.
    """

    id: str
    quote: str
    experiments: Sequence[str]
    policies: tuple[str, ...]
    measure: Callable[..., list[Measured]]
    regimes: Sequence[str] = tuple(REGIMES)
    beside: Mapping[str, str] | None = None
    place: str | None = None


def statistics(parts: Parts, metric: str | None = None) -> Callable[..., list[Measured]]:
    """Return the measure that takes statistics of the final values, of what the figure shows or of another metric."""

    def measure(*evidence: Evidence) -> list[Measured]:
        runs = [one.runs if metric is None else Runs.of(one.results, metric) for one in evidence]
        return measure_all(parts(*runs), runs)

    return measure


def ratio(problem: str, a: str, b: str) -> Callable[[Runs], Any]:
    """Return the statistic: the mean of a over the mean of b."""
    return lambda runs: runs.mean(problem, a) / runs.mean(problem, b)


def difference(problem: str, a: str, b: str) -> Callable[[Runs], Any]:
    """Return the statistic: the mean of a minus the mean of b."""
    return lambda runs: runs.mean(problem, a) - runs.mean(problem, b)


def compared(
    id: str, quote: str, experiments: Sequence[str], how: Comparison, words: str, a: str, *others: str, **where: float
) -> Sentence:
    """Return the sentence that compares policy ``a`` with each of the others, on every problem.

    ``how``: by `ratio` or `difference`.  ``words``: what that is, with {a} and {b} for the policies.  ``where``: low or
    high, between which the sentence says that it lies.
    """

    def parts(runs: Runs) -> list[Statistic]:
        pairs = [(b, problem) for b in others for problem in runs.problems]
        return [Statistic(f"{words.format(a=a, b=b)}, {p}", how(p, a, b), **where) for b, p in pairs]

    return Sentence(id, quote, experiments, (a, *others), statistics(parts))


def _models(problem: str) -> int:
    """Return M of a problem that is named after it."""
    return int(problem.rpartition("= ")[2])


def _at_ends(parts: Callable[[str, str], list[Statistic]]) -> Parts:
    """Return the statistics of the problems with the smallest and the largest M; none if there is one M only."""

    def of_runs(runs: Runs) -> list[Statistic]:
        ordered = sorted(runs.problems, key=_models)
        return parts(ordered[0], ordered[-1]) if len(ordered) > 1 else []

    return of_runs


def growth(id: str, quote: str, experiments: Sequence[str], policy: str, *, log: bool) -> Sentence:
    """Return the sentence about the exponent of M, or of log M, with which a regret grows; at most 1/2 is claimed."""

    def parts(first: str, last: str) -> list[Statistic]:
        small, large = (math.log(_models(p)) if log else float(_models(p)) for p in (first, last))
        span = math.log(large / small)
        words = f"exponent e of {'(log M)' if log else 'M'}^e, regret of {policy} between {first} and {last}"
        return [Statistic(words, lambda r: np.log(r.mean(last, policy) / r.mean(first, policy)) / span, high=0.5)]

    return Sentence(id, quote, experiments, (policy,), statistics(_at_ends(parts), "regret"))


@_at_ends
def _close_for_few(first: str, last: str) -> list[Statistic]:
    return [Statistic(f"regret of RB-SCB over that of FS-SCB, {first}", ratio(first, fs.RB, fs.FS), 1.0 / CLOSE, CLOSE)]


@_at_ends
def _better_for_many(first: str, last: str) -> list[Statistic]:
    few, many = (ratio(p, fs.RB, fs.FS) for p in (first, last))
    words = "regret of RB-SCB over that of FS-SCB, "
    return [
        Statistic(words + last, many, low=MUCH),
        Statistic(f"{words}at {last} over that at {first}", lambda runs: many(runs) / few(runs), low=1.0),
    ]


def _better_than_balancing(policy: str) -> Parts:
    def parts(first: str, last: str) -> list[Statistic]:
        few, many = (difference(p, policy, ps.RB) for p in (first, last))
        words = f"mean reward of {policy} minus that of RB-OFUL, "
        return [
            Statistic(words + last, many, low=0.0),
            Statistic(f"{words}at {last} minus at {first}", lambda runs: many(runs) - few(runs), low=0.0),
        ]

    return _at_ends(parts)


def _variances(a: str, *others: str) -> Parts:
    def parts(runs: Runs) -> list[Statistic]:
        last = max(runs.problems, key=_models)
        words = f"variance of {a} over that of {{}}, {last}"
        played = [b for b in others if b in runs.finals[last]]
        return [Statistic(words.format(b), _variance_ratio(last, a, b), low=MUCH) for b in played]

    return parts


def _variance_ratio(problem: str, a: str, b: str) -> Callable[[Runs], Any]:
    return lambda runs: (runs.deviation(problem, a) / runs.deviation(problem, b)) ** 2


def _closer(runs: Runs) -> list[Statistic]:
    first, last = runs.problems[0], runs.problems[-1]

    def distance(runs: Runs, problem: str) -> Any:
        return np.abs(np.log(ratio(problem, ps.PS, ps_synthetic.INDIVIDUAL)(runs)))

    words = f"|log(regret of PS-OFUL / regret of OFUL)|, at {first} minus at {last}"
    return [Statistic(words, lambda runs: distance(runs, first) - distance(runs, last), low=0.0)]


def _pulled(coarse: Runs, fine: Runs) -> list[Statistic]:
    """OFUL does not know the balls, so it is the same for fine and coarse ones."""
    words = "distance of {} from OFUL in mean reward, {}: fine minus coarse models"

    def distance(runs: Runs, problem: str, policy: str) -> Any:
        return np.abs(difference(problem, policy, ps.INDIVIDUAL)(runs))

    def shrinks(problem: str, policy: str) -> Callable[[Runs, Runs], Any]:
        return lambda coarse, fine: distance(fine, problem, policy) - distance(coarse, problem, policy)

    last = max(coarse.problems, key=_models)
    return [Statistic(words.format(policy, last), shrinks(last, policy), low=0.0) for policy in (ps.PS, ps.RB)]


BETWEEN = "FS-SCB always performs between the best and second-best experts"
BETTER = "the regret of PS-OFUL is better than OFUL"
TRANSFER = "the advantage of transfer (PS-OFUL) over individual (OFUL) learning"
BALANCING = "the performance of PS-OFUL gets better than RB-OFUL as M grows"
LATENT = "an improved regret that scales as min{eps T + sqrt(MT), sqrt(KMT)}"
OURS = " [the same for ours]"
SYNTHETIC = ("ps-synthetic",)
INDIVIDUAL, INDIVIDUAL_10 = ps_synthetic.INDIVIDUAL, ps_synthetic.INDIVIDUAL_10

TO_SECOND = "regret of {a} over that of the second best map"
TO_INDIVIDUAL = "regret of {a} over that of OFUL with S = max"
FROM_OFUL = "mean reward of {a} minus that of OFUL"

SENTENCES = (
    compared("fs-between", BETWEEN, FS[:2], ratio, TO_SECOND, fs.FS, fs.SECOND, high=1.0),
    compared("fs-between-ours", BETWEEN + OURS, FS, ratio, TO_SECOND, fs.NOISE_AWARE, fs.SECOND, high=1.0),
    compared(
        "fs-near",
        "FS-SCB always performs close to the best and second-best experts",
        FS[2:],
        ratio,
        "regret of {a} over that of {b}",
        fs.FS,
        fs.BEST,
        fs.SECOND,
        high=CLOSE,
    ),
    Sentence(
        "fs-few",
        "the regret of FS-SCB that scales as sqrt(log M) is close to RB-SCB (scales as sqrt(M)) for small M",
        FS,
        (fs.FS, fs.RB),
        statistics(_close_for_few),
    ),
    Sentence(
        "fs-many",
        "[the regret of FS-SCB] gets much better [than that of RB-SCB] as M grows",
        FS,
        (fs.FS, fs.RB),
        statistics(_better_for_many),
    ),
    Sentence(
        "fs-variance",
        "RB-SCB has much higher variance than the other algorithms",
        FS[1:],
        (fs.FS, fs.RB),
        statistics(_variances(fs.RB, fs.FS, fs.BEST, fs.SECOND, fs.WORST)),
    ),
    growth("fs-growth", "the regret of FS-SCB that scales as sqrt(log M)", FS, fs.FS, log=True),
    growth("rb-growth", "RB-SCB (scales as sqrt(M))", FS, fs.RB, log=False),
    compared("ps-better", BETTER, SYNTHETIC, ratio, TO_INDIVIDUAL, ps.PS, INDIVIDUAL, high=1.0),
    compared("ps-better-ours", BETTER + OURS, SYNTHETIC, ratio, TO_INDIVIDUAL, ps.LIKELIHOOD, INDIVIDUAL, high=1.0),
    Sentence(
        "ps-closer",
        "and gets closer to it as we increase the size of the balls from b = 0 to b = 2 sqrt(d)",
        SYNTHETIC,
        (ps.PS, INDIVIDUAL),
        statistics(_closer),
    ),
    compared(
        "ps-bound",
        "the second bound [S = max] is tighter and shows the best performance of OFUL",
        SYNTHETIC,
        ratio,
        "regret of OFUL with S = max over that with S = 10",
        INDIVIDUAL,
        INDIVIDUAL_10,
        high=1.0,
    ),
    compared(
        "ps-transfer-synthetic",
        "This clearly shows the potential advantage of transfer (PS-OFUL) over individual (OFUL) learning",
        SYNTHETIC,
        ratio,
        TO_INDIVIDUAL,
        ps.PS,
        INDIVIDUAL,
        high=1.0,
    ),
    compared(
        "ps-good",
        "the good performance of PS-OFUL",
        PS_IMAGES,
        ratio,
        "mean reward of PS-OFUL over that of BIAS-OFUL with the true centre",
        ps.PS,
        ps.ORACLE,
        low=0.95,
    ),
    Sentence("ps-many", BALANCING, PS_IMAGES, (ps.PS, ps.RB), statistics(_better_than_balancing(ps.PS))),
    Sentence(
        "ps-many-ours",
        BALANCING + OURS,
        PS_IMAGES,
        (ps.LIKELIHOOD, ps.RB),
        statistics(_better_than_balancing(ps.LIKELIHOOD)),
    ),
    growth("ps-growth", "(sqrt(log M) [...] scaling) [of the regret of PS-OFUL]", PS_IMAGES, ps.PS, log=True),
    growth("ps-rb-growth", "([...] sqrt(M) scaling) [of the regret of RB-OFUL]", PS_IMAGES, ps.RB, log=False),
    Sentence(
        "ps-variance",
        "the large variance of RB-OFUL, especially in comparison to PS-OFUL",
        PS_IMAGES,
        (ps.PS, ps.RB),
        statistics(_variances(ps.RB, ps.PS)),
    ),
    compared("ps-transfer", TRANSFER, PS_IMAGES, difference, FROM_OFUL, ps.PS, ps.INDIVIDUAL, low=0.0),
    compared(
        "ps-transfer-ours", TRANSFER + OURS, PS_IMAGES, difference, FROM_OFUL, ps.LIKELIHOOD, ps.INDIVIDUAL, low=0.0
    ),
    Sentence(
        "ps-coarse",
        "with decreasing in the accuracy of the models, the performance of PS-OFUL and RB-OFUL get closer to that for "
        "OFUL",
        tuple(COARSE),
        (ps.PS, ps.RB, ps.INDIVIDUAL),
        statistics(_pulled),
        beside=COARSE,
    ),
    Sentence(
        "fs-theorem",
        "w.p. at least 1 - delta, the regret [...] for FS-SCB is bounded as [3 sqrt(K T D_T) + sqrt(2 T log(2/delta))]",
        FS,
        (fs.FS,),
        theorems.feature_selection,
        ("theory",),
        place="Theorem 3.2, with the constants of its proof",
    ),
    Sentence(
        "ps-theorem",
        "with probability at least 1 - delta, the transfer-regret [...] of PS-OFUL is bounded as [eq:lem5]",
        SYNTHETIC,
        (ps.PS,),
        theorems.parameter_selection,
        ("theory",),
        place="Theorem 4.2, with the constants of its proof; it assumes b <= 1",
    ),
    Sentence(
        "ps-theorem-worst",
        "with probability at least 1 - delta, the transfer-regret [the supremum, over five extremes of the balls] of "
        "PS-OFUL is bounded as [eq:lem5]",
        ("ps-worst",),
        (ps.PS,),
        theorems.transfer_regret,
        ("theory",),
        place="Theorem 4.2 and eq:transfer-regret; it assumes b <= 1",
    ),
    Sentence(
        "ps-set",
        "with probability at least 1 - delta, the true reward parameter theta_* lies in C_t",
        SYNTHETIC,
        (ps.PS,),
        theorems.coverage(ps.PS),
        ("theory",),
        place="Theorem 4.3; it assumes b <= 1",
    ),
    Sentence(
        "ps-set-ours",
        "The likelihood-ratio sets hold the true parameter at all rounds with probability at least 1 - delta [ours]",
        SYNTHETIC,
        (ps.LIKELIHOOD,),
        theorems.coverage(ps.LIKELIHOOD),
        ("theory",),
        place="docs/math.md",
    ),
    Sentence(
        "latent-rate",
        LATENT + " [by the rule as printed]",
        ("latent",),
        (latent.PRINTED,),
        theorems.latent_rate(latent.PRINTED),
    ),
    Sentence(
        "latent-rate-source",
        LATENT + " [by the rule of its source]",
        ("latent",),
        (latent.SOURCE,),
        theorems.latent_rate(latent.SOURCE),
    ),
)
