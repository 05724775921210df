"""The book of which acts were learned: any order, once each, in constant memory while rewards arrive."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditselect.kernels.features import NO_BLOCK
from banditselect.runtime.acts import Acts
from banditselect.runtime.drawing import commit
from banditselect.runtime.ledger import FLOOR, LAST, RING, UNNUMBERED, Ledger, settle, unlearned, unsettle


def begin(ledger, ids):
    """Number one more act of these lanes; nothing is said of their features."""
    ids = np.array(ids)
    x, certain, keys = np.zeros((ids.size, 1, 1, 1)), np.ones((ids.size, 1)), np.zeros(ids.size, dtype=np.int64)
    drawn, share, played = np.empty((2, ids.size), dtype=np.int64), np.empty(ids.size), np.empty((ids.size, 1, 1))
    while not commit(ids, x, NO_BLOCK, certain, keys, ledger.book, drawn, share, played):
        ledger.grow()
    return drawn[1]


def floor(ledger, lane=0):
    """All acts below it are learned."""
    return ledger.book[lane, FLOOR]


def ring(ledger):
    """The bits of acts that wait, 64 to the number."""
    return ledger.book[:, RING:]


def act(ledger, times, lane=0):
    return [int(begin(ledger, [lane])[0]) for _ in range(times)]


def learn(ledger, number, lane=0):
    ids, numbers = np.array([lane]), np.array([number])
    assert unlearned(ids, numbers, ledger.book) == -1
    assert settle(ids, numbers, ledger.book) == -1


def known(ledger, number, lane=0):
    """Return whether a reward for this act would be refused."""
    return unlearned(np.array([lane]), np.array([number]), ledger.book) == 0


@given(steps=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 200), st.booleans()), max_size=250))
def test_ledger_agrees_with_a_set(steps):
    """Acts and rewards in any mixture over three lanes, against a plain set of the acts that wait."""
    ledger, acts, waiting = Ledger(3), [0, 0, 0], [set(), set(), set()]
    for lane, pick, reward in steps:
        if reward and waiting[lane]:
            number = sorted(waiting[lane])[pick % len(waiting[lane])]
            learn(ledger, number, lane)
            waiting[lane].remove(number)
        else:
            assert act(ledger, 1, lane) == [acts[lane]]
            waiting[lane].add(acts[lane])
            acts[lane] += 1
    for lane in range(3):
        assert [k for k in range(acts[lane]) if not known(ledger, k, lane)] == sorted(waiting[lane])
        assert floor(ledger, lane) == min(waiting[lane], default=acts[lane])
        assert ledger.rounds[lane] == acts[lane] - len(waiting[lane])
    np.testing.assert_array_equal(ledger.acts, acts)


@given(steps=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 200), st.sampled_from("arurl")), max_size=250))
def test_the_settle_of_a_reward_that_was_not_learned_is_undone(steps):
    """Acts, rewards, rewards that are interrupted before they are learned, and data without acts, against a set."""
    ledger, acts, waiting, learned = Ledger(3), [0, 0, 0], [set(), set(), set()], np.zeros(3, dtype=np.int64)
    for lane, pick, step in steps:
        ids = np.array([lane])
        if step == "a" or (step in "ru" and not waiting[lane]):
            act(ledger, 1, lane)
            waiting[lane].add(acts[lane])
            acts[lane] += 1
            continue
        before = np.delete(ledger.book, LAST, axis=1)
        numbers = UNNUMBERED if step == "l" else np.array([sorted(waiting[lane])[pick % len(waiting[lane])]])
        assert settle(ids, numbers, ledger.book) == -1
        if pick % 2 or step == "u":
            unsettle(np.arange(3), learned, ledger.book)
            np.testing.assert_array_equal(np.delete(ledger.book, LAST, axis=1), before)
        else:
            learned[lane] += 1
            waiting[lane] -= set(numbers.tolist())
        after = ledger.book.copy()
        unsettle(np.arange(3), learned, ledger.book)
        np.testing.assert_array_equal(ledger.book, after)  # nothing is undone twice, nor what was learned
    np.testing.assert_array_equal(ledger.rounds, learned)
    for lane in range(3):
        assert [k for k in range(acts[lane]) if not known(ledger, k, lane)] == sorted(waiting[lane])


def test_an_act_that_was_given_up_is_no_settle_to_undo():
    ledger, learned = Ledger(1), np.array([1])
    act(ledger, 3)
    learn(ledger, 1)
    Acts(ledger).drop(None, np.array([0]), np.array([0]))
    unsettle(np.array([0]), learned, ledger.book)
    assert [known(ledger, k) for k in range(3)] == [True, True, False]
    np.testing.assert_array_equal(ledger.rounds, learned)


def test_acts_that_never_were_are_refused():
    ledger = Ledger(2)
    act(ledger, 3, lane=1)
    assert known(ledger, 3, lane=1)
    assert known(ledger, -1, lane=1)
    assert known(ledger, 0, lane=0)
    assert not known(ledger, 2, lane=1)


def test_memory_stays_constant_while_rewards_arrive():
    ledger = Ledger(1)
    shape = ledger.book.shape
    for t in range(10_000):
        act(ledger, 1)
        if t % 2 and t > 60:  # 60 acts late, in swapped pairs
            learn(ledger, t - 60)
            learn(ledger, t - 61)
    assert ledger.book.shape == shape
    assert ledger.acts[0] == 10_000


def test_the_ring_grows_when_a_reward_is_missing_and_forgets_nothing():
    ledger = Ledger(2)
    act(ledger, 1000)
    for number in range(1, 1000, 2):
        learn(ledger, number)
    assert floor(ledger) == 0
    assert 1000 <= 64 * ring(ledger).shape[1] <= 2 * 1000 + 64  # one bit per act waiting, up to a doubling
    assert [known(ledger, k) for k in range(1000)] == [k % 2 == 1 for k in range(1000)]
    for number in range(0, 1000, 2):
        learn(ledger, number)
    assert floor(ledger) == 1000
    assert not ring(ledger).any()


@pytest.mark.parametrize("acts", [1, 63, 64, 65, 66, 127, 128, 129, 130, 257])
def test_the_oldest_and_the_newest_act_have_bits_of_their_own(acts):
    ledger = Ledger(1)
    act(ledger, acts)
    assert acts <= 64 * ring(ledger).shape[1] <= max(64, 2 * acts)
    learn(ledger, acts - 1)
    assert [k for k in range(acts) if known(ledger, k)] == [acts - 1]


def test_a_full_ring_grows_while_another_lane_is_far_ahead():
    """The lanes' rings turn at their own pace; growing must keep each one's position."""
    ledger = Ledger(2)
    for _ in range(1001):
        learn(ledger, act(ledger, 1, lane=1)[0], lane=1)
    act(ledger, 5, lane=1)
    learn(ledger, 1004, lane=1)
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
    learn(ledger, 2)
    for number in range(1, theirs, 3):
        learn(other, number, lane=1)
    ledger.extend(other)
    np.testing.assert_array_equal(ledger.acts, [mine, 0, theirs])
    assert [k for k in range(mine) if known(ledger, k, 0)] == [2]
    assert [k for k in range(theirs) if known(ledger, k, 2)] == list(range(1, theirs, 3))
    assert act(ledger, 1, lane=1) == [0]


def test_a_ledger_restored_continues():
    ledger = Ledger(1)
    act(ledger, 100)
    for number in (5, 99, 0):
        learn(ledger, number)
    fresh = Ledger(1)
    fresh.restore(ledger.learned())
    assert [k for k in range(100) if known(fresh, k)] == [0, 5, 99]
    assert act(fresh, 1) == [100]
    assert known(ledger, 100)  # they share nothing


def test_a_second_reward_is_refused_and_changes_nothing():
    ledger = Ledger(3)
    for _ in range(2):
        begin(ledger, range(3))
    learn(ledger, 1, lane=2)
    before = {name: array.copy() for name, array in ledger.learned().items()}
    for ids, numbers, row in [([2], [1], 0), ([0, 1, 2], [0, 1, 1], 2), ([0, 1], [1, 2], 1), ([1, 0], [-1, 0], 0)]:
        assert settle(np.array(ids), np.array(numbers), ledger.book) == row
        for name, array in ledger.learned().items():
            np.testing.assert_array_equal(array, before[name])
