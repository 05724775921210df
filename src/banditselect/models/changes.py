r"""Weights of models that come and go, so that the guarantees of the mixture stay.

Let :math:`\pi_i e^{-L_i}` be the weights of the models, not normalised: :math:`L_i` is the loss of model i on the
rewards so far, and :math:`Z = \sum_i \pi_i e^{-L_i}`. The mixture is a forecaster like each of its models, with the
loss :math:`-\log Z`. A list of models that changes is still one forecaster, as long as Z does not jump:

* Models that come get a share w of the prior, all others :math:`1 - w` of theirs. If all rewards so far are replayed to
  a new one, its :math:`L` is its loss on them, as if it had been there from the first: the mixture is then that of the
  old mixture, with weight :math:`1 - w`, and of the new model, with w.
* A model that nothing can be replayed to is taken to have predicted as the mixture did until now: :math:`L = -\log Z`,
  so that its weight is w and Z stays. Its losses count from then on: over the rounds since, the loss of the mixture is
  at most :math:`\log(1 / w)` larger. The same holds for rewards of which it knows no features: it sleeps, and
  :math:`L` grows by the loss of the mixture of the models awake.
* Models that go leave Z to the others: all :math:`\pi_i` are multiplied by the one factor that keeps it. Over the
  rounds since, the loss of the mixture is at most :math:`\log(1 / w_i)` above that of a model that stays, of weight
  :math:`w_i`.

So :math:`-\log Z` stays the loss of one forecaster that knows only the past, which is all that likelihood-ratio sets
ask of it (``docs/math.md``), and the bound of SqAlg holds from the entry of a model on.
"""

import numpy as np

from ..types import Array, Index


def log_sum(log_weight: Array) -> Array:
    """Return the logarithm of the sum of weights, ``(n, M)`` -> ``(n,)``; -inf where all are 0.

    Examples
    --------
    >>> log_sum(np.log([[1.0, 3.0], [2.0, 0.5]])).round(4)
    array([1.3863, 0.9163])
    """
    return np.logaddexp.reduce(log_weight, axis=1)


def others(some: Index, n: int) -> Index:
    """Return the numbers below n that are not among ``some``."""
    return np.delete(np.arange(n), some)


def kept_and_new(n: int, new: int) -> tuple[Index, Index]:
    """Return the positions of the old ones among n models, and of the last ``new``, which have come."""
    return np.arange(n - new), np.arange(n - new, n)
