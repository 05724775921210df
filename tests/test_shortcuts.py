"""What act and update do not look at twice: nothing wrong gets through, and no code from outside is passed by."""

import copy

import numpy as np
import pytest

from banditselect import (
    FSOFUL,
    OFUL,
    PSOFUL,
    UCB1,
    BiasOFUL,
    FSSquareCB,
    LinTS,
    OnMap,
    Policy,
    Power,
    RegretBalancing,
    SquareCB,
    Uniform,
    load,
    on_map,
    register,
)
from banditselect.parts.experts import RidgeBank
from banditselect.policies.regimes.inverse_gap import ByEvidence

X = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


@register
class TwoBanks(Uniform):
    """Keeps its parts in a list."""

    def _begin(self, lanes):
        lam = np.ones((lanes, 1))
        self._banks = [RidgeBank(lanes=lanes, dims=np.array([1]), regularization=lam) for _ in range(2)]

    def _absorb(self, ids, x, action, y, memo):
        for bank in self._banks:
            bank.learn(ids, x[:, :1, :1], y)


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


def test_the_rule_is_the_same_wherever_a_class_lives():
    class Inside(OFUL):
        __module__ = "banditselect.policies.inside"

        def _distribution(self, ids, x, offered):
            return np.full((ids.size, x.shape[2]), 1.0 / x.shape[2]), None

    class Fast(Inside):
        """Writes the shortcut beside its steps again: nothing before it writes a step anew."""

        def _play(self, ids, x, offered, ledger, drawn, played):
            return OFUL._play(self, ids, x, offered, ledger, drawn, played)

    class Slow(Telling, Fast):
        """Gets a step from a class before it."""

    assert Inside(dim=2).act(X).probability == pytest.approx(1 / 3)
    assert Inside._play is Slow._play is Policy._play
    assert not Inside._looks_up
    assert Fast(dim=2).act([[0.0, 1.0], [3.0, 0.0]]).probability == 1.0  # OFUL's: the longer one could be better


class Clipping:
    """Writes how rewards are learned, for any policy."""

    def _absorb(self, ids, x, action, y, memo):
        super()._absorb(ids, x, action, np.minimum(y, 0.5), memo)


class ClippedBalancing(Clipping, RegretBalancing):
    """A meta-policy whose steps still make an act, with its memo."""


class ClippedMap(Clipping, OnMap):
    """The same for one on a map, also over a policy without probabilities."""


BASES = [SquareCB(dim=2, reward_range=(-5.0, 5.0)), UCB1(n_arms=3), LinTS(dim=2)]


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        (ClippedBalancing(bases=BASES, seed=2), RegretBalancing(bases=BASES, seed=2)),
        (ClippedMap(policy=LinTS(dim=2), index=0, seed=2), on_map(LinTS(dim=2, seed=2), 0)),
        (ClippedMap(policy=OFUL(dim=2), index=0, seed=2), on_map(OFUL(dim=2, seed=2), 0)),
    ],
)
def test_the_steps_of_meta_policies_make_an_act(mine, other):
    rng = np.random.default_rng(5)
    for _ in range(70):
        x = rng.normal(size=(1, 3, 2)) if mine.feature_shape.many else rng.normal(size=(3, 2))
        decisions = mine.act(x), other.act(x)
        assert decisions[0]._replace(lineage=0) == decisions[1]._replace(lineage=0)
        reward = float(rng.normal())
        mine.update(decisions[0], reward)
        other.update(decisions[1], min(reward, 0.5))
    mine.update_many([mine.act(x), mine.act(x)], [1.0, 1.0])


def test_probabilities_written_anew_are_played_and_a_memo_that_is_missing_is_asked_for():
    def even(self, ids, x, offered):
        return np.full((ids.size, x.shape[2]), 1.0 / x.shape[2]), None

    class Even(LinTS):
        has_propensity = True
        _distribution = even

    assert Even(dim=2).act(X).probability == pytest.approx(1 / 3)

    class EvenBalancing(RegretBalancing):
        _distribution = even

    policy = EvenBalancing(bases=[SquareCB(dim=2)])
    with pytest.raises(ValueError, match=r"EvenBalancing: memo of an act: got None, expected whole numbers of shape"):
        policy.act(X)
    assert policy._ledger.acts.tolist() == [0]


def test_steps_cannot_be_declared_away_and_a_schedule_of_ones_own_is_asked():
    class Narrow(SquareCB):
        _steps = ("_absorb",)

        def _rates(self, ids, K, offered):
            return np.zeros(ids.size)

    class Never(Power):
        def __call__(self, t):
            return 0.0

    for policy in (Narrow(dim=2), SquareCB(dim=2, exploration=Never(1.0))):
        policy.learn([1.0, 0.0], 1.0)
        assert policy.act(X).probability == pytest.approx(1 / 3)


def test_parts_are_found_in_lists_too(tmp_path):
    policy = TwoBanks(lanes=2)
    for _ in range(3):
        policy.update(policy.act(np.ones((2, 3, 1))), [1.0, 2.0])
    policy.save(tmp_path / "policy.bsel")
    again = load(tmp_path / "policy.bsel")
    again.add_lanes(1)
    assert [bank.updates.tolist() for bank in again._banks] == [[3, 3, 0], [3, 3, 0]]


@pytest.mark.parametrize("cls", [SquareCB, FSSquareCB, OFUL, BiasOFUL, FSOFUL, PSOFUL], ids=lambda cls: cls.__name__)
def test_no_policy_of_the_library_has_lost_its_shortcuts(cls):
    assert cls._play is not Policy._play
    assert cls._learn is not Policy._learn
    assert cls._looks_up


@pytest.fixture
def kernels_called(monkeypatch):
    """Count the acts and updates that the experts of SquareCB do in one kernel."""
    counts = {"play": 0, "learn": 0}
    for name in counts:
        whole = getattr(ByEvidence, name)

        def counted(*arguments, name=name, whole=whole):
            counts[name] += 1
            return whole(*arguments)

        monkeypatch.setattr(ByEvidence, name, counted)
    return counts


@pytest.mark.parametrize(
    "build",
    [
        lambda: SquareCB(dim=2),
        lambda: on_map(SquareCB(dim=2), 0),
        lambda: RegretBalancing(bases=[SquareCB(dim=2)]),
        lambda: RegretBalancing(bases=[on_map(SquareCB(dim=2), 0)]),
        lambda: RegretBalancing(bases=[RegretBalancing(bases=[SquareCB(dim=2)])]),
    ],
)
def test_bases_take_the_shortcuts_too_and_batches_go_the_way_of_single_rewards(kernels_called, build):
    policy = build()
    x = X[None] if policy.feature_shape.many else X
    decisions = [policy.act(x) for _ in range(3)]
    assert kernels_called == {"play": 3, "learn": 0}
    policy.update(decisions[0], 0.5)
    policy.update_many(decisions[1:], [0.5, 0.5])
    policy.learn(decisions[0].features, 0.5)
    assert kernels_called == {"play": 3, "learn": 4}
    assert policy.rounds == 4


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


@pytest.mark.parametrize("widths", [[2, 2, 2], [2, 3, 1]])
def test_a_familiar_list_of_maps_is_still_checked_for_what_it_holds(widths):
    """After a good call with a list of the same shapes: other numbers, other shapes, arrays and tuples in between."""
    rng = np.random.default_rng(0)
    policy, twin = (FSSquareCB(n_models=3, dim=widths) for _ in range(2))

    def drawn(K=4):
        return [rng.normal(size=(K, d)) for d in widths]

    def padded(maps):
        return [np.array(m, dtype=float).tolist() for m in maps]  # no arrays: looked at from the beginning

    turns = [drawn() for _ in range(8)]
    turns[3] = [m.astype(int) for m in turns[3]]
    turns[4] = [np.asfortranarray(m) for m in turns[4]]
    turns[5] = tuple(turns[5])
    turns[6] = drawn(K=2)
    turns[7] = [turns[7][0].astype(np.float32), *turns[7][1:]]
    for maps in turns:
        one, two = policy.act(maps), twin.act(padded(maps))
        assert one.action == two.action
        np.testing.assert_array_equal(one.features, two.features)
        policy.update(one, 0.5)
        twin.update(two, 0.5)
    good = drawn(K=2)
    policy.act(good)
    bad = [
        [good[0] * np.nan, *good[1:]],
        good[:2],
        [*good, good[0]],
        [good[0][:1], *good[1:]],
        [good[0][:, :1], *good[1:]],
        [good[0].astype(complex), *good[1:]],
        [good[0].astype(object), *good[1:]],
        [good[0][0], *good[1:]],
        [None, *good[1:]],
        [],
    ]
    for maps in bad:
        with pytest.raises(ValueError, match="features: got"):
            policy.act(maps)
    assert policy.act(good).number == 9


def test_a_list_of_maps_for_several_lanes():
    rng = np.random.default_rng(1)
    policy, twin = (FSSquareCB(n_models=2, dim=[2, 3], lanes=3) for _ in range(2))
    for lanes in (None, None, [2, 0], [0, 1], None):
        n = 3 if lanes is None else 2
        maps = [rng.normal(size=(n, 4, d)) for d in (2, 3)]
        one, two = policy.act(maps, lanes=lanes), twin.act(tuple(maps), lanes=lanes)
        np.testing.assert_array_equal(one.features, two.features)
        np.testing.assert_array_equal(one.action, two.action)
        with pytest.raises(ValueError, match="features: got"):
            policy.act(maps, lanes=[1])


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
