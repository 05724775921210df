"""From scores to probabilities: inverse gap weighting, greed; schedules."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditselect import FSSquareCB, SquareCB, on_map
from banditselect.parts.experts import RidgeBank, SharedRidgeBank
from banditselect.parts.exploration import Power, Scheduled, as_schedule, evaluated, greedy, inverse_gap_weighting

scores = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8)
few_values = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=8)  # many ties


def igw(score, alpha, offered=None):
    mask = None if offered is None else np.array([offered])
    return inverse_gap_weighting(np.array([score], dtype=float), np.array([float(alpha)]), mask)[0]


def test_inverse_gaps_by_hand():
    # K = 3, alpha = 10: gaps .2, 0, .7 -> 1/(3 + 2), rest, 1/(3 + 7)
    np.testing.assert_allclose(igw([0.5, 0.7, 0.0], 10), [0.2, 0.7, 0.1], rtol=1e-14)


def test_inverse_gaps_share_ties():
    np.testing.assert_allclose(igw([1.0, 0.5, 1.0], 2), [0.375, 0.25, 0.375], rtol=1e-14)
    np.testing.assert_allclose(igw([3.0, 3.0, 3.0, 3.0], 7), [0.25] * 4, rtol=1e-14)


def test_inverse_gaps_count_only_what_is_offered():
    p = igw([9.0, 0.7, 0.5, 0.0], 10, [False, True, True, True])
    np.testing.assert_allclose(p, [0.0, 0.7, 0.2, 0.1], rtol=1e-14)
    np.testing.assert_array_equal(igw([9.0, 0.7], 10, [False, True]), [0.0, 1.0])


def test_no_rate_is_uniform_and_a_huge_one_greedy():
    np.testing.assert_allclose(igw([0.1, 5.0, -3.0, 0.2, 0.3], 0), [0.2] * 5, rtol=1e-14)
    np.testing.assert_allclose(igw([0.1, 5.0, -3.0], 1e300), [0.0, 1.0, 0.0], atol=1e-290)
    np.testing.assert_array_equal(igw([-4.0], 3), [1.0])


def test_rows_have_their_own_rate_and_mask():
    score = np.array([[0.0, 1.0, 2.0]] * 2)
    p = inverse_gap_weighting(score, np.array([0.0, 1.0]), np.array([[True, True, False], [True, True, True]]))
    np.testing.assert_allclose(p, [[0.5, 0.5, 0.0], [0.2, 0.25, 0.55]], rtol=1e-14)


@given(score=scores | few_values, alpha=st.floats(0.0, 1e6), data=st.data())
def test_inverse_gaps_are_probabilities_that_favour_the_better(score, alpha, data):
    offered = data.draw(st.lists(st.booleans(), min_size=len(score), max_size=len(score)).filter(any))
    p = igw(score, alpha, offered)
    assert p.sum() == pytest.approx(1.0, abs=1e-14)
    assert p.min() >= 0.0
    assert p[~np.array(offered)].max(initial=0.0) == 0.0
    for a in range(p.size):
        for b in range(p.size):
            if offered[a] and offered[b]:
                if score[a] > score[b]:
                    assert p[a] >= p[b] * (1.0 - 1e-13)
                if score[a] == score[b]:
                    assert p[a] == p[b]


@given(score=scores, alpha=st.floats(0.0, 1e3), shift=st.randoms(use_true_random=False))
def test_permuting_actions_permutes_probabilities(score, alpha, shift):
    order = list(range(len(score)))
    shift.shuffle(order)
    np.testing.assert_allclose(igw(np.array(score)[order], alpha), igw(score, alpha)[order], rtol=1e-12)


def test_greed_shares_ties_among_the_actions_offered():
    score = np.array([[1.0, 2.0, 2.0, -1.0], [1.0, 2.0, 2.0, -1.0], [-np.inf] * 4])
    np.testing.assert_array_equal(greedy(score, None), [[0, 0.5, 0.5, 0], [0, 0.5, 0.5, 0], [0.25] * 4])
    mask = np.array([[True, False, True, True], [True, False, False, True], [True, True, False, False]])
    np.testing.assert_array_equal(greedy(score, mask), [[0, 0, 1, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0]])


class Bounds:
    """Upper bounds of a bank in four lanes, and the same by brute force."""

    def __init__(self, kind, seed):
        rng = np.random.default_rng(seed)
        self.N, self.M, K, d = 4, 5, 6, 3
        if kind == "maps":
            self.bank = RidgeBank(lanes=4, dims=np.full(5, d), regularization=rng.uniform(0.1, 3.0, size=(4, 5)))
        else:
            precision = np.stack([rng.uniform(0.1, 3.0) * np.eye(d) for _ in range(8)]).reshape(4, 2, d, d)
            group = rng.integers(0, 2, size=(4, 5))
            self.bank = SharedRidgeBank(center=rng.normal(size=(4, 5, d)), precision=precision, group=group)
        P = 5 if kind == "maps" else 1
        for _ in range(10):
            x = rng.normal(size=(4, P, d))
            self.bank.learn(np.arange(4), x, rng.normal(size=4))
        self.ids, self.x = np.array([3, 0, 2]), rng.normal(size=(3, P, K, d))
        self.squared = rng.uniform(0.0, 4.0, size=(4, 5))
        self.squared[3, 1] = self.squared[0, :4] = -1.0
        self.squared[2, 2] = 0.0

    def value(self, r, a, scale):
        lane, bounds = self.ids[r], []
        for i in range(self.M):
            z = self.x[r, i if self.x.shape[1] > 1 else 0, a]
            if self.squared[lane, i] >= 0.0:
                leverage = z @ np.linalg.solve(self.bank.precision_of(lane, i), z)
                bounds.append(z @ self.bank.theta[lane, i] + scale * math.sqrt(self.squared[lane, i] * leverage))
        return max(bounds)


@pytest.mark.parametrize("kind", ["maps", "shared"])
@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0])
def test_optimism_by_brute_force(kind, scale):
    for seed in range(10):
        case = Bounds(kind, seed)
        bank = case.bank
        expected = np.array([[case.value(r, a, scale) for a in range(6)] for r in range(3)])
        found = bank.upper_bounds(case.ids, case.x, case.squared, scale)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        p = greedy(bank.upper_bounds(case.ids, case.x, case.squared, scale), None)
        np.testing.assert_array_equal(p, expected == expected.max(axis=1, keepdims=True))
        offered = np.random.default_rng(seed).permuted(np.tile([True, True, False, False, True, False], (3, 1)), axis=1)
        left = np.where(offered, expected, -np.inf)
        p = greedy(bank.upper_bounds(case.ids, case.x, case.squared, scale), offered)
        np.testing.assert_array_equal(p, left == left.max(axis=1, keepdims=True))


@pytest.mark.parametrize(("M", "d", "K"), [(300, 6, 5), (129, 3, 1), (260, 4, 4)])
@pytest.mark.parametrize("standing", [0.0, 0.02, 0.3, 0.7, 1.0])
def test_upper_bounds_of_many_models_by_brute_force(M, d, K, standing):
    """More than one tile: all of its models stand, or some, or few that are collected, or none."""
    rng = np.random.default_rng(M)
    lam, group = np.array([[0.3, 2.0, np.inf, 1.0]]), np.sort(rng.integers(0, 4, size=(1, M)), axis=1)
    center, precision = rng.normal(size=(1, M, d)), np.zeros((1, 4, d, d))
    precision[:, :, np.arange(d), np.arange(d)] = lam[:, :, None]
    bank = SharedRidgeBank(center=center, precision=precision, group=group)
    x, lane = rng.normal(size=(1, 1, K, d)), np.array([0])
    x[0, 0, -1] = x[0, 0, 0]
    squared = np.where(rng.random((1, M)) < standing, rng.uniform(0.0, 4.0, size=(1, M)), -1.0)
    widths = np.linalg.norm(np.einsum("kj,gjl->gkl", x[0, 0], bank.root[0]), axis=2)
    bounds = x[0, 0] @ bank.theta[0].T + 0.8 * np.sqrt(np.maximum(squared, 0.0)) * widths[group[0]].T
    expected = np.where(squared >= 0.0, bounds, -np.inf).max(axis=1)
    found = bank.upper_bounds(lane, x, squared, 0.8)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found[-1] == found[0]  # equal actions tie, wherever they stand


def test_a_refuted_model_has_no_say_even_if_it_promises_most():
    """Actions +1 and -1 in one dimension; three centres, of which the first is far and refuted."""
    center = np.array([[[100.0], [-1.0], [0.5]]])
    bank = SharedRidgeBank(center=center, precision=np.ones((1, 2, 1, 1)), group=np.array([[1, 0, 1]]))
    x, lane = np.array([[[[1.0], [-1.0]]]]), np.array([0])

    def play(*squared, scale=1.0):
        return greedy(bank.upper_bounds(lane, x, np.array([squared]), scale), None)[0].tolist()

    assert play(0.0, 0.0, 0.0) == [1.0, 0.0]
    assert play(-1e-9, 0.0, 0.0) == [0.0, 1.0]  # bounds .5 and 1
    assert play(-1e-9, 0.0, 1.0) == [1.0, 0.0]  # 1.5 and 1
    assert play(-1e-9, 0.0, 1.0, scale=0.4) == [0.0, 1.0]  # .9 and 1
    assert play(-1e-9, 0.0, 0.25) == [0.5, 0.5]  # a tie
    assert play(-1.0, -1.0, -1.0) == [0.5, 0.5]


def test_power():
    assert Power(10.0)(9) == 30.0
    assert Power(2.0, 0.0)(7) == 2.0
    assert Power(3.0, 1.0)(5) == 15.0
    assert Power(3.0, 0.5)(0) == 0.0
    assert Power(0.0)(100) == 0.0
    assert Power(1.5, 0.25) == Power(1.5, 0.25)
    assert repr(Power(1.5, 0.25)) == "Power(scale=1.5, exponent=0.25)"


@pytest.mark.parametrize("scale", [-1.0, math.nan, math.inf, -math.inf])
def test_power_refuses_a_bad_scale(scale):
    with pytest.raises(ValueError, match=f"scale={scale!r}: expected a finite number >= 0"):
        Power(scale)


@pytest.mark.parametrize("exponent", [-0.1, 4.1, math.nan, math.inf])
def test_power_refuses_a_bad_exponent(exponent):
    with pytest.raises(ValueError, match=f"exponent={exponent!r}: expected a number in"):
        Power(1.0, exponent)


def test_schedules():
    assert as_schedule(3)(16) == 12.0
    assert as_schedule(2.5) == Power(2.5, 0.5)
    assert as_schedule(math.log1p) is math.log1p
    schedule = Power(1.0, 1.0)
    assert as_schedule(schedule) is schedule


@pytest.mark.parametrize("schedule", [Power(3.0), Power(2.0, 0.0), Power(1.0, 2.0), math.log1p])
def test_rates_of_lanes(schedule):
    updates = np.array([0, 1, 4, 100])
    ids = np.array([3, 0, 2])
    found = evaluated(ids, Scheduled(schedule, 2.0)(ids, updates, 5, None))
    np.testing.assert_allclose(found, [schedule(100) / 2.0, schedule(0) / 2.0, schedule(4) / 2.0], rtol=1e-14)


# Thousands of actions


def test_a_crowd_is_where_the_best_action_gets_half_of_the_plays():
    """The best of K actions, .1 of a span of 2 above all others, after 10,000 rewards: alpha = 300 * 100 / 2."""
    rate = Scheduled(300.0, 2.0)
    assert rate.crowd == 3000.0
    for K, most in ((3000, 0.51), (3002, 0.5)):
        score = np.zeros((1, K))
        score[0, 7] = 0.2
        p = inverse_gap_weighting(score, np.array([300.0 * 100.0 / 2.0]), None)[0, 7]
        assert most - 0.01 < p < most
    assert Scheduled(np.sqrt, 2.0).crowd == np.inf


@pytest.mark.parametrize(
    ("policy", "features", "instead"),
    [
        (SquareCB(dim=1), np.ones((3001, 1)), 'design="optimal", LinIDS, LinTS or OFUL'),
        (FSSquareCB(n_models=2, dim=1), np.ones((2, 3001, 1)), 'design="optimal", FSIDS, FSTS or FSOFUL'),
        (on_map(SquareCB(dim=1), 0), np.ones((2, 3001, 1)), 'design="optimal", LinIDS, LinTS or OFUL'),
    ],
)
def test_a_crowd_is_warned_of_once(policy, features, instead):
    policy.update(policy.act(features[..., :3000, :]), 0.5)
    few = np.arange(3001) < 20
    policy.update(policy.act(features, available=few), 0.5)
    with pytest.warns(RuntimeWarning, match=f"SquareCB: 3001 actions are played nearly uniformly: .* Use {instead}"):
        policy.act(features)
    policy.update(policy.act(features), 0.5)
