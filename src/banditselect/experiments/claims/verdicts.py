"""The verdict on every sentence for every experiment and regime whose results are stored."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ...simulation import Results
from ...types import Array
from ..experiment import Experiment, stored
from .latent_sentences import LATENT_SENTENCES
from .measuring import FAILS, HOLDS, Evidence, Runs, judged, nearly_uniform
from .sentence import Sentence, models_of
from .sentences import OURS, PLACES, SENTENCES


@dataclass(frozen=True)
class Verdict:
    """A sentence of the paper on one experiment and regime.

    Attributes
    ----------
    id: of the sentence, e.g. "fs-between".
    quote: the sentence, from the paper.
    place: where it is.
    experiment, regime: what it was judged on.
    statistic: what was measured, in words; of several parts of a sentence, the one that decides.
    value: the measured value.
    interval: around it, 95 % (all parts of a sentence together).
    expected: what the sentence says about the value, in words, e.g. "at most 1".
    verdict: "holds", "does not hold", "not decided"; "not applicable" where what the sentence takes for granted fails,
        which then is the statistic.
    n: replicates.
    vacuous: why nothing is shown although it holds, or that it fails in nearly uniform play, in words; "" otherwise.
    claim: the content of a sentence on a figure of the paper as a short clause, of which there are 34; "" for others.
    note: a remark on the verdict.
    ours: whether it is no sentence of the paper: what is published of a rival, or the statistic for a variant of ours.
    """

    id: str
    quote: str
    place: str
    experiment: str
    regime: str
    statistic: str
    value: float
    interval: tuple[float, float]
    expected: str
    verdict: str
    n: int
    vacuous: str = ""
    claim: str = ""
    note: str = ""
    ours: bool = False


ALL = (*SENTENCES, *LATENT_SENTENCES, *OURS)


def judge(folder: Path, experiments: Mapping[str, Experiment], sentences: Sequence[Sentence] = ALL) -> list[Verdict]:
    """Judge every sentence on the results that are stored in ``folder``; what was not run is left out."""
    evidence = {
        (one.name, regime): Evidence(results, Runs.of(results, one.metric), partial(_classes, one, results))
        for one, regime, results in stored(folder, experiments)
    }
    return [
        verdict
        for sentence in sentences
        for name in sentence.experiments
        for regime in sentence.regimes
        for verdict in _judged(sentence, name, regime, evidence)
    ]


def _classes(experiment: Experiment, results: Results, problem: str) -> Array:
    """Return the class that pays in every replicate; it is drawn again, since no table has it."""
    one, played = results[problem], experiment.problems([models_of(problem)])[problem]
    return played.draw(range(one.replicates), 1, one.settings["seed"]).constants["label"]


def _judged(
    sentence: Sentence, name: str, regime: str, evidence: Mapping[tuple[str, str], Evidence]
) -> Iterator[Verdict]:
    names = [name, *([sentence.beside[name]] if sentence.beside else [])]
    found = [evidence[one, regime] for one in names if (one, regime) in evidence]
    if len(found) < len(names) or not all(one.runs.has(*sentence.policies) for one in found):
        return
    if len({one.scale for one in found}) > 1:  # not the same problems
        return
    measured = sentence.measure(*found)
    if not measured:
        return
    decides, verdict = judged(measured, sentence.premise(*found))
    idle = nearly_uniform(sentence.about, measured, found) if sentence.about and verdict in (HOLDS, FAILS) else ""
    vacuous = "; ".join(filter(None, (decides.vacuous if verdict == HOLDS else "", idle)))
    yield Verdict(
        id=sentence.id,
        quote=sentence.quote,
        place=sentence.place or PLACES[name],
        experiment=name,
        regime=regime,
        statistic=decides.words,
        value=decides.value,
        interval=decides.interval,
        expected=decides.expected,
        verdict=verdict,
        n=decides.n,
        vacuous=vacuous,
        claim=sentence.claim,
        note=sentence.note,
        ours=sentence.ours,
    )
