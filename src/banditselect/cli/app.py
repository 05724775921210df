"""Every command: parse, call the library, print."""

import shlex
import sys
import time
from collections.abc import Callable, Collection, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from ..experiments import EXPERIMENTS, REGIMES, SCALES, Scale, report
from ..experiments.claims import judge
from ..experiments.experiment import load_runs
from ..experiments.words import claims_json, counted, figure_lines, verdict_lines
from ..kernels.disk import DiskCache
from ..simulation import engines
from ..simulation.store import refuse_foreign
from . import listing
from .session import FAILED, say_failures, session
from .warmup import known_names, of_experiments, warm_up, warm_up_aloud

CODES = """[bold]Exit codes[/bold]

  0         all went well
  1         something failed while running; the rest is kept
  2         wrong usage or specification; nothing was run
  130, 143  interrupted (Ctrl-C, SIGTERM); the same command continues
"""

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=CODES,
)


def choice(metavar: str, words: Callable[[], Iterable[str]], help: str) -> Any:
    """Return a positional argument that is one of these words, which the shell completes."""
    return typer.Argument(help=help, metavar=metavar, show_default=False, autocompletion=lambda: list(words()))


def choice_option(name: str, words: Iterable[str], help: str) -> Any:
    """Return an option ``--name`` that is one of these words, which the shell completes."""
    return typer.Option(f"--{name}", help=help, metavar=name.upper(), autocompletion=lambda: list(words))


def known(option: str, value: str, words: Collection[str]) -> str:
    """Return a word that is one of these; refuse any other."""
    if value not in words:
        raise typer.BadParameter(f"got {value!r}, expected {listing.one_of(value, list(words))}", param_hint=option)
    return value


def _folder(name: str) -> Path:
    if not name:
        raise typer.BadParameter("got '', expected the name of a folder")
    return Path(name)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"banditselect {version('banditselect')}")
        raise typer.Exit


@app.callback()
def banditselect(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Linear bandits that choose their own model: list what there is, reproduce the paper.

    [bold]Examples[/bold]

      banditselect list policies
      banditselect reproduce fs-synthetic
    """


def _models(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) >= 2 for part in parts):
        raise typer.BadParameter(f"got {text!r}, expected whole numbers >= 2, as 2,10")
    return tuple(sorted({int(part) for part in parts}))


NAMES = choice("EXPERIMENT", lambda: [*EXPERIMENTS, "all"], f"{', '.join(EXPERIMENTS)}, or all.")
SCALE = choice_option("scale", SCALES, "quick, or paper: as many replicates as the paper, and more values of M.")
WHICH = f"{', '.join(REGIMES)}; if not given, all of them, in the quick version only practical where it exists."
SIZE: dict[str, Any] = {"min": 1, "help": "Instead of the scale's.", "metavar": "N"}
MODELS = typer.Option(help="Values of M instead of the scale's, where M varies.", metavar="M,M,...", parser=_models)
ENGINE = choice_option("engine", engines.ENGINES, "Where cells run: local, dask or ray.")
OUT = typer.Option(help="For the results; out/SCALE if not given.", metavar="DIR", parser=_folder)


@app.command(epilog=CODES)
def reproduce(
    experiments: Annotated[list[str] | None, NAMES] = None,
    scale: Annotated[str, SCALE] = "quick",
    regimes: Annotated[list[str] | None, choice_option("regime", REGIMES, WHICH)] = None,
    replicates: Annotated[int | None, typer.Option(**SIZE)] = None,
    rounds: Annotated[int | None, typer.Option(**SIZE)] = None,
    models: Annotated[Any, MODELS] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N")] = 0,
    engine: Annotated[str, ENGINE] = "local",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; all cores if not given.", metavar="N")] = None,
    address: Annotated[str | None, typer.Option(help="Of a running dask or ray cluster.", metavar="ADDRESS")] = None,
    out: Annotated[Path | None, OUT] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors on stderr.")] = False,
    figures: Annotated[bool, typer.Option(help="Draw figures: PNG, SVG and PDF.")] = True,
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
    chosen = _chosen(experiments or [], regimes or [], quick=scale == "quick")
    folder, begun = out or Path("out") / scale, time.monotonic()
    with session(folder, quiet=quiet) as display:
        engines.check(engine, workers, address)
        if not any(folder.glob("*/*/cells")):
            refuse_foreign(folder, report.REPORT_FILES)
        if workers is None and address is None:
            workers = engines.cores()  # all of it together is large, however small a part is
        options = {"seed": seed, "engine": engine, "workers": workers, "address": address}
        missing = [key for key in chosen if not folder.joinpath(*key, "results.parquet").is_file()]
        if missing and engine == "local":
            DiskCache.noticed = True  # the display says that kernels are being compiled
            with display:
                warm_up(of_experiments(missing), display.phase("compiling", "steps"))
        ran = {}
        for name, regime in chosen:
            own, place = EXPERIMENTS[name].scales[scale], folder / name / regime
            varied = models if models and own.models else own.models
            size = Scale(varied, rounds or own.rounds, replicates or own.replicates, own.tuning)
            with display:
                ran[name, regime] = EXPERIMENTS[name].run(regime, size, out=place, phase=display.phase, **options)
            say_failures(ran[name, regime], place)
        everything = load_runs(folder, EXPERIMENTS, ran)  # also what an earlier command has run
        verdicts = judge(everything, EXPERIMENTS)
        command, seconds = shlex.join(["banditselect", *sys.argv[1:]]), time.monotonic() - begun
        about: dict[str, Any] = {"experiments": EXPERIMENTS, "seconds": seconds, "command": command}
        report.write(folder, everything, verdicts, figures=figures, **about)
        lines = figure_lines(EXPERIMENTS, verdicts) or [counted(verdicts)]
        print("\n".join([*lines, f"report: {folder / 'report.html'}"]), flush=True)
    raise typer.Exit(FAILED if any(results.failures for results in ran.values()) else 0)


def _chosen(experiments: list[str], regimes: list[str], *, quick: bool) -> list[tuple[str, str]]:
    """Return the experiments and regimes to run."""
    quick = quick and not regimes
    names: list[str] = []
    for name in experiments or ["all"]:
        whole = [n for n, one in EXPERIMENTS.items() if one.of_paper and (one.shown or experiments or not quick)]
        names += whole if known("EXPERIMENT", name, [*EXPERIMENTS, "all"]) == "all" else [name]
    wanted = [known("--regime", regime, REGIMES) for regime in regimes or REGIMES]
    chosen = []
    for name in dict.fromkeys(names):
        found = [regime for regime in wanted if regime in EXPERIMENTS[name].regimes]
        chosen += [(name, regime) for regime in (["practical"] if quick and "practical" in found else found)]
    return chosen


@app.command(epilog=CODES)
def claims(
    folder: Annotated[
        Path, typer.Argument(help="Where reproduce wrote its results.", metavar="DIR", show_default=False)
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout instead of tables.")] = False,
) -> None:
    """Judge the paper's sentences on results that are stored, from the tables alone.

    [bold]Examples[/bold]

      banditselect claims out/quick
      banditselect claims out/paper --json
    """
    with session(folder, quiet=False):
        verdicts = judge(load_runs(folder, EXPERIMENTS), EXPERIMENTS)
        if not verdicts:
            raise ValueError(f"{folder}: no results of `banditselect reproduce` are there")
        print(claims_json(verdicts) if as_json else f"{verdict_lines(verdicts)}\n\n{counted(verdicts)}")


@app.command("list")
def list_(
    kind: Annotated[
        str | None,
        choice("KIND", listing.catalogue, "policies, problems, experiments, metrics or arena; all if not given."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List what there is, one line each.

    [bold]Examples[/bold]

      banditselect list
      banditselect list policies --json
    """
    print(listing.index(kind and known("KIND", kind, listing.catalogue()), as_json=as_json))


@app.command()
def show(name: Annotated[str, choice("NAME", listing.names, "Anything that list lists, but for the arena.")]) -> None:
    """Show the arguments of a policy or a problem, or the sizes of an experiment, and what it does.

    [bold]Examples[/bold]

      banditselect show FSSquareCB
      banditselect show fs-mnist
    """
    print(listing.page(known("NAME", name, listing.names())))


@app.command()
def warmup(
    names: Annotated[
        list[str] | None,
        choice("NAME", known_names, "Policies, experiments, Agent or reproduce; everything if not given."),
    ] = None,
) -> None:
    """Compile now, on all cores, so that no process has to later: for the build of an image.

    Everything takes some minutes. The result is kept in NUMBA_CACHE_DIR if
    that is set, else beside the package, and is found there by every user.

    [bold]Examples[/bold]

      banditselect warmup
      banditselect warmup FSIDS Agent
      banditselect warmup reproduce
    """
    warm_up_aloud(names or ())
