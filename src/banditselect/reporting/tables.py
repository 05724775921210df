"""Tables of final values as plain text, Markdown or LaTeX; numbers with as many decimals as their error allows."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..runtime import errors
from ..runtime.quantiles import standard_error
from ..statistics import decimals, replicates

# what LaTeX would take for a sign
LATEX = str.maketrans(
    {sign: "\\" + sign for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"}
)

# what Markdown or HTML would take for a sign
MARKDOWN = str.maketrans({"&": "&amp;", "<": "&lt;"} | {sign: "\\" + sign for sign in "\\|*_`["})

NOTHING = "–"  #: where there is no number
COLUMNS = ("mean", "± s.e.", "median", "worst")


def summary_table(finals: Mapping[str, ArrayLike], *, metric: str, markdown: bool = False) -> str:
    """Return a table: mean over the replicates, its standard error, median and worst, per policy.

    Parameters
    ----------
    finals: by policy, ``(R,)``; what is NaN is shown as a dash.
    metric: what the values are, in words; the worst is the largest if it speaks of regret, else the smallest.
    markdown: Markdown instead of plain text.

    >>> print(summary_table({"FS-SCB": [60.0, 80.0, 76.0], "RB-SCB": [580.0, 610.0, 640.0]}, metric="regret"))
    policy   mean  ± s.e.  median  worst
    FS-SCB   72.0     6.1    76.0   80.0
    RB-SCB  610.0    17.3   610.0  640.0
    """
    check_mapping("finals", finals)
    if not isinstance(metric, str):
        raise errors.refuse("metric", metric, "words")
    numbers = np.array([_row(name, values, is_lower_better(metric)) for name, values in finals.items()])
    digits = decimals(*np.nanmax(np.abs(numbers[:, :2]), axis=0, initial=0.0).tolist())
    cells = [["policy", *COLUMNS]]
    for name, row in zip(finals, numbers, strict=True):
        cells.append([str(name), *(f"{x:.{digits}f}" if np.isfinite(x) else NOTHING for x in row)])
    return markdown_table(cells[0], cells[1:], numbers=True) if markdown else _plain(cells)


def latex_table(finals: Mapping[str, Mapping[str, ArrayLike]], *, metric: str) -> str:
    r"""Return a LaTeX table (booktabs): mean and standard error, a row per policy, a column per problem.

    The best mean of a column is bold: the smallest if ``metric`` speaks of regret, else the largest.

    Parameters
    ----------
    finals: by problem and policy, ``(R,)``; what is NaN or missing is shown as a dash.
    metric: what the values are, in words.

    >>> print(latex_table({"M=2": {"FS-SCB": [60.0, 80.0, 76.0], "RB-SCB": [580.0, 610.0, 640.0]}}, metric="regret"))
    \begin{tabular}{lr}
    \toprule
    policy & M=2 \\
    \midrule
    FS-SCB & $\mathbf{72.0} \pm 6.1$ \\
    RB-SCB & $610.0 \pm 17.3$ \\
    \bottomrule
    \end{tabular}
    """
    check_mapping("finals", finals)
    policies = list(dict.fromkeys(name for column in finals.values() for name in column))
    rows = [[str(name).translate(LATEX)] for name in policies]
    for column in finals.values():
        numbers = np.full((len(policies), 2), np.nan)
        for k, name in enumerate(policies):
            numbers[k] = _row(name, column[name], is_lower_better(metric))[:2] if name in column else np.nan
        digits = decimals(*np.nanmax(np.abs(numbers), axis=0, initial=0.0).tolist())
        shown = [f"{x:.{digits}f}" for x in numbers[:, 0]]
        known = [float(mean) for mean in shown if mean != "nan"]
        best = (min if is_lower_better(metric) else max)(known, default=np.nan)
        for row, mean, error in zip(rows, shown, numbers[:, 1], strict=True):
            words = rf"\mathbf{{{mean}}}" if float(mean) == best else mean
            spread = rf" \pm {error:.{digits}f}" if np.isfinite(error) else ""
            row.append("--" if mean == "nan" else f"${words}{spread}$")
    head = ["policy", *(str(name).translate(LATEX) for name in finals)]
    lines = [" & ".join(cells) + r" \\" for cells in (head, *rows)]
    begin = rf"\begin{{tabular}}{{l{'r' * len(finals)}}}"
    return "\n".join([begin, r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}"])


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: bool = False) -> str:
    """Return a table whose cells are plain words: what Markdown or HTML would take for a sign is shown as it is.

    ``numbers``: all columns but the first are flush right.

    >>> print(markdown_table(["sentence", "verdict"], [["a < b | c", "holds"]]))
    | sentence | verdict |
    |---|---|
    | a &lt; b \\| c | holds |
    """
    words = [[" ".join(cell.split()).translate(MARKDOWN) for cell in cells] for cells in (head, *rows)]
    lines = ["| " + " | ".join(cells) + " |" for cells in words]
    rule = "|:---|" + "---:|" * (len(head) - 1) if numbers else "|" + "---|" * len(head)
    return "\n".join([lines[0], rule, *lines[1:]])


def check_mapping(name: str, value: Any) -> None:
    """Refuse what is not a mapping with something in it."""
    if not isinstance(value, Mapping) or not value:
        raise errors.refuse(name, value, "a mapping with at least one entry")


def is_lower_better(metric: str) -> bool:
    """Return whether less of a metric is better."""
    return "regret" in metric.lower()


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


def measured(value: float, bounds: tuple[float, float]) -> str:
    """Return a value and its interval with as many decimals as that allows, a dash for an interval without bounds.

    >>> measured(0.5, (0.4, 0.61)), measured(-0.5, (-math.inf, 2.0)), measured(1.0, (math.nan, math.nan))
    ('0.50 [0.40, 0.61]', '−0.50 [−∞, 2.00]', '1.00 –')
    """
    known = [abs(bound) for bound in bounds if math.isfinite(bound)]
    digits = decimals(max(known, default=value), (bounds[1] - bounds[0]) / 2.0)

    def shown(x: float) -> str:
        text = NOTHING if math.isnan(x) else f"{x:,.{digits}f}".replace("inf", "∞")
        return text.replace("-", "−").replace(",", "\N{NARROW NO-BREAK SPACE}")

    interval = NOTHING if any(map(math.isnan, bounds)) else f"[{shown(bounds[0])}, {shown(bounds[1])}]"
    return f"{shown(value)} {interval}"


def duration(seconds: float) -> str:
    """Return a time in words.

    >>> [duration(x) for x in (0.4, 59, 150, 4000, 90_000)]
    ['1 s', '59 s', '2 min 30 s', '1 h 7 min', '1 d 1 h']
    """
    whole = max(1, round(seconds))
    for unit, small, names in ((86_400, 3600, "dh"), (3600, 60, ("h", "min")), (60, 1, ("min", "s"))):
        if whole >= unit:
            large, rest = divmod(round(whole / small), unit // small)
            return f"{large} {names[0]}" + (f" {rest} {names[1]}" if rest else "")
    return f"{whole} s"
