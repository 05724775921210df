"""Prediction errors of one ridge regression: the bounds on experts that feature and parameter selection share.

Notation: ``t`` completed rounds; :math:`V_t` the regularised Gram matrix; :math:`q_s = |\\phi_s|^2_{V_s^{-1}}`, at most
:math:`c = L^2 / \\lambda`. A *true* model has mean rewards :math:`\\langle\\phi_s,\\theta_*\\rangle` with
:math:`|\\theta_* - m| \\le r` around the centre :math:`m` of its regularisation. Every bound holds with probability
:math:`1 - \\delta` for all rounds at once.
"""

from typing import Unpack

import numpy as np
from numpy import log, log1p, sqrt
from numpy.typing import ArrayLike

from ..types import Array
from ._arguments import Float, Form, Horizon, array, column, equation, last_round, models, outer, ratio, worst
from ._constants import Ridge, Ridges


def log_det(t: Array, d: Array, L: Float, lam: Array) -> Array:
    r"""Bound the log-determinant of a regularised Gram matrix after ``t`` rounds, :math:`\ell_t` below.

    .. math:: \log\det(V_{t+1} / \lambda) \le d \log\Big(1 + \frac{t L^2}{\lambda d}\Big)
        \quad (aux:lemm:det-teace-ineq)
    """
    return d * log1p(t * L**2 / (lam * d))


@equation
def noise_bound(*, t: ArrayLike, noise: ArrayLike, delta: float, horizon: Horizon = None) -> Float:
    r"""Bound the absolute noise of all rounds together.

    With :math:`R` = ``noise``, :math:`T` = ``horizon`` (``None``: T = t).

    .. math::
        |\eta_s| \le R \sqrt{2 \log(2T/\delta)} \ (s \le T), \qquad
        |\eta_t| \le R \sqrt{2 \log(\pi^2 t^2 / 3\delta)} \ (\text{every } t \ge 1; \texttt{horizon="anytime"})

    Printed (aux:lemm:bound-subGaussian-variable, eq:reward-bounded): :math:`R\sqrt{2\log(2/\delta)}`, which is true of
    one round and was used for all of them; it is this function at ``t=1``.

    Examples
    --------
    >>> noise_bound(t=1000, noise=0.5, delta=0.05)
    2.301807...
    """
    T = np.maximum(last_round(t, horizon), 1)
    count = np.pi**2 * T**2 / 3 if isinstance(horizon, str) else 2 * T
    return array(noise) * sqrt(2 * log(count / delta))


@equation
def prediction_bound(*, t: ArrayLike, reward_bound: float, form: Form = "corrected", **model: Unpack[Ridge]) -> Float:
    r"""Bound the absolute prediction of the true ridge expert, model by model.

    With :math:`G` = ``reward_bound``, :math:`L` = ``feature_bound``, :math:`\lambda` = ``regularization`` (None:
    :math:`1/r^2`), :math:`\rho_t^2` of `likelihood.squared_radius`; shape of ``t`` followed by that of the models.

    .. math::
        & G + RL\sqrt{d\log\frac{1 + tL^2/\lambda d}{\delta}} + L\sqrt\lambda r \quad (eq:addmisable-experts,
        upper:bound:exp-pred-fssqcb, ps-oful-admissible-expert, eq:temp04, printed), \\
        & G + \frac{L}{\sqrt\lambda} \rho_t \quad (corrected)

    Printed, the bound needs :math:`\lambda \ge 1`, and :math:`d \ge 2` since :math:`d\log(1/\delta)` replaces
    :math:`2\log(1/\delta)`; a known parameter (radius 0) is its limit at :math:`\lambda = 1/r^2`. The bound is on both
    sides and for all actions, where the main text has one side.

    Examples
    --------
    >>> E1 = dict(dim=10, noise=0.5, feature_bound=1, reward_bound=1, regularization=1, radius=1, delta=0.05)
    >>> prediction_bound(t=1000, **E1), prediction_bound(t=1000, **E1, form="printed")
    (4.746420..., 6.362010...)
    """
    R, L, G, delta = column(model["noise"]), column(model["feature_bound"]), column(reward_bound), model["delta"]
    d, lam, penalty, _ = models(model, model["radius"], known=1.0 if form == "printed" else 0.0)
    ld = log_det(outer(t, lam), d, L, lam)
    if form == "printed":
        return G + R * L * sqrt(ld + d * log(1 / delta)) + L * sqrt(penalty)
    return G + L / sqrt(lam) * sqrt(R**2 * ld + 2 * R**2 * log(1 / delta) + penalty)


@equation
def expert_error(*, t: ArrayLike, kappa: float = 0.5, **model: Unpack[Ridge]) -> Float:
    r"""Bound the squared prediction error of the true ridge expert (the corrected Q and U).

    With :math:`R` = ``noise``, :math:`r` = ``radius``, :math:`c = L^2/\lambda`, :math:`\kappa` = ``kappa`` in (0, 1):

    .. math:: \sum_{s \le t} (f_s - \mu_s)^2 \le \max_i \frac{1 + (1-\kappa) c_i}{1-\kappa}
        \Big[\lambda_i r_i^2 + R^2 \ell_{i,t} + \frac{2R^2}{\kappa} \log\frac1\delta\Big]

    A known parameter (``regularization`` inf, ``radius`` 0) errs by 0.

    Examples
    --------
    >>> E1 = dict(t=1000, dim=10, noise=0.5, feature_bound=1, regularization=1, radius=1, delta=0.05)
    >>> expert_error(**E1)
    46.600600...
    """
    R, L, k = model["noise"], model["feature_bound"], kappa
    d, lam, penalty, known = models(model, model["radius"])
    c, ld = L**2 / lam, log_det(outer(t, lam), d, L, lam)
    bound = (1 + (1 - k) * c) / (1 - k) * (penalty + R**2 * ld + 2 * R**2 / k * log(1 / model["delta"]))
    return worst(np.where(known, 0.0, bound), t)


@equation
def expert_regret(*, t: ArrayLike, **model: Unpack[Ridges]) -> Float:
    r"""Bound the regret in square loss of the true ridge expert against the mean rewards.

    With the symbols of `expert_error`:

    .. math:: \sum_{s \le t} (f_s - y_s)^2 - (\mu_s - y_s)^2 \le \max_i (1 + c_i)
        \Big[\lambda_i r_i^2 + R^2 \ell_{i,t} + 2R^2 \log\frac1\delta\Big] \quad (eq:LS1, corrected)

    Printed :math:`\lambda r^2 + 2 \sum_s q_s`: the squared residuals that multiply :math:`q_s` are missing there.

    Examples
    --------
    >>> E1 = dict(t=1000, dim=10, noise=0.5, feature_bound=1, regularization=1, radius=1, delta=0.05)
    >>> expert_regret(**E1)
    28.071334...
    """
    R, L, delta = column(model["noise"]), column(model["feature_bound"]), model["delta"]
    d, lam, penalty, known = models(model, model["radius"])
    c, ld = L**2 / lam, log_det(outer(t, np.broadcast_arrays(lam, R, L)[0]), d, L, lam)
    return worst(np.where(known, 0.0, (1 + c) * (penalty + R**2 * ld + 2 * R**2 * log(1 / delta))), t)


@equation
def capped_sum_factor(*, cap: ArrayLike, slope: ArrayLike) -> Float:
    r"""Return the constant that turns capped leverages into a log-determinant.

    With :math:`a` = ``cap``, :math:`b` = ``slope``:

    .. math:: \sum_s \min(a, b q_s) \le \frac{a}{\log(1 + a/b)} \sum_s \log(1 + q_s)  \quad (aux:lemm:bound-sumofnorms)

    The printed constant 2 (for a = b = 1) is :math:`1/\log 2`; without the cap the printed lemma needs
    :math:`\lambda \ge L^2`.

    Examples
    --------
    >>> capped_sum_factor(cap=1, slope=1)
    1.442695...
    """
    a, b = np.broadcast_arrays(array(cap), array(slope))
    return ratio(a, log1p(ratio(a, b, 0.0)), np.where(a > 0, 0.0, b))
