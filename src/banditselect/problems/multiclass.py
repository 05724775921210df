"""A table with classes as a bandit: every round shows a row, an arm is a guess of its class, and a right guess pays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..actions.crossing import disjoint_rows
from ..runtime.arguments import argument
from ..runtime.constraints import YesNo
from ..runtime.errors import refuse
from ..runtime.shapes import stacked
from ..types import Array, Blocked, Index
from .base import Instances, Problem, map_shapes
from .labelled_items import AsGiven, labels_of, longest_row, tables_of
from .randomness import generators


class ClassesAsArms(Problem):
    r"""Rows of a table, and an arm for each of C classes: guessing the class of the row pays 1, any other nothing.

    Every lane meets the rows in a random order of its own; after the last one it meets all of them again in another.

    Parameters
    ----------
    features: of the rows, one map or a list of M. Kept as read-only views.
    labels: ``(rows,)``, whole numbers 0, 1, ..., C - 1, all of which occur.
    disjoint: True: maps are ``(rows, d)``, and every arm has parameters of its own: the features of arm k are those of
        the row in the k-th of C blocks, and zero elsewhere, C d in all. Policies are offered the row and the block,
        and those with an argument ``blocks`` have that one; with an intercept, they have one for every arm then. False:
        the arms share their parameters, and maps are ``(rows, C, d)``, the features of every arm.

    Notes
    -----
    The means are those given the row, 1 or 0, so the regret counts the wrong guesses. No map need explain them: there
    is no true model. Constants: reward_range = (0, 1), reward_bound = 1, noise = 1/2 (what a linear model leaves is
    between the two), feature_bound.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table, labels = rng.normal(size=(90, 4)), np.arange(90) % 3
    >>> problem = ClassesAsArms(features=[table, np.abs(table), table[:, :2]], labels=labels)
    >>> problem.shapes
    {'n_models': 3, 'dim': [12, 12, 6], 'n_arms': 3, 'blocks': 3}
    >>> [m.shape for m in problem.draw(range(5), 10, seed=0).features(0)]
    [(5, 3, 12), (5, 3, 12), (5, 3, 6)]
    """

    features: Any = argument(AsGiven())
    labels: Any = argument(AsGiven())
    disjoint: bool = argument(YesNo(), default=True)

    def _set_up(self) -> None:
        features = tables_of("ClassesAsArms: features", self.features, "rows", 2 if self.disjoint else 3)
        self._maps = features if isinstance(features, list) else [features]
        labels = labels_of("ClassesAsArms: labels", self.labels, self._maps[0].shape[0])
        vars(self).update(features=features, labels=labels)
        self._arms = int(labels.max()) + 1
        if not self.disjoint and any(m.shape[1] != self._arms for m in self._maps):
            expected = f"maps of shape (rows, {self._arms}, d), an arm for each of {self._arms} classes"
            raise refuse("ClassesAsArms: features", features, expected)
        self._longest = longest_row(self._maps)

    @property
    def shapes(self) -> dict[str, Any]:
        """Arguments that follow from the features."""
        widths = [m.shape[-1] * (self._arms if self.disjoint else 1) for m in self._maps]
        shapes = map_shapes(widths, many=isinstance(self.features, list)) | {"n_arms": self._arms}
        return shapes | ({"blocks": self._arms} if self.disjoint else {})

    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
        return 8 * rounds

    def draw(self, lanes: range, rounds: int, seed: int) -> _ClassesAsArmsInstances:
        """Draw an order of the rows for every lane."""
        return _ClassesAsArmsInstances(self, lanes, rounds, seed)


class _ClassesAsArmsInstances(Instances):
    """Attributes: ``rows (N, T)``."""

    def __init__(self, problem: ClassesAsArms, lanes: range, rounds: int, seed: int) -> None:
        self._problem = problem
        self.rows = np.empty((len(lanes), rounds), dtype=np.int64)
        size = problem.labels.size
        for n, rng in generators(lanes, seed):
            for start in range(0, rounds, size):
                self.rows[n, start : start + size] = rng.permutation(size)[: rounds - start]
        self.constants = {
            "reward_range": (0.0, 1.0),
            "reward_bound": 1.0,
            "noise": 0.5,
            "feature_bound": problem._longest,
        }

    def features(self, t: int) -> Any:
        """Return the features of round ``t``: ``(N, K, d)``, ``(N, M, K, d)``, or a list of M ``(N, K, d_i)``."""
        problem, maps = self._problem, self._rows(t)
        if problem.disjoint:
            maps = [disjoint_rows(m, problem._arms) for m in maps]
        return stacked(maps, isinstance(problem.features, list), axis=1)

    def offer(self, t: int) -> Any:
        """Return the same; disjoint, the row and the blocks of the arms, of every map."""
        problem, K = self._problem, self._problem._arms
        if not problem.disjoint:
            return self.features(t)
        blocks = np.tile(np.arange(K), (len(self.rows), 1))
        maps = [Blocked(np.repeat(m[:, None], K, axis=1), blocks) for m in self._rows(t)]
        return maps if isinstance(problem.features, list) else maps[0]

    def _rows(self, t: int) -> list[Array]:
        """Return what every map says of the rows that are met in round ``t``."""
        return [m[self.rows[:, t]].astype(float, copy=False) for m in self._problem._maps]

    def means(self, t: int) -> Array:
        """Return 1 for the class of the row and 0 for the others, ``(N, K)``."""
        return (self._problem.labels[self.rows[:, t], None] == np.arange(self._problem._arms)).astype(float)

    def rewards(self, t: int, action: Index) -> Array:
        """Return 1 where the guess is right, else 0, ``(N,)``."""
        return (self._problem.labels[self.rows[:, t]] == action).astype(float)
