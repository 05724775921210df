"""The construction of Maillard and Munos: EXP4 over an S-EXP3 for every feature map."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..masters.exp4 import EXP4
from ..policies.on_map import on_map
from ..runtime.binding import Binding, Pending
from .sexp3 import SEXP3


def maillard_munos(
    *,
    prototypes: Sequence[ArrayLike],
    n_arms: int,
    reward_range: tuple[float, float] | Pending = (0.0, 1.0),
    horizon: int | None = None,
) -> Binding[EXP4]:
    r"""Return a factory of the construction of Maillard and Munos: :class:`EXP4` over an :class:`SEXP3` per map.

    Map i of the features gives the class of a round by the prototypes i; which map is right is learned. Uniform play is
    mixed in at :math:`\gamma_t = (C K \log K / t)^{1/3}`, C the largest number of classes, at most 1/2.

    With the horizon, for losses in [0, 1] fixed in advance, the expected regret against the best arm of each class of
    the best map is at most :math:`5/2\, (C K \log K)^{1/3} T^{2/3} + 3 \sqrt{K T \log M / 2}` where :math:`\gamma <
    1/2` (the usual argument: a learner whose arms are drawn with probabilities of at least :math:`\gamma / K` loses
    :math:`C \log K / \eta + \eta K T / 2 \gamma`); of the order of the reference in T and C.

    Parameters
    ----------
    prototypes: for each of M maps, ``(C_i, d_i)``.
    n_arms: number K of arms, known by their positions.
    reward_range, horizon: as :class:`EXP4` has them.

    References
    ----------
    Maillard, Munos, "Adaptive bandits: towards the best history-dependent strategy", AISTATS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> policy = maillard_munos(prototypes=[np.eye(2), np.eye(3)], n_arms=4)(seed=0)
    >>> policy.act([np.tile(np.eye(2)[0], (4, 1)), np.tile(np.eye(3)[2], (4, 1))]).probability
    0.25
    """
    classes = max(len(np.asarray(rows)) for rows in prototypes)
    shared: dict[str, Any] = {"n_arms": n_arms, "role": "adviser", "reward_range": reward_range, "horizon": horizon}
    return EXP4.bind(
        bases=[on_map(SEXP3.bind(prototypes=rows, **shared), i) for i, rows in enumerate(prototypes)],
        exploration="uniform",
        mixing=float(np.cbrt(classes * n_arms * np.log(n_arms))),
        reward_range=reward_range,
        horizon=horizon,
    )
