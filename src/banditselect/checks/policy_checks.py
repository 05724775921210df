"""Checks that a policy keeps the contract: its interface, probabilities, state, lanes, and what it refuses."""

import copy
from collections.abc import Callable, Iterator
from typing import Any
from unittest import SkipTest

import numpy as np

from ..actions.catalogue import Catalogue
from ..kernels.features import Offer
from ..plays.schedules import SCHEDULES
from ..policies import Decision, registered
from ..types import Array, Mask
from .game import N_ACTIONS, ROUNDS, Factory, Game, arrays_of, make, play, refuses, saved, snapshot

# 1 interface


def check_interface(factory: Factory) -> None:
    """A bad value of an argument is refused by its name; the class is registered."""
    policy, _ = make(factory)
    cls = type(policy)
    assert registered().get(cls.__name__) is cls, f"{cls.__name__} is not registered"
    bad: dict[str, Any] = {name: object() for name in cls.arguments} | {"lanes": 0, "seed": -1}
    for name, value in bad.items():
        settings: dict[str, Any] = policy.settings | {name: value}
        refuses(lambda settings=settings: cls(**settings), name, f"argument {name}={value!r}")  # type: ignore[misc]


def check_repr(factory: Factory) -> None:
    """``repr`` is the call that builds the policy."""
    policy, _ = make(factory)
    schedules = {schedule.__name__: schedule for schedule in SCHEDULES}
    again = eval(repr(policy), dict(registered()) | schedules)
    assert type(again) is type(policy), f"repr builds a {type(again).__name__}"
    for name, value in policy.settings.items():
        built = again.settings[name]
        same = repr(built) == repr(value) or np.array_equal(built, value)
        assert same, f"repr builds {name}={built!r}, not {value!r}"


# 2 probability


def check_actions(factory: Factory) -> None:
    """Actions are offered and available, also once zeros are learned; propensities come with probabilities only."""
    policy, game = make(factory)
    play(policy, game, 5)
    for shown, available, mask in _offers(game):
        decision = policy.act(shown, available=available)
        assert 0 <= decision.action < mask.size, "an action that was not offered"
        assert mask[decision.action], "an action that was not available"
        known = policy.probabilities(shown, available=available) is not None
        assert (decision.probability is not None) == known, "a propensity without probabilities, or these without it"
        policy.update(decision, 0.5)


def check_probabilities(factory: Factory) -> None:
    """Probabilities sum to one, are those of the actions played, and are 0 for actions that are not available."""
    policy, game = make(factory)
    play(policy, game, 5)
    for shown, available, mask in _offers(game):
        p = _known(policy.probabilities(shown, available=available))
        decision = policy.act(shown, available=available)
        assert p.shape == mask.shape, f"probabilities of shape {p.shape}"
        assert (p >= 0.0).all(), "a negative probability or NaN"
        assert abs(p.sum() - 1.0) < 1e-12, f"probabilities sum to {p.sum()}"
        assert (p[~mask] == 0.0).all(), "probability on an action not available"
        assert decision.probability == p[decision.action], "the propensity is not the probability"


def _known(probabilities: Any) -> Any:
    """Return probabilities; skip the check where they are not known."""
    if probabilities is None:
        raise SkipTest("its probabilities have no closed form")
    return probabilities


def _offers(game: Game) -> Iterator[tuple[Any, Mask | None, Mask]]:
    """Yield features, zeros too, ``available``, and which actions that leaves: of one, few, many, where K is free."""
    for K in (game.n_actions,) if game.fixed else (1, 2, N_ACTIONS):
        game.n_actions = K
        maps = game.features()
        for scale in (1.0, 0.0):
            shown = game.shown([scale * m for m in maps])
            yield shown, None, np.ones(K, dtype=bool)
            for mask in (np.arange(K) % 2 == 0, np.arange(K) == K - 1):
                yield shown, mask, mask


def check_frequencies(factory: Factory) -> None:
    """Actions occur as often as ``probabilities`` says (chi-square, false alarm 1e-6; seeded)."""
    lanes = 2000
    policy, game = make(factory, lanes)
    maps = [np.repeat(m[:1], lanes, axis=0) for m in game.features()]
    p = _known(policy.probabilities(game.shown(maps)))
    counts = np.bincount(policy.act(game.shown(maps)).action, minlength=game.n_actions)
    possible = p[0] > 0.0
    assert counts[~possible].sum() == 0, "an action of probability 0 was played"
    distance = float(((counts - lanes * p[0])[possible] ** 2 / (lanes * p[0][possible])).sum())
    assert distance < 40.0, f"frequencies {counts / lanes} against probabilities {p[0]}"


def check_ties(factory: Factory) -> None:
    """Copies of an action have the same probability."""
    policy, game = make(factory)
    if game.fixed:
        raise SkipTest("actions are known by their positions")
    play(policy, game, 10)
    maps = [np.repeat(m, 2, axis=1) for m in game.features()]
    p = _known(policy.probabilities(game.shown(maps)))
    assert np.array_equal(p[::2], p[1::2]), f"copies of an action have probabilities {p}"


# 3 state


def check_act_learns_nothing(factory: Factory) -> None:
    """``act`` and ``probabilities`` change nothing but the number of the next act."""
    policy, game = make(factory)
    play(policy, game, 10)
    shown = game.shown(game.features())
    before = snapshot(policy)
    policy.probabilities(shown)
    assert snapshot(policy) == before, "probabilities changed the state"
    rounds = policy.rounds
    policy.act(shown)
    changed = {name for name, content in snapshot(policy).items() if before[name] != content}
    assert changed <= {"_ledger.book"}, f"act changed {changed}"
    assert policy.rounds == rounds, "act counts as a round"


def check_inputs_are_copied(factory: Factory) -> None:
    """Features are neither changed nor remembered by reference."""
    policy, game = make(factory)
    other, _ = make(factory)
    for _ in range(5):
        shown = game.shown(game.features())
        parts = arrays_of(shown)
        before, kept = copy.deepcopy(parts), copy.deepcopy(shown)
        decision, same = policy.act(shown), other.act(kept)
        assert all(map(np.array_equal, parts, before)), "act changed the features"
        for part in parts:
            part[...] = np.nan
        policy.update(decision, 0.5)
        other.update(same, 0.5)
    assert snapshot(policy) == snapshot(other), "the policy kept a reference to the features"


def check_catalogue(factory: Factory) -> None:
    """Acting on the items of a catalogue is acting on their features, and the probabilities are the same."""
    for lanes in (None, 3):
        policy, game = make(factory, lanes)
        other, _ = make(factory, lanes)
        for _ in range(5):
            offer, maps = _items(game)
            shown = game.shown(maps)
            p, q = policy.probabilities(offer), other.probabilities(shown)
            close = p is q is None or np.allclose(p, q, rtol=1e-9, atol=1e-12)  # type: ignore[arg-type]
            assert close, f"probabilities {p} for items, {q} for their features"
            decision, twin = policy.act(offer), other.act(shown)
            assert np.array_equal(decision.action, twin.action), f"items: {decision.action}, features: {twin.action}"
            assert np.array_equal(decision.features, twin.features), "the decision has other features"
            reward = game.reward(maps, decision.action)
            policy.update(decision, reward)
            other.update(twin, reward)


def _items(game: Game) -> tuple[Offer, list[Array]]:
    """Return items of a catalogue, the last lane's first, and their features: a map per entry, ``(n, K, d_i)`` each."""
    maps = game.features()
    n, K = maps[0].shape[:2]
    rows = game.in_blocks([m.reshape(n * K, m.shape[2]) for m in maps])
    items = np.arange(n * K)[::-1].reshape(n, K)
    offer = Catalogue(rows if game.many else rows[0]).offer(items[0] if game.single else items)
    return offer, [m[::-1, ::-1] for m in maps]


def check_persistence(factory: Factory) -> None:
    """Saved at any moment and loaded, a policy continues bit-identically, with decisions under way."""
    for rounds in (0, 1, ROUNDS):
        policy, game = make(factory, lanes=3)
        play(policy, game, rounds)
        waiting, reward, _ = game.act(policy)
        again = saved(policy)
        policy.update(waiting, reward)
        again.update(Decision.from_dict(waiting.to_dict()), reward)
        for _ in range(5):
            one, reward, maps = game.act(policy)
            two = again.act(game.shown(maps))
            assert one == two, "the loaded policy decided differently"
            policy.update(one, reward)
            again.update(two, reward)
        assert snapshot(again) == snapshot(policy), "the loaded policy learned differently"


# 4 determinism


def check_determinism(factory: Factory) -> None:
    """The same seed gives the same trace, and NumPy's global generator is not touched."""
    before = repr(np.random.get_state())  # noqa: NPY002
    first = play(*make(factory), ROUNDS)
    assert first == play(*make(factory), ROUNDS), "two runs with one seed differ"
    assert repr(np.random.get_state()) == before, "the global random generator was used"  # noqa: NPY002


def check_lanes(factory: Factory) -> None:
    """Lane j equals the policy with ``seed=(seed, j)`` alone, bit for bit: all at once, by index, and added later."""
    together, game = make(factory, lanes=3)
    trace = play(together, game, ROUNDS)
    grown, _ = make(factory, lanes=1)
    grown.add_lanes(2)
    served = Game(grown, range(3))
    for t in range(ROUNDS):
        maps, action = served.features(), trace[t][0]
        rewards = served.reward(maps, action)
        parts = [(ids, grown.act(served.shown([m[ids] for m in maps]), lanes=ids)) for ids in ([2, 0], [1])]
        for ids, decision in parts:
            assert np.array_equal(decision.action, action[ids]), "lanes served by index differ"
            grown.update(decision, rewards[ids])
    for j in range(3):
        alone = factory(lanes=None, seed=(3, j))
        own = Game(alone, range(j, j + 1))
        for t, (action, p) in enumerate(play(alone, own, ROUNDS)):
            actions, propensities = trace[t]
            assert action == actions[j], f"lane {j} acts differently from the policy alone in round {t}"
            same = p is propensities is None or p == propensities[j]
            assert same, f"propensities of lane {j} differ from those of the policy alone in round {t}"
    learned = {name: content for name, content in snapshot(together).items() if "_ledger" not in name}
    assert {name: snapshot(grown)[name] for name in learned} == learned, "lanes added later learned differently"
    together.add_lanes(1)
    fresh = factory(lanes=None, seed=(3, 3))
    added = [action[0] for action, _ in play(together, Game(together, range(3, 4)), 5, lanes=[3])]
    own_actions = [action for action, _ in play(fresh, Game(fresh, range(3, 4)), 5)]
    assert added == own_actions, "a lane added after the others played is not a fresh one"


# 5 symmetry


def check_permuted_actions(factory: Factory) -> None:
    """Permuting the actions permutes their probabilities."""
    policy, game = make(factory)
    play(policy, game, ROUNDS)
    order = np.random.default_rng(1).permutation(game.n_actions)
    maps = game.features()
    p = _known(policy.probabilities(game.shown(maps)))
    permuted = _known(policy.probabilities(game.shown([m[:, order] for m in maps])))
    assert np.allclose(permuted, p[order], rtol=1e-9, atol=1e-12), "probabilities do not follow their actions"


# 6 users' errors


def check_refusals(factory: Factory) -> None:
    """Bad input raises ValueError that names the argument, and the state stays as it was to the last bit."""
    policy, game = make(factory, lanes=2)
    play(policy, game, 10)
    good = game.shown(game.features())
    waiting = policy.act(good)
    stranger = factory(lanes=2, seed=3).act(good)
    before = snapshot(policy)
    broken: list[tuple[str, Callable[[], Any]]] = [
        ("features", lambda: policy.act(_poisoned(good, np.nan))),
        ("features", lambda: policy.act(_poisoned(good, np.inf))),
        ("features", lambda: policy.act("features")),
        ("features", lambda: policy.act(game.shown([m[:, :0] for m in game.features()]))),
        ("features", lambda: policy.act(good, lanes=[0])),
        ("lanes", lambda: policy.act(good, lanes=[0, 2])),
        ("lanes", lambda: policy.act(good, lanes=[1, 1])),
        ("available", lambda: policy.act(good, available=np.zeros(game.n_actions, dtype=bool))),
        ("available", lambda: policy.act(good, available=np.ones(game.n_actions + 1, dtype=bool))),
        ("reward", lambda: policy.update(waiting, [np.nan, 0.0])),
        ("reward", lambda: policy.update(waiting, [0.0])),
        ("reward", lambda: policy.update(waiting, "much")),
        ("decision", lambda: policy.update(stranger, [0.0, 0.0])),
        ("decision", lambda: policy.update("decision", [0.0, 0.0])),  # type: ignore[arg-type]
        ("decision", lambda: policy.update(waiting._replace(number=waiting.number + 5), [0.0, 0.0])),
        ("features", lambda: policy.update(waiting._replace(features=waiting.features * np.nan), [0.0, 0.0])),
    ]
    for word, call in broken:
        refuses(call, word, f"bad {word}")
        assert snapshot(policy) == before, f"a refused call (bad {word}) changed the state"
    policy.update(waiting, [0.0, 0.0])


def _poisoned(shown: Any, value: float) -> Any:
    poisoned = copy.deepcopy(shown)
    arrays_of(poisoned)[0][..., 0] = value
    return poisoned
