"""The book of which acts were learned: any order, once each, in constant memory while rewards arrive."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditselect.carriers.decisions import Ledger
from banditselect.carriers.streams import Streams
from banditselect.kernels import acting
from banditselect.kernels.ledger import FLOOR, RING
from banditselect.kernels.rounds import DONE, FULL, UNUSABLE, draw, play_ridges, play_tiles
from banditselect.parts.experts import RidgeBank, SharedRidgeBank
from banditselect.parts.exploration import greedy


def begin(ledger, ids):
    """Number one more act of these lanes; nothing is said of their features."""
    drawn = np.zeros(len(ids), dtype=acting.DRAWN)
    while not acting.begin(
        np.array(ids), np.zeros((len(ids), 1, 1, 1)), ledger.book, drawn, np.empty((len(ids), 1, 1))
    ):
        ledger.grow()
    return drawn["number"]


def play(kernel, ledger, ids, x, *arguments):
    """Run a kernel that plays; return what it says, what was drawn and what was played."""
    drawn, played = np.empty(ids.size, dtype=acting.DRAWN), np.empty((ids.size, x.shape[1], x.shape[3]))
    while (status := kernel(ids, x, *arguments, ledger.book, drawn, played)) == FULL:
        ledger.grow()
    return status, drawn, played


def floor(ledger, lane=0):
    """All acts below it are learned."""
    return ledger.book[lane, FLOOR]


def ring(ledger):
    """The bits of acts that wait, 64 to the number."""
    return ledger.book[:, RING:]


def act(ledger, times, lane=0):
    return [int(begin(ledger, [lane])[0]) for _ in range(times)]


def settle(ledger, number, lane=0):
    ids, numbers = np.array([lane]), np.array([number])
    assert ledger.waiting(ids, numbers) == -1
    assert ledger.settle(ids, numbers) == -1


def known(ledger, number, lane=0):
    """Whether a reward for this act would be refused."""
    return ledger.waiting(np.array([lane]), np.array([number])) == 0


def test_acts_are_numbered_per_lane():
    ledger = Ledger(3)
    np.testing.assert_array_equal(begin(ledger, range(3)), [0, 0, 0])
    np.testing.assert_array_equal(begin(ledger, [2, 0]), [1, 1])
    np.testing.assert_array_equal(begin(ledger, range(3)), [2, 1, 2])
    np.testing.assert_array_equal(ledger.acts, [3, 2, 3])


@given(order=st.permutations(range(40)))
def test_acts_are_settled_in_any_order_and_once(order):
    ledger = Ledger(1)
    act(ledger, 40)
    for done, number in enumerate(order):
        settle(ledger, number)
        learned = set(order[: done + 1])
        assert [known(ledger, k) for k in range(40)] == [k in learned for k in range(40)]
        assert floor(ledger) == min(set(range(41)) - learned)
    assert not ring(ledger).any()


@given(
    steps=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 200), st.booleans()), max_size=250),
)
def test_ledger_agrees_with_a_set(steps):
    """Acts and rewards in any mixture over three lanes, against a plain set of what is waiting."""
    ledger, acts, waiting = Ledger(3), [0, 0, 0], [set(), set(), set()]
    for lane, pick, reward in steps:
        if reward and waiting[lane]:
            number = sorted(waiting[lane])[pick % len(waiting[lane])]
            settle(ledger, number, lane)
            waiting[lane].remove(number)
        else:
            assert act(ledger, 1, lane) == [acts[lane]]
            waiting[lane].add(acts[lane])
            acts[lane] += 1
    for lane in range(3):
        assert [k for k in range(acts[lane]) if not known(ledger, k, lane)] == sorted(waiting[lane])


def test_acts_that_never_were_are_refused():
    ledger = Ledger(2)
    act(ledger, 3, lane=1)
    assert known(ledger, 3, lane=1)
    assert known(ledger, -1, lane=1)
    assert known(ledger, 0, lane=0)
    assert not known(ledger, 2, lane=1)


def test_the_first_row_that_fails_is_told():
    ledger = Ledger(4)
    begin(ledger, range(4))
    settle(ledger, 0, lane=2)
    assert ledger.waiting(np.array([0, 1, 2, 3]), np.array([0, 0, 0, 1])) == 2
    assert ledger.waiting(np.array([3, 1]), np.array([1, 0])) == 0
    assert ledger.waiting(np.array([3, 1]), np.array([0, 0])) == -1


def test_memory_stays_constant_while_rewards_arrive():
    ledger = Ledger(1)
    shape = ledger.book.shape
    for t in range(10_000):
        act(ledger, 1)
        if t % 2 and t > 60:  # 60 acts late, in swapped pairs
            settle(ledger, t - 60)
            settle(ledger, t - 61)
    assert ledger.book.shape == shape
    assert ledger.acts[0] == 10_000


def test_the_ring_grows_when_a_reward_is_missing_and_forgets_nothing():
    ledger = Ledger(2)
    act(ledger, 1000)
    for number in range(1, 1000, 2):
        settle(ledger, number)
    assert floor(ledger) == 0
    assert 1000 <= 64 * ring(ledger).shape[1] <= 2 * 1000 + 64  # one bit per act waiting, up to a doubling
    assert [known(ledger, k) for k in range(1000)] == [k % 2 == 1 for k in range(1000)]
    for number in range(0, 1000, 2):
        settle(ledger, number)
    assert floor(ledger) == 1000
    assert not ring(ledger).any()


@pytest.mark.parametrize("acts", [1, 63, 64, 65, 66, 127, 128, 129, 130, 257])
def test_the_oldest_and_the_newest_act_have_bits_of_their_own(acts):
    ledger = Ledger(1)
    act(ledger, acts)
    assert acts <= 64 * ring(ledger).shape[1] <= max(64, 2 * acts)
    settle(ledger, acts - 1)
    assert [k for k in range(acts) if known(ledger, k)] == [acts - 1]


def test_a_full_ring_grows_while_another_lane_is_far_ahead():
    """The lanes' rings turn at their own pace; growing must keep each one's position."""
    ledger = Ledger(2)
    for _ in range(1001):
        settle(ledger, act(ledger, 1, lane=1)[0], lane=1)
    act(ledger, 5, lane=1)
    settle(ledger, 1004, lane=1)
    act(ledger, 200, lane=0)
    assert [known(ledger, 1001 + k, lane=1) for k in range(5)] == [False, False, False, True, False]


def test_begin_numbers_all_lanes_or_none():
    """When one lane's ring is full the ring grows, and no lane is numbered twice."""
    ledger = Ledger(2)
    act(ledger, 64 * ring(ledger).shape[1], lane=1)
    np.testing.assert_array_equal(begin(ledger, range(2)), [0, 64])
    np.testing.assert_array_equal(ledger.acts, [1, 65])


@pytest.mark.parametrize(("mine", "theirs"), [(3, 0), (100, 0), (3, 5), (300, 70), (3, 100)])
def test_extend_appends_lanes_with_their_acts(mine, theirs):
    ledger, other = Ledger(1), Ledger(2)
    act(ledger, mine)
    act(other, theirs, lane=1)
    settle(ledger, 2)
    for number in range(1, theirs, 3):
        settle(other, number, lane=1)
    ledger.extend(other)
    np.testing.assert_array_equal(ledger.acts, [mine, 0, theirs])
    assert [k for k in range(mine) if known(ledger, k, 0)] == [2]
    assert [k for k in range(theirs) if known(ledger, k, 2)] == list(range(1, theirs, 3))
    assert act(ledger, 1, lane=1) == [0]


def test_a_ledger_restored_continues():
    ledger = Ledger(1)
    act(ledger, 100)
    for number in (5, 99, 0):
        settle(ledger, number)
    fresh = Ledger(1)
    fresh.restore(ledger.arrays())
    assert [k for k in range(100) if known(fresh, k)] == [0, 5, 99]
    assert act(fresh, 1) == [100]
    assert known(ledger, 100)  # they share nothing


def test_what_is_learned_is_counted():
    ledger = Ledger(2)
    act(ledger, 3, lane=1)
    for number in (2, 0):
        settle(ledger, number, lane=1)
    np.testing.assert_array_equal(ledger.rounds, [0, 2])


def test_a_second_reward_is_refused_and_changes_nothing():
    ledger = Ledger(3)
    for _ in range(2):
        begin(ledger, range(3))
    settle(ledger, 1, lane=2)
    before = {name: array.copy() for name, array in ledger.arrays().items()}
    for ids, numbers, row in [([2], [1], 0), ([0, 1, 2], [0, 1, 1], 2), ([0, 1], [1, 2], 1), ([1, 0], [-1, 0], 0)]:
        assert ledger.settle(np.array(ids), np.array(numbers)) == row
        for name, array in ledger.arrays().items():
            np.testing.assert_array_equal(array, before[name])


def test_the_features_of_what_is_played_are_kept():
    x = np.arange(2 * 3 * 4 * 5, dtype=float).reshape(2, 3, 4, 5)
    drawn, played = np.zeros(2, dtype=acting.DRAWN), np.empty((2, 3, 5))
    drawn["action"] = [3, 1]
    assert acting.begin(np.array([2, 0]), x, Ledger(3).book, drawn, played)
    np.testing.assert_array_equal(played, np.stack([x[0, :, 3], x[1, :, 1]]))


def test_drawing_and_beginning_at_once_equals_one_after_the_other():
    """Also where the ring is full and grows in between: nothing is drawn or numbered twice."""
    rng = np.random.default_rng(0)
    once, apart, streams = Ledger(3), Ledger(3), Streams(5, range(3))
    for t in range(150):
        ids = rng.permutation(3)[: rng.integers(1, 4)]
        p, x = rng.dirichlet(np.ones(4), size=ids.size), rng.normal(size=(ids.size, 2, 4, 3))
        action, probability = streams.draw(ids, apart.acts, p)
        numbers = begin(apart, ids)
        status, drawn, played = play(draw, once, ids, x, p, streams.keys)
        assert status == DONE
        for name, expected in (("action", action), ("probability", probability), ("number", numbers)):
            np.testing.assert_array_equal(drawn[name], expected)
        np.testing.assert_array_equal(played, x[np.arange(ids.size), :, action])
        if t % 3 == 0:
            for ledger in (once, apart):
                ledger.settle(ids, np.array(numbers))
    assert ring(once).shape[1] > 1
    for name, array in once.arrays().items():
        np.testing.assert_array_equal(array, apart.arrays()[name])


@pytest.mark.parametrize("shared", [False, True])
def test_optimistic_play_equals_optimism_and_drawing(shared):
    rng = np.random.default_rng(5)
    lanes, K, d = 3, 4, 2
    bank = RidgeBank(lanes=lanes, dims=np.array([d, d]), regularization=np.full((lanes, 2), 0.5))
    if shared:
        precision, group = np.tile(0.5 * np.eye(d), (lanes, 1, 1, 1)), np.zeros((lanes, 2), dtype=np.int64)
        bank = SharedRidgeBank(center=rng.normal(size=(lanes, 2, d)), precision=precision, group=group)
    ids, maps = np.array([2, 0]), 1 if shared else 2
    squared = rng.uniform(-0.5, 2.0, size=(lanes, 2))
    one, two, keys = Ledger(lanes), Ledger(lanes), Streams(0, range(lanes)).keys
    kernel = play_tiles if shared else play_ridges

    def state():
        return (bank.tiles, bank.root, bank.group) if shared else (bank.theta, bank.root, bank.dims)

    for _ in range(100):  # beyond the first ring, since nothing is settled
        bank.learn(np.arange(lanes), rng.normal(size=(lanes, maps, d)), rng.normal(size=lanes))
        x = rng.normal(size=(2, maps, K, d))
        offered = np.array([[True, False, True, True], [False, True, True, True]])
        expected = play(draw, one, ids, x, greedy(bank.upper_bounds(ids, x, squared, 0.7), offered), keys)
        found = play(kernel, two, ids, x, *state(), squared, 0.7, offered, keys)
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b)
    x[1, 0, 3, 1] = np.nan
    before = two.book.copy()
    assert play(kernel, two, ids, x, *state(), squared, 0.7, offered, keys)[0] == UNUSABLE
    np.testing.assert_array_equal(two.book, before)
