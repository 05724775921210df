"""The group lasso over M feature maps side by side, refitted after every reward."""

import numpy as np

from ..carriers.lanes import LaneArrays
from ..kernels import lasso, ridge
from ..types import Array, Index

TOLERANCE = 1e-4  #: of the conditions of a minimum, in penalties
PASSES = 5  #: over all groups after one reward; what is missing then is made up after the next


class GroupLasso(LaneArrays):
    r"""One linear prediction from the features of all maps, most of which it leaves out.

    .. math:: \hat\theta_t = \arg\min_\theta \frac1t \sum_{s \le t} \Big(y_s - \sum_i \langle \phi^i_s, \theta^i \rangle
              \Big)^2 + 2 \sum_i \lambda_{i,t} |\theta^i|, \qquad \lambda_{i,t} = c_t L_i, \quad c_t = c / \sqrt t,

    with :math:`L_i` the root of the mean squared norm of the features of map i in what was learned.

    Parameters
    ----------
    lanes: number of lanes N.  n_models: number of maps M.  dim: width of the widest; the others come padded with 0.
    penalty: c, ``(N,)``.

    Attributes
    ----------
    gram, moment: the sums of ``kernels.lasso``: (M d)^2 / 2 numbers a lane.  theta: the estimate, ``(N, M, d)``.
    """

    state = ("gram", "moment", "theta")
    fixed = ("penalty",)

    def __init__(self, *, lanes: int, n_models: int, dim: int, penalty: Array) -> None:
        D = n_models * dim
        self.penalty = penalty
        self.gram = np.zeros((lanes, D * (D + 1) // 2))
        self.moment = np.zeros((lanes, D))
        self.theta = np.zeros((lanes, n_models, dim))
        self._diagonal = np.cumsum(np.arange(1, D + 1)) - 1

    def learn(self, ids: Index, x: Array, y: Array) -> None:
        """Learn ``x (n, M, d)``, ``y (n,)``."""
        lasso.gather(ids, x, y, self.gram, self.moment)
        lasso.descend(ids, self.gram, self.moment, self.thresholds(), TOLERANCE, PASSES, self.theta)

    def thresholds(self) -> Array:
        r"""Return :math:`t \lambda_{i,t}`, which is c times the root of the sum of squared norms, ``(N, M)``."""
        squares = self.gram[:, self._diagonal].reshape(self.theta.shape).sum(axis=2)
        return np.ascontiguousarray(self.penalty[:, None] * np.sqrt(squares))

    def predict(self, ids: Index, x: Array) -> Array:
        """Return the prediction for every action, ``(n, K)``."""
        out = np.empty((ids.size, x.shape[2]))
        ridge.mixtures(ids, x, self.theta, (self.theta[ids] != 0.0).any(axis=2).astype(float), out)
        return out
