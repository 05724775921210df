"""Policies that older versions of the library saved after twelve rounds, in ``files_of_version_...``, go on here."""

import json
from pathlib import Path

import numpy as np
import pytest

from banditselect import (
    FSOFUL,
    OFUL,
    PSOFUL,
    UCB1,
    Decision,
    FSSquareCB,
    LinTS,
    Power,
    RegretBalancing,
    SquareCB,
    load,
    on_map,
)

FOLDER = Path(__file__).parent / "files_of_version_2"
CENTERS = np.array([[0.5, -0.5], [1.0, 1.0], [-1.0, 0.0]])
BOUNDS = {"feature_bound": 2.0, "reward_bound": 2.0}
POLICIES = {
    "squarecb": SquareCB.bind(dim=2, exploration=Power(20.0, 0.5), seed=1),
    "fs_squarecb": FSSquareCB.bind(n_models=2, dim=[2, 1], regularization=1.0, lanes=2, seed=1),
    "fs_squarecb_range": FSSquareCB.bind(n_models=2, dim=[2, 1], regularization=1.0, weighting="range", seed=1),
    "oful": OFUL.bind(dim=2, seed=1),
    "fs_oful": FSOFUL.bind(n_models=2, dim=[2, 1], regularization=1.0, seed=1),
    "ps_oful": PSOFUL.bind(centers=CENTERS, radii=[0.3, 0.5, 0.0], noise=0.2, seed=1),
    "ps_oful_paper": PSOFUL.bind(centers=CENTERS, radii=0.3, confidence="paper", **BOUNDS, seed=1),
    "regret_balancing": RegretBalancing.bind(bases=[on_map(LinTS(dim=2), 0), on_map(SquareCB(dim=1), 1)], seed=1),
    "ucb1": UCB1.bind(n_arms=3, seed=1),
}


def play(policy, rounds, seed):
    rng = np.random.default_rng(seed)
    n = policy.lanes or 1
    for _ in range(rounds):
        maps = [rng.normal(size=(n, 3, 2)), rng.normal(size=(n, 3, 1))]
        maps = maps if policy.lanes else [m[0] for m in maps]
        decision = policy.act(maps if policy.feature_shape.many else maps[0])
        y = rng.normal(size=n)
        policy.update(decision, y if policy.lanes else float(y[0]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", POLICIES)
def test_a_policy_of_version_2_goes_on_as_if_nothing_had_happened(kind):
    old, new = load(FOLDER / f"{kind}.bsel"), POLICIES[kind]()
    assert old._lineage != new._lineage
    play(new, 12, seed=0)
    assert repr(old) == repr(new)
    for rounds in (0, 20):
        play(old, rounds, seed=1)
        play(new, rounds, seed=1)
        for (way, one), (same, two) in zip(old._state(), new._state(), strict=True):
            assert way == same
            for name, array in one.arrays().items():  # on another processor the last bits may differ
                np.testing.assert_allclose(array, two.arrays()[name], rtol=1e-9, atol=1e-12, err_msg=f"{way}.{name}")


def test_a_policy_and_a_decision_from_before_there_were_workers_go_on():
    folder = FOLDER.with_name("files_of_version_3")
    policy, text = load(folder / "squarecb.bsel"), (folder / "decision.json").read_text()
    assert (policy.rounds, policy.act(np.eye(2)).number) == (11, 12)
    policy.update(Decision.from_dict(json.loads(text)), 0.5)
    policy.update(policy.fork(1).act(np.eye(2)), 0.5)
    assert policy.rounds == 13
