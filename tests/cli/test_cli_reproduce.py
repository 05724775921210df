"""The commands ``reproduce`` and ``claims``, as they are typed."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from banditselect.cli.app import app
from banditselect.experiments import EXPERIMENTS


def call(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments)


def test_reproduce(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small = ("reproduce", "ps-synthetic", "latent", "--replicates", "2", "--rounds", "5", "--regime", "theory")
    done = call(*small, "--no-figures")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1] == "report: out/quick/report.html"
    assert done.stdout.splitlines()[0].startswith("Figure 2, theory: ")
    assert not (tmp_path / "out" / "quick" / "ps-synthetic" / "theory" / "figure.svg").exists()
    summary = (tmp_path / "out" / "quick" / "summary.md").read_text()
    for word in ("Parameter selection, synthetic", "Latent bandits", "PS-OFUL, likelihood sets (ours)"):
        assert word in summary
    judged = json.loads((tmp_path / "out" / "quick" / "claims.json").read_text())
    keys = {"id", "quote", "experiment", "regime", "arm", "statistic", "interval", "verdict"}
    assert all(keys <= set(one) for one in judged)
    assert {one["experiment"] for one in judged} == {"ps-synthetic", "latent"}
    assert json.loads(call("claims", "out/quick", "--json").stdout) == judged
    assert "better than OFUL" in call("claims", "out/quick").stdout
    again = call(*small)
    assert "24 of 24 cells (24 from an earlier run)" in again.stderr
    assert (tmp_path / "out" / "quick" / "ps-synthetic" / "theory" / "figure.svg").exists()


def test_the_quick_version_is_practical_and_prints_no_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("reproduce", "--replicates", "2", "--rounds", "40", "--models", "2", "--no-figures")
    assert done.exit_code == 0, done.output
    assert "warning" not in done.stderr
    out = tmp_path / "out" / "quick"
    ran = {path.parent.relative_to(out).as_posix() for path in out.glob("*/*/results.parquet")}
    shown = [name for name, experiment in EXPERIMENTS.items() if experiment.shown]
    assert ran == {f"{name}/practical" for name in shown}
    assert len(shown) == 8
    *lines, last = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == [f"Figure {k}, practical" for k in (1, 2, 3)]
    assert last == "report: out/quick/report.html"
