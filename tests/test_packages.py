"""The picture of the packages is that of the import rules; importing the library loads no laboratory."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import banditselect

DOCS = Path(__file__).parent.parent / "docs"


def test_the_picture_of_the_packages_is_up_to_date(tmp_path):
    spec = importlib.util.spec_from_file_location("packages", DOCS / "packages.py")
    packages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(packages)
    names = packages.packages()
    assert (names[0], names[-1]) == ("types", "cli")
    assert all(names.index(above) < names.index(package) for package, above in packages.imports())
    packages.draw(tmp_path / "packages.svg")
    drawn, kept = (folder / "packages.svg" for folder in (tmp_path, DOCS / "figures"))
    assert drawn.read_text() == kept.read_text(), "the packages or their imports changed: run python docs/packages.py"


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
