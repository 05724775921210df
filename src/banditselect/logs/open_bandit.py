"""Reads the Open Bandit data set."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from .rounds import Columns, Rounds, records_of, rounds_of_table
from .tables import Batch, batches, header, joined


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
    items = _items(folder / "item_context.csv")
    place = {str(item["id"]): k for k, item in enumerate(items)}
    path = folder / f"{folder.resolve().name}.csv"
    names = header(path)
    users = ["position", *(name for name in names if name.startswith("user_feature_"))]
    columns = {k: f"user-item_affinity_{item['id']}" for k, item in enumerate(items)}
    affinities = {k: name for k, name in columns.items() if name in names}

    def read(batch: Batch) -> Columns:
        contexts = {name: batch.cells(name) for name in users}
        found = {k: batch.numbers(name).tolist() for k, name in affinities.items()}
        offered = [
            item | ({"affinity": found[k][row]} if k in found else {})
            for row in range(batch.n)
            for k, item in enumerate(items)
        ]
        menus, action = np.arange(len(offered)).reshape(-1, len(items)), batch.positions("item_id", place)
        return Columns(
            contexts, offered, menus, action, batch.numbers("click"), batch.probabilities("propensity_score")
        )

    read_columns = [*users, "item_id", "click", "propensity_score", *affinities.values()]
    return rounds_of_table(lambda skipped: batches(path, read_columns, skipped, (*users, "item_id")), read, skip)


def _items(path: Path) -> Any:
    """Return the items; a feature is a number where that of every item can be read as one."""
    names = [name for name in header(path) if name not in ("", "item_id")]
    rows = joined(list(batches(path, ["item_id", *names])))
    return records_of({"id": rows.cells("item_id")} | {name: rows.cells(name) for name in names}, 0)
