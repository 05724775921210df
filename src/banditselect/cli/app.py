"""The commands."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from ..experiments import EXPERIMENTS
from ..policies import registered
from ..simulation import Results
from ..simulation import engine as engines
from ..simulation.own_code import known_problems
from ..simulation.specification import Specification, read_specification
from ..simulation.written import one_of
from . import listing, output
from .session import FAILED, session

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

Engine = Annotated[
    str,
    typer.Option(help="Where cells run: local, dask or ray.", autocompletion=lambda: list(engines.ENGINES)),
]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes; all cores if not given.", metavar="N")]
Address = Annotated[str | None, typer.Option(help="Of a running dask or ray cluster.", metavar="ADDRESS")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors on stderr.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout instead of tables.")]
Figures = Annotated[bool, typer.Option(help="Draw figures: PNG, SVG and PDF.")]


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
    out: Annotated[Path | None, typer.Option(help="For the results; out/FILE if not given.", metavar="DIR")] = None,
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
        specification = read_specification(file, rounds=rounds, replicates=replicates, seed=seed)
        with display:
            results = specification.run(
                phase=display.phase, engine=engine, workers=workers, address=address, out=folder
            )
        metric = specification.metric
        files = [output.save_tables(results, metric, folder)]
        if figures:
            files += output.save_figures(results, metric, folder)
        if as_json:
            settings = _settings(specification) | {"file": str(file), "engine": engine, "workers": workers}
            print(output.as_json(results, metric, settings, folder, files))
        else:
            print("\n\n".join(filter(None, [results.summary(metric), output.tuned_words(results)])))
            print(f"\nresults, tables and figures: {folder}/" if files[1:] else f"\nresults and tables: {folder}/")
        raise typer.Exit(FAILED if _told(results, folder) else 0)


@app.command(epilog=CODES)
def reproduce(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"{', '.join(EXPERIMENTS)}, or all.",
            metavar="EXPERIMENT",
            show_default=False,
            autocompletion=lambda: [*EXPERIMENTS, "all"],
        ),
    ] = None,
    replicates: Annotated[int, typer.Option(min=1, help="Problems drawn for each setting.", metavar="N")] = 10,
    rounds: Annotated[int | None, typer.Option(min=1, help="Instead of the experiment's.", metavar="N")] = None,
    models: Annotated[str, typer.Option(help="Values of M for fs-synthetic.", metavar="M,M,...")] = "2,10,30",
    seed: Annotated[int, typer.Option(min=0, metavar="N")] = 0,
    engine: Engine = "local",
    workers: Workers = None,
    address: Address = None,
    out: Annotated[Path, typer.Option(help="For the results.", metavar="DIR")] = Path("out/reproduce"),
    quiet: Quiet = False,
    figures: Figures = True,
) -> None:
    """Run the paper's experiments, by default in a quick version: tables and figures of the regret.

    The paper has 100 replicates for fs-synthetic and 50 for ps-synthetic.
    Running again continues and reuses.

    [bold]Examples[/bold]

      banditselect reproduce
      banditselect reproduce fs-synthetic --models 2,10,100 --replicates 100
      banditselect reproduce all --replicates 50 --out out/paper
    """
    names = list(dict.fromkeys(experiments or ["all"]))
    names = list(EXPERIMENTS) if "all" in names else names
    for name in names:
        if name not in EXPERIMENTS:
            raise typer.BadParameter(f"got {name!r}, expected {one_of(name, [*EXPERIMENTS, 'all'])}")
    if not all(part.strip().isdecimal() and int(part) >= 1 for part in models.split(",")):
        raise typer.BadParameter(
            f"got {models!r}, expected whole numbers >= 1 with commas between", param_hint="--models"
        )
    failed = False
    for name in names:
        folder, experiment = out / name, EXPERIMENTS[name]
        with session(folder, quiet=quiet) as display:
            engines.check(engine, workers, address)
            with display:
                results = experiment.run(
                    models=[int(part) for part in models.split(",")],
                    rounds=rounds,
                    replicates=replicates,
                    seed=seed,
                    engine=engine,
                    workers=workers,
                    address=address,
                    out=folder,
                    progress=display.phase(name),
                )
            output.save_tables(results, "regret", folder)
            if figures:
                output.save_figures(results, "regret", folder, setting=experiment.setting)
            print(f"{name}: {experiment.title}; regret after {rounds or experiment.rounds} rounds\n")
            print(
                f"{results.summary()}\n\nresults{', tables and figures' if figures else ' and tables'}: {folder}/\n",
                flush=True,
            )
            failed = _told(results, folder) or failed
    raise typer.Exit(FAILED if failed else 0)


@app.command("list")
def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="policies, problems, experiments or metrics; all if not given.",
            metavar="KIND",
            show_default=False,
            autocompletion=lambda: ["policies", "problems", "experiments", "metrics"],
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List what there is, one line each.

    [bold]Examples[/bold]

      banditselect list
      banditselect list policies --json
    """
    known = listing.catalogue()
    if kind is not None and kind not in known:
        raise typer.BadParameter(f"got {kind!r}, expected {one_of(kind, known)}")
    chosen = known if kind is None else {kind: known[kind]}
    if as_json:
        print(json.dumps(chosen, indent=1))
    elif kind is not None:
        print(listing.table(known[kind]))
    else:
        print("\n\n".join(f"{name}\n{listing.table(lines, '  ')}" for name, lines in known.items()))


@app.command()
def show(
    name: Annotated[
        str,
        typer.Argument(
            help="A policy or a problem.",
            metavar="NAME",
            show_default=False,
            autocompletion=lambda: [*registered(), *known_problems()],
        ),
    ],
) -> None:
    """Show the arguments of a policy or a problem, their defaults, and what it does.

    [bold]Example[/bold]

      banditselect show FSSquareCB
    """
    known: dict[str, type] = {**registered(), **known_problems()}
    if name not in known:
        raise typer.BadParameter(f"got {name!r}, expected {one_of(name, known)}")
    print(listing.page(known[name]))


def _settings(specification: Specification) -> dict[str, Any]:
    return {
        "version": version("banditselect"),
        "rounds": specification.rounds,
        "replicates": specification.replicates,
        "seed": specification.seed,
        "metric": specification.metric,
        "problems": {name: repr(problem) for name, problem in specification.problems.items()},
        "policies": {name: repr(binding) for name, binding in specification.policies.items()},
    }


def _told(results: Results, folder: Path) -> bool:
    """Say what failed; tell whether anything did."""
    if results.failures:
        output.tell_failures(results.failures, folder)
    return bool(results.failures)
