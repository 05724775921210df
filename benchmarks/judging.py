"""The cost of judging a policy by a log of many maps, against a log of one."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from banditselect import FSSquareCB, SquareCB, on_map
from banditselect.logs import Log, evaluate

from .figures import Part
from .limits import K, figure
from .measuring import interleaved
from .problem import NOISE

D, MAPS = 10, (1, 4, 16)
JUDGED: dict[str, Callable[[int, int], Any]] = {
    "probabilities that are given": lambda M, T: np.full((T, K), 1.0 / K),
    "SquareCB on one of the maps": lambda M, T: on_map(SquareCB(dim=D), 0),
    "FS-SCB on all of them": lambda M, T: FSSquareCB(n_models=M, dim=D, noise=NOISE),
}


def judging(quick: bool) -> Part:
    """Target p: ``evaluate`` on M maps, which only the reward model has to read, against one map."""
    blocks, T = (4, 2000) if quick else (30, 20_000)
    figures, logs = [], {M: _drawn(M, T) for M in MAPS}
    for name, make in JUDGED.items():
        seconds = interleaved({f"M = {M}": partial(evaluate, make(M, T), logs[M]) for M in MAPS}, blocks)
        limit: dict[str, Any] = {"limit": 2.0, "target": "p"} if name in list(JUDGED)[:2] else {}
        for M in MAPS[1:]:
            figures.append(figure(seconds, (f"M = {M}", "M = 1"), T, what=f"{name}, M = {M}", **limit))
    settings = f"`evaluate`, a log of {T:,} decisions, K = {K}, d = {D}; {blocks} blocks of each, in random turns; "
    return Part("Judging by a log of many maps", f"{settings}microseconds per decision", figures)


def _drawn(M: int, T: int) -> Log:
    """Return a log of uniform play; the first map explains the rewards."""
    rng = np.random.default_rng(0)
    features, action = rng.normal(size=(T, M, K, D)), rng.integers(K, size=T)
    reward = features[np.arange(T), 0, action] @ rng.normal(size=D) + NOISE * rng.normal(size=T)
    return Log(features=features, action=action, propensity=np.full(T, 1.0 / K), reward=reward)
