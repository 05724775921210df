"""Parameter selection on MNIST with less accurate models (paper, App. F).

The paper: as ps-mnist, with 10 M data sets of size 50, so that the balls are wider and worse; 50 runs.

What the text leaves open and what we chose: as in ps-mnist.
"""

from .ps_shared import image_experiment

EXPERIMENT = image_experiment(
    "ps-mnist-coarse", "Parameter selection, MNIST, coarse models", "Appendix F", __doc__ or ""
)
