r"""A Gaussian mixture of the parameters of tasks, separated from the noise of their fits: extreme deconvolution.

Task i has a fit :math:`\hat\theta_i` with precision :math:`A_i`, and :math:`\theta_i` is drawn from region k with
probability :math:`w_k` as :math:`N(m_k, V_k)`. EM knows every :math:`A_i`, so noise is not taken for width.

Two departures from the source. Everything is written with precisions, so that a task counts in the directions in which
it was observed. And the :math:`V_k` are drawn towards a ball :math:`\sigma^2 I` of a size that they share, as
strongly as :math:`\nu` tasks (``shrinkage``), :math:`\sigma^2` itself towards the size :math:`b^2` of all parameters as
strongly as one task: with few tasks in a region the likeliest :math:`V_k` is far too narrow. Every step then increases
the log likelihood plus

.. math:: \frac{\nu}{2} \sum_k \left( d \log \sigma^2 - \log\det V_k - \sigma^2 \operatorname{tr} V_k^{-1} \right)
          + \frac{d}{2} \left( \log \sigma^2 - \sigma^2 / b^2 \right)

Reference: Bovy, Hogg, Roweis, "Extreme deconvolution: inferring complete distribution functions from noisy,
heterogeneous and incomplete observations", Annals of Applied Statistics 2011.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..kernels import kernel
from ..kernels.ridge import cholesky
from ..runtime.files import register
from ..runtime.quantiles import standard_error
from ..types import Array
from .fits import Fits

FLOOR = 1e-6  #: the least variance of a region, as a share of the mean squared entry of all parameters
SHORT, LONG = 10, 300  #: steps for each seed, and for the best one
GAIN = 1e-5  #: per task; a step that gains less is the last
ROOM = 2_000_000  #: numbers held at a time


@register
@dataclass(frozen=True, eq=False)
class Mixture:
    """Regions: ``means (M, d)``, ``covariances (M, d, d)``, ``weights (M,)``, and the variance of their common ball."""

    means: Array
    covariances: Array
    weights: Array
    variance: float

    def take(self, rows: Any) -> "Mixture":
        """Return some of the regions, in this order."""
        return Mixture(self.means[rows], self.covariances[rows], self.weights[rows], self.variance)


class Explained(NamedTuple):
    """The fits of tasks under components.

    Attributes
    ----------
    log_densities: of the fits, ``(n, M)``.
    scores: ``(V + S)^{-1} (estimate - mean)``, ``(n, M, d)``.
    precisions: ``(V + S)^{-1}``, ``(n, M, d, d)``.
    """

    log_densities: Array
    scores: Array
    precisions: Array


def explain(fits: Fits, means: Array, covariances: Array) -> Iterator[Explained]:
    """Yield the fits of the tasks under components, some tasks at a time."""
    n, (M, d) = len(fits), means.shape
    size = max(1, ROOM // (M * d * d))
    for start in range(0, n, size):
        rows = slice(start, start + size)
        some = fits.estimates[rows], fits.roots[rows], fits.log_norms[rows]
        explained = Explained(*(np.empty((len(some[0]), M, *more)) for more in ((), (d,), (d, d))))
        explain_fits(*some, means, covariances, *explained)
        yield explained


@kernel
def explain_fits(
    estimates: Array,
    roots: Array,
    log_norms: Array,
    means: Array,
    covariances: Array,
    log_densities: Array,
    scores: Array,
    precisions: Array,
) -> None:
    """Fill the last three arguments, those of :class:`Explained`, for fits whose noise has the covariance S.

    ``estimates (n, d)`` have the precisions ``R R``, ``roots (n, d, d)`` symmetric, which may be singular:
    ``(V + S)^-1`` is ``R (I + R V R)^-1 R = H' H`` with ``H = L^-1 R`` and ``L L' = I + R V R``.
    """
    n, d = estimates.shape
    half, inner, lower = np.empty((d, d)), np.empty((d, d)), np.empty((d, d))
    for r in range(n):
        root = roots[r]
        for k in range(means.shape[0]):
            half[:] = inner[:] = 0.0
            for i in range(d):
                for m in range(d):
                    for j in range(d):
                        half[i, j] += covariances[k, i, m] * root[m, j]
            for i in range(d):
                for m in range(d):
                    for j in range(i + 1):
                        inner[i, j] += root[i, m] * half[m, j]
            log_density = log_norms[r] - 0.5 * cholesky(inner, 1.0, 1.0, lower)
            for i in range(d):
                for j in range(d):
                    half[i, j] = root[i, j]
                for m in range(i):
                    for j in range(d):
                        half[i, j] -= lower[i, m] * half[m, j]
                for j in range(d):
                    half[i, j] /= lower[i, i]
            precision, score = precisions[r, k], scores[r, k]
            precision[:] = 0.0
            score[:] = 0.0
            for m in range(d):
                whitened = 0.0
                for i in range(d):
                    whitened += half[m, i] * (estimates[r, i] - means[k, i])
                log_density -= 0.5 * whitened * whitened
                for i in range(d):
                    score[i] += half[m, i] * whitened
                    for j in range(d):
                        precision[i, j] += half[m, i] * half[m, j]
            log_densities[r, k] = log_density


def assigned(fits: Fits, means: Array, covariances: Array, weights: Array) -> tuple[Array, Array]:
    """Return the log likelihood of every task, ``(N,)``, and its probability for each component, ``(N, M)``."""
    parts = [_weighed(each.log_densities, weights) for each in explain(fits, means, covariances)]
    return np.concatenate([likelihoods for likelihoods, _ in parts]), np.concatenate([q for _, q in parts])


def step(fits: Fits, mixture: Mixture, shrinkage: float) -> tuple[Mixture, float]:
    """Return the mixture after one step of EM, and the objective of the one before."""
    V, (M, d) = mixture.covariances, mixture.means.shape
    counts, pulls, squares = np.zeros(M), np.zeros((M, d)), np.zeros((M, d, d))
    objective = _pull(mixture, shrinkage, fits.spread)
    for explained in explain(fits, mixture.means, V):
        likelihood, q = _weighed(explained.log_densities, mixture.weights)
        objective += float(likelihood.sum())
        counts += q.sum(axis=0)
        pulls += np.einsum("nk,nki->ki", q, explained.scores)
        squares += np.einsum("nki,nkj->kij", q[:, :, None] * explained.scores, explained.scores)
        squares -= np.einsum("nk,nkij->kij", q, explained.precisions)
    safe = np.maximum(counts, 1e-12)[:, None]
    move = np.einsum("kij,kj->ki", V, pulls) / safe
    scatter = V @ squares @ V + counts[:, None, None] * (V - move[:, :, None] * move[:, None, :])
    ball = shrinkage * mixture.variance * np.eye(d)
    covariances = _floored((scatter + ball) / (safe[:, :, None] + shrinkage), FLOOR * fits.spread)
    variance = mixture.variance
    if shrinkage > 0.0:
        inverses = np.trace(np.linalg.inv(covariances), axis1=1, axis2=2).sum()
        variance = (M * shrinkage + 1.0) * d / (shrinkage * inverses + d / fits.spread)
    weights = np.maximum(counts / len(fits), 1e-12)
    return Mixture(mixture.means + move, covariances, weights / weights.sum(), float(variance)), objective


def run(fits: Fits, mixture: Mixture, shrinkage: float, steps: int = LONG) -> tuple[Mixture, float]:
    """Return the mixture after many steps of EM, and its objective before the last."""
    before = -np.inf
    for _ in range(steps):
        after, objective = step(fits, mixture, shrinkage)
        if objective - before < GAIN * len(fits):
            break
        mixture, before = after, objective
    return mixture, before


def fit(fits: Fits, n_regions: int, *, restarts: int, shrinkage: float, rng: np.random.Generator) -> Mixture:
    """Return the mixture of so many regions that EM finds from the best of some seeds."""
    starts = [_seeded(fits, n_regions, rng) for _ in range(restarts if n_regions > 1 else 1)]
    tried = [run(fits, start, shrinkage, SHORT) for start in starts]
    return run(fits, max(tried, key=lambda pair: pair[1])[0], shrinkage)[0]


def _seeded(fits: Fits, n_regions: int, rng: np.random.Generator) -> Mixture:
    """Return a start by k-means++: means at estimates far from each other, balls as wide as the distances to them."""
    estimates = fits.shrunk_estimates
    n, d = estimates.shape
    chosen = [int(rng.integers(n))] if n_regions > 1 else []
    means = estimates[chosen] if chosen else estimates.mean(axis=0, keepdims=True)
    nearest = ((estimates - means[0]) ** 2).sum(axis=1)
    while len(means) < n_regions:
        share = nearest + 1e-300
        new = int(rng.choice(n, p=share / share.sum()))
        means = np.concatenate([means, estimates[new : new + 1]])
        nearest = np.minimum(nearest, ((estimates - estimates[new]) ** 2).sum(axis=1))
    variance = max(float(nearest.mean()) / d, FLOOR * fits.spread)
    weights = np.full(n_regions, 1.0 / n_regions)
    return Mixture(means, np.tile(variance * np.eye(d), (n_regions, 1, 1)), weights, variance)


def center_covariances(fits: Fits, mixture: Mixture) -> Array:
    """Return the covariances of the errors of the means, ``(M, d, d)``.

    They come from the observed information of all means together: that of the fits, weighted by their responsibilities,
    less the loss due to the unknown assignment. The error of no mean exceeds the size of all parameters.
    """
    M, d = mixture.means.shape
    information = np.zeros((M, d, M, d))
    for explained in explain(fits, mixture.means, mixture.covariances):
        q = _weighed(explained.log_densities, mixture.weights)[1]
        pulled = q[:, :, None] * explained.scores
        information += np.einsum("nki,nlj->kilj", pulled, pulled)
        own = np.einsum("nk,nkij->kij", q, explained.precisions) - np.einsum("nki,nkj->kij", pulled, explained.scores)
        for k in range(M):
            information[k, :, k] += own[k]
    values, axes = np.linalg.eigh(information.reshape(M * d, M * d))
    covariance = (axes / np.maximum(values, 1.0 / fits.spread)) @ axes.T
    return np.stack([covariance.reshape(M, d, M, d)[k, :, k] for k in range(M)])


def predictive(fits: Fits, mixture: Mixture, errors: Array) -> tuple[Array, Array, Array]:
    """Return means, covariances and weights for the parameter of the next task.

    The width of a region covers the uncertainty of its centre; the last component, a ball about 0 for a parameter that
    belongs to no region, counts as one task.
    """
    n, d = len(fits), fits.dim
    means = np.concatenate([mixture.means, np.zeros((1, d))])
    covariances = np.concatenate([mixture.covariances + errors, fits.spread * np.eye(d)[None]])
    return means, covariances, np.append(mixture.weights * n, 1.0) / (n + 1.0)


def held_out(
    fits: Fits, max_regions: int, *, folds: int, restarts: int, shrinkage: float, rng: np.random.Generator
) -> Array:
    """Return the log likelihoods of tasks that were held out, ``(M, N)``, for 1, 2, ... regions.

    It stops when two numbers of regions in a row were no better than a smaller one.
    """
    n = len(fits)
    parts = np.array_split(rng.permutation(n), min(folds, n))
    found: list[Array] = []
    for M in range(1, max(1, min(max_regions, n - len(parts[0]))) + 1):
        scores = np.empty(n)
        for part in parts:
            others = fits.take(np.setdiff1d(np.arange(n), part))
            mixture = fit(others, M, restarts=restarts, shrinkage=shrinkage, rng=rng)
            next_task = predictive(others, mixture, center_covariances(others, mixture))
            scores[part], _ = assigned(fits.take(part), *next_task)
        found.append(scores)
        means = [each.mean() for each in found]
        if len(found) - 1 - int(np.argmax(means)) >= 2:
            break
    return np.array(found)


def fewest(scores: Array) -> int:
    """Return the least number of regions that is within a standard error of the best; ``scores (M, N)``."""
    best = int(scores.mean(axis=1).argmax())
    for M in range(best):
        loss = scores[best] - scores[M]
        if loss.mean() <= standard_error(loss):
            return M + 1
    return best + 1


def _weighed(log_densities: Array, weights: Array) -> tuple[Array, Array]:
    """Return log likelihoods ``(n,)`` and responsibilities ``(n, M)``."""
    joint = log_densities + np.log(weights)
    largest = joint.max(axis=1, keepdims=True)
    share = np.exp(joint - largest)
    total = share.sum(axis=1, keepdims=True)
    return (largest + np.log(total))[:, 0], share / total


def _pull(mixture: Mixture, shrinkage: float, spread: float) -> float:
    """Return the penalty of covariances unlike their common ball, and of a ball unlike the size of all parameters."""
    if shrinkage == 0.0:
        return 0.0
    d, variance = mixture.means.shape[1], mixture.variance
    logdet = np.linalg.slogdet(mixture.covariances)[1]
    inverses = np.trace(np.linalg.inv(mixture.covariances), axis1=1, axis2=2)
    own = (d * np.log(variance) - logdet - variance * inverses).sum()
    return float(0.5 * shrinkage * own + 0.5 * d * (np.log(variance) - variance / spread))


def _floored(covariances: Array, least: float) -> Array:
    """Return symmetric matrices without eigenvalues below ``least``."""
    even = (covariances + np.swapaxes(covariances, 1, 2)) / 2.0
    values, axes = np.linalg.eigh(even)
    if values.min() >= least:
        return even
    return (axes * np.maximum(values, least)[:, None]) @ np.swapaxes(axes, 1, 2)
