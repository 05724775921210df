"""The regression oracle SqAlg: what aggregating M experts costs, and what its errors cost a policy that plays on it.

Symbols as in `linear`; :math:`\\hat y_s` is the oracle's prediction, :math:`\\mu_s` the mean reward.
"""

import math
from typing import Any, Literal, Unpack

import numpy as np
from numpy import log, sqrt
from numpy.typing import ArrayLike

from ._arguments import Float, Horizon, Kappa, array, equation, last_round, models, ratio
from ._constants import Experts
from .linear import expert_regret, noise_bound


@equation
def sqalg_regret(
    *, width: ArrayLike, n_models: int, form: Literal["printed", "proposition", "corrected"] = "corrected"
) -> Float:
    r"""Bound the regret of SqAlg against its best expert, for a range of known width.

    With :math:`\ell` = ``width``, :math:`M` = ``n_models``:

    .. math:: \mathcal R_{Sq} \le \tfrac12 \ell^2 \log M \quad (eq:regression-oracle, corrected)

    Printed :math:`\ell^2\log M` in the main text (``form="printed"``) and :math:`2\ell^2\log M` in
    app:prop:husslerreulst (``form="proposition"``); at the printed rate :math:`2/\ell^2` the loss is 1/2-mixable.

    Examples
    --------
    >>> sqalg_regret(width=2, n_models=10)
    4.605170...
    """
    scale = {"printed": 1.0, "proposition": 2.0, "corrected": 0.5}[form]
    return scale * np.square(array(width)) * log(n_models)


@equation
def clipping_width(
    *, t: ArrayLike, noise: ArrayLike, reward_bound: ArrayLike, delta: float, horizon: Horizon = None
) -> Float:
    r"""Return the width of the range that holds every reward, to which predictions are clipped.

    With :math:`G` = ``reward_bound`` and :math:`n_T` of `noise_bound`:

    .. math:: \ell = 2 (G + n_T) \quad (eq:boudningrangefor-fs, eq:temp06, corrected)

    Clipping a prediction into a range that holds the reward never adds loss, so the experts' own range, the dimension
    and the regularisation do not enter.

    Examples
    --------
    >>> clipping_width(t=1000, noise=0.5, reward_bound=1, delta=0.05)
    6.603614...
    """
    return 2 * (array(reward_bound) + noise_bound(t=t, noise=noise, delta=delta, horizon=horizon))


@equation
def self_bound(*, v: ArrayLike, noise: ArrayLike, delta: float) -> Float:
    r"""Solve the printed self-bounding inequality of an accumulated error :math:`u^2`.

    With :math:`R` = ``noise``:

    .. math:: u^2 \le v + 2Ru\sqrt{2\log(u/\delta)} \;\Rightarrow\;
        u^2 \le 2v + 32R^2\log\frac{R\sqrt8 + \sqrt v}{\delta} \quad (\delta \le 1/4)

    The step behind every printed constant (final:def:q_t, definigitonofd_t:fs, eq:Ut-Def, eq:final-conf-set); the
    paper prints :math:`2v^2` once where its results use :math:`2v`. The corrected forms do without it.

    Examples
    --------
    >>> self_bound(v=1, noise=0.5, delta=0.05)
    33.016846...
    """
    R, v = array(noise), array(v)
    return 2 * v + 32 * R**2 * log((R * sqrt(8) + sqrt(v)) / delta)


@equation
def printed_oracle_error(*, sq_regret: ArrayLike, expert_error: ArrayLike, noise: ArrayLike, delta: float) -> Float:
    r"""Bound the squared error of SqAlg as printed: the common form of :math:`D_t` and :math:`\gamma_t`.

    With :math:`\mathcal R` = ``sq_regret``, :math:`X` = ``expert_error`` (:math:`Q_t` or :math:`U_t`), R = ``noise``:

    .. math:: u^2 - 1, \quad v = 1 + \mathcal R + X + 2R\sqrt{2(1+X)\log(\sqrt{1+X}/\delta)},
        \quad (definigitonofd_t:fs, eq:final-conf-set)

    where :math:`u^2` is `self_bound` of :math:`v`. Four events are each given the whole :math:`\delta` in print.

    Examples
    --------
    >>> printed_oracle_error(sq_regret=164.635640, expert_error=417.879563, noise=0.5, delta=0.05)
    1358.3301...
    """
    R, X = array(noise), array(expert_error)
    v = 1 + array(sq_regret) + X + 2 * R * sqrt(2 * (1 + X) * log(sqrt(1 + X) / delta))
    return self_bound(v=v, noise=R, delta=delta) - 1


@equation
def oracle_regret(*, t: ArrayLike, horizon: Horizon = None, **model: Unpack[Experts]) -> Float:
    r"""Bound the regret in square loss of SqAlg over clipped ridge experts against the mean rewards.

    .. math:: \sum_{s \le t} (\hat y_s - y_s)^2 - (\mu_s - y_s)^2 \le A_t

    with :math:`A_t` the sum of `sqalg_regret` at `clipping_width` and `expert_regret`, which each hold with probability
    :math:`1 - \delta`. ``horizon``: see `noise_bound`.

    Examples
    --------
    >>> E1 = dict(dim=10, noise=0.5, feature_bound=1, reward_bound=1, regularization=1, radius=1, delta=0.05)
    >>> oracle_regret(t=1000, n_models=5, **E1)
    63.163300...
    """
    m: Any = model
    G, M = m.pop("reward_bound"), m.pop("n_models")
    width = clipping_width(t=t, noise=m["noise"], reward_bound=G, delta=m["delta"], horizon=horizon)
    return sqalg_regret(width=width, n_models=M) + expert_regret(t=t, **m)


@equation
def oracle_error(*, t: ArrayLike, horizon: Horizon = None, kappa: Kappa = 0.5, **model: Unpack[Experts]) -> Float:
    r"""Bound the squared error of SqAlg over clipped ridge experts (the corrected D and gamma).

    With :math:`\delta' = \delta/3`, :math:`b = 2R^2\log(1/\delta')`, :math:`A_t` of `oracle_regret` at
    :math:`\delta'`, and :math:`\kappa` = ``kappa``:

    .. math:: \sum_{s \le t} (\hat y_s - \mu_s)^2 \le \frac{A_t + b/\kappa}{1 - \kappa}

    ``kappa="best"`` is the minimiser at T, :math:`\sqrt b / (\sqrt b + \sqrt{A_T + b})`, which gives
    :math:`(\sqrt b + \sqrt{A_T + b})^2` there. ``horizon``: see `noise_bound`.

    Examples
    --------
    >>> E1 = dict(dim=10, noise=0.5, feature_bound=1, reward_bound=1, regularization=1, radius=1, delta=0.05)
    >>> oracle_error(t=1000, n_models=5, **E1), oracle_error(t=1000, n_models=5, kappa="best", **E1)
    (141.747244..., 94.613849...)
    """
    models(model, model["radius"], n_models=model["n_models"])
    model["delta"] = model["delta"] / 3

    def A(rounds: ArrayLike) -> Float:
        return oracle_regret(t=rounds, horizon=horizon, **model)

    b = 2 * array(model["noise"]) ** 2 * log(1 / model["delta"])
    if kappa != "best":
        return (A(t) + b / kappa) / (1 - kappa)
    if isinstance(horizon, str):
        raise ValueError("kappa='best' needs a horizon; got horizon='anytime'")
    root = sqrt(b) + sqrt(A(last_round(t, horizon)) + b)
    return (A(t) + sqrt(b) * root) / (1 - ratio(sqrt(b), root, 0.0))


@equation
def expected_total(*, realized: ArrayLike, upper: ArrayLike, delta: float) -> Float:
    r"""Bound a sum of conditional expectations by the sum of the realised values.

    With :math:`X_s \in [0, B]`, :math:`B` = ``upper``, :math:`\sum_s X_s` = ``realized``; for all rounds at once

    .. math:: \sum_s E_s X_s \le \frac{e}{e-1} \Big(\sum_s X_s + B\log\frac1\delta\Big)

    It replaces Azuma's inequality in regret:bound:fs-squarecb, where the range of the squared term,
    :math:`\alpha G^2`, is not bounded by a constant.

    Examples
    --------
    >>> expected_total(realized=98.5810536, upper=4, delta=0.01)
    185.09401...
    """
    return math.e / (math.e - 1) * (array(realized) + array(upper) * log(1 / delta))
