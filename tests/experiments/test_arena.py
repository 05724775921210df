"""The arena: policies and problems, constants that policies need, ranks and standings by hand."""

import json
import math

import numpy as np
import pytest

from banditselect import OFUL, RegretBalancing, SquareCB, given, on_every_map, simulate, tune
from banditselect.experiments.beyond import arena
from banditselect.experiments.beyond.arena_policies import MAPS, REGIONS, YARDSTICKS, Contestant, everyone, tuned
from banditselect.experiments.experiment import Ranking
from banditselect.experiments.ranking import grouped, ranks, standing_tables, standings, winners
from banditselect.simulation import METRICS, Result, Results
from banditselect.simulation.store import Store
from banditselect.simulation.tuning import arguments_of

RANKING = Ranking(lambda problem: problem[0], "Uniform", ("Uniform",))
N = 12


def result(finals, checkpoints=(1000,), settings=None):
    """Return a result with these regrets, ``(N,)`` or ``(C, N)``, by policy."""
    nothing = np.full((len(checkpoints), N), np.nan)
    curves = {
        policy: {metric: np.reshape(values, nothing.shape) if metric == "regret" else nothing for metric in METRICS}
        for policy, values in finals.items()
    }
    return Result(np.array(checkpoints), curves, settings or {})


def around(mean, spread=0.0):
    return mean + spread * np.linspace(-1.0, 1.0, N)


# Two problems of group a: x has 10 and 40 of the 100 and 200 of uniform play, y 20 and 20, z 30 where it played.
PLAYED = Results(
    {
        "a1": result({"x": around(10.0), "y": around(20.0, 1.0), "z": around(30.0), "Uniform": around(100.0)}),
        "a2": result({"x": around(40.0), "y": around(20.0, 1.0), "Uniform": around(200.0)}),
        "b1": result({"w": around(5.0), "Uniform": around(10.0)}),
    }
)


def test_ranks_and_winners_by_hand():
    groups = grouped(PLAYED, RANKING)
    assert {group: list(finals) for group, finals in groups.items()} == {"a": ["a1", "a2"], "b": ["b1"]}
    found = {name: values.tolist() for name, values in ranks(groups["a"], RANKING).items()}
    assert found == {"x": [1.0, 2.0], "y": [2.0, 1.0], "z": [3.0]}
    assert winners(groups["a"], RANKING) == {"a1": ["x"], "a2": ["y"]}
    near = {"p": {"x": around(10.0, 3.0), "y": around(10.1, -3.0), "z": around(20.0), "Uniform": around(30.0)}}
    assert winners(near, RANKING) == {"p": ["x", "y"]}
    rare = np.where(np.arange(N) == 0, 60.0, 10.0)  # one failure: 14.2 on average, and no policy is clearly better
    assert winners({"p": {"x": around(10.5, 3.0), "y": rare, "Uniform": around(90.0)}}, RANKING) == {"p": ["x"]}


def test_standings_by_hand():
    """x has (10 % + 20 %) / 2 = 15 %, y (20 % + 10 %) / 2 = 15 % as well, z 30 % where x, the first, has 10 %."""
    found = {one.policy: one for one in standings(grouped(PLAYED, RANKING)["a"], RANKING)}
    assert found["x"].share == pytest.approx(0.15)
    assert found["z"].behind.b in ("x", "y")
    assert found["z"].behind.mean == pytest.approx(0.3 - {"x": 0.1, "y": 0.2}[found["z"].behind.b])
    assert found["z"].problems == 1
    assert (found["x"].rank, found["y"].rank, found["z"].rank) == (1.5, 1.5, 3.0)
    assert (found["x"].close, found["y"].close, found["z"].close) == (1, 1, 0)
    assert math.isnan(found["Uniform"].rank)
    assert found["Uniform"].behind.mean == pytest.approx(0.85)


def test_differences_are_paired():
    """Regrets that vary by 9 together and differ by exactly 1 of 100: the interval has no width."""
    own = {"x": around(20.0, 9.0), "y": around(21.0, 9.0), "Uniform": around(100.0)}
    (first, second, last) = standings({"p": own}, RANKING)
    assert last.policy == "Uniform"  # sorted by the difference
    assert (first.policy, second.policy) == ("x", "y")
    assert (second.behind.low, second.behind.high) == (pytest.approx(0.01), pytest.approx(0.01))


def test_the_table_has_the_time_of_a_round(tmp_path):
    (tmp_path / "cells").mkdir()
    noted = {"key": "k", "problem": "section 9, M = 2", "policy": "FS-IDS", "rounds": 50_000, "seconds": 1.0}
    lines = [
        json.dumps(noted | {"playing": 0.5}),
        json.dumps(noted | {"playing": 0.9}),
        '{"key": "m", "seconds": 9}',
        '{"key": "n", "sec',
    ]
    (tmp_path / "timings.jsonl").write_text("\n".join(lines))
    times = Store(tmp_path).round_times()
    results = Results({"section 9, M = 2": result({"FS-IDS": around(10.0), "Uniform": around(100.0)})})
    (table,) = standing_tables(arena.EXPERIMENT.ranking, results, times)
    assert table.caption == "Who comes where: maps"
    assert table.rows[0] == ["FS-IDS", "1", "10.0", "–", "1.0", "1 of 1", "10.0"]
    assert table.rows[1][:4] == ["Uniform", "1", "100.0", "90.0 [90.0, 90.0]"]


# Policies of a problem


def test_every_family_is_there_for_every_number_of_models_that_it_allows():
    names = list(arena.problems((2, 10, 50)))
    assert len(names) == 20
    assert "fs-synthetic, M = 50" in names
    assert "fs-mnist, M = 50" not in names
    assert {arena.kind_of(name) for name in names} == {MAPS, REGIONS}
    with pytest.raises(ValueError, match="problem: got 'M = 2', expected the name of a problem of the arena"):
        arena.kind_of("M = 2")


def test_what_everyone_is_told_is_read_off_the_policy():
    scb, ucb = SquareCB.bind(reward_range=given.reward_range), OFUL.bind(noise=given.noise, parameter_bound=1.0)
    told = Contestant("a", RegretBalancing.bind(bases=[on_every_map(scb), ucb])).told
    assert told == ["range of the rewards", "noise R"]
    assert everyone()[MAPS]["FS-IDS"].told == []
    assert everyone()[REGIONS]["mmUCB"].told == ["noise R", "error of the models", "horizon"]


def test_everyone_has_a_line_and_every_radius_and_width_is_tuned():
    for named in everyone().values():
        for name, one in named.items():
            assert bool(one.proved) == (name not in YARDSTICKS)
            assert set(one.tuned) <= arguments_of(one.policy), name
            if name not in YARDSTICKS and "scale" in one.policy.parameters:
                assert "scale" in one.tuned, name


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a range that is tried may be too narrow
@pytest.mark.slow
@pytest.mark.parametrize("problem", ["section 9, M = 2", "latent, M = 2"])
def test_everyone_plays_and_can_be_tuned(problem):
    found = arena.problems((2,))[problem]
    policies = arena.policies(found, 5)
    assert set(policies) == set(everyone()[arena.kind_of(problem)])
    own = {name: grid for name, grid in tuned().items() if name in policies}
    chosen = tune(policies, found, {}, own=own, rounds=3, replicates=1)
    result = simulate(chosen, found, rounds=5, replicates=2)
    assert all(np.isfinite(result.final(policy)).all() for policy in policies)
