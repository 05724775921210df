"""Careless callers: nothing is half done, nothing reads foreign memory, nothing overflows."""

import copy
import json
import warnings

import numpy as np
import pytest

from banditselect import (
    FSOFUL,
    OFUL,
    PSOFUL,
    BiasOFUL,
    Decision,
    FSSquareCB,
    RegretBalancing,
    SquareCB,
    Uniform,
    load,
    on_map,
)
from banditselect.authoring import register
from banditselect.checks.game import make, play, snapshot
from banditselect.runtime.ledger import Ledger
from policies_under_check import NAMES, POLICIES


@pytest.mark.parametrize(
    ("policy", "arguments"),
    [
        (BiasOFUL(center=np.ones((2, 3)), lanes=2), {"center": np.ones(3)}),
        (OFUL(dim=3, noise=[0.1, 0.2], lanes=2), {"noise": 0.3}),
        (OFUL(dim=3, noise=[0.1, 0.2], lanes=2), {"noise": [0.3, 0.4]}),
        (PSOFUL(centers=np.ones((2, 4, 3)), lanes=2), {"centers": np.ones((4, 3))}),
    ],
)
def test_refused_lanes_leave_everything_as_it_was(policy, arguments, tmp_path):
    before, text = snapshot(policy), repr(policy)
    with pytest.raises(ValueError, match=next(iter(arguments))):
        policy.add_lanes(1, **arguments)
    assert (snapshot(policy), repr(policy)) == (before, text)
    policy.save(tmp_path / "policy.bsel")
    assert repr(load(tmp_path / "policy.bsel")) == text


def test_lanes_of_one_decision_can_be_rewarded_apart():
    policy, together = OFUL(dim=2, lanes=5), OFUL(dim=2, lanes=5)
    x = np.random.default_rng(1).normal(size=(3, 4, 2))
    parts = policy.act(x, lanes=[4, 0, 2]).split()
    assert [int(part.lanes[0]) for part in parts] == [4, 0, 2]
    policy.update(Decision.from_dict(json.loads(json.dumps(parts[2].to_dict()))), [0.3])
    policy.update_many([parts[0], parts[1]], [[0.1], [0.2]])
    together.update(together.act(x, lanes=[4, 0, 2]), [0.1, 0.2, 0.3])
    assert snapshot(policy) == snapshot(together)
    with pytest.raises(ValueError, match="already has a reward"):
        policy.update(parts[1], [0.2])
    single = OFUL(dim=2).act(x[0])
    assert single.split() == [single]


def test_a_forgotten_decision_is_settled_and_teaches_nothing():
    policy = OFUL(dim=2)
    x = np.eye(2)
    kept, given_up = policy.act(x), policy.act(x)
    before = policy.parameters
    policy.forget(given_up)
    assert policy.rounds == 0
    np.testing.assert_array_equal(policy.parameters, before)
    for again in (policy.update, lambda d, y: policy.forget(d)):
        with pytest.raises(ValueError, match="already has a reward"):
            again(given_up, 1.0)
    policy.update(kept, 1.0)
    assert policy.rounds == 1
    for _ in range(500):
        policy.forget(policy.act(x))
    assert policy._ledger.book.shape == Ledger(1).book.shape


def test_the_fingerprint_survives_stores_that_keep_numbers_as_doubles():
    policy = SquareCB(dim=2)
    text = json.dumps(policy.act(np.eye(2)).to_dict())
    policy.update(Decision.from_dict(json.loads(text, parse_int=lambda s: int(float(s)))), 0.5)


def test_warnings_turned_into_errors_leave_nothing_half_done():
    policy = RegretBalancing(bases=[SquareCB(dim=2), SquareCB(dim=2)], lanes=2)
    decision = policy.act(np.random.default_rng(0).normal(size=(2, 3, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="lies outside"):
            policy.update(decision, [5.0, 5.0])
    assert policy.rounds.tolist() == [1, 1]
    assert policy.plays.sum(axis=1).tolist() == [1, 1]
    assert sum(b.rounds for b in policy.bases).tolist() == [1, 1]


def test_a_warning_given_is_not_given_again_after_loading(tmp_path):
    policy = SquareCB(dim=1)
    with pytest.warns(RuntimeWarning, match="lies outside"):
        policy.learn([1.0], 5.0)
    policy.save(tmp_path / "policy.bsel")
    again = load(tmp_path / "policy.bsel")
    again.learn([1.0], 5.0)
    assert again.outside == 2


@pytest.mark.filterwarnings("ignore:.*(lies outside|no model explains):RuntimeWarning")
def test_the_largest_numbers_accepted_do_not_overflow():
    big = 1e30
    for policy in (
        FSSquareCB(n_models=2, dim=2, noise=1e-30),
        FSOFUL(n_models=2, dim=2, noise=1e-30, regularization=1e-30, parameter_bound=big),
        on_map(OFUL(dim=2, regularization=1e-30, parameter_bound=big), 0),
    ):
        for features, reward in ((np.ones((2, 2)), big), (np.full((2, 2), big), -big), (np.full((2, 2), 1e-30), big)):
            policy.learn(features, reward)
            policy.learn(features, reward)
        assert np.isfinite(policy.parameters).all()
        assert np.isfinite(policy.probabilities(np.full((2, 3, 2), big))).all()
        if hasattr(policy, "model_weights"):
            assert np.isfinite(policy.model_weights).all()
    region = PSOFUL(centers=[[big, -big], [-big, big]], radii=big, noise=1e-30)
    region.learn([big, big], big)
    assert np.isfinite(region.model_weights).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_copy_goes_on_alike_and_shares_nothing(name):
    """Also in lanes that are added later: what kernels are handed is always what a policy learns in."""
    policy, game = make(POLICIES[name][0], lanes=2)
    play(policy, game, 5)
    twin, before = copy.deepcopy(policy), snapshot(policy)
    twins_game = copy.deepcopy(game)
    twin.add_lanes(1)
    shown = [np.concatenate([m, m[:1]]) for m in twins_game.features()]
    decision = twin.act(twins_game.shown(shown))
    twin.update(decision, np.ones(3))
    assert snapshot(policy) == before
    decision = policy.act(game.shown(game.features()))
    policy.update(decision, np.ones(2))
    mine, theirs = dict(policy._parts), dict(twin._parts)
    for way, part in mine.items():
        for array, values in part.learned().items():
            if array not in part.growing:
                np.testing.assert_array_equal(theirs[way].learned()[array][:2], values, err_msg=f"{way}.{array}")


# Found in a review, each with the case that showed it


def test_printed_bounds_belong_to_what_was_learned_also_after_loading(tmp_path):
    rng = np.random.default_rng(0)
    bounds = {"feature_bound": 1.5, "reward_bound": 1.0}
    centers = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]]
    policy = PSOFUL(centers=centers, radii=[0.2, 0.1, 0.3], noise=0.1, confidence="paper", **bounds)
    for _ in range(30):
        x = rng.normal(size=(5, 2))
        decision = policy.act(x / np.linalg.norm(x, axis=1, keepdims=True))
        policy.update(decision, float(decision.features @ [0.1, 1.05]))
    policy.save(tmp_path / "policy.bsel")
    again = load(tmp_path / "policy.bsel")
    theta = policy.parameters[2]
    x = (2.9 * theta / (theta @ theta))[None]  # its prediction lies between the bounds of the first and of this round
    for one in (policy, again):
        one.update(one.act(x), 1.0)
    assert policy.admissible.tolist() == again.admissible.tolist() == [True, True, True]
    assert snapshot(policy) == snapshot(again)


class Failing(Uniform):
    """Raises while ``fails`` is set."""

    fails = False

    def _choose(self, *arguments):
        if Failing.fails:
            raise RuntimeError("failing")
        return super()._choose(*arguments)


@pytest.mark.parametrize("lanes", [None, 4])
def test_an_act_of_several_bases_is_numbered_as_a_whole_or_not(lanes, monkeypatch):
    rng = np.random.default_rng(1)
    policy = RegretBalancing(bases=[OFUL(dim=2), Failing(), SquareCB(dim=2, reward_range=(-5.0, 5.0))], lanes=lanes)
    raised = 0
    for _ in range(60):
        x = rng.normal(size=(3, 2) if lanes is None else (lanes, 3, 2))
        before = snapshot(policy)
        monkeypatch.setattr(Failing, "fails", True)
        try:
            decision = policy.act(x)
        except RuntimeError:
            raised += 1
            assert snapshot(policy) == before
            monkeypatch.setattr(Failing, "fails", False)
            decision = policy.act(x)
        policy.update(decision, float(rng.normal()) if lanes is None else rng.normal(size=lanes))
    assert raised > 3


def test_policies_inside_a_policy_draw_the_same_however_lanes_came_to_be(registry):
    @register
    class Two(Uniform):
        def build(self, lanes):
            self._inner = [Uniform(lanes=self.lanes, seed=self.seed) for _ in range(2)]
            return super().build(lanes)

        def _choose(self, ids, x, offered, numbers):
            return self._inner[1]._choose(ids, x, offered, numbers)

    grown, whole = Two(lanes=2, seed=5), Two(lanes=4, seed=5)
    grown.add_lanes(2)
    for _ in range(10):
        x = np.ones((4, 9, 1))
        np.testing.assert_array_equal(grown.act(x).action, whole.act(x).action)
