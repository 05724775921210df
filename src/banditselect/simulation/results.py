"""What a simulation returns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import validation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Result:
    """Curves of every policy on the same instances.

    Attributes
    ----------
    checkpoints: the rounds after which the curves were read, ``(C,)``.
    curves: by policy and metric, ``(C, replicates)``.
    """

    metrics: ClassVar[tuple[str, ...]] = ("regret", "reward")

    checkpoints: NDArray[np.int64]
    curves: Mapping[str, Mapping[str, Array]]

    def curve(self, policy: str, metric: str) -> Array:
        """Return a metric at every checkpoint, ``(C, replicates)``."""
        if policy not in self.curves:
            raise validation.refuse("policy", policy, "one of " + ", ".join(map(repr, self.curves)))
        if metric not in self.metrics:
            raise validation.refuse("metric", metric, "one of " + ", ".join(map(repr, self.metrics)))
        return self.curves[policy][metric]

    def final(self, policy: str, metric: str) -> Array:
        """Return a metric after the last round, ``(replicates,)``."""
        return self.curve(policy, metric)[-1]

    def summary(self, metric: str = "regret") -> str:
        """Return a table: mean over the replicates, its standard error, median and worst, per policy."""
        better_low = metric == "regret"
        lines = [f"{'policy':<34}{'mean':>9}{'± s.e.':>9}{'median':>9}{'worst':>9}"]
        for name in self.curves:
            values = self.final(name, metric)
            error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.nan
            worst = values.max() if better_low else values.min()
            lines.append(f"{name:<34}{values.mean():>9.1f}{error:>9.1f}{np.median(values):>9.1f}{worst:>9.1f}")
        return "\n".join(lines)
