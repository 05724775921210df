"""The paper's theorems on the runs: regrets against bounds, parameters against confidence sets."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...problems.synthetic import EXTREMES
from ...simulation import Results
from ...theory import feature_selection as fs_theory
from ...theory import parameter_selection as ps_theory
from .. import feature_selection as fs
from .. import latent
from .. import parameter_selection as ps
from .claim import CONFIDENCE, FAILS, Measure, Measured, Runs, Statistic, arguments_of, measure, part_of, share

ROUNDING = 1e-9  #: of a sum of shares
SLACK = 0.1  #: a bound of which all regrets stay below this part shows nothing


def _shares(words: str, runs: Runs, policy: str, held: Mapping[str, Any]) -> list[Measured]:
    """Return the share of runs in which something held, of all problems; and of each problem in which it fails.

    ``held``: by problem, how much of every independent run held, 0 to 1.
    """
    several = len(held) > 1
    confidence = 1.0 - (1.0 - CONFIDENCE) / (len(held) + 1) if several else CONFIDENCE
    parts = []
    for problem, values in held.items():
        delta = runs.results[problem].settings["policies"][policy]["arguments"]["delta"]
        label = f"{words}, {problem}" if several else words
        parts.append(share(label, math.floor(values.sum() + ROUNDING), values.size, 1.0 - delta, confidence))
    if not several:
        return parts
    n = sum(part.n for part in parts)
    whole = round(sum(part.value * part.n for part in parts))
    return [
        share(words, whole, n, max(part.low for part in parts), confidence),
        *(part for part in parts if part.verdict == FAILS),
    ]


def _within(runs: Runs, policy: str, of_bound: Mapping[str, NDArray[Any]], what: str) -> list[Measured]:
    """Return the share of ``what`` whose regret, as a part of the bound, is at most 1; vacuous if all are far below."""
    largest = max(float(parts.max()) for parts in of_bound.values())
    words = f"share of {what}; the largest regret is {largest:.2g} of it"
    shares = _shares(words, runs, policy, {problem: parts <= 1.0 for problem, parts in of_bound.items()})
    vacuous = f"a wide bound: the largest regret is {largest:.2g} of it" if largest < SLACK else ""
    return [replace(part, vacuous=vacuous) for part in shares]


def feature_selection(runs: Runs) -> list[Measured]:
    """Compare the regret of FS-SCB with the printed bound."""
    names = ("noise", "feature_bound", "reward_bound", "parameter_bound", "dim", "n_models", "regularization", "delta")
    of_bound = {}
    for problem, result in runs.results.items():
        rounds, K = result.settings["rounds"], result.settings["problem"]["arguments"]["n_actions"]
        fixed = {"t": rounds, "n_actions": K, "form": "printed"}
        bounds = [float(fs_theory.regret_bound(**fixed, **one)) for one in arguments_of(result, fs.FS, names)]
        of_bound[problem] = result.final(fs.FS) / np.array(bounds)
    return _within(runs, fs.FS, of_bound, "runs within the bound")


def transfer_regret(runs: Runs) -> list[Measured]:
    """Compare the largest regret of PS-OFUL, over parameters that meet the same balls and noise, with the bound."""
    of_bound = {}
    for problem, result in runs.results.items():
        told = result.settings["problem"]["arguments"]
        T, M, d = result.settings["rounds"], told["n_models"], told["dim"]
        arguments = arguments_of(result, ps.PS, ("noise", "feature_bound", "reward_bound", "delta"))
        fixed = {"t": T, "dim": d, "n_models": M, "radius": np.full(M, told["radius"]), "form": "printed"}
        bounds = [float(ps_theory.regret_bound(**fixed, **one)) for one in arguments]
        of_bound[problem] = _of_sets(result.final(ps.PS) / np.array(bounds)).max(axis=1)
    if not all(parts.size for parts in of_bound.values()):
        return []
    return _within(runs, ps.PS, of_bound, f"sets of balls within the bound at each of {EXTREMES} parameters")


def _of_sets(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values of replicates that met the same balls, actions and noise, ``(sets, parameters)``."""
    return values[: values.size // EXTREMES * EXTREMES].reshape(-1, EXTREMES)


@measure
def assuming_small_balls(runs: Runs, parts: Measure) -> list[Any]:
    """Take a measure on the problems whose radius is at most 1, as the theorems on PS-OFUL assume."""
    some = {p: one for p, one in runs.results.items() if one.settings["problem"]["arguments"]["radius"] <= 1.0}
    found = parts(replace(runs, results=Results(some))) if some else []
    return [part if part.problems else replace(part, problems=tuple(some)) for part in found]


@measure
def coverage(runs: Runs, policy: str) -> list[Measured]:
    """Measure the share of parameters that were held throughout; those with the same balls are one run."""
    words = f"share of parameters, {EXTREMES} for a set of balls, that the set of {policy} held at all checkpoints"
    found = {problem: result.final(policy, "coverage") == 1.0 for problem, result in runs.results.items()}
    held = {problem: _of_sets(values).mean(axis=1) for problem, values in found.items()}
    return _shares(words, runs, policy, held) if all(values.size for values in held.values()) else []


@measure
def latent_rate(runs: Runs, policy: str) -> list[Statistic]:
    """Compare the regret with the rate that the paper claims for latent bandits, problem by problem."""
    parts = []
    for problem, result in runs.results.items():
        arguments = {name: result.settings["problem"]["arguments"][name] for name in latent.CENTRE}
        over = part_of(runs, problem, policy, latent.rate(result.settings["rounds"], **arguments))
        parts.append(Statistic(f"regret of {policy} over the rate, {problem}", over, high=1.0))
    return parts
