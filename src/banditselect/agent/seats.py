"""Which lane of a policy is whose: keys get one when they are first seen and give it back when they are retired."""

import contextlib
from collections.abc import Iterator
from typing import Any, Self

from ..policies import Policy
from .choices import Key, checked_key

WORTHWHILE = 8  #: lanes given back are made fresh together, when they are at least one in so many


class Seats:
    """The lanes of a policy by key.

    Lanes are added half as many as there are at a time, and made fresh again several at a time, so that neither is
    paid for every key.

    Parameters
    ----------
    policy: with lanes, all fresh.

    Attributes
    ----------
    taken: the lane of every key.
    free: fresh lanes; the last is the next that is taken.
    left: lanes of keys that were retired, not fresh yet.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.taken: dict[Key, int] = {}
        self.free = list(range(int(policy.lanes or 0)))[::-1]
        self.left: list[int] = []

    def next(self) -> int:
        """Return the lane that the next new key would get."""
        if not self.free:
            self._make_room()
        return self.free[-1]

    def see(self, key: Key) -> int:
        """Return the lane of a key; of one that has none, the next."""
        lane = self.taken.get(key)
        return self.next() if lane is None else lane

    def take(self, key: Key) -> int:
        """Return the lane of a key, which gets one if it has none."""
        lane = self.taken.get(key)
        if lane is None:
            lane = self.next()
            self.taken[key] = self.free.pop()
        return lane

    def leave(self, key: Key) -> None:
        """Give back the lane of a key, if it has one."""
        lane = self.taken.pop(key, None)
        if lane is not None:
            self.left.append(lane)

    @contextlib.contextmanager
    def tentatively(self) -> Iterator[Self]:
        """Take lanes that are given back, fresh as they are, if something fails."""
        before = len(self.taken)
        try:
            yield self
        except BaseException:
            while len(self.taken) > before:
                self.free.append(self.taken.popitem()[1])
            raise

    def tidy(self) -> None:
        """Make all lanes that were given back fresh."""
        if self.left:
            self._policy.reset_lanes(self.left)
            self.free, self.left = [*self.left[::-1], *self.free], []

    def _make_room(self) -> None:
        """Make the lanes that were given back fresh if they are many, else add some."""
        lanes = int(self._policy.lanes or 0)
        if len(self.left) * WORTHWHILE >= lanes:
            self.tidy()
        else:
            self._policy.add_lanes(max(1, lanes // 2))
            self.free = list(range(lanes, int(self._policy.lanes or 0)))[::-1]

    def to_dict(self) -> dict[str, Any]:
        """Return it in the form that is saved."""
        return {"taken": [list(pair) for pair in self.taken.items()], "free": list(self.free), "left": list(self.left)}

    @classmethod
    def restored(cls, policy: Policy, stored: dict[str, Any]) -> Self:
        """Return the lanes of a policy as they were saved; ValueError if they are not those that it has."""
        seats = cls(policy)
        seats.taken = {checked_key(key): lane for key, lane in stored["taken"]}
        seats.free, seats.left = list(stored["free"]), list(stored["left"])
        lanes = [*seats.taken.values(), *seats.free, *seats.left]
        if not all(type(lane) is int for lane in lanes) or sorted(lanes) != list(range(int(policy.lanes or 0))):
            raise ValueError("seats: keys of other lanes than the policy has")
        return seats
