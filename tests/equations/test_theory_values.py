"""Constants and bounds at two examples, against numbers that were worked out apart from the library."""

import inspect

import pytest
from other_forms import D_noise_aware, prediction_range

from banditselect.theory import feature_selection as fs
from banditselect.theory import likelihood, linear
from banditselect.theory import parameter_selection as ps

FIRST = {"t": 1000, "dim": 10, "n_models": 5, "n_actions": 10, "noise": 0.5, "feature_bound": 1, "delta": 0.05}
SECOND = {"t": 500, "dim": 7, "n_models": 3, "n_actions": 4, "noise": 0.3, "feature_bound": 2, "delta": 0.01}
FIRST |= {"reward_bound": 1, "center_distance": 2.5}
SECOND |= {"reward_bound": 1.5}
MAPS = (
    FIRST | {"parameter_bound": 1, "regularization": 1},
    SECOND | {"parameter_bound": 1.2, "regularization": [1, 2, 4]},
)
BALLS = (FIRST | {"radius": [0.5, 0.6, 0.7, 0.8, 1]}, SECOND | {"radius": [0.5, 1, 2]})
RIDGES = (FIRST | {"regularization": 1, "radius": 1}, SECOND | {"regularization": [1, 2, 4], "radius": 1.2})
PRINTED, BEST = {"form": "printed"}, {"kappa": "best"}
VALUES = {  # None: not worked out
    "final:def:q_t": (fs.Q, MAPS, PRINTED, 417.879563, 341.520742),
    "app:lemm:defofqtforboudn": (fs.Q, MAPS, {}, 46.6006007, 39.9762454),
    "finalboundrsq:fs, printed": (fs.R_sq, MAPS, PRINTED, 164.635640, 151.570233),
    "finalboundrsq:fs": (fs.R_sq, MAPS, {}, 35.0919660, 18.9862174),
    "definigitonofd_t:fs, printed": (fs.D, MAPS, PRINTED, 1358.33011, 1095.74862),
    "definigitonofd_t:fs": (fs.D, MAPS, {}, 141.747245, 104.148294),
    "definigitonofd_t:fs, best kappa": (fs.D, MAPS, BEST, 94.6138499, 66.5530222),
    "definigitonofd_t:fs, 3/5 delta": (fs.D, MAPS, BEST | {"delta": 0.03}, 98.5810536, None),
    "thm:regretbound_EXP-SquareCB, rate, printed": (fs.learning_rate, MAPS, PRINTED, 2.71329701, 1.35101301),
    "thm:regretbound_EXP-SquareCB, rate": (fs.learning_rate, MAPS, {}, 19.7228675, 7.81173926),
    "thm:regretbound_EXP-SquareCB, printed": (fs.regret_bound, MAPS, PRINTED, 11142.5529, 4513.90147),
    "regret:bound:fs-squarecb": (fs.regret_bound, MAPS, {}, 1921.26291, 886.323970),
    "union": (fs.union_regret_bound, MAPS, {}, 5386.64394, None),
    "noise-aware": (D_noise_aware, MAPS, {}, 132.873878, None),
    "eq:Ut-Def": (ps.U, BALLS, PRINTED, 417.879563, 418.415736),
    "eq:Ut-Def, corrected": (ps.U, BALLS, {}, 46.6006007, 127.699612),
    "eq:temp07, printed": (ps.R_sq, BALLS, PRINTED, 296.485914, 365.629378),
    "eq:temp07": (ps.R_sq, BALLS, {}, 35.0919660, 18.9862174),
    "eq:final-conf-set, printed": (ps.gamma, BALLS, PRINTED, 1622.72795, 1688.08883),
    "eq:final-conf-set": (ps.gamma, BALLS, {}, 141.747245, 263.583266),
    "eq:final-conf-set, best kappa": (ps.gamma, BALLS, BEST, 94.6138499, 154.965228),
    "eq:lem5, printed": (ps.regret_bound, BALLS, PRINTED, 24497.0669, 21362.3418),
    "eq:lem5, S = 1.5": (ps.regret_bound, BALLS, {"parameter_bound": 1.5}, 5164.76345, None),
    "eq:lem5, S = 3": (ps.regret_bound, BALLS, {"parameter_bound": 3, "set_regularization": 1}, None, 4656.47078),
    "eq:regret-param-select": (ps.likelihood_regret_bound, BALLS, {}, 2328.81111, None),
    "eq:LS2": (linear.expert_regret, RIDGES, {}, 28.0713349, 29.1688847),
    "eq:reward-bounded": (linear.noise_bound, RIDGES, {}, 2.30180741, None),
    "eq:fsscb:expertnoisebound": (likelihood.squared_radius, RIDGES, PRINTED | {"n_models": 1}, 21.2566556, None),
    "squared radius": (likelihood.squared_radius, RIDGES, {"n_models": 1}, 14.0356674, None),
    "squared radius, M = 5": (likelihood.squared_radius, RIDGES, {}, 14.8403864, None),
}


@pytest.mark.parametrize("name", VALUES)
def test_value(name):
    function, examples, changes, *values = VALUES[name]
    parameters = inspect.signature(function).parameters
    for example, value in zip(examples, values, strict=True):
        if value is not None:
            given = {k: v for k, v in example.items() if k in parameters or "model" in parameters}
            if function is D_noise_aware:
                given = {k: v for k, v in given.items() if k not in ("n_actions", "center_distance")}
            assert function(**(given | changes)) == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("examples", [MAPS, BALLS], ids=["maps", "balls"])
def test_eq_boudningrangefor_fs_and_temp06_range(examples):
    for (form, value), example in (
        *((one, examples[0]) for one in (("printed", 12.7240202), ("corrected", 6.60361483))),
        (("corrected", 5.87911555), examples[1]),
    ):
        given = {k: v for k, v in example.items() if k not in ("n_models", "n_actions", "center_distance")}
        given["radius"] = given.pop("parameter_bound", example.get("radius"))
        assert prediction_range(form=form, **given) == pytest.approx((-value / 2, value), rel=1e-8)
