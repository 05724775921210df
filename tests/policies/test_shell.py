"""The shell of a policy: nothing wrong gets through act and update, and methods of a subclass are never passed by."""

import numpy as np
import pytest

from banditselect import OFUL, LinTS, Power, RegretBalancing, SquareCB, Uniform, load, on_map
from banditselect.authoring import Policy, register
from banditselect.models.model import Model
from banditselect.models.ridge_bank import RidgeBank
from banditselect.plays.optimism import Best
from banditselect.policies.contract import Chosen
from banditselect.policies.on_map import OnMap
from banditselect.rivals import UCB1
from banditselect.runtime.lanes import LaneArrays
from banditselect.runtime.shapes import maps_of

X = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


# Methods of a subclass.


class Clipping:
    """Learns clipped rewards, for any policy."""

    def _learn(self, ids, x, y, played):
        super()._learn(ids, x, np.minimum(y, 0.5), played)


class ClippedBalancing(Clipping, RegretBalancing):
    """A master, whose decisions have notes."""


class ClippedMap(Clipping, OnMap):
    """The same for one on a map, also over a policy without probabilities."""


class ClippedOFUL(Clipping, OFUL):
    """The same for one whose model learns in one kernel."""


BASES = [SquareCB(dim=2, reward_range=(-5.0, 5.0)), UCB1(n_arms=3), LinTS(dim=2)]


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        (ClippedBalancing(bases=BASES, seed=2), RegretBalancing(bases=BASES, seed=2)),
        (ClippedMap(policy=LinTS(dim=2), index=0, seed=2), on_map(LinTS(dim=2, seed=2), 0)),
        (ClippedMap(policy=OFUL(dim=2), index=0, seed=2), on_map(OFUL(dim=2, seed=2), 0)),
        (ClippedOFUL(dim=2, seed=2), OFUL(dim=2, seed=2)),
    ],
    ids=["master", "map, LinTS", "map, OFUL", "one kernel"],
)
def test_what_a_subclass_learns_is_all_that_it_changes(mine, other):
    rng = np.random.default_rng(5)
    for _ in range(70):
        x = rng.normal(size=(1, 3, 2)) if mine.feature_shape.many else rng.normal(size=(3, 2))
        decisions = mine.act(x), other.act(x)
        assert decisions[0]._replace(lineage=0) == decisions[1]._replace(lineage=0)
        reward = float(rng.normal())
        mine.update(decisions[0], reward)
        other.update(decisions[1], min(reward, 0.5))
    mine.update_many([mine.act(x), mine.act(x)], [1.0, 1.0])


@pytest.mark.parametrize(
    "p",
    [
        np.full((1, 2), 0.5),
        np.full((2, 3), 1 / 3),
        np.array([[0.5, 0.6, 0.0]]),
        np.array([[0.5, 0.4, 0.0]]),
        np.array([[-0.5, 1.5, 0.0]]),
        np.array([[np.nan, 1.0, 0.0]]),
        np.full(3, 1 / 3),
        None,
    ],
)
def test_what_is_no_distribution_is_refused_before_an_act_is_counted(p):
    class Choosing(SquareCB):
        def _choose(self, ids, x, offered, numbers):
            return Chosen(p, self._streams.keys[ids])

    policy = Choosing(dim=2)
    for ask in (policy.act, policy.probabilities):
        with pytest.raises(ValueError, match=r"(?s)^Choosing: probabilities: got .*float64 of shape \(1, 3\), whose"):
            ask(X)
    assert policy._ledger.acts.tolist() == [0]


def test_a_schedule_of_ones_own_is_asked():
    class Never(Power):
        def __call__(self, t):
            return 0.0

    policy = SquareCB(dim=2, exploration=Never(1.0))
    policy.learn([1.0, 0.0], 1.0)
    assert policy.act(X).probability == pytest.approx(1 / 3)


# Parts and arrays.


class TwoBanks(LaneArrays):
    """Parts in a list."""

    def __init__(self, lanes):
        lam = np.ones((lanes, 1))
        self.banks = [RidgeBank.of(maps_of(1), lanes, lam) for _ in range(2)]


class Banks(Model):
    """Teaches both banks."""

    def __init__(self, lanes):
        super().__init__(maps_of(1))
        self.two = TwoBanks(lanes)

    def predict(self, ids, x):
        return self.two.banks[1].predict(ids, x)

    def learn(self, ids, x, y, note=None):
        for bank in self.two.banks:
            bank.learn(ids, x, y)


@register
class OverTwoBanks(Policy):
    """Has parts of parts in a list."""

    def build(self, lanes):
        return Banks(lanes), Best()


def test_parts_are_found_in_lists_too(tmp_path):
    policy = OverTwoBanks(lanes=2)
    for _ in range(3):
        policy.update(policy.act(np.ones((2, 3, 1))), [1.0, 2.0])
    policy.save(tmp_path / "policy.bsel")
    again = load(tmp_path / "policy.bsel")
    again.add_lanes(1)
    assert [bank.updates.tolist() for bank in again.model.two.banks] == [[3, 3, 0], [3, 3, 0]]


# Features.


def test_a_familiar_shape_is_still_checked_for_what_it_holds():
    """After a good call with the same shape: other kinds of numbers, NaN, another order in memory."""
    policy, twin = OFUL(dim=3), OFUL(dim=3)
    x = np.random.default_rng(1).normal(size=(4, 3))
    for array in (x, np.asfortranarray(x), x.astype(np.float32).astype(np.float64), x[::-1][::-1], x.tolist()):
        policy.update(policy.act(array), 1.0)
        twin.update(twin.act(np.array(array)), 1.0)
    frozen = x.copy()
    frozen.setflags(write=False)
    policy.act(frozen)
    np.testing.assert_array_equal(policy.parameters, twin.parameters)
    for bad in (x * np.nan, x * np.inf, np.where(x > 0, 1e31, x), x[:, :2], x[:0], x[None], x.astype(complex), x[0, 0]):
        for refusing in (policy, OFUL(dim=3)):
            for question in (refusing.act, refusing.probabilities):
                with pytest.raises(ValueError, match="features: got"):
                    question(np.array(bad))
    assert policy.act(x).number == 6


@pytest.mark.parametrize("policy", [UCB1(n_arms=3), Uniform(), SquareCB(dim=2)])
def test_features_in_any_order_of_memory(policy):
    assert policy.act(np.ones((2, 3)).T).action in range(3)


# Decisions.


def test_a_decision_that_was_changed_is_looked_at_again():
    policy = OFUL(dim=3)
    x = np.random.default_rng(2).normal(size=(4, 3))
    first, last = policy.act(x), policy.act(x)
    for bad in (np.full(3, np.nan), np.zeros(2), np.zeros((1, 3)), None):
        with pytest.raises(ValueError, match="features"):
            policy.update(last._replace(features=bad), 1.0)
    assert policy.rounds == 0
    policy.update(last, 1.0)
    policy.update(first._replace(features=first.features.copy()), 1.0)
    twin = OFUL(dim=3)
    for decision in (last, first):
        twin.learn(decision.features, 1.0)
    np.testing.assert_array_equal(policy.parameters, twin.parameters)
