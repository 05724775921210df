"""A type checker sees the arguments of every policy, problem and map, which are declared and not written out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CALLS = """
from banditselect import FSIDS, OFUL, masters, maps, problems
OFUL(dim=3, noise=0.1, lanes=2, seed=(4, 2)).act([[1.0, 2.0, 3.0]]).action
OFUL(dimension=3)  # Unexpected keyword argument "dimension" for "OFUL"
OFUL(3)  # Too many positional arguments for "OFUL"
OFUL(noise=0.1)  # Missing named argument "dim" for "OFUL"
FSIDS(n_models="two", dim=3)  # Argument "n_models" to "FSIDS" has incompatible type "str"; expected "int"
masters.D3RB(base=[])  # Unexpected keyword argument "base" for "D3RB"
problems.SyntheticFeatureSelection(n_models="x")  # Argument "n_models" to "SyntheticFeatureSelection" has incompatible
maps.Numbers("age", scale=3)  # Argument "scale" to "Numbers" has incompatible type
OFUL(dim=3, _warned_of_actions=True)  # Unexpected keyword argument "_warned_of_actions" for "OFUL"
"""


@pytest.mark.slow
def test_mypy_checks_the_calls_of_a_user(tmp_path):
    (tmp_path / "user.py").write_text(CALLS)
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}", "user.py"]
    environment = os.environ | {"MYPYPATH": str(ROOT / "src")}
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    found = [line for line in run.stdout.splitlines() if ": error: " in line]
    for number, line in enumerate(CALLS.splitlines(), 1):
        here = [error for error in found if error.startswith(f"user.py:{number}: ")]
        expected = line.partition("  # ")[2]
        assert any(expected in error for error in here) if expected else not here, (line, here)
