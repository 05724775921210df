"""One sentence under a figure: whether the order that the paper describes appears in it, and where not."""

from collections.abc import Sequence

from ...reporting.verdicts import SIGNS, outcome
from ..claims import Verdict

SETTINGS = {
    "theory": "printed constants",
    "practical": "practical settings",
    "tuned": "everything tuned",
    "defaults": "defaults",
}
WORDS = {"does not hold": "not", "not decided": "undecided", "holds vacuously": "only vacuously"}


def order_sentence(verdicts: Sequence[Verdict]) -> str:
    """Return the sentence from the verdicts on one figure in one regime; "" if none of them has a claim."""
    claims = {verdict.claim: outcome(verdict.verdict, verdict.vacuous) for verdict in verdicts if verdict.claim}
    if not claims:
        return ""
    listed = {how: _listed([claim for claim in claims if claims[claim] == how]) for how in SIGNS}
    held, others = listed.pop("holds"), {how: words for how, words in listed.items() if words}
    if held:
        where = " where it is decided" if set(others) == {"not decided"} else " in part" if others else ""
        order = f"appears{where}: {held}"
    else:
        order = "does not appear" if {"does not hold", "not applicable"} & set(others) else "is not shown"
    parts = [order, *(f"{WORDS.get(how, how)}: {words}" for how, words in others.items())]
    return f"With {SETTINGS[verdicts[0].regime]} the paper's order {'; '.join(parts)}."


def _listed(claims: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(claims[:-1]), *claims[-1:])))
