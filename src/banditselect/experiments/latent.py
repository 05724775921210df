"""Latent bandits (paper, App. E): regret balancing over UCB and the greedy policies of M known models.

The paper measures nothing here. It claims, informally, regret of order min(eps T + sqrt(M T), sqrt(K M T)) for regret
balancing (eq:regret-balancing) with M + 1 bases - UCB, and for each latent model the policy that is greedy for it - and
the reference U(n) = min(eps n + sqrt(n), sqrt(K n) + sqrt(n)); that PS-OFUL's regret is of order sqrt(K T), and that of
the UCB and Thompson sampling of Hong et al. at most 3 M + 2 eps T + 2 R sqrt(6 M T log T).

Chosen here: known means U[0, 1], wrong by at most eps, noise U[-1/2, 1/2], T = 2000; K, M and eps one at a time about
K = 50, M = 5, eps = 0.1, and K also at eps = 0.5, since the claimed rate depends on K for a large error only. UCB is
UCB1 told the noise. Both rules of regret balancing play: the printed one, and that of its source. The rate is taken
with the constants that the derivation ends with, which are one. The rivals are given eps as well: mmUCB as its error,
mmTS as the standard deviation of the means about the known ones. PS-OFUL with the printed radius plays at the largest
eps only. Tuned: the radii of UCB1, mmUCB and PS-OFUL.
"""

import math
from collections.abc import Sequence
from typing import Any

from ..masters import RegretBalancing
from ..plays.schedules import LatentReference
from ..policies import PSIDS, PSOFUL, PSTS, Binding, Greedy, Uniform, given, on_every_ball
from ..problems import LatentBandit, Problem
from ..rivals import MUCB, UCB1
from ..simulation import Steps
from .experiment import Experiment, Regime, Scale
from .parameter_selection import LIKELIHOOD, PS, TRUE_BALL, UNIFORM, UNTUNED, printed

ARMS = (10, 50, 200)
MODELS = (2, 5, 20)
ERRORS = (0.0, 0.02, 0.1, 0.5)
CENTRE = {"n_arms": 50, "n_models": 5, "error": 0.1}
ROUNDS = 2000
LARGEST = 50  #: K up to which PS-OFUL and PS-IDS play: they cost K^3 a round here
ORACLE, PRINTED, SOURCE, UCB = "greedy, true model known", "RB, as printed", "RB, balancing", "UCB1"
OPTIMISM, SAMPLING = "mmUCB", "mmTS"


def policies(problem: Any, rounds: int) -> dict[str, Binding[Any]]:
    """Return the construction of the appendix with both rules, and what it is to be compared with."""
    ucb = UCB1.bind(noise=given.noise)
    bases = [ucb, on_every_ball(Greedy.bind())]
    reference = LatentReference(error=given.error, n_arms=given.n_arms)
    chosen: dict[str, Binding[Any]] = {
        ORACLE: Greedy.bind(center=given.center),
        PRINTED: RegretBalancing.bind(bases=bases, reference=reference),
        SOURCE: RegretBalancing.bind(bases=bases, reference=reference, rule="balancing"),
        UCB: ucb,
        OPTIMISM: MUCB.bind(centers=given.centers, error=given.error, noise=given.noise, horizon=rounds),
        SAMPLING: PSTS.bind(centers=given.centers, radii=given.radii, noise=given.noise),
        UNIFORM: Uniform.bind(),
    }
    if problem.n_arms <= LARGEST:
        chosen[LIKELIHOOD] = PSOFUL.bind(centers=given.centers, radii=given.radii, noise=given.noise)
        chosen[TRUE_BALL] = PSOFUL.bind(centers=given.true_centers, radii=given.radii, noise=given.noise)
        chosen[UNTUNED] = PSIDS.bind(centers=given.centers, radii=given.radii)
        if problem.error == ERRORS[-1]:
            chosen[PS] = printed(centers=given.centers, radii=given.radii)
    return chosen


def problems(models: Sequence[int] = ()) -> dict[str, Problem]:
    """Return a problem for every K, M and eps, one at a time about the centre; and for every K at the largest eps."""
    axes: list[tuple[str, Any, dict[str, Any]]] = [
        *(("n_arms", K, {}) for K in ARMS),
        *(("n_models", M, {}) for M in MODELS),
        *(("error", eps, {}) for eps in ERRORS),
        *(("n_arms", K, {"error": ERRORS[-1]}) for K in ARMS),
    ]
    found: dict[str, Problem] = {}
    for name, value, others in axes:
        settings = CENTRE | others | {name: value}
        label = "K={n_arms}, M={n_models}, ε={error:g}".format(**settings)
        found[label] = LatentBandit(**settings)
    return found


def rate(rounds: int, *, n_arms: int, n_models: int, error: float) -> float:
    """Return what the derivation ends with: min(eps T + sqrt((M+1) T), sqrt(K (M+1) T) + sqrt((M+1) T))."""
    root = math.sqrt((n_models + 1) * rounds)
    return min(error * rounds + root, math.sqrt(n_arms) * root + root)


def rivals_bound(rounds: int, *, n_models: int, error: float, noise: float) -> float:
    """Return 3 M + 2 eps T + 2 R sqrt(6 M T log T), which the regret of mmUCB and mmTS is said to be at most."""
    return 3 * n_models + 2.0 * error * rounds + 2.0 * noise * math.sqrt(6 * n_models * rounds * math.log(rounds))


EXPERIMENT = Experiment(
    name="latent",
    title="Latent bandits",
    place="Appendix E",
    about=__doc__ or "",
    metric="regret",
    setting="K, M and eps",
    problems=problems,
    regimes={"theory": Regime(policies), "tuned": Regime(policies, {"scale": Steps(0.3)})},
    scales={"quick": Scale((), 300, 8, 4), "paper": Scale((), ROUNDS, 50, 100)},
)
