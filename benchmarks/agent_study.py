"""The study behind docs/agent_study.md: five public tables as records, six candidate maps, an agent against peers.

A round is a row of the table; its columns are the context, the classes are the items, a right guess earns 1. The study
compares FSIDS over all six maps, LinIDS on each map alone (the best is known only in hindsight), and Vowpal Wabbit's
squarecb on the same stream. ``python -m benchmarks.agent_study`` plays and writes the page; a number sets the number of
streams of each table.
"""

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

from banditselect import Agent, LinIDS, maps
from banditselect.reporting.markdown import markdown_table, replace_between
from banditselect.simulation.store import write_text

from .measuring import machine
from .report import machine_words

ROUNDS, STREAMS = 2000, 10
WARM = 100  #: rounds that are not timed
VW_OPTIONS = "--cb_explore_adf --squarecb -q ca --quiet"
OUT = Path("out/agent_study.json")
PAGE = Path(__file__).parent.parent / "docs" / "agent_study.md"


class Table(NamedTuple):
    """Rows as records, and the class of each."""

    rows: list[dict[str, float]]
    classes: list[str]


def of_sklearn(name: str) -> Callable[[], Table]:
    """Return the function that loads a table of scikit-learn."""

    def load() -> Table:
        data = getattr(datasets, f"load_{name}")()
        columns = [str(column) for column in data.feature_names]
        rows = [dict(zip(columns, row, strict=True)) for row in data.data.tolist()]
        return Table(rows, [str(data.target_names[k]) for k in data.target])

    return load


def segments() -> Table:
    """Load the image segments that come with river."""
    from river.datasets import ImageSegments

    rows, classes = zip(*ImageSegments(), strict=True)
    return Table([dict(row) for row in rows], [str(name) for name in classes])


TABLES: dict[str, Callable[[], Table]] = {
    "iris": of_sklearn("iris"),
    "wine": of_sklearn("wine"),
    "breast cancer": of_sklearn("breast_cancer"),
    "digits": of_sklearn("digits"),
    "image segments": segments,
}


def candidates(table: Table) -> dict[str, maps.FeatureMap]:
    """Return six maps, every one with parameters per class: two that are mostly wrong, four that may be right."""
    columns = list(table.rows[0])
    items = [{"id": name} for name in sorted(set(table.classes))]
    scaled, few = maps.Numbers(*columns), maps.Numbers(*columns[: max(2, len(columns) // 4)])
    encoders: dict[str, maps.Encoder | None] = {
        "levels": None,
        "raw": maps.Numbers(*columns, scale=None),
        "scaled": scaled,
        "a quarter of the columns": few,
        "waves": maps.Fourier(scaled, width=64),
        "sharper waves": maps.Fourier(scaled, width=128, bandwidth=np.sqrt(len(columns) / 2.0)),
    }
    capacity = len(items) - 1  # the last class has the block of all others
    examples = table.rows[:: max(1, len(table.rows) // 100)]  # known before play: the scales of the columns
    return {
        name: maps.Disjoint(context=encoder, capacity=capacity).fit(examples, items)
        for name, encoder in encoders.items()
    }


def stream(table: Table, seed: int) -> Iterator[int]:
    """Yield the rows of a stream: all in a random order, then again in another."""
    rng = np.random.default_rng((15, seed))
    while True:
        yield from rng.permutation(len(table.rows)).tolist()


def play_agent(agent: Agent, table: Table, seed: int) -> dict[str, float]:
    """Return the mean reward of an agent in a stream, and its median time per round in microseconds."""
    items = [{"id": name} for name in sorted(set(table.classes))]
    agent.register(items)

    def play(row: dict[str, float], right: str) -> float:
        decision = agent.act(row)
        reward = float(decision.item == right)
        agent.update(decision, reward)
        return reward

    return _played(play, table, seed)


def play_vw(table: Table, seed: int) -> dict[str, float]:
    """Return the same for Vowpal Wabbit with products of context and class, which a weight per class needs."""
    from vowpalwabbit import Workspace

    names = sorted(set(table.classes))
    vw, draw = Workspace(f"{VW_OPTIONS} --random_seed {seed}"), random.Random(seed).choices
    offered = "\n".join(f"|a class{k}" for k in range(len(names)))

    def play(row: dict[str, float], right: str) -> float:
        told = "shared |c " + " ".join(f"f{k}:{value:.9g}" for k, value in enumerate(row.values()))
        examples = vw.parse(f"{told}\n{offered}")
        p = vw.predict(examples)
        action = draw(range(len(names)), p)[0]
        reward = float(names[action] == right)
        examples[1 + action].set_label_string(f"0:{-reward}:{p[action]}")
        vw.learn(examples)
        vw.finish_example(examples)
        return reward

    return _played(play, table, seed)


def _played(play: Callable[[dict[str, float], str], float], table: Table, seed: int) -> dict[str, float]:
    total, seconds = 0.0, []
    for t, k in zip(range(ROUNDS), stream(table, seed), strict=False):
        start = time.perf_counter()
        total += play(table.rows[k], table.classes[k])
        if t >= WARM:
            seconds.append(time.perf_counter() - start)
    return {"reward": total / ROUNDS, "microseconds": float(np.median(seconds)) * 1e6}


def measure(streams: int) -> dict[str, Any]:
    """Play all streams that are not stored yet."""
    kept: dict[str, Any] = json.loads(OUT.read_text()) if OUT.exists() else {}
    OUT.parent.mkdir(parents=True, exist_ok=True)
    for seed in range(streams):
        for name, load in TABLES.items():
            table = load()
            every = candidates(table)
            cases: dict[str, Callable[[], dict[str, float]]] = {
                "FSIDS": lambda: play_agent(Agent(maps=every, seed=seed), table, seed),  # noqa: B023
                "VW": lambda: play_vw(table, seed),  # noqa: B023
            }
            for label, one in every.items():
                cases[label] = lambda one=one: play_agent(  # type: ignore[misc]
                    Agent(maps=[one], policy=LinIDS.bind(), seed=seed),  # noqa: B023
                    table,  # noqa: B023
                    seed,  # noqa: B023
                )
            for label, case in cases.items():
                runs = kept.setdefault(name, {}).setdefault(label, [])
                if len(runs) == seed:
                    runs.append(case())
                    print(name, label, seed, runs[-1], flush=True)
                    OUT.write_text(json.dumps(kept))
    return kept


def _values(runs: list[dict[str, float]], what: str) -> NDArray[np.float64]:
    return np.array([run[what] for run in runs])


def _spread(values: NDArray[np.float64]) -> str:
    return f"{values.mean():.3f}" + (f" ± {values.std(ddof=1):.3f}" if values.size > 1 else "")


def tables(kept: dict[str, Any]) -> dict[str, str]:
    """Return the tables of the page."""
    rewards, singles = [], []
    labels = [label for label in next(iter(kept.values())) if label not in ("FSIDS", "VW")]
    for name, runs in kept.items():
        table = TABLES[name]()
        means = {label: _values(runs[label], "reward").mean() for label in labels}
        best = max(means, key=lambda label: means[label])
        mine, one, vw = (_values(runs[label], "reward") for label in ("FSIDS", best, "VW"))
        ratio = mine / one
        shape = f"{len(table.rows)} × {len(table.rows[0])}, {len(set(table.classes))} classes"
        times = [f"{np.median(_values(runs[label], 'microseconds')):.0f}" for label in ("FSIDS", "VW")]
        row = [name, shape, _spread(mine), best, _spread(one), _spread(ratio), _spread(vw), *times, str(mine.size)]
        rewards.append(row)
        singles.append([name, *(_spread(_values(runs[label], "reward")) for label in labels)])
    head = ["table", "rows × columns", "FSIDS over six maps", "best map", "LinIDS on it", "FSIDS / best"]
    head += ["VW squarecb", "µs a round, FSIDS", "VW", "n"]
    return {
        "rewards": markdown_table(head, rewards),
        "maps": markdown_table(["table", *labels], singles),
        "machine": machine_words(machine(("banditselect", "numpy", "numba", "scikit-learn", "river", "vowpalwabbit"))),
    }


def main() -> None:
    """Play, and write the page."""
    kept = measure(int(sys.argv[1]) if len(sys.argv) > 1 else STREAMS)
    text = PAGE.read_text()
    for name, content in tables(kept).items():
        text = replace_between(text, name, content)
    write_text(PAGE, text)


if __name__ == "__main__":
    main()
