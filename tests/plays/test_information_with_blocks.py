"""Information-directed play over maps, with and without blocks of parameters, against brute force."""

import numpy as np
import pytest

from banditselect import FSIDS, LinIDS
from banditselect.models.map_mixture import KNOWN_NOISE_SCALES, LENT, SCALES, MapMixture
from banditselect.models.mixture import FLAT
from banditselect.plays.information import Information, expected_regret, mix_two
from banditselect.runtime.shapes import maps_of
from blocks_by_hand import EXACT, Traffic, wide, with_level
from mixtures_by_hand import regression


class Believed:
    """The mixture of MapsMixture and the play of LinIDS, from scratch at every act, with one wide parameter per map.

    Every map has a constant of prior precision FLAT. One with blocks also has an indicator of every block, with the
    prior precision of other features: the columns are 1, e_k and e_k x.
    """

    def __init__(self, dims, blocks, constant, noise):
        self.dims, self.blocks, self.constant, self.noise = dims, blocks, constant, noise
        self.played, self.rewards = [], []
        self.sizes, self.logs = np.zeros(len(dims)), np.zeros(len(dims))

    def models(self):
        for scale in SCALES if self.noise is None else KNOWN_NOISE_SCALES:
            for i, (d, B) in enumerate(zip(self.dims, self.blocks, strict=True)):
                precision = np.full(B * (self.constant * (B > 1) + d), 1.0 / scale)
                yield i, np.append(FLAT, precision) if self.constant else precision

    def columns(self, i, values, block):
        """The features of map i as columns of one matrix."""
        B = self.blocks[i]
        return with_level(values, block, B) if self.constant and B > 1 else wide(values, block, B, self.constant)

    def posterior(self, values, blocks, size):
        """Features of the actions, estimate, inverse of V, noise variance and weight of every model."""
        t = len(self.rewards)
        y = np.array(self.rewards) - (self.rewards[0] if self.constant and t else 0.0)
        about = (y**2).sum() / max(t, 1)
        if self.constant:
            about = ((y - y.mean()) ** 2).sum() / max(t - 1, 1) if t else 0.0
        found, log_weight = [], []
        for i, precision in self.models():
            root = np.sqrt(size[i])
            rows = [self.columns(i, v[i] / root, np.array(b[i])) for v, b in self.played]
            Phi = np.array(rows).reshape(t, precision.size)
            theta, V, J, logdet = regression(Phi, y, np.diag(precision), np.zeros(precision.size))
            if self.noise is not None:
                variance, weight = self.noise**2, -J / (2.0 * self.noise**2)
            elif about == 0.0:
                variance, weight = 1.0, 0.0
            else:
                variance = (about + J / 2.0) / (1.0 + t / 2.0)
                weight = np.log(about) - (1.0 + t / 2.0) * np.log(about + J / 2.0)
            found.append((self.columns(i, values[i] / root, blocks[i]), theta, np.linalg.inv(V), variance))
            log_weight.append(weight - logdet / 2.0)
        weight = np.exp(np.array(log_weight) - max(log_weight))
        return found, weight / weight.sum()

    def play(self, values, blocks, offered):
        """Weights of the maps, and probabilities of the actions."""
        size = self.sizes
        if not self.rewards:
            size = [(v[offered] ** 2).sum() / offered.sum() for v in values]
        found, weight = self.posterior(values, blocks, size)
        by_scale = weight.reshape(-1, len(self.dims)).copy()
        of_maps = by_scale.sum(axis=0)
        for i, B in enumerate(self.blocks):  # scales 10^-3, 10^-1.5 and 1 lend to 10^1.5
            to, rewards = 3, LENT * B**1.5 * (B > 1) * (self.dims[i] > 1) if self.constant else np.inf
            moved = by_scale[:to, i] * min(rewards / max(len(self.rewards), 1), 1.0) ** 2
            by_scale[:to, i] -= moved
            by_scale[to, i] += moved.sum()
        weight = by_scale.ravel()
        counts = weight * weight.size >= 1e-3
        found, weight = [m for m, c in zip(found, counts, strict=True) if c], weight[counts] / weight[counts].sum()
        f = np.array([x @ theta for x, theta, _, _ in found])
        mean, noise = weight @ f, sum(w * m[3] for w, m in zip(weight, found, strict=True))
        own = np.array([s2 * np.einsum("aj,jk,ak->a", x, inverse, x) for x, _, inverse, s2 in found])
        taught = 0.5 * np.log1p(weight @ (own + (f - mean) ** 2) / noise)
        if self.constant:
            taught -= 0.5 * np.log1p(1.0 / (FLAT + len(self.rewards)))
        taught = np.maximum(taught, 0.0)
        best = np.flatnonzero(offered & (mean == mean[offered].max()))
        leader = best[np.argmax(taught[best])]
        deviation = []
        for x, _, inverse, s2 in found:
            gap = x - x[leader]
            deviation.append(np.sqrt(s2 * np.einsum("aj,jk,ak->a", gap, inverse, gap).clip(0.0)))
        gap, p = f - f[:, leader : leader + 1], np.empty(mean.size)
        regret = expected_regret(leader, weight, gap, np.array(deviation), offered)
        mix_two(leader, mean, taught, regret, offered, 0.0, p)
        return of_maps, p

    def learn(self, values, blocks, y):
        """Learn; squared norms are divided by the first, or where it is off by a factor 10 by their geometric mean."""
        self.played.append((values, blocks))
        self.rewards.append(y)
        self.logs += np.log([(v**2).sum() for v in values])
        mean = np.exp(self.logs / len(self.rewards))
        off = np.abs(np.log(mean) - np.log(self.sizes)) > np.log(10.0) if len(self.rewards) > 1 else True
        self.sizes = np.where(off, mean, self.sizes)


class AsGiven(FSIDS):
    """FS-IDS on maps as they are given: tests/models/test_map_views.py has the centred views."""

    def build(self, lanes):
        """Return all maps at several prior scales, played by information-directed play."""
        maps, prior = maps_of(self.dim, self.blocks, many=True), np.full(self.n_models, 1.0 / self.n_models)
        return MapMixture(maps, lanes, noise=self.noise, prior=prior, intercept=self.intercept), Information(self.floor)


@pytest.mark.parametrize("noise", [None, 0.3])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(("dims", "blocks"), [((2,), (4,)), ((2, 3, 1), (4, 1, 3)), ((2, 3), (1, 1))])
def test_information_directed_play_with_blocks_is_that_of_brute_force(dims, blocks, constant, noise):
    arguments = {"noise": noise, "intercept": constant, "lanes": 2, "seed": 3}
    if len(dims) > 1:
        policy = AsGiven(n_models=len(dims), dim=dims, blocks=blocks, **arguments)
    else:
        policy = LinIDS(dim=dims[0], blocks=blocks[0], **arguments)
    believed = [Believed(dims, blocks, constant, noise) for _ in range(2)]
    traffic = Traffic(dims, blocks, 2, seed=4)
    waiting = []
    for t in range(25):
        values, block = traffic.draw()
        length = traffic.rng.uniform(1.0, 1.5, (*values[0].shape[:2], 1))
        length[:] *= 30.0 if t > 8 else 1.0  # sizes have to be mended
        values = [v * length / np.linalg.norm(v, axis=-1, keepdims=True) for v in values]
        offered = np.ones(values[0].shape[:2], dtype=bool)
        offered[:, 1:] = traffic.rng.random(offered[:, 1:].shape) < 0.8
        shown = traffic.shown(values, block)
        p = policy.probabilities(shown, available=offered)
        for lane in range(2):
            row = [v[lane] for v in values], [b[lane] for b in block]
            weights, expected = believed[lane].play(*row, offered[lane])
            np.testing.assert_allclose(p[lane], expected, **EXACT)
            if len(dims) > 1:
                np.testing.assert_allclose(policy.model_weights[lane], weights, **EXACT)
        decision = policy.act(shown, available=offered)
        y = 7.0 + traffic.reward(values, block, decision.action)
        waiting.append((decision, y, values, block))
        if len(waiting) > 2:
            decision, y, values, block = waiting.pop(int(traffic.rng.integers(3)))
            policy.update(decision, y)
            for lane, a in enumerate(decision.action):
                believed[lane].learn([v[lane, a] for v in values], [b[lane, a] for b in block], y[lane])
    assert min(lane.sizes.min() for lane in believed) > 10.0
