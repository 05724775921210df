"""The command ``banditselect``: parses arguments, calls the library, prints. Needs the extra "experiments"."""

import sys

from ..carriers.extras import need

__all__ = ["main"]


def main() -> None:
    """Run the command given on the command line."""
    try:
        for module in ("rich", "typer"):
            need(module, "experiments")
    except ImportError as missing:
        print(f"banditselect: {missing}", file=sys.stderr)
        raise SystemExit(1) from None
    from .app import app

    app(prog_name="banditselect")
