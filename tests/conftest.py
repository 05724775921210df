import gc
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from banditselect.kernels.disk import DiskCache
from banditselect.runtime import files

sys.path.insert(0, str(Path(__file__).parent))


MEDIUM = {
    *("agent", "all_or_nothing", "arena", "arena_rates", "benchmarks", "blocks", "catalogues", "check_map"),
    *("check_policy", "claims", "claims_variance", "cli", "cli_reproduce", "cli_without_extra", "common_checks"),
    *("containers", "defaults_study", "engines", "eq_algorithms", "experiments", "first_use", "identity"),
    *("image_features", "interrupted_members", "interrupted_updates", "interruptions", "kills", "loop", "progress"),
    *("readers", "report", "reporting", "scaling", "several_processes", "store", "store_damage", "sweep_example"),
}
"""Files whose tests take seconds: `make quick` leaves them out."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of these files."""
    for item in items:
        if item.path.stem.removeprefix("test_") in MEDIUM or item.path.suffix == ".md":
            item.add_marker(pytest.mark.medium)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what was collected: thousands of tests, while kernels are compiled."""
    gc.freeze()


# no test may fail because the machine is busy
settings.register_profile("default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")
DiskCache.noticed = True  # which test compiles depends on the order: none reads that on stderr


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, type]:
    """Give a test a register of classes of its own, which no other test sees."""
    monkeypatch.setattr(files, "_classes", dict(files._classes))
    return files._classes
