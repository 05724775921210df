"""Likelihood-ratio sets over banks whose sums are given."""

import numpy as np

from banditselect.models.likelihood import LikelihoodSets
from banditselect.models.ridge_bank import RidgeBank
from banditselect.runtime.shapes import maps_of


def sets_of(bank, *, kind=LikelihoodSets, noise=0.5, penalty=(1.0, 1.0), prior=None, delta=0.05, **arguments):
    """Return sets whose constants are the same in all lanes."""
    lanes, M = bank.updates.size, len(penalty)
    return kind(
        bank,
        noise=np.full(lanes, noise),
        penalty=np.tile(np.array(penalty, dtype=float), (lanes, 1)),
        prior=np.full(M, 1.0 / M) if prior is None else np.array(prior),
        delta=delta,
        **arguments,
    )


def bank_of(evidence, t=0):
    """Return a bank of one lane whose sums per model (logdet, J, online loss) are these after t updates."""
    M = len(evidence)
    bank = RidgeBank.of(maps_of([1] * M, many=True), 1, np.ones((1, M)))
    bank.evidence[0] = np.transpose(evidence)
    bank.updates[0] = t
    return bank
