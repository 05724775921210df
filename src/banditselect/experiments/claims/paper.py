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
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...statistics import mean_interval
from .. import feature_selection as fs
from .. import latent
from .. import parameter_selection as ps
from ..experiment import REGIMES
from . import theorems
from .claim import (
    CLOSE,
    Compute,
    Measure,
    Runs,
    Sentence,
    Statistic,
    arguments_of,
    at_ends,
    compared,
    difference,
    growth,
    measure,
    models_of,
    ratio,
    variances,
)

MUCH = 1.5

FS = ("fs-synthetic", "fs-mnist", "fs-cifar100")
IMAGES = ("ps-cifar10", "ps-mnist")
COARSE = {"ps-cifar10-coarse": "ps-cifar10", "ps-mnist-coarse": "ps-mnist"}


@at_ends
def _close_for_few(runs: Runs, first: str, last: str) -> list[Statistic]:
    words = f"regret of RB-SCB over that of FS-SCB, {first}"
    return [Statistic(words, ratio(runs, first, fs.RB, fs.FS), 1.0 / CLOSE, CLOSE, (first,), log=True)]


@at_ends
def _better_for_many(runs: Runs, first: str, last: str) -> list[Statistic]:
    few, many = (ratio(runs, p, fs.RB, fs.FS) for p in (first, last))
    words = "regret of RB-SCB over that of FS-SCB, "
    return [
        Statistic(words + last, many, low=MUCH, problems=(last,), log=True),
        Statistic(f"{words}at {last} over that at {first}", lambda mean: many(mean) / few(mean), low=1.0, log=True),
    ]


@measure
@at_ends
def _better_than_balancing(runs: Runs, first: str, last: str, policy: str) -> list[Statistic]:
    few, many = (difference(runs, p, policy, ps.RB) for p in (first, last))
    words = f"mean reward of {policy} minus that of RB-OFUL, "
    return [
        Statistic(words + last, many, low=0.0, problems=(last,)),
        Statistic(f"{words}at {last} minus at {first}", lambda mean: many(mean) - few(mean), low=0.0),
    ]


def _ordered(runs: Runs) -> list[Statistic]:
    """The best map is better than the second best: there is something between them."""
    words = "regret of the best map over that of the second best, "
    return [Statistic(words + p, ratio(runs, p, fs.BEST, fs.SECOND), -math.inf, 1.0, (p,), True) for p in runs.problems]


def _away(runs: Runs) -> list[Statistic]:
    """PS-OFUL is better than OFUL where the balls are points: it can get closer from there."""
    words, p = "regret of PS-OFUL over that of {}, {}", runs.problems[0]
    return [Statistic(words.format(b, p), ratio(runs, p, ps.PS, b), -math.inf, 1.0, (p,), True, b) for b in BOTH]


def _closer(runs: Runs) -> list[Statistic]:
    first, last = runs.problems[0], runs.problems[-1]

    def shrinks(other: str) -> Compute:
        few, many = (ratio(runs, problem, ps.PS, other) for problem in (first, last))
        return lambda mean: np.abs(np.log(few(mean))) - np.abs(np.log(many(mean)))

    words = f"|log(regret of PS-OFUL / regret of {{}})|, at {first} minus at {last}"
    return [Statistic(words.format(b), shrinks(b), low=0.0, problems=(first, last), policy=b) for b in BOTH]


def _tighter(runs: Runs) -> list[Statistic]:
    """Measure where S = max is tighter, which the sentence takes for granted: on average, by a 95 % interval."""
    parts, bound = [], "parameter_bound"
    for problem, result in runs.results.items():
        if mean_interval([one[bound] for one in arguments_of(result, ps.OFUL_MAX, [bound])]).high < 10.0:
            words = f"regret of OFUL with S = max over that with S = 10, {problem}"
            parts.append(Statistic(words, ratio(runs, problem, *BOTH), high=1.0, problems=(problem,), log=True))
    return parts


def _above(coarse: Runs, fine: Runs) -> list[Statistic]:
    """With fine models both are better than OFUL: they can get closer from there."""
    words, p = "mean reward of {} minus that of OFUL, fine models, {}", max(fine.problems, key=models_of)
    return [
        Statistic(words.format(own, p), difference(fine, p, own, ps.INDIVIDUAL), low=0.0, problems=(p,), policy=own)
        for own in (ps.PS, ps.RB)
    ]


def _pulled(coarse: Runs, fine: Runs) -> list[Statistic]:
    """OFUL does not know the balls, so it is the same for fine and coarse ones."""
    words, p = (
        "distance of {} from OFUL in mean reward, {}: fine minus coarse models",
        max(coarse.problems, key=models_of),
    )

    def shrinks(policy: str) -> Compute:
        before, after = (difference(runs, p, policy, ps.INDIVIDUAL) for runs in (fine, coarse))
        return lambda mean: np.abs(before(mean)) - np.abs(after(mean))

    return [Statistic(words.format(own, p), shrinks(own), low=0.0, problems=(p,), policy=own) for own in (ps.PS, ps.RB)]


LATENT = "an improved regret that scales as min{eps T + sqrt(MT), sqrt(KMT)}"
QUOTES = {
    "fs-between": "FS-SCB always performs between the best and second-best experts",
    "fs-near": "FS-SCB always performs close to the best and second-best experts",
    "fs-few": "the regret of FS-SCB [...] is close to RB-SCB [...] for small M",
    "fs-many": "[the regret of FS-SCB] gets much better [than that of RB-SCB] as M grows",
    "fs-variance": "RB-SCB has much higher variance than the other algorithms",
    "fs-growth": "the regret of FS-SCB that scales as sqrt(log M)",
    "rb-growth": "RB-SCB (scales as sqrt(M))",
    "ps-better": "the regret of PS-OFUL is better than OFUL [...] This clearly shows the potential advantage of "
    "transfer (PS-OFUL) over individual (OFUL) learning",
    "ps-closer": "and gets closer to it as we increase the size of the balls from b = 0 to b = 2 sqrt(d)",
    "ps-bound": "the second bound [S = max] is tighter and shows the best performance of OFUL",
    "ps-good": "the good performance of PS-OFUL",
    "ps-many": "the performance of PS-OFUL gets better than RB-OFUL as M grows",
    "ps-growth": "(sqrt(log M) [...] scaling) [of the regret of PS-OFUL]",
    "ps-rb-growth": "([...] sqrt(M) scaling) [of the regret of RB-OFUL]",
    "ps-variance": "the large variance of RB-OFUL, especially in comparison to PS-OFUL",
    "ps-transfer": "the advantage of transfer (PS-OFUL) over individual (OFUL) learning",
    "ps-coarse": "with decreasing in the accuracy of the models, the performance of PS-OFUL and RB-OFUL get closer to "
    "that for OFUL",
    "fs-theorem": "w.p. at least 1 - delta, the regret [...] for FS-SCB is bounded as [3 sqrt(K T D_T) + sqrt(2 T "
    "log(2/delta))]",
    "ps-theorem": "with probability at least 1 - delta, the transfer-regret [...] of PS-OFUL is bounded as [eq:lem5]",
    "ps-set": "with probability at least 1 - delta, the true reward parameter theta_* lies in C_t",
    "latent-rate": f"{LATENT} [by the rule as printed]",
    "latent-rate-source": f"{LATENT} [by the rule of its source]",
    "fs-between-ours": "FS-SCB, noise-aware, performs between the best and second-best experts",
    "ps-better-ours": "the regret of PS-OFUL with likelihood sets is better than OFUL",
    "ps-transfer-ours": "the mean reward of PS-OFUL with likelihood sets is higher than that of OFUL",
    "ps-many-ours": "the performance of PS-OFUL with likelihood sets gets better than RB-OFUL as M grows",
    "ps-set-ours": "the likelihood-ratio sets hold the true parameter at all rounds with probability at least "
    "1 - delta",
    "fs-untuned-ours": "FS-IDS, which is not tuned, has at most the regret of the best policy that is",
    "ps-untuned-synthetic-ours": "PS-IDS, which is not tuned, has at most the regret of the best policy that is",
    "ps-untuned-ours": "PS-IDS, which is not tuned, has at most the regret of the best policy that is",
}
"""Quotes of the paper, and sentences of our own, by the name of the sentence."""

CLAIMS = {
    "fs-between": "FS-SCB lies between the best two maps",
    "fs-near": "FS-SCB stays close to the best two maps",
    "fs-few": "RB-SCB is near FS-SCB at small M",
    "fs-many": "FS-SCB beats RB-SCB clearly at large M",
    "fs-variance": "RB-SCB varies by far the most",
    "fs-growth": "FS-SCB's regret grows at most as sqrt(log M)",
    "rb-growth": "RB-SCB's regret grows at most as sqrt(M)",
    "ps-better": "PS-OFUL beats OFUL at every b",
    "ps-closer": "PS-OFUL's lead shrinks as the balls grow",
    "ps-bound": "OFUL does better with S = max than with S = 10 at b = 0, where that is tighter",
    "ps-good": "PS-OFUL comes close to the oracle",
    "ps-many": "PS-OFUL pulls ahead of RB-OFUL as M grows",
    "ps-growth": "PS-OFUL's regret grows at most as sqrt(log M)",
    "ps-rb-growth": "RB-OFUL's regret grows at most as sqrt(M)",
    "ps-variance": "RB-OFUL varies far more than PS-OFUL",
    "ps-transfer": "PS-OFUL beats OFUL",
    "ps-coarse": "coarse models bring PS-OFUL and RB-OFUL closer to OFUL, however slightly",
}
"""The same as a short clause, for sentences on the paper's figures."""

NOTES = {
    "ps-bound": "judged only where S = max is tighter, that is below 10 on average",
    "ps-many": "the penalty of BIAS-OFUL, the base of RB-OFUL, decides: lambda = 1 / r^2 here, 1 / (T Var) in its "
    "source",
    "ps-coarse": "judged by the sign of the change, however small",
}
PROVED = {
    "fs-theorem": "Theorem 3.2, with the constants of its proof",
    "ps-theorem": "Theorem 4.2, with the constants of its proof; judged where b <= 1, which it assumes",
    "ps-set": "Theorem 4.3; judged where b <= 1, which it assumes",
}


def _said(
    id: str, experiments: Sequence[str], policies: tuple[str, ...], parts: Measure, about: int = 1, **options: Any
) -> Sentence:
    """Return a sentence; it speaks of the first ``about`` of its policies."""
    known: dict[str, Any] = {"regimes": ("theory",) if id in PROVED else tuple(REGIMES), "about": policies[:about]}
    known |= {"place": PROVED.get(id), "claim": CLAIMS.get(id, ""), "note": NOTES.get(id, "")}
    return Sentence(id, QUOTES[id], experiments, policies, parts, ours=id.endswith("-ours"), **known | options)


@measure
def _over_best(runs: Runs, policy: str, *others: str) -> list[Statistic]:
    """Compare the regret of a policy with the smallest of the others, on every problem."""

    def over_best(problem: str) -> Compute:
        own, *rest = (runs.regrets.final(problem, one) for one in (policy, *others))
        return lambda mean: mean(own) / np.min([mean(one) for one in rest], axis=0)

    words = f"regret of {policy} over that of the best tuned policy, "
    return [Statistic(words + p, over_best(p), high=1.0, problems=(p,), log=True) for p in runs.problems]


SYNTHETIC, EXTREME = ("ps-synthetic",), ("ps-worst",)
PAIR, BOTH = (fs.FS, fs.RB), (ps.OFUL_MAX, ps.OFUL_10)
CLOSING = (ps.PS, ps.RB, ps.INDIVIDUAL)
TO_SECOND = "regret of {a} over that of the second best map"
TO_OFUL, FROM_OFUL = "regret of {a} over that of {b}", "mean reward of {a} minus that of OFUL"
TO_ORACLE = "mean reward of PS-OFUL over that of BIAS-OFUL with the true centre"

BETWEEN = compared(ratio, TO_SECOND, fs.FS, fs.SECOND, high=1.0)
NEAR = compared(ratio, TO_SECOND, fs.FS, fs.SECOND, high=CLOSE)
FS_VARIES = variances(fs.RB, fs.FS, fs.BEST, fs.SECOND, fs.WORST, low=MUCH)
BETTER = compared(ratio, TO_OFUL, ps.PS, *BOTH, high=1.0)
GOOD = compared(ratio, TO_ORACLE, ps.PS, ps.ORACLE, low=0.95)
TRANSFER = compared(difference, FROM_OFUL, ps.PS, ps.INDIVIDUAL, low=0.0)
SMALL = theorems.assuming_small_balls

SENTENCES = (
    _said("fs-between", FS[:2], (fs.FS, fs.SECOND, fs.BEST), BETWEEN, premise=_ordered),
    _said("fs-near", FS[2:], (fs.FS, fs.SECOND), NEAR),
    _said("fs-few", FS, PAIR, _close_for_few, about=2),
    _said("fs-many", FS, PAIR, _better_for_many),
    _said("fs-variance", FS[1:], PAIR, FS_VARIES),
    _said("fs-growth", FS, (fs.FS,), growth(fs.FS, log=True)),
    _said("rb-growth", FS, (fs.RB,), growth(fs.RB, log=False)),
    _said("ps-better", SYNTHETIC, (ps.PS, *BOTH), BETTER),
    _said("ps-closer", SYNTHETIC, (ps.PS, *BOTH), _closer, premise=_away),
    _said("ps-bound", SYNTHETIC, BOTH, _tighter),
    _said("ps-good", IMAGES, (ps.PS, ps.ORACLE), GOOD),
    _said("ps-many", IMAGES, (ps.PS, ps.RB), _better_than_balancing(ps.PS)),
    _said("ps-growth", IMAGES, (ps.PS, ps.ORACLE), growth(ps.PS, log=True, over=ps.ORACLE)),
    _said("ps-rb-growth", IMAGES, (ps.RB, ps.ORACLE), growth(ps.RB, log=False, over=ps.ORACLE)),
    _said("ps-variance", IMAGES, (ps.PS, ps.RB), variances(ps.RB, ps.PS, low=MUCH)),
    _said("ps-transfer", IMAGES, (ps.PS, ps.INDIVIDUAL), TRANSFER),
    _said("ps-coarse", tuple(COARSE), CLOSING, _pulled, about=2, beside=COARSE, premise=_above),
    _said("fs-theorem", FS, (fs.FS,), theorems.feature_selection),
    _said("ps-theorem", EXTREME, (ps.PS,), SMALL(theorems.transfer_regret)),
    _said("ps-set", EXTREME, (ps.PS,), SMALL(theorems.coverage(ps.PS))),
    _said("latent-rate", ("latent",), (latent.PRINTED,), theorems.latent_rate(latent.PRINTED), about=0),
    _said("latent-rate-source", ("latent",), (latent.SOURCE,), theorems.latent_rate(latent.SOURCE), about=0),
)

TUNED_FS = (fs.FS, fs.NOISE_AWARE, fs.OPTIMISTIC, fs.RB)
TUNED_PS = (ps.PS, ps.LIKELIHOOD, *BOTH)
TUNED_IMAGES = (ps.PS, ps.LIKELIHOOD, ps.NARROW, ps.RB, ps.INDIVIDUAL)
UNTUNED: dict[str, Any] = {"regimes": ("tuned",), "place": "not in the paper"}
LIKELY = (ps.LIKELIHOOD,)

NOISE_AWARE = compared(ratio, TO_SECOND, fs.NOISE_AWARE, fs.SECOND, high=1.0)
LIKELY_BETTER = compared(ratio, TO_OFUL, ps.LIKELIHOOD, *BOTH, high=1.0)
LIKELY_TRANSFER = compared(difference, FROM_OFUL, ps.LIKELIHOOD, ps.INDIVIDUAL, low=0.0)
LIKELY_MANY = _better_than_balancing(ps.LIKELIHOOD)
HELD: dict[str, Any] = {"regimes": ("theory",), "place": "docs/math.md"}

OURS = (
    _said("fs-between-ours", FS, (fs.NOISE_AWARE, fs.SECOND, fs.BEST), NOISE_AWARE, premise=_ordered),
    _said("ps-better-ours", SYNTHETIC, (*LIKELY, *BOTH), LIKELY_BETTER),
    _said("ps-transfer-ours", IMAGES, (*LIKELY, ps.INDIVIDUAL), LIKELY_TRANSFER),
    _said("ps-many-ours", IMAGES, (*LIKELY, ps.RB), LIKELY_MANY),
    _said("ps-set-ours", EXTREME, LIKELY, theorems.coverage(ps.LIKELIHOOD), **HELD),
    *(
        _said(f"{id}-ours", where, (policy, *tuned), _over_best(policy, *tuned), **UNTUNED)
        for id, where, policy, tuned in (
            ("fs-untuned", FS, fs.UNTUNED, TUNED_FS),
            ("ps-untuned-synthetic", SYNTHETIC, ps.UNTUNED, TUNED_PS),
            ("ps-untuned", (*IMAGES, *COARSE), ps.UNTUNED, TUNED_IMAGES),
        )
    ),
)
"""No sentences of the paper: the same statistics for our variants, and what our untuned policies lose to tuned ones."""
