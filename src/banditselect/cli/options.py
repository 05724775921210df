"""What several commands share: options, exit codes, the refusal of a word that is not known."""

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..simulation import engines
from .listing import one_of


def _folder(name: str) -> Path:
    if not name:
        raise typer.BadParameter("got '', expected the name of a folder")
    return Path(name)


def folder_option(help: str) -> Any:
    """Return an option that is a folder to write to."""
    return typer.Option(help=help, metavar="DIR", parser=_folder)


CODES = """[bold]Exit codes[/bold]

  0         all went well
  1         something failed while running; the rest is kept
  2         wrong usage or specification; nothing was run
  130, 143  interrupted (Ctrl-C, SIGTERM); the same command continues
"""


def choice(metavar: str, words: Callable[[], Iterable[str]], help: str) -> Any:
    """Return a positional argument that is one of these words, which the shell completes."""
    return typer.Argument(help=help, metavar=metavar, show_default=False, autocompletion=lambda: list(words()))


def choice_option(name: str, words: Iterable[str], help: str) -> Any:
    """Return an option ``--name`` that is one of these words, which the shell completes."""
    return typer.Option(f"--{name}", help=help, metavar=name.upper(), autocompletion=lambda: list(words))


Engine = Annotated[str, choice_option("engine", engines.ENGINES, "Where cells run: local, dask or ray.")]
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


def all_or_some(
    option: str, given: list[str] | None, words: Collection[str], whole: Sequence[str] | None = None
) -> list[str]:
    """Return the words that are meant, each once; for "all" or nothing the ``whole``, by default all of them."""
    names = [known(option, name, [*words, "all"]) for name in given or ["all"]]
    return list(dict.fromkeys(part for name in names for part in ((whole or words) if name == "all" else [name])))
