"""One self-contained HTML page: sentences and whether they hold, first; then figures, tables and settings.

It takes plain values and knows nothing of what was run. All words are escaped, figures are inside the page, and it
asks for nothing from elsewhere.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..carriers import validation
from ..carriers.extras import need
from .numbers import interval, measured
from .verdicts import MEANINGS, SIGNS, CheckedSentence, details, grouped, matrices, sentences


class Picture(NamedTuple):
    """A figure as SVG. Wide ones are twice as wide as the others."""

    svg: str
    caption: str
    alt: str
    wide: bool


class Table(NamedTuple):
    """A table of words: the first cell of every row names it; ``numbers`` are set flush right, code in its face."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    face: str = "numbers"


class Subsection(NamedTuple):
    """What was run in one regime."""

    regime: str
    pictures: Sequence[Picture]
    tables: Sequence[Table]
    settings: Sequence[Table]


class Section(NamedTuple):
    """Something that was run: ``about`` in paragraphs, ``facts`` are pairs of a name and what it is."""

    name: str
    title: str
    place: str
    about: Sequence[str]
    facts: Sequence[tuple[str, str]]
    subsections: Sequence[Subsection]


class Citation(NamedTuple):
    """What to cite, in words and as BibTeX."""

    words: str
    bibtex: str


@dataclass(frozen=True)
class Page:
    """All that the page says.

    Attributes
    ----------
    title, summary: the summary in paragraphs.
    regimes: what each regime is, by name, in the order of display.
    checks: the sentences, measured; each belongs to one of the sections.
    sections: what was run.
    facts: about everything together: pairs of a name and what it is.
    citations: how to cite.
    """

    title: str
    summary: Sequence[str]
    regimes: Mapping[str, str]
    checks: Sequence[CheckedSentence]
    sections: Sequence[Section]
    facts: Sequence[tuple[str, str]] = ()
    citations: Sequence[Citation] = ()


def render(page: Page) -> str:
    """Return the page as HTML."""
    jinja2 = need("jinja2", "experiments")
    _check(page)
    loader = jinja2.PackageLoader("banditselect.reporting", "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"image": image, "measured": measured, "interval": interval}
    sections = [section.name for section in page.sections]
    checks = grouped(page.checks, sections)
    numbered = details(checks)
    return environment.get_template("report.html").render(
        page=page,
        anchors=_anchors(page),
        signs=list(SIGNS.values()),
        meanings=MEANINGS,
        details={name: [detail for detail in numbered if detail.check.section == name] for name in sections},
        matrices=matrices(checks, sections, list(page.regimes)),
        others=matrices(checks, sections, list(page.regimes), quoted=False),
        long=[one for one in sentences(checks) if one.words != one.quote],
    )


def image(svg: str) -> str:
    """Return an SVG as an address that an image can have; its text falls back to fonts of the same widths."""
    readable = svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    return "data:image/svg+xml;base64," + base64.b64encode(readable.encode()).decode()


def _check(page: Page) -> None:
    names = [section.name for section in page.sections]
    for check in page.checks:
        if check.verdict not in SIGNS:
            raise validation.refuse("verdict", check.verdict, "one of " + ", ".join(map(repr, SIGNS)))
        if check.section not in names:
            raise validation.refuse("checks", check.section, "a section of the page: " + ", ".join(map(repr, names)))


def _anchors(page: Page) -> dict[str, str]:
    """Return an id for every section, whatever its name is."""
    found: dict[str, str] = {}
    for k, section in enumerate(page.sections, 1):
        plain = re.sub(r"[^a-z0-9]+", "-", section.name.lower()).strip("-") or "section"
        anchor = f"experiment-{plain}"
        found[section.name] = f"{anchor}-{k}" if anchor in found.values() else anchor
    return found
