"""The command ``banditselect``: parses arguments, calls the library, prints."""

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TextIO

__all__ = ["main"]


def main() -> None:
    """Run the command given on the command line."""
    sys.stdout, sys.stderr = _forgiving(sys.stdout, 1), _forgiving(sys.stderr, 2)
    installed = find_spec("rich") and find_spec("typer")  # the extra "experiments" brings both
    app = import_module(".app" if installed else ".without_extra", __package__).app
    try:
        try:
            app(prog_name="banditselect")
        finally:
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left unwritten goes nowhere
        print(f"error: stdout: {error.strerror}", file=sys.stderr)
        raise SystemExit(1) from None


def _forgiving(stream: TextIO | None, descriptor: int) -> TextIO:
    """Return a stream that shows "?" for a sign that it does not know; one that is closed shows nothing."""
    if stream is None:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, descriptor)
        os.set_inheritable(descriptor, True)  # worker processes need it too: joblib enables faulthandler in them
        return open(descriptor, "w", encoding="utf-8", closefd=False)
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    return stream
