"""Tests of every master: one base alone, the notes of decisions, bases and arguments that are refused."""

import re

import numpy as np
import pytest

from banditselect import OFUL, FSSquareCB, LinTS, RegretBalancing, SquareCB, Uniform, on_map
from banditselect.masters import D3RB, ED2RB, EXP4, AdaptiveSquareCB, BalancingElimination, Corral, DynamicBalancing
from banditselect.rivals import SEXP3

RANGE = {"reward_range": (-9.0, 9.0)}
BALANCING = [RegretBalancing, BalancingElimination, DynamicBalancing, D3RB, ED2RB]
PAPER = {"weighting": "paper", "noise": 0.1, "feature_bound": 0.5, "reward_bound": 0.2, "parameter_bound": 0.5}
BASES = {
    "SquareCB": SquareCB.bind(dim=3, **RANGE),
    "LinTS": LinTS.bind(dim=3),
    "OFUL": OFUL.bind(dim=3),
    "SEXP3": SEXP3.bind(n_arms=4, **RANGE),
    "with a note": FSSquareCB.bind(n_models=2, dim=3, **RANGE, **PAPER),
}
MASTERS = {
    **{cls.__name__: cls.bind() for cls in BALANCING},
    "nested": lambda bases, lanes, seed: RegretBalancing(
        bases=[RegretBalancing(bases=bases, lanes=lanes)], lanes=lanes, seed=seed
    ),
    **{f"Corral {f}": Corral.bind(feedback=f, propensities=True, **RANGE) for f in ("plain", "importance")},
    **{f"EXP4 {e}": EXP4.bind(exploration=e, **RANGE) for e in ("ix", "uniform")},
}


def alone():
    for master in MASTERS:
        for base in BASES:
            if not (base == "LinTS" and master.startswith("EXP4")) and not (base == "SEXP3" and "EXP4" not in master):
                for lanes in (None, 2) if master in ("RegretBalancing", "nested", "D3RB") else (None,):
                    yield pytest.param(master, base, lanes, id=f"{master}, {base}, {lanes}")


@pytest.mark.filterwarnings("ignore:.*no expert predicts:RuntimeWarning")
@pytest.mark.parametrize(("master", "base", "lanes"), list(alone()))
def test_one_base_alone_plays_as_if_by_itself(master, base, lanes):
    rng, seed = np.random.default_rng(3), (5, 1)
    shape = ((2,) if lanes else ()) + ((2, 4, 3) if base == "with a note" else (4, 3))
    one = BASES[base](lanes=lanes, seed=seed)
    policy = MASTERS[master](bases=[BASES[base]], lanes=lanes, seed=seed)
    for _ in range(25):
        x, y = rng.normal(size=shape), rng.normal(size=lanes)
        ours, theirs = policy.act(x), one.act(x)
        np.testing.assert_array_equal(ours.action, theirs.action)
        np.testing.assert_array_equal(ours.probability, theirs.probability)
        policy.update(ours, y)
        one.update(theirs, y)
    inner = policy.bases[0].bases[0] if master == "nested" else policy.bases[0]
    for name in ("parameters", "admissible", "visits"):
        if hasattr(one, name):
            np.testing.assert_array_equal(getattr(inner, name), getattr(one, name))


@pytest.mark.parametrize("cls", [*BALANCING, Corral, EXP4])
def test_what_is_not_a_list_of_policies_is_refused(cls):
    for bases in ([], None, Uniform(), [Uniform(), 3], [lambda lanes, seed: None]):
        with pytest.raises(ValueError, match=f"{cls.__name__}: bases"):
            cls(bases=bases)
    with pytest.raises(ValueError, match=rf"{cls.__name__}: bases\[1\]: takes"):
        cls(bases=[SquareCB(dim=2), on_map(SquareCB(dim=2), 0)])
    assert isinstance(cls(bases=[Uniform]).bases[0], Uniform)  # a class is a factory


@pytest.mark.parametrize(
    ("base", "reason"),
    [
        (LinTS(dim=2), "closed form"),
        (Corral(bases=[OFUL(dim=2)]), "closed form"),
        (Corral(bases=[OFUL(dim=2)], propensities=True), "not a master"),
        (RegretBalancing(bases=[OFUL(dim=2)]), "not a master"),
        (EXP4(bases=[OFUL(dim=2)]), "not a master"),
    ],
)
def test_what_cannot_advise_is_refused_by_name(base, reason):
    with pytest.raises(ValueError, match=rf"EXP4: bases\[1\]: .*{reason}"):
        EXP4(bases=[Uniform(), base])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Corral.bind(bases=[Uniform()], horizon=1), "Corral: horizon: got 1"),
        (D3RB.bind(bases=[Uniform()], coefficient=0.0), "D3RB: coefficient"),
        (ED2RB.bind(bases=[Uniform()], delta=1.0), "ED2RB: delta"),
        (AdaptiveSquareCB.bind(dim=3, levels=0), "AdaptiveSquareCB: levels"),
        (AdaptiveSquareCB.bind(dim=3, exploration=-1.0), "AdaptiveSquareCB: exploration"),
    ],
)
def test_bad_arguments_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make(lanes=None, seed=0)


def test_a_reference_without_a_name_cannot_be_stored(tmp_path):
    with pytest.raises(ValueError, match="reference=log1p cannot be stored"):
        RegretBalancing(bases=[Uniform()], reference=np.log1p).save(tmp_path / "other.bsel")
