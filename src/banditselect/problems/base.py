"""The contract of problems, which policies play: a problem draws instances, one per lane.

A problem of your own is one file: a class that declares its arguments, what follows from the features (``shapes``), how
instances are drawn (``draw``) and how large they are (``lane_bytes``).
``banditselect.checks.check_problem`` checks that it keeps the contract.
"""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ..runtime.arguments import Configured
from ..runtime.settings import literal
from ..types import Array, Index, Mask


class Instances(ABC):
    """Instances of a problem, one per lane, with all their randomness drawn: all policies meet the same.

    Attributes
    ----------
    constants: what a policy may be given with ``given.<name>``: numbers, tuples of numbers, or arrays ``(N, ...)`` with
        one entry per lane. Two names are read by the recorder where they are there: ``model``, the true model, and
        ``parameter``, the true parameter ``(N, d)``.
    """

    constants: dict[str, Any]

    @abstractmethod
    def features(self, t: int) -> Any:
        """Return the features of round ``t``: ``(N, M, K, d)`` or ``(N, K, d)``; or a list of M ``(N, K, d_i)``."""

    def offer(self, t: int) -> Any:
        """Return what policies are shown in round ``t``: the features, unless a problem has a catalogue of them."""
        return self.features(t)

    def available(self, t: int) -> Mask | None:
        """Return which actions may be played in round ``t``, ``(N, K)``; None, the default, where all may."""
        return None

    def available_after(self, t: int, played: Index) -> Mask | None:
        """Return the same where it depends on the actions played so far, ``(N, t)``: items that are not repeated, say.

        By default it is ``available(t)``. It depends on the lane's own actions only, and the regret of a
        policy is measured against the best action that it may still play itself.
        """
        return self.available(t)

    @abstractmethod
    def means(self, t: int) -> Array | None:
        """Return the mean reward of every action of round ``t``, ``(N, K)``; None where it is not known."""

    @abstractmethod
    def rewards(self, t: int, action: Index) -> Array:
        """Return the rewards of these actions in round ``t``, ``(N,)``: the same whenever it is asked.

        NaN means that the reward is not observed; then nothing is learned from the round.
        """


class Problem(Configured, ABC):
    """A distribution of instances. A subclass declares its arguments in its body, as a policy does.

    It computes in ``_set_up`` what follows from the arguments; that is called once they are checked and stored.
    """

    @property
    @abstractmethod
    def shapes(self) -> dict[str, Any]:
        """The arguments of a policy that follow from the features: ``dim`` (a list for maps of several widths),
        ``n_models`` where there are several maps, and ``n_arms`` where the actions are the same in every round. With
        ``blocks``, every map is made of so many blocks of parameters, ``dim`` is of all of them together, and ``offer``
        may return ``Blocked``: policies that know blocks are bound for these, others take them as wide features.
        """

    @abstractmethod
    def draw(self, lanes: range, rounds: int, seed: int) -> Instances:
        """Draw one instance per lane, which depends on ``rounds``, ``seed`` and the lane's number only."""

    @abstractmethod
    def lane_bytes(self, rounds: int) -> int:
        """Return about how much memory one instance takes."""

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={literal(value, largest=0)}" for name, value in self.settings.items())
        return f"{type(self).__name__}({arguments})"


def map_shapes(widths: Sequence[int], many: bool) -> dict[str, Any]:
    """Return the ``shapes`` of a problem with maps of these widths; unless ``many``, it has one map."""
    if not many:
        return {"dim": widths[0]}
    return {"n_models": len(widths), "dim": widths[0] if len(set(widths)) == 1 else list(widths)}


def single_threaded() -> contextlib.AbstractContextManager[Any]:
    """Keep linear algebra libraries to one thread: their sums depend on how many there are."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return contextlib.nullcontext()
    return threadpool_limits(1)
