"""A log as a problem: a policy plays through logged decisions and learns a reward where it plays the logged action."""

from typing import Any

import numpy as np

from ..logs import Log
from ..logs.log import chunks
from ..logs.replay import chance_to_observe
from ..runtime import errors
from ..runtime.arguments import argument
from ..runtime.constraints import Number
from ..runtime.shapes import stacked
from ..types import Array, Index, Mask
from .base import Instances, Problem, map_shapes
from .randomness import generators


class LoggedReplay(Problem):
    r"""A log as a problem: the logged reward is observed where a policy plays the logged action, and nothing elsewhere.

    Every lane meets the decisions of the log in a random order of its own, without replacement. With :math:`p_t` the
    logged propensity and :math:`c` the ``floor``, the reward of decision t is observed if the action is the logged one
    and a coin drawn beforehand, of probability :math:`\min(1, c / p_t)`, says so; else it is NaN and nothing is learned
    from the round. If c is at most the smallest propensity, the reward of any action that is played is observed
    with probability c: the rounds that are observed are a fair sample, as if actions had been logged uniformly.

    Parameters
    ----------
    log: the decisions; an action that was not offered may not be played.
    floor: c, the share of rounds that is observed; the smallest propensity of the log by default. A larger one observes
        more, and favours actions whose propensity is at least c.

    Notes
    -----
    Exact for a log whose decisions are independent, that is, of a policy that did not learn meanwhile. Lanes share the
    log: their spread says how much the order and the coins matter, not how uncertain the log is. Constants:
    reward_range (smallest and largest reward of the log), noise = half of it, reward_bound, feature_bound.

    References
    ----------
    Li, Chu, Langford, Wang, "Unbiased offline evaluation of contextual-bandit-based news article recommendation
    algorithms", WSDM 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from banditselect.logs import Log
    >>> log = Log(features=np.ones((4, 2, 3)), action=[0, 1, 1, 0], propensity=[0.5] * 4, reward=[1.0, 0.0, 2.0, 1.0])
    >>> instances = LoggedReplay(log=log).draw(range(1), 4, seed=0)
    >>> np.array([instances.rewards(t, np.array([1])) for t in range(4)]).ravel()
    array([ 2., nan,  0., nan])
    """

    log: Log = argument()
    floor: float | None = argument(Number(low=0.0, above=True, high=1.0, optional=True), default=None)

    def _set_up(self) -> None:
        log = self.log
        if not isinstance(log, Log):
            raise errors.refuse("LoggedReplay: log", log, "a Log")
        low, high = float(log.reward.min()), float(log.reward.max())
        half = 0.5 * (high - low) or 0.5
        longest = max(float(np.linalg.norm(m, axis=2).max()) for part in chunks(log) for m in log.features.maps(part))
        self._constants = {
            "reward_range": (low, high) if low < high else (low - half, low + half),
            "noise": half,
            "reward_bound": float(np.abs(log.reward).max()),
            "feature_bound": longest,
        }

    @property
    def shapes(self) -> dict[str, Any]:
        """Arguments that follow from the features."""
        features, blocks = self.log.features, self.log.features.blocks
        several = {"blocks": list(blocks) if len(set(blocks)) > 1 else blocks[0]} if blocks else {}
        return map_shapes(features.dims, features.many) | several

    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""
        return 9 * rounds + 8 * self.log.features.n_actions * sum(self.log.features.dims)

    def draw(self, lanes: range, rounds: int, seed: int) -> "_ReplayInstances":
        """Draw an order and coins for every lane."""
        if rounds > len(self.log):
            raise errors.refuse("rounds", rounds, f"at most {len(self.log)}, the decisions of the log")
        return _ReplayInstances(self, lanes, rounds, seed)


class _ReplayInstances(Instances):
    def __init__(self, problem: LoggedReplay, lanes: range, rounds: int, seed: int) -> None:
        self.log, self.constants = problem.log, dict(problem._constants)
        propensity = self.log.propensity
        chance = chance_to_observe(propensity, propensity.min() if problem.floor is None else problem.floor)
        self.order = np.empty((len(lanes), rounds), dtype=np.int64)
        self.coins = np.empty((len(lanes), rounds), dtype=bool)
        for n, rng in generators(lanes, seed):
            self.order[n] = rng.permutation(len(self.log))[:rounds]
            self.coins[n] = rng.uniform(size=rounds) < chance[self.order[n]]

    def features(self, t: int) -> Any:
        """Return the features of the t-th decisions, ``(N, K, d)``, ``(N, M, K, d)`` or a list."""
        return stacked(self.log.features.maps(self.order[:, t]), self.log.features.many, axis=1)

    def offer(self, t: int) -> Any:
        """Return the same as policies are shown them, with blocks ``Blocked``."""
        return stacked(self.log.features.shown(self.order[:, t]), self.log.features.many, axis=1)

    def available(self, t: int) -> Mask | None:
        """Return which actions were offered, ``(N, K)``."""
        return None if self.log.available is None else self.log.available[self.order[:, t]]

    def means(self, t: int) -> None:
        """Return None: the means are not known."""

    def rewards(self, t: int, action: Index) -> Array:
        """Return the logged rewards where the actions are the logged ones and the coins allow it, NaN elsewhere."""
        rows = self.order[:, t]
        return np.where((action == self.log.action[rows]) & self.coins[:, t], self.log.reward[rows], np.nan)
