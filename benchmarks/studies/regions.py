"""The tables of regions.md: ``python -m benchmarks.studies.regions [out/paper]``, two minutes on one core.

With a folder, only the table on tasks in sequence is written, from the stored results of ``banditselect reproduce
meta-tasks``.
"""

import itertools
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import multivariate_normal
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from banditselect import PSIDS, LinIDS, regions
from banditselect.experiments.beyond import task_sequence
from banditselect.runtime.quantiles import standard_error
from banditselect.simulation import Results
from banditselect.types import Array

from ..pages import DOCS, fill, markdown_table, spread

D, M, TASKS, WIDTH, NOISE = 5, 4, 60, 0.2, 1.0
NEW, ROUNDS, ACTIONS = 50, 30, 10
OURS, GMM, KMEANS, TRUTH, ALONE = "deconvolved", "Gaussian mixture", "k-means", "true mixture", "IDS, alone"
Prior = dict[str, Any]


def log_density(prior: Prior, theta: Array) -> Array:
    """Return the log density of parameters under a mixture."""
    parts = zip(prior["means"], prior["covariances"], prior["weights"], strict=True)
    joint = [np.log(weight) + multivariate_normal(mean, covariance).logpdf(theta) for mean, covariance, weight in parts]
    return np.logaddexp.reduce(joint, axis=0)


def plain_mixture(estimates: Array) -> Prior:
    """Return the Gaussian mixture that scikit-learn fits to estimates, with the number of components by BIC."""
    tried = [GaussianMixture(k, n_init=3, random_state=0).fit(estimates) for k in range(1, 9)]
    best = min(tried, key=lambda model: model.bic(estimates))
    return {"means": best.means_, "covariances": best.covariances_, "weights": best.weights_}


def clusters(estimates: Array, k: int) -> Prior:
    """Return k-means, each cluster a ball of the mean squared distance within it."""
    n, d = estimates.shape
    model = KMeans(k, n_init=10, random_state=0).fit(estimates)
    own, means = model.labels_, model.cluster_centers_
    apart = ((estimates - means[own]) ** 2).sum(axis=1)
    size = np.bincount(own, minlength=k)
    spread = np.maximum(np.bincount(own, apart, minlength=k) / size / d, 1e-4)
    return {"means": means, "covariances": spread[:, None, None] * np.eye(d), "weights": size / n}


def regret(policy: Any, theta: Array, seed: int) -> float:
    """Return the mean regret of new tasks, one in every lane."""
    rng, rows, total = np.random.default_rng((seed, 1)), np.arange(NEW), np.zeros(NEW)
    for _ in range(ROUNDS):
        x = rng.normal(size=(NEW, ACTIONS, D))
        means = np.einsum("nkd,nd->nk", x, theta)
        decision = policy.act(x)
        policy.update(decision, means[rows, decision.action] + NOISE * rng.normal(size=NEW))
        total += means.max(axis=1) - means[rows, decision.action]
    return float(total.mean())


def world(seed: int) -> tuple[dict[str, tuple[float, float]], int, float]:
    """Return log density and regret of every method in one world, the number of regions, the coverage of centres."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(M, D))
    theta = centers[rng.integers(M, size=TASKS)] + WIDTH * rng.normal(size=(TASKS, D))
    new = centers[rng.integers(M, size=NEW)] + WIDTH * rng.normal(size=(NEW, D))
    task = np.repeat(np.arange(TASKS), rng.integers(D, ROUNDS + 1, size=TASKS))
    x = rng.normal(size=(len(task), D))
    y = (x * theta[task]).sum(axis=1) + NOISE * rng.normal(size=len(task))
    found = regions.from_tasks({"task": task, "reward": y}, key="task", features=x, max_regions=8)
    own = {name: value for name, value in found.next_task().items() if name != "covariance_type"}
    ridge = found.fits.shrunk_estimates
    truth = {"means": centers, "covariances": np.tile(WIDTH**2 * np.eye(D), (M, 1, 1)), "weights": np.full(M, 1 / M)}
    priors = {OURS: own, GMM: plain_mixture(ridge), KMEANS: clusters(ridge, M), TRUTH: truth}
    result = {}
    for name, prior in priors.items():
        policy = PSIDS.bind_mixture(**prior, covariance_type="full", noise=found.noise)(lanes=NEW)
        result[name] = (float(log_density(prior, new).mean()), regret(policy, new, seed))
    result[ALONE] = (np.nan, regret(LinIDS(dim=D, noise=found.noise, lanes=NEW), new, seed))
    apart = np.linalg.norm(found.centers[:, None] - centers, axis=2)
    return result, found.n_regions, float((apart.min(axis=0) <= found.center_errors[apart.argmin(axis=0)]).mean())


def compared(worlds: int = 30) -> str:
    """Return the comparison with plain mixtures and k-means."""
    found, numbers, covered = zip(*(world(seed) for seed in range(worlds)), strict=True)
    values, rows = {name: np.array([one[name] for one in found]).T for name in found[0]}, []
    for name, (density, lost) in values.items():
        more = "" if name == OURS else spread(lost - values[OURS][1], 2)
        rows.append([name, "–" if name == ALONE else spread(density, 2), spread(lost, 2), more])
    head = ["regions", "log density of new parameters", f"regret of PSIDS in {ROUNDS} rounds", "regret more than ours"]
    counts = ", ".join(f"{k} ({numbers.count(k)} times)" for k in sorted(set(numbers)))
    right = np.array([share for share, k in zip(covered, numbers, strict=True) if k == M])
    last = f"The number of regions was found as {counts}. Where it was {M}, {100 * right.mean():.0f} % "
    last += (
        f"(± {100 * standard_error(right):.0f} %) of the true centres are within `center_errors` of the nearest one."
    )
    return f"{markdown_table(head, rows)}\n\n{last}"


def elongated(worlds: int = 12) -> str:
    """Return the cost of shrinkage towards balls for regions that are not balls."""
    pulls = {"0": 0.0, "d": 1.0 * D, "2 d (default)": 2.0 * D, "4 d": 4.0 * D}
    rows = []
    for tasks, ratio in itertools.product((60, 300), (1, 10, 100)):
        lost = np.array([[_lost(seed, tasks, ratio, pull) for pull in pulls.values()] for seed in range(worlds)])
        rows.append([str(tasks), f"{ratio} : 1", *(spread(values, 2) for values in lost.T)])
    return markdown_table(["past tasks", "variances", *(f"shrinkage {p}" for p in pulls)], rows)


def _lost(seed: int, tasks: int, ratio: float, shrinkage: float) -> float:
    """Return the same for one world and one shrinkage."""
    rng = np.random.default_rng((seed, tasks, int(ratio)))
    sizes = np.geomspace(1.0, 1.0 / ratio, D)
    axes = np.linalg.qr(rng.normal(size=(M, D, D)))[0] * np.sqrt(sizes * WIDTH**2 / sizes.mean())
    centers = rng.normal(size=(M, D))

    def drawn(n: int) -> Array:
        own = rng.integers(M, size=n)
        return centers[own] + np.einsum("nij,nj->ni", axes[own], rng.normal(size=(n, D)))

    theta, new = drawn(tasks), drawn(500)
    task = np.repeat(np.arange(tasks), rng.integers(D, ROUNDS + 1, size=tasks))
    x = rng.normal(size=(len(task), D))
    y = (x * theta[task]).sum(axis=1) + 0.5 * rng.normal(size=len(task))
    table = {"task": task, "reward": y}
    found = regions.from_tasks(table, key="task", features=x, n_regions=M, shrinkage=shrinkage, restarts=3)
    truth = {"means": centers, "covariances": axes @ np.swapaxes(axes, 1, 2), "weights": np.full(M, 1 / M)}
    return float((log_density(truth, new) - log_density(found.next_task(), new)).mean())


def in_sequence(folder: Path) -> str:
    """Return the regret per task, by the number of tasks before it, from stored results."""
    results = Results.load(folder / "meta-tasks" / "theory" / "results.parquet")
    (result,) = results.values()
    tasks = result.checkpoints / task_sequence.TASK_ROUNDS
    edges = [0, *(edge for edge in (5, 10, 20, 30, 50, 100, 200, 350, 500) if edge <= tasks[-1])]
    rows = []
    for policy in result.policies:
        curve = result.curve(policy, "regret")
        at = np.array([np.interp(edges, [0.0, *tasks], [0.0, *lane]) for lane in curve.T])
        per_task = np.diff(at, axis=1) / np.diff(edges)
        rows.append([policy, *(spread(values, 2) for values in per_task.T)])
    head = ["regret per task", *(f"tasks {a + 1} to {b}" for a, b in itertools.pairwise(edges))]
    return markdown_table(head, rows)


def main() -> None:
    """Measure, or read what was measured, and write the page."""
    if len(sys.argv) > 1:
        fill(DOCS / "regions.md", {"in sequence": in_sequence(Path(sys.argv[1]))})
        return
    warnings.simplefilter("ignore")  # k-means of scikit-learn warns of its own memory
    fill(DOCS / "regions.md", {"compared": compared(), "elongated": elongated()})


if __name__ == "__main__":
    main()
