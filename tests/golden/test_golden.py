"""Files that a released version wrote load, answer as they did, and go on as recorded."""

import json
from pathlib import Path

import numpy as np
import pytest
from make import HERE, answers, given, policies

from banditselect import Decision, load


def equal(mine, theirs):
    assert mine.keys() == theirs.keys()
    for name, value in theirs.items():
        np.testing.assert_allclose(
            np.array(mine[name], dtype=float), np.array(value, dtype=float), rtol=1e-9, atol=1e-12
        )


def test_every_policy_has_its_files():
    assert {path.stem for path in HERE.glob("*.bsel")} == {path.stem for path in HERE.glob("*.json")} == set(policies())


@pytest.mark.parametrize("name", policies())
def test_a_file_of_a_released_version_goes_on_as_recorded(name, tmp_path):
    told = json.loads(Path(HERE / f"{name}.json").read_text())
    policy, waiting = load(HERE / f"{name}.bsel"), Decision.from_dict(told["waiting"])
    assert repr(policy) == told["policy"]
    equal(answers(policy), told["answers"])
    assert not np.any(policy.has_learned(waiting))
    policy.save(tmp_path / "again.bsel")
    for one in (policy, load(tmp_path / "again.bsel")):
        one.update(waiting, told["reward"])
        for row in told["rounds"]:
            decision, (action, probability, base) = (
                one.act(given(one, row["features"])),
                row["action, probability, base"],
            )
            assert np.asarray(decision.action).tolist() == action
            assert np.asarray(decision.base).tolist() == base
            assert (decision.probability is None) == (probability is None)
            if probability is not None:
                np.testing.assert_allclose(decision.probability, probability, rtol=1e-9)
            one.update(decision, row["reward"])
        equal(answers(one), told["afterwards"])
