"""Regressions over one feature map told again what others have learned: the sums that they have learned from are all.

A ridge regression about a centre m with prior precision Lambda has learned nothing but ``G = sum x x'``, ``b = sum x y``
and ``s = sum y^2``: with ``V = Lambda + G`` and ``c = b - G m``, its estimate is ``m + V^-1 c`` and ``J = s - 2 b'm +
m'G m - c'V^-1 c``. So a region that comes late can be told all rewards so far, exactly up to rounding, and G is found
from any region that is not a known parameter, best from the one with the weakest prior.
"""

from typing import NamedTuple

import numpy as np

from ..kernels import ridge
from ..types import Array, Index
from .experts import Bank, RidgeBank, SharedRidgeBank


class Sums(NamedTuple):
    """G ``(N, d, d)``, b ``(N, d)``, s ``(N,)``, and of how many rewards, ``(N,)``."""

    gram: Array
    moment: Array
    squares: Array
    updates: Index


def is_known(bank: Bank) -> bool:
    """Tell whether the models of some lane are all known parameters, which cannot tell what they have learned."""
    weakest = np.take_along_axis(bank.root.any(axis=(2, 3)), bank.group, axis=1)
    return not weakest.any(axis=1).all()


def learned_by(bank: Bank, begun: Bank) -> Sums:
    """Return what the models of every lane have learned; ``begun``: the same bank before it learned anything."""
    rows, some = np.arange(bank.updates.size), bank.updates > 0
    weakest = np.take_along_axis((begun.root**2).sum(axis=(2, 3)), begun.group, axis=1).argmax(axis=1)
    V, prior = (np.stack([part.precision_of(n, int(weakest[n])) for n in rows]) for part in (bank, begun))
    center = begun.estimates(rows, weakest)
    step = bank.estimates(rows, weakest) - center
    gram = np.where(some[:, None, None], V - prior, 0.0)
    values, vectors = np.linalg.eigh((gram + np.swapaxes(gram, 1, 2)) / 2.0)
    gram = (vectors * np.maximum(values, 0.0)[:, None]) @ np.swapaxes(vectors, 1, 2)
    pull = np.einsum("nij,nj->ni", V, step)
    moment = pull + np.einsum("nij,nj->ni", gram, center)
    about = np.einsum("ni,ni->n", 2.0 * moment, center) - np.einsum("ni,nij,nj->n", center, gram, center)
    squares = bank.penalised[rows, weakest] + about + np.einsum("ni,ni->n", pull, step)
    return Sums(gram, moment, squares, bank.updates)


def tell(bank: RidgeBank | SharedRidgeBank, sums: Sums) -> None:
    """Let a bank that has learned nothing learn what others have; lanes of which nothing is known stay as they are."""
    (N, M), d = bank.group.shape, bank.root.shape[2]
    theta = bank.theta
    for n in np.flatnonzero(sums.updates):
        gram, moment = sums.gram[n], sums.moment[n]
        for g in np.unique(bank.group[n]):
            models, before = np.flatnonzero(bank.group[n] == g), bank.root[n, g, :, :d].copy()
            center = theta[n, models]
            pull = moment - center @ gram
            left = sums.squares[n] - 2.0 * center @ moment + np.einsum("mi,ij,mj->m", center, gram, center)
            if before.any():
                inverse = np.linalg.inv(before)
                lower = np.linalg.cholesky(inverse.T @ inverse + gram)
                root = np.linalg.inv(lower).T
                seen = pull @ root
                bank.root[n, g, :, :d] = root
                theta[n, models] += seen @ root.T
                left = left - (seen**2).sum(axis=1)
                grown = 2.0 * (np.log(np.diag(lower)).sum() + np.linalg.slogdet(before)[1])
                bank.evidence[n, ridge.LOGDET, models] = grown
            bank.evidence[n, ridge.PENALISED, models] = np.maximum(left, 0.0)
    bank.place(theta)
    bank.updates[:] = sums.updates
