"""The studies behind pages of the documentation. Their runs are stored, so that a study can be stopped and resumed."""

import functools
import json
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from banditselect.simulation.store import write_text

FOLDER = Path("out/studies")  #: delete it after a change of code that a study calls

P = ParamSpec("P")
T = TypeVar("T")


def stored(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function of plain arguments whose results are kept as JSON, a file for each call."""

    @functools.wraps(function)
    def read_or_run(*args: P.args, **kwargs: P.kwargs) -> T:
        study = Path(function.__code__.co_filename).stem  # not __module__, which is __main__ for a study that is run
        call = f"{study}.{function.__name__}{json.dumps([args, kwargs])}"
        path = FOLDER / f"{urllib.parse.quote(call, safe='')}.json"
        if not path.exists():
            FOLDER.mkdir(parents=True, exist_ok=True)
            write_text(path, json.dumps(function(*args, **kwargs)))
        found: T = json.loads(path.read_text())
        return found

    return read_or_run
