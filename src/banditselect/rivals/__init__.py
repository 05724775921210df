"""Algorithms that this library is compared with, and never recommends."""

from .alexp import ALEXP
from .leader import LEADER
from .maillard_munos import maillard_munos
from .mucb import MUCB
from .sexp3 import SEXP3
from .sparse_oful import SparseOFUL
from .ucb1 import UCB1

__all__ = ["ALEXP", "LEADER", "MUCB", "SEXP3", "UCB1", "SparseOFUL", "maillard_munos"]
