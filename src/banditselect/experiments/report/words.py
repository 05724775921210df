"""Verdicts in words: as JSON for programs, as a Markdown table, as lines for a terminal, as a count."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from ...reporting.markdown import markdown_table
from ...reporting.numbers import interval, measured
from ...reporting.verdicts import SIGNS, overall
from ...simulation.store import json_text
from ..claims import Verdict
from ..experiment import REGIMES, Experiment

OURS = "-ours"  #: the end of the id of a sentence that is judged on a variant of ours


def claims_json(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts as a JSON list; a number that there is not is null."""
    # "arm" is what "regime" was called when the format was published
    records = [asdict(verdict) | {"arm": verdict.regime} for verdict in verdicts]
    return json_text(records)


def claims_table(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts as a Markdown table: a row per sentence, and for each regime where it holds and where not."""
    regimes = [regime for regime in REGIMES if any(verdict.regime == regime for verdict in verdicts)]
    rows = []
    for quote in dict.fromkeys(verdict.quote for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.quote == quote]
        rows.append([f"“{quote}”", *(_where([v for v in own if v.regime == regime]) for regime in regimes)])
    return markdown_table(["the paper says", *regimes], rows)


def _where(own: Sequence[Verdict]) -> str:
    """Return where a sentence holds, where it does not and where that is not decided."""
    names: dict[str, list[str]] = {verdict: [] for verdict in SIGNS}
    for name in dict.fromkeys(verdict.experiment for verdict in own):
        names[overall(verdict.verdict for verdict in own if verdict.experiment == name)].append(name)
    return "; ".join(f"{SIGNS[v].symbol} {v}: {', '.join(found)}" for v, found in names.items() if found) or "–"


def verdict_lines(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts for a terminal: each sentence, and below it a line for every experiment and regime."""
    lines = []
    for quote in dict.fromkeys(verdict.quote for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.quote == quote]
        lines.append(f"“{quote}” ({'; '.join(dict.fromkeys(verdict.place for verdict in own))})")
        lines += [
            f"  {SIGNS[v.verdict].symbol} {v.verdict:13}  {v.experiment}, {v.regime}: {v.statistic}: "
            f"{measured(v.value, v.interval)} {interval(v.interval)}, expected {v.expected}, n = {v.n}"
            for v in own
        ]
    return "\n".join(lines)


def counted(verdicts: Sequence[Verdict]) -> str:
    """Return how many judgements came out how, by regime, in words."""
    ours = [verdict for verdict in verdicts if verdict.id.endswith(OURS)]
    printed = _counts([verdict for verdict in verdicts if verdict not in ours])
    words = [f"Of the verdicts on the paper's algorithms, {printed}" if printed else ""]
    words.append(f"Of those on variants of ours, {_counts(ours)}" if ours else "")
    return " ".join(filter(None, words))


def _counts(verdicts: Sequence[Verdict]) -> str:
    words = []
    for regime in (regime for regime in REGIMES if any(verdict.regime == regime for verdict in verdicts)):
        found = [verdict.verdict for verdict in verdicts if verdict.regime == regime]
        holds, fails, undecided = (found.count(verdict) for verdict in SIGNS)
        words.append(f"in the regime “{regime}” {holds} of {len(found)} hold, {fails} fail, {undecided} stay open")
    return "; ".join(words) + "." if words else ""


def summary_words(experiments: Mapping[str, Experiment], run: Sequence[str], verdicts: Sequence[Verdict]) -> list[str]:
    """Return what was judged and what came out, in words, and what was not run."""
    missing = [name for name in experiments if name not in run]
    sentences = {verdict.quote for verdict in verdicts if not verdict.id.endswith(OURS)}
    words = f"{'All' if not missing else len(run)} of the paper's {len(experiments)} experiments were run"
    if sentences:
        judged = "1 sentence of its text was" if len(sentences) == 1 else f"{len(sentences)} sentences of its text were"
        words += f", and {judged} judged, each on every experiment that it speaks of"
    paragraphs = [f"{words}. {counted(verdicts)}".strip()]
    return paragraphs + ([f"Not run, and left out of all that follows: {', '.join(missing)}."] if missing else [])
