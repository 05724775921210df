"""check_problem: a fair problem passes, and every check finds what it looks for."""

import random

import numpy as np
import pytest

from banditselect.checks import PROBLEM_CHECKS, check_problem, run_check
from banditselect.problems import Instances, Problem
from banditselect.runtime.arguments import argument
from banditselect.runtime.constraints import Constraint


class Play(Instances):
    """Linear rewards in one map or in the first of several, everything drawn beforehand."""

    def __init__(self, problem, lanes, rounds, seed):
        N, K, d = len(lanes), 3, problem.dim
        self.x, self.theta, self.noise = np.empty((N, rounds, K, d)), np.empty((N, d)), np.empty((N, rounds))
        for n, lane in enumerate(lanes):
            rng = problem.generator(lanes, lane, seed)
            self.x[n], self.theta[n] = rng.normal(size=(rounds, K, d)), rng.normal(size=d)
            self.noise[n] = rng.normal(size=rounds)
        self.mean = np.einsum("ntkd,nd->ntk", self.x, self.theta)
        self.constants = {
            "noise": 1.0,
            "parameter": self.theta.copy(),
            "parameter_bound": np.linalg.norm(self.theta, axis=1),
            "feature_bound": np.linalg.norm(self.x, axis=3).max(axis=(1, 2)),
            "reward_bound": np.abs(self.mean).max(axis=(1, 2)),
        }

    def features(self, t):
        return self.x[:, t].copy()

    def means(self, t):
        return self.mean[:, t].copy()

    def rewards(self, t, action):
        return self.mean[np.arange(action.size), t, action] + self.noise[:, t]


class Fair(Problem):
    dim: int = argument(default=2)
    play = Play

    @property
    def shapes(self):
        return {"dim": self.dim}

    def generator(self, lanes, lane, seed):
        return np.random.default_rng((seed, lane))

    def lane_bytes(self, rounds):
        return 8 * rounds * (3 * self.dim + 4)

    def draw(self, lanes, rounds, seed):
        return self.play(self, lanes, rounds, seed)


class TwoMaps(Fair):
    """The second map is worthless; ragged, so that features come as a list."""

    class play(Play):  # noqa: N801
        def features(self, t):
            return [self.x[:, t].copy(), self.x[:, t, :, :1].copy()]

    @property
    def shapes(self):
        return {"n_models": 2, "dim": [self.dim, 1]}


class Unknown(Fair):
    """Nobody knows the means, and half of the rewards are not observed."""

    class play(Play):  # noqa: N801
        def means(self, t):
            return None

        def rewards(self, t, action):
            return np.where(action == t % 3, super().rewards(t, action), np.nan)


class Bare(Fair):
    """Nothing is said about the instances."""

    class play(Play):  # noqa: N801
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.constants = {}


class Once(Fair):
    """No action is played twice in three rounds."""

    class play(Play):  # noqa: N801
        def available_after(self, t, played):
            mask = np.ones((len(self.x), 3), dtype=bool)
            np.put_along_axis(mask, played[:, 3 * (t // 3) :], False, axis=1)
            return mask


NO_PARAMETER = "it has no constant parameter"
SKIPPED = {
    Unknown: dict.fromkeys(["check_reward_bound", "check_linear_means", "check_means"], "its means are not known"),
    Bare: {
        "check_constants": "it has no constants",
        "check_feature_bound": "it has no constant feature_bound",
        "check_parameter_bound": NO_PARAMETER,
        "check_reward_bound": "it has no constant reward_bound",
        "check_linear_means": NO_PARAMETER,
    },
}


def flawed(base=Fair, **changes):
    """Return a problem with these methods replaced."""
    return type("Flawed", (base,), changes)


def played(base=Fair, **changes):
    """Return a problem whose instances have these methods replaced."""
    return flawed(base, play=type("FlawedPlay", (base.play,), changes))


def told(base=Fair, **constants):
    """Return a problem with these constants, each a value or a function of the instances."""

    def drawn(self, *arguments):
        base.play.__init__(self, *arguments)
        self.constants |= {k: v(self) if callable(v) else v for k, v in constants.items()}

    return played(base, __init__=drawn)


class Double(Constraint):
    def stored(self, name, value, lanes, seed):
        return 2 * value


class Doubling(Fair):
    dim: int = argument(Double(), default=2)


class Counting(Fair):
    """Every problem built is another one."""

    built = 0

    def _set_up(self):
        Counting.built += 1
        self.number = Counting.built

    def generator(self, lanes, lane, seed):
        return np.random.default_rng((seed, lane, self.number))


def growing(self):
    self.__dict__["asked"] = self.__dict__.get("asked", 0) + 1
    return self.asked


LIVE, RAND = np.random.default_rng(1), np.random.rand

FLAWS = [
    ("check_problem_settings", "dim is not stored as it is given", Doubling),
    ("check_problem_settings", "features and means and rewards and constants differ", Counting),
    ("check_problem_settings", "repr does not name", flawed(__repr__=lambda self: "a problem")),
    ("check_shapes", "no dim", flawed(shapes=property(lambda self: {}))),
    ("check_shapes", "refuse the features", flawed(shapes=property(lambda self: {"dim": 3}))),
    ("check_shapes", "has 2 widths", flawed(shapes=property(lambda self: {"n_models": 3, "dim": [2, 2]}))),
    ("check_shapes", "refuse the features", played(features=lambda self, t: np.nan * self.x[:, t])),
    ("check_shapes", r"means of shape \(1, 2\)", played(means=lambda self, t: self.mean[:, t, :2])),
    ("check_shapes", "not finite", played(means=lambda self, t: np.inf * self.mean[:, t])),
    ("check_rewards", r"shape \(4, 1\)", played(rewards=lambda self, t, a: Play.rewards(self, t, a)[:, None])),
    ("check_rewards", "infinite", played(rewards=lambda self, t, a: np.full(a.size, np.inf))),
    ("check_rewards", "no reward is observed", played(rewards=lambda self, t, a: np.full(a.size, np.nan))),
    (
        "check_available",
        "not booleans of shape",
        played(available=lambda self, t: np.ones((len(self.x), 2), dtype=bool)),
    ),
    (
        "check_available",
        "may play nothing in round 0",
        played(available=lambda self, t: np.zeros((len(self.x), 3), bool)),
    ),
    (
        "check_available",
        "depends on the lanes beside it",
        played(available_after=lambda self, t, a: np.tile(np.arange(3) != (a[:1, -1] if t else 0), (len(self.x), 1))),
    ),
    ("check_common_randomness", "rewards change", played(rewards=lambda self, t, a: LIVE.normal(size=a.size))),
    ("check_common_randomness", "features change", played(features=lambda self, t: self.x[:, t] + growing(self))),
    (
        "check_common_randomness",
        "the same instances are drawn again",
        flawed(generator=lambda self, lanes, lane, seed: np.random.default_rng((seed, lane, growing(self)))),
    ),
    (
        "check_neighbours",
        "features and means and rewards and constants of a lane depend",
        flawed(generator=lambda self, lanes, lane, seed: np.random.default_rng((seed, lane, len(lanes)))),
    ),
    ("check_neighbours", "^check_neighbours: constants of a lane", told(largest=lambda play: float(play.mean.max()))),
    (
        "check_neighbours",
        "large lane numbers",
        flawed(generator=lambda self, lanes, lane, seed: np.random.RandomState(seed + lane)),
    ),
    ("check_seeds", "on the seed", flawed(generator=lambda self, lanes, lane, seed: np.random.default_rng((0, lane)))),
    ("check_seeds", "on the lane", flawed(generator=lambda self, lanes, lane, seed: np.random.default_rng(seed))),
    ("check_global_randomness", "NumPy", played(features=lambda self, t: self.x[:, t] + 0.0 * RAND())),
    ("check_global_randomness", "Python", played(features=lambda self, t: self.x[:, t] + 0.0 * random.random())),
    ("check_features_are_copies", "features change", played(TwoMaps, features=lambda self, t: [self.x[:, t]] * 2)),
    ("check_constants", "'class' cannot be asked for", told(**{"class": 1.0})),
    ("check_constants", "'_own' cannot be asked for", told(_own=1.0)),
    ("check_constants", r"centers of shape \(2, 2\)", told(centers=np.eye(2))),
    ("check_constants", "name is not numbers", told(name="mine")),
    ("check_constants", "worst is not finite", told(worst=np.inf)),
    ("check_constants", "is not one of 2", told(TwoMaps, model=2)),
    ("check_parameter_bound", r"parameter of shape \(4,\)", told(parameter=lambda play: play.theta[:, 0])),
    ("check_parameter_bound", "parameter_bound", told(parameter_bound=1e-3)),
    ("check_feature_bound", "feature_bound", told(feature_bound=1e-3)),
    ("check_reward_bound", "reward_bound", told(reward_bound=lambda play: 0.5 * np.abs(play.mean).max(axis=(1, 2)))),
    ("check_linear_means", "not linear", told(parameter=lambda play: play.theta[:, ::-1])),
    ("check_means", "from their means$", played(rewards=lambda self, t, a: Play.rewards(self, t, a) + 0.2)),
    ("check_means", "more so where", played(rewards=lambda self, t, a: 1.2 * Play.rewards(self, t, a))),
    (
        "check_means",
        "standard errors",
        played(rewards=lambda self, t, a: Play.rewards(self, t, a) - self.noise[:, t] + 1e-6),
    ),
]


@pytest.mark.parametrize("cls", [Fair, TwoMaps, Unknown, Bare, Once])
def test_fair_problems_pass_and_what_cannot_be_checked_is_returned_with_the_reason(cls):
    assert check_problem(cls()) == SKIPPED.get(cls, {})


@pytest.mark.parametrize(("check", "message", "cls"), FLAWS, ids=[f"{c}-{m}" for c, m, _ in FLAWS])
def test_a_flaw_is_found(check, message, cls):
    with pytest.raises(AssertionError, match=message):
        run_check(check, cls())


def test_every_check_can_fail():
    assert {check for check, _, _ in FLAWS} == set(PROBLEM_CHECKS)


def test_a_problem_with_an_init_of_its_own_is_refused():
    """Its settings would not say what it was made of, and two problems would share their stored results."""
    with pytest.raises(TypeError, match=r"Own has an __init__ of its own: declare every argument with argument\("):

        class Own(Fair):
            def __init__(self, scale):
                self.scale = scale
