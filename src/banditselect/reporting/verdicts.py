"""Verdicts on claims as a page shows them: a sign for each, with the numbers behind it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Sign(NamedTuple):
    """A verdict as it is shown: a symbol and a short word; ``kind`` is its class in the style sheet."""

    symbol: str
    word: str
    kind: str
    meaning: str


SIGNS = {
    "holds": Sign("✓", "holds", "yes", "it holds"),
    "does not hold": Sign("✗", "fails", "no", "it does not hold"),
    "holds vacuously": Sign("(✓)", "vacuous", "empty", "it holds, but shows nothing, for the reason given"),
    "not applicable": Sign("∅", "n/a", "apart", "its premise does not hold"),
    "not decided": Sign("?", "open", "open", "these runs do not decide it"),
}
"""The verdicts in the order in which a table lists them."""


class Checked(NamedTuple):
    """A verdict in one regime, one of ``SIGNS``, and the numbers behind it in words."""

    regime: str
    outcome: str
    numbers: str


class Claim(NamedTuple):
    """A claim, where it was checked, its source in full or "", and its verdicts by regime."""

    words: str
    where: str
    source: str
    checked: Sequence[Checked]


def ordered(claims: Iterable[Claim]) -> list[Claim]:
    """Return claims with those first that hold, and those last that are not decided."""
    places = list(SIGNS)
    return sorted(claims, key=lambda claim: min(places.index(one.outcome) for one in claim.checked))


def outcome(verdict: str, vacuous: str) -> str:
    """Return the verdict as it is shown and counted: a claim that holds vacuously stands apart."""
    return f"{verdict} vacuously" if vacuous and verdict == "holds" else verdict
