"""Sums over all rewards that regressions over one feature map have learned, and that others can take over.

A ridge regression about a centre m with prior precision Lambda has learned nothing but ``G = sum x x'``, ``b = sum x
y`` and ``s = sum y^2``: with ``V = Lambda + G`` and ``c = b - G m``, its estimate is ``m + V^-1 c``, and ``J = s - 2
b'm + m'G m - c'V^-1 c``. So a region that comes late can learn all rewards so far, exactly up to rounding, and G is
found from any region that is not a known parameter, best from the one with the weakest prior.
"""

from typing import NamedTuple

import numpy as np

from ..kernels import ridge
from ..types import Array, Index
from .ridge_bank import Bank


class SufficientSums(NamedTuple):
    """G ``(N, d, d)``, b ``(N, d)``, s ``(N,)``, and how many rewards they are of, ``(N,)``."""

    gram: Array
    moment: Array
    squares: Array
    updates: Index


def is_known(bank: Bank) -> bool:
    """Return whether the models of some lane are all known parameters, which do not keep what they have learned."""
    weakest = np.take_along_axis(bank.root.any(axis=(2, 3)), bank.group, axis=1)
    return not weakest.any(axis=1).all()


def of(bank: Bank, fresh: Bank) -> SufficientSums:
    """Return what the models of every lane have learned; ``fresh``: the same bank before it learned anything."""
    N, d = bank.updates.size, bank.root.shape[2]
    sums = SufficientSums(np.zeros((N, d, d)), np.zeros((N, d)), np.zeros(N), bank.updates)
    theta, before = bank.theta, fresh.theta
    width = np.take_along_axis((fresh.root**2).sum(axis=(2, 3)), fresh.group, axis=1)
    for n in np.flatnonzero(bank.updates):  # one by one, so that no lane depends on others to the last bit
        i = int(width[n].argmax())
        V, prior, center = bank.precision_of(int(n), i), fresh.precision_of(int(n), i), before[n, i]
        gram = np.asarray(V - prior)
        values, vectors = np.linalg.eigh((gram + gram.T) / 2.0)
        gram = (vectors * np.maximum(values, 0.0)) @ vectors.T
        step = theta[n, i] - center
        pull = V @ step
        moment = pull + gram @ center
        sums.gram[n], sums.moment[n] = gram, moment
        sums.squares[n] = bank.penalised[n, i] + (2.0 * moment - gram @ center) @ center + pull @ step
    return sums


def apply(bank: Bank, sums: SufficientSums) -> None:
    """Let a bank that has learned nothing learn what others have; lanes without rewards stay as they are."""
    theta, d = bank.theta, bank.root.shape[2]
    for n in np.flatnonzero(sums.updates):
        gram, moment = sums.gram[n], sums.moment[n]
        for g in np.unique(bank.group[n]):
            models, before = np.flatnonzero(bank.group[n] == g), bank.root[n, g, :, :d].copy()
            center = theta[n, models]
            pull = moment - center @ gram
            left = sums.squares[n] - 2.0 * center @ moment + ((center @ gram) * center).sum(axis=1)
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
    bank.theta = theta
    bank.updates[:] = sums.updates
