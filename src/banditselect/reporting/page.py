"""One self-contained HTML page: figures first, then one table of claims, then everything else, folded.

It never runs anything. All words are escaped, figures are inside the page, and it loads nothing from
elsewhere.
"""

import base64
from typing import Any, NamedTuple

from ..runtime.extras import need
from .tables import interval, measured


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


def render(**content: Any) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    title, summary, facts: the title, a few sentences, and one line.
    figures: shown first: a heading with pictures (svg, caption, alt), each with a sentence or "".
    regimes: the regimes of the claims by name, with the question of each.
    claims, further: claims that are checked, and those that are folded with the details: where each is, and its
        verdicts by regime (regime, outcome, claim, quote, statistic, value, interval, expected, n, vacuous, note).
    added: a paragraph on the policies that the paper does not have, or "".
    link: where the regimes are compared: an address, or "".
    sections, more: the details (title, facts, parts of title, pictures and tables), and where to find more of them.
    run: about everything together: pairs of a name and a value.
    citations: what to cite, in words and as BibTeX.
    """
    jinja2 = need("jinja2", "experiments")
    loader = jinja2.PackageLoader("banditselect.reporting", "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"image": image, "interval": interval, "measured": measured}
    return environment.get_template("report.html").render(signs=SIGNS, **content)


def image(svg: str) -> str:
    """Return an SVG as an address that an image can have; its text falls back to fonts of the same widths."""
    readable = svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    return "data:image/svg+xml;base64," + base64.b64encode(readable.encode()).decode()
