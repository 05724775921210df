"""What the synthetic experiments must show: 50 problems each, seeded; the margins are far outside the spread."""

import numpy as np
import pytest

from banditselect.experiments import fs_synthetic, ps_synthetic
from banditselect.policies import FSSquareCB, SquareCB, on_map
from banditselect.problems import SyntheticFeatureSelection
from banditselect.simulation import simulate

REPLICATES = 50


@pytest.mark.slow
@pytest.mark.parametrize("n_models", [10, 100])
def test_feature_selection(n_models):
    result = fs_synthetic.run(n_models=n_models, replicates=REPLICATES)
    print(f"\nM = {n_models}\n{result.summary()}")
    regret = {name: result.final(name, "regret") for name in result.curves}
    oracle, selected = regret["SquareCB, true map known"], regret["FS-SCB"]
    assert oracle.mean() <= 80.0
    assert selected.mean() <= 1.15 * oracle.mean()
    assert regret["FS-OFUL (ours)"].mean() <= 1.25 * regret["OFUL, true map known"].mean()
    if n_models == 100:
        assert regret["RB-SCB"].mean() >= 1.5 * selected.mean()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*lies outside:RuntimeWarning")
def test_feature_selection_with_every_argument_at_its_default():
    policies = {"oracle": on_map(SquareCB.bind(), 0), "FS-SCB": FSSquareCB.bind()}
    result = simulate(policies, SyntheticFeatureSelection(n_models=10), rounds=2000, replicates=REPLICATES)
    print(f"\nall defaults, M = 10\n{result.summary()}")
    assert result.final("oracle", "regret").mean() <= 80.0
    assert result.final("FS-SCB", "regret").mean() <= 1.15 * result.final("oracle", "regret").mean()


@pytest.mark.slow
@pytest.mark.parametrize(("label", "factor"), [("0", 10.0), ("sqrt(d)", 3.0), ("2 sqrt(d)", 3.0)])
def test_parameter_selection(label, factor):
    result = ps_synthetic.run(radius=ps_synthetic.RADII[label], replicates=REPLICATES, printed=label == "0")
    print(f"\nb = {label}\n{result.summary()}")
    regret = {name: float(result.final(name, "regret").mean()) for name in result.curves}
    better = min(regret["OFUL, S = 10"], regret["OFUL, S = max"])
    assert factor * regret["PS-OFUL, likelihood sets (ours)"] <= better
    if label == "0":  # the printed radius runs, and is as bad as it is: worse than plain OFUL
        assert regret["PS-OFUL, printed radius"] > better


def test_a_small_version_learns():
    result = fs_synthetic.run(n_models=3, rounds=300, replicates=4)
    assert np.all(result.final("FS-SCB", "regret") < 0.7 * result.final("uniform play", "regret"))
    result = ps_synthetic.run(radius=0.0, rounds=100, replicates=4, printed=False)
    ours = result.final("PS-OFUL, likelihood sets (ours)", "regret")
    assert np.all(ours < result.final("OFUL, S = max", "regret"))
