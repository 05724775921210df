"""Tables of final values: mean, standard error, median and worst of every policy, as plain text or Markdown."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ..carriers import validation
from ..statistics import decimals, replicates, standard_error
from .numbers import NOTHING
from .series import check_mapping

COLUMNS = ("mean", "± s.e.", "median", "worst")


def summary_table(
    finals: Mapping[str, ArrayLike], *, metric: str, lower_is_better: bool | None = None, markdown: bool = False
) -> str:
    """Return a table: mean over the replicates, its standard error, median and worst, per policy.

    Parameters
    ----------
    finals: by policy, ``(R,)``; what is NaN is shown as a dash.
    metric: what the values are, in words.
    lower_is_better: whether the worst is the largest; by default if ``metric`` speaks of regret.
    markdown: Markdown instead of plain text.

    Examples
    --------
    >>> print(summary_table({"FS-SCB": [60.0, 80.0, 76.0], "RB-SCB": [580.0, 610.0, 640.0]}, metric="regret"))
    policy   mean  ± s.e.  median  worst
    FS-SCB   72.0     6.1    76.0   80.0
    RB-SCB  610.0    17.3   610.0  640.0
    """
    check_mapping("finals", finals)
    if not isinstance(metric, str):
        raise validation.refuse("metric", metric, "words")
    lower = "regret" in metric.lower() if lower_is_better is None else lower_is_better
    numbers = np.array([_row(name, values, lower) for name, values in finals.items()])
    digits = decimals(*np.nanmax(np.abs(numbers[:, :2]), axis=0, initial=0.0).tolist())
    cells = [["policy", *COLUMNS]]
    for name, row in zip(finals, numbers, strict=True):
        cells.append([str(name), *(f"{x:.{digits}f}" if np.isfinite(x) else NOTHING for x in row)])
    return _markdown(cells) if markdown else _plain(cells)


def _row(name: str, values: ArrayLike, lower: bool) -> list[float]:
    expected = "numbers of shape (R,), NaN where there is none"
    x = replicates(f"finals[{name!r}]", values, expected, lambda row: ~np.isinf(row))
    return [float(x.mean()), float(standard_error(x)), float(np.median(x)), float(x.max() if lower else x.min())]


def _plain(cells: list[list[str]]) -> str:
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in cells
    )


def _markdown(cells: list[list[str]]) -> str:
    rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]
    return "\n".join([rows[0], "|:---" + "|---:" * len(COLUMNS) + "|", *rows[1:]])
