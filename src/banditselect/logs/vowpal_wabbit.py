"""Reads dsjson, the logs of Vowpal Wabbit and Personalizer."""

import gzip
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ..kernels.features import LIMIT
from ..runtime import constraints, errors
from .rounds import Record, Round, Rounds
from .tables import Counter


def read_dsjson(path: str | os.PathLike[str], *, skip: bool = False) -> Rounds:
    """Read a dsjson file, one decision per line, as Vowpal Wabbit (``--dsjson``) and Azure Personalizer write it.

    **The reward is minus the cost**: ``_label_cost`` of -1 is a reward of 1. The action is ``_labelIndex`` (else the
    first of ``a``, which counts from 1), its probability ``_label_probability`` (else the first of ``p``). The context
    is ``c`` without ``_multi``, and every entry of ``_multi`` is an item.

    Parameters
    ----------
    path: a text file, or one that ends in ``.gz``.
    skip: False: a line that cannot be read is refused by its number. True: it is left out and counted in ``skipped``.

    Notes
    -----
    Namespaces become parts of names: ``{"User": {"age": 30}}`` is the column ``"User.age"``, and so is a list of
    objects, ``{"User": [{"age": 30}]}``; the last of equal names counts. Lists of numbers stay lists. Names that begin
    with ``_`` are left out, as Vowpal Wabbit does, but for ``_text``, and ``_tag``, which is the ``"id"`` of an item.
    Lines with ``"_skipLearn": true`` are passed over, since their decisions were not shown. ``o``, the observations
    that the cost was made of, is not read. Decisions over slots (``_slots``) cannot be read.

    Examples
    --------
    >>> import json
    >>> from pathlib import Path
    >>> label = {"_label_cost": -1, "_label_probability": 0.8, "_labelIndex": 1}
    >>> line = label | {"c": {"User": {"age": 30}, "_multi": [{"_tag": "a"}, {"_tag": "b", "x": [1, 2]}]}}
    >>> _ = Path("log.dsjson").write_text(json.dumps(line))
    >>> logged = next(iter(read_dsjson("log.dsjson")))
    >>> logged.context, logged.items[logged.action], logged.reward
    ({'User.age': 30}, {'x': [1, 2], 'id': 'b'}, 1.0)
    """

    def read(skipped: Counter) -> Iterator[Round]:
        for place, line in _lines(Path(path)):
            try:
                found = _round(place, line)
            except errors.ArgumentError:
                if skipped is None:
                    raise
                skipped(1)
                continue
            if found is not None:
                yield found

    return Rounds(read, skip, None)


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    number = 0
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        try:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield f"{path.name}: line {number}", line
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise errors.refuse(f"{path.name}: line {number + 1}", str(error), "a whole gzip file") from error


def _round(where: str, line: bytes) -> Round | None:
    text = line.strip()[:80].decode("utf-8", "replace")
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):  # what is not UTF-8 is a ValueError too
        raise errors.refuse(where, text, "a JSON object in UTF-8") from None
    if not isinstance(event, dict) or not isinstance(event.get("c"), dict):
        raise errors.refuse(where, text, "a decision: a JSON object with an object 'c'")
    if event.get("_skipLearn") is True:
        return None
    shared = event["c"]
    actions = shared.get("_multi")
    if not isinstance(actions, list) or not all(isinstance(item, dict) for item in actions) or "_slots" in shared:
        raise errors.refuse(f"{where}: c", list(shared), "a list of objects '_multi', and no '_slots'")
    items, cost = [_flat(item) for item in actions], cast(Any, event.get("_label_cost"))
    first, p = (event[name][0] if isinstance(event.get(name), list) and event[name] else None for name in "ap")
    action = event.get("_labelIndex", first - 1 if isinstance(first, int) else None)
    probability: Any = event.get("_label_probability", p)
    if not items:
        raise errors.refuse(f"{where}: items", items, "at least one")
    if type(action) is not int or not 0 <= action < len(items):
        raise errors.refuse(f"{where}: action", action, f"a position between 0 and {len(items) - 1}")
    constraints.Number(low=0.0, above=True, high=1.0).check(f"{where}: probability", probability, None)
    constraints.Number(low=-LIMIT, high=LIMIT).check(f"{where}: _label_cost", cost, None)
    return Round(_flat(shared), items, action, 0.0 - cost, float(probability))


def _flat(record: Record) -> dict[str, Any]:
    """Return the columns of a record, namespaces as parts of their names."""
    found: dict[str, Any] = {}
    _gather(record, "", found)
    if isinstance(record.get("_tag"), str | int):
        found.setdefault("id", record["_tag"])
    return found


def _gather(record: Record, prefix: str, found: dict[str, Any]) -> None:
    for name, value in record.items():
        if name.startswith("_") and name != "_text":
            continue
        inner = [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, dict)]
        for part in inner:
            _gather(part, f"{prefix}{name}.", found)
        if not inner:
            found[prefix + name] = value
