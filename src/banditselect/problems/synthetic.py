"""The paper's synthetic problems, one true map or ball among M; and both where another becomes true now and then."""

import math
from typing import Any

import numpy as np

from ..actions.catalogue import Catalogue
from ..runtime.arguments import argument
from ..runtime.constraints import Number, OneOf
from ..types import Array, Index
from .base import Problem
from .instances import gaussian_items, measure
from .randomness import (
    NOISES,
    SIZE,
    DrawnActions,
    DrawnItems,
    by_round,
    distinct_items,
    draw_noise,
    generators,
    random_state,
    renumbered,
    reward_range,
)

EXTREMES = 5  #: how many parameters ``extremes`` returns
SEVERAL = Number(low=2, integer=True)
STAY = Number(low=1.0, optional=True)


class SyntheticFeatureSelection(Problem):
    r"""Feature selection as in the paper (Fig. 1, top): M Gaussian feature maps of 10,000 items, the first one true.

    :math:`\theta_* \sim N(0, 0.01 I_d)`, :math:`\phi^i(a) \sim N(\theta_*, 0.1 I_d)`, rewards
    :math:`\langle \phi^1(a), \theta_* \rangle + U[-1/2, 1/2]`; every round offers ``n_actions`` different items.

    Parameters
    ----------
    n_models, dim, n_actions, n_items: M, d, K and the number of items.
    noise: "uniform", the paper's; "gaussian" of the same variance 1/12; or "bernoulli", coins with the values B and -B,
        where B is the ``reward_bound`` of the instance and the mean stays linear.

    Notes
    -----
    The paper does not say whether the items of a round are different; here they are. An item's features are drawn
    when it is first offered, so items that are never offered cost nothing. Constants: parameter_bound, feature_bound
    and reward_bound of each instance (the last two over the items offered); noise (B of each instance for
    "bernoulli"); reward_range = (-2.5, 2.5), a scale that holds all rewards for d <= 50 but for noise that is
    "gaussian"; model = 0; parameter.

    Examples
    --------
    >>> problem = SyntheticFeatureSelection(n_models=3, dim=4, n_actions=5, n_items=100)
    >>> instances = problem.draw(range(2), 10, seed=0)
    >>> instances.features(0).shape, instances.means(0).shape
    ((2, 3, 5, 4), (2, 5))
    """

    n_models: int = argument(SIZE, default=10)
    dim: int = argument(SIZE, default=50)
    n_actions: int = argument(SIZE, default=10)
    n_items: int = argument(SIZE, default=10_000)
    noise: str = argument(NOISES, default="uniform")

    def _set_up(self) -> None:
        Number(low=self.n_actions, integer=True).check("SyntheticFeatureSelection: n_items", self.n_items, None)

    @property
    def shapes(self) -> dict[str, Any]:
        """Arguments that follow from the features."""
        return {"n_models": self.n_models, "dim": self.dim}

    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
        offered = min(self.n_items, rounds * self.n_actions)
        return 4 * self.n_models * offered * self.dim + 8 * rounds * (2 * self.n_actions + 1)

    def draw(self, lanes: range, rounds: int, seed: int) -> DrawnItems:
        """Draw one instance per lane; items are numbered as they first appear."""
        N, M, K, d = len(lanes), self.n_models, self.n_actions, self.dim
        size = min(self.n_items, rounds * K)
        table, values = np.empty((N, size, M, d), dtype=np.float32), np.empty(size)
        items, means, draws = by_round(N, rounds, K, dtype=np.int64), by_round(N, rounds, K), by_round(N, rounds)
        theta, longest = np.empty((N, d)), np.empty(N)
        for n, rng in generators(lanes, seed):
            theta[n] = rng.normal(0.0, 0.1, d)
            items[n], count = renumbered(distinct_items(rng, rounds, K, self.n_items))
            draws[n] = draw_noise(self.noise, rng, rounds)
            drawn = table[n, :count], math.sqrt(0.1), theta[n], theta[n], values
            with np.errstate(over="ignore"):
                longest[n] = gaussian_items(random_state(rng), *drawn)
            means[n] = values[items[n]]
        constants = {
            "parameter_bound": np.sqrt((theta**2).sum(axis=1)),
            "feature_bound": longest,
            "reward_range": (-2.5, 2.5),
            "model": 0,
            "parameter": theta,
        }
        return DrawnItems(Catalogue._of(table, (d,) * M, many=True), items, means, self.noise, draws, constants)


class SyntheticParameterSelection(Problem):
    r"""Parameter selection as in the paper (Fig. 2, left): the parameter lies in one of M balls.

    Centres :math:`\mu_i \sim N(0, I_d)`, all radii b; :math:`\theta_*` uniform in the ball of a model drawn uniformly;
    every round offers ``n_actions`` vectors :math:`\phi \sim N(0, 0.01 I_d)`; rewards
    :math:`\langle \phi, \theta_* \rangle + U[-1/2, 1/2]`.

    Parameters
    ----------
    n_models, dim, n_actions: M, d, K.
    radius: b.
    noise: as in :class:`SyntheticFeatureSelection`.
    truth: "random" as above, or "extremes": five instances in a row have the same balls, actions and noise, and differ
        in :math:`\theta_*`, which is one of the ``extremes`` of the balls after the other. The largest of their five
        regrets is a lower bound of the transfer regret, a supremum over the balls (eq:transfer-regret).
    stay: None, or for how many rounds a model stays true, on average: in each round the model changes with probability
        1 / ``stay``, to one of the others, drawn uniformly, and :math:`\theta_*` is drawn in its ball.

    Notes
    -----
    The paper leaves the distribution inside the ball open; uniform is assumed. Constants: centers ``(N, M, d)``,
    radii, parameter_bound = max_i (|mu_i| + b), center, model and parameter of the truth; true_centers ``(N, 1, d)``,
    for a policy that is shown the true ball only; feature_bound and reward_bound over the actions offered, noise (B of
    each instance for "bernoulli"); reward_range, a scale that holds nearly all rewards: four standard deviations of a
    mean reward, and the noise. Where the model switches, models ``(N, T)`` and parameters ``(N, T, d)`` stand in the
    place of center, true_centers, model and parameter.

    Examples
    --------
    >>> instances = SyntheticParameterSelection(n_models=3, dim=4, n_actions=5, radius=1.0).draw(range(2), 10, seed=0)
    >>> instances.features(0).shape, instances.constants["centers"].shape
    ((2, 5, 4), (2, 3, 4))
    """

    n_models: int = argument(SIZE, default=10)
    dim: int = argument(SIZE, default=20)
    n_actions: int = argument(SIZE, default=10)
    radius: float = argument(Number(low=0.0), default=0.0)
    noise: str = argument(NOISES, default="uniform")
    truth: str = argument(OneOf(("random", "extremes")), default="random")
    stay: float | None = argument(STAY, default=None)

    def _set_up(self) -> None:
        if self.truth == "extremes" or self._switches:
            SEVERAL.check(f"{type(self).__name__}: n_models", self.n_models, None)
        if self._switches:
            OneOf(("random",)).check(f"{type(self).__name__}: truth", self.truth, None)

    @property
    def _switches(self) -> bool:
        return self.stay is not None

    @property
    def shapes(self) -> dict[str, Any]:
        """Arguments that follow from the features."""
        return {"dim": self.dim}

    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
        parameters = rounds * (self.dim + 1) if self._switches else 2 * self.dim
        return 8 * (rounds * (self.n_actions * (self.dim + 1) + 1) + self.dim * self.n_models + parameters)

    def draw(self, lanes: range, rounds: int, seed: int) -> DrawnActions:
        """Draw one instance per lane."""
        N, M, K, d, b = len(lanes), self.n_models, self.n_actions, self.dim, self.radius
        times = (rounds,) if self._switches else ()
        centers, model, theta = np.empty((N, M, d)), np.empty((N, *times), dtype=np.int64), np.empty((N, *times, d))
        actions, means, draws = by_round(N, rounds, K, d), by_round(N, rounds, K), by_round(N, rounds)
        longest, extreme = np.empty(N), self.truth == "extremes"
        for n, lane in enumerate(lanes):
            rng = np.random.default_rng((seed, lane // EXTREMES if extreme else lane))
            centers[n] = rng.normal(size=(M, d))
            if self._switches:
                phase, models = _phases(rng, rounds, M, self.stay)
                ends = rng.normal(size=(models.size, d))
                ends *= b * rng.random((models.size, 1)) ** (1.0 / d) / np.linalg.norm(ends, axis=1, keepdims=True)
                model[n], theta[n] = models[phase], (centers[n, models] + ends)[phase]
                actions[n] = rng.normal(0.0, 0.1, (rounds, K, d))
                longest[n] = np.linalg.norm(actions[n], axis=2).max()
                means[n] = np.einsum("tkd,td->tk", actions[n], theta[n])
            else:
                model[n] = rng.integers(M)
                direction = rng.normal(size=d)
                direction *= b * rng.uniform() ** (1.0 / d) / math.sqrt((direction**2).sum())
                theta[n] = centers[n, model[n]] + direction
                if extreme:
                    models, thetas = extremes(centers[n], b)
                    model[n], theta[n] = models[lane % EXTREMES], thetas[lane % EXTREMES]
                rows, values = rng.normal(0.0, 0.1, (rounds * K, 1, d)), np.empty(rounds * K)
                longest[n] = measure(rows, theta[n], values)
                actions[n], means[n] = rows.reshape(rounds, K, d), values.reshape(rounds, K)
            draws[n] = draw_noise(self.noise, rng, rounds)
        constants: dict[str, Any] = {
            "centers": centers,
            "radii": b,
            "parameter_bound": (np.linalg.norm(centers, axis=2) + b).max(axis=1),
            "feature_bound": longest,
            "reward_range": reward_range(math.sqrt(d) + b),
        }
        if self._switches:
            constants |= {"models": model, "parameters": theta}
        else:
            own = centers[np.arange(N), model]
            constants |= {"center": own, "true_centers": own[:, None], "model": model, "parameter": theta}
        return DrawnActions(actions, means, self.noise, draws, constants)


def extremes(centers: Array, radius: float) -> tuple[Index, Array]:
    """Return five parameters ``(5, d)`` at which learning which of M balls is true may cost most, and their models.

    They are the longest parameter of all; the inner end of the diameter through the origin, of the ball whose centre is
    shortest; and of the two balls whose centres are closest, the end of the first towards the second, the opposite end,
    and its centre.
    """
    lengths = np.linalg.norm(centers, axis=1)
    far, near = int(lengths.argmax()), int(lengths.argmin())
    apart = np.linalg.norm(centers[:, None] - centers, axis=2)
    np.fill_diagonal(apart, np.inf)
    i, j = divmod(int(apart.argmin()), len(centers))
    models = np.array([far, near, i, i, i])
    out, back = centers[far] / lengths[far], centers[near] / lengths[near]
    across = (centers[j] - centers[i]) / apart[i, j]
    return models, centers[models] + radius * np.array([out, -back, across, -across, 0.0 * across])


class SwitchingParameterSelection(SyntheticParameterSelection):
    """:class:`SyntheticParameterSelection` where another ball becomes true from time to time; its arguments.

    Examples
    --------
    >>> instances = SwitchingParameterSelection(n_models=3, dim=4, n_actions=5, stay=5).draw(range(2), 10, seed=0)
    >>> instances.features(0).shape, instances.constants["models"][0]
    ((2, 5, 4), array([1, 0, 0, 2, 2, 2, 2, 2, 1, 2]))
    """

    n_models: int = argument(SEVERAL, default=5)
    radius: float = argument(Number(low=0.0), default=0.5)
    stay: float | None = argument(STAY, default=300.0)

    _switches = True  # None: no model ever follows the first


class SwitchingFeatureSelection(Problem):
    r"""Feature selection in which another map is true from time to time, and a map that returns has its old parameter.

    Parameters :math:`\theta_i \sim N(0, I_d)`, one for each of M maps. In each round the true map changes with
    probability 1 / ``stay``: to one of the others, drawn uniformly. Every round offers ``n_actions`` actions with
    features :math:`\phi^i \sim N(0, 0.01 I_d)` in every map; rewards are
    :math:`\langle \phi^i, \theta_i \rangle + U[-1/2, 1/2]` for the map i that is true. Regret is against the best
    action of the round.

    Parameters
    ----------
    n_models, dim, n_actions: M >= 2, d, K.
    stay: how many rounds a map stays true, on average; None for a world that does not change.
    noise: as in :class:`SyntheticFeatureSelection`.

    Notes
    -----
    Constants: parameter_bound = max_i |theta_i|; feature_bound and reward_bound over the actions offered, noise, and
    reward_range, which holds four standard deviations of a mean reward, and the noise; models ``(N, T)``, the true map
    of every round, and parameters ``(N, M, d)``.

    Examples
    --------
    >>> instances = SwitchingFeatureSelection(n_models=3, dim=4, n_actions=5, stay=5).draw(range(2), 10, seed=0)
    >>> instances.features(0).shape, instances.constants["models"][0]
    ((2, 3, 5, 4), array([1, 0, 0, 2, 2, 2, 2, 2, 1, 2]))
    """

    n_models: int = argument(SEVERAL, default=5)
    dim: int = argument(SIZE, default=10)
    n_actions: int = argument(SIZE, default=10)
    stay: float | None = argument(STAY, default=300.0)
    noise: str = argument(NOISES, default="uniform")

    @property
    def shapes(self) -> dict[str, Any]:
        """Arguments that follow from the features."""
        return {"n_models": self.n_models, "dim": self.dim}

    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
        return 8 * rounds * (self.n_actions * (self.n_models * self.dim + 1) + 2) + 8 * self.dim * self.n_models

    def draw(self, lanes: range, rounds: int, seed: int) -> DrawnActions:
        """Draw one instance per lane."""
        N, M, K, d = len(lanes), self.n_models, self.n_actions, self.dim
        theta, model = np.empty((N, M, d)), np.empty((N, rounds), dtype=np.int64)
        actions, means, draws = by_round(N, rounds, M, K, d), by_round(N, rounds, K), by_round(N, rounds)
        longest, times = np.empty(N), np.arange(rounds)
        for n, rng in generators(lanes, seed):
            theta[n] = rng.normal(size=(M, d))
            phase, models = _phases(rng, rounds, M, self.stay)
            model[n] = true = models[phase]
            actions[n] = rng.normal(0.0, 0.1, (rounds, M, K, d))
            longest[n] = np.linalg.norm(actions[n], axis=3).max()
            means[n] = np.einsum("tkd,td->tk", actions[n, times, true], theta[n, true])
            draws[n] = draw_noise(self.noise, rng, rounds)
        constants = {
            "parameter_bound": np.linalg.norm(theta, axis=2).max(axis=1),
            "feature_bound": longest,
            "reward_range": reward_range(math.sqrt(d)),
            "models": model,
            "parameters": theta,
        }
        return DrawnActions(actions, means, self.noise, draws, constants)


def _phases(rng: np.random.Generator, rounds: int, n_models: int, stay: float | None) -> tuple[Index, Index]:
    """Draw when the model changes: the phase that every round is in, ``(T,)``, and the true model of every phase."""
    switch = np.zeros(rounds, dtype=bool) if stay is None else rng.random(rounds) * stay < 1.0
    switch[:1] = True
    steps = rng.integers(1, n_models, int(switch.sum()))
    steps[:1] = rng.integers(n_models)
    return np.cumsum(switch) - 1, np.cumsum(steps) % n_models
