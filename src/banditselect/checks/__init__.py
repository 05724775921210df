"""What every policy must pass: ``check_policy``, public like scikit-learn's ``check_estimator``.

A check takes a factory (called with ``lanes`` and ``seed`` it returns a fresh policy) and raises AssertionError with
the reason. The features are drawn here; rewards are linear in the first map that the policy looks at, with a parameter
that the policy's own assumptions allow.
"""

import warnings
from collections.abc import Callable, Mapping

from . import policy_checks
from .game import Factory

CHECKS: dict[str, Callable[[Factory], None]] = {
    name: value for name, value in vars(policy_checks).items() if name.startswith("check_")
}


def check_policy(factory: Factory, *, expected_failures: Mapping[str, str] | None = None) -> None:
    """Run every check on the policies that ``factory`` makes.

    Parameters
    ----------
    factory: called with ``lanes`` and ``seed``; returns a fresh policy.
    expected_failures: reasons by name of the check, for checks that this policy does not pass; they must fail.

    Examples
    --------
    >>> from banditselect import OFUL
    >>> check_policy(OFUL.bind(dim=3, noise=0.1))
    """
    excused = dict(expected_failures or {})
    unknown = set(excused) - set(CHECKS)
    if unknown:
        raise ValueError(f"expected_failures: got {sorted(unknown)}, expected names out of {sorted(CHECKS)}")
    for name in CHECKS:
        run_check(name, factory, excused.get(name))


def run_check(name: str, factory: Factory, excuse: str | None = None) -> None:
    """Run one check by name; with an ``excuse`` it must fail. Warnings about the data drawn here are muted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            CHECKS[name](factory)
        except AssertionError as error:
            if excuse is None:
                raise AssertionError(f"{name}: {error}") from error
            return
    if excuse is not None:
        raise AssertionError(f"{name}: passed, but was expected to fail ({excuse})")
