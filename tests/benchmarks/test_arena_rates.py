"""Published rates in the arena: exponents from stored tables, by hand; what is judged where."""

import numpy as np
import pytest

from banditselect import simulate
from banditselect.experiments.claims import judge
from banditselect.experiments.claims.claim import FAILS, HOLDS, NOT_APPLICABLE
from banditselect.experiments.parameter_selection import UNIFORM
from banditselect.simulation import METRICS, Result, Results
from benchmarks.arena import __main__ as command
from benchmarks.arena.experiments import CORRALS, EXPERIMENTS, MASTERS, OWN_RATE
from benchmarks.arena.sentences import SENTENCES

N = 12


def result(finals, checkpoints):
    """Return a result with these regrets, ``(C, N)``, by policy."""
    nothing = np.full((len(checkpoints), N), np.nan)
    curves = {
        policy: {metric: np.array(values) if metric == "regret" else nothing for metric in METRICS}
        for policy, values in finals.items()
    }
    return Result(np.array(checkpoints), curves, {})


def judged(regret):
    """Judge made-up results: ``regret(policy, size, t)`` after a quarter of the rounds and after all of them."""
    spread, ran = 1.0 + 0.001 * np.linspace(-1.0, 1.0, N), {}
    for experiment in EXPERIMENTS.values():
        results = {}
        for name, problem in experiment.problems(()).items():
            size, played = int(name.rpartition("= ")[2]), experiment.regimes["defaults"].policies(problem, 1000)
            finals = {p: [np.broadcast_to(regret(p, size, t), N) * spread for t in (250, 1000)] for p in played}
            results[name] = result(finals, (250, 1000))
        ran[experiment.name, "defaults"] = Results(results)
    return {verdict.id: verdict for verdict in judge(ran, EXPERIMENTS, SENTENCES)}


def powers(m, t):
    """Return the regret M^m T^t / 99, small as that of a base is, and that of uniform play, which is linear."""
    return lambda policy, size, rounds: 9.0 * rounds if policy == UNIFORM else size**m * rounds**t / 99.0


def by_id(regret):
    found = judged(regret)
    return lambda id: (found[id].verdict, pytest.approx(found[id].value))


def test_exponents_are_those_of_the_regret():
    """M^.7 T^.45 is within the root of T, and of M T with a tenth more: (.7 + .45) / 2 = .575. M^.9 is not: .675."""
    found = judged(powers(0.7, 0.45))
    assert {verdict.experiment for verdict in found.values()} == {"arena-rates", "arena-masters"}
    assert all(verdict.ours for verdict in found.values())
    assert (found["rate-rb-scb"].verdict, found["rate-d3rb-scb"].verdict) == (HOLDS, HOLDS)
    worse = by_id(powers(0.9, 0.45))
    assert worse("rate-rb-scb") == (FAILS, 0.675)
    assert worse("rate-d3rb-scb")[0] == HOLDS  # which is asked for .75 and a tenth
    worst = by_id(powers(1.4, 0.45))
    assert worst("rate-d3rb-scb") == (FAILS, 0.925)
    long = by_id(lambda policy, size, t: 9.0 * t if policy == UNIFORM else t**0.75 / 99.0)
    assert long("rate-rb-scb") == long("rate-corral-smoothed") == (FAILS, 0.75)
    assert long("rate-corral-importance") == (HOLDS, 0.75)
    assert long("fails-leader") == (FAILS, 0.75)  # which is not linear


def test_ratios_and_sizes_both_ways():
    half = {"CORRAL-OFUL, smoothed": 0.5, "FS-OFUL": 0.5, "SquareCB": 9.0}

    def regret(policy, size, t):
        if policy == UNIFORM:
            return 99.0 * t
        return half.get(policy, 1.0) * t**0.95 * size ** {"SquareCB": 0.2, "ALEXP": 1.0}.get(policy, 0.0)

    better = by_id(regret)
    for id in ("fails-corral-importance", "fails-leader-beside", "fails-leader", "rate-design", "rate-plain"):
        assert better(id)[0] == HOLDS, id
    assert better("rate-alexp")[0] == FAILS  # M itself
    flat = by_id(lambda policy, size, t: 99.0 * t if policy == UNIFORM else float(size) ** 0.2)
    for id in ("fails-corral-importance", "fails-leader-beside", "fails-leader", "rate-design"):
        assert flat(id)[0] == FAILS, id
    assert flat("rate-plain") == (HOLDS, 0.2)


def test_a_master_that_had_not_told_its_bases_apart_before_is_not_judged():
    """All of uniform play at a quarter, a third of it at the end: an exponent of .2, which is not one of a rate."""
    late = by_id(lambda policy, size, t: t * (1.0 if policy == UNIFORM or t == 250 else 1.0 / 3.0))
    assert late("rate-d3rb-scb") == late("rate-corral-smoothed") == (NOT_APPLICABLE, 1.0)
    never = judged(lambda policy, size, t: t * (1.0 if policy == UNIFORM else 0.9))
    assert "nearly uniform play" in never["rate-design"].vacuous
    assert "nearly uniform play" in never["rate-corral-importance"].vacuous
    beyond = by_id(lambda policy, size, t: 9.0 * t if policy == UNIFORM else 2.0 * t**0.5)
    assert beyond("rate-rb-scb") == (NOT_APPLICABLE, 2.0)  # no reference bounds such a base
    assert beyond("rate-d3rb-scb") == (HOLDS, 0.5)


def test_only_where_it_has_learned():
    """With M = 16 all of uniform play at a quarter: exponents are taken at M = 2 and 4, none of M and T together."""

    def regret(policy, size, t):
        if policy == UNIFORM:
            return 2.0 * t
        return 2.0 * t if size == 16 and policy == "RBE-SCB" else t**0.5 / 9.0

    found = judged(regret)["rate-rbe-scb"]
    assert (found.verdict, found.statistic[-5:]) == (HOLDS, "M = 2")


def test_one_run_that_is_stuck_leaves_the_premise_decided():
    spread = np.where(np.arange(N) == 3, 40.0, 1.0)

    def regret(policy, size, t):
        return 9.0 * t * np.linspace(0.9, 1.1, N) if policy == UNIFORM else t**0.5 / 9.0 * spread

    assert judged(regret)["rate-ed2rb-scb"].verdict == HOLDS


def test_every_sentence_is_judged_where_everyone_played():
    assert set(judged(lambda *_: 1.0)) == {sentence.id for sentence in SENTENCES}


def test_corral_is_judged_as_it_is_called():
    problem, *_ = EXPERIMENTS[MASTERS].problems(()).values()
    policies = EXPERIMENTS[MASTERS].regimes["defaults"].policies(problem, 1000)
    found = {name: policy.arguments for name, policy in policies.items()}
    feedback = {name: found[name].get("feedback", "plain") for name in CORRALS}
    assert list(feedback.values()) == ["plain", "smoothed", "importance"]
    assert all(name.endswith(kind) or kind == "plain" for name, kind in feedback.items())
    own = found[OWN_RATE]
    assert (own["feedback"], own["learning_rate"]) == ("smoothed", 1.0)
    assert {found[name]["horizon"] for name in (*CORRALS, OWN_RATE)} == {None}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_everyone_plays(name):
    experiment = EXPERIMENTS[name]
    problem = next(iter(experiment.problems(()).values()))
    result = simulate(experiment.regimes["defaults"].policies(problem, 5), problem, rounds=5, replicates=2)
    assert all(np.isfinite(result.final(policy)).all() for policy in result.policies)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_as_it_is_typed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["benchmarks.arena", "--only", "arena-rates", "--out", str(tmp_path)])
    command.main()
    told = capsys.readouterr()
    assert "LEADER loses much more than FS-OFUL" in told.out
    assert "100 %" in told.err
    assert (tmp_path / "arena-rates" / "defaults" / "results.parquet").is_file()
