"""Parameter selection on CIFAR-10 with less accurate models (paper, Fig. 3).

The paper: as ps-cifar10, with 10 M data sets of size 50, so that the balls are wider and worse; 50 runs.

What the text leaves open and what we chose: as in ps-cifar10.
"""

from .ps_shared import image_experiment

EXPERIMENT = image_experiment(
    "ps-cifar10-coarse", "Parameter selection, CIFAR-10, coarse models", "Figure 3", __doc__ or ""
)
