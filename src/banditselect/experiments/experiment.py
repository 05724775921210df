"""An experiment of the paper: which policies play which problems, for how long."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..problems import Problem
from ..simulation import Results, sweep
from ..simulation.sweeps import Policies


@dataclass(frozen=True)
class Experiment:
    """A sweep with the settings of the paper.

    Attributes
    ----------
    title: one line.
    problems: from values of M to problems by name; an experiment whose M is fixed ignores them.
    policies: from a problem to the policies that play it.
    rounds: the number of them.
    setting: what the problems differ in, in words.
    """

    title: str
    problems: Callable[[Sequence[int]], dict[str, Problem]]
    policies: Callable[[Any], Policies]
    rounds: int
    setting: str

    def run(self, *, models: Sequence[int], rounds: int | None, **options: Any) -> Results:
        """Run it; ``rounds`` None for its own, ``options`` are those of ``sweep``."""
        return sweep(self.policies, self.problems(models), rounds=rounds or self.rounds, **options)
