"""Arguments declared once: signature, checks, attributes and repr follow from one line for each."""

import copy
import inspect

import numpy as np
import pytest

from banditselect.runtime.arguments import Configured, argument
from banditselect.runtime.constraints import Number, Numbers, Seeds, YesNo


class Base(Configured):
    lanes: int | None = argument(Number(low=1, integer=True, optional=True), default=None)
    seed: int = argument(Seeds(), default=0)


class Ball(Base):
    dim: int = argument(Number(low=1, integer=True))
    center: object = argument(Numbers(shapes=((None,), (None, None)), lane_axes=2), unit="reward")
    radius: float = argument(Number(low=0.0, per_lane=True), default=1.0, unit="reward")
    known: bool = argument(YesNo(), default=False)
    color = "a class attribute that is no argument"


class Colored(Ball):
    radius: float = argument(Number(low=0.0, high=2.0), default=0.5)
    color: str = argument(default="red")


def test_the_signature_has_keywords_only_in_the_order_of_the_class_and_then_of_its_ancestors():
    assert list(Ball.arguments) == ["dim", "center", "radius", "known", "lanes", "seed"]
    assert list(Colored.arguments) == ["radius", "color", "dim", "center", "known", "lanes", "seed"]
    signature = inspect.signature(Ball)
    assert {p.kind for p in signature.parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert str(signature) == (
        "(*, dim: int, center: object, radius: float = 1.0, known: bool = False, lanes: int | None = None, "
        "seed: int = 0)"
    )


def test_what_is_declared_again_is_declared_anew():
    Ball(dim=1, center=[0.0], radius=3.0)
    with pytest.raises(ValueError, match=r"^Colored: radius: got 3\.0, expected a finite number >= 0 and <= 2$"):
        Colored(dim=1, center=[0.0], radius=3.0)
    assert Colored(dim=1, center=[0.0]).settings == {
        "radius": 0.5, "color": "red", "dim": 1, "center": [0.0], "known": False, "lanes": None, "seed": 0
    }  # fmt: skip
    assert Ball.color.startswith("a class")
    assert not hasattr(Colored, "radius")  # a declaration is not a value
    assert (Ball.arguments["radius"].unit, Colored.arguments["radius"].unit) == ("reward", None)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"center": [0.0]}, "missing a required argument: 'dim'"),
        ({"dim": 1}, "missing a required argument: 'center'"),
        ({"dim": 1, "center": [0.0], "radios": 2.0}, "got an unexpected keyword argument 'radios'"),
    ],
)
def test_unknown_and_missing_arguments_are_type_errors_that_list_the_arguments(given, words):
    with pytest.raises(TypeError, match=f"^Ball: {words}; the arguments are dim, center, radius, known, lanes, seed$"):
        Ball(**given)
    with pytest.raises(TypeError):
        Ball(1, [0.0])


@pytest.mark.parametrize(
    ("given", "name"),
    [({"dim": 0}, "dim"), ({"radius": -1.0}, "radius"), ({"known": 1}, "known"), ({"seed": -1}, "seed")],
)
def test_a_value_that_does_not_fit_is_refused_under_the_name_of_its_argument(given, name):
    with pytest.raises(ValueError, match=f"^Ball: {name}: got ") as caught:
        Ball(**{"dim": 1, "center": [0.0]} | given)
    assert (caught.value.owner, caught.value.argument) == ("Ball", name)


def test_lanes_are_checked_before_what_depends_on_them():
    with pytest.raises(ValueError, match=r"^Ball: lanes: got 'two'"):
        Ball(dim=1, center=[0.0], radius=[1.0, 2.0], lanes="two")
    with pytest.raises(ValueError, match=r"^Ball: radius: "):
        Ball(dim=1, center=[0.0], radius=[1.0, 2.0], lanes=3)
    with pytest.raises(ValueError, match=r"(?s)^Ball: center: .* 2 axes mean one entry per lane, of which there are 3"):
        Ball(dim=1, center=np.zeros((2, 1)), lanes=3)
    assert Ball(dim=1, center=np.zeros((2, 1)), radius=[1.0, 2.0], lanes=2).radius == [1.0, 2.0]


def test_values_are_kept_as_they_were_given_and_cannot_be_changed():
    center, radius = np.array([1.0, 2.0]), [1.0, 2.0]
    ball = Ball(dim=np.int64(2), center=center, radius=radius, lanes=2)
    center[0] = radius[0] = 7.0
    np.testing.assert_array_equal(ball.center, [1.0, 2.0])
    assert ball.radius == [1.0, 2.0]
    assert type(ball.dim) is np.int64
    with pytest.raises(ValueError, match="read-only"):
        ball.center[0] = 0.0
    with pytest.raises(AttributeError, match=r"^Ball: dim is a setting and cannot be changed; build a new object$"):
        ball.dim = 3
    ball.note = "other attributes can be set"
    assert ball.settings["dim"] == 2


def test_the_repr_shows_what_differs_from_the_defaults_and_builds_an_equal_object():
    ball = Ball(center=np.array([1.0, 2.0]), dim=2, radius=1.0, seed=(1, 2))
    assert repr(ball) == "Ball(dim=2, center=[1.0, 2.0], seed=(1, 2))"
    again, twin = eval(repr(ball)), copy.copy(ball)
    assert repr(again) == repr(twin) == repr(ball)
    assert twin.center is not ball.center
    assert repr(Colored(dim=1, center=[0.0], color="red")) == "Colored(dim=1, center=[0.0])"
    assert repr(Ball(dim=1, center=[0.0], radius=np.ones(2), lanes=2)).endswith("radius=[1.0, 1.0], lanes=2)")


def test_a_binding_knows_the_arguments():
    bound = Ball.bind(dim=2, center=[0.0, 0.0])
    assert repr(bound(radius=2.0)) == "Ball(dim=2, center=[0.0, 0.0], radius=2.0)"
    with pytest.raises(ValueError, match=r"^Ball\.bind: got 'radios', expected one of dim, center"):
        Ball.bind(radios=1.0)
