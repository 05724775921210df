"""Invariants of the bounds on random models: growth, scales, the best kappa, the worst model."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from other_forms import U_simplified, gamma_simplified, regret_bound_simplified

from banditselect.theory import feature_selection as fs
from banditselect.theory import linear, oracle
from banditselect.theory import parameter_selection as ps

positive = st.floats(0.05, 20)
several = st.lists(positive, min_size=3, max_size=3)
examples = settings(max_examples=25, deadline=None, derandomize=True)
names = ("noise", "feature_bound", "reward_bound", "parameter_bound", "center_distance")
models = st.fixed_dictionaries(
    dict.fromkeys(names, positive)
    | {"dim": st.integers(1, 30), "delta": st.floats(1e-4, 0.25), "regularization": several}
    | {"radius": st.lists(st.one_of(st.just(0.0), positive), min_size=3, max_size=3)}
)
POWERS = {  # of a factor of all rewards
    **dict.fromkeys((fs.Q, fs.R_sq, fs.D, ps.U, ps.R_sq, ps.gamma), 2),
    **dict.fromkeys((fs.regret_bound, fs.union_regret_bound, ps.regret_bound, ps.likelihood_regret_bound), 1),
    linear.prediction_bound: 1,
    fs.learning_rate: -1,
}
WITH_FORMS = [function for function in POWERS if "form" in inspect.signature(function).parameters]
each = pytest.mark.parametrize("function", POWERS, ids=lambda f: f"{f.__module__.split('.')[-1]}.{f.__name__}")


def call(function, model, **changes):
    """Call an equation with those of the values that it has arguments for."""
    given = {"t": 50, "n_models": 3, "n_actions": 4} | model | changes
    return function(**{name: given[name] for name in inspect.signature(function).parameters if name in given})


def times(model, s, *names):
    return model | {name: np.multiply(s, model[name]).tolist() for name in names}


@pytest.mark.parametrize("form", ["printed", "corrected"])
@pytest.mark.parametrize("function", WITH_FORMS, ids=lambda f: f"{f.__module__.split('.')[-1]}.{f.__name__}")
@examples
@given(model=models)
def test_bounds_grow_with_rounds_and_models(function, form, model):
    sign = 1 if POWERS[function] > 0 else -1  # the exploration rate falls with the models
    one = model | {"regularization": model["regularization"][0], "radius": model["radius"][0], "form": form}
    many = [sign * call(function, one, n_models=M) for M in (1, 2, 10, 1000)]
    assert many == sorted(many)
    if sign > 0:
        values = call(function, model, t=np.array([1, 2, 5, 30, 1000]), form=form)
        assert np.all(np.diff(values, axis=0) >= 0)


@each
@examples
@given(model=models, s=st.floats(0.1, 10))
def test_corrected_forms_follow_the_scale_of_the_rewards(function, model, s):
    """Rewards times s: noise, reward bound and parameters times s."""
    scaled = times(model, s, "noise", "reward_bound", "parameter_bound", "radius", "center_distance")
    assert call(function, scaled) == pytest.approx(s ** POWERS[function] * np.array(call(function, model)), rel=1e-9)


@each
@examples
@given(model=models, s=st.floats(0.1, 10))
def test_corrected_forms_ignore_the_scale_of_the_features(function, model, s):
    """Features times s: regularisation times s^2, parameters divided by s, nothing else changes."""
    scaled = times(times(model, s, "feature_bound"), s**2, "regularization")
    scaled = times(scaled, 1 / s, "parameter_bound", "radius", "center_distance")
    assert call(function, scaled) == pytest.approx(call(function, model), rel=1e-9)


@examples
@given(model=models, kappa=st.floats(0.01, 0.99))
def test_best_kappa_is_best_and_a_known_horizon_is_narrower(model, kappa):
    for bound in (fs.D, ps.gamma):
        assert call(bound, model, kappa="best") <= call(bound, model, kappa=kappa) * (1 + 1e-12)
    assert call(oracle.clipping_width, model) <= call(oracle.clipping_width, model, horizon="anytime")


@examples
@given(model=models)
def test_the_worst_model_counts(model):
    ones = [
        model | {"regularization": a, "radius": b}
        for a, b in zip(model["regularization"], model["radius"], strict=True)
    ]
    for bound in (fs.Q, ps.U):
        assert call(bound, model) == pytest.approx(max(call(bound, one) for one in ones), rel=1e-13)
    per_model = [call(linear.prediction_bound, one) for one in ones]
    assert call(linear.prediction_bound, model) == pytest.approx(per_model, rel=1e-13)


@examples
@given(model=models)
def test_eq_Ut_simplified_gamma_simplified_and_PS_OFUL_regret_simplified_are_below_the_printed_ones(model):
    model = {name: value for name, value in model.items() if name != "regularization"} | {"form": "printed"}
    for simple, bound in ((U_simplified, ps.U), (gamma_simplified, ps.gamma)):
        assert call(simple, model) <= call(bound, model)
    own = ("dim", "noise", "feature_bound", "reward_bound", "radius", "delta")
    simple = regret_bound_simplified(t=50, n_models=3, **{name: model[name] for name in own})
    assert simple <= call(ps.regret_bound, model)
