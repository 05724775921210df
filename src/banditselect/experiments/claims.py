"""What the paper says about its experiments, sentence by sentence, and whether it holds on stored results.

Every sentence is a statistic, an interval and what the sentence says about it; where words are vague, the number they
are given is here and in the report ("close": within a quarter; "much better", "much higher": at least 1.5 times).
Nothing is judged by hand, and everything can be judged again from the stored tables alone.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import bounds, latent, ps_synthetic
from . import feature_selection as fs
from . import parameter_selection as ps
from .experiment import ARMS, Experiment, stored
from .judging import Evidence, Measured, Part, Runs, measure_all, together

CLOSE, MUCH = 1.25, 1.5

FIG_1 = "Section 5, on Figure 1"
FIG_2_LEFT, FIG_2_RIGHT, FIG_3 = (
    "Section 5, on Figure 2, left",
    "Section 5, on Figure 2, right",
    "Section 5, on Figure 3",
)
APPENDIX = "Appendix F"

FS = ("fs-synthetic", "fs-mnist", "fs-cifar100")
PS_IMAGES = ("ps-cifar10", "ps-mnist")
COARSE = {"ps-cifar10-coarse": "ps-cifar10", "ps-mnist-coarse": "ps-mnist"}


@dataclass(frozen=True)
class Verdict:
    """A sentence of the paper on one experiment and arm.

    Attributes
    ----------
    id: of the sentence, e.g. "fs-between".
    quote: the sentence, from the paper.
    place: where it is.
    experiment, arm: what it was judged on.
    statistic: what was measured, in words; of several parts of a sentence, the one that decides.
    value: the measured value.
    interval: around it, 95 % (all parts of a sentence together).
    expected: what the sentence says about the value, in words, e.g. "at most 1".
    verdict: "holds", "does not hold" or "not decided".
    n: replicates.
    """

    id: str
    quote: str
    place: str
    experiment: str
    arm: str
    statistic: str
    value: float
    interval: tuple[float, float]
    expected: str
    verdict: str
    n: int


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper.

    Attributes
    ----------
    id, quote, place: what it is called, what it says, where.
    experiments: what it is about.
    policies: without which it cannot be judged; an arm that does not have them is left out.
    measure: from the evidence of an experiment to what was measured; of two for a sentence that compares them.
    arms: in which it can be judged.
    beside: the experiment that each is compared with, for such a sentence.
    """

    id: str
    quote: str
    place: str
    experiments: Sequence[str]
    policies: tuple[str, ...]
    measure: Callable[..., list[Measured]]
    arms: Sequence[str] = tuple(ARMS)
    beside: Mapping[str, str] | None = None


def statistics(parts: Callable[..., list[Part]]) -> Callable[..., list[Measured]]:
    """Return the measure that takes statistics of the final values."""

    def measure(*evidence: Evidence) -> list[Measured]:
        runs = [one.runs for one in evidence]
        return measure_all(parts(*runs), runs)

    return measure


def ratio(problem: str, a: str, b: str) -> Callable[[Runs], float]:
    """Return the statistic: the mean of a over the mean of b."""
    return lambda runs: runs.mean(problem, a) / runs.mean(problem, b)


def difference(problem: str, a: str, b: str) -> Callable[[Runs], float]:
    """Return the statistic: the mean of a minus the mean of b."""
    return lambda runs: runs.mean(problem, a) - runs.mean(problem, b)


def _models(problem: str) -> int:
    """Return M of a problem that is named after it."""
    return int(problem.rpartition("= ")[2])


def _between(policy: str) -> Callable[[Runs], list[Part]]:
    def parts(runs: Runs) -> list[Part]:
        def position(problem: str) -> Callable[[Runs], float]:
            return lambda r: difference(problem, policy, fs.BEST)(r) / difference(problem, fs.SECOND, fs.BEST)(r)

        words = "regret of {}, from 0 (best map) to 1 (second best map), {}"
        return [Part(words.format(policy, p), position(p), high=1.0) for p in runs.problems]

    return parts


def _near_second(runs: Runs) -> list[Part]:
    words = "regret of FS-SCB over that of the second best map, {}"
    return [Part(words.format(p), ratio(p, fs.FS, fs.SECOND), high=CLOSE) for p in runs.problems]


def _close_for_few(runs: Runs) -> list[Part]:
    first = runs.problems[0]
    words = f"regret of RB-SCB over that of FS-SCB, {first}"
    return [Part(words, ratio(first, fs.RB, fs.FS), 1.0 / CLOSE, CLOSE)]


def _better_for_many(runs: Runs) -> list[Part]:
    first, last = runs.problems[0], runs.problems[-1]
    at = {p: ratio(p, fs.RB, fs.FS) for p in (first, last)}
    words = "regret of RB-SCB over that of FS-SCB, {}"
    return [
        Part(words.format(last), at[last], low=MUCH),
        Part(words.format(f"at {last} over that at {first}"), lambda runs: at[last](runs) / at[first](runs), low=1.0),
    ]


def _deviations(a: str, b: str) -> Callable[[Runs], list[Part]]:
    def parts(runs: Runs) -> list[Part]:
        last = runs.problems[-1]
        words = f"standard deviation of {a} over that of {b}, {last}"
        return [Part(words, lambda runs: runs.deviation(last, a) / runs.deviation(last, b), low=MUCH)]

    return parts


def _log_growth(runs: Runs) -> list[Part]:
    first, last = runs.problems[0], runs.problems[-1]
    most = math.sqrt(math.log(_models(last)) / math.log(_models(first)))
    words = f"regret of FS-SCB at {last} over that at {first}; sqrt(log M) grows by {most:.2f}"
    return [Part(words, lambda runs: runs.mean(last, fs.FS) / runs.mean(first, fs.FS), high=most)]


def _root_growth(runs: Runs) -> list[Part]:
    first, last = runs.problems[0], runs.problems[-1]
    span = math.log(_models(last) / _models(first))
    words = f"exponent e of M^e between {first} and {last}, of the regret of RB-SCB"
    return [Part(words, lambda runs: np.log(runs.mean(last, fs.RB) / runs.mean(first, fs.RB)) / span, 0.35, 0.65)]


def _below_individual(policy: str) -> Callable[[Runs], list[Part]]:
    def parts(runs: Runs) -> list[Part]:
        words = "regret of {} over that of OFUL with S = max, {}"
        individual = ps_synthetic.INDIVIDUAL
        return [Part(words.format(policy, p), ratio(p, policy, individual), high=1.0) for p in runs.problems]

    return parts


def _closer(runs: Runs) -> list[Part]:
    first, last = runs.problems[0], runs.problems[-1]
    at = {p: ratio(p, ps.PS, ps_synthetic.INDIVIDUAL) for p in (first, last)}
    words = f"regret of PS-OFUL over that of OFUL, at {last} minus at {first}"
    return [Part(words, lambda runs: at[last](runs) - at[first](runs), low=0.0)]


def _tighter(runs: Runs) -> list[Part]:
    words = "regret of OFUL with S = max over that with S = 10, {}"
    a, b = ps_synthetic.INDIVIDUAL, ps_synthetic.INDIVIDUAL_10
    return [Part(words.format(p), ratio(p, a, b), high=1.0) for p in runs.problems]


def _good(runs: Runs) -> list[Part]:
    words = "mean reward of PS-OFUL over that of BIAS-OFUL with the true centre, {}"
    return [Part(words.format(p), ratio(p, ps.PS, ps.ORACLE), low=0.95) for p in runs.problems]


def _transfer(policy: str) -> Callable[[Runs], list[Part]]:
    def parts(runs: Runs) -> list[Part]:
        words = "mean reward of {} minus that of OFUL, {}"
        return [Part(words.format(policy, p), difference(p, policy, ps.INDIVIDUAL), low=0.0) for p in runs.problems]

    return parts


def _better_than_balancing(policy: str) -> Callable[[Runs], list[Part]]:
    def parts(runs: Runs) -> list[Part]:
        first, last = runs.problems[0], runs.problems[-1]
        at = {p: difference(p, policy, ps.RB) for p in (first, last)}
        words = f"mean reward of {policy} minus that of RB-OFUL, {{}}"
        return [
            Part(words.format(last), at[last], low=0.0),
            Part(words.format(f"at {last} minus at {first}"), lambda runs: at[last](runs) - at[first](runs), low=0.0),
        ]

    return parts


def _pulled(coarse: Runs, fine: Runs) -> list[Part]:
    words = "distance of {} from OFUL in mean reward, {}: fine minus coarse models"

    def distance(runs: Runs, problem: str, policy: str) -> float:
        return np.abs(difference(problem, policy, ps.INDIVIDUAL)(runs))

    def shrinks(problem: str, policy: str) -> Callable[[Runs, Runs], float]:
        return lambda coarse, fine: distance(fine, problem, policy) - distance(coarse, problem, policy)

    last = coarse.problems[-1]
    return [Part(words.format(policy, last), shrinks(last, policy), low=0.0) for policy in (ps.PS, ps.RB)]


BETWEEN = "FS-SCB always performs between the best and second-best experts"
GROWTH = (
    "the regret of FS-SCB that scales as sqrt(log M) is close to RB-SCB (scales as sqrt(M)) for small M, "
    "but gets much better as M grows"
)
BETTER = "the regret of PS-OFUL is better than OFUL"
TRANSFER = "the advantage of transfer (PS-OFUL) over individual (OFUL) learning"
BALANCING = "the performance of PS-OFUL gets better than RB-OFUL as M grows"
OURS = " [the same for ours]"

SENTENCES = (
    Sentence("fs-between", BETWEEN, FIG_1, FS[:2], (fs.FS, fs.BEST, fs.SECOND), statistics(_between(fs.FS))),
    Sentence(
        "fs-between-ours",
        BETWEEN + OURS,
        FIG_1,
        FS,
        (fs.NOISE_AWARE, fs.BEST, fs.SECOND),
        statistics(_between(fs.NOISE_AWARE)),
    ),
    Sentence(
        "fs-near",
        "FS-SCB always performs close to the best and second-best experts",
        APPENDIX,
        FS[2:],
        (fs.FS, fs.SECOND),
        statistics(_near_second),
    ),
    Sentence("fs-few", GROWTH.partition(", but")[0], FIG_1, FS, (fs.FS, fs.RB), statistics(_close_for_few)),
    Sentence(
        "fs-many",
        "[FS-SCB] gets much better [than RB-SCB] as M grows",
        FIG_1,
        FS,
        (fs.FS, fs.RB),
        statistics(_better_for_many),
    ),
    Sentence(
        "fs-variance",
        "RB-SCB has much higher variance than the other algorithms",
        FIG_1 + ", and Appendix F",
        FS[1:],
        (fs.FS, fs.RB),
        statistics(_deviations(fs.RB, fs.FS)),
    ),
    Sentence(
        "fs-growth", "the regret of FS-SCB that scales as sqrt(log M)", FIG_1, FS, (fs.FS,), statistics(_log_growth)
    ),
    Sentence("rb-growth", "RB-SCB (scales as sqrt(M))", FIG_1, FS, (fs.RB,), statistics(_root_growth)),
    Sentence(
        "ps-better",
        BETTER,
        FIG_2_LEFT,
        ("ps-synthetic",),
        (ps.PS, ps_synthetic.INDIVIDUAL),
        statistics(_below_individual(ps.PS)),
    ),
    Sentence(
        "ps-better-ours",
        BETTER + OURS,
        FIG_2_LEFT,
        ("ps-synthetic",),
        (ps.LIKELIHOOD, ps_synthetic.INDIVIDUAL),
        statistics(_below_individual(ps.LIKELIHOOD)),
    ),
    Sentence(
        "ps-closer",
        "and gets closer to it as we increase the size of the balls from b = 0 to b = 2 sqrt(d)",
        FIG_2_LEFT,
        ("ps-synthetic",),
        (ps.PS, ps_synthetic.INDIVIDUAL),
        statistics(_closer),
    ),
    Sentence(
        "ps-bound",
        "the second bound [S = max] is tighter and shows the best performance of OFUL",
        FIG_2_LEFT,
        ("ps-synthetic",),
        (ps_synthetic.INDIVIDUAL, ps_synthetic.INDIVIDUAL_10),
        statistics(_tighter),
    ),
    Sentence(
        "ps-good", "the good performance of PS-OFUL", FIG_2_RIGHT, PS_IMAGES, (ps.PS, ps.ORACLE), statistics(_good)
    ),
    Sentence("ps-many", BALANCING, FIG_2_RIGHT, PS_IMAGES, (ps.PS, ps.RB), statistics(_better_than_balancing(ps.PS))),
    Sentence(
        "ps-many-ours",
        BALANCING + OURS,
        FIG_2_RIGHT,
        PS_IMAGES,
        (ps.LIKELIHOOD, ps.RB),
        statistics(_better_than_balancing(ps.LIKELIHOOD)),
    ),
    Sentence(
        "ps-variance",
        "the large variance of RB-OFUL, especially in comparison to PS-OFUL",
        FIG_2_RIGHT,
        PS_IMAGES,
        (ps.PS, ps.RB),
        statistics(_deviations(ps.RB, ps.PS)),
    ),
    Sentence("ps-transfer", TRANSFER, FIG_2_RIGHT, PS_IMAGES, (ps.PS, ps.INDIVIDUAL), statistics(_transfer(ps.PS))),
    Sentence(
        "ps-transfer-ours",
        TRANSFER + OURS,
        FIG_2_RIGHT,
        PS_IMAGES,
        (ps.LIKELIHOOD, ps.INDIVIDUAL),
        statistics(_transfer(ps.LIKELIHOOD)),
    ),
    Sentence(
        "ps-coarse",
        "with decreasing in the accuracy of the models, the performance of PS-OFUL and RB-OFUL get closer to that for "
        "OFUL",
        FIG_3,
        tuple(COARSE),
        (ps.PS, ps.RB, ps.INDIVIDUAL),
        statistics(_pulled),
        beside=COARSE,
    ),
    Sentence(
        "fs-theorem",
        "w.p. at least 1 - delta, the regret [...] for FS-SCB is bounded as [3 sqrt(K T D_T) + sqrt(2 T log(2/delta))]",
        "Theorem 3.2",
        FS,
        (fs.FS,),
        bounds.feature_selection,
        ("theory",),
    ),
    Sentence(
        "ps-theorem",
        "with probability at least 1 - delta, the transfer-regret [...] of PS-OFUL is bounded as [eq:lem5]",
        "Theorem 4.2",
        ("ps-synthetic",),
        (ps.PS,),
        bounds.parameter_selection,
        ("theory",),
    ),
    Sentence(
        "ps-set",
        "with probability at least 1 - delta, the true reward parameter theta_* lies in C_t",
        "Theorem 4.3",
        ("ps-synthetic",),
        (ps.PS,),
        bounds.coverage(ps.PS),
        ("theory",),
    ),
    Sentence(
        "latent-rate",
        "to obtain an improved regret that scales as min{eps T + sqrt(MT), sqrt(KMT)} [by the rule as printed]",
        "Appendix E",
        ("latent",),
        (latent.PRINTED,),
        bounds.latent_rate(latent.PRINTED),
    ),
    Sentence(
        "latent-rate-source",
        "to obtain an improved regret that scales as min{eps T + sqrt(MT), sqrt(KMT)} [by the rule of its source]",
        "Appendix E",
        ("latent",),
        (latent.SOURCE,),
        bounds.latent_rate(latent.SOURCE),
    ),
    Sentence(
        "ps-set-ours",
        "The likelihood-ratio sets hold the true parameter at every round with probability at least 1 - delta [ours]",
        "docs/math.md",
        ("ps-synthetic",),
        (ps.LIKELIHOOD,),
        bounds.coverage(ps.LIKELIHOOD),
        ("theory",),
    ),
)


def judge(folder: Path, experiments: Mapping[str, Experiment]) -> list[Verdict]:
    """Judge every sentence on the results that are stored in ``folder``; what was not run is left out."""
    evidence = {
        (experiment.name, arm): Evidence(results, Runs.of(results, experiment.metric))
        for experiment, arm, results in stored(folder, experiments)
    }
    return [
        verdict
        for sentence in SENTENCES
        for name in sentence.experiments
        for arm in sentence.arms
        for verdict in _judged(sentence, name, arm, evidence)
    ]


def _judged(sentence: Sentence, name: str, arm: str, evidence: Mapping[tuple[str, str], Evidence]) -> Iterator[Verdict]:
    names = [name, *([sentence.beside[name]] if sentence.beside else [])]
    found = [evidence[one, arm] for one in names if (one, arm) in evidence]
    if len(found) < len(names) or not all(one.runs.has(*sentence.policies) for one in found):
        return
    decides, verdict = together(sentence.measure(*found))
    yield Verdict(
        sentence.id,
        sentence.quote,
        sentence.place,
        name,
        arm,
        decides.words,
        decides.value,
        decides.interval,
        decides.expected,
        verdict,
        decides.n,
    )
