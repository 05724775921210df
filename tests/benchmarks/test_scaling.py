"""The scaling benchmark: laws of made-up times, the state has the size that the page states, the page is filled."""

import numpy as np
import pytest

from banditselect import FSSquareCB
from benchmarks import scaling
from benchmarks.measuring import Spread

X = np.array([1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0])


def series(axis, y, policy="FS-SCB"):
    def point(size, value):
        time = Spread(5, best=value, median=value, low=0.9 * value, high=1.1 * value)
        return {"x": int(size), "rounds": 7, "time": time, "state": 8 * value, "round": value, "offer": 80, "held": 16}

    points = [point(size, value) for size, value in zip(X, y, strict=True)]
    return {"policy": policy, "axis": axis, "points": points}


@pytest.mark.parametrize("coefficients", [[3.0, 0.5], [0.0, 2.0], [7.0, 0.0], [1.0, 0.1, 0.01], [5.0, 0.0, 2.0]])
def test_a_polynomial_is_found_as_it_is(coefficients):
    y = X[:, None] ** np.arange(len(coefficients)) @ coefficients
    np.testing.assert_allclose(scaling.law(X, y, len(coefficients) - 1), coefficients, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("power", [0.0, 1.0, 1.5, 2.0, 3.0])
def test_the_slope_of_a_power(power):
    assert scaling.slope(X, 4.0 * X**power) == pytest.approx(power)


def test_a_law_of_a_higher_degree_is_marked():
    linear, square = (scaling.judge(series("M", 20.0 + 0.3 * X**power)) for power in (1, 2))
    assert linear.endswith("✓")
    assert "✗, a step of 2.00 from 300 to 1,000" in square
    flat = scaling.judge(series("M", np.full(X.size, 20.0)))
    assert flat == "0.00 (0.00) ✓"  # a round whose models cost nothing is no slower than the formula
    stepped = scaling.judge(series("K", np.where(X > 100.0, 1.5, 1.0) * X))
    assert stepped.endswith("✓, a step of 1.37 from 100 to 300")


@pytest.mark.parametrize(("M", "d"), [(1, 1), (4, 3), (7, 20)])
def test_the_state_of_fs_squarecb_by_hand(M, d):
    alone, many = (FSSquareCB(n_models=M, dim=d, lanes=lanes) for lanes in (1, 5))
    root, theta, evidence, group, updates = M * d * (d + -d % 4), M * d, 3 * M, M, 1
    ledger, keys, outside = 4 + 1, 1, 1  # the ring of bits has eight bytes
    by_hand = 8 * (root + theta + evidence + group + updates + ledger + keys + outside + 1 + M)
    assert scaling.state_bytes(alone) == by_hand
    assert scaling.state_bytes(many) == 5 * by_hand


@pytest.mark.parametrize("one", [one for group in scaling.plan(quick=True) for one in group], ids=str)
def test_every_game_can_be_played(one):
    sizes = one.sizes(one.grid[1])
    game = scaling.Game(one.policy, sizes, one.way)
    game.play(2)
    assert np.sum(game.policy.rounds) == 2 * (sizes.lanes or 1)


def test_sizes_along_an_axis_end_where_the_full_run_ends():
    ends = {(one.axis, one.policy): one.grid[-1] for group in scaling.plan(quick=False) for one in group}
    assert (ends["M", "PS-OFUL"], ends["M", "FS-SCB"], ends["d", "OFUL"]) == (100_000, 1000, 512)
    assert ends["K", "FS-SCB"] == ends["lanes", "SCB"] == 10_000


def test_tables_of_made_up_times():
    found = [series(axis, 20.0 + X, policy) for axis in ("M", "lanes", "held") for policy in ("FS-SCB", "SCB")]
    found += [series("d", 20.0 + X**2, "OFUL"), series("rounds", 20.0 + 0.0 * X, "SCB")]
    found += [series("K", 20.0 + X, policy) for policy in ("FS-SCB", "FS-SCB, catalogue")]
    tables = scaling.tables_of(found)
    assert (
        "| models M | FS-SCB | 21 µs at 1 | 1.02 ms (918 µs to 1.12 ms) at 1,000; 5 blocks of 7 | 1 |" in tables["time"]
    )
    assert "| lanes, one served | SCB | 1,000 | 8.16 kB |" in tables["memory"]
    assert "| FS-SCB | an array that lies ready | 1,000 | 80 B | 1.02 kB | 1.02 ms |" in tables["catalogue"]
    assert "| SCB | 20 µs | 20 µs | 0.00 (0.00) ✓ | 16 B | 16 B |" in tables["rounds"]
    page = (scaling.DOCS / "scaling.md").read_text()
    assert all(page.count(f"<!-- table: {name} -->") == 1 for name in (*tables, "machine"))
