"""Judge the empirical sentences of the paper on results.

Every sentence is a statistic of the results, an interval around it and what the sentence says about it; ``judge`` needs
nothing else. Only classes of replicates are drawn again, by seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...simulation import Results
from ..experiment import Experiment
from ..feature_selection import UNIFORM
from .claim import FAILS, HOLDS, NOT_APPLICABLE, OPEN, Measured, Ran, Runs, Sentence, Verdict, measure_all
from .latent import LATENT_SENTENCES
from .paper import OURS, SENTENCES

__all__ = ["Ran", "Verdict", "judge"]

#: where a sentence is, if not where its experiment is shown
SAID = {"ps-mnist-coarse": "Section 5, said of CIFAR-10"}
NEARLY_UNIFORM = 0.8  #: of the regret of uniform play, from which on a policy has shown nothing


def judge(
    ran: Ran,
    experiments: Mapping[str, Experiment],
    sentences: Sequence[Sentence] = (*SENTENCES, *LATENT_SENTENCES, *OURS),
) -> list[Verdict]:
    """Judge every sentence on results by experiment and regime; what was not run is left out."""
    verdicts = []
    for sentence in sentences:
        for name in sentence.experiments:
            for regime in sentence.regimes:
                keys = [(one, regime) for one in (name, sentence.beside.get(name)) if one]
                several = [ran[key] for key in keys if key in ran]
                played = [result.curves.keys() for results in several for result in results.values()]
                if len(several) == len(keys) and all(own >= {*sentence.policies} for own in played):
                    verdict = _judge_one(sentence, experiments[name], regime, several)
                    verdicts += [] if verdict is None else [verdict]
    return verdicts


def _judge_one(sentence: Sentence, experiment: Experiment, regime: str, several: Sequence[Results]) -> Verdict | None:
    """Return the verdict of a sentence on results; None if they say nothing about it, or met other problems."""
    met = [[(p, r.settings.get("rounds"), r.settings.get("seed")) for p, r in one.items()] for one in several]
    n = min((result.replicates for one in several for result in one.values() if result.curves), default=0)
    if any(one != met[0] for one in met) or not n:
        return None
    runs = [Runs(one, experiment.metric, n, experiment) for one in several]
    measured = measure_all(sentence.measure(*runs), n)
    if not measured:
        return None
    decides, verdict = verdict_of(measured, measure_all(sentence.premise(*runs), n))
    idle = nearly_uniform(sentence.about, measured, runs) if sentence.about and verdict in (HOLDS, FAILS) else ""
    figure = experiment.place.startswith("Figure")
    return Verdict(
        id=sentence.id,
        quote=sentence.quote,
        place=sentence.place or SAID.get(experiment.name) or ("Section 5, on " if figure else "") + experiment.place,
        experiment=experiment.name,
        regime=regime,
        statistic=decides.words,
        value=decides.value,
        interval=decides.interval,
        expected=decides.expected,
        verdict=verdict,
        n=decides.n,
        vacuous="; ".join(filter(None, (decides.vacuous if verdict == HOLDS else "", idle))),
        claim=sentence.claim,
        note=sentence.note,
        ours=sentence.ours,
        policy=decides.policy,
    )


def combine(measured: Sequence[Measured]) -> tuple[Measured, str]:
    """Return the part that decides, and the verdict: a sentence holds if all of its parts do, and fails with one."""
    failed = [part for part in measured if part.verdict == FAILS]
    decides = min(failed or measured, key=lambda part: part.margin)
    if failed:
        return decides, FAILS
    return decides, HOLDS if all(part.verdict == HOLDS for part in measured) else OPEN


def verdict_of(measured: Sequence[Measured], premises: Sequence[Measured]) -> tuple[Measured, str]:
    """Return the part that decides, and the verdict: none on a sentence whose premise fails or is not decided."""
    if premises:
        decides, verdict = combine(premises)
        if verdict != HOLDS:
            premise = replace(decides, words=f"premise: {decides.words}")
            return premise, NOT_APPLICABLE if verdict == FAILS else OPEN
    return combine(measured)


def nearly_uniform(policies: Sequence[str], measured: Sequence[Measured], runs: Sequence[Runs]) -> str:
    """Return, in words, that all of these policies played nearly uniformly wherever a sentence was judged; "" if not.

    Their mean regrets are compared with that of uniform play on the same problems.
    """
    shares = []
    for own in (one.regrets for one in runs):
        for problem in {problem for part in measured for problem in part.problems or own.problems}:
            if not {UNIFORM, *policies} <= own.results[problem].curves.keys():
                return ""
            uniform = own.final(problem, UNIFORM).mean()
            shares += [own.final(problem, policy).mean() / uniform for policy in policies]
    if not shares or not min(shares) >= NEARLY_UNIFORM:  # not a number where no regret was stored
        return ""
    named = " and ".join(policies)
    return f"nearly uniform play: regret of {named} at least {100.0 * min(shares):.0f} % of that of uniform play"
