"""Which code makes the numbers: a change of it is noticed, a change of words is not."""

import ast
import importlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import banditselect
from banditselect import RegretBalancing, SquareCB, Uniform, on_every_map, on_map
from banditselect.problems import SyntheticFeatureSelection
from banditselect.simulation import code_version as module_under_test
from banditselect.simulation.code_version import code_version
from banditselect.simulation.fingerprint import describe

LIBRARY = Path(banditselect.__file__).parent

SOURCE = """
from dataclasses import dataclass

from banditselect import Uniform

RATE = 1.0


def helper(x):
    return RATE * x


class Mine(Uniform):
    def _absorb(self, ids, x, action, y, memo):
        helper(1.0)


@dataclass(frozen=True)
class Falling:
    scale: float

    def __call__(self, t):
        return self.scale / t
"""
SILENT = {
    "a comment": SOURCE + "# a comment\n",
    "layout": SOURCE.replace("RATE * x", "(RATE\n        * x)"),
    "a docstring of the file": '"""What it is."""\n' + SOURCE,
    "a docstring of the class": SOURCE.replace("class Mine(Uniform):", 'class Mine(Uniform):\n    """Plays."""\n'),
    "a docstring of a method": SOURCE.replace("        helper(1.0)", '        """Learn."""\n        helper(1.0)'),
}
LOUD = {
    "the method": SOURCE.replace("helper(1.0)", "helper(2.0)"),
    "a function it calls": SOURCE.replace("RATE * x", "RATE + x"),
    "a number of the file": SOURCE.replace("RATE = 1.0", "RATE = 2.0"),
}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes a file of the user's own and loads it as a new process would."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def written(source, module="my_own_policies"):
        ast.parse(source)
        (tmp_path / f"{module}.py").write_text(source)
        sys.modules.pop(module, None)
        importlib.invalidate_caches()
        return importlib.import_module(module)

    yield written
    sys.modules.pop("my_own_policies", None)


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_comments_docstrings_and_layout_do_not_count(write, source):
    before = code_version(write(SOURCE).Mine.bind())
    assert code_version(write(source).Mine.bind()) == before


@pytest.mark.parametrize("source", LOUD.values(), ids=LOUD)
def test_a_change_of_the_code_counts_wherever_the_policy_is_used(write, source):
    def versions(module):
        mine = module.Mine.bind()
        uses = [mine, on_map(mine, 0), RegretBalancing.bind(bases=on_every_map(mine)), {"a": [mine]}]
        return [code_version(use)["my_own_policies.Mine"] for use in uses]

    before, after = versions(write(SOURCE)), versions(write(source))
    assert len(set(before)) == len(set(after)) == 1
    assert before != after


def test_the_code_of_a_schedule_of_one_s_own_counts(write):
    before = code_version(SquareCB.bind(exploration=write(SOURCE).Falling(2.0)))
    after = code_version(SquareCB.bind(exploration=write(SOURCE.replace("/ t", "/ t**2")).Falling(2.0)))
    assert before["my_own_policies.Falling"] != after["my_own_policies.Falling"]


def test_a_base_class_in_another_file_counts(write, tmp_path):
    child = "from my_own_policies import Mine\n\n\nclass Child(Mine):\n    pass\n"
    write(SOURCE)
    before = code_version(write(child, "my_children").Child.bind())
    write(LOUD["the method"])
    after = code_version(write(child, "my_children").Child.bind())
    sys.modules.pop("my_children")
    assert before["my_children.Child"] == after["my_children.Child"]
    assert before["my_own_policies.Mine"] != after["my_own_policies.Mine"]


def test_policies_of_the_library_depend_on_the_library_and_what_it_stands_on_only():
    assert set(code_version(Uniform.bind(), SyntheticFeatureSelection())) == {
        "banditselect",
        "python",
        "numpy",
        "numba",
        "compiled for",
    }
    assert code_version() == code_version(Uniform.bind())


def test_a_class_without_a_source_is_refused():
    made = type("Made", (Uniform,), {"__module__": "nowhere"})
    with pytest.raises(ValueError, match=r"out: got .*Made.*source"):
        code_version(made.bind())


def test_a_class_made_inside_a_function_is_refused_by_name():
    class Inside(Uniform):
        pass

    with pytest.raises(ValueError, match=r"out: .*a class at the top of its file"):
        code_version(Inside.bind())


USES = """
from helping import EXTRA
from banditselect import Uniform

class Mine(Uniform):
    gain = EXTRA
"""


def test_the_files_that_a_file_imports_count_and_installed_ones_do_not(write):
    write("EXTRA = 1\n", "deeper")
    write("from deeper import EXTRA\n", "beside")  # which Mine does not import
    write("import numpy, json\nfrom deeper import EXTRA\n", "helping")
    before = code_version(write(USES).Mine.bind())
    assert set(before) - set(code_version()) == {"my_own_policies.Mine", "helping", "deeper"}
    write("EXTRA = 3\n", "deeper")
    write("import numpy, json\nfrom deeper import EXTRA\n", "helping")
    after = code_version(write(USES).Mine.bind())
    assert {name for name in before if before[name] != after[name]} == {"deeper"}
    for name in ("helping", "deeper", "beside"):
        sys.modules.pop(name)


HOLDS = """
from banditselect.problems import LatentBandit

class Mine(LatentBandit):
    def __init__(self, *, n_arms=3):
        super().__init__(n_arms=n_arms)
        self.data = DATA
"""


def test_the_data_that_a_problem_of_one_s_own_holds_count(write):
    module = write("DATA = [1.0, 2.0]\n" + HOLDS)
    before = describe("p", module.Mine())
    assert before == describe("p", module.Mine())
    module.DATA = [1.0, 3.0]
    assert describe("p", module.Mine()) != before


@pytest.mark.parametrize("place", ["RATE = 1.0", "helper(1.0)"])
def test_a_file_that_was_changed_after_it_was_loaded_is_refused_by_name(write, tmp_path, place):
    policy = write(SOURCE).Mine.bind()
    (tmp_path / "my_own_policies.py").write_text(SOURCE.replace(place, place.replace("1.0", "5.0")))
    with pytest.raises(ValueError, match=r"out: got .*Mine.*the file was changed after it was loaded"):
        code_version(policy)


# The library


def counted(path):
    return path.relative_to(LIBRARY).as_posix().startswith(module_under_test._COUNTED)


def test_every_room_below_the_checks_counts_and_of_the_others_the_loop():
    settings = tomllib.loads((LIBRARY.parents[1] / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    below = layers[layers.index("checks") + 1 :]
    for path in LIBRARY.rglob("*.py"):
        room = path.relative_to(LIBRARY).parts[0].removesuffix(".py")
        assert counted(path) == (room in below or path == LIBRARY / "simulation" / "loop.py"), path
    assert {"kernels", "carriers", "parts", "policies", "problems", "logs", "theory", "types"} <= set(below)


def test_everything_that_the_loop_imports_counts():
    waiting, seen = ["banditselect.simulation.loop"], set()
    while waiting:
        path = LIBRARY.parent.joinpath(*waiting.pop().split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        assert counted(path), path
        package = path.parent.relative_to(LIBRARY.parent).parts
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                above = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
                start = ".".join(filter(None, above))
                waiting += [start] * (start != "banditselect")
                waiting += [f"{start}.{alias.name}" for alias in node.names]
    assert len(seen) > 30


PROCESS = """
import os, pathlib, sys
asked = []
stat = os.stat
os.stat = lambda path, *a, **k: (asked.append(str(path)), stat(path, *a, **k))[1]
import banditselect
os.stat = stat
library = pathlib.Path(banditselect.__file__).parent
assert library.parent == pathlib.Path(sys.argv[1]), library
own = [path for path in asked if path.startswith(str(library)) and path.endswith(".py")]
assert not [path for path in own if "kernels" not in path], own
path = library / sys.argv[2]
{change}
from banditselect.simulation.code_version import code_version
print(code_version()["banditselect"])
"""
EDITED = 'path.write_text(path.read_text() + "# a comment\\n")'
REPLACED = (
    'new = path.with_suffix(".new"); new.write_bytes(path.read_bytes()); os.utime(new, (1e9, 1e9)); new.replace(path)'
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the library that tests may edit; only the kernels, which numba keeps on disk, are looked at by it."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(LIBRARY, folder / "banditselect", ignore=shutil.ignore_patterns("*.npz", "__pycache__"))
    return folder


@pytest.mark.parametrize(
    ("file", "change", "refused"),
    [
        pytest.param("kernels/ridge.py", "pass", False, marks=pytest.mark.slow),
        pytest.param("kernels/ridge.py", EDITED, True, marks=pytest.mark.slow),
        ("types.py", REPLACED, True),
        ("cli/app.py", EDITED, False),
    ],
    ids=["untouched", "edited", "replaced by a file with an older date", "edited, but no number depends on it"],
)
def test_an_import_looks_at_no_file_and_yet_changes_after_it_are_refused(copy, file, change, refused):
    command = [sys.executable, "-c", PROCESS.format(change=change), str(copy), file]
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if refused:
        assert "banditselect: got 'files that were changed after they were loaded', expected a fresh" in done.stderr
    else:
        assert done.stdout.strip() == code_version()["banditselect"], done.stderr
