"""Sentences of the paper: statistics by hand, verdicts, and that they follow from the stored tables alone."""

import math

import numpy as np
import pytest

from banditselect.experiments import EXPERIMENTS, latent
from banditselect.experiments import fs_shared as fs
from banditselect.experiments import ps_shared as ps
from banditselect.experiments.claims import judge
from banditselect.experiments.claims.measuring import (
    FAILS,
    HOLDS,
    OPEN,
    Measured,
    Runs,
    Statistic,
    measure_all,
    share,
    together,
)
from banditselect.experiments.claims.sentences import SENTENCES
from banditselect.simulation import METRICS, Result, Results
from banditselect.statistics import bootstrap_interval, share_interval
from banditselect.theory import feature_selection as fs_theory
from banditselect.theory import parameter_selection as ps_theory

N = 40


def measured(value, low, high, *, at_least=-math.inf, at_most=math.inf):
    return Measured("it", value, (low, high), at_least, at_most, 10)


@pytest.mark.parametrize(
    ("interval", "verdict", "room"),
    [((0.2, 0.8), HOLDS, 1 / 3), ((0.2, 1.0), HOLDS, 0.0), ((0.8, 1.2), OPEN, -0.5), ((1.1, 1.5), FAILS, -1.25)],
)
def test_an_interval_is_inside_outside_or_neither(interval, verdict, room):
    part = measured(0.5, *interval, at_most=1.0)
    assert (part.verdict, part.expected) == (verdict, "at most 1")
    assert part.room == pytest.approx(room)


def test_words_and_intervals_that_are_not_known():
    assert measured(1.0, 0.9, 1.1, at_least=0.8, at_most=1.25).expected == "between 0.8 and 1.25"
    assert measured(1.0, 0.9, 1.1, at_least=1.5).expected == "at least 1.5"
    unknown = measured(1.0, math.nan, math.nan, at_least=0.0)
    assert (unknown.verdict, unknown.room) == (OPEN, -math.inf)


def test_a_sentence_fails_with_one_part_and_holds_with_all():
    good, open_, bad = (measured(x, x - 0.1, x + 0.1, at_most=1.0) for x in (0.5, 0.95, 1.5))
    worse = measured(2.0, 1.9, 2.1, at_most=1.0)
    assert together([good, good]) == (good, HOLDS)
    assert together([good, open_]) == (open_, OPEN)
    assert together([good, bad, worse, open_]) == (worse, FAILS)


def test_intervals_of_a_mean_are_about_student_s():
    x = np.random.default_rng(0).normal(size=12)
    low, high = bootstrap_interval(lambda rows: x[rows].mean(axis=1), 12, resamples=20_000)
    half = 2.201 * x.std(ddof=1) / math.sqrt(12)
    assert low == pytest.approx(x.mean() - half, abs=0.07 * half)
    assert high == pytest.approx(x.mean() + half, abs=0.07 * half)
    assert all(map(math.isnan, bootstrap_interval(lambda rows: x[rows].mean(axis=1), 1)))


def test_intervals_of_a_ratio_cover_it():
    """500 data sets: the count of misses is binomial; below 2 % or above 12 % has a probability below 1e-4 at 5 %."""
    rng, missed = np.random.default_rng(1), 0
    for _ in range(500):
        a, b = rng.gamma(4.0, 1.0, 20), rng.gamma(9.0, 1.0, 20)
        low, high = bootstrap_interval(lambda r, a=a, b=b: a[r].mean(axis=1) / b[r].mean(axis=1), 20, resamples=500)
        missed += not low <= 4.0 / 9.0 <= high
    assert 10 <= missed <= 60


def test_shares_by_hand():
    """Wilson: (p + z^2/2n +- z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n); at p = 1 from 1 / (1 + z^2/n)."""
    assert share_interval(50, 50) == (pytest.approx(1.0 / (1.0 + 1.959964**2 / 50)), 1.0)
    assert share_interval(0, 50)[0] == 0.0
    assert share("it", 50, 50, 0.95).verdict == OPEN
    assert share("it", 200, 200, 0.95).verdict == HOLDS
    assert share("it", 150, 200, 0.95).verdict == FAILS


def test_statistics_are_paired_and_parts_share_the_confidence():
    x = np.random.default_rng(2).normal(5.0, 3.0, 30)
    runs = Runs({"p": {"a": x + 1.0, "b": x}})
    parts = [Statistic("difference", lambda r: r.mean("p", "a") - r.mean("p", "b"), low=0.0)] * 2
    for part in measure_all(parts, [runs]):
        assert part.value == pytest.approx(1.0)
        assert part.interval == pytest.approx((1.0, 1.0))
    wide = Statistic("mean", lambda r: r.mean("p", "a"))
    lengths = [np.ptp(measure_all([wide] * k, [runs])[0].interval) for k in (1, 5)]
    assert lengths[1] > 1.2 * lengths[0]
    assert runs.deviation("p", "a") == pytest.approx(x.std(ddof=1))


# Stored results with chosen final values.


def result(finals, metric, settings=None, coverage=1.0):
    curves = {}
    for policy, mean in finals.items():
        noise = np.linspace(-1.0, 1.0, N)
        values = {name: np.full((1, N), np.nan) for name in METRICS}
        values[metric] = (mean[0] + mean[1] * noise)[None] if isinstance(mean, tuple) else (mean + 0.01 * noise)[None]
        values["coverage"] = np.full((1, N), coverage)
        curves[policy] = values
    return Result(np.array([1000]), curves, settings or {})


def stored(folder, name, regime, finals_by_problem, **options):
    path = folder / name / regime
    path.mkdir(parents=True)
    metric = EXPERIMENTS[name].metric
    results = {problem: result(finals, metric, **options) for problem, finals in finals_by_problem.items()}
    Results(results).save(path / "results.parquet")


def verdicts(folder):
    return {(v.id, v.experiment, v.regime): v for v in judge(folder, EXPERIMENTS)}


def test_feature_selection_sentences(tmp_path):
    """RB over FS is 20/16 = 1.25 at M = 2 and 80/20 = 4 at M = 20; RB grows as M^e with e = log 4 / log 10 = .602."""
    few = {fs.BEST: 10.0, fs.FS: 16.0, fs.NOISE_AWARE: 9.0, fs.RB: (20.0, 1.0), fs.SECOND: 30.0}
    many = few | {fs.FS: 20.0, fs.RB: (80.0, 9.0), fs.WORST: 50.0}
    stored(tmp_path, "fs-mnist", "tuned", {"M = 2": few, "M = 20": many})
    found = verdicts(tmp_path)
    told = {key[0]: (round(v.value, 3), v.verdict) for key, v in found.items()}
    assert told["fs-between"] == (0.667, HOLDS)  # 20 / 30, the larger of the two
    assert told["fs-between-ours"] == (0.3, HOLDS)
    assert told["fs-few"] == (1.25, OPEN)
    assert told["fs-many"] == (4.0, HOLDS)
    assert told["fs-variance"][1] == HOLDS
    assert told["fs-growth"] == (0.152, HOLDS)  # log 1.25 / log(log 20 / log 2)
    assert told["rb-growth"] == (0.602, FAILS)
    assert "fs-near" not in told  # of the appendix on CIFAR-100
    assert all(v.n == N and v.place == "Section 5, on Figure 1" for v in found.values())


def test_feature_selection_sentences_that_fail(tmp_path):
    """Also where the second best map is better than the best one, and M is not in order."""
    few = {fs.BEST: 31.0, fs.FS: 40.0, fs.RB: 80.0, fs.SECOND: 30.0}
    many = few | {fs.FS: 200.0, fs.RB: 80.0}
    stored(tmp_path, "fs-mnist", "tuned", {"M = 20": many, "M = 2": few})
    told = {key[0]: (round(v.value, 3), v.verdict) for key, v in verdicts(tmp_path).items()}
    assert told == {
        "fs-between": (1.333, FAILS),
        "fs-few": (2.0, FAILS),
        "fs-many": (0.4, FAILS),
        "fs-variance": (1.0, FAILS),
        "fs-growth": (1.1, FAILS),  # log 5 / log 4.32
        "rb-growth": (0.0, HOLDS),
    }


def test_close_to_both_means_both(tmp_path):
    finals = {fs.BEST: 10.0, fs.FS: 20.0, fs.SECOND: 30.0, fs.RB: 20.0}
    stored(tmp_path, "fs-cifar100", "tuned", {"M = 2": finals, "M = 5": finals})
    found = verdicts(tmp_path)["fs-near", "fs-cifar100", "tuned"]
    assert (found.verdict, found.value, found.place) == (FAILS, pytest.approx(2.0), "Appendix F")


def test_one_number_of_models_says_nothing_about_growth(tmp_path):
    finals = {fs.BEST: 10.0, fs.FS: 16.0, fs.RB: (20.0, 1.0), fs.SECOND: 30.0}
    stored(tmp_path, "fs-mnist", "tuned", {"M = 20": finals})
    assert {key[0] for key in verdicts(tmp_path)} == {"fs-between", "fs-variance"}


def test_parameter_selection_sentences(tmp_path):
    """Fine models: PS above OFUL and RB; coarse ones: both closer to OFUL."""
    base = {ps.ORACLE: 0.88, ps.PS: 0.86, ps.LIKELIHOOD: 0.87, ps.RB: (0.80, 0.1), ps.INDIVIDUAL: 0.75}
    small = base | {ps.RB: (0.85, 0.1)}
    steady = {"M = 2": small, "M = 10": base}
    coarse = {"M = 2": small, "M = 10": base | {ps.PS: 0.77, ps.RB: (0.76, 0.0)}}
    stored(tmp_path, "ps-mnist", "theory", steady)
    stored(tmp_path, "ps-mnist-coarse", "theory", coarse)
    told = {key[:2]: v.verdict for key, v in verdicts(tmp_path).items()}
    assert told["ps-good", "ps-mnist"] == HOLDS  # .86 / .88 = .977
    assert told["ps-transfer", "ps-mnist"] == told["ps-transfer-ours", "ps-mnist"] == HOLDS
    assert told["ps-many", "ps-mnist"] == HOLDS
    assert told["ps-variance", "ps-mnist"] == HOLDS
    assert told["ps-coarse", "ps-mnist-coarse"] == HOLDS  # .11 -> .02 and .05 -> .01
    assert told["ps-growth", "ps-mnist"] == OPEN  # no regret was stored
    assert ("ps-coarse", "ps-cifar10-coarse") not in told


def test_scaling_is_that_of_the_regret(tmp_path):
    """Between M = 2 and M = 10: log 3 / log(log 10 / log 2) = .915 and log 2 / log 5 = .431."""
    path = tmp_path / "ps-mnist" / "tuned"
    path.mkdir(parents=True)
    few, many = {ps.PS: 100.0, ps.RB: 100.0}, {ps.PS: 300.0, ps.RB: 200.0}
    Results({"M = 2": result(few, "regret"), "M = 10": result(many, "regret")}).save(path / "results.parquet")
    found = {key[0]: v for key, v in verdicts(tmp_path).items()}
    assert (round(found["ps-growth"].value, 3), found["ps-growth"].verdict) == (0.915, FAILS)
    assert (round(found["ps-rb-growth"].value, 3), found["ps-rb-growth"].verdict) == (0.431, HOLDS)


def test_the_synthetic_sentences_and_theorems(tmp_path):
    from banditselect.experiments.ps_synthetic import INDIVIDUAL, INDIVIDUAL_10

    radius, T = 2.0, 1000
    arguments = {"noise": 0.3, "feature_bound": {"per replicate": [1.0] * N}, "reward_bound": 1.0, "delta": 0.05}
    own = {"arguments": {"delta": 0.05}}
    settings = {"rounds": T, "policies": {ps.PS: {"arguments": arguments}, ps.LIKELIHOOD: own}}
    settings["problem"] = {"arguments": {"n_models": 3, "dim": 4, "radius": radius}}
    bound = ps_theory.regret_bound(
        t=T,
        dim=4,
        n_models=3,
        noise=0.3,
        feature_bound=1.0,
        reward_bound=1.0,
        radius=[radius] * 3,
        delta=0.05,
        form="printed",
    )
    finals = {
        f"b = {b}": {ps.PS: part * bound, ps.LIKELIHOOD: 1.0, INDIVIDUAL: 0.8 * bound, INDIVIDUAL_10: 0.9 * bound}
        for b, part in (("0", 0.5), ("sqrt(d)", 0.6), ("2 sqrt(d)", 0.7))
    }
    stored(tmp_path, "ps-synthetic", "theory", finals, settings=settings)
    found = {key[0]: v for key, v in verdicts(tmp_path).items()}
    assert {k: v.verdict for k, v in found.items()} == {
        "ps-better": HOLDS,
        "ps-better-ours": HOLDS,
        "ps-closer": HOLDS,
        "ps-bound": HOLDS,
        "ps-transfer-synthetic": HOLDS,
        "ps-theorem": HOLDS,
        "ps-set": HOLDS,
        "ps-set-ours": HOLDS,
    }
    assert found["ps-theorem"].value == 1.0
    assert "0.7 of it" in found["ps-theorem"].statistic
    assert found["ps-theorem"].n == 3 * N
    broken = {
        p: f | {ps.PS: 1.5 * bound, INDIVIDUAL: part * bound}
        for (p, f), part in zip(finals.items(), (0.5, 0.4, 0.3), strict=True)
    }
    stored(tmp_path / "other", "ps-synthetic", "theory", broken, settings=settings, coverage=0.0)
    failed = {key[0]: v.verdict for key, v in verdicts(tmp_path / "other").items()}
    assert failed["ps-theorem"] == failed["ps-set"] == failed["ps-set-ours"] == failed["ps-better"] == FAILS
    assert failed["ps-closer"] == FAILS  # from 3 times the regret of OFUL to 5 times


def test_a_problem_in_which_a_theorem_fails_cannot_hide_behind_others(tmp_path):
    path = tmp_path / "ps-synthetic" / "theory"
    path.mkdir(parents=True)
    settings = {"rounds": 10, "policies": {ps.LIKELIHOOD: {"arguments": {"delta": 0.05}}}}
    results = {f"b = {k}": result({ps.LIKELIHOOD: 1.0}, "regret", settings, coverage=float(k > 0)) for k in range(30)}
    Results(results).save(path / "results.parquet")
    found = verdicts(tmp_path)["ps-set-ours", "ps-synthetic", "theory"]
    assert (found.verdict, found.value, found.n) == (FAILS, 0.0, N)
    assert found.statistic.endswith("b = 0")


def test_fine_and_coarse_models_are_compared_on_the_same_problems_only(tmp_path):
    base = {ps.ORACLE: 0.88, ps.PS: 0.86, ps.RB: 0.8, ps.INDIVIDUAL: 0.75}
    stored(tmp_path, "ps-mnist", "theory", {"M = 2": base, "M = 10": base}, settings={"rounds": 10, "seed": 0})
    stored(tmp_path, "ps-mnist-coarse", "theory", {"M = 2": base, "M = 10": base}, settings={"rounds": 20, "seed": 0})
    assert "ps-coarse" not in {key[0] for key in verdicts(tmp_path)}


def test_the_bound_of_feature_selection_is_that_of_theory(tmp_path):
    told = {"noise": 0.3, "feature_bound": 1.0, "reward_bound": 1.0, "parameter_bound": 1.0}
    told |= {"dim": 4, "n_models": 2, "regularization": 1.0, "delta": 0.05}
    settings = {"rounds": 1000, "policies": {fs.FS: {"arguments": told}}, "problem": {"arguments": {"n_actions": 5}}}
    bound = fs_theory.regret_bound(t=1000, n_actions=5, form="printed", **told)
    for name, factor, verdict in (("fs-synthetic", 0.5, OPEN), ("fs-mnist", 2.0, FAILS)):
        stored(tmp_path, name, "theory", {"M = 2": {fs.FS: factor * bound}}, settings=settings)
        found = verdicts(tmp_path)["fs-theorem", name, "theory"]
        assert (found.verdict, found.value) == (verdict, float(factor < 1.0))


def test_the_rate_of_latent_bandits(tmp_path):
    """K = 4, M = 3, T = 1000: min(1000 eps + 63.2, 3 * 63.2) with 63.2 = sqrt(4000)."""
    assert latent.rate(1000, n_arms=4, n_models=3, error=0.05) == pytest.approx(113.2456)
    assert latent.rate(1000, n_arms=4, n_models=3, error=0.5) == pytest.approx(189.7367)
    path = tmp_path / "latent" / "theory"
    path.mkdir(parents=True)
    results = {}
    for name, error, regret in (("low", 0.05, 56.6228), ("high", 0.5, 189.7367 * 1.5)):
        told = {"n_arms": 4, "n_models": 3, "error": error}
        settings = {"rounds": 1000, "problem": {"arguments": told}}
        results[name] = result({latent.PRINTED: 56.6228, latent.SOURCE: regret}, "regret", settings)
    Results(results).save(path / "results.parquet")
    found = {key[0]: v for key, v in verdicts(tmp_path).items()}
    assert found["latent-rate"].verdict == HOLDS
    assert found["latent-rate"].value == pytest.approx(0.5, abs=1e-3)
    assert found["latent-rate-source"].verdict == FAILS
    assert found["latent-rate-source"].value == pytest.approx(1.5, abs=1e-3)


def test_every_sentence_names_experiments_and_policies_that_there_are():
    ids = [sentence.id for sentence in SENTENCES]
    assert len(set(ids)) == len(ids)
    for sentence in SENTENCES:
        for name in sentence.experiments:
            experiment = EXPERIMENTS[name]
            assert set(sentence.regimes) & set(experiment.regimes), sentence.id
            scale = experiment.scales["quick"]
            (problem, *_) = experiment.problems(scale.models).values()
            played = {
                policy
                for regime in sentence.regimes
                if regime in experiment.regimes
                for policy in experiment.regimes[regime].policies(problem, 10)
            }
            assert set(sentence.policies) <= played, (sentence.id, name)


def test_nothing_stored_nothing_judged(tmp_path):
    assert judge(tmp_path, EXPERIMENTS) == []
