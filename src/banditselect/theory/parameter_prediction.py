"""How well SqAlg predicts with M balls for the parameter: the first half of `parameter_selection`.

``radius`` is the whole radius b_i + c_i + c'_i, ``regularization`` is 1 / radius**2 unless given; both are scalars or
of shape (M,), and the worst model counts. Radius 0 is a known parameter: infinite regularisation, no error (corrected).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from banditselect.theory import linear, oracle
from banditselect.theory._arguments import (
    Float,
    Form,
    Horizon,
    Kappa,
    Range,
    array,
    equation,
    log,
    models,
    outer,
    sqrt,
    worst,
)


@equation
def U(
    *,
    t: ArrayLike,
    dim: int,
    noise: float,
    feature_bound: float,
    radius: ArrayLike,
    delta: float,
    regularization: ArrayLike | None = None,
    n_models: int | None = None,
    kappa: float = 0.5,
    form: Form = "corrected",
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
    R, L = noise, feature_bound
    d, lam, penalty, _ = models(dim, regularization, radius, n_models=n_models or 0, known=1.0)
    if form == "printed":
        m = worst(penalty + 4 * linear.log_det(outer(t, lam), d, L, lam), t)
        return array(oracle.self_bound(v=1 + m, noise=R, delta=delta)) - 1
    return linear.expert_error(
        t=t, dim=dim, noise=R, feature_bound=L, regularization=regularization, radius=radius, delta=delta, kappa=kappa
    )


@equation
def prediction_bound(
    *,
    t: ArrayLike,
    dim: int,
    noise: float,
    feature_bound: float,
    reward_bound: float,
    radius: ArrayLike,
    delta: float,
    regularization: ArrayLike | None = None,
    form: Form = "corrected",
) -> Float:
    r"""Bound the absolute predictions of an admissible expert, model by model.

    With the symbols of `U` and :math:`G` = ``reward_bound``; the result has the shape of ``t`` followed by (M,).

    .. math:: |\langle\phi_t, \theta^i_t\rangle| \le G + RL\sqrt{d\log\frac{1 + tL^2/\lambda_i d}{\delta}}
        + L\sqrt{\lambda_i} r_i  \quad (ps-oful-admissible-expert, eq:temp04)

    Corrected: `linear.prediction_bound`, which needs neither :math:`r \le 1` nor :math:`d \ge 2`, and is G at radius 0.

    Examples
    --------
    >>> E1 = dict(t=1000, dim=10, noise=0.5, feature_bound=1, reward_bound=1, delta=0.05)
    >>> prediction_bound(**E1, radius=1), prediction_bound(**E1, radius=1, form="printed")
    (4.746420..., 6.362010...)
    """
    return linear.prediction_bound(
        t=t,
        dim=dim,
        noise=noise,
        feature_bound=feature_bound,
        reward_bound=reward_bound,
        regularization=regularization,
        radius=radius,
        delta=delta,
        form=form,
    )


@equation
def prediction_range(
    *,
    t: ArrayLike,
    dim: int,
    noise: float,
    feature_bound: float,
    reward_bound: float,
    radius: ArrayLike,
    delta: float,
    regularization: ArrayLike | None = None,
    horizon: Horizon = None,
    range: Range = "clip",
    form: Form = "corrected",
) -> tuple[Float, Float]:
    r"""Return :math:`(\beta, \ell)`, the range of rewards and predictions that SqAlg works on.

    With the symbols of `prediction_bound`; :math:`\beta = -\ell/2`:

    .. math:: \ell = 2\Big(G + L + RL\sqrt{d\log\frac{1 + tL^2\max_i r_i^2/d}{\delta}}\Big)  \quad (eq:temp06)

    (for another regularisation, twice the largest bound of eq:temp04). Corrected: `oracle.prediction_range`; by default
    :math:`2(G + n_T)` with clipped predictions, which covers the noise of all T rounds where print covers that of one.

    Examples
    --------
    >>> E1 = dict(t=1000, dim=10, noise=0.5, feature_bound=1, reward_bound=1, radius=[0.5, 1], delta=0.05)
    >>> prediction_range(**E1), prediction_range(**E1, form="printed")
    ((-3.301807..., 6.603614...), (-6.362010..., 12.724020...))
    """
    return oracle.prediction_range(
        t=t,
        dim=dim,
        noise=noise,
        feature_bound=feature_bound,
        reward_bound=reward_bound,
        regularization=regularization,
        radius=radius,
        delta=delta,
        horizon=horizon,
        range=range,
        form=form,
    )


@equation
def R_sq(
    *,
    t: ArrayLike,
    dim: int,
    n_models: int,
    noise: float,
    feature_bound: float,
    reward_bound: float,
    radius: ArrayLike,
    delta: float,
    regularization: ArrayLike | None = None,
    horizon: Horizon = None,
    form: Form = "corrected",
) -> Float:
    r"""Bound the regret of SqAlg against the best expert.

    With the symbols of `prediction_bound` and :math:`M` = ``n_models``:

    .. math:: \mathcal R_{Sq}(t) = 8\log M \Big((G+L)^2 + R^2L^2d\log\frac{1 + tL^2\max_i r_i^2/d}{\delta}\Big)
        \quad (eq:temp07, eq:Rsq-simplified)

    (for another regularisation the worst model, with :math:`L\sqrt{\lambda_i}r_i` for L in the first square).
    Corrected: :math:`\frac12\ell^2\log M` with :math:`\ell` of `prediction_range`, into which ``dim``,
    ``feature_bound`` and the balls do not enter.

    Examples
    --------
    >>> E1 = dict(dim=10, noise=0.5, feature_bound=1, reward_bound=1, radius=[0.5, 0.6, 0.7, 0.8, 1], delta=0.05)
    >>> R_sq(t=1000, n_models=5, **E1), R_sq(t=1000, n_models=5, **E1, form="printed")
    (35.091965..., 296.485913...)
    """
    R, L, G = noise, feature_bound, reward_bound
    d, lam, penalty, _ = models(dim, regularization, radius, n_models=n_models, known=1.0)
    if form == "printed":
        ld = linear.log_det(outer(t, lam), d, L, lam)
        range_2 = np.square(G + L * sqrt(penalty)) + R**2 * L**2 * (ld + d * log(1 / delta))
        return 8 * log(n_models) * worst(range_2, t)
    width = oracle.clipping_width(t=t, noise=R, reward_bound=G, delta=delta, horizon=horizon)
    return oracle.sqalg_regret(width=width, n_models=n_models)


@equation
def gamma(
    *,
    t: ArrayLike,
    dim: int,
    n_models: int,
    noise: float,
    feature_bound: float,
    reward_bound: float,
    radius: ArrayLike,
    delta: float,
    regularization: ArrayLike | None = None,
    horizon: Horizon = None,
    kappa: Kappa = 0.5,
    form: Form = "corrected",
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
    model: dict[str, Any] = {"dim": dim, "noise": noise, "feature_bound": feature_bound}
    model |= {"radius": radius, "regularization": regularization, "delta": delta}
    if form == "printed":
        U_t = U(t=t, form=form, **model)
        R_sq_t = R_sq(t=t, n_models=n_models, reward_bound=reward_bound, form=form, **model)
        return oracle.printed_oracle_error(sq_regret=R_sq_t, expert_error=U_t, noise=noise, delta=delta)
    return oracle.oracle_error(t=t, n_models=n_models, reward_bound=reward_bound, horizon=horizon, kappa=kappa, **model)
