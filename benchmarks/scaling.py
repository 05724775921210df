"""Time and memory of a round by models, features, actions, lanes and rounds learned: the tables of docs/scaling.md.

    python -m benchmarks.scaling [--quick]

Every policy plays rounds of one act and one update. One size varies, the others stay at those of `SIZES` (and of the
axis). All points of an axis take turns; a block is as many rounds as fill its time. The noise is stated so large that
no model is refuted or loses its weight, which would make it free: the worst case.
"""

import argparse
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from banditselect import FSOFUL, OFUL, PSOFUL, Catalogue, FSSquareCB, RegretBalancing, SquareCB, on_map
from banditselect.policies import Policy
from banditselect.types import Array

from .measuring import Spread, interleaved, machine
from .pages import DOCS, fill, markdown_table

NOISE = 100.0  #: the constant stated to the policies; rewards lie in [0, 1]
ITEMS = 10_000  #: of tables and catalogues
POOL, POOL_BYTES = 16, 8e6  #: different offers that a block repeats, fewer if they are large
REWARDS = 10_000  #: different ones: bases of a meta-policy that earned the same tie, which costs more


Found = dict[str, Any]  #: one series: policy, axis, points


class Sizes(NamedTuple):
    """Models, features, actions, lanes (0: a policy without lanes), and lanes of which one is served at a time."""

    M: int = 10
    d: int = 10
    K: int = 10
    lanes: int = 0
    held: int = 0


SIZES = Sizes()
HAS_MAPS = ("FS-SCB", "FS-OFUL", "RB-SCB")  #: one feature map per model; the others have one map in all
WAYS = {
    "array": "an array that lies ready",
    "gathered": "an array taken out of a table for the decision",
    "catalogue": "numbers of the items of a catalogue",
}


def policy_of(name: str, s: Sizes) -> Policy:
    """Return a fresh policy of these sizes."""
    common: dict[str, Any] = {"noise": NOISE, "lanes": s.held or s.lanes or None}
    if name == "FS-SCB":
        return FSSquareCB(n_models=s.M, dim=s.d, **common)
    if name == "FS-OFUL":
        return FSOFUL(n_models=s.M, dim=s.d, **common)
    if name == "PS-OFUL":
        centers = np.random.default_rng(s.M).normal(size=(s.M, s.d)) / np.sqrt(s.d)
        return PSOFUL(centers=centers, radii=0.5, **common)
    if name == "RB-SCB":
        bases = [on_map(SquareCB.bind(dim=s.d), i) for i in range(s.M)]
        return RegretBalancing(bases=bases, lanes=common["lanes"])
    return OFUL(dim=s.d, **common) if name == "OFUL" else SquareCB(dim=s.d, **common)


class Series(NamedTuple):
    """One policy along one axis, a field of `Sizes`, and the `WAYS` in which actions are offered to it."""

    policy: str
    axis: str
    grid: tuple[int, ...]
    others: Sizes = SIZES
    way: str = "array"

    @property
    def label(self) -> str:
        """The name in figures and tables."""
        return self.policy if self.way == "array" else f"{self.policy}, {self.way}"

    def sizes(self, value: int) -> Sizes:
        """Return all sizes of a point."""
        return self.others._replace(**{self.axis: value})


def steps(low: int, high: int) -> tuple[int, ...]:
    """Return 1, 3, 10, 30, ... between two numbers."""
    return tuple(v for e in range(6) for v in (10**e, 3 * 10**e) if low <= v <= high)


def plan(quick: bool) -> list[list[Series]]:
    """Return the axes; all series of one are measured together."""
    few = 10 if quick else 1  # a quick run stops a decade earlier
    d = tuple(2**e for e in range(1, 8 if quick else 10))
    K, wide = (2, *steps(10, 10_000 // few)), Sizes(d=50)
    lanes = steps(1, 10_000 // few)
    names = ("FS-OFUL", "FS-SCB", "PS-OFUL", "OFUL", "SCB")
    return [
        [
            *(Series(name, "M", steps(1, 1000 // few)) for name in ("FS-OFUL", "FS-SCB", "RB-SCB")),
            Series("PS-OFUL", "M", steps(1, 100_000 // few)),
        ],
        [Series(name, "d", d) for name in names],
        [
            *(Series(name, "K", K, wide) for name in names),
            *(Series(name, "K", K, wide, way) for name in ("FS-SCB", "OFUL") for way in ("gathered", "catalogue")),
        ],
        [Series(name, "lanes", lanes) for name in names],
        [
            *(Series(name, "held", lanes) for name in ("FS-OFUL", "FS-SCB")),
            *(Series(name, "held", steps(1, 100_000 // few)) for name in ("PS-OFUL", "OFUL", "SCB")),
        ],
    ]


@lru_cache(maxsize=64)
def arrays(shape: tuple[int, ...]) -> list[Array]:
    """Return features for some rounds."""
    rng = np.random.default_rng(0)
    count = int(np.clip(POOL_BYTES // (8 * np.prod(shape)), 2, POOL))
    return [rng.standard_normal(shape) / np.sqrt(shape[-1]) for _ in range(count)]


@lru_cache(maxsize=2)
def catalogue(front: tuple[int, ...], d: int) -> tuple[Array, Catalogue]:
    """Return the features of all items, and the same items as a catalogue."""
    table = np.random.default_rng(0).standard_normal((*front, ITEMS, d)) / np.sqrt(d)
    return table, Catalogue(table)


class Game:
    """A policy and what it is offered, ready to play any number of rounds."""

    def __init__(self, policy: str, s: Sizes, way: str = "array") -> None:
        served = 1 if s.held else s.lanes
        shape = (*((served,) if served else ()), *((s.M,) if policy in HAS_MAPS else ()), s.K, s.d)
        self.policy, self.held, self.turn = policy_of(policy, s), s.held, 0
        rng = np.random.default_rng(1)
        self.offer: Any
        self.offers: list[Any] = [rng.permutation(ITEMS)[: s.K] for _ in range(POOL)]
        if way == "array":
            self.offers, self.offer = arrays(shape), lambda features: features
        else:
            items, listed = catalogue(shape[:-2], s.d)
            self.offer = listed.offer if way == "catalogue" else lambda chosen: items[..., chosen, :]
        self.rewards = list(rng.random((REWARDS // served + 2, served))) if served else rng.random(REWARDS).tolist()

    def play(self, rounds: int) -> None:
        """Play this many rounds."""
        act, update, offer, held = self.policy.act, self.policy.update, self.offer, self.held
        for t in range(self.turn, self.turn + rounds):
            lanes = [t * 7919 % held] if held else None
            decision = act(offer(self.offers[t % len(self.offers)]), lanes=lanes)
            update(decision, self.rewards[t % len(self.rewards)])
        self.turn += rounds

    def seconds(self, rounds: int) -> float:
        """Play this many rounds, and return the seconds of one."""
        start = time.perf_counter()
        self.play(rounds)
        return (time.perf_counter() - start) / rounds

    def round_bytes(self) -> int:
        """Return the peak memory that one round allocates through NumPy."""
        tracemalloc.start()
        self.play(1)
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        self.play(1)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak - before


def state_bytes(policy: Policy) -> int:
    """Return the bytes of the learned arrays of a policy and of those derived from its settings."""
    return sum(getattr(part, name).nbytes for _, part in policy._parts for name in part.state + part.fixed)


def measure(group: list[Series], blocks: int, seconds: float) -> Iterator[Found]:
    """Yield the measurements of every series of an axis: microseconds a round, bytes."""
    games: dict[str, Game] = {}
    rounds: dict[str, int] = {}
    for series in group:
        for value in series.grid:
            name = f"{series.label} {value}"
            games[name] = game = Game(series.policy, series.sizes(value), series.way)
            game.play(value + 3 if series.policy == "RB-SCB" else 3)  # all bases of a meta-policy play once
            rounds[name] = int(np.clip(seconds / game.seconds(2), 1, 5000))
    taken = interleaved({name: partial(game.play, rounds[name]) for name, game in games.items()}, blocks)
    for series in group:
        points = []
        for value in series.grid:
            name = f"{series.label} {value}"
            game, n = games[name], rounds[name]
            sizes = {"state": state_bytes(game.policy), "round": game.round_bytes(), "offer": game.offers[0].nbytes}
            points.append({"x": value, "rounds": n, "time": Spread.of(taken[name] / n * 1e6), **sizes})
        yield {"policy": series.label, "axis": series.axis, "points": points}


def over_time(policy: str, rounds: int, blocks: int) -> Found:
    """Return the time of a round and the memory held after 10, 100, ... rounds, one lane."""
    ends = [10**e for e in range(1, 7) if 10**e <= rounds]
    times = np.empty((blocks, len(ends)))
    for own in times:
        game = Game(policy, SIZES)
        own[:] = [game.seconds(end - game.turn) * 1e6 for end in ends]
    game, points = Game(policy, SIZES), []
    game.play(1)
    tracemalloc.start()
    for end, own in zip(ends, times.T, strict=True):
        game.play(end - game.turn)
        points.append({"x": end, "time": Spread.of(own), "held": tracemalloc.get_traced_memory()[0]})
    tracemalloc.stop()
    return {"policy": policy, "axis": "rounds", "points": points}


WITHIN = 0.25  #: a slope that differs by less agrees with the formula
DEGREES = {
    "time": {"M": 1, "d": 2, "K": 1, "lanes": 1, "held": 0, "rounds": 0},
    "state": {"M": 1, "d": 2, "K": 0, "lanes": 1, "held": 1},
    "round": {"M": 1, "d": 1, "K": 1, "lanes": 1, "held": 0},
}  #: the highest power of each size in the time of a round, the state, the bytes that a round allocates
WORDS = {
    "M": "models M",
    "d": "features d",
    "K": "actions K",
    "lanes": "lanes, all served",
    "held": "lanes, one served",
    "rounds": "rounds learned",
}


def law(x: Array, y: Array, degree: int) -> Array:
    """Return the coefficients >= 0 of 1, x, ..., x^degree whose polynomial has the least squared relative errors."""
    terms = x[:, None] ** np.arange(degree + 1) / y[:, None]
    size = np.linalg.norm(terms, axis=0)
    return nnls(terms / size, np.ones_like(y))[0] / size


def slope(x: Array, y: Array) -> float:
    """Return the slope of log y over log x in the last decade of x, by least squares."""
    last = x >= x[-1] / 10.0
    return float(np.polyfit(np.log(x[last]), np.log(y[last]), 1)[0])


def judge(series: Found, quantity: str = "time") -> str:
    """Return the slope measured, that of the formula, whether they agree, and the steepest step if it stands out."""
    x = np.array([point["x"] for point in series["points"]], dtype=float)
    found = [point[quantity] for point in series["points"]]
    y = np.array([one.median if isinstance(one, Spread) else one for one in found], dtype=float)
    degree = DEGREES[quantity][series["axis"]]
    measured, expected = slope(x, y), slope(x, x[:, None] ** np.arange(degree + 1) @ law(x, y, degree))
    words = f"{measured:z.2f} ({expected:z.2f}) {'✓' if abs(measured - expected) <= WITHIN else '✗'}"
    local = np.diff(np.log(y)) / np.diff(np.log(x))
    k = int(local.argmax())
    if local[k] > degree + WITHIN:
        words += f", a step of {local[k]:.2f} from {x[k]:,.0f} to {x[k + 1]:,.0f}"
    return words


def in_unit(value: float, units: Sequence[str] = ("µs", "ms", "s")) -> str:
    """Return a value with three digits in the unit that suits it; every unit is a thousand of the one before."""
    k = int(np.clip(np.log10(max(value, 1.0)) // 3, 0, len(units) - 1))
    return f"{value / 1000.0**k:.3g} {units[k]}"


in_bytes = partial(in_unit, units=("B", "kB", "MB", "GB"))


def tables_of(series: Sequence[Found]) -> dict[str, str]:
    """Return the tables of the page: times, memory, the forms of the actions, and what grows with the rounds."""
    times, memory, forms, rounds, counts = [], [], [], [], ["", ""]
    for one in series:
        first, last = one["points"][0], one["points"][-1]
        axis, policy, time, at = one["axis"], one["policy"], last["time"], f"{last['x']:,}"
        if axis == "rounds":
            counts = [f"{first['x']:,}", at]
            held = [in_bytes(end["held"]) for end in (first, last)]
            rounds.append([policy, in_unit(first["time"].median), in_unit(time.median), judge(one), *held])
            continue
        most = f"{in_unit(time.median)} ({in_unit(time.low)} to {in_unit(time.high)}) at {at}; "
        most += f"{time.n} blocks of {last['rounds']:,}"
        least = f"{in_unit(first['time'].median)} at {first['x']:,}"
        times.append([WORDS[axis], policy, least, most, f"{DEGREES['time'][axis]}", judge(one)])
        if axis in DEGREES["state"]:
            cells = [text for of in ("state", "round") for text in (in_bytes(last[of]), judge(one, of))]
            memory.append([WORDS[axis], policy, at, *cells])
        base, _, way = policy.partition(", ")
        if axis == "K" and base in ("FS-SCB", "OFUL"):
            sizes = [in_bytes(last["offer"]), in_bytes(last["round"]), in_unit(time.median)]
            forms.append([base, WAYS[way or "array"], at, *sizes])
    slopes, ends = "slope (formula)", ["a round up to", "extra memory after"]
    of_times, of_memory = ([f"{what} {count}" for count in counts] for what in ends)
    heads = {
        "time": ["against", "policy", "first", "last (10 to 90 %)", "exponent in the limit", slopes],
        "memory": ["against", "policy", "at", "state", slopes, "a round allocates", slopes],
        "catalogue": ["policy", "actions", "K", "passed in", "allocated by the round", "time of the round"],
        "rounds": ["policy", *of_times, slopes, *of_memory],
    }
    rows = (times, memory, forms, rounds)
    return {name: markdown_table(head, own) for (name, head), own in zip(heads.items(), rows, strict=True)}


def main() -> None:
    """Measure everything, print the tables, and fill the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a decade less and fewer blocks; the page stays")
    quick = parser.parse_args().quick
    about, begun, found = machine(), time.perf_counter(), list[Found]()
    for group in plan(quick):
        found += measure(group, *((3, 0.01) if quick else (9, 0.03)))
        arrays.cache_clear()
        print(f"{group[0].axis}: done after {time.perf_counter() - begun:.0f} s", flush=True)
    for name in ("FS-OFUL", "FS-SCB", "RB-SCB", "PS-OFUL", "OFUL", "SCB"):
        found.append(over_time(name, 1000 if quick else 10_000, 3))
    tables = tables_of(found)
    print("\n\n".join(tables.values()))
    if not quick:
        versions = ", ".join(f"{name} {number}" for name, number in about["packages"].items())
        words = f"{about['cpu']}, {about['cores']} cores; Python {about['python']}, {versions}; "
        fill(DOCS / "scaling.md", tables | {"machine": f"{words}{time.perf_counter() - begun:.0f} seconds."})


if __name__ == "__main__":
    main()
