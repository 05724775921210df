"""The example of a sweep: the page shows it as it is, and run again it plays nothing twice."""

import subprocess
import sys
from pathlib import Path

import pytest

from banditselect.problems import SyntheticFeatureSelection
from banditselect.simulation import Results

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "sweep.py"


def test_the_page_shows_the_example():
    assert f"```python\n{EXAMPLE.read_text()}```" in (ROOT / "docs" / "command_line.md").read_text()


def test_run_again_it_plays_nothing_twice(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLE.parent)
    import sweep as example

    first = example.run(rounds=20, replicates=2, out=str(tmp_path))
    assert {"results.parquet", "curves.png", "finals.png"} <= {path.name for path in tmp_path.iterdir()}
    assert first.summary() == Results.load(tmp_path / "results.parquet").summary()
    monkeypatch.setattr(SyntheticFeatureSelection, "draw", None)
    assert example.run(rounds=20, replicates=2, out=str(tmp_path)).summary() == first.summary()


@pytest.mark.slow
def test_as_it_is_typed_a_process_finds_what_another_left(tmp_path):
    """Workers get the policy that stands in a file beside the script."""
    command = [sys.executable, EXAMPLE]
    first, again = (subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True) for _ in range(2))
    assert again.stdout == first.stdout
    assert again.stderr.split() == ["12", "of", "12", "cells,", "100", "%"]
    shown = "\n".join(first.stdout.strip().splitlines()[:4])
    assert shown in (ROOT / "docs" / "command_line.md").read_text()
