"""Where tasks run: in this process, in processes of this machine, on a dask or a ray cluster.

Every engine yields results as they come, in any order; the parent alone stores them, so a worker that outlives its
parent writes nothing. Tasks travel as bytes, so that every engine hands the same arrays to the same code.
"""

import contextlib
import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from ..kernels.disk import DiskCache
from ..runtime import constraints, errors
from ..runtime.extras import need
from .cells import Failure, Task, Timed, forget_instances, leave_with, run_here, run_remote
from .code_version import installed

ENGINES = ("local", "dask", "ray")

OnRounds = Callable[[int, int], None]
"""Called with the number of a task and the rounds it has played, where that is known."""

Finished = Generator[tuple[int, Timed], None, None]
"""Numbers of tasks with what they gave."""


def run_all(
    tasks: Sequence[Task], *, engine: str, workers: int | None, address: str | None, tell: OnRounds
) -> Finished:
    """Run the tasks; yield (number of the task, result) as they finish. Closing the iterator stops the workers."""
    if not tasks:
        return _here(tasks, tell)
    workers = None if workers is None else int(workers)
    if engine == "local":
        count = min(workers or cores(), len(tasks))
        return _here(tasks, tell) if count <= 1 else _processes(tasks, count)
    return _dask(tasks, workers, address) if engine == "dask" else _ray(tasks, workers, address)


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
        for number, task in enumerate(tasks):
            yield number, run_here(task, lambda rounds, number=number: tell(number, rounds))  # type: ignore[misc]
    finally:
        forget_instances()


def _calls(tasks: Mapping[int, Task]) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of ``run_remote`` for every task."""
    cloudpickle, code = need("cloudpickle", "experiments"), installed()
    return ((number, task.cell, cloudpickle.dumps(task), code) for number, task in tasks.items())


def _lost(number: int, task: Task, error: BaseException) -> tuple[int, Timed]:
    """Return the failure of a task whose worker died."""
    return number, Timed(Failure(task.cell, RuntimeError(f"{type(error).__name__}: {error}"), ""), 0.0)


def _processes(tasks: Sequence[Task], workers: int) -> Finished:
    """Run in a pool. A worker that dies breaks it; the tasks in flight are then run alone, to find which one kills."""
    waiting = dict(enumerate(tasks))
    while waiting:
        try:
            for number, timed in _pool(dict(waiting), workers):
                del waiting[number]
                yield number, timed
        except BrokenProcessPool:
            for number in list(waiting)[: 2 * workers]:
                task = waiting.pop(number)
                try:
                    (result,) = _pool({number: task}, workers)
                except BrokenProcessPool as error:
                    result = _lost(number, task, error)
                yield result


def _pool(tasks: Mapping[int, Task], workers: int) -> Finished:
    joblib = need("joblib", "experiments")
    parallel = joblib.Parallel(
        n_jobs=workers,
        backend="loky",
        batch_size=1,
        pre_dispatch=2 * workers,
        return_as="generator_unordered",
        initializer=leave_with,
        initargs=(os.getpid(), DiskCache.noticed),
    )
    results = parallel(joblib.delayed(run_remote)(*call) for call in _calls(tasks))
    try:
        while (result := next(results, None)) is not None:  # ``yield from`` would close them itself
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # closed early, they tell that tasks are cancelled
            results.close()


def _dask(tasks: Sequence[Task], workers: int | None, address: str | None) -> Finished:
    """Run on dask itself: joblib's dask backend waits forever for a task whose worker died.

    A worker that dies takes the tasks that waited for it along, so each of those is run alone, to find which one kills.
    """
    distributed, dask = need("distributed", "dask"), need("dask", "dask")
    with contextlib.ExitStack() as stack:
        if address is None:
            stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": 0}))
            cluster = distributed.LocalCluster(
                n_workers=workers or cores(),
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                memory_limit=None,
                silence_logs=logging.CRITICAL,
            )
            stack.enter_context(cluster)
        client = stack.enter_context(distributed.Client(cluster if address is None else address))
        calls = _calls(dict(enumerate(tasks)))
        running = distributed.as_completed()
        number_of: dict[Any, int] = {}
        suspects: list[int] = []

        def submit(call: tuple[Any, ...]) -> Any:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")
                return client.submit(run_remote, *call, pure=False)

        def submit_next() -> None:
            call = next(calls, None)
            if call is not None:
                future = submit(call)
                number_of[future.key] = call[0]
                running.add(future)

        for _ in range(2 * (workers or max(1, sum(client.nthreads().values())))):
            submit_next()
        for future in running:
            submit_next()
            error, number = future.exception(), number_of.pop(future.key)
            if isinstance(error, distributed.KilledWorker):
                suspects.append(number)
            else:
                yield future.result() if error is None else _lost(number, tasks[number], error)
        for call in _calls({number: tasks[number] for number in suspects}):
            future = submit(call)
            error = future.exception()
            yield future.result() if error is None else _lost(call[0], tasks[call[0]], error)


def _ray(tasks: Sequence[Task], workers: int | None, address: str | None) -> Finished:
    """Run on ray itself: joblib's ray backend gives nothing back before everything is done."""
    ray = need("ray", "ray")
    started = not ray.is_initialized()
    if started:
        options: dict[str, Any] = {}
        if address is None:  # like other local workers, those of ray find what this process finds
            paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
            options = {"num_cpus": workers or cores(), "include_dashboard": False, "runtime_env": {"env_vars": paths}}
        with _own_signals():
            ray.init(address=address or "local", log_to_driver=False, configure_logging=False, **options)
    running: dict[Any, int] = {}
    try:
        remote = ray.remote(run_remote)
        limit = 2 * (workers or int(ray.cluster_resources().get("CPU", 1)))
        calls = _calls(dict(enumerate(tasks)))
        while True:
            while len(running) < limit and (call := next(calls, None)) is not None:
                running[remote.remote(*call)] = call[0]
            if not running:
                return
            (ready,), _ = ray.wait(list(running), num_returns=1)
            number = running.pop(ready)
            try:
                result = ray.get(ready)
            except ray.exceptions.RayError as error:
                result = _lost(number, tasks[number], error)
            yield result
    finally:
        for left in running:
            ray.cancel(left)
        if started:
            ray.shutdown()


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Keep the signal handlers that there are."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
