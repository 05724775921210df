"""A whole act or update in one kernel equals its steps one after the other, and refuses without a trace."""

import numpy as np
import pytest

from banditselect.carriers.decisions import Ledger
from banditselect.carriers.streams import Streams
from banditselect.carriers.validation import EVERYTHING
from banditselect.kernels.acting import DRAWN
from banditselect.kernels.arrays import count_outside
from banditselect.kernels.rounds import (
    DONE,
    OUTSIDE,
    UNUSABLE,
    draw,
    learn_ellipsoid,
    learn_in_range,
    play_inverse_gaps,
)
from banditselect.parts.aggregation import Posterior
from banditselect.parts.confidence import Ellipsoid
from banditselect.parts.experts import RidgeBank
from banditselect.parts.exploration import Power, inverse_gap_weighting, rates

LANES, K, D = 3, 4, 2
IDS = np.array([2, 0])


class Side:
    """Everything that a policy of M maps keeps, built twice to be played in two ways."""

    def __init__(self, M):
        self.ledger, self.keys = Ledger(LANES), Streams(1, range(LANES)).keys
        self.bank = RidgeBank(lanes=LANES, dims=np.array([D, 1][:M]), regularization=np.full((LANES, M), 0.7))
        self.posterior = Posterior(variance=np.array([0.1, 0.2, 0.3]), prior=np.full(M, 1.0 / M), online=False)
        noise, prior = np.array([0.5, 1.0, 2.0]), np.array([0.1, 0.2, 0.3])
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
        return self.run(play_inverse_gaps, x, *state, 3.0 / 2.0, 0.5, offered, self.keys)

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
        alpha = rates(Power(3.0, 0.5), IDS, self.bank.updates, 2.0)
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
@pytest.mark.parametrize("offered", [EVERYTHING, np.array([[True, False, True, True], [False, True, True, True]])])
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
    _, drawn, z = side.play(x, EVERYTHING)
    numbers, y = np.array(drawn["number"]), np.zeros(IDS.size)
    before = side.arrays()
    bad = x.copy()
    bad[1, 0, 3, 1] = np.inf
    assert side.play(bad, EVERYTHING)[0] == UNUSABLE
    wrong = z.copy()
    wrong[1, 0, 0] = np.nan
    wrong.setflags(write=False)
    assert side.learn(wrong, y, numbers) == UNUSABLE
    assert side.learn(z, y, numbers + np.array([0, 1])) == 1  # the second row's act is unknown
    for a, b in zip(before, side.arrays(), strict=True):
        np.testing.assert_array_equal(a, b)
