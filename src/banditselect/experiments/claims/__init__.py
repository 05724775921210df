"""Whether the empirical sentences of the paper hold on stored results.

Every sentence is a statistic of the results, an interval around it and what the sentence says about it. Nothing is
judged by hand, and everything can be judged again from the stored tables alone: ``judge`` returns the verdicts.
"""

from .measuring import PREMISE
from .verdicts import Verdict, judge

__all__ = ["PREMISE", "Verdict", "judge"]
