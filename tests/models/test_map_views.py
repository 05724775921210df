"""Maps as given and centred, against brute force; the level that one map explains no longer wins."""

import math

import numpy as np
import pytest

from banditselect import FSIDS, Blocked, load
from banditselect.kernels.features import NO_BLOCK, NO_BLOCK_PLAYED, Features
from banditselect.models.map_mixture import SCALES
from banditselect.models.map_views import CENTERED, LEVEL_SCALES, MapViews, offered_means
from banditselect.runtime.shapes import maps_of
from mixtures_by_hand import LANE, Maps, regression


class Views(Maps):
    """Both views of every map, solved from all data at once; the forecasts are those made when the rewards came."""

    def __init__(self, dims, prior):
        super().__init__(dims, prior)
        self.side = Maps(dims, prior, scales=LEVEL_SCALES)
        self.bars, self.levels = [], []

    def level(self, bar):
        """Mean and variance of the level, in units of the noise, from the mixture over the means."""
        if not self.side.y:
            return 0.0, None
        members = self.side.solve()
        rows = [self.side.of(i, bar[i][None])[0] for i, *_ in members]
        f = np.array([x @ theta for x, (_, _, _, theta, _, _) in zip(rows, members, strict=True)])
        weight, s2 = (np.array([m[k] for m in members]) for k in (1, 2))
        width = np.array([x @ np.linalg.solve(m[4], x) for x, m in zip(rows, members, strict=True)])
        mean = weight @ f
        return mean, (weight @ (s2 * width + f**2) - mean**2) / (weight @ s2)

    def learn(self, x, bar, y):
        """Learn a reward, and what was forecast of its level."""
        f, v = self.level(bar)
        if v is None:  # nothing learned: f is 0, and every mean is in its own unit
            rows = [np.append(1.0, b / np.linalg.norm(b)) for b in bar]
            widths = [
                (row**2 / np.append(1e-4, np.full(row.size - 1, 1.0 / scale))).sum()
                for scale in LEVEL_SCALES
                for row in rows
            ]
            v = np.average(widths, weights=np.tile(self.prior, len(LEVEL_SCALES)))
        self.levels.append((f, v))
        self.bars.append(bar)
        self.add(x, y)
        self.side.add(bar, y)

    def centered(self, sizes=None):
        """Return (map, log weight, noise variance, estimates) of the centred members, without the prior of the view."""
        t, y = len(self.y), np.array(self.y) - self.y[0]
        spread = ((y - y.mean()) ** 2).sum() / max(t - 1, 1)
        f, v = np.array(self.levels).T
        s, found = 1.0 / np.sqrt(1.0 + v), []
        for scale in SCALES:
            for i, d in enumerate(self.dims):
                less = np.array([row[i] - bar[i] for row, bar in zip(self.x, self.bars, strict=True)])
                unit = np.linalg.norm(less[0]) if sizes is None else math.sqrt(sizes[i])
                X = np.column_stack([np.ones(t), less / unit]) * s[:, None]
                precision = np.append(1.0, np.full(d, 1.0 / scale))
                theta, _, J, logdet = regression(X, (y - f) * s, np.diag(precision), np.zeros(d + 1))
                variance = (spread + 0.5 * J) / (1.0 + 0.5 * t)
                log_weight = math.log(self.prior[i]) - 0.5 * (logdet + np.log1p(v).sum())
                found.append((i, log_weight - (1.0 + 0.5 * t) * math.log(spread + 0.5 * J), variance, theta))
        return found


def test_both_views_weigh_as_their_equations_say():
    rng, dims, prior = np.random.default_rng(0), (2, 3), np.array([0.4, 0.6])
    model, hand = MapViews(maps_of(dims, many=True), 1, noise=None, prior=prior), Views(dims, prior)
    for t in range(15):
        maps = [rng.normal(size=(4, d)) + rng.normal(size=d) for d in dims]
        offered = np.array([[True, t % 3 > 0, True, t % 2 > 0]])
        x = Features(np.stack([np.pad(m, ((0, 0), (0, 3 - m.shape[1]))) for m in maps])[None], NO_BLOCK)
        note = model.note(LANE, x, offered)
        bar = [m[offered[0]].mean(axis=0) for m in maps]
        np.testing.assert_allclose(note[0], [*bar[0], 0.0, *bar[1]], atol=1e-15)
        a, y = 2, 3.0 + 2.0 * bar[1][0] + maps[0][2, 0] + rng.normal()
        model.learn(LANE, Features(np.ascontiguousarray(x.values[:, :, a]), NO_BLOCK_PLAYED), np.array([y]), note)
        hand.learn([m[a] for m in maps], bar, y)
        if t < 2:
            continue
        log_weight, _, variance = model.weigh(LANE)[:, 0].reshape(3, len(SCALES), 2, len(dims))
        plain, centered = hand.members(), hand.centered()
        mine = np.append(log_weight[:, 0].ravel(), log_weight[:, 1].ravel())
        theirs = [m[1] + math.log(1.0 - CENTERED) for m in plain] + [m[1] + math.log(CENTERED) for m in centered]
        np.testing.assert_allclose(mine - mine[0], np.array(theirs) - theirs[0], atol=1e-9)
        np.testing.assert_allclose(variance[:, 1].ravel(), [m[2] for m in centered], rtol=1e-9)


def test_a_view_whose_size_drifts_is_as_if_it_had_had_that_size_from_the_first():
    rng, dims, prior = np.random.default_rng(5), (2, 3), np.array([0.5, 0.5])
    model, hand = MapViews(maps_of(dims, many=True), 1, noise=None, prior=prior), Views(dims, prior)
    for t in range(30):
        apart = [(100.0 if t > 9 else 1.0) * rng.normal(size=(4, d)) for d in dims]
        maps = [rng.normal(size=d) + gap - gap.mean(axis=0) for d, gap in zip(dims, apart, strict=True)]
        x = Features(np.stack([np.pad(m, ((0, 0), (0, 3 - m.shape[1]))) for m in maps])[None], NO_BLOCK)
        note, y = model.note(LANE, x, None), rng.normal()
        model.learn(LANE, Features(np.ascontiguousarray(x.values[:, :, 1]), NO_BLOCK_PLAYED), np.array([y]), note)
        hand.learn([m[1] for m in maps], [m.mean(axis=0) for m in maps], y)
    assert (model.size > 100.0).all()
    log_weight = model.weigh(LANE)[0, 0].reshape(len(SCALES), 2, len(dims))
    mine = np.append(log_weight[:, 0].ravel(), log_weight[:, 1].ravel())
    sizes = model.size[0]
    theirs = [m[1] + math.log(1.0 - CENTERED) for m in hand.members(sizes[:2])]
    theirs += [m[1] + math.log(CENTERED) for m in hand.centered(sizes[2:])]
    np.testing.assert_allclose(mine - mine[0], np.array(theirs) - theirs[0], atol=1e-7)


def test_the_means_are_those_of_the_actions_offered():
    x, offered = np.arange(12.0).reshape(1, 2, 3, 2), np.array([[True, False, True]])
    np.testing.assert_allclose(offered_means(x, offered), [[[2.0, 3.0], [8.0, 9.0]]])
    np.testing.assert_allclose(offered_means(x, np.ones((1, 1), dtype=bool)), [[[2.0, 3.0], [8.0, 9.0]]])


@pytest.mark.filterwarnings("ignore:.*no map shows")
def test_maps_with_blocks_are_not_centred_but_have_the_forecast():
    """Arms with a constant each, beside a map of the visitor who sets the level: without the forecast it would win."""
    rng, lanes, K = np.random.default_rng(0), 20, 5
    policy, arms = FSIDS(n_models=2, dim=[1, 4], blocks=[K, 1], lanes=lanes, seed=1), rng.normal(size=(lanes, K))
    block, row, regret, uniform = np.tile(np.arange(K), (lanes, 1)), np.arange(lanes), 0.0, 0.0
    for _ in range(600):
        visitor = rng.normal(size=(lanes, 4))
        decision = policy.act([Blocked(np.ones((lanes, K, 1)), block), np.repeat(visitor[:, None], K, axis=1)])
        earned = arms[row, decision.action]
        regret, uniform = regret + arms.max(axis=1) - earned, uniform + arms.max(axis=1) - arms.mean(axis=1)
        policy.update(decision, earned + 2.0 * visitor.sum(axis=1) / 2.0 + rng.normal(size=lanes))
    assert np.median(regret / uniform) < 0.3


def test_data_that_no_policy_played_say_nothing_of_the_level():
    rng, policy = np.random.default_rng(1), FSIDS(n_models=2, dim=2)
    for _ in range(200):
        x = rng.normal(size=(2, 2))
        policy.learn(x, 5.0 + x[1, 0] + 0.3 * rng.normal())
    assert policy.model_weights[1] > 0.999
    assert policy.level_weight == pytest.approx(CENTERED, abs=1e-9)
    theta = policy.model.bank.theta[0].reshape(len(SCALES), 2, 2, -1)
    np.testing.assert_allclose(theta[2, 0, 1, 1:3], theta[2, 1, 1, 2:4], atol=0.05)


@pytest.mark.parametrize(("features", "reward"), [(1e6, 1.0), (1e-6, 1.0), (1.0, 1e6), (1.0, 1e-6)])
def test_no_decision_depends_on_units(features, reward):
    rng, one, other = np.random.default_rng(4), FSIDS(n_models=2, dim=2, seed=3), FSIDS(n_models=2, dim=2, seed=3)
    for t in range(120):
        x, visitor = rng.normal(size=(2, 4, 2)) * (30.0 if t > 60 else 1.0), rng.normal(size=2)
        x[1] += visitor
        a, b = one.act(x), other.act(features * x)
        assert a.action == b.action
        y = visitor.sum() + x[0, a.action, 0] + rng.normal()
        one.update(a, y)
        other.update(b, reward * y)
    np.testing.assert_allclose(one.model_weights, other.model_weights, rtol=1e-4, atol=1e-9)


def test_columns_whose_mean_is_rounding_are_learned():
    """Features standardised over the actions of a round have means of 1e-17; masks change that now and then."""
    rng, policy = np.random.default_rng(6), FSIDS(n_models=2, dim=3)
    for t in range(300):
        x = rng.normal(size=(2, 5, 3))
        x = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
        policy.update(policy.act(x, available=np.arange(5) > (t % 5 == 0)), rng.normal() + x[0, 1, 0])
    assert np.isfinite(policy.parameters).all()


def test_a_map_to_which_all_rewards_are_replayed_can_win_where_there_is_a_level():
    rng, policy, seen = np.random.default_rng(7), FSIDS(n_models=2, dim=3, seed=1), []
    for t in range(700):
        if t == 200:
            policy.add_models(3, replay=(np.array([x for x, _ in seen]), np.array([y for _, y in seen])))
        items, visitor = rng.normal(size=(5, 3)), np.tile(rng.normal(size=3), (5, 1))
        decision = policy.act([visitor, rng.normal(size=(5, 3)), items][: policy.n_models])
        y = items[decision.action].sum() + 2.0 * visitor[0].sum() + rng.normal()
        policy.update(decision, y)
        seen.append((items[decision.action], y))
    assert policy.model_weights[2] > 0.9


class Levels:
    """Map 0 explains how five actions differ, map 1 a level of standard deviation ``level``."""

    def __init__(self, lanes, level, seed=0):
        self.rng, self.level = np.random.default_rng(seed), level
        self.theta = self.rng.normal(size=(lanes, 4))
        self.theta /= np.linalg.norm(self.theta, axis=1, keepdims=True)

    def play(self, policy, rounds):
        """Return the regret of every lane, and that of uniform play."""
        lanes = np.arange(len(self.theta))
        regret, uniform = np.zeros(lanes.size), np.zeros(lanes.size)
        for _ in range(rounds):
            x, visitor = self.rng.normal(size=(lanes.size, 2, 5, 4)), self.rng.normal(size=(lanes.size, 4))
            x[:, 1] = visitor[:, None]
            mean = np.einsum("nkd,nd->nk", x[:, 0], self.theta)
            decision = policy.act(x)
            level = self.level * visitor.sum(axis=1) / 2.0
            regret += mean.max(axis=1) - mean[lanes, decision.action]
            uniform += mean.max(axis=1) - mean.mean(axis=1)
            policy.update(decision, mean[lanes, decision.action] + level + self.rng.normal(size=lanes.size))
        return regret, uniform


def test_a_map_that_explains_the_level_does_not_win():
    """Over 300 lanes the regret was at most 17 % of that of uniform play in each; without views it was 98 %."""
    policy = FSIDS(n_models=2, dim=4, lanes=30, seed=1)
    regret, uniform = Levels(30, 2.0).play(policy, 400)
    assert (regret < 0.4 * uniform).all()
    assert (policy.model_weights[:, 0] > 0.5).mean() > 0.8
    assert policy.level_weight.min() > 0.5
    assert policy.level_weights[:, 1].min() > 0.99  # the map of the visitor explains the level


def test_where_there_is_no_level_the_maps_as_given_win():
    policy = FSIDS(n_models=2, dim=4, lanes=30, seed=1)
    Levels(30, 0.0).play(policy, 400)
    assert policy.model_weights[:, 0].min() > 0.99
    assert policy.level_weight.max() < 0.05


def test_maps_that_tell_no_actions_apart_warn_once():
    rng, policy = np.random.default_rng(3), FSIDS(n_models=2, dim=2)

    def play(rounds):
        for _ in range(rounds):
            x, visitor = rng.normal(size=(2, 3, 2)), rng.normal(size=2)
            x[1] = visitor
            policy.update(policy.act(x), visitor.sum() + 0.5 * rng.normal())

    with pytest.warns(RuntimeWarning, match="map 1 explains a level .* no map shows that the actions differ") as told:
        play(1100)
    assert len(told) == 1


def test_a_decision_waits_with_the_means_it_was_made_with(tmp_path):
    """A reward that comes late, after save and load, is learned as one that comes at once."""
    rng = np.random.default_rng(2)
    soon, late = FSIDS(n_models=2, dim=2, seed=4), FSIDS(n_models=2, dim=2, seed=4)
    x = rng.normal(size=(2, 3, 2)) + 1.0
    soon.update(soon.act(x), 0.7)
    decision = late.act(x)
    late.save(tmp_path / "late.bsel")
    late = load(tmp_path / "late.bsel")
    late.update(type(decision).from_dict(decision.to_dict()), 0.7)
    np.testing.assert_array_equal(soon.model.bank.theta, late.model.bank.theta)
    np.testing.assert_array_equal(soon.level_weights, late.level_weights)


def test_actions_that_are_alike_but_for_rounding_are_alike():
    """The mean of equal numbers is off by rounding: a map without differences must not learn from these."""
    policy, rng = FSIDS(n_models=1, dim=1), np.random.default_rng(0)
    for _ in range(50):
        policy.update(policy.act(np.full((1, 3, 1), rng.normal())), rng.normal())
    assert policy.model.size[0, 1] == 0.0
    np.testing.assert_array_equal(policy.probabilities(np.full((1, 3, 1), 0.1)), np.full(3, 1.0 / 3.0))


def test_maps_in_another_order_are_believed_the_same():
    """Both play: a twin that learned rewards without the actions offered would know nothing of the level."""
    rng = np.random.default_rng(8)
    one = FSIDS(n_models=3, dim=[2, 3, 1], blocks=[3, 1, 1], seed=2)
    two = FSIDS(n_models=3, dim=[1, 3, 2], blocks=[1, 1, 3], seed=2)
    for _ in range(60):
        visitor, block = rng.normal(), rng.integers(0, 3, size=4)
        maps = [Blocked(rng.normal(size=(4, 2)), block), rng.normal(size=(4, 3)), np.full((4, 1), visitor)]
        a, b = one.act(maps), two.act(maps[::-1])
        assert a.action == b.action
        y = 2.0 * visitor + maps[1][a.action, 0] + rng.normal()
        one.update(a, y)
        two.update(b, y)
    np.testing.assert_allclose(one.model_weights, two.model_weights[::-1], rtol=1e-8)
    np.testing.assert_allclose(one.level_weights, two.level_weights[::-1], rtol=1e-8)
