"""The rates of ALEXP, which weighs M learners by what a group lasso predicts of them: how log M enters."""

import math

from numpy import log, sqrt
from numpy.typing import ArrayLike

from ._arguments import Float, array, equation


@equation
def lasso_penalty(*, t: ArrayLike, dim: ArrayLike, n_models: int, noise: ArrayLike, delta: float) -> Float:
    r"""Return the penalty of the group lasso over M maps with features of norm at most 1.

    With :math:`R` = ``noise``, :math:`d` = ``dim``, :math:`M` = ``n_models``:

    .. math:: \lambda_t = \frac{8R}{\sqrt t} \sqrt{1 + \frac{5}{\sqrt2} \sqrt{d \log\frac{8M}{\delta}}
        + \frac{12}{\sqrt2} \log\frac{8M}{\delta}}

    The constants are those of the authors' code.

    Examples
    --------
    >>> lasso_penalty(t=100, dim=20, n_models=10, noise=0.5, delta=0.05)
    4.128908...
    """
    log_M = log(8 * n_models / delta)
    inner = 1 + 5 / math.sqrt(2) * sqrt(array(dim) * log_M) + 12 / math.sqrt(2) * log_M
    return 8 * array(noise) / sqrt(array(t)) * sqrt(inner)


@equation
def weight_rate(*, t: ArrayLike, n_models: int, width: ArrayLike) -> Float:
    r"""Return the rate of the exponential weights of M learners, for rewards in a range of this width.

    With :math:`\ell` = ``width``:

    .. math:: \eta_t = \frac1\ell \sqrt{\frac{\log M}{t}}

    Examples
    --------
    >>> weight_rate(t=100, n_models=10, width=2)
    0.075871...
    """
    return sqrt(log(n_models) / array(t)) / array(width)
