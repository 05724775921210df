"""Regions of the parameter, found among past tasks: what they are, how sure, and what plays with them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..policies import PSIDS
from ..runtime import constraints, errors, files, inputs
from ..runtime.binding import Binding
from ..runtime.quantiles import chi_square_quantile
from ..types import Array
from . import deconvolution
from .deconvolution import Mixture
from .fits import ARRAYS, Fits, read_fits, read_rounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COVERAGE = 0.95  #: of ``center_errors``, and of the ellipses in a plot
FORMAT = 1


@dataclass(frozen=True, eq=False, repr=False)
class Regions:
    """Where the parameters of tasks lie: a Gaussian mixture, told apart from the noise of the fits. Immutable.

    :func:`from_tasks` and :func:`from_fits` find it.

    Attributes
    ----------
    means: ``(M, d)``; also ``centers``.  covariances: of a task's parameter about its centre, ``(M, d, d)``.
    weights: shares of the tasks, ``(M,)``, the largest first.
    radii: root of the mean squared distance of a task's parameter from its centre, ``(M,)``.
    center_covariances: of the errors of the centres, ``(M, d, d)``.  center_errors: how far a centre is off at most,
        with probability 0.95, ``(M,)``, if the noise is Gaussian and the regions are.
    held_out: mean log likelihood of tasks that were held out, for 1, 2, ... regions; empty where M was told.
    noise: standard deviation of the rewards, told or pooled over the tasks; None for fits from elsewhere.
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

    mixture: Mixture
    fits: Fits
    intercept: bool
    shrinkage: float
    held_out: Array
    center_covariances: Array

    @property
    def means(self) -> Array:
        """Centres, ``(M, d)``."""
        return self.mixture.means

    centers = means

    @property
    def covariances(self) -> Array:
        """Covariances of a parameter about its centre, ``(M, d, d)``."""
        return self.mixture.covariances

    @property
    def weights(self) -> Array:
        """Shares of the tasks, ``(M,)``."""
        return self.mixture.weights

    @property
    def radii(self) -> Array:
        """Root of the mean squared distance from the centre, ``(M,)``."""
        return np.sqrt(np.trace(self.covariances, axis1=1, axis2=2))

    @property
    def center_errors(self) -> Array:
        """How far a centre is off at most, with probability 0.95, ``(M,)``."""
        largest = np.linalg.eigvalsh(self.center_covariances)[:, -1]
        return np.sqrt(largest * chi_square_quantile(COVERAGE, self.dim))

    @property
    def noise(self) -> float | None:
        """Standard deviation of the rewards; None for fits from elsewhere."""
        return self.fits.deviation if self.fits.of_rewards else None

    @property
    def n_tasks(self) -> int:
        """How many tasks there were."""
        return len(self.fits)

    @property
    def n_regions(self) -> int:
        """How many regions there are."""
        return len(self.means)

    @property
    def dim(self) -> int:
        """Width of the features."""
        return self.fits.dim

    def __repr__(self) -> str:
        return f"Regions({self.n_regions} regions of {self.dim} features, from {self.n_tasks} tasks)"

    # What the next task is expected to be.

    def next_task(self, *, newcomers: bool = True) -> dict[str, Any]:
        """Return the mixture of the next task's parameter, as ``from_mixture`` of policies takes it.

        Every region is as wide as its tasks are apart and as its centre is unsure. With ``newcomers``, a ball about 0
        as large as all parameters stands last, for a task of no region: it counts as one task among N + 1.
        """
        constraints.YesNo().check("Regions.next_task: newcomers", newcomers, None)
        means, covariances, weights = deconvolution.predictive(self.fits, self.mixture, self.center_covariances)
        M = len(means) if newcomers else self.n_regions
        share = weights[:M] / weights[:M].sum()
        return {"means": means[:M], "covariances": covariances[:M], "weights": share, "covariance_type": "full"}

    def bind(self, policy: Any = PSIDS, *, newcomers: bool = True, **arguments: Any) -> Binding[Any]:
        """Return a factory of the policy for the next task, as ``Policy.bind`` does; see :meth:`policy`."""
        if not hasattr(policy, "bind_mixture"):
            raise errors.refuse("Regions: policy", policy, "PSIDS, PSTS or PSOFUL")
        own: dict[str, Any] = {} if self.noise is None else {"noise": self.noise}
        own |= {"intercept": True} if self.intercept else {}
        return policy.bind_mixture(**self.next_task(newcomers=newcomers), **(own | arguments))

    def policy(self, policy: Any = PSIDS, *, newcomers: bool = True, **arguments: Any) -> Any:
        """Return the policy for the next task.

        Parameters
        ----------
        policy: :class:`~banditselect.PSIDS`, :class:`~banditselect.PSTS`, :class:`~banditselect.PSOFUL`.
        newcomers: whether it is prepared for a task of no region, see :meth:`next_task`.
        arguments: of the policy. ``noise`` is that of the past tasks unless given; None lets PSIDS learn it.
        """
        return self.bind(policy, newcomers=newcomers, **arguments)()

    def log_density(self, parameters: ArrayLike, *, newcomers: bool = True) -> Array:
        """Return the log density of parameters ``(n, d)`` under what the next task is expected to be, ``(n,)``."""
        values = inputs.as_floats("Regions.log_density: parameters", parameters, f"shape (n, {self.dim})")
        if values.ndim != 2 or values.shape[1] != self.dim:
            raise errors.refuse("Regions.log_density: parameters", parameters, f"shape (n, {self.dim})")
        task = self.next_task(newcomers=newcomers)
        return _log_density(values, task["means"], task["covariances"], task["weights"])

    # More tasks.

    def update(
        self, logs: Any, *, key: str, features: Any = "features", reward: str = "reward", grow: bool = True
    ) -> Regions:
        """Return the regions with the tasks of more logs, continuing from these; a key is a task that is new.

        Parameters
        ----------
        logs, key, features, reward: as in :func:`from_tasks`.
        grow: whether a task that none of the regions explains may open a new one.
        """
        if not self.fits.of_rewards:
            raise errors.refuse("Regions.update", self, "regions that from_tasks found; update_fits takes fits")
        told: dict[str, Any] = {"intercept": self.intercept, "noise": self.fits.noise}
        return self.with_fits(read_rounds("Regions.update", logs, key, features, reward, **told), grow=grow)

    def update_fits(self, estimates: ArrayLike, covariances: ArrayLike, *, grow: bool = True) -> Regions:
        """Return the regions with more fits, as :meth:`update` does."""
        if self.fits.of_rewards:
            raise errors.refuse("Regions.update_fits", self, "regions that from_fits found; update takes logs")
        return self.with_fits(read_fits("Regions.update_fits", estimates, covariances), grow=grow)

    def with_fits(self, more: Fits, *, grow: bool) -> Regions:
        """Return the regions with more tasks."""
        constraints.YesNo().check("Regions.update: grow", grow, None)
        if more.dim != self.dim:
            raise errors.refuse("Regions.update: features", f"{more.dim} of them", f"{self.dim}, as before")
        fits = self.fits.joined(more)
        new, mixture = fits.take(slice(self.n_tasks, None)), self.mixture
        strange = np.full(len(new), grow)
        while strange.any():  # open a region for the strangest task; others may be of its kind
            expected = deconvolution.predictive(fits, mixture, deconvolution.center_covariances(fits, mixture))
            alone = deconvolution.responsibilities(new, *expected)[:, -1]
            strange &= alone > 0.5
            if strange.any():
                task = int(np.where(strange, alone, 0.0).argmax())
                strange[task] = False
                opened = _opened(mixture, fits, self.n_tasks + task)
                mixture, _ = deconvolution.run(fits, opened, self.shrinkage, deconvolution.SHORT)
        return _settled(fits, mixture, self.intercept, self.shrinkage, self.held_out)

    # Files and pictures.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one file, without pickle; :func:`load` reads it."""
        settings, arrays = self.stored()
        files.write(path, {"regions": settings}, arrays)

    def stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a file has of them: settings that JSON knows, and arrays."""
        arrays = {f"fits/{name}": getattr(self.fits, name) for name in ARRAYS}
        arrays |= {f"mixture/{name}": getattr(self.mixture, name) for name in ("means", "covariances", "weights")}
        arrays |= {"held_out": self.held_out, "center_covariances": self.center_covariances}
        settings = {
            "format": FORMAT,
            "noise": self.fits.noise,
            "of_rewards": self.fits.of_rewards,
            "variance": self.mixture.variance,
            "intercept": self.intercept,
            "shrinkage": self.shrinkage,
        }
        return settings, arrays

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the two directions in which tasks differ most: fits with their errors, centres, ellipses of 95 %."""
        from .drawing import draw

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

    Every task is fitted by least squares; a task with fewer rounds than features tells of the directions that it has
    met, and no more. The regions are a mixture that knows how sure each fit is (extreme deconvolution).

    Parameters
    ----------
    logs: a DataFrame, or a mapping from names to columns, with a row per round; or what ``logs.read_*`` returns, of
        which the context and the item that was played have the columns; or rows ``(key, features, reward)``.
    key: the column that says which task a round belongs to, say the customer.
    features: columns of numbers, or of lists of numbers: the features of what was played; or an array ``(n, d)``; or,
        for rounds of a log, a feature map of ``banditselect.maps`` with one block.
    reward: the column of rewards.
    intercept: whether every task has a constant term of its own, which regions leave free.
    noise: standard deviation of the rewards; None pools it over the residuals of all tasks.
    n_regions: M, if it is known; None takes the least number that is within a standard error of the best in the
        likelihood of tasks that were held out (``folds`` parts), up to ``max_regions``.
    shrinkage: as strongly as so many tasks the regions are drawn towards balls of one size; 2 d by default, 0 for the
        likeliest regions.
    restarts: seeds that are tried out for each fit.
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
    fits = read_fits("from_fits", estimates, covariances)
    return find("from_fits", fits, False, n_regions, max_regions, shrinkage, restarts, folds, seed)


def load(path: str | os.PathLike[str]) -> Regions:
    """Read what :meth:`Regions.save` wrote."""
    settings, arrays = files.read(path)
    if "regions" not in settings:
        raise ValueError(f"{path}: its content is not regions")
    return restored(path, settings["regions"], arrays)


def restored(path: Any, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Regions:
    """Return what ``Regions.stored`` gave away."""
    if settings.get("format") != FORMAT:
        raise ValueError(f"{path}: regions of format {settings.get('format')!r}, this library reads {FORMAT}")
    try:
        stored: dict[str, Any] = {name: arrays[f"fits/{name}"] for name in ARRAYS}
        fits = Fits(**stored, noise=settings["noise"], of_rewards=settings["of_rewards"])
        means, covariances, weights = (arrays[f"mixture/{name}"] for name in ("means", "covariances", "weights"))
        mixture = Mixture(means, covariances, weights, settings["variance"])
        N, d = fits.estimates.shape
        M = len(mixture.weights)
        shapes = [a.shape for a in (fits.grams, fits.squares, mixture.means, mixture.covariances)]
        if shapes != [(N, d, d), (N,), (M, d), (M, d, d)] or arrays["center_covariances"].shape != (M, d, d):
            raise ValueError("arrays of other shapes")
        told = settings["intercept"], settings["shrinkage"]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not what save wrote: {error}") from error
    return Regions(mixture, fits, *told, arrays["held_out"], arrays["center_covariances"])


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
    """Return the regions of fits; ``owner`` refuses arguments that will not do."""
    whole = {"n_regions": 1 if n_regions is None else n_regions, "max_regions": max_regions, "restarts": restarts}
    for name, value in whole.items():
        constraints.whole_number(f"{owner}: {name}", value, 1)
    constraints.whole_number(f"{owner}: folds", folds, 2)
    inputs.check_seed(f"{owner}: seed", seed)
    constraints.Number(low=0.0, optional=True).check(f"{owner}: shrinkage", shrinkage, None)
    if n_regions is not None and n_regions > len(fits):
        raise errors.refuse(f"{owner}: n_regions", n_regions, f"at most one for each of the {len(fits)} tasks")
    pull = 2.0 * fits.dim if shrinkage is None else float(shrinkage)
    rng = np.random.default_rng(seed)
    how: dict[str, Any] = {"restarts": restarts, "shrinkage": pull, "rng": rng}
    held_out = np.empty(0)
    if n_regions is None and len(fits) == 1:
        n_regions = 1
    elif n_regions is None:
        scores = deconvolution.held_out(fits, max_regions, folds=folds, **how)
        n_regions, held_out = deconvolution.fewest(scores), scores.mean(axis=1)
    return _settled(fits, deconvolution.fit(fits, n_regions, **how), intercept, pull, held_out)


def _settled(fits: Fits, start: Mixture, intercept: bool, shrinkage: float, held_out: Array) -> Regions:
    """Return the regions that EM ends with, without those that hold less than half a task, the largest first."""
    mixture, _ = deconvolution.run(fits, start, shrinkage)
    kept = np.flatnonzero(mixture.weights * len(fits) >= 0.5)
    if len(kept) < len(mixture.weights):
        share = mixture.weights[kept] / mixture.weights[kept].sum()
        fewer = Mixture(mixture.means[kept], mixture.covariances[kept], share, mixture.variance)
        mixture, _ = deconvolution.run(fits, fewer, shrinkage)
    order = np.argsort(-mixture.weights, kind="stable")
    mixture = Mixture(mixture.means[order], mixture.covariances[order], mixture.weights[order], mixture.variance)
    for array in mixture[:3]:
        array.flags.writeable = False
    errors = deconvolution.center_covariances(fits, mixture)
    errors.flags.writeable = False
    return Regions(mixture, fits, bool(intercept), shrinkage, held_out, errors)


def _opened(mixture: Mixture, fits: Fits, task: int) -> Mixture:
    """Return the mixture with one more region about a task, with the common ball and the weight of one task."""
    n, d = len(fits), fits.dim
    return Mixture(
        np.concatenate([mixture.means, fits.guesses[task : task + 1]]),
        np.concatenate([mixture.covariances, mixture.variance * np.eye(d)[None]]),
        np.append(mixture.weights * n, 1.0) / (n + 1.0),
        mixture.variance,
    )


def _log_density(values: Array, means: Array, covariances: Array, weights: Array) -> Array:
    apart = values[:, None] - means
    logdet = np.linalg.slogdet(covariances)[1]
    squares = np.einsum("nki,kij,nkj->nk", apart, np.linalg.inv(covariances), apart)
    joint = np.log(weights) - 0.5 * (squares + logdet + values.shape[1] * np.log(2.0 * np.pi))
    largest = joint.max(axis=1)
    return largest + np.log(np.exp(joint - largest[:, None]).sum(axis=1))
