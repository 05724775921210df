"""Logged decisions: read from tables and files, replayed to a learner, and asked what another policy would have earned.

A :class:`Log` holds features as arrays, in memory; :class:`Rounds` are records that are read one after the other.
"""

from .estimates import Estimate, Estimates
from .features import CrossedItems, DisjointArms, OfferedItems
from .foreign import read_dsjson, read_open_bandit
from .log import Log
from .off_policy import evaluate
from .readers import read_offers, read_table
from .replay import LoggedReplay
from .rounds import Round, Rounds
from .streaming import Replay, evaluate_rounds, learn_rounds, replay_rounds

__all__ = [
    "CrossedItems",
    "DisjointArms",
    "Estimate",
    "Estimates",
    "Log",
    "LoggedReplay",
    "OfferedItems",
    "Replay",
    "Round",
    "Rounds",
    "evaluate",
    "evaluate_rounds",
    "learn_rounds",
    "read_dsjson",
    "read_offers",
    "read_open_bandit",
    "read_table",
    "replay_rounds",
]
