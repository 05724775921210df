"""The lane of each key: a key gets one when it is first seen and gives it back when it is retired."""

from typing import Any, Self

from ..policies import Policy
from .decision import Key, checked_key

WORTHWHILE = 8  #: lanes given back are made fresh together, when they are at least one in so many


class LaneTable:
    """The lanes of a policy by key.

    Lanes are added half as many as there are at a time, and made fresh again several at a time, so that neither is
    paid for every key.

    Parameters
    ----------
    policy: with lanes, all fresh.

    Attributes
    ----------
    lane_of: the lane of every key.
    free: fresh lanes; the last is the next that is taken.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.lane_of: dict[Key, int] = {}
        self.free = list(range(int(policy.lanes or 0)))[::-1]

    @property
    def released(self) -> list[int]:
        """Lanes that are neither taken nor free: their key was retired, or a call was interrupted. Not fresh yet."""
        held = {*self.lane_of.values(), *self.free}
        return [lane for lane in range(int(self._policy.lanes or 0)) if lane not in held]

    def lane_or_next(self, key: Key) -> int:
        """Return the lane of a key; of one that has none, the lane that it would get."""
        lane = self.lane_of.get(key)
        if lane is None:
            if not self.free:
                self._free_more()
            lane = self.free[-1]
        return lane

    def assign(self, key: Key) -> int:
        """Return the lane of a key, which gets one if it has none."""
        lane = self.lane_or_next(key)
        if key not in self.lane_of:
            self.lane_of[key] = self.free.pop()
        return lane

    def release(self, key: Key) -> None:
        """Give back the lane of a key, if it has one."""
        self.lane_of.pop(key, None)

    def __enter__(self) -> Self:
        self._before = len(self.lane_of)
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        """Free the lanes that were taken in a call that fails."""
        while kind is not None and len(self.lane_of) > self._before:
            self.free.append(self.lane_of.popitem()[1])

    def reset_released(self) -> None:
        """Make all lanes that were given back fresh."""
        if released := self.released:
            self._policy.reset_lanes(released)
            self.free = [*released[::-1], *self.free]

    def _free_more(self) -> None:
        """Make the lanes that were given back fresh if they are many, else add some."""
        lanes = int(self._policy.lanes or 0)
        if len(self.released) * WORTHWHILE >= lanes:
            self.reset_released()
        else:
            self._policy.add_lanes(max(1, lanes // 2))
            self.free = list(range(lanes, int(self._policy.lanes or 0)))[::-1]

    def learned(self) -> dict[str, Any]:
        """Return the lanes as files have them."""
        return {"taken": list(map(list, self.lane_of.items())), "free": list(self.free)}

    def restore(self, learned: dict[str, Any]) -> None:
        """Take over lanes that were saved; ValueError if the policy has others, or if two keys share one."""
        lane_of, free = {checked_key(key): lane for key, lane in learned["taken"]}, learned["free"]
        lanes = [*lane_of.values(), *free]
        own = all(type(lane) is int and 0 <= lane < int(self._policy.lanes or 0) for lane in lanes)
        if not own or len(set(lanes)) < len(lanes):
            raise ValueError("lanes: keys of other lanes than the policy has")
        self.lane_of, self.free = lane_of, free
