"""Sentences on latent bandits beside the rate: exponents, bounds and ratios by hand."""

import numpy as np
import pytest

from banditselect.experiments import EXPERIMENTS, latent
from banditselect.experiments import parameter_selection as ps
from banditselect.experiments.claims import judge
from banditselect.experiments.claims.claim import FAILS, HOLDS
from banditselect.simulation import Results
from results_by_hand import result

N, ROUNDS = 40, 1000
SPREAD = 1.0 + 0.001 * np.linspace(-1.0, 1.0, N)


def judged(regret):
    """Judge results of all problems: ``regret(policy, K, M, eps, t)``, or None where a policy is not to play."""
    results = {}
    for name, problem in latent.problems().items():
        told = {"n_arms": problem.n_arms, "n_models": problem.n_models, "error": problem.error}
        curves = {}
        for policy in latent.policies(problem, ROUNDS):
            values = [regret(policy, *told.values(), t) for t in (250, ROUNDS)]
            if None not in values:
                curves[policy] = np.array(values)[:, None] * SPREAD
        policies = {latent.OPTIMISM: {"arguments": {"noise": 0.5}}}
        settings = {"rounds": ROUNDS, "problem": {"arguments": told}, "policies": policies}
        results[name] = result(curves, (250, ROUNDS), settings)
    return {verdict.id: verdict for verdict in judge({("latent", "theory"): Results(results)}, EXPERIMENTS)}


def powers(**exponents):
    """Return regrets that are products of powers, by policy: exponents of K, M, 1 + eps and t."""

    def regret(policy, K, M, eps, t):
        k, m, e, T = exponents.get(policy, (0.0, 0.0, 0.0, 0.0))
        return K**k * M**m * max(eps, 0.01) ** e * t**T

    return regret


def test_exponents_are_those_of_the_regret():
    exponents = {ps.PS: (0.3, 0, 0, 0.9), ps.LIKELIHOOD: (0.45, 0.1, 0.2, 0.4), latent.OPTIMISM: (0.1, 0.5, 0.6, 0.4)}
    found = judged(powers(**exponents))
    assert (found["latent-ps"].verdict, found["latent-ps"].value) == (FAILS, pytest.approx(0.9))
    assert found["latent-ps"].statistic.startswith("exponent e of T^e, regret of PS-OFUL")
    assert (found["latent-ps-ours"].verdict, found["latent-ps-ours"].value) == (HOLDS, pytest.approx(0.45))
    assert "between K=10, M=5, ε=0.5 and K=50, M=5, ε=0.5" in found["latent-ps-ours"].statistic
    assert found["latent-dependence-ours"].verdict == HOLDS
    assert found["latent-dependence-ours"].value == pytest.approx(-0.4)
    assert (found["latent-arms-ours"].verdict, found["latent-arms-ours"].value) == (HOLDS, pytest.approx(-0.35))
    worse = exponents | {ps.LIKELIHOOD: (0.0, 0.7, 0.2, 0.4)}
    found = judged(powers(**worse))
    assert (found["latent-dependence-ours"].verdict, found["latent-dependence-ours"].value) == (
        FAILS,
        pytest.approx(0.2),
    )
    assert "exponent of M" in found["latent-dependence-ours"].statistic
    assert (found["latent-arms-ours"].verdict, found["latent-arms-ours"].value) == (FAILS, pytest.approx(0.1))


def test_the_bound_of_hong_et_al():
    """M = 5, eps = .1, R = .5, T = 1000: 15 + 200 + sqrt(30000 log 1000) = 215 + 455.23."""
    assert latent.rivals_bound(1000, n_models=5, error=0.1, noise=0.5) == pytest.approx(670.2284, abs=1e-3)

    def share(policy, K, M, eps, t):
        above = policy == latent.SAMPLING and (M, eps) == (20, 0.1)
        return (1.2 if above else 0.5) * latent.rivals_bound(ROUNDS, n_models=M, error=eps, noise=0.5)

    found = judged(share)["latent-rivals"]
    assert (found.verdict, found.value) == (FAILS, pytest.approx(1.2))
    assert found.statistic == "regret of mmTS over its bound, K=50, M=20, ε=0.1"


def test_the_best_of_both_is_the_smaller_of_the_two():
    """RB has 12; PS-OFUL 10 and mmUCB 30 for a small error, the other way round for a large one: 1.2 of the smaller."""

    def regret(policy, K, M, eps, t):
        small, large = (10.0, 30.0) if eps < 0.5 else (30.0, 10.0)
        return {ps.LIKELIHOOD: small, latent.OPTIMISM: large}.get(policy, 12.0)

    found = judged(regret)["latent-best-ours"]
    assert (found.verdict, found.value) == (HOLDS, pytest.approx(1.2))


def test_sentences_about_what_did_not_play_are_left_out():
    found = judged(lambda policy, *_: None if policy == ps.PS else 1.0)
    assert "latent-ps" not in found
    assert "latent-ps-ours" in found
