"""Five public tables as records, six candidate maps, an agent against a peer: the tables of docs/agent_study.md.

A round is a row of the table; its columns are the context, the classes are the items, a right guess earns 1. The study
compares FSIDS over all six maps, LinIDS on each map alone (the best is known only in hindsight), and Vowpal Wabbit's
squarecb on the same stream. ``python -m benchmarks.studies.agent [STREAMS]`` plays and fills the page.
"""

import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets

from banditselect import Agent, LinIDS, maps
from banditselect.types import Array

from ..measuring import machine
from ..pages import DOCS, fill, markdown_table, runs_of
from ..report import machine_words

ROUNDS, STREAMS = 2000, 10
WARM = 100  #: rounds that are not timed
VW_OPTIONS = "--cb_explore_adf --squarecb -q ca --quiet"
OUT = Path("out/agent_study.json")


class Table(NamedTuple):
    """Rows as records, and the class of each."""

    rows: list[dict[str, float]]
    classes: list[str]


def load(name: str) -> Table:
    """Load a table of scikit-learn, or the image segments that come with river."""
    if name == "image segments":
        from river.datasets import ImageSegments

        rows, classes = zip(*ImageSegments(), strict=True)
        return Table([dict(row) for row in rows], [str(one) for one in classes])
    data = getattr(datasets, f"load_{name.replace(' ', '_')}")()
    columns = [str(column) for column in data.feature_names]
    records = [dict(zip(columns, row, strict=True)) for row in data.data.tolist()]
    return Table(records, [str(data.target_names[k]) for k in data.target])


TABLES = ("iris", "wine", "breast cancer", "digits", "image segments")


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


def measure(streams: int) -> dict[str, list[Any]]:
    """Play all streams that are not stored yet; return results by ``TABLE: POLICY``."""

    def of_table(table: Table) -> Iterator[tuple[str, Callable[[int], dict[str, float]]]]:
        every = candidates(table)
        yield "FSIDS", lambda seed: play_agent(Agent(maps=every, seed=seed), table, seed)
        yield "VW", lambda seed: play_vw(table, seed)
        for label, one in every.items():
            alone = partial(Agent, maps=[one], policy=LinIDS.bind())
            yield label, lambda seed, alone=alone: play_agent(alone(seed=seed), table, seed)  # type: ignore[misc]

    cases = {(name, label): case for name in TABLES for label, case in of_table(load(name))}
    return runs_of(OUT, {f"{name}: {label}": (streams, case) for (name, label), case in cases.items()})


def _values(runs: list[dict[str, float]], what: str = "reward") -> Array:
    return np.array([run[what] for run in runs])


def _spread(values: Array) -> str:
    return f"{values.mean():.3f}" + (f" ± {values.std(ddof=1):.3f}" if values.size > 1 else "")


def tables(kept: dict[str, Any]) -> dict[str, str]:
    """Return the tables of the page."""
    rewards, singles = [], []
    labels = list(candidates(load("iris")))
    for name in TABLES:
        table, runs = load(name), {label: kept[f"{name}: {label}"] for label in ("FSIDS", "VW", *labels)}
        best = max(labels, key=lambda label: _values(runs[label]).mean())
        mine, one, vw = (_values(runs[label]) for label in ("FSIDS", best, "VW"))
        shape = f"{len(table.rows)} × {len(table.rows[0])}, {len(set(table.classes))} classes"
        times = [f"{np.median(_values(runs[label], 'microseconds')):.0f}" for label in ("FSIDS", "VW")]
        row = [name, shape, _spread(mine), best, _spread(one), _spread(mine / one), _spread(vw), *times, str(mine.size)]
        rewards.append(row)
        singles.append([name, *(_spread(_values(runs[label])) for label in labels)])
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
    fill(DOCS / "agent_study.md", tables(kept))


if __name__ == "__main__":
    main()
