"""Run the tool: ``python -m tools.packs``."""

from .commands import PROGRAM, app

app(prog_name=PROGRAM)
