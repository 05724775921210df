"""Balancing with elimination, dynamic balancing, D3RB and ED2RB against replays, round by round."""

import math

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from banditselect import OFUL, BiasOFUL, Power, RegretBalancing, Uniform, load, on_map
from banditselect.masters import D3RB, ED2RB, BalancingElimination, DynamicBalancing
from banditselect.masters.balancing import MeanWidths

ONE = np.ones((1, 1))
ALL = [BalancingElimination, DynamicBalancing, D3RB, ED2RB]


def width(n, M, noise, delta=0.05, scale=1.0):
    """The radius as it is written in the policies."""
    return 1.7 * scale * noise * math.sqrt((math.log(math.log(2 * n)) + 0.72 * math.log(10.4 * M / delta)) / n)


def script(M, rounds, seed=0):
    """Rewards of each base, round by round: the first is worst, and the last begins well and falls off."""
    rewards = np.random.default_rng(seed).uniform(size=(M, rounds)) * np.linspace(0.2, 1.0, M)[:, None]
    rewards[-1, rounds // 8 :] *= 0.3
    return rewards


def play(policy, rewards, rounds):
    """Play a script; yield the base of every round before its reward is learned."""
    plays = np.zeros(len(rewards), dtype=int)
    for _ in range(rounds):
        decision = policy.act(ONE)
        yield decision.base
        policy.update(decision, float(rewards[decision.base, plays[decision.base]]))
        plays[decision.base] += 1
    np.testing.assert_array_equal(policy.plays, plays)


class Books:
    """Rounds and rewards of each base, as a replay keeps them."""

    def __init__(self, rewards):
        self.rewards, self.N = rewards, [0] * len(rewards)

    def mean(self, i):
        return sum(self.rewards[i][: self.N[i]]) / self.N[i]

    @property
    def untried(self):
        return [i for i, n in enumerate(self.N) if n == 0]

    def least(self, values, among):
        """The first that was not tried, or else of smallest value."""
        return self.untried[0] if self.untried else min(among, key=lambda i: (values(i), i))


# Which base plays


BOUNDS = {0: lambda n: 0.4 * math.sqrt(n), 1: lambda n: 0.3 * n**0.6, 2: lambda n: 0.5 * math.sqrt(n)}


@pytest.mark.parametrize("form", ["powers", "schedules"])
def test_elimination_by_replay(form):
    M, rounds, noise = 3, 500, 0.08
    rewards = script(M, rounds)
    reference = [0.4, Power(0.3, 0.6), 0.5] if form == "powers" else [BOUNDS[i] for i in range(M)]
    policy = BalancingElimination(bases=[Uniform()] * M, reference=reference, noise=noise, delta=0.1)
    books, alive = Books(rewards), {0, 1, 2}
    for base in play(policy, rewards, rounds):
        assert set(np.flatnonzero(policy.admissible)) == alive
        assert base == books.least(lambda i: BOUNDS[i](books.N[i]), alive)
        books.N[base] += 1
        known = [i for i in alive if books.N[i]]
        off = {i: width(books.N[i], M, noise, 0.1) for i in known}
        level = max(books.mean(i) - off[i] for i in known)
        alive -= {i for i in known if books.mean(i) + BOUNDS[i](books.N[i]) / books.N[i] + off[i] < level}
    assert 0 < len(alive) < 3
    np.testing.assert_array_equal(policy.model_weights, policy.plays / rounds)


@pytest.mark.parametrize("bias", [0.0, 0.5])
def test_dynamic_balancing_by_replay(bias):
    M, rounds, noise = 3, 500, 0.08
    rewards = script(M, rounds, seed=1)
    reference = [0.4, Power(0.3, 0.6), 0.5]
    policy = DynamicBalancing(bases=[Uniform()] * M, reference=reference, noise=noise, delta=0.1, bias=bias)
    books, seen = Books(rewards), []
    for t, base in enumerate(play(policy, rewards, rounds)):
        known = [i for i in range(M) if books.N[i]]
        eta = {i: books.mean(i) - bias * BOUNDS[i](t) / t for i in known}
        off = {i: width(books.N[i], M, noise, 0.1) for i in known}
        level = max((eta[i] - off[i] for i in known), default=-math.inf)
        bound = {i: BOUNDS[i](books.N[i]) / books.N[i] for i in known}
        active = [i for i in range(M) if i not in known or eta[i] + bound[i] + off[i] >= level]
        assert np.flatnonzero(policy.admissible).tolist() == active
        assert base == books.least(lambda i: BOUNDS[i](books.N[i]), active)
        books.N[base] += 1
        seen.append([i in active for i in range(M)])
    back = np.diff(np.array(seen, dtype=int), axis=0)
    assert (back < 0).any()
    assert (back > 0).any()  # what rested came back


@pytest.mark.parametrize("cls", [D3RB, ED2RB])
def test_data_driven_balancing_by_replay(cls):
    M, rounds, noise, smallest = 4, 500, 0.08, 0.2
    rewards = script(M, rounds, seed=2)
    policy = cls(bases=[Uniform()] * M, coefficient=smallest, noise=noise, delta=0.1)
    books, d, phi = Books(rewards), [smallest] * M, [smallest] * M
    for base in play(policy, rewards, rounds):
        np.testing.assert_allclose(policy.coefficients, d, rtol=1e-9)
        np.testing.assert_allclose(policy.model.potential[0], phi, rtol=1e-9)
        assert base == books.least(lambda i: phi[i], range(M))
        books.N[base] += 1
        n = books.N[base]
        level = max(books.mean(j) - width(books.N[j], M, noise, 0.1) for j in range(M) if books.N[j])
        gap = level - books.mean(base) - width(n, M, noise, 0.1)
        if cls is D3RB:
            d[base] *= 2 if gap > d[base] / math.sqrt(n) else 1
            phi[base] = d[base] * math.sqrt(n)
        else:
            d[base] = max(smallest, math.sqrt(n) * gap)
            phi[base] = min(max(phi[base], d[base] * math.sqrt(n)), 2 * phi[base])
    assert max(d) > 2 * min(d)


def test_own_bounds_are_those_after_learning(tmp_path):
    """Questions and files in between eliminate nothing."""
    rng = np.random.default_rng(4)
    bases = [OFUL(dim=2, noise=0.05, regularization=lam, scale=0.05) for lam in (0.5, 3.0)]
    policy = BalancingElimination(bases=[*bases, OFUL(dim=2, noise=5.0)], reference="own", noise=0.02, scale=0.1)
    asked = load(policy_file(policy, tmp_path))
    for _ in range(80):
        x = rng.normal(size=(4, 2))
        one, two = policy.act(x), asked.act(x)
        assert (one.action, one.base) == (two.action, two.base)
        U, alive = [base.regret_bound for base in policy.bases], np.flatnonzero(policy.admissible)
        if (policy.plays > 0).all():
            assert one.base == min(alive, key=lambda i: U[i])
        reward = float(x[one.action] @ [0.6, -0.3] + 0.02 * rng.normal())
        policy.update(one, reward)
        asked.update(two, reward)
        asked.probabilities(x)
        assert asked.admissible.any()
        asked = load(policy_file(asked, tmp_path))
    np.testing.assert_array_equal(policy.admissible, asked.admissible)


def policy_file(policy, folder):
    policy.save(folder / "policy.bsel")
    return folder / "policy.bsel"


def test_elimination_looks_at_every_reward_also_of_those_that_come_together():
    """One by one or as a batch: a base that failed the test in between is gone."""
    policies = [BalancingElimination(bases=[Uniform()] * 2, noise=1e-3, reference=0.1) for _ in range(2)]
    rewards = {0: iter([1.0, 1.0, 9.0, 9.0]), 1: iter([0.0, 3.0, 0.0, 0.0])}
    for policy in policies:  # both bases have played and wait
        for base in (0, 1):
            policy.model.tally.plays[0, base] = 1
            policy.model.tally.earned[0, base] = 1.0
    decisions = [
        [policy.act(ONE)._replace(note=np.array([[float(base)]])) for base in (0, 1, 0, 1)] for policy in policies
    ]
    values = [next(rewards[base]) for base in (0, 1, 0, 1)]
    for decision, value in zip(decisions[0], values, strict=True):
        policies[0].update(decision, value)
    policies[1].update_many(decisions[1], values)
    for policy in policies:
        assert policy.admissible.tolist() == [True, False]  # R = (2, 1), N = (2, 2) in between: 0.5 + 0.07 < 1
        assert policy.model.tally.earned.tolist() == [[3.0, 4.0]]


# Invariants


unit = st.floats(-1.0, 1.0, allow_nan=False)


@drawn(st.lists(st.lists(unit, min_size=40, max_size=40), min_size=2, max_size=4), st.floats(0.01, 2.0))
@settings(max_examples=40, deadline=None)
def test_coefficients_of_d3rb_only_double_and_potentials_of_ed2rb_stay_within_two(rewards, smallest):
    M = len(rewards)
    doubling, estimating = (cls(bases=[Uniform()] * M, coefficient=smallest, noise=0.05) for cls in (D3RB, ED2RB))
    before = np.full(M, smallest)
    for base in play(doubling, np.array(rewards), 40):
        assert set((doubling.coefficients / before).tolist()) <= {1.0, 2.0}
        assert base in np.flatnonzero(doubling.model.potential[0] == doubling.model.potential[0].min())
        before = doubling.coefficients
    before = np.full(M, smallest)
    for _ in play(estimating, np.array(rewards), 40):
        after = estimating.model.potential[0].copy()
        assert ((after >= before) & (after <= 2.0 * before)).all()
        assert after.max() <= 2.0 * after.min()
        assert (estimating.coefficients >= smallest).all()
        before = after


@drawn(
    st.integers(0, 2),
    st.floats(0.05, 2.0),
    st.lists(st.lists(st.floats(0.0, 1.0), min_size=60, max_size=60), min_size=3, max_size=3),
    st.floats(-3.0, 3.0),
)
@settings(max_examples=40, deadline=None)
def test_without_noise_a_base_whose_bound_holds_is_never_sent_away(good, u, losses, best):
    """The good base loses 0.99 u sqrt(n) in n rounds, or less; the others anything up to 1 a round."""
    rewards = best - np.array(losses)
    allowed = 0.99 * u * np.diff(np.sqrt(np.arange(61)))
    rewards[good] = best - np.minimum(losses[good], 1.0) * allowed
    for cls in (BalancingElimination, DynamicBalancing):
        told = {"bias": 0.0} if cls is DynamicBalancing else {}
        policy = cls(bases=[Uniform()] * 3, reference=[u, 0.5, 0.2] if good == 0 else u, noise=1e-9, **told)
        for _ in play(policy, rewards, 60):
            assert policy.admissible[good]


def test_means_stay_within_their_widths():
    """At most 1 in 20 of 2000 walks may ever leave; 140 or more would be 4.1 standard deviations (2e-5)."""
    M, steps = 1, np.arange(1, 1001)
    walks = np.random.default_rng(0).normal(size=(2000, 1000)).cumsum(axis=1)
    known = MeanWidths(D3RB(bases=[Uniform()], noise=1.0, delta=0.05), 1)
    off = known.width[0] * np.sqrt((np.log(np.log(2 * steps)) + known.log_term) / steps)
    assert (np.abs(walks) > steps * off).any(axis=1).sum() < 140
    assert off[99] == pytest.approx(width(100, M, 1.0))


# Refusals


@pytest.mark.parametrize("cls", [RegretBalancing, BalancingElimination])
def test_one_bound_for_each_base(cls):
    bases = [OFUL(dim=2), Uniform()]
    policy = cls(bases=bases, reference=["own", lambda n: 0.5 * math.sqrt(n)])
    for _ in range(10):
        policy.update(policy.act(np.eye(2)), 0.5)
    assert policy.plays.sum() == 10
    with pytest.raises(ValueError, match=rf"{cls.__name__}: reference: .*one for each of 2 bases"):
        cls(bases=bases, reference=[1.0])
    with pytest.raises(ValueError, match=rf"{cls.__name__}: reference\[1\]: .*finite number >= 0"):
        cls(bases=bases, reference=[1.0, -1.0])
    with pytest.raises(ValueError, match=r"reference: .*bases\[1\] has no regret_bound"):
        cls(bases=bases, reference=[1.0, "own"])
    cls(bases=[on_map(OFUL(dim=2), 0), on_map(BiasOFUL(center=[0.0, 1.0]), 1)], reference="own")


def test_refusals():
    with pytest.raises(ValueError, match=r"DynamicBalancing: reference: .*Power"):
        DynamicBalancing(bases=[Uniform()], reference=math.sqrt)
    with pytest.raises(ValueError, match=r"DynamicBalancing: reference: .*finite number"):
        DynamicBalancing(bases=[OFUL(dim=1)], reference="own")
