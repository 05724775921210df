"""The folder of a sweep after damage: what is hurt is put aside and run again, and nothing else is lost."""

import os
import time

import numpy as np
import pytest
from stored_sweeps import CELLS, cells_played, names, run, table, whole_sweep

from banditselect.simulation.cells import Cell, Outcome
from banditselect.simulation.identity import digest
from banditselect.simulation.store import Store

played = pytest.fixture(cells_played)
whole = pytest.fixture(scope="module")(whole_sweep)


def damage(path, kind, rng):
    content = bytearray(path.read_bytes())
    if kind == "bit":
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
    path.write_bytes({"empty": b"", "half": content[: len(content) // 2], "short": content[:-1], "bit": content}[kind])


@pytest.mark.parametrize("kind", ["bit", "half", "short", "empty"])
def test_damaged_cells_are_put_aside_and_run_again(tmp_path, whole, played, kind):
    run(tmp_path)
    rng = np.random.default_rng(0)
    hurt = sorted((tmp_path / "cells").glob("*.cell"))[:3]
    for path in hurt:
        damage(path, kind, rng)
    with pytest.warns(RuntimeWarning, match="renamed to .*damaged and is run again") as caught:
        run(tmp_path)
    assert len(caught) == 3
    assert all(any(path.name in str(w.message) for w in caught) for path in hurt)
    assert {cell.key for cell in played[CELLS:]} == {path.stem for path in hurt}
    assert {path.stem for path in (tmp_path / "cells").glob("*.damaged")} == {path.stem for path in hurt}
    assert table(tmp_path) == table(whole)
    assert names(tmp_path) == names(whole)


def test_every_bit_of_a_cell_is_watched(tmp_path):
    kept = Store(tmp_path)
    kept.prepare()
    key = digest("what")
    cell = Cell("problem", "policy", range(1), 1, 0, key)
    kept.put(cell, Outcome(np.array([[[0.5]]]), {"a": 1}, ("careful",)), "what", "policy")
    path = tmp_path / "cells" / f"{key}.cell"
    whole = path.read_bytes()
    for position in range(0, 8 * len(whole), 3):
        content = bytearray(whole)
        content[position // 8] ^= 1 << position % 8
        path.write_bytes(content)
        with pytest.warns(RuntimeWarning, match="was renamed"):
            assert kept.get(key) is None
    path.write_bytes(whole)
    found = kept.get(key)
    assert (found.curves.tolist(), found.settings, found.messages) == ([[[0.5]]], {"a": 1}, ("careful",))


def test_a_cell_under_the_name_of_another_is_not_believed(tmp_path, whole, played):
    run(tmp_path)
    first, second = sorted((tmp_path / "cells").glob("*.cell"))[:2]
    second.write_bytes(first.read_bytes())
    with pytest.warns(RuntimeWarning, match="another cell"):
        run(tmp_path)
    assert [cell.key for cell in played[CELLS:]] == [second.stem]
    assert table(tmp_path) == table(whole)


TORN = {
    "half a line": b'{"key": "abc", "sec',
    "no line": b"\n\n",
    "not text": b"\xff\xfe\x00\n",
    "other content": b'[1]\n3\n"a"\n{"key": []}\n{"key": "k", "seconds": "x"}\n{"key": [], "seconds": 1}\n',
}


@pytest.mark.parametrize("torn", TORN.values(), ids=TORN)
def test_torn_timings_do_no_harm(tmp_path, whole, played, torn):
    run(tmp_path)
    (tmp_path / "results.parquet").unlink()
    lost = sorted((tmp_path / "cells").glob("*.cell"))[0]
    lost.unlink()
    with (tmp_path / "timings.jsonl").open("ab") as file:
        file.write(torn)
    run(tmp_path, progress=lambda progress: None)
    run(tmp_path)
    assert len(played) == CELLS + 1
    assert table(tmp_path) == table(whole)
    assert len(Store(tmp_path).timings()) == CELLS


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff"], ids=repr)
def test_a_damaged_description_loses_no_cells_and_no_tables(tmp_path, whole, played, content):
    run(tmp_path)
    (tmp_path / "sweep.json").write_bytes(content)
    with pytest.warns(RuntimeWarning, match="holds another sweep"):
        run(tmp_path)
    run(tmp_path)
    assert len(played) == CELLS
    assert table(tmp_path) == table(whole)


def test_reading_a_store_writes_nothing(tmp_path):
    there = Store(tmp_path / "nowhere")
    assert (there.keys(), there.timings(), there.round_times(), there.get("a" * 32)) == (set(), {}, {}, None)
    assert not (tmp_path / "nowhere").exists()


def test_unfinished_files_do_no_harm_and_are_removed_when_they_are_old(tmp_path, whole):
    run(tmp_path)
    parts = [
        tmp_path / "cells" / ".a.cell.x.part",
        tmp_path / ".results.parquet.x.part",
        tmp_path / ".sweep.json.x.part",
    ]
    for part in parts:
        part.write_bytes(b"half")
    run(tmp_path)
    assert table(tmp_path) == table(whole)
    assert names(tmp_path) == names(whole)
    assert all(part.exists() for part in parts)  # another process may be writing them
    for part in parts:
        os.utime(part, (time.time() - 7200, time.time() - 7200))
    run(tmp_path)
    assert not any(part.exists() for part in parts)


def test_an_error_while_writing_leaves_a_store_that_goes_on(tmp_path, whole, played, monkeypatch):
    original, calls = os.fsync, []

    def full(handle):
        calls.append(handle)
        if len(calls) == 5:
            raise OSError(28, "No space left on device")
        return original(handle)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            run(tmp_path)
    assert len(names(tmp_path)) == 3
    assert not list(tmp_path.rglob("*.part"))
    run(tmp_path)
    assert len(played) == CELLS + 1
    assert table(tmp_path) == table(whole)
