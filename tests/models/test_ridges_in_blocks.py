"""Ridges of maps with several blocks of parameters."""

import numpy as np

from banditselect import Blocked, LinIDS
from banditselect.kernels.features import played
from banditselect.models.ridge_bank import RidgeBank
from banditselect.runtime.shapes import maps_of
from blocks_by_hand import Traffic, wide


def test_distances_are_those_of_one_wide_parameter():
    N, dims, blocks = 2, (3, 2), (4, 1)
    traffic, ids = Traffic(dims, blocks, N), np.arange(N)
    lam = np.array([[0.5, 2.0], [1.0, 3.0]])
    ours = RidgeBank.of(maps_of(dims, blocks, many=True), N, lam)
    theirs = RidgeBank.of(maps_of(12), N, lam[:, :1])
    for _ in range(30):
        values, block = traffic.draw()
        y = traffic.reward(values, block, np.zeros(N, dtype=int))
        x = np.zeros((N, 2, 3))
        x[:, 0], x[:, 1, :2] = values[0][:, 0], values[1][:, 0]
        ours.learn(ids, played(x, np.stack([b[:, 0] for b in block], axis=1)), y)
        theirs.learn(ids, played(wide(values[0][:, :1], block[0][:, :1], 4)), y)
    for points in 1.001 * theirs.theta[:, 0], np.random.default_rng(1).normal(size=(N, 12)):
        np.testing.assert_allclose(ours.distances(points, slice(1)), theirs.distances(points), rtol=1e-7)


def test_a_thousand_blocks_need_a_matrix_each_and_an_update_touches_one():
    policy = LinIDS(dim=4, blocks=1000)
    mixture, _ = policy.build(1)
    bank = mixture.bank
    assert bank.root.size == 5 * 1000 * 5 * 8  # scales, blocks, features with a constant, columns with room
    before, x, block = bank.root.copy(), np.random.default_rng(0).normal(size=4), 617
    mixture.learn(np.zeros(1, dtype=int), played(x[None, None], np.array([[block]])), np.ones(1))
    touched = np.flatnonzero((bank.root != before).any(axis=(0, 2, 3)))
    assert touched.tolist() == [1000 * scale + block for scale in range(5)]
    policy.learn(Blocked(x, block), 1.0)
    assert policy.parameters.shape == (1000, 4)
    assert np.flatnonzero(policy.parameters.any(axis=1)).size == 0  # the first reward is where rewards are counted from
