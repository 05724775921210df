"""Several processes: if any is killed, at any instant, no reward is lost or doubled."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from banditselect import Decision, SquareCB, load

PATH = Path(__file__).parent.parent / "examples" / "several_processes.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("several_processes", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kills", [6, pytest.param(30, marks=pytest.mark.slow)])
def test_nothing_acknowledged_is_lost_when_processes_are_killed(example, tmp_path, kills):
    policy = SquareCB(dim=3, intercept=True)
    policy.update(policy.act(np.ones((2, 3))), 0.5)  # compiled once, for all processes
    acknowledged, learned = example.run(tmp_path, workers=3, visits=600, kills=kills)
    assert acknowledged >= 600
    assert learned == acknowledged
    found = list(example.entries(tmp_path, {}))
    decisions = [Decision.from_dict(content["decision"]) for content in found]
    assert len(set(decisions)) == acknowledged, "two decisions with one number"
    policy = load(tmp_path / "policy.bsel")
    assert all(map(policy.has_learned, decisions))
    x = np.array([[1.0, *d.features] for d in decisions])
    y = np.array([content["reward"] for content in found])
    ridge = np.linalg.solve(np.eye(4) + x.T @ x, x.T @ y)
    np.testing.assert_allclose([policy.constant, *policy.parameters], ridge, atol=1e-9)


def test_a_line_that_was_cut_off_is_no_reward(example, tmp_path):
    (tmp_path / "1-a.jsonl").write_bytes(b'{"reward": 1}\n{"rew')
    read = {}
    assert list(example.entries(tmp_path, read)) == [{"reward": 1}]
    with open(tmp_path / "1-a.jsonl", "ab") as journal:
        journal.write(b'ard": 2}\n')
    assert list(example.entries(tmp_path, read)) == [{"reward": 2}]
    assert list(example.entries(tmp_path, read)) == []
