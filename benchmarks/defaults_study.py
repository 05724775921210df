"""The study behind the defaults: the choices, their alternatives and the problems; it writes docs/defaults.md.

    python -m benchmarks.defaults_study [--replicates 100] [--only NAME ...] [--quick] [--docs]

Every table is printed as Markdown. Runs are stored in out/bench/defaults.json and not repeated, so the study can be
stopped and resumed; delete the file after a change of code. `--docs` writes the tables into docs/defaults.md and draws
its figures. `--quick` plays a twentieth of the rounds with six replicates, to test that it runs.

To add a policy to the comparisons, add a line to `ONE_MAP`, `MANY_MAPS` or `REGIONS` in `benchmarks.defaults_runs`,
and to `SINGLE` or `SELECTING` in `benchmarks.defaults_tables`.
"""

import argparse
import os
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from banditselect.reporting.markdown import markdown_table

from . import defaults_calibration as calibration
from . import defaults_tables as tables
from .defaults_page import write
from .defaults_problems import BALLS, CLICKS, EIGHT, GRIDS, HARD, SELECTION
from .defaults_runs import ARMS, GRID, MANY_MAPS, ONE_MAP, REGIONS, TUNED, Runs

Array = NDArray[np.float64]
JSON = Path("out/bench/defaults.json")
STICKS = 0.1  #: a run sticks if at the end it loses more than this share of the loss of uniform play
COINS = "10 arms, coins .9/.1"


def spread(values: ArrayLike, digits: int | None = None) -> str:
    """Return mean and standard error in words."""
    x = np.asarray(values, dtype=float)
    mean, error = x.mean(), x.std(ddof=1) / np.sqrt(x.size)
    digits = digits if digits is not None else (0 if mean >= 100 else 1 if mean >= 1 else 3)
    return f"{mean:.{digits}f} ± {error:.{max(digits, 1)}f}"


def means_of(cells: Mapping[str, Any], names: Sequence[str]) -> Array:
    """Return mean regrets, ``(problems, contestants)``; NaN if a contestant does not play."""
    return np.array(
        [[np.mean(row[name]["regret"]) if name in row else np.nan for name in names] for row in cells.values()]
    )


def regrets(cells: Mapping[str, Any], names: Sequence[str], best: Array | None = None) -> list[list[str]]:
    """Return a row per problem: regret, and in brackets its multiple of the best on that problem."""
    means = means_of(cells, names)
    floor = np.nanmin(means, axis=1) if best is None else best
    rows = []
    for (problem, row), mean, least in zip(cells.items(), means, floor, strict=True):
        parts = [
            f"{spread(row[name]['regret'])} ({value / least:.2f})" if name in row else "–"
            for name, value in zip(names, mean, strict=True)
        ]
        rows.append([problem, *parts])
    return rows


def summary(multiples: Array) -> list[list[str]]:
    """Return the worst and the geometric mean of multiples ``(problems, contestants)``, as rows."""
    rows = []
    whole = [not np.isnan(column).any() for column in multiples.T]
    for label, values in (
        ("worst multiple", np.max(multiples, axis=0)),
        ("geometric mean of the multiples", np.exp(np.log(multiples).mean(axis=0))),
    ):
        rows.append([label, *(f"{v:.2f}" if every else "–" for v, every in zip(values, whole, strict=True))])
    return rows


def sticking(cells: Mapping[str, Any], names: Sequence[str], problem: str) -> list[str]:
    """Return the numbers of runs that stick, as a row."""
    row = cells[problem]
    runs = [np.array(row[name]["late"]) if name in row else None for name in names]
    counts = ["–" if x is None else f"{int((x > STICKS).sum())} of {x.size}" for x in runs]
    return [f"runs that stick: {problem}", *counts]


def table_squarecb(runs: Runs, n: int) -> str:
    """SquareCB's constant."""
    names = list(TUNED)
    cells = runs.cells(EIGHT, names, n)
    means = means_of(cells, names)
    rows = regrets(cells, names) + summary(means / means.min(axis=1, keepdims=True))
    return markdown_table(["problem", *(f"c = {c:g}" for c in GRID)], rows)


def table_one_default(runs: Runs, n: int) -> str:
    """Every policy at its defaults on the eight problems, as multiples of the best of all, tuned ones too."""
    names, everyone = [*ONE_MAP, *ARMS], [*ONE_MAP, *ARMS, *TUNED]
    cells = runs.cells(EIGHT, everyone, n)
    means = means_of(cells, everyone)
    best = np.nanmin(means, axis=1)
    rows = regrets(cells, names, best)
    tuned = means[:, -len(GRID) :]
    for row, values, least in zip(rows, tuned, best, strict=True):
        row.append(f"{values.min():.3g} ({values.min() / least:.2f}), c = {GRID[int(values.argmin())]:g}")
    multiples = np.column_stack([means[:, : len(names)], tuned.min(axis=1)]) / best[:, None]
    rows += [*summary(multiples), [*sticking(cells, names, COINS), "–"]]
    return markdown_table(["problem", *names, "SquareCB, best c in hindsight"], rows)


def multiples_of(runs: Runs, n: int) -> dict[str, Array]:
    """Return by policy at its defaults the multiples of the best of all, tuned ones too, on the eight problems."""
    names = [*ONE_MAP, *ARMS, *TUNED]
    means = means_of(runs.cells(EIGHT, names, n), names)
    means /= np.nanmin(means, axis=1, keepdims=True)
    return {name: column for name, column in zip(names, means.T, strict=True) if name not in TUNED}


def table_hard(runs: Runs, n: int) -> str:
    """The same where assumptions fail, and where actions are alike."""
    names = [*ONE_MAP, *ARMS]
    cells = runs.cells({**HARD, **GRIDS}, names, n)
    means = means_of(cells, names)
    rows = regrets(cells, names) + summary(means / np.nanmin(means, axis=1, keepdims=True))
    rows += [sticking(cells, names, problem) for problem in HARD if problem.startswith("10 arms")]
    return markdown_table(["problem", *names], rows)


TRUE_MAP = {"fs-synthetic, 10 maps": 0, "section 9, M=4": 0, "section 9, M=16": 0, "clicks .5 + .3 x": 1}


def table_selection(runs: Runs, n: int) -> str:
    """Several maps: regret, and in how many runs the right one had the largest weight at the end."""
    names = list(MANY_MAPS)
    cells = runs.cells(SELECTION, names, n)
    rows = regrets(cells, names)
    for problem, row in cells.items():
        won = [
            (np.array(row[name]["weights"])[:, -1].argmax(axis=1) == TRUE_MAP[problem]).sum()
            if "weights" in row[name]
            else None
            for name in names
        ]
        rows.append([f"right map first: {problem}", *("–" if k is None else f"{k} of {n}" for k in won)])
    return markdown_table(["problem", *names], rows)


def table_clicks(runs: Runs, n: int) -> str:
    """Rare clicks on maps of different widths."""
    names = list(MANY_MAPS)
    cells = runs.cells(CLICKS, names, max(n // 2, 3))
    rows = []
    for true, (problem, row) in enumerate(cells.items(), start=-1):
        for name in names:
            weights = np.array(row[name]["weights"])  # (n, readings, M)
            last = weights[:, -1].mean(axis=0)
            sure = [int((weights[:, r].max(axis=1) > 0.8).sum()) for r in range(weights.shape[1])]
            right = [int((weights[:, r, true] > 0.9).sum()) for r in range(weights.shape[1])]
            earned = np.array(row[name]["earned"]) / runs.rounds(problem)
            rows.append(
                [
                    problem,
                    name,
                    " / ".join(f"{w:.2f}" for w in last),
                    ", ".join(str(k) for k in sure) + f" of {len(weights)}",
                    "–" if true < 0 else ", ".join(str(k) for k in right) + f" of {len(weights)}",
                    spread(earned, 3),
                ]
            )
    head = ["problem", "policy", "mean weights of 40 / 80 / 160", "a weight above .8", "the right one above .9"]
    return markdown_table([*head, "reward a round"], rows)


def table_regions(runs: Runs, n: int) -> str:
    """Balls: the shipped policies, and in the laboratory the effect of the noise levels."""
    names = [*REGIONS, "shipped", "no windows", "levels a factor 100 apart", "levels a factor 3.2 apart"]
    return markdown_table(["problem", *names], regrets(runs.cells(BALLS, names, n), names))


def table_regret(runs: Runs, n: int) -> str:
    """Estimates of the regret of the leader."""
    names = ["shipped", "D: max", "D: geometric", "D: upper", "D: sum"]
    cells = runs.cells({**EIGHT, **HARD, **GRIDS, **SELECTION}, names, n)
    means = means_of(cells, names)
    rows = regrets(cells, names) + summary(means / means.min(axis=1, keepdims=True))
    rows += [sticking(cells, names, problem) for problem in (COINS, "10 arms, noise .1", "section 9, M=4")]
    return markdown_table(["problem", "D: middle (shipped)", *names[1:]], rows)


def table_switches(runs: Runs, n: int) -> str:
    """The choices that matter less: multiples of the shipped regret."""
    names = ["shipped", "constant teaches", "trust .5", "trust 3", "no model left out", "all pairs", "exact bound"]
    some = {
        k: p
        for k, p in {**EIGHT, **HARD, **GRIDS, **SELECTION}.items()
        if k not in ("grid of 1000", "fs-synthetic, 10 maps")
    }
    cells = runs.cells(some, names, max(n // 2, 3))
    means = means_of(cells, names)
    rows = regrets(cells, names, means[:, 0]) + summary(means / means[:, :1])
    rows += [sticking(cells, names, problem) for problem in (COINS, "section 9, M=4", "section 9, M=16")]
    return markdown_table(["problem", *names], rows)


def table_scales(runs: Runs, n: int) -> str:
    """The prior scales: regret, sticking, and weights on pure noise."""
    names = ["shipped", "scales from 10^-1.5", "scales from 10^-1", "scales to 10", "one scale, 1", "seven scales"]
    cells = runs.cells({**EIGHT, **HARD}, names, max(n // 2, 3))
    means = means_of(cells, names)
    rows = regrets(cells, names, means[:, 0]) + summary(means / means[:, :1])
    rows += [sticking(cells, names, problem) for problem in (COINS, "10 arms, noise .1", "10 arms, noise .01")]
    few = max(2 * n // 5, 3)
    clicks = runs.cells(["rare clicks, pure noise"], names, few)["rare clicks, pure noise"]
    sure = [int((np.array(clicks[name]["weights"])[:, -1].max(axis=1) > 0.8).sum()) for name in names]
    rows.append(["rare clicks, pure noise: a weight above .8", *(f"{k} of {few}" for k in sure)])
    return markdown_table(["problem", *names], rows)


def table_tables(runs: Runs, n: int) -> str:
    """Tables of scikit-learn: rewards as shares of the best single map in hindsight."""
    few, policies = max(n // 10, 2), [*tables.SELECTING, *tables.SINGLE]
    rows = []
    for table in ("iris",) if runs.quick else tables.TABLES:
        jobs = [(table, name, seed) for name in policies for seed in range(few)]
        found = runs.one(f"table {table} | {', '.join(policies)} | {few}", tables.play, jobs)
        by = {name: found[i * few : (i + 1) * few] for i, name in enumerate(policies)}
        single = {
            name: max((float(np.mean([run[z] for run in by[name]])), z) for z in by[name][0]) for name in tables.SINGLE
        }
        earned = {name: np.array([run[name] for run in by[name]]) for name in tables.SELECTING}
        best, by_whom = max((single[name][0], name) for name in tables.SINGLE)
        rows.append(
            [
                table.replace("_", " "),
                f"{best:.0f}: {by_whom}, {single[by_whom][1]}",
                *(f"{spread(values / best, 3)}" for values in earned.values()),
                *(f"{single[name][0] / best:.3f}" for name in tables.SINGLE),
            ]
        )
    head = [*tables.SELECTING, *(f"{name}, its best map" for name in tables.SINGLE)]
    return markdown_table(["table", "best single map in hindsight", *head], rows)


def calibrated(runs: Runs, kind: str, n: int) -> list[dict[str, Any]]:
    """Return the runs of one kind of problem, more of the kind where weights claim to be probabilities."""
    n, size = (20 if kind == "linear" else 6) * n, 20
    jobs = [(kind, list(range(s, min(s + size, n)))) for s in range(0, n, size)]
    return [run for part in runs.one(f"calibration | {kind} | {n}", calibration.play_many, jobs) for run in part]


def table_calibration(runs: Runs, n: int) -> str:
    """Reliability of the winner's weight where a map is right."""
    found = calibrated(runs, "linear", n)
    rows = []
    by = {name: calibration.reliability(*calibration.winners(found, name)[:2]) for name in ("FSIDS", "FSSquareCB")}
    words = dict.fromkeys(row[0] for part in by.values() for row in part)
    for word in words:
        line = [word]
        for part in by.values():
            row = next((row for row in part if row[0] == word), None)
            line += (
                ["–"] * 3
                if row is None
                else [str(row[1]), f"{row[2]:.3f}", f"{row[3]:.3f} [{row[4]:.3f}, {row[5]:.3f}]"]
            )
        rows.append(line)
    columns = [f"{name}: {what}" for name in by for what in ("n", "mean weight", "right")]
    return markdown_table(["weight of the winner", *columns], rows)


def table_calibration_kinds(runs: Runs, n: int) -> str:
    """Weights and frequencies of right winners, by horizon and by kind of problem."""
    rows = []
    for kind in calibration.KINDS:
        found = calibrated(runs, kind, n)
        weight, right, rounds = calibration.winners(found, "FSIDS")
        parts = {calibration.WORDS[kind]: rounds > 0}
        if kind == "linear":
            edges = pairwise(calibration.HORIZONS)
            parts |= {
                f"… stopped after {low} to {high - 1} rounds": (rounds >= low) & (rounds < high) for low, high in edges
            }
        scb = calibration.winners(found, "FSSquareCB")
        for word, inside in parts.items():
            if not inside.any():
                continue
            sure = weight[inside] > 0.9
            wrong = int((sure & ~right[inside]).sum())
            rows.append(
                [
                    word,
                    str(int(inside.sum())),
                    f"{weight[inside].mean():.3f}",
                    f"{right[inside].mean():.3f}",
                    f"{calibration.expected_error(weight[inside], right[inside]):.3f}",
                    f"{wrong} of {int(sure.sum())}",
                    f"{scb[0][inside].mean():.3f}",
                    f"{scb[1][inside].mean():.3f}",
                    f"{calibration.expected_error(scb[0][inside], scb[1][inside]):.3f}",
                ]
            )
    head = ["problems", "n"]
    for name in ("FSIDS", "FSSquareCB"):
        head += [f"{name}: mean weight of the winner", "right", "calibration error"]
        head += ["wrong when above .9"] if name == "FSIDS" else []
    return markdown_table(head, rows)


TABLES: dict[str, Callable[[Runs, int], str]] = {
    "one default": table_one_default,
    "squarecb": table_squarecb,
    "hard": table_hard,
    "selection": table_selection,
    "tables": table_tables,
    "calibration": table_calibration,
    "calibration by kind": table_calibration_kinds,
    "regret of the leader": table_regret,
    "scales": table_scales,
    "switches": table_switches,
    "regions": table_regions,
    "clicks": table_clicks,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--only", nargs="+", choices=list(TABLES), default=list(TABLES), metavar="NAME")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--json", type=Path, default=JSON)
    options = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read by the workers, which share the cores
    n = 6 if options.quick else options.replicates
    runs = Runs(options.json, quick=options.quick, workers=os.cpu_count() or 1)
    made = {}
    for name in options.only:
        begin = time.monotonic()
        made[name] = TABLES[name](runs, n)
        print(f"\n## {name}, n = {n} ({time.monotonic() - begin:.0f} s)\n\n{made[name]}", flush=True)
    if options.docs:
        found = {kind: calibrated(runs, kind, n) for kind in calibration.KINDS}
        write(made, multiples_of(runs, n), found)


if __name__ == "__main__":
    main()
