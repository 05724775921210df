"""The verdicts in a few sentences, for a front page."""

from collections.abc import Sequence

from ...reporting.numbers import interval, measured
from ...reporting.verdicts import SIGNS, outcome
from ..claims import PREMISE, Verdict
from ..experiment import REGIMES

HEADLINES = (
    (("fs-between",), "FS-SCB between the best and the second best map", "its regret over that of the second best map"),
    (("fs-many",), "FS-SCB much better than RB-SCB as M grows", ""),
    (
        ("ps-better", "ps-transfer"),
        "PS-OFUL better than OFUL",
        "synthetic: its regret over that of OFUL; images: its mean reward minus that of OFUL",
    ),
    (("ps-many",), "PS-OFUL better than RB-OFUL as M grows", ""),
    (
        ("fs-untuned-ours", "ps-untuned-synthetic-ours", "ps-untuned-ours"),
        "Our FS-IDS and PS-IDS, untuned, at least as good as the best tuned policy",
        "their regret over that policy's",
    ),
)
"""Ids of sentences, what they say, and what their number is; none where the parts of a sentence differ in it."""


def headlines(verdicts: Sequence[Verdict]) -> list[str]:
    """Return a sentence for each of the main results: where it holds and where not, with what decides."""
    found = []
    for ids, words, number in HEADLINES:
        own = [verdict for verdict in verdicts if verdict.id in ids]
        parts = [_regime(regime, own, bool(number)) for regime in REGIMES if any(v.regime == regime for v in own)]
        if parts:
            found.append(f"{words}{f' ({number})' if number else ''}: {'; '.join(parts)}.")
    return found


def _regime(regime: str, verdicts: Sequence[Verdict], numbers: bool) -> str:
    own = [verdict for verdict in verdicts if verdict.regime == regime]
    parts = []
    for name in SIGNS:
        where = [_place(verdict, numbers) for verdict in own if outcome(verdict.verdict, verdict.vacuous) == name]
        parts += [f"{name} on {', '.join(where)}"] if where else []
    return f"{regime}: {', '.join(parts)}"


def _place(verdict: Verdict, numbers: bool) -> str:
    """Return the experiment, with what was measured there unless that is a premise."""
    if not numbers or verdict.statistic.startswith(PREMISE):
        return verdict.experiment
    return f"{verdict.experiment} {measured(verdict.value, verdict.interval)} {interval(verdict.interval)}"
