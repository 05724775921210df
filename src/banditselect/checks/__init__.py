"""Check policies, problems and feature maps against their contracts, as scikit-learn's ``check_estimator`` does.

A check of policies takes a factory (called with ``lanes`` and ``seed`` it returns a fresh policy), a check of problems
takes a problem, a check of maps takes a map with examples of records. Each raises AssertionError with the reason; one
that cannot run raises ``unittest.SkipTest`` with the reason, as a test does. The features that policies meet are drawn
here; rewards are linear in the first map that the policy looks at, with a parameter that its own assumptions allow.
"""

import warnings
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any
from unittest import SkipTest

from ..maps import Encoder, FeatureMap, Items, Records
from ..policies import Policy
from ..problems import Problem
from ..runtime.errors import refuse
from . import learning_checks, map_checks, policy_checks, problem_checks
from .game import Factory

Check = Callable[[Any], None]


def _checks(module: ModuleType) -> dict[str, Check]:
    return {name: value for name, value in vars(module).items() if name.startswith("check_")}


CHECKS = _checks(policy_checks) | _checks(learning_checks)
PROBLEM_CHECKS = _checks(problem_checks)
MAP_CHECKS = _checks(map_checks)


def check_policy(factory: Factory, *, expected_failures: Mapping[str, str] | None = None) -> dict[str, str]:
    """Run every check on the policies that ``factory`` makes; return those that could not run, with the reasons.

    Parameters
    ----------
    factory: called with ``lanes`` and ``seed``; returns a fresh policy.
    expected_failures: reasons by name of the check, for checks that this policy does not pass; they must fail.

    Examples
    --------
    >>> from banditselect import OFUL
    >>> for check, reason in check_policy(OFUL.bind(dim=3, noise=0.1)).items():
    ...     print(check, "-", reason)
    check_permuted_models - it has no model_weights
    check_units - it does not claim to be free of units
    check_models - its models do not come and go
    """
    if isinstance(factory, type | Policy) or not callable(factory):
        raise refuse("check_policy: factory", factory, "what bind returned, or a function of lanes and seed")
    return _run_all(CHECKS, factory, expected_failures)


def check_problem(problem: Problem, *, expected_failures: Mapping[str, str] | None = None) -> dict[str, str]:
    """Run every check on a problem; return those that could not run, with the reasons.

    Instances depend on the seed and the lane only, and show the same whenever they are asked; features are what
    ``shapes`` says, rewards are on average what ``means`` says, constants hold; the settings build the same problem.

    Parameters
    ----------
    problem: the problem, as small as can be: some checks draw hundreds of instances.
    expected_failures: reasons by name of the check, for checks that this problem does not pass; they must fail.

    Examples
    --------
    >>> from banditselect.problems import SyntheticParameterSelection
    >>> check_problem(SyntheticParameterSelection(n_models=3, dim=4, radius=0.5))
    {}
    """
    if not isinstance(problem, Problem):
        raise refuse("check_problem: problem", problem, "a problem, such as MyProblem()")
    return _run_all(PROBLEM_CHECKS, problem, expected_failures)


def check_map(
    feature_map: FeatureMap | Encoder, contexts: Any, items: Any, *, expected_failures: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Run every check on a feature map; return those that could not run, with the reasons.

    Features have the shape and the names that the map says, are finite for any records, and depend on nothing but the
    records; fitting, observing and saving change only their part.

    Parameters
    ----------
    feature_map: the map, fitted or not, or an encoder, which is checked as a map of the items alone.
    contexts, items: examples that it can read, to which it is fitted: at least one context and three items.
    expected_failures: reasons by name of the check, for checks that this map does not pass; they must fail.

    Examples
    --------
    >>> from banditselect import maps
    >>> prices = [{"price": 2.0}, {"price": 3.0}, {"price": 9.0}]
    >>> check_map(maps.Numbers("price"), [{}], prices)
    {'check_feature_blocks': 'it has one block of parameters'}
    """
    if isinstance(feature_map, Encoder):
        feature_map = Items(feature_map)
    if not isinstance(feature_map, FeatureMap):
        raise refuse("check_map: feature_map", feature_map, "a map or an encoder, such as MyMap()")
    examples = [[dict(row) for row in Records.of(rows).rows()] for rows in (contexts, items)]
    for name, rows, few in (("contexts", examples[0], 1), ("items", examples[1], 3)):
        if len(rows) < few:
            raise refuse(f"check_map: {name}", rows, f"at least {few} examples")
    return _run_all(MAP_CHECKS, map_checks.Subject(feature_map, *examples), expected_failures)


def run_check(name: str, subject: Any, excuse: str | None = None) -> None:
    """Run one check by name; with an ``excuse`` it must fail. Warnings about the data drawn here are muted.

    A check that cannot run raises ``unittest.SkipTest``, which pytest shows as a skip.
    """
    outcome = "passed"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            (CHECKS | PROBLEM_CHECKS | MAP_CHECKS)[name](subject)
        except AssertionError as error:
            if excuse is None:
                raise AssertionError(f"{name}: {error}") from error
            return
        except SkipTest as reason:
            if excuse is None:
                raise
            outcome = f"cannot run ({reason})"
        except Exception as error:
            error.add_note(f"while running {name}")
            raise
    if excuse is not None:
        raise AssertionError(f"{name}: {outcome}, but was expected to fail ({excuse})")


def _run_all(checks: Mapping[str, Check], subject: Any, expected_failures: Mapping[str, str] | None) -> dict[str, str]:
    excused = dict(expected_failures or {})
    unknown = set(excused) - set(checks)
    if unknown:
        raise ValueError(f"expected_failures: got {sorted(unknown)}, expected names out of {sorted(checks)}")
    skipped = {}
    for name in checks:
        try:
            run_check(name, subject, excused.get(name))
        except SkipTest as reason:
            skipped[name] = str(reason)
    return skipped
