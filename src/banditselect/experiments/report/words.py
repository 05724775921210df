"""Verdicts in words: as JSON for programs, as a Markdown table, as lines for a terminal, as a count."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from ...reporting.markdown import markdown_table
from ...reporting.numbers import interval, measured
from ...reporting.verdicts import SIGNS, outcome, overall
from ...simulation.store import json_text
from ..claims import Verdict
from ..experiment import REGIMES, Experiment

VARIANTS = "Beyond the paper: our variants, and what is published of rivals"


def claims_json(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts as a JSON list; a number that there is not is null."""
    # "arm" is what "regime" was called when the format was published
    records = [asdict(verdict) | {"arm": verdict.regime} for verdict in verdicts]
    return json_text(records)


def claims_tables(verdicts: Sequence[Verdict]) -> list[str]:
    """Return as Markdown where the sentences of the paper hold, by regime; and what goes beyond it."""
    printed, ours = split(verdicts)
    parts = [_table("the paper says", printed, "“{}”")] if printed else []
    return parts + ([f"{VARIANTS}:", _table("what is measured", ours, "{}")] if ours else [])


def split(verdicts: Sequence[Verdict]) -> tuple[list[Verdict], list[Verdict]]:
    """Return the verdicts on sentences of the paper, and those that go beyond it."""
    return [verdict for verdict in verdicts if not verdict.ours], [verdict for verdict in verdicts if verdict.ours]


def shown(verdict: Verdict) -> str:
    """Return the verdict with its sign, and why nothing is shown by it."""
    found = outcome(verdict.verdict, verdict.vacuous)
    return f"{SIGNS[found].symbol} {found}" + (f" ({verdict.vacuous})" if verdict.vacuous else "")


def _table(heading: str, verdicts: Sequence[Verdict], quotation: str) -> str:
    regimes = _regimes(verdicts)
    rows = []
    for quote in dict.fromkeys(verdict.quote for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.quote == quote]
        rows.append([quotation.format(quote), *(_where([v for v in own if v.regime == r]) for r in regimes)])
    return markdown_table([heading, *regimes], rows)


def _regimes(verdicts: Sequence[Verdict]) -> list[str]:
    return [regime for regime in REGIMES if any(verdict.regime == regime for verdict in verdicts)]


def _where(own: Sequence[Verdict]) -> str:
    """Return where a sentence holds, where it does not and where that is not decided."""
    names: dict[str, list[str]] = {found: [] for found in SIGNS}
    for name in dict.fromkeys(verdict.experiment for verdict in own):
        names[overall(outcome(v.verdict, v.vacuous) for v in own if v.experiment == name)].append(name)
    return "; ".join(f"{SIGNS[v].symbol} {v}: {', '.join(found)}" for v, found in names.items() if found) or "–"


def verdict_lines(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts for a terminal: each sentence, and below it a line for every experiment and regime."""
    printed, ours = split(verdicts)
    lines = _lines(printed, "“{}” ({})") + ([f"{VARIANTS}:"] if ours else []) + _lines(ours, "{} ({})")
    return "\n".join(lines)


def _lines(verdicts: Sequence[Verdict], title: str) -> list[str]:
    lines = []
    for quote in dict.fromkeys(verdict.quote for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.quote == quote]
        lines.append(title.format(quote, "; ".join(dict.fromkeys(verdict.place for verdict in own))))
        lines += [
            f"  {SIGNS[v.verdict].symbol} {v.verdict:14}  {v.experiment}, {v.regime}: {v.statistic}: "
            f"{measured(v.value, v.interval)} {interval(v.interval)}, expected {v.expected}, n = {v.n}"
            + (f"; shows nothing: {v.vacuous}" if v.vacuous else "")
            for v in own
        ]
    return lines


def counted(verdicts: Sequence[Verdict]) -> str:
    """Return how many judgements came out how, by regime, in words; those that hold vacuously apart."""
    printed, ours = split(verdicts)
    words = [f"Of the verdicts on sentences of the paper, {_counts(printed)}" if printed else ""]
    words.append(f"Of those beyond the paper, {_counts(ours)}" if ours else "")
    if len(verdicts) > 1:
        words.append(f"The {len(verdicts)} verdicts are not corrected for their number: each has an interval of 95 %.")
    return " ".join(filter(None, words))


def _counts(verdicts: Sequence[Verdict]) -> str:
    words = []
    for regime in _regimes(verdicts):
        own = [verdict for verdict in verdicts if verdict.regime == regime]
        found = [outcome(verdict.verdict, verdict.vacuous) for verdict in own]
        number = {name: found.count(name) for name in SIGNS}
        idle = sum(outcome(v.verdict, v.vacuous) == "does not hold" and bool(v.vacuous) for v in own)
        parts = [
            f"{number['holds']} of {len(found)} hold",
            f"{number['holds vacuously']} hold vacuously" if number["holds vacuously"] else "",
            f"{number['does not hold']} fail" + (f" ({idle} of them in nearly uniform play)" if idle else ""),
            f"{number['not applicable']} do not apply" if number["not applicable"] else "",
            f"{number['not decided']} stay open",
        ]
        words.append(f"in the regime “{regime}” {', '.join(filter(None, parts))}")
    return "; ".join(words) + "."


def summary_words(experiments: Mapping[str, Experiment], run: Sequence[str], verdicts: Sequence[Verdict]) -> list[str]:
    """Return what was judged and what came out, in words, and what was not run."""
    missing = [name for name in experiments if name not in run]
    sentences = {verdict.quote for verdict in split(verdicts)[0]}
    words = f"{'All' if not missing else len(run)} of {len(experiments)} experiments were run"
    if sentences:
        judged = "1 sentence of its text was" if len(sentences) == 1 else f"{len(sentences)} sentences of its text were"
        words += f", and {judged} judged, each on every experiment that it speaks of"
    paragraphs = [f"{words}. {counted(verdicts)}".strip()]
    return paragraphs + ([f"Not run, and left out of all that follows: {', '.join(missing)}."] if missing else [])
