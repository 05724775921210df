"""Checks that a problem keeps the contract: shapes, randomness drawn beforehand, constants and means that are true."""

import contextlib
import keyword
import math
import random
from typing import Any
from unittest import SkipTest

import numpy as np
from numpy.typing import NDArray

from ..problems import Instances, Problem
from ..runtime.reading import Reader
from ..runtime.shapes import ExactShape
from ..types import Array

ROUNDS = 12
LANES = range(3, 7)
SEED = 5
_SAMPLE = 4000  #: rewards compared with their means
_MEMORY = 200_000_000  #: bytes of instances drawn at a time


def check_problem_settings(problem: Problem) -> None:
    """The settings build the same problem, and ``repr`` names its class."""
    cls = type(problem)
    again = cls(**problem.settings)
    for name, value in problem.settings.items():
        assert _same(value, again.settings[name]), f"argument {name} is not stored as it is given"
    assert problem.shapes == again.shapes, "the settings build a problem of other shapes"
    difference = _difference(_trace(problem), _trace(again))
    assert not difference, f"the settings build another problem: {difference} differ"
    assert cls.__name__ in repr(problem), f"repr does not name the class: {problem!r}"


def check_shapes(problem: Problem) -> None:
    """``shapes`` says what the features are, and the offers; all is finite; any number of lanes and rounds works."""
    shapes = problem.shapes
    assert "dim" in shapes, f"shapes have no dim: {shapes}"
    many = "n_models" in shapes
    widths = [shapes["dim"]] * shapes.get("n_models", 1) if np.ndim(shapes["dim"]) == 0 else list(shapes["dim"])
    assert len(widths) == shapes.get("n_models", 1), f"dim has {len(widths)} widths: {shapes}"
    reader = Reader(ExactShape(tuple(widths), many=many), True)
    for lanes, rounds in ((range(1), 1), (LANES, ROUNDS)):
        instances = problem.draw(lanes, rounds, SEED)
        for t in range(rounds):
            try:
                x = reader.actions(instances.features(t), len(lanes)).values
            except ValueError as error:
                raise AssertionError(f"policies of shapes {shapes} refuse the features: {error}") from error
            shown = reader.actions(instances.offer(t), len(lanes)).values
            assert np.array_equal(shown, x), f"what is offered in round {t} is not what its features are"
            means = instances.means(t)
            expected = (len(lanes), x.shape[2])
            assert means is None or np.shape(means) == expected, f"means of shape {np.shape(means)}, not {expected}"
            assert means is None or np.isfinite(means).all(), "a mean is not finite"


def check_rewards(problem: Problem) -> None:
    """Rewards are numbers ``(N,)``, one per lane; NaN where nothing is observed, but not everywhere."""
    instances = problem.draw(LANES, ROUNDS, SEED)
    observed = False
    for t in range(ROUNDS):
        for action in _every_action(instances, t):
            rewards = instances.rewards(t, action)
            assert np.shape(rewards) == (len(LANES),), f"rewards of shape {np.shape(rewards)}, not {(len(LANES),)}"
            assert not np.isinf(rewards).any(), "a reward is infinite"
            observed = observed or bool(np.isfinite(rewards).any())
    assert observed, "no reward is observed, whatever is played"


def check_available(problem: Problem) -> None:
    """Actions that may be played are booleans ``(N, K)``, some True in every lane, by its own actions alone."""
    instances = problem.draw(LANES, ROUNDS, SEED)
    alone = [problem.draw(range(lane, lane + 1), ROUNDS, SEED) for lane in LANES]
    rng, played = np.random.default_rng(0), np.empty((len(LANES), ROUNDS), dtype=np.int64)
    for t in range(ROUNDS):
        mask, K = instances.available_after(t, played[:, :t]), len(_every_action(instances, t))
        again = [one.available_after(t, played[n : n + 1, :t]) for n, one in enumerate(alone)]
        if mask is None:
            assert all(one is None for one in again), "what a lane may play depends on the lanes beside it"
            played[:, t] = rng.integers(0, K, len(LANES))
            continue
        right = isinstance(mask, np.ndarray) and mask.dtype == bool and mask.shape == (len(LANES), K)
        assert right, f"what may be played is {mask!r}, not booleans of shape {(len(LANES), K)}"
        assert mask.any(axis=1).all(), f"a lane may play nothing in round {t}"
        same = all(one is not None and np.array_equal(one[0], mask[n]) for n, one in enumerate(again))
        assert same, "what a lane may play depends on the lanes beside it"
        played[:, t] = [rng.choice(np.flatnonzero(row)) for row in mask]


def check_common_randomness(problem: Problem) -> None:
    """All randomness is drawn beforehand: what is asked, how often and in which order changes nothing."""
    instances = problem.draw(LANES, ROUNDS, SEED)
    forward = _trace(problem, instances)
    backward = _trace(problem, instances, range(ROUNDS - 1, -1, -1))
    difference = _difference(forward, backward)
    assert not difference, f"{difference} change when they are asked for again in another order"
    difference = _difference(forward, _trace(problem))
    assert not difference, f"{difference} change when the same instances are drawn again"


def check_neighbours(problem: Problem) -> None:
    """The instance of a lane does not depend on the lanes beside it; large lane numbers and seeds work."""
    together = _trace(problem)
    for n, lane in enumerate(LANES):
        alone = _trace(problem, problem.draw(range(lane, lane + 1), ROUNDS, SEED))
        difference = _difference(_of_lane(together, n, len(LANES)), _of_lane(alone, 0, 1))
        assert not difference, f"{difference} of a lane depend on the lanes beside it"
    try:
        problem.draw(range(2**41, 2**41 + 1), 1, 2**70)
    except (ValueError, OverflowError) as error:
        raise AssertionError(f"large lane numbers and seeds do not work: {error}") from error


def check_seeds(problem: Problem) -> None:
    """Another seed and another lane give another instance."""
    draws = (range(1), SEED), (range(1), SEED + 1), (range(1, 2), SEED)
    here, there, beside = (_trace(problem, problem.draw(lanes, ROUNDS, seed)) for lanes, seed in draws)
    assert _difference(here, there), "the instance does not depend on the seed"
    assert _difference(here, beside), "the instance does not depend on the lane"


def check_global_randomness(problem: Problem) -> None:
    """The global random numbers of NumPy and Python are left alone."""
    numpy_state, python_state = repr(np.random.get_state()), random.getstate()  # noqa: NPY002
    _trace(problem)
    assert repr(np.random.get_state()) == numpy_state, "the global generator of NumPy was used"  # noqa: NPY002
    assert random.getstate() == python_state, "the global generator of Python was used"


def check_features_are_copies(problem: Problem) -> None:
    """Writing into the features that an instance showed, as a careless policy may, changes nothing later."""
    instances = problem.draw(LANES, ROUNDS, SEED)
    before = _trace(problem, instances)
    for t in range(ROUNDS):
        for x in _maps(instances.features(t), problem):
            if isinstance(x, np.ndarray) and x.flags.writeable:
                x[...] = 77.0
    difference = _difference(before, _trace(problem, instances))
    assert not difference, f"{difference} change when features shown before are written into"


def check_constants(problem: Problem) -> None:
    """Constants are numbers, tuples of numbers, or arrays with one entry per lane, under names that can be given."""
    instances = problem.draw(LANES, ROUNDS, SEED)
    if not instances.constants:
        raise SkipTest("it has no constants")
    for name, value in instances.constants.items():
        usable = isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name) and name[0] != "_"
        assert usable, f"constant {name!r} cannot be asked for with given.<name>"
        if isinstance(value, np.ndarray):
            assert value.shape[:1] == (len(LANES),), f"constant {name} of shape {value.shape}, not (N, ...)"
        parts = value if isinstance(value, tuple) else (value,)
        assert all(np.asarray(p).dtype.kind in "fiub" for p in parts), f"constant {name} is not numbers: {value!r}"
        assert all(np.isfinite(p).all() for p in parts), f"constant {name} is not finite: {value!r}"
    n_models = problem.shapes.get("n_models")
    model = np.asarray(instances.constants.get("model", 0))
    assert n_models is None or (model.min() >= 0 and model.max() < n_models), f"model {model} is not one of {n_models}"


def check_feature_bound(problem: Problem) -> None:
    """No features are longer than the constant ``feature_bound``."""
    instances = problem.draw(LANES, ROUNDS, SEED)
    bound = _constant(instances, "feature_bound")
    for t in range(ROUNDS):
        for x in _maps(instances.features(t), problem):
            _assert_below("feature_bound", np.linalg.norm(x, axis=2).max(axis=1), bound)


def check_parameter_bound(problem: Problem) -> None:
    """The constant ``parameter`` is a vector per lane, not longer than ``parameter_bound``."""
    instances = problem.draw(LANES, ROUNDS, SEED)
    theta = _constant(instances, "parameter")
    assert theta.ndim == 2, f"parameter of shape {theta.shape}, not (N, d)"
    _assert_below("parameter_bound", np.linalg.norm(theta, axis=1), _constant(instances, "parameter_bound"))


def check_reward_bound(problem: Problem) -> None:
    """No mean reward is larger in magnitude than the constant ``reward_bound``."""
    instances = problem.draw(LANES, ROUNDS, SEED)
    bound = _constant(instances, "reward_bound")
    for t in range(ROUNDS):
        _assert_below("reward_bound", np.abs(_known_means(instances, t)).max(axis=1), bound)


def check_linear_means(problem: Problem) -> None:
    """The means are linear in the true map with the constant ``parameter``."""
    instances = problem.draw(LANES, ROUNDS, SEED)
    theta = _constant(instances, "parameter")
    for t in range(ROUNDS):
        maps, means = _maps(instances.features(t), problem), _known_means(instances, t)
        index = np.broadcast_to(instances.constants.get("model", 0) if len(maps) > 1 else 0, len(LANES))
        for n, i in enumerate(index.tolist()):
            linear = maps[i][n] @ theta[n]
            close = np.allclose(linear, means[n], rtol=1e-6, atol=1e-9)
            assert close, f"means {means[n]} are not linear in the true map with the constant parameter: {linear}"


def check_means(problem: Problem) -> None:
    """Rewards are on average what ``means`` says, for all actions (two normal statistics, false alarm 1e-6; seeded)."""
    lanes = min(200, max(1, _MEMORY // max(1, problem.lane_bytes(_SAMPLE))))
    rounds = max(2, math.ceil(_SAMPLE / lanes))
    instances = problem.draw(range(lanes), rounds, SEED)
    rng = np.random.default_rng(0)
    expected, residual = [], []
    for t in range(rounds):
        means = _known_means(instances, t)
        action = rng.integers(0, means.shape[1], lanes)
        expected.append(means[np.arange(lanes), action])
        residual.append(instances.rewards(t, action) - expected[-1])
    m, r = np.concatenate(expected), np.concatenate(residual)
    m, r = m[np.isfinite(r)], r[np.isfinite(r)]
    for what, product in (("", r), (", more so where the mean is large", r * (m - m.mean()))):
        deviation = 1e-9 + product.std() / math.sqrt(max(1, product.size))
        distance = float(product.mean() / deviation) if product.size else 0.0
        assert abs(distance) < 5.2, f"rewards are {distance:.1f} standard errors away from their means{what}"


def _maps(features: Any, problem: Problem) -> list[Array]:
    """Return the features as a list of maps ``(N, K, d_i)``."""
    if isinstance(features, list | tuple):
        return list(features)
    return list(np.swapaxes(features, 0, 1)) if "n_models" in problem.shapes else [features]


def _every_action(instances: Instances, t: int) -> list[NDArray[np.int64]]:
    """Return for each action of a round the array in which all lanes play it."""
    features = instances.features(t)
    first = features[0] if isinstance(features, list | tuple) else features
    return [np.full(first.shape[0], a) for a in range(first.shape[-2])]


def _trace(problem: Problem, instances: Instances | None = None, order: range = range(ROUNDS)) -> dict[str, Any]:
    """Return copies of everything that instances show: features, means and rewards by round, and the constants."""
    instances = problem.draw(LANES, ROUNDS, SEED) if instances is None else instances
    trace: dict[str, Any] = {"features": {}, "means": {}, "rewards": {}}
    for t in order:
        means = instances.means(t)
        trace["rewards"][t] = np.array([instances.rewards(t, a) for a in _every_action(instances, t)]).T
        trace["features"][t] = {i: np.array(x) for i, x in enumerate(_maps(instances.features(t), problem))}
        trace["means"][t] = None if means is None else np.array(means)
    trace["constants"] = dict(instances.constants)
    return trace


def _of_lane(value: Any, n: int, lanes: int) -> Any:
    """Return the part of a trace about one lane: entry n of all that has an entry for each of these lanes."""
    if isinstance(value, dict):
        return {key: _of_lane(part, n, lanes) for key, part in value.items()}
    return value[n] if np.shape(value)[:1] == (lanes,) and not isinstance(value, tuple) else value


def _difference(one: dict[str, Any], two: dict[str, Any]) -> str:
    """Return the names of the parts that differ, to the last bit and inside containers; empty if none does."""
    return " and ".join(name for name in one if not _same(one[name], two[name]))


def _same(one: Any, two: Any) -> bool:
    with contextlib.suppress(AssertionError):
        np.testing.assert_equal(one, two)
        return True
    return False


def _constant(instances: Instances, name: str) -> Any:
    """Return a constant; skip the check if the problem has no constant of this name."""
    if name not in instances.constants:
        raise SkipTest(f"it has no constant {name}")
    return instances.constants[name]


def _known_means(instances: Instances, t: int) -> Array:
    """Return the means of a round; skip the check if they are not known."""
    means = instances.means(t)
    if means is None:
        raise SkipTest("its means are not known")
    return means


def _assert_below(name: str, values: Array, bound: Any) -> None:
    """Assert that a constant bounds these values of the lanes, up to rounding."""
    bound = np.broadcast_to(bound, values.shape)
    assert (values <= bound * (1.0 + 1e-6) + 1e-9).all(), f"{name} {bound} is below {values}"
