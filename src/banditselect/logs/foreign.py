"""Reads logs of other systems as rounds: dsjson of Vowpal Wabbit and Personalizer, the Open Bandit data set."""

import csv
import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from ..runtime import errors
from .rounds import Record, Round, Rounds, checked_round

_AFFINITY = "user-item_affinity_"


def read_dsjson(path: str | os.PathLike[str], *, skip: bool = False) -> Rounds:
    """Read a dsjson file, one decision per line, as Vowpal Wabbit (``--dsjson``) and Azure Personalizer write it.

    **The reward is minus the cost**: ``_label_cost`` of -1 is a reward of 1. The action is ``_labelIndex`` (else the
    first of ``a``, which counts from 1), its probability ``_label_probability`` (else the first of ``p``). What lies in
    ``c`` beside ``_multi`` is the context, and every entry of ``_multi`` an item.

    Parameters
    ----------
    path: a text file, or one that ends in ``.gz``.
    skip: False: a line that cannot be read is refused by its number. True: it is left out and counted in ``skipped``.

    Notes
    -----
    Namespaces become parts of names: ``{"User": {"age": 30}}`` is the column ``"User.age"``, and so is a list of
    objects, ``{"User": [{"age": 30}]}``; the last of equal names counts. Lists of numbers stay lists. Names that begin
    with ``_`` are left out, as Vowpal Wabbit does, but for ``_text``, and ``_tag``, which is the ``"id"`` of an item.
    Lines with ``"_skipLearn": true`` are passed over, since nobody saw what they decided. ``o``, the observations that
    the cost was made of, is not read. Decisions over slots (``_slots``) cannot be read.

    Examples
    --------
    >>> import json
    >>> label = {"_label_cost": -1, "_label_probability": 0.8, "_labelIndex": 1}
    >>> line = label | {"c": {"User": {"age": 30}, "_multi": [{"_tag": "a"}, {"_tag": "b", "x": [1, 2]}]}}
    >>> _ = Path("log.dsjson").write_text(json.dumps(line))
    >>> logged = next(iter(read_dsjson("log.dsjson")))
    >>> logged.context, logged.items[logged.action], logged.reward
    ({'User.age': 30}, {'x': [1, 2], 'id': 'b'}, 1.0)
    """
    return Rounds(lambda: _lines(Path(path)), _dsjson_round, skip)


def read_open_bandit(folder: str | os.PathLike[str], *, skip: bool = False) -> Rounds:
    """Read a folder of the Open Bandit data set, such as ``open_bandit_dataset/random/men``.

    It holds ``item_context.csv`` and a CSV file with a row for every item shown, named as the folder (``men.csv``).
    Every round offers all items. The context has ``position`` and ``user_feature_0``, ...; an item has ``id``, its
    ``item_feature_0``, ..., and the ``affinity`` of this user and this item (``user-item_affinity_k`` for item k). The
    reward is the ``click``.

    Parameters
    ----------
    folder: of one logging policy and one campaign.
    skip: False: a row that cannot be read is refused by its line. True: it is left out and counted in ``skipped``.

    References
    ----------
    Saito, Aihara, Matsutani, Narita, "Open Bandit Dataset and Pipeline", NeurIPS Datasets and Benchmarks 2021.
    """
    folder = Path(folder)
    items = _open_bandit_items(folder / "item_context.csv")
    place = {str(item["id"]): k for k, item in enumerate(items)}
    path = folder / f"{folder.resolve().name}.csv"

    def read(where: str, row: Mapping[str, str]) -> Round:
        whole_row(where, row, ("item_id", "position", "click", "propensity_score"))
        context = {name: cell for name, cell in row.items() if name.startswith("user_feature_")}
        offered = [
            item | {"affinity": number_in(f"{where}: {_AFFINITY}{item['id']}", row[f"{_AFFINITY}{item['id']}"])}
            if f"{_AFFINITY}{item['id']}" in row
            else item
            for item in items
        ]
        action = place.get(row["item_id"])
        if action is None:
            raise errors.refuse(f"{where}: item_id", row["item_id"], f"one of the {len(items)} items")
        reward = number_in(f"{where}: click", row["click"])
        p = number_in(f"{where}: propensity_score", row["propensity_score"])
        return checked_round(where, {"position": row["position"]} | context, offered, action, reward, p)

    return Rounds(lambda: csv_rows(path), read, skip)


def csv_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a CSV file with the line at which each ends; refuse columns of one name."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        names = list(reader.fieldnames or ())
        for name in names:
            if names.count(name) > 1:
                raise errors.refuse(f"{path.name}: columns", names, f"one column {name!r}")
        for row in reader:
            yield f"{path.name}: line {reader.line_num}", row


def whole_row(where: str, row: Mapping[Any, Any], columns: Sequence[str], *, cells: bool = True) -> None:
    """Refuse a row without one of these columns, or with more or fewer ``cells`` than a CSV file has columns."""
    for name in columns:
        if name not in row:
            raise errors.refuse(where, [*row], f"a column {name!r}")
    if cells and (None in row or None in row.values()):
        expected = f"a cell for each of the {len(row) - (None in row)} columns, texts with commas in quotes"
        raise errors.refuse(where, [*row.values()], expected)


def number_in(where: str, cell: str) -> float:
    """Return the number that a cell holds."""
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise errors.refuse(where, cell, "a number such as 0.5, with a point") from None


def _open_bandit_items(path: Path) -> list[dict[str, Any]]:
    """Return the items; a feature is a number where that of every item can be read as one."""
    rows = [row for _, row in csv_rows(path)]
    if not rows or any(row.get("item_id") is None for row in rows):
        raise errors.refuse(path.name, "no items", "a column 'item_id' and a row for every item")
    names = [name for name in rows[0] if name not in ("", "item_id")]
    numeric = {name for name in names if all(_is_number(row[name]) for row in rows)}
    return [
        {"id": int(row["item_id"]) if row["item_id"].isdigit() else row["item_id"]}
        | {name: float(row[name]) if name in numeric else row[name] for name in names}
        for row in rows
    ]


def _is_number(cell: str) -> bool:
    try:
        return float(cell) == float(cell)
    except (TypeError, ValueError):
        return False


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    file: IO[str]
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield f"{path.name}: line {number}", line


def _dsjson_round(where: str, line: str) -> Round | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        raise errors.refuse(where, line.strip()[:80], "a JSON object") from None
    if not isinstance(event, dict) or not isinstance(event.get("c"), dict):
        raise errors.refuse(where, line.strip()[:80], "a decision: a JSON object with an object 'c'")
    if event.get("_skipLearn") is True:
        return None
    shared = event["c"]
    actions = shared.get("_multi")
    if not isinstance(actions, list) or not all(isinstance(item, dict) for item in actions) or "_slots" in shared:
        raise errors.refuse(f"{where}: c", list(shared), "a list of objects '_multi', and no '_slots'")
    cost = event.get("_label_cost")
    if not isinstance(cost, int | float):
        raise errors.refuse(f"{where}: _label_cost", cost, "a number")
    ranked, p = event.get("a"), event.get("p")
    first = ranked[0] - 1 if isinstance(ranked, list) and ranked and isinstance(ranked[0], int) else None
    action = event.get("_labelIndex", first)
    probability = event.get("_label_probability", p[0] if isinstance(p, list) and p else None)
    items = [_flat(item) for item in actions]
    return checked_round(where, _flat(shared), items, action, 0.0 - cost, probability)


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
        if isinstance(value, dict):
            _gather(value, f"{prefix}{name}.", found)
        elif isinstance(value, list) and any(isinstance(part, dict) for part in value):
            for part in value:
                if isinstance(part, dict):
                    _gather(part, f"{prefix}{name}.", found)
        else:
            found[prefix + name] = value
