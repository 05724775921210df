"""mUCB: optimism among M known models, of which those that promised too much are dropped."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import ridge
from ..kernels.features import Features
from ..models.model import Model
from ..models.tally import Tally
from ..plays.optimism import best
from ..policies import shared
from ..policies.contract import Chosen, answer
from ..policies.policy import Policy
from ..runtime.arguments import argument
from ..runtime.constraints import Number
from ..runtime.files import register
from ..runtime.lanes import per_lane
from ..runtime.shapes import maps_of
from ..types import Array, Index, Mask


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
    error: bound on the distance of every mean reward from the prediction of the true model. 0 is mUCB, more is its
        robust version, mmUCB.
    noise, scale: as :class:`OFUL` has them, of the width.

    Notes
    -----
    Of models that promise the same, the first is believed; ties of actions are drawn with equal probability. Where no
    model is consistent, all are asked again. A reward given to ``learn`` counts for every model.
    Guarantee: with immediate rewards and ``scale=1``, if no action is worse than the best by more than 1, expected
    regret of at most :math:`3 M + 2 \varepsilon T + 2 R \sqrt{6 M T \log T}`, for any K (the reference; the paper's
    section 4.2). Its rival mTS, Thompson sampling over the same models, is :class:`PSTS` with ``radii=0`` and the noise
    given; with radii, mmTS.

    Reference: Hong, Kveton, Zaheer, Chow, Ahmed, Boutilier, "Latent bandits revisited", NeurIPS 2020.

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

    centers: ArrayLike = argument(shared.CENTERS, unit="reward")
    horizon: int = argument(Number(low=1, integer=True))
    error: float | ArrayLike = argument(Number(low=0.0, per_lane=True), default=0.0, unit="reward")
    noise: float | ArrayLike = shared.NOISE
    scale: float = shared.SCALE

    consistent = answer("consistent", "Whether each model is in C_t, ``(M,)``.")
    plays = answer("tally.plays", "Rewards learned of the rounds in which each model was believed, ``(M,)``.")

    def build(self, lanes: int) -> shared.ModelAndPlay:
        """Return the known models; ``_choose`` plays by the predictions of the believed one."""
        M, d = np.shape(self.centers)[-2:]
        theta = np.array(np.broadcast_to(np.asarray(self.centers, dtype=float), (lanes, M, d)), order="C")
        width = self.scale * np.sqrt(6.0 * np.log(self.horizon)) * per_lane(self.noise, lanes)
        return KnownModels(theta, width, per_lane(self.error, lanes)), None

    def _choose(self, ids: Index, x: Features, offered: Mask | None, numbers: Index) -> Chosen:
        promised, believed = self._model.believed(ids, x, offered)
        p = best(promised[np.arange(ids.size), believed], offered)
        return Chosen(p, self._streams.keys[ids], believed[:, None].astype(float))

    def _reads(self, note: Array) -> bool:
        return bool(((note >= 0) & (note < np.shape(self.centers)[-2]) & (note == np.floor(note))).all())


class KnownModels(Model):
    """Predicts with M given parameters ``theta (N, M, d)``; learns how far each promised more than was earned.

    Its note is the model that was believed.

    Attributes
    ----------
    tally: rounds of each model, and as ``earned`` the rewards less what was promised and not excused by the error.
    width: what multiplies the root of the rounds, ``(N,)``.  error: ``(N,)``.
    """

    fixed = ("theta", "width", "error")
    shared = ("first",)
    note_width = 1
    reads_lookups = True

    def __init__(self, theta: Array, width: Array, error: Array) -> None:
        super().__init__(maps_of(theta.shape[2]))
        self.theta, self.width, self.error = theta, width, error
        self.first = np.arange(theta.shape[1] + 1)
        self.tally = Tally(*theta.shape[:2])

    def promised(self, ids: Index, x: Features) -> Array:
        """Return the predictions of all models, ``(n, M, K)``."""
        return ridge.predict(ids, x.values, x.block, self.theta, self.first)

    def believed(self, ids: Index, x: Features, offered: Mask | None) -> tuple[Array, Index]:
        """Return the predictions of all models ``(n, M, K)``, and the model believed ``(n,)``."""
        promised = self.promised(ids, x)
        most = promised.max(axis=2, where=True if offered is None else offered[:, None], initial=-np.inf)
        asked = self.consistent(ids)
        asked |= ~asked.any(axis=1, keepdims=True)
        return promised, np.where(asked, most, -np.inf).argmax(axis=1)

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn what the believed model earned less than promised; of data from elsewhere, what every model did."""
        kept = y[:, None] - (self.promised(ids, x.as_actions())[..., 0] - self.error[ids, None])
        counted = np.ones(kept.shape, dtype=bool) if note is None else note == np.arange(kept.shape[1])
        self.tally.plays[ids] += counted
        self.tally.earned[ids] += np.where(counted, kept, 0.0)

    def consistent(self, ids: Index | slice = slice(None)) -> Mask:
        """Return which models are in C_t, ``(n, M)``."""
        return -self.tally.earned[ids] <= self.width[ids, None] * np.sqrt(self.tally.plays[ids])
