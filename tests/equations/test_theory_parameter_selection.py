"""Constants of PS-OFUL: every label against numbers worked out by hand, known parameters, and the invariants."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from other_forms import U_simplified, gamma_simplified, prediction_range, regret_bound_simplified

from banditselect.theory import parameter_selection as ps

RIDGE_1 = {"dim": 10, "noise": 0.5, "feature_bound": 1, "radius": [0.5, 0.6, 0.7, 0.8, 1], "delta": 0.05}
RIDGE_2 = {"dim": 7, "noise": 0.3, "feature_bound": 2, "radius": [0.5, 1, 2], "delta": 0.01}
E1 = {"n_models": 5, "reward_bound": 1, **RIDGE_1}
E2 = {"n_models": 3, "reward_bound": 1.5, **RIDGE_2}
T1, T2 = 1000, 500

# A second example small enough to write out: t=6, d=2, M=2, R=.5, L=2, G=1, radii (.5, 3), delta=.1.
SMALL = {"dim": 2, "noise": 0.5, "feature_bound": 2, "radius": [0.5, 3.0], "delta": 0.1}
LD = 2 * math.log(1 + 6 * 4 * 9 / 2)  # of the wider ball


def without(arguments, *names):
    return {name: value for name, value in arguments.items() if name not in names}


# --- U --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lams", [(4.0, 1 / 9), (4.0,), (0.7,)])
def test_eq_Ut_Def_Def0_and_Def1_printed(lams):
    """The balls of SMALL at 1 / r^2, one of them, and the wider one at another regularisation."""
    radii, own = ([3.0], {"regularization": lams}) if lams == (0.7,) else ([0.5, 3.0][: len(lams)], {})
    m = max(lam * r**2 + 4 * 2 * math.log(1 + 6 * 4 / (2 * lam)) for lam, r in zip(lams, radii, strict=True))
    by_hand = 1 + 2 * m + 32 * 0.25 * math.log((2 * math.sqrt(2) * 0.5 + math.sqrt(1 + m)) / 0.1)
    printed = ps.U(t=6, **{**SMALL, "radius": radii}, **own, form="printed")
    assert printed == pytest.approx(by_hand, rel=1e-14)


def test_eq_Ut_corrected():
    by_hand = max(
        (1 + 0.5 * 4 * r**2) / 0.5 * (1 + 0.25 * 2 * math.log(1 + 6 * 4 * r**2 / 2) + math.log(10)) for r in (0.5, 3.0)
    )
    assert ps.U(t=6, **SMALL) == pytest.approx(by_hand, rel=1e-13)


def test_eq_temppp2_printed_is_violated_and_corrected_holds():
    """d=1, feature 1, a centre 10 away, no noise, 50 rounds: the error is known exactly."""
    lam, r = 0.01, 10.0
    error = sum((r * lam / (s + lam)) ** 2 for s in range(50))
    assert error == pytest.approx(100.016, abs=1e-3)
    ball = {"dim": 1, "noise": 0, "feature_bound": 1, "radius": r, "delta": 0.05}
    assert ps.U(t=50, **ball, form="printed") == pytest.approx(3 + 8 * math.log(1 + 50 * 100), rel=1e-14)
    assert 71.1 < ps.U(t=50, **ball, form="printed") < error
    assert error <= ps.U(t=50, **ball) == pytest.approx(102)


def test_eq_Ut_simplified():
    value = U_simplified(t=6, **SMALL)
    by_hand = 3 + 16 * 0.25 * math.log(2) + 32 * 0.25 * math.log(10) + 8 * LD
    assert value == pytest.approx(by_hand, rel=1e-14)
    assert value < ps.U(t=6, **SMALL, form="printed")


# --- range ----------------------------------------------------------------------------------------


def test_eq_ps_oful_admissible_expert_printed():
    by_hand = [1 + 2 + 0.5 * 2 * math.sqrt(2 * math.log((1 + 6 * 4 * r**2 / 2) / 0.1)) for r in (0.5, 3.0)]
    assert ps.prediction_bound(t=6, reward_bound=1, **SMALL, form="printed") == pytest.approx(by_hand, rel=1e-13)


def test_eq_temp04_any_regularization():
    by_hand = [
        1 + 0.5 * 2 * math.sqrt(2 * math.log((1 + 6 * 4 / (0.7 * 2)) / 0.1)) + 2 * math.sqrt(0.7) * r
        for r in (0.5, 3.0)
    ]
    bound = ps.prediction_bound(t=6, reward_bound=1, **SMALL, regularization=0.7, form="printed")
    assert bound == pytest.approx(by_hand, rel=1e-14)


def test_eq_temp00_corrected():
    by_hand = [
        1 + 2 * r * math.sqrt(0.25 * 2 * math.log(1 + 6 * 4 * r**2 / 2) + 0.5 * math.log(10) + 1) for r in (0.5, 3.0)
    ]
    assert ps.prediction_bound(t=6, reward_bound=1, **SMALL) == pytest.approx(by_hand, rel=1e-14)


def test_eq_temp05_shapes():
    assert ps.prediction_bound(t=[1, 2, 3], reward_bound=1, **SMALL).shape == (3, 2)
    assert ps.prediction_bound(t=[1, 2, 3], reward_bound=1, **{**SMALL, "radius": 1.0}).shape == (3,)


def test_eq_temp06_printed():
    beta, width = prediction_range(t=6, reward_bound=1, **SMALL, form="printed")
    assert width == pytest.approx(2 * (1 + 2 + 0.5 * 2 * math.sqrt(2 * math.log((1 + 6 * 4 * 9 / 2) / 0.1))), rel=1e-13)
    assert beta == -width / 2


def test_eq_temp07_printed():
    by_hand = 8 * math.log(2) * ((1 + 2) ** 2 + 0.25 * 4 * 2 * math.log((1 + 6 * 4 * 9 / 2) / 0.1))
    assert ps.R_sq(t=6, n_models=2, reward_bound=1, **SMALL, form="printed") == pytest.approx(by_hand, rel=1e-13)
    spread = 0.25 * 4 * 2 * math.log((1 + 6 * 4 / (0.7 * 2)) / 0.1)
    by_hand = 8 * math.log(2) * ((1 + 2 * math.sqrt(0.7) * 3) ** 2 + spread)
    other = ps.R_sq(t=6, n_models=2, reward_bound=1, **SMALL, regularization=0.7, form="printed")
    assert other == pytest.approx(by_hand, rel=1e-13)


def test_eq_Rsq_simplified_is_the_printed_bound_written_out():
    G, L, R, d, M, delta = 1, 1, 0.5, 10, 5, 0.05
    C_2 = 8 * (G + L) ** 2 * math.log(M)
    spread = 8 * R**2 * L**2 * d * math.log(M) * (math.log(1 / delta) + math.log(1 + 1000 / 10))
    assert ps.R_sq(t=T1, **E1, form="printed") == pytest.approx(C_2 + spread, rel=1e-14)


# --- gamma ----------------------------------------------------------------------------------------


def test_eq_final_conf_set0_from_its_parts():
    R, delta, M = 0.5, 0.1, 2
    U = 3 + 8 * LD + 32 * R**2 * math.log((2 * math.sqrt(2) * R + math.sqrt(2 + 4 * LD)) / delta)
    R_sq = 8 * math.log(M) * ((1 + 2) ** 2 + R**2 * 4 * 2 * math.log((1 + 6 * 4 * 9 / 2) / delta))
    root = R * math.sqrt(2 * (1 + U) * math.log(math.sqrt(1 + U) / delta))
    by_hand = 1 + 2 * R_sq + 2 * U + 4 * root
    by_hand += 32 * R**2 * math.log((R * math.sqrt(8) + math.sqrt(1 + R_sq + U + 2 * root)) / delta)
    assert ps.gamma(t=6, n_models=2, reward_bound=1, **SMALL, form="printed") == pytest.approx(by_hand, rel=1e-13)


def test_eq_PS_OFUL_ConfidenceSet_gamma_data():
    J, kappa = [2.5, 4.0], 0.25
    by_hand = (3.0 - min(2.5 - 1, 4.0 - 1) + 2 * 0.25 / kappa * math.log(20)) / 0.75
    data = {"noise": 0.5, "radius": [1, 0.5], "delta": 0.05, "kappa": kappa}
    assert ps.gamma_data(prediction_loss=3.0, ridge_loss=J, **data) == pytest.approx(by_hand, rel=1e-14)
    many = ps.gamma_data(prediction_loss=[3.0, 5.0], ridge_loss=[J, J], **data)
    assert many == pytest.approx([by_hand, by_hand + 2 / 0.75], rel=1e-14)
    known = ps.gamma_data(prediction_loss=3.0, ridge_loss=J, **{**data, "radius": [0, 0]})
    assert known == pytest.approx(by_hand - 1 / 0.75, rel=1e-13)
    assert ps.gamma_data(prediction_loss=0.0, ridge_loss=[100.0, 90.0], **data) < 0  # no model is true
    assert isinstance(ps.gamma_data(prediction_loss=1.0, ridge_loss=1.0, noise=1, radius=1, delta=0.1), float)


def test_eq_gamma_simplified():
    value = gamma_simplified(t=T1, **E1)
    C_1, C_2 = 3 + 16 * 0.25 * math.log(2), 8 * 4 * math.log(5)
    by_hand = 1 + 2 * C_1 + 2 * C_2 + 16 * 0.25 * (4 + 10 * math.log(5)) * math.log(20)
    by_hand += 16 * 10 * (1 + 0.25 * math.log(5)) * math.log(101)
    assert value == pytest.approx(by_hand, rel=1e-14)
    assert value < ps.gamma(t=T1, **E1, form="printed")


# --- regret ---------------------------------------------------------------------------------------


def test_eq_relating_regert_to_condifence_set_from_gamma():
    gamma, G, d, T = 1688.08883, 1.5, 7, 500
    by_hand = 2 * G * d + 2 * max(1, G) * math.sqrt(2 * d * T * math.log(1 + T / d) * gamma)
    assert ps.regret_bound(t=T2, **E2, form="printed") == pytest.approx(by_hand, rel=1e-8)


def test_eq_lem5_corrected_is_below_its_simpler_form():
    simple_1 = 2 * math.sqrt(1000 * (141.747245 + 1.5**2 + 0.5) * 10 * math.log(101))
    simple_2 = 2 * math.sqrt(500 * (263.583266 + 9 + 1.5**2 / 2) * 7 * math.log(1 + 500 * 4 / 7))
    assert simple_1 == pytest.approx(5164.77376, rel=1e-8)
    assert simple_2 == pytest.approx(4656.48390, rel=1e-8)
    assert ps.regret_bound(t=T1, parameter_bound=1.5, **E1) < simple_1
    assert ps.regret_bound(t=T2, parameter_bound=3, set_regularization=1, **E2) < simple_2
    default = ps.regret_bound(t=T2, parameter_bound=3, **E2)
    assert default == ps.regret_bound(t=T2, parameter_bound=3, set_regularization=2**2, **E2)
    with pytest.raises(ValueError, match="parameter_bound must be a number >= 0 with form='corrected'; got None"):
        ps.regret_bound(t=T1, **E1)


def test_eq_boundnghteregrerpsofultransfer_by_brute_force():
    """Sum of 2 min(G, rho |phi|) over a design that looks for uncertainty, against the corrected bound."""
    rng = np.random.default_rng(12)
    d, T, L, G, lam_0, S = 3, 200, 2.0, 0.7, 0.5, 1.0
    model = {"dim": d, "noise": 0.1, "feature_bound": L, "reward_bound": G, "radius": 0.4, "delta": 0.1}
    rho = math.sqrt(ps.gamma(t=T, n_models=2, **model) + lam_0 * S**2)
    V, total = lam_0 * np.eye(d), 0.0
    for _ in range(T):
        phi = rng.normal(size=(20, d))
        phi *= L / np.linalg.norm(phi, axis=1, keepdims=True)
        width = np.sqrt(np.einsum("kd,de,ke->k", phi, np.linalg.inv(V), phi))
        total += 2 * min(G, rho * width.max())
        V += np.outer(phi[width.argmax()], phi[width.argmax()])
    bound = ps.regret_bound(t=T, n_models=2, parameter_bound=S, set_regularization=lam_0, **model)
    assert total <= bound


def test_eq_PS_OFUL_regret_simplified():
    value = regret_bound_simplified(t=T2, **E2)
    R, L, G, d, M, T, delta = 0.3, 2, 1.5, 7, 3, 500, 0.01
    C_3 = 7 + 32 * R**2 * math.log(2) + 16 * (G + L) ** 2 * math.log(M)
    inside = C_3 + 16 * R**2 * (4 + L**2 * d * math.log(M)) * math.log(1 / delta)
    inside += 16 * d * (1 + R**2 * L**2 * math.log(M)) * math.log(1 + T * L**2 * 4 / d)
    by_hand = 2 * G * d + 2 * math.sqrt(2) * G * math.sqrt(d * T * math.log(1 + T / d)) * math.sqrt(inside)
    assert value == pytest.approx(by_hand, rel=1e-14)
    assert value < ps.regret_bound(t=T2, **E2, form="printed")


def test_eq_regret_param_select_likelihood_by_hand():
    R, L, G, W, T, delta, lams, radii = 0.5, 2, 1.5, 4, 6, 0.1, (0.7, 2.5), (0.5, 3.0)
    lam_0 = 0.35
    ld_0 = 2 * math.log(1 + T * L**2 / (lam_0 * 2))
    N = R * math.sqrt(ld_0 + 2 * math.log(2 / delta))
    pairs = list(zip(lams, radii, strict=True))
    A = max(lam * r**2 + R**2 * 2 * math.log(1 + T * L**2 / (lam * 2)) for lam, r in pairs)
    A += max(lam * r**2 for lam, r in pairs) + 2 * lam_0 * W**2
    A += 2 * R**2 * math.log(1 / 0.3) + 2 * R**2 * math.log(2 / delta)
    u = N + math.sqrt(N**2 + A)
    play = {"t": T, "n_models": 2, "reward_bound": G, "center_distance": W, "regularization": lams, "prior": 0.3}
    bound = ps.likelihood_regret_bound(**play, **SMALL)
    assert bound == pytest.approx(math.sqrt(T * (u**2 + 2 * G**2) * ld_0), rel=1e-14)


def test_eq_regret_param_select_models_cost_an_additive_log():
    one = {**E1, "radius": 1}
    few, many = (ps.likelihood_regret_bound(t=T1, center_distance=2.5, **{**one, "n_models": M}) for M in (2, 10**6))
    assert few < many < 1.1 * few


# --- known parameters -----------------------------------------------------------------------------


def test_a_known_parameter_costs_nothing():
    known = {**SMALL, "radius": [0.0, 0.0]}
    assert ps.U(t=6, **known) == 0
    assert ps.U(t=[6, 7], **known).tolist() == [0, 0]
    assert ps.prediction_bound(t=6, reward_bound=1, **known).tolist() == [1, 1]
    one_noise = 2 * (1 + 0.5 * math.sqrt(2 * math.log(2 * 6 * 30)))
    A, b = one_noise**2 / 2 * math.log(2), 0.5 * math.log(30)
    assert ps.gamma(t=6, n_models=2, reward_bound=1, **known) == pytest.approx(2 * A + 4 * b)
    assert ps.regret_bound(t=6, n_models=2, reward_bound=1, parameter_bound=1, **known) > 0
    ld_0 = 2 * math.log(1 + 6 / 2)  # lam_0 = L^2 where no regularisation is finite
    N = 0.5 * math.sqrt(ld_0 + 2 * math.log(20))
    u = N + math.sqrt(N**2 + 0.5 * math.log(40) + 2 * 4 * 9)
    bound = ps.likelihood_regret_bound(t=6, n_models=2, reward_bound=1, center_distance=3, **known)
    assert bound == pytest.approx(math.sqrt(6 * (u**2 + 2) * ld_0))


def test_a_known_parameter_is_skipped_among_others():
    for name in ("U", "gamma", "regret_bound"):
        bound = getattr(ps, name)
        arguments = {**SMALL, "t": 6}
        if name != "U":
            arguments |= {"n_models": 2, "reward_bound": 1}
        if name == "regret_bound":
            arguments["parameter_bound"] = 1
        assert bound(**{**arguments, "radius": [0.0, 3.0]}) == bound(**{**arguments, "radius": [3.0, 3.0]})


def test_a_known_parameter_printed_is_the_limit_of_small_radii():
    limit, small = {**SMALL, "radius": 0.0}, {**SMALL, "radius": 1e-9}
    printed = 3 + 32 * 0.25 * math.log((math.sqrt(2) + math.sqrt(2)) / 0.1)
    assert ps.U(t=6, **limit, form="printed") == pytest.approx(printed)
    assert ps.U(t=6, **small, form="printed") == pytest.approx(printed)
    for bound in (ps.R_sq, ps.gamma):
        value = bound(t=6, n_models=2, reward_bound=1, **limit, form="printed")
        assert value == pytest.approx(bound(t=6, n_models=2, reward_bound=1, **small, form="printed"))
    assert ps.prediction_bound(t=6, reward_bound=1, **limit, form="printed") == pytest.approx(
        1 + 0.5 * 2 * math.sqrt(2 * math.log(10)) + 2
    )


def test_an_infinite_regularization_needs_a_known_parameter():
    assert ps.U(t=6, **{**SMALL, "radius": 0.0}, regularization=math.inf) == 0
    assert ps.U(t=6, **{**SMALL, "radius": 0.0}, regularization=2.0) > 0  # a ridge around it still fits the noise
    assert ps.U(t=6, **{**SMALL, "radius": 1e-170}) == 0
    with pytest.raises(ValueError, match="regularization may be inf only where radius is 0"):
        ps.U(t=6, **SMALL, regularization=[math.inf, 1.0])


# --- invariants -----------------------------------------------------------------------------------

positive = st.floats(0.05, 20)
examples = settings(max_examples=25, deadline=None, derandomize=True)
models = st.fixed_dictionaries(
    {
        "dim": st.integers(1, 30),
        "noise": positive,
        "feature_bound": positive,
        "reward_bound": positive,
        "radius": st.lists(st.one_of(st.just(0.0), positive), min_size=3, max_size=3),
        "delta": st.floats(1e-4, 0.25),
    }
)


@examples
@given(model=models, form=st.sampled_from(["printed", "corrected"]))
def test_bounds_grow_with_rounds_and_models(model, form):
    t = np.array([1, 2, 5, 30, 1000])
    assert np.all(np.diff(ps.U(t=t, **without(model, "reward_bound"), form=form)) >= 0)
    for bound in (ps.R_sq, ps.gamma):
        assert np.all(np.diff(bound(t=t, n_models=3, **model, form=form)) >= 0)
    one = {**model, "radius": model["radius"][0]}
    gamma = [ps.gamma(t=100, n_models=M, **one, form=form) for M in (1, 2, 10, 1000)]
    assert gamma == sorted(gamma)
    regret = [ps.regret_bound(t=T, n_models=3, parameter_bound=1, **model, form=form) for T in (1, 10, 100)]
    assert regret == sorted(regret)


@examples
@given(model=models)
def test_simplified_forms_are_below_the_printed_ones(model):
    fit = without(model, "reward_bound")
    assert U_simplified(t=40, **fit) <= ps.U(t=40, **fit, form="printed")
    assert gamma_simplified(t=40, n_models=3, **model) <= ps.gamma(t=40, n_models=3, **model, form="printed")
    simple = regret_bound_simplified(t=40, n_models=3, **model)
    assert simple <= ps.regret_bound(t=40, n_models=3, **model, form="printed")


@examples
@given(model=models, s=st.floats(0.1, 10), lam=st.lists(positive, min_size=3, max_size=3))
def test_corrected_forms_follow_the_scale_of_the_rewards(model, s, lam):
    """Rewards times s at a given regularisation: noise, reward bound and radii times s, squares times s^2."""
    scaled = {**model, "radius": [s * r for r in model["radius"]]}
    scaled |= {name: s * model[name] for name in ("noise", "reward_bound")}
    fit, fit_scaled = ({**without(m, "reward_bound"), "regularization": lam} for m in (model, scaled))
    assert ps.U(t=50, **fit_scaled) == pytest.approx(s**2 * ps.U(t=50, **fit), rel=1e-9)
    play, play_scaled = ({"n_models": 3, "regularization": lam, **m} for m in (model, scaled))
    assert ps.gamma(t=50, **play_scaled) == pytest.approx(s**2 * ps.gamma(t=50, **play), rel=1e-9)
    regret = ps.regret_bound(t=50, parameter_bound=1, **play)
    assert ps.regret_bound(t=50, parameter_bound=s, **play_scaled) == pytest.approx(s * regret, rel=1e-9)
    regret = ps.likelihood_regret_bound(t=50, center_distance=1, **play)
    scaled_regret = ps.likelihood_regret_bound(t=50, center_distance=s, **play_scaled)
    assert scaled_regret == pytest.approx(s * regret, rel=1e-9)
