"""The policies in the study of defaults; their runs, on two cores, and the file that stores them."""

import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditselect import FSIDS, FSOFUL, OFUL, PSIDS, PSOFUL, FSSquareCB, LinIDS, LinTS, SquareCB
from banditselect.policies import Policy
from banditselect.rivals import UCB1
from banditselect.simulation.store import write_text

from .defaults_laboratory import SHIPPED, Laboratory, Switches
from .defaults_problems import BALLS, CLICKS, EIGHT, GRIDS, HARD, SELECTION, Problem, Trace

Array = NDArray[np.float64]
Record = dict[str, list[Any]]  # by name, one entry per replicate

PROBLEMS: dict[str, Problem] = {**EIGHT, **HARD, **GRIDS, **SELECTION, **CLICKS, **BALLS}
GRID = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)  #: of SquareCB's constant c
READ = (300, 1000)  #: rounds after which model weights are read; the last round too
CHUNK = 5  #: replicates that are drawn and played together

Make = Callable[[Problem, dict[str, Any]], Policy]


def one_map(kind: type[Policy], **told: str) -> Make:
    """Return the factory of a policy for one map; ``told`` maps its arguments to constants of the problem."""

    def make(problem: Problem, common: dict[str, Any]) -> Policy:
        return kind(dim=problem.widths[0], **{key: getattr(problem, what) for key, what in told.items()}, **common)  # type: ignore[call-arg]

    return make


def many_maps(kind: type[Policy], **told: str) -> Make:
    """Return the factory of a policy for several maps."""

    def make(problem: Problem, common: dict[str, Any]) -> Policy:
        shape = {"n_models": len(problem.widths), "dim": problem.widths}
        return kind(**shape, **{key: getattr(problem, what) for key, what in told.items()}, **common)  # type: ignore[arg-type]

    return make


def squarecb(c: float) -> Make:
    """Return the factory of SquareCB with a constant c."""
    return lambda p, common: SquareCB(dim=p.widths[0], exploration=c, reward_range=p.span, **common)


ONE_MAP: dict[str, Make] = {
    "LinIDS": one_map(LinIDS),
    "SquareCB": one_map(SquareCB, reward_range="span"),
    "OFUL": one_map(OFUL, noise="noise"),
    "LinTS": one_map(LinTS, noise="noise"),
}
ARMS: dict[str, Make] = {"UCB1": lambda p, common: UCB1(n_arms=p.arms, noise=p.noise, **common)}
MANY_MAPS: dict[str, Make] = {
    "FSIDS": many_maps(FSIDS),
    "FSSquareCB": many_maps(FSSquareCB, reward_range="span", noise="noise"),
    "FSOFUL": many_maps(FSOFUL, noise="noise"),
}
"""Who is compared: every policy at its defaults; the range or the noise of the rewards is told to those that ask."""

TUNED: dict[str, Make] = {f"SquareCB, c = {c:g}": squarecb(c) for c in GRID}
REGIONS: dict[str, Callable[[Array, Array, Problem, dict[str, Any]], Policy]] = {
    "PSIDS": lambda centers, radii, p, common: PSIDS(centers=centers, radii=radii, **common),
    "PSOFUL": lambda centers, radii, p, common: PSOFUL(centers=centers, radii=radii, noise=p.noise, **common),
}
MAKERS: dict[str, Make] = {**ONE_MAP, **ARMS, **MANY_MAPS, **TUNED}

SWITCHES: dict[str, Switches] = {
    "shipped": SHIPPED,
    "D: max": replace(SHIPPED, regret="max"),
    "D: upper": replace(SHIPPED, regret="upper"),
    "D: sum": replace(SHIPPED, regret="sum"),
    "D: geometric": replace(SHIPPED, regret="geometric"),
    "constant teaches": replace(SHIPPED, constant_teaches=True),
    "trust .5": replace(SHIPPED, trust=0.5),
    "trust 3": replace(SHIPPED, trust=3.0),
    "no model left out": replace(SHIPPED, negligible=0.0),
    "all pairs": replace(SHIPPED, all_pairs=True),
    "exact bound": replace(SHIPPED, close=0.0),
    "scales from 10^-1.5": replace(SHIPPED, scales=tuple(10.0 ** np.array([-1.5, 0.0, 1.5, 3.0]))),
    "scales from 10^-1": replace(SHIPPED, scales=tuple(10.0 ** np.array([-1.0, 0.0, 1.0, 2.0, 3.0]))),
    "scales to 10": replace(SHIPPED, scales=tuple(10.0 ** np.array([-3.0, -2.0, -1.0, 0.0, 1.0]))),
    "one scale, 1": replace(SHIPPED, scales=(1.0,)),
    "seven scales": replace(SHIPPED, scales=tuple(10.0 ** np.arange(-3.0, 4.0))),
    "no windows": replace(SHIPPED, windows=False),
    "levels a factor 100 apart": replace(SHIPPED, levels=(1e-3, 1e-1, 10.0)),
    "levels a factor 3.2 apart": replace(SHIPPED, levels=tuple(10.0 ** np.arange(-3.0, 2.1, 0.5))),
}
"""The shipped choices in the laboratory, and their alternatives: one switch at a time."""


def play_policy(policy: Policy, problem: Problem, traces: Sequence[Trace]) -> Record:
    """Let a policy with a lane per trace play them all."""
    many, N = len(problem.widths) > 1, len(traces)
    rounds = len(traces[0].means)
    actions, weights = np.empty((N, rounds), dtype=np.int64), []
    for t in range(rounds):
        maps = [np.stack([trace.features[t, i, :, :w] for trace in traces]) for i, w in enumerate(problem.widths)]
        decision = policy.act(maps if many else maps[0])
        actions[:, t] = decision.action
        policy.update(decision, np.array([trace.rewards[t, a] for trace, a in zip(traces, actions[:, t], strict=True)]))
        if t + 1 in (*READ, rounds) and hasattr(policy, "model_weights"):
            weights.append(policy.model_weights)
    return record(traces, actions, np.moveaxis(np.array(weights), 0, 1) if weights else None)


def play_laboratory(switches: Switches, problem: Problem, traces: Sequence[Trace], seeds: Sequence[int]) -> Record:
    """Play every trace in the laboratory."""
    found = []
    for trace, seed in zip(traces, seeds, strict=True):
        if problem.regions:
            laboratory = Laboratory.of_regions(trace.centers, trace.radii, switches)
        else:
            laboratory = Laboratory.of_maps(problem.widths, switches)
        read = sorted({t for t in READ if t < len(trace.means)} | {len(trace.means)})
        found.append(laboratory.play(trace.features, trace.rewards, (seed, 1), read))
    return record(traces, np.array([actions for actions, _ in found]), np.array([weights for _, weights in found]))


def record(traces: Sequence[Trace], actions: NDArray[np.int64], weights: Array | None) -> Record:
    """Return the record of runs: regret, mean rewards earned, model weights at every reading.

    Also the regret in the last tenth of the rounds, as a share of that of uniform play.
    """
    rows = np.arange(actions.shape[1])
    earned = [float(trace.means[rows, a].sum()) for trace, a in zip(traces, actions, strict=True)]
    regret = [trace.regret(a) for trace, a in zip(traces, actions, strict=True)]
    late = [trace.late(a) for trace, a in zip(traces, actions, strict=True)]
    kept: Record = {"regret": regret, "earned": earned, "late": late}
    if weights is not None:
        kept["weights"] = np.round(weights, 4).tolist()
    return kept


def play_chunk(name: str, contestants: Sequence[str], seeds: Sequence[int], rounds: int) -> dict[str, Record]:
    """Draw some replicates of a problem and let all contestants play them."""
    warnings.filterwarnings("ignore", ".*(lies outside|no model explains)")  # a range is a scale; coins are not linear
    problem = PROBLEMS[name]
    traces = [problem.draw(seed, rounds) for seed in seeds]
    found = {}
    for contestant in contestants:
        common = {"lanes": len(seeds), "seed": (3, seeds[0])}
        if contestant in SWITCHES:
            found[contestant] = play_laboratory(SWITCHES[contestant], problem, traces, seeds)
        elif contestant in REGIONS:
            centers, radii = np.stack([t.centers for t in traces]), np.stack([t.radii for t in traces])
            found[contestant] = play_policy(REGIONS[contestant](centers, radii, problem, common), problem, traces)
        else:
            found[contestant] = play_policy(MAKERS[contestant](problem, common), problem, traces)
    return found


class Runs:
    """All runs so far, in a file; stored runs are not repeated. Delete the file after a change of code."""

    def __init__(self, path: Path, *, quick: bool, workers: int) -> None:
        self.path, self.quick, self.workers = path, quick, workers
        self.kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def cells(self, problems: Iterable[str], contestants: Sequence[str], replicates: int) -> Mapping[str, Any]:
        """Return, by problem and contestant, the records of so many replicates; play those that are missing."""
        found: dict[str, dict[str, Record]] = {}
        for name in problems:
            rounds = self.rounds(name)
            keys = {c: f"{name} | {c} | {rounds} x {replicates}" for c in contestants if applies(c, PROBLEMS[name])}
            missing = [c for c, key in keys.items() if key not in self.kept]
            chunks = [list(range(s, min(s + CHUNK, replicates))) for s in range(0, replicates, CHUNK)]
            if missing:
                made = self.spread(play_chunk, [(name, missing, seeds, rounds) for seeds in chunks])
                for c in missing:
                    parts = [chunk[c] for chunk in made]
                    self.kept[keys[c]] = {what: [v for part in parts for v in part[what]] for what in parts[0]}
                self.save()
            found[name] = {c: self.kept[key] for c, key in keys.items()}
        return found

    def rounds(self, name: str) -> int:
        """Return the number of rounds of a problem."""
        return PROBLEMS[name].rounds // (20 if self.quick else 1)

    def one(self, key: str, function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]) -> Any:
        """Return the results of other jobs, stored under a key."""
        if key not in self.kept:
            self.kept[key] = self.spread(function, jobs)
            self.save()
        return self.kept[key]

    def spread(self, function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Run jobs on all workers; results in their order."""
        with ProcessPoolExecutor(self.workers) as pool:
            return list(pool.map(function, *zip(*jobs, strict=True)))

    def save(self) -> None:
        """Replace the file atomically."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self.path, json.dumps(self.kept))


def applies(contestant: str, problem: Problem) -> bool:
    """Return whether a contestant can play a problem."""
    return contestant not in ARMS or problem.arms > 0
