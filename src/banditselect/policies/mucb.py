"""mUCB: optimism among M known models, of which those that promised too much are dropped."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..carriers.lanes import PerLane, per_lane
from ..carriers.persistence import register
from ..carriers.shapes import ExactShape, FeatureShape
from ..carriers.streams import Seed
from ..carriers.validation import SMALLEST, Constraint, Number, Numbers
from ..kernels import ridge
from ..parts.exploration import greedy
from ..parts.tally import Tally
from ..types import Array, Index, Mask
from .base import Policy


@register
class MUCB(Policy):
    r"""Latent-bandit UCB: believes the known model that promises most, until it has promised too much.

    Model s predicts :math:`\langle \phi(a), \mu_s \rangle`, with :math:`\mu_s` one of the ``centers``. Let
    :math:`S_t` be the model believed in round t, :math:`N_s` the number of rounds in which that was s, R the ``noise``,
    T the ``horizon``, :math:`\varepsilon` the ``error`` and c the ``scale``. Consistent are the models in

    .. math:: C_t = \Big\{ s : \sum_{l < t, \, S_l = s} \big(\langle \phi_l(a_l), \mu_s \rangle - \varepsilon - y_l\big)
              \le c R \sqrt{6 N_s \log T} \Big\}, \qquad
              (S_t, a_t) = \arg\max_{s \in C_t, \, a} \langle \phi_t(a), \mu_s \rangle

    Parameters
    ----------
    centers: the models, ``(M, d)``, or one set per lane ``(N, M, d)``; features are ``(K, d)``.
    horizon: number T of rounds to be played.
    error: bound on the distance of every mean reward from what the true model predicts. 0 is mUCB, more is its robust
        version, mmUCB.
    noise: sub-Gaussian constant R of the rewards.
    scale: multiplies the width; 1 is the theory, less is practice.

    Attributes
    ----------
    consistent: whether each model is in C_t, ``(M,)``.  plays: rewards learned of the rounds in which each was
    believed, ``(M,)``.

    Notes
    -----
    Of models that promise the same, the first is believed; ties of actions are drawn with equal probability. Where no
    model is consistent, all are asked again. What ``learn`` is told counts for every model, since each predicts it.
    Guarantee: with immediate rewards and ``scale=1``, if no action is worse than the best by more than 1, expected
    regret of at most :math:`3 M + 2 \varepsilon T + 2 R \sqrt{6 M T \log T}`, whatever K is (the reference; the paper's
    section 4.2). Its rival mTS, Thompson sampling over the same models, is :class:`PSTS` with ``radii=0`` and the noise
    told; with radii, mmTS.

    References
    ----------
    Hong, Kveton, Zaheer, Chow, Ahmed, Boutilier, "Latent bandits revisited", NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> policy = MUCB(centers=[[0.9, 0.5], [0.2, 0.6]], horizon=200, noise=0.1, seed=0)
    >>> for _ in range(50):
    ...     decision = policy.act(np.eye(2))
    ...     policy.update(decision, [0.2, 0.6][decision.action])
    >>> policy.consistent, policy.plays
    (array([False,  True]), array([ 1, 49]))
    """

    reward_units = ("centers", "error", "noise")
    constraints: ClassVar[dict[str, Constraint]] = {
        "centers": Numbers(shapes=((None, None), (None, None, None)), lane_axes=3),
        "horizon": Number(low=1, integer=True),
        "error": Number(low=0.0, per_lane=True),
        "noise": Number(low=SMALLEST, per_lane=True),
        "scale": Number(low=0.0),
    }
    _memo_width = 1
    _looks_up = True

    def __init__(
        self,
        *,
        centers: ArrayLike,
        horizon: int,
        error: float | ArrayLike = 0.0,
        noise: float | ArrayLike = 0.5,
        scale: float = 1.0,
        lanes: int | None = None,
        seed: Seed = 0,
    ) -> None:
        self.centers = centers
        self.horizon = horizon
        self.error = error
        self.noise = noise
        self.scale = scale
        super().__init__(lanes, seed)

    def _shape(self) -> FeatureShape:
        return ExactShape((np.shape(self.centers)[-1],), many=False)

    def _begin(self, lanes: int) -> None:
        M, d = np.shape(self.centers)[-2:]
        width = self.scale * np.sqrt(6.0 * np.log(self.horizon)) * per_lane(self.noise, lanes)
        theta = np.array(np.broadcast_to(np.asarray(self.centers, dtype=float), (lanes, M, d)), order="C")
        self._known = PerLane(theta=theta, width=width, error=per_lane(self.error, lanes))
        self._tally = Tally(lanes, M)  # ``earned``: the rewards less what was promised and not excused by the error

    def _consistent(self, ids: Index | slice) -> Mask:
        """Tell which models are in C_t, ``(n, M)``."""
        return -self._tally.earned[ids] <= self._known.width[ids, None] * np.sqrt(self._tally.plays[ids])

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, Index]:
        M = self._known.theta.shape[1]
        promised = np.empty((ids.size, M, x.shape[2]))
        ridge.predict(ids, x, self._known.theta, promised)
        most = promised.max(axis=2, where=True if offered is None else offered[:, None], initial=-np.inf)
        asked = self._consistent(ids)
        asked |= ~asked.any(axis=1, keepdims=True)
        believed = np.where(asked, most, -np.inf).argmax(axis=1)
        return greedy(promised[np.arange(ids.size), believed], offered), believed[:, None]

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        promised = np.empty((ids.size, self._known.theta.shape[1], 1))
        ridge.predict(ids, x[:, :, None], self._known.theta, promised)
        kept = y[:, None] - (promised[..., 0] - self._known.error[ids, None])
        counted = np.ones(kept.shape, dtype=bool) if memo is None else memo == np.arange(kept.shape[1])
        self._tally.plays[ids] += counted
        self._tally.earned[ids] += np.where(counted, kept, 0.0)

    def _wrote(self, memo: Index) -> bool:
        return bool((memo >= 0).all() and (memo < self._known.theta.shape[1]).all())

    @property
    def consistent(self) -> Mask:
        """Whether each model is in C_t, ``(M,)``."""
        return self._answer(self._consistent(slice(None)))

    @property
    def plays(self) -> Index:
        """Rewards learned of the rounds in which each model was believed, ``(M,)``."""
        return self._answer(self._tally.plays)
