"""The commands ``reproduce`` and ``claims``: run the paper's experiments, judge what it says about them."""

import shlex
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from ..experiments import EXPERIMENTS, REGIMES, SCALES, Scale
from ..experiments.claims import judge
from ..experiments.report.files import REPORT_FILES, figure_lines, write_report
from ..experiments.report.words import claims_json, counted, verdict_lines
from ..kernels.disk import DiskCache
from ..simulation import engines
from ..simulation.store import refuse_foreign
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
from .session import FAILED, say_failures, session
from .warmup import of_experiments, warm_up


def reproduce(
    experiments: Annotated[
        list[str] | None, choice("EXPERIMENT", lambda: [*EXPERIMENTS, "all"], f"{', '.join(EXPERIMENTS)}, or all.")
    ] = None,
    scale: Annotated[
        str, choice_option("scale", SCALES, "quick, or paper: as many replicates as the paper, and more values of M.")
    ] = "quick",
    regimes: Annotated[
        list[str] | None,
        choice_option(
            "regime",
            REGIMES,
            "theory, practical, tuned or defaults; if not given, all of them, in the "
            "quick version only practical where it exists.",
        ),
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
    """Run the paper's experiments: figures, its claims checked, and one page, report.html.

    The quick version shows the paper's figures at practical settings. The other
    regimes are theory (every rate and radius as printed) and tuned (everything
    tuned on problems that are not reported). Running again continues and reuses.
    Experiments beyond the paper run only when they are named.

    [bold]Examples[/bold]

      banditselect reproduce
      banditselect reproduce all --scale paper
      banditselect reproduce fs-mnist --regime tuned --models 2,20 --replicates 50
    """
    known("--scale", scale, SCALES)
    quick = scale == "quick" and not regimes
    whole = [name for name, one in EXPERIMENTS.items() if one.of_paper and (one.shown or experiments or not quick)]
    names = all_or_some("EXPERIMENT", experiments, EXPERIMENTS, whole)
    wanted = [known("--regime", regime, REGIMES) for regime in regimes or REGIMES]
    chosen = {name: [r for r in wanted if r in EXPERIMENTS[name].regimes] for name in names}
    if quick:
        chosen = {name: ["practical"] if "practical" in found else found for name, found in chosen.items()}
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
        missing = [(n, r) for n in names for r in chosen[n] if not (folder / n / r / "results.parquet").is_file()]
        if missing and engine == "local":
            DiskCache.noticed = True  # the display says that kernels are being compiled
            with display:
                display.cells = "steps"
                warm_up(of_experiments(missing), display.phase("compiling"))
            display.cells = "cells"
        for name in names:
            for regime in chosen[name]:
                place = folder / name / regime
                with display:
                    results = EXPERIMENTS[name].run(regime, sizes[name], out=place, phase=display.phase, **options)
                failed = say_failures(results, place) or failed
        verdicts = judge(folder, EXPERIMENTS)
        write_report(
            folder,
            experiments=EXPERIMENTS,
            verdicts=verdicts,
            seconds=time.monotonic() - begun,
            command=shlex.join(["banditselect", *sys.argv[1:]]),
            figures=figures,
        )
        lines = figure_lines(EXPERIMENTS, verdicts) or [counted(verdicts)]
        print("\n".join([*lines, f"report: {folder / 'report.html'}"]), flush=True)
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
