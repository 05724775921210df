"""The choice of the defaults: tables and figures of docs/defaults.md, ``python -m benchmarks.studies.defaults``.

Half an hour on two cores. Every table is printed; with all of them the page is filled. Runs are stored in
`out/studies` and not repeated; delete the folder after a change of code. ``--quick`` plays a twentieth of the rounds
with six replicates and leaves the page alone, to test that it runs.

To add a policy to the comparisons, add a line to `POLICIES` and its name to one of the lists below.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from banditselect import FSIDS, FSOFUL, OFUL, PSIDS, PSOFUL, FSSquareCB, LinIDS, LinTS, SquareCB
from banditselect.policies import Binding
from banditselect.reporting import save_figure
from banditselect.reporting.figures import new_figure
from banditselect.reporting.style import INK, house_style, looks, tidy
from banditselect.rivals import UCB1
from banditselect.types import Array

from .. import pages
from ..pages import markdown_table
from . import calibration, stored
from .defaults_problems import BALLS, CLICKS, EIGHT, GRIDS, HARD, SELECTION, Problem, Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROBLEMS: dict[str, Problem] = {**EIGHT, **HARD, **GRIDS, **SELECTION, **CLICKS, **BALLS}
GRID = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)  #: of SquareCB's constant c
READ = (300, 1000)  #: rounds after which model weights are read; the last round too
CHUNK = 5  #: replicates that are played together
STICKS = 0.1  #: a run sticks if at the end it loses more than this share of the loss of uniform play
COINS = "10 arms, coins .9/.1"

POLICIES: dict[str, Callable[[Problem, Sequence[Trace]], Binding[Any]]] = {
    "LinIDS": lambda p, _: LinIDS.bind(dim=p.widths[0]),
    "SquareCB": lambda p, _: SquareCB.bind(dim=p.widths[0], reward_range=p.span),
    "OFUL": lambda p, _: OFUL.bind(dim=p.widths[0], noise=p.noise),
    "LinTS": lambda p, _: LinTS.bind(dim=p.widths[0], noise=p.noise),
    "UCB1": lambda p, _: UCB1.bind(n_arms=p.arms, noise=p.noise),
    "FSIDS": lambda p, _: FSIDS.bind(**p.shape),
    "FSSquareCB": lambda p, _: FSSquareCB.bind(**p.shape, reward_range=p.span, noise=p.noise),
    "FSOFUL": lambda p, _: FSOFUL.bind(**p.shape, noise=p.noise),
    "PSIDS": lambda _, traces: PSIDS.bind(**balls(traces)),
    "PSOFUL": lambda p, traces: PSOFUL.bind(**balls(traces), noise=p.noise),
}
"""Every policy at its defaults; those that need the range or the noise of the rewards are given it."""
TUNED = {f"SquareCB, c = {c:g}": c for c in GRID}
ONE_MAP, ARMS = ("LinIDS", "SquareCB", "OFUL", "LinTS"), ("UCB1",)
MANY_MAPS, REGIONS = ("FSIDS", "FSSquareCB", "FSOFUL"), ("PSIDS", "PSOFUL")


class Size(NamedTuple):
    """The size of the study: the replicates, and by how much fewer rounds are played."""

    replicates: int = 100
    shorter: int = 1


def balls(traces: Sequence[Trace]) -> dict[str, Any]:
    return {"centers": np.stack([one.centers for one in traces]), "radii": np.stack([one.radii for one in traces])}


def play(name: str, contestant: str, seeds: Sequence[int], rounds: int) -> dict[str, list[Any]]:
    """Play some replicates of a problem, one in each lane; return, by name, an entry per replicate.

    Regret, mean rewards earned, ``late``: the regret in the last tenth of the rounds as a share of that of uniform
    play, and the model weights at every reading.
    """
    warnings.filterwarnings("ignore", ".*(lies outside|no model explains)")  # a range is a scale; coins are not linear
    problem = PROBLEMS[name]
    traces = [problem.draw(seed, rounds) for seed in seeds]
    make = POLICIES["SquareCB" if contestant in TUNED else contestant](problem, traces)
    constant = {"exploration": TUNED[contestant]} if contestant in TUNED else {}
    policy = make(lanes=len(seeds), seed=(3, seeds[0]), **constant)
    actions, weights = np.empty((len(seeds), rounds), dtype=np.int64), []
    for t in range(rounds):
        maps = [np.stack([trace.features[t, i, :, :w] for trace in traces]) for i, w in enumerate(problem.widths)]
        decision = policy.act(maps if len(maps) > 1 else maps[0])
        actions[:, t] = decision.action
        policy.update(decision, np.array([trace.rewards[t, a] for trace, a in zip(traces, actions[:, t], strict=True)]))
        if t + 1 in (*READ, rounds) and hasattr(policy, "model_weights"):
            weights.append(policy.model_weights)
    played = list(zip(traces, actions, strict=True))
    found: dict[str, list[Any]] = {
        "regret": [trace.regret(own) for trace, own in played],
        "earned": [float(trace.means[np.arange(rounds), own].sum()) for trace, own in played],
        "late": [trace.late(own) for trace, own in played],
    }
    return found | ({"weights": np.round(np.moveaxis(np.array(weights), 0, 1), 4).tolist()} if weights else {})


@stored
def play_all(name: str, contestant: str, rounds: int, replicates: int) -> dict[str, list[Any]]:
    chunks = [range(s, min(s + CHUNK, replicates)) for s in range(0, replicates, CHUNK)]
    parts = Parallel(-1)(delayed(play)(name, contestant, seeds, rounds) for seeds in chunks)
    return {what: [value for part in parts for value in part[what]] for what in parts[0]}


Cells = Mapping[str, Mapping[str, Any]]


def cells_of(problems: Iterable[str], contestants: Iterable[str], size: Size) -> dict[str, dict[str, Any]]:
    """Return the results by problem and contestant; UCB1 plays only arms."""
    return {
        name: {
            contestant: play_all(name, contestant, PROBLEMS[name].rounds // size.shorter, size.replicates)
            for contestant in contestants
            if PROBLEMS[name].arms or contestant not in ARMS
        }
        for name in problems
    }


def spread(values: ArrayLike, digits: int | None = None) -> str:
    """Return mean and standard error in words."""
    x = np.asarray(values, dtype=float)
    mean, error = x.mean(), x.std(ddof=1) / np.sqrt(x.size)
    digits = digits if digits is not None else (0 if mean >= 100 else 1 if mean >= 1 else 3)
    return f"{mean:.{digits}f} ± {error:.{max(digits, 1)}f}"


def means_of(cells: Cells, names: Iterable[str]) -> Array:
    """Return mean regrets, ``(problems, contestants)``; NaN if a contestant does not play."""
    return np.array(
        [[np.mean(row[name]["regret"]) if name in row else np.nan for name in names] for row in cells.values()]
    )


def regrets(cells: Cells, names: Iterable[str], best: Array) -> list[list[str]]:
    """Return a row per problem: regret, and in brackets its multiple of the best on that problem."""
    rows = []
    for (problem, row), means, least in zip(cells.items(), means_of(cells, names), best, strict=True):
        parts = [
            f"{spread(row[name]['regret'])} ({mean / least:.2f})" if name in row else "–"
            for name, mean in zip(names, means, strict=True)
        ]
        rows.append([problem, *parts])
    return rows


def summary(multiples: Array) -> list[list[str]]:
    """Return the worst and the geometric mean of multiples ``(problems, contestants)``, as rows."""
    worst, mean = np.max(multiples, axis=0), np.exp(np.log(multiples).mean(axis=0))
    labels = {"worst multiple": worst, "geometric mean of the multiples": mean}
    return [[label, *("–" if np.isnan(v) else f"{v:.2f}" for v in values)] for label, values in labels.items()]


def sticking(cells: Cells, names: Sequence[str], problem: str) -> list[str]:
    runs = [np.array(cells[problem][name]["late"]) if name in cells[problem] else None for name in names]
    counts = ["–" if x is None else f"{int((x > STICKS).sum())} of {x.size}" for x in runs]
    return [f"runs that stick: {problem}", *counts]


def compared(cells: Cells, names: Sequence[str]) -> list[list[str]]:
    """Return regrets as multiples of the best of these policies, problem by problem and over all problems."""
    means = means_of(cells, names)
    best = np.nanmin(means, axis=1)
    return regrets(cells, names, best) + summary(means / best[:, None])


def table_squarecb(size: Size) -> str:
    rows = compared(cells_of(EIGHT, TUNED, size), list(TUNED))
    return markdown_table(["problem", *(f"c = {c:g}" for c in GRID)], rows)


def table_one_default(size: Size) -> str:
    """Every policy at its defaults on the eight problems, as multiples of the best of all, tuned ones too."""
    names = [*ONE_MAP, *ARMS]
    cells = cells_of(EIGHT, [*names, *TUNED], size)
    means, tuned = means_of(cells, names), means_of(cells, TUNED)
    best = np.nanmin(np.column_stack([means, tuned]), axis=1)
    rows = regrets(cells, names, best)
    for row, values, least in zip(rows, tuned, best, strict=True):
        row.append(f"{values.min():.3g} ({values.min() / least:.2f}), c = {GRID[int(values.argmin())]:g}")
    rows += summary(np.column_stack([means, tuned.min(axis=1)]) / best[:, None])
    rows.append([*sticking(cells, names, COINS), "–"])
    return markdown_table(["problem", *names, "SquareCB, best c in hindsight"], rows)


def table_hard(size: Size) -> str:
    """The same where assumptions fail, and where actions are alike."""
    names = [*ONE_MAP, *ARMS]
    cells = cells_of([*HARD, *GRIDS], names, size)
    stuck = [sticking(cells, names, problem) for problem in HARD if problem.startswith("10 arms")]
    return markdown_table(["problem", *names], compared(cells, names) + stuck)


def table_selection(size: Size) -> str:
    """Several maps: regret, and in how many runs the right one had the largest weight at the end."""
    cells = cells_of(SELECTION, MANY_MAPS, size)
    rows = regrets(cells, MANY_MAPS, means_of(cells, MANY_MAPS).min(axis=1))
    for problem, row in cells.items():
        right = 1 if problem.startswith("clicks") else 0
        won = [(np.array(row[name]["weights"])[:, -1].argmax(axis=1) == right).sum() for name in MANY_MAPS]
        rows.append([f"right map first: {problem}", *(f"{k} of {size.replicates}" for k in won)])
    return markdown_table(["problem", *MANY_MAPS], rows)


def table_clicks(size: Size) -> str:
    """Rare clicks on maps of different widths."""
    rows, few = [], size._replace(replicates=max(size.replicates // 2, 3))
    for true, (problem, row) in enumerate(cells_of(CLICKS, MANY_MAPS, few).items(), start=-1):
        for name, own in row.items():
            weights = np.array(own["weights"])  # (n, readings, M)
            sure = (weights.max(axis=2) > 0.8).sum(axis=0).tolist()
            right = (weights[:, :, true] > 0.9).sum(axis=0).tolist()
            counts = [f"{', '.join(map(str, found))} of {len(weights)}" for found in (sure, right)]
            last = " / ".join(f"{w:.2f}" for w in weights[:, -1].mean(axis=0))
            earned = spread(np.array(own["earned"]) / (PROBLEMS[problem].rounds // size.shorter), 3)
            rows.append([problem, name, last, counts[0], "–" if true < 0 else counts[1], earned])
    head = ["problem", "policy", "mean weights of 40 / 80 / 160", "a weight above .8", "the right one above .9"]
    return markdown_table([*head, "reward a round"], rows)


def table_regions(size: Size) -> str:
    cells = cells_of(BALLS, REGIONS, size)
    rows = [[problem, *(spread(row[name]["regret"]) for name in REGIONS)] for problem, row in cells.items()]
    return markdown_table(["problem", *REGIONS], rows)


def calibrated(kind: str, size: Size) -> list[dict[str, Any]]:
    """Return the runs of one kind of problem, more of the kind where weights claim to be probabilities."""
    return calibration.play_many(kind, (20 if kind == "linear" else 6) * size.replicates)


def table_calibration(size: Size) -> str:
    """Reliability of the winner's weight where a map is right."""
    found = calibrated("linear", size)
    rows: dict[str, list[str]] = {}
    for i, name in enumerate(calibration.NAMES):
        for words, count, mean, share, low, high in calibration.reliability(*calibration.winners(found, name)[:2]):
            cells = rows.setdefault(words, [words] + ["–"] * 3 * len(calibration.NAMES))
            cells[1 + 3 * i : 4 + 3 * i] = [str(count), f"{mean:.3f}", f"{share:.3f} [{low:.3f}, {high:.3f}]"]
    columns = [f"{name}: {what}" for name in calibration.NAMES for what in ("n", "mean weight", "right")]
    return markdown_table(["weight of the winner", *columns], list(rows.values()))


def table_calibration_kinds(size: Size) -> str:
    """Weights and frequencies of right winners, by horizon and by kind of problem."""
    rows = []
    for kind, words in calibration.KINDS.items():
        found = calibrated(kind, size)
        winners = [calibration.winners(found, name) for name in calibration.NAMES]
        weight, right, rounds = winners[0]
        parts = {words: rounds > 0}
        if kind == "linear":
            edges = pairwise(calibration.HORIZONS)
            parts |= {f"… stopped after {a} to {b - 1} rounds": (rounds >= a) & (rounds < b) for a, b in edges}
        for label, inside in parts.items():
            if inside.any():
                sure, cells = inside & (weight > 0.9), []
                for w, r, _ in winners:
                    error = calibration.expected_error(w[inside], r[inside])
                    cells.append([f"{value:.3f}" for value in (w[inside].mean(), r[inside].mean(), error)])
                wrong = f"{(sure & ~right).sum()} of {sure.sum()}"
                rows.append([label, str(inside.sum()), *cells[0], wrong, *cells[1]])
    head = [[f"{name}: mean weight of the winner", "right", "calibration error"] for name in calibration.NAMES]
    return markdown_table(["problems", "n", *head[0], "wrong when above .9", *head[1]], rows)


def draw_multiples(size: Size) -> "Figure":
    """Draw the regret of every policy at its defaults as a multiple of the best of all, tuned ones too."""
    names, top = [*ONE_MAP, *ARMS], 30.0
    means = means_of(cells_of(EIGHT, [*names, *TUNED], size), [*names, *TUNED])
    multiples = (means / np.nanmin(means, axis=1, keepdims=True))[:, : len(names)]
    look, width = looks(names), 0.8 / len(names)
    with house_style():
        figure = new_figure("page", 2.9)
        axes = figure.add_subplot()
        for i, (name, values) in enumerate(zip(names, multiples.T, strict=True)):
            place = np.arange(values.size) + (i - 0.5 * (len(names) - 1)) * width
            colour = look[name].colour
            axes.bar(place, np.minimum(values, top) - 1.0, 0.92 * width, bottom=1.0, color=colour, label=name)
            for x, value in zip(place, values, strict=True):
                if value < 1.005:
                    axes.plot([x - 0.4 * width, x + 0.4 * width], [1.0, 1.0], color=colour, linewidth=2.5)
                if value > top:
                    axes.annotate(f"{value:.0f}", (x, top), ha="center", va="bottom", fontsize=6.5, color=INK)
        axes.set_yscale("log")
        axes.set_ylim(0.93, top)
        axes.set_yticks([1, 1.5, 2, 3, 5, 10, 20, 30], ["1", "1.5", "2", "3", "5", "10", "20", "30"])
        axes.minorticks_off()
        axes.axhline(1.0, color=INK, linewidth=0.6)
        short = ("fs-synthetic", "ps-synthetic", "linear\nK=10", "linear\nK=100", "linear\nK=2", "classes")
        axes.set_xticks(range(len(EIGHT)), [*short, "coins\n.9/.1", "coins\n.5/.4"])
        axes.set_ylabel("regret, multiple of the best")
        axes.set_title("One default for everything: regret after 2,000 rounds, every policy at its defaults", pad=18.0)
        figure.legend(loc="upper right", bbox_to_anchor=(1.0, 0.945), ncols=len(names), frameon=False)
        tidy(axes)
    return figure


TABLES: dict[str, Callable[[Size], str]] = {
    "one default": table_one_default,
    "squarecb": table_squarecb,
    "hard": table_hard,
    "selection": table_selection,
    "calibration": table_calibration,
    "calibration by kind": table_calibration_kinds,
    "regions": table_regions,
    "clicks": table_clicks,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES), metavar="NAME")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    size, made = (Size(6, shorter=20) if options.quick else Size()), {}
    for name in options.only:
        begin = time.monotonic()
        made[name] = TABLES[name](size)
        print(f"\n## {name}, n = {size.replicates} ({time.monotonic() - begin:.0f} s)\n\n{made[name]}", flush=True)
    if not options.quick and made.keys() == TABLES.keys():
        figures = pages.DOCS / "figures"
        save_figure(draw_multiples(size), figures / "one-default.png")
        found = {kind: calibrated(kind, size) for kind in calibration.KINDS}
        save_figure(calibration.draw(found), figures / "calibration.png")
        pages.fill(pages.DOCS / "defaults.md", made)


if __name__ == "__main__":
    main()
