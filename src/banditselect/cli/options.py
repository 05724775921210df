"""What several commands share: options, exit codes, the refusal of a word that is not known."""

from collections.abc import Collection
from typing import Annotated

import typer

from ..simulation import engine as engines
from ..simulation.toml_values import one_of

CODES = """[bold]Exit codes[/bold]

  0         all went well
  1         something failed while running; the rest is kept
  2         wrong usage or specification; nothing was run
  130, 143  interrupted (Ctrl-C, SIGTERM); the same command continues
"""

Engine = Annotated[
    str,
    typer.Option(help="Where cells run: local, dask or ray.", autocompletion=lambda: list(engines.ENGINES)),
]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes; all cores if not given.", metavar="N")]
Address = Annotated[str | None, typer.Option(help="Of a running dask or ray cluster.", metavar="ADDRESS")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors on stderr.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout instead of tables.")]
Figures = Annotated[bool, typer.Option(help="Draw figures: PNG, SVG and PDF.")]


def known(option: str, value: str, words: Collection[str]) -> str:
    """Return a word that is one of these; refuse any other."""
    if value not in words:
        raise typer.BadParameter(f"got {value!r}, expected {one_of(value, list(words))}", param_hint=option)
    return value


def all_or_some(option: str, given: list[str] | None, words: Collection[str]) -> list[str]:
    """Return the words that are meant, each once; all of them for "all" or nothing."""
    names = dict.fromkeys(known(option, name, [*words, "all"]) for name in given or ["all"])
    return list(words if "all" in names else names)
