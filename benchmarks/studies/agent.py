"""Five public tables as records, six candidate maps, an agent against a peer: the tables of docs/agent_study.md.

A round is a row of the table; its columns are the context, the classes are the items, a right guess earns 1. The study
compares FSIDS over all six maps, LinIDS on each map alone (the best is known only in hindsight), and Vowpal Wabbit's
squarecb on the same stream. ``python -m benchmarks.studies.agent [STREAMS]`` plays and fills the page.
"""

import random
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from sklearn import datasets

from banditselect import FSIDS, Agent, LinIDS, maps

from ..measuring import machine
from ..pages import DOCS, deviation, fill, markdown_table
from ..report import machine_words
from . import stored

ROUNDS, STREAMS = 2000, 10
WARM = 100  #: rounds that are not timed
VW_OPTIONS = "--cb_explore_adf --squarecb -q ca --quiet"


TABLES = ("iris", "wine", "breast cancer", "digits", "image segments")
Serve = Callable[[dict[str, float], str], float]  #: plays the row and its class, and returns the reward


class Table(NamedTuple):
    """Rows as records, and the class of each."""

    rows: list[dict[str, float]]
    classes: list[str]


@cache
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


def candidates(table: Table) -> dict[str, maps.FeatureMap]:
    """Return six maps, every one with parameters per class: two that are mostly wrong, four that may be right."""
    columns = list(table.rows[0])
    items = [{"id": name} for name in sorted(set(table.classes))]
    scaled = maps.Numbers(*columns)
    encoders: dict[str, maps.Encoder | None] = {
        "levels": None,
        "raw": maps.Numbers(*columns, scale=None),
        "scaled": scaled,
        "a quarter of the columns": maps.Numbers(*columns[: max(2, len(columns) // 4)]),
        "waves": maps.Fourier(scaled, width=64),
        "sharper waves": maps.Fourier(scaled, width=128, bandwidth=np.sqrt(len(columns) / 2.0)),
    }
    capacity = len(items) - 1  # the last class has the block of all others
    every = {name: maps.Disjoint(context=encoder, capacity=capacity) for name, encoder in encoders.items()}
    examples = table.rows[:: max(1, len(table.rows) // 100)]  # known before play: the scales of the columns
    return {name: one.fit(examples, items) for name, one in every.items()}


def agent_of(label: str, table: Table, seed: int) -> Serve:
    """Return FSIDS over all maps, or LinIDS on the map of this label."""
    every = candidates(table)
    chosen, policy = (list(every.values()), FSIDS.bind()) if label == "FSIDS" else ([every[label]], LinIDS.bind())
    agent = Agent(maps=chosen, policy=policy, seed=seed)
    agent.register([{"id": name} for name in sorted(set(table.classes))])

    def serve(row: dict[str, float], right: str) -> float:
        decision = agent.act(row)
        reward = float(decision.item == right)
        agent.update(decision, reward)
        return reward

    return serve


def vowpal_wabbit(table: Table, seed: int) -> Serve:
    """Return Vowpal Wabbit with products of context and class, which a weight per class needs."""
    from vowpalwabbit import Workspace

    names = sorted(set(table.classes))
    vw, draw = Workspace(f"{VW_OPTIONS} --random_seed {seed}"), random.Random(seed).choices
    offered = "\n".join(f"|a class{k}" for k in range(len(names)))

    def serve(row: dict[str, float], right: str) -> float:
        shared = "shared |c " + " ".join(f"f{k}:{value:.9g}" for k, value in enumerate(row.values()))
        examples = vw.parse(f"{shared}\n{offered}")
        p = vw.predict(examples)
        action = draw(range(len(names)), p)[0]
        reward = float(names[action] == right)
        examples[1 + action].set_label_string(f"0:{-reward}:{p[action]}")
        vw.learn(examples)
        vw.finish_example(examples)
        return reward

    return serve


@stored
def play(name: str, label: str, seed: int) -> dict[str, float]:
    """Return the mean reward of a policy in a stream, and its median time per round in microseconds.

    A stream: all rows of the table in a random order, then again in another.
    """
    table, rng, seconds = load(name), np.random.default_rng((15, seed)), np.empty(ROUNDS)
    serve = vowpal_wabbit(table, seed) if label == "VW" else agent_of(label, table, seed)
    orders = [rng.permutation(len(table.rows)) for _ in range(0, ROUNDS, len(table.rows))]
    total = 0.0
    for t, k in enumerate(np.concatenate(orders)[:ROUNDS].tolist()):
        start = time.perf_counter()
        total += serve(table.rows[k], table.classes[k])
        seconds[t] = time.perf_counter() - start
    return {"reward": total / ROUNDS, "microseconds": float(np.median(seconds[WARM:])) * 1e6}


def measure(streams: int) -> dict[tuple[str, str], list[dict[str, float]]]:
    policies = ("FSIDS", "VW", *candidates(load("iris")))
    return {
        (name, label): [play(name, label, seed) for seed in range(streams)] for name in TABLES for label in policies
    }


def tables(found: dict[tuple[str, str], list[dict[str, float]]]) -> dict[str, str]:
    rewards, singles = [], []
    labels = list(candidates(load("iris")))
    for name in TABLES:
        table = load(name)
        earned, times = (
            {label: np.array([run[what] for run in found[name, label]]) for label in ("FSIDS", "VW", *labels)}
            for what in ("reward", "microseconds")
        )
        best = max(labels, key=lambda label: earned[label].mean())
        shape = f"{len(table.rows)} × {len(table.rows[0])}, {len(set(table.classes))} classes"
        row = [name, shape, deviation(earned["FSIDS"]), best, deviation(earned[best])]
        row += [deviation(earned["FSIDS"] / earned[best]), deviation(earned["VW"])]
        rewards.append([*row, *(f"{np.median(times[one]):.0f}" for one in ("FSIDS", "VW")), str(earned["VW"].size)])
        singles.append([name, *(deviation(earned[label]) for label in labels)])
    head = ["table", "rows × columns", "FSIDS over six maps", "best map", "LinIDS on it", "FSIDS / best"]
    head += ["VW squarecb", "µs a round, FSIDS", "VW", "n"]
    return {
        "rewards": markdown_table(head, rewards),
        "maps": markdown_table(["table", *labels], singles),
        "machine": machine_words(machine(("banditselect", "numpy", "numba", "scikit-learn", "river", "vowpalwabbit"))),
    }


def main() -> None:
    fill(DOCS / "agent_study.md", tables(measure(int(sys.argv[1]) if len(sys.argv) > 1 else STREAMS)))


if __name__ == "__main__":
    main()
