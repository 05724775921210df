"""Tests of several rivals: one map alone is OFUL, and decisions and arguments that they refuse."""

import numpy as np
import pytest

from banditselect import OFUL
from banditselect.rivals import ALEXP, LEADER, MUCB


@pytest.mark.parametrize(("rival", "options"), [(LEADER, {}), (ALEXP, {"exploration": 0.0})])
def test_one_map_without_exploration_is_oful(rival, options):
    rng = np.random.default_rng(1)
    policy, other = rival(n_models=1, dim=3, regularization=0.5, **options), OFUL(dim=3, regularization=0.5)
    for _ in range(50):
        x, y = rng.normal(size=(6, 3)), rng.uniform()
        one, two = policy.act(x[None]), other.act(x)
        assert (one.action, one.probability) == (two.action, 1.0)
        policy.update(one, y)
        other.update(two, y)
    np.testing.assert_allclose(policy.parameters[0], other.parameters, rtol=1e-12)
    if rival is LEADER:
        assert policy.regret_bound == pytest.approx(other.regret_bound, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "value"),
    [("centers", [1.0, 2.0]), ("horizon", 0), ("horizon", 2.5), ("error", -0.1), ("noise", 0.0), ("scale", -1.0)],
)
def test_bad_arguments_of_mucb_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"MUCB: {name}: got"):
        MUCB(**({"centers": np.eye(2), "horizon": 5} | {name: value}))
