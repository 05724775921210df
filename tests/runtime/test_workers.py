"""Copies that act for one policy in several processes: random numbers of their own, decisions learned once."""

import copy
import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from banditselect import OFUL, Decision, LinTS, RegretBalancing, SquareCB, Uniform, load
from banditselect.checks.game import make, play, snapshot
from banditselect.runtime.ledger import ACTS, FLOOR, Ledger, settle, unlearned
from banditselect.runtime.workers import MAIN, LearnedFromWorkers, Worker, since
from policies_under_check import NAMES, POLICIES

ALARM = 1e-6  # false-alarm rate of each statistical assertion below, whose draws are not seeded
X = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


def published(tmp_path, policy):
    path = tmp_path / "policy.bsel"
    policy.save(path)
    return path


def sent(decision):
    """Return a decision as it arrives from another process."""
    return Decision.from_dict(json.loads(json.dumps(decision.to_dict())))


def state(policy):
    return {name: content for name, content in snapshot(policy).items() if not name.startswith("_ledger.")}


def test_workers_that_load_one_file_draw_apart_and_their_propensities_are_true(tmp_path):
    path, K = published(tmp_path, Uniform()), 5
    decisions = [load(path, worker=1 + k).act(np.ones((K, 2))) for k in range(1500)]
    assert {d.probability for d in decisions} == {1 / K}
    counts = np.bincount([d.action for d in decisions], minlength=K)
    assert stats.chisquare(counts).pvalue > ALARM
    assert len(set(decisions)) == len({d.worker for d in decisions}) == 1500


def test_what_is_drawn_by_several_workers_at_the_same_act_is_independent():
    """Pairs of actions of two workers, over acts: all K^2 are equally frequent."""
    policy, K, rounds = Uniform(), 4, 4000
    one, two = policy.fork(1), policy.fork(2)
    pairs = [K * one.act(np.ones((K, 1))).action + two.act(np.ones((K, 1))).action for _ in range(rounds)]
    assert stats.chisquare(np.bincount(pairs, minlength=K * K)).pvalue > ALARM


@pytest.mark.parametrize("lanes", [None, 3])
@pytest.mark.parametrize(
    "factory",
    [
        SquareCB.bind(dim=2),
        LinTS.bind(dim=2),
        lambda lanes: RegretBalancing(bases=[SquareCB(dim=2), OFUL(dim=2)], lanes=lanes),
    ],
)
def test_every_decision_of_every_worker_is_learned_once_in_any_order(factory, lanes, tmp_path):
    policy = factory(lanes=lanes)
    x = X if lanes is None else np.tile(X, (lanes, 1, 1))
    actors = [policy, policy.fork(0), policy.fork("shop-7"), policy.fork("shop-7")]
    decisions = [sent(actor.act(x)) for actor in actors for _ in range(5)]
    assert len(set(decisions)) == 20
    assert max(decision.worker.number for decision in decisions) < 2**48  # a store of doubles does not change it
    rng = np.random.default_rng(0)
    order, alone = rng.permutation(20), factory(lanes=lanes)
    for done, k in enumerate(order):
        if done == 9:
            policy = load(published(tmp_path, policy))
        y = float(k) / 20 if lanes is None else (np.arange(lanes) + k / 20) / 4
        policy.update(decisions[k], y)
        with pytest.raises(ValueError, match="this decision already has a reward"):
            policy.update(decisions[k], y)
        own = decisions[k]._replace(number=alone.act(x).number, worker=MAIN, lineage=alone._lineage)
        alone.update(own, y)
    assert np.all(np.asarray(policy.rounds) == 20)
    assert state(policy) == state(alone)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_every_policy_learns_what_its_worker_decided_as_its_own(name):
    (policy, game), (twin, same) = (make(POLICIES[name][0], lanes=2) for _ in range(2))
    play(policy, game, 5)
    play(twin, same, 5)
    worker = policy.fork(3)
    for _ in range(3):
        maps = game.features()
        decision = worker.act(game.shown(maps))
        y = game.reward(maps, decision.action)
        policy.update(sent(decision), y)
        number = twin.act(game.shown(maps)).number
        twin.update(decision._replace(number=number, worker=MAIN, lineage=twin._lineage), y)
    assert policy.rounds.tolist() == twin.rounds.tolist() == [8, 8]
    assert state(policy) == state(twin)


def test_a_worker_continues_as_the_policy_that_it_was_forked_from():
    policy, alone = SquareCB(dim=2), SquareCB(dim=2)
    for _ in range(20):
        policy.update(policy.act(X), 0.5)
        alone.update(alone.act(X), 0.5)
    worker = policy.fork(1)
    np.testing.assert_array_equal(worker.probabilities(X), policy.probabilities(X))
    assert worker.rounds == 20
    before = state(policy)
    worker.update(worker.act(X), 1.0)
    assert (worker.rounds, policy.rounds) == (21, 20)
    assert state(policy) == before
    assert policy.act(X).worker == MAIN
    assert [policy.act(X).action for _ in range(50)] == [alone.act(X).action for _ in range(51)][1:]


def test_an_error_says_whether_a_decision_was_learned_or_never_made_here(tmp_path):
    policy = SquareCB(dim=2)
    path = published(tmp_path, policy)
    stray = load(path).act(X)  # no worker was named: the policy does not know its act 0
    with pytest.raises(ValueError, match=r"not made here \(act 0, lane 0, but the lane has seen 0 acts\)$"):
        policy.update(stray, 1.0)
    own = policy.act(X)
    policy.update(own, 1.0)
    with pytest.raises(ValueError, match=r"already has a reward \(act 0, lane 0\)$"):
        policy.update(own, 1.0)
    theirs = load(path, worker=7).act(X)
    policy.update(theirs, 1.0)
    with pytest.raises(ValueError, match=r"already has a reward \(act 0, lane 0, worker 7\)$"):
        policy.update(theirs, 1.0)
    with pytest.raises(ValueError, match="made by another policy"):
        SquareCB(dim=2).update(theirs, 1.0)


def test_a_worker_that_is_started_again_is_another_one_and_repeats_nothing(tmp_path):
    """Within one second sessions differ in 21 random bits: two of 14 are the same with probability 4e-5."""
    path = published(tmp_path, SquareCB(dim=2))
    learner = load(path)
    lives = [load(path, worker=1) for _ in range(14)]  # the same number, the same snapshot
    for worker in lives:
        for _ in range(3):
            learner.update(worker.act(X), 0.5)
    assert learner.rounds == 42


def test_a_worker_takes_over_what_was_learned_and_counts_on(tmp_path):
    learner = SquareCB(dim=2, lanes=2)
    x = np.tile(X, (2, 1, 1))
    worker = learner.fork(1)
    decisions = [worker.act(x) for _ in range(200)]
    for decision in decisions[::2]:
        learner.update(decision, [0.5, 0.1])
    learner.update(decisions[1].split()[1], [0.3])
    learner.add_lanes(1)
    again = load(published(tmp_path, learner), worker=worker)
    assert again.act(x, lanes=[0, 1]).number.tolist() == [200, 200]
    assert again.act(X[None], lanes=[2]).number.tolist() == [0]
    assert again.act(X[None], lanes=[2]).worker == worker._acts.worker
    assert again.rounds.tolist() == learner.rounds.tolist() == [100, 101, 0]
    np.testing.assert_array_equal(again.parameters, learner.parameters)
    for k, decision in enumerate(decisions):
        for lane, part in enumerate(decision.split()):
            if k % 2 == 0 or (k, lane) == (1, 1):
                with pytest.raises(ValueError, match="already has a reward"):
                    again.update(part, [0.5])
            else:
                again.update(part, [0.5])
    assert len(again._acts.from_workers.table()) == 0
    assert again._ledger.book[:, FLOOR].tolist() == [200, 200, 0]


def test_a_worker_saved_goes_on_as_itself(tmp_path):
    worker = SquareCB(dim=2, seed=2).fork(4)
    waiting = worker.act(X)
    again = load(published(tmp_path, worker))
    assert [again.act(X).action for _ in range(30)] == [worker.act(X).action for _ in range(30)]
    again.update(waiting, 0.5)
    assert again.act(X).worker == waiting.worker
    heir = again.fork(5)  # a worker of a worker
    other = heir.act(X)
    again.update(other, 0.5)
    with pytest.raises(ValueError, match=r"already has a reward \(act 0, lane 0, worker 4\)$"):
        heir.update(waiting, 0.5)


@pytest.mark.parametrize("worker", [-1, 1.5, True, 1 << 62, None])
def test_a_worker_has_a_whole_number_or_a_name_or_was_forked_from_this_policy(worker):
    policy = SquareCB(dim=2)
    with pytest.raises(ValueError, match="worker: got"):
        policy.fork(worker)
    for other in (SquareCB(dim=2).fork(1), policy):
        with pytest.raises(ValueError, match=r"worker: got SquareCB\(dim=2\), expected a worker that was forked"):
            policy.fork(other)


def test_whether_a_decision_was_learned_can_be_asked():
    policy = SquareCB(dim=2)
    twin = copy.deepcopy(policy)
    future = [twin.act(X) for _ in range(3)][2]
    for decision in (policy.act(X), policy.fork(1).act(X)):
        assert policy.has_learned(decision) is False
        policy.update(decision, 0.5)
        assert policy.has_learned(decision) is True
    assert policy.has_learned(future) is False  # never acted here
    lanes = SquareCB(dim=2, lanes=3)
    for actor in (lanes, lanes.fork(1)):
        decision = actor.act(np.tile(X, (3, 1, 1)))
        lanes.update(decision.split()[1], [0.5])
        assert lanes.has_learned(decision).tolist() == [False, True, False]
    with pytest.raises(ValueError, match="made by another policy"):
        lanes.has_learned(future)


def test_forgotten_decisions_of_a_worker_are_settled():
    policy = SquareCB(dim=2)
    decision = policy.fork(1).act(X)
    policy.forget(decision)
    assert policy.rounds == 0
    for again in (policy.forget, lambda d: policy.update(d, 1.0)):
        with pytest.raises(ValueError, match="already has a reward"):
            again(decision)


def test_many_decisions_of_several_workers_are_learned_together_and_take_a_run_each():
    policy = SquareCB(dim=2)
    actors = [policy, policy.fork(1), policy.fork(2)]
    decisions = [actor.act(X) for actor in actors for _ in range(3)]
    before = policy._acts.from_workers.table()
    for wrong in ([*decisions, decisions[4]], [*decisions, actors[1].act(X)._replace(features=np.full(2, np.nan))]):
        with pytest.raises(ValueError, match=r"each decision once|finite"):
            policy.update_many(wrong, [0.5] * 10)
        np.testing.assert_array_equal(policy._acts.from_workers.table(), before)
    policy.update_many(decisions, [0.5] * 9)
    assert policy.rounds == 9
    assert policy._acts.from_workers.table()[:, 2:].tolist() == [[0, 0, 3]] * 2


def test_workers_of_former_times_can_be_closed(tmp_path):
    policy = SquareCB(dim=2)
    worker = policy.fork(1)
    late, decision = worker.act(X), worker.act(X)
    policy.update(decision, 0.5)
    policy.close_workers(before=0.0)
    assert len(policy._acts.from_workers.table()) == 1
    policy.close_workers(before=time.time() + 1.0)
    policy = load(published(tmp_path, policy))
    assert len(policy._acts.from_workers.table()) == 0
    for one in (late, decision):
        with pytest.raises(ValueError, match=r"closed by close_workers \(act \d, lane 0, worker 1\)$"):
            policy.update(one, 0.5)
        with pytest.raises(ValueError, match=r"closed by close_workers \(act \d, lane 0, worker 1\)$"):
            policy.forget(one)
    policy.update(policy.act(X), 0.5)
    assert policy.fork(worker)._acts.worker.session != worker._acts.worker.session
    assert policy.fork(worker).act(X).number == 0


@pytest.mark.parametrize("wrong", [(1,), (1, 2), Worker(-1, 3), Worker(1, 1 << 62), Worker(1.0, 2), None])
def test_who_is_no_worker_is_refused(wrong):
    policy = SquareCB(dim=2)
    with pytest.raises(ValueError, match="decision: got"):
        policy.update(policy.fork(1).act(X)._replace(worker=wrong), 0.5)


# The books.


@given(steps=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 30)), max_size=80))
def test_runs_agree_with_a_set(steps):
    book, learned, worker = LearnedFromWorkers(), set(), Worker(1, 5)
    for lane, number in steps:
        row = np.array([lane]), np.array([number])
        assert book.learned(worker, *row).tolist() == [(lane, number) in learned]
        book.toggle(worker, *row)
        learned ^= {(lane, number)}
    rows = [(lane, k) for _, _, lane, begin, end in book.table().tolist() for k in range(begin, end)]
    assert sorted(learned) == rows
    again = LearnedFromWorkers()
    again.restore(book.table(), 0, 2)
    np.testing.assert_array_equal(again.table(), book.table())


@given(acts=st.integers(0, 200), learned=st.sets(st.integers(0, 199)))
def test_a_ledger_as_runs_and_back(acts, learned):
    learned, ledger = {k for k in learned if k < acts}, Ledger(1)
    ledger.resume(np.array([acts]), {})
    numbers = np.array(sorted(learned), dtype=np.int64)
    if numbers.size:
        assert settle(np.zeros(numbers.size, dtype=np.int64), numbers, ledger.book) == -1
    runs = ledger.runs().get(0, [])
    assert {k for begin, end in zip(runs[::2], runs[1::2], strict=True) for k in range(begin, end)} == learned
    again = Ledger(1)
    again.resume(np.array([acts]), {0: runs} if runs else {})
    assert again.book[0, ACTS] == acts
    waiting = [k for k in range(acts) if unlearned(np.array([0]), np.array([k]), again.book) == -1]
    assert waiting == sorted(set(range(acts)) - learned)
    assert again.runs().get(0, []) == runs


@pytest.mark.parametrize(
    "table",
    [
        np.zeros((1, 4), dtype=np.int64),
        np.zeros((1, 5)),
        np.array([[1, 1, 0, 3, 3]]),
        np.array([[1, 1, 0, 5, 7], [1, 1, 0, 6, 9]]),
        np.array([[1, 1, 2, 0, 1]]),
        np.array([[1, 1, -1, 0, 1]]),
    ],
)
def test_a_table_that_cannot_be_is_refused(table):
    with pytest.raises(ValueError, match="what workers have decided"):
        LearnedFromWorkers().restore(table, 0, 2)


def test_sessions_tell_when_they_began_and_fit_a_double():
    before, worker, after = time.time(), Worker.fresh(3), time.time()
    assert since(before) <= worker.session < since(after + 1.0)
    assert since(2.0**32) <= 2**53
