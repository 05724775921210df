"""Results with chosen values, for tests that judge, rank and report."""

import numpy as np

from banditselect.simulation import METRICS, Result


def result(curves, checkpoints=(1000,), settings=None):
    """Return a result; ``curves``: by policy the regret, ``(n,)`` or ``(C, n)``, or several metrics by name."""
    found = {}
    for policy, own in curves.items():
        named = own if isinstance(own, dict) else {"regret": own}
        known = {metric: np.reshape(values, (len(checkpoints), -1)) for metric, values in named.items()}
        nothing = np.full(next(iter(known.values())).shape, np.nan)
        found[policy] = {metric: known.get(metric, nothing) for metric in METRICS}
    return Result(np.array(checkpoints), found, settings or {"seed": 0})
