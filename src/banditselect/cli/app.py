"""The program that all commands belong to, and the commands ``run``, ``list`` and ``show``."""

from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from ..simulation import engine as engines
from ..simulation.results import save_figures
from ..simulation.sweep_file import SweepFile, read_sweep_file
from ..simulation.tuning import tuning_summary
from . import listing, output, paper
from .options import CODES, Address, AsJson, Engine, Figures, Quiet, Workers, choice, folder_option, known
from .session import FAILED, session
from .warmup import known_names, warm_up_aloud

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=CODES,
)


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
    """Linear bandits that choose their own model: run sweeps, reproduce the paper.

    [bold]Examples[/bold]

      banditselect list policies
      banditselect run sweep.toml --replicates 20
      banditselect reproduce fs-synthetic
    """


@app.command(epilog=CODES)
def run(
    file: Annotated[Path, typer.Argument(help="The sweep: a TOML file.", metavar="FILE", show_default=False)],
    out: Annotated[Path | None, folder_option("For the results; out/FILE if not given.")] = None,
    engine: Engine = "local",
    workers: Workers = None,
    address: Address = None,
    replicates: Annotated[int | None, typer.Option(min=1, help="Instead of the file's.", metavar="N")] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Instead of the file's.", metavar="N")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Instead of the file's.", metavar="N")] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    figures: Figures = True,
) -> None:
    """Run the sweep that a file describes: policies on problems, with tables and figures.

    The file is checked before anything is run. Finished cells are kept in
    the out folder: the same command continues where it was stopped, and
    reuses what did not change. docs/command_line.md describes the file.

    [bold]Examples[/bold]

      banditselect run sweep.toml
      banditselect run sweep.toml --replicates 5 --rounds 200 --no-figures
      banditselect run sweep.toml --engine dask --address tcp://scheduler:8786
      banditselect run sweep.toml --json --quiet > summary.json
    """
    folder = out or Path("out") / file.stem
    with session(folder, quiet=quiet) as display:
        engines.check(engine, workers, address)
        specification = read_sweep_file(file, rounds=rounds, replicates=replicates, seed=seed)
        with display:
            where = {"engine": engine, "workers": workers, "address": address, "out": folder}
            results = specification.run(phase=display.phase, **where)
        metric = specification.metric
        files = [output.save_tables(results, metric, folder)]
        if figures:
            files += save_figures(results, metric, folder)
        if as_json:
            settings = _settings(specification) | {"file": str(file), "engine": engine, "workers": workers}
            print(output.as_json(results, metric, settings, folder, files))
        else:
            print("\n\n".join(filter(None, [results.summary(metric), tuning_summary(results)])))
            print(f"\nresults, tables and figures: {folder}/" if files[1:] else f"\nresults and tables: {folder}/")
        raise typer.Exit(FAILED if output.say_failures(results, folder) else 0)


app.command(epilog=CODES)(paper.reproduce)
app.command(epilog=CODES)(paper.claims)


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


def _settings(specification: SweepFile) -> dict[str, Any]:
    return {
        "version": version("banditselect"),
        **{name: getattr(specification, name) for name in ("rounds", "replicates", "seed", "metric")},
        "problems": {name: repr(problem) for name, problem in specification.problems.items()},
        "policies": {name: repr(binding) for name, binding in specification.policies.items()},
    }
