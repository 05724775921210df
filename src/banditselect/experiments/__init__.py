"""The paper's experiments, one module each; ``EXPERIMENTS`` has them by name."""

from . import fs_synthetic, ps_synthetic
from .experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    "fs-synthetic": fs_synthetic.EXPERIMENT,
    "ps-synthetic": ps_synthetic.EXPERIMENT,
}

__all__ = ["EXPERIMENTS", "Experiment"]
