"""The laboratory: information-directed play as one short loop in which every choice behind the defaults is a switch.

It computes the probabilities of `LinIDS`, `FSIDS` and `PSIDS` in a second way that is easy to read and to vary: all
models in every round, inverses instead of roots, one replicate at a time. At its default switches it agrees with the
shipped policies; a test compares them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from banditselect.models.map_mixture import SCALES
from banditselect.models.mixture import FLAT
from banditselect.models.posterior import NEGLIGIBLE
from banditselect.models.region_mixture import LEVELS
from banditselect.plays.information import CLOSE

Array = NDArray[np.float64]

REGRETS = ("middle", "max", "upper", "sum", "geometric")


@dataclass(frozen=True)
class Switches:
    """Every choice, as shipped.

    Parameters
    ----------
    regret: D, the expected regret of the leader: the largest gain of one other action ("max", a lower bound), the sum
        of all ("sum") or the bound of Lai and Robbins ("upper"), both upper bounds; the "middle" of "max" and "upper",
        or their "geometric" mean.
    constant_teaches: whether information about the constant term counts.
    scales: prior scales of a map.
    trust: a, how many rewards the guess about the noise is worth, times one half.
    negligible: models whose weight, times their number, is below it are left out of a round.
    all_pairs: mix the best two of all actions, instead of the leader and the best other one.
    close: largest excess over one of the expected number of exceeding actions at "upper"; 0 is its minimum.
    levels: noise levels of a region, a constant factor apart.
    windows: whether the noise of a level stays half way to the next.
    """

    regret: str = "middle"
    constant_teaches: bool = False
    scales: tuple[float, ...] = SCALES
    trust: float = 1.0
    negligible: float = NEGLIGIBLE
    all_pairs: bool = False
    close: float = CLOSE
    levels: tuple[float, ...] = LEVELS
    windows: bool = True


SHIPPED = Switches()


class Models(NamedTuple):
    """C models: prior weights, guesses of the noise and its windows, which map each reads, and the switches."""

    log_prior: Array  # (C,)
    expected: Array  # (C,); 0: the variance of the rewards so far
    window: Array  # (C, 2)
    maps: NDArray[np.int64]  # (C,)
    precision: float  # of the constant term; 0 without one
    regions: bool  # rewards are divided by the size of the features too
    regret: int  # a number of REGRETS
    constant_teaches: bool
    trust: float
    negligible: float
    all_pairs: bool
    close: float


class State(NamedTuple):
    """The learned statistics."""

    inverse: Array  # (C, p, p): V^-1
    theta: Array  # (C, p)
    logdet: Array  # (C,): of V over that of the prior
    loss: Array  # (C,): penalised squared loss
    size: Array  # (P,): squared norm of the first features of a map
    moments: Array  # rewards: how many, the first, the mean less the first, the squares about it


@njit(cache=True)
def normal_excess(mean: float, deviation: float) -> tuple[float, float, float]:
    """Return ``E Z^+``, ``P(Z > 0)`` and the density at 0 of a normal ``Z``."""
    if deviation <= 0.0 or abs(mean) > 9.0 * deviation:
        return max(mean, 0.0), 1.0 if mean > 0.0 else 0.0, 0.0
    z = mean / deviation
    above = 0.5 * math.erfc(-z / math.sqrt(2.0))
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return mean * above + deviation * density, above, density / deviation


@njit(cache=True)
def weigh(models: Models, state: State) -> tuple[Array, Array]:
    """Return how probable the models are and their noise variances, ``(C,)`` each."""
    t = state.moments[0]
    degrees = t - 1.0 if models.precision > 0.0 else t
    spread = state.moments[3] / max(degrees, 1.0)
    log_weight = models.log_prior - 0.5 * state.logdet
    variance = np.ones(log_weight.size)
    for k in range(log_weight.size):
        about = models.expected[k] if models.expected[k] > 0.0 else spread
        if about > 0.0:
            scale, shape = models.trust * about + 0.5 * state.loss[k], models.trust + 0.5 * t
            variance[k] = scale / shape
            log_weight[k] += models.trust * math.log(about) - shape * math.log(scale)
            if models.expected[k] > 0.0:
                root = math.sqrt(0.5 * shape)
                center = math.log(variance[k] / about)
                high = math.erfc(root * (center - models.window[k, 1]))
                low = math.erfc(root * (center - models.window[k, 0]))
                log_weight[k] += math.log(max(0.5 * (high - low), 1e-300))
    weight = np.exp(log_weight - log_weight.max())
    return weight / weight.sum(), variance


@njit(cache=True)
def expected_regret(models: Models, leader: int, weight: Array, gap: Array, deviation: Array) -> float:
    """Return D for ``Z_a = f(a) - f(leader)``, normal under model c: ``gap[c, a], deviation[c, a]``."""
    largest, together, upper, threshold = 0.0, 0.0, np.inf, 0.0
    for step in range(100):
        total, count, slope = threshold, 0.0, 0.0
        for a in range(gap.shape[1]):
            if a == leader:
                continue
            own = 0.0
            for c in range(weight.size):
                gain, above, density = normal_excess(gap[c, a] - threshold, deviation[c, a])
                own += weight[c] * gain
                count += weight[c] * above
                slope += weight[c] * density
            total += own
            if step == 0:
                largest, together = max(largest, own), together + own
        upper = min(upper, total)
        if models.regret in (1, 3) or count <= 1.0 + max(models.close, 1e-9) or slope <= 0.0:
            break
        threshold += (count - 1.0) / slope
    if models.regret == 1:
        return largest
    if models.regret == 2:
        return upper
    if models.regret == 3:
        return together
    if models.regret == 4:
        return math.sqrt(largest * upper)
    return 0.5 * (largest + upper)


@njit(cache=True)
def best_mixture(regret: float, mean: Array, taught: Array, leader: int, all_pairs: bool) -> Array:
    """Return the probabilities of the two actions whose mixture has the least squared regret per information."""
    K = mean.size
    least, share, base = np.inf, 0.0, leader
    other = np.zeros(K, dtype=np.bool_)
    for b in range(K):
        if b != leader and not all_pairs:
            continue
        own = regret + mean[leader] - mean[b]
        for a in range(K):
            if taught[a] <= taught[b]:
                continue
            gap, more = mean[b] - mean[a], taught[a] - taught[b]
            q = min(max(own / gap - 2.0 * taught[b] / more, 0.0), 1.0) if gap > 0.0 else 1.0
            ratio = (own + q * gap) ** 2 / (taught[b] + q * more)
            if ratio < least:
                least, share, base = ratio, q, b
                other[:] = False
            if ratio == least and b == base:
                other[a] = True
    same = (mean == mean[base]) & (taught == taught[base])
    if not other.any():
        return same / same.sum()
    return (1.0 - share) * same / same.sum() + share * other / other.sum()


@njit(cache=True)
def scaled(models: Models, state: State, x: Array) -> Array:
    """Return features ``(P, K, d)`` in units of their own, after a one if there is a constant term."""
    P, K, d = x.shape
    first = 1 if models.precision > 0.0 else 0
    out = np.ones((P, K, first + d))
    for i in range(P):
        size = state.size[i] if state.size[i] > 0.0 else (x[i] ** 2).sum() / K
        out[i, :, first:] = x[i] / math.sqrt(size) if size > 0.0 else x[i]
    return out


@njit(cache=True)
def probabilities(models: Models, state: State, x: Array) -> Array:
    """Return the probabilities of actions with features ``x (P, K, d)``, ``(K,)``."""
    weight, variance = weigh(models, state)
    alive = np.flatnonzero(weight * weight.size >= models.negligible)
    weight, variance = weight[alive] / weight[alive].sum(), variance[alive]
    features = scaled(models, state, x)
    C, K = alive.size, x.shape[1]
    f, square = np.empty((C, K)), np.empty((C, K))
    for c in range(C):
        z = features[models.maps[alive[c]]]
        f[c] = z @ state.theta[alive[c]]
        square[c] = ((z @ state.inverse[alive[c]]) * z).sum(axis=1)
    mean, taught, noise = np.zeros(K), np.zeros(K), (weight * variance).sum()
    for c in range(C):
        mean += weight[c] * f[c]
    for c in range(C):
        taught += weight[c] * (variance[c] * square[c] + (f[c] - mean) ** 2)
    known = 0.0
    if models.precision > 0.0 and not models.constant_teaches:
        known = math.log1p(1.0 / (models.precision + state.moments[0]))
    taught = np.maximum(0.5 * (np.log1p(taught / noise) - known), 0.0)
    leader = int(np.argmax(mean))
    for a in range(K):
        if mean[a] == mean[leader] and taught[a] > taught[leader]:
            leader = a
    gap, deviation = np.empty((C, K)), np.empty((C, K))
    for c in range(C):
        z = features[models.maps[alive[c]]]
        apart = z - z[leader]
        apart = ((apart @ state.inverse[alive[c]]) * apart).sum(axis=1)
        gap[c] = f[c] - f[c, leader]
        deviation[c] = np.sqrt(variance[c] * np.maximum(apart, 0.0))
    regret = expected_regret(models, leader, weight, gap, deviation)
    return best_mixture(regret, mean, taught, leader, models.all_pairs)


@njit(cache=True)
def learn(models: Models, state: State, x: Array, y: float) -> None:
    """Learn features ``x (P, d)`` and their reward."""
    for i in range(x.shape[0]):
        if state.size[i] == 0.0:
            state.size[i] = (x[i] ** 2).sum()
    if models.regions:
        if state.size[0] == 0.0:
            return
        y /= math.sqrt(state.size[0])
    moments, constant = state.moments, models.precision > 0.0
    if constant and moments[0] == 0.0:
        moments[1] = y
    y -= moments[1]
    moments[0] += 1.0
    before = y - moments[2]
    if constant:
        moments[2] += before / moments[0]
    moments[3] += before * (y - moments[2])
    features = scaled(models, state, x.reshape(x.shape[0], 1, x.shape[1]))
    for k in range(state.logdet.size):
        z = features[models.maps[k], 0]
        u = state.inverse[k] @ z
        grown = 1.0 + (u * z).sum()
        error = y - (state.theta[k] * z).sum()
        state.logdet[k] += math.log(grown)
        state.loss[k] += error * error / grown
        state.theta[k] += u * (error / grown)
        for i in range(u.size):
            state.inverse[k, i] -= u * (u[i] / grown)


@njit(cache=True)
def play(
    models: Models, state: State, features: Array, rewards: Array, draws: Array, read: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Array]:
    """Play ``features (T, P, K, d)``; return the actions and the weights of the models after ``read`` rounds."""
    T = rewards.shape[0]
    actions, weights = np.empty(T, dtype=np.int64), np.zeros((read.size, models.maps.size))
    for t in range(T):
        x = np.ascontiguousarray(features[t])
        p = np.cumsum(probabilities(models, state, x))
        a = min(int(np.searchsorted(p, draws[t] * p[-1], side="right")), p.size - 1)
        actions[t] = a
        learn(models, state, np.ascontiguousarray(x[:, a]), rewards[t, a])
        for j in range(read.size):
            if read[j] == t + 1:
                weights[j] = weigh(models, state)[0]
    return actions, weights


class Laboratory:
    """One learner among M maps (`of_maps`) or M balls (`of_regions`), at any switches."""

    def __init__(self, models: Models, state: State, n_models: int) -> None:
        self.models, self.state, self.n_models = models, state, n_models

    @classmethod
    def of_maps(cls, dims: Sequence[int], switches: Switches = SHIPPED, *, constant: bool = True) -> "Laboratory":
        """Return a learner with M maps of these widths; features are padded with zeros, which changes nothing."""
        M, J = len(dims), len(switches.scales)
        p = max(dims) + constant
        inverse = np.tile(np.eye(p), (M * J, 1, 1)) * np.repeat(switches.scales, M)[:, None, None]
        if constant:
            inverse[:, 0, 0] = 1.0 / FLAT
        none = np.zeros(M * J)
        models = _models(switches, constant, np.tile(np.arange(M), J), none, np.zeros((M * J, 2)), False)
        return cls(models, _fresh(inverse, np.zeros((M * J, p)), M), M)

    @classmethod
    def of_regions(cls, centers: Array, radii: Array, switches: Switches = SHIPPED) -> "Laboratory":
        """Return a learner with M balls, without a constant term."""
        (M, d), levels = centers.shape, np.array(switches.levels)
        middle = centers.mean(axis=0)
        spread = (((centers - middle) ** 2).sum(axis=1) + radii**2).mean() / d
        expected = np.repeat(spread * levels, M)
        J = levels.size
        precision = np.exp2(np.round(np.log2(d * expected / np.tile(radii, J) ** 2)))
        half = 0.5 * math.log(levels[1] / levels[0])
        window = np.tile([-half, half], (J, 1))
        window[0, 0], window[-1, 1] = -np.inf, np.inf
        if not switches.windows:
            window[:] = -np.inf, np.inf
        models = _models(switches, False, np.zeros(M * J, dtype=np.int64), expected, np.repeat(window, M, axis=0), True)
        return cls(models, _fresh(np.eye(d) / precision[:, None, None], np.tile(centers, (J, 1)), 1), M)

    def probabilities(self, x: Array) -> Array:
        """Return the probabilities of actions with features ``x (P, K, d)``."""
        return probabilities(self.models, self.state, np.ascontiguousarray(x))

    def learn(self, x: Array, y: float) -> None:
        """Learn features ``x (P, d)`` and their reward."""
        learn(self.models, self.state, np.ascontiguousarray(x), float(y))

    @property
    def model_weights(self) -> Array:
        """Probabilities of the maps or balls, ``(M,)``."""
        return self._sums(weigh(self.models, self.state)[0])

    def play(self, features: Array, rewards: Array, seed: Any, read: Sequence[int] = ()) -> tuple[Any, Array]:
        """Play ``features (T, P, K, d)``; return the actions ``(T,)`` and the model weights after ``read`` rounds."""
        draws = np.random.default_rng(seed).uniform(size=len(rewards))
        places = np.array(read, dtype=np.int64)
        actions, weights = play(self.models, self.state, features, rewards, draws, places)
        return actions, self._sums(weights)

    def _sums(self, weight: Array) -> Array:
        times = weight.shape[-1] // self.n_models
        return weight.reshape(*weight.shape[:-1], times, self.n_models).sum(axis=-2)


def _models(
    switches: Switches, constant: bool, maps: NDArray[np.int64], expected: Array, window: Array, regions: bool
) -> Models:
    return Models(
        log_prior=np.full(maps.size, -math.log(maps.size)),
        expected=expected,
        window=window,
        maps=maps.astype(np.int64),
        precision=FLAT if constant else 0.0,
        regions=regions,
        regret=REGRETS.index(switches.regret),
        constant_teaches=switches.constant_teaches,
        trust=float(switches.trust),
        negligible=float(switches.negligible),
        all_pairs=switches.all_pairs,
        close=float(switches.close),
    )


def _fresh(inverse: Array, theta: Array, n_maps: int) -> State:
    C = len(theta)
    return State(inverse, theta, np.zeros(C), np.zeros(C), np.zeros(n_maps), np.zeros(4))
