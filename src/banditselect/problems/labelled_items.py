"""Labelled items as a bandit problem: actions are items, and those of one class pay.

This is how the paper makes bandits of image collections, one feature map for every network that looked at the images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..actions.catalogue import Catalogue
from ..runtime.arguments import argument
from ..runtime.constraints import Constraint, Number, OneOf, YesNo
from ..runtime.errors import refuse
from ..runtime.inputs import SMALLEST, as_floats
from ..runtime.settings import read_only
from ..types import Array, Index
from .base import Problem, map_shapes, single_threaded
from .randomness import NOISES, SIZE, DrawnItems, by_round, coin_constant, distinct_items, draw_noise, generators

BLOCK = 4096  #: items whose scores are computed together


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
    noise: str | None = argument(OneOf(NOISES.names, optional=True), default=None)
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
        features = tables_of("Classification: features", self.features, "items")
        self._maps = features if isinstance(features, list) else [features]
        labels = labels_of("Classification: labels", self.labels, self._maps[0].shape[0])
        vars(self).update(features=features, labels=labels)
        last = Number(low=0, high=len(self._maps) - 1, integer=True)
        last.check("Classification: true_map", self.true_map, None)
        self._kind = self.noise or ("uniform" if self.reward == "linear" else "bernoulli")
        self._counts = np.bincount(self.labels)
        self._starts = np.cumsum(self._counts) - self._counts
        self._sorted = np.argsort(self.labels, kind="stable")
        self._targets = self._read_targets()
        self._theta = self._read_parameters()
        self._extra = {
            name: value if np.ndim(value) == 0 or isinstance(value, tuple) else _numbers(f"constants[{name!r}]", value)
            for name, value in (self.constants or {}).items()
        }
        self._by_class = {name: self._per_class(name, value) for name, value in (self.class_constants or {}).items()}
        self._longest = longest_row(self._maps)
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

    def draw(self, lanes: range, rounds: int, seed: int) -> DrawnItems:
        """Draw one instance per lane."""
        N, K, linear = len(lanes), self.n_actions, self.reward == "linear"
        items, means = by_round(N, rounds, K, dtype=np.int64), by_round(N, rounds, K)
        target, draws = np.empty(N, dtype=np.int64), by_round(N, rounds)
        for n, rng in generators(lanes, seed):
            target[n] = rng.integers(self._targets.size)
            items[n] = self._offer(rng, int(self._targets[target[n]]), rounds)
            means[n] = self._means(int(target[n]), items[n])
            draws[n] = draw_noise(self._kind, rng, rounds)
        label, bounds = self._targets[target], np.abs(self._spans).max(axis=1)
        lowest, highest = float(self._spans.min()), float(self._spans.max())
        constants = {"label": label, "feature_bound": self._longest, "reward_bound": bounds[target]}
        if linear:
            largest = float(bounds.max())
            constants |= {
                "parameter": self._theta[target],
                "parameter_bound": float(np.sqrt((self._theta**2).sum(axis=1).max())),
            }
            if isinstance(self.features, list):  # with one map, models are what ``class_constants`` says they are
                constants["model"] = self.true_map
        elif self._kind == "bernoulli":
            constants["noise"] = max(coin_constant(self.high), coin_constant(self.low))
        if self._kind == "bernoulli":
            constants["reward_range"] = (-largest, largest) if linear else (0.0, 1.0)
        else:
            constants["reward_range"] = (lowest - 0.5, highest + 0.5)
        for name, value in self._extra.items():
            constants[name] = np.repeat(value[None], N, axis=0) if isinstance(value, np.ndarray) else value
        constants |= {name: value[label] for name, value in self._by_class.items()}
        coins = (-bounds[target], bounds[target]) if linear else (0.0, 1.0)
        return DrawnItems(Catalogue(self.features), items, means, self._kind, draws, constants, coins)

    def _read_targets(self) -> Index:
        """Return the classes that may pay, and see to it that there are enough others to offer."""
        C = self._counts.size
        chosen = np.asarray(range(C) if self.targets is None else self.targets)
        whole = chosen.ndim == 1 and chosen.size and chosen.dtype.kind in "iu"
        if not whole or np.unique(chosen).size < chosen.size or chosen.min() < 0 or chosen.max() >= C:
            raise _refuse("targets", self.targets, f"different classes between 0 and {C - 1}, or None for all")
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
            return _numbers("parameters", self.parameters, self._counts.size, table.shape[1])[self._targets]
        share = 1.0 / self.n_actions if self.balanced else None
        return fit_classes(table, self.labels, share=share, regularization=self.regularization, classes=self._targets)

    def _per_class(self, name: str, value: ArrayLike) -> NDArray[Any]:
        """Return a constant with one entry per class; whole numbers stay whole."""
        array = _numbers(f"class_constants[{name!r}]", value, self._counts.size, ...)
        return array.astype(np.int64) if np.asarray(value).dtype.kind in "iu" else array

    def _read_spans(self) -> Array:
        """Return the smallest and the largest mean reward of any item for every target, ``(targets, 2)``."""
        if self.reward == "label":
            return np.tile(np.sort([self.low, self.high]), (self._targets.size, 1))
        table, spans = self._maps[self.true_map], []
        for start in range(0, len(table), BLOCK):
            scores = np.einsum("id,cd->ci", table[start : start + BLOCK].astype(float), self._theta)
            spans.append([scores.min(axis=1), scores.max(axis=1)])
        return np.column_stack([np.min(spans, axis=0)[0], np.max(spans, axis=0)[1]])

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


def _refuse(name: str, value: object, expected: str) -> ValueError:
    return refuse(f"Classification: {name}", value, expected)


def _numbers(name: str, value: Any, *shape: Any) -> Array:
    """Return finite numbers of this shape, of which ``...``, like no shape, leaves the rest open."""
    words = "finite numbers" + (f" of shape {shape}".replace("Ellipsis", "...") if shape else "")
    array = as_floats(f"Classification: {name}", value, words)
    fits = array.shape == shape if ... not in shape else array.shape[:1] == shape[:1]
    if (shape and not fits) or not np.isfinite(array).all():
        raise _refuse(name, value, words)
    return array


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


def tables_of(name: str, value: Any, rows: str, axes: int = 2) -> Any:
    """Return one map or a list of maps with as many ``rows``, each with so many axes, as read-only views."""
    several = isinstance(value, list | tuple) and len(value) > 0 and np.ndim(value[0]) == axes
    shape = f"({rows}, d)" if axes == 2 else f"({rows}, C, d)"
    tables: list[NDArray[Any]] = []
    for i, part in enumerate(value if several else [value]):
        own, expected = f"{name}[{i}]" if several else name, f"finite numbers of shape {shape}, or a list of such maps"
        try:
            table = np.asarray(part).view()
        except ValueError:
            raise refuse(own, part, expected) from None
        if table.ndim != axes or table.size == 0 or table.dtype.kind not in "fiub" or not np.isfinite(table).all():
            raise refuse(own, part, expected)
        if tables and table.shape[0] != tables[0].shape[0]:
            raise refuse(own, part, f"{tables[0].shape[0]} {rows}, as the first map has")
        table.flags.writeable = False
        tables.append(table)
    return tables if several else tables[0]


def longest_row(maps: Sequence[NDArray[Any]]) -> float:
    """Return the largest norm of features in any of the maps."""
    return float(np.sqrt(max(np.einsum("...d,...d->...", m, m, dtype=float).max() for m in maps)))


def labels_of(name: str, value: ArrayLike, rows: int) -> Index:
    """Return the labels, one for every row, as a read-only array."""
    labels = np.asarray(value)
    expected = f"whole numbers 0, 1, ..., C - 1 of shape ({rows},), all of which occur"
    fits = labels.shape == (rows,) and labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < rows
    if not fits or np.bincount(labels).min() == 0:
        raise refuse(name, value, expected)
    return read_only(labels.astype(np.int64))
