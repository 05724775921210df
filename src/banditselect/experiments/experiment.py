"""An experiment of the paper: which policies play which problems, for how long, in which regimes."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..problems import Problem
from ..simulation import Results, sweep
from ..simulation.plan import Policies
from ..simulation.progress import OnProgress
from ..simulation.tuning import Grid, tune_all

SCALES = ("quick", "paper")
KNOWN_ALARM = ".*no model explains the rewards"  #: of likelihood sets on images, where rewards are not exactly linear
REGIMES = {
    "theory": "as printed (do the constants work?): every rate and radius at the value that the theorems prescribe; "
    "only the ridge penalty of OFUL, for which they allow any, is the best on problems that are not reported",
    "practical": "can the figures be obtained? alpha = sqrt(K T) for FS-SCB, SquareCB and the bases of RB-SCB (no "
    "claim fails between .3 and 1 times this), U(n) = sqrt(K n), and the printed radius of PS-OFUL times .005 (none "
    "fails at .001, one at .01), the same in all figures; lambda = 1 (Figure 2, left: .01 for OFUL; BIAS-OFUL: 1/r^2), "
    "SqAlg on the range of the rewards, rivals with the radii of theory. These values were searched for so that the "
    "figures appear: that shows that the figures can be obtained, not that they were made so",
    "tuned": "all tuned (does the order survive when rivals are treated alike?): every rate, radius, ridge penalty "
    "and rate of SqAlg tuned for every policy, on problems that are not reported; only this is evidence about methods",
    "defaults": "every policy at its defaults, given what it asks for",
}


@dataclass(frozen=True)
class Regime:
    """Where the rates and radii of an experiment's policies come from: theory, or tuning."""

    policies: Callable[[Any, int], Policies]  # that play a problem for so many rounds, by name
    grid: Grid = field(default_factory=dict)  # the values over which arguments are tuned, by name
    own: Mapping[str, Grid] = field(default_factory=dict)  # further values for single policies, by name of the policy


@dataclass(frozen=True)
class Scale:
    """The size of a version: values of M (empty where M is fixed), rounds, replicates, replicates for tuning."""

    models: tuple[int, ...]
    rounds: int
    replicates: int
    tuning: int


@dataclass(frozen=True)
class Experiment:
    """A figure of the paper, or what goes beyond it."""

    name: str  # on the command line
    title: str
    place: str  # where it is in the paper
    about: str  # what the paper did, what its text leaves open and what was chosen
    metric: str  # what the figure shows
    setting: str  # what the problems differ in, in words
    problems: Callable[[Sequence[int]], dict[str, Problem]]  # by name, for values of M; ignored where M is fixed
    regimes: Mapping[str, Regime]
    scales: Mapping[str, Scale]  # "quick" and "paper"
    of_paper: bool = True  # whether it is one of "all"
    ranked: bool = False  # whether its policies are ranked over its problems, instead of showing curves
    shown: tuple[str, ...] = ()  # the policies of the paper's figure
    added: tuple[str, ...] = ()  # ours, which stand below them

    def run(
        self,
        regime: str,
        scale: Scale,
        *,
        out: Path,
        phase: Callable[[str], OnProgress | None] = lambda title: None,
        **options: Any,
    ) -> Results:
        """Run one regime and store it in ``out``, using what is there of an earlier run.

        ``phase``: from the title of a phase to the callback for its progress.  ``options``: seed, engine, workers and
        address, as for ``sweep``.
        """
        chosen, problems = self.regimes[regime], self.problems(scale.models)
        policies: dict[str, Policies] = {name: chosen.policies(one, scale.rounds) for name, one in problems.items()}
        options |= {"rounds": scale.rounds, "out": out}

        def tell(title: str) -> OnProgress | None:
            return phase(f"{self.name}, {regime}: {title}")

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", KNOWN_ALARM, RuntimeWarning)
            if chosen.grid or chosen.own:
                tuning: dict[str, Any] = {"replicates": scale.tuning, "metric": self.metric, "phase": tell}
                policies |= tune_all(policies, problems, chosen.grid, own=chosen.own, **tuning, **options)
            return sweep(policies, problems, replicates=scale.replicates, progress=tell("playing"), **options)


def load_runs(
    folder: Path, experiments: Mapping[str, Experiment], known: Mapping[tuple[str, str], Results] | None = None
) -> dict[tuple[str, str], Results]:
    """Return the results that are stored in ``folder`` by experiment and regime; ``known``: those in memory."""
    found = {}
    for key in [(name, regime) for name, experiment in experiments.items() for regime in experiment.regimes]:
        path = folder.joinpath(*key, "results.parquet")
        if known and key in known:
            found[key] = known[key]
        elif path.is_file():
            found[key] = Results.load(path)
    return found
