"""Judge the empirical sentences of the paper on results.

Every sentence is a statistic of the results, an interval around it and what the sentence says about it; ``judge`` needs
nothing else. Only classes of replicates are drawn again, by seed.
"""

from collections.abc import Mapping, Sequence

from ..experiment import Experiment
from . import claim
from .claim import Ran, Sentence, Verdict
from .latent import LATENT_SENTENCES
from .paper import OURS, PLACES, SENTENCES

ALL = (*SENTENCES, *LATENT_SENTENCES, *OURS)


def judge(ran: Ran, experiments: Mapping[str, Experiment], sentences: Sequence[Sentence] = ALL) -> list[Verdict]:
    """Judge every sentence on results by experiment and regime; what was not run is left out."""
    return claim.judge(ran, experiments, sentences, PLACES)


__all__ = ["Ran", "Verdict", "judge"]
