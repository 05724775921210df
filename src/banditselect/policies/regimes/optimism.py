"""Optimistic play over confidence sets: the steps, what they need of the sets, and OFUL's ellipsoid."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...carriers.blocks import BlockedShape
from ...carriers.decisions import Ledger
from ...carriers.lanes import LaneArrays, per_lane
from ...carriers.validation import lane_vectors, model_index, refuse
from ...kernels.acting import ALL_OFFERED, Drawn
from ...kernels.features import prepared
from ...kernels.ledger import NO_BOOK, UNNUMBERED
from ...kernels.rounds import learn_ellipsoid, play_ridges
from ...parts.confidence import Ellipsoid
from ...parts.experts import Bank, RidgeBank, split, with_zero
from ...parts.exploration import greedy
from ...types import Array, Index, Mask
from ..base import Played, Policy
from .blocks import answer_by_map


class ConfidenceRegime(LaneArrays, ABC):
    """Confidence sets that learn; one for each of the models that are not refuted, or one for all.

    Attributes
    ----------
    scale: multiplies the radii; 1 is the theory.
    bank: the models' regressions.
    """

    scale: float
    bank: Bank
    play_kernel: Callable[..., int]  #: of ``kernels.rounds``: plays an action of highest upper bound

    @abstractmethod
    def upper_bounds(self, ids: Index, x: Array) -> Array:
        """Return the largest reward that any set allows, ``(n, K)``."""

    @abstractmethod
    def show(self, ids: Index) -> tuple[Any, ...]:
        """Return what ``play_kernel`` is shown of these lanes: estimates, roots, which root, squared radii, scale."""

    @abstractmethod
    def learn(self, ids: Index, x: Array, y: Array, numbers: Index, book: Index) -> int:
        """Settle acts and learn their rewards; say how it went, as ``kernels.rounds`` does."""

    @abstractmethod
    def holds(self, thetas: Array) -> Mask:
        """Tell whether the sets of lane n hold ``thetas[n]``, ``(N,)``."""


class OptimisticPolicy(Policy):
    """Plays the action whose reward could be highest in any of its confidence sets."""

    intercept: bool = False
    _sets: ConfidenceRegime
    _looks_up = True

    @functools.cached_property
    def _as_given(self) -> bool:
        """Whether the sets take features as they come; else as ``_prepared`` returns them."""
        return not (self.intercept or isinstance(self.feature_shape, BlockedShape))

    def _prepared(self, ids: Index, x: Array) -> Any:
        """Return features as the sets are to be shown them."""
        seen = self._sets.bank.read(x)
        return prepared(ids, seen) if self.intercept else seen

    def _distribution(self, ids: Index, x: Array, offered: Mask | None) -> tuple[Array, None]:
        return greedy(self._sets.upper_bounds(ids, x if self._as_given else self._prepared(ids, x)), offered), None

    def _absorb(self, ids: Index, x: Array, action: Index | None, y: Array, memo: Index | None) -> None:
        self._sets.learn(ids, x if self._as_given else self._prepared(ids, x), y, UNNUMBERED, NO_BOOK)

    def _play(self, ids: Index, x: Array, offered: Mask | None, ledger: Ledger, drawn: Drawn, played: Array) -> Played:
        if not self._as_given:
            x = self._prepared(ids, x)
        sets, mask = self._sets, ALL_OFFERED if offered is None else offered
        keys, book = self._streams.keys, ledger.book
        theta, root, which, radii, scale = sets._show or sets.show(ids)
        return sets.play_kernel(ids, x, theta, root, which, radii, scale, mask, keys, book, drawn, played), None

    def _learn(self, ids: Index, x: Array, action: Index | None, y: Array, numbers: Index, memo: Index | None) -> int:
        if not self._as_given:
            x = self._prepared(ids, x)
        return self._sets.learn(ids, x, y, numbers, self._ledger.book)

    def covers(self, theta: ArrayLike) -> Any:
        """Tell whether the confidence set contains ``theta``, ``(d,)`` or one per lane ``(N, d)``.

        With an intercept it has d + 1 entries, the constant first; with blocks those of one after those of the other.
        """
        return self._answer(self._sets.holds(lane_vectors(theta, self._size, int(self._sets.bank.widths[0]))))

    def coverage(self, parameter: Array, model: ArrayLike | None) -> Array | None:
        """Tell of each lane whether its set holds the true ``parameter``, of constant term 0, ``(N,)``."""
        return super().coverage(with_zero(parameter) if self.intercept else parameter, model)


class MapSetsPolicy(OptimisticPolicy):
    """One that has a confidence set for each of M feature maps."""

    n_models: int
    _sets: Any

    def covers(self, theta: ArrayLike, model: int | None = None) -> Any:
        """Tell whether the set of ``model`` (of any, by default) contains ``theta``, ``(d_i,)`` or ``(N, d_i)``.

        With an intercept it has d_i + 1 entries, the constant first; with blocks those of one after those of the other.
        """
        widths = self._sets.bank.widths
        if model is None and len(set(widths)) > 1:
            raise refuse("model", model, "the index of a map, since the maps have different widths")
        first = 0 if model is None else model_index(model, int(self.n_models))
        models = slice(None) if model is None else slice(first, first + 1)
        return self._answer(self._sets.holds(lane_vectors(theta, self._size, int(widths[first])), models))

    def coverage(self, parameter: Array, model: ArrayLike | None) -> Array | None:
        """Tell of each lane whether the set of the true ``model`` holds the true ``parameter``, ``(N,)``."""
        if model is None:
            return None
        parameter = with_zero(parameter) if self.intercept else parameter
        answer, models = np.empty(self._size), np.broadcast_to(model, self._size)
        for m in np.unique(models):
            answer[models == m] = np.atleast_1d(self.covers(parameter, int(m)))[models == m]
        return answer


class RidgeSets(ConfidenceRegime):
    """Sets around the estimates of a bank of ridges over feature maps."""

    bank: RidgeBank
    play_kernel = staticmethod(play_ridges)

    @property
    @abstractmethod
    def radii(self) -> Array:
        """The squared radii, ``(N, M)``, without the scale; negative where a set is empty."""

    def upper_bounds(self, ids: Index, x: Array) -> Array:
        """Return the largest reward that any set allows, ``(n, K)``."""
        return self.bank.upper_bounds(ids, x, self.radii, self.scale)

    def show(self, ids: Index) -> tuple[Any, ...]:
        """Return what ``play_kernel`` is shown; it is the same for all lanes, and kept."""
        self._show = (self.bank.theta, self.bank.root, self.bank.dims, self.radii, self.scale)
        return self._show


def inside(bank: Bank, thetas: Array, squared_radii: Array, models: slice = slice(None)) -> Mask:
    """Tell which of these models' sets contain ``thetas[n]``, ``(N, M)``."""
    return bank.distances(thetas, models) <= squared_radii[:, models]


class Ellipsoids(RidgeSets):
    """OFUL's ellipsoids around the ridge estimates of M feature maps.

    Parameters
    ----------
    bank: the regressions.  noise: sub-Gaussian constants, ``(N,)``.  bound: on the norms of the parameters, about the
    centres of the bank, ``(N,)``.  regularization: ``(N, M)``; infinite for a known parameter.
    delta: each ellipsoid fails with at most this probability.
    """

    def __init__(
        self, bank: RidgeBank, *, noise: Array, bound: Array, regularization: Array, delta: float, scale: float
    ) -> None:
        with np.errstate(invalid="ignore"):
            prior = np.where(np.isinf(regularization), 0.0, np.sqrt(regularization) * bound[:, None])
        self.scale = float(scale)
        self.bank = bank
        self.ellipsoid = Ellipsoid(bank, noise=noise, prior=prior, delta=delta)

    @property
    def radii(self) -> Array:
        """The squared radii, ``(N, M)``."""
        return self.ellipsoid.squared_radii

    def learn(self, ids: Index, x: Array, y: Array, numbers: Index, book: Index) -> int:
        """Settle acts and learn their rewards."""
        if self._hand is None:
            self._hand = (*self.bank.hand(), *self.ellipsoid.hand())
        theta, root, evidence, updates, dims, constants, log_term, radii, spent = self._hand
        return learn_ellipsoid(
            ids, x, y, numbers, book, theta, root, evidence, updates, dims, constants, log_term, radii, spent
        )

    def holds(self, thetas: Array, models: slice = slice(None)) -> Mask:
        """Tell whether the ellipsoid of any of these maps holds ``thetas[n]``, ``(N,)``."""
        return np.asarray(inside(self.bank, thetas, self.scale**2 * self.radii, models).any(axis=1))


class OneEllipsoid(Ellipsoids):
    """OFUL's ellipsoid around one ridge estimate per lane, about a centre.

    Parameters
    ----------
    center: ``(N, d)``.  regularization: ``(N,)``; infinite for a known parameter.  bound: on the parameter's distance
    from the centre, ``(N,)``.  noise: sub-Gaussian constants, a number or ``(N,)``.
    constant: whether a constant stands before the features; its centre is 0.
    blocks: how many separate parameters there are, each about the centre; the bound is on all of them together.
    """

    def __init__(
        self,
        *,
        center: Array,
        regularization: Array,
        bound: Array,
        noise: ArrayLike,
        delta: float,
        scale: float,
        constant: bool,
        blocks: int = 1,
    ) -> None:
        center = with_zero(center) if constant else center
        N, d = center.shape
        lam = regularization[:, None]
        bank = RidgeBank(
            lanes=N, dims=np.array([d]), regularization=lam, center=center[:, None], blocks=np.array([blocks])
        )
        super().__init__(bank, noise=per_lane(noise, N), bound=bound, regularization=lam, delta=delta, scale=scale)


class EllipsoidPolicy(OptimisticPolicy):
    """What can be asked of a policy over one ellipsoid."""

    _sets: OneEllipsoid

    @property
    def parameters(self) -> Array:
        """Ridge estimate, ``(d,)``; with blocks one for each, ``(blocks, d)``."""
        return answer_by_map(self, split(self._sets.bank.theta, self.intercept)[1])

    @property
    def constant(self) -> Any:
        """Estimate of the constant term; 0 without an intercept. With blocks one for each, ``(blocks,)``."""
        return answer_by_map(self, split(self._sets.bank.theta, self.intercept)[0])

    @property
    def squared_radii(self) -> Any:
        """Squared radius of the confidence ellipsoid in the norm of V."""
        return self._answer(self._sets.scale**2 * self._sets.radii[:, 0])

    @property
    def regret_bound(self) -> Any:
        """Twice the widths of what was played: bounds the regret while the set is valid and rewards come at once."""
        return self._answer(self._sets.scale * self._sets.ellipsoid.spent)
