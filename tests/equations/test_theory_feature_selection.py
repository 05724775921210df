"""Constants of FS-SCB and FS-OFUL: every label against numbers worked out by hand, and the invariants."""

import math

import numpy as np
import other_forms
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditselect.theory import feature_selection as fs

RIDGE_1 = {"dim": 10, "noise": 0.5, "feature_bound": 1, "parameter_bound": 1, "regularization": 1, "delta": 0.05}
RIDGE_2 = {
    "dim": 7,
    "noise": 0.3,
    "feature_bound": 2,
    "parameter_bound": 1.2,
    "regularization": [1, 2, 4],
    "delta": 0.01,
}
E1 = {"n_models": 5, "reward_bound": 1, **RIDGE_1}
E2 = {"n_models": 3, "reward_bound": 1.5, **RIDGE_2}
T1, T2 = 1000, 500
K1, K2 = 10, 4


def without(arguments, *names):
    return {name: value for name, value in arguments.items() if name not in names}


def prediction_bound(*, parameter_bound, **given):
    return fs.prediction_bound(radius=parameter_bound, **given)


def prediction_range(*, parameter_bound, **given):
    return other_forms.prediction_range(radius=parameter_bound, **given)


# A second example small enough to write out: t=6, d=2, M=2, R=.5, L=2, G=1, S=3, lam=(1, 3), delta=.1.
SMALL = {"dim": 2, "noise": 0.5, "feature_bound": 2, "parameter_bound": 3, "regularization": [1.0, 3.0], "delta": 0.1}
LD = [2 * math.log(1 + 6 * 4 / (1 * 2)), 2 * math.log(1 + 6 * 4 / (3 * 2))]


# --- Q --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lams", [(1.0, 3.0), (3.0,)])
def test_eq_final_def_q_t_and_drving_q_t_fortrue_model_printed(lams):
    m = max(lam * 9 + 4 * 2 * math.log(1 + 6 * 4 / (lam * 2)) for lam in lams)
    by_hand = 1 + 2 * m + 32 * 0.25 * math.log((0.5 * math.sqrt(8) + math.sqrt(1 + m)) / 0.1)
    assert fs.Q(t=6, **{**SMALL, "regularization": lams}, form="printed") == pytest.approx(by_hand, rel=1e-14)


def test_eq_app_lemm_defofqtforboudn_corrected():
    kappa = 0.25
    by_hand = max(
        (1 + 0.75 * 4 / lam) / 0.75 * (lam * 9 + 0.25 * ld + 2 * 0.25 / kappa * math.log(10))
        for lam, ld in zip((1, 3), LD, strict=True)
    )
    assert fs.Q(t=6, **SMALL, kappa=kappa) == pytest.approx(by_hand, rel=1e-14)


def test_eq_defQ_printed_is_violated_by_large_features():
    """One feature of norm L, S = 10, no noise: the first prediction alone errs by L^2 S^2."""
    model = {"dim": 5, "noise": 0.5, "feature_bound": 10, "parameter_bound": 10, "regularization": 1, "delta": 0.05}
    printed, corrected = fs.Q(t=300, **model, form="printed"), fs.Q(t=300, **model)
    assert printed == pytest.approx(596, abs=0.5)
    assert corrected == pytest.approx(11610, rel=5e-4)
    assert printed < 10**2 * 10**2 <= corrected


# --- range ----------------------------------------------------------------------------------------


def test_eq_addmisable_experts_printed():
    by_hand = [
        1 + 0.5 * 2 * math.sqrt(2 * math.log((1 + 6 * 4 / (lam * 2)) / 0.1)) + 2 * math.sqrt(lam) * 3 for lam in (1, 3)
    ]
    bound = prediction_bound(t=6, reward_bound=1, **SMALL, form="printed")
    assert bound == pytest.approx(by_hand, rel=1e-14)


def test_eq_upper_bound_exp_pred_fssqcb_corrected():
    by_hand = [
        1 + 2 / math.sqrt(lam) * math.sqrt(0.25 * ld + 0.5 * math.log(10) + lam * 9)
        for lam, ld in zip((1, 3), LD, strict=True)
    ]
    assert prediction_bound(t=6, reward_bound=1, **SMALL) == pytest.approx(by_hand, rel=1e-14)


def test_eq_range_pred_exp_fssquareceb_shapes():
    t = np.arange(12).reshape(3, 4)
    assert prediction_bound(t=t, reward_bound=1, **SMALL).shape == (3, 4, 2)
    assert prediction_bound(t=t, reward_bound=1, **{**SMALL, "regularization": 1.0}).shape == (3, 4)
    assert prediction_bound(t=5, reward_bound=1, **SMALL).shape == (2,)
    assert isinstance(prediction_bound(t=5, reward_bound=1, **{**SMALL, "regularization": 1.0}), float)


def test_eq_boudningrangefor_fs_with_a_horizon():
    noise = 0.5 * math.sqrt(2 * math.log(2 * 50 / 0.05))
    assert prediction_range(t=[3, 50], **without(E1, "n_models"), horizon=50)[1] == pytest.approx([2 * (1 + noise)] * 2)


def test_eq_finalboundrsq_fs_printed():
    m = max(1 * 9 + LD[0], 3 * 9 + LD[1])
    by_hand = 8 * 0.25 * 4 * math.log(2) * (1 + m + math.log(10))
    assert fs.R_sq(t=6, n_models=2, reward_bound=1, **SMALL, form="printed") == pytest.approx(by_hand, rel=1e-14)


def test_eq_finalboundrsq_fs_printed_is_zero_without_noise():
    assert fs.R_sq(t=T1, **{**E1, "noise": 0}, form="printed") == 0
    assert fs.R_sq(t=T1, **{**E1, "noise": 0}) == pytest.approx(2**2 / 2 * math.log(5))


# --- D --------------------------------------------------------------------------------------------


def test_eq_definigitonofd_t_fs_noise_aware():
    Q = max(
        (1 + 0.5 * 4 / lam) / 0.5 * (lam * 9 + 0.25 * ld + 2 * 0.25 / 0.5 * math.log(30))
        for lam, ld in zip((1, 3), LD, strict=True)
    )
    for G, prior in ((0.1, None), (2.0, 0.9)):
        kappa = min(1 / 2, 0.25 / (4 * G**2))
        pi = prior or 1 / 2
        by_hand = (1.5 * Q + 4 * 0.25 * math.log(30) + 2 * 0.25 / kappa * math.log(30 / pi)) / (1 - kappa)
        bound = other_forms.D_noise_aware(t=6, n_models=2, reward_bound=G, prior=prior, **SMALL)
        assert bound == pytest.approx(by_hand, rel=1e-14)
        assert other_forms.noise_aware_rate(noise=0.5, reward_bound=G) == pytest.approx(kappa / (2 * 0.25))


def test_eq_definigitonofd_t_fs_noise_aware_without_noise():
    quiet = {**SMALL, "noise": 0}
    Q = max((1 + 0.5 * 4 / lam) / 0.5 * lam * 9 for lam in (1, 3))
    bound = other_forms.D_noise_aware(t=6, n_models=2, reward_bound=2, **quiet)
    assert bound == pytest.approx(1.5 * Q + 8 * 4 * math.log(3 * 2 / 0.1), rel=1e-14)


def test_noise_aware_rate_keeps_the_mixture_concave():
    """exp(-C a^2) is concave on |a| <= 2G iff 8 C G^2 <= 1, with C = kappa (1 - kappa) / 2R^2."""
    for R, G in ((0.5, 1.0), (1.0, 0.2), (0.1, 3.0)):
        kappa = 2 * R**2 * other_forms.noise_aware_rate(noise=R, reward_bound=G)
        C = kappa * (1 - kappa) / (2 * R**2)
        a = np.linspace(-2 * G, 2 * G, 2001)
        second = (4 * C**2 * a**2 - 2 * C) * np.exp(-C * a**2)
        assert kappa <= 0.5
        assert np.all(second <= 0)
    assert other_forms.noise_aware_rate(noise=0, reward_bound=0) == math.inf


# --- regret ---------------------------------------------------------------------------------------


def test_eq_regret_bound_fs_squarecb_corrected():
    """D' = 185.094018 at the first example and 196.646295 at the second."""
    assert 8 * 9 * 1000 / fs.learning_rate(t=T1, n_actions=K1, **E1) ** 2 == pytest.approx(185.094018, rel=1e-8)
    assert 8 * 3 * 500 / fs.learning_rate(t=T2, n_actions=K2, **E2) ** 2 == pytest.approx(196.646295, rel=1e-8)


def test_eq_app_eq_lemma_boundtheregertforlemma2ofrakh_rate_minimises_the_bound():
    """alpha D'/4 + 2 (K-1) T / alpha is least at the corrected rate; the printed rate is for 3 sqrt(K T D)."""
    T, K, D_prime = 1000, 10, 185.094018
    alpha = fs.learning_rate(t=T, n_actions=K, **E1)

    def cost(a):
        return a * D_prime / 4 + 2 * (K - 1) * T / a

    azuma = math.sqrt(2 * T * math.log(5 / 0.05))
    assert cost(alpha) + azuma == pytest.approx(fs.regret_bound(t=T, n_actions=K, **E1), rel=1e-8)
    assert all(cost(alpha) < cost(a) for a in (0.9 * alpha, 1.1 * alpha))


def test_eq_app_eq_lemma_boundtheregertforlemma2ofrakh_growing_schedule():
    T, K, D_prime = 1000, 10, 185.094018
    t = np.arange(1, T + 1)
    alpha = fs.learning_rate(t=t, horizon=T, n_actions=K, **E1)
    assert alpha == pytest.approx(4 * np.sqrt((K - 1) * t / D_prime), rel=1e-8)
    # alpha_T D'/4 + sum 2 (K-1) / alpha_t, since alpha grows
    cost = alpha[-1] * D_prime / 4 + np.sum(2 * (K - 1) / alpha)
    azuma = math.sqrt(2 * T * math.log(5 / 0.05))
    bound = fs.regret_bound(t=T, n_actions=K, growing=True, **E1)
    assert bound == pytest.approx(2 * math.sqrt((K - 1) * T * D_prime) + azuma, rel=1e-8)
    assert cost + azuma <= bound
    with pytest.raises(ValueError, match="horizon must be None with form='printed'"):
        fs.learning_rate(t=t, horizon=T, n_actions=K, **E1, form="printed")


def test_eq_thm_regretbound_EXP_SquareCB_degenerate_arguments():
    assert fs.regret_bound(t=T1, n_actions=1, **E1) == pytest.approx(math.sqrt(2 * T1 * math.log(100)))
    nothing = {**E1, "noise": 0, "reward_bound": 0, "parameter_bound": 0}
    assert fs.learning_rate(t=T1, n_actions=3, **nothing) == math.inf
    assert fs.regret_bound(t=T1, n_actions=3, **nothing) == 0


def test_union_regret_bound_of_equal_models():
    alike = fs.union_regret_bound(t=T1, **{**E1, "regularization": [1] * 5, "dim": [10] * 5})
    assert alike == pytest.approx(fs.union_regret_bound(t=T1, **E1), rel=1e-14)


def test_union_regret_bound_by_hand():
    R, L, G, S, M, T, delta = 0.5, 2, 1.5, 3, 2, 6, 0.1
    ld = max(3 * math.log(1 + T * (L**2 / lam + 1) / 3) for lam in (1, 3))
    N = R * math.sqrt(ld + 2 * math.log(2 * M / delta))
    A = max(lam * S**2 + R**2 * d_log for lam, d_log in zip((1, 3), LD, strict=True)) + 3 * S**2
    A += 2 * R**2 * math.log(M) + 2 * R**2 * math.log(2 / delta) + G**2
    u = N + math.sqrt(N**2 + A)
    bound = fs.union_regret_bound(t=T, n_models=M, reward_bound=G, **SMALL)
    assert bound == pytest.approx(math.sqrt(M * T * (u**2 + 2 * G**2) * ld), rel=1e-14)


# --- invariants -----------------------------------------------------------------------------------

positive = st.floats(0.05, 20)
examples = settings(max_examples=25, deadline=None, derandomize=True)
models = st.fixed_dictionaries(
    {
        "dim": st.integers(1, 30),
        "noise": positive,
        "feature_bound": positive,
        "reward_bound": positive,
        "parameter_bound": positive,
        "regularization": st.lists(positive, min_size=3, max_size=3),
        "delta": st.floats(1e-4, 0.25),
    }
)


@examples
@given(model=models, form=st.sampled_from(["printed", "corrected"]))
def test_bounds_grow_with_rounds_and_models(model, form):
    t = np.array([1, 2, 5, 30, 1000])
    fit = without(model, "reward_bound")
    assert np.all(np.diff(fs.Q(t=t, **fit, form=form)) >= 0)
    for bound in (fs.R_sq, fs.D):
        assert np.all(np.diff(bound(t=t, n_models=3, **model, form=form)) >= 0)
    more = {**model, "regularization": model["regularization"][0]}
    errors = [fs.D(t=100, n_models=M, **more, form=form) for M in (1, 2, 10, 1000)]
    assert errors == sorted(errors)
    play = {"t": 100, "n_actions": 5, **more, "form": form}
    assert fs.regret_bound(n_models=2, **play) <= fs.regret_bound(n_models=20, **play)
    assert fs.learning_rate(n_models=2, **play) >= fs.learning_rate(n_models=20, **play)


@examples
@given(model=models, s=st.floats(0.1, 10))
def test_corrected_forms_follow_the_scale_of_the_rewards(model, s):
    """Rewards times s: noise, reward bound and parameter bound times s, squared errors times s^2."""
    scaled = {**model, **{name: s * model[name] for name in ("noise", "reward_bound", "parameter_bound")}}
    fit, fit_scaled = without(model, "reward_bound"), without(scaled, "reward_bound")
    assert fs.Q(t=50, **fit_scaled) == pytest.approx(s**2 * fs.Q(t=50, **fit), rel=1e-9)
    for bound in (fs.R_sq, fs.D, other_forms.D_noise_aware):
        assert bound(t=50, n_models=3, **scaled) == pytest.approx(s**2 * bound(t=50, n_models=3, **model), rel=1e-9)
    play, play_scaled = ({"t": 50, "n_actions": 4, "n_models": 3, **m} for m in (model, scaled))
    assert fs.learning_rate(**play_scaled) == pytest.approx(fs.learning_rate(**play) / s, rel=1e-9)
    assert fs.regret_bound(**play_scaled) == pytest.approx(s * fs.regret_bound(**play), rel=1e-9)
    union, union_scaled = without(play, "n_actions"), without(play_scaled, "n_actions")
    assert fs.union_regret_bound(**union_scaled) == pytest.approx(s * fs.union_regret_bound(**union), rel=1e-9)
    assert prediction_bound(t=50, **scaled) == pytest.approx(s * prediction_bound(t=50, **model), rel=1e-9)


@examples
@given(model=models, s=st.floats(0.1, 10))
def test_corrected_forms_ignore_the_scale_of_the_features(model, s):
    """Features times s: regularisation times s^2, parameters divided by s, nothing else changes."""
    scaled = {**model, "feature_bound": s * model["feature_bound"], "parameter_bound": model["parameter_bound"] / s}
    scaled["regularization"] = [s**2 * lam for lam in model["regularization"]]
    assert fs.D(t=50, n_models=3, **scaled) == pytest.approx(fs.D(t=50, n_models=3, **model), rel=1e-9)
    bound = prediction_bound(t=50, **model)
    assert prediction_bound(t=50, **scaled) == pytest.approx(bound, rel=1e-9)


@examples
@given(model=models, kappa=st.floats(0.01, 0.99))
def test_best_kappa_is_best_and_a_known_horizon_is_narrower(model, kappa):
    best = fs.D(t=50, n_models=3, **model, kappa="best")
    assert best <= fs.D(t=50, n_models=3, **model, kappa=kappa) * (1 + 1e-12)
    clip = prediction_range(t=50, **model)[1]
    anytime = prediction_range(t=50, **model, horizon="anytime")[1]
    assert clip <= anytime


@examples
@given(model=models)
def test_the_worst_model_counts(model):
    each = [fs.Q(t=50, **{**without(model, "reward_bound"), "regularization": lam}) for lam in model["regularization"]]
    assert fs.Q(t=50, **without(model, "reward_bound")) == pytest.approx(max(each), rel=1e-13)
    per_model = prediction_bound(t=50, **model)
    each = [prediction_bound(t=50, **{**model, "regularization": lam}) for lam in model["regularization"]]
    assert per_model == pytest.approx(each, rel=1e-13)


@pytest.mark.parametrize("lam", [[1.0, 2.0, 4.0], [[1.0, 2.0, 4.0], [3.0, 2.0, 1.0]]], ids=["row", "rows"])
def test_constants_may_be_arrays_beside_the_rounds(lam):
    lanes = {
        "noise": [0.3, 0.5],
        "feature_bound": [2.0, 1.0],
        "reward_bound": [1.5, 1.0],
        "parameter_bound": [1.2, 0.7],
    }
    shared = {"dim": 7, "n_models": 3, "delta": 0.01}
    both = fs.learning_rate(t=[500, 900], n_actions=[4, 6], regularization=lam, **lanes, **shared)
    rows = np.broadcast_to(lam, (2, 3))
    for n, (t, K) in enumerate([(500, 4), (900, 6)]):
        own = {name: values[n] for name, values in lanes.items()}
        assert both[n] == fs.learning_rate(t=t, n_actions=K, regularization=rows[n], **own, **shared)
