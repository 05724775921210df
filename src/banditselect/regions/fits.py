"""The least-squares fit of every past task, with its precision and its residuals."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.features import LIMIT
from ..runtime import constraints, errors, inputs
from ..runtime.extras import frame_of
from ..runtime.files import register
from ..runtime.settings import read_only
from ..types import Array, Index

RANK = 1e-10  #: eigenvalues below this share of the largest count as zero: a direction that was never played


@register
@dataclass(frozen=True, eq=False)
class Fits:
    r"""Fits of N tasks: :math:`\hat\theta_i \sim N(\theta_i, s^2 G_i^{-1})`, with one noise for all of them.

    A task that was not observed in every direction has a singular :math:`G_i`: its :math:`\hat\theta_i` is the shortest
    least-squares fit, and counts only in the directions of :math:`G_i`.

    Attributes
    ----------
    estimates: ``(N, d)``.  grams: G, sums of products of features, ``(N, d, d)``.
    squares, freedom: sum of squared residuals and their degrees of freedom, ``(N,)`` each.
    noise: s, if it was given; None if it is pooled from the residuals of all tasks.
    of_rewards: True if that is the noise of rewards; for fits from elsewhere it is 1, and G their precision.
    """

    estimates: Array
    grams: Array
    squares: Array
    freedom: Array
    noise: float | None = None
    of_rewards: bool = True

    @classmethod
    def of_rounds(
        cls, tasks: Index, features: Array, rewards: Array, *, intercept: bool, noise: float | None
    ) -> "Fits":
        """Fit every task by least squares.

        Parameters
        ----------
        tasks: the task of every round, ``(n,)``, numbered from 0.
        features: of the actions played, ``(n, d)``.  rewards: ``(n,)``.
        intercept: fit a separate constant for every task, which is left out of the fits.
        """
        order = np.argsort(tasks, kind="stable")
        rows = np.split(order, np.flatnonzero(np.diff(tasks[order])) + 1)
        found = []
        for own in rows:
            x, y = features[own], rewards[own]
            if intercept:
                x, y = x - x.mean(axis=0), y - y.mean()
            gram = x.T @ x
            values, axes = np.linalg.eigh(gram)
            kept = values > RANK * max(values[-1], 0.0)
            estimate = axes[:, kept] @ ((axes[:, kept].T @ (x.T @ y)) / values[kept])
            left = y - x @ estimate
            found.append((estimate, gram, left @ left, max(len(own) - kept.sum() - intercept, 0)))
        estimates, grams, squares, freedom = (np.array(column, dtype=np.float64) for column in zip(*found, strict=True))
        return cls(estimates, grams, squares, freedom, noise=noise)

    @classmethod
    def of_covariances(cls, estimates: Array, covariances: Array) -> "Fits":
        """Return estimates from elsewhere with their covariances."""
        none = np.zeros(len(estimates))
        precisions = np.linalg.inv(covariances).astype(np.float64)
        return cls(estimates, precisions, none, none, noise=1.0, of_rewards=False)

    def joined(self, more: "Fits") -> "Fits":
        """Return these fits and more of them."""
        return self._changed(lambda name: np.concatenate([getattr(self, name), getattr(more, name)]))

    def take(self, rows: Any) -> "Fits":
        """Return some of the fits, which keep the noise of all."""
        part = self._changed(lambda name: getattr(self, name)[rows])
        part.__dict__["deviation"] = self.deviation
        return part

    def _changed(self, new: Callable[[str], Any]) -> "Fits":
        return replace(self, **{name: new(name) for name in ("estimates", "grams", "squares", "freedom")})

    def __len__(self) -> int:
        return len(self.estimates)

    @property
    def dim(self) -> int:
        """Width d of the features."""
        return int(self.estimates.shape[1])

    @cached_property
    def deviation(self) -> float:
        """Standard deviation of the noise: as given, or pooled over all tasks; NaN if there are no residuals."""
        if self.noise is not None:
            return float(self.noise)
        if not self.freedom.sum():
            return float("nan")
        pooled = self.squares.sum() / self.freedom.sum()
        size = np.einsum("ni,nij,nj->", self.estimates, self.grams, self.estimates) / (self.freedom.sum() + self.dim)
        return float(np.sqrt(max(pooled, 1e-12 * size, 1e-200)))

    @cached_property
    def _axes(self) -> tuple[Array, Array]:
        """Eigenvalues ``(N, d)``, those of directions that were never played 0, and axes of the precisions."""
        values, axes = np.linalg.eigh(self.grams)
        values = np.where(values > RANK * np.maximum(values[:, -1:], 0.0), values, 0.0)
        return values / self.deviation**2, axes

    @cached_property
    def roots(self) -> Array:
        """Symmetric roots of the precisions ``G / s^2``, ``(N, d, d)``."""
        values, axes = self._axes
        return (axes * np.sqrt(values)[:, None]) @ np.swapaxes(axes, 1, 2)

    @cached_property
    def log_norms(self) -> Array:
        """Log of the normalising constants of the fits' Gaussian densities, in the directions played, ``(N,)``."""
        values, _ = self._axes
        return 0.5 * np.log(np.where(values > 0.0, values / (2.0 * np.pi), 1.0)).sum(axis=1)

    @cached_property
    def spread(self) -> float:
        """Mean squared entry of the parameters, without the noise of the fits: the likeliest ball about 0 of all."""
        values, axes = self._axes
        known = values > 0.0
        z = np.einsum("nij,ni->nj", axes, self.estimates)[known]
        noise = 1.0 / values[known]
        if not z.size:
            return 1.0
        start = variance = max(float((z**2).mean()), 1e-200)
        for _ in range(500):
            share = variance / (variance + noise)
            before, variance = variance, max(float((share**2 * z**2 + share * noise).mean()), 1e-9 * start)
            if abs(variance - before) <= 1e-6 * before:
                break
        return variance

    @cached_property
    def shrunk_estimates(self) -> Array:
        """Estimates shrunk towards 0, ``(N, d)``: posterior means under the ball of ``spread``."""
        values, axes = self._axes
        share = self.spread * values / (1.0 + self.spread * values)
        return np.einsum("nij,nj,nkj,nk->ni", axes, share, axes, self.estimates)


def read_rounds(
    owner: str, logs: Any, key: str, features: Any, reward: str, *, intercept: bool, noise: float | None
) -> Fits:
    """Return the fits of a table of rounds, whose columns are refused by name."""
    constraints.YesNo().check(f"{owner}: intercept", intercept, None)
    constraints.Number(low=inputs.SMALLEST, optional=True).check(f"{owner}: noise", noise, None)
    if (frame := frame_of(f"{owner}: logs", logs)) is not None:
        logs = {name: frame.get_column(name) for name in frame.columns}
    elif not hasattr(logs, "keys"):
        logs, features = _table(owner, logs, key, features, reward)
    tasks = _tasks(owner, _column(owner, logs, key))
    n = len(tasks)
    y = _numbers(owner, reward, _column(owner, logs, reward), n)
    if y.shape[1] != 1:
        raise errors.refuse(f"{owner}: column {reward!r}", y, "one number in a row")
    if isinstance(features, str | list | tuple) and np.size(features) and isinstance(np.ravel(features)[0], str):
        names = [features] if isinstance(features, str) else features
        x = np.concatenate([_numbers(owner, name, _column(owner, logs, name), n) for name in names], axis=1)
    else:
        x = _finite(f"{owner}: features", features, f"names of columns, or numbers of shape ({n}, d)")
        if x.ndim != 2 or len(x) != n or not x.shape[1]:
            raise errors.refuse(f"{owner}: features", features, f"numbers of shape ({n}, d)")
    return Fits.of_rounds(tasks, x, y[:, 0], intercept=intercept, noise=noise)


def read_fits(estimates: ArrayLike, covariances: ArrayLike) -> Fits:
    """Return the fits of estimates ``(N, d)`` with positive definite covariances ``(N, d, d)``."""
    expected = "finite numbers of shape (N, d)"
    e = _finite("from_fits: estimates", estimates, expected)
    if e.ndim != 2 or not e.size:
        raise errors.refuse("from_fits: estimates", estimates, expected)
    shape = (*e.shape, e.shape[1])
    expected = f"symmetric positive definite matrices of shape {shape}"
    c = _finite("from_fits: covariances", covariances, expected)
    if c.shape != shape or not np.allclose(c, np.swapaxes(c, 1, 2), rtol=1e-9) or np.linalg.eigvalsh(c).min() <= 0.0:
        raise errors.refuse("from_fits: covariances", covariances, expected)
    return Fits.of_covariances(np.array(e), c)


def _table(owner: str, rounds: Any, key: str, features: Any, reward: str) -> tuple[dict[str, Any], list[Any]]:
    """Return rounds, or rows (key, features, reward), as a table of keys and rewards, and the features of its rows."""
    if not isinstance(rounds, Iterable) or isinstance(rounds, str):
        expected = "a DataFrame, a mapping from names to columns, rounds of a log, or rows (key, features, reward)"
        raise errors.refuse(f"{owner}: logs", rounds, expected)
    names = [features] if isinstance(features, str) else features
    rows: list[Sequence[Any]] = []
    for t, row in enumerate(rounds):
        where = f"{owner}: logs, round {t}"
        if hasattr(row, "context") and hasattr(row, "action"):
            context, item = row.context, row.items[row.action]
            if hasattr(features, "features"):
                x = features.features(context, [item])[0]
            else:
                x = np.concatenate([np.ravel(_cell(where, name, item, context)) for name in names])
            row = _cell(where, key, context, item), x, row.reward
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != 3:
            raise errors.refuse(where, row, "a round of a log, or a row (key, features, reward)")
        rows.append(row)
        if np.shape(row[1]) != np.shape(rows[0][1]):
            raise errors.refuse(f"{where}: features", row[1], f"shape {np.shape(rows[0][1])}, as in rounds before")
    keys, played, rewards = zip(*rows, strict=True) if rows else ((), (), ())
    return {key: keys, reward: rewards}, list(played)


def _cell(where: str, name: Any, *records: Mapping[str, Any]) -> Any:
    """Return what the first record that has a column says."""
    for record in records:
        if name in record:
            return record[name]
    raise errors.refuse(f"{where}: columns", [*records[0], *records[1]], f"a column {name!r}")


def _column(owner: str, logs: Any, name: Any) -> Sequence[Any]:
    """Return a column of a DataFrame or of a mapping."""
    names = list(logs.keys())
    if name not in names:
        raise errors.refuse(f"{owner}: columns", names, f"a column {name!r}")
    column = logs[name]
    readers = (getattr(column, way, None) for way in ("tolist", "to_list", "to_pylist"))  # the last is pyarrow's
    return next(filter(None, readers), lambda: list(column))()


def _tasks(owner: str, keys: Sequence[Hashable]) -> Index:
    """Return the number of every key, in the order in which they first appear."""
    if not len(keys):
        raise errors.refuse(f"{owner}: logs", "no row", "at least one")
    for row, key in enumerate(keys):
        if key is None or key != key:
            raise errors.refuse(f"{owner}: key, row {row}", key, "the id of a task")
    place: dict[Hashable, int] = {}
    return np.array([place.setdefault(key, len(place)) for key in keys])


def _numbers(owner: str, name: str, column: Sequence[Any], n: int) -> Array:
    """Return a column of numbers, or of lists of numbers, as ``(n, p)``."""
    what, expected = f"{owner}: column {name!r}", f"{n} finite numbers, or lists of them of one length"
    x = _finite(what, column, expected)
    if x.ndim not in (1, 2) or len(x) != n:
        raise errors.refuse(what, column, expected)
    return x.reshape(n, -1)


def _finite(name: str, value: Any, expected: str) -> Array:
    array = inputs.as_floats(name, value, expected)
    if not (np.abs(array) <= LIMIT).all():
        raise errors.refuse(name, read_only(array), expected)
    return array
