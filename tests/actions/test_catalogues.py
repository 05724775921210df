"""Catalogues: items take the place of their features, are checked once, and cost nothing per decision."""

import tracemalloc

import numpy as np
import pytest

from banditselect import OFUL, Catalogue, FSSquareCB, RegretBalancing, SquareCB, Uniform, given, on_map, simulate
from banditselect.models.evidence import EvidenceWeighted
from banditselect.models.model import Model
from banditselect.plays.optimism import Best
from banditselect.problems import Classification, SyntheticFeatureSelection
from banditselect.runtime.shapes import maps_of


def table(*shape):
    return np.random.default_rng(0).normal(size=shape)


def test_one_list_of_items_is_offered_to_all_lanes():
    catalogue, items = Catalogue(table(2, 9, 3)), [4, 0, 8]
    one, all_of_them = (FSSquareCB(n_models=2, dim=3, lanes=4) for _ in range(2))
    for lanes in (None, [3, 1]):
        n = 4 if lanes is None else 2
        mine = one.act(catalogue.offer(items), lanes=lanes)
        theirs = all_of_them.act(catalogue.offer([items] * n), lanes=lanes)
        np.testing.assert_array_equal(mine.action, theirs.action)
        np.testing.assert_array_equal(mine.features, theirs.features)
        one.update(mine, np.ones(n))
        all_of_them.update(theirs, np.ones(n))
    assert Uniform(lanes=5).act(catalogue.offer(items)).action.shape == (5,)
    np.testing.assert_array_equal(one.parameters, all_of_them.parameters)


def test_a_catalogue_is_a_copy_and_single_precision_stays_single():
    features = table(5, 2).astype(np.float32)
    catalogue, policy = Catalogue(features), SquareCB(dim=2)
    features[:] = np.nan
    policy.update(policy.act(catalogue.offer([0, 3])), 1.0)
    assert np.isfinite(policy.parameters).all()
    assert catalogue._table.dtype == np.float32
    assert (catalogue.n_items, "5 items" in repr(catalogue)) == (5, True)


@pytest.mark.parametrize(
    "features",
    [
        np.ones(3),
        np.ones((2, 0, 3)),
        np.ones((0, 3)),
        [np.ones((3, 2)), np.ones((4, 2))],
        [],
        [[np.nan, 1.0]],
        [[np.inf, 1.0]],
        [[1e31, 1.0]],
        "items",
        None,
    ],
)
def test_features_that_cannot_be_used_are_refused(features):
    with pytest.raises(ValueError, match="Catalogue: features: got"):
        Catalogue(features)


@pytest.mark.parametrize("items", [[0, 9], [-1], [0.5], [], [[[1]]], [True], "1", None])
def test_items_that_are_not_there_are_refused(items):
    with pytest.raises(ValueError, match=r"items: got .*between 0 and 8"):
        Catalogue(table(9, 3)).offer(items)


def test_an_offer_that_does_not_fit_the_policy_is_refused_and_nothing_changes():
    several, one = Catalogue(table(2, 9, 3)), Catalogue(table(9, 3))
    policy = FSSquareCB(n_models=2, dim=3, lanes=2)
    for offer in (several.offer([[1, 2]]), several.offer([[1], [2], [3]]), one.offer([[1], [2]]), one.offer([1])):
        with pytest.raises(ValueError, match="features: got 'items whose features have the shape"):
            policy.act(offer)
    with pytest.raises(ValueError, match="features: got"):
        OFUL(dim=3).act(several.offer([1]))
    with pytest.raises(ValueError, match="features: got"):
        OFUL(dim=2).act(one.offer([1]))
    assert policy.act(several.offer([[1], [2]])).number.tolist() == [0, 0]


class Own(Uniform):
    """A policy whose model is written in NumPy, so that it is given arrays."""

    def build(self, lanes):
        return Arrays(maps_of(3)), Best()


class Arrays(Model):
    """Predicts the sum of the features in the first map."""

    def predict(self, ids, x):
        assert type(x.values) is np.ndarray
        return x.values[:, 0].sum(axis=2)


def test_a_model_in_numpy_is_given_arrays_also_inside_a_meta_policy():
    catalogue = Catalogue(table(2, 9, 3))
    for policy in (on_map(Own(), 0), RegretBalancing(bases=[on_map(SquareCB(dim=3), 0), on_map(Own(), 1)])):
        assert not policy._reader.reads_lookups
        policy.update(policy.act(catalogue.offer([1, 2, 3])), 1.0)
    assert on_map(SquareCB(dim=3), 0)._reader.reads_lookups


def test_a_decision_over_many_items_holds_the_features_of_one_map_at_a_time():
    catalogue = Catalogue(table(10, 10_000, 50).astype(np.float32))
    policy = FSSquareCB(n_models=10, dim=50)
    offer = catalogue.offer(np.arange(10_000))
    with pytest.warns(RuntimeWarning, match="10000 actions are played nearly uniformly"):
        policy.act(offer)  # compiles
    tracemalloc.start()
    policy.act(offer)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 5_000_000  # one map takes 4 MB, all of them 40 MB


@pytest.mark.parametrize(
    "problem",
    [
        SyntheticFeatureSelection(n_models=3, dim=4, n_items=30, n_actions=4),
        Classification(features=[table(40, 3), table(40, 2)], labels=np.arange(40) % 4, n_actions=4),
        Classification(features=table(40, 3), labels=np.arange(40) % 4, n_actions=4),
    ],
    ids=["synthetic", "maps of different widths", "one map"],
)
def test_simulations_give_the_same_as_with_arrays(problem, monkeypatch):
    cls = FSSquareCB if "n_models" in problem.shapes else SquareCB
    one = cls.bind(reward_range=given.reward_range)
    looked_up = simulate({"policy": one}, problem, rounds=60, replicates=5)
    monkeypatch.setattr(EvidenceWeighted, "reads_lookups", False)
    shown = simulate({"policy": one}, problem, rounds=60, replicates=5)
    np.testing.assert_allclose(looked_up.curve("policy"), shown.curve("policy"), rtol=1e-9)
    for metric in ("weight", "probability"):
        np.testing.assert_allclose(looked_up.final("policy", metric), shown.final("policy", metric), rtol=1e-7)
