"""Decisions that the policy cannot have made: each is refused by name, and changes nothing."""

import numpy as np
import pytest

from banditselect import OFUL, RegretBalancing, Uniform
from banditselect.checks.game import snapshot
from banditselect.masters import EXP4, Corral
from banditselect.rivals import ALEXP, MUCB, SEXP3, UCB1

NAN, INF = np.nan, np.inf
ROW = [1.0, 0.4, 0.5, 0.5, 0.0, 2.0]  # EXP4 over SEXP3 and Uniform: offered, beta, advice of both, class, offered
NUMBERS = [0.5, -1, 10**30, None, "0"]
ACTIONS = [None, [None, 0], 1j, [1 << 70, 0], "a", NAN, [0.5, 1.5], ["0", "1"], [-1, 0], [2, 0]]
PROPENSITIES = [0.0, -0.1, 1.1, NAN, INF, "half", 1, [0.5]]
UNUSABLE = [None, 0.0, -0.5, 1.1, NAN, 1e-320, 1e-20]  # nothing can be divided by them

FORGED = {
    "OFUL, number": (OFUL(dim=2), "number", NUMBERS),
    "OFUL, probability": (OFUL(dim=2), "probability", PROPENSITIES),
    "OFUL with lanes, lanes": (OFUL(dim=2, lanes=4), "lanes", [np.arange(3), np.array([2, 1]), np.array([[0]]), None]),
    "OFUL, note": (OFUL(dim=2), "note", [[[0.0]], []]),
    "UCB1, action": (UCB1(n_arms=2), "action", [2, -1, None]),
    "UCB1 with lanes, action": (UCB1(n_arms=2, lanes=2), "action", ACTIONS),
    "SEXP3, probability": (SEXP3(n_arms=2), "probability", UNUSABLE),
    "EXP4, probability": (EXP4(bases=[Uniform()]), "probability", UNUSABLE),
    "ALEXP, note": (ALEXP(n_models=2, dim=2), "note", [[[0.0, bad]] for bad in (NAN, INF, 1e300)]),
    "MUCB, note": (MUCB(centers=np.eye(2), horizon=9), "note", [[[2]], [[-1]], [[0.5]], [[NAN]], [[0, 0]], None]),
    "masters in a master, note": (
        RegretBalancing(bases=[RegretBalancing(bases=[Uniform(), Uniform()]), Uniform()]),
        "note",
        [*([row] for row in ([0, 7], [0, -1], [-1, 0], [2, 0], [0.5, 0], [0, 1.5], [NAN, 0], [0, INF], [0])), None],
    ),
    "Corral, note": (
        Corral(bases=[Uniform(), Uniform()]),
        "note",
        [*([row] for row in ([4, 1], [-1, 1], [0.5, 1], [0, 0], [0, 1e-20], [0, 1.0001], [0, NAN], [0])), None],
    ),
    "EXP4, note": (
        EXP4(bases=[SEXP3(n_arms=2), Uniform()]),
        "note",
        [
            [[*ROW[:k], value, *ROW[k + 1 :]]]
            for k, value in [(0, 0), (1, -0.1), (2, -1), (3, NAN), (4, 9), (4, 0.5), (5, 0), (5, 3)]
        ],
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_was_forged_is_refused_by_name_and_changes_nothing(name):
    policy, field, values = FORGED[name]
    x = np.ones((policy.lanes or 2, 2, 2)) if policy.lanes or policy.feature_shape.many else np.eye(2)
    decision, reward = policy.act(x), 0.5 if policy.lanes is None else np.full(policy.lanes, 0.5)
    before = snapshot(policy)
    for value in values:
        forged = np.array(value, dtype=float) if field == "note" and value is not None else value
        with pytest.raises(ValueError, match=r"^(decision|lanes): got .*, expected "):
            policy.update(decision._replace(**{field: forged}), reward)
    assert snapshot(policy) == before
    policy.update(decision, reward)
    assert np.all(policy.rounds == 1)
