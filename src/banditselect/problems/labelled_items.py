"""Labelled items as a bandit problem: actions are items, and those of one class pay.

This is how the paper makes bandits of image collections, one feature map for every network that looked at the images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..actions.catalogue import Catalogue
from ..kernels.features import Offer
from ..runtime.arguments import argument
from ..runtime.constraints import Constraint, Number, OneOf, YesNo
from ..runtime.errors import refuse
from ..runtime.inputs import SMALLEST, as_floats
from ..runtime.settings import read_only
from ..runtime.shapes import stacked
from ..types import Array, Index
from .base import Problem, map_shapes, single_threaded
from .randomness import NOISES, SIZE, DrawnInstances, Noise, by_round, coin_constant, distinct_items, draw_noise

_BLOCK = 4096  #: items whose scores are computed at a time


class AsGiven(Constraint):
    """Anything, kept as it is: the problem makes tables of its own from it."""

    def stored(self, name: str, value: Any, lanes: int | None, seed: Any) -> Any:
        """Return the value itself."""
        return value


class Classification(Problem):
    r"""Items with labels and features as a bandit (the paper's experiments with images): one class pays.

    Every instance draws the class :math:`s_*` that pays; every round offers ``n_actions`` different items, one of that
    class at a random position and the others drawn uniformly from all other classes. The mean reward of item a is

    * ``reward="linear"``: :math:`\langle \phi^{i_*}(a), \theta_{s_*} \rangle`, with :math:`i_*` = ``true_map``;
    * ``reward="label"``: ``high`` if a is of class :math:`s_*`, else ``low``.

    Parameters
    ----------
    features: ``(items, d)``, or a list of M arrays ``(items, d_i)``, one for every map. Kept as read-only views.
    labels: ``(items,)``, whole numbers 0, 1, ..., C - 1, all of which occur.
    reward: "linear" or "label".
    n_actions: K.
    noise: "uniform", "gaussian" (both of variance 1/12) or "bernoulli"; None for the noise of the paper: "uniform"
        for linear rewards, "bernoulli" for labels. Coins for labels have the values 0 and 1; for linear rewards B and
        -B, where B is the instance's ``reward_bound``, so that the mean stays linear.
    true_map, parameters: for linear rewards: the map that explains them, and ``(C, d)``, one parameter for each class.
        Without ``parameters`` they are fitted by ridge least squares of the class indicator, without an intercept.
    balanced: in that fit, weigh items as often as rounds offer them: one of the class to K - 1 others. Else every item
        counts alike, and with many classes the fit is close to zero everywhere.
    regularization: of that fit, as a fraction of the mean eigenvalue of the weighted second moments.
    high, low: for labels: mean rewards of the class that pays and of the others, between 0 and 1.
    targets: the classes that may pay, all equally likely; None for all.
    constants: more constants for policies, by name; an array is repeated for every lane.
    class_constants: more constants, by name, each an array with one entry per class; a lane gets that of its class.

    Notes
    -----
    With linear rewards the best action need not be the item of class :math:`s_*`. Constants: label, the class that
    pays; feature_bound; reward_bound of each instance; reward_range; noise, for labels with coins the smallest
    sub-Gaussian constant of the two (.427 for .9 and .1). For linear rewards also parameter, parameter_bound, the
    largest norm over the targets, and, with several maps, model = true_map. Bounds are taken over all items, offered
    or not.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(300) % 3
    >>> maps = [np.eye(3)[labels] + 0.1 * rng.normal(size=(300, 3)), rng.normal(size=(300, 2))]
    >>> problem = Classification(features=maps, labels=labels, n_actions=4)
    >>> problem.shapes
    {'n_models': 2, 'dim': [3, 2]}
    >>> instances = problem.draw(range(5), 10, seed=0)
    >>> [m.shape for m in instances.features(0)], instances.constants["parameter"].shape
    ([(5, 4, 3), (5, 4, 2)], (5, 3))
    """

    features: Any = argument(AsGiven())
    labels: Any = argument(AsGiven())
    reward: str = argument(OneOf(("linear", "label")), default="linear")
    n_actions: int = argument(SIZE, default=10)
    noise: str | None = argument(default=None)
    true_map: int = argument(Number(low=0, integer=True), default=0)
    parameters: ArrayLike | None = argument(default=None)
    balanced: bool = argument(YesNo(), default=True)
    regularization: float = argument(Number(low=SMALLEST), default=1e-3)
    high: float = argument(Number(low=0.0, high=1.0), default=0.9)
    low: float = argument(Number(low=0.0, high=1.0), default=0.1)
    targets: Sequence[int] | None = argument(default=None)
    constants: Mapping[str, Any] | None = argument(default=None)
    class_constants: Mapping[str, ArrayLike] | None = argument(default=None)

    def _set_up(self) -> None:
        features = _tables(self.features)
        self._maps = features if isinstance(features, list) else [features]
        labels = labels_of("Classification: labels", self.labels, self._maps[0].shape[0])
        vars(self).update(features=features, labels=labels)
        last = Number(low=0, high=len(self._maps) - 1, integer=True)
        last.check("Classification: true_map", self.true_map, None)
        self._kind = ("uniform" if self.reward == "linear" else "bernoulli") if self.noise is None else self.noise
        NOISES.check("Classification: noise", self._kind, None)
        self._counts = np.bincount(self.labels)
        self._starts = np.cumsum(self._counts) - self._counts
        self._sorted = np.argsort(self.labels, kind="stable")
        self._targets = self._read_targets()
        self._theta = self._read_parameters()
        self._extra = {k: _constant(f"constants[{k!r}]", v) for k, v in (self.constants or {}).items()}
        self._by_class = {k: self._per_class(k, v) for k, v in (self.class_constants or {}).items()}
        self._longest = float(np.sqrt(max(np.einsum("id,id->i", m, m, dtype=float).max() for m in self._maps)))
        self._spans = self._read_spans()

    @property
    def shapes(self) -> dict[str, Any]:
        """Arguments that follow from the features."""
        return map_shapes([m.shape[1] for m in self._maps], many=isinstance(self.features, list))

    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
        extra = sum(v.nbytes for v in self._extra.values() if isinstance(v, np.ndarray))
        by_class = sum(v[0].nbytes for v in self._by_class.values())
        return 8 * rounds * (2 * self.n_actions + 1) + extra + by_class + 8 * self._maps[self.true_map].shape[1]

    def draw(self, lanes: range, rounds: int, seed: int) -> _ClassificationInstances:
        """Draw one instance per lane."""
        return _ClassificationInstances(self, lanes, rounds, seed)

    def _read_targets(self) -> Index:
        """Return the classes that may pay, and see to it that there are enough others to offer."""
        C = self._counts.size
        chosen = np.asarray(range(C) if self.targets is None else self.targets)
        whole = chosen.ndim == 1 and chosen.size and chosen.dtype.kind in "iu"
        if not whole or np.unique(chosen).size < chosen.size:
            raise _refuse("targets", self.targets, "different classes, or None for all")
        if chosen.min() < 0 or chosen.max() >= C:
            raise _refuse("targets", self.targets, f"classes between 0 and {C - 1}")
        others = self.labels.size - int(self._counts[chosen].max())
        if self.n_actions - 1 > others:
            raise _refuse("n_actions", self.n_actions, f"at most {others + 1}, one more than there are other items")
        return chosen.astype(np.int64)

    def _read_parameters(self) -> Array:
        """Return the parameters of the targets, ``(targets, d)``; without rows where rewards follow the labels."""
        table = self._maps[self.true_map]
        if self.reward == "label":
            if self.parameters is not None:
                raise _refuse("parameters", self.parameters, 'None for reward="label"')
            return np.empty((0, table.shape[1]))
        if self.parameters is not None:
            return _numbers("parameters", self.parameters, (self._counts.size, table.shape[1]))[self._targets]
        share = 1.0 / self.n_actions if self.balanced else None
        return fit_classes(table, self.labels, share=share, regularization=self.regularization, classes=self._targets)

    def _per_class(self, name: str, value: ArrayLike) -> NDArray[Any]:
        """Return a constant with one entry per class; whole numbers stay whole."""
        array = _numbers(f"class_constants[{name!r}]", value, (self._counts.size, ...))
        return array.astype(np.int64) if np.asarray(value).dtype.kind in "iu" else array

    def _read_spans(self) -> Array:
        """Return the smallest and the largest mean reward of any item for every target, ``(targets, 2)``."""
        if self.reward == "label":
            return np.tile(np.sort([self.low, self.high]), (self._targets.size, 1))
        table = self._maps[self.true_map]
        spans = []
        for start in range(0, table.shape[0], _BLOCK):
            scores = np.einsum("id,cd->ci", table[start : start + _BLOCK].astype(float), self._theta)
            spans.append(np.column_stack([scores.min(axis=1), scores.max(axis=1)]))
        return np.column_stack([np.min(spans, axis=0)[:, 0], np.max(spans, axis=0)[:, 1]])

    def _offer(self, rng: np.random.Generator, label: int, rounds: int) -> Index:
        """Return the items that each round offers, ``(rounds, K)``."""
        start, count = self._starts[label], self._counts[label]
        others = distinct_items(rng, rounds, self.n_actions - 1, self.labels.size - count)
        others += np.where(others >= start, count, 0)
        own = rng.integers(start, start + count, (rounds, 1))
        position = rng.integers(0, self.n_actions, (rounds, 1))
        places = np.arange(self.n_actions)
        places = np.where(places == position, 0, places + (places < position))
        return self._sorted[np.take_along_axis(np.hstack([own, others]), places, axis=1)]

    def _means(self, target: int, items: Index) -> Array:
        """Return the mean rewards of these items if this target pays."""
        if self.reward == "label":
            return np.where(self.labels[items] == self._targets[target], self.high, self.low)
        return np.einsum("tkd,d->tk", self._maps[self.true_map][items], self._theta[target])


class _ClassificationInstances(DrawnInstances):
    """Attributes: ``items (N, T, K)``."""

    def __init__(self, problem: Classification, lanes: range, rounds: int, seed: int) -> None:
        N, K, kind = len(lanes), problem.n_actions, problem._kind
        self._maps, self._many = problem._maps, isinstance(problem.features, list)
        self._catalogue, self._first_table = Catalogue(problem.features), np.zeros(N, dtype=np.int64)
        self.items, self._means = by_round(N, rounds, K, dtype=np.int64), by_round(N, rounds, K)
        target, draws = np.empty(N, dtype=np.int64), by_round(N, rounds)
        for n, lane in enumerate(lanes):
            rng = np.random.default_rng((seed, lane))
            target[n] = rng.integers(problem._targets.size)
            self.items[n] = problem._offer(rng, int(problem._targets[target[n]]), rounds)
            self._means[n] = problem._means(int(target[n]), self.items[n])
            draws[n] = draw_noise(kind, rng, rounds)
        label, bounds = problem._targets[target], np.abs(problem._spans).max(axis=1)
        lowest, highest = float(problem._spans.min()), float(problem._spans.max())
        self.constants = {"label": label, "feature_bound": problem._longest, "reward_bound": bounds[target]}
        if problem.reward == "linear":
            self._noise = Noise(kind, draws, low=-bounds[target], high=bounds[target])
            self.constants |= {
                "noise": self._noise.constant,
                "parameter": problem._theta[target],
                "parameter_bound": float(np.sqrt((problem._theta**2).sum(axis=1).max())),
            }
            if self._many:  # with one map, models are what ``class_constants`` says they are
                self.constants["model"] = problem.true_map
            coins = -float(bounds.max()), float(bounds.max())
        else:
            self._noise = Noise(kind, draws, low=0.0, high=1.0)
            tight = max(coin_constant(problem.high), coin_constant(problem.low))
            self.constants["noise"] = tight if kind == "bernoulli" else self._noise.constant
            coins = 0.0, 1.0
        self.constants["reward_range"] = coins if kind == "bernoulli" else (lowest - 0.5, highest + 0.5)
        for name, value in problem._extra.items():
            repeated = isinstance(value, np.ndarray)
            self.constants[name] = np.repeat(value[None], N, axis=0) if repeated else value
        self.constants |= {name: value[label] for name, value in problem._by_class.items()}

    def features(self, t: int) -> Any:
        """Return the features of round ``t``: ``(N, K, d)``, ``(N, M, K, d)``, or a list of M ``(N, K, d_i)``."""
        return stacked([m[self.items[:, t]].astype(float, copy=False) for m in self._maps], self._many, axis=1)

    def offer(self, t: int) -> Offer:
        return self._catalogue._offer(self._first_table, self.items[:, t])


def _refuse(name: str, value: object, expected: str) -> ValueError:
    return refuse(f"Classification: {name}", value, expected)


def _numbers(name: str, value: Any, shape: tuple[Any, ...]) -> Array:
    """Return finite numbers of this shape, of which ``...`` leaves the rest open."""
    words = f"finite numbers of shape {shape}".replace("Ellipsis", "...")
    array = as_floats(f"Classification: {name}", value, words)
    fits = array.shape[: len(shape) - 1] == shape[:-1] if ... in shape else array.shape == shape
    if not fits or not np.isfinite(array).all():
        raise _refuse(name, value, words)
    return array


def _constant(name: str, value: Any) -> Any:
    """Return a number or a pair as it is, anything else as an array."""
    return value if np.ndim(value) == 0 or isinstance(value, tuple) else _numbers(name, value, (...,))


def _tables(value: Any) -> NDArray[Any] | list[NDArray[Any]]:
    """Return one map, or a list of maps with the same number of rows."""
    expected = "finite numbers of shape (items, d), or a list of such arrays with as many rows"
    if not isinstance(value, list | tuple) or not value or np.ndim(value[0]) != 2:
        return table_of("Classification: features", value, expected)
    name = "Classification: features"
    return same_rows(name, [table_of(f"{name}[{i}]", part, expected) for i, part in enumerate(value)])


def fit_classes(
    table: NDArray[np.generic], labels: Index, *, share: float | None, regularization: float, classes: Index
) -> Array:
    r"""Fit one linear model without intercept for each of these classes by ridge least squares of its indicator.

    .. math:: \theta_s = \arg\min_\theta \sum_j w_j (1[s_j = s] - \langle \phi_j, \theta \rangle)^2
              + \lambda \frac{\operatorname{tr} G_s}{d} |\theta|^2, \quad G_s = \sum_j w_j \phi_j \phi_j'

    The models ``(len(classes), d)`` do not depend on the number of cores; their last bits may depend on the BLAS.

    Parameters
    ----------
    table, labels: features ``(items, d)`` and classes ``(items,)``.
    share: the sum of the weights of the items of class s, those of the others adding up to 1 - share; None: all items
        weigh the same.
    regularization: lambda.
    classes: the classes to fit.
    """
    theta = np.zeros((classes.size, table.shape[1]))
    with single_threaded():
        parts = [table[labels == s].astype(float) for s in range(labels.max() + 1)]
        grams = [x.T @ x for x in parts]
        total = np.sum(grams, axis=0)
        for row, s in enumerate(classes.tolist()):
            count = len(parts[s])
            own, other = (1.0 / labels.size,) * 2
            if share is not None:
                own, other = share / count, (1.0 - share) / max(labels.size - count, 1)
            G = own * grams[s] + other * (total - grams[s])
            if np.trace(G) > 0.0:
                G[np.diag_indices_from(G)] += regularization * np.trace(G) / table.shape[1]
                theta[row] = np.linalg.solve(G, own * parts[s].sum(axis=0))
    return theta


def table_of(name: str, value: Any, expected: str, axes: int = 2) -> NDArray[Any]:
    """Return features, ``(rows, d)`` or with more axes between them, as a read-only view."""
    try:
        table = np.asarray(value).view()
    except ValueError:
        raise refuse(name, value, expected) from None
    if table.ndim != axes or table.size == 0 or table.dtype.kind not in "fiub" or not np.isfinite(table).all():
        raise refuse(name, value, expected)
    table.flags.writeable = False
    return table


def same_rows(name: str, tables: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return maps that have the same number of rows."""
    for i, table in enumerate(tables):
        if table.shape[0] != tables[0].shape[0]:
            raise refuse(f"{name}[{i}]", table, f"{tables[0].shape[0]} rows, as {name.split(': ')[-1]}[0] has")
    return tables


def labels_of(name: str, value: ArrayLike, rows: int) -> Index:
    """Return the labels, one for every row, as a read-only array."""
    labels = np.asarray(value)
    expected = f"whole numbers 0, 1, ..., C - 1 of shape ({rows},), all of which occur"
    fits = labels.shape == (rows,) and labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < rows
    if not fits or np.bincount(labels).min() == 0:
        raise refuse(name, value, expected)
    return read_only(labels.astype(np.int64))
