"""The report: every figure with its spread, n and limit, and every contestant with its regret beside its time."""

from collections.abc import Mapping, Sequence
from typing import Any

from .figures import Figure, Part, Row
from .measuring import PERCENTILES
from .pages import markdown_table

PEERS_IN_README = (
    "NumPy LinUCB loop",
    "Vowpal Wabbit, text",
    "contextualbandits",
    "river",
    "MABWiser LinUCB",
    "coba LinUCB",
    "bayesianbandits TS",
)
VERDICTS = {True: "✓ holds", False: "✗ missed", None: "–"}


def page(parts: Mapping[str, Part]) -> str:
    """Return the report as Markdown."""
    limited = [figure for part in parts.values() for figure in part.figures if figure.limit is not None]
    sections = [f"{sum(bool(figure.holds) for figure in limited)} of {len(limited)} limits hold."]
    if "peers-10" in parts:
        words = "One decision and its update, including checks and propensity. FS-SCB chooses among ten maps; the "
        sections.append(f"## In short\n\n{words}others get the right one.\n\n{speed_part(parts['peers-10'])}")
    for part in parts.values():
        sections.append(f"## {part.title}\n\n{part.settings}.")
        if part.missing:
            sections.append(f"**Not installed, so not measured: {', '.join(part.missing)}.**")
        if part.figures:
            sections.append(figures_table(part.figures))
        if part.rows:
            sections += [rows_table(part.rows), latency_table(part.rows)]
    machines: dict[str, list[str]] = {}
    for name, part in parts.items():
        machines.setdefault(machine_words(part.machine), []).append(f"{name} ({part.measured}, {part.seconds:.0f} s)")
    sections += ["## Machine", *(f"{words} Parts: {', '.join(names)}." for words, names in machines.items())]
    return "\n\n".join(sections) + "\n"


def figures_table(figures: Sequence[Figure]) -> str:
    """Return the figures of a part against their limits."""
    ratios = any(figure.over for figure in figures)
    head = ["", "what", *(["over"] if ratios else []), "median", "10 % to 90 %", "best", "n", "limit", "verdict"]
    rows = []
    for figure in figures:
        spread = figure.spread
        limit = "" if figure.limit is None else f"{'≥' if figure.at_least else '≤'} {figure.limit:g}"
        cells = [figure.target, figure.what, *([figure.over] if ratios else []), number(spread.median)]
        cells += [f"{number(spread.low)} to {number(spread.high)}", number(spread.best), str(spread.n), limit]
        medians = " / ".join(duration(one.median) for one in (figure.above, figure.below) if one is not None)
        rows.append([*cells, VERDICTS[figure.holds], *([medians] if ratios else [])])
    return markdown_table([*head, *(["medians"] if ratios else [])], rows)


def rows_table(rows: Sequence[Row]) -> str:
    """Return the comparison: time per round and regret."""
    head = ["", "version", "what", "µs per round (best)", "times the yardstick", "best", "times an empty call"]
    cells = []
    for row in rows:
        own, yard = row.per_round, row.to_yardstick
        times = f"{number(yard.median)} ({number(yard.low)} to {number(yard.high)})"
        error = "" if row.standard_error is None else f" ± {row.standard_error:.1f}"
        words = [row.name, row.version or "–", row.what, f"{number(own.median)} ({number(own.best)})", times]
        words += [number(yard.best), number(row.to_empty_call.median), str(own.n)]
        cells.append([*words, f"{number(row.regret)}{error}", str(row.problems)])
    return markdown_table([*head, "blocks", "regret", "problems"], cells)


def latency_table(rows: Sequence[Row]) -> str:
    """Return the percentiles of single calls."""
    names = [f"{percentile:g}" for percentile in PERCENTILES]
    return markdown_table(
        ["single calls, µs", *(f"{name} %" for name in names), "n"],
        [[row.name, *(number(row.latency[name]) for name in names), str(row.calls)] for row in rows],
    )


def speed_part(part: Part) -> str:
    """Return the short table of one comparison: fastest first."""
    rows = sorted(part.rows, key=lambda row: row.per_round.median)
    cells = [
        [row.name, number(row.per_round.median), f"{number(row.latency['99'])} µs", f"{row.regret:.0f}"]
        for row in rows
        if not row.name.startswith("empty call")
    ]
    table = markdown_table(["", "µs a round", "99 % of rounds within", "regret after 2,000 rounds"], cells)
    return f"{table}\n\n{part.settings}. {part.machine['cpu']}, {part.machine['cores']} cores."


def speed_line(parts: Mapping[str, Part]) -> str:
    """Return the sentence of the README."""
    times = {row.name: number(row.per_round.median) for row in parts["peers-10"].rows}
    untuned = next(figure.above for figure in parts["untuned"].figures if figure.above)
    ours = f"{times.pop('FS-SCB')} µs with `FSSquareCB`, {number(untuned.median)} µs with `FSIDS`"
    others = ", ".join(f"{name} {time}" for name, time in times.items() if name in PEERS_IN_README)
    return (
        f"One decision and its update take {ours} (ten actions, ten maps of ten features); given the right map, "
        f"{others} µs ([benchmarks](docs/benchmarks.md))."
    )


def machine_words(machine: Mapping[str, Any]) -> str:
    """Return a machine in words."""
    packages = ", ".join(f"{name} {version or 'not installed'}" for name, version in machine["packages"].items())
    words = "{cpu}, {cores} cores, {memory_gib} GiB, {system}; Python {python}, {blas}; ".format(**machine)
    return f"{words}{packages}."


def duration(microseconds: float) -> str:
    """Return a time in microseconds or seconds."""
    return f"{number(microseconds)} µs" if microseconds < 1e6 else f"{number(microseconds / 1e6)} s"


def number(value: float) -> str:
    """Return a number with three digits."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
