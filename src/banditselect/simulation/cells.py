"""The unit of work and of storage: one policy on one block of instances, here or in a worker."""

import os
import pickle
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.disk import DiskCache
from ..policies import Binding
from ..problems import Instances, Problem
from ..problems.base import single_threaded
from .identity import installed, record_of
from .loop import METRICS, build, checkpoints_of, play


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
    """The outcome of a cell.

    Attributes
    ----------
    curves: ``(metrics, checkpoints, lanes)``.
    settings: the arguments that the policy really had.
    messages: its warnings.
    seconds: how long it took, drawing included; 0.0 for one that is read from the store.
    playing: how long its rounds took, drawing and building not included.
    """

    curves: NDArray[np.float64]
    settings: Any
    messages: tuple[str, ...] = ()
    seconds: float = 0.0
    playing: float = 0.0


@dataclass(frozen=True)
class Failure:
    """A cell that failed: the error, where it happened, and the settings it happened with."""

    cell: Cell
    error: Exception
    traceback: str
    settings: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.cell}, {self.cell.rounds} rounds, seed {self.cell.seed}, {self.settings}: {self.error!r}"

    def record(self) -> dict[str, Any]:
        """Return which cell it was, its settings and the error, as JSON."""
        found = {name: getattr(self.cell, name) for name in ("problem", "policy", "rounds", "seed")}
        found |= {"replicates": [self.cell.lanes.start, self.cell.lanes.stop], "settings": self.settings}
        return found | {"error": repr(self.error), "traceback": self.traceback}


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

    def run(self, tell: Callable[[int], None] | None = None) -> Outcome | Failure:
        """Play; an error becomes a Failure. ``tell`` is called with the rounds played, at every checkpoint.

        An error or a warning of ``tell`` itself is not the cell's.
        """
        messages: dict[str, None] = {}
        start = begun = time.perf_counter()
        with single_threaded():
            steps = self._play()
            while True:
                try:
                    with warnings.catch_warnings(record=True) as caught:
                        warnings.simplefilter("always")
                        played = next(steps)
                except Exception as error:
                    seconds = time.perf_counter() - start
                    return Failure(self.cell, error, traceback.format_exc(), seconds=seconds)
                relevant = (w for w in caught if issubclass(w.category, (RuntimeWarning, UserWarning)))
                messages |= dict.fromkeys(str(w.message) for w in relevant)
                if not isinstance(played, int):
                    now = time.perf_counter()
                    return Outcome(*played, tuple(messages), now - start, now - begun)
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
        for k, row in enumerate(play(policy, instances, cell.rounds, checkpoints, self.problem.shapes.get("n_models"))):
            curves[:, k] = row
            yield int(checkpoints[k])
        yield curves, record_of(self.binding, self.problem.shapes, instances.constants)


def run_remote(cell: Cell, payload: bytes, code: Mapping[str, str]) -> Outcome | Failure:
    """Run a pickled task in a worker.

    It compares its code with that of the parent, ``code``: results of other code, or of another processor, must not be
    stored under this one's name. An error that would not survive the way back is put into words.
    """
    with _one_at_a_time:  # a dask worker may have several threads
        try:
            if code != installed():
                raise RuntimeError(f"the worker has other code or another processor: {installed()}, not {dict(code)}")
            result = pickle.loads(payload).run()
        except Exception as error:
            result = Failure(cell, error, traceback.format_exc())
    if isinstance(result, Failure):
        try:
            pickle.loads(pickle.dumps(result.error))
        except Exception:
            return replace(result, error=RuntimeError(f"{type(result.error).__name__}: {result.error}"))
    return result


def leave_with(parent: int, noticed: bool) -> None:
    """Let this process end soon after its parent has died, even while it works or waits, and not before.

    ``noticed``: whether the user knows, or need not know, that kernels are being compiled.
    """
    DiskCache.noticed = noticed
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent stops its workers

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


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
