"""Published rates and failures of the rivals in the arena: two experiments, and their verdicts."""

from . import masters, rates

EXPERIMENTS = {module.EXPERIMENT.name: module.EXPERIMENT for module in (rates, masters)}

__all__ = ["EXPERIMENTS"]
