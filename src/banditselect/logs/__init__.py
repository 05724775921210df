"""Logged decisions: read from tables and files, replayed to a learner, and used to evaluate other policies.

Readers return rounds: records that are read one after the other. A :class:`Log` holds features as arrays, in memory;
``Log.from_rounds(rounds, maps)`` makes one of the other.
"""

from .estimators import Estimate, Estimates
from .evaluate import evaluate
from .log import Log
from .open_bandit import read_open_bandit
from .readers import read_decisions, read_offers
from .replay import Replay, replay
from .rounds import Round, Rounds
from .vowpal_wabbit import read_dsjson

__all__ = [
    "Estimate",
    "Estimates",
    "Log",
    "Replay",
    "Round",
    "Rounds",
    "evaluate",
    "read_decisions",
    "read_dsjson",
    "read_offers",
    "read_open_bandit",
    "replay",
]
