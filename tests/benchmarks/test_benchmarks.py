"""The benchmark suite measures what it says: nothing is timed here, clocks are made up."""

import gc
import itertools
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from banditselect import RegretBalancing, SquareCB
from benchmarks import __main__ as suite
from benchmarks.comparison import compare
from benchmarks.contestants import EMPTY, EMPTY_MAPS, LINUCB, OURS, YARDSTICKS
from benchmarks.figures import Figure, Part, load_parts, store_parts
from benchmarks.limits import side_by_side, stacked
from benchmarks.measuring import Spread, interleaved, machine, ratio, undisturbed
from benchmarks.meta_policies import LANES, D, apart
from benchmarks.peers import PEERS
from benchmarks.problem import REWARD_RANGE, LinearProblem
from benchmarks.report import duration, machine_words, number, page

ROOT = Path(__file__).parents[2]
MACHINE = {
    "cpu": "C",
    "cores": 2,
    "memory_gib": 8.0,
    "system": "S",
    "python": "3",
    "blas": "B",
    "packages": {"p": None},
}


def test_spread_by_hand():
    assert Spread.of([3.0, 1.0, 2.0, 5.0, 4.0]) == Spread(n=5, best=1.0, median=3.0, low=1.4, high=4.6)


def test_ratio_pairs_blocks_and_its_best_is_of_the_bests():
    spread = ratio([2.0, 8.0, 3.0], [1.0, 2.0, 2.0])
    assert (spread.n, spread.median, spread.best) == (3, 2.0, 2.0)


def test_contestants_take_turns_and_the_clock_is_read_around_each(monkeypatch):
    monkeypatch.setattr(gc, "collect", lambda: 0)  # it takes a second among the objects of all tests
    played, now = [], itertools.count(step=1.0)

    def contestant(name, seconds):
        def block():
            played.append(name)
            for _ in range(seconds):
                next(now)

        return block

    seconds = interleaved({"a": contestant("a", 1), "b": contestant("b", 4)}, 20, warm_up=2, clock=lambda: next(now))
    assert seconds["a"].tolist() == [2.0] * 20
    assert seconds["b"].tolist() == [5.0] * 20
    assert played[:4] == ["a", "b"] * 2
    turns = {tuple(turn) for turn in zip(played[4::2], played[5::2], strict=True)}
    assert turns == {("a", "b"), ("b", "a")}


def test_blocks_run_on_one_thread_without_garbage_collection():
    assert gc.isenabled()
    with undisturbed():
        assert not gc.isenabled()
        assert all(pool["num_threads"] == 1 for pool in threadpool_info() if pool["user_api"] == "blas")
    assert gc.isenabled()


def test_machine_names_no_host():
    told = machine(("numpy", "no_such_package"))
    assert told["packages"] == {"numpy": np.__version__, "no_such_package": None}
    assert set(told) == set(MACHINE)
    assert "no_such_package not installed" in machine_words(told)


def test_problem_has_unit_features_bounded_rewards_and_its_regret():
    problem = LinearProblem.draw(rounds=50, dim=4, n_actions=3, n_models=2, seed=1)
    assert problem.features.shape == (50, 2, 3, 4)
    np.testing.assert_allclose(np.linalg.norm(problem.features, axis=3), 1.0)
    rewards = np.array(problem.rewards)
    assert REWARD_RANGE[0] <= rewards.min() <= rewards.max() <= REWARD_RANGE[1]
    theta = np.linalg.lstsq(problem.first_map.reshape(-1, 4), problem.means.ravel(), rcond=None)[0]
    np.testing.assert_allclose(problem.first_map @ theta, problem.means, atol=1e-12)
    assert np.linalg.norm(theta) == pytest.approx(1.0)
    noise = rewards - problem.means
    np.testing.assert_allclose(noise, noise[:, :1] * np.ones(3), atol=1e-12)
    assert problem.regret(problem.means.argmax(axis=1)) == 0.0
    worst = problem.means.argmin(axis=1)
    assert problem.regret(worst) == pytest.approx(np.ptp(problem.means, axis=1).sum())


def test_maps_do_not_change_what_one_map_sees():
    one, many = (LinearProblem.draw(rounds=10, dim=3, n_models=M, seed=2) for M in (1, 5))
    np.testing.assert_array_equal(one.first_map, many.first_map)
    assert one.rewards == many.rewards


@pytest.mark.parametrize("yardstick", YARDSTICKS, ids=lambda c: c.name)
def test_yardsticks_keep_the_ridge_estimates_of_the_library(yardstick):
    problem = LinearProblem.draw(rounds=300, dim=5, seed=3)
    play, policy = yardstick.make(problem, 0), SquareCB(dim=5, reward_range=REWARD_RANGE)
    for t in range(300):
        action = play(t)
        policy.learn(problem.first_map[t, action], problem.rewards[t][action])
    loop = play.__self__
    estimate = loop.theta if "tight" in yardstick.name else loop.V_inv @ loop.b
    np.testing.assert_allclose(estimate, policy.parameters, rtol=0, atol=1e-9)


@pytest.mark.parametrize("contestant", [*YARDSTICKS, *OURS, EMPTY_MAPS], ids=lambda c: c.name)
def test_contestants_play(contestant):
    problem = LinearProblem.draw(rounds=300, dim=4, n_models=2, seed=5)
    play = contestant.make(problem, 0)
    regret = problem.regret(np.array([play(t) for t in range(300)]))
    uniform = (problem.means.max(axis=1) - problem.means.mean(axis=1)).sum()
    assert contestant in (EMPTY, EMPTY_MAPS) or regret < 0.4 * uniform


@pytest.mark.parametrize("peer", PEERS, ids=lambda c: c.name)
def test_peers_learn_where_they_are_installed(peer):
    pytest.importorskip(peer.package)
    problem = LinearProblem.draw(rounds=300, dim=4, seed=6)
    play = peer.make(problem, 0)
    regret = problem.regret(np.array([play(t) for t in range(300)]))
    assert regret < 0.9 * (problem.means.max(axis=1) - problem.means.mean(axis=1)).sum()


def test_comparison_counts_calls_problems_and_regret():
    rows = compare([LINUCB, EMPTY], dim=3, n_models=2, seeds=3, rounds=50, block=20)
    assert [(row.calls, row.problems, row.per_round.n) for row in rows] == [(150, 3, 9)] * 2
    assert rows[0].to_yardstick == Spread(9, 1.0, 1.0, 1.0, 1.0)
    problems = [LinearProblem.draw(rounds=50, dim=3, n_models=2, seed=seed) for seed in range(3)]
    first = [problem.regret(np.zeros(50, dtype=np.int64)) for problem in problems]
    assert rows[1].regret == pytest.approx(np.mean(first))
    assert list(rows[1].latency) == ["50", "99", "99.9"]
    assert rows[1].standard_error == pytest.approx(np.std(first, ddof=1) / np.sqrt(3))


def test_bases_apart_play_the_lanes_that_chose_them():
    x, rewards = stacked(LinearProblem.draw(rounds=4, dim=D, seed=lane) for lane in range(LANES))
    x, chosen, bases = x[:, :, 0], [], [SquareCB(dim=D, reward_range=REWARD_RANGE, lanes=LANES) for _ in range(3)]
    policy = RegretBalancing(bases=bases, lanes=LANES)
    side_by_side(policy, x, rewards, chosen)()
    apart(bases, x, rewards, chosen)()
    np.testing.assert_array_equal(np.transpose([base.rounds for base in bases]), policy.plays)


def test_limits_are_judged_by_the_median():
    spread = Spread(3, 0.1, 0.5, 0.4, 0.6)
    assert Figure("a", "b", spread).holds is None
    assert Figure("a", "b", spread, limit=0.5).holds is True
    assert Figure("a", "b", spread, limit=0.49).holds is False
    assert Figure("a", "b", spread, limit=0.51, at_least=True).holds is False


def example_parts():
    rows = compare([LINUCB, EMPTY], dim=3, n_models=2, seeds=1, rounds=20, block=10)
    spread = Spread(3, 0.1, 0.5, 0.4, 0.6)
    figure = Figure("OFUL", "a loop", spread, limit=0.45, target="a", above=spread, below=spread)
    seconds = Figure("import", "", spread, limit=1.0, target="h")
    common = {"machine": MACHINE, "measured": "2026-01-02", "seconds": 3.4}
    return {
        "peers-10": Part("Peers", "settings", rows=rows, missing=["river"], **common),
        "one-lane": Part("One lane", "settings", figures=[figure], **common),
        "first-call": Part("First call", "settings", figures=[seconds], **common),
    }


def test_results_survive_the_file(tmp_path):
    parts, path = example_parts(), tmp_path / "a" / "results.json"
    assert load_parts(path) == {}
    store_parts(path, parts)
    assert load_parts(path) == parts
    assert [entry.name for entry in path.parent.iterdir()] == ["results.json"]


def test_report_shows_every_figure_limit_and_what_is_missing():
    text = page(suite.in_order(example_parts()))
    assert "| a | OFUL | a loop | 0.5 | 0.4 to 0.6 | 0.1 | 3 | ≤ 0.45 | ✗ missed | 0.5 µs / 0.5 µs |" in text
    assert "| h | import | 0.5 | 0.4 to 0.6 | 0.1 | 3 | ≤ 1 | ✓ holds |" in text
    assert "1 of 2 limits hold." in text
    assert "**Not installed, so not measured: river.**" in text
    assert text.index("## One lane") < text.index("## First call") < text.index("## Peers")
    assert text.count("C, 2 cores, 8.0 GiB, S; Python 3, B; p not installed.") == 1
    assert [number(value) for value in (0.12345, 12.345, 123.45, 1234.5)] == ["0.123", "12.3", "123", "1234"]
    assert [duration(value) for value in (12.3, 2.5e6)] == ["12.3 µs", "2.5 s"]


def test_docs_want_every_part(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store_parts(tmp_path / "results.json", example_parts())
    with pytest.raises(SystemExit, match=r"lacks .*regions"):
        suite.write_docs(tmp_path / "results.json")
    (tmp_path / "docs").mkdir()
    for path, marker in (("docs/benchmarks.md", "measured"), ("README.md", "speed")):
        (tmp_path / path).write_text(f"before\n<!-- table: {marker} -->\nold\n<!-- end of table -->\nafter\n")
    peers, figures = example_parts()["peers-10"], example_parts()["one-lane"].figures
    rows = [replace(peers.rows[0], name=name) for name in ("FS-SCB", "river", "OFUL")]
    every = dict.fromkeys(suite.PARTS, replace(peers, rows=[*rows, *peers.rows], figures=figures))
    store_parts(tmp_path / "results.json", every)
    suite.write_docs(tmp_path / "results.json")
    text = (tmp_path / "docs" / "benchmarks.md").read_text()
    assert "\nold\n" not in text
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    short = text.partition("## In short")[2].partition("\n## ")[0]
    names = [row.name for row in every["peers-10"].rows]
    assert [name for name in names if f"| {name} |" in short] == [n for n in names if not n.startswith("empty call")]
    time = number(rows[0].per_round.median)
    line = f"take {time} µs with `FSSquareCB`, 0.5 µs with `FSIDS` (ten actions, ten maps of ten features); given the "
    line += f"right map, river {time}, NumPy LinUCB loop {time} µs"
    assert line in (tmp_path / "README.md").read_text()


def test_a_part_measured_alone_joins_those_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    store_parts(tmp_path / "out/bench/results.json", example_parts())
    monkeypatch.setitem(suite.PARTS, "regions", lambda quick: Part("Regions", "none"))
    monkeypatch.setattr("sys.argv", ["benchmarks", "--only", "regions"])
    suite.main()
    kept = load_parts(tmp_path / "out/bench/results.json")
    assert set(kept) == {"peers-10", "one-lane", "first-call", "regions"}
    assert asdict(kept["regions"])["machine"]["python"]
    assert "## Regions" in capsys.readouterr().out
    assert "## Regions" in (tmp_path / "out/bench/report.md").read_text()


def test_the_peers_come_with_the_library_versions_of_the_developers():
    def pinned(name):
        return dict(line.split("==") for line in (ROOT / name).read_text().split())

    dev = pinned("requirements-run.lock") | pinned("requirements-dev.lock")
    bench = pinned("requirements-bench.lock")
    assert {name: bench[name] for name in bench.keys() & dev.keys()} == {n: dev[n] for n in bench.keys() & dev.keys()}
    locked = {*bench, *pinned("requirements-bench-compiled.lock")}
    assert {peer.package for peer in PEERS} <= locked
