"""Stamps of kernels: changed by the code and constants of a kernel and by nothing else, in files and without files."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import pytest

from banditselect.kernels.stamps import stamp
from kernels_alone import copy_kernels

FILES = {
    "constants.py": "FACTOR = 2.0",
    "more.py": "SHIFT = 0.0",
    "unrelated.py": "NUMBER = 1.0",
    "callee.py": """
from house.kernels import kernel

@kernel
def step(x):
    return x + 1.0
""",
    "caller.py": """
from house.kernels import kernel
from . import more, unrelated
from .callee import step
from .constants import FACTOR

@kernel
def scaled(x):
    return FACTOR * step(x) + more.SHIFT
""",
}
RUN = """
from shop.callee import step
from shop.caller import scaled
print(scaled(1.0), step(1.0), sum(scaled.stats.cache_hits.values()), sum(step.stats.cache_hits.values()))
"""


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., list[float]]:
    """Return a function that edits a file of a package, runs a caller and a callee, and counts what was on disk."""
    copy_kernels(tmp_path)
    shop = tmp_path / "shop"
    shop.mkdir()
    for name, text in {"__init__.py": "", **FILES}.items():
        (shop / name).write_text(text)

    def run(name: str = "__init__.py", old: str = "", new: str = "") -> list[float]:
        (shop / name).write_text((shop / name).read_text().replace(old, new) if old else new)
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", RUN]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return [float(word) for word in done.stdout.split()]

    return run


@pytest.mark.medium
def test_an_edit_recompiles_the_kernels_that_depend_on_it_and_no_others(run: Callable[..., list[float]]) -> None:
    assert run() == [4.0, 2.0, 0, 0]
    assert run() == [4.0, 2.0, 1, 1]
    assert run("unrelated.py", "1.0", "2.0") == [4.0, 2.0, 1, 1]
    assert run("caller.py", "@kernel", '"""Words that move lines."""\n\n@kernel') == [4.0, 2.0, 1, 1]
    assert run("constants.py", "2.0", "3.0") == [6.0, 2.0, 0, 1]
    assert run("more.py", "0.0", "1.0") == [7.0, 2.0, 0, 1]
    assert run("callee.py", "x + 1.0", "x + 2.0") == [10.0, 3.0, 0, 0]


NOTEBOOK = """
from house.kernels import kernel
cell = {"__name__": "__main__", "kernel": kernel}
exec("@kernel\\ndef halve(x):\\n    return x / 2", cell)
print(cell["halve"](3.0), sum(cell["halve"].stats.cache_hits.values()))
"""


@pytest.mark.medium
def test_a_kernel_without_a_file_is_kept_too(tmp_path: Path) -> None:
    copy_kernels(tmp_path)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", NOTEBOOK]
    for hits in ("0", "1"):
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["1.5", hits], done.stderr


LIBRARY = """
import typing
import numba
import numpy as np
from numba.extending import overload

TABLE = np.arange(3.0)
PAIR = (1, 2.0)

class Point(typing.NamedTuple):
    x: float
    y: float

def stub(x):
    return x

def scale():
    return 1

@overload(stub)
def _stub(x):
    factor = scale()
    return lambda x: factor * x

@numba.njit(inline="always")
def callee(x):
    "Return x."
    return helper(x)

@numba.njit
def helper(x, by=1):
    return x

def unused():
    return 1
"""
KERNEL = """
import numba
import library
from library import PAIR, TABLE, Point, stub, unused

@numba.njit
def kernel(p):
    return library.callee(stub(p.x)) + TABLE[1] + PAIR[0]
"""


def stamped(monkeypatch: pytest.MonkeyPatch, old: str = "", new: str = "", name: str = "other") -> str:
    assert old in LIBRARY + KERNEL
    library, own = ModuleType("library"), ModuleType(name)
    monkeypatch.setitem(sys.modules, "library", library)
    exec(LIBRARY.replace(old, new), library.__dict__)
    exec(KERNEL.replace(old, new), own.__dict__)
    return stamp(own.kernel)


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("p.x", "p.y", True),
        ("arange(3.0)", "ones(3)", True),
        ("2.0)", "3.0)", True),
        ("x: float\n    y: float", "y: float\n    x: float", True),
        ('"always"', '"never"', True),
        ("return helper(x)", "return -helper(x)", True),
        ("(x, by=1):\n    return x", "(x, by=1):\n    return -x", True),
        ("by=1", "by=2", True),
        ("Return x.", "Return it.", False),
        ("def unused():\n    return 1", "def unused():\n    return 2", False),
    ],
)
def test_what_is_compiled_into_a_kernel_counts_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str, counts: bool
) -> None:
    assert (stamped(monkeypatch, old, new) != stamped(monkeypatch)) is counts


@pytest.mark.parametrize(
    ("old", "new"), [("factor * x", "-factor * x"), ("scale():\n    return 1", "scale():\n    return 2")]
)
def test_overloads_count_with_the_functions_that_they_call(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    """They are looked for if the function with overloads is in the package of the kernel."""
    source = LIBRARY + KERNEL.replace("import library\nfrom library import PAIR, TABLE, Point, stub, unused", "")
    source = source.replace("library.callee", "callee")
    assert old in source
    one, two = ModuleType("one"), ModuleType("one")
    exec(source, one.__dict__)
    exec(source.replace(old, new), two.__dict__)
    assert stamp(one.kernel) != stamp(two.kernel)


def test_a_script_has_the_same_stamps_in_its_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stamped(monkeypatch, name="__main__") == stamped(monkeypatch, name="__mp_main__")


def test_kernels_that_call_each_other_share_a_stamp() -> None:
    space: dict[str, Any] = {"njit": numba.njit, "__name__": "mutual"}
    exec("@njit\ndef even(n):\n    return odd(n - 1)\n\n@njit\ndef odd(n):\n    return even(n - 1)", space)
    assert stamp(space["even"]) == stamp(space["odd"])
