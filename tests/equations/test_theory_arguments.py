"""Every equation: arrays follow t, arguments are keyword-only words, and errors name the argument."""

import inspect
import math

import numpy as np
import pytest

from banditselect import theory
from banditselect.theory import feature_selection as fs
from banditselect.theory import likelihood, linear, oracle
from banditselect.theory import parameter_selection as ps

VALUES = {
    "t": 20,
    "horizon": 50,
    "dim": 4,
    "n_models": 3,
    "n_actions": 5,
    "noise": 0.3,
    "feature_bound": 2.0,
    "reward_bound": 1.5,
    "parameter_bound": 1.2,
    "regularization": [1.0, 2.0, 4.0],
    "radius": [0.5, 1.0, 2.0],
    "delta": 0.02,
    "center_distance": 2.0,
    "prediction_loss": 3.0,
    "ridge_loss": [2.0, 2.5, 3.0],
    "width": 3.0,
    "v": 2.0,
    "sq_regret": 4.0,
    "expert_error": 5.0,
    "realized": 3.0,
    "upper": 1.0,
    "cap": 1.0,
    "slope": 2.0,
}
EQUATIONS = {
    f"{function.__module__.rsplit('.', 1)[1]}.{name}": function
    for module in (fs, ps, linear, oracle, likelihood)
    for name, function in vars(module).items()
    if hasattr(function, "__wrapped__")
}


def has(name, argument):
    return argument in inspect.signature(EQUATIONS[name]).parameters


ROUNDS = [
    (name, form)
    for name in EQUATIONS
    if has(name, "t")
    for form in (("printed", "corrected") if has(name, "form") else (None,))
]
PER_MODEL = {"prediction_bound", "squared_radius"}


def call(function, **changes):
    parameters = inspect.signature(function).parameters
    arguments = {
        name: VALUES[name] for name, p in parameters.items() if name in VALUES and p.default is inspect.Parameter.empty
    }
    if "parameter_bound" in parameters:
        arguments["parameter_bound"] = VALUES["parameter_bound"]
    return function(**{**arguments, **changes})


@pytest.mark.parametrize("name", EQUATIONS)
def test_arguments_are_keyword_only_and_results_plain(name):
    function = EQUATIONS[name]
    for wrong in ({"unknown": 1}, {}):
        with pytest.raises(TypeError, match=r"unexpected keyword|missing a required"):
            function(**wrong)
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in inspect.signature(function).parameters.values())
    result = call(function)
    assert type(result) is (np.ndarray if name.split(".")[1] in PER_MODEL else float)
    assert np.all(np.isfinite(result))


@pytest.mark.parametrize(("name", "form"), ROUNDS)
def test_results_follow_the_shape_of_t(name, form):
    function, chosen = EQUATIONS[name], {"form": form} if form else {}
    rounds = np.array([[1, 2, 3], [10, 100, 1000]])
    many = call(function, t=rounds, **chosen)
    one = [call(function, t=t, **chosen) for t in rounds.ravel().tolist()]
    assert many.shape[:2] == (2, 3)
    np.testing.assert_allclose(many, np.array(one).reshape(many.shape), rtol=1e-13)


def test_one_horizon_covers_all_rounds():
    t = np.arange(1, 51)
    for bound, extra in ((fs.D, {}), (ps.gamma, {}), (fs.R_sq, {}), (ps.R_sq, {})):
        held = call(bound, t=t, horizon=50, **extra)
        assert np.all(held >= call(bound, t=t, **extra))
        assert held[-1] == call(bound, t=50, **extra)
        assert np.all(call(bound, t=t, horizon="anytime", **extra) >= call(bound, t=t, **extra))
    with pytest.raises(ValueError, match="horizon must be >= t; got horizon=5 with t=6"):
        call(fs.D, t=6, horizon=5)


BAD = {
    "t": (-1, "t must be finite numbers >= 0.*; got -1"),
    "horizon": (0, "horizon must be finite numbers >= 1"),
    "dim": (0, "dim must be numbers >= 1; got 0"),
    "n_models": (0, "n_models must be a number >= 1.*; got 0"),
    "n_actions": (0, "n_actions must be a number >= 1; got 0"),
    "noise": (-0.5, "noise must be a finite number >= 0; got -0.5"),
    "feature_bound": (0.0, "feature_bound must be a finite number > 0; got 0.0"),
    "reward_bound": (math.inf, "reward_bound must be a finite number >= 0; got inf"),
    "parameter_bound": (-1, "parameter_bound must be a finite number >= 0"),
    "regularization": ([1, 0, 1], r"regularization must be numbers > 0, scalar or \(M,\).*; got \[1, 0, 1\]"),
    "radius": ([1, -1, 1], r"radius must be finite numbers >= 0, scalar or \(M,\); got \[1, -1, 1\]"),
    "delta": (1.0, r"delta must be a number in \(0, 1\); got 1.0"),
    "kappa": (0.0, r"kappa must be a number in \(0, 1\).*; got 0.0"),
    "prior": (0.0, r"prior must be a number in \(0, 1\] or None; got 0.0"),
    "form": ("exact", "form must be 'printed' or .*'corrected'; got 'exact'"),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_a_bad_argument_is_named(name):
    for argument, (value, message) in BAD.items():
        if has(name, argument):
            with pytest.raises(ValueError, match=message):
                call(EQUATIONS[name], **{argument: value})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"delta": 0.0}, r"delta must be a number in \(0, 1\); got 0.0"),
        ({"delta": "0.1"}, r"delta must be a number in \(0, 1\); got '0.1'"),
        ({"delta": math.nan}, r"delta must be a number in \(0, 1\); got nan"),
        ({"noise": [0.1, 0.2]}, r"noise must be a finite number >= 0; got \[0.1, 0.2\]"),
        ({"noise": {}}, "noise must be a finite number >= 0; got {}"),
        ({"t": None}, "t must be finite numbers >= 0; got None"),
        ({"horizon": "never"}, "horizon must be finite numbers >= 1 or 'anytime' or None; got 'never'"),
        ({"kappa": "worst"}, r"kappa must be a number in \(0, 1\) or 'best'; got 'worst'"),
        ({"form": 1}, "form must be 'printed' or 'corrected'; got 1"),
        ({"n_models": 4}, r"regularization and radius must be scalars or of shape \(4,\); got \(3,\)"),
        ({"regularization": [1.0, 2.0]}, r"dim, regularization and radius must be scalars or of one shape \(M,\)"),
        ({"radius": [[1.0]], "regularization": 1.0}, r"scalars or of shape \(3,\); got \(1, 1\)"),
    ],
)
def test_what_is_wrong_is_said(changes, message):
    with pytest.raises(ValueError, match=message):
        call(ps.gamma, **{"regularization": VALUES["regularization"], **changes})


def test_best_kappa_only_where_a_horizon_fixes_it():
    with pytest.raises(ValueError, match=r"kappa must be a number in \(0, 1\); got 'best'"):
        call(ps.U, kappa="best")
    with pytest.raises(ValueError, match="got 'anytime'"):
        call(fs.regret_bound, t="anytime")


def test_every_function_has_an_example_and_an_equation():
    for name, function in EQUATIONS.items():
        assert ".. math::" in function.__doc__, name
        assert "Examples" in function.__doc__, name
        assert ">>> " in function.__doc__, name


def test_the_number_of_models_may_be_given_to_the_errors_too():
    for bound, name in ((fs.Q, "regularization"), (ps.U, "radius")):
        assert call(bound, n_models=3, **{name: [1.0, 2.0, 3.0]}) == call(bound, **{name: [1.0, 2.0, 3.0]})
        with pytest.raises(ValueError, match=r"shape \(2,\)"):
            call(bound, n_models=2, **{name: [1.0, 2.0, 3.0]})


def test_what_was_checked_once_is_not_checked_again():
    """A trusted equation returns what it always does; wrong arguments are refused again as soon as it has returned."""
    trusted = theory.trusted(ps.gamma)
    arguments = {k: v for k, v in VALUES.items() if k in inspect.signature(ps.gamma).parameters} | {"form": "printed"}
    np.testing.assert_array_equal(trusted(**arguments), ps.gamma(**arguments))
    assert theory.trusted(oracle.sqalg_regret)(width=-1.0, n_models=math.e) == 0.5
    with pytest.raises(TypeError, match="n_models"):
        theory.trusted(oracle.sqalg_regret)(width=-1.0)
    with pytest.raises(ValueError, match="width must be"):
        oracle.sqalg_regret(width=-1.0, n_models=3)
