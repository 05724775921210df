"""Settings with an entry per model, when models come and go."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..types import Index
from .validation import as_floats, refuse

AXES = {"regularization": -1, "radii": -1, "center_errors": -1, "radius_errors": -1, "centers": -2, "shapes": -3}
"""Settings that may have an entry per model, and on which axis; one with fewer axes is of all models."""


def appended(settings: Mapping[str, Any], given: Mapping[str, Any], before: int, new: int) -> dict[str, Any]:
    """Return the settings in ``AXES`` for ``new`` models more; ``given``: what is told of these, None for nothing."""
    found = {}
    for name, axis in AXES.items():
        told = given.get(name)
        if name not in settings or (told is None and np.ndim(settings[name]) < -axis):
            if told is not None:
                raise refuse(f"add_models: {name}", told, "None: this policy has no such argument")
            continue
        mine = settings[name]
        if mine is None or told is None:
            expected = "None, as for the other models" if mine is None else "one for each new model, as for the others"
            raise refuse(f"add_models: {name}", told, expected)
        parts = [_per_model(f"add_models: {name}", *part, axis) for part in ((mine, before), (told, new))]
        lead = max((part.shape[:axis] for part in parts), key=len)
        fits = len({part.shape[part.ndim + axis + 1 :] for part in parts}) == 1
        if not fits or any(part.shape[:axis] not in ((), lead) for part in parts):
            raise refuse(f"add_models: {name}", told, f"numbers like those of the other models, {np.shape(mine)}")
        found[name] = np.concatenate([np.broadcast_to(p, (*lead, *p.shape[axis:])) for p in parts], axis=axis)
    return found


def _per_model(name: str, value: Any, n: int, axis: int) -> Any:
    """Return numbers with one entry for each of n models."""
    expected = f"numbers, one entry for each of {n} models"
    array = as_floats(name, value, expected)
    if axis == -1 and array.ndim == 0:
        return np.full(n, float(array))
    if array.ndim < -axis or array.shape[axis] != n:
        raise refuse(name, value, expected)
    return array


def without(settings: Mapping[str, Any], kept: Index) -> dict[str, Any]:
    """Return the settings with an entry per model of the models ``kept`` alone."""
    axes = {name: axis for name, axis in AXES.items() if np.ndim(settings.get(name, 0.0)) >= -axis}
    found = {name: np.take(np.asarray(settings[name]), kept, axis=axis) for name, axis in axes.items()}
    if settings.get("prior_weights") is not None:
        found["prior_weights"] = np.asarray(settings["prior_weights"], dtype=float)[kept]
    return found


def with_shares(settings: Mapping[str, Any], told: ArrayLike | None, before: int, new: int) -> dict[str, Any]:
    """Return the setting ``prior_weights`` once new models have a share each, by default that of equal weights."""
    if told is not None and "prior_weights" not in settings:
        raise refuse("add_models: prior_weights", told, "None: this policy takes all models to be equally probable")
    if "prior_weights" not in settings or (told is None and settings["prior_weights"] is None):
        return {}
    expected = f"shares of the {new} new models, numbers > 0 of sum < 1"
    share = (
        np.full(new, 1.0 / (before + new)) if told is None else as_floats("add_models: prior_weights", told, expected)
    )
    if share.shape not in ((), (new,)) or not share.min() > 0.0 or not np.broadcast_to(share, new).sum() < 1.0:
        raise refuse("add_models: prior_weights", told, expected)
    share = np.broadcast_to(share, new)
    mine = np.ones(before) if settings["prior_weights"] is None else np.asarray(settings["prior_weights"], dtype=float)
    return {"prior_weights": np.concatenate([mine / mine.sum() * (1.0 - share.sum()), share])}
