"""FS-OFUL: optimism over the union of the confidence sets of M feature maps."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers import validation
from ..carriers.lanes import LaneArrays
from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Choice, Constraint, Number, Numbers, Widths
from ..parts.confidence import Alarm, LikelihoodSets
from ..parts.experts import RidgeBank
from ..types import Array, Index
from .base import per_lane
from .fs_squarecb import map_widths, model_numbers
from .likelihood import LikelihoodPolicy, model_index
from .oful import lane_vectors
from .registry import register


class Forecast(LaneArrays):
    """Square loss of the mixture's point forecasts, ``(N,)``: a challenger that is bound to no single model."""

    state = ("loss",)

    def __init__(self, lanes: int) -> None:
        self.loss = np.zeros(lanes)


@register
class FSOFUL(LikelihoodPolicy):
    r"""FS-OFUL: likelihood-ratio confidence sets for M feature maps, optimism over those not refuted.

    .. math:: a_t = \arg\max_a \max_{i : \rho_i^2 \ge 0}
              \langle \phi^i(a), \hat\theta_i \rangle + \rho_i |\phi^i(a)|_{V_i^{-1}}

    with :math:`\rho_i^2` as in ``LikelihoodSets``. No range, no horizon and no radius to
    tune; a map that is refuted is no longer played.

    Parameters
    ----------
    n_models: number of feature maps M.
    dim: their width d, or one per map; features are ``(M, K, d)``, or a list of M arrays ``(K, d_i)``.
    noise: sub-Gaussian constant R of the rewards.
    parameter_bound: S, a bound on the norm of the true map's parameter.
    delta: the sets fail with at most this probability, over all rounds together.
    regularization: ridge penalty lambda, a number or one per model.
    likelihood: ``"evidence"`` or ``"online"``, the loss :math:`L_i`; both are valid.
    scale: multiplies the radii; 1 is the theory, less is practice.
    misspecification: eps, for rewards within eps of linear.

    Attributes
    ----------
    model_weights, admissible, squared_radii: ``(M,)``.  parameters: ``(M, d)``.  covers(theta, model).  misspecified.

    Notes
    -----
    Guarantee: the sets hold at every round with probability 1 - delta. The regret bound
    ``theory.feature_selection.union_regret_bound`` grows with sqrt(M) in the worst case, and an example in
    ``docs/math.md`` shows that it must; on every natural problem tried it stays near the oracle. FS-SCB keeps
    sqrt(log M).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> policy = FSOFUL(n_models=3, dim=2, noise=0.1, seed=0)
    >>> for _ in range(200):
    ...     decision = policy.act(rng.normal(size=(3, 5, 2)))
    ...     policy.update(decision, decision.features[2] @ [0.6, -0.6] + 0.1 * rng.normal())
    >>> policy.admissible
    array([False, False,  True])
    >>> policy.covers([0.6, -0.6], model=2)
    True
    """

    reward_units = ("noise", "parameter_bound", "misspecification")
    constraints: ClassVar[dict[str, Constraint]] = {
        "n_models": Number(low=1, integer=True),
        "dim": Widths(),
        "noise": Number(low=SMALLEST, per_lane=True),
        "parameter_bound": Number(low=0.0, per_lane=True),
        "delta": Number(low=0.0, high=1.0, above=True, below=True),
        "regularization": Numbers(shapes=((), (None,)), low=SMALLEST),
        "likelihood": Choice(("evidence", "online")),
        "scale": Number(low=0.0),
        "misspecification": Number(low=0.0),
    }

    def __init__(
        self,
        *,
        n_models: int,
        dim: int | Sequence[int],
        noise: float | ArrayLike = 0.5,
        parameter_bound: float | ArrayLike = 1.0,
        delta: float = 0.05,
        regularization: float | ArrayLike = 1.0,
        likelihood: str = "evidence",
        scale: float = 1.0,
        misspecification: float = 0.0,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.n_models = n_models
        self.dim = dim
        self.noise = noise
        self.parameter_bound = parameter_bound
        self.delta = delta
        self.regularization = regularization
        self.likelihood = likelihood
        self.scale = scale
        self.misspecification = misspecification
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        self._dims = map_widths("FSOFUL", self.dim, int(self.n_models))
        return ExactShape(self._dims, many=True)

    def _begin(self, lanes: int) -> Sequence[str]:
        M = int(self.n_models)
        lam = model_numbers("FSOFUL: regularization", self.regularization, lanes, M)
        self._noise = per_lane(self.noise, lanes)
        self._bank = RidgeBank(lanes=lanes, dims=np.array(self._dims), regularization=lam)
        self._sets = LikelihoodSets(
            self._bank,
            noise=self._noise,
            penalty=lam * per_lane(self.parameter_bound, lanes)[:, None] ** 2,
            prior=np.full(M, 1.0 / M),
            delta=self.delta,
            online=self.likelihood == "online",
            misspecification=self.misspecification,
        )
        self._alarm = Alarm(lanes=lanes, delta=self.delta, misspecification=self.misspecification)
        self._forecast = Forecast(lanes)
        return ("_bank", "_sets", "_alarm", "_forecast")

    def _absorb(self, ids: Index, x: Array, y: Array, memo: Index | None) -> None:
        weights, _ = self._sets.weigh(ids, self._bank)
        f, _ = self._bank.learn(ids, x, y)
        self._forecast.loss[ids] += (y - (weights * f).sum(axis=1)) ** 2
        self._watch(ids, self._forecast.loss[ids])

    def covers(self, theta: ArrayLike, model: int | None = None) -> Any:
        """Tell whether the set of ``model`` (of any, by default) contains ``theta``, ``(d_i,)`` or ``(N, d_i)``."""
        if model is None and len(set(self._dims)) > 1:
            raise validation.refuse("model", model, "the index of a map, since the maps have different widths")
        first = 0 if model is None else model_index(model, int(self.n_models))
        models = slice(None) if model is None else slice(first, first + 1)
        inside = self._inside(lane_vectors(theta, self._size, self._dims[first]), models)
        return self._told(np.asarray(inside.any(axis=1)))
