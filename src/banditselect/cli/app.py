"""The program that all commands belong to, and the commands ``list``, ``show`` and ``warmup``."""

from importlib.metadata import version
from typing import Annotated

import typer

from . import listing, paper
from .options import CODES, choice, known
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
    """Linear bandits that choose their own model: list what there is, reproduce the paper.

    [bold]Examples[/bold]

      banditselect list policies
      banditselect reproduce fs-synthetic
    """


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
