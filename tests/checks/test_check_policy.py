"""check_policy: every check finds what it looks for, in policies that are right but for one flaw."""

import contextlib

import numpy as np
import pytest

from banditselect import FSOFUL, OFUL, FSSquareCB, SquareCB, Uniform
from banditselect.authoring import register
from banditselect.checks import CHECKS, check_policy, run_check
from banditselect.runtime.arguments import argument

D = 4
LIVE, RAND = np.random.default_rng(), np.random.rand


def flawed(base=OFUL, **changes):
    """Return a factory of policies with these public methods replaced."""
    cls = type("Flawed", (base,), changes)
    if base in (FSOFUL, FSSquareCB):
        return cls.bind(n_models=3, dim=D, noise=0.1)
    return cls.bind(dim=D, noise=0.1, regularization=0.3)


@register
class FlawedTolerant(Uniform):
    extra: int = argument(default=1)


@register
class FlawedName(OFUL):
    def __repr__(self):
        return f"FlawedName(dim={self.dim})"


@register
class FlawedMemory(OFUL):
    """Remembers something that is not saved."""

    seen = 0

    def update(self, decision, reward):
        self.seen += 1
        super().update(decision, np.multiply(reward, self.seen))


class FlawedPenalty(OFUL):
    """Begins with lambda I where the inverse of that belongs."""

    def build(self, lanes):
        given = self.regularization
        vars(self)["regularization"] = 1.0 / given
        built = super().build(lanes)
        vars(self)["regularization"] = given
        return built


def by_position(self, features, **rest):
    p = SquareCB.probabilities(self, features, **rest)
    p = p * np.arange(1.0, p.shape[-1] + 1)
    return p / p.sum(axis=-1, keepdims=True)


def by_position_of_items(self, features, **rest):
    return (SquareCB.probabilities if isinstance(features, np.ndarray) else by_position)(self, features, **rest)


def half_in_lanes(self, features, **rest):
    decision = SquareCB.act(self, features, **rest)
    return decision if self.lanes is None else decision._replace(probability=decision.probability / 2.0)


def act_and_learn(self, features, **rest):
    decision = OFUL.act(self, features, **rest)
    self.learn(decision.features, 0.0)
    return decision


def act_and_overwrite(self, features, **rest):
    decision = OFUL.act(self, features, **rest)
    features[...] = 0.0
    return decision


def act_and_keep(self, features, **rest):
    self.kept = features
    return OFUL.act(self, features, **rest)


def only_the_first_item(self, features, **rest):
    first = np.arange(6) == 0
    return OFUL.act(self, features, **({} if isinstance(features, np.ndarray) else {"available": first}))


def leaky(self, features, reward):
    """Adds the ridge penalty anew in every round."""
    OFUL.learn(self, features, reward)
    for e in np.eye(D):
        OFUL.learn(self, 0.1 * e, 0.0)


def forgiving(self, decision, reward):
    with contextlib.suppress(ValueError):
        OFUL.update(self, decision, reward)


def learns_before_it_refuses(self, decision, reward):
    self.learn(np.ones((2, D)), np.ones(2))
    OFUL.update(self, decision, reward)


def alternating(self, decision, reward):
    OFUL.update(self, decision, reward * (1 + self.rounds % 2))


FLAWS = [
    ("check_interface", "Flawed is not registered", flawed()),
    ("check_interface", "argument extra=.* not refused", FlawedTolerant.bind()),
    ("check_repr", "repr builds a OFUL", flawed(__repr__=lambda self: "OFUL(dim=4)")),
    ("check_repr", "repr builds noise=", FlawedName.bind(dim=D, noise=0.1)),
    ("check_actions", "not available", flawed(act=lambda self, x, **rest: OFUL.act(self, x))),
    ("check_actions", "a propensity without", flawed(act=lambda *a, **k: OFUL.act(*a, **k)._replace(probability=None))),
    ("check_probabilities", "sum to 0.5", flawed(probabilities=lambda *a, **k: 0.5 * OFUL.probabilities(*a, **k))),
    ("check_probabilities", "of shape", flawed(probabilities=lambda *a, **k: OFUL.probabilities(*a, **k)[:-1])),
    (
        "check_probabilities",
        "the propensity is not",
        flawed(SquareCB, act=lambda *a, **k: SquareCB.act(*a, **k)._replace(probability=0.01)),
    ),
    (
        "check_frequencies",
        "frequencies",
        flawed(SquareCB, act=lambda self, x: SquareCB.act(self, x, available=np.arange(6) < 3)),
    ),
    ("check_ties", "copies of an action", flawed(SquareCB, probabilities=by_position)),
    ("check_act_learns_nothing", "act changed", flawed(act=act_and_learn)),
    ("check_inputs_are_copied", "act changed the features", flawed(act=act_and_overwrite)),
    (
        "check_inputs_are_copied",
        "kept a reference",
        flawed(act=act_and_keep, update=lambda self, d, y: OFUL.update(self, d, y + np.nansum(self.kept))),
    ),
    ("check_catalogue", "^check_catalogue: items", flawed(act=only_the_first_item)),
    ("check_catalogue", "for items", flawed(SquareCB, probabilities=by_position_of_items)),
    ("check_persistence", "the loaded policy", FlawedMemory.bind(dim=D)),
    ("check_determinism", "two runs", flawed(update=lambda self, d, y: OFUL.update(self, d, LIVE.normal()))),
    (
        "check_determinism",
        "global random generator",
        flawed(update=lambda self, d, y: OFUL.update(self, d, y + 0.0 * RAND())),
    ),
    ("check_lanes", "lane", flawed(update=lambda self, d, y: OFUL.update(self, d, np.full_like(y, np.mean(y))))),
    ("check_lanes", "of lane 0 differ", flawed(SquareCB, act=half_in_lanes)),
    ("check_permuted_actions", "do not follow", flawed(SquareCB, probabilities=by_position)),
    ("check_permuted_models", "do not follow", flawed(FSOFUL, model_weights=np.array([0.5, 0.3, 0.2]))),
    ("check_rescaling", "another action after rescaling: do all .* have unit=", flawed(noise=argument(default=0.5))),
    ("check_units", "after a change of units", flawed(unit_free=True)),
    ("check_batch", "predictions off", flawed(learn=lambda self, x, y: OFUL.learn(self, x, min(y, 1.0)))),
    ("check_batch", "predictions off", flawed(learn=leaky)),
    (
        "check_batch",
        "predictions off",
        flawed(FSSquareCB, learn=lambda self, x, y: FSSquareCB.learn(self, [x[0]] * 3, y)),
    ),
    ("check_regularization", "regularization 0.3 of model 0", FlawedPenalty.bind(dim=D, regularization=0.3)),
    ("check_learning", "regret", flawed(update=lambda self, d, y: OFUL.update(self, d, -y))),
    (
        "check_late_rewards",
        "a decision twice",
        flawed(update_many=lambda self, ds, ys: [self.update(d, y) for d, y in zip(ds, ys, strict=True)]),
    ),
    ("check_late_rewards", "a second reward: not refused", flawed(update=forgiving)),
    ("check_late_rewards", "rounds is 0", flawed(rounds=0)),
    (
        "check_order_of_rewards",
        "batched",
        flawed(update_many=lambda self, ds, ys: OFUL.update_many(self, ds, [2.0 * y for y in ys])),
    ),
    ("check_order_of_rewards", "out-of-order", flawed(update=alternating)),
    ("check_models", "weights of 4 models are", flawed(FSOFUL, model_weights=np.array([0.5, 0.3, 0.2]))),
    ("check_refusals", "bad reward: not refused", flawed(update=lambda self, d, y: OFUL.update(self, d, [0.0, 0.0]))),
    ("check_refusals", "changed the state", flawed(update=learns_before_it_refuses)),
]


@pytest.mark.parametrize(("check", "message", "factory"), FLAWS, ids=[f"{c}-{m}" for c, m, _ in FLAWS])
def test_a_flaw_is_found(check, message, factory):
    with pytest.raises(AssertionError, match=message):
        run_check(check, factory)


def test_every_check_can_fail():
    assert {check for check, _, _ in FLAWS} == set(CHECKS)


def test_without_a_flaw_every_check_passes_or_says_why_not():
    units = {"check_units": "it does not claim to be free of units"}
    stays = {"check_models": "its models do not come and go"}
    one_map = {"check_permuted_models": "it has no model_weights", **units, **stays}
    assert check_policy(OFUL.bind(dim=D, noise=0.1, regularization=0.3)) == one_map
    assert check_policy(OFUL.bind(dim=D, noise=0.1, intercept=True)) == {
        **one_map,
        "check_batch": "its estimates stand beside a constant term",
        "check_regularization": "its estimates stand beside a constant term",
    }
    untold = {**units, "check_regularization": "it has no number as its regularization"}
    for cls in (FSOFUL, FSSquareCB):
        assert check_policy(cls.bind(n_models=3, dim=D, noise=0.1)) == untold
    single = {"check_permuted_models": "it has a single model: there is nothing to permute", **untold}
    assert check_policy(FSOFUL.bind(n_models=1, dim=D, noise=0.1)) == single
    maps = {"n_models": 3, "dim": [4, 2, 5], "regularization": [0.3, 1.0, 2.0]}
    assert check_policy(FSOFUL.bind(**maps, noise=0.1)) == units
