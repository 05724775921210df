"""Mixtures of maps: weights, units and estimates against batch solves and hand calculation."""

import math

import numpy as np
import pytest

from banditselect import FSIDS, LinIDS
from banditselect.models.map_mixture import DRIFT, KNOWN_NOISE_SCALES, LENT, sizes_off
from banditselect.models.mixture import FLAT
from banditselect.models.posterior import ONE_VIEW, center, lend, prepare_view, take_size
from mixtures_by_hand import LANE, Maps, mixture_of, offered, teach


@pytest.mark.parametrize("outlier", [1e-4, 30.0, 1e5])
def test_a_size_that_is_not_borne_out_is_mended_as_if_it_had_always_been(outlier):
    rng = np.random.default_rng(9)
    mixture, batch = mixture_of([3, 2]), Maps([3, 2], [0.5, 0.5])
    maps = [rng.normal(size=(40, 3)), rng.normal(size=(40, 2))]
    maps[0][0] *= outlier
    y = rng.normal(size=40)
    for t in range(40):
        teach(mixture, [m[t] for m in maps], y[t], 3)
        batch.add([m[t] for m in maps], y[t])
    sizes = mixture.size[0]
    mean = np.exp(np.log((maps[0] ** 2).sum(axis=1)).mean())
    assert abs(math.log(sizes[0] / mean)) <= DRIFT
    models = batch.members(sizes)
    log_w = np.array([m[1] for m in models])
    w = np.exp(log_w - log_w.max())
    assert mixture.weights()[0] == pytest.approx(np.array([w[0::2].sum(), w[1::2].sum()]) / w.sum(), rel=1e-4)
    for k, (_, _, _, theta, *_) in enumerate(models):
        assert mixture.bank.theta[0, k, : theta.size] == pytest.approx(theta, rel=1e-4, abs=1e-7)


def test_known_noise_weighs_by_the_gaussian_evidence():
    mixture = mixture_of([1], noise=0.5, constant=False)
    for x, y in ((1.0, 1.0), (2.0, 1.5), (1.0, 0.8)):
        teach(mixture, [[x]], y, 1)
    log_w, weight, variance = mixture.weigh(LANE)
    for j, S in enumerate(KNOWN_NOISE_SCALES):  # by hand: V = 1/S + 6, J = 1 + 2.25 + .64 - 4.8^2 / V
        V = 1.0 / S + 6.0
        assert log_w[0, j] == pytest.approx(
            math.log(1.0 / 7.0) - math.log(V * S) / 2 - (3.89 - 4.8**2 / V) / (2 * 0.25)
        )
    assert weight.sum() == pytest.approx(1.0)
    assert (variance == 0.25).all()


@pytest.mark.parametrize("constant", [True, False])
def test_predictions_are_those_of_the_maps_by_their_weights(constant):
    rng = np.random.default_rng(6)
    mixture, y = mixture_of([3, 2], constant=constant), 2.0 + rng.normal(size=12)
    for reward in y:
        teach(mixture, [rng.normal(size=3), rng.normal(size=2)], reward, 3)
    rows = [rng.normal(size=(5, 3)), rng.normal(size=(5, 2))]
    weights, constants, parameters = mixture.weights()[0], mixture.constants()[0], mixture.parameters()[0]
    expected = sum(weights[i] * (constants[i] + row @ parameters[i, : row.shape[1]]) for i, row in enumerate(rows))
    first = y[0] if constant else 0.0
    assert mixture.predict(LANE, offered(rows, 3))[0] + first == pytest.approx(expected, rel=1e-9)


def test_features_get_a_constant_and_the_unit_of_the_first():
    x, allowed, out = np.array([[3.0, 4.0], [0.0, 1.0]]), np.ones(2, dtype=bool), np.empty((3, 2))
    prepare_view(x[None, None], 0, 0, 25.0, FLAT, ONE_VIEW, allowed, out)
    assert pytest.approx(np.array([[1.0, 0.6, 0.8], [1.0, 0.0, 0.2]])) == out.T
    prepare_view(x[None, None], 0, 0, 0.0, FLAT, ONE_VIEW, allowed, out)  # not known yet: the mean of 25 and 1
    assert out[1:, 0] == pytest.approx(np.array([3.0, 4.0]) / math.sqrt(13.0))


def test_the_first_features_that_are_not_zero_are_the_size_of_a_map_until_it_drifts():
    size, logs, counts = np.array([[0.0, 7.0]]), np.zeros((1, 2)), np.zeros((1, 2), dtype=np.int64)
    out = np.empty((1, 2))
    first, second = np.array([[[3.0, 4.0], [1.0, 1.0]]]), np.array([[[0.0, 0.02], [0.0, 0.0]]])
    assert not sizes_off(LANE, first, size, logs, counts, out)
    for i in range(2):
        take_size(0, i, first[0, i] @ first[0, i], size, logs, counts)
    assert size.tolist() == [[25.0, 7.0]]
    assert logs == pytest.approx(np.log([[25.0, 2.0]]))
    assert counts.tolist() == [[1, 1]]
    assert sizes_off(LANE, second, size, logs, counts, out)
    assert out == pytest.approx(np.array([[0.1, 0.0]]))  # the geometric mean of 25 and .0004
    for i in range(2):
        take_size(0, i, second[0, i] @ second[0, i], size, logs, counts)
    assert counts.tolist() == [[2, 1]]


@pytest.mark.parametrize("constant", [True, False])
def test_moments_of_rewards(constant):
    rng = np.random.default_rng(4)
    y, moments = 1e6 + rng.normal(size=30), np.zeros((1, 3))
    for t, value in enumerate(y):
        centered = center(0, value, t + 1.0, moments, FLAT if constant else 0.0)
        assert centered == value - (y[0] if constant else 0.0)
    expected = [y[0], (y - y[0]).mean(), 30 * y.var()] if constant else [0.0, 0.0, (y**2).sum()]
    assert moments[0] == pytest.approx(expected, rel=1e-7)


def test_members_lend_all_their_weight_at_first_and_then_a_falling_share():
    lends = np.array([[10.0, np.inf, 0.0], [2.0, 2.0, 0.0]])
    for t, wanted in ((0, [0.0, 0.0, 1.0]), (10, [0.0, 0.0, 1.0]), (20, [0.45, 0.0, 0.55])):
        weight = np.array([0.6, 0.3, 0.1])
        lend(float(t), lends, weight)
        assert weight == pytest.approx(wanted)  # after 20 rewards a quarter of .6
    lend(5.0, np.empty((2, 0)), weight)
    assert weight == pytest.approx(wanted)


def test_small_scales_of_maps_with_blocks_lend_to_a_wide_one():
    """Members are scales by views by maps; scales are 10^-3, 10^-1.5, 1, 10^1.5, 10^3."""
    mixture = FSIDS(n_models=3, dim=[2, 2, 1], blocks=[1, 4, 4]).build(1)[0]
    rewards, to = mixture.lends.reshape(2, 5, 2, 3)
    assert (rewards[:3, :, 1] == 8.0 * LENT).all()
    assert (to[:3, :, 1] == [3 * 6 + 1, 3 * 6 + 4]).all()
    assert not rewards[3:].any()
    assert not rewards[..., [0, 2]].any()  # shared parameters, and arms without features
    rewards, to = FSIDS(n_models=2, dim=2, blocks=[1, 4], intercept=False).build(1)[0].lends.reshape(2, 5, 2)
    assert (rewards > 0.0).sum(axis=0).tolist() == [3, 3]
    assert to[0].tolist() == [3 * 2, 3 * 2 + 1]
    assert not LinIDS(dim=2).build(1)[0].lends.size
