"""A sweep of our own: four policies, one of them from a file beside this one, on three problems.

``python examples/sweep.py`` runs it and writes tables and figures to ``out/sweep``. After a stop or a kill, the same
command continues; after a change, only the changed cells run.
"""

import sys
from pathlib import Path

from softmax import Softmax

from banditselect import FSSquareCB, Power, RegretBalancing, SquareCB, given, grid, on_every_map, on_map, sweep
from banditselect.problems import SyntheticFeatureSelection
from banditselect.reporting import save_figure
from banditselect.simulation import Progress, Results

SCB = SquareCB.bind(reward_range=given.reward_range)  # given: a constant of the problem
POLICIES = {
    "oracle": on_map(SCB, 0),  # looks at map 0, the true one
    "FS-SCB": FSSquareCB.bind(reward_range=given.reward_range, noise=given.noise),
    "RB-SCB": RegretBalancing.bind(bases=on_every_map(SCB)),
    "softmax, true map": on_map(Softmax.bind(rate=Power(3.0, 0.5)), 0),  # 3 sqrt(t)
}
PROBLEMS = grid(SyntheticFeatureSelection, n_models=[2, 10, 30], dim=10, n_items=1000)  # lists are axes


def run(rounds: int = 500, replicates: int = 20, out: str = "out/sweep") -> Results:
    """Run all cells that are not in the folder yet, and draw the figures."""
    results = sweep(POLICIES, PROBLEMS, rounds=rounds, replicates=replicates, out=out, progress=tell)
    save_figure(results.plot("regret"), Path(out) / "curves.png")
    save_figure(results.plot_finals("regret"), Path(out) / "finals.png")
    return results


def tell(now: Progress) -> None:
    """Show progress."""
    print(f"\r{now.cells_done} of {now.cells} cells, {100 * now.fraction:.0f} %", end="", file=sys.stderr)


if __name__ == "__main__":  # workers of dask import this file
    print(f"\n{run().summary('regret')}")
