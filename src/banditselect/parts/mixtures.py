"""The posterior over models whose noise is learned too: nothing of it has to be told.

A model is a pair (feature map, prior scale) or (region, noise level); each is a conjugate regression with an unknown
noise variance. Everything is counted in units that the data bring: the features of a map, all by one factor, by the
size of the first that were learned, rewards from the first reward and by their variance. So no decision depends on the
unit of a map or of rewards, nor, with a constant term, on where rewards have their zero.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..carriers.lanes import LaneArrays, per_lane
from ..kernels import divergence, information, posterior, ridge
from ..kernels.acting import mask_of
from ..kernels.features import prepared
from ..types import Array, Index, Mask
from .experts import RidgeBank, SharedRidgeBank
from .forgetting import Forgetting
from .joining import kept_and_new, log_sum, others

SCALES = (10.0**-3, 10.0**-1.5, 1.0, 10.0**1.5, 10.0**3)
"""Prior scales of a map: the variance of what it explains over that of the noise."""

TOLD_SCALES = (*SCALES, 10.0**4.5, 10.0**6)
"""Where the noise is told: a learned one is taken to be large as long as little is known, one that is told is not."""

FLAT = 1e-4
"""Prior precision of a constant term, for noise of variance 1: nearly none."""


class Mixture(LaneArrays, ABC):
    r"""Conjugate regressions with unknown noise, and how probable each is; docs/defaults.md says why these.

    With V, logdet and J of model k as the bank keeps them, t rewards, prior weight :math:`\pi_k`, and a noise variance
    that is inverse gamma of shape a (``trust``) and scale :math:`b_k = a v_k`:

    .. math:: s_k^2 = \frac{b_k + J_k / 2}{a + t / 2}, \qquad
              w_k \propto \pi_k b_k^a e^{-\text{logdet}_k / 2} (b_k + J_k / 2)^{-(a + t / 2)}

    and :math:`\theta \mid s_k \sim N(\hat\theta_k, s_k^2 V_k^{-1})`. :math:`v_k` is ``expected``, or where that is 0
    the variance of the rewards so far. Where it is ``expected``, the variance is also known to lie in a ``window``
    about it, and w has one more factor: how probable that is. Noise that is known has :math:`s_k = R` and the Gaussian
    evidence.

    Parameters
    ----------
    bank: the regressions: of every one of M maps or regions at the first scale or level, then at the second, ...
    n_models, n_maps: M; and P, the number of feature maps.
    constant: whether a constant term stands before the features.
    noise: standard deviation R of the rewards, a number or ``(N,)``; None if it is to be learned.
    prior: of the M models, ``(M,)`` or ``(N, M)``.
    expected: v, ``(N, models)``.
    window: how far the logarithm of the variance may be from that of v, below and above, ``(2, models)``.
    trust: a.
    blocks: how many blocks of parameters each of the M models has, ``(M,)``; one by default.
    memory: None, or after about how many rounds a reward counts 1 / e (``parts.forgetting``): t is then the sum of the
        weights of the rewards.

    Attributes
    ----------
    size: squared norm of the features of each map, which they are divided by, ``(N, P)``; 0 until known.
    logs, counts: sum of the logarithms of squared norms learned that are not zero, and how many they are, ``(N, P)``.
    moments: the first reward, the mean of the others less the first, the sum of squares about it, ``(N, 3)``.
    log_prior: of the regressions, ``(N, models)``; and what models that came and went have left in it.
    """

    state = ("size", "logs", "counts", "moments", "log_prior")
    natural = ("size", "counts")
    fixed = ("known", "expected")
    bank: RidgeBank | SharedRidgeBank
    _inform: ClassVar[Any]  # of ``kernels.information``: the probabilities of actions
    _first: Index | None = None  # of the bank, with blocks

    def __init__(
        self,
        bank: RidgeBank | SharedRidgeBank,
        *,
        n_models: int,
        n_maps: int,
        constant: bool,
        noise: ArrayLike | None,
        prior: Array,
        expected: Array,
        trust: float = 1.0,
        window: Array | None = None,
        blocks: Index | None = None,
        memory: float | None = None,
    ) -> None:
        N, models = bank.group.shape
        self.bank = bank
        self.forgetting = None if memory is None else Forgetting(bank, memory)
        self.n_models = n_models
        self.blocks = np.ones(n_models, dtype=np.int64) if blocks is None else blocks
        self.constant = constant
        self.size, self.logs = np.zeros((N, n_maps)), np.zeros((N, n_maps))
        self.counts = np.zeros((N, n_maps), dtype=np.int64)
        self.moments = np.zeros((N, 3))
        times = models // n_models
        self.log_prior = np.array(np.broadcast_to(np.tile(np.log(prior / times), times), (N, models)), order="C")
        self.known = np.zeros(N) if noise is None else per_lane(noise, N) ** 2
        self.expected = expected
        self.window = np.zeros((2, models)) if window is None else window
        self.trust = float(trust)
        self._level = np.zeros(models)  # what logdet has of the level of rewards that constants are counted from

    # Playing and learning.

    def prepared(self, ids: Index, x: Array) -> Any:
        """Return features ``(n, P, K, d)`` or ``(n, P, d)`` in units of their own, behind a constant if any."""
        return prepared(ids, x if self._first is None else self.bank.read(x), self.size, self.constant)

    @abstractmethod
    def learn(self, ids: Index, x: Array, y: Array) -> None:
        """Learn features ``x (n, P, d)`` and rewards ``y (n,)``."""

    def _learn(self, ids: Index, x: Array, y: Array) -> None:
        """Learn, in the units that are known by now."""
        centered, fading = np.empty(y.size), self.forgetting
        if fading is not None:
            fading.fade(ids, self.bank)
            self.moments[ids, posterior.SQUARES] *= fading.gamma
        posterior.center_rewards(ids, y, self._seen, self.moments, self.constant, centered)
        self.bank.learn(ids, self.prepared(ids, x), centered)
        if self._first is not None:
            self._count_level(ids)
        if fading is not None:
            fading.seen[ids] += 1.0

    @property
    def _seen(self) -> Any:
        """How many rewards count, ``(N,)``."""
        return self.bank.updates if self.forgetting is None else self.forgetting.seen

    def _count_level(self, ids: Index) -> None:
        """Count, with blocks, how little was known of the level of rewards."""

    def informed(self, ids: Index, x: Array, offered: Mask | None, floor: float) -> Array:
        """Return the probabilities of information-directed play, ``(n, K)``."""
        return self._probabilities(self._inform, ids, x, offered, floor)

    def sampled(self, ids: Index, x: Array, z: Array) -> Array:
        """Return how good actions are under a model and a parameter drawn from the posterior, ``(n, K)``.

        ``z (n, draws)``: independent standard normals; the first chooses the model, the others its parameter.
        """
        _, weight, variance = self.weigh(ids)
        model, score = np.empty(ids.size, dtype=np.int64), np.empty((ids.size, x.shape[2]))
        posterior.draw_models(weight, z, model)
        bank, theta = self.bank, self.bank.estimates(ids, model)
        posterior.sampled_scores(ids, self.prepared(ids, x), model, theta, variance, bank.root, bank.group, z, score)
        return score

    @property
    def draws(self) -> int:
        """How many normals ``sampled`` takes."""
        return 1 + self.blocks.max() * self.bank.root.shape[2]

    def _probabilities(self, play: Any, ids: Index, x: Array, offered: Mask | None, number: float) -> Array:
        """Return the probabilities of a play, a kernel with one ``number`` to set it, ``(n, K)``."""
        p = np.empty((ids.size, x.shape[2]))
        if self._show is None:
            self._show = (*self._models(), self._beliefs())
        seen = x if self._first is None else self.bank.read(x)
        play(*(ids, seen, *self._show, mask_of(offered), number, p))
        return p

    def weigh(self, ids: Index) -> tuple[Array, Array, Array]:
        """Return log weights up to a constant, weights, and noise variances of the models, ``(n, models)`` each."""
        out = np.empty((3, ids.size, self.log_prior.shape[1]))
        posterior.weigh_rows(ids, self._beliefs(), out[0], out[1], out[2])
        return out[0], out[1], out[2]

    def _beliefs(self) -> posterior.Beliefs:
        """Return what kernels weigh models by."""
        bank = self.bank
        return posterior.Beliefs(
            bank.evidence,
            self._seen,
            self.moments,
            self.log_prior,
            self.known,
            self.expected,
            self.window,
            self.size,
            self.trust,
            FLAT if self.constant else 0.0,
            self._level,
        )

    @abstractmethod
    def _models(self) -> tuple[Any, ...]:
        """Return what the kernel is shown of the regressions: estimates, roots, widths or which root."""

    # What can be asked, of the M maps or regions in the order in which they were given.

    def weights(self) -> Array:
        """Return how probable the maps or regions are, ``(N, M)``."""
        _, weight, _ = self.weigh(np.arange(len(self.size)))
        return self._given(weight.reshape(len(weight), -1, self.n_models).sum(axis=1))

    def noise(self) -> Array:
        """Return the root of the mean noise variance, ``(N,)``; NaN before anything is known of it."""
        _, weight, variance = self.weigh(np.arange(len(self.size)))
        found = np.sqrt((weight * variance).sum(axis=1)) * self._reward_unit()
        return np.where((self.known > 0.0) | (self.moments[:, posterior.SQUARES] > 0.0), found, np.nan)

    def estimates(self) -> tuple[Array, Array]:
        """Return the mean of the posterior of every map or region: constants ``(N, M)``, parameters ``(N, M, d)``.

        With blocks, of every block, those of a map side by side.
        """
        log_weight, _, _ = self.weigh(np.arange(len(self.size)))
        share = log_weight.reshape(len(log_weight), -1, self.n_models)
        share = np.exp(share - share.max(axis=1, keepdims=True))
        share = np.repeat(share / share.sum(axis=1, keepdims=True), self.blocks, axis=2)
        theta = self.bank.theta
        theta = (share[..., None] * theta.reshape(*share.shape, theta.shape[2])).sum(axis=1)
        unit = self._reward_unit()[:, None]
        size = np.sqrt(np.where(self.size > 0.0, self.size, 1.0))
        if size.shape[1] == self.n_models:
            size = np.repeat(size, self.blocks, axis=1)
        constants = theta[..., 0] + self.moments[:, None, posterior.FIRST] if self.constant else 0.0 * theta[..., 0]
        parameters = theta[..., int(self.constant) :] / size[..., None] * unit[..., None]
        return self._given(constants * unit), self._given(parameters)

    def _reward_unit(self) -> Array:
        """Return the unit in which rewards are learned, ``(N,)``."""
        return np.ones(len(self.size))

    def _given(self, array: NDArray[Any]) -> Any:
        """Return an array ``(N, M, ...)`` with the models in the order in which they were given."""
        return array


class MapsMixture(Mixture):
    """M feature maps of widths ``dims``, each at every prior scale.

    A map may have several ``blocks`` of parameters, each with a constant term of its own then. Such constants tell
    actions apart as other features do, and have the prior scale of those; the level that they are counted from is that
    of the first reward. A priori it is known as little as the constant term of a map without blocks, which the evidence
    of that reward says of both.
    """

    bank: RidgeBank
    per_model: ClassVar[dict[str, int]] = {"size": 1, "logs": 1, "counts": 1, "log_prior": 1}
    _inform = staticmethod(information.informed_ridges)
    _earlier: Index | None = None  # rewards that others had learned before it began, ``(N,)``

    def __init__(
        self,
        *,
        lanes: int,
        dims: tuple[int, ...],
        constant: bool,
        noise: ArrayLike | None,
        prior: Array,
        blocks: tuple[int, ...] = (1,),
        memory: float | None = None,
    ) -> None:
        scales = SCALES if noise is None else TOLD_SCALES
        M, J = len(dims), len(scales)
        several = np.broadcast_to(blocks, M) > 1
        self._penalties = np.repeat(1.0 / np.array(scales), M)
        self._constants = np.where(np.tile(several, J), self._penalties, FLAT)  # prior precisions of constant terms
        self._divided = np.flatnonzero(np.tile(several, J))
        bank = RidgeBank(
            lanes=lanes,
            dims=np.tile(np.array(dims) + constant, J),
            regularization=np.tile(self._penalties, (lanes, 1)),
            constant=self._constants if constant else None,
            blocks=np.tile(np.broadcast_to(blocks, M), J),
        )
        super().__init__(
            bank,
            n_models=M,
            n_maps=M,
            constant=constant,
            noise=noise,
            prior=prior,
            expected=np.zeros((lanes, M * J)),
            blocks=np.array(np.broadcast_to(blocks, M)),
            memory=memory,
        )
        self._first = bank.first
        if constant:  # by first features of norm 1, which they have in their own units, and so of leverage 2 scale
            leverage = 2.0 / self._penalties[self._divided]
            self._level[self._divided] = np.log1p(1.0 / (FLAT * (1.0 + leverage)))

    def learn(self, ids: Index, x: Array, y: Array) -> None:
        """Learn features ``x (n, P, d)`` and rewards ``y (n,)``."""
        values = x if self._first is None else np.ascontiguousarray(x[..., :-1])
        if posterior.meet(ids, values, self.size, self.logs, self.counts):
            self._resize(ids)
        self._learn(ids, x, y)

    def _count_level(self, ids: Index) -> None:
        fresh = self.bank.updates[ids] == (1 if self._earlier is None else 1 + self._earlier[ids])
        self.bank.logdet[ids[fresh]] += self._level

    def _models(self) -> tuple[Any, ...]:
        return self.bank.theta, self.bank.root, self.bank.dims

    def _resize(self, ids: Index) -> None:
        """Let maps whose size is off by a factor 10 have the geometric mean of their squared norms as their size.

        The posterior becomes what it had been with that size from the start: with C the change of units and
        ``V = Lambda + G``, it has ``Lambda + C G C`` and ``C V theta``.
        """
        logs = self.logs[ids] / np.maximum(self.counts[ids], 1)
        with np.errstate(divide="ignore"):
            off = (self.counts[ids] > 0) & (np.abs(logs - np.log(self.size[ids])) > posterior.DRIFT)
        for r, i in zip(*np.nonzero(off), strict=True):
            n, size = ids[r], np.exp(logs[r, i])
            for k in range(i, self._penalties.size, self.n_models):
                self._change_units(n, k, np.sqrt(self.size[n, i] / size))
            self.size[n, i] = size

    def _change_units(self, n: int, k: int, factor: float) -> None:
        """Multiply all features that model k of lane n has learned."""
        bank, first = self.bank, int(self.constant)
        d = bank.dims[k]
        penalty = np.full(d, self._penalties[k])
        penalty[:first] = self._constants[k]
        change = np.full(d, factor)
        change[:first] = 1.0
        left = penalty if self.forgetting is None else penalty * self.forgetting.prior_left(int(bank.updates[n]))[:d]
        prior = np.diag(1.0 / np.sqrt(penalty))
        start = bank.group[n, k]
        divided = k in self._divided
        squares, logdet = float(bank.penalised[n, k]), float(bank.logdet[n, k]) if divided else 0.0
        explained = 0.0
        for c in range(start, start + self.blocks[k % self.n_models]):
            if (bank.root[n, c, :d, :d] == prior).all():
                continue  # nothing of this block has been learned
            inverse = np.linalg.inv(bank.root[n, c, :d, :d])
            V = inverse.T @ inverse
            moment = V @ bank.theta[n, c, :d]
            squares += float(bank.theta[n, c, :d] @ moment)
            lower = np.linalg.cholesky(np.diag(left) + change[:, None] * (V - np.diag(left)) * change)
            root = np.linalg.inv(lower).T
            theta = root @ (root.T @ (change * moment))
            bank.root[n, c, :d, :d], bank.theta[n, c, :d] = root, theta
            explained += float(theta @ (change * moment))
            logdet += 2.0 * np.log(np.diag(lower)).sum() - np.log(penalty).sum()
            if divided:  # it also has the level of rewards in it, see _count_level
                logdet -= np.linalg.slogdet(V)[1] - np.log(penalty).sum()
        bank.penalised[n, k] = max(squares - explained, 0.0)
        bank.logdet[n, k] = logdet

    def total(self) -> Array:
        """Return the logarithm of the sum of the weights before they are normalised, ``(N,)``."""
        return log_sum(self.weigh(np.arange(len(self.size)))[0])

    def count_from(self, other: "MapsMixture") -> None:
        """Count rewards from the one that another counts them from; nothing has been learned yet."""
        self.moments[:, posterior.FIRST] = other.moments[:, posterior.FIRST]
        self.bank.updates[:] = other.bank.updates
        self._earlier = other.bank.updates

    def join(self, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the maps when the last have come, with prior ``shares (k,)``, or some have gone: ``parts.joining``.

        A map that nothing was replayed to also takes over what the mixture believes of the noise: its J is the mean of
        the others', by their weights.

        ``total``: what it was before, ``(N,)``.  replayed: whether all rewards so far were replayed to the new ones.
        """
        kept, new = map(self._scaled, kept_and_new(self.n_models, shares.size))
        ids, times = np.arange(len(self.size)), self.log_prior.shape[1] // self.n_models
        before = self.weigh(ids)[0][:, kept]
        self.log_prior[:, kept] += (total + np.log1p(-shares.sum()) - log_sum(before))[:, None]
        self.log_prior[:, new] = np.tile(np.log(shares / times), times)
        if new.size and not replayed:
            evidence, weight = self.bank.evidence, np.exp(before - log_sum(before)[:, None])
            evidence[:, :, new] = (weight[:, None] * evidence[:, :, kept]).sum(axis=2, keepdims=True)
            evidence[:, ridge.LOGDET, new] = np.where(self.bank.updates[:, None] > 0, self._level[new], 0.0)
            wanted = self.log_prior[:, new] + total[:, None]
            self.log_prior[:, new] += wanted - self.weigh(ids)[0][:, new]

    def rest(self, ids: Index, asleep: Index) -> Callable[[], None]:
        """Return what is to be called once these rows have learned a reward of which maps ``asleep`` know nothing."""
        asleep = self._scaled(asleep)
        awake, put_back = others(asleep, self.log_prior.shape[1]), self.bank.rest(ids, asleep)
        log_weight, evidence = self.weigh(ids)[0], self.bank.evidence
        before, losses = log_sum(log_weight[:, awake]), evidence[np.ix_(ids, np.arange(3), awake)]
        weight = np.exp(log_weight[:, awake] - before[:, None])
        gap = log_weight[:, asleep] - before[:, None]

        def wake() -> None:
            put_back()
            grown = (weight[:, None] * (evidence[np.ix_(ids, np.arange(3), awake)] - losses)).sum(axis=2)
            grown[:, ridge.LOGDET] = 0.0
            evidence[np.ix_(ids, np.arange(3), asleep)] += grown[:, :, None]
            after = self.weigh(ids)[0]
            self.log_prior[np.ix_(ids, asleep)] += gap + log_sum(after[:, awake])[:, None] - after[:, asleep]

        return wake

    def _scaled(self, maps: Index) -> Index:
        """Return the regressions of these maps, at all scales."""
        times = self.log_prior.shape[1] // self.n_models
        return (np.arange(times)[:, None] * self.n_models + maps).ravel()

    def divergent(self, ids: Index, x: Array, offered: Mask | None, share: float) -> Array:
        """Return the probabilities of minimum empirical divergence, ``(n, K)``; ``share`` on what looks best."""
        return self._probabilities(divergence.divergent_ridges, ids, x, offered, share)
