"""The commands of the tool for packs: what they print, which code they end with, and that they can be stopped."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from image_server import CONTENT, Server, code, described, hangs, source_of
from typer.testing import CliRunner

from tools.packs import commands
from tools.packs.official import DATASETS, DataSet

PATHS = {name: f"/{name}.gz" for name in DATASETS}

COMMAND = """
import sys
sys.path.append("tests/tools")
from image_server import single
from tools.packs.official import DATASETS
DATASETS["mnist"] = single(sys.argv.pop(1))
from tools.packs import __main__
"""


@pytest.fixture
def official(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Server:
    """Put tiny data sets in the place of the official ones."""
    for name, path in PATHS.items():
        server.files[path] = CONTENT
        file = described(path[1:], CONTENT)
        dataset = DataSet(name, f"{name}-files", (source_of((server.url(path),), CONTENT, (file,)),))
        monkeypatch.setitem(DATASETS, name, dataset)
    monkeypatch.chdir(tmp_path)
    return server


def call(*arguments: str) -> Any:
    return CliRunner().invoke(commands.app, arguments)


def test_fetch_gets_what_is_missing(official: Server) -> None:
    first = call("fetch", "mnist", "cifar10", "mnist")
    assert first.exit_code == 0, first.output
    assert first.stdout.splitlines() == [
        f"{name}: 1 files, complete and verified: data/{name}-files/" for name in ("mnist", "cifar10")
    ]
    assert first.stderr.splitlines() == [f"{name}: 1 of 1 downloads in 1 s" for name in ("mnist", "cifar10")]
    again = call("fetch", "--to", "data")
    assert again.exit_code == 0
    assert "1 of 1 downloads (1 from an earlier run) in 1 s" in again.stderr
    assert official.requests() == [(path, None) for path in PATHS.values()]
    assert Path("data/cifar100-files/cifar100.gz").read_bytes() == CONTENT


def test_quiet_says_nothing_on_stderr(official: Server) -> None:
    result = call("fetch", "mnist", "--quiet", "--to", "here")
    assert (result.exit_code, result.stderr) == (0, "")
    assert Path("here/mnist-files/mnist.gz").exists()


def test_what_cannot_be_fetched_is_a_message(official: Server) -> None:
    official.answers["/mnist.gz"] = [code(404)]
    result = call("fetch", "mnist")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith(
        f"error: mnist.gz: could not be downloaded\n  {official.url('/mnist.gz')}: answered 404"
    )


def test_from_a_folder_nothing_is_downloaded(official: Server) -> None:
    Path("stick").mkdir()
    for path in PATHS.values():
        Path("stick", path[1:]).write_bytes(CONTENT)
    assert call("fetch", "all", "--from", "stick").exit_code == 0
    Path("stick/mnist.gz").write_bytes(b"wrong")
    wrong = call("fetch", "mnist", "--from", "stick", "--to", "other")
    assert (wrong.exit_code, wrong.stderr) == (2, "error: stick/mnist.gz: got 5 bytes, expected 100000\n")
    assert call("fetch", "mnist", "--from", "nowhere", "--to", "other").exit_code == 2
    Path("stick/mnist.gz").unlink()
    assert call("fetch", "mnist", "--from", "stick", "--to", "other").exit_code == 1
    assert official.seen == []


@pytest.mark.parametrize("command", ["fetch", "build"])
def test_a_name_that_is_not_known_is_refused(official: Server, command: str) -> None:
    result = call(command, "mnits")
    assert result.exit_code == 2
    assert "got 'mnits', expected one of" in result.stderr
    assert official.seen == []


def test_list_tells_what_is_there(official: Server) -> None:
    call("fetch", "mnist", "cifar10", "--quiet")
    Path("data/cifar10-files/cifar10.gz").write_bytes(b"short")
    lines = [line.strip() for line in call("list").stdout.splitlines()]
    assert lines[:4] == [
        "data sets in data/",
        "mnist     complete and verified, 1 files, 0.1 MB",
        "cifar10   incomplete: cifar10.gz: got 5 bytes, expected 100000",
        "cifar100  not there; python -m tools.packs fetch cifar100 --to data",
    ]
    assert [line.split()[0] for line in lines[6:]] == ["fs-mnist", "fs-cifar100", "ps-mnist", "ps-cifar10"]
    told = json.loads(call("list", "--json").stdout)
    assert [told["datasets"][name]["complete"] for name in DATASETS] == [True, False, False]
    assert told["datasets"]["cifar10"]["wrong"] == {"cifar10.gz": "got 5 bytes, expected 100000"}
    assert len(told["packs"]) == 4


def test_list_tells_where_packs_come_from(official: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"data": {"name": "mnist", "sha256": {}}, "network": "a CNN", "seed": 3}
    monkeypatch.setattr(commands, "load_pack", lambda name: SimpleNamespace(provenance=made))
    assert "  ps-cifar10   shipped; from mnist by a CNN; seed 3" in call("list").stdout.splitlines()
    assert json.loads(call("list", "--json").stdout)["packs"]["fs-mnist"] == made


def test_the_time_left_is_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(commands.time, "monotonic", lambda: now)
    shown = []
    with commands.Display(quiet=True) as display:
        tell = commands._shown_on(display, "mnist")
        for at in ((2, 0, 0, 1000, 200, 200), (2, 0, 0, 1000, 600, 200), (2, 0, 0, 1000, 0, 200)):
            now += 4.0
            tell(commands.files.Transfer(*at))
            assert display.last is not None
            shown.append((display.last.fraction, display.last.seconds_left))
    assert shown == [(0.2, None), (0.6, 8.0), (0.0, None)]


def test_an_interruption_says_how_to_continue(server: Server, tmp_path: Path) -> None:
    server.files["/x.gz"] = CONTENT
    server.answers["/x.gz"] = [hangs(server, 5_000)]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, server.url("/x.gz"), "fetch", "mnist", "--to", str(tmp_path)],
        cwd=Path(__file__).parents[2],
        stderr=subprocess.PIPE,
        text=True,
    )
    while not server.seen and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == 130, stderr
    way_back = f"python -m tools.packs fetch mnist --to {tmp_path}"
    assert stderr == f"interrupted; what has arrived is kept. To continue:\n  {way_back}\n"
