"""The regions that PS-OFUL and PS-IDS choose among, as the arrays that their regressions are built from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..runtime.constraints import Numbers, OneOf
from ..runtime.errors import ArgumentError, refuse
from ..runtime.shapes import ExactShape, maps_of
from ..types import Array, Index
from .ridge_bank import RidgeBank, known_as_zero, with_zero
from .shared_ridge_bank import SharedRidgeBank


@dataclass(frozen=True)
class Regions:
    """M balls, or ellipsoids of the given shapes, in each of N lanes.

    Parameters
    ----------
    center: ``(N, M, d)``.  radius: ``(N, M)``.
    shapes: positive definite matrices ``(M, d, d)``, or None for balls.
    order: which of the regions given each of these is, ``(N, M)``. Balls stand in the order of their radii, so that
        those with one inverse stand side by side.
    constant: whether the first entry belongs to a constant 1 that stands before the features.
    """

    center: Array
    radius: Array
    shapes: Array | None
    order: Index
    constant: bool = False

    @classmethod
    def read(
        cls,
        owner: str,
        lanes: int | None,
        centers: ArrayLike,
        shapes: ArrayLike | None,
        *,
        constant: bool = False,
        **radii: ArrayLike,
    ) -> "Regions":
        """Return the regions from a policy's arguments; the ``radii`` named are added up.

        ``constant``: whether they are regions of a constant term and the parameter; the centres are 0 there.
        """
        middle = np.asarray(centers, dtype=float)
        middle = with_zero(middle) if constant else middle
        (M, d), N = middle.shape[-2:], lanes or 1
        radius = np.zeros((N, M))
        for name, value in radii.items():
            if np.shape(value) not in ((), (M,), (N, M)):
                raise refuse(f"{owner}: {name}", value, f"numbers >= 0, shape () or ({M},), or (N, {M})")
            radius += np.asarray(value, dtype=float)
        order = np.argsort(radius if shapes is None else np.zeros((N, M)), axis=1, kind="stable")
        center = np.take_along_axis(np.broadcast_to(middle, (N, M, d)), order[:, :, None], axis=1)
        matrices = None if shapes is None else _positive_definite(f"{owner}: shapes", shapes, M, d)
        return cls(center, np.take_along_axis(radius, order, axis=1), matrices, order, constant)

    def regularization(self, noise: Array) -> Array:
        """Return lambda_i = d R^2 / r_i^2 rounded to a power of two, ``(N, M)``; infinite for a known parameter.

        It nearly minimises lambda r^2 + R^2 logdet(V / lambda); the rounding keeps the number of matrices small.
        ``noise``: R, ``(N, 1)`` or ``(N, M)``.
        """
        d = self.center.shape[2]
        with np.errstate(divide="ignore", over="ignore"):
            return np.exp2(np.round(np.log2(d * noise**2) - 2.0 * np.log2(self.radius)))

    def penalty(self, lam: Array) -> Array:
        """Return lambda_i r_i^2, ``(N, M)``; 0 for a known parameter."""
        return known_as_zero(lam) * self.radius**2

    def bank(self, lam: Array, **arguments: Any) -> SharedRidgeBank:
        """Return the biased ridge regressions with prior precisions lambda_i, or lambda_i P_i^-1 for shapes P_i.

        The ``arguments`` are those of :class:`SharedRidgeBank` that have defaults.
        """
        precision, group = self._balls(lam) if self.shapes is None else self._ellipsoids(lam, self.shapes)
        bank = SharedRidgeBank(self.feature_shape, self.center, precision, group, **arguments)
        bank.constant = self.constant
        return bank

    @property
    def feature_shape(self) -> ExactShape:
        """The shape of the features."""
        return maps_of(self.center.shape[2] - self.constant)

    def repeated(self, times: int) -> "Regions":
        """Return the regions several times over, one after the other."""
        shapes = None if self.shapes is None else np.tile(self.shapes, (times, 1, 1))
        center, radius = np.tile(self.center, (1, times, 1)), np.tile(self.radius, (1, times))
        return Regions(center, radius, shapes, np.tile(self.order, (1, times)), self.constant)

    @property
    def spread(self) -> Array:
        """Mean squared distance of a parameter from the middle of the regions, per feature, ``(N,)``.

        Where all regions are one known parameter it is that parameter's square, or 1.
        """
        d = self.center.shape[2]
        apart = ((self.center - self.center.mean(axis=1, keepdims=True)) ** 2).sum(axis=2)
        within = self.radius**2
        if self.shapes is not None:
            within = within * np.trace(self.shapes, axis1=1, axis2=2) / d
        found = (apart + within).mean(axis=1) / d
        found = np.where(found > 0.0, found, (self.center**2).sum(axis=2).mean(axis=1) / d)
        return np.where(found > 0.0, found, 1.0)

    def _balls(self, lam: Array) -> tuple[Array, Index]:
        """Return the distinct prior precisions ``(N, G, d, d)`` and which of them each model has ``(N, M)``."""
        d = self.center.shape[2]
        found = [np.unique(row, return_inverse=True) for row in lam]
        G = max(values.size for values, _ in found)
        precision = np.zeros((len(lam), G, d, d))
        for own, (values, _) in zip(precision, found, strict=True):
            own[:, np.arange(d), np.arange(d)] = np.pad(values, (0, G - values.size), mode="edge")[:, None]
        return precision, np.stack([group for _, group in found])

    def _ellipsoids(self, lam: Array, shapes: Array) -> tuple[Array, Index]:
        (N, M, d), inverse = self.center.shape, np.linalg.inv(shapes)
        precision = known_as_zero(lam)[:, :, None, None] * (inverse + np.swapaxes(inverse, 1, 2)) / 2.0
        precision[np.isinf(lam)] = np.diag(np.full(d, np.inf))
        return precision, np.tile(np.arange(M), (N, 1))

    def wide_ridge(self, noise: Array) -> RidgeBank:
        """Return one ridge about the mean of the centres, twice as wide as all regions: the alarm's challenger."""
        middle = self.center.mean(axis=1)
        reach = 2.0 * (np.linalg.norm(self.center - middle[:, None], axis=2) + self.radius).max(axis=1)
        lam = np.where(reach > 0.0, middle.shape[1] * noise**2 / np.where(reach > 0.0, reach, 1.0) ** 2, 1.0)
        return RidgeBank.of(self.feature_shape, lam.size, lam[:, None], center=middle[:, None], constant=self.constant)


def mixture_shapes(
    means: ArrayLike, covariances: ArrayLike, covariance_type: str | None, constant: bool = False
) -> Array:
    """Return the covariances of a Gaussian mixture as shapes ``(M, d, d)``.

    ``covariance_type`` says what they are, as scikit-learn does: ``"full"`` ``(M, d, d)``, ``"tied"`` ``(d, d)``,
    one for all, ``"diag"`` ``(M, d)``, variances, or ``"spherical"`` ``(M,)``, one variance each; None where their
    shape shows it. With a ``constant`` they have one row more than the means have entries.
    """
    Numbers(shapes=((None, None),)).check("from_mixture: means", means, None)
    M, d = np.shape(means)[0], np.shape(means)[1] + constant
    kinds = {"full": (M, d, d), "tied": (d, d), "diag": (M, d), "spherical": (M,)}
    OneOf(tuple(kinds), optional=True).check("from_mixture: covariance_type", covariance_type, None)
    kinds = {kind: shape for kind, shape in kinds.items() if covariance_type in (None, kind)}
    try:
        Numbers(shapes=tuple(dict.fromkeys(kinds.values()))).check("from_mixture: covariances", covariances, None)
    except ArgumentError as error:
        reason = "" if covariance_type is None else f", since covariance_type is {covariance_type!r}"
        raise refuse("from_mixture: covariances", covariances, error.expected + reason) from None
    found = np.asarray(covariances, dtype=float)
    fits = [kind for kind, shape in kinds.items() if shape == found.shape]
    if len(fits) > 1:
        expected = " or ".join(map(repr, fits)) + f", since covariances of shape {found.shape} may be either"
        raise refuse("from_mixture: covariance_type", None, expected)
    if fits[0] in ("diag", "spherical"):
        found = found.reshape(M, -1, 1) * np.eye(d)
    return np.array(np.broadcast_to(found, (M, d, d)), order="C")


def _positive_definite(name: str, given: ArrayLike, M: int, d: int) -> Array:
    """Return positive definite matrices ``(M, d, d)``."""
    found = np.asarray(given, dtype=float)
    right = found.shape == (M, d, d) and np.allclose(found, np.swapaxes(found, 1, 2), rtol=1e-9)
    if not right or np.linalg.eigvalsh(found).min() <= 0.0:
        raise refuse(name, given, f"symmetric positive definite matrices of shape ({M}, {d}, {d})")
    return found
