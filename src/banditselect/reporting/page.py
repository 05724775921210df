"""One self-contained HTML page: figures first, then one table of claims, then everything else, folded.

It takes plain values and knows nothing of what was run. All words are escaped, figures are inside the page, and it
loads nothing from elsewhere.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..runtime import constraints
from ..runtime.extras import need
from .verdicts import SIGNS, Claim, ordered


class Picture(NamedTuple):
    """A figure as SVG, with a description for readers who cannot see it."""

    svg: str
    caption: str
    alt: str


class Table(NamedTuple):
    """A table of words: the first cell of every row names it; ``numbers`` are set flush right, code in its face."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    face: str = "numbers"


class Figure(NamedTuple):
    """Pictures under one heading, each with the sentence that says what it shows."""

    title: str
    pictures: Sequence[tuple[Picture, str]]


class Part(NamedTuple):
    """Pictures and tables of one regime of a section."""

    title: str
    pictures: Sequence[Picture]
    tables: Sequence[Table]


class Section(NamedTuple):
    """An experiment in detail; ``facts`` are pairs of a name and a value."""

    title: str
    facts: Sequence[tuple[str, str]]
    parts: Sequence[Part]


class Citation(NamedTuple):
    """What to cite, in words and as BibTeX."""

    words: str
    bibtex: str


@dataclass(frozen=True)
class Page:
    """The content of the page.

    Attributes
    ----------
    title, summary, facts: the title, a few sentences, and one line.
    figures: shown first.
    regimes: the regimes of the claims by name, with what each of them asks.
    claims, further: the claims that are checked, and those that are folded with the details.
    added: on what the figures show besides the paper, "" for nothing.
    link: where the regimes are compared: an address, or "" where there is none.
    sections, more: the details, and where to find more of them.
    run: about everything together: pairs of a name and a value.
    citations: how to cite.
    """

    title: str
    summary: Sequence[str]
    facts: str
    figures: Sequence[Figure]
    regimes: Mapping[str, str]
    claims: Sequence[Claim]
    further: Sequence[Claim] = ()
    added: str = ""
    link: str = ""
    sections: Sequence[Section] = ()
    more: str = ""
    run: Sequence[tuple[str, str]] = ()
    citations: Sequence[Citation] = ()


def render(page: Page) -> str:
    """Return the page as HTML."""
    jinja2 = need("jinja2", "experiments")
    for claim in (*page.claims, *page.further):
        for checked in claim.checked:
            constraints.OneOf(tuple(SIGNS)).check("verdict", checked.outcome, None)
            constraints.OneOf(tuple(page.regimes)).check("regime", checked.regime, None)
    loader = jinja2.PackageLoader("banditselect.reporting", "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"image": image, "ordered": ordered}
    return environment.get_template("report.html").render(page=page, signs=SIGNS)


def image(svg: str) -> str:
    """Return an SVG as an address that an image can have; its text falls back to fonts of the same widths."""
    readable = svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    return "data:image/svg+xml;base64," + base64.b64encode(readable.encode()).decode()
