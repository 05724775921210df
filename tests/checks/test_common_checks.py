import pytest

import banditselect
from banditselect.checks import CHECKS, check_policy, check_problem, run_check
from banditselect.policies import Policy, registered
from expected_skips import run_or_skip
from policies_under_check import ESSENTIAL, POLICIES, SKIPPED

# each policy compiles forms of its own for catalogues
ON_CATALOGUES = {"Uniform", "UCB1", "OFUL", "LinTS", "FSSquareCB", "FSOFUL", "SEXP3", "RegretBalancing", "OnMap"}


def cases():
    """Every check with every policy; slow: variants of policies, and most policies with catalogues."""
    for name in POLICIES:
        for check in CHECKS:
            slow = name not in (ON_CATALOGUES if check == "check_catalogue" else ESSENTIAL)
            yield pytest.param(name, check, marks=pytest.mark.slow if slow else ())


@pytest.mark.parametrize(("name", "check"), list(cases()))
def test_common_check(name, check):
    factory, excused = POLICIES[name]
    run_or_skip(check, factory, SKIPPED.get(name, ()), excused.get(check))


def test_every_check_runs_on_some_policy():
    assert set(SKIPPED) <= set(POLICIES)
    assert not set.intersection(*(SKIPPED.get(name, set()) for name in POLICIES))


def test_every_public_policy_is_registered_and_checked():
    packages = (banditselect.policies, banditselect.masters, banditselect.rivals)
    classes = {value for package in packages for value in vars(package).values() if isinstance(value, type)}
    public = {cls for cls in classes if issubclass(cls, Policy)} - {Policy}
    ours = {cls for cls in registered().values() if cls.__module__.startswith("banditselect.")}
    assert public == ours
    assert {factory.cls for factory, _ in POLICIES.values()} == public


def test_check_policy_runs_everything_and_expected_failures_must_fail():
    factory, excused = POLICIES["Uniform"]
    skipped = check_policy(factory, expected_failures=excused)
    assert set(skipped) == SKIPPED["Uniform"]
    assert skipped["check_batch"] == "it has no parameters"
    with pytest.raises(AssertionError, match="check_learning"):
        check_policy(factory)
    with pytest.raises(AssertionError, match="check_ties: passed, but was expected to fail"):
        run_check("check_ties", factory, "it has none")
    with pytest.raises(AssertionError, match=r"check_batch: cannot run \(it has no parameters\), but was"):
        check_policy(factory, expected_failures=excused | {"check_batch": "it learns nothing"})
    with pytest.raises(ValueError, match="check_nothing"):
        check_policy(factory, expected_failures={"check_nothing": ""})


def test_what_cannot_be_checked_is_refused_by_name():
    for what in (banditselect.OFUL, banditselect.OFUL(dim=3), "OFUL"):
        with pytest.raises(ValueError, match=r"check_policy: factory: got .*what bind returned"):
            check_policy(what)
    with pytest.raises(ValueError, match="check_problem: problem: got 3"):
        check_problem(3)
    with pytest.raises(TypeError) as caught:
        check_policy(banditselect.OFUL.bind())  # its width is missing
    assert caught.value.__notes__[0].startswith("while running check_")
