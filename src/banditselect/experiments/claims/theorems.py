"""Whether the paper's theorems hold on the runs: regrets against bounds, parameters against confidence sets."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...problems.synthetic import EXTREMES
from ...simulation import Result
from ...theory import feature_selection as fs_theory
from ...theory import parameter_selection as ps_theory
from .. import fs_shared as fs
from .. import latent
from .. import ps_shared as ps
from .measuring import FAILS, Evidence, Measured, Runs, Statistic, measure_all, share


def _arguments_of(result: Result, policy: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return arguments that a policy had, one mapping per replicate."""
    arguments = result.settings["policies"][policy]["arguments"]
    return [{name: _of(arguments[name], n) for name in names} for n in range(result.replicates)]


def _of(value: Any, n: int) -> Any:
    """Return the value of replicate n."""
    return value["per replicate"][n] if isinstance(value, Mapping) else value


def _shares(words: str, evidence: Evidence, policy: str, held: Mapping[str, Any]) -> list[Measured]:
    """Return the share of runs in which something held, of all problems; and of each problem in which it fails."""
    parts = []
    for problem, result in evidence.results.items():
        delta = result.settings["policies"][policy]["arguments"]["delta"]
        parts.append(share(f"{words}, {problem}", int(held[problem].sum()), held[problem].size, 1.0 - delta))
    n = sum(part.n for part in parts)
    whole = share(words, round(sum(part.value * part.n for part in parts)), n, max(part.low for part in parts))
    return [whole, *(part for part in parts if part.verdict == FAILS)]


def _within(evidence: Evidence, policy: str, bound: Callable[[Result], Sequence[float]]) -> list[Measured]:
    """Return the share of runs whose regret is at most the bound."""
    bounds = {problem: np.array(bound(result)) for problem, result in evidence.results.items()}
    regrets = {problem: result.final(policy) for problem, result in evidence.results.items()}
    largest = max(float((regrets[problem] / bounds[problem]).max()) for problem in bounds)
    words = f"share of runs within the bound; the largest regret is {largest:.2g} of it"
    return _shares(words, evidence, policy, {problem: regrets[problem] <= bounds[problem] for problem in bounds})


def feature_selection(evidence: Evidence) -> list[Measured]:
    """Compare the regret of FS-SCB with the printed bound."""
    names = ("noise", "feature_bound", "reward_bound", "parameter_bound", "dim", "n_models", "regularization", "delta")

    def bound(result: Result) -> list[float]:
        rounds, K = result.settings["rounds"], result.settings["problem"]["arguments"]["n_actions"]
        fixed = {"t": rounds, "n_actions": K, "form": "printed"}
        return [float(fs_theory.regret_bound(**fixed, **one)) for one in _arguments_of(result, fs.FS, names)]

    return _within(evidence, fs.FS, bound)


def parameter_selection(evidence: Evidence) -> list[Measured]:
    """Compare the regret of PS-OFUL with the printed bound."""
    return _within(evidence, ps.PS, _printed_bounds)


def transfer_regret(evidence: Evidence) -> list[Measured]:
    """Compare the largest regret of PS-OFUL, over parameters that meet the same balls and noise, with the bound."""
    worst = {}
    for problem, result in evidence.results.items():
        whole = result.replicates // EXTREMES * EXTREMES
        shares = (result.final(ps.PS) / np.array(_printed_bounds(result)))[:whole]
        worst[problem] = shares.reshape(-1, EXTREMES).max(axis=1)
    if not all(shares.size for shares in worst.values()):
        return []
    largest = max(float(shares.max()) for shares in worst.values())
    words = f"share of sets of balls within the bound at each of {EXTREMES} parameters; the largest regret is"
    held = {problem: shares <= 1.0 for problem, shares in worst.items()}
    return _shares(f"{words} {largest:.2g} of it", evidence, ps.PS, held)


def _printed_bounds(result: Result) -> list[float]:
    """Return the printed bound on the regret of PS-OFUL, of each replicate."""
    problem = result.settings["problem"]["arguments"]
    T, M, d = result.settings["rounds"], problem["n_models"], problem["dim"]
    arguments = _arguments_of(result, ps.PS, ("noise", "feature_bound", "reward_bound", "delta"))
    fixed = {"t": T, "dim": d, "n_models": M, "radius": np.full(M, problem["radius"]), "form": "printed"}
    return [float(ps_theory.regret_bound(**fixed, **one)) for one in arguments]


def coverage(policy: str) -> Callable[[Evidence], list[Measured]]:
    """Return the measure: the share of runs whose set held the true parameter throughout."""

    def measure(evidence: Evidence) -> list[Measured]:
        words = f"share of runs in which the set of {policy} held the true parameter at all of 100 checkpoints"
        held = {problem: result.final(policy, "coverage") == 1.0 for problem, result in evidence.results.items()}
        return _shares(words, evidence, policy, held)

    return measure


def latent_rate(policy: str) -> Callable[[Evidence], list[Measured]]:
    """Return the measure: the regret over the rate that the paper claims for latent bandits, problem by problem."""

    def measure(evidence: Evidence) -> list[Measured]:
        parts = []
        for problem, result in evidence.results.items():
            arguments = {name: result.settings["problem"]["arguments"][name] for name in latent.CENTRE}
            over = _over(problem, policy, latent.rate(result.settings["rounds"], **arguments))
            parts.append(Statistic(f"regret of {policy} over the rate, {problem}", over, high=1.0))
        return measure_all(parts, [evidence.runs])

    return measure


def _over(problem: str, policy: str, rate: float) -> Callable[[Runs], Any]:
    return lambda runs: runs.mean(problem, policy) / rate
