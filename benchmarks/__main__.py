"""Run the suite: `python -m benchmarks`, or `make bench`, which also installs the peers.

Results are stored part by part in out/bench/results.json, so that parts can be measured separately; the report is
printed and written beside it. `--docs` measures nothing, and fills docs/benchmarks.md and one line of README.md from
the stored results.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from banditselect.simulation.store import write_text

from .agent_speed import agent
from .comparison import peers
from .crowds import crowds
from .figures import Part, load_parts, store_parts
from .first_call import first_call
from .judging import judging
from .limits import bank, lanes, one_lane, regions, same_code, simulation_loop, untuned, workers
from .measuring import PACKAGES, machine
from .meta_policies import meta_policies
from .pages import fill
from .peers import PEERS
from .report import page, speed_line

MEASURED = (one_lane, same_code, meta_policies, untuned, agent, bank, lanes, regions, crowds, judging, workers)
PARTS: dict[str, Callable[[bool], Part]] = {
    **{part.__name__.replace("_", "-"): part for part in (*MEASURED, first_call, simulation_loop)},
    **{f"peers-{d}": partial(peers, d) for d in (10, 50)},
}
OUT = Path("out/bench")
PAGE = Path("docs/benchmarks.md")
README = Path("README.md")


def main() -> None:
    """Measure, store, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="parts to measure")
    parser.add_argument("--quick", action="store_true", help="few blocks, to test that it runs (out/bench/quick)")
    parser.add_argument("--docs", action="store_true", help=f"fill {PAGE} and the speed in {README}, measure nothing")
    options = parser.parse_args()
    out = OUT / "quick" if options.quick else OUT
    results = out / "results.json"
    if options.docs:
        write_docs(results)
        return
    about = machine(tuple(dict.fromkeys((*PACKAGES, *(peer.package for peer in PEERS)))))
    for name in options.only:
        print(f"{name} ...", file=sys.stderr, flush=True)
        start, today = time.perf_counter(), datetime.now(UTC).date().isoformat()
        part = PARTS[name](options.quick)
        seconds = round(time.perf_counter() - start, 1)
        store_parts(
            results, load_parts(results) | {name: replace(part, machine=about, measured=today, seconds=seconds)}
        )
    text = page(in_order(load_parts(results)))
    write_text(out / "report.md", text)
    print(text)


def write_docs(results: Path) -> None:
    """Fill the page of the documentation and the line of the README; every part must have been measured."""
    parts = in_order(load_parts(results))
    if lacking := [name for name in PARTS if name not in parts]:
        sys.exit(f"{results} lacks {', '.join(lacking)}: run `make bench` first")
    fill(PAGE, {"measured": page(parts)})
    fill(README, {"speed": speed_line(parts)})


def in_order(parts: dict[str, Part]) -> dict[str, Part]:
    """Return the parts in the order of the suite."""
    return {name: parts[name] for name in PARTS if name in parts}


if __name__ == "__main__":
    main()
