"""Regions of the parameter, found among past tasks, and policies for the next task."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ..policies import PSIDS
from ..runtime import constraints, errors, files
from ..runtime.binding import Binding
from ..runtime.quantiles import chi_square_quantile
from ..types import Array
from . import mixture as em
from .fits import Fits, read_fits, read_rounds
from .mixture import Mixture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COVERAGE = 0.95  #: of ``center_errors``, and of the ellipses in a plot


@files.register
@dataclass(frozen=True, eq=False, repr=False)
class Regions(Mixture):
    """The distribution of the parameters of tasks: a Gaussian mixture, separated from the noise of the fits. Immutable.

    :func:`from_tasks` and :func:`from_fits` find it.

    Attributes
    ----------
    means: ``(M, d)``; also ``centers``.  covariances: of a task's parameter about its centre, ``(M, d, d)``.
    weights: shares of the tasks, ``(M,)``, the largest first.
    fits: of the past tasks, with their errors.
    intercept: True if every task has a constant term of its own, which regions leave free.
    shrinkage: the number of tasks with whose weight regions are drawn towards balls of one size.
    held_out: mean log likelihood of tasks that were held out, for 1, 2, ... regions; empty where M was given.
    center_covariances: of the errors of the centres, ``(M, d, d)``.
    n_tasks, n_regions, dim: N, M, d.

    Examples
    --------
    >>> import numpy as np
    >>> from banditselect import PSIDS, regions
    >>> rng = np.random.default_rng(0)
    >>> customer = np.repeat(np.arange(40), 12)
    >>> theta = np.array([[1.0, 0.0], [-1.0, 1.0]])[np.arange(40) % 2] + 0.1 * rng.normal(size=(40, 2))
    >>> played = rng.normal(size=(480, 2))
    >>> reward = (played * theta[customer]).sum(axis=1) + 0.3 * rng.normal(size=480)
    >>> found = regions.from_tasks({"customer": customer, "reward": reward}, key="customer", features=played)
    >>> found
    Regions(2 regions of 2 features, from 40 tasks)
    >>> policy = found.policy(PSIDS)
    >>> policy.model_weights.round(2)
    array([0.49, 0.49, 0.02])
    """

    fits: Fits
    intercept: bool
    shrinkage: float
    held_out: Array
    center_covariances: Array

    def __post_init__(self) -> None:
        (n, d), M = self.fits.estimates.shape, len(self.weights)
        arrays = (self.fits.grams, self.fits.squares, self.means, self.covariances, self.center_covariances)
        if [array.shape for array in arrays] != [(n, d, d), (n,), (M, d), (M, d, d), (M, d, d)]:
            raise ValueError("Regions: arrays of other shapes")
        for array in (self.means, self.covariances, self.weights, self.center_covariances):
            array.flags.writeable = False

    n_tasks = property(lambda self: len(self.fits))
    n_regions = property(lambda self: len(self.means))
    dim = property(lambda self: self.fits.dim)
    centers = property(lambda self: self.means)

    @property
    def radii(self) -> Array:
        """Root of the mean squared distance of a task's parameter from its centre, ``(M,)``."""
        return np.sqrt(np.trace(self.covariances, axis1=1, axis2=2))

    @property
    def center_errors(self) -> Array:
        """Bounds on the errors of the centres with probability 0.95, ``(M,)``, for Gaussian noise and regions."""
        largest = np.linalg.eigvalsh(self.center_covariances)[:, -1]
        return np.sqrt(largest * chi_square_quantile(COVERAGE, self.dim))

    @property
    def noise(self) -> float | None:
        """Standard deviation of the rewards, given or pooled over the tasks; None for fits from elsewhere."""
        return self.fits.deviation if self.fits.of_rewards else None

    def __repr__(self) -> str:
        return f"Regions({self.n_regions} regions of {self.dim} features, from {self.n_tasks} tasks)"

    # The next task.

    def next_task(self, *, background: bool = True) -> dict[str, Any]:
        """Return the mixture of the next task's parameter, as ``from_mixture`` of policies takes it.

        The width of a region covers the spread of its tasks and the uncertainty of its centre. With ``background``, a
        ball about 0 as large as all parameters comes last, for a task of no region: it counts as one task among N + 1.
        """
        constraints.YesNo().check("Regions.next_task: background", background, None)
        means, covariances, weights = em.predictive(self.fits, self, self.center_covariances)
        M = len(means) if background else self.n_regions
        share = weights[:M] / weights[:M].sum()
        return {"means": means[:M], "covariances": covariances[:M], "weights": share, "covariance_type": "full"}

    def bind(self, policy: Any = PSIDS, *, background: bool = True, **arguments: Any) -> Binding[Any]:
        """Return a factory of the policy for the next task, as ``Policy.bind`` does; see :meth:`policy`."""
        if not hasattr(policy, "bind_mixture"):
            raise errors.refuse("Regions: policy", policy, "PSIDS, PSTS or PSOFUL")
        own: dict[str, Any] = {} if self.noise is None else {"noise": self.noise}
        own |= {"intercept": True} if self.intercept else {}
        return policy.bind_mixture(**self.next_task(background=background), **(own | arguments))

    def policy(self, policy: Any = PSIDS, *, background: bool = True, **arguments: Any) -> Any:
        """Return the policy for the next task.

        Parameters
        ----------
        policy: :class:`~banditselect.PSIDS`, :class:`~banditselect.PSTS`, :class:`~banditselect.PSOFUL`.
        background: prepare for a task of no region, see :meth:`next_task`.
        arguments: of the policy. ``noise`` is that of the past tasks unless given; None lets PSIDS learn it.
        """
        return self.bind(policy, background=background, **arguments)()

    # More tasks.

    def update(
        self, logs: Any, *, key: str, features: Any = "features", reward: str = "reward", grow: bool = True
    ) -> Regions:
        """Return the regions refined by the tasks of more logs; every key counts as a new task.

        Parameters
        ----------
        logs, key, features, reward: as in :func:`from_tasks`.
        grow: let a task that no region explains add a new one.
        """
        if not self.fits.of_rewards:
            raise errors.refuse("Regions.update", self, "regions that from_tasks found; call from_fits with all fits")
        known: dict[str, Any] = {"intercept": self.intercept, "noise": self.fits.noise}
        return self.extended(read_rounds("Regions.update", logs, key, features, reward, **known), grow=grow)

    def extended(self, more: Fits, *, grow: bool) -> Regions:
        """Return the regions with more tasks."""
        constraints.YesNo().check("Regions.update: grow", grow, None)
        if more.dim != self.dim:
            raise errors.refuse("Regions.update: features", f"{more.dim} of them", f"{self.dim}, as before")
        fits = self.fits.joined(more)
        new, mixture = fits.take(slice(self.n_tasks, None)), cast(Mixture, self)
        unexplained = np.full(len(new), grow)
        while unexplained.any():  # add a region for the task explained worst; others may be of its kind
            expected = em.predictive(fits, mixture, em.center_covariances(fits, mixture))
            background = em.assigned(new, *expected)[1][:, -1]
            unexplained &= background > 0.5
            if unexplained.any():
                task = int(np.where(unexplained, background, 0.0).argmax())
                unexplained[task] = False
                mixture, _ = em.run(fits, _with_region_at(mixture, fits, self.n_tasks + task), self.shrinkage, em.SHORT)
        return _finished(fits, mixture, self.intercept, self.shrinkage, self.held_out)

    # Files and pictures.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one file, without pickle; ``banditselect.load`` reads it."""
        files.save(self, path)

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the two directions in which tasks differ most: fits with their errors, centres, ellipses of 95 %."""
        from .plotting import draw

        return draw(self, COVERAGE, axes)


def from_tasks(
    logs: Any,
    *,
    key: str,
    features: Any = "features",
    reward: str = "reward",
    intercept: bool = False,
    noise: float | None = None,
    n_regions: int | None = None,
    max_regions: int = 10,
    shrinkage: float | None = None,
    restarts: int = 5,
    folds: int = 5,
    seed: int = 0,
) -> Regions:
    """Find the regions in which the parameters of past tasks lie, from a table of their rounds.

    Every task is fitted by least squares; a task with fewer rounds than features contributes only in the directions in
    which it was observed. The regions are a mixture that takes the errors of the fits into account (extreme
    deconvolution).

    Parameters
    ----------
    logs: a DataFrame, or a mapping from names to columns, with a row per round; or the result of ``logs.read_*``, whose
        columns are those of the context and of the played item; or rows ``(key, features, reward)``.
    key: the column of the task of a round, say the customer.
    features: columns of numbers, or of lists of numbers: the features of the played item; or an array ``(n, d)``; or,
        for rounds of a log, a feature map of ``banditselect.maps`` with one block.
    reward: the column of rewards.
    intercept: fit a separate constant for every task, which regions leave free.
    noise: standard deviation of the rewards; None pools it over the residuals of all tasks, which are too small if the
        features were learned from the same rewards.
    n_regions: M, if it is known; None takes the least number that is within a standard error of the best in the
        likelihood of tasks that were held out (``folds`` parts), up to ``max_regions``.
    shrinkage: the number of tasks with whose weight regions are drawn towards balls of one size; 2 d by default, 0 for
        the likeliest regions.
    restarts: the number of seeds tried for each fit.
    """
    fits = read_rounds("from_tasks", logs, key, features, reward, intercept=intercept, noise=noise)
    if np.isnan(fits.deviation):
        raise errors.refuse("from_tasks: noise", None, "a number, since no task has more rounds than features")
    return find("from_tasks", fits, intercept, n_regions, max_regions, shrinkage, restarts, folds, seed)


def from_fits(
    estimates: ArrayLike,
    covariances: ArrayLike,
    *,
    n_regions: int | None = None,
    max_regions: int = 10,
    shrinkage: float | None = None,
    restarts: int = 5,
    folds: int = 5,
    seed: int = 0,
) -> Regions:
    """Find the regions from estimates ``(N, d)`` of the parameters of past tasks and the covariances ``(N, d, d)``
    of their errors; the other arguments are those of :func:`from_tasks`.
    """
    fits = read_fits(estimates, covariances)
    return find("from_fits", fits, False, n_regions, max_regions, shrinkage, restarts, folds, seed)


def find(
    owner: str,
    fits: Fits,
    intercept: bool,
    n_regions: int | None,
    max_regions: int,
    shrinkage: float | None,
    restarts: int,
    folds: int,
    seed: int,
) -> Regions:
    """Return the regions of fits; ``owner`` is named when an argument is refused."""
    whole = {"n_regions": 1 if n_regions is None else n_regions, "max_regions": max_regions, "restarts": restarts}
    for name, value in whole.items():
        constraints.whole_number(f"{owner}: {name}", value, 1)
    constraints.whole_number(f"{owner}: folds", folds, 2)
    constraints.Seeds().check(f"{owner}: seed", seed, None)
    constraints.Number(low=0.0, optional=True).check(f"{owner}: shrinkage", shrinkage, None)
    if n_regions is not None and n_regions > len(fits):
        raise errors.refuse(f"{owner}: n_regions", n_regions, f"at most one for each of the {len(fits)} tasks")
    pull = 2.0 * fits.dim if shrinkage is None else float(shrinkage)
    how: dict[str, Any] = {"restarts": restarts, "shrinkage": pull, "rng": np.random.default_rng(seed)}
    held_out = np.empty(0)
    if n_regions is None and len(fits) > 1:
        scores = em.held_out(fits, max_regions, folds=folds, **how)
        n_regions, held_out = em.fewest(scores), scores.mean(axis=1)
    return _finished(fits, em.fit(fits, n_regions or 1, **how), intercept, pull, held_out)


def _finished(fits: Fits, start: Mixture, intercept: bool, shrinkage: float, held_out: Array) -> Regions:
    """Return the regions that EM ends with, the largest first, without those of less than half a task."""
    mixture, _ = em.run(fits, start, shrinkage)
    large = np.flatnonzero(mixture.weights * len(fits) >= 0.5)
    if len(large) < len(mixture.weights):
        kept = mixture.take(large)
        mixture, _ = em.run(fits, replace(kept, weights=kept.weights / kept.weights.sum()), shrinkage)
    mixture = mixture.take(np.argsort(-mixture.weights, kind="stable"))
    errors = em.center_covariances(fits, mixture)
    known: dict[str, Any] = {"intercept": bool(intercept), "shrinkage": shrinkage, "held_out": held_out}
    return Regions(**vars(mixture), fits=fits, center_covariances=errors, **known)


def _with_region_at(mixture: Mixture, fits: Fits, task: int) -> Mixture:
    """Return the mixture with one more region about a task, with the common ball and the weight of one task."""
    n, d = len(fits), fits.dim
    return Mixture(
        np.concatenate([mixture.means, fits.shrunk_estimates[task : task + 1]]),
        np.concatenate([mixture.covariances, mixture.variance * np.eye(d)[None]]),
        np.append(mixture.weights * n, 1.0) / (n + 1.0),
        mixture.variance,
    )
