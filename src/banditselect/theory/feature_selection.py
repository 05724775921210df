"""Constants and bounds of feature selection (FS-SCB, FS-OFUL): M feature maps, at least one of them true.

First how well SqAlg predicts with an expert on every map, from `Q` to `D`; then what playing on its predictions costs.

``t`` counts completed rounds and may be an array. ``dim`` and ``regularization`` are scalars or of shape (M,), and the
worst model counts. ``horizon`` is the T of a bound that needs one: None is T = t, ``"anytime"`` holds at every round.
"""

from typing import Any, Unpack

import numpy as np
from numpy import log, sqrt
from numpy.typing import ArrayLike

from ..types import Array
from . import linear, oracle
from ._arguments import Float, Form, Horizon, Kappa, array, column, equation, models, outer, ratio, worst
from ._constants import Map, Maps
from .likelihood import union_regret_bound as union_regret_bound
from .linear import prediction_bound as prediction_bound


@equation
def Q(
    *, t: ArrayLike, n_models: int | None = None, kappa: float = 0.5, form: Form = "corrected", **model: Unpack[Map]
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
    m: Any = model
    S = m.pop("parameter_bound")
    d, lam, penalty, _ = models(m, column(S), n_models=n_models or 0)
    if form == "printed":
        bound = worst(penalty + 4 * linear.log_det(outer(t, lam), d, column(m["feature_bound"]), lam), t)
        return oracle.self_bound(v=1 + bound, noise=m["noise"], delta=m["delta"]) - 1
    return linear.expert_error(t=t, radius=S, kappa=kappa, **m)


@equation
def R_sq(*, t: ArrayLike, horizon: Horizon = None, form: Form = "corrected", **model: Unpack[Maps]) -> Float:
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
    R, L, G, M, delta = (
        *(array(model[name]) for name in ("noise", "feature_bound", "reward_bound")),
        model["n_models"],
        model["delta"],
    )
    d, lam, penalty, _ = models(model, column(model["parameter_bound"]), n_models=M)
    if form == "printed":
        m = worst(penalty + linear.log_det(outer(t, lam), d, column(L), lam), t)
        return 8 * R**2 * L**2 * log(M) * (G**2 + m + log(1 / delta))
    width = oracle.clipping_width(t=t, noise=R, reward_bound=G, delta=delta, horizon=horizon)
    return oracle.sqalg_regret(width=width, n_models=M)


@equation
def D(
    *, t: ArrayLike, horizon: Horizon = None, kappa: Kappa = 0.5, form: Form = "corrected", **model: Unpack[Maps]
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
    m: Any = model
    if form == "printed":
        sq_regret = R_sq(t=t, form=form, **m)
        del m["reward_bound"]
        errors = {"sq_regret": sq_regret, "expert_error": Q(t=t, form=form, **m)}
        return oracle.printed_oracle_error(noise=m["noise"], delta=m["delta"], **errors)
    radius = column(m.pop("parameter_bound"))
    return oracle.oracle_error(t=t, radius=radius, horizon=horizon, kappa=kappa, **m)


@equation
def learning_rate(
    *,
    t: ArrayLike,
    n_actions: ArrayLike,
    horizon: ArrayLike | None = None,
    kappa: Kappa = "best",
    form: Form = "corrected",
    **model: Unpack[Maps],
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
    if form == "printed":
        if horizon is not None:
            raise ValueError(f"horizon must be None with form='printed', whose rate is constant; got {horizon!r}")
        return sqrt(K * T / D(t=T, form=form, **model))
    D_prime = _expected_error(T, kappa, model)
    grown = 8 * (K - 1) * T if horizon is None else 16 * (K - 1) * array(t)
    return sqrt(ratio(grown, D_prime, np.inf))


@equation
def regret_bound(
    *,
    t: ArrayLike,
    n_actions: int,
    growing: bool = False,
    kappa: Kappa = "best",
    form: Form = "corrected",
    **model: Unpack[Maps],
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
    K, G, T, delta = n_actions, array(model["reward_bound"]), array(t), model["delta"]
    if form == "printed":
        return 3 * sqrt(K * T * D(t=T, form=form, **model)) + sqrt(2 * T * log(2 / delta))
    D_prime = _expected_error(T, kappa, model)
    return sqrt((4 if growing else 2) * (K - 1) * T * D_prime) + G * sqrt(2 * T * log(5 / delta))


def _expected_error(T: Array, kappa: Kappa, model: Any) -> Float:
    delta, G = model["delta"], array(model["reward_bound"])
    D_T = D(t=T, kappa=kappa, **(model | {"delta": 3 * delta / 5}))
    return oracle.expected_total(realized=D_T, upper=4 * G**2, delta=delta / 5)
