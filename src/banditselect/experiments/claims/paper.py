"""The empirical sentences of the paper: what each says, and the statistics that it is about.

Where words are vague, this is what they are taken to mean: "close": within a quarter; "much better", "much higher": at
least 1.5 times; "good": at least 95 % of the oracle's mean reward; "scales as" a power: grows no faster, between the
smallest and the largest M; "between the best and second-best": not worse than the second best; "close to the best and
second-best": at most a quarter worse than the second best, since to be better than both is no failure. "Always" is: for
every M, after the last round. "OFUL", where the figure shows it with two bounds S: with both. "Variance": between runs
in which the same class pays; classes differ in difficulty, so a variance over all runs would compare the classes.

A sentence may take something for granted: "gets closer" that it was away, on the side that the paper says. Where that
premise fails the sentence is not applicable. And a sentence may hold although nothing is shown, because who it speaks
of plays nearly uniformly, or because a bound is so wide that nothing could exceed it: then it holds vacuously.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...statistics import mean_interval
from .. import feature_selection as fs
from .. import latent
from .. import parameter_selection as ps
from . import theorems
from .claim import Measured, Parts, Runs, Sentence, Statistic, measure_all, models_of
from .statistics import at_ends, compared, difference, growth, ratio, statistics, variances

CLOSE, MUCH = 1.25, 1.5

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
IMAGES = ("ps-cifar10", "ps-mnist")
COARSE = {"ps-cifar10-coarse": "ps-cifar10", "ps-mnist-coarse": "ps-mnist"}


@at_ends
def _close_for_few(first: str, last: str) -> list[Statistic]:
    words = f"regret of RB-SCB over that of FS-SCB, {first}"
    return [Statistic(words, ratio(first, fs.RB, fs.FS), 1.0 / CLOSE, CLOSE, (first,), log=True)]


@at_ends
def _better_for_many(first: str, last: str) -> list[Statistic]:
    few, many = (ratio(p, fs.RB, fs.FS) for p in (first, last))
    words = "regret of RB-SCB over that of FS-SCB, "
    return [
        Statistic(words + last, many, low=MUCH, problems=(last,), log=True),
        Statistic(f"{words}at {last} over that at {first}", lambda runs: many(runs) / few(runs), low=1.0, log=True),
    ]


def _better_than_balancing(policy: str) -> Parts:
    def parts(first: str, last: str) -> list[Statistic]:
        few, many = (difference(p, policy, ps.RB) for p in (first, last))
        words = f"mean reward of {policy} minus that of RB-OFUL, "
        return [
            Statistic(words + last, many, low=0.0, problems=(last,)),
            Statistic(f"{words}at {last} minus at {first}", lambda runs: many(runs) - few(runs), low=0.0),
        ]

    return at_ends(parts)


def _ordered(runs: Runs) -> list[Statistic]:
    """The best map is better than the second best: there is something between them."""
    words = "regret of the best map over that of the second best, "
    return [Statistic(words + p, ratio(p, fs.BEST, fs.SECOND), -math.inf, 1.0, (p,), True) for p in runs.problems]


def _away(runs: Runs) -> list[Statistic]:
    """PS-OFUL is better than OFUL where the balls are points: it can get closer from there."""
    words, first = "regret of PS-OFUL over that of {}, {}", runs.problems[0]
    return [Statistic(words.format(b, first), ratio(first, ps.PS, b), -math.inf, 1.0, (first,), True) for b in BOTH]


def _closer(runs: Runs) -> list[Statistic]:
    first, last = runs.problems[0], runs.problems[-1]

    def shrinks(other: str) -> Callable[[Runs], Any]:
        few, many = (ratio(problem, ps.PS, other) for problem in (first, last))
        return lambda runs: np.abs(np.log(few(runs))) - np.abs(np.log(many(runs)))

    words = f"|log(regret of PS-OFUL / regret of {{}})|, at {first} minus at {last}"
    return [Statistic(words.format(b), shrinks(b), low=0.0, problems=(first, last)) for b in BOTH]


def _tighter(runs: Runs) -> list[Measured]:
    """Measure where S = max is tighter, which the sentence takes for granted: on average, by a 95 % interval."""
    parts, bound = [], "parameter_bound"
    for problem, result in runs.results.items():
        if mean_interval([one[bound] for one in theorems.arguments_of(result, ps.OFUL_MAX, [bound])]).high < 10.0:
            words = f"regret of OFUL with S = max over that with S = 10, {problem}"
            parts.append(Statistic(words, ratio(problem, *BOTH), high=1.0, problems=(problem,), log=True))
    return measure_all(parts, [runs])


def _above(coarse: Runs, fine: Runs) -> list[Statistic]:
    """With fine models both are better than OFUL: they can get closer from there."""
    last = max(fine.problems, key=models_of)

    def over(policy: str) -> Callable[[Runs, Runs], Any]:
        return lambda coarse, fine: difference(last, policy, ps.INDIVIDUAL)(fine)

    words = "mean reward of {} minus that of OFUL, fine models, " + last
    return [Statistic(words.format(policy), over(policy), 0.0, math.inf, (last,)) for policy in (ps.PS, ps.RB)]


def _pulled(coarse: Runs, fine: Runs) -> list[Statistic]:
    """OFUL does not know the balls, so it is the same for fine and coarse ones."""
    words = "distance of {} from OFUL in mean reward, {}: fine minus coarse models"

    def distance(runs: Runs, problem: str, policy: str) -> Any:
        return np.abs(difference(problem, policy, ps.INDIVIDUAL)(runs))

    def shrinks(problem: str, policy: str) -> Callable[[Runs, Runs], Any]:
        return lambda coarse, fine: distance(fine, problem, policy) - distance(coarse, problem, policy)

    last = max(coarse.problems, key=models_of)
    return [
        Statistic(words.format(policy, last), shrinks(last, policy), 0.0, math.inf, (last,))
        for policy in (ps.PS, ps.RB)
    ]


def untuned(id: str, experiments: Sequence[str], policy: str, *others: str) -> Sentence:
    """Return the sentence about a policy that has nothing to tune, beside the best of those that were tuned."""

    def over_best(problem: str) -> Callable[[Runs], Any]:
        return lambda runs: runs.mean(problem, policy) / np.min([runs.mean(problem, one) for one in others], axis=0)

    def parts(runs: Runs) -> list[Statistic]:
        words = f"regret of {policy} over that of the best tuned policy, "
        return [Statistic(words + p, over_best(p), high=1.0, problems=(p,), log=True) for p in runs.problems]

    name = policy.partition(",")[0]
    return Sentence(
        id,
        f"{name}, which is not tuned, has at most the regret of the best policy that is",
        experiments,
        (policy, *others),
        statistics(parts, "regret"),
        ("tuned",),
        place="not in the paper",
        about=(policy,),
        ours=True,
    )


BETTER = (
    "the regret of PS-OFUL is better than OFUL [...] This clearly shows the potential advantage of transfer (PS-OFUL) "
    "over individual (OFUL) learning"
)
LATENT = "an improved regret that scales as min{eps T + sqrt(MT), sqrt(KMT)}"
SYNTHETIC, EXTREME = ("ps-synthetic",), ("ps-worst",)
BOTH = ps.OFUL_MAX, ps.OFUL_10

TO_SECOND = "regret of {a} over that of the second best map"
TO_OFUL = "regret of {a} over that of {b}"
FROM_OFUL = "mean reward of {a} minus that of OFUL"

SENTENCES = (
    compared(
        "fs-between",
        "FS-SCB always performs between the best and second-best experts",
        FS[:2],
        ratio,
        TO_SECOND,
        fs.FS,
        fs.SECOND,
        high=1.0,
        also=(fs.BEST,),
        premise=statistics(_ordered),
        claim="FS-SCB lies between the best two maps",
    ),
    compared(
        "fs-near",
        "FS-SCB always performs close to the best and second-best experts",
        FS[2:],
        ratio,
        TO_SECOND,
        fs.FS,
        fs.SECOND,
        high=CLOSE,
        claim="FS-SCB stays close to the best two maps",
    ),
    Sentence(
        "fs-few",
        "the regret of FS-SCB [...] is close to RB-SCB [...] for small M",
        FS,
        (fs.FS, fs.RB),
        statistics(_close_for_few),
        about=(fs.FS, fs.RB),
        claim="RB-SCB is near FS-SCB at small M",
    ),
    Sentence(
        "fs-many",
        "[the regret of FS-SCB] gets much better [than that of RB-SCB] as M grows",
        FS,
        (fs.FS, fs.RB),
        statistics(_better_for_many),
        about=(fs.FS,),
        claim="FS-SCB beats RB-SCB clearly at large M",
    ),
    Sentence(
        "fs-variance",
        "RB-SCB has much higher variance than the other algorithms",
        FS[1:],
        (fs.FS, fs.RB),
        variances(fs.RB, fs.FS, fs.BEST, fs.SECOND, fs.WORST, low=MUCH),
        about=(fs.FS,),
        claim="RB-SCB varies by far the most",
    ),
    growth("fs-growth", "the regret of FS-SCB that scales as sqrt(log M)", FS, fs.FS, log=True),
    growth("rb-growth", "RB-SCB (scales as sqrt(M))", FS, fs.RB, log=False),
    compared(
        "ps-better", BETTER, SYNTHETIC, ratio, TO_OFUL, ps.PS, *BOTH, high=1.0, claim="PS-OFUL beats OFUL at every b"
    ),
    Sentence(
        "ps-closer",
        "and gets closer to it as we increase the size of the balls from b = 0 to b = 2 sqrt(d)",
        SYNTHETIC,
        (ps.PS, *BOTH),
        statistics(_closer),
        about=(ps.PS,),
        premise=statistics(_away),
        claim="PS-OFUL's lead shrinks as the balls grow",
    ),
    Sentence(
        "ps-bound",
        "the second bound [S = max] is tighter and shows the best performance of OFUL",
        SYNTHETIC,
        BOTH,
        _tighter,
        about=(ps.OFUL_MAX,),
        claim="OFUL is best with S = max at b = 0, where that is tighter",
        note="judged only where S = max is tighter, that is below 10 on average",
    ),
    compared(
        "ps-good",
        "the good performance of PS-OFUL",
        IMAGES,
        ratio,
        "mean reward of PS-OFUL over that of BIAS-OFUL with the true centre",
        ps.PS,
        ps.ORACLE,
        low=0.95,
        claim="PS-OFUL comes close to the oracle",
    ),
    Sentence(
        "ps-many",
        "the performance of PS-OFUL gets better than RB-OFUL as M grows",
        IMAGES,
        (ps.PS, ps.RB),
        statistics(_better_than_balancing(ps.PS)),
        about=(ps.PS,),
        claim="PS-OFUL pulls ahead of RB-OFUL as M grows",
        note="the penalty of BIAS-OFUL, the base of RB-OFUL, decides: lambda = 1 / r^2 here, 1 / (T Var) in its source",
    ),
    growth(
        "ps-growth", "(sqrt(log M) [...] scaling) [of the regret of PS-OFUL]", IMAGES, ps.PS, log=True, over=ps.ORACLE
    ),
    growth(
        "ps-rb-growth", "([...] sqrt(M) scaling) [of the regret of RB-OFUL]", IMAGES, ps.RB, log=False, over=ps.ORACLE
    ),
    Sentence(
        "ps-variance",
        "the large variance of RB-OFUL, especially in comparison to PS-OFUL",
        IMAGES,
        (ps.PS, ps.RB),
        variances(ps.RB, ps.PS, low=MUCH),
        about=(ps.PS,),
        claim="RB-OFUL varies far more than PS-OFUL",
    ),
    compared(
        "ps-transfer",
        "the advantage of transfer (PS-OFUL) over individual (OFUL) learning",
        IMAGES,
        difference,
        FROM_OFUL,
        ps.PS,
        ps.INDIVIDUAL,
        low=0.0,
        claim="PS-OFUL beats OFUL",
    ),
    Sentence(
        "ps-coarse",
        "with decreasing in the accuracy of the models, the performance of PS-OFUL and RB-OFUL get closer to that for "
        "OFUL",
        tuple(COARSE),
        (ps.PS, ps.RB, ps.INDIVIDUAL),
        statistics(_pulled),
        beside=COARSE,
        about=(ps.PS, ps.RB),
        premise=statistics(_above),
        claim="PS-OFUL and RB-OFUL approach OFUL with coarse models",
        note="judged by the sign of the change, however small",
    ),
    Sentence(
        "fs-theorem",
        "w.p. at least 1 - delta, the regret [...] for FS-SCB is bounded as [3 sqrt(K T D_T) + sqrt(2 T log(2/delta))]",
        FS,
        (fs.FS,),
        theorems.feature_selection,
        ("theory",),
        place="Theorem 3.2, with the constants of its proof",
        about=(fs.FS,),
    ),
    Sentence(
        "ps-theorem",
        "with probability at least 1 - delta, the transfer-regret [...] of PS-OFUL is bounded as [eq:lem5]",
        EXTREME,
        (ps.PS,),
        theorems.assuming_small_balls(theorems.transfer_regret),
        ("theory",),
        place="Theorem 4.2, with the constants of its proof; judged where b <= 1, which it assumes",
        about=(ps.PS,),
    ),
    Sentence(
        "ps-set",
        "with probability at least 1 - delta, the true reward parameter theta_* lies in C_t",
        EXTREME,
        (ps.PS,),
        theorems.assuming_small_balls(theorems.coverage(ps.PS)),
        ("theory",),
        place="Theorem 4.3; judged where b <= 1, which it assumes",
        about=(ps.PS,),
    ),
    *(
        Sentence(id, f"{LATENT} [by the rule {rule}]", ("latent",), (policy,), theorems.latent_rate(policy))
        for id, rule, policy in (
            ("latent-rate", "as printed", latent.PRINTED),
            ("latent-rate-source", "of its source", latent.SOURCE),
        )
    ),
)

OURS = (
    compared(
        "fs-between-ours",
        "FS-SCB, noise-aware, performs between the best and second-best experts",
        FS,
        ratio,
        TO_SECOND,
        fs.NOISE_AWARE,
        fs.SECOND,
        high=1.0,
        also=(fs.BEST,),
        premise=statistics(_ordered),
        ours=True,
    ),
    compared(
        "ps-better-ours",
        "the regret of PS-OFUL with likelihood sets is better than OFUL",
        SYNTHETIC,
        ratio,
        TO_OFUL,
        ps.LIKELIHOOD,
        *BOTH,
        high=1.0,
        ours=True,
    ),
    compared(
        "ps-transfer-ours",
        "the mean reward of PS-OFUL with likelihood sets is higher than that of OFUL",
        IMAGES,
        difference,
        FROM_OFUL,
        ps.LIKELIHOOD,
        ps.INDIVIDUAL,
        low=0.0,
        ours=True,
    ),
    Sentence(
        "ps-many-ours",
        "the performance of PS-OFUL with likelihood sets gets better than RB-OFUL as M grows",
        IMAGES,
        (ps.LIKELIHOOD, ps.RB),
        statistics(_better_than_balancing(ps.LIKELIHOOD)),
        about=(ps.LIKELIHOOD,),
        ours=True,
    ),
    Sentence(
        "ps-set-ours",
        "the likelihood-ratio sets hold the true parameter at all rounds with probability at least 1 - delta",
        EXTREME,
        (ps.LIKELIHOOD,),
        theorems.coverage(ps.LIKELIHOOD),
        ("theory",),
        place="docs/math.md",
        about=(ps.LIKELIHOOD,),
        ours=True,
    ),
    untuned("fs-untuned-ours", FS, fs.UNTUNED, fs.FS, fs.NOISE_AWARE, fs.OPTIMISTIC, fs.RB),
    untuned("ps-untuned-synthetic-ours", SYNTHETIC, ps.UNTUNED, ps.PS, ps.LIKELIHOOD, *BOTH),
    untuned("ps-untuned-ours", (*IMAGES, *COARSE), ps.UNTUNED, ps.PS, ps.LIKELIHOOD, ps.NARROW, ps.RB, ps.INDIVIDUAL),
)
"""No sentences of the paper: the same statistics for our variants, and what our untuned policies lose to tuned ones."""
