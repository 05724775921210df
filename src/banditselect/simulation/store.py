"""A folder with the cells of sweeps, under names made from settings and code.

``cells/<key>.cell``: one outcome each, written once and atomically, checksummed; the key is a digest of the settings
and of the code (see identity.py), so what other code or other settings made is never found under it.
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
from .identity import digest

TABLES = ("results.parquet", "failures.json")
BESIDE = ("curves.png", "finals.png")  #: what a report draws there

_ABANDONED = 3600.0  #: seconds after which an unfinished file is taken for one whose writer was killed


class Store:
    """Outcomes by key. Reading writes nothing; ``prepare`` comes before everything that does."""

    def __init__(self, folder: str | Path) -> None:
        if str(folder) == "":
            raise errors.refuse("out", "", "the name of a folder")
        self.folder = Path(folder)
        self._cells = self.folder / "cells"

    def prepare(self) -> None:
        """Make the folder, and remove what writers that were killed have left in it."""
        if not self._cells.exists():
            refuse_foreign(self.folder, (*TABLES, *BESIDE))
        try:
            self._cells.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise errors.refuse("out", str(self.folder), "a folder, or a path where one can be made") from None
        for part in (*self._cells.glob(".*.part"), *self.folder.glob(".*.part")):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - part.stat().st_mtime > _ABANDONED:
                    part.unlink()

    def keys(self) -> set[str]:
        """Return the keys of everything stored."""
        return {path.stem for path in self._cells.glob("*.cell")}

    def get(self, key: str) -> Outcome | None:
        """Return an outcome, None if there is not one; a damaged file is renamed with a warning."""
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
            errors.warn(f"{error}; the damaged cell was renamed to *.damaged and is run again")
            return None
        return Outcome(arrays["curves"], content["settings"], tuple(content["messages"]))

    def put(self, cell: Cell, outcome: Outcome, description: object, policy: str) -> None:
        """Store an outcome with the description that its key is the digest of, and note how long it took.

        ``policy``: what the policy is called, or what it is tuned for.
        """
        content = {"description": description, "settings": outcome.settings, "messages": list(outcome.messages)}
        files.write(self._cells / f"{cell.key}.cell", content, {"curves": outcome.curves})
        times = {"seconds": round(outcome.seconds, 3), "playing": round(outcome.playing, 6), "rounds": cell.size}
        with (self.folder / "timings.jsonl").open("a") as file:
            file.write(json.dumps({"key": cell.key, "problem": cell.problem, "policy": policy} | times) + "\n")

    def timings(self) -> dict[str, float]:
        """Return the seconds noted, by key."""
        return {key: seconds for key, _, seconds, _ in self._noted()}

    def round_times(self) -> dict[tuple[str, str], float]:
        """Return the seconds that a round of one lane took, by problem and policy: the least of its cells.

        The first cell of a process also reads compiled code, and other programs may have run beside any of them.
        """
        least: dict[tuple[str, str], float] = {}
        for _, played, _, seconds in self._noted():
            least[played] = min(seconds, least.get(played, math.inf))
        return least

    def _noted(self) -> Iterator[tuple[str, tuple[str, str], float, float]]:
        """Yield key, problem and policy, seconds, and those of a round; lines of killed writers are passed over."""
        path = self.folder / "timings.jsonl"
        for line in path.read_bytes().splitlines() if path.exists() else ():
            with contextlib.suppress(ValueError, KeyError, TypeError):
                one = json.loads(line)
                per_round = one["playing"] / one["rounds"]
                yield str(one["key"]), (one["problem"], one["policy"]), float(one["seconds"]), per_round

    def start_sweep(self, description: dict[str, Any]) -> None:
        """Say in ``sweep.json`` what this folder holds the tables of.

        If it held those of another sweep, they are moved to ``earlier/`` with a warning: cells with the same settings
        and the same code are used again, no others.
        """
        path = self.folder / "sweep.json"
        if path.exists():
            before: Any = {}
            with contextlib.suppress(ValueError):  # damaged
                before = json.loads(path.read_bytes())
            if _text(before) == _text(description):
                return
            earlier = self.folder / "earlier" / digest(before)
            earlier.mkdir(parents=True, exist_ok=True)
            for name in (*TABLES, path.name):
                with contextlib.suppress(FileNotFoundError):
                    (self.folder / name).replace(earlier / name)
            known = before if isinstance(before, dict) else {}
            parts = [
                name if isinstance(now, dict) else f"{name}: {known.get(name)} is now {now}"
                for name, now in description.items()
                if _text(known.get(name)) != _text(now)
            ]
            errors.warn(
                f"{self.folder} holds another sweep ({', '.join(parts)}): its tables are now in {earlier}; "
                "only cells with the same settings and code are used again"
            )
        write_text(path, _text(description) + "\n")

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


def _text(content: Any) -> str:
    """Return JSON that is the same for the same content: 1, 1.0 and True are not the same, NaN is."""
    return json.dumps(content, indent=1, sort_keys=True)
