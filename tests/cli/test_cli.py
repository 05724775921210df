"""The command line: what it prints, which code it ends with, and that it can be stopped at any moment."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import banditselect
from banditselect import PSOFUL
from banditselect.cli import session as displays
from banditselect.cli.app import app
from banditselect.experiments import EXPERIMENTS
from banditselect.simulation import METRICS, Progress, Results

ROOT = Path(__file__).parents[2]
MAIN = (
    "from banditselect.kernels.disk import DiskCache; DiskCache.noticed = True; "
    "from banditselect.cli import main; main()"
)
COMMAND = [sys.executable, "-c", MAIN]  # says nothing of compiling, which depends on the tests before

SMALL = ("reproduce", "ps-synthetic", "--regime", "practical", "--replicates", "2", "--rounds", "5", "--no-figures")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments)


def start(*arguments: str) -> "subprocess.Popen[str]":
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*COMMAND, *arguments], text=True, start_new_session=True, **pipes)


def test_quiet_says_nothing_on_stderr(folder: Path) -> None:
    done = call(*SMALL, "--quiet")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("Figure 2, practical: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "--engine", "cloud"], "engine: got 'cloud', expected one of"),
        (["reproduce", "--address", "tcp://x"], "address: got 'tcp://x'"),
        (["reproduce", "--rounds", "0"], "--rounds"),
        (["reproduce", "--replicates", "many"], "--replicates"),
        (["reproduce", "--out", ""], "got '', expected the name of a folder"),
        (["claims"], "Missing argument"),
        (["run", "sweep.toml"], "No such command"),
        (["ran"], "No such command"),
        (["reproduce", "fs-sythetic"], "did you mean 'fs-synthetic'"),
        (["reproduce", "--models", "2,x"], "--models"),
        (["reproduce", "--scale", "papre"], "did you mean 'paper'"),
        (["reproduce", "--regime", "tune"], "did you mean 'tuned'"),
        (["claims", "nowhere"], "nowhere: no results of `banditselect reproduce`"),
        (["list", "policy"], "did you mean 'policies'"),
        (["show", "FSSquareBC"], "did you mean 'FSSquareCB'"),
    ],
)
def test_wrong_usage_has_code_2_and_writes_nothing(folder: Path, arguments: list[str], message: str) -> None:
    done = call(*arguments)
    assert done.exit_code == 2
    said = " ".join(done.stderr.replace("│", " ").split())
    assert message in said
    assert "Traceback" not in done.output
    assert done.stdout == ""
    assert list(folder.iterdir()) == []


def test_reproduce(folder: Path) -> None:
    small = ("reproduce", "ps-synthetic", "latent", "--replicates", "2", "--rounds", "5", "--regime", "theory")
    done = call(*small, "--no-figures")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1] == "report: out/quick/report.html"
    assert done.stdout.splitlines()[0].startswith("Figure 2, theory: ")
    assert not (folder / "out" / "quick" / "ps-synthetic" / "theory" / "figure.svg").exists()
    summary = (folder / "out" / "quick" / "summary.md").read_text()
    for word in ("Parameter selection, synthetic", "Latent bandits", "PS-OFUL, likelihood sets (ours)"):
        assert word in summary
    judged = json.loads((folder / "out" / "quick" / "claims.json").read_text())
    keys = {"id", "quote", "experiment", "regime", "arm", "statistic", "interval", "verdict"}
    assert all(keys <= set(one) for one in judged)
    assert {one["experiment"] for one in judged} == {"ps-synthetic", "latent"}
    assert json.loads(call("claims", "out/quick", "--json").stdout) == judged
    assert "better than OFUL" in call("claims", "out/quick").stdout
    again = call(*small)
    assert "24 of 24 cells (24 from an earlier run)" in again.stderr
    assert (folder / "out" / "quick" / "ps-synthetic" / "theory" / "figure.svg").exists()


def test_the_quick_version_is_practical_and_prints_no_warning(folder: Path) -> None:
    done = call("reproduce", "--replicates", "2", "--rounds", "40", "--models", "2", "--no-figures")
    assert done.exit_code == 0, done.output
    assert "warning" not in done.stderr
    out = folder / "out" / "quick"
    ran = {path.parent.relative_to(out).as_posix() for path in out.glob("*/*/results.parquet")}
    shown = [name for name, experiment in EXPERIMENTS.items() if experiment.shown]
    assert ran == {f"{name}/practical" for name in shown}
    assert len(shown) == 8
    *lines, last = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == [f"Figure {k}, practical" for k in (1, 2, 3)]
    assert last == "report: out/quick/report.html"


def test_what_others_wrote_is_not_replaced(folder: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / "report.html").write_text("mine")
    done = call("reproduce", "latent", "--out", "mine")
    assert done.exit_code == 2
    assert "out: got 'mine', expected a folder of ours, or one without report.html, which would be re" in done.stderr
    assert [(path.name, path.read_text()) for path in (folder / "mine").iterdir()] == [("report.html", "mine")]


RUN = shlex.join([*SMALL, "--quiet"])


@pytest.mark.parametrize(
    ("command", "where", "code", "said"),
    [
        pytest.param("list", ">&-", 0, "", marks=pytest.mark.slow),
        pytest.param("list", "2>&-", 0, "", marks=pytest.mark.slow),
        ("list", "> /dev/full", 1, "No space left on device"),
        ("list", "| true", 1, ""),
        (RUN, ">&-", 0, ""),
        pytest.param(RUN, "2>&-", 0, "", marks=pytest.mark.slow),
        pytest.param(RUN, "> /dev/full", 1, "No space left on device", marks=pytest.mark.slow),
        pytest.param(RUN, "| true", 1, "", marks=pytest.mark.slow),
    ],
)
def test_an_output_that_takes_nothing(folder: Path, command: str, where: str, code: int, said: str) -> None:
    line = f"set -o pipefail; {shlex.join(COMMAND)} {command} {where}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert len(done.stderr.splitlines()) == bool(said)
    assert said in done.stderr


def test_a_terminal_without_greek_letters(folder: Path) -> None:
    plain = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    arguments = [*COMMAND, "show", "LinMED"]
    done = subprocess.run(arguments, env=os.environ | plain, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "?" in done.stdout


def test_failures_are_told_and_the_rest_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: PSOFUL, *_: object) -> None:
        raise AssertionError("no luck")

    monkeypatch.setattr(PSOFUL, "build", fail)
    done = call(*SMALL, "--workers", "1")
    assert done.exit_code == 1
    assert "cells failed; the results of the others are kept" in done.stderr
    assert re.search(r"PS-OFUL on .*, replicates 0-1, 5 rounds, seed 0\n  AssertionError: no luck\n", done.stderr)
    place = folder / "out" / "quick" / "ps-synthetic" / "practical"
    assert (place / "failures.json").exists()
    played = Results.load(place / "results.parquet")["b = 0"].policies
    assert played == ["OFUL, S = max", "OFUL, S = 10", "PS-IDS, untuned (ours)", "Uniform"]


def begun(process: "subprocess.Popen[str]", out: Path) -> None:
    """Wait until a cell is stored."""
    while not list(out.glob("*/*/cells/*.cell")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("number", "group", "workers"),
    [
        pytest.param(signal.SIGINT, False, "1", marks=pytest.mark.slow),
        (signal.SIGINT, True, "2"),
        pytest.param(signal.SIGTERM, False, "2", marks=pytest.mark.slow),
        (signal.SIGTERM, True, "1"),
    ],
)
def test_interruptions_keep_what_is_done(folder: Path, number: int, group: bool, workers: str) -> None:
    large = ("--rounds", "3000", "--replicates", "100", "--no-figures", "--quiet")
    arguments = (*SMALL[:4], "--workers", workers, *large, "--out", "my results")
    process = start(*arguments)
    begun(process, folder / "my results")
    (os.killpg if group else os.kill)(process.pid, number)
    stdout, stderr = process.communicate(timeout=600)
    assert process.returncode == 128 + number
    assert stdout == ""
    way_back = f"To continue:\n  banditselect {shlex.join(arguments)}\n"
    assert re.fullmatch(rf"interrupted; cells stored in my results: \d+\. {re.escape(way_back)}", stderr)
    with pytest.raises(ProcessLookupError):  # no worker is left
        wait_for_group(process.pid)


def wait_for_group(pid: int) -> None:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        os.killpg(pid, 0)
        time.sleep(0.1)


def test_part_of_an_extra_is_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.style", None)
    done = call(*SMALL[:-1], "--quiet")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == 'error: matplotlib is not installed: pip install "banditselect[experiments]"\n'


def test_lists(folder: Path) -> None:
    everything = json.loads(call("list", "--json").stdout)
    assert list(everything) == ["policies", "problems", "experiments", "metrics", "arena"]
    assert set(everything["metrics"]) == set(METRICS)
    lines = call("list", "experiments").stdout.splitlines()
    assert lines[0].split(maxsplit=1) == ["fs-synthetic", "Feature selection, synthetic (Figure 1, top)"]
    assert len(lines) == 14
    assert len(call("list", "policies").stdout.splitlines()) == len(everything["policies"])
    assert all(name in call("list").stdout for names in everything.values() for name in names)


def test_show(folder: Path) -> None:
    page = call("show", "FSSquareCB").stdout
    assert page.startswith("FSSquareCB\n    n_models\n    dim\n")
    assert "Parameters" in page
    everything = json.loads(call("list", "--json").stdout)
    for name in (name for kind, names in everything.items() if kind != "arena" for name in names):
        page = call("show", name).stdout
        assert page.startswith(f"{name}\n")
    assert "quick: M = 2, 5, 10, 20; 2000 rounds, 40 replicates" in call("show", "fs-mnist").stdout
    assert call("show", "regret").stdout.split("\n\n")[1].startswith(METRICS["regret"])


def test_version_and_help(folder: Path) -> None:
    assert call("--version").stdout == f"banditselect {banditselect.__version__}\n"
    for command in ([], ["reproduce"], ["claims"], ["list"], ["show"], ["warmup"]):
        done = call(*command, "-h")
        assert done.exit_code == 0
        assert f"banditselect {' '.join(command)}".strip() in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= 80
    assert "130, 143" in call("reproduce", "--help").stdout


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("reproduce la", "latent"),
        pytest.param("reproduce --engine d", "dask", marks=pytest.mark.slow),
        pytest.param("list met", "metrics", marks=pytest.mark.slow),
        pytest.param("show PSO", "PSOFUL", marks=pytest.mark.slow),
    ],
)
def test_completion(folder: Path, words: str, wanted: str) -> None:
    environment = os.environ | {
        "_BANDITSELECT_COMPLETE": "complete_bash",
        "COMP_WORDS": f"banditselect {words}",
        "COMP_CWORD": str(len(words.split())),
    }
    done = subprocess.run(COMMAND, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [wanted]


@pytest.mark.slow
def test_the_page_shows_what_happens(folder: Path) -> None:
    page = (ROOT / "docs" / "command_line.md").read_text()
    ((command, shown),) = re.findall(r"```console\n\$ banditselect (.*)\n([^`]*)```", page)
    stdout, stderr = start(*shlex.split(command)).communicate(timeout=600)
    assert stdout.startswith(shown), command + stdout + stderr


def test_lines_come_seldom(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = 1000.0
    monkeypatch.setattr(displays.time, "monotonic", lambda: now)
    with displays.Display(quiet=False) as display:
        tell = display.phase("playing")
        for second in range(100):
            now = 1000.0 + second
            tell(Progress(10, second // 10, 0, 0, second / 100, 99.0 - second if second else None))
        now = 1100.0
        tell(Progress(10, 10, 2, 0, 1.0, 0.0))
    assert capsys.readouterr().err.splitlines() == [
        "playing: 30 %, 3 of 10 cells, 30 s so far, about 1 min 9 s left",
        "playing: 60 %, 6 of 10 cells, 1 min so far, about 39 s left",
        "playing: 90 %, 9 of 10 cells, 1 min 30 s so far, about 9 s left",
        "playing: 10 of 10 cells (2 from an earlier run) in 1 min 40 s",
    ]


def test_the_bar_on_a_terminal() -> None:
    from rich.console import Console

    file = io.StringIO()
    with displays.Display(quiet=False, console=Console(width=100, force_terminal=True, file=file)) as display:
        display.phase("playing")(Progress(10, 3, 1, 0, 0.25, 100.0))
        display._bar.refresh()
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue())
    assert text.split("\r")[-1].startswith("playing ")
    assert re.search(r" 25% +about 1 min 40 s left *$", text)


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with displays.Display(quiet=True) as display:
        display.phase("playing")(Progress(10, 3, 0, 0, 0.25, 100.0))
    assert capsys.readouterr() == ("", "")
