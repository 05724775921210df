"""Plan a sweep: the order of its cells, running them, and putting their outcomes together."""

import contextlib
import dataclasses
import itertools
import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..policies import Binding
from ..problems import Problem
from ..runtime import errors
from . import engines
from .cells import Cell, Failure, Outcome, Task
from .identity import describe, digest, installed, join_records, record_of, versions
from .loop import METRICS, checkpoints_of
from .progress import Meter, OnProgress
from .results import Result
from .store import Store

Policies = Mapping[str, Binding[Any]]

SMALL = 100_000  #: rounds of all lanes together that are not worth starting processes for
MOST_CELLS = 1_000_000  #: each is a file, and takes memory before anything is run
BLOCK_BYTES = 400_000_000  #: instances of a block take at most about this much memory
BLOCK_LANES = 50  #: and a block has at most this many lanes: enough to amortise a call, few enough to stay in cache


@dataclass(frozen=True)
class Plan:
    """Policies by problem, and the replicates that they are to play.

    The replicates are those of ``sweep``, from 0 on, or those of ``tune``, from ``RESERVED`` on. ``candidate_of``: from
    the label of a candidate to the policy that is tuned, under whose name it warns.
    """

    problems: Mapping[str, Problem]
    policies: Mapping[str, Policies]
    rounds: int
    replicates: range
    seed: int
    block: int | None = None
    candidate_of: Mapping[str, str] = field(default_factory=dict)
    group: str = field(default_factory=lambda: secrets.token_hex(8))

    def __post_init__(self) -> None:
        for name, problem in self.problems.items():
            if not isinstance(problem, Problem):
                raise errors.refuse(f"problems[{name!r}]", problem, "a Problem")
            if not isinstance(self.policies[name], Mapping) or not self.policies[name]:
                raise errors.refuse("policies", self.policies[name], "at least one policy, by name")
            for label, binding in self.policies[name].items():
                if not isinstance(label, str):
                    raise errors.refuse("policies", label, "names that are text")
                if not isinstance(binding, Binding):
                    raise errors.refuse(f"policies[{label!r}]", binding, "what Policy.bind returned")
        lanes = len(self.replicates)
        cells = sum(len(self.policies[n]) * -(-lanes // self._block(problem)) for n, problem in self.problems.items())
        if cells > MOST_CELLS:
            expected = f"fewer: {cells:,} cells (a policy on some replicates of a problem) are over {MOST_CELLS:,}"
            raise errors.refuse("replicates", lanes, expected)

    def _block(self, problem: Problem) -> int:
        """Return how many replicates are played side by side: by default as many as fit memory and cache."""
        return self.block or max(1, min(BLOCK_LANES, BLOCK_BYTES // max(1, problem.lane_bytes(self.rounds))))

    def _blocks(self, problem: Problem, cuts: Iterable[int]) -> list[range]:
        """Return the replicates in blocks, which also begin at ``cuts``.

        Where else a block begins does not depend on the number of replicates: with a cut where an earlier sweep ended,
        adding some keeps all that was stored.
        """
        whole = self.replicates
        inside = {cut for cut in cuts if cut in whole}
        edges = sorted({*range(whole.start, whole.stop, self._block(problem)), *inside, whole.stop})
        return [range(first, stop) for first, stop in itertools.pairwise(edges)]

    def description(self) -> dict[str, Any]:
        """Return everything that the results depend on, as JSON."""
        return {
            "rounds": self.rounds,
            "replicates": len(self.replicates),
            "seed": self.seed,
            "problems": {name: describe(f"problems[{name!r}]", problem) for name, problem in self.problems.items()},
            "policies": {
                name: {label: describe(f"policies[{label!r}]", binding) for label, binding in chosen.items()}
                for name, chosen in self.policies.items()
            },
            "code": installed(),
        }

    def tasks(self, *, stored: bool, cuts: Sequence[int]) -> Iterator[Task]:
        """Yield the tasks, with descriptions if they are to be stored; ``cuts``: replicates that begin a block.

        First come the first blocks of all, so that every combination is soon known to work and how long it takes; the
        largest instances lead, so that no long task is left for the end.
        """
        cut = {name: self._blocks(problem, cuts) for name, problem in self.problems.items()}
        order = sorted(self.problems, key=lambda n: -self.problems[n].lane_bytes(self.rounds))
        whole = self.description() if stored else {}
        for wave in range(max(map(len, cut.values()))):
            for name in (name for name in order if wave < len(cut[name])):
                for label, binding in self.policies[name].items():
                    lanes, what = cut[name][wave], None
                    if stored:
                        what = {part: whole[part] for part in ("rounds", "seed", "code")}
                        what |= {"problem": whole["problems"][name], "policy": whole["policies"][name][label]}
                        what |= {"lanes": [lanes.start, lanes.stop]}
                    cell = Cell(name, label, lanes, self.rounds, self.seed, digest(what) if stored else None)
                    yield Task(cell, self.problems[name], binding, f"{self.group} {name}", what)

    def run(
        self, store: Store | None, engine: str, workers: int | None, address: str | None, progress: OnProgress | None
    ) -> tuple[dict[Cell, Outcome], list[Failure]]:
        """Run what is not in the store; return the outcomes by cell, and what failed."""
        outcomes, failures, timings = dict[Cell, Outcome](), list[Failure](), dict[str, float]()
        tasks = list(self.tasks(stored=store is not None, cuts=() if store is None else store.earlier_replicates()))
        if store is not None:
            found = {task.cell: store.get(str(task.cell.key)) for task in tasks}
            outcomes, timings = {cell: one for cell, one in found.items() if one is not None}, store.timings()
        waiting = [task for task in tasks if task.cell not in outcomes]
        if workers is None and address is None:
            small = engine == "local" and sum(task.cell.size for task in waiting) < SMALL
            workers = 1 if small else engines.cores()
        meter = Meter([task.cell for task in tasks], outcomes, timings, workers, progress)
        results = engines.run_all(waiting, engine=engine, workers=workers, address=address, tell=meter.playing)
        with contextlib.closing(results):  # at once, also if the error is kept, and this frame with it
            for task, result in results:
                if isinstance(result, Failure):
                    failures.append(dataclasses.replace(result, settings=f"{task.binding!r} on {task.problem!r}"))
                else:
                    outcomes[task.cell] = result
                    if store is not None:
                        policy = self.candidate_of.get(task.cell.policy, task.cell.policy)
                        store.put(task.cell, result, task.description, policy)
                meter.finished(task.cell, result.seconds, failed=isinstance(result, Failure))
        order = {task.cell: k for k, task in enumerate(tasks)}
        self._warn([(cell.policy, outcomes[cell]) for cell in order if cell in outcomes])
        return outcomes, sorted(failures, key=lambda failure: order[failure.cell])

    def _warn(self, outcomes: Iterable[tuple[str, Outcome]]) -> None:
        """Repeat the warnings of the policies; where they differ only in numbers, the first.

        All candidates of a policy that is tuned count as one policy.
        """
        said = set()
        for name, outcome in outcomes:
            policy = self.candidate_of.get(name, name)
            for message in outcome.messages:
                kind = (policy, re.sub(r"[-+.\d]+(e[-+]?\d+)?", "#", message))
                if kind not in said:
                    said.add(kind)
                    errors.warn(f"{policy}: {message}")

    def result(self, name: str, outcomes: Mapping[Cell, Outcome], failures: Sequence[Failure]) -> Result:
        """Return the result on one problem: of every policy of which no cell failed, all blocks side by side."""
        failed = {f.cell.policy for f in failures if f.cell.problem == name}
        curves, settings = {}, {}
        for label in self.policies[name]:
            if label in failed:
                continue
            mine = sorted((c for c in outcomes if (c.problem, c.policy) == (name, label)), key=lambda c: c.lanes.start)
            together = np.concatenate([outcomes[c].curves for c in mine], axis=2)
            curves[label] = dict(zip(METRICS, together, strict=True))
            settings[label] = join_records([outcomes[c].settings for c in mine])
        record = {
            "problem": record_of(self.problems[name], {}, {}),
            "policies": settings,
            "rounds": self.rounds,
            "replicates": len(self.replicates),
            "seed": self.seed,
            "versions": versions(),
        }
        tuning = getattr(self.policies[name], "record", None)
        record |= {} if tuning is None else {"tuning": tuning}
        return Result(checkpoints=checkpoints_of(self.rounds), curves=curves, settings=json.loads(json.dumps(record)))
