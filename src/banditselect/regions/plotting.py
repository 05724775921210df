"""Plots of regions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime.extras import need
from ..runtime.quantiles import chi_square_quantile
from ..types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .regions import Regions


def draw(regions: Regions, coverage: float, axes: Axes | None) -> Axes:
    """Draw fits with bars of one standard error, centres, and ellipses of a share ``coverage`` of each region."""
    if axes is None:
        axes = need("matplotlib.pyplot", "experiments").figure().add_subplot()
    plane = _plane(regions)
    fits = regions.fits
    spots = fits.shrunk_estimates @ plane
    inside = np.linalg.inv(np.swapaxes(fits.roots, 1, 2) @ fits.roots + np.eye(fits.dim) / fits.spread)
    bars = np.sqrt(np.einsum("di,ndk,ki->in", plane, inside, plane))
    rest: dict[str, Any] = {"fmt": ".", "color": "0.6", "elinewidth": 0.5, "markersize": 3, "zorder": 1}
    axes.errorbar(spots[:, 0], spots[:, 1], xerr=bars[0], yerr=bars[-1], label="past tasks, 1 s.e.", **rest)
    angle = np.linspace(0.0, 2.0 * np.pi, 100)
    circle = np.sqrt(chi_square_quantile(coverage, 2)) * np.array([np.cos(angle), np.sin(angle)])
    for k, mean in enumerate(regions.means):
        center, shape = mean @ plane, plane.T @ regions.covariances[k] @ plane
        ring = center[:, None] + np.linalg.cholesky(shape + 1e-12 * np.trace(shape) * np.eye(2)) @ circle
        (line,) = axes.plot(ring[0], ring[1], label=f"region {k}, {regions.weights[k]:.0%} of the tasks")
        axes.plot(*center, "+", color=line.get_color())
    axes.set_xlabel("first axis of the parameters")
    axes.set_ylabel("second axis")
    axes.legend(fontsize="small")
    return axes


def _plane(regions: Regions) -> Array:
    """Return the two directions, ``(d, 2)``, in which parameters vary most; with one feature, the second is empty."""
    apart = regions.means - regions.weights @ regions.means
    total = np.einsum("k,kij->ij", regions.weights, regions.covariances)
    total += np.einsum("k,ki,kj->ij", regions.weights, apart, apart)
    axes = np.linalg.eigh(total)[1][:, ::-1][:, :2]
    if axes.shape[1] == 1:
        return np.eye(1, 2)
    return axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
