"""SquareCB and FS-SCB by optimal design, over many actions and over ellipsoids of them."""

import numpy as np
import pytest

from banditselect import FSSquareCB, SquareCB
from banditselect.actions import Ball, Ellipsoid
from banditselect.plays.optimal_design import TOLERANCE
from plays_alone import designed
from refusals import refused


def regret(policy, rng, K, rounds):
    """Return the regret of lanes on Gaussian actions in the ball, new ones every round."""
    N, d = policy.lanes, policy.dim
    theta, total = np.ones(d) / np.sqrt(d), np.zeros(N)
    for _ in range(rounds):
        x = rng.normal(size=(1, K, d))
        x = np.broadcast_to(x / np.linalg.norm(x, axis=2, keepdims=True), (N, K, d)).copy()
        decision = policy.act(x)
        mean = decision.features @ theta
        policy.update(decision, mean + 0.1 * rng.normal(size=N))
        total += (x[0] @ theta).max() - mean
    return total


@pytest.mark.filterwarnings("ignore:.*nearly uniformly")
def test_ten_thousand_actions_in_five_dimensions():
    """Seeded; with the design the regret is that of few actions, without it nearly that of uniform play."""
    settings = {"dim": 5, "reward_range": (-2.0, 2.0), "lanes": 3}
    many, plain, few = (
        regret(SquareCB(**settings, design=name), np.random.default_rng(1), K, 150)
        for name, K in (("optimal", 10_000), ("uniform", 10_000), ("optimal", 1000))
    )
    assert many.max() < plain.min() / 4.0
    assert many.mean() < 1.5 * few.mean()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"design": "spanner"}, "design"),
        ({"design": "optimal", "blocks": 2}, "blocks"),
        ({"design": "optimal", "exploration": "corrected"}, "exploration"),
    ],
)
def test_a_design_is_refused_where_it_has_no_meaning(arguments, name):
    refused(lambda: SquareCB(dim=3, **arguments), name=f"SquareCB: {name}")
    refused(lambda: FSSquareCB(n_models=2, dim=3, **arguments), name=f"FSSquareCB: {name}")


# Ellipsoids


def worst_leverage(corners, ball, alpha, theta, q):
    """Return the largest leverage over 20,000 points of a ball, corners being weighted by q."""
    d, e, length = len(theta), theta / np.linalg.norm(theta), np.linalg.norm(theta)

    def reweighted(u):
        return u / np.sqrt(d + alpha * length * (1.0 - u @ e))[:, None]

    rng = np.random.default_rng(0)
    u = rng.normal(size=(20_000, d))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    latitude = rng.uniform(-1.0, 1.0, size=20_000) ** rng.integers(1, 9, size=20_000)  # more of them near the pole
    aside = u - (u @ e)[:, None] * e
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    u = np.vstack([latitude[:, None] * e + np.sqrt(1.0 - latitude**2)[:, None] * aside, e, -e, corners])
    y = reweighted(corners)
    V = (y * q[:, None]).T @ y
    z = reweighted(u)
    return float(np.einsum("ai,ij,aj->a", z, np.linalg.inv(V), z).max())


@pytest.mark.parametrize("d", [2, 3, 8, 20])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 30.0, 1e6])
def test_the_points_of_a_ball_are_its_optimal_design(d, alpha):
    """Kiefer and Wolfowitz: no leverage exceeds d; those of the points are d each."""
    theta = np.random.default_rng(d).normal(size=d)
    points = Ball(d).points(theta, alpha)
    assert points.shape == (d + 1, d)
    np.testing.assert_allclose(points[0], theta / np.linalg.norm(theta), rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1.0, rtol=1e-12)
    worst = worst_leverage(points[1:], Ball(d), alpha, theta, np.full(d, 1.0 / d))
    assert d * (1.0 - 1e-9) < worst < d * (1.0 + 1e-6)


@pytest.mark.parametrize("d", [2, 5, 20])
@pytest.mark.parametrize("alpha", [0.0, 30.0, 1e4])
def test_what_is_played_of_a_ball_explores_all_of_it(d, alpha):
    """The design that is found on the points is near enough to the optimal one on the whole ball."""
    theta = np.random.default_rng(d).normal(size=d)
    points = Ball(d).points(theta, alpha)
    q, rank = designed(points, alpha * (points[0] - points) @ theta)
    assert rank == d
    assert worst_leverage(points, Ball(d), alpha, theta, q) < 2.0 * (1.0 + TOLERANCE) * d


def test_an_ellipsoid_is_a_ball_in_other_units():
    rng = np.random.default_rng(0)
    axes, theta = rng.normal(size=(4, 4)), rng.normal(size=4)
    points = Ellipsoid(axes).points(theta, 3.0)
    np.testing.assert_allclose(points, Ball(4).points(axes.T @ theta, 3.0) @ axes.T, rtol=1e-12)
    u = rng.normal(size=(1000, 4))
    inside = u / np.linalg.norm(u, axis=1, keepdims=True) @ axes.T
    assert (inside @ theta).max() <= points[0] @ theta


def test_balls_at_their_edges():
    np.testing.assert_allclose(Ball(1, 2.0).points([-3.0], 5.0), [[-2.0], [-2.0]])
    np.testing.assert_allclose(Ball(3, 2.0).points(np.zeros(3), 5.0)[0], [2.0, 0.0, 0.0])
    assert repr(Ball(3)) == "<Ball in 3 dimensions>"


def test_lanes_act_on_a_ball_as_alone():
    lanes, alone = SquareCB(dim=3, design="optimal", lanes=2), SquareCB(dim=3, design="optimal", seed=(0, 1))
    for _ in range(20):
        decision, own = lanes.act(Ball(3)), alone.act(Ball(3))
        np.testing.assert_array_equal(decision.features[1], own.features)
        lanes.update(decision, decision.features[:, 0])
        alone.update(own, own.features[0])
    assert lanes.act(Ball(3), lanes=[1]).features.shape == (1, 3)
    assert lanes.points(Ball(3)).shape == (2, 4, 3)


def test_the_best_of_a_ball_is_found():
    """Seeded: after 500 rounds with noise nearly all of the radius is had."""
    rng = np.random.default_rng(0)
    theta, policy = np.full(8, 0.3), SquareCB(dim=8, design="optimal", reward_range=(-2.0, 2.0))
    late = 0.0
    for t in range(1000):
        decision = policy.act(Ball(8))
        mean = float(decision.features @ theta)
        policy.update(decision, mean + 0.1 * rng.normal())
        late += mean * (t >= 500)
    assert late / 500 > 0.97 * np.linalg.norm(theta)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: SquareCB(dim=3).act(Ball(3)), "SquareCB: design"),
        (lambda: SquareCB(dim=3, design="optimal", intercept=True).act(Ball(3)), "SquareCB: intercept"),
        (lambda: SquareCB(dim=3, design="optimal").act(Ball(4)), "features"),
        (lambda: FSSquareCB(n_models=1, dim=3, design="optimal").act(Ball(3)), "features"),
        (lambda: Ball(0), "Ball: dim"),
        (lambda: Ball(3, -1.0), "Ball: radius"),
        (lambda: Ellipsoid(np.ones((2, 2))), "Ellipsoid: axes"),
        (lambda: Ellipsoid([[1.0, np.nan], [0.0, 1.0]]), "Ellipsoid: axes"),
        (lambda: Ellipsoid([1.0, 2.0]), "Ellipsoid: axes"),
    ],
)
def test_ellipsoids_are_refused_where_they_do_not_fit(call, name):
    refused(call, name=name)
