"""Whether the empirical sentences of the paper hold on stored results.

Every sentence is a statistic of the results, an interval around it and what the sentence says about it. Nothing is
judged by hand, and ``judge`` can judge again from stored tables; only classes of replicates are drawn again, by seed.
"""

from .measuring import PREMISE
from .verdicts import Verdict, judge

__all__ = ["PREMISE", "Verdict", "judge"]
