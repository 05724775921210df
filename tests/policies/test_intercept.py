"""``intercept=True`` is the same policy on features behind a column of ones, of which the user never sees anything."""

import numpy as np
import pytest

from banditselect import FSOFUL, OFUL, PSOFUL, BiasOFUL, FSSquareCB, LinTS, RegretBalancing, SquareCB, on_map

RANGE = (-9.0, 9.0)
CENTERS = np.array([[0.5, -0.5, 0.2], [1.0, 1.0, 0.0]])
SHAPES = np.array([np.diag([1.0, 2.0, 3.0, 4.0]), np.eye(4) + 0.5])
PAPER = {"feature_bound": 3.0, "reward_bound": 3.0, "parameter_bound": 1.0, "horizon": 500}


def pair(cls, **arguments):
    """Return a policy with an intercept, and one without for features of one width more."""
    wider = dict(arguments)
    if "dim" in wider:
        wider["dim"] = (np.array(arguments["dim"]) + 1).tolist()
    wider |= {name: np.insert(wider[name], 0, 0.0, axis=-1) for name in ("center", "centers") if name in wider}
    return cls.bind(**arguments, intercept=True), cls.bind(**wider)


PAIRS = {
    "SquareCB": pair(SquareCB, dim=3, reward_range=RANGE),
    "OFUL": pair(OFUL, dim=3, regularization=0.3),
    "LinTS": pair(LinTS, dim=3),
    "BiasOFUL": pair(BiasOFUL, center=CENTERS[0]),
    "FSSquareCB": pair(FSSquareCB, n_models=2, dim=3, reward_range=RANGE, noise=0.3),
    "FSSquareCB ragged, range": pair(FSSquareCB, n_models=2, dim=[3, 2], reward_range=RANGE, weighting="range"),
    "FSOFUL": pair(FSOFUL, n_models=2, dim=3, noise=0.3),
    "FSOFUL ragged": pair(FSOFUL, n_models=2, dim=[3, 2], noise=0.3, parameter_bound=4.0),
    "PSOFUL": pair(PSOFUL, centers=CENTERS, radii=[2.0, 3.0], noise=0.3),
    "PSOFUL shapes": pair(PSOFUL, centers=CENTERS, shapes=SHAPES, noise=0.3),
    "OnMap": [on_map(policy, 1) for policy in pair(OFUL, dim=2, noise=0.3)],
    "RegretBalancing": [
        RegretBalancing.bind(bases=[on_map(one, 0), on_map(two, 1)])
        for one, two in zip(pair(SquareCB, dim=3), pair(SquareCB, dim=2), strict=True)
    ],
}
ANSWERS = ("model_weights", "admissible", "squared_radii", "regret_bound", "misspecified", "plays", "rounds")


def built(name, lanes=None):
    return [factory(lanes=lanes, seed=4) for factory in PAIRS[name]]


def maps_for(name, rng, lanes):
    ragged = "ragged" in name or name in ("OnMap", "RegretBalancing")
    widths = [3, 2] if ragged else [3, 3] if name.startswith("FS") else [3]
    shape = (4,) if lanes is None else (lanes, 4)
    return [rng.normal(size=(*shape, d)) for d in widths]


def shown(maps):
    return maps if len(maps) > 1 else maps[0]


def behind_ones(maps):
    return [np.insert(m, 0, 1.0, axis=-1) for m in maps]


def answers(policy):
    return {name: getattr(policy, name) for name in ANSWERS if hasattr(policy, name)}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("lanes", [None, 3])
@pytest.mark.parametrize("name", PAIRS)
def test_it_is_the_policy_on_features_behind_ones(name, lanes):
    rng = np.random.default_rng(0)
    policy, same = built(name, lanes)
    for t in range(40):
        maps = maps_for(name, rng, lanes)
        mask = rng.random(4) < 0.7
        mask[t % 4] = True
        available = mask if lanes is None else np.tile(mask, (lanes, 1))
        one, two = (p.act(shown(m), available=available) for p, m in ((policy, maps), (same, behind_ones(maps))))
        np.testing.assert_array_equal(one.action, two.action)
        if one.probability is not None:
            np.testing.assert_allclose(one.probability, two.probability, rtol=1e-9)
            p, q = policy.probabilities(shown(maps)), same.probabilities(shown(behind_ones(maps)))
            np.testing.assert_allclose(p, q, rtol=1e-9, atol=1e-12)
        assert one.features.shape[-1] == 3
        y = 2.0 + 0.3 * rng.normal(size=lanes)
        policy.update(one, y)
        same.update(two, y)
        played = [m[..., 0, :] for m in maps]
        policy.learn(shown(played), 0.5 * y)
        same.learn(shown(behind_ones(played)), 0.5 * y)
    for key, value in answers(same).items():
        np.testing.assert_allclose(getattr(policy, key), value, rtol=1e-9, atol=1e-9, err_msg=key)
    if name != "RegretBalancing":
        constants = policy.constants if hasattr(policy, "constants") else policy.constant
        np.testing.assert_allclose(constants, same.parameters[..., 0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(policy.parameters, same.parameters[..., 1:], rtol=1e-9, atol=1e-9)
        assert not np.any(same.constants if hasattr(same, "constants") else same.constant)


def test_covers_takes_the_constant_first_and_coverage_knows_that_it_is_zero():
    """OFUL with lambda = 1, R = 1/2, S = 1: a fresh set is the ball of radius 1/2 sqrt(2 log 20) + 1 = 2.2239."""
    for policy in (OFUL(dim=2, intercept=True), on_map(OFUL(dim=2, intercept=True), 0)):
        assert policy.covers([2.2, 0.0, 0.3])
        assert not policy.covers([2.2, 0.0, 0.4])
        assert policy.coverage(np.array([2.2, 0.0]), 0) == 1.0
        assert policy.coverage(np.array([2.2, 0.4]), 0) == 0.0
        with pytest.raises(ValueError, match=r"theta: .*expected finite numbers of shape \(3,\)"):
            policy.covers([0.0, 0.0])
    maps = FSOFUL(n_models=2, dim=[1, 2], intercept=True)
    assert maps.covers([0.0, 0.5], model=0)
    assert maps.covers([0.0, 0.5, 0.5], model=1)
    assert maps.coverage(np.array([0.5, 0.5]), 1).tolist() == [1.0]
    with pytest.raises(ValueError, match="theta"):
        maps.covers([0.5], model=0)


def test_a_mixture_with_an_intercept_has_a_variance_of_the_constant_first():
    """Shapes are the covariances whole, the radius is that of d + 1 = 3 degrees of freedom: 7.8147 at 95 %."""
    policy = PSOFUL.from_mixture([[1.0, 0.0]], [[4.0, 1.0, 1.0]], [1.0], covariance_type="diag", intercept=True)
    np.testing.assert_array_equal(policy.shapes, [np.diag([4.0, 1.0, 1.0])])
    assert policy.radii == pytest.approx(np.sqrt(7.814728), rel=1e-6)
    with pytest.raises(ValueError, match="from_mixture: covariances"):
        PSOFUL.from_mixture([[1.0, 0.0]], [[1.0, 1.0]], [1.0], covariance_type="diag", intercept=True)
    with pytest.raises(ValueError, match=r"(?s)PSOFUL: shapes: .*\(1, 3, 3\)"):
        PSOFUL(centers=[[1.0, 0.0]], shapes=[np.eye(2)], intercept=True)


@pytest.mark.parametrize(
    "factory",
    [
        SquareCB.bind(dim=2, exploration="paper", **PAPER),
        FSSquareCB.bind(n_models=2, dim=2, exploration="paper", **PAPER),
        FSSquareCB.bind(n_models=2, dim=2, weighting="paper", **PAPER),
        SquareCB.bind(dim=2, exploration="corrected", **PAPER),
        FSSquareCB.bind(n_models=2, dim=2, weighting="corrected", **PAPER),
        PSOFUL.bind(centers=CENTERS, confidence="paper", feature_bound=3.0, reward_bound=3.0),
    ],
)
def test_the_formulas_of_the_paper_have_no_intercept(factory):
    with pytest.raises(ValueError, match=r'intercept: got True, expected .*since .*"(paper|corrected)" was chosen'):
        factory(intercept=True)
