"""The defaults learn on the synthetic problems: seeded, with margins far outside the spread."""

import numpy as np
import pytest

from banditselect import (
    FSIDS,
    FSOFUL,
    OFUL,
    FSSquareCB,
    RegretBalancing,
    SquareCB,
    given,
    on_every_map,
    on_map,
    simulate,
)
from banditselect.experiments.parameter_selection import LIKELIHOOD, OFUL_10, OFUL_MAX, PS, SYNTHETIC
from banditselect.problems import SyntheticFeatureSelection, SyntheticParameterSelection

SCB = SquareCB.bind(reward_range=given.reward_range)
FS = FSSquareCB.bind(reward_range=given.reward_range, noise=given.noise)
SETS = {"noise": given.noise, "parameter_bound": given.parameter_bound}


@pytest.mark.slow
@pytest.mark.parametrize(("n_models", "replicates"), [(10, 50), (100, 20)])
def test_feature_selection(n_models, replicates):
    policies = {"oracle": on_map(SCB, 0), "FS-SCB": FS, "FS-IDS": FSIDS.bind()}
    if n_models == 10:
        policies |= {"OFUL": on_map(OFUL.bind(**SETS), 0), "FS-OFUL": FSOFUL.bind(**SETS)}
    else:
        policies |= {"RB-SCB": RegretBalancing.bind(bases=on_every_map(SCB))}
    problem = SyntheticFeatureSelection(n_models=n_models)
    result = simulate(policies, problem, rounds=2000, replicates=replicates)
    print(f"\nM = {n_models}\n{result.summary()}")
    regret = {name: float(values.mean()) for name, values in result.finals("regret").items()}
    assert regret["oracle"] <= 80.0
    assert regret["FS-SCB"] <= 1.15 * regret["oracle"]
    assert regret["FS-IDS"] <= 1.05 * regret["oracle"]
    if n_models == 10:
        assert regret["FS-OFUL"] <= 1.25 * regret["OFUL"]
    else:
        assert regret["RB-SCB"] >= 1.5 * regret["FS-SCB"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*lies outside:RuntimeWarning")
def test_feature_selection_with_every_argument_at_its_default():
    policies = {"oracle": on_map(SquareCB.bind(), 0), "FS-SCB": FSSquareCB.bind()}
    result = simulate(policies, SyntheticFeatureSelection(n_models=10), rounds=2000, replicates=50)
    print(f"\nall defaults, M = 10\n{result.summary()}")
    assert result.final("oracle", "regret").mean() <= 80.0
    assert result.final("FS-SCB", "regret").mean() <= 1.15 * result.final("oracle", "regret").mean()


@pytest.mark.slow
@pytest.mark.parametrize(("label", "factor"), [("0", 10.0), ("sqrt(d)", 3.0), ("2 sqrt(d)", 3.0)])
def test_parameter_selection(label, factor):
    problem = SYNTHETIC.problems(())[f"b = {label}"]
    result = simulate(SYNTHETIC.regimes["theory"].policies(problem, 1000), problem, rounds=1000, replicates=50)
    print(f"\nb = {label}\n{result.summary()}")
    regret = {name: float(values.mean()) for name, values in result.finals("regret").items()}
    better = min(regret[OFUL_MAX], regret[OFUL_10])
    assert factor * regret[LIKELIHOOD] <= better
    assert regret[PS] > better  # the printed radius runs, and is as bad as it is: worse than plain OFUL


def test_a_small_version_learns():
    result = simulate(
        {"FS-SCB": FS, "wrong": on_map(SCB, 1)}, SyntheticFeatureSelection(n_models=3), rounds=300, replicates=4
    )
    assert np.all(result.final("FS-SCB") < 0.7 * result.final("wrong"))
    problem = SyntheticParameterSelection(radius=0.0)
    policies = SYNTHETIC.regimes["theory"].policies(problem, 100)
    result = simulate({name: policies[name] for name in (LIKELIHOOD, OFUL_MAX)}, problem, rounds=100, replicates=4)
    assert np.all(result.final(LIKELIHOOD) < result.final(OFUL_MAX))
