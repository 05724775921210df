"""Published rates and failures of the rivals in the arena: two experiments, and the verdicts on what was published."""

from . import masters, rates

EXPERIMENTS = {module.EXPERIMENT.name: module.EXPERIMENT for module in (rates, masters)}

__all__ = ["EXPERIMENTS"]
