"""The paper's experiments, and some beyond it; ``EXPERIMENTS`` has them by name, the paper's first.

``claims`` judges the paper's sentences on their results, ``report`` writes about them, ``packs`` holds the features of
images that some of them play on.
"""

from . import feature_selection, latent, parameter_selection
from .beyond import arena, changing, task_sequence
from .experiment import REGIMES, SCALES, Experiment, Scale

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        *feature_selection.EXPERIMENTS,
        *parameter_selection.EXPERIMENTS,
        latent.EXPERIMENT,
        task_sequence.EXPERIMENT,
        *changing.EXPERIMENTS,
        arena.EXPERIMENT,
    )
}

__all__ = ["EXPERIMENTS", "REGIMES", "SCALES", "Experiment", "Scale"]
