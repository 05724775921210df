"""``python -m banditselect.experiments``: the paper's synthetic experiments, as tables."""

import argparse
import sys
import time
from collections.abc import Callable

from ..simulation import Result
from ..simulation.loop import Progress
from . import fs_synthetic, ps_synthetic


def meter(title: str) -> Progress:
    """Return a progress line on the terminal with the time that is left."""
    start = time.monotonic()

    def show(done: int, total: int) -> None:
        left = (time.monotonic() - start) * (total - done) / max(done, 1)
        if sys.stderr.isatty():
            print(f"\r{title}: {100 * done // total:3d} %, {left:4.0f} s left ", end="", file=sys.stderr, flush=True)

    return show


def report(title: str, run: Callable[[Progress], Result]) -> None:
    """Run one experiment and print its table."""
    result = run(meter(title))
    if sys.stderr.isatty():
        print("\r" + " " * 78 + "\r", end="", file=sys.stderr)
    rounds, replicates = int(result.checkpoints[-1]), next(iter(result.curves.values()))["regret"].shape[1]
    print(f"\n{title}: regret after {rounds} rounds, {replicates} problems\n\n{result.summary()}", flush=True)


def main() -> None:
    """Run the experiments named."""
    parser = argparse.ArgumentParser(
        prog="python -m banditselect.experiments",
        description="Run the paper's synthetic experiments and print tables. The defaults are a quick version; the "
        "paper has --replicates 100 for fs-synthetic and 50 for ps-synthetic.",
        epilog="example: python -m banditselect.experiments fs-synthetic --models 2 10 100 --replicates 50",
    )
    parser.add_argument("experiments", nargs="*", help="fs-synthetic, ps-synthetic (default: both)")
    parser.add_argument("--replicates", type=int, default=10)
    parser.add_argument("--models", type=int, nargs="+", default=[2, 10, 30], help="values of M for fs-synthetic")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = options.experiments or ["fs-synthetic", "ps-synthetic"]
    for name in names:
        if name not in ("fs-synthetic", "ps-synthetic"):
            parser.error(f"experiments: got {name!r}, expected fs-synthetic or ps-synthetic")
    settings = {"replicates": options.replicates, "seed": options.seed}
    if "fs-synthetic" in names:
        for n_models in options.models:
            report(
                f"fs-synthetic, M = {n_models}",
                lambda progress, M=n_models: fs_synthetic.run(n_models=M, progress=progress, **settings),  # type: ignore[misc]
            )
    if "ps-synthetic" in names:
        for label, radius in ps_synthetic.RADII.items():
            report(
                f"ps-synthetic, b = {label}",
                lambda progress, b=radius: ps_synthetic.run(radius=b, progress=progress, **settings),  # type: ignore[misc]
            )


if __name__ == "__main__":
    main()
