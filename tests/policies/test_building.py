"""Mistakes in a policy, model or play of one's own are refused when the policy is built, with words that help."""

import numpy as np
import pytest

from banditselect import RegretBalancing, Uniform
from banditselect.authoring import Best, LaneArrays, Model, Optimism, Play, Policy, maps_of


class Sums(Model):
    state = ("theta",)

    def __init__(self, lanes):
        super().__init__(maps_of(2))
        self.theta = np.zeros((lanes, 2))

    def predict(self, ids, x):
        return (x.values[:, 0] * self.theta[ids, None]).sum(axis=-1)

    def learn(self, ids, x, y, note=None):
        self.theta[ids] += x.values[:, 0] * y[:, None]


def flawed(**changes):
    """Return a model with these attributes of its class or, as functions of the lanes, of its own."""
    made = type("Flawed", (Sums,), {name: value for name, value in changes.items() if not callable(value)})

    def begin(self, lanes):
        Sums.__init__(self, lanes)
        vars(self).update({name: value(lanes) for name, value in changes.items() if callable(value)})

    made.__init__ = begin
    return made


class Holder(LaneArrays):
    """A part of a model with an array that it does not name."""

    def __init__(self, lanes):
        self.table = np.zeros(lanes)


class Shapeless(Sums):
    def __init__(self, lanes):
        self.theta = np.zeros((lanes, 2))


ROWS = "expected an array of float64, int64, uint8, bool with a row for each of 3 lanes$"
MISTAKES = [
    (Shapeless, r"^Mine: Shapeless has no shape: call super\(\).__init__\(shape\)"),
    (flawed(one_kernel=True), r"^Mine: Flawed has one_kernel, but no updates \(N,\)"),
    (flawed(theta=lambda lanes: np.zeros(2)), rf"^Mine: _model.theta: got array\(\[0., 0.\]\), {ROWS}"),
    (flawed(theta=lambda lanes: np.zeros((lanes, 2), "f4")), rf"(?s)^Mine: _model.theta: got .*float32\), {ROWS}"),
    (flawed(theta=lambda lanes: [0.0] * lanes), rf"^Mine: _model.theta: got \[0.0, 0.0, 0.0\], {ROWS}"),
    (flawed(state=("theta", "count")), rf"^Mine: _model.count: got None, {ROWS}"),
    (flawed(fixed=("step",), step=lambda lanes: np.array(0.1)), rf"^Mine: _model.step: got array\(0.1\), {ROWS}"),
    (flawed(sums=lambda lanes: {"a": np.zeros(lanes)}), "^Mine: _model.sums is an array without a name: keep it in a"),
    (flawed(sums=lambda lanes: [np.zeros(lanes)]), "^Mine: _model.sums is an array without a name"),
    (flawed(holder=Holder), "^Mine: _model.holder.table is an array without a name"),
    (flawed(holders=lambda lanes: [Sums(lanes), Holder(lanes)]), r"^Mine: _model.holders\[1\].table is an array"),
]


@pytest.mark.parametrize(("model", "message"), MISTAKES, ids=[message[7:40] for _, message in MISTAKES])
def test_a_mistake_in_a_model_is_named(model, message):
    class Mine(Policy):
        def build(self, lanes):
            return model(lanes), Best()

    for build in (Mine, RegretBalancing.bind(bases=[Uniform(), Mine])):
        with pytest.raises(TypeError, match=message):
            build(lanes=3)


def test_an_array_of_the_policy_itself_and_a_question_that_the_model_does_not_answer_are_refused():
    class Mine(Policy):
        def build(self, lanes):
            self.table = np.zeros(lanes)
            return Sums(lanes), Best()

    class Asking(Policy):
        def build(self, lanes):
            return Sums(lanes), Optimism()

    with pytest.raises(TypeError, match=r"^Mine: table is an array of the policy itself.*`state` names it, .*`fixed`"):
        Mine()
    with pytest.raises(TypeError, match=r"^Asking: Optimism asks for upper_bounds, which Sums does not answer$"):
        Asking()


@pytest.mark.parametrize("wrong", [lambda model: model, lambda model: (Best(), model), lambda model: (model, Best)])
def test_build_returns_a_model_and_a_play(wrong):
    class Mine(Policy):
        def build(self, lanes):
            return wrong(Sums(lanes))

    with pytest.raises(
        TypeError, match=r"^Mine: build returned .*, expected a pair: a Model and a Play, both objects$"
    ):
        Mine()


def test_without_a_mistake_it_is_built():
    class Mine(Policy):
        def build(self, lanes):
            return flawed(fixed=("step",), step=np.ones, shared=("w",), w=lambda lanes: np.ones(2))(lanes), Best()

    policy = Mine(lanes=3)
    policy.add_lanes(2)
    assert policy.model.step.shape == (5,)


def test_a_play_cannot_choose_an_action_that_is_not_available():
    class Unmasked(Play):
        asks = ()

        def probabilities(self, model, ids, x, offered, normals=None):
            return np.full((ids.size, x.values.shape[2]), 1.0 / x.values.shape[2])

    class Careless(Uniform):
        def build(self, lanes):
            return super().build(lanes)[0], Unmasked()

    policy, x = Careless(), np.ones((2, 1))
    for call in (policy.act, policy.probabilities):
        with pytest.raises(
            ValueError, match=r"Careless: probabilities: got .* expected 0 for every action that is not"
        ):
            call(x, available=[True, False])
    assert policy.act(x).number == 0
