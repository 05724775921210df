"""The command ``banditselect``: parses arguments, calls the library, prints. Needs the extra "experiments"."""

import os
import sys
from typing import TextIO

from ..carriers.extras import need

__all__ = ["main"]


def main() -> None:
    """Run the command given on the command line."""
    sys.stdout, sys.stderr = _forgiving(sys.stdout), _forgiving(sys.stderr)
    if sys.argv[1:] == ["warmup"]:  # also where the extra is not installed: an image that serves does without
        from .warmup import warm_up_aloud

        return warm_up_aloud()
    try:
        for module in ("rich", "typer"):
            need(module, "experiments")
    except ImportError as missing:
        print(f"banditselect: {missing}", file=sys.stderr)
        raise SystemExit(1) from None
    from .app import app

    try:
        try:
            app(prog_name="banditselect")
        finally:
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left unwritten goes nowhere
        print(f"error: stdout: {error.strerror}", file=sys.stderr)
        raise SystemExit(1) from None


def _forgiving(stream: TextIO | None) -> TextIO:
    """Return a stream that shows "?" for a sign that it does not know; one that is closed shows nothing."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    return stream
