"""The picture of the packages is that of the import rules and of the imports that there are."""

import importlib.util
from pathlib import Path

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
