"""The command line of the tool: download the official files, build feature packs from them, list them."""

import contextlib
import json
import shlex
import sys
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from banditselect.cli import listing
from banditselect.cli.app import known
from banditselect.cli.progress import Display
from banditselect.cli.session import INTERRUPTED, Stop, say, session
from banditselect.experiments.packs import NAMES, load_pack
from banditselect.simulation import Progress

from . import files
from .official import DATASETS

PROGRAM = "python -m tools.packs"

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Feature packs from image files: download the official files, build packs from them, list them.",
)

Folder = Path("data")
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors on stderr.")]


def all_or_some(option: str, given: list[str] | None, words: Collection[str]) -> list[str]:
    """Return the words that are meant, each once; all of them for "all" or nothing."""
    names = [known(option, name, [*words, "all"]) for name in given or ["all"]]
    return list(dict.fromkeys(part for name in names for part in (words if name == "all" else [name])))


@app.command()
def fetch(
    datasets: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"{', '.join(DATASETS)}, or all (350 MB).",
            metavar="DATASET",
            show_default=False,
        ),
    ] = None,
    to: Annotated[Path, typer.Option(help="Where the files go.", metavar="DIR")] = Folder,
    origin: Annotated[
        Path | None,
        typer.Option("--from", help="Copy from this folder instead of downloading.", metavar="DIR", show_default=False),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Get the official files of MNIST, CIFAR-10 and CIFAR-100, and verify them.

    Correct files are not downloaded again; interrupted downloads are resumed.
    With --from, files are taken from a folder, unpacked or as archives, without
    internet. See docs/data.md.

    [bold]Examples[/bold]

      python -m tools.packs fetch mnist
      python -m tools.packs fetch all --to ~/data
      python -m tools.packs fetch cifar10 cifar100 --from /media/stick
    """
    for name in all_or_some("DATASET", datasets, DATASETS):
        place = to / DATASETS[name].folder
        with session(to, quiet=quiet) as display, _stopping("what has arrived is kept"):
            if origin is not None:
                files.take(name, origin, to)
            else:
                display.cells = "downloads"
                with display:
                    files.fetch(name, to, tell=_shown_on(display, name))
            count = len(DATASETS[name].files)
            print(f"{name}: {count} files, complete and verified: {place}/", flush=True)


@app.command()
def build(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"{', '.join(NAMES)}, or all.",
            metavar="PACK",
            show_default=False,
        ),
    ] = None,
    data: Annotated[Path, typer.Option(help="Where the official files are.", metavar="DIR")] = Folder,
    out: Annotated[Path, typer.Option(help="Where the packs go.", metavar="DIR")] = Path("out/packs"),
    limit: Annotated[int | None, typer.Option(min=1, help="Use only N images: a trial.", metavar="N")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.", metavar="DEVICE")] = "auto",
    quiet: Quiet = False,
) -> None:
    """Build the feature packs of the image experiments from the official files.

    This command built the packs that come with banditselect; running the
    experiments does not need it.

    [bold]Examples[/bold]

      python -m tools.packs build fs-mnist
      python -m tools.packs build all --data ~/data --out packs
      python -m tools.packs build ps-cifar10 --limit 2000
    """
    for name in all_or_some("PACK", names, NAMES):
        with session(out, quiet=quiet), _stopping("packs that were finished are kept"):
            from .build import build_pack

            path = build_pack(name, data, out, say=_silent if quiet else say, device=device, limit=limit)
            print(f"{name}: {path}", flush=True)


@app.command("list")
def list_(
    data: Annotated[Path, typer.Option(help="Where the official files are.", metavar="DIR")] = Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, with all provenance.")] = False,
) -> None:
    """List the complete data sets, and the packs with their provenance.

    [bold]Examples[/bold]

      python -m tools.packs list
      python -m tools.packs list --data ~/data --json
    """
    with session(data, quiet=False):
        found = {name: files.wrong(name, data) for name in DATASETS}
        packs = {name: _pack(name) for name in NAMES}
        if as_json:
            datasets = {name: {"complete": not wrong, "wrong": wrong} for name, wrong in found.items()}
            print(json.dumps({"folder": str(data), "datasets": datasets, "packs": packs}, indent=1))
            return
        lines = {name: _state(name, data, wrong) for name, wrong in found.items()}
        print(f"data sets in {data}/\n{listing.table(lines, '  ')}\n")
        print(f"packs\n{listing.table({name: _made(name, pack) for name, pack in packs.items()}, '  ')}")


@contextlib.contextmanager
def _stopping(kept: str) -> Iterator[None]:
    """Print, after an interruption, how to continue."""
    try:
        yield
    except KeyboardInterrupt as stop:
        say(f"interrupted; {kept}. To continue:\n  {PROGRAM} {shlex.join(sys.argv[1:])}")
        raise typer.Exit(stop.code if isinstance(stop, Stop) else INTERRUPTED) from None


def _shown_on(display: Display, name: str) -> Callable[[files.Transfer], None]:
    """Return a progress display of a download, with bytes as rounds."""
    begun, show = time.monotonic(), display.phase(name)

    def tell(at: files.Transfer) -> None:
        elapsed = time.monotonic() - begun
        rate = max(0, at.size_done - at.size_there) / elapsed if elapsed > 0.0 else 0.0
        show(
            Progress(
                cells=at.downloads,
                cells_done=at.downloads_done,
                cells_reused=at.downloads_there,
                cells_failed=0,
                fraction=at.size_done / at.size,
                seconds_left=(at.size - at.size_done) / rate if rate > 0.0 else None,
            )
        )

    return tell


def _state(name: str, data: Path, wrong: dict[str, str]) -> str:
    """Return a line about a data set."""
    known = DATASETS[name].files
    if not wrong:
        size = sum(file.size for file in known.values())
        return f"complete and verified, {len(known)} files, {size / 1e6:.3g} MB"
    if set(wrong.values()) == {"missing"} and len(wrong) == len(known):
        return f"not there; {PROGRAM} fetch {name} --to {data}"
    return "incomplete: " + "; ".join(f"{file}: {trouble}" for file, trouble in wrong.items())


def _pack(name: str) -> dict[str, Any] | None:
    """Return the provenance of a pack that is shipped, None if it is not."""
    try:
        return dict(load_pack(name).provenance)
    except FileNotFoundError:
        return None


def _made(name: str, provenance: dict[str, Any] | None) -> str:
    """Return a line about a pack."""
    if provenance is None:
        return f"not shipped; {PROGRAM} build {name}"
    return f"shipped; from {provenance['data']['name']} by {provenance['network']}; seed {provenance['seed']}"


def _silent(_: str) -> None:
    """Say nothing."""
