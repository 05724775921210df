"""Judge the empirical sentences of the paper on results.

Every sentence is a statistic of the results, an interval around it and what the sentence says about it; ``judge`` needs
nothing else. Only classes of replicates are drawn again, by seed.
"""

from .claim import Ran, Verdict
from .paper import judge

__all__ = ["Ran", "Verdict", "judge"]
