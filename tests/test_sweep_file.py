"""Sweeps as TOML files: what is read, and that every mistake is told with the file and the key."""

import re
from pathlib import Path

import numpy as np
import pytest

from banditselect import (
    OFUL,
    UCB1,
    FSSquareCB,
    Greedy,
    LatentReference,
    Power,
    RegretBalancing,
    SquareCB,
    given,
    on_every_ball,
    on_every_map,
    on_map,
)
from banditselect.simulation.sweep_file import read_sweep_file

GOOD = """\
rounds = 60
replicates = 3

[problems.features]
type = "SyntheticFeatureSelection"
n_models = [2, 3]
dim = 4
n_items = 50

[policies.oracle]
type = "SquareCB"
on_map = 0
reward_range = "given.reward_range"

[policies.FS-SCB]
type = "FSSquareCB"
noise = "given.noise"
reward_range = [-2.5, 2.5]
exploration = { power = [10, 0.5] }

[policies.RB-SCB]
type = "RegretBalancing"
bases = { on_every_map = { type = "SquareCB" } }
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "sweep.toml"
    path.write_text(text)
    return path


def test_what_is_read(tmp_path: Path) -> None:
    found = read_sweep_file(write(tmp_path, GOOD), replicates=7)
    assert (found.rounds, found.replicates, found.seed, found.metric) == (60, 7, 0, "regret")
    assert [repr(problem) for problem in found.problems.values()] == [
        f"SyntheticFeatureSelection(n_models={M}, dim=4, n_actions=10, n_items=50, noise='uniform')" for M in (2, 3)
    ]
    assert list(found.problems) == ["n_models=2", "n_models=3"]
    wanted = {
        "oracle": on_map(SquareCB.bind(reward_range=given.reward_range), 0),
        "FS-SCB": FSSquareCB.bind(noise=given.noise, reward_range=[-2.5, 2.5], exploration=Power(10.0, 0.5)),
        "RB-SCB": RegretBalancing.bind(bases=on_every_map(SquareCB.bind())),
    }
    assert repr(found.policies) == repr(wanted)


SEVERAL = """\
rounds = 5
replicates = 2
problems.small = { type = "SyntheticParameterSelection", n_models = 2, dim = 2 }
problems.large = { type = "SyntheticParameterSelection", n_models = [2, 4], dim = 2 }
[policies."PS, known"]
type = "PSOFUL"
centers = [[0.0, 1.0], [1.0, 0.0]]
radii = [0.1, 0.2]
[policies.RB]
type = "RegretBalancing"
bases = [{ type = "OFUL", noise = "given.noise" }, { type = "LinTS", scale = 0.5 }]
"""


def test_several_tables_lists_of_bases_and_arrays(tmp_path: Path) -> None:
    found = read_sweep_file(write(tmp_path, SEVERAL))
    assert list(found.problems) == ["small", "large, n_models=2", "large, n_models=4"]
    assert repr(found.policies["RB"].arguments["bases"][0]) == repr(OFUL.bind(noise=given.noise))
    results = found.run(phase=lambda title: lambda progress: None)
    assert not results.failures
    assert results["small"].final("PS, known").shape == (2,)


LATENT = """\
rounds = 5
replicates = 2
[problems.latent]
type = "LatentBandit"
n_models = [2, 3]
n_arms = 4
[policies.RB]
type = "RegretBalancing"
bases = [{ type = "UCB1", noise = "given.noise" }, { on_every_ball = { type = "Greedy" } }]
reference = { latent_reference = ["given.error", "given.n_arms", 0.5] }
[policies.RB-OFUL]
type = "RegretBalancing"
bases = { on_every_ball = { type = "BiasOFUL", noise = "given.noise" } }
[tuning]
scale = [0.1, 1.0]
replicates = 2
"""


def test_bases_on_every_ball_and_a_reference_of_the_problem(tmp_path: Path) -> None:
    found = read_sweep_file(write(tmp_path, LATENT))
    bases = [UCB1.bind(noise=given.noise), on_every_ball(Greedy.bind())]
    reference = LatentReference(given.error, given.n_arms, 0.5)
    assert repr(found.policies["RB"]) == repr(RegretBalancing.bind(bases=bases, reference=reference))
    results = found.run(phase=lambda title: lambda progress: None)
    assert not results.failures
    assert [len(result.final("RB-OFUL")) for result in results.values()] == [2, 2]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"Greedy"',
            '"OFUL"',
            r"policies.RB.bases\[1\].on_every_ball: on_every_ball: policy: got OFUL.bind.*argument center",
        ),
        (
            '"Greedy"',
            '"Greedy", center = [1.0]',
            r"policies.RB.bases\[1\].on_every_ball: on_every_ball: policy: got .*that is not bound",
        ),
        (
            '"Greedy" }',
            '"Greedy" }, radii = 1.0',
            r"policies.RB.bases\[1\]: got .*expected a number, a string, a list, a policy",
        ),
        (
            '"given.error"',
            '"given.eror"',
            r"policies.RB.reference.latent_reference\[0\]: got 'given.eror', .*did you mean 'error'",
        ),
        (
            '"given.error"',
            "-1.0",
            r"policies.RB.reference.latent_reference: got .*scale\]; LatentReference: error=-1.0: expected a fi",
        ),
        (
            '"given.error", "given.n_arms", 0.5',
            "0.1",
            r"policies.RB.reference.latent_reference: got \[0.1\], expected \[error, n_arms",
        ),
        ("0.5]", "0.5, 1]", r"policies.RB.reference.latent_reference: got .*, expected \[error, n_arms, scale\]"),
    ],
)
def test_mistakes_about_balls_are_told_with_their_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in LATENT
    path = write(tmp_path, LATENT.replace(old, new, 1))
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: {message}"):
        read_sweep_file(path)


def test_a_value_of_a_problem_that_is_a_list_is_written_in_a_list(tmp_path: Path) -> None:
    path = write(tmp_path, SEVERAL.replace("[2, 4]", "[[2, 3]]"))
    with pytest.raises(ValueError, match=r"sweep.toml: problems.large.n_models: got \[2, 3\], expected a whole"):
        read_sweep_file(path)


def test_a_name_is_quoted_as_in_the_file_and_an_argument_inside_a_list_is_found(tmp_path: Path) -> None:
    text = SEVERAL.replace("policies.RB", 'policies."RB, S = 10"').replace("scale = 0.5", "noise = -0.5")
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match="expected") as caught:
        read_sweep_file(path)
    expected = "a finite number >= 1e-30 (or one per lane)"
    assert str(caught.value) == f'{path}: policies."RB, S = 10".bases[1].noise: got -0.5, expected {expected}'


def test_an_argument_that_only_the_problem_shows_to_be_wrong_is_found_by_its_fields(tmp_path: Path) -> None:
    text = SEVERAL.replace("radii = [0.1, 0.2]", "radii = [0.1, 0.2]\nprior_weights = [1.0]")
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match="expected") as caught:
        read_sweep_file(path)
    where = "policies.\"PS, known\".prior_weights: got [1.0], expected numbers > 0 of shape (2,) (on problem 'small')"
    assert str(caught.value) == f"{path}: {where}"


def test_a_table_of_a_start_and_a_factor_is_walked(tmp_path: Path) -> None:
    text = GOOD + "[tuning]\nreplicates = 2\nexploration = { start = 300, factor = 10 }\n"
    text = text.replace('{ type = "SquareCB" }', '{ type = "SquareCB", reward_range = "given.reward_range" }')
    for result in read_sweep_file(write(tmp_path, text)).run(phase=lambda title: None).values():
        (tried,) = {len(one["tried"]) > 2 for one in result.settings["tuning"]["policies"].values()}
        assert tried
        assert result.settings["tuning"]["grid"] == {"exploration": {"start": 300, "factor": 10, "reach": 10}}


def test_tuning_leaves_policies_alone_that_do_not_have_the_argument(tmp_path: Path) -> None:
    text = GOOD + '[policies.uniform]\ntype = "Uniform"\n[tuning]\nexploration = [1, 100]\nreplicates = 2\n'
    text = text.replace('{ type = "SquareCB" }', '{ type = "SquareCB", reward_range = "given.reward_range" }')
    found = read_sweep_file(write(tmp_path, text))
    told: list[str] = []
    results = found.run(phase=lambda title: lambda progress: told.append(title))
    assert list(dict.fromkeys(told)) == ["tuning, step 1", "playing"]
    for result in results.values():
        assert result.policies == [*found.policies]
        assert set(result.settings["tuning"]["policies"]) == {"oracle", "FS-SCB", "RB-SCB"}
        assert np.isfinite(result.final("uniform")).all()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dim = 4", "dim = = 4", r"not TOML: Invalid value \(at line 7, column \d+\)"),
        ("replicates = 3", "replicates 3", r"not TOML: Expected '=' after a key.* \(at line 2, column \d+\)"),
        ('"SquareCB" } }\n', '"SquareCB" }', r"not TOML: .* \(at (end of document|line 23, column \d+)\)"),
        ("rounds = 60\n", "", "rounds: missing; expected a whole number >= 1"),
        ("rounds = 60", "rounds = 1.5", "rounds: got 1.5, expected a whole number >= 1"),
        ("rounds = 60", "rounds = '60'", "rounds: got '60', expected a whole number"),
        ("rounds = 60", "round = 60", "round: not a key of a sweep; expected one of .*did you mean 'rounds'"),
        ("replicates = 3", "replicates = 0", "replicates: got 0, expected"),
        ("replicates = 3", "replicates = 3\nseed = -1", "seed: got -1, expected a whole number >= 0"),
        ("replicates = 3", "replicates = 3\nmetric = 'regrets'", "metric: got 'regrets', .*did you mean 'regret'"),
        ("replicates = 3", "replicates = 3\nmetric = ['regret']", r"metric: got \['regret'\], expected one of"),
        ("replicates = 3", "replicates = 3\nimport = 'a.py'", "import: got 'a.py', expected a list"),
        ("replicates = 3", "replicates = 3\nimport = [\n'a.py']", r"import\[0\]: .*a.py: no such Python file"),
        ("[problems.features]", "[problem.features]", "problem: not a key of a sweep"),
        (
            '"SyntheticFeatureSelection"',
            '"SyntheticFeature"',
            "problems.features.type: got .*did you mean 'SyntheticFeatureS",
        ),
        ('type = "SyntheticFeatureSelection"', "", "problems.features.type: missing; expected one of"),
        ("n_models = [2, 3]", "n_model = [2, 3]", "problems.features.n_model: not an argument of Synthetic"),
        ("n_models = [2, 3]", "n_models = []", "problems.features.n_models: got .*expected different values"),
        (
            "n_models = [2, 3]",
            "n_models = [2,\n3, 2]",
            "problems.features.n_models: got .*expected different values",
        ),
        (
            "n_models = [2, 3]",
            "n_models = [2, 0]",
            "problems.features.n_models: got 0, expected a whole number >= 1",
        ),
        ("n_items = 50", "n_items = 5", "problems.features.n_items: got 5, expected a whole number >= 10"),
        ('"SquareCB"\non', '"Squarecb"\non', "policies.oracle.type: got 'Squarecb', .*did you mean 'SquareCB'"),
        ("on_map = 0", "on_map = -1", "policies.oracle.on_map: got -1, expected"),
        ("on_map = 0", "on_map = 2", r"policies.oracle: features: got .*\(on problem 'n_models=2'\)"),
        ("on_map = 0\n", "", r"policies.oracle: features: got .*\(on problem 'n_models=2'\)"),
        (
            "on_map = 0",
            "on_maps = 0",
            "policies.oracle.on_maps: not an argument of SquareCB; expected one of .*did you mean 'on_map'",
        ),
        ("on_map = 0", "on_map = 0\nseed = 3", "policies.oracle.seed: not an argument of SquareCB"),
        (
            '"given.reward_range"',
            '"given.range"',
            "policies.oracle.reward_range: got 'given.range', expected a constant of",
        ),
        (
            "given.noise",
            "given.nois",
            "policies.FS-SCB.noise: got 'given.nois', expected a constant .*did you mean 'noise'",
        ),
        ("[-2.5, 2.5]", "[2.5, -2.5]", "policies.FS-SCB.reward_range: got .*expected a pair"),
        ("[-2.5, 2.5]", "1979-05-27", "policies.FS-SCB.reward_range: got datetime.date.* expected a number"),
        ("[10, 0.5]", "[10, 9]", r"policies.FS-SCB.exploration.power: got \[10, 9\], expected \[scale, exponent"),
        ("[10, 0.5]", "'fast'", "policies.FS-SCB.exploration.power: got 'fast'"),
        (
            "{ power = [10, 0.5] }",
            "{ powr = 1 }",
            "policies.FS-SCB.exploration: got {'powr': 1}, expected a number",
        ),
        ("{ power = [10, 0.5] }", "-1", "policies.FS-SCB.exploration: got -1, expected a finite number"),
        (
            "noise =",
            'weighting = "paper"\nnoise =',
            "policies.FS-SCB: FSSquareCB: feature_bound: got None, expected a number",
        ),
        (
            "{ on_every_map = {",
            "{ on_every_map = { dlm = 2,",
            "policies.RB-SCB.bases.on_every_map.dlm: not an argument of Squa",
        ),
        (
            "{ on_every_map = {",
            "{ on_every_map = { exploration = -2,",
            "policies.RB-SCB.bases.on_every_map.exploration: got -2",
        ),
        ("bases =", "rule = 'best'\nbases =", "policies.RB-SCB.rule: got 'best', expected"),
        ("bases = {", "basis = {", "policies.RB-SCB.basis: not an argument of RegretBalancing; .*'bases'"),
        ('bases = { on_every_map = { type = "SquareCB" } }', "", "policies.RB-SCB: bases is missing: RegretB"),
    ],
)
def test_every_mistake_is_told_with_its_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: {message}") as caught:
        read_sweep_file(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("[tuning]\n", "tuning: nothing to tune"),
        ("[tuning]\nexplore = [1]\n", "tuning.explore: no policy has it; .*did you mean 'exploration'"),
        ("[tuning]\nexploration = 1\n", "tuning.exploration: got 1, expected a list"),
        ("[tuning]\nexploration = { factor = 3 }\n", "tuning.exploration: start is missing"),
        ("[tuning]\nexploration = { start = -1 }\n", "tuning.exploration.start: got -1, expected"),
        ("[tuning]\nexploration = { start = 1, stop = 3 }\n", "tuning.exploration.stop: not steps"),
        ("[tuning]\nreplicates = 2\nexploration = [1, -1]\n", "tuning.exploration: got -1, expected"),
        ("[tuning]\nexploration = [1]\nreplicates = 'x'\n", "tuning.replicates: got 'x', expected"),
        ("tuning = 3\n", "policies.RB-SCB.tuning: not an argument"),
        (
            "[policies.y]\ntype = 'SquareCB'\non_map = 0\nreward_range = 'given.centers'\n",
            "policies.y.reward_range: got 'given.centers', expected a constant",
        ),
        ("[policies]\noracle.type = 3\n", "not TOML: Cannot redefine.* line 25, "),
        ("[policies.x]\ntype = ['OFUL']\n", r"policies.x.type: got \['OFUL'\], expected one of"),
        ("[problems.p]\ntype = 'LoggedReplay'\n", "problems.p.log: missing; LoggedReplay needs it"),
    ],
)
def test_mistakes_at_the_end(tmp_path: Path, more: str, message: str) -> None:
    path = write(tmp_path, GOOD + more)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: {message}"):
        read_sweep_file(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="No such file"):
        read_sweep_file(tmp_path / "none.toml")
    path = tmp_path / "sweep.toml"
    path.write_bytes(b"rounds = 1\nx = '\xff'\n")
    with pytest.raises(ValueError, match=r"sweep.toml: not TOML: 'utf-8' codec can't decode byte 0xff in position 16"):
        read_sweep_file(path)


OWN = """
from banditselect.problems import SyntheticParameterSelection

class {name}(SyntheticParameterSelection):
    "A problem of our own."

    def __init__(self, *, dim=2):
        super().__init__(dim=dim, n_models=2)
        {error}
"""


OWN_SWEEP = """\
rounds = 5
replicates = 1
import = ["{file}"]
[problems.own]
type = "Own"
[policies.x]
type = "OFUL"
"""


@pytest.mark.parametrize(
    ("file", "name", "error", "message"),
    [
        ("own_bad_syntax.py", "Own:", "", r"import\[0\]: .*own_bad_syntax.py:4: invalid syntax"),
        ("own_raises.py", "Own", "\n1 / 0", r"import\[0\]: ZeroDivisionError: .*own_raises.py:10"),
        ("json.py", "Own", "", r"import\[0\]: .*json.py: a module 'json' exists already; give the file another name"),
        ("own_clash.py", "LatentBandit", "", "import: .*a problem named 'LatentBandit' exists already"),
        ("own_fails.py", "Own", "1 / 0", "problems.own: ZeroDivisionError: .*own_fails.py:9"),
    ],
)
def test_mistakes_in_own_files(tmp_path: Path, file: str, name: str, error: str, message: str) -> None:
    (tmp_path / file).write_text(OWN.format(name=name, error=error))
    path = write(tmp_path, OWN_SWEEP.format(file=file))
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: {message}"):
        read_sweep_file(path)


def test_own_problems(tmp_path: Path) -> None:
    (tmp_path / "own_good.py").write_text(OWN.format(name="Own", error=""))
    path = write(tmp_path, OWN_SWEEP.format(file="own_good.py"))
    for _ in range(2):
        assert repr(read_sweep_file(path).problems) == "{'own': Own(dim=2)}"
