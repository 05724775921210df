"""Are model weights probabilities? Stop many random problems at a random round, and compare weights and winners.

A problem has M maps (2 to 10) of 2 to 20 features each, 2 to 20 actions, a true map that is drawn with equal
probability, a signal of .03 to 10 times the noise, units and a zero of its own. It is stopped once, after 20 to 2,000
rounds (all log-uniform), so that the counts are independent. In the misspecified kinds, rewards are coins, rare clicks
or heavy-tailed, or every map has the relevant features with added noise ("blurred"), the least blurred one being right.
"""

import warnings
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from banditselect import FSIDS, FSSquareCB
from banditselect.reporting.figures import new_figure
from banditselect.reporting.style import INK, house_style, looks, tidy
from banditselect.statistics import share_interval
from banditselect.types import Array

from . import stored

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = {
    "linear": "linear, Gaussian noise",
    "heavy tails": "linear, heavy tails (t, 2.5)",
    "coins": "coins of linear mean",
    "rare clicks": "rare clicks, .04 e^s",
    "blurred": "no map right, the least blurred counts",
}
NAMES = ("FSIDS", "FSSquareCB")
BINS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0)
HORIZONS = (20, 65, 200, 650, 2001)


def play(kind: str, seed: int) -> dict[str, Any]:
    """Play one problem; return the round at which it was stopped, the true map and the weights of both policies.

    FS-SCB is given the noise, the range, and the zero of the rewards, because it has no constant term.
    """
    warnings.filterwarnings("ignore", ".*lies outside")  # the range is a scale, not a limit
    rng = np.random.default_rng((31, list(KINDS).index(kind), seed))
    clicks, blurred = kind in ("coins", "rare clicks"), kind == "blurred"
    M, K = int(rng.integers(2, 11)), int(rng.integers(2, 21))
    widths = rng.integers(2, 21, size=M)
    rounds = int(np.exp(rng.uniform(np.log(20), np.log(2001))))
    strength, unit, zero = 10.0 ** rng.uniform(-1.5, 1.0), 10.0 ** rng.uniform(-2.0, 2.0), rng.normal()
    blur = np.abs(rng.normal(size=M)) + 0.1
    true = int(blur.argmin()) if blurred else int(rng.integers(M))
    if blurred:
        widths[:] = widths[true]
    if clicks:
        unit, zero, strength = 0.5, 0.0, min(strength, 1.0)
    theta = rng.normal(size=widths[true]) / np.sqrt(widths[true])
    shape: dict[str, Any] = {"n_models": M, "dim": widths.tolist(), "seed": seed}
    fsids = FSIDS(**shape)
    reach = 4.0 * unit * (1.0 + strength)
    fsscb = FSSquareCB(**shape, noise=unit, reward_range=(0.0, 1.0) if clicks else (-reach, reach))
    for _ in range(rounds):
        x = [rng.normal(size=(K, width)) for width in widths]
        signal = x[true] @ theta
        if blurred:
            core = rng.normal(size=(K, widths[0]))
            signal, x = core @ theta, [core + b * z for b, z in zip(blur, x, strict=True)]
        chance = rng.uniform(size=K)
        if kind == "coins":
            y = (chance < 0.5 + 0.15 * strength * signal).astype(float)
        elif kind == "rare clicks":
            y = (chance < np.minimum(0.04 * np.exp(strength * signal), 0.9)).astype(float)
        else:
            heavy = kind == "heavy tails"
            error = rng.standard_t(2.5, size=K) / np.sqrt(5.0) if heavy else rng.normal(size=K)
            y = zero + unit * (strength * signal + error)
        for policy, origin in ((fsids, 0.0), (fsscb, zero)):
            decision = policy.act(x)
            policy.update(decision, float(y[decision.action]) - origin)
    weights = {"FSIDS": fsids.model_weights.tolist(), "FSSquareCB": fsscb.model_weights.tolist()}
    return {"rounds": rounds, "true": true, **weights}


@stored
def play_many(kind: str, n: int) -> list[dict[str, Any]]:
    return list(Parallel(-1)(delayed(play)(kind, seed) for seed in range(n)))


def winners(found: list[dict[str, Any]], policy: str) -> tuple[Array, NDArray[np.bool_], NDArray[np.int64]]:
    """Return the weight of the winner, whether it is right, and the round, ``(n,)`` each."""
    weight = np.minimum([max(run[policy]) for run in found], 1.0)  # a sum over scales may be above it by rounding
    right = np.array([int(np.argmax(run[policy])) == run["true"] for run in found])
    return weight, right, np.array([run["rounds"] for run in found])


def reliability(weight: Array, right: NDArray[np.bool_]) -> list[tuple[str, int, float, float, float, float]]:
    """Return by bin of the winner's weight: words, n, mean weight, share that is right, its 95 % interval (Wilson)."""
    rows = []
    for low, high in pairwise(BINS):
        inside = (weight > low) & (weight <= high)
        n, k = int(inside.sum()), int(right[inside].sum())
        if n:
            rows.append((f"{low:g} to {high:g}", n, float(weight[inside].mean()), k / n, *share_interval(k, n)))
    return rows


def expected_error(weight: Array, right: NDArray[np.bool_]) -> float:
    """Return the mean distance of weight and frequency over the bins."""
    rows = reliability(weight, right)
    return sum(n * abs(claimed - share) for _, n, claimed, share, *_ in rows) / sum(row[1] for row in rows)


def draw(found: Mapping[str, list[dict[str, Any]]]) -> "Figure":
    """Draw the frequency of right winners against their weight: if a map is right, and for the other kinds."""
    with house_style():
        figure = new_figure("page", 3.3)
        left, right = figure.subplots(1, 2, sharey=True)
        series = {f"{name}, at its defaults": winners(found["linear"], name)[:2] for name in NAMES}
        others = {kind: winners(runs, "FSIDS")[:2] for kind, runs in found.items() if kind != "linear"}
        title = f"a map is right, Gaussian noise, n = {len(found['linear'])}"
        for axes, lines, words in ((left, series, title), (right, others, "FSIDS where assumptions fail")):
            axes.plot([0.0, 1.0], [0.0, 1.0], color=INK, linewidth=0.6)
            for (name, (weight, hit)), look in zip(lines.items(), looks(list(lines)).values(), strict=True):
                rows = [row[2:] for row in reliability(weight, hit) if row[1] >= 10]
                claimed, share, low, high = np.array(rows).reshape(-1, 4).T
                style = {"color": look.colour, "marker": look.marker, "markersize": 3.5, "linewidth": 0.9}
                axes.errorbar(claimed, share, np.maximum([share - low, high - share], 0.0), label=name, **style)
            axes.set(title=words, xlabel="weight of the winning map", xlim=(0.0, 1.02), ylim=(0.0, 1.02))
            axes.legend(loc="upper left", frameon=False)
            tidy(axes)
        left.set_ylabel("how often it is right")
    return figure
