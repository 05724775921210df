"""Results: what can be asked of them, tables, files."""

import json

import numpy as np
import pytest

from banditselect import OFUL, Uniform, given, grid, simulate, sweep
from banditselect.problems import SyntheticParameterSelection
from banditselect.reporting import save_figure
from banditselect.simulation import METRICS, Result, Results

PS = SyntheticParameterSelection(n_models=3, dim=4, n_actions=5, radius=0.5)
POLICIES = {"OFUL": OFUL.bind(noise=given.noise, parameter_bound=given.parameter_bound), "uniform": Uniform.bind()}


@pytest.fixture(scope="module")
def result():
    return simulate(POLICIES, PS, rounds=12, replicates=5)


@pytest.fixture(scope="module")
def results():
    problems = grid(SyntheticParameterSelection, n_models=[2, 4], dim=3)
    return sweep(POLICIES, problems, rounds=6, replicates=3)


def made(regret, reward=None):
    """Return a result of two checkpoints with these finals by policy."""
    curves = {
        name: {metric: np.full((2, len(values)), np.nan) for metric in METRICS} for name, values in regret.items()
    }
    for name, values in regret.items():
        curves[name]["regret"] = np.array([np.zeros(len(values)), values])
    for name, values in (reward or {}).items():
        curves[name]["reward"] = np.array([np.zeros(len(values)), values])
    return Result(checkpoints=np.array([1, 2]), curves=curves)


def test_a_result_names_what_it_does_not_have(result):
    for ask in (result.curve, result.final):
        with pytest.raises(ValueError, match="policy: got 'PS', expected one of 'OFUL', 'uniform'"):
            ask("PS", "regret")
        with pytest.raises(ValueError, match="metric: got 'loss', expected one of 'regret', 'pseudo_regret'"):
            ask("OFUL", "loss")
    for ask in (result.summary, result.plot, result.finals):
        with pytest.raises(ValueError, match="metric: got 'loss'"):
            ask("loss")
    with pytest.raises(ValueError, match="policy"):
        result.compare("OFUL", "PS")


def test_the_summary_by_hand():
    result = made({"a": [1.0, 2.0, 6.0]}, {"a": [4.0, 5.0, 9.0]})
    header, line = result.summary().splitlines()
    assert header.split() == ["policy", "mean", "±", "s.e.", "median", "worst"]
    name, mean, error, median, worst = line.split()
    assert (name, float(mean), float(median), float(worst)) == ("a", 3.0, 2.0, 6.0)
    assert float(error) == pytest.approx(np.sqrt((4.0 + 1.0 + 9.0) / 2.0 / 3.0), abs=0.01)
    assert float(result.summary("reward").split()[-1]) == 4.0


def test_a_comparison_is_paired_and_by_hand():
    result = made({"a": [1.0, 2.0, 3.0, 4.0], "b": [11.0, 12.5, 12.5, 14.0]})
    compared = result.compare("a", "b")
    assert compared.mean == pytest.approx(-10.0)
    assert compared.low < -10.0 < compared.high
    assert compared.high - compared.low < 1.5  # the values themselves spread over 3
    back = result.compare("b", "a")
    assert (back.mean, back.low, back.high) == pytest.approx((-compared.mean, -compared.high, -compared.low))


def test_rows_are_tidy(result, results):
    frame = result.to_pandas()
    assert list(frame.columns) == ["policy", "replicate", "round", *METRICS]
    assert len(frame) == 2 * 5 * 12
    picked = frame[(frame.policy == "OFUL") & (frame.replicate == 3)]
    assert picked["round"].tolist() == list(range(1, 13))
    np.testing.assert_array_equal(picked["regret"], result.curve("OFUL", "regret")[:, 3])
    np.testing.assert_array_equal(picked["coverage"], result.curve("OFUL", "coverage")[:, 3])
    assert frame[frame.policy == "uniform"]["weight"].isna().all()
    frame = results.to_pandas()
    assert list(frame.columns) == ["problem", "policy", "replicate", "round", *METRICS]
    mean = frame[frame["round"] == 6].groupby(["problem", "policy"], observed=True)["regret"].mean()
    assert mean["n_models=4", "OFUL"] == pytest.approx(results["n_models=4"].final("OFUL").mean())


def same(one, two):
    assert one.policies == two.policies
    np.testing.assert_array_equal(one.checkpoints, two.checkpoints)
    for policy in one.policies:
        for metric in METRICS:
            np.testing.assert_array_equal(one.curve(policy, metric), two.curve(policy, metric))
    assert one.settings == two.settings


def test_what_is_saved_is_loaded(tmp_path, result, results):
    result.save(tmp_path / "one.parquet")
    same(Result.load(tmp_path / "one.parquet"), result)
    results.save(tmp_path / "two.parquet")
    loaded = Results.load(tmp_path / "two.parquet")
    assert list(loaded) == list(results)
    for name in results:
        same(loaded[name], results[name])
    again = tmp_path / "again.parquet"
    loaded.save(again)
    assert again.read_bytes() == (tmp_path / "two.parquet").read_bytes()
    with pytest.raises(ValueError, match=r"two\.parquet: .*results of one problem"):
        Result.load(tmp_path / "two.parquet")


def test_an_older_file_has_fewer_metrics(tmp_path, result):
    parquet = pytest.importorskip("pyarrow.parquet")
    result.save(tmp_path / "one.parquet")
    table = parquet.read_table(tmp_path / "one.parquet").drop_columns(["leader"])
    parquet.write_table(table, tmp_path / "one.parquet")
    loaded = Result.load(tmp_path / "one.parquet")
    np.testing.assert_array_equal(loaded.curve("OFUL"), result.curve("OFUL"))
    assert np.isnan(loaded.curve("OFUL", "leader")).all()


def test_the_file_can_be_read_by_anything_that_reads_parquet(tmp_path, results):
    path = tmp_path / "results.parquet"
    results.save(path)
    frame = pytest.importorskip("pandas").read_parquet(path)
    np.testing.assert_array_equal(frame["regret"], results.to_pandas()["regret"])
    settings = json.loads(pytest.importorskip("pyarrow.parquet").read_schema(path).metadata[b"banditselect"])[
        "settings"
    ]
    assert settings["n_models=4"]["problem"]["arguments"]["n_models"] == 4


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not a table at all" * 10, "another table"])
def test_a_file_that_is_not_a_table_of_results_is_refused_by_name(tmp_path, content):
    path = tmp_path / "x.parquet"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        pytest.importorskip("pandas").DataFrame({"regret": [1.0]}).to_parquet(path)
    with pytest.raises(ValueError, match=r"x\.parquet: not a table of results, or damaged"):
        Results.load(path)
    with pytest.raises(FileNotFoundError):
        Results.load(tmp_path / "nowhere.parquet")


def test_results_are_a_mapping_that_names_what_it_does_not_have(results):
    assert list(results) == ["n_models=2", "n_models=4"]
    assert len(results) == 2
    with pytest.raises(KeyError, match="expected one of 'n_models=2', 'n_models=4'"):
        results["n_models=3"]
    text = results.summary()
    assert text.index("n_models=2") < text.index("n_models=4")
    assert text.count("OFUL") == 2


def test_figures_of_results(tmp_path, result, results):
    save_figure(result.plot("regret"), tmp_path / "curves.svg")
    save_figure(results.plot("reward"), tmp_path / "panels.pdf")
    save_figure(results.plot_finals(), tmp_path / "finals.png")
    assert "OFUL" in (tmp_path / "curves.svg").read_text()
    assert results.plot_finals().axes[0].get_xlabel() == "n_models"


def test_the_finals_are_drawn_against_the_setting_that_varies():
    problems = grid(SyntheticParameterSelection, n_models=[2, 4], radius=[0.0, 1.0], dim=3)
    several = sweep({"u": Uniform.bind()}, problems, rounds=2, replicates=2)
    labels = [text.get_text() for text in several.plot_finals().axes[0].get_xticklabels()]
    assert labels == list(problems)


def test_results_as_latex():
    one = made({"a": [1.0, 3.0], "b_c": [4.0, 6.0]})
    assert r"a & $\mathbf{2.0" in one.to_latex()
    assert r"policy & regret \\" in one.to_latex()
    both = Results({"p": one, "q": made({"a": [1.0, 1.0]})}).to_latex()
    assert r"policy & p & q \\" in both
    assert r"b\_c & $5.0" in both
    with pytest.raises(ValueError, match="metric: got 'loss'"):
        one.to_latex("loss")
