"""The unit of work and of storage: one policy on one block of instances."""

import contextlib
import itertools
import os
import pickle
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.disk import DiskCache
from ..policies import Binding
from ..problems import Instances, Problem
from .code_version import installed
from .fingerprint import record_of
from .loop import METRICS, build, checkpoints_of, play

BLOCK_BYTES = 400_000_000  #: instances of a block take at most about this much memory
BLOCK_LANES = 50  #: and a block has at most this many lanes: enough to amortise a call, few enough to stay in cache


@dataclass(frozen=True)
class Cell:
    """One policy on one block of instances, by the names they have in the sweep.

    Attributes
    ----------
    problem, policy: names.  lanes: the replicates.  rounds: how many.  seed: of instances and policies.
    key: the name under which the outcome is stored, None where it is not.
    """

    problem: str
    policy: str
    lanes: range
    rounds: int
    seed: int
    key: str | None

    @property
    def size(self) -> int:
        """Rounds of all lanes together."""
        return self.rounds * len(self.lanes)

    def __str__(self) -> str:
        return f"{self.policy} on {self.problem}, replicates {self.lanes.start}-{self.lanes.stop - 1}"


@dataclass(frozen=True)
class Outcome:
    """What a cell gave.

    Attributes
    ----------
    curves: ``(metrics, checkpoints, lanes)``.
    settings: the arguments that the policy really had.
    messages: its warnings.
    playing: the seconds that its rounds took, drawing and building not included; of no meaning for one that is stored.
    """

    curves: NDArray[np.float64]
    settings: Any
    messages: tuple[str, ...] = ()
    playing: float = 0.0


@dataclass(frozen=True)
class Failure:
    """What a cell that failed gave: the error, where it happened, and the settings it happened with."""

    cell: Cell
    error: Exception
    traceback: str
    settings: str = ""

    def __str__(self) -> str:
        return f"{self.cell}, {self.cell.rounds} rounds, seed {self.cell.seed}, {self.settings}: {self.error!r}"

    def record(self) -> dict[str, Any]:
        """Return which cell it was, its settings and the error, as JSON."""
        fields = {name: getattr(self.cell, name) for name in ("problem", "policy", "rounds", "seed")}
        replicates = [self.cell.lanes.start, self.cell.lanes.stop]
        return fields | {"replicates": replicates, "settings": self.settings, "error": repr(self.error)}


@dataclass(frozen=True)
class Task:
    """A cell with all that is needed to run it; ``group`` is the same for all cells on the same instances.

    ``description``: all that its outcome depends on, as JSON, of which ``cell.key`` is the digest; None for no store.
    """

    cell: Cell
    problem: Problem
    binding: Binding[Any]
    group: str
    description: Any = None

    def run(self, tell: Callable[[int], None] | None = None) -> "Outcome | Failure":
        """Play; an error becomes a Failure. ``tell`` is called with the rounds played, at every checkpoint.

        What ``tell`` raises or warns of is not the cell's.
        """
        messages: dict[str, None] = {}
        with single_threaded():
            steps, begun = self._play(), 0.0
            while True:
                try:
                    with warnings.catch_warnings(record=True) as caught:
                        warnings.simplefilter("always")
                        played = next(steps)
                except Exception as error:
                    return Failure(self.cell, error, traceback.format_exc())
                relevant = (w for w in caught if issubclass(w.category, (RuntimeWarning, UserWarning)))
                messages |= dict.fromkeys(str(w.message) for w in relevant)
                if not isinstance(played, int):
                    return Outcome(*played, tuple(messages), time.perf_counter() - begun)
                if not played:
                    begun = time.perf_counter()
                elif tell is not None:
                    tell(played)

    def _play(self) -> Iterator[int | tuple[NDArray[np.float64], Any]]:
        """Yield the rounds played, 0 and at every checkpoint, and in the end curves and settings."""
        cell = self.cell
        instances = _drawn(self)
        policy = build(self.binding, self.problem, instances, cell.lanes, cell.seed)
        checkpoints = checkpoints_of(cell.rounds)
        curves = np.empty((len(METRICS), checkpoints.size, len(cell.lanes)))
        yield 0
        for k, row in enumerate(play(policy, instances, cell.rounds, checkpoints)):
            curves[:, k] = row
            yield int(checkpoints[k])
        yield curves, record_of(self.binding, self.problem.shapes, instances.constants)


@dataclass(frozen=True)
class Timed:
    """An outcome or failure with the seconds it took, drawing included."""

    result: Outcome | Failure
    seconds: float


def run_here(task: Task, tell: Callable[[int], None] | None = None) -> Timed:
    """Run a task in this process."""
    start = time.perf_counter()
    result = task.run(tell)
    return Timed(result, time.perf_counter() - start)


def run_remote(number: int, cell: Cell, payload: bytes, code: Mapping[str, str]) -> tuple[int, Timed]:
    """Run a pickled task in a worker.

    It compares its code with that of the parent, ``code``: what other code, or another processor, made must not be
    taken for what this code makes here.
    """
    with _one_at_a_time:  # a dask worker may have several threads
        try:
            if code != installed():
                raise RuntimeError(f"the worker has other code or another processor: {installed()}, not {dict(code)}")
            timed = run_here(pickle.loads(payload))
        except Exception as error:
            timed = Timed(Failure(cell, error, traceback.format_exc()), 0.0)
    return number, Timed(_portable(timed.result), timed.seconds)


def leave_with(parent: int, noticed: bool) -> None:
    """Let this process end soon after its parent has died, whatever it does or waits for, and not before.

    ``noticed``: whether the user knows, or need not know, that kernels are being compiled.
    """
    DiskCache.noticed = noticed
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent stops its workers

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _portable(result: Outcome | Failure) -> Outcome | Failure:
    """Return a result that survives the way back to the parent: an error that would not is put into words."""
    if isinstance(result, Failure):
        try:
            pickle.loads(pickle.dumps(result.error))
        except Exception:
            return replace(result, error=RuntimeError(f"{type(result.error).__name__}: {result.error}"))
    return result


def block_size(problem: Problem, rounds: int) -> int:
    """Return how many replicates fit memory and cache side by side."""
    return max(1, min(BLOCK_LANES, BLOCK_BYTES // max(1, problem.lane_bytes(rounds))))


def blocks(
    problem: Problem, rounds: int, replicates: range, lanes: int | None = None, cuts: Iterable[int] = ()
) -> list[range]:
    """Cut replicates into blocks of ``lanes``, by default as many as fit memory and cache, and at ``cuts``.

    Where else a block begins does not depend on the number of replicates: with a cut where an earlier sweep ended,
    adding some keeps all that was stored.
    """
    size = lanes or block_size(problem, rounds)
    inside = {cut for cut in cuts if cut in replicates}
    edges = sorted({*range(replicates.start, replicates.stop, size), *inside, replicates.stop})
    return [range(first, stop) for first, stop in itertools.pairwise(edges)]


def single_threaded() -> contextlib.AbstractContextManager[Any]:
    """Keep linear algebra libraries to one thread: their sums depend on how many there are."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return contextlib.nullcontext()
    return threadpool_limits(1)


_one_at_a_time = threading.Lock()
_last: dict[tuple[str, range], Instances] = {}


def _drawn(task: Task) -> Instances:
    """Return the instances of a task; those drawn last are kept, for the next policy that meets them."""
    key = (task.group, task.cell.lanes)
    if key not in _last:
        forget_instances()
        _last[key] = task.problem.draw(task.cell.lanes, task.cell.rounds, task.cell.seed)
        for value in _last[key].constants.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # the next policy meets the same
    return _last[key]


def forget_instances() -> None:
    """Free the instances drawn last."""
    _last.clear()
