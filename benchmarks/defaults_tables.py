"""Tables of scikit-learn as bandits: an arm per class, with parameters of its own, and ten maps to choose among.

The problem is ``ClassesAsArms``. Of the ten maps two are useless: noise, and rows shuffled.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from banditselect import FSIDS, FSOFUL, OFUL, FSSquareCB, LinIDS, LinTS, SquareCB, simulate
from banditselect.policies import Policy
from banditselect.problems import ClassesAsArms

Array = NDArray[np.float64]

TABLES = ("iris", "wine", "breast_cancer", "digits")
USELESS = ("noise", "shuffled")
WIDEST = 32  #: columns of a map; wider tables are cut to their principal components

SELECTING: dict[str, type[Policy]] = {"FSIDS": FSIDS, "FSSquareCB": FSSquareCB, "FSOFUL": FSOFUL}
SINGLE: dict[str, type[Policy]] = {"LinIDS": LinIDS, "SquareCB": SquareCB, "OFUL": OFUL, "LinTS": LinTS}
"""The compared policies, at their defaults, which fit rewards of 0 and 1."""


def maps_of(table: str, seed: int) -> tuple[dict[str, Array], NDArray[np.int64]]:
    """Return the ten maps by name, and the classes."""
    rng = np.random.default_rng((41, seed))
    data = getattr(datasets, f"load_{table}")()
    rows = StandardScaler().fit_transform(data.data)
    components = PCA(random_state=0).fit_transform(rows)
    columns = rows.shape[1]
    raw = rows if columns <= WIDEST else components[:, :WIDEST]
    some = (2, max(3, raw.shape[1] // 4), max(4, raw.shape[1] // 2))
    maps = {"raw": raw, **{f"first {k} components": components[:, :k] for k in some}}
    maps["products"] = PolynomialFeatures(2, include_bias=False).fit_transform(components[:, : min(5, columns)])
    apart = np.median(((raw[:200, None] - raw[None, :200]) ** 2).sum(axis=2))
    for i, width in enumerate((0.3, 1.0, 3.0)):
        waves = RBFSampler(gamma=width / apart, n_components=30, random_state=i)
        maps[f"waves {width:g}"] = waves.fit_transform(raw)
    maps["noise"] = rng.normal(size=(len(rows), 5))
    maps["shuffled"] = raw[rng.permutation(len(rows))]
    return maps, data.target


def play(table: str, name: str, seed: int) -> dict[str, float]:
    """Return the reward of a policy that selects, or of a policy on each map that is not useless."""
    warnings.filterwarnings("ignore", ".*lies outside")
    maps, classes = maps_of(table, seed)

    def earned(policy: type[Policy], features: Any) -> float:
        problem = ClassesAsArms(features=features, labels=classes)
        wide = policy.bind(blocks=1)  # one parameter and one constant for all arms, as the page was measured
        result = simulate({name: wide}, problem, rounds=classes.size, replicates=1, seed=seed, workers=1)
        return float(result.final(name, "reward")[0])

    if name in SELECTING:
        return {name: earned(SELECTING[name], list(maps.values()))}
    return {label: earned(SINGLE[name], z) for label, z in maps.items() if label not in USELESS}
