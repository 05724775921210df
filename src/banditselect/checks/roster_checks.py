"""A check that models can come and go while a policy runs."""

import tempfile
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np

from ..policies import Decision, Policy, load
from ..policies.members import AXES
from .game import Factory, Game, play, snapshot


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
        assert _learned(alone, slice(None)) == _learned(grown, slice(j, j + 1)), (
            f"lane {j} learned otherwise than alone"
        )


def _grown(factory: Factory, lanes: int | None, first: int = 0) -> tuple[Any, list[Any]]:
    """Return a policy after a life in which models come and go, and what it played."""
    policy: Any = factory(lanes=lanes, seed=3 if lanes else (3, first))
    served = range(lanes) if lanes else range(first, first + 1)
    if not hasattr(policy, "add_models"):
        raise SkipTest("its models do not come and go")
    trace: list[Any] = []
    game = Game(policy, served)
    trace += play(policy, game, 10)
    for change in (_add, lambda some: some.retire_models(0)):
        maps = game.features()
        waiting = policy.act(game.shown(maps))
        reward = game.reward(maps, waiting.action)
        before = policy.model_weights.shape[-1]
        change(policy)
        weights = policy.model_weights
        after = before + (1 if change is _add else -1)
        right = weights.shape[-1] == after and np.allclose(weights.sum(axis=-1), 1.0, rtol=1e-12)
        assert right, f"weights of {after} models are {weights}"
        again = _saved(policy)
        assert repr(again) == repr(policy), "the settings changed"
        assert snapshot(again) == snapshot(policy), "the state changed"
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
    told: dict[str, Any] = {name: np.take(np.asarray(settings[name]), [0], axis=axis) for name, axis in like.items()}
    if "centers" in told:
        told["centers"] = 0.5 * told["centers"]
    else:
        told["dim"] = 3
    try:
        policy.add_models(**told)
    except ValueError as error:
        raise SkipTest(f"no model can be added: {error}") from error


def _saved(policy: Policy) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        policy.save(Path(folder) / "policy.bsel")
        return load(Path(folder) / "policy.bsel")


def _learned(policy: Policy, lanes: slice) -> dict[str, bytes]:
    """Return what these lanes have learned, to the last bit, but for the book of acts."""
    return {name: content for name, content in snapshot(policy, lanes).items() if not name.startswith("_ledger")}
