"""A policy made of policies: regret balancing by hand."""

import numpy as np
import pytest

from banditselect import (
    FSOFUL,
    OFUL,
    BiasOFUL,
    Catalogue,
    LinTS,
    Power,
    RegretBalancing,
    SquareCB,
    Uniform,
    load,
    on_map,
)

ONE = np.ones((1, 1))


# Which base plays


def by_hand(plays, earned, U, rule):
    """The bases that may play next."""
    if (plays == 0).any():
        return np.flatnonzero(plays == 0)
    value = earned / plays + U / plays
    if rule == "balancing":
        value = -(plays * value.max() - earned)
    return np.flatnonzero(value == value.max())


@pytest.mark.parametrize("rule", ["optimistic", "balancing"])
@pytest.mark.parametrize(
    ("reference", "U"),
    [(0.7, lambda n: 0.7 * np.sqrt(n)), (Power(1.5, 0.7), lambda n: 1.5 * n**0.7), (lambda n: np.log1p(n), np.log1p)],
    ids=["number", "power", "callable"],
)
def test_the_rule_by_hand_on_scripted_rewards(rule, reference, U):
    script = np.random.default_rng(0).uniform(size=(3, 60)) * [[0.5], [0.8], [1.0]]
    policy = RegretBalancing(bases=[Uniform()] * 3, reference=reference, rule=rule, seed=1)
    plays, earned = np.zeros(3), np.zeros(3)
    for _ in range(60):
        decision = policy.act(ONE)
        assert decision.base in by_hand(plays, earned, U(plays), rule)
        reward = script[decision.base, int(plays[decision.base])]
        policy.update(decision, float(reward))
        plays[decision.base] += 1
        earned[decision.base] += reward
        np.testing.assert_array_equal(policy.plays, plays)
        np.testing.assert_array_equal(policy.model_weights, plays / plays.sum())
    assert plays.min() > 1


@pytest.mark.parametrize("rule", ["optimistic", "balancing"])
def test_own_reference_is_the_width_of_what_the_base_played(rule):
    rng = np.random.default_rng(2)
    noise, delta, theta = 0.2, 0.05, np.array([0.6, -0.3])
    lams = (0.5, 3.0)
    bases = [OFUL(dim=2, noise=noise, delta=delta, regularization=lam) for lam in lams]
    policy = RegretBalancing(bases=bases, reference="own", rule=rule, seed=3)
    plays, earned, U = np.zeros(2), np.zeros(2), np.zeros(2)
    V = [lam * np.eye(2) for lam in lams]
    for _ in range(60):
        x = rng.normal(size=(4, 2))
        decision = policy.act(x)
        assert decision.base in by_hand(plays, earned, U, rule)
        i, z = decision.base, decision.features
        reward = float(z @ theta + noise * rng.normal())
        policy.update(decision, reward)
        logdet = np.linalg.slogdet(V[i] / lams[i])[1]
        beta = noise * np.sqrt(logdet + 2.0 * np.log(1.0 / delta)) + np.sqrt(lams[i])
        U[i] += 2.0 * beta * np.sqrt(z @ np.linalg.solve(V[i], z))
        V[i] += np.outer(z, z)
        plays[i] += 1
        earned[i] += reward
    assert plays.min() > 5


def test_own_reference_follows_what_bases_are_taught(tmp_path):
    """A policy that was just loaded has asked for no bound yet: it must decide as the one that plays on."""
    rng = np.random.default_rng(13)
    policy = RegretBalancing(bases=[OFUL(dim=2, regularization=lam) for lam in (0.1, 1.0, 9.0)], reference="own")
    for t in range(40):
        x = rng.normal(size=(4, 2))
        policy.save(tmp_path / "policy.bsel")
        decision = policy.act(x)
        assert load(tmp_path / "policy.bsel").act(x) == decision
        policy.update(decision, float(rng.normal()))
        if t % 3 == 0:
            policy.learn(rng.normal(size=2), float(rng.normal()))


# Propensities


def test_the_propensity_under_ties_is_the_mixture():
    greedy = [BiasOFUL(center=c, radius=0.0) for c in ([1.0, 0.0], [0.0, 1.0], [0.0, 2.0])]
    policy = RegretBalancing(bases=[*greedy, Uniform()], lanes=200)
    x = np.tile(np.eye(2), (200, 1, 1))
    np.testing.assert_allclose(policy.probabilities(x), [[0.375, 0.625]] * 200)  # 1/4 (1 + 1/2), 1/4 (1 + 1 + 1/2)
    decision = policy.act(x)
    np.testing.assert_allclose(decision.probability, np.array([0.375, 0.625])[decision.action])
    assert set(decision.base) == {0, 1, 2, 3}
    assert (decision.action[decision.base == 0] == 0).all()
    assert (decision.action[(decision.base == 1) | (decision.base == 2)] == 1).all()
    for _ in range(3):
        policy.update(decision, np.where(decision.base == 1, 1.0, 0.0))
        decision = policy.act(x)
    policy.update(decision, np.where(decision.base == 1, 1.0, 0.0))
    decision = policy.act(x)  # base 1 alone is ahead
    np.testing.assert_array_equal(decision.base, 1)
    np.testing.assert_array_equal(decision.probability, 1.0)
    np.testing.assert_array_equal(policy.probabilities(x), [[0.0, 1.0]] * 200)


def offered_of(how, x):
    """The features, as an array, as a list of maps, or as items of a catalogue."""
    if how == "items":
        return Catalogue(x).offer(np.arange(x.shape[-2]))
    return x if how == "array" else list(x)


@pytest.mark.parametrize("how", ["array", "list", "items"])
@pytest.mark.parametrize("base", [OFUL, SquareCB], ids=lambda base: base.__name__)
def test_the_propensity_while_bases_on_maps_tie(base, how):
    """Some have learned, though they have not played; one has other settings; one is on no map."""
    rng = np.random.default_rng(11)
    maps = [on_map(base(dim=3), i) for i in (4, 1, 0, 2)]
    bases = [*maps, on_map(base(dim=3, regularization=5.0), 3), Uniform()]
    policy = RegretBalancing(bases=bases, seed=2)
    policy.bases[2].learn(rng.normal(size=(5, 3)), 0.4)  # has learned, but not played
    untried = np.ones(6, dtype=bool)
    for _ in range(6):
        x, mask = rng.normal(size=(5, 4, 3)), np.array([True, False, True, True])
        expected = np.mean([policy.bases[i].probabilities(x, available=mask) for i in np.flatnonzero(untried)], axis=0)
        found = policy.probabilities(offered_of(how, x), available=mask)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)
        decision = policy.act(offered_of(how, x), available=mask)
        assert decision.probability == found[decision.action]
        policy.update(decision, 0.3)
        untried[decision.base] = False


def test_a_base_without_propensities_takes_them_from_all():
    policy = RegretBalancing(bases=[Uniform(), LinTS(dim=2)])
    assert policy.probabilities(np.eye(2)) is None
    assert {policy.act(np.eye(2)).probability for _ in range(10)} == {None}


# References, nesting, warnings


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_reference_that_is_not_a_number_is_refused(value):
    policy = RegretBalancing(bases=[Uniform(), Uniform()], reference=lambda n: value)
    policy.update(policy.act(ONE), 1.0)
    with pytest.raises(ValueError, match="reference"):
        policy.act(ONE)
    with pytest.raises(ValueError, match="reference"):
        policy.probabilities(ONE)


def test_a_reference_is_asked_only_about_bases_that_have_played():
    policy = RegretBalancing(bases=[Uniform(), Uniform()], reference=lambda n: 1.0 / n)
    for _ in range(4):
        policy.update(policy.act(ONE), 1.0)
    assert policy.plays.sum() == 4


def test_a_nested_policy_keeps_its_own_books():
    policy = RegretBalancing(bases=[Uniform(), RegretBalancing(bases=[Uniform(), Uniform()])], seed=2)
    outer, inner = np.zeros(2), np.zeros(2)
    for k in range(40):
        decision = policy.act(ONE)
        outer[decision.base] += 1
        if decision.base == 1:
            inner[int(decision.note[0, 1])] += 1
        policy.update(decision, 1.0 + k % 2 if decision.base else 0.0)
    np.testing.assert_array_equal(policy.plays, outer)
    np.testing.assert_array_equal(policy.bases[1].plays, inner)
    assert inner.min() > 3


@pytest.mark.parametrize("how", ["update", "update_many", "learn"])
def test_a_warning_names_the_base_that_gives_it(how):
    inner = RegretBalancing(bases=[on_map(SquareCB(dim=1), 0)])
    policy = RegretBalancing(bases=[on_map(OFUL(dim=1), 0), inner])
    while (decision := policy.act(np.ones((1, 1, 1)))).base == 0:
        policy.update(decision, 0.5)
    calls = {
        "update": lambda: policy.update(decision, 7.0),
        "update_many": lambda: policy.update_many([decision], [7.0]),
        "learn": lambda: policy.learn(np.ones((1, 1)), 7.0),
    }
    with pytest.warns(RuntimeWarning, match=r"RegretBalancing: bases\[1\]: bases\[0\]: ") as said:
        calls[how]()
    assert len(said) == 1


# Its bases


def test_bases_are_copied_and_the_originals_untouched():
    original = SquareCB(dim=2, seed=9)
    policy = RegretBalancing(bases=[original, original], seed=4)
    for _ in range(10):
        policy.update(policy.act(np.eye(2)), 1.0)
    assert original.rounds == 0
    assert not original.parameters.any()
    first, second = policy.bases
    assert first is not second
    assert first is not original
    assert first.seed == second.seed == 4
    assert original.seed == 9
    assert not np.array_equal(first.parameters, second.parameters)


@pytest.mark.parametrize("used", [lambda p: p.act(np.eye(2)), lambda p: p.learn([1.0, 0.0], 1.0)])
def test_bases_that_have_played_or_learned_are_refused(used):
    base = SquareCB(dim=2)
    used(base)
    for one in (base, lambda lanes, seed: base):
        with pytest.raises(ValueError, match=r"bases\[1\]: .*already played or learned"):
            RegretBalancing(bases=[SquareCB(dim=2), one])
    with pytest.raises(ValueError, match=r"OnMap: policy: .*already played or learned"):
        on_map(base, 0)


def test_factories_are_called_with_lanes_and_seed():
    seen = []

    def factory(lanes, seed):
        seen.append((lanes, seed))
        return Uniform(lanes=lanes, seed=seed)

    policy = RegretBalancing(bases=(lambda lanes, seed: SquareCB(dim=2), factory), lanes=3, seed=(1, 2))
    assert seen == [(3, (1, 2))]
    assert [type(b) for b in policy.bases] == [SquareCB, Uniform]
    assert (policy.bases[0].lanes, policy.bases[0].seed) == (3, (1, 2))


def test_bases_must_take_the_same_features():
    with pytest.raises(ValueError, match=r"bases\[1\]: takes .*\(K, 3\); expected .*\(K, 2\)"):
        RegretBalancing(bases=[SquareCB(dim=2), SquareCB(dim=3)])
    with pytest.raises(ValueError, match=r"bases\[1\]"):
        RegretBalancing(bases=[SquareCB(dim=2), on_map(SquareCB(dim=2), 0)])
    policy = RegretBalancing(bases=[on_map(SquareCB(dim=2), 0), FSOFUL(n_models=2, dim=[2, 3]), Uniform()])
    assert policy.act([np.ones((4, 2)), np.ones((4, 3))]).features.shape == (2, 3)


def test_learn_teaches_every_base_and_update_only_the_one_that_played():
    policy = RegretBalancing(bases=[SquareCB(dim=1), OFUL(dim=1), Uniform()])
    policy.learn([2.0], 1.0)  # V = 5
    assert [float(b.parameters[0]) for b in policy.bases[:2]] == pytest.approx([0.4, 0.4])
    assert policy.plays.tolist() == [0, 0, 0]
    assert policy.rounds == 1
    while (decision := policy.act(ONE)).base != 1:
        policy.update(decision, 0.5)
    before = float(policy.bases[0].parameters[0])
    policy.update(decision, 1.0)  # V = 6, sum x y = 3
    assert float(policy.bases[0].parameters[0]) == before
    assert float(policy.bases[1].parameters[0]) == pytest.approx(0.5)
