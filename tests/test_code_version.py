"""Which code makes the numbers: a changed file of the library or of a class of one's own is noticed, no other."""

import ast
import importlib
import shutil
import subprocess
import sys
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
    def _learn(self, ids, x, y, played):
        helper(1.0)


@dataclass(frozen=True)
class Falling:
    scale: float

    def __call__(self, t):
        return self.scale / t
"""
CHANGED = {
    "the method": SOURCE.replace("helper(1.0)", "helper(2.0)"),
    "a function it calls": SOURCE.replace("RATE * x", "RATE + x"),
    "a number of the file": SOURCE.replace("RATE = 1.0", "RATE = 2.0"),
    "a comment": SOURCE + "# a comment\n",
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


@pytest.mark.parametrize("source", CHANGED.values(), ids=CHANGED)
def test_a_change_of_its_file_counts_wherever_the_policy_is_used(write, source):
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
    write(CHANGED["the method"])
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


def test_a_class_is_known_by_the_file_that_it_was_first_read_from(write, tmp_path):
    mine = write(SOURCE).Mine.bind()
    before = code_version(mine)
    (tmp_path / "my_own_policies.py").write_text(CHANGED["the method"])  # and not loaded again
    assert code_version(mine) == before


def test_a_file_that_a_file_imports_does_not_count(write):
    write("EXTRA = 1\n", "helping")
    uses = "from helping import EXTRA\n" + SOURCE
    before = code_version(write(uses).Mine.bind())
    assert set(before) - set(code_version()) == {"my_own_policies.Mine"}
    write("EXTRA = 3\n", "helping")
    assert code_version(write(uses).Mine.bind()) == before
    sys.modules.pop("helping")


HOLDS = """
from banditselect.problems import LatentBandit

class Mine(LatentBandit):
    def _set_up(self):
        self.data = DATA
"""


def test_the_data_that_a_problem_of_one_s_own_holds_count(write):
    module = write("DATA = [1.0, 2.0]\n" + HOLDS)
    before = describe("p", module.Mine())
    assert before == describe("p", module.Mine())
    module.DATA = [1.0, 3.0]
    assert describe("p", module.Mine()) != before


# The library


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Return a copy of the library's source, which the digest is taken of, and a function that takes it."""
    root = tmp_path / "banditselect"
    shutil.copytree(LIBRARY, root, ignore=lambda folder, names: [n for n in names if "." in n and n[-3:] != ".py"])
    monkeypatch.setattr(module_under_test, "_ROOT", root)
    return root, module_under_test._library_digest.__wrapped__


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("types.py", True),
        ("kernels/ridge.py", True),
        ("problems/base.py", True),
        ("simulation/loop.py", True),
        ("masters/anew.py", True),
        ("cli/app.py", False),
        ("experiments/arena.py", False),
        ("reporting/tables.py", False),
        ("py.typed", False),
    ],
)
def test_a_changed_file_of_the_library_counts_where_numbers_depend_on_it(library, file, counts):
    root, digest = library
    before = digest()
    assert digest() == before
    with (root / file).open("a") as changed:
        changed.write("# a comment\n")
    assert (digest() != before) == counts


def test_another_process_has_the_same_digest():
    code = "from banditselect.simulation.code_version import code_version; print(code_version()['banditselect'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    module_under_test._library_digest.cache_clear()
    assert done.stdout.strip() == code_version()["banditselect"]
