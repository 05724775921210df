"""Selection among regions of the parameter space, side by side with the equations solved afresh in every round."""

import numpy as np
import pytest
from scipy import stats

from banditselect import PSIDS, PSOFUL, given, load, problems, simulate
from banditselect.theory import parameter_selection
from experts_by_hand import Experts, Ridge

CENTERS = np.array([[0.5, -0.5, 0.2], [1.0, 1.0, 0.0], [-1.0, 0.0, 0.5], [0.0, 0.8, -0.8]])
SHAPES = np.array([np.diag([1.0, 2.0, 0.5]), np.eye(3) + 0.4, np.eye(3), np.diag([0.2, 0.3, 4.0])])
R, DELTA = 0.2, 0.05


def on_the_grid(radius, dim):
    """The power of two nearest to d R^2 / r^2 on a log scale; None for a known parameter."""
    return None if radius == 0.0 else 2.0 ** round(np.log2(dim * R**2 / radius**2))


CASES = {
    "balls": {"radii": 0.4},
    "different balls": {"radii": [0.4, 0.0, 1.5, 0.1]},
    "errors": {"radii": [0.1, 0.2, 0.0, 0.3], "center_errors": [0.1, 0.3, 0.0, 0.2], "radius_errors": 0.05},
    "ellipsoids": {"radii": [0.3, 0.5, 1.0, 0.0], "shapes": SHAPES},
    "prior": {"radii": [0.4, 0.8, 0.0, 0.4], "prior_weights": [5.0, 1.0, 2.0, 2.0]},
    "misspecification": {"radii": [0.4, 0.8, 0.0, 0.4], "misspecification": 0.05},
}


@pytest.mark.parametrize("likelihood", ["evidence", "online"])
@pytest.mark.parametrize("case", CASES)
def test_likelihood_sets_against_brute_force(case, likelihood):
    rng = np.random.default_rng(0)
    scale, arguments = 0.7, CASES[case]
    r = sum(np.broadcast_to(arguments.get(n, 0.0), 4) for n in ("radii", "center_errors", "radius_errors"))
    lam = [on_the_grid(radius, 3) for radius in r]
    inverse = [np.linalg.inv(P) for P in arguments.get("shapes", [np.eye(3)] * 4)]
    precisions = [None if k is None else k * P for k, P in zip(lam, inverse, strict=True)]
    models = Experts([Ridge(center, P) for center, P in zip(CENTERS, precisions, strict=True)])
    penalty = np.array([0.0 if k is None else k * radius**2 for k, radius in zip(lam, r, strict=True)])
    prior = np.array(arguments.get("prior_weights", np.ones(4)))
    prior = prior / prior.sum()
    eps = arguments.get("misspecification", 0.0)
    R2, drift = (2.0 * R**2, 2.0 * eps**2) if eps else (R**2, 0.0)
    truth = CENTERS[0] + [0.05, 0.05, -0.05]
    policy = PSOFUL(centers=CENTERS, noise=R, delta=DELTA, scale=scale, likelihood=likelihood, **arguments)
    refuted = 0
    for t in range(40):
        L = models.online if likelihood == "online" else models.J + R2 * models.logdet
        weights = prior * np.exp(-(L - L.min()) / (2.0 * R2))
        B = L.min() - 2.0 * R2 * np.log(weights.sum())
        rho_2 = B + 2.0 * R2 * np.log(1.0 / DELTA) + drift * t + penalty - models.J
        np.testing.assert_allclose(policy.squared_radii, policy.scale**2 * np.asarray(rho_2), atol=1e-9)
        np.testing.assert_allclose(policy.model_weights, weights / weights.sum(), atol=1e-9)
        np.testing.assert_allclose(policy.parameters, models.theta, atol=1e-9)
        np.testing.assert_array_equal(policy.admissible, rho_2 >= 0.0)
        refuted += (rho_2 < 0.0).any()
        x = rng.normal(size=(rng.integers(2, 7), 3))
        rho = scale * np.sqrt(np.maximum(rho_2, 0.0))[:, None]
        ucb = np.where((rho_2 >= 0.0)[:, None], models.predict([x] * 4) + rho * models.widths([x] * 4), -np.inf)
        decision = policy.act(x)
        assert decision.action == np.argmax(ucb.max(axis=0))
        for theta in (*CENTERS, *rng.normal(size=(4, 3)), *(CENTERS + 0.1 * rng.normal(size=(4, 3)))):
            inside = [models.ridges[i].distance(theta) <= scale**2 * rho_2[i] for i in range(4)]
            assert policy.covers(theta) == any(inside)
        y = float(decision.features @ truth + R * rng.uniform(-1.0, 1.0))
        policy.update(decision, y)
        models.add([decision.features] * 4, y)
    assert refuted > 5
    assert policy.admissible[0]
    assert not policy.misspecified


def test_precisions_lie_on_a_grid_of_factor_two_so_that_few_inverses_are_kept():
    radii = np.geomspace(0.01, 10.0, 200)
    policy = PSOFUL(centers=np.zeros((200, 3)), radii=radii, noise=R, delta=DELTA)
    lam = (policy.squared_radii - 2.0 * R**2 * np.log(1.0 / DELTA)) / radii**2
    exponent = np.log2(lam)
    np.testing.assert_allclose(exponent, exponent.round(), atol=1e-6)
    assert np.abs(exponent - np.log2(3.0 * R**2 / radii**2)).max() <= 0.5 + 1e-6
    assert policy.model.bank.root.shape[1] <= 21


@pytest.mark.parametrize("radius", [1e-20, 1e-150, 1e-156, 1e-170, 1e-300])
@pytest.mark.parametrize("confidence", ["likelihood", "paper"])
def test_a_tiny_radius_is_nearly_a_known_parameter(radius, confidence):
    bounds = {"feature_bound": 1.0, "reward_bound": 1.0}
    tiny, known = (PSOFUL(centers=np.eye(2), radii=r, confidence=confidence, **bounds) for r in (radius, 0.0))
    for policy in (tiny, known):
        for x in ([1.0, 0.0], [0.6, 0.8], [0.0, 1.0]):
            policy.learn(x, x[0])
    np.testing.assert_allclose(tiny.parameters, known.parameters, atol=1e-12)
    np.testing.assert_allclose(tiny.model_weights, known.model_weights, atol=1e-12)
    assert np.isfinite(tiny.squared_radii).all()
    assert tiny.act(np.eye(2)).action == known.act(np.eye(2)).action


@pytest.mark.parametrize("radii", [([[1.0, 1.0]], [[1.0, 4.0]]), ([[1.0, 4.0]], [[1.0, 1.0]])], ids=["more", "fewer"])
@pytest.mark.parametrize("confidence", ["likelihood", "paper"])
def test_lanes_with_another_number_of_different_radii_can_be_added(radii, confidence, tmp_path):
    rng = np.random.default_rng(3)
    common = {"centers": CENTERS[:2], "noise": 1.5, "confidence": confidence, "feature_bound": 3.0, "reward_bound": 3.0}
    grown = PSOFUL(**common, radii=radii[0], lanes=1, seed=6)
    grown.add_lanes(1, radii=radii[1])
    alone = [PSOFUL(**common, radii=radii[j][0], seed=(6, j)) for j in range(2)]
    for _ in range(10):
        x, y = rng.normal(size=(2, 3, 3)), rng.normal(size=2)
        decision = grown.act(x)
        grown.update(decision, y)
        for j, policy in enumerate(alone):
            one = policy.act(x[j])
            assert one.action == decision.action[j]
            policy.update(one, float(y[j]))
    np.testing.assert_array_equal(grown.squared_radii, [p.squared_radii for p in alone])
    grown.save(tmp_path / "policy.bsel")
    again = load(tmp_path / "policy.bsel")
    for policy in (grown, again):
        policy.learn(np.ones((2, 3)), [1.0, -1.0])
    np.testing.assert_array_equal(again.squared_radii, grown.squared_radii)
    np.testing.assert_array_equal(again.parameters, grown.parameters)


# from_mixture


@pytest.mark.parametrize("coverage", [0.5, 0.95])
def test_a_mixture_becomes_ellipsoids_that_hold_its_coverage(coverage):
    weights = [1.0, 2.0, 3.0, 4.0]
    policy = PSOFUL.from_mixture(CENTERS, SHAPES, weights, coverage=coverage, noise=R, delta=DELTA)
    quantile = stats.chi2.ppf(coverage, 3)
    lam = 2.0 ** round(np.log2(3.0 * R**2 / quantile))
    np.testing.assert_allclose(policy.squared_radii, lam * quantile + 2.0 * R**2 * np.log(1.0 / DELTA))
    np.testing.assert_allclose(policy.model_weights, np.array(weights) / 10.0)
    x = np.array([0.3, -1.0, 0.4])
    policy.learn(x, 0.9)
    for i in range(4):
        V = lam * np.linalg.inv(SHAPES[i]) + np.outer(x, x)
        expected = CENTERS[i] + np.linalg.solve(V, x * (0.9 - x @ CENTERS[i]))
        np.testing.assert_allclose(policy.parameters[i], expected, atol=1e-12)


@pytest.mark.parametrize("cls", [PSOFUL, PSIDS])
def test_covariances_of_all_four_kinds_are_what_their_name_says(cls):
    """As many components as features: a tied matrix and variances of components have the same shape then."""
    means, square = np.diag([1.0, 2.0, 3.0]), np.array([[2.0, 0.5, 0.1], [0.5, 3.0, 0.2], [0.1, 0.2, 4.0]])
    spherical = np.array([0.5, 1.0, 2.0])
    expected = {
        "full": (SHAPES[:3], SHAPES[:3]),
        "tied": (square, np.array([square] * 3)),
        "diag": (square, np.array([np.diag(row) for row in square])),
        "spherical": (spherical, np.array([v * np.eye(3) for v in spherical])),
    }
    for kind, (covariances, shapes) in expected.items():
        policy = cls.from_mixture(means, covariances, np.ones(3), covariance_type=kind)
        np.testing.assert_array_equal(policy.shapes, shapes)
        others = [other for other, (_, s) in expected.items() if np.shape(expected[other][0]) != covariances.shape]
        for other in others:
            with pytest.raises(ValueError, match="from_mixture: covariances"):
                cls.from_mixture(means, covariances, np.ones(3), covariance_type=other)
    with pytest.raises(ValueError, match=r"from_mixture: covariance_type: got None, expected 'tied' or 'diag', since"):
        cls.from_mixture(means, square, np.ones(3))  # which of the two it is must be said
    np.testing.assert_array_equal(cls.from_mixture(means, spherical, np.ones(3)).shapes, expected["spherical"][1])
    np.testing.assert_array_equal(cls.from_mixture(means[:2], square[:2], np.ones(2)).shapes, expected["diag"][1][:2])


def test_a_mixture_can_be_bound():
    problem = problems.SyntheticParameterSelection(n_models=2, dim=3, n_actions=4)
    mixture = PSOFUL.bind_mixture(np.eye(3), np.ones(3), np.ones(3), covariance_type="spherical", noise=given.noise)
    result = simulate({"mixture": mixture}, problem, rounds=10, replicates=2)
    assert np.isfinite(result.final("mixture")).all()


def test_a_mixture_is_checked():
    for coverage in (0.0, 1.0, 2.0):
        with pytest.raises(ValueError, match="coverage"):
            PSOFUL.from_mixture(CENTERS, SHAPES, np.ones(4), coverage=coverage)
    with pytest.raises(ValueError, match=r"from_mixture: covariances: .* shape \(4, 3, 3\) or shape \(3, 3\)"):
        PSOFUL.from_mixture(CENTERS, SHAPES[:3], np.ones(4))
    with pytest.raises(ValueError, match="from_mixture: covariance_type: got 'diagonal'"):
        PSOFUL.from_mixture(CENTERS, SHAPES, np.ones(4), covariance_type="diagonal")
    with pytest.raises(ValueError, match="prior_weights"):
        PSOFUL.from_mixture(CENTERS, SHAPES, np.ones(3))
    with pytest.raises(ValueError, match="means"):
        PSOFUL.from_mixture(CENTERS[0], SHAPES, np.ones(4))


# confidence="paper"


def printed_bound(t, r, L, G, d=3):
    """ps-oful-admissible-expert at lambda = 1 / r^2, so that sqrt(lambda) r = 1."""
    return G + R * L * np.sqrt(d * np.log((1.0 + t * L**2 * r**2 / d) / DELTA)) + L


@pytest.mark.parametrize("radii", [[0.5, 0.5, 0.5, 0.5], [0.5, 0.0, 1.5, 0.1]], ids=["equal", "different"])
@pytest.mark.parametrize("G", [0.2, 4.0], ids=["some fall", "none falls"])
@pytest.mark.filterwarnings("ignore:.*no expert predicts within its bound:RuntimeWarning")
def test_printed_set_against_brute_force(radii, G):
    rng = np.random.default_rng(4)
    L, r, scale = 0.4, np.array(radii), 0.05
    policy = PSOFUL(
        centers=CENTERS,
        radii=radii,
        noise=R,
        delta=DELTA,
        confidence="paper",
        feature_bound=L,
        reward_bound=G,
        scale=scale,
    )
    precisions = [None if radius == 0.0 else np.eye(3) / radius**2 for radius in radii]
    models = Experts([Ridge(center, P) for center, P in zip(CENTERS, precisions, strict=True)])
    loss, alive = np.zeros(4), np.ones(4, dtype=bool)
    x_seen, target = np.empty((0, 3)), np.empty(0)
    S = np.max(np.linalg.norm(CENTERS, axis=1) + r)
    truth = CENTERS[0] + [0.1, 0.1, -0.1]
    bounds = {"dim": 3, "noise": R, "feature_bound": L, "reward_bound": G, "delta": DELTA, "form": "printed"}
    for t in range(40):
        V = L**2 * np.eye(3) + x_seen.T @ x_seen
        c = np.linalg.solve(V, x_seen.T @ target)
        gamma = float(parameter_selection.gamma(t=t, n_models=4, radius=r, **bounds))
        rad_2 = gamma + L**2 * S**2 - (target @ target - c @ V @ c)
        assert policy.squared_radii == pytest.approx(policy.scale**2 * rad_2, rel=1e-9)
        assert policy.covers(c)
        z = rng.normal(size=3)
        edge = scale * np.sqrt(rad_2) * z / np.sqrt(z @ V @ z)
        assert policy.covers(c + 0.999 * edge)
        assert not policy.covers(c + 1.001 * edge)

        half = printed_bound(t, r, L, G).max()
        log_weights = np.where(alive, -2.0 / (2.0 * half) ** 2 * loss, -np.inf)
        weights = np.exp(log_weights - log_weights.max())
        np.testing.assert_allclose(policy.model_weights, weights / weights.sum(), atol=1e-9)
        np.testing.assert_array_equal(policy.admissible, alive)

        x = 0.7 * rng.normal(size=(5, 3))
        ucb = x @ c + scale * np.sqrt(rad_2) * np.sqrt(np.sum(x * np.linalg.solve(V, x.T).T, axis=1))
        decision = policy.act(x)
        assert decision.action == np.argmax(ucb)
        y = float(decision.features @ truth + R * rng.uniform(-1.0, 1.0))
        policy.update(decision, y)

        f = np.array(models.theta) @ decision.features
        excess = np.abs(f) - printed_bound(t, r, L, G)
        now = alive & (excess <= 0.0)
        if not now.any():
            now[np.argmin(np.where(alive, excess, np.inf))] = True
        alive = now
        w = np.where(alive, np.exp(-2.0 / (2.0 * half) ** 2 * (loss - loss.min())), 0.0)
        h = np.clip((f + half) / (2.0 * half), 0.0, 1.0)
        at = [-0.5 * np.log((w / w.sum()) @ np.exp(-2.0 * (e - h) ** 2)) for e in (0.0, 1.0)]
        target = np.append(target, -half + 2.0 * half * (0.5 + 0.5 * (at[0] - at[1])))
        x_seen = np.vstack([x_seen, decision.features])
        loss += (np.clip(f, -half, half) - np.clip(y, -half, half)) ** 2
        models.add([decision.features] * 4, y)
    assert (alive.sum() < 4) == (G == 0.2)


@pytest.mark.parametrize("kind", [list, np.array])
@pytest.mark.parametrize(
    ("name", "value"), [("shapes", [np.eye(3)] * 4), ("prior_weights", [1.0, 2.0, 3.0, 4.0]), ("misspecification", 0.1)]
)
def test_what_the_printed_set_cannot_have_is_refused_by_name(name, value, kind):
    value = kind(value) if isinstance(value, list) else value
    with pytest.raises(ValueError, match=f'(?s)PSOFUL: {name}: .*expected .*confidence="paper"'):
        PSOFUL(centers=CENTERS, confidence="paper", feature_bound=1.0, reward_bound=1.0, **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("radii", [1.0, 2.0]),
        ("radii", [1.0, 1.0, 1.0, -1.0]),
        ("center_errors", [0.1] * 3),
        ("radius_errors", -0.1),
        ("centers", np.ones((2, 4, 3))),
        ("centers", np.ones(3)),
        ("shapes", -np.array([np.eye(3)] * 4)),
        ("shapes", np.array([np.eye(3) + np.triu(np.ones((3, 3)))] * 4)),
        ("shapes", np.array([np.eye(2)] * 4)),
        ("prior_weights", [0.0, 1.0, 1.0, 1.0]),
        ("prior_weights", [0.5, 0.5]),
    ],
)
def test_models_that_cannot_be_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"PSOFUL: {name}"):
        PSOFUL(**({"centers": CENTERS} | {name: value}))


def test_weights_move_on_a_range_of_ones_own_and_hardly_on_the_printed_one():
    """Two known parameters that predict 0 and 1, rewards 1: SqAlg's losses differ by 1 a round, eta = 2 / l^2 = 2."""
    bounds = {"feature_bound": 1.0, "reward_bound": 1.0, "noise": 0.1}
    weights = []
    for reward_range in ((0.0, 1.0), None):
        policy = PSOFUL(centers=[[0.0], [1.0]], radii=0.0, confidence="paper", reward_range=reward_range, **bounds)
        for _ in range(3):
            policy.update(policy.act([[1.0]]), 1.0)
        weights.append(policy.model_weights)
    np.testing.assert_allclose(weights[0], [1.0 / (1.0 + np.exp(6.0)), 1.0 / (1.0 + np.exp(-6.0))], rtol=1e-9)
    assert abs(weights[1][0] - 0.5) < 0.2
    with pytest.raises(ValueError, match=r"PSOFUL: reward_range: got \(1, 0\)"):
        PSOFUL(centers=[[0.0]], reward_range=(1, 0))
