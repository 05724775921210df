"""One self-contained HTML page: figures first, then one table of claims, then everything else, folded.

All words are escaped, figures are inside the page, and it loads nothing from elsewhere.
"""

import base64
from typing import Any, NamedTuple

from ..runtime.extras import need
from .tables import measured


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
    "not applicable": Sign("∅", "n/a", "apart", "its premise does not hold", "not applicable", "not applicable"),
    "not decided": Sign("?", "open", "open", "these runs do not decide it", "not decided", "undecided"),
}
"""The verdicts in the order in which a table lists them."""


def render(**content: Any) -> str:
    """Return the page as HTML; ``templates/report.html`` says what it has to be given."""
    jinja2 = need("jinja2", "experiments")
    loader = jinja2.PackageLoader("banditselect.reporting", "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"image": image, "measured": measured}
    return environment.get_template("report.html").render(signs=SIGNS, **content)


def image(svg: str) -> str:
    """Return an SVG as an address that an image can have; its text falls back to fonts of the same widths."""
    readable = svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    return "data:image/svg+xml;base64," + base64.b64encode(readable.encode()).decode()
