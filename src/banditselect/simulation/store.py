"""A folder in which the cells of sweeps lie under the names of what was run.

``cells/<key>.cell``: one outcome each, written once and atomically, checksummed; the key is a digest of the settings
and of the code (see code_version.py), so what other code or other settings made is never found under it.
``timings.jsonl``: how long each took, apart from the results. Any number of processes may read and write at a time.
"""

import contextlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..runtime import errors, files
from .cells import Cell, Failure, Outcome
from .fingerprint import digest

TABLES = ("results.parquet", "failures.json")
BESIDE = ("curves.png", "finals.png")  #: what a report draws there

_ABANDONED = 3600.0  #: seconds after which an unfinished file is taken for one whose writer was killed


class Store:
    """Outcomes by key."""

    def __init__(self, folder: str | Path) -> None:
        if str(folder) == "":
            raise errors.refuse("out", "", "the name of a folder")
        self.folder = Path(folder)
        self._cells = self.folder / "cells"
        if not self._cells.exists():
            refuse_foreign(self.folder, (*TABLES, *BESIDE))
        try:
            self._cells.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise errors.refuse("out", str(folder), "a folder, or a path where one can be made") from None
        for part in (*self._cells.glob(".*.part"), *self.folder.glob(".*.part")):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - part.stat().st_mtime > _ABANDONED:
                    part.unlink()

    def keys(self) -> set[str]:
        """Return the keys of everything stored."""
        return {path.stem for path in self._cells.glob("*.cell")}

    def get(self, key: str) -> Outcome | None:
        """Return an outcome, None where there is none; a damaged file is put aside with a warning."""
        path = self._cells / f"{key}.cell"
        try:
            content, arrays = files.read(path)
            if digest(content["description"]) != key:
                raise ValueError(f"{path}: its content is that of another cell")
        except FileNotFoundError:
            return None
        except ValueError as error:
            with contextlib.suppress(FileNotFoundError):
                path.rename(path.with_suffix(".damaged"))
            errors.warn(f"{error}; it is put aside and run again")
            return None
        return Outcome(arrays["curves"], content["settings"], tuple(content["messages"]))

    def put(self, key: str, outcome: Outcome, description: object) -> None:
        """Store an outcome with the description that its key is the digest of."""
        content = {"description": description, "settings": outcome.settings, "messages": list(outcome.messages)}
        files.write(self._cells / f"{key}.cell", content, {"curves": outcome.curves})

    def note_time(self, cell: Cell, seconds: float, playing: float, policy: str) -> None:
        """Note how long a cell took, and the playing in it; ``policy``: what it is called, or what it is tuned for."""
        what = {"key": cell.key, "seconds": round(seconds, 3), "problem": cell.problem, "policy": policy}
        with (self.folder / "timings.jsonl").open("a") as file:
            file.write(json.dumps(what | {"playing": round(playing, 6), "rounds": cell.size}) + "\n")

    def timings(self) -> dict[str, float]:
        """Return the seconds noted, by key."""
        noted = {}
        for content in self._noted():
            with contextlib.suppress(ValueError, KeyError, TypeError):
                noted[content["key"]] = float(content["seconds"])
        return noted

    def round_times(self) -> dict[tuple[str, str], float]:
        """Return the seconds that a round of one lane took, by problem and policy: the least of its cells.

        The first cell of a process also reads compiled code, and other programs may have run beside any of them.
        """
        least: dict[tuple[str, str], float] = {}
        for content in self._noted():
            with contextlib.suppress(ValueError, KeyError, TypeError):
                key, seconds = (content["problem"], content["policy"]), content["playing"] / content["rounds"]
                least[key] = min(seconds, least.get(key, math.inf))
        return least

    def _noted(self) -> Iterator[Any]:
        """Yield what was noted of times; a line that a killed writer left behind is passed over."""
        path = self.folder / "timings.jsonl"
        for line in path.read_bytes().splitlines() if path.exists() else ():
            with contextlib.suppress(ValueError):
                yield json.loads(line)

    def claim(self, description: dict[str, Any]) -> None:
        """Say in ``sweep.json`` what this folder holds the tables of.

        If it held those of another sweep, they are moved to ``earlier/`` and a warning says what differs: cells with
        the same settings and the same code are used again, no others.
        """
        path = self.folder / "sweep.json"
        try:
            before = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            before = None
        except ValueError:
            before = {}
        if _equal(before, description):
            return
        if before is not None:
            earlier = self.folder / "earlier" / digest(before)
            earlier.mkdir(parents=True, exist_ok=True)
            for name in (*TABLES, path.name):
                with contextlib.suppress(FileNotFoundError):
                    (self.folder / name).replace(earlier / name)
            errors.warn(
                f"{self.folder} holds another sweep ({', '.join(_changes(before, description))}): its tables are now "
                f"in {earlier}; only cells with the same settings and code are used again"
            )
        write_text(path, json.dumps(description, indent=1, sort_keys=True) + "\n")

    def earlier_replicates(self) -> tuple[int, ...]:
        """Return how many replicates the sweeps had whose tables this folder has held."""
        found = set()
        for path in self.folder.glob("earlier/*/sweep.json"):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                found.add(int(json.loads(path.read_bytes())["replicates"]))
        return tuple(sorted(found))

    def write_failures(self, failures: Sequence[Failure]) -> None:
        """Write what failed to ``failures.json``; remove that file if nothing did."""
        path = self.folder / "failures.json"
        if not failures:
            path.unlink(missing_ok=True)
            return
        records = [failure.record() | {"traceback": failure.traceback} for failure in failures]
        write_text(path, json.dumps(records, indent=1) + "\n")


def refuse_foreign(folder: Path, names: Sequence[str]) -> None:
    """Refuse a folder in which no sweep lies, but a file that would be replaced."""
    for name in names:
        if (folder / name).exists():
            expected = f"a folder of ours, or one without {name}, which would be replaced"
            raise errors.refuse("out", str(folder), expected)


def write_text(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old one or the new one, never a part."""
    with files.replacing(path) as file:
        file.write(text.encode())


def json_text(content: Any) -> str:
    """Return JSON; a number that is not finite is null."""
    return json.dumps(_finite(content), indent=1, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _equal(before: Any, after: Any) -> bool:
    """Tell whether two descriptions are the same, as digests have it: 1, 1.0 and True are not, NaN is."""
    return json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)


def _changes(before: Any, after: Any, name: str = "") -> list[str]:
    """Return where two descriptions differ, as short phrases."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [*before, *(key for key in after if key not in before)]
        return [
            phrase
            for key in keys
            if not _equal(before.get(key), after.get(key))
            for phrase in _changes(before.get(key), after.get(key), f"{name}.{key}" if name else key)
        ]
    return [f"{name}: {errors.shown(before)} is now {errors.shown(after)}"]
