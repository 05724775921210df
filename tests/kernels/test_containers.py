"""Where an image runs: another user, no home, files that cannot be written, a disk that is full."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import banditselect
from kernels_alone import copy_kernels

IS_ROOT = os.geteuid() == 0
NOBODY = [  # may read what root has installed, and write nothing
    *("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
    *("--inh-caps=-all,+dac_read_search", "--ambient-caps=+dac_read_search"),
]
TWO_KERNELS = """
import numpy as np
from house.kernels.disk import DiskCache
from house.kernels.features import usable
from house.kernels.weights import exponentials
DiskCache.noticed = True
print(usable(np.ones(3)), exponentials(np.zeros(1), 0.0, np.zeros(1)) == 1.0)
print(sum(usable.stats.cache_misses.values()) + sum(exponentials.stats.cache_misses.values()))
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder with a copy of the kernels."""
    if IS_ROOT and shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and cannot become another user without setpriv")
    site = tmp_path / "site"
    copy_kernels(site)
    yield site
    protect(site, 0o755)


def protect(folder: Path, mode: int) -> None:
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(mode)


def run(site: Path, code: str, *, user: bool = True, limit: int | None = None, **variables: str) -> Any:
    """Run code with this package and nothing else in its environment; not as root."""
    command = [*(NOBODY if IS_ROOT and user else []), sys.executable, "-c", code]
    environment = {"PYTHONPATH": str(site), "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1", **variables}

    def smaller_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit or 0, limit or 0))

    return subprocess.run(
        command,
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=smaller_files if limit is not None else None,
    )


def test_without_a_place_to_write_it_compiles_for_itself_and_says_so_once(site: Path) -> None:
    protect(site, 0o555)
    done = run(site, TWO_KERNELS)
    assert (done.returncode, done.stdout) == (0, "True True\n2\n"), done.stderr
    assert done.stderr.count("compiled kernels cannot be kept") == 1
    assert "set the environment variable NUMBA_CACHE_DIR" in done.stderr


def test_a_full_disk_costs_a_warning(site: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(0o777)
    done = run(site, TWO_KERNELS, limit=64, NUMBA_CACHE_DIR=str(cache))
    assert (done.returncode, done.stdout) == (0, "True True\n2\n"), done.stderr
    assert done.stderr.count("compiled kernels cannot be kept") == 1
    assert "File too large" in done.stderr
    again = run(site, TWO_KERNELS, NUMBA_CACHE_DIR=str(cache))
    assert (again.returncode, again.stdout, again.stderr) == (0, "True True\n2\n", "")


@pytest.mark.parametrize("place", ["beside the source", "NUMBA_CACHE_DIR"])
@pytest.mark.parametrize("home", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_the_image_compiled_serves_whoever_runs_it(site: Path, tmp_path: Path, place: str, home: bool) -> None:
    """The result does not depend on a home folder."""
    cache = tmp_path / "cache"
    variables = {"NUMBA_CACHE_DIR": str(cache)} if place == "NUMBA_CACHE_DIR" else {}
    built = run(site, TWO_KERNELS, user=False, **variables)
    assert (built.stdout, built.stderr) == ("True True\n2\n", "")
    for folder in (site, cache):
        protect(folder, 0o555)
    if home:
        (tmp_path / "home").mkdir()
        (tmp_path / "home").chmod(0o777)
        variables["HOME"] = str(tmp_path / "home")
    done = run(site, TWO_KERNELS, **variables)
    protect(cache, 0o755)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True True\n0\n", "")


def test_a_damaged_file_is_compiled_again(site: Path, tmp_path: Path) -> None:
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run(site, TWO_KERNELS, user=False, **cache)
    for path in (tmp_path / "cache").rglob("*.nbc"):
        path.write_bytes(path.read_bytes()[:100])
    done = run(site, TWO_KERNELS, user=False, **cache)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True True\n2\n", "")


def test_python_m() -> None:
    command = [sys.executable, "-m", "banditselect", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"banditselect {banditselect.__version__}\n"


WARMUP = """
import sys
sys.modules["typer"] = sys.modules["rich"] = None
sys.argv = ["banditselect", "warmup", "Uniform"]
from banditselect.cli import main
main()
"""


@pytest.mark.slow
def test_warmup_compiles_and_fails_where_nothing_can_be_kept(site: Path, tmp_path: Path) -> None:
    """Without the libraries of the command line too."""
    ignored = shutil.ignore_patterns("__pycache__", "*.npz")
    shutil.copytree(Path(banditselect.__file__).parent, site / "banditselect", ignore=ignored)
    done = run(site, WARMUP, user=False, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    lines = done.stderr.splitlines()
    assert lines[0] == "compiling: 6 of 6 steps"
    assert lines[1].startswith(f"compiled, and kept in {tmp_path}/cache/kernels_")
    protect(site, 0o555)
    done = run(site, WARMUP)
    assert done.returncode == 1
    assert "error: nothing was kept: " in done.stderr
