"""The reward model of the doubly robust estimate: a ridge regression that has not seen the decisions it predicts.

With several maps the regression reads one of them, the one that explains rewards best, and so costs hardly more than
where there is one.
"""

from dataclasses import dataclass

import numpy as np

from ..runtime import constraints
from ..types import Array, Index
from .estimators import RunningMoments
from .log import Log, chunks

_LOOKED_AT = 500  #: decisions at least by which a map is chosen, where there are so many


def cross_fitted(log: Log, map: int | None, folds: int, rng: np.random.Generator) -> Array:
    """Return predictions of the rewards of all actions, ``(T, K)``, each from the folds that its decision is not in.

    Ridge regression with a constant on the standardised features, penalty 1, on one map; None: on the one that
    generalised cross-validation (Golub, Heath, Wahba 1979) prefers, chosen for every fold from the others by every
    4 M-th decision. Features are standardised by all that was offered: given the contexts, the model of a fold depends
    on nothing that was played or earned in it.
    """
    M = len(log.features.dims)
    constraints.Number(low=0, high=M - 1, integer=True, optional=True).check("evaluate: map", map, None)
    fold = rng.permutation(len(log)) % folds
    if M == 1 or map is not None:
        chosen = np.full(folds, map or 0)
    else:
        step = max(1, min(4 * M, len(log) // _LOOKED_AT))
        chosen = np.argmin([_Fits.of(log, m, fold, step).errors() for m in range(M)], axis=0)
    q = np.empty((len(log), log.features.n_actions))
    for m in np.unique(chosen).tolist():
        fits = _Fits.of(log, m, fold)
        for part in chunks(log):
            mine = part[chosen[fold[part]] == m]
            q[mine] = fits.predicted(log.features.maps(mine, m)[0], fold[mine])
    return q


@dataclass(frozen=True)
class _Fits:
    """Regressions on one map, one for every fold, fitted on the decisions of all the others.

    Attributes
    ----------
    mean, spread: of the features of all actions offered, ``(d,)``.
    sums: for every fold, the products of (standardised features, 1, reward) summed over the actions played in all
        others, ``(folds, d + 2, d + 2)``.
    """

    mean: Array
    spread: Array
    sums: Array

    @classmethod
    def of(cls, log: Log, map: int, fold: Index, step: int = 1) -> "_Fits":
        """Sum up every ``step``-th decision."""
        parts, moments = chunks(log, step), RunningMoments(log.features.dims[map])
        for part in parts:
            x = log.features.maps(part, map)[0]
            moments.add(x.reshape(-1, x.shape[2]) if log.available is None else x[log.available[part]])
        mean, spread = moments.mean, moments.spread
        spread = np.where(spread > 1e-12 * np.abs(mean), spread, np.inf)  # a constant column says nothing
        sums = np.zeros((int(fold.max()) + 1, mean.size + 2, mean.size + 2))
        for part in parts:
            played = log.features.maps(part, map)[0][np.arange(part.size), log.action[part]]
            rows = np.column_stack([(played - mean) / spread, np.ones(part.size), log.reward[part]])
            for f in range(len(sums)):
                mine = rows[fold[part] == f]
                sums[f] += mine.T @ mine
        return cls(mean, spread, sums.sum(axis=0) - sums)

    def errors(self) -> Array:
        r"""Return how well the fit of every fold predicts: :math:`n |r - H r|^2 / (n - \mathrm{tr}\,H)^2`."""
        gram, moment, squares, n = *self._normal, self.sums[:, -1, -1], self.sums[:, -2, -2]
        theta = self._solved(moment[..., None])[..., 0]
        left = squares - np.einsum("fi,fi->f", theta, 2.0 * moment - np.einsum("fij,fj->fi", gram, theta))
        free = n - np.trace(self._solved(gram), axis1=1, axis2=2)
        return np.where(free > 0.0, n * left / np.where(free > 0.0, free, 1.0) ** 2, np.inf)

    def predicted(self, features: Array, fold: Index) -> Array:
        """Return the predictions for decisions of these folds, ``(n, K)``."""
        theta = self._solved(self._normal[1][..., None])[..., 0]
        slope = theta[:, :-1] / self.spread
        constant = theta[:, -1] - slope @ self.mean
        return np.einsum("nkd,nd->nk", features, slope[fold]) + constant[fold, None]

    @property
    def _normal(self) -> tuple[Array, Array]:
        """Both sides of the normal equations, ``(folds, d + 1, d + 1)`` and ``(folds, d + 1)``."""
        return self.sums[:, :-1, :-1], self.sums[:, :-1, -1]

    def _solved(self, right: Array) -> Array:
        """Solve the penalised normal equations for a right-hand side."""
        penalty = np.diag(np.append(np.ones(self.mean.size), 0.0))
        return np.asarray(np.linalg.solve(self._normal[0] + penalty, right), dtype=np.float64)
