"""Wherever cells run - here, in processes, on dask, on ray - the same bytes, failures and warnings come out."""

import contextlib
import hashlib
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

from banditselect import (
    OFUL,
    FSSquareCB,
    LinTS,
    RegretBalancing,
    SquareCB,
    Uniform,
    given,
    on_every_map,
    on_map,
    simulate,
    sweep,
)
from banditselect.authoring import Best, RidgeBank, argument, maps_of
from banditselect.logs import Log
from banditselect.policies import Policy
from banditselect.problems import Classification, LoggedReplay, SyntheticFeatureSelection
from banditselect.runtime import files
from banditselect.runtime.errors import ArgumentError

RNG = np.random.default_rng(0)
LABELS = np.arange(60) % 3
ITEMS = [np.eye(3)[LABELS] + 0.1 * RNG.normal(size=(60, 3)), RNG.normal(size=(60, 2))]
LOGGED = Log(
    features=RNG.normal(size=(300, 2, 4, 3)),
    action=RNG.integers(4, size=300),
    propensity=np.full(300, 0.25),
    reward=RNG.uniform(size=300),
)
PROBLEMS = {
    "maps": SyntheticFeatureSelection(n_models=2, dim=3, n_actions=4, n_items=40),
    "classes": Classification(features=ITEMS, labels=LABELS, n_actions=4),
    "log": LoggedReplay(log=LOGGED),
}
RANGE = (-10.0, 10.0)


class Mine(Policy):
    """Plays the best prediction on the first map."""

    dim: int = argument()

    def build(self, lanes):
        return RidgeBank.of(maps_of(self.dim), lanes, np.ones((lanes, 1))), Best()


class UnpicklableError(ValueError):
    def __init__(self, first, second):
        super().__init__(f"{first} {second}")
        self.lock = threading.Lock()


class Fails(Uniform):
    """Raises when it learns for the third time, an error that can be pickled or one that cannot."""

    portable: bool = argument(default=True)

    def build(self, lanes):
        self._count = 0
        return super().build(lanes)

    def _learn(self, ids, x, y, played):
        self._count += 1
        if self._count == 3:
            raise KeyError("third round") if self.portable else UnpicklableError("third", "round")


class Dies(Uniform):
    def _learn(self, ids, x, y, played):
        os._exit(3)


class Worried(Uniform):
    def _learn(self, ids, x, y, played):
        warnings.warn("of its own kind", UserWarning, stacklevel=1)


POLICIES = {
    "fs": FSSquareCB.bind(reward_range=RANGE, noise=0.5),
    "rb": RegretBalancing.bind(bases=on_every_map(SquareCB.bind(reward_range=RANGE))),
    "ts": on_map(LinTS.bind(), 1),
    "oful": on_map(OFUL.bind(noise=given.noise), 0),
    "mine": on_map(Mine.bind(), 0),
    "uniform": Uniform.bind(),
}


def policies_for(problem):
    return {n: b for n, b in POLICIES.items() if n != "oful" or "noise" in problem.draw(range(1), 2, 0).constants}


def table(out, policies=policies_for, problems=PROBLEMS, **changes):
    options = {"rounds": 120, "replicates": 6, "block": 2} | changes
    results = sweep(policies, problems, out=out, **options)
    assert not results.failures, results.failures[0].traceback
    return (Path(out) / "results.parquet").read_bytes()


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The table of a sweep in this process, all replicates side by side."""
    return table(tmp_path_factory.mktemp("here"), workers=1, block=6)


@pytest.fixture
def dask_cluster():
    distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=4, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


@contextlib.contextmanager
def quiet():
    """Pass over what the cluster libraries themselves warn of."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning, module="ray")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=ResourceWarning)
        yield


ENGINES = [
    pytest.param({"workers": 1}, id="here"),
    pytest.param({"workers": 2}, id="processes"),
    pytest.param({"workers": 2, "engine": "dask"}, id="dask", marks=pytest.mark.slow),
    pytest.param({"workers": 2, "engine": "ray"}, id="ray", marks=pytest.mark.slow),
]


def needs(options):
    module = {"dask": "distributed", "ray": "ray"}.get(options.get("engine", "local"))
    if module is not None:
        pytest.importorskip(module, reason=f"the extra {options['engine']!r} is not installed")


# The same bytes


@pytest.mark.parametrize("options", ENGINES[1:])
def test_engines_do_not_change_a_byte(tmp_path, here, options):
    needs(options)
    with quiet():
        assert table(tmp_path, **options) == here
        assert table(tmp_path / "again", **options, block=3) == here


@pytest.mark.slow
def test_a_cluster_with_threads_gives_the_same_bytes_and_is_not_shut_down(tmp_path, here, dask_cluster):
    with quiet():
        for name in ("a", "b"):
            assert table(tmp_path / name, engine="dask", address=dask_cluster.scheduler_address, block=1) == here
    assert len(dask_cluster.scheduler.workers) == 1


@pytest.mark.slow
def test_a_running_ray_gives_the_same_bytes_and_is_not_shut_down(tmp_path, here):
    ray = pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with quiet():
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": paths})
        try:
            assert table(tmp_path / "a", engine="ray") == here
            assert table(tmp_path / "b", engine="ray", address=ray.get_runtime_context().gcs_address) == here
            assert ray.is_initialized()
        finally:
            ray.shutdown()


def children():
    """Return the processes below this one, but for those that wait to be used again on this machine."""
    parents, words = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[int(stat.parent.name)] = int(parent)
                words[int(stat.parent.name)] = (stat.parent / "cmdline").read_text()
    below = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return {pid for pid in below - {os.getpid()} if "loky" not in words[pid] and "resource_tracker" not in words[pid]}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see which processes live")
@pytest.mark.parametrize("options", ENGINES[2:])
@pytest.mark.parametrize("interrupted", [False, True])
def test_nothing_is_left_running(options, interrupted):
    needs(options)
    before = children()

    def stop(progress):
        if interrupted and progress.cells_done:
            raise KeyboardInterrupt

    with quiet():
        try:
            sweep(
                {"u": Uniform.bind()},
                {"p": PROBLEMS["maps"]},
                rounds=50,
                replicates=8,
                block=1,
                progress=stop,
                **options,
            )
        except KeyboardInterrupt as error:
            kept = error  # as an interactive session does, and with it every frame
            assert kept.__traceback__ is not None
        if options["engine"] == "ray":
            assert not sys.modules["ray"].is_initialized()
        assert children() <= before


SCRIPT = """
import sys
from test_engines import table
if __name__ == "__main__":
    table(sys.argv[1], workers=int(sys.argv[2]))
"""


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_threads_of_linear_algebra_do_not_change_a_byte(tmp_path, here, workers):
    (tmp_path / "script.py").write_text(SCRIPT)
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    threads = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "out"), str(workers)]
    subprocess.run(command, check=True, env=os.environ | threads | {"PYTHONPATH": paths})
    assert hashlib.sha256((tmp_path / "out" / "results.parquet").read_bytes()).digest() == hashlib.sha256(here).digest()


# Failures


@pytest.mark.parametrize("options", ENGINES)
def test_a_cell_that_fails_is_told_and_takes_no_other_down(tmp_path, options):
    needs(options)
    problems = {"maps": PROBLEMS["maps"], "log": PROBLEMS["log"]}
    policies = {"fails": Fails.bind(), "odd": Fails.bind(portable=False), "uniform": Uniform.bind()}

    def chosen(problem):
        return policies if problem is problems["maps"] else {"fails": Uniform.bind(), "uniform": Uniform.bind()}

    with quiet():
        results = sweep(chosen, problems, rounds=20, replicates=4, block=2, out=tmp_path, **options)
    assert [(f.cell.problem, f.cell.policy, f.cell.lanes) for f in results.failures] == [
        ("maps", "fails", range(2)),
        ("maps", "odd", range(2)),
        ("maps", "fails", range(2, 4)),
        ("maps", "odd", range(2, 4)),
    ]
    for failure in results.failures:
        assert "Fails.bind(" in failure.settings
        assert "SyntheticFeatureSelection(n_models=2" in failure.settings
        assert "_learn" in failure.traceback
        assert "third round" in str(failure)
        assert str(failure.cell) in str(failure)
    assert {type(f.error) for f in results.failures if f.cell.policy == "fails"} == {KeyError}
    assert results["maps"].policies == ["uniform"]
    assert results["log"].policies == ["fails", "uniform"]
    assert "4 cells failed" in repr(results)
    assert "maps: fails failed: KeyError('third round')" in results.summary()
    alone = sweep({"uniform": Uniform.bind()}, problems, rounds=20, replicates=4, workers=1)
    for name in problems:
        np.testing.assert_array_equal(results[name].curve("uniform", "reward"), alone[name].curve("uniform", "reward"))


@pytest.mark.parametrize("options", ENGINES)
def test_simulate_raises_the_error_itself_and_names_where_it_happened(options):
    needs(options)
    with quiet(), pytest.raises(KeyError, match="third round") as caught:
        simulate(
            {"u": Uniform.bind(), "f": Fails.bind()}, PROBLEMS["maps"], rounds=20, replicates=4, block=2, **options
        )
    (note,) = caught.value.__notes__
    for part in ("f on problem, replicates 0-1", "20 rounds", "seed 0", "Fails.bind()", "SyntheticFeatureSelection("):
        assert part in note


@pytest.mark.parametrize("options", ENGINES)
def test_a_refusal_comes_back_with_its_fields(options):
    needs(options)
    with quiet(), pytest.raises(ArgumentError, match=r"^OFUL: noise: got -1\.0, expected") as caught:
        simulate(
            {"bad": on_map(OFUL.bind(noise=-1.0), 0)}, PROBLEMS["maps"], rounds=20, replicates=4, block=2, **options
        )
    assert (caught.value.owner, caught.value.argument, caught.value.value) == ("OFUL", "noise", -1.0)
    assert caught.value.expected.startswith("a finite number")


@pytest.mark.parametrize("options", ENGINES[1:])
@pytest.mark.parametrize("replicates", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_worker_that_dies_is_a_failure_of_its_cell(options, replicates):
    needs(options)
    policies = {"u": Uniform.bind(), "dies": Dies.bind(), "v": Uniform.bind()}
    with quiet():
        results = sweep(policies, {"p": PROBLEMS["maps"]}, rounds=20, replicates=replicates, block=1, **options)
    assert [failure.cell.policy for failure in results.failures] == ["dies"] * replicates
    assert results["p"].policies == ["u", "v"]
    alone = simulate({"u": Uniform.bind()}, PROBLEMS["maps"], rounds=20, replicates=replicates)
    np.testing.assert_array_equal(results["p"].curve("v"), alone.curve("u"))


@pytest.mark.parametrize("options", ENGINES[1:])
def test_what_cannot_be_sent_is_an_error_and_no_standstill(options):
    needs(options)

    class Locked(Uniform):
        lock: object = argument()

    policies = {"u": Uniform.bind(), "locked": Locked.bind(lock=threading.Lock())}
    with quiet(), pytest.raises(TypeError, match="lock"):
        sweep(policies, {"p": PROBLEMS["maps"]}, rounds=20, replicates=4, block=1, **options)


OTHER_CODE = """
import sys
import distributed
from banditselect.simulation import identity
if __name__ == "__main__":
    scheduler = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0", protocol="tcp://"
    )
    identity._library_digest = lambda: "other code"
    print(scheduler.scheduler_address, flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_a_worker_with_other_code_stores_nothing(tmp_path):
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    (tmp_path / "cluster.py").write_text(OTHER_CODE)
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": env}
    with subprocess.Popen([sys.executable, str(tmp_path / "cluster.py")], **pipes) as cluster, quiet():
        try:
            address = cluster.stdout.readline().strip()
            options = {"rounds": 20, "replicates": 2, "engine": "dask", "address": address, "out": tmp_path / "out"}
            results = sweep({"u": Uniform.bind()}, {"p": PROBLEMS["maps"]}, **options)
        finally:
            cluster.kill()
    (failure,) = results.failures
    assert "other code" in str(failure)
    assert not list((tmp_path / "out").glob("cells/*.cell"))


@pytest.mark.slow
def test_large_problems_travel_to_dask_without_a_warning():
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    log = Log(
        features=np.ones((2000, 4, 200)), action=np.zeros(2000, int), propensity=np.ones(2000), reward=np.ones(2000)
    )
    options = {"rounds": 20, "replicates": 2, "block": 1, "engine": "dask", "workers": 1}
    assert not sweep({"u": Uniform.bind()}, {"log": LoggedReplay(log=log)}, **options).failures


# Warnings


@pytest.mark.parametrize("options", ENGINES)
def test_warnings_reach_the_caller_once_with_the_policy_s_name_also_from_the_store(tmp_path, options):
    needs(options)
    policies = {
        "narrow": FSSquareCB.bind(reward_range=(5.0, 6.0), noise=0.5),
        "worried": Worried.bind(),
        "uniform": Uniform.bind(),
    }

    def told(**more):
        with quiet(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RuntimeWarning)
            sweep(policies, {"p": PROBLEMS["maps"]}, rounds=20, replicates=2, **options, **more)
        return [str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)], caught

    now, caught = told(out=tmp_path)
    narrow, worried = sorted(now)
    assert narrow.startswith("narrow: FSSquareCB: reward")
    assert worried == "worried: of its own kind"
    assert all(w.filename == __file__ for w in caught if issubclass(w.category, RuntimeWarning))
    assert told(out=tmp_path)[0] == now  # nothing is run: all is from the store


@pytest.mark.slow
def test_threads_of_one_worker_do_not_lose_each_other_s_warnings(tmp_path, dask_cluster):
    options = {"rounds": 100, "replicates": 24, "block": 1, "engine": "dask", "out": tmp_path}
    with quiet(), pytest.warns(RuntimeWarning, match="worried: of its own kind"):
        sweep({"worried": Worried.bind()}, PROBLEMS, address=dask_cluster.scheduler_address, **options)
    stored = [files.read(path)[0]["messages"] for path in tmp_path.glob("cells/*.cell")]
    assert stored == [["of its own kind"]] * 72


def test_a_stored_sweep_starts_no_cluster(tmp_path):
    options = {"rounds": 20, "replicates": 2, "out": tmp_path}
    sweep({"u": Uniform.bind()}, {"p": PROBLEMS["maps"]}, **options)
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    address = "tcp://127.0.0.1:9"  # no cluster is there
    assert not sweep({"u": Uniform.bind()}, {"p": PROBLEMS["maps"]}, engine="dask", address=address, **options).failures
