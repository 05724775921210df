"""OFUL on one feature map."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.blocks import shape_of
from ..carriers.lanes import per_lane
from ..carriers.persistence import register
from ..carriers.shapes import FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Constraint, Number, YesNo
from ..parts.forgetting import MEMORY
from .regimes.fading import FadingEllipsoid
from .regimes.optimism import EllipsoidPolicy, OneEllipsoid


@register
class OFUL(EllipsoidPolicy):
    r"""OFUL: plays the action whose reward could be highest within a confidence ellipsoid.

    With R the ``noise``, S the ``parameter_bound``, :math:`\lambda` the ``regularization``:

    .. math:: a_t = \arg\max_a \langle \phi(a), \hat\theta_t \rangle + \beta_t |\phi(a)|_{V_t^{-1}}, \quad
              \beta_t = R \sqrt{\log\det(V_t / \lambda) + 2 \log(1 / \delta)} + \sqrt\lambda S

    Parameters
    ----------
    dim: number of features d; features are ``(K, d)``.
    blocks: how many separate parameters there are, for disjoint arms: an action has one of them, and features are
        ``Blocked(values, block)``, ``(K, d)`` and ``(K,)``. The intercept, too, is one per block then; bounds speak of
        all blocks together.
    noise: sub-Gaussian constant R of the rewards (1/2 for rewards in [0, 1]).
    parameter_bound: S, a bound on the norm of the reward parameter.
    delta: the set fails with at most this probability, over all rounds together.
    regularization: ridge penalty lambda > 0.
    scale: multiplies the radius; 1 is the theory, less is practice.
    intercept: whether a constant feature 1 stands before the features; bounds speak of the whole parameter then.
    memory: None, or a number of rounds m > 1 for a world that changes: a reward that is k rounds old counts
        :math:`(1 - 1 / m)^k`. The set is then that of D-LinUCB, see the notes.

    Attributes
    ----------
    parameters: ``(d,)``, with blocks ``(blocks, d)``.  constant: the constant term, with blocks ``(blocks,)``.
    squared_radii: beta^2.  covers(theta).
    regret_bound: of the regret so far, with probability 1 - delta, if every reward is learned before the next act.

    Notes
    -----
    With a ``memory``, :math:`\gamma = 1 - 1 / m`, and :math:`V_t`, :math:`W_t` made of the features played with the
    weights :math:`\gamma^k` and :math:`\gamma^{2 k}`:

    .. math:: a_t = \arg\max_a \langle \phi(a), \hat\theta_t \rangle +
              \beta_t |\phi(a)|_{V_t^{-1} W_t V_t^{-1}}, \quad
              \beta_t = R \sqrt{\log\det(W_t / \lambda) + 2 \log(t (t + 1) / \delta)} + \sqrt\lambda S

    The set is valid, and so is ``regret_bound``, while the parameter does not change; ``docs/math.md``, section 14,
    says how far off it may be after a change. A reward takes about d^3 steps then, instead of d^2.

    References
    ----------
    Abbasi-Yadkori, Pal, Szepesvari, "Improved algorithms for linear stochastic bandits", NeurIPS 2011.
    Russac, Vernade, Cappe, "Weighted linear bandits for non-stationary environments", NeurIPS 2019.

    Examples
    --------
    >>> policy = OFUL(dim=2, noise=0.1, delta=0.05)
    >>> round(policy.squared_radii, 4)
    1.5495
    >>> policy.update(policy.act([[1.0, 0.0], [0.0, 2.0]]), 0.3)
    >>> policy.parameters
    array([0.  , 0.12])
    """

    reward_units = ("noise", "parameter_bound")
    constraints: ClassVar[dict[str, Constraint]] = {
        "dim": Number(low=1, integer=True),
        "blocks": Number(low=1, integer=True),
        "noise": Number(low=SMALLEST, per_lane=True),
        "parameter_bound": Number(low=0.0, per_lane=True),
        "delta": Number(low=0.0, high=1.0, above=True, below=True),
        "regularization": Number(low=SMALLEST, per_lane=True),
        "scale": Number(low=0.0),
        "intercept": YesNo(),
        "memory": MEMORY,
    }

    def __init__(
        self,
        *,
        dim: int,
        blocks: int = 1,
        noise: float | ArrayLike = 0.5,
        parameter_bound: float | ArrayLike = 1.0,
        delta: float = 0.05,
        regularization: float | ArrayLike = 1.0,
        scale: float = 1.0,
        intercept: bool = False,
        memory: float | None = None,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.dim = dim
        self.blocks = blocks
        self.noise = noise
        self.parameter_bound = parameter_bound
        self.delta = delta
        self.regularization = regularization
        self.scale = scale
        self.intercept = intercept
        self.memory = memory
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return shape_of((int(self.dim),), (int(self.blocks),), many=False)

    def _begin(self, lanes: int) -> None:
        self.ridge_estimates = self.memory is None
        arguments: dict[str, Any] = {
            "center": np.zeros((lanes, int(self.dim))),
            "regularization": per_lane(self.regularization, lanes),
            "bound": per_lane(self.parameter_bound, lanes),
            "noise": self.noise,
            "delta": self.delta,
            "scale": self.scale,
            "constant": bool(self.intercept),
            "blocks": int(self.blocks),
        }
        self._sets = OneEllipsoid(**arguments) if self.memory is None else FadingEllipsoid(self.memory, **arguments)
