"""Where tasks run: in this process, in processes of this machine, on a dask or a ray cluster.

Every engine yields results as they come, in any order; the parent alone stores them, so a worker that outlives its
parent writes nothing. Tasks travel as bytes, so that every engine hands the same arrays to the same code.
"""

import contextlib
import importlib
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import validation
from .cells import Task, Timed, forget_instances, run_here, run_remote

ENGINES = ("local", "dask", "ray")

Tell = Callable[[int, int], None]
"""Called with the number of a task and the rounds it has played, where that is known."""


def run_all(
    tasks: Sequence[Task], *, engine: str, workers: int | None, address: str | None, tell: Tell
) -> Iterator[tuple[int, Timed]]:
    """Run the tasks; yield (number of the task, result) as they finish. Closing the iterator stops the workers."""
    if engine == "local":
        count = min(workers or cores(), len(tasks))
        return _here(tasks, tell) if count <= 1 else _processes(tasks, count)
    return _dask(tasks, workers, address) if engine == "dask" else _ray(tasks, workers, address)


def check(engine: str, workers: int | None, address: str | None) -> None:
    """Refuse what cannot be run, before anything is."""
    validation.Choice(ENGINES).check("engine", engine, None)
    validation.Number(low=1, integer=True, optional=True).check("workers", workers, None)
    if address is not None and engine == "local":
        raise validation.refuse("address", address, "None with engine='local'; a cluster needs 'dask' or 'ray'")
    if engine != "local":
        need("distributed" if engine == "dask" else "ray", engine)


def need(module: str, extra: str) -> Any:
    """Import a module that an extra installs; say which one where it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f'{module} is not installed: pip install "banditselect[{extra}]"') from error


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _here(tasks: Sequence[Task], tell: Tell) -> Iterator[tuple[int, Timed]]:
    try:
        for number, task in enumerate(tasks):
            yield number, run_here(task, lambda rounds, number=number: tell(number, rounds))  # type: ignore[misc]
    finally:
        forget_instances()


def _payloads(tasks: Sequence[Task]) -> Iterator[bytes]:
    cloudpickle = need("cloudpickle", "experiments")
    return (cloudpickle.dumps((number, task)) for number, task in enumerate(tasks))


def _processes(tasks: Sequence[Task], workers: int) -> Iterator[tuple[int, Timed]]:
    joblib = need("joblib", "experiments")
    parallel = joblib.Parallel(
        n_jobs=workers, backend="loky", batch_size=1, pre_dispatch=2 * workers, return_as="generator_unordered"
    )
    work = (joblib.delayed(run_remote)(payload, os.getpid()) for payload in _payloads(tasks))
    with contextlib.closing(parallel(work)) as results:
        yield from results


def _dask(tasks: Sequence[Task], workers: int | None, address: str | None) -> Iterator[tuple[int, Timed]]:
    joblib, distributed = need("joblib", "experiments"), need("distributed", "dask")
    with contextlib.ExitStack() as stack:
        if address is None:
            cluster = distributed.LocalCluster(
                n_workers=workers or cores(),
                threads_per_worker=1,
                dashboard_address=None,
                memory_limit=None,
                silence_logs=logging.CRITICAL,
            )
            stack.enter_context(cluster)
        client = stack.enter_context(distributed.Client(cluster if address is None else address))
        stack.enter_context(joblib.parallel_config("dask", n_jobs=workers or -1, client=client))
        parallel = joblib.Parallel(batch_size=1, return_as="generator_unordered")
        work = (joblib.delayed(run_remote)(payload, None) for payload in _payloads(tasks))
        yield from stack.enter_context(contextlib.closing(parallel(work)))


def _ray(tasks: Sequence[Task], workers: int | None, address: str | None) -> Iterator[tuple[int, Timed]]:
    """Run on ray itself: joblib's ray backend gives nothing back before everything is done."""
    ray = need("ray", "ray")
    started = not ray.is_initialized()
    if started:
        options = {"num_cpus": workers or cores(), "include_dashboard": False} if address is None else {}
        with _own_signals():
            ray.init(address=address or "local", log_to_driver=False, configure_logging=False, **options)
    try:
        remote = ray.remote(run_remote)
        limit = 2 * int(ray.cluster_resources().get("CPU", 1))
        payloads = _payloads(tasks)
        running: list[Any] = []
        while True:
            while len(running) < limit and (payload := next(payloads, None)) is not None:
                running.append(remote.remote(payload, None))
            if not running:
                return
            (ready,), running = ray.wait(running, num_returns=1)
            yield ray.get(ready)
    finally:
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
