"""Constants and bounds of parameter selection (PS-OFUL): M balls, one of which holds the parameter.

First how well SqAlg predicts with an expert for every ball, from `U` to `gamma`; then what playing optimistically over
the set that this gives costs.

``t`` counts completed rounds and may be an array. ``radius`` is the whole radius b_i + c_i + c'_i, ``regularization``
is 1 / radius**2 unless given; both are scalars or of shape (M,), and the worst model counts. Radius 0 is a known
parameter: infinite regularisation, no error (corrected). ``horizon`` is the T of a bound that needs one: None is T = t,
``"anytime"`` holds at every round.
"""

from typing import Any, Unpack

import numpy as np
from numpy import log, log1p, sqrt
from numpy.typing import ArrayLike

from . import linear, oracle
from ._arguments import Float, Form, Horizon, Kappa, array, column, equation, models, outer, worst
from ._constants import Balls, Ridge
from .likelihood import likelihood_regret_bound as likelihood_regret_bound
from .linear import prediction_bound as prediction_bound


@equation
def U(
    *, t: ArrayLike, n_models: int | None = None, kappa: float = 0.5, form: Form = "corrected", **model: Unpack[Ridge]
) -> Float:
    r"""Bound the squared prediction error of the true model's expert.

    With :math:`d` = ``dim``, :math:`R` = ``noise``, :math:`L` = ``feature_bound``, :math:`r_i` = ``radius``,
    :math:`\lambda_i` = ``regularization``:

    .. math:: U_t = 1 + 2m + 32R^2\log\frac{2\sqrt2R + \sqrt{1+m}}{\delta}, \quad
        m = \max_i\Big\{\lambda_i r_i^2 + 4d\log\Big(1 + \frac{tL^2}{\lambda_i d}\Big)\Big\} \quad (eq:Ut-Def0)

    which is eq:Ut-Def at :math:`\lambda_i = 1/r_i^2`. Corrected: `linear.expert_error`. Print omits the squared
    residuals from the least-squares regret (eq:LS1) and is false for wide balls; at radius 0, where the error is 0, it
    stays large. ``n_models`` is only compared with the shape of ``radius``.

    Examples
    --------
    >>> E1 = dict(t=1000, dim=10, noise=0.5, feature_bound=1, radius=[0.5, 0.6, 0.7, 0.8, 1], delta=0.05)
    >>> U(**E1), U(**E1, form="printed")
    (46.600600..., 417.879563...)
    """
    R, L = model["noise"], model["feature_bound"]
    d, lam, penalty, _ = models(model, model["radius"], n_models=n_models or 0, known=1.0)
    if form == "printed":
        m = worst(penalty + 4 * linear.log_det(outer(t, lam), d, column(L), lam), t)
        return oracle.self_bound(v=1 + m, noise=R, delta=model["delta"]) - 1
    return linear.expert_error(t=t, kappa=kappa, **model)


@equation
def R_sq(*, t: ArrayLike, horizon: Horizon = None, form: Form = "corrected", **model: Unpack[Balls]) -> Float:
    r"""Bound the regret of SqAlg against the best expert.

    With the symbols of `prediction_bound` and :math:`M` = ``n_models``:

    .. math:: \mathcal R_{Sq}(t) = 8\log M \Big((G+L)^2 + R^2L^2d\log\frac{1 + tL^2\max_i r_i^2/d}{\delta}\Big)
        \quad (eq:temp07, eq:Rsq-simplified)

    (for another regularisation the worst model, with :math:`L\sqrt{\lambda_i}r_i` for L in the first square).
    Corrected: :math:`\frac12\ell^2\log M` with :math:`\ell` of `oracle.clipping_width`, into which ``dim``,
    ``feature_bound`` and the balls do not enter.

    Examples
    --------
    >>> E1 = dict(dim=10, noise=0.5, feature_bound=1, reward_bound=1, radius=[0.5, 0.6, 0.7, 0.8, 1], delta=0.05)
    >>> R_sq(t=1000, n_models=5, **E1), R_sq(t=1000, n_models=5, **E1, form="printed")
    (35.091965..., 296.485913...)
    """
    R, L, G, M, delta = model["noise"], model["feature_bound"], model["reward_bound"], model["n_models"], model["delta"]
    d, lam, penalty, _ = models(model, model["radius"], n_models=M, known=1.0)
    if form == "printed":
        ld = linear.log_det(outer(t, lam), d, column(L), lam)
        noise_2 = column(R) ** 2 * column(L) ** 2 * (ld + d * log(1 / delta))
        return 8 * log(M) * worst(np.square(column(G) + column(L) * sqrt(penalty)) + noise_2, t)
    width = oracle.clipping_width(t=t, noise=R, reward_bound=G, delta=delta, horizon=horizon)
    return oracle.sqalg_regret(width=width, n_models=M)


@equation
def gamma(
    *, t: ArrayLike, horizon: Horizon = None, kappa: Kappa = 0.5, form: Form = "corrected", **model: Unpack[Balls]
) -> Float:
    r"""Bound the squared error of SqAlg's predictions: the radius of PS-OFUL's confidence set.

    With :math:`U_t` of `U` and :math:`\mathcal R_{Sq}` of `R_sq`:

    .. math:: \gamma_t = 1 + 2\mathcal R_{Sq}(t) + 2U_t + 4R\sqrt{2(1+U_t)\log(\sqrt{1+U_t}/\delta)}
        + 32R^2\log\frac{R\sqrt8 + \sqrt v}{\delta}  \quad (eq:final-conf-set)

    with :math:`v` of `oracle.printed_oracle_error`. Corrected: `oracle.oracle_error`, three events of :math:`\delta/3`
    each; it goes from the regret to the error in one step and needs no U.

    Examples
    --------
    >>> E1 = dict(dim=10, noise=0.5, feature_bound=1, reward_bound=1, radius=[0.5, 0.6, 0.7, 0.8, 1], delta=0.05)
    >>> gamma(t=1000, n_models=5, **E1), gamma(t=1000, n_models=5, **E1, form="printed")
    (141.747244..., 1622.727947...)
    """
    m: Any = model
    if form == "printed":
        R_sq_t = R_sq(t=t, form=form, **m)
        del m["reward_bound"]
        errors = {"sq_regret": R_sq_t, "expert_error": U(t=t, form=form, **m)}
        return oracle.printed_oracle_error(noise=m["noise"], delta=m["delta"], **errors)
    return oracle.oracle_error(t=t, horizon=horizon, kappa=kappa, **m)


@equation
def gamma_data(
    *,
    prediction_loss: ArrayLike,
    ridge_loss: ArrayLike,
    noise: float,
    radius: ArrayLike,
    delta: float,
    regularization: ArrayLike | None = None,
    kappa: float = 0.5,
) -> Float:
    r"""Bound the squared error of any predictions from the losses seen: the data-dependent :math:`\gamma_t`.

    With ``prediction_loss`` = :math:`\sum_s (\hat y_s - y_s)^2`, ``ridge_loss`` = :math:`J_i`, the regularised losses
    of the ridge estimates (models on the last axis), :math:`\kappa` = ``kappa``:

    .. math:: \gamma_t = \frac{1}{1-\kappa}\Big[\sum_{s \le t}(\hat y_s - y_s)^2 - \min_i(J_i - \lambda_i r_i^2)
        + \frac{2R^2}{\kappa}\log\frac1\delta\Big]

    Not in the paper: one event for all rounds, no range, no log-determinant. A negative value refutes every model.

    Examples
    --------
    >>> gamma_data(prediction_loss=3.0, ridge_loss=[2.5, 4.0], noise=0.5, radius=[1, 0.5], delta=0.05)
    8.991464...
    """
    R, k, J = noise, kappa, array(ridge_loss)
    _, _, penalty, _ = models({"dim": 1, "regularization": regularization}, radius)
    best = array(np.min(np.atleast_1d(J - penalty), axis=-1))
    return (array(prediction_loss) - best + 2 * R**2 / k * log(1 / delta)) / (1 - k)


@equation
def regret_bound(
    *,
    t: ArrayLike,
    parameter_bound: float | None = None,
    set_regularization: float | None = None,
    kappa: Kappa = 0.5,
    form: Form = "corrected",
    **model: Unpack[Balls],
) -> Float:
    r"""Bound the regret of PS-OFUL with the sets of radius :math:`\gamma_t` (``confidence="paper"``).

    With :math:`T` = ``t``, :math:`G` = ``reward_bound``, :math:`S` = ``parameter_bound`` :math:`\ge |\theta_*|`,
    :math:`\lambda_0` = ``set_regularization`` (None: :math:`L^2`) the ridge of the set, :math:`\rho^2 = \gamma_T +
    \lambda_0 S^2`:

    .. math::
        & 2Gd + 2\max\{1, G\}\sqrt{2dT\log(1 + T/d)\,\gamma_T} \quad (eq:lem5, printed), \\
        & 2\sqrt{T \frac{G^2}{\log(1 + G^2/\rho^2)}\, d\log\Big(1 + \frac{TL^2}{\lambda_0 d}\Big)} \quad (corrected)

    Print plays :math:`Le_1, \dots, Le_d` first, actions that need not exist; a ridge takes their place. A value above
    2GT says nothing.

    Examples
    --------
    >>> E1 = dict(dim=10, noise=0.5, feature_bound=1, reward_bound=1, radius=[0.5, 0.6, 0.7, 0.8, 1], delta=0.05)
    >>> play = dict(t=1000, n_models=5, **E1)
    >>> regret_bound(**play, parameter_bound=1.5), regret_bound(**play, form="printed")
    (5164.763449..., 24497.066886...)
    """
    d, L, G, S, T = array(model["dim"]), model["feature_bound"], model["reward_bound"], parameter_bound, array(t)
    gamma_T = gamma(t=T, kappa=kappa, form=form, **model)
    if form == "printed":
        return 2 * G * d + 2 * max(1, G) * sqrt(2 * d * T * log1p(T / d) * gamma_T)
    if S is None:
        raise ValueError("parameter_bound must be a number >= 0 with form='corrected'; got None")
    lam_0 = L**2 if set_regularization is None else set_regularization
    factor = linear.capped_sum_factor(cap=G**2, slope=gamma_T + lam_0 * S**2)
    return 2 * sqrt(T * factor * linear.log_det(T, d, L, array(lam_0)))
