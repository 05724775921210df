"""A step of mirror descent under the log barrier, in plain arithmetic of many digits."""

from decimal import Decimal, localcontext

import numpy as np


def step_in_decimals(w, eta, i, loss):
    """Solve sum_j 1 / (1 / w_j + eta_j (loss_j - x)) = 1 for x with 60 digits, by bisection."""
    with localcontext() as context:
        context.prec = 60
        w, eta, loss = [Decimal(v) for v in w], [Decimal(v) for v in eta], Decimal(loss)
        total = sum(w)
        inverse = [total / v + e * (loss if j == i else 0) for j, (v, e) in enumerate(zip(w, eta, strict=True))]
        low, high = Decimal(0), min([loss, *(a / e for a, e in zip(inverse, eta, strict=True))])
        for _ in range(220):
            x = (low + high) / 2
            parts = [a - e * x for a, e in zip(inverse, eta, strict=True)]
            low, high = (low, x) if min(parts) <= 0 or sum(1 / part for part in parts) > 1 else (x, high)
        return np.array([float(1 / (a - e * low)) for a, e in zip(inverse, eta, strict=True)])
