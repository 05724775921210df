"""Verdicts in signs and words: JSON for programs, lines for a terminal, counts, one sentence under a figure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..reporting.tables import measured
from .claims import Verdict
from .experiment import REGIMES, Experiment

SETTINGS = {
    "theory": "printed constants",
    "practical": "practical settings",
    "tuned": "everything tuned",
    "defaults": "defaults",
}


class Sign(NamedTuple):
    """A verdict as it is shown: a symbol, a short word, a class of the style sheet, and words for several verdicts."""

    symbol: str
    word: str
    kind: str
    meaning: str
    counted: str = ""
    short: str = ""


SIGNS = {
    "holds": Sign("✓", "holds", "yes", "it holds"),
    "does not hold": Sign("✗", "fails", "no", "it does not hold", "fail", "not"),
    "holds vacuously": Sign(
        "(✓)",
        "vacuous",
        "empty",
        "it holds, but shows nothing, for the reason given",
        "hold vacuously",
        "only vacuously",
    ),
    "not applicable": Sign("∅", "n/a", "apart", "its premise does not hold", "{be} not applicable", "not applicable"),
    "not decided": Sign("?", "open", "open", "these runs do not decide it", "{be} not decided", "undecided"),
}
"""The verdicts in the order in which a table lists them."""


def claims_json(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts as a JSON list; a number that there is not is null."""
    return json.dumps([verdict.record() for verdict in verdicts], indent=1, allow_nan=False)


def counted(verdicts: Sequence[Verdict]) -> str:
    """Return how many claims hold, by regime; those that hold vacuously are counted apart."""
    words = []
    for whose, ours in (("the paper's", False), ("our", True)):
        for regime in REGIMES:
            found = [one.outcome for one in verdicts if (one.regime, one.ours) == (regime, ours)]
            others = [
                f"{found.count(how)} {s.counted.format(be='is' if found.count(how) == 1 else 'are')}"
                for how, s in SIGNS.items()
                if how in found and s.counted
            ]
            held = f"{found.count('holds')} of {whose} {len(found)} claims hold"
            words += [f"With {SETTINGS[regime]} {', '.join([held, *others])}."] if found else []
    return " ".join(words)


def verdict_lines(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts for a terminal: each sentence, and below it a line for every experiment and regime."""
    lines, said = [], ""
    for v in verdicts:
        sentence = f"{v.quote} ({v.place}; not a sentence of the paper)" if v.ours else f"“{v.quote}” ({v.place})"
        lines += [] if sentence == said else [sentence]
        said = sentence
        why = f"; shows nothing: {v.vacuous}" if v.vacuous else ""
        value = f"{measured(v.value, v.interval)}, expected {v.expected}, n = {v.n}{why}"
        lines.append(f"  {SIGNS[v.verdict].symbol} {v.verdict:14}  {v.experiment}, {v.regime}: {v.statistic}: {value}")
    return "\n".join(lines)


def figure_lines(experiments: Mapping[str, Experiment], verdicts: Sequence[Verdict]) -> list[str]:
    """Return a line for every numbered figure of the paper: how many of its claims hold, and which do not."""
    groups: dict[str, list[Verdict]] = {}
    for v in verdicts:
        figure = figure_of(experiments[v.experiment])
        if v.claim and figure.startswith("Figure"):
            groups.setdefault(f"{figure}, {v.regime}", []).append(v)
    lines = []
    for figure, own in sorted(groups.items()):
        others = [f"{v.claim} ({v.experiment}: {v.outcome})" for v in own if v.outcome != "holds"]
        words = f"; others: {listed(others)}" if others else ""
        lines.append(f"{figure}: {len(own) - len(others)} of {len(own)} claims hold{words}")
    return lines


def order_sentence(verdicts: Sequence[Verdict]) -> str:
    """Return whether the order that the paper describes appears in a figure, in one regime; "" if it claims none.

    A claim that does not hold names the policy of the deciding comparison, where it might be one of several.
    """
    found: dict[str, list[str]] = {how: [] for how in SIGNS}
    for v in verdicts:
        who = f" (compared with {v.policy})" if v.policy and v.outcome != "holds" else ""
        found[v.outcome] += [v.claim + who] if v.claim else []
    held, others = found.pop("holds"), {how: claims for how, claims in found.items() if claims}
    if held:
        where = " where it is decided" if set(others) == {"not decided"} else " in part" if others else ""
        order = f"appears{where}: {_listed(held)}"
    elif others:
        order = "does not appear" if {"does not hold", "not applicable"} & set(others) else "is not shown"
    else:
        return ""
    parts = [order, *(f"{SIGNS[how].short}: {_listed(claims)}" for how, claims in others.items())]
    return f"With {SETTINGS[verdicts[0].regime]} the paper's order {'; '.join(parts)}."


def _listed(claims: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(claims[:-1]), *claims[-1:])))


def listed(words: Iterable[str], between: str = ", ") -> str:
    """Return words with commas between them, each once."""
    return between.join(dict.fromkeys(filter(None, words)))


def figure_of(experiment: Experiment) -> str:
    """Return the heading under which the pictures of an experiment stand: the figure of the paper, or the title."""
    return experiment.place.partition(",")[0] if experiment.shown else experiment.title
