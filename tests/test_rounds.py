"""A whole act or update in one kernel equals its steps one after the other, and refuses without a trace."""

import numpy as np
import pytest

from banditselect.carriers.decisions import Ledger
from banditselect.carriers.lanes import parts_of
from banditselect.carriers.streams import Streams
from banditselect.kernels.acting import DRAWN, mask_of
from banditselect.kernels.arrays import count_outside, lay_out, sums_to_one
from banditselect.kernels.ledger import UNNUMBERED
from banditselect.kernels.rounds import (
    DONE,
    INVALID,
    OUTSIDE,
    UNUSABLE,
    draw,
    learn_ellipsoid,
    learn_in_range,
    play_chosen,
    play_gaps,
    play_mixture_gaps,
    take,
)
from banditselect.kernels.selection import screen
from banditselect.parts.aggregation import Posterior
from banditselect.parts.confidence import Ellipsoid
from banditselect.parts.experts import RidgeBank
from banditselect.parts.exploration import Power, Scheduled, evaluated, inverse_gap_weighting
from banditselect.parts.regions import Regions
from banditselect.policies.regimes.likelihood import MapsUnion, RegionsUnion

LANES, K, D = 3, 4, 2
IDS = np.array([2, 0])


class Side:
    """Everything that a policy of M maps keeps, built twice to be played in two ways."""

    def __init__(self, M):
        self.ledger, self.keys = Ledger(LANES), Streams(1, range(LANES)).keys
        self.bank = RidgeBank(lanes=LANES, dims=np.array([D, 1][:M]), regularization=np.full((LANES, M), 0.7))
        self.posterior = Posterior(variance=np.array([0.1, 0.2, 0.3]), prior=np.full(M, 1.0 / M), online=False)
        noise, prior = np.array([0.5, 1.0, 2.0]), np.array([[0.1], [0.2], [0.3]])
        self.sets = Ellipsoid(self.bank, noise=noise, prior=prior, delta=0.1) if M == 1 else None
        self.outside = np.zeros(LANES, dtype=np.int64)

    def arrays(self):
        parts = [self.ledger, self.bank, *([self.sets] if self.sets else [])]
        return [array.copy() for part in parts for array in part.arrays().values()] + [self.outside.copy()]

    def run(self, kernel, x, *arguments):
        """Return what a kernel that plays says, what it drew, and the features played, read-only."""
        drawn, played = np.empty(IDS.size, dtype=DRAWN), np.empty((IDS.size, x.shape[1], D))
        status = kernel(IDS, x, *arguments, self.ledger.book, drawn, played)
        played.setflags(write=False)
        return status, drawn, played

    def play(self, x, offered):
        bank, posterior = self.bank, self.posterior
        state = (bank.theta, bank.evidence, posterior.log_prior, posterior.variance, bank.updates)
        return self.run(play_mixture_gaps, x, *state, 3.0 / 2.0, 0.5, mask_of(offered), self.keys)

    def learn(self, x, y, numbers):
        bank, book = self.bank, self.ledger.book
        state = (bank.theta, bank.root, bank.evidence, bank.updates, bank.dims)
        if self.sets is None:
            return learn_in_range(IDS, x, y, numbers, book, *state, -1.0, 1.0, self.outside)
        sets = self.sets
        radii = (sets.constants, sets.log_term, sets.squared_radii, sets.spent)
        return learn_ellipsoid(IDS, x, y, numbers, book, *state, *radii)

    def play_in_steps(self, x, offered):
        weights, _ = self.posterior.weigh(IDS, self.bank)
        alpha = evaluated(IDS, Scheduled(Power(3.0, 0.5), 2.0)(IDS, self.bank.updates, K, None))
        p = inverse_gap_weighting(self.bank.mixture(IDS, x, weights), alpha, offered)
        return self.run(draw, x, p, self.keys)

    def learn_in_steps(self, x, y, numbers):
        assert self.ledger.settle(IDS, numbers) == DONE
        told = self.bank.learn(IDS, x, y)
        if self.sets is not None:
            self.sets.update(IDS, self.bank, told)
            return DONE
        return OUTSIDE if count_outside(IDS, y, -1.0, 1.0, self.outside) else DONE


@pytest.mark.parametrize("M", [1, 2])
@pytest.mark.parametrize("offered", [None, np.array([[True, False, True, True], [False, True, True, True]])])
def test_at_once_equals_in_steps(M, offered):
    rng = np.random.default_rng(M)
    one, two = Side(M), Side(M)
    seen = set()
    for _ in range(80):
        x = rng.normal(size=(IDS.size, M, K, D))
        x[:, 1:, :, 1:] = 0.0
        expected, found = one.play_in_steps(x, offered), two.play(x, offered)
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b)
        _, drawn, z = found
        y, numbers = rng.normal(size=IDS.size) / 2.0, np.array(drawn["number"])
        status = two.learn(z, y, numbers)
        assert status == one.learn_in_steps(z, y, numbers)
        seen.add(status)
        for a, b in zip(one.arrays(), two.arrays(), strict=True):
            np.testing.assert_array_equal(a, b)
    assert seen == ({DONE} if M == 1 else {DONE, OUTSIDE})


@pytest.mark.parametrize("M", [1, 2])
def test_what_is_refused_changes_nothing(M):
    rng = np.random.default_rng(0)
    side = Side(M)
    x = rng.normal(size=(IDS.size, M, K, D))
    _, drawn, z = side.play(x, None)
    numbers, y = np.array(drawn["number"]), np.zeros(IDS.size)
    before = side.arrays()
    bad = x.copy()
    bad[1, 0, 3, 1] = np.inf
    assert side.play(bad, None)[0] == UNUSABLE
    wrong = z.copy()
    wrong[1, 0, 0] = np.nan
    wrong.setflags(write=False)
    assert side.learn(wrong, y, numbers) == UNUSABLE
    assert side.learn(z, y, numbers + np.array([0, 1])) == 1  # the second row's act is unknown
    for a, b in zip(before, side.arrays(), strict=True):
        np.testing.assert_array_equal(a, b)


# Updates of the policies over likelihood-ratio sets


CONSTANTS = {"delta": 0.1, "online": False, "misspecification": 0.0, "scale": 1.0, "noise": np.array([0.5, 0.3, 0.2])}


def maps_union():
    bank = RidgeBank(lanes=LANES, dims=np.array([D, 1]), regularization=np.full((LANES, 2), 0.7))
    penalty = np.full((LANES, 2), 0.7)
    return MapsUnion(bank, penalty=penalty, prior=np.array([0.3, 0.7]), messages=[], **CONSTANTS)


def regions_union():
    centers, radii = np.array([[0.5, -0.5], [1.0, 1.0], [0.0, 2.0]]), np.array([0.4, 1.0, 0.1])
    regions = Regions.read("test", LANES, centers, None, radii=radii)
    return RegionsUnion(regions, prior=np.array([0.2, 0.3, 0.5]), messages=[], **CONSTANTS)


def learn_in_parts(union, x, y):
    """Learn with the parts, one after the other, and look at every lane."""
    bank, sets, ids = union.bank, union.sets, IDS
    if isinstance(union, MapsUnion):
        weights, _ = sets.weigh(ids, bank)
        f, _ = bank.learn(ids, x, y)
        union.loss[ids] += (y - (weights * f).sum(axis=1)) ** 2
        challenger = union.loss[ids]
    else:
        bank.learn(ids, x, y)
        union.wide.learn(ids, x, y)
        challenger = union.wide.penalised[ids, 0] + sets.variance[ids] * union.wide.logdet[ids, 0]
    sets.update(ids, bank)
    verdict = np.empty((ids.size, 3))
    limits = (sets.penalty, sets.variance, sets.noise, bank.updates, challenger, sets.drift, union.alarm.level, verdict)
    if screen(ids, bank.evidence, *limits):
        union.alarm.judge(ids, verdict, bank.updates, sets.noise)


@pytest.mark.parametrize(("make", "maps"), [(maps_union, 2), (regions_union, 1)])
def test_learning_a_union_at_once_equals_its_parts(make, maps):
    rng = np.random.default_rng(3)
    one, two, ledger = make(), make(), Ledger(LANES)
    for t in range(120):
        x = rng.normal(size=(IDS.size, maps, D))
        x[:, 1:, 1:] = 0.0
        x.setflags(write=False)
        y = x[:, 0] @ [0.5, -0.4] + (0.1 if t < 60 else 2.0) * rng.normal(size=IDS.size)  # the noise becomes too large
        learn_in_parts(one, x, y)
        assert two.learn(IDS, x, y, UNNUMBERED, ledger.book) == DONE
        for (name, mine), (_, theirs) in zip(parts_of(one), parts_of(two), strict=True):
            for array in mine.arrays():
                np.testing.assert_allclose(getattr(mine, array), getattr(theirs, array), rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(one.squared_radii(), two.squared_radii(), rtol=1e-9)
        assert t != 59 or not two.alarm.raised.any()
    assert two.alarm.raised.tolist() == [True, False, True]
    assert len(two._messages) == 1
    assert ledger.rounds.tolist() == [120, 0, 120]
    bad = np.full((IDS.size, maps, D), np.nan)
    bad.setflags(write=False)
    assert two.learn(IDS, bad, y, UNNUMBERED, ledger.book) == UNUSABLE
    assert two.learn(IDS, x, y, np.array([0, 0]), ledger.book) == 0  # no act has these numbers
    assert ledger.rounds.tolist() == [120, 0, 120]


# Acts of policies that are taken step by step


def stage():
    rng = np.random.default_rng(0)
    return rng.normal(size=(IDS.size, 2, K, D)), Side(2)


@pytest.mark.parametrize("p", [[0.5, 0.6, 0.0, 0.0], [1.5, -0.5, 0.0, 0.0], [np.nan, 1.0, 0.0, 0.0], [0.2] * 4])
def test_what_is_no_probability_is_told_from_what_is(p):
    good = np.array([[0.25, 0.0, 0.25, 0.5], [0.0, 0.0, 0.0, 1.0], [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0]])
    assert sums_to_one(good)
    assert not sums_to_one(np.array([*good, p]))


@pytest.mark.parametrize("action", [-1, K, 10**9])
def test_what_is_no_action_is_not_played(action):
    x, side = stage()
    drawn, played = np.zeros(IDS.size, dtype=DRAWN), np.empty((IDS.size, 2, D))
    drawn["action"] = 0, action
    before = side.ledger.book.copy()
    assert play_chosen(IDS, x, side.ledger.book, drawn, played) == INVALID
    np.testing.assert_array_equal(side.ledger.book, before)
    drawn["action"] = 3, 1
    assert play_chosen(IDS, x, side.ledger.book, drawn, played) == DONE
    np.testing.assert_array_equal(played, x[[0, 1], :, [3, 1]])
    assert side.ledger.acts.tolist() == [1, 0, 1]
    played[:] = 0.0
    take(x, drawn, played)
    np.testing.assert_array_equal(played, x[[0, 1], :, [3, 1]])


def test_gaps_of_given_predictions():
    x, side = stage()
    score, alpha = np.random.default_rng(1).normal(size=(IDS.size, K)), np.array([3.0, 0.0, 5.0])
    p = inverse_gap_weighting(score, alpha[IDS], None)
    expected = Side(2).run(draw, x, p, side.keys)
    found = side.run(play_gaps, x, score, alpha, 1.0, 1.0, mask_of(None), side.keys)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("widths", [[3], [2, 4, 1], [3, 3]])
@pytest.mark.parametrize("n", [1, 3])
def test_maps_laid_out(n, widths):
    maps = [np.random.default_rng(w).normal(size=(n, 5, w)) for w in widths]
    x = np.full((n, len(widths), 5, max(widths)), np.nan)
    lay_out(np.concatenate(maps, axis=2), np.array(widths), x)
    for i, m in enumerate(maps):
        np.testing.assert_array_equal(x[:, i, :, : widths[i]], m)
        assert not x[:, i, :, widths[i] :].any()
