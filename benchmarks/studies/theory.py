"""The tables of math.md and choosing.md: ``python -m benchmarks.studies.theory``, a minute and a half on one core."""

import math
import warnings
from typing import Any

import numpy as np

from banditselect import FSOFUL, PSOFUL, FSSquareCB
from banditselect.policies.policy import Policy
from banditselect.theory import feature_selection
from banditselect.types import Array

from ..pages import DOCS, fill, markdown_table, spread

DELTA = 0.05


def percent(share: float) -> str:
    """Return a share in words."""
    return f"{100.0 * share:.2f} %"


def unit(rng: np.random.Generator, *shape: int) -> Array:
    """Return random directions."""
    x = rng.normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def misspecification(lanes: int = 1000, rounds: int = 300, R: float = 0.3) -> str:
    """Return how often sets, widened or not, ever miss the parameter when rewards are almost linear."""
    rows = []
    for eps in (0.05, 0.2):
        for name in ("sign", "random", "constant"):
            missed = [_misses(eps, name, stated, lanes, rounds, R).mean() for stated in (eps, 0.0)]
            rows.append([f"{eps}", name, *map(percent, missed)])
    return markdown_table(["ε", "error", "widened sets", "sets that ignore ε"], rows)


def _balls(seed: int, lanes: int, R: float, **options: Any) -> tuple[np.random.Generator, Array, PSOFUL]:
    """Return random numbers, parameters in the first of five balls in five dimensions, and PS-OFUL given the balls."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(lanes, 5, 5)) / math.sqrt(5)
    theta = centers[:, 0] + 0.5 * unit(rng, lanes, 5)
    return rng, theta, PSOFUL(centers=centers, radii=0.5, noise=R, delta=DELTA, lanes=lanes, **options)


def _misses(eps: float, name: str, stated: float, lanes: int, rounds: int, R: float) -> Array:
    rng, theta, policy = _balls(0, lanes, R, misspecification=stated)
    u, missed = rng.normal(size=theta.shape), np.zeros(lanes, dtype=bool)
    for _ in range(rounds):
        decision = policy.act(unit(rng, lanes, 4, 5))
        phi = decision.features
        signs = {"sign": np.sign((phi * u).sum(axis=1)), "random": rng.choice([-1.0, 1.0], lanes), "constant": 1.0}
        policy.update(decision, (phi * theta).sum(axis=1) + eps * signs[name] + R * rng.normal(size=lanes))
        missed |= ~policy.covers(theta)
    return missed


def alarms(lanes: int = 500, rounds: int = 1000, R: float = 0.5) -> str:
    """Return how often and when the alarm is raised, for noise of the stated size and larger."""
    rows = []
    for factor in (1.0, 1.2, 1.5, 2.0):
        rng, theta, policy = _balls(1, lanes, R)
        first = np.full(lanes, np.inf)
        for t in range(1, rounds + 1):
            decision = policy.act(unit(rng, lanes, 4, 5))
            policy.update(decision, (decision.features * theta).sum(axis=1) + factor * R * rng.normal(size=lanes))
            first = np.where(np.isinf(first) & policy.misspecified, t, first)
        rang = np.isfinite(first)
        median = f"{np.median(first[rang]):.0f}" if factor > 1.0 else "–"
        rows.append([f"{factor:g} R", percent(rang.mean()), median])
    return markdown_table(["standard deviation of the noise", "lanes in which the alarm rang", "median round"], rows)


def worst_case(lanes: int = 20, T: int = 8000, D: float = 0.5, R: float = 0.5) -> str:
    """Return the regret on the problem of section 9 by the number of maps."""
    sizes = (1, 4, 16, 64)
    shared: dict[str, Any] = {"dim": 2, "noise": R, "parameter_bound": math.sqrt(5.0) * D, "lanes": lanes}
    proved: dict[str, Any] = {"feature_bound": math.sqrt(2.0), "reward_bound": D, "horizon": T}
    proved |= {"reward_range": (-3.0, 3.0), "exploration": "corrected", "weighting": "corrected"}
    policies = {"FSOFUL": FSOFUL.bind(**shared), "FSSquareCB, corrected": FSSquareCB.bind(**shared, **proved)}
    rows = [
        [name, *(spread(_contexts(make(n_models=M), M, T, D, R), 1) for M in sizes)] for name, make in policies.items()
    ]
    return markdown_table(["regret", *(f"M = {M}" for M in sizes)], rows)


def _contexts(policy: Policy, M: int, T: int, D: float, R: float) -> Array:
    rng = np.random.default_rng(2)
    lanes = int(policy.lanes or 1)
    x, regret = np.zeros((lanes, M, 2, 2)), np.zeros(lanes)
    x[:, :, 1, 0] = 1.0
    for _ in range(T):
        context = rng.integers(M, size=lanes)
        x[:, :, 1, 1] = context[:, None] == np.arange(M)
        value = np.where(context == 0, D, -D)
        decision = policy.act(x)
        played = np.where(decision.action == 1, value, 0.0)
        policy.update(decision, played + R * rng.normal(size=lanes))
        regret += np.maximum(value, 0.0) - played
    return regret


def _linear(
    policy: Policy, seed: int, shape: tuple[int, ...], true: int, S: float, T: int, R: float
) -> tuple[Array, Any]:
    """Return the regret of random maps of this shape, and the model weights after three rewards."""
    rng = np.random.default_rng(seed)
    lanes, weights = int(policy.lanes or 1), None
    theta, regret, each = S * unit(rng, lanes, shape[-1]), np.zeros(lanes), np.arange(lanes)
    for t in range(T):
        x = unit(rng, lanes, *shape)
        means = np.einsum("nkd,nd->nk", x[:, true], theta)
        decision = policy.act(x)
        played = means[each, decision.action]
        policy.update(decision, played + R * rng.normal(size=lanes))
        regret += means.max(axis=1) - played
        if t == 2 and isinstance(policy, FSSquareCB):
            weights = policy.model_weights
    return regret, weights


def scb(lanes: int = 20, R: float = 0.1) -> str:
    """Return the regret of FS-SCB with proved, printed and default constants, beside the bound."""
    model: dict[str, Any] = {"n_models": 3, "dim": 3, "noise": R, "parameter_bound": 0.8}
    proved: dict[str, Any] = {**model, "feature_bound": 1.0, "reward_bound": 0.8, "regularization": 1.0, "delta": DELTA}
    rows = []
    for T in (1000, 4000):
        settings: list[dict[str, Any]] = [
            {**proved, "weighting": form, "exploration": form, "horizon": T} for form in ("corrected", "paper")
        ]
        policies = [FSSquareCB(**one, reward_range=(-1.2, 1.2), lanes=lanes) for one in (*settings, model)]
        found = [spread(_linear(policy, 3, (3, 4, 3), 1, 0.8, T, R)[0], 1) for policy in policies]
        bound = feature_selection.regret_bound(t=T, n_actions=4, **proved)
        rows.append([f"{T}", *found, f"{bound:.0f}"])
    return markdown_table(["T", "corrected", "paper", "the defaults, given R and S", "bound of Theorem 5"], rows)


def penalty(lanes: int = 150, T: int = 500) -> str:
    """Return how often a wrong map is nearly certain after three rewards, and the regret, by penalty and noise."""
    rows = []
    for R in (0.01, 0.5):
        for words, lam in (("d R² / S²", None), ("1", 1.0)):
            model: dict[str, Any] = {"n_models": 3, "dim": 10, "noise": R, "parameter_bound": 1.0, "lanes": lanes}
            model["regularization"] = lam
            squarecb = FSSquareCB(**model, reward_range=(-1.0 - R, 1.0 + R))
            regret, weights = _linear(squarecb, 4, (3, 5, 10), 0, 1.0, T, R)
            other, _ = _linear(FSOFUL(**model), 4, (3, 5, 10), 0, 1.0, T, R)
            certain = f"{(weights[:, 1:].max(axis=1) > 0.99).sum()} of {lanes}"
            rows.append([f"{R}", words, certain, spread(regret, 1), spread(other, 1)])
    head = ["R", "penalty", "lanes with a wrong map above .99 after 3 rewards", "regret of FS-SCB", "regret of FS-OFUL"]
    return markdown_table(head, rows)


def main() -> None:
    """Measure everything."""
    warnings.simplefilter("ignore", RuntimeWarning)  # alarms are counted here
    math_page = {"almost linear": misspecification(), "alarms": alarms(), "worst case": worst_case(), "scb": scb()}
    fill(DOCS / "math.md", math_page)
    fill(DOCS / "choosing.md", {"penalty": penalty()})


if __name__ == "__main__":
    main()
