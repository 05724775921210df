"""The supremum in the transfer regret: the largest regret over parameters that meet the same balls, by hand."""

import numpy as np
import pytest

from banditselect.experiments import EXPERIMENTS
from banditselect.experiments import parameter_selection as ps
from banditselect.experiments.claims import judge
from banditselect.experiments.claims.claim import FAILS, HOLDS
from banditselect.simulation import METRICS, Result, Results
from banditselect.theory import parameter_selection as theory

TOLD = {"noise": 0.3, "feature_bound": 1.0, "reward_bound": 1.0, "delta": 0.05}
SETTINGS = {
    "rounds": 100,
    "policies": {ps.PS: {"arguments": TOLD}},
    "problem": {"arguments": {"n_models": 10, "dim": 4, "radius": 1.0}},
}
BOUND = theory.regret_bound(t=100, n_models=10, dim=4, radius=np.ones(10), form="printed", **TOLD)


def verdict(shares):
    """Judge regrets that are these shares of the bound."""
    values = {metric: np.full((1, shares.size), np.nan) for metric in METRICS}
    values["regret"] = BOUND * shares[None]
    ran = {("ps-worst", "theory"): Results({"b = 1": Result(np.array([100]), {ps.PS: values}, SETTINGS)})}
    return {one.id: one for one in judge(ran, EXPERIMENTS)}.get("ps-theorem")


def test_one_parameter_above_the_bound_fails_its_set_of_balls():
    """Every tenth set has one of five parameters above: 2 % of the regrets, but 10 % of the suprema."""
    shares = np.full((200, 5), 0.3)
    shares[:, 2] = 0.4
    held = verdict(shares.ravel())
    assert (held.verdict, held.value, held.n) == (HOLDS, 1.0, 200)
    assert held.statistic.endswith("0.4 of it")
    shares[::10, 4] = 1.1
    failed = verdict(shares.ravel())
    assert (failed.verdict, failed.value, failed.n) == (FAILS, pytest.approx(0.9), 200)


def test_sets_that_were_not_met_with_all_parameters_are_left_out():
    shares = np.full(14, 0.3)
    shares[10:] = 2.0
    found = verdict(shares)
    assert (found.value, found.n) == (1.0, 2)
    assert verdict(shares[:4]) is None
