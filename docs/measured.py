"""Measure policies for math.md and choosing.md, and write the tables between the markers: python docs/measured.py

This takes about a minute and a half on one core. Every game is seeded.
"""

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from banditselect import FSOFUL, PSOFUL, FSSquareCB
from banditselect.policies.policy import Policy
from banditselect.reporting.markdown import markdown_table, replace_between
from banditselect.runtime.quantiles import standard_error
from banditselect.simulation.store import write_text
from banditselect.theory import feature_selection
from banditselect.types import Array

DOCS = Path(__file__).parent
DELTA = 0.05


def percent(share: float) -> str:
    """Return a share in words."""
    return f"{100.0 * share:.2f} %"


def mean(values: Array) -> str:
    """Return mean and standard error in words."""
    return f"{values.mean():.1f} ± {standard_error(values):.1f}"


def unit(rng: np.random.Generator, *shape: int) -> Array:
    """Return random directions."""
    x = rng.normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def misspecification(lanes: int = 1000, rounds: int = 300, R: float = 0.3) -> str:
    """Return how often sets, widened or not, ever miss the parameter when rewards are almost linear."""
    rows = []
    for eps in (0.05, 0.2):
        for name in ("sign", "random", "constant"):
            missed = [_misses(eps, name, told, lanes, rounds, R).mean() for told in (eps, 0.0)]
            rows.append([f"{eps}", name, *map(percent, missed)])
    head = ["ε", "error", "widened sets", "sets that ignore ε"]
    caption = f"5 balls of radius .5, $d=5$, Gaussian noise, $R={R}$, {lanes} lanes, {rounds} rounds; the error over "
    caption += "$\\varepsilon$ is the sign of $\\langle\\phi_s,u\\rangle$ for a random $u$, a random sign, or 1. "
    caption += "Lanes in which the parameter ever left its set, at $\\delta=5$ %:"
    return f"{caption}\n\n{markdown_table(head, rows)}"


def _misses(eps: float, name: str, told: float, lanes: int, rounds: int, R: float) -> Array:
    rng = np.random.default_rng(0)
    M, d, rows = 5, 5, np.arange(lanes)
    centers = rng.normal(size=(lanes, M, d)) / math.sqrt(d)
    theta, u = centers[:, 0] + 0.5 * unit(rng, lanes, d), rng.normal(size=(lanes, d))
    policy = PSOFUL(centers=centers, radii=0.5, noise=R, delta=DELTA, misspecification=told, lanes=lanes)
    missed = np.zeros(lanes, dtype=bool)
    for _ in range(rounds):
        x = unit(rng, lanes, 4, d)
        decision = policy.act(x)
        phi = x[rows, decision.action]
        signs = {"sign": np.sign((phi * u).sum(axis=1)), "random": rng.choice([-1.0, 1.0], lanes), "constant": 1.0}
        policy.update(decision, (phi * theta).sum(axis=1) + eps * signs[name] + R * rng.normal(size=lanes))
        missed |= ~policy.covers(theta)
    return missed


def alarms(lanes: int = 500, rounds: int = 1000, R: float = 0.5) -> str:
    """Return how often and when the alarm is raised, for noise of the stated size and larger."""
    rows = []
    for factor in (1.0, 1.2, 1.5, 2.0):
        rng = np.random.default_rng(1)
        M, d = 5, 5
        centers = rng.normal(size=(lanes, M, d)) / math.sqrt(d)
        theta = centers[:, 0] + 0.5 * unit(rng, lanes, d)
        policy = PSOFUL(centers=centers, radii=0.5, noise=R, delta=DELTA, lanes=lanes)
        first = np.full(lanes, np.inf)
        for t in range(1, rounds + 1):
            decision = policy.act(unit(rng, lanes, 4, d))
            policy.update(decision, (decision.features * theta).sum(axis=1) + factor * R * rng.normal(size=lanes))
            first = np.where(np.isinf(first) & policy.misspecified, t, first)
        rang = np.isfinite(first)
        median = f"{np.median(first[rang]):.0f}" if factor > 1.0 else "–"
        rows.append([f"{factor:g} R", percent(rang.mean()), median])
    caption = f"5 balls of radius .5, $d=5$, $R={R}$, {lanes} lanes, {rounds} rounds, $\\delta=5$ %:"
    head = ["standard deviation of the noise", "lanes in which the alarm rang", "median round"]
    return f"{caption}\n\n{markdown_table(head, rows)}"


def worst_case(lanes: int = 20, T: int = 8000, D: float = 0.5, R: float = 0.5) -> str:
    """Return the regret on the problem of section 9 by the number of maps."""
    S, L = math.sqrt(5.0) * D, math.sqrt(2.0)
    sizes = (1, 4, 16, 64)
    shared: dict[str, Any] = {"dim": 2, "noise": R, "parameter_bound": S, "lanes": lanes}
    proved: dict[str, Any] = {"feature_bound": L, "reward_bound": D, "horizon": T, "reward_range": (-3.0, 3.0)}
    policies: dict[str, Callable[[int], Policy]] = {
        "FSOFUL": lambda M: FSOFUL(n_models=M, **shared),
        "FSSquareCB, corrected": lambda M: FSSquareCB(
            n_models=M, exploration="corrected", weighting="corrected", **shared, **proved
        ),
    }
    rows = [[name, *(mean(_contexts(make(M), M, T, D, R)) for M in sizes)] for name, make in policies.items()]
    caption = f"Measured with $D=R={D}$, $T={T}$, $S=\\sqrt5D$, {lanes} lanes, mean ± standard error:"
    return f"{caption}\n\n{markdown_table(['regret', *(f'M = {M}' for M in sizes)], rows)}"


def _contexts(policy: Policy, M: int, T: int, D: float, R: float) -> Array:
    rng = np.random.default_rng(2)
    lanes, maps = int(policy.lanes or 1), np.arange(M)
    regret = np.zeros(lanes)
    for _ in range(T):
        context = rng.integers(M, size=lanes)
        x = np.zeros((lanes, M, 2, 2))
        x[:, :, 1, 0] = 1.0
        x[:, :, 1, 1] = context[:, None] == maps
        value = np.where(context == 0, D, -D)
        decision = policy.act(x)
        played = np.where(decision.action == 1, value, 0.0)
        policy.update(decision, played + R * rng.normal(size=lanes))
        regret += np.maximum(value, 0.0) - played
    return regret


def scb(lanes: int = 20, R: float = 0.1) -> str:
    """Return the regret of FS-SCB with proved, printed and default constants, beside the bound."""
    model: dict[str, Any] = {"n_models": 3, "dim": 3, "noise": R, "parameter_bound": 0.8}
    proved: dict[str, Any] = {**model, "feature_bound": 1.0, "reward_bound": 0.8, "regularization": 1.0, "delta": DELTA}
    rows = []
    for T in (1000, 4000):
        settings: list[dict[str, Any]] = [
            {**proved, "weighting": "corrected", "exploration": "corrected", "horizon": T},
            {**proved, "weighting": "paper", "exploration": "paper", "horizon": T},
            model,
        ]
        found = []
        for setting in settings:
            rng = np.random.default_rng(3)
            theta, regret, rows_of = 0.8 * unit(rng, lanes, 3), np.zeros(lanes), np.arange(lanes)
            policy = FSSquareCB(**setting, reward_range=(-1.2, 1.2), lanes=lanes)
            for _ in range(T):
                x = unit(rng, lanes, 3, 4, 3)
                means = np.einsum("nkd,nd->nk", x[:, 1], theta)
                decision = policy.act(x)
                played = means[rows_of, decision.action]
                policy.update(decision, played + R * rng.normal(size=lanes))
                regret += means.max(axis=1) - played
            found.append(mean(regret))
        bound = feature_selection.regret_bound(t=T, n_actions=4, **proved)
        rows.append([f"{T}", *found, f"{bound:.0f}"])
    caption = f"3 maps, $d=3$, $K=4$, $R={R}$, $L=1$, $G=S=.8$, $\\lambda=1$, {lanes} lanes, mean ± standard error:"
    head = ["T", "corrected", "paper", "the defaults, given R and S", "bound of Theorem 5"]
    return f"{caption}\n\n{markdown_table(head, rows)}"


def penalty(lanes: int = 150, T: int = 500) -> str:
    """Return how often a wrong map is nearly certain after three rewards, and the regret, by penalty and noise."""
    M, K, d = 3, 5, 10
    rows = []
    for R in (0.01, 0.5):
        for words, lam in (("d R² / S²", None), ("1", 1.0)):
            told: dict[str, Any] = {"n_models": M, "dim": d, "noise": R, "parameter_bound": 1.0, "lanes": lanes}
            found: list[str] = []
            for make in (FSSquareCB, FSOFUL):
                rng = np.random.default_rng(4)
                theta, regret, each = unit(rng, lanes, d), np.zeros(lanes), np.arange(lanes)
                more = {"reward_range": (-1.0 - R, 1.0 + R)} if make is FSSquareCB else {}
                policy = make(**told, **more, regularization=lam)
                for t in range(T):
                    x = unit(rng, lanes, M, K, d)
                    means = np.einsum("nkd,nd->nk", x[:, 0], theta)
                    decision = policy.act(x)
                    played = means[each, decision.action]
                    policy.update(decision, played + R * rng.normal(size=lanes))
                    regret += means.max(axis=1) - played
                    if t == 2 and make is FSSquareCB:
                        found.append(f"{(policy.model_weights[:, 1:].max(axis=1) > 0.99).sum()} of {lanes}")
                found.append(mean(regret))
            rows.append([f"{R}", words, *found])
    caption = (
        f"{M} maps, the first one true, $d={d}$, $K={K}$, $S=1$, Gaussian noise, $T={T}$; regret as mean ± standard "
    )
    caption += f"error over {lanes} lanes:"
    head = ["R", "penalty", "lanes with a wrong map above .99 after 3 rewards", "regret of FS-SCB", "regret of FS-OFUL"]
    return f"{caption}\n\n{markdown_table(head, rows)}"


PAGES: dict[str, dict[str, Callable[[], str]]] = {
    "math.md": {"almost linear": misspecification, "alarms": alarms, "worst case": worst_case, "scb": scb},
    "choosing.md": {"penalty": penalty},
}


def main() -> None:
    """Measure everything."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # alarms are counted here
        for name, parts in PAGES.items():
            text = (DOCS / name).read_text()
            for marker, measure in parts.items():
                text = replace_between(text, marker, measure())
            write_text(DOCS / name, text)


if __name__ == "__main__":
    main()
