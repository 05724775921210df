"""Figures and tables: nothing overlaps, the same data give the same bytes, no global state changes."""

import os
import subprocess
import sys
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

from banditselect.reporting import (
    latex_table,
    plot_curves,
    plot_finals,
    plot_panels,
    plot_ranks,
    plot_rows,
    save_figure,
    summary_table,
)
from banditselect.reporting.labels import spread
from banditselect.reporting.scales import human
from banditselect.reporting.style import _slim, looks

ROUNDS = np.array([1, 100, 200, 400, 1000])


def curves_ending_at(ends, replicates=4):
    noise = np.linspace(0.97, 1.03, replicates)
    return {f"policy {k}": np.sqrt(ROUNDS / 1000)[:, None] * end * noise for k, end in enumerate(ends)}


def labels_of(axes):
    return [text for text in axes.texts if isinstance(text, Annotation)]


def boxes(figure, dpi):
    """Return the boxes of labels, tick labels and titles of all axes, as they are drawn at a resolution."""
    figure.set_dpi(dpi)
    figure.draw_without_rendering()
    found = []
    for axes in figure.axes:
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        ticks = [text for text in axes.xaxis.get_ticklabels() if left <= text.get_position()[0] <= right]
        ticks += [text for text in axes.yaxis.get_ticklabels() if bottom <= text.get_position()[1] <= top]
        texts = [*labels_of(axes), *ticks, axes.xaxis.label, axes.yaxis.label, axes.title]
        found += [(text.get_text(), Text.get_window_extent(text)) for text in texts if text.get_text()]
    return found


def assert_clear(figure):
    for dpi in (72, 200):
        found = boxes(figure, dpi)
        for (a, one), (b, other) in combinations(found, 2):
            assert not one.overlaps(other), (dpi, a, b)
        for text, box in found:
            assert box.x0 >= 0, text
            assert box.y0 >= 0, text
            assert box.x1 <= figure.bbox.x1, text
            assert box.y1 <= figure.bbox.y1, text


def test_spread_by_hand():
    centres = spread(np.array([5.0, 5.0, 20.0]), np.array([2.0, 2.0, 2.0]), 0.0, 30.0)
    assert centres == pytest.approx([4.0, 6.0, 20.0])
    at_the_edge = spread(np.array([29.0, 30.0]), np.array([4.0, 4.0]), 0.0, 30.0)
    assert at_the_edge == pytest.approx([24.0, 28.0])
    no_room = spread(np.array([0.0, 0.0, 0.0]), np.array([4.0, 4.0, 4.0]), 0.0, 6.0)
    assert no_room == pytest.approx([-1.0, 3.0, 7.0])


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(1, 12)), min_size=1, max_size=12))
def test_spread_keeps_apart_and_in_order(pairs):
    targets, heights = map(np.array, zip(*pairs, strict=True))
    centres = spread(targets, heights, 0.0, 100.0)
    order = np.lexsort((np.arange(targets.size), targets))
    c, h = centres[order], heights[order]
    assert (np.diff(c) >= (h[:-1] + h[1:]) / 2 - 1e-9).all()
    if heights.sum() <= 100.0:
        assert c[0] - h[0] / 2 >= -1e-9
        assert c[-1] + h[-1] / 2 <= 100.0 + 1e-9


@settings(max_examples=8, phases=[Phase.generate])
@given(st.lists(st.floats(0.5, 500), min_size=1, max_size=14), st.sampled_from(["column", "page"]))
def test_labels_of_curves_never_overlap(ends, width):
    figure = plot_curves(ROUNDS, curves_ending_at(ends), metric="regret", width=width, title="a title of the axes")
    assert len(labels_of(figure.axes[0])) == len(ends)
    assert_clear(figure)


@pytest.mark.parametrize("ends", [[50.0] * 8, [0.1, 0.1, 5000.0], [3.0, 2.9, 2.8, 2.7, 900.0]])
def test_hard_ends(ends):
    curves = curves_ending_at(ends)
    curves = {f"{name} with a long name": curve for name, curve in curves.items()}
    assert_clear(plot_curves(ROUNDS, curves, metric="regret"))


@pytest.mark.parametrize("number", [1, 2, 4, 5])
def test_panels_name_every_policy_once(number):
    curves = curves_ending_at([10.0, 11.0, 40.0])
    figure = plot_panels({f"M = {k}": (ROUNDS, curves) for k in range(number)}, metric="regret")
    labels = [label.get_text() for axes in figure.axes for label in labels_of(axes)]
    assert sorted(labels) == ["policy 0", "policy 1", "policy 2"]
    assert len(figure.axes) == number
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert_clear(figure)


def test_panels_differ_where_they_must():
    panels = {"small": (ROUNDS, curves_ending_at([1.0, 2.0])), "large": (ROUNDS, curves_ending_at([20.0, 9.0, 30.0]))}
    figure = plot_panels(panels, metric="regret", log=False)
    small, large = figure.axes
    assert small.get_ylim() != large.get_ylim()
    assert [line.get_color() for line in small.lines] == [line.get_color() for line in large.lines][:2]
    shared = plot_panels(panels, metric="regret", log=True)
    assert shared.axes[0].get_ylim() == shared.axes[1].get_ylim()


def test_the_second_row_shows_what_was_added_dashed_before_the_others_in_grey():
    rounds = np.arange(1, 201)
    curves = {name: np.outer(rounds, [end, end + 1.0]) for name, end in (("a", 1.0), ("b", 2.0), ("new", 3.0))}
    panels = {"M = 2": (rounds, {k: curves[k] for k in ("a", "new")}), "M = 5": (rounds, curves)}
    figure = plot_rows(panels, metric="regret", added=("new", "absent"))
    first, second, below, last = figure.axes
    assert [axes.get_title("left") for axes in figure.axes] == ["M = 2", "M = 5", "", ""]
    assert [len(axes.lines) for axes in figure.axes] == [1, 2, 2, 3]
    assert all(line.get_linestyle() == "-" for line in (*first.lines, *second.lines))
    assert [line.get_color() == "#BBBBBB" for line in last.lines] == [True, True, False]
    assert below.lines[-1].get_linestyle() == "--"
    assert below.lines[-1].get_color() == last.lines[-1].get_color() not in {x.get_color() for x in second.lines}
    assert [text.get_text() for axes in figure.axes for text in labels_of(axes)] == ["a", "b", "new"]
    assert {axes.get_ylim() for axes in figure.axes} == {first.get_ylim()}
    x, y = second.lines[1].get_data()
    assert x.size == 25  # of 200 checkpoints
    assert (x[0], x[-1]) == (1, 200)
    np.testing.assert_allclose(y, 2.5 * x)
    assert len(plot_rows(panels, metric="regret").axes) == 2


def test_curves_are_the_means():
    curves = {"a": np.array([[1.0, 3.0], [4.0, 8.0]]), "b": np.full((2, 2), np.nan)}
    axes = plot_curves([10, 20], curves, metric="mean_reward").axes[0]
    assert [list(line.get_ydata()) for line in axes.lines] == [[2.0, 6.0]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("round", "mean reward")
    assert [label.get_text() for label in labels_of(axes)] == ["a"]


@pytest.mark.parametrize(
    ("ends", "log", "scale"),
    [
        ([1.0, 29.0], None, "linear"),
        ([1.0, 31.0], None, "log"),
        ([-1.0, 31.0], None, "linear"),
        ([1.0, 31.0], False, "linear"),
        ([1.0, 2.0], True, "log"),
    ],
)
def test_log_axis(ends, log, scale):
    figure = plot_curves(ROUNDS, curves_ending_at(ends), metric="regret", log=log)
    assert figure.axes[0].get_yscale() == scale
    assert_clear(figure)


def test_share_of_one_is_shown_from_zero_to_one():
    share = 1.0 - np.exp(-ROUNDS[:, None] / np.array([100.0, 200.0, 400.0]))
    assert plot_curves(ROUNDS, {"a": share}, metric="weight").axes[0].get_ylim() == (0.0, 1.02)


def test_finals_against_numbers_and_words():
    finals = {M: {"a": np.array([M, M + 2.0]), "b": np.array([5.0, 7.0, 9.0])} for M in (2, 10, 100)}
    figure = plot_finals(finals, metric="regret after 1,000 rounds", setting="number of models")
    axes = figure.axes[0]
    assert axes.get_xscale() == "log"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["2", "10", "100"]
    assert_clear(figure)
    near = plot_finals({4: finals[2], 8: finals[10]}, metric="regret", setting="width").axes[0]
    assert near.get_xscale() == "linear"
    words = plot_finals({"MNIST": finals[2], "CIFAR-100": {"a": [1.0, 2.0]}}, metric="regret", setting="problem")
    assert [text.get_text() for text in words.axes[0].get_xticklabels()] == ["MNIST", "CIFAR-100"]
    assert_clear(words)
    given_x = plot_finals({"p": finals[2], "q": finals[10]}, metric="regret", setting="radius", x=[0.1, 5.0])
    assert given_x.axes[0].get_xscale() == "log"


def test_drawing_on_given_axes():
    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    assert plot_curves(ROUNDS, curves_ending_at([3.0, 9.0]), metric="regret", axes=axes) is figure
    assert len(labels_of(axes)) == 2


def test_looks_differ():
    found = list(looks([f"policy {k}" for k in range(32)]).values())
    assert len({(look.colour, look.dashes) for look in found}) == 32
    assert len({look.colour for look in found[:8]}) == 8


def test_ticks_for_people():
    assert [human(v, 2000) for v in (0, 500, 2000)] == ["0", "500", "2,000"]
    assert [human(v, 20_000) for v in (500, 2500, 20_000)] == ["500", "2.5k", "20k"]
    assert [human(v, 3e6) for v in (5e5, 1.5e6)] == ["500k", "1.5M"]
    assert [human(v, 1) for v in (0.1 + 0.2, -0.5)] == ["0.3", "\N{MINUS SIGN}0.5"]


SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from banditselect.reporting import latex_table, plot_curves, save_figure
curves = {name: np.outer([1.0, 2.0, 4.0], [k + 1.0, k + 1.5]) for k, name in enumerate(("FS-SCB", "RB-SCB", "oracle"))}
figure = plot_curves([1, 50, 100], curves, metric="regret", title="a title")
for suffix in ("png", "svg", "pdf"):
    save_figure(figure, Path(sys.argv[1]) / "new" / f"figure.{suffix}")
"""


def test_same_data_same_bytes(tmp_path):
    files = []
    for run, seed in enumerate(("1", "2")):
        environment = os.environ | {"PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": str(10**9 * (run + 1))}
        subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path / seed)], check=True, env=environment)
        folder = tmp_path / seed / "new"
        assert sorted(path.name for path in folder.iterdir()) == ["figure.pdf", "figure.png", "figure.svg"]
        files.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert files[0] == files[1]
    assert b">FS-SCB</text>" in files[0]["figure.svg"]
    assert b"/Type3" not in files[0]["figure.pdf"]
    assert b"/FontFile2" in files[0]["figure.pdf"]


def test_paths_of_an_svg_are_those_that_matplotlib_draws_to_a_twentieth_of_a_point():
    text = ' d="M 10.04 -20 \nL 12.36 -3.25 \nL 13 -3.25 \nL 10 0 \nz\nM 1 2 \nL 1.5 1 \n"'
    assert _slim(f'<g id="line2d_1">\n <path{text}/></g>') == (
        '<g>\n<path d="M10-20 l2.4 16.8 0.6 0-3 3.2 z M1 2 l0.5-1"/></g>'
    )
    curve = '<path d="M 0 1.5 \nC 0.4 1.5 0.8 1.3 1.1 1.1 \nz"/>'
    assert _slim(curve) == curve


def test_settings_of_the_user_neither_matter_nor_change(tmp_path):
    plain = save_figure(plot_curves(ROUNDS, curves_ending_at([3.0]), metric="regret"), tmp_path / "a.svg").read_bytes()
    with mpl.rc_context({"font.size": 30.0, "lines.linewidth": 9.0, "savefig.bbox": "tight", "axes.grid": True}):
        before = dict(mpl.rcParams)
        figure = plot_curves(ROUNDS, curves_ending_at([3.0]), metric="regret")
        assert save_figure(figure, tmp_path / "b.svg").read_bytes() == plain
        plot_panels({"x": (ROUNDS, curves_ending_at([3.0]))}, metric="regret")
        plot_finals({"x": {"a": [3.0]}}, metric="regret", setting="problem")
        assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == []


def test_matplotlib_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.style", None)
    with pytest.raises(ImportError, match=r'matplotlib is not installed: pip install "banditselect\[experiments\]"'):
        plot_curves(ROUNDS, curves_ending_at([3.0]), metric="regret")


NAN = {"a": np.full((5, 2), np.nan)}


def test_a_checkpoint_that_not_every_replicate_has_is_left_out():
    figure = plot_curves([1, 2, 3], {"a": [[1.0, np.nan], [2.0, 4.0], [3.0, 5.0]]}, metric="mean reward")
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), [np.nan, 3.0, 4.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot_curves(ROUNDS, NAN, metric="weight"), "curves: got .* that has the metric 'weight'"),
        (lambda: plot_curves(ROUNDS, {}, metric="regret"), "curves: got"),
        (lambda: plot_curves(ROUNDS, {"a": np.ones((4, 2))}, metric="regret"), r"curves\['a'\]: got"),
        (lambda: plot_curves([1], {"a": [[1.0, np.inf]]}, metric="regret"), r"curves\['a'\]: got"),
        (lambda: plot_curves([1], {"a": [[1.0]]}, metric=""), "metric: got"),
        (lambda: plot_curves([1], {"a": [[-1.0]]}, metric="regret", log=True), "log: got"),
        (lambda: plot_curves([1], {"a": [[1.0]]}, metric="regret", log="none"), "log: got"),
        (lambda: plot_curves([1, 1], {"a": np.ones((2, 1))}, metric="regret"), "checkpoints: got"),
        (lambda: plot_curves([1, np.nan], {"a": np.ones((2, 1))}, metric="regret"), "checkpoints: got"),
        (lambda: plot_curves([1], {"a": [[1.0]]}, metric="regret", width="wide"), "width: got"),
        (lambda: plot_panels({"x": [1, 2, 3]}, metric="regret"), r"panels\['x'\]: got"),
        (lambda: plot_panels({"x": (ROUNDS, NAN)}, metric="regret"), r"panels\['x'\]: curves: got"),
        (lambda: plot_finals({"x": {"a": [[1.0]]}}, metric="regret", setting="M"), r"values\['x'\]\['a'\]: got"),
        (lambda: plot_finals({"x": {"a": [1.0]}}, metric="regret", setting="M", x=[1, 2]), "x: got"),
        (lambda: plot_finals({2: {"a": [1.0]}, 1: {"a": [1.0]}}, metric="regret", setting="M"), "x: got"),
        (lambda: plot_finals({"x": 3}, metric="regret", setting="M"), r"values\['x'\]: got"),
        (lambda: save_figure(Figure(), "figure.jpg"), r"path: got 'figure.jpg', expected .*\.png, \.svg, \.pdf"),
        (lambda: summary_table({}, metric="regret"), "finals: got"),
        (lambda: summary_table({"a": [np.inf]}, metric="regret"), r"finals\['a'\]: got"),
        (lambda: summary_table({"a": [1.0]}, metric=None), "metric: got"),
    ],
)
def test_refusals_name_the_argument(call, message):
    with pytest.raises(ValueError, match="^" + message):
        call()


def test_summary_by_hand():
    """60, 80, 76: mean 72, s = sqrt((144 + 64 + 16) / 2), s.e. = s / sqrt(3) = 6.11."""
    finals = {"FS-SCB": [60.0, 80.0, 76.0], "OFUL, a": [580.0, 610.0, 640.0], "none": [np.nan, np.nan]}
    assert summary_table(finals, metric="regret").split("\n") == [
        "policy    mean  ± s.e.  median  worst",
        "FS-SCB    72.0     6.1    76.0   80.0",
        "OFUL, a  610.0    17.3   610.0  640.0",
        "none         –       –       –      –",
    ]


def test_summary_of_small_numbers_and_of_rewards():
    """0.2, 0.4: mean 0.3, s.e. 0.1 with two digits; the worst reward is the smallest."""
    lines = summary_table({"a": [0.2, 0.4], "b": [0.25, 0.25]}, metric="mean reward").split("\n")
    assert lines[1:] == ["a       0.30    0.10    0.30   0.20", "b       0.25    0.00    0.25   0.25"]
    assert summary_table({"a": [0.1234]}, metric="share").split()[-5:] == ["a", "0.123", "–", "0.123", "0.123"]


def test_ranks_have_a_line_per_policy_the_best_on_top():
    ranks = {f"policy {k}, of some length": [k + 1.0, 12.0 - k, 3.0] for k in range(12)} | {"first": [1.0, 1.0]}
    figure = plot_ranks(ranks, title="maps, 3 problems")
    assert_clear(figure)
    (axes,) = figure.axes
    assert axes.yaxis.get_ticklabels()[0].get_text() == "first"
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert plt.get_fignums() == []
    with pytest.raises(ValueError, match=r"ranks\['a'\]: got \[0\.0\], expected numbers from 1"):
        plot_ranks({"a": [0.0]})
    with pytest.raises(ValueError, match="ranks: got"):
        plot_ranks({})


def test_summary_in_markdown():
    text = summary_table({"a|b": [10.0, 12.0]}, metric="regret", markdown=True)
    assert text.split("\n") == [
        "| policy | mean | ± s.e. | median | worst |",
        "|:---|---:|---:|---:|---:|",
        "| a\\|b | 11.0 | 1.0 | 11.0 | 12.0 |",
    ]


def test_latex_by_hand():
    r"""Means 11 and 20 with standard errors 1 and 0; 0.3 is the smaller of two rewards; a policy that is missing."""
    finals = {"a_b": {"x & y": [10.0, 12.0], "z": [20.0, 20.0], "n": [np.nan, np.nan]}, "c": {"z": [3.0]}}
    assert latex_table(finals, metric="regret").split("\n") == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"policy & a\_b & c \\",
        r"\midrule",
        r"x \& y & $\mathbf{11.0} \pm 1.0$ & -- \\",
        r"z & $20.0 \pm 0.0$ & $\mathbf{3.00}$ \\",
        r"n & -- & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    rewards = latex_table({"p": {"a": [0.3, 0.3], "b": [0.5, 0.5], "c": [0.5, 0.5]}}, metric="mean reward")
    assert [line.count("mathbf") for line in rewards.split("\n")] == [0, 0, 0, 0, 0, 1, 1, 0, 0]
    with pytest.raises(ValueError, match="finals: got"):
        latex_table({}, metric="regret")
