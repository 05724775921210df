"""The command line where the extra "experiments" is not installed."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from banditselect.cli import without_extra
from banditselect.cli.app import app


@pytest.mark.parametrize("module", ["typer", "rich"])
def test_without_the_libraries_of_the_command_line(module: str) -> None:
    code = f"import sys; sys.modules[{module!r}] = None; from banditselect.cli import main; main()"
    arguments = [sys.executable, "-c", code, "reproduce", "--help"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    told = "`banditselect reproduce` needs the extra \"experiments\": pip install 'banditselect[experiments]'\n"
    assert done.stderr == told


def light(*arguments: str) -> int:
    """Run a command as where the extra is not installed; return the exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["banditselect", *arguments])
        try:
            without_extra.app("banditselect")
        except SystemExit as stop:
            if isinstance(stop.code, str):
                print(stop.code, file=sys.stderr)
            return stop.code if isinstance(stop.code, int) else 1
    return 0


@pytest.mark.parametrize(
    "arguments", [["--version"], ["list"], ["list", "policies"], ["list", "--json"], ["show", "FSIDS"]]
)
def test_commands_that_need_no_extra(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert light(*arguments) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == (CliRunner().invoke(app, arguments).stdout, "")


@pytest.mark.parametrize("arguments", [["reproduce", "--scale", "quick"], ["claims", "--json"]])
def test_commands_that_need_the_extra_name_it(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert light(*arguments) == 1
    told = f"`banditselect {arguments[0]}` needs the extra \"experiments\": pip install 'banditselect[experiments]'\n"
    assert capsys.readouterr() == ("", told)


def test_warmup_needs_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    monkeypatch.setattr(without_extra, "warm_up_aloud", lambda *names: called.append(names))
    assert light("warmup") == 0
    assert len(called) == 1


def test_help_without_the_extra(capsys: pytest.CaptureFixture[str]) -> None:
    assert light("--help") == 0
    everything = capsys.readouterr().out
    for word in ("list ", "show ", "warmup ", "reproduce", "claims ", '"experiments"', "examples:"):
        assert word in everything
    for command in ("list", "show", "warmup"):
        assert light(command, "-h") == 0
        assert capsys.readouterr().out.startswith(f"usage: banditselect {command}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: COMMAND"),
        (["ran"], "invalid choice: 'ran'"),
        (["list", "policy"], "invalid choice: 'policy' (choose from"),
        (["show", "FSSquareBC"], "invalid choice: 'FSSquareBC' (choose from"),
        (["list", "--quiet"], "unrecognized arguments: --quiet"),
    ],
)
def test_wrong_usage_without_the_extra(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert light(*arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert message in told.err
