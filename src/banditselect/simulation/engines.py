"""Where tasks run: in this process, in processes of this machine, on a dask or a ray cluster.

Every engine yields results in the order in which they finish; the parent alone stores them, so a worker that outlives
its parent writes nothing. Tasks travel as bytes, so that every engine hands the same arrays to the same code. An
engine is a way to submit a call that returns a future; the order of calls, and the consequences of a worker that dies,
are decided here for all of them.
"""

import contextlib
import functools
import itertools
import logging
import os
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple

from ..kernels.disk import DiskCache
from ..runtime import constraints, errors
from ..runtime.extras import need
from .cells import Cell, Failure, Outcome, Task, forget_instances, leave_with, run_remote
from .identity import installed

ENGINES = ("local", "dask", "ray")

OnRounds = Callable[[Cell, int], None]  #: takes a cell and the rounds it has played, where that is known
Finished = Generator[tuple[Task, Outcome | Failure], None, None]  #: tasks with their results


class Workers(NamedTuple):
    """Workers that are ready: how to submit a call, how many there are, and the errors of a call whose worker died."""

    submit: Callable[..., "Future[Any]"]
    number: int
    lost: tuple[type[BaseException], ...]


def run_all(
    tasks: Sequence[Task], *, engine: str, workers: int | None, address: str | None, tell: OnRounds
) -> Finished:
    """Run the tasks; yield them with their results as they finish. Closing the iterator stops the workers."""
    workers = None if workers is None else int(workers)
    processes = min(workers or cores(), len(tasks))
    if not tasks or (engine == "local" and processes == 1):
        return _here(tasks, tell)
    if engine == "local":
        return _elsewhere(tasks, _processes(processes))
    return _elsewhere(tasks, _dask(workers, address) if engine == "dask" else _ray(workers, address))


def check(engine: str, workers: int | None, address: str | None) -> None:
    """Refuse what cannot be run, before anything is."""
    constraints.OneOf(ENGINES).check("engine", engine, None)
    constraints.Number(low=1, integer=True, optional=True).check("workers", workers, None)
    if address is not None and engine == "local":
        raise errors.refuse("address", address, "None with engine='local'; a cluster needs 'dask' or 'ray'")
    if engine != "local":
        need("distributed" if engine == "dask" else "ray", engine)


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _here(tasks: Sequence[Task], tell: OnRounds) -> Finished:
    try:
        for task in tasks:
            yield task, task.run(functools.partial(tell, task.cell))
    finally:
        forget_instances()


def _elsewhere(tasks: Sequence[Task], started: contextlib.AbstractContextManager[Workers]) -> Finished:
    """Keep every worker busy. A worker that dies may take other calls along: each of them runs again, alone."""
    cloudpickle, code = need("cloudpickle", "experiments"), installed()
    with started as workers:

        def submit(task: Task) -> "Future[Any]":
            return workers.submit(run_remote, task.cell, cloudpickle.dumps(task), code)

        waiting, running, suspects = iter(tasks), dict[Future[Any], Task](), list[Task]()
        while True:
            for task in itertools.islice(waiting, 2 * workers.number - len(running)):
                running[submit(task)] = task
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(future)
                if isinstance(future.exception(), workers.lost):
                    suspects.append(task)
                else:
                    yield task, future.result()
        for task in suspects:
            future = submit(task)
            error = future.exception()
            if isinstance(error, workers.lost):
                yield task, Failure(task.cell, RuntimeError(f"{type(error).__name__}: {error}"), "")
            else:
                yield task, future.result()


_pools: dict[tuple[int, int, bool], Any] = {}  #: the pool used last; not joblib's own, which any code may use


@contextlib.contextmanager
def _processes(count: int) -> Iterator[Workers]:
    """Start processes, or take those of the sweep before; they are stopped if this one is."""
    loky, key = need("joblib.externals.loky", "experiments"), (count, os.getpid(), DiskCache.noticed)
    sent = weakref.WeakSet["Future[Any]"]()

    def current() -> Any:
        if key not in _pools:
            for other in _pools.values():
                other.shutdown(wait=False)
            _pools.clear()
            _pools[key] = loky.ProcessPoolExecutor(count, timeout=300, initializer=leave_with, initargs=key[1:])
        return _pools[key]

    def submit(*call: Any) -> "Future[Any]":
        try:
            future: Future[Any] = current().submit(*call)
        except BrokenProcessPool:  # a worker of the pool has died
            _pools.clear()
            future = current().submit(*call)
        sent.add(future)
        return future

    try:
        yield Workers(submit, count, (BrokenProcessPool,))
    except BaseException:
        for _ in range(100):  # killed while it takes a call over, loky's own thread would die with a traceback
            if all(future.running() or future.done() for future in list(sent)):
                break
            time.sleep(0.01)
        for pool in _pools.values():
            pool.shutdown(wait=True, kill_workers=True)
        _pools.clear()
        raise


@contextlib.contextmanager
def _dask(workers: int | None, address: str | None) -> Iterator[Workers]:
    """Connect to a cluster, or start one on this machine."""
    distributed, dask = need("distributed", "dask"), need("dask", "dask")
    with contextlib.ExitStack() as stack:
        if address is None:
            stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": 0}))
            quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
            size = {"n_workers": workers or cores(), "threads_per_worker": 1, "memory_limit": None}
            address = stack.enter_context(distributed.LocalCluster(**size, **quiet))
        client = stack.enter_context(distributed.Client(address))
        executor = client.get_executor(pure=False)

        def submit(*call: Any) -> "Future[Any]":
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")
                return executor.submit(*call)

        yield Workers(submit, workers or max(1, sum(client.nthreads().values())), (distributed.KilledWorker,))


@contextlib.contextmanager
def _ray(workers: int | None, address: str | None) -> Iterator[Workers]:
    """Use the ray that runs, connect to a cluster, or start one on this machine, which keeps our signal handlers."""
    ray = need("ray", "ray")
    started = not ray.is_initialized()
    if started:
        options: dict[str, Any] = {}
        if address is None:  # like other local workers, those of ray find what this process finds
            paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
            options = {"num_cpus": workers or cores(), "include_dashboard": False, "runtime_env": {"env_vars": paths}}
        main = threading.current_thread() is threading.main_thread()
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)} if main else {}
        try:
            ray.init(address=address or "local", log_to_driver=False, configure_logging=False, **options)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
    remote, running = ray.remote(run_remote), set[Any]()

    def submit(_: Any, *call: Any) -> "Future[Any]":
        running.add(reference := remote.remote(*call))
        future: Future[Any] = reference.future()
        future.add_done_callback(lambda _: running.discard(reference))
        return future

    try:
        yield Workers(submit, workers or int(ray.cluster_resources().get("CPU", 1)), (ray.exceptions.RayError,))
    finally:
        for left in list(running):
            ray.cancel(left)
        if started:
            ray.shutdown()
