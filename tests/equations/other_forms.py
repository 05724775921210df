"""Equations of the paper and of docs/math.md that the library does not need: approximations and proof steps."""

import math

import numpy as np
from numpy import log, log1p, sqrt

from banditselect.theory import feature_selection as fs
from banditselect.theory import linear, oracle


def U_simplified(*, t, dim, noise, feature_bound, radius, delta):
    r"""Return the dominant terms of the printed :math:`U_t` (eq:Ut-simplified); the double logarithm is dropped.

    .. math:: U_t \approx 3 + 16R^2\log 2 + 32R^2\log\frac1\delta + 8d\log\Big(1 + \frac{tL^2\max_i r_i^2}{d}\Big)
    """
    R, d, L, r = noise, dim, feature_bound, np.max(radius)
    return 3 + 16 * R**2 * log(2) + 32 * R**2 * log(1 / delta) + 8 * d * log1p(t * L**2 * r**2 / d)


def gamma_simplified(*, t, dim, n_models, noise, feature_bound, reward_bound, radius, delta):
    r"""Return the dominant terms of the printed :math:`\gamma_t` (eq:gamma-simplified), from below.

    .. math:: \gamma_t \approx C_3 + 16R^2(4 + L^2d\log M)\log\frac1\delta
        + 16d(1 + R^2L^2\log M)\log\Big(1 + \frac{tL^2\max_i r_i^2}{d}\Big)

    with :math:`C_3 = 7 + 32R^2\log2 + 16(G+L)^2\log M`.
    """
    R, d, L, G, r, log_M = noise, dim, feature_bound, reward_bound, np.max(radius), log(n_models)
    C_3 = 7 + 32 * R**2 * log(2) + 16 * (G + L) ** 2 * log_M
    growth = 16 * d * (1 + R**2 * L**2 * log_M) * log1p(t * L**2 * r**2 / d)
    return C_3 + 16 * R**2 * (4 + L**2 * d * log_M) * log(1 / delta) + growth


def regret_bound_simplified(*, t, dim, reward_bound, **model):
    r"""Return the dominant terms of the printed regret of PS-OFUL (eq:PS-OFUL-regret-simplified), from below.

    .. math:: 2Gd + 2\sqrt2\max\{1, G\}\sqrt{dT\log(1 + T/d)\,\gamma_T}
    """
    gamma_T = gamma_simplified(t=t, dim=dim, reward_bound=reward_bound, **model)
    return 2 * reward_bound * dim + 2 * sqrt(2) * max(1, reward_bound) * sqrt(dim * t * log1p(t / dim) * gamma_T)


def misspecification_split(*, t, noise, complexity, misspecification):
    r"""Split a squared radius between noise and misspecification in the best way for one horizon.

    With :math:`C` = ``complexity`` (:math:`\log\det + 2\log(1/\pi\delta)`), :math:`\varepsilon` = ``misspecification``:
    the radius :math:`R^2 C/\kappa + T\varepsilon^2/(1-\kappa)` is least at

    .. math:: \kappa = \frac{R\sqrt C}{R\sqrt C + \varepsilon\sqrt T}, \quad \rho^2 = (R\sqrt C + \varepsilon\sqrt T)^2.
    """
    a, b = noise * sqrt(complexity), misspecification * sqrt(t)
    return (a / (a + b) if b > 0 else 1.0), (a + b) ** 2


def prediction_range(*, t, horizon=None, form="corrected", **model):
    r"""Return :math:`(\beta, \ell)`, the range on which SqAlg works (eq:boudningrangefor-fs, eq:temp06).

    .. math::
        \ell = 2\max_i B_{i,t} \quad (printed), \qquad \ell = 2(G + n_T) \quad (corrected), \qquad \beta = -\ell/2
    """
    if form == "printed":
        bounds = linear.prediction_bound(t=t, form=form, **model)
        width = 2 * (np.max(bounds, axis=-1) if np.ndim(bounds) > np.ndim(t) else bounds)
    else:
        own = {name: model[name] for name in ("noise", "reward_bound", "delta")}
        width = oracle.clipping_width(t=t, horizon=horizon, **own)
    return -width / 2, width


def inverse_gap_bound(*, n_actions, learning_rate, form="corrected"):
    r"""Bound the regret of a round of inverse gap weighting that its squared error does not pay for.

    .. math:: \sum_a p(a) \big[f(a^*) - f(a) - \tfrac\alpha4 (\hat y(a) - f(a))^2\big] \le \frac{2(K-1)}{\alpha}
        \quad (lemma3offosterrakhlin)

    Printed :math:`2K/\alpha`; the corrected constant is attained as the gaps grow.
    """
    return 2 * (n_actions if form == "printed" else n_actions - 1) / learning_rate


def noise_aware_rate(*, noise, reward_bound):
    r"""Return :math:`\rho = \min\{1/4R^2, 1/8G^2\}`, the largest proved rate of the weights :math:`e^{-\rho L_i}`."""
    scale = max(4 * noise**2, 8 * reward_bound**2)
    return 1 / scale if scale > 0 else math.inf


def D_noise_aware(*, noise, reward_bound, n_models, delta, prior=None, **model):
    r"""Bound the squared error of the noise-aware mean of the experts (docs/math.md, Theorem 4).

    With :math:`\rho` of `noise_aware_rate`, :math:`\kappa = 2R^2\rho`, :math:`\pi` = ``prior`` (None: 1/M):

    .. math:: D_t = \frac{1}{1-\kappa}\Big[\frac32 Q_t(\delta/3) + 4R^2\log\frac3\delta
        + \frac1\rho\log\frac{3}{\pi\delta}\Big]
    """
    R, rho, pi = noise, noise_aware_rate(noise=noise, reward_bound=reward_bound), prior or 1 / n_models
    Q_t = fs.Q(noise=R, n_models=n_models, delta=delta / 3, **model)
    kappa = 2 * R**2 * rho if R > 0 else 0.0
    return (1.5 * Q_t + 4 * R**2 * log(3 / delta) + log(3 / (pi * delta)) / rho) / (1 - kappa)
