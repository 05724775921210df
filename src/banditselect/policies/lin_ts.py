"""Linear Thompson sampling on one feature map."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.blocks import shape_of
from ..carriers.lanes import PerLane, per_lane
from ..carriers.persistence import register
from ..carriers.shapes import FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Constraint, Number, Numbers, YesNo, refuse
from ..kernels import ridge
from ..kernels.features import prepared
from ..parts.experts import RidgeBank, split, with_zero
from ..parts.exploration import greedy
from ..parts.forgetting import MEMORY, Forgetting
from ..types import Array, Index, Mask
from .base import Chosen, Policy
from .regimes.blocks import answer_by_map


@register
class LinTS(Policy):
    r"""Linear Thompson sampling: draws a parameter from the posterior and plays greedily for it.

    .. math:: \tilde\theta \sim N(\hat\theta_t, (s R)^2 V_t^{-1}), \qquad
              a_t = \arg\max_a \langle \phi(a), \tilde\theta \rangle

    with R the ``noise`` and s the ``scale``. The probability of an action has no closed form: ``decision.probability``
    and ``probabilities`` are None.

    Parameters
    ----------
    dim: number of features d; features are ``(K, d)``.
    blocks: how many separate parameters there are, for disjoint arms: an action has one of them, and features are
        ``Blocked(values, block)``, ``(K, d)`` and ``(K,)``. The intercept, too, is one per block then.
    noise: standard deviation R of the rewards.
    regularization: ridge penalty lambda > 0.
    scale: multiplies the spread; 1 is the posterior for Gaussian rewards and prior N(h, R^2 / lambda). The regret bound
        of the reference needs a spread of R sqrt(9 d log(t / delta)).
    center: h, where the ridge penalty is centred: ``(d,)``, or one per lane ``(N, d)``; None for 0. The same for all
        blocks.
    intercept: whether a constant feature 1 stands before the features. The centre is 0 there.
    memory: None, or a number of rounds m > 1 for a world that changes: a reward that is k rounds old counts
        :math:`(1 - 1 / m)^k` in estimate and spread, which therefore stays that of about m rewards.

    Attributes
    ----------
    parameters: ``(d,)``, with blocks ``(blocks, d)``.  constant: the constant term, with blocks ``(blocks,)``.

    References
    ----------
    Agrawal, Goyal, "Thompson sampling for contextual bandits with linear payoffs", ICML 2013.

    Examples
    --------
    >>> policy = LinTS(dim=2, seed=1)
    >>> policy.update(policy.act([[1.0, 0.0], [0.0, 1.0]]), 1.0)
    >>> policy.probabilities([[1.0, 0.0], [0.0, 1.0]]) is None
    True
    """

    reward_units = ("noise", "center")
    constraints: ClassVar[dict[str, Constraint]] = {
        "dim": Number(low=1, integer=True),
        "blocks": Number(low=1, integer=True),
        "noise": Number(low=SMALLEST, per_lane=True),
        "regularization": Number(low=SMALLEST, per_lane=True),
        "scale": Number(low=0.0),
        "center": Numbers(shapes=((None,), (None, None)), lane_axes=2, optional=True),
        "intercept": YesNo(),
        "memory": MEMORY,
    }
    has_propensity = False
    _looks_up = True

    def __init__(
        self,
        *,
        dim: int,
        blocks: int = 1,
        noise: float | ArrayLike = 0.5,
        regularization: float | ArrayLike = 1.0,
        scale: float = 1.0,
        center: ArrayLike | None = None,
        intercept: bool = False,
        memory: float | None = None,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.dim = dim
        self.blocks = blocks
        self.noise = noise
        self.regularization = regularization
        self.scale = scale
        self.center = center
        self.intercept = intercept
        self.memory = memory
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return shape_of((int(self.dim),), (int(self.blocks),), many=False)

    def _begin(self, lanes: int) -> None:
        self._constants = PerLane(spread=self.scale * per_lane(self.noise, lanes))
        h = np.zeros(self.dim) if self.center is None else np.asarray(self.center, dtype=float)
        if h.shape[-1] != self.dim:
            raise refuse("LinTS: center", self.center, f"{self.dim} numbers, as dim says")
        middle = np.broadcast_to(with_zero(h) if self.intercept else h, (lanes, int(self.dim) + bool(self.intercept)))
        self._bank = RidgeBank(
            lanes=lanes,
            dims=np.array(middle.shape[1:]),
            regularization=per_lane(self.regularization, lanes)[:, None],
            center=middle[:, None],
            blocks=np.array([int(self.blocks)]),
        )
        self.ridge_estimates = self.memory is None
        self._forgetting = None if self.memory is None else Forgetting(self._bank, self.memory)

    def _choose(self, ids: Index, x: Array, offered: Mask | None, numbers: Index) -> Chosen:
        bank, n = self._bank, ids.size
        x = self._prepared(ids, x)
        theta = np.empty((n, *bank.theta.shape[1:]))
        drawn = self._streams.normals(ids, numbers, theta[0].size)
        ridge.gaussian_estimates(ids, bank.root, bank.theta, drawn, self._constants.spread, theta)
        score = np.empty((n, 1, x.shape[2]))
        ridge.predict(np.arange(n), x, theta, score)
        action, _ = self._streams.draw(ids, numbers, greedy(score[:, 0], offered))
        return action, None, None

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        return np.full((ids.size, x.shape[2]), np.nan), None

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        if self._forgetting is None:
            self._bank.learn(ids, self._prepared(ids, x), y)
        else:
            self._forgetting.learn(ids, self._bank, self._prepared(ids, x), y)

    def _prepared(self, ids: Index, x: Array) -> Any:
        """Return features as the bank reads them."""
        seen = self._bank.read(x)
        return prepared(ids, seen) if self.intercept else seen

    @property
    def parameters(self) -> Array:
        """Ridge estimate, ``(d,)``; with blocks one for each, ``(blocks, d)``."""
        return answer_by_map(self, split(self._bank.theta, self.intercept)[1])

    @property
    def constant(self) -> Any:
        """Estimate of the constant term; 0 without an intercept. With blocks one for each, ``(blocks,)``."""
        return answer_by_map(self, split(self._bank.theta, self.intercept)[0])
