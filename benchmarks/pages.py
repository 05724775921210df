"""Fill marked places of a page: ``<!-- table: NAME -->``, the content, ``<!-- end of table -->``."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from banditselect.reporting.tables import markdown_table
from banditselect.runtime.quantiles import standard_error
from banditselect.simulation.store import write_text
from banditselect.types import Array

DOCS = Path(__file__).parent.parent / "docs"

__all__ = ["DOCS", "fill", "markdown_table", "runs_of", "spread"]


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


def runs_of(path: Path, cases: Mapping[str, tuple[int, Callable[[int], Any]]]) -> dict[str, list[Any]]:
    """Return the results of every case for seeds 0, 1, ...; those that are stored in a JSON file are not run again."""
    stored: dict[str, list[Any]] = json.loads(path.read_text()) if path.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    for name, (times, case) in cases.items():
        runs = stored.setdefault(name, [])
        for seed in range(len(runs), times):
            runs.append(case(seed))
            print(name, seed, flush=True)
            write_text(path, json.dumps(stored))
    return stored


def spread(values: Array, digits: int) -> str:
    """Return mean and standard error in words."""
    return f"{values.mean():.{digits}f} ± {standard_error(values):.{digits}f}"
