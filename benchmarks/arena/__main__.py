"""Run the experiments and judge the published claims: `python -m benchmarks.arena`, with `--scale paper` for the docs.

Results are stored in out/arena, beside those of `banditselect reproduce arena --scale paper --out out/arena`; those of
the quick scale in out/arena-quick. A stopped run continues where it was. `make arena-docs` writes docs/arena.md.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

from banditselect.experiments import SCALES
from banditselect.experiments.claims import judge
from banditselect.experiments.experiment import load_runs
from banditselect.experiments.words import verdict_lines
from banditselect.simulation import Progress

from .experiments import EXPERIMENTS
from .sentences import SENTENCES


def main() -> None:
    """Run, store, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=EXPERIMENTS, default=list(EXPERIMENTS), help="both by default")
    parser.add_argument("--scale", choices=SCALES, default="quick", help="quick by default")
    parser.add_argument("--out", type=Path, help="another folder")
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    options = parser.parse_args()
    folder = options.out or Path("out/arena" if options.scale == "paper" else "out/arena-quick")
    for name in options.only:
        experiment, place = EXPERIMENTS[name], folder / name / "defaults"
        known = {"out": place, "phase": lambda title: partial(tell, title), "workers": options.workers}
        results = experiment.run("defaults", experiment.scales[options.scale], **known)
        print(file=sys.stderr)
        if results.failures:
            sys.exit(f"{len(results.failures)} cells failed: {place / 'failures.json'}")
    print(verdict_lines(judge(load_runs(folder, EXPERIMENTS), EXPERIMENTS, SENTENCES)))


def tell(title: str, now: Progress) -> None:
    """Show progress."""
    print(f"\r{title}: {100 * now.fraction:.0f} %", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
