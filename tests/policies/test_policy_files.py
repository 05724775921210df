"""Policies in files, and copies of them, beyond the common checks."""

import numpy as np
import pytest

from banditselect import OFUL, PSOFUL, RegretBalancing, SquareCB, Uniform, load
from banditselect.authoring import Policy, register
from banditselect.models.model import Model
from banditselect.plays.play import Play
from banditselect.runtime import files
from banditselect.runtime.shapes import AnyShape

X = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])


def balancing(lanes=None):
    return RegretBalancing(bases=[SquareCB(dim=2), OFUL(dim=2)], lanes=lanes)


def test_a_policy_that_is_not_registered_cannot_be_saved(tmp_path):
    class Mine(Uniform):
        pass

    with pytest.raises(ValueError, match=r"'Mine' is not registered: decorate it with banditselect\.authoring"):
        Mine().save(tmp_path / "mine.bsel")
    with pytest.raises(ValueError, match="'Mine' is not registered"):
        RegretBalancing(bases=[Uniform(), Mine()]).save(tmp_path / "mine.bsel")
    assert list(tmp_path.iterdir()) == []


def test_a_registered_policy_can_be_saved_and_a_file_of_an_unknown_one_is_refused(tmp_path, registry):

    @register
    class Mine(Uniform):
        pass

    assert register(Mine) is Mine
    path = tmp_path / "mine.bsel"
    Mine(seed=3).save(path)
    assert isinstance(load(path), Mine)
    with pytest.raises(ValueError, match="'Mine' is already registered"):
        register(type("Mine", (Uniform,), {}))
    old = Mine()
    again = register(type("Mine", (Uniform,), {"__module__": __name__, "__qualname__": Mine.__qualname__}))
    assert isinstance(load(tmp_path / "mine.bsel"), again)  # the cell of a notebook was run again
    with pytest.raises(ValueError, match="this object is of an earlier version of the class, make it anew"):
        old.save(tmp_path / "old.bsel")
    register(Mine)
    del registry["Mine"]
    with pytest.raises(ValueError, match=r"mine\.bsel: class 'Mine' is not known here: first import the module"):
        load(path)


def test_a_policy_of_ones_own_needs_a_model_and_a_play(tmp_path, registry):
    with pytest.raises(TypeError, match="Policy has no build: write one that returns a model and a play"):
        Policy()

    class LastAction(Play):
        asks = ()

        def probabilities(self, model, ids, x, offered, normals=None):
            p = np.zeros((ids.size, x.values.shape[2]))
            p[:, -1] = 1.0
            return p

    @register
    class Last(Policy):
        def build(self, lanes):
            return Model(AnyShape()), LastAction()

    policy = Last(lanes=2, seed=3)
    decision = policy.act(np.ones((2, 4, 1)))
    policy.save(tmp_path / "last.bsel")
    again = load(tmp_path / "last.bsel")
    again.update(decision, [1.0, 2.0])
    again.add_lanes(1)
    assert decision.action.tolist() == [3, 3]
    assert again.rounds.tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    "settings", [{}, {"policy": None}, {"policy": {"list": []}}, {"policy": {"Uniform": {"x": 1}}}]
)
def test_a_whole_file_that_holds_no_policy_raises_value_error(tmp_path, settings):
    files.write(tmp_path / "a.bsel", settings, {})
    with pytest.raises(ValueError, match=r"a\.bsel"):
        load(tmp_path / "a.bsel")


def edited(path, change):
    """Write a file again, with a correct checksum, after ``change`` was made to its settings and arrays."""
    settings, arrays = files.read(path)
    change(settings, arrays)
    files.write(path, settings, arrays)


def a_row(column, value):
    def change(settings, arrays):
        arrays["state/_ledger/book"][0, column] = value

    return change


def state(name, array):
    def change(settings, arrays):
        key = next(key for key in arrays if key.endswith(f"/{name}"))
        arrays[key] = array(arrays[key])

    return change


def setting(**values):
    def change(settings, arrays):
        settings["policy"]["RegretBalancing"].update(values)

    return change


def base(**values):
    def change(settings, arrays):
        settings["policy"]["RegretBalancing"]["bases"]["tuple"][0]["SquareCB"].update(values)

    return change


def nested(settings, arrays):
    for _ in range(300):
        settings["policy"] = {"list": [settings["policy"]]}


HOSTILE = {
    "as many acts as there are numbers": a_row(0, 2**63 - 1),
    "more acts waiting than the ring has bits": a_row(0, 66),
    "fewer acts than were learned": a_row(1, 3),
    "a negative floor": a_row(1, -1),
    "an act settled last that never was": a_row(3, 1),
    "a number before the first act": a_row(3, -2),
    "a negative number of rounds": a_row(2, -1),
    "a ring of width 0": state("book", lambda a: a[:, :4]),
    "a book without columns": state("book", lambda a: a[:, :0]),
    "not a number": state("theta", lambda a: a * np.nan),
    "infinite": state("root", lambda a: a + np.inf),
    "fewer than no updates": state("updates", lambda a: a - 5),
    "fewer than no plays": state("plays", lambda a: a - 5),
    "another dtype": state("theta", lambda a: a.astype(np.int64)),
    "more axes": state("theta", lambda a: a[None]),
    "no axes": state("book", lambda a: a[0, 0]),
    "lanes that have no state": setting(lanes=10**9),
    "lanes of a base that have no state": base(lanes=10**9),
    "a width that nothing was learned of": base(dim=10**9),
    "widths that are no number": base(dim={"list": [2, "x"]}),
    "a seed that is a word": setting(seed="x"),
    "bases that are none": setting(bases=7),
    "bases that are empty": setting(bases={"tuple": []}),
    "a base of arguments without names": setting(bases={"tuple": [{"SquareCB": [1, 2]}]}),
    "an array that is not there": base(exploration={"array": "nowhere"}),
    "an array without a name": base(exploration={"array": []}),
    "a class and nothing else": setting(bases={}),
    "a number too large for any float": base(noise=10**400),
    "a schedule that is an array": base(exploration={"Power": {"scale": {"list": [1]}, "exponent": 0.5}}),
    "lists in lists without end": nested,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_no_policy_has_written_raises_value_error(name, tmp_path):
    path = tmp_path / "policy.bsel"
    policy = balancing()
    policy.update(policy.act(X), 0.5)
    policy.save(path)
    edited(path, lambda settings, arrays: None)
    load(path).act(X)
    edited(path, HOSTILE[name])
    with pytest.raises(ValueError, match=r"policy\.bsel: "):
        load(path)


def test_a_root_with_fewer_matrices_than_models_need_is_refused(tmp_path):
    policy = PSOFUL(centers=X, radii=[0.1, 1.0, 10.0])
    policy.save(tmp_path / "policy.bsel")
    edited(tmp_path / "policy.bsel", state("root", lambda a: a[:, :1]))
    with pytest.raises(ValueError, match="array 'root': found"):
        load(tmp_path / "policy.bsel")


def test_a_policy_that_holds_no_numbers_is_not_saved_over_one_that_does(tmp_path):
    policy = balancing()
    policy.save(tmp_path / "policy.bsel")
    policy.model.tally.earned[:] = np.nan
    with pytest.raises(ValueError, match="array 'earned': not finite"):
        policy.save(tmp_path / "policy.bsel")
    load(tmp_path / "policy.bsel").act(X)


def test_a_part_of_ones_own_may_hold_what_is_not_finite(tmp_path, registry):

    class Best(Model):
        state = ("most", "offset")
        unbounded = ("most",)

        def __init__(self, lanes):
            super().__init__(AnyShape())
            self.most, self.offset = np.full(lanes, -np.inf), np.full(lanes, -1)

    @register
    class Mine(Uniform):
        def build(self, lanes):
            return Best(lanes), super().build(lanes)[1]

    Mine().save(tmp_path / "mine.bsel")
    assert load(tmp_path / "mine.bsel").model.most == -np.inf


def test_a_callable_inside_a_base_is_named(tmp_path):
    policy = RegretBalancing(bases=[Uniform(), SquareCB(dim=2, exploration=np.sqrt)])
    with pytest.raises(ValueError, match=r"exploration=sqrt cannot be stored; a Power\(scale, exponent\) can"):
        policy.save(tmp_path / "policy.bsel")
