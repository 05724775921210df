"""The command line: parses, calls, prints."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command given on the command line."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        print('banditselect: the command line needs pip install "banditselect[experiments]"', file=sys.stderr)
        raise SystemExit(1) from None
    from .app import app

    app(prog_name="banditselect")
