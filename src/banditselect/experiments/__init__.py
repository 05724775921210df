"""The paper's experiments, one module each; ``EXPERIMENTS`` has them by name.

``claims`` judges the paper's sentences on their results, ``report`` writes about them, ``packs`` holds the features of
images that some of them play on.
"""

from . import (
    arena,
    fs_cifar100,
    fs_mnist,
    fs_synthetic,
    latent,
    meta_tasks,
    mood,
    mood_maps,
    ps_cifar10,
    ps_cifar10_coarse,
    ps_mnist,
    ps_mnist_coarse,
    ps_synthetic,
    ps_worst,
)
from .experiment import REGIMES, SCALES, Experiment, Scale

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        fs_synthetic,
        fs_mnist,
        fs_cifar100,
        ps_synthetic,
        ps_worst,
        ps_cifar10,
        ps_cifar10_coarse,
        ps_mnist,
        ps_mnist_coarse,
        latent,
        meta_tasks,
        mood,
        mood_maps,
        arena,
    )
}

__all__ = ["EXPERIMENTS", "REGIMES", "SCALES", "Experiment", "Scale"]
