"""An update that is interrupted at any bytecode leaves the state as before or as after, never anything between."""

import copy
import itertools
import sys

import numpy as np
import pytest

from banditselect import OFUL, Decision, FSSquareCB, LinTS, RegretBalancing, Uniform
from banditselect.authoring import Policy

D, K = 3, 4
BASES = [OFUL(dim=D), OFUL(dim=D, regularization=3.0), Uniform()]


def six():
    import banditselect as b
    import banditselect.masters
    import banditselect.rivals

    centers = np.array([[0.5, -0.5, 0.2], [1.0, 1.0, 0.0]])
    return {
        "OFUL": OFUL.bind(dim=D),
        "OFUL, memory": OFUL.bind(dim=D, memory=50.0),
        "FSIDS": b.FSIDS.bind(n_models=2, dim=D),
        "FSIDS, memory": b.FSIDS.bind(n_models=2, dim=D, memory=50.0),
        "FSIDS, memory learned": b.FSIDS.bind(n_models=2, dim=D, memory="learned"),
        "FSSquareCB": FSSquareCB.bind(n_models=2, dim=D),
        "FSSquareCB, range": FSSquareCB.bind(n_models=2, dim=D, weighting="range"),
        "PSOFUL": b.PSOFUL.bind(centers=centers, radii=0.5),
        "LinTS": LinTS.bind(dim=D),
        "RegretBalancing": RegretBalancing.bind(bases=BASES),
        "BalancingElimination": b.masters.BalancingElimination.bind(bases=BASES[:2], reference="own", scale=0.01),
        "D3RB of masters": b.masters.D3RB.bind(bases=[RegretBalancing(bases=BASES)]),
        "Corral": b.masters.Corral.bind(bases=BASES, feedback="smoothed"),
        "EXP4": b.masters.EXP4.bind(bases=[BASES[0], b.rivals.SEXP3(n_arms=K), b.rivals.UCB1(n_arms=K)]),
    }


LONG = ("BalancingElimination", "D3RB of masters", "Corral", "EXP4")


class Interrupt(BaseException):
    """An exception that no code expects."""


class Tracer:
    """Raises at the given number of bytecodes run in this package, counted from the call of ``update``."""

    def __init__(self, at: int | None) -> None:
        self.at, self.count = at, 0

    def __call__(self, frame, event, arg):
        if "banditselect" not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.count += 1
            if self.count == self.at:
                raise Interrupt
        return self


def update(policy: Policy, decision: Decision, at: int | None) -> int:
    """Run an update that is interrupted after so many bytecodes; return how many it ran."""
    tracer = Tracer(at)
    sys.settrace(tracer)
    try:
        policy.update(decision, 0.7)
    except Interrupt:
        pass
    finally:
        sys.settrace(None)
    return tracer.count


def state(policy: Policy) -> dict[str, bytes]:
    """Return everything that a file would hold of it, but for the number of the act settled last."""
    arrays = {f"{way}/{name}": array for way, part in policy._parts for name, array in part.learned().items()}
    arrays = {name: np.delete(a, 3, axis=1) if name.endswith("book") else a for name, a in arrays.items()}
    return {name: a.tobytes() for name, a in arrays.items()} | {
        "workers": policy._acts.from_workers.table().tobytes(),
        "rounds": np.array(policy.rounds).tobytes(),
    }


def played(name: str, who: str) -> tuple[Policy, Decision]:
    """Return a policy that has learned some rewards, and a decision that waits."""
    policy, rng = six()[name](seed=3), np.random.default_rng(0)
    shape = (2, K, D) if policy.feature_shape.many else (K, D)
    late = policy.act(rng.normal(size=shape))
    for _ in range(6):
        policy.update(policy.act(rng.normal(size=shape)), float(rng.normal(0.5, 0.1)))
    if who == "worker":
        return policy, policy.fork(1).act(rng.normal(size=shape))
    return policy, late if who == "late" else policy.act(rng.normal(size=shape))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("who", ["itself", "late", "worker"])
@pytest.mark.parametrize("name", list(six()))
def test_an_interrupted_update_is_done_or_not(name, who):
    policy, decision = played(name, who)
    before, done = state(policy), copy.deepcopy(policy)
    bytecodes = update(done, decision, None)
    after = state(done)
    assert before != after
    step = 11 if who != "itself" else 5 if name in LONG else 1  # all share the shell's way to the snapshot
    unlearned = 0
    for at in itertools.islice(range(1, bytecodes + 1), 0, None, step):
        torn = copy.deepcopy(policy)
        update(torn, decision, at)
        found = state(torn)
        assert found in (before, after), f"torn by an interruption after {at} of {bytecodes} bytecodes"
        if found == before:
            unlearned += 1
            torn.update(decision, 0.7)  # the guard is free, and the reward can still be learned
            assert state(torn) == after
        else:
            with pytest.raises(ValueError, match="already has a reward"):
                torn.update(decision, 0.7)
    assert unlearned > 0
