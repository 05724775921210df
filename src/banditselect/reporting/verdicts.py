"""Verdicts on sentences as a page shows them: a sign for each, and matrices of sentences against experiments."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

SHORT = 140  #: characters of a sentence in the matrix


class Sign(NamedTuple):
    """How a verdict is shown: a symbol and a short word; ``kind`` is its class in the style sheet."""

    symbol: str
    word: str
    kind: str
    verdict: str


SIGNS = {
    "holds": Sign("✓", "holds", "yes", "holds"),
    "holds vacuously": Sign("(✓)", "vacuous", "empty", "holds vacuously"),
    "does not hold": Sign("✗", "fails", "no", "does not hold"),
    "not applicable": Sign("∅", "n/a", "apart", "not applicable"),
    "not decided": Sign("?", "open", "open", "not decided"),
}

MEANINGS = {
    "holds": "the sentence holds",
    "holds vacuously": "it holds, and nothing is shown by it: its numbers say why",
    "does not hold": "it does not hold",
    "not applicable": "what it takes for granted fails",
    "not decided": "it is not decided at this number of runs",
}


class CheckedSentence(NamedTuple):
    """A sentence, measured in one section and regime; ``verdict`` is one of ``SIGNS``.

    ``vacuous``: why it holds although nothing is shown.  ``quoted``: whether it is one of those quoted, which are
    listed first; others are listed after them.
    """

    quote: str
    place: str
    section: str
    regime: str
    statistic: str
    value: float
    interval: tuple[float, float]
    expected: str
    n: int
    verdict: str
    vacuous: str = ""
    quoted: bool = True

    @property
    def outcome(self) -> str:
        """The verdict as it is shown and counted."""
        return outcome(self.verdict, self.vacuous)


class Entry(NamedTuple):
    """What one cell of the matrix says of one regime; ``target`` is the id of its details."""

    regime: str
    sign: Sign
    target: str


class SentenceRow(NamedTuple):
    """A sentence in full, its beginning as the matrix shows it, and its cells by section."""

    number: int
    quote: str
    words: str
    place: str
    cells: Sequence[tuple[str, Sequence[Entry]]] = ()


class Detail(NamedTuple):
    """A check with its id and the number of its sentence."""

    id: str
    number: int
    check: CheckedSentence
    sign: Sign


class Matrix(NamedTuple):
    """Sentences that are about the same sections."""

    columns: Sequence[str]
    rows: Sequence[SentenceRow]


def grouped(checks: Sequence[CheckedSentence], sections: Sequence[str]) -> list[CheckedSentence]:
    """Return the checks in the order of the matrices, those that are quoted first."""
    place: dict[tuple[bool, str], int] = {}
    for quoted in (True, False):
        groups = _together([check for check in checks if check.quoted == quoted], sections)
        place |= {(quoted, name): k for k, group in enumerate(groups) for name in group}
    return sorted(checks, key=lambda check: (not check.quoted, place[check.quoted, check.section]))


def details(checks: Sequence[CheckedSentence]) -> list[Detail]:
    """Return the checks with ids and the numbers of their sentences."""
    numbers = {quote: k for k, quote in enumerate(dict.fromkeys(check.quote for check in checks), 1)}
    return [Detail(f"check-{k}", numbers[c.quote], c, SIGNS[c.outcome]) for k, c in enumerate(checks, 1)]


def sentences(checks: Sequence[CheckedSentence]) -> list[SentenceRow]:
    """Return the sentences, each once, with all places where it is."""
    places: dict[str, dict[str, None]] = {}
    for check in checks:
        places.setdefault(check.quote, {})[check.place] = None
    return [
        SentenceRow(k, quote, _beginning(quote), "; ".join(own)) for k, (quote, own) in enumerate(places.items(), 1)
    ]


def matrices(
    checks: Sequence[CheckedSentence], sections: Sequence[str], regimes: Sequence[str], *, quoted: bool = True
) -> list[Matrix]:
    """Return the verdicts with a row per sentence and a column per section; what shares no section stands apart.

    ``quoted``: of the sentences that are quoted, or of the others; all are numbered together.
    """
    numbered, listed = details(checks), sentences(checks)
    found = []
    for columns in _together([check for check in checks if check.quoted == quoted], sections):
        block = [d for d in numbered if d.check.section in columns and d.check.quoted == quoted]
        rows = []
        for sentence in listed:
            own = [detail for detail in block if detail.number == sentence.number]
            if own:
                cells = [(name, _cell([d for d in own if d.check.section == name], regimes)) for name in columns]
                rows.append(sentence._replace(cells=cells))
        found.append(Matrix(columns, rows))
    return found


def _together(checks: Sequence[CheckedSentence], sections: Sequence[str]) -> list[list[str]]:
    """Return the sections in groups: two are in one if any sentence is about both."""
    groups: list[set[str]] = []
    for quote in dict.fromkeys(check.quote for check in checks):
        joined = {check.section for check in checks if check.quote == quote}
        for group in [group for group in groups if group & joined]:
            groups.remove(group)
            joined |= group
        groups.append(joined)
    ordered = [[name for name in sections if name in group] for group in groups]
    return sorted(ordered, key=lambda group: sections.index(group[0]))


def _cell(own: Sequence[Detail], regimes: Sequence[str]) -> list[Entry]:
    entries = []
    for regime in dict.fromkeys([*regimes, *(detail.check.regime for detail in own)]):
        parts = [detail for detail in own if detail.check.regime == regime]
        if parts:
            entries.append(Entry(regime, SIGNS[overall(d.check.outcome for d in parts)], parts[0].id))
    return entries


def outcome(verdict: str, vacuous: str) -> str:
    """Return the verdict as it is shown and counted: what holds vacuously stands apart."""
    return f"{verdict} vacuously" if vacuous and verdict == "holds" else verdict


def overall(verdicts: Iterable[str]) -> str:
    """Return the verdict on a sentence from those on its parts: it holds if all do, and fails if one does.

    Examples
    --------
    >>> overall(["holds", "not decided"])
    'not decided'
    """
    found = set(verdicts)
    order = ("does not hold", "not decided", "not applicable", "holds vacuously", "holds")
    return next(verdict for verdict in order if verdict in found)


def _beginning(quote: str) -> str:
    """Return a sentence, or its beginning up to a word."""
    return quote if len(quote) <= SHORT else quote[:SHORT].rsplit(" ", 1)[0].rstrip(",;") + " …"
