"""Constants and bounds of feature selection (FS-SCB, FS-OFUL): M feature maps, at least one of them true.

First how well SqAlg predicts with an expert on every map, from `Q` to `D`; then what playing on its predictions costs.

``t`` counts completed rounds and may be an array. ``dim`` and ``regularization`` are scalars or of shape (M,), and the
worst model counts. ``horizon`` is the T of a bound that needs one: None is T = t, ``"anytime"`` holds at every round.
"""

from typing import Any

import numpy as np
from numpy import log, sqrt
from numpy.typing import ArrayLike

from ..types import Array
from . import linear, oracle
from ._arguments import Float, Form, Horizon, Kappa, array, column, equation, models, outer, ratio, worst
from .likelihood import union_regret_bound as union_regret_bound
from .linear import prediction_bound as prediction_bound


@equation
def Q(
    *,
    t: ArrayLike,
    dim: ArrayLike,
    noise: float,
    feature_bound: float,
    parameter_bound: float,
    regularization: ArrayLike,
    delta: float,
    n_models: int | None = None,
    kappa: float = 0.5,
    form: Form = "corrected",
) -> Float:
    r"""Bound the squared prediction error of the true model's expert.

    With :math:`d` = ``dim``, :math:`R` = ``noise``, :math:`L` = ``feature_bound``, :math:`S` = ``parameter_bound``,
    :math:`\lambda_i` = ``regularization``:

    .. math:: Q_t = 1 + 2m + 32R^2\log\frac{R\sqrt8 + \sqrt{1+m}}{\delta}, \quad
        m = \max_i\Big\{\lambda_i S^2 + 4d\log\Big(1 + \frac{tL^2}{\lambda_i d}\Big)\Big\} \quad (final:def:q_t)

    Corrected: `linear.expert_error` with r = S. Print omits the squared residuals from the least-squares regret
    (forboundingtheq_tfirstone), so it is false for large :math:`L^2/\lambda` or R, and its d log term lacks
    :math:`R^2`. ``kappa`` trades the confidence term against the rest; ``n_models`` is only
    compared with the shape of ``regularization``.

    Examples
    --------
    >>> E1 = dict(t=1000, dim=10, noise=0.5, feature_bound=1, parameter_bound=1, regularization=1, delta=0.05)
    >>> Q(**E1), Q(**E1, form="printed")
    (46.600600..., 417.879563...)
    """
    R, L, S = noise, feature_bound, parameter_bound
    d, lam, penalty, _ = models(dim, regularization, column(S), n_models=n_models or 0)
    if form == "printed":
        m = worst(penalty + 4 * linear.log_det(outer(t, lam), d, column(L), lam), t)
        return oracle.self_bound(v=1 + m, noise=R, delta=delta) - 1
    return linear.expert_error(
        t=t, dim=dim, noise=R, feature_bound=L, regularization=regularization, radius=S, delta=delta, kappa=kappa
    )


@equation
def R_sq(
    *,
    t: ArrayLike,
    dim: ArrayLike,
    n_models: int,
    noise: float,
    feature_bound: float,
    reward_bound: ArrayLike,
    parameter_bound: float,
    regularization: ArrayLike,
    delta: float,
    horizon: Horizon = None,
    form: Form = "corrected",
) -> Float:
    r"""Bound the regret of SqAlg against the best expert.

    With the symbols of `prediction_bound` and :math:`M` = ``n_models``:

    .. math:: \mathcal R_{Sq}(t) = 8R^2L^2\log M \Big(G^2 + \max_i\Big\{\lambda_i S^2
        + d\log\Big(1 + \frac{tL^2}{\lambda_i d}\Big)\Big\} + \log\frac1\delta\Big)  \quad (eq:finalboundrsq:fs)

    Corrected: :math:`\frac12\ell^2\log M` with :math:`\ell` of `oracle.clipping_width`, into which ``dim``,
    ``feature_bound``, ``parameter_bound`` and ``regularization`` do not enter. In print :math:`R^2L^2` multiplies
    :math:`G^2 + \lambda S^2` too, so the bound is 0 without noise.

    Examples
    --------
    >>> E1 = dict(dim=10, noise=0.5, feature_bound=1, reward_bound=1, parameter_bound=1, regularization=1, delta=0.05)
    >>> R_sq(t=1000, n_models=5, **E1), R_sq(t=1000, n_models=5, **E1, form="printed")
    (35.091965..., 164.635640...)
    """
    R, L, G = noise, feature_bound, array(reward_bound)
    d, lam, penalty, _ = models(dim, regularization, column(parameter_bound), n_models=n_models)
    if form == "printed":
        m = worst(penalty + linear.log_det(outer(t, lam), d, column(L), lam), t)
        return 8 * R**2 * L**2 * log(n_models) * (G**2 + m + log(1 / delta))
    width = oracle.clipping_width(t=t, noise=R, reward_bound=G, delta=delta, horizon=horizon)
    return oracle.sqalg_regret(width=width, n_models=n_models)


@equation
def D(
    *,
    t: ArrayLike,
    dim: ArrayLike,
    n_models: int,
    noise: ArrayLike,
    feature_bound: ArrayLike,
    reward_bound: ArrayLike,
    parameter_bound: ArrayLike,
    regularization: ArrayLike,
    delta: float,
    horizon: Horizon = None,
    kappa: Kappa = 0.5,
    form: Form = "corrected",
) -> Float:
    r"""Bound the squared error of SqAlg's predictions of the mean rewards.

    With :math:`Q_t` of `Q` and :math:`\mathcal R_{Sq}` of `R_sq`:

    .. math:: D_t = 1 + 2\mathcal R_{Sq}(t) + 2Q_t + 4R\sqrt{2(1+Q_t)\log(\sqrt{1+Q_t}/\delta)}
        + 32R^2\log\frac{R\sqrt8 + \sqrt v}{\delta}  \quad (definigitonofd_t:fs)

    with :math:`v` of `oracle.printed_oracle_error`. Corrected: `oracle.oracle_error` with r = S, three events of
    :math:`\delta/3` each; it goes from the regret to the error in one step and needs no Q.

    Examples
    --------
    >>> E1 = dict(dim=10, noise=0.5, feature_bound=1, reward_bound=1, parameter_bound=1, regularization=1, delta=0.05)
    >>> D(t=1000, n_models=5, **E1), D(t=1000, n_models=5, **E1, form="printed")
    (141.747244..., 1358.330105...)
    """
    model: dict[str, Any] = {"t": t, "dim": dim, "noise": noise, "feature_bound": feature_bound}
    model |= {"regularization": regularization, "delta": delta}
    if form == "printed":
        model |= {"parameter_bound": parameter_bound, "form": form}
        errors = {"sq_regret": R_sq(n_models=n_models, reward_bound=reward_bound, **model), "expert_error": Q(**model)}
        return oracle.printed_oracle_error(noise=noise, delta=delta, **errors)
    model |= {"radius": column(parameter_bound), "horizon": horizon, "kappa": kappa}
    return oracle.oracle_error(n_models=n_models, reward_bound=reward_bound, **model)


@equation
def learning_rate(
    *,
    t: ArrayLike,
    dim: ArrayLike,
    n_models: int,
    n_actions: ArrayLike,
    noise: ArrayLike,
    feature_bound: ArrayLike,
    reward_bound: ArrayLike,
    parameter_bound: ArrayLike,
    regularization: ArrayLike,
    delta: float,
    horizon: ArrayLike | None = None,
    kappa: Kappa = "best",
    form: Form = "corrected",
) -> Float:
    r"""Return the exploration rate :math:`\alpha` of inverse gap weighting.

    With :math:`T` = ``t``, :math:`K` = ``n_actions``, :math:`D_T` of `D`:

    .. math::
        \alpha = \sqrt{KT/D_T(\delta)} \quad (\text{printed}), \qquad
        \alpha = \sqrt{8(K-1)T/D'} \quad (\text{corrected}), \qquad
        D' = \frac{e}{e-1}\Big(D_T(\tfrac35\delta) + 4G^2\log\frac5\delta\Big)

    The corrected rate minimises `regret_bound`; :math:`D'` also pays for passing from the actions played to their
    expectation (`oracle.expected_total`). With a ``horizon`` T, ``t`` is the number of a round, and the result is the
    growing schedule :math:`\alpha_t = 4\sqrt{(K-1)t/D'}`.

    Examples
    --------
    >>> E1 = dict(dim=10, noise=0.5, feature_bound=1, reward_bound=1, parameter_bound=1, regularization=1, delta=0.05)
    >>> rate = dict(t=1000, n_models=5, n_actions=10, **E1)
    >>> learning_rate(**rate), learning_rate(**rate, form="printed")
    (19.722867..., 2.713297...)
    """
    K, T = array(n_actions), array(t if horizon is None else horizon)
    model: dict[str, Any] = {"dim": dim, "n_models": n_models, "noise": noise, "feature_bound": feature_bound}
    model |= {"reward_bound": reward_bound, "parameter_bound": parameter_bound, "regularization": regularization}
    if form == "printed":
        if horizon is not None:
            raise ValueError(f"horizon must be None with form='printed', whose rate is constant; got {horizon!r}")
        return sqrt(K * T / D(t=T, delta=delta, form=form, **model))
    D_prime = _expected_error(T, delta, kappa, model)
    grown = 8 * (K - 1) * T if horizon is None else 16 * (K - 1) * array(t)
    return sqrt(ratio(grown, D_prime, np.inf))


@equation
def regret_bound(
    *,
    t: ArrayLike,
    dim: ArrayLike,
    n_models: int,
    n_actions: int,
    noise: float,
    feature_bound: float,
    reward_bound: float,
    parameter_bound: float,
    regularization: ArrayLike,
    delta: float,
    growing: bool = False,
    kappa: Kappa = "best",
    form: Form = "corrected",
) -> Float:
    r"""Bound the regret of FS-SCB at its `learning_rate` (thm:regretbound_EXP-SquareCB).

    With the symbols of `learning_rate` and :math:`G` = ``reward_bound``:

    .. math::
        3\sqrt{KTD_T(\delta)} + \sqrt{2T\log(2/\delta)} \quad (\text{printed}), \qquad
        \sqrt{2(K-1)TD'} + G\sqrt{2T\log(5/\delta)} \quad (\text{corrected})

    Corrected: predictions clipped to [-G, G], five events of :math:`\delta/5`; print applies Azuma's inequality to a
    term of range :math:`\alpha G^2`, and takes G = 1 in it. ``growing=True`` is for the growing schedule, a factor
    :math:`\sqrt2` on the first term. A value above 2GT says nothing.

    Examples
    --------
    >>> E1 = dict(dim=10, noise=0.5, feature_bound=1, reward_bound=1, parameter_bound=1, regularization=1, delta=0.05)
    >>> play = dict(t=1000, n_models=5, n_actions=10, **E1)
    >>> regret_bound(**play), regret_bound(**play, form="printed")
    (1921.262914..., 11142.552938...)
    """
    K, G, T = n_actions, reward_bound, array(t)
    model: dict[str, Any] = {"dim": dim, "n_models": n_models, "noise": noise, "feature_bound": feature_bound}
    model |= {"reward_bound": G, "parameter_bound": parameter_bound, "regularization": regularization}
    if form == "printed":
        D_T = D(t=T, delta=delta, form=form, **model)
        return 3 * sqrt(K * T * D_T) + sqrt(2 * T * log(2 / delta))
    D_prime = _expected_error(T, delta, kappa, model)
    return sqrt((4 if growing else 2) * (K - 1) * T * D_prime) + G * sqrt(2 * T * log(5 / delta))


def _expected_error(T: Array, delta: float, kappa: Kappa, model: dict[str, Any]) -> Float:
    D_T = D(t=T, delta=3 * delta / 5, kappa=kappa, **model)
    return oracle.expected_total(realized=D_T, upper=4 * array(model["reward_bound"]) ** 2, delta=delta / 5)
