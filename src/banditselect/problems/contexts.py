"""The example of docs/math.md, section 9: every wrong map is refuted on a context of its own."""

import math
from typing import Any

import numpy as np

from ..runtime.arguments import argument
from ..runtime.constraints import Number
from ..runtime.inputs import SMALLEST
from ..types import Array, Index
from .base import Problem
from .randomness import NOISES, SIZE, DrawnInstances, by_round, draw_noise, generators


class ContextPerMap(Problem):
    r"""Two actions, M contexts and M maps, each of which differs from the first on its own context only.

    A round has the context :math:`x`, uniform on :math:`1, \dots, M`. Action 0 has features 0 in every map and earns
    0; action 1 has :math:`\phi^j(x) = (1, 1[x = j])`. The first map is true with
    :math:`\theta_* = (-D, 2D)`: action 1 earns D on context 1 and -D on all others. Optimism over the union of the
    maps then loses D once for nearly every map.

    Parameters
    ----------
    n_models: M.
    gap: D.
    noise: as in :class:`SyntheticFeatureSelection`.

    Notes
    -----
    Constants: parameter, parameter_bound :math:`\sqrt 5 D`, feature_bound :math:`\sqrt 2`, reward_bound D, noise,
    model = 0; reward_range, D and the noise of 1/2 on both sides (a scale, not a bound, for "gaussian").

    Examples
    --------
    >>> instances = ContextPerMap(n_models=3).draw(range(2), 10, seed=0)
    >>> instances.features(0).shape, instances.context[0, :5], instances.means(0)[0]
    ((2, 3, 2, 2), array([2, 1, 1, 0, 0]), array([ 0. , -0.5]))
    """

    n_models: int = argument(SIZE, default=10)
    gap: float = argument(Number(low=SMALLEST), default=0.5)
    noise: str = argument(NOISES, default="uniform")

    @property
    def shapes(self) -> dict[str, Any]:
        """Arguments that follow from the features."""
        return {"n_models": self.n_models, "dim": 2}

    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
        return 8 * rounds * 4

    def draw(self, lanes: range, rounds: int, seed: int) -> "ContextInstances":
        """Draw one instance per lane."""
        N, D = len(lanes), self.gap
        context, draws = np.empty((N, rounds), dtype=np.int64), by_round(N, rounds)
        for n, rng in generators(lanes, seed):
            context[n] = rng.integers(self.n_models, size=rounds)
            draws[n] = draw_noise(self.noise, rng, rounds)
        means = by_round(N, rounds, 2)
        means[:, :, 0] = 0.0
        means[:, :, 1] = np.where(context == 0, D, -D)
        constants = {
            "parameter_bound": math.sqrt(5.0) * D,
            "feature_bound": math.sqrt(2.0),
            "reward_bound": D,
            "reward_range": (-D - 0.5, D + 0.5),
            "model": 0,
            "parameter": np.tile([-D, 2.0 * D], (N, 1)),
        }
        return ContextInstances(context, self.n_models, means, self.noise, draws, constants, (-D, D))


class ContextInstances(DrawnInstances):
    """Attributes: ``context (N, T)``, from 0."""

    def __init__(self, context: Index, n_models: int, *drawn: Any) -> None:
        self.context, self._maps = context, np.arange(n_models)
        super().__init__(*drawn)

    def features(self, t: int) -> Array:
        """Return the features of round ``t``, ``(N, M, 2, 2)``."""
        x = np.zeros((len(self.context), self._maps.size, 2, 2))
        x[:, :, 1, 0] = 1.0
        x[:, :, 1, 1] = self.context[:, t, None] == self._maps
        return x
