"""The commands that work without the extra "experiments", which brings typer and rich."""

import argparse
from importlib.metadata import version

from . import listing
from .warmup import warm_up_aloud

NEED_EXTRA = {"reproduce": "run the paper's experiments", "claims": "judge the paper's sentences"}
EXAMPLES = "examples:\n  banditselect list policies\n  banditselect show FSIDS\n  banditselect warmup"


def app(prog_name: str) -> None:
    """Run the command given on the command line; end with code 1 if it needs the extra."""
    parser = argparse.ArgumentParser(prog_name, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=f"banditselect {version('banditselect')}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    list_ = commands.add_parser("list", help="list what there is, one line each")
    list_.add_argument("kind", nargs="?", choices=listing.catalogue(), metavar="KIND", help="for example policies")
    list_.add_argument("--json", action="store_true", help="print one JSON object")
    show = commands.add_parser("show", help="show the arguments of a policy or a problem, and what it does")
    show.add_argument("name", choices=listing.names(), metavar="NAME", help="a policy, problem, experiment or metric")
    warmup = commands.add_parser("warmup", help="compile now, on all cores, so that no process has to later")
    warmup.add_argument("names", nargs="*", metavar="NAME", help="policies, Agent; everything if not given")
    for name, purpose in NEED_EXTRA.items():
        commands.add_parser(name, help=f'{purpose} (needs the extra "experiments")', add_help=False)
    parsed, unknown = parser.parse_known_args()
    if parsed.command in NEED_EXTRA:
        lacking = f'`banditselect {parsed.command}` needs the extra "experiments"'
        raise SystemExit(f"{lacking}: pip install 'banditselect[experiments]'")
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if parsed.command == "warmup":
        return warm_up_aloud(parsed.names)
    print(listing.page(parsed.name) if parsed.command == "show" else listing.index(parsed.kind, as_json=parsed.json))
