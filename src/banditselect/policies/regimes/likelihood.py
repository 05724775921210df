"""The union of the likelihood-ratio sets of M models - feature maps or regions - and the alarm that watches over it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...carriers.lanes import Move, PerLane, per_lane
from ...carriers.validation import SMALLEST, Constraint, Number, OneOf, YesNo
from ...kernels.rounds import DONE, SUSPECT, learn_maps, learn_regions, play_tiles
from ...parts.confidence import Alarm, LikelihoodSets
from ...parts.experts import Bank, RidgeBank, SharedRidgeBank, split
from ...parts.joining import log_sum
from ...parts.regions import Regions, in_order
from ...parts.retelling import learned_by, tell
from ...types import Array, Index, Mask
from .optimism import ConfidenceRegime, OptimisticPolicy, RidgeSets, inside

ALARM = (
    "no model explains the rewards{lanes} with noise of the constant stated: every model is wrong, or its bound "
    "on the parameter is too small, or noise is. See the property misspecified; no further warning comes."
)

LIKELIHOOD_ARGUMENTS: dict[str, Constraint] = {
    "noise": Number(low=SMALLEST, per_lane=True),
    "delta": Number(low=0.0, high=1.0, above=True, below=True),
    "likelihood": OneOf(("evidence", "online")),
    "scale": Number(low=0.0),
    "misspecification": Number(low=0.0),
    "intercept": YesNo(),
}
"""The arguments that a policy has for its likelihood-ratio sets, and what they must satisfy."""


class SelectionRegime(ConfidenceRegime):
    """Confidence sets that choose among models; what is asked of them comes in the order in which they were given."""

    alarm: Alarm

    @abstractmethod
    def weights(self) -> Array:
        """Return the weights of the models, ``(N, M)``."""

    @abstractmethod
    def squared_radii(self) -> Array:
        """Return the squared radii, scale included: of the models' sets, ``(N, M)``, or of the one set, ``(N,)``."""

    @abstractmethod
    def admissible(self) -> Mask:
        """Return which models still count, ``(N, M)``."""

    @abstractmethod
    def estimates(self) -> Array:
        """Return the estimates of the models, ``(N, M, d)``."""


class SelectionPolicy(OptimisticPolicy):
    """What policies that choose among models share: the arguments of their sets, and what can be asked of them."""

    _sets: SelectionRegime
    noise: float | ArrayLike
    delta: float
    likelihood: str
    scale: float
    misspecification: float

    def _set_arguments(self, lanes: int) -> dict[str, Any]:
        """Return what a union of likelihood-ratio sets is built with, whatever the models are."""
        return {
            "noise": per_lane(self.noise, lanes),
            "delta": self.delta,
            "online": self.likelihood == "online",
            "misspecification": self.misspecification,
            "scale": self.scale,
            "messages": self._messages,
        }

    def _tell(self, array: Array) -> Any:
        """Return what was asked of the models, ``(M, ...)``."""
        return self._answer(array)

    @property
    def model_weights(self) -> Array:
        """Weights of the models, ``(M,)``."""
        return self._answer(self._sets.weights())

    @property
    def squared_radii(self) -> Any:
        """The squared radii of the sets, ``scale`` included, ``(M,)``; negative where the model is refuted."""
        return self._answer(self._sets.squared_radii())

    @property
    def admissible(self) -> Mask:
        """Which models are not refuted, ``(M,)``."""
        return self._answer(self._sets.admissible())

    @property
    def parameters(self) -> Any:
        """Estimates of the models, ``(M, d)``; with blocks a list, ``(blocks, d_i)`` of a map that has several."""
        return self._tell(split(self._sets.estimates(), self.intercept)[1])

    @property
    def constants(self) -> Any:
        """Their constant terms, ``(M,)``; 0 without an intercept. With blocks a list."""
        return self._tell(split(self._sets.estimates(), self.intercept)[0])

    @property
    def misspecified(self) -> Any:
        """Whether it is proved, at level delta, that no model is true or that the noise is larger than stated."""
        return self._answer(self._sets.alarm.raised)


class LikelihoodRegime(SelectionRegime):
    """The union of the likelihood-ratio sets of the models that are not refuted.

    Parameters
    ----------
    bank: the models' regressions.
    messages: where the alarm is put when it is first raised.
    scale: multiplies the radii.
    constants: of :class:`~banditselect.parts.confidence.LikelihoodSets`.
    """

    bank: Bank
    _kernel: Callable[..., int]  # of ``kernels.rounds``, that learns

    def __init__(self, bank: Bank, *, messages: list[str], scale: float, delta: float, **constants: Any) -> None:
        self.scale = float(scale)
        self.bank = bank
        self.sets = LikelihoodSets(bank, delta=delta, **constants)
        self.alarm = Alarm(lanes=len(bank.group), delta=delta, misspecification=constants["misspecification"])
        self._messages = messages

    @property
    def radii(self) -> Array:
        """The squared radii without the scale, ``(N, M)``."""
        return self.sets.squared_radii

    @abstractmethod
    def _challenger(self) -> tuple[Any, ...]:
        """Return what the kernel that learns is handed of the alarm's challenger."""

    def learn(self, ids: Index, x: Array, y: Array, numbers: Index, book: Index) -> int:
        """Settle acts and learn their rewards; look at lanes that are suspect then."""
        if self._hand is None:
            self._hand = (*self.bank.hand(), *self.sets.hand(), self.alarm.level, *self._challenger())
        verdict = np.empty((ids.size, 3))
        status = self._kernel(*(ids, x, y, numbers, book, *self._hand, verdict))
        if status != SUSPECT:
            return status
        if self.alarm.judge(ids, verdict, self.bank.updates, self.sets.noise):
            raised = self.alarm.raised
            lanes = f" of {raised.sum()} of {raised.size} lanes" if raised.size > 1 else ""
            self._messages.append(ALARM.format(lanes=lanes))
        return DONE

    def _given(self, array: NDArray[Any]) -> Any:
        """Return an array ``(N, M, ...)`` with the models in the order in which they were given."""
        return array

    def weights(self) -> Array:
        """Return the posterior weights of the models, ``(N, M)``."""
        return self._given(self.sets.weigh(np.arange(len(self.radii)), self.bank)[0])

    def squared_radii(self) -> Array:
        """Return the squared radii of the models' sets, ``(N, M)``; negative where the model is refuted."""
        return self._given(self.scale**2 * self.radii)

    def admissible(self) -> Mask:
        """Return which models are not refuted, ``(N, M)``."""
        return self._given(self.radii >= 0.0)

    def estimates(self) -> Array:
        """Return the estimates of the models, ``(N, M, d)``."""
        return self._given(self.bank.theta)

    def holds(self, thetas: Array, models: slice = slice(None)) -> Mask:
        """Tell whether the set of any of these models holds ``thetas[n]``, ``(N,)``."""
        return np.asarray(inside(self.bank, thetas, self.scale**2 * self.radii, models).any(axis=1))


class MapsUnion(LikelihoodRegime, RidgeSets):
    """The sets of M feature maps. The alarm's challenger is the mean prediction under the posterior.

    Attributes
    ----------
    loss: square loss of that prediction, ``(N,)``: of a forecaster that is bound to no single model.
    """

    bank: RidgeBank
    state = ("loss",)
    _kernel = staticmethod(learn_maps)

    def __init__(self, bank: RidgeBank, **arguments: Any) -> None:
        super().__init__(bank, **arguments)
        self.loss = np.zeros(len(bank.group))

    def _challenger(self) -> tuple[Any, ...]:
        return (self.loss,)

    def total(self) -> Array:
        """Return the logarithm of the sum of the weights before they are normalised, ``(N,)``."""
        return self.sets.total(self.bank)

    def join(self, total: Array, shares: Array, replayed: bool) -> None:
        """Weigh the maps when the last have come or some have gone, and take the radii."""
        self.sets.join(self.bank, total, shares, replayed)

    def rest(self, ids: Index, asleep: Index) -> Callable[[], None]:
        """Return what is to be called when a reward was learned that maps ``asleep`` know nothing of.

        The alarm does not look at that reward before the next: J of those asleep is not right before.
        """
        wake, raised, messages = self.sets.rest(ids, asleep, self.bank), self.alarm.raised[ids], len(self._messages)

        def and_update() -> None:
            wake()
            self.sets.update(ids, self.bank)
            self.alarm.raised[ids] = raised
            del self._messages[messages:]

        return and_update


class RegionsUnion(LikelihoodRegime):
    """The sets of M regions over one map. The alarm's challenger is one ridge that is wider than all regions.

    Attributes
    ----------
    wide: that ridge.  given: ``rank (N, M)``, where the models stand in the bank.
    """

    bank: SharedRidgeBank
    play_kernel = staticmethod(play_tiles)
    _kernel = staticmethod(learn_regions)

    def __init__(self, regions: Regions, *, noise: Array, prior: Array, **arguments: Any) -> None:
        lam = regions.regularization(noise[:, None])
        super().__init__(
            regions.bank(lam),
            noise=noise,
            penalty=regions.penalty(lam),
            prior=prior[regions.order],
            **arguments,
        )
        self.wide = regions.wide_ridge(noise)
        self.given = PerLane(rank=np.argsort(regions.order, axis=1))

    def _challenger(self) -> tuple[Any, ...]:
        return self.wide.hand()

    def carry(self, other: RegionsUnion, begun: RegionsUnion, move: Move) -> None:
        """Learn, as a union that has learned nothing, what another of other regions has; ``begun``: that one before.

        Losses of new regions are exact but for the online loss, which depends on the order of the rewards: there they
        are taken to have predicted as the mixture did (``parts.joining``).
        """
        sums, total, rank = learned_by(other.wide, begun.wide), other.sets.total(other.bank), self.given.rank
        tell(self.bank, sums)
        tell(self.wide, sums)
        prior = self._given(self.sets.log_prior)
        share = np.exp(prior[:, move.here.size :]).sum(axis=1)
        online = np.tile(-2.0 * self.sets.variance[:, None] * total[:, None], move.after)
        for mine, theirs in ((online, other.bank.online), (prior, other.sets.log_prior)):
            mine[:, move.here] = other._given(theirs)[:, move.there]
        np.put_along_axis(self.bank.online, rank, online, axis=1)
        np.put_along_axis(self.sets.log_prior, rank, prior, axis=1)
        kept = log_sum(self._given(self.sets.log_weights(self.bank))[:, move.here])
        prior[:, move.here] += (total + np.log1p(-share) - kept)[:, None]
        np.put_along_axis(self.sets.log_prior, rank, prior, axis=1)
        self.alarm.raised[:] = other.alarm.raised
        self.sets.update(np.arange(total.size), self.bank)

    def _given(self, array: NDArray[Any]) -> Any:
        return in_order(array, self.given.rank)

    def upper_bounds(self, ids: Index, x: Array) -> Array:
        """Return the largest reward that any set allows, ``(n, K)``."""
        return self.bank.upper_bounds(ids, x, self.radii, self.scale)

    def show(self, ids: Index) -> tuple[Any, ...]:
        """Return what ``play_kernel`` is shown; it is the same for all lanes, and kept."""
        self._show = (self.bank.tiles, self.bank.root, self.bank.group, self.radii, self.scale)
        return self._show
