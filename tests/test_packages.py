"""Names at the top of the library, and what importing it loads."""

import subprocess
import sys

import pytest

import banditselect

LABORATORY = {"cli", "experiments", "simulation", "reporting", "statistics", "problems", "checks"}


def test_importing_the_library_loads_the_product_only():
    script = "import sys, banditselect; print(*{m.split('.')[1] for m in sys.modules if m.startswith('banditselect.')})"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "policies" in loaded
    assert not loaded & LABORATORY


@pytest.mark.parametrize("name", banditselect.__all__)
def test_every_name_at_the_top_can_be_imported(name):
    assert getattr(banditselect, name) is not None


def test_a_name_that_there_is_not_is_refused_as_in_any_module():
    with pytest.raises(AttributeError, match="no attribute 'simulation_of'"):
        banditselect.simulation_of  # noqa: B018
