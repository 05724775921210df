"""Target h: the cost of the first call, with nothing compiled yet and then in a new process."""

import os
import subprocess
import sys
import tempfile

from .figures import Figure, Part
from .measuring import Spread

CHILD = """
import time
start = time.perf_counter()
import numpy as np
from banditselect import {0}
imported = time.perf_counter()
policy = {1}
policy.update(policy.act(np.ones({2})), 0.5)
print(imported - start, time.perf_counter() - start)
"""
POLICIES = {
    "FS-SCB": ("FSSquareCB", "FSSquareCB(n_models=10, dim=10)", "(10, 10, 10)"),
    "OFUL": ("OFUL", "OFUL(dim=10)", "(10, 10)"),
    "PS-OFUL": ("PSOFUL", "PSOFUL(centers=np.eye(10))", "(10, 10)"),
}


def new_process(cache: str, policy: tuple[str, str, str]) -> list[float]:
    """Return the seconds to import, and to import, act and update, in a new process with this cache of the compiler."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", CHILD.format(*policy)]
    found = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return [float(seconds) for seconds in found.split()]


def first_call(quick: bool) -> Part:
    """Measure the first call with an empty compiler cache, then in new processes with the cache that it left."""
    fresh_runs, later_runs = (1, 3) if quick else (2, 10)
    figures = []
    for label, policy in list(POLICIES.items())[: 1 if quick else None]:
        fresh, later, imports = [], [], []
        for _ in range(fresh_runs):
            with tempfile.TemporaryDirectory() as cache:
                fresh.append(new_process(cache, policy)[1])
                for _ in range(later_runs // fresh_runs):
                    imported, done = new_process(cache, policy)
                    imports.append(imported)
                    later.append(done)
        figures += [
            Figure(f"{label}: import, act, update; nothing compiled yet", "", Spread.of(fresh), 20.0, target="h"),
            Figure(f"{label}: the same in a new process", "", Spread.of(later), 1.0, target="h"),
            Figure(f"{label}: of that, the import", "", Spread.of(imports)),
        ]
    settings = f"New processes: {fresh_runs} with an empty NUMBA_CACHE_DIR, {later_runs} with the cache that these left"
    return Part("The first call, in seconds", settings, figures)
