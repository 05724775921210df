"""Write the files of this folder: policies saved by a version, and what they answered and did afterwards.

Every later version must load them and go on as recorded (tests/golden/test_golden.py). Never run this again for a
released version: it writes only files that are missing, for policies added here. ``python tests/golden/make.py``
"""

import json
from pathlib import Path

import numpy as np

from banditselect import FSIDS, OFUL, PSOFUL, LinTS, Power, RegretBalancing, SquareCB

HERE = Path(__file__).parent
ANSWERS = (
    *("rounds", "parameters", "constant", "constants", "squared_radii", "regret_bound", "model_weights", "admissible"),
    *("noise_estimate", "plays", "rewards", "misspecified"),
)


def policies():
    """Every policy that has a file, by name."""
    squarecb = SquareCB(dim=3, exploration=Power(2.0, 0.4), reward_range=(-2.0, 2.0))
    centers = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.5]]
    return {
        "oful": OFUL(dim=3, noise=[0.2, 0.4], intercept=True, lanes=2, seed=(4, 2)),
        "fs_ids": FSIDS(n_models=3, dim=[3, 2, 3], prior_weights=[0.5, 0.25, 0.25], seed=5),
        "ps_oful": PSOFUL(centers=np.array(centers), radii=[0.5, 0.25, 0.0], noise=0.2, lanes=2),
        "regret_balancing": RegretBalancing(bases=[squarecb, LinTS(dim=3, noise=0.2)], reference=Power(1.5, 0.5)),
    }


def features(policy, rng):
    """Return features of four actions as lists: of two lanes where the policy has lanes, of every map it looks at."""
    x = rng.normal(size=(2, 4, 3) if policy.lanes else (4, 3)).round(3)
    widths = policy.feature_shape.dims
    return [x[..., :d].tolist() for d in widths] if policy.feature_shape.many else x.tolist()


def given(policy, stored):
    """Return stored features as a policy takes them."""
    return [np.array(rows) for rows in stored] if policy.feature_shape.many else np.array(stored)


def rewards(policy, decision, rng):
    """Return the reward of the action played: its first feature plus noise."""
    x = decision.features[..., 0] if policy.lanes or decision.features.ndim == 1 else decision.features[0, 0]
    return (np.asarray(x) + 0.2 * rng.normal(size=np.shape(x))).round(3).tolist()


def answers(policy):
    """Return all that a policy of this kind can be asked, as JSON."""
    found = {name: getattr(policy, name) for name in ANSWERS if hasattr(policy, name)}
    return json.loads(json.dumps(found, default=lambda array: np.asarray(array).tolist()))


def play(policy, rng, rounds):
    """Play and learn; return what was shown, done and learned."""
    trace = []
    for _ in range(rounds):
        shown = features(policy, rng)
        decision = policy.act(given(policy, shown))
        reward = rewards(policy, decision, rng)
        policy.update(decision, reward)
        done = [None if part is None else np.asarray(part).tolist() for part in decision[:3]]
        trace.append({"features": shown, "action, probability, base": done, "reward": reward})
    return trace


def record(name, policy, path):
    """Let a policy live, save it, and record what it answers and what it does next."""
    rng = np.random.default_rng(7)
    play(policy, rng, 30)
    worker = policy.fork(3)
    policy.update(worker.act(given(policy, features(policy, rng))), [0.1, 0.2] if policy.lanes else 0.1)
    waiting = policy.act(given(policy, features(policy, rng)))
    policy.forget(policy.act(given(policy, features(policy, rng))))
    if name == "fs_ids":
        policy.add_models(dim=2, prior_weights=[0.1])
    policy.save(path)
    told = {"policy": repr(policy), "answers": answers(policy), "waiting": waiting.to_dict()}
    told["reward"] = rewards(policy, waiting, rng)
    policy.update(waiting, told["reward"])
    told["rounds"] = play(policy, rng, 20)
    told["afterwards"] = answers(policy)
    path.with_suffix(".json").write_text(json.dumps(told) + "\n")


if __name__ == "__main__":
    for own, made in policies().items():
        if not (HERE / f"{own}.bsel").exists():
            record(own, made, HERE / f"{own}.bsel")
