"""What act and update do not look at twice: nothing wrong gets through, and no code from outside is passed by."""

import copy

import numpy as np
import pytest

from banditselect import OFUL, UCB1, FSSquareCB, SquareCB, Uniform

X = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


class Counted(OFUL):
    """Writes both steps anew."""

    asked = told = 0

    def _distribution(self, ids, x, offered):
        self.asked += 1
        return super()._distribution(ids, x, offered)

    def _absorb(self, ids, x, action, y, memo):
        self.told += 1
        assert not x.flags.writeable
        super()._absorb(ids, x, action, y, memo)


class CountedAgain(Counted):
    """Inherits them."""


class Telling:
    """Writes one of them, for any policy."""

    told = 0

    def _absorb(self, ids, x, action, y, memo):
        self.told += 1
        super()._absorb(ids, x, action, y, memo)


class Mixed(Telling, OFUL):
    """Gets it from a class that is no policy."""


@pytest.mark.parametrize("kind", [Counted, CountedAgain, Mixed])
def test_steps_written_anew_are_never_bypassed(kind):
    mine, plain = kind(dim=2, seed=3), OFUL(dim=2, seed=3)
    rng = np.random.default_rng(0)
    for _ in range(70):  # beyond the first ring
        x = rng.normal(size=(4, 2))
        decisions = mine.act(x), plain.act(x)
        assert decisions[0].action == decisions[1].action
        for policy, decision in zip((mine, plain), decisions, strict=True):
            policy.update(decision, 0.5)
    assert mine.told == 70
    assert kind is Mixed or mine.asked == 70
    np.testing.assert_array_equal(mine.parameters, plain.parameters)


def test_a_part_of_a_step_written_anew_is_not_bypassed():
    class Flat(FSSquareCB):
        def _rates(self, ids, K, offered):
            return np.zeros(ids.size)

    class Named(FSSquareCB):
        """Changes nothing inside: it plays as fast as what it inherits from."""

    policy = Flat(n_models=1, dim=2)
    policy.learn([[1.0, 0.0]], 1.0)
    assert policy.act(X[None]).probability == pytest.approx(1 / 3) == policy.probabilities(X[None])[0]
    assert Named._play is FSSquareCB._play is not Flat._play


@pytest.mark.parametrize(
    ("action", "probability"),
    [(np.array([1.9]), np.ones(1)), (np.array([3]), np.ones(1)), (np.array([-1]), np.ones(1)), (np.array([1]), None)],
)
def test_what_a_policy_of_your_own_chooses_is_checked(action, probability):
    class Choosing(SquareCB):
        def _choose(self, ids, x, offered, numbers):
            return action, probability, None

    policy = Choosing(dim=2)
    with pytest.raises(ValueError, match=r"Choosing\._choose: got"):
        policy.act(X)
    assert policy._ledger.acts.tolist() == [0]


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


def test_a_copy_knows_no_decision_by_its_identity():
    policy = OFUL(dim=2, lanes=2)
    alone = OFUL(dim=2)
    for one, x in ((policy, np.tile(X, (2, 1, 1))), (alone, X)):
        twin, decision = copy.deepcopy((one, one.act(x)))
        decision.features[:] = np.nan
        with pytest.raises(ValueError, match="features"):
            twin.update(decision, np.ones(2) if one.lanes else 1.0)
        assert not np.any(twin.rounds)
    assert not copy.deepcopy(policy).act(np.tile(X, (2, 1, 1))).lanes.flags.writeable


def test_a_decision_edited_is_looked_at_again():
    """The features of the decision made last are known; those of any other, and of a copy, are not."""
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
