"""Likelihood-ratio confidence sets: their size, and the regret of playing optimistically over them.

They are not in the paper. Symbols as in `linear`; these bounds use no data, the sets of the policies do.
"""

from typing import Unpack

import numpy as np
from numpy import log, log1p, sqrt
from numpy.typing import ArrayLike

from ..types import Array
from ._arguments import Float, Form, array, equation, models, outer, worst
from ._constants import Balls, Map, Ridge
from .linear import log_det


@equation
def squared_radius(*, t: ArrayLike, n_models: int = 1, form: Form = "corrected", **model: Unpack[Ridge]) -> Float:
    r"""Bound the squared distance of the true parameter from its ridge estimate, in the norm of :math:`V_{t+1}`.

    With :math:`R` = ``noise``, :math:`r` = ``radius`` (the ``parameter_bound`` S around 0), :math:`M` = ``n_models``,
    :math:`\ell_t` the bound of `linear.log_det`; shape of ``t`` followed by that of the models.

    .. math::
        \big(R\sqrt{\ell_t + 2\log(1/\delta)} + \sqrt\lambda r\big)^2 \quad (eq:fsscb:expertnoisebound, printed), \qquad
        R^2 \ell_t + 2R^2\log(M/\delta) + \lambda r^2 \quad (corrected)

    The corrected form is that of the likelihood-ratio set: between half and all of the printed one for M = 1, and
    valid for the union over M models, of which the printed form knows nothing.

    Examples
    --------
    >>> E1 = dict(t=1000, dim=10, noise=0.5, feature_bound=1, regularization=1, radius=1, delta=0.05)
    >>> squared_radius(**E1), squared_radius(**E1, form="printed")
    (14.035667..., 21.256655...)
    """
    R, delta = model["noise"], model["delta"]
    d, lam, penalty, _ = models(model, model["radius"])
    ld = log_det(outer(t, lam), d, model["feature_bound"], lam)
    if form == "printed":
        return np.square(R * sqrt(ld + 2 * log(1 / delta)) + sqrt(penalty))
    return R**2 * ld + 2 * R**2 * log(n_models / delta) + penalty


@equation
def likelihood_regret_bound(
    *, t: ArrayLike, center_distance: float, prior: float | None = None, **model: Unpack[Balls]
) -> Float:
    r"""Bound the regret of PS-OFUL with likelihood-ratio sets (``likelihood="evidence"``, run at delta/2).

    With :math:`W` = ``center_distance`` (the largest :math:`|m_i - \theta_*|`), :math:`\pi` = ``prior`` of the true
    model (None: 1/M), :math:`\lambda_0` half the least finite ``regularization``, :math:`\ell_0` and :math:`\ell_i` the
    `linear.log_det` at :math:`\lambda_0` and :math:`\lambda_i`, :math:`N^2 = R^2(\ell_0 + 2\log(2/\delta))`:

    .. math::
        A &= \max_i\{\lambda_i r_i^2 + R^2\ell_i\} + 2R^2\log\frac{2}{\pi\delta}
        + \max_i\lambda_i r_i^2 + 2\lambda_0 W^2, \\
        \mathcal R(T) &\le \sqrt{T (u^2 + 2G^2)\, \ell_0}, \qquad u = N + \sqrt{N^2 + A}

    M enters only as an added :math:`2R^2\log M`, where eq:regret-param-select multiplies by :math:`1 + \log M`.

    Examples
    --------
    >>> E1 = dict(dim=10, n_models=5, noise=0.5, feature_bound=1, reward_bound=1, delta=0.05)
    >>> likelihood_regret_bound(t=1000, radius=[0.5, 0.6, 0.7, 0.8, 1], center_distance=2.5, **E1)
    2328.811113...
    """
    R, L, G, W, T = model["noise"], model["feature_bound"], model["reward_bound"], center_distance, array(t)
    M, delta = model["n_models"], model["delta"]
    pi = 1 / M if prior is None else prior
    d, lam, penalty, known = models(model, model["radius"], n_models=M)
    lam_0 = array(L**2 if np.all(known) else np.min(lam[~known]) / 2)
    ld_0 = log_det(T, array(model["dim"]), L, lam_0)
    N = R * sqrt(ld_0 + 2 * log(2 / delta))
    evidence = worst(penalty + R**2 * log_det(outer(T, lam), d, L, lam), T)
    A = evidence + 2 * R**2 * log(2 / (pi * delta)) + np.max(penalty) + 2 * lam_0 * W**2
    return _optimistic_regret(T, G, N, A, ld_0)


@equation
def union_regret_bound(*, t: ArrayLike, n_models: int, reward_bound: float, **model: Unpack[Map]) -> Float:
    r"""Bound the regret of FS-OFUL: optimism over the union of M feature maps.

    With :math:`S` = ``parameter_bound``, :math:`\ell = (d+1)\log(1 + T(L^2/\lambda + 1)/(d+1))` (the largest over the
    models), :math:`\ell_i` of `linear.log_det`, :math:`N^2 = R^2(\ell + 2\log(2M/\delta))`:

    .. math::
        A &= \max_i\{\lambda_i S^2 + R^2\ell_i\} + \max_i\lambda_i S^2 + 2R^2\log\frac{2M}{\delta} + G^2,
        \\ \mathcal R(T) &\le \sqrt{M T (u^2 + 2G^2)\, \ell}, \qquad u = N + \sqrt{N^2 + A}

    The factor :math:`\sqrt M` is real: each wrong map may have to be refuted on contexts of its own.

    Examples
    --------
    >>> E1 = dict(dim=10, n_models=5, noise=0.5, feature_bound=1, reward_bound=1, delta=0.05)
    >>> union_regret_bound(t=1000, parameter_bound=1, regularization=1, **E1)
    5386.643941...
    """
    R, L, G, M, T = model["noise"], model["feature_bound"], reward_bound, n_models, array(t)
    d, lam, penalty, _ = models(model, model["parameter_bound"], n_models=M)
    delta = model["delta"]
    rounds = outer(T, lam)
    ld = worst((d + 1) * log1p(rounds * (L**2 / lam + 1) / (d + 1)), T)
    N = R * sqrt(ld + 2 * log(2 * M / delta))
    evidence = worst(penalty + R**2 * log_det(rounds, d, L, lam), T)
    A = evidence + np.max(penalty) + 2 * R**2 * log(2 * M / delta) + G**2
    return _optimistic_regret(M * T, G, N, A, ld)


def _optimistic_regret(T: Array, G: float, N: Array, A: Array, ld: Array) -> Array:
    u = N + sqrt(N**2 + A)
    return sqrt(T * (u**2 + 2 * G**2) * ld)
