"""The commands ``reproduce`` and ``claims``: run the paper's experiments, judge what it says about them."""

import shlex
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from ..experiments import EXPERIMENTS, REGIMES, SCALES, Scale
from ..experiments.claims import judge
from ..experiments.report import REPORT_FILES, claims_json, counted, verdict_lines, write_report
from ..simulation import engine as engines
from ..simulation.store import refuse_foreign
from . import output
from .options import (
    Address,
    AsJson,
    Engine,
    Figures,
    Quiet,
    Workers,
    all_or_some,
    choice,
    choice_option,
    folder_option,
    known,
)
from .session import FAILED, session


def reproduce(
    experiments: Annotated[
        list[str] | None, choice("EXPERIMENT", lambda: [*EXPERIMENTS, "all"], f"{', '.join(EXPERIMENTS)}, or all.")
    ] = None,
    scale: Annotated[
        str, choice_option("scale", SCALES, "quick, or paper: as many replicates as the paper, and more values of M.")
    ] = "quick",
    regimes: Annotated[
        list[str] | None,
        choice_option("regime", REGIMES, "theory, defaults or tuned; all that there are if not given."),
    ] = None,
    replicates: Annotated[int | None, typer.Option(min=1, help="Instead of the scale's.", metavar="N")] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Instead of the scale's.", metavar="N")] = None,
    models: Annotated[
        str | None, typer.Option(help="Values of M instead of the scale's, where M varies.", metavar="M,M,...")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N")] = 0,
    engine: Engine = "local",
    workers: Workers = None,
    address: Address = None,
    out: Annotated[Path | None, folder_option("For the results; out/SCALE if not given.")] = None,
    quiet: Quiet = False,
    figures: Figures = True,
) -> None:
    """Run the paper's experiments; end with figures, its claims judged, and one page: report.html.

    Every experiment has two regimes: all rates and radii as theory has them, and
    all tuned over the same values on problems that are not reported. Running
    again continues and reuses. What goes beyond the paper is run by its name only.

    [bold]Examples[/bold]

      banditselect reproduce
      banditselect reproduce all --scale paper
      banditselect reproduce fs-mnist --regime tuned --models 2,20 --replicates 50
    """
    whole = [name for name, experiment in EXPERIMENTS.items() if experiment.of_paper]
    names = all_or_some("EXPERIMENT", experiments, EXPERIMENTS, whole)
    wanted = [known("--regime", regime, REGIMES) for regime in regimes or REGIMES]
    known("--scale", scale, SCALES)
    sizes = {name: _resized(EXPERIMENTS[name].scales[scale], models, rounds, replicates) for name in names}
    folder = out or Path("out") / scale
    failed, begun = False, time.monotonic()
    with session(folder, quiet=quiet) as display:
        engines.check(engine, workers, address)
        if not any(folder.glob("*/*/cells")):
            refuse_foreign(folder, REPORT_FILES)
        if workers is None and address is None:
            workers = engines.cores()  # all of it together is large, however small a part is
        options = {"seed": seed, "engine": engine, "workers": workers, "address": address}
        for name in names:
            for regime in (regime for regime in wanted if regime in EXPERIMENTS[name].regimes):
                place = folder / name / regime
                with display:
                    results = EXPERIMENTS[name].run(regime, sizes[name], out=place, phase=display.phase, **options)
                failed = output.say_failures(results, place) or failed
        verdicts = judge(folder, EXPERIMENTS)
        write_report(
            folder,
            experiments=EXPERIMENTS,
            verdicts=verdicts,
            seconds=time.monotonic() - begun,
            command=shlex.join(["banditselect", *sys.argv[1:]]),
            figures=figures,
        )
        print(f"{counted(verdicts)}\n\nreport: {folder / 'report.html'}", flush=True)
    raise typer.Exit(FAILED if failed else 0)


def claims(
    folder: Annotated[
        Path, typer.Argument(help="Where reproduce wrote its results.", metavar="DIR", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Judge the paper's sentences on results that are stored, from the tables alone.

    [bold]Examples[/bold]

      banditselect claims out/quick
      banditselect claims out/paper --json
    """
    with session(folder, quiet=False):
        verdicts = judge(folder, EXPERIMENTS)
        if not verdicts:
            raise ValueError(f"{folder}: no results of `banditselect reproduce` are there")
        print(claims_json(verdicts) if as_json else f"{verdict_lines(verdicts)}\n\n{counted(verdicts)}")


def _resized(scale: Scale, models: str | None, rounds: int | None, replicates: int | None) -> Scale:
    """Return the scale with what was given instead of its own."""
    chosen = scale.models
    if models is not None:
        parts = models.split(",")
        if not all(part.strip().isdecimal() and int(part) >= 2 for part in parts):
            raise typer.BadParameter(f"got {models!r}, expected whole numbers >= 2, as 2,10", param_hint="--models")
        chosen = tuple(sorted({int(part) for part in parts})) if chosen else ()
    return Scale(chosen, rounds or scale.rounds, replicates or scale.replicates, scale.tuning)
