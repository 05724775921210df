"""Answers of policies over one confidence ellipsoid, and over a confidence set for each of M feature maps."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..models.ridge_bank import RidgeBank, penalties, with_zero
from ..runtime.constraints import whole_number
from ..runtime.errors import refuse
from ..runtime.inputs import lane_vectors, map_widths
from ..runtime.lanes import per_lane
from ..runtime.shapes import maps_of
from ..types import Array
from . import shared
from .contract import answer
from .policy import Policy


class EllipsoidPolicy(Policy):
    """A policy over one confidence ellipsoid per lane."""

    parameters = shared.PARAMETERS
    constant = shared.CONSTANT
    squared_radii = answer("squared_radius", "Squared radius of the confidence ellipsoid in the norm of V.")
    regret_bound = answer(
        "regret_bound",
        "Twice the widths of the actions played: with probability 1 - delta it bounds the regret so far, if every "
        "reward is learned before the next act.",
    )

    def covers(self, theta: ArrayLike) -> Any:
        """Return whether the confidence set contains ``theta``, ``(d,)`` or one per lane ``(N, d)``.

        With an intercept it has d + 1 entries, the constant first; with blocks those of one after those of the other.
        """
        return covers_of_maps(self, theta)


def covers_of_maps(policy: Any, theta: ArrayLike, model: int | None = None) -> Any:
    """Return whether the set of ``model`` (of any, by default) contains ``theta``, ``(d_i,)`` or ``(N, d_i)``.

    With an intercept it has d_i + 1 entries, the constant first; with blocks those of one after those of the other.
    """
    widths = policy._model.bank.widths
    if model is None and len(set(widths)) > 1:
        raise refuse("model", model, "the index of a map, since the maps have different widths")
    first = 0 if model is None else whole_number("model", model, 0, len(widths) - 1)
    models = slice(None) if model is None else slice(first, first + 1)
    thetas = lane_vectors(theta, policy._size, int(widths[first]))
    return policy._answer(policy._model.covers(thetas, models))


def coverage_of_maps(policy: Any, parameter: Array, model: ArrayLike | None) -> Array | None:
    """Return for each lane whether the set of its true ``model`` holds the true ``parameter``, ``(N,)``."""
    if model is None:
        return None
    parameter = with_zero(parameter) if policy._model.constant else parameter
    held, models = np.empty(policy._size), np.broadcast_to(model, policy._size)
    for i in np.unique(models):
        held[models == i] = np.atleast_1d(policy.covers(parameter, int(i)))[models == i]
    return held


def ridge_per_map(policy: Any, lanes: int) -> tuple[RidgeBank, dict[str, Any]]:
    """Return a ridge for each of M maps, and ``noise``, ``bound`` and ``regularization`` as numbers of every lane."""
    owner, M = type(policy).__name__, int(policy.n_models)
    blocks = map_widths(owner, policy.settings.get("blocks", 1), M, "blocks")
    shape = maps_of(map_widths(owner, policy.dim, M), blocks, many=True)
    noise = per_lane(shared.NOISE.default if policy.noise is None else policy.noise, lanes)
    bound = per_lane(policy.parameter_bound, lanes)
    widths = np.array(blocks) * (np.array(shape.dims) + policy.intercept)
    lam = penalties(f"{owner}: regularization", policy.regularization, widths, noise, bound)
    bank = RidgeBank.of(shape, lanes, lam, constant=policy.intercept)
    return bank, {"noise": noise, "bound": bound, "regularization": lam}
