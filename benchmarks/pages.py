"""Fill marked places of a page: ``<!-- table: NAME -->``, the content, ``<!-- end of table -->``."""

import re
from collections.abc import Mapping
from pathlib import Path

from banditselect.reporting.tables import markdown_table
from banditselect.runtime.quantiles import standard_error
from banditselect.simulation.store import write_text
from banditselect.types import Array

DOCS = Path(__file__).parent.parent / "docs"

__all__ = ["DOCS", "deviation", "fill", "markdown_table", "spread"]


def fill(page: Path, tables: Mapping[str, str]) -> None:
    """Write every table into the one place of its name."""
    text = page.read_text()
    for name, table in tables.items():
        place = re.compile(rf"(<!-- table: {re.escape(name)} -->\n).*?(<!-- end of table -->)", re.DOTALL)
        if len(place.findall(text)) != 1:
            raise ValueError(f"{page}: needs one place <!-- table: {name} --> that ends with <!-- end of table -->")
        content = f"{table.strip()}\n"
        text = place.sub(lambda found: found[1] + content + found[2], text)  # noqa: B023
    write_text(page, text)


def spread(values: Array, digits: int) -> str:
    """Return mean and standard error in words."""
    return f"{values.mean():.{digits}f} ± {standard_error(values):.{digits}f}"


def deviation(values: Array) -> str:
    """Return mean and standard deviation in words."""
    return f"{values.mean():.3f}" + (f" ± {values.std(ddof=1):.3f}" if values.size > 1 else "")
