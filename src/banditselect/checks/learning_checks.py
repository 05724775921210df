"""Checks of learning: symmetry, estimates equal to a batch solve, regret, late rewards, changing models."""

from typing import Any
from unittest import SkipTest

import numpy as np

from ..plays.schedules import SCHEDULES
from ..policies import Decision, Policy, Uniform
from ..policies.members import AXES
from ..types import Array
from .game import ROUNDS, Factory, Game, make, play, refuses, saved, snapshot

# 1 symmetry


def check_permuted_models(factory: Factory) -> None:
    """Permuting the models permutes what is believed of them."""
    policy, game = make(factory)
    settings = policy.settings
    if not hasattr(policy, "model_weights"):
        raise SkipTest("it has no model_weights")
    if "n_models" in settings:
        order = maps_of_twin = np.arange(len(game.dims))[::-1]
        per_model = ["dim", "blocks", "regularization", "prior_weights"]
    elif "centers" in settings:
        order, maps_of_twin = np.arange(np.shape(settings["centers"])[-2])[::-1], np.array([0])
        per_model = ["centers", "radii", "center_errors", "radius_errors", "shapes", "prior_weights"]
    else:
        raise SkipTest("its models are neither maps (n_models) nor regions (centers)")
    if order.size == 1:
        raise SkipTest("it has a single model: there is nothing to permute")
    turned = {k: np.asarray(settings[k])[order].tolist() for k in per_model if np.ndim(settings.get(k, 0.0)) > 0}
    twin = type(policy)(**(settings | turned))
    twins_game = Game(twin, range(1))
    for _ in range(ROUNDS):
        decision, reward, maps = game.act(policy)
        policy.update(decision, reward)
        twin.learn(twins_game.one([maps[i][0, decision.action] for i in maps_of_twin]), reward)
    one, two = policy.model_weights, twin.model_weights  # type: ignore[attr-defined]
    assert np.allclose(one[order], two, rtol=1e-6, atol=1e-12), f"weights {one} do not follow their models: {two}"


def check_rescaling(factory: Factory) -> None:
    """Rewards, and all arguments measured in rewards, times four: no action changes, nor its probability."""
    _play_twins(factory, 4.0, 0.0, [], 'rescaling: do all arguments measured in rewards have unit="reward"?')


def check_units(factory: Factory) -> None:
    """A ``unit_free`` policy decides the same with every map in other units, and with rewards from another zero."""
    policy, game = make(factory)
    if not policy.unit_free:
        raise SkipTest("it does not claim to be free of units")
    factors = [] if "centers" in policy.settings else [100.0**k for k in np.linspace(-1.0, 1.0, len(game.dims))]
    shift = 50.0 if policy.settings.get("intercept") else 0.0
    _play_twins(factory, 0.3, shift, factors, "a change of units")


def _play_twins(factory: Factory, scale: float, shift: float, factors: list[float], what: str) -> None:
    """Assert that a policy decides the same when rewards are scaled and shifted, and maps multiplied by factors."""
    policy, game = make(factory)
    twin = _rescaled(policy, scale)
    for _ in range(ROUNDS):
        maps = game.features()
        turned = [f * m for f, m in zip(factors, maps, strict=True)] if factors else maps
        one, two = policy.act(game.shown(maps)), twin.act(game.shown(turned))
        assert one.action == two.action, f"another action after {what}"
        close = one.probability is None or np.isclose(one.probability, two.probability, rtol=1e-6, atol=1e-9)
        assert close, f"another probability after {what}"
        reward = game.reward(maps, one.action)
        policy.update(one, reward)
        twin.update(two, scale * reward + shift)


def _rescaled(value: Any, factor: float) -> Any:
    """Return a fresh policy, or a setting, with everything that is measured in rewards multiplied."""
    if isinstance(value, Policy):
        in_rewards = (name for name, argument in value.arguments.items() if argument.unit == "reward")
        turned = {name: _rescaled(getattr(value, name), factor) for name in in_rewards}
        return type(value)(**(value.settings | turned))
    if value is None or isinstance(value, str):
        return value
    if type(value) in SCHEDULES:
        return value.times(factor)
    if isinstance(value, list | tuple):
        return type(value)(_rescaled(part, factor) for part in value)
    return factor * np.asarray(value, dtype=float) if np.ndim(value) else factor * value


# 2 numerics


def check_batch(factory: Factory) -> None:
    """Estimates learned one by one equal a batch solve: nothing learned, many rounds, bad scales, missing ranks."""
    game = make(factory)[1]
    start, S = _prior(factory, game)
    for rounds, scale, rank in ((0, 1.0, 9), (3000, 1.0, 9), (300, 1e3, 9), (300, 1.0, 1)):
        policy = factory(lanes=None, seed=3)
        rng = np.random.default_rng(11)
        weights = [np.where(np.arange(d) < rank, np.geomspace(scale, 1.0 / scale, d), 0.0) for d in game.dims]
        X = [rng.normal(size=(rounds, d)) * w for d, w in zip(game.dims, weights, strict=True)]
        y = rng.normal(size=rounds)
        for t in range(rounds):
            policy.learn(game.one([x[t] for x in X]), float(y[t]))
        for i, estimate in enumerate(_estimates(policy)):
            k = game.map_of(i)
            d, x = game.dims[k], X[k]
            prior, theta = S[i, :d, :d], start[i, :d]
            moved = np.linalg.solve(np.eye(d) + prior @ (x.T @ x), prior @ (x.T @ (y - x @ theta)))
            probe = rng.normal(size=(20, d)) * weights[k]
            error = np.abs(probe @ (estimate[:d] - theta - moved)).max()
            assert error < 1e-8 * max(1.0, np.abs(probe @ (theta + moved)).max()), f"predictions off by {error}"


def check_regularization(factory: Factory) -> None:
    r"""The first rewards move the estimates as the argument ``regularization`` says: :math:`S = I / \lambda`."""
    policy, game = make(factory)
    _, S = _prior(factory, game)
    stated = np.asarray(getattr(policy, "regularization", None))
    if stated.dtype.kind not in "fiu":
        raise SkipTest("it has no number as its regularization")
    for i, penalty in enumerate(np.broadcast_to(stated, len(S))):
        d = game.dims[game.map_of(i)]
        close = np.allclose(penalty * S[i, :d, :d], np.eye(d), rtol=1e-9, atol=1e-9)
        assert close, f"regularization {penalty} of model {i}, but its prior covariance is {S[i, :d, :d]}"


def _estimates(policy: Policy) -> Array:
    """Return the estimates of all models, ``(M, d)``."""
    if not hasattr(policy, "parameters"):
        raise SkipTest("it has no parameters")
    if not policy.ridge_estimates:
        raise SkipTest("its parameters are not those of ridge regressions in which all rewards count alike")
    if policy.feature_shape.blocked:
        raise SkipTest("every block has an estimate of its own")
    return np.atleast_2d(policy.parameters)


def _prior(factory: Factory, game: Game) -> tuple[Array, Array]:
    r"""Return the estimates of a fresh policy, ``(M, d)``, and their prior covariances S, ``(M, d, d)``.

    The unit vector :math:`e_j` with the reward y moves a ridge regression by
    :math:`S e_j (y - \theta_j) / (1 + S_{jj})`.
    """
    policy = factory(lanes=None, seed=3)
    start = _estimates(policy)
    if policy.settings.get("intercept"):
        raise SkipTest("its estimates stand beside a constant term")
    S = np.zeros((*start.shape, start.shape[1]))
    maps = np.array([game.map_of(i) for i in range(len(start))])
    for k in np.unique(maps):
        for j in range(game.dims[k]):
            row = [np.zeros(width) for width in game.dims]
            row[k][j] = 1.0
            policy, y = factory(lanes=None, seed=3), 1.0 + float(start[:, j].max())
            policy.learn(game.one(row), y)
            moved = (_estimates(policy) - start) / (y - start[:, j])[:, None]
            S[maps == k, :, j] = (moved / (1.0 - moved[:, j])[:, None])[maps == k]
    return start, S


# 3 learning


def check_learning(factory: Factory) -> None:
    """On an easy instance the regret is less than half that of uniform play (seeded, 8 lanes, 400 rounds)."""
    policy, game = make(factory, lanes=8)
    uniform = Uniform(lanes=8, seed=3)
    regret, floor = np.zeros(8), np.zeros(8)
    for _ in range(400):
        decision, reward, maps = game.act(policy)
        policy.update(decision, reward)
        means, other = game.means(maps), uniform.act(game.shown(maps))
        regret += means.max(axis=1) - means[np.arange(8), decision.action]
        floor += means.max(axis=1) - means[np.arange(8), other.action]
    assert regret.mean() < 0.5 * floor.mean(), f"regret {regret.mean():.1f}, uniform play {floor.mean():.1f}"


# 4 rewards that are late


def check_late_rewards(factory: Factory) -> None:
    """Rewards may wait, come in batches and out of order; each is learned once; a batch is learned whole or not."""
    late, decisions, rewards = _unrewarded(factory)
    shuffled, again, _ = _unrewarded(factory)
    assert [d.action for d in again] == [d.action for d in decisions], "acting without rewards is not deterministic"
    before = snapshot(late)
    refuses(lambda: late.update_many([*decisions, decisions[0]], [*rewards, 0.0]), "decisions", "a decision twice")
    refuses(lambda: late.update_many(decisions, [*rewards[:-1], np.nan]), "reward", "a batch with a NaN")
    refuses(lambda: late.update_many(decisions, rewards[:-1]), "rewards", "too few rewards")
    assert snapshot(late) == before, "a refused batch changed the state"
    late.update_many(decisions, rewards)
    for k in np.random.default_rng(5).permutation(ROUNDS):
        shuffled.update(again[k], rewards[k])
    for policy in (late, shuffled):
        assert policy.rounds == ROUNDS, f"rounds is {policy.rounds} after {ROUNDS} rewards"
    refuses(lambda: late.update(decisions[3], 0.0), "decision", "a second reward")


def check_order_of_rewards(factory: Factory) -> None:
    """Estimates end the same if rewards come at once, in batches, out of order or with ``learn``."""
    late, decisions, rewards = _unrewarded(factory)
    shuffled, again, _ = _unrewarded(factory)
    taught = factory(lanes=None, seed=3)
    for k in np.random.default_rng(5).permutation(ROUNDS):
        shuffled.update(again[k], rewards[k])
    for decision, reward in zip(decisions, rewards, strict=True):
        taught.learn(decision.features, reward)
    late.update_many(decisions, rewards)
    theta = _estimates(late)
    scale = 1e-8 * max(1.0, float(np.abs(theta).max()))
    assert np.allclose(theta, _estimates(taught), atol=scale), "batched rewards end in other estimates than learn does"
    assert np.allclose(theta, _estimates(shuffled), atol=scale), "out-of-order rewards end in other estimates"


def _unrewarded(factory: Factory) -> tuple[Policy, list[Decision], list[float]]:
    """Return a policy that has acted and learned nothing, its decisions, and the rewards they earned."""
    policy, game = make(factory)
    decisions, rewards = [], []
    for _ in range(ROUNDS):
        decision, reward, _ = game.act(policy)
        decisions.append(decision)
        rewards.append(reward)
    return policy, decisions, rewards


# 5 models that come and go


def check_models(factory: Factory) -> None:
    """Models come and go: in every lane as alone, saved and loaded or not; earlier decisions are learned.

    Weights are of all models there are, and sum to 1.
    """
    grown, trace = _grown(factory, 3)
    assert grown.rounds.tolist() == [26] * 3, f"rounds are {grown.rounds}: some decision was not learned"
    for j in range(3):
        alone, own = _grown(factory, None, j)
        for t, action in enumerate(own):
            assert action == trace[t][j], f"lane {j} acts differently from the policy alone in round {t}"
        assert _learned(alone, slice(None)) == _learned(grown, slice(j, j + 1)), f"lane {j} learned otherwise"


def _grown(factory: Factory, lanes: int | None, first: int = 0) -> tuple[Any, list[Any]]:
    """Return a policy after rounds in which models come and go, and the actions that it played."""
    policy: Any = factory(lanes=lanes, seed=3 if lanes else (3, first))
    served = range(lanes) if lanes else range(first, first + 1)
    if not hasattr(policy, "add_models"):
        raise SkipTest("its models do not come and go")
    game = Game(policy, served)
    trace = play(policy, game, 10)
    for change in (_add, lambda some: some.retire_models(0)):
        waiting, reward, _ = game.act(policy)
        before = policy.model_weights.shape[-1]
        change(policy)
        weights = policy.model_weights
        after = before + (1 if change is _add else -1)
        right = weights.shape[-1] == after and np.allclose(weights.sum(axis=-1), 1.0, rtol=1e-12)
        assert right, f"weights of {after} models are {weights}"
        again = saved(policy)
        policy.update(waiting, reward)
        again.update(Decision.from_dict(waiting.to_dict()), reward)
        assert snapshot(again) == snapshot(policy), "the loaded policy learned another's decision differently"
        game = Game(policy, served)
        played, twin = play(policy, game, 7), play(again, Game(again, served), 7)
        assert repr(played) == repr(twin), "the loaded policy decided differently"
        trace += played
    return policy, [action for action, _ in trace]


def _add(policy: Any) -> None:
    """Add one model, like the first."""
    settings = policy.settings
    like = {name: axis for name, axis in AXES.items() if np.ndim(settings.get(name, 0.0)) >= -axis}
    one: dict[str, Any] = {name: np.take(np.asarray(settings[name]), [0], axis=axis) for name, axis in like.items()}
    one |= {"centers": 0.5 * one["centers"]} if "centers" in one else {"dim": 3}
    try:
        policy.add_models(**one)
    except ValueError as error:
        raise SkipTest(f"no model can be added: {error}") from error


def _learned(policy: Policy, lanes: slice) -> dict[str, bytes]:
    """Return what these lanes have learned, to the last bit, but for the book of acts."""
    return {name: content for name, content in snapshot(policy, lanes).items() if not name.startswith("_ledger")}
