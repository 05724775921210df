"""How well SqAlg predicts with M feature maps, at least one of them true: the first half of `feature_selection`.

``t`` counts completed rounds and may be an array. ``dim`` and ``regularization`` are scalars or of shape (M,), and the
worst model counts. ``horizon`` is the T of a bound that needs one: None is T = t, ``"anytime"`` holds at every round.
"""

from typing import Any

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
    worst,
)


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
    d, lam, penalty, _ = models(dim, regularization, S, n_models=n_models or 0)
    if form == "printed":
        m = worst(penalty + 4 * linear.log_det(outer(t, lam), d, L, lam), t)
        return array(oracle.self_bound(v=1 + m, noise=R, delta=delta)) - 1
    return linear.expert_error(
        t=t, dim=dim, noise=R, feature_bound=L, regularization=regularization, radius=S, delta=delta, kappa=kappa
    )


@equation
def prediction_bound(
    *,
    t: ArrayLike,
    dim: ArrayLike,
    noise: float,
    feature_bound: float,
    reward_bound: float,
    parameter_bound: float,
    regularization: ArrayLike,
    delta: float,
    form: Form = "corrected",
) -> Float:
    r"""Bound the absolute predictions of an admissible expert, model by model.

    With the symbols of `Q` and :math:`G` = ``reward_bound``; the result has the shape of ``t`` followed by (M,).

    .. math:: |\langle\phi^i, \theta^i_t\rangle| \le G + RL\sqrt{d\log\frac{1 + tL^2/\lambda_i d}{\delta}}
        + L\sqrt{\lambda_i} S  \quad (eq:addmisable-experts, upper:bound:exp-pred-fssqcb)

    Corrected: `linear.prediction_bound`, which needs neither :math:`\lambda \ge 1` nor :math:`d \ge 2`. The bound is on
    both sides and for all actions, where the main text has one side.

    Examples
    --------
    >>> E1 = dict(t=1000, dim=10, noise=0.5, feature_bound=1, reward_bound=1, parameter_bound=1, delta=0.05)
    >>> prediction_bound(**E1, regularization=1), prediction_bound(**E1, regularization=1, form="printed")
    (4.746420..., 6.362010...)
    """
    return linear.prediction_bound(
        t=t,
        dim=dim,
        noise=noise,
        feature_bound=feature_bound,
        reward_bound=reward_bound,
        regularization=regularization,
        radius=parameter_bound,
        delta=delta,
        form=form,
    )


@equation
def prediction_range(
    *,
    t: ArrayLike,
    dim: ArrayLike,
    noise: float,
    feature_bound: float,
    reward_bound: float,
    parameter_bound: float,
    regularization: ArrayLike,
    delta: float,
    horizon: Horizon = None,
    range: Range = "clip",
    form: Form = "corrected",
) -> tuple[Float, Float]:
    r"""Return :math:`(\beta, \ell)`, the range of rewards and predictions that SqAlg works on.

    With the symbols of `prediction_bound`; :math:`\beta = -\ell/2`:

    .. math:: \ell = 2\max_i\Big(G + RL\sqrt{d\log\frac{1 + tL^2/\lambda_i d}{\delta}} + L\sqrt{\lambda_i} S\Big)
        \quad (eq:boudningrangefor-fs)

    Corrected: `oracle.prediction_range`; by default :math:`\ell = 2(G + n_T)` with clipped predictions, which covers
    the noise of all T rounds where print covers that of one.

    Examples
    --------
    >>> E1 = dict(t=1000, dim=10, noise=0.5, feature_bound=1, reward_bound=1, parameter_bound=1, delta=0.05)
    >>> prediction_range(**E1, regularization=1), prediction_range(**E1, regularization=1, form="printed")
    ((-3.301807..., 6.603614...), (-6.362010..., 12.724020...))
    """
    return oracle.prediction_range(
        t=t,
        dim=dim,
        noise=noise,
        feature_bound=feature_bound,
        reward_bound=reward_bound,
        regularization=regularization,
        radius=parameter_bound,
        delta=delta,
        horizon=horizon,
        range=range,
        form=form,
    )


@equation
def R_sq(
    *,
    t: ArrayLike,
    dim: ArrayLike,
    n_models: int,
    noise: float,
    feature_bound: float,
    reward_bound: float,
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

    Corrected: :math:`\frac12\ell^2\log M` with :math:`\ell` of `prediction_range`, into which ``dim``,
    ``feature_bound``, ``parameter_bound`` and ``regularization`` do not enter. In print :math:`R^2L^2` multiplies
    :math:`G^2 + \lambda S^2` too, so the bound is 0 without noise.

    Examples
    --------
    >>> E1 = dict(dim=10, noise=0.5, feature_bound=1, reward_bound=1, parameter_bound=1, regularization=1, delta=0.05)
    >>> R_sq(t=1000, n_models=5, **E1), R_sq(t=1000, n_models=5, **E1, form="printed")
    (35.091965..., 164.635640...)
    """
    R, L, G = noise, feature_bound, reward_bound
    d, lam, penalty, _ = models(dim, regularization, parameter_bound, n_models=n_models)
    if form == "printed":
        m = worst(penalty + linear.log_det(outer(t, lam), d, L, lam), t)
        return 8 * R**2 * L**2 * log(n_models) * (G**2 + m + log(1 / delta))
    width = oracle.clipping_width(t=t, noise=R, reward_bound=G, delta=delta, horizon=horizon)
    return oracle.sqalg_regret(width=width, n_models=n_models)


@equation
def D(
    *,
    t: ArrayLike,
    dim: ArrayLike,
    n_models: int,
    noise: float,
    feature_bound: float,
    reward_bound: float,
    parameter_bound: float,
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
    model: dict[str, Any] = {"dim": dim, "noise": noise, "feature_bound": feature_bound}
    if form == "printed":
        model |= {"parameter_bound": parameter_bound, "regularization": regularization, "delta": delta, "form": form}
        Q_t, R_sq_t = Q(t=t, **model), R_sq(t=t, n_models=n_models, reward_bound=reward_bound, **model)
        return oracle.printed_oracle_error(sq_regret=R_sq_t, expert_error=Q_t, noise=noise, delta=delta)
    return oracle.oracle_error(
        t=t,
        n_models=n_models,
        reward_bound=reward_bound,
        regularization=regularization,
        radius=parameter_bound,
        delta=delta,
        horizon=horizon,
        kappa=kappa,
        **model,
    )
