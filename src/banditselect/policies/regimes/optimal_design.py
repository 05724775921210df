"""Inverse gaps by optimal design: what is played does not grow with the number of actions, but with their features."""

from typing import Any

import numpy as np

from ...carriers import validation
from ...kernels.features import Lookup, prepared
from ...parts.exploration import optimal_gap_weighting
from ...types import Array, Index, Mask
from ..base import Policy

DESIGNS = ("uniform", "optimal")
LIGHTEST = 0.01  #: maps that weigh less than this share of the leading one are not explored
WIDEST = 128  #: more features than this, of several maps together, are not explored at once


class OptimalDesign:
    r"""Chooses few actions whose features explain those of all, and plays these by inverse gaps.

    With several maps the features are those of the heaviest maps side by side: all predictions, and their mean under
    the weights, are linear in them. Maps below ``LIGHTEST`` and beyond ``WIDEST`` are left out.

    Parameters
    ----------
    dims: widths of the maps, ``(M,)``.
    constant: whether a constant feature 1 stands before those of every map.
    """

    def __init__(self, dims: Index, constant: bool) -> None:
        self._constant = constant
        self._dims = dims + constant

    def probabilities(
        self, ids: Index, x: Any, score: Array, alpha: Array, offered: Mask | None, weights: Array
    ) -> Array:
        """Return probabilities ``(n, K)`` for features as given, predictions ``(n, K)``, weights of maps ``(n, M)``."""
        seen = prepared(ids, x) if self._constant else x.array() if isinstance(x, Lookup) else x
        if self._dims.size == 1:
            return optimal_gap_weighting(seen[:, 0], score, alpha, offered)
        p = np.empty_like(score)
        choices, choice = np.unique(self._explored(weights), axis=0, return_inverse=True)
        for k, chosen in enumerate(choices):
            rows = np.flatnonzero(choice == k)
            maps = [seen[rows, i, :, : self._dims[i]] for i in np.flatnonzero(chosen)]
            mask = None if offered is None else offered[rows]
            p[rows] = optimal_gap_weighting(np.concatenate(maps, axis=2), score[rows], alpha[rows], mask)
        return p

    def _explored(self, weights: Array) -> Mask:
        """Tell which maps the design is for, ``(n, M)``."""
        order = np.argsort(-weights, axis=1, kind="stable")
        heavy = np.take_along_axis(weights, order, axis=1)
        fits = np.cumsum(self._dims[order], axis=1) <= WIDEST
        fits[:, 0] = True
        out = np.zeros(weights.shape, dtype=bool)
        np.put_along_axis(out, order, fits & (heavy >= LIGHTEST * heavy[:, :1]), axis=1)
        return out


def design_of(policy: Policy, dims: Index) -> OptimalDesign | None:
    """Return the design that a policy has chosen, for maps of these widths ``(M,)``; None for the uniform one."""
    given, owner = policy.settings, type(policy).__name__
    if given["design"] == "uniform":
        return None
    if np.max(given["blocks"]) > 1:
        raise validation.refuse(f"{owner}: blocks", given["blocks"], '1, since design="optimal" was chosen')
    for name in ("exploration", "weighting"):
        if given.get(name) in ("paper", "corrected"):
            expected = 'another choice, since design="optimal" was chosen and the formulas know none'
            raise validation.refuse(f"{owner}: {name}", given[name], expected)
    return OptimalDesign(dims, bool(given["intercept"]))
