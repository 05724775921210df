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
from banditselect.cli import display as displays
from banditselect.cli.app import app
from banditselect.simulation import METRICS, Progress, Results

ROOT = Path(__file__).parent.parent
MAIN = "from banditselect.kernels.disk import Kept; Kept.noticed = True; from banditselect.cli import main; main()"
COMMAND = [sys.executable, "-c", MAIN]  # says nothing of compiling, which depends on the tests before

SMALL = """\
rounds = 30
replicates = 3
[problems.parameters]
type = "SyntheticParameterSelection"
n_models = [2, 3]
dim = 2
[policies.OFUL]
type = "OFUL"
noise = "given.noise"
[policies.LinTS]
type = "LinTS"
noise = "given.noise"
"""

SLOW = """\
rounds = 1000
replicates = 4
import = ["slow.py"]
[problems.small]
type = "SyntheticParameterSelection"
n_models = 2
dim = 2
[policies.quick]
type = "Uniform"
[policies.slow]
type = "Slow"
"""

OWN = """
import time
from banditselect import LinTS, register

@register
class {name}(LinTS):
    def _absorb(self, ids, x, action, y, memo):
        {learn}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path


def call(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments)


def start(*arguments: str) -> "subprocess.Popen[str]":
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*COMMAND, *arguments], text=True, start_new_session=True, **pipes)


def test_run_prints_tables_and_writes_everything_and_runs_nothing_twice(folder: Path) -> None:
    first = call("run", "small.toml")
    assert first.exit_code == 0, first.output
    for word in ("n_models=2", "n_models=3", "OFUL", "LinTS", "mean", "out/small/"):
        assert word in first.stdout
    assert "4 of 4 cells in" in first.stderr
    figures = {f"{name}.{kind}" for name in ("curves", "finals") for kind in ("png", "svg", "pdf")}
    out = folder / "out" / "small"
    assert figures | {"results.parquet", "summary.md"} <= {path.name for path in out.iterdir()}
    assert list(Results.load(out / "results.parquet")) == ["n_models=2", "n_models=3"]
    again = call("run", "small.toml", "--no-figures")
    assert "4 of 4 cells (4 from an earlier run)" in again.stderr
    assert again.stdout.split("results")[0] == first.stdout.split("results")[0]


def test_json_is_all_there_is_on_stdout(folder: Path) -> None:
    done = call("run", "small.toml", "--json", "--quiet", "--no-figures", "--replicates", "4", "--out", "elsewhere")
    assert (done.exit_code, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    values = Results.load(folder / "elsewhere" / "results.parquet")["n_models=3"].final("OFUL")
    numbers = told["summary"]["n_models=3"]["OFUL"]
    assert numbers["n"] == 4
    assert numbers["mean"] == pytest.approx(values.mean())
    assert numbers["standard_error"] == pytest.approx(values.std(ddof=1) / 2.0)
    assert (told["settings"]["replicates"], told["settings"]["rounds"]) == (4, 30)
    assert (told["failures"], told["out"]) == ([], "elsewhere")
    assert all(Path(file).exists() for file in told["files"])


def test_one_replicate_has_no_standard_error(folder: Path) -> None:
    done = call("run", "small.toml", "--json", "--quiet", "--no-figures", "--replicates", "1")
    assert json.loads(done.stdout)["summary"]["n_models=2"]["LinTS"]["standard_error"] is None


def test_a_metric_that_nobody_has_is_refused_with_its_key(folder: Path) -> None:
    (folder / "small.toml").write_text('metric = "weight"\n' + SMALL)
    done = call("run", "small.toml")
    assert done.exit_code == 2
    told = "error: small.toml: metric: got 'weight', expected a metric that some policy has on problem 'n_models=2': "
    assert done.stderr.startswith(told + "regret, pseudo_regret, reward, mean_reward, coverage, probability")
    (folder / "small.toml").write_text('metric = "coverage"\n' + SMALL + "[tuning]\nscale = [0.1, 1.0]\n")
    done = call("run", "small.toml")
    assert done.exit_code == 2
    assert "a metric that 'LinTS', which is tuned for it, has" in done.stderr
    assert not (folder / "out").exists()


def test_what_was_tuned_is_told(folder: Path) -> None:
    (folder / "small.toml").write_text(SMALL + "[tuning]\nscale = [0.01, 0.1, 1.0]\nreplicates = 2\n")
    done = call("run", "small.toml", "--no-figures")
    lines = [line for line in done.stdout.splitlines() if line.startswith("tuned on ")]
    assert len(lines) == 4
    assert re.fullmatch(r"tuned on n_models=2: OFUL: scale = [\d.]+( \(the end of its values\))?", lines[0])
    assert lines[0] in (folder / "out" / "small" / "summary.md").read_text()


def test_quiet_says_nothing_on_stderr(folder: Path) -> None:
    done = call("run", "small.toml", "--quiet", "--no-figures")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "OFUL" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "none.toml"], "none.toml: No such file"),
        (["run", "bad.toml"], "bad.toml: problems.parameters.n_models: got 0"),
        (["run", "small.toml", "--engine", "cloud"], "engine: got 'cloud', expected one of"),
        (["run", "small.toml", "--address", "tcp://x"], "address: got 'tcp://x'"),
        (["run", "small.toml", "--rounds", "0"], "--rounds"),
        (["run", "small.toml", "--replicates", "many"], "--replicates"),
        (["run", "small.toml", "--out", "small.toml"], "out: got 'small.toml', expected a folder"),
        (["run", "small.toml", "--out", ""], "got '', expected the name of a folder"),
        (["reproduce", "--out", ""], "got '', expected the name of a folder"),
        (["run", "list.toml"], "list.toml: metric: got ['regret'], expected one of"),
        (["run", "long.toml"], "long.toml: rounds: got 1000000000000, expected a whole number >= 1 and <= 1e+09"),
        (["run", "endless.toml"], "endless.toml: rounds: got 100000000000000000000000, expected a whole number"),
        (["run", "many.toml"], "replicates: got 1000000000000, expected fewer: 80,000,000,000 cells"),
        (["run", "exits.toml"], "exits.toml: import[0]: exits.py: it exits when it is imported"),
        (["run"], "Missing argument"),
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
def test_wrong_usage_has_code_2_and_writes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    written = {
        "bad.toml": SMALL.replace("[2, 3]", "[2, 0]"),
        "list.toml": f'metric = ["regret"]\n{SMALL}',
        "long.toml": SMALL.replace("rounds = 30", f"rounds = {10**12}"),
        "endless.toml": SMALL.replace("rounds = 30", f"rounds = {10**23}"),
        "many.toml": SMALL.replace("replicates = 3", f"replicates = {10**12}"),
        "exits.toml": f'import = ["exits.py"]\n{SMALL}',
        "exits.py": "raise SystemExit(0)",
    }
    for name, text in written.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    done = call(*arguments)
    assert done.exit_code == 2
    said = " ".join(done.stderr.replace("│", " ").split())
    assert message in said
    assert "Traceback" not in done.output
    assert done.stdout == ""
    assert sorted(path.name for path in folder.iterdir()) == sorted([*written, "small.toml"])


@pytest.mark.parametrize(("command", "name"), [("run small.toml", "summary.md"), ("reproduce latent", "report.html")])
def test_what_others_wrote_is_not_replaced(folder: Path, command: str, name: str) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / name).write_text("mine")
    done = call(*command.split(), "--out", "mine")
    assert done.exit_code == 2
    assert f"out: got 'mine', expected a folder of ours, or one without {name}, which would be replaced" in done.stderr
    assert [(path.name, path.read_text()) for path in (folder / "mine").iterdir()] == [(name, "mine")]


def test_a_byte_order_mark_is_no_mistake(folder: Path) -> None:
    (folder / "small.toml").write_text("\ufeff" + SMALL, encoding="utf-8")
    assert call("run", "small.toml", "--no-figures").exit_code == 0


RUN = "run small.toml --no-figures --quiet"


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
    arguments = [*COMMAND, "run", "small.toml", "--quiet", "--no-figures"]
    done = subprocess.run(arguments, env=os.environ | plain, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "mean  ? s.e.  median" in done.stdout
    assert "± s.e." in (folder / "out" / "small" / "summary.md").read_text(encoding="utf-8")


def test_failures_are_told_and_the_rest_is_kept(folder: Path) -> None:
    (folder / "failing.py").write_text(OWN.format(name="Failing", learn="assert self.rounds[0] < 3, 'no luck'"))
    text = f'import = ["failing.py"]\n{SMALL}[policies.failing]\ntype = "Failing"\n'
    (folder / "fails.toml").write_text(text)
    done = start("run", "fails.toml", "--json", "--no-figures")
    stdout, stderr = done.communicate(timeout=600)
    assert done.returncode == 1
    assert "2 cells failed; the results of the others are kept" in stderr
    told = "failing on n_models=2, replicates 0-2, 30 rounds, seed 0\n  AssertionError: no luck\n  Failing.bind()"
    assert told in stderr
    content = json.loads(stdout)
    assert list(content["summary"]["n_models=2"]) == ["OFUL", "LinTS"]
    assert {failure["problem"] for failure in content["failures"]} == {"n_models=2", "n_models=3"}
    assert content["failures"][0].items() >= {"policy": "failing", "error": "AssertionError: no luck"}.items()
    assert (folder / "out" / "fails" / "failures.json").exists()
    (folder / "fails.toml").write_text(f"{text}[tuning]\nscale = [1]\nreplicates = 1\n")
    done = start("run", "fails.toml", "--quiet")
    stdout, stderr = done.communicate(timeout=600)
    assert (done.returncode, stdout) == (1, "")
    assert re.fullmatch(r"error: failing #0 on n_models=[23], .*AssertionError\('no luck'\)\n", stderr)


def begun(process: "subprocess.Popen[str]", out: Path) -> None:
    """Wait until a cell is stored."""
    while not list(out.glob("cells/*.cell")):
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
    (folder / "slow.py").write_text(OWN.format(name="Slow", learn="time.sleep(0.05)"))
    (folder / "slow.toml").write_text(SLOW)
    arguments = ("run", "slow.toml", "--workers", workers, "--no-figures", "--out", "my results")
    process = start(*arguments)
    begun(process, folder / "my results")
    (os.killpg if group else os.kill)(process.pid, number)
    stdout, stderr = process.communicate(timeout=600)
    assert process.returncode == 128 + number
    assert stdout == ""
    way_back = f"To continue:\n  banditselect {shlex.join(arguments)}\n"
    assert stderr == f"interrupted; cells stored in my results: 1. {way_back}"
    with pytest.raises(ProcessLookupError):  # no worker is left
        wait_for_group(process.pid)


def wait_for_group(pid: int) -> None:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        os.killpg(pid, 0)
        time.sleep(0.1)


def test_part_of_an_extra_is_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.style", None)
    done = call("run", "small.toml", "--quiet")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == 'error: matplotlib is not installed: pip install "banditselect[experiments]"\n'


def test_lists(folder: Path) -> None:
    everything = json.loads(call("list", "--json").stdout)
    assert list(everything) == ["policies", "problems", "experiments", "metrics", "arena"]
    assert set(everything["metrics"]) == set(METRICS)
    lines = call("list", "experiments").stdout.splitlines()
    assert lines[0].split(maxsplit=1) == ["fs-synthetic", "Feature selection, synthetic (Figure 1, top)"]
    assert len(lines) == 16
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
    for command in ([], ["run"], ["reproduce"], ["claims"], ["list"], ["show"], ["warmup"]):
        done = call(*command, "-h")
        assert done.exit_code == 0
        assert f"banditselect {' '.join(command)}".strip() in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= 80
    assert "130, 143" in call("run", "--help").stdout


def test_making_packs_is_no_command(folder: Path) -> None:
    done = call("data", "list")
    assert done.exit_code == 2
    assert "No such command 'data'" in done.stderr


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("reproduce la", "latent"),
        pytest.param("run small.toml --engine d", "dask", marks=pytest.mark.slow),
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


def test_the_page_shows_the_example_and_what_a_mistake_says(folder: Path) -> None:
    page = (ROOT / "docs" / "command_line.md").read_text()
    example = (ROOT / "examples" / "sweep.toml").read_text()
    assert f"```toml\n{example}```" in page
    (folder / "softmax.py").write_text((ROOT / "examples" / "softmax.py").read_text())
    (folder / "mistake.toml").write_text(example.replace("given.noise", "given.nois"))
    process = start("run", "mistake.toml")  # it imports softmax.py, which registers a policy
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == 2
    assert f"$ banditselect run mistake.toml\n{stderr}" in page


@pytest.mark.slow
def test_the_page_shows_what_happens(folder: Path) -> None:
    page = (ROOT / "docs" / "command_line.md").read_text()
    example = (ROOT / "examples" / "sweep.toml").read_text()
    assert f"```toml\n{example}```" in page
    (folder / "sweep.toml").write_text(example)
    (folder / "softmax.py").write_text((ROOT / "examples" / "softmax.py").read_text())
    (folder / "mistake.toml").write_text(example.replace("given.noise", "given.nois"))
    blocks = re.findall(r"```console\n\$ banditselect (.*)\n([^`]*)```", page)
    assert len(blocks) == 4
    for command, shown in blocks:
        process = start(*shlex.split(command))
        stdout, stderr = process.communicate(timeout=600)
        assert (stderr if process.returncode == 2 else stdout).startswith(shown), command + stdout + stderr


def progress(done: int, *, fraction: float, seconds_left: float | None, reused: int = 0) -> Progress:
    return Progress(
        cells=10,
        cells_done=done,
        cells_reused=reused,
        cells_failed=0,
        rounds=1000,
        rounds_done=round(1000 * fraction),
        fraction=fraction,
        rate=10.0,
        seconds_left=seconds_left,
    )


def test_lines_come_seldom(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = 1000.0
    monkeypatch.setattr(displays.time, "monotonic", lambda: now)
    with displays.Lines() as lines:
        tell = lines.phase("playing")
        for second in range(100):
            now = 1000.0 + second
            tell(progress(second // 10, fraction=second / 100, seconds_left=99.0 - second if second else None))
        now = 1100.0
        tell(progress(10, reused=2, fraction=1.0, seconds_left=0.0))
    assert capsys.readouterr().err.splitlines() == [
        "playing: 30 %, 3 of 10 cells, 10 rounds/s, 30 s so far, about 1 min 9 s left",
        "playing: 60 %, 6 of 10 cells, 10 rounds/s, 1 min so far, about 39 s left",
        "playing: 90 %, 9 of 10 cells, 10 rounds/s, 1 min 30 s so far, about 9 s left",
        "playing: 10 of 10 cells (2 from an earlier run) in 1 min 40 s",
    ]


def test_the_bar_counts_down_between_events(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    now = 1000.0
    monkeypatch.setattr(displays.time, "monotonic", lambda: now)
    console = Console(width=80, record=True, force_terminal=True, file=io.StringIO())
    bar = displays.Bar(console)
    bar.phase("playing")(progress(3, reused=1, fraction=0.25, seconds_left=100.0))
    shown = []
    for elapsed in (0.0, 40.0, 200.0):
        now = 1000.0 + elapsed
        console.print(bar)
        shown.append(re.sub(r"\s+", " ", console.export_text()))
    assert "25 % about 1 min 40 s left 3 of 10 cells (1 from an earlier run), 10 rounds/s" in shown[0]
    assert "25 % about 1 min left" in shown[1]
    assert "25 % almost done" in shown[2]
