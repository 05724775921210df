"""LinIDS: information-directed play on one feature map; there is nothing to tune."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..models.map_mixture import MapMixture
from ..models.memories import with_memory
from ..plays.information import Information
from ..runtime.arguments import argument
from ..runtime.files import register
from ..runtime.shapes import maps_of
from . import shared
from .policy import Policy


@register
class LinIDS(Policy):
    r"""Linear information-directed sampling: explores where a small regret teaches much. Only ``dim`` has to be given.

    The posterior is that of a linear regression whose noise and prior scale are learned (``models.mixture``). Under it,
    with b the action of highest mean, let g(a) be the gap of the means of b and a, D an estimate of the loss by
    playing b, I(a) what the reward of a teaches of the parameter. With a the action and q the probability that minimise

    .. math:: \frac{(D + q\,g(a))^2}{I(b) + q\,(I(a) - I(b))}, \qquad
              q = \mathrm{clip}\left(\frac{D}{g(a)} - \frac{2 I(b)}{I(a) - I(b)}, 0, 1\right) \text{ if } I(a) > I(b)

    a is played with probability q, else b. No decision depends on the unit of the features (one for all: bring columns
    of different units to one scale), nor on that of rewards, nor, with an intercept, on their zero.

    Parameters
    ----------
    dim: number of features d; features are ``(K, d)``.
    blocks: how many separate parameters there are, for disjoint arms: an action has one of them, and features are
        ``Blocked(values, block)``, ``(K, d)`` and ``(K,)``. The intercept, too, is one per block then.
    noise: standard deviation of the rewards, if it is known, at least about a thousandth of their spread; learned by
        default.
    intercept: whether mean rewards have a constant term besides what the features explain.
    floor: probability of playing uniformly, for logs that off-policy evaluation is to read; at least ``floor / K`` is
        then the probability of every action offered.
    memory: None, or a number of rounds m > 1 for a world that changes: a reward that is k rounds old counts
        ``(1 - 1 / m) ** k``, in the estimates and in the weights of models; or ``"learned"``: no end, 1000, 200 and 50
        rounds, weighed by their forecasts (``memory_weights``).

    Notes
    -----
    Guarantee: for the exact ratio, Bayesian regret of order :math:`\sqrt{T K}` times the root of the information;
    what is played here has estimates in it, and is measured, not proved: ``docs/math.md``, section 11, and
    ``docs/defaults.md``, which also says where the constants come from.

    References: Russo, Van Roy, "Learning to optimize via information-directed sampling", Operations Research 2018.
    Kirschner, Krause, "Information directed sampling and bandits with heteroscedastic noise", COLT 2018.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = LinIDS(dim=3, seed=0)
    >>> for _ in range(200):
    ...     decision = policy.act(rng.normal(size=(5, 3)))
    ...     policy.update(decision, 7.0 + decision.features @ [1.0, 0.0, -1.0] + 0.5 * rng.normal())
    >>> policy.parameters.round(1), round(policy.constant, 1), round(policy.noise_estimate, 1)
    (array([ 1. ,  0. , -1.1]), 7.0, 0.5)
    """

    dim: int = argument(shared.SIZE)
    blocks: int = shared.BLOCKS
    noise: float | ArrayLike | None = shared.LEARNED_NOISE
    intercept: bool = shared.INTERCEPT
    floor: float = shared.FLOOR
    memory: float | str | None = shared.LEARNED_MEMORY

    parameters = shared.PARAMETERS
    constant = shared.CONSTANT
    noise_estimate = shared.NOISE_ESTIMATE
    memory_weights = shared.MEMORY_WEIGHTS

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return one map at several prior scales, played by information-directed play."""
        maps, prior = maps_of(self.dim, self.blocks), np.ones(1)

        def build(memory: float | None) -> MapMixture:
            return MapMixture(maps, lanes, noise=self.noise, prior=prior, intercept=self.intercept, memory=memory)

        return with_memory(self.memory, build), Information(self.floor)
