"""Sweeps as TOML files: where keys stand, what is read, and that every mistake is told with its line."""

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

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
from banditselect.simulation.specification import read_specification
from banditselect.simulation.toml_lines import dotted, key_lines

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=6)
SCALARS = st.one_of(st.integers(-9, 9), st.booleans(), st.floats(allow_nan=False, allow_infinity=False), TEXT)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=8
)


class Writer:
    """Writes TOML in one of many ways and notes on which line every key comes first."""

    def __init__(self, choose: Any) -> None:
        self.text, self.lines, self.choose = "", {}, choose

    def note(self, key: tuple[Any, ...]) -> None:
        for n in range(1, len(key) + 1):
            self.lines.setdefault(key[:n], self.text.count("\n") + 1)

    def pick(self, *ways: str) -> str:
        return self.choose(st.sampled_from(ways))

    def name(self, part: str) -> str:
        literal = ["'" + part + "'"] if "'" not in part else []
        bare = [part] if part and part.isascii() and part.replace("_", "").replace("-", "").isalnum() else []
        return self.pick(json.dumps(part, ensure_ascii=False), *literal, *bare)

    def value(self, key: tuple[Any, ...], content: Any) -> None:
        if isinstance(content, list):
            self.text += "[" + self.pick("", " ", "\n", " # ] a comment\n")
            for k, part in enumerate(content):
                self.note((*key, k))
                self.value((*key, k), part)
                self.text += self.pick(",", " ,", ",\n  ", ", # [ x = 1\n")
            self.text += "]"
        elif isinstance(content, dict):
            self.text += "{"
            for k, (name, part) in enumerate(content.items()):
                self.text += ", " if k else " "
                self.pair(key, name, part)
            self.text += " }"
        elif isinstance(content, str):
            self.string(content)
        else:
            self.text += json.dumps(content)

    def string(self, content: str) -> None:
        ways = [json.dumps(content, ensure_ascii=False)]
        if "'" not in content:
            ways += [f"'{content}'", f"'''\n{content}'''"]
        if "\\" not in content and '"' not in content:
            ways += [f'"""\n{content}"""', f'"""\n{content}\\\n\n  """']
        self.text += self.pick(*ways)

    def pair(self, key: tuple[Any, ...], name: str, content: Any) -> None:
        if isinstance(content, dict) and len(content) == 1 and self.choose(st.booleans()):
            ((inner, part),) = content.items()
            self.note((*key, name, inner))
            self.text += f"{self.name(name)} . {self.name(inner)} = "
            self.value((*key, name, inner), part)
            return
        self.note((*key, name))
        self.text += f"{self.name(name)} = "
        self.value((*key, name), content)

    def document(self, content: dict[str, Any]) -> None:
        tables = {n: c for n, c in content.items() if isinstance(c, dict) and self.choose(st.booleans())}
        for name, part in content.items():
            if name not in tables:
                self.text += self.pick("", "\n", "# x = 1\n", "  ")
                self.pair((), name, part)
                self.text += self.pick("\n", " # ' \" [\n", "\r\n")
        for name, table in tables.items():
            many = self.choose(st.booleans())
            for k in range(2 if many else 1):
                key = (name, k) if many else (name,)
                self.note(key)
                self.text += f"[[ {self.name(name)} ]]\n" if many else f"[{self.name(name)}]\n"
                for inner, part in table.items():
                    self.pair(key, inner, part)
                    self.text += "\n"


def keys(content: Any, key: tuple[Any, ...] = ()) -> set[tuple[Any, ...]]:
    parts = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return ({key} if key else set()).union(*(keys(part, (*key, name)) for name, part in parts))


@examples(st.dictionaries(TEXT, VALUES, max_size=5), st.data())
def test_every_key_is_found_on_its_line(content: dict[str, Any], data: st.DataObject) -> None:
    writer = Writer(data.draw)
    writer.document(content)
    found = key_lines(writer.text)
    assert set(found) == keys(tomllib.loads(writer.text))
    assert found == writer.lines


def test_keys_found_by_hand() -> None:
    text = '''# c = 1
rounds = 2000
"a b".'c.d' = """x
"y" = 3 \\" """ # """
arr = [ # ]
  1, [2,
  3], {k = "]", l.m = [ '}' ]},
]
date = 1979-05-27 07:32:00
[[t]]
x = """a"""""
[t.sub]
d = \'\'\'
x = 1\'\'\'
[[t]]
[t.sub]
"q\\u0041" = '#'
'''
    assert {dotted(key): line for key, line in key_lines(text).items() if tomllib.loads(text)} == {
        "rounds": 2,
        '"a b"': 3,
        '"a b"."c.d"': 3,
        "arr": 5,
        "arr[0]": 6,
        "arr[1]": 6,
        "arr[1][0]": 6,
        "arr[1][1]": 7,
        "arr[2]": 7,
        "arr[2].k": 7,
        "arr[2].l": 7,
        "arr[2].l.m": 7,
        "arr[2].l.m[0]": 7,
        "date": 9,
        "t": 10,
        "t[0]": 10,
        "t[0].x": 11,
        "t[0].sub": 12,
        "t[0].sub.d": 13,
        "t[1]": 15,
        "t[1].sub": 16,
        "t[1].sub.qA": 17,
    }


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
    found = read_specification(write(tmp_path, GOOD), replicates=7)
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
    found = read_specification(write(tmp_path, SEVERAL))
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
    found = read_specification(write(tmp_path, LATENT))
    bases = [UCB1.bind(noise=given.noise), on_every_ball(Greedy.bind())]
    reference = LatentReference(given.error, given.n_arms, 0.5)
    assert repr(found.policies["RB"]) == repr(RegretBalancing.bind(bases=bases, reference=reference))
    results = found.run(phase=lambda title: lambda progress: None)
    assert not results.failures
    assert [len(result.final("RB-OFUL")) for result in results.values()] == [2, 2]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"Greedy"', '"OFUL"', 9, r"bases\[1\].on_every_ball: on_every_ball: policy: got OFUL.bind.*argument center"),
        ('"Greedy"', '"Greedy", center = [1.0]', 9, "on_every_ball: policy: got .*that is not bound"),
        ('"Greedy" }', '"Greedy" }, radii = 1.0', 9, "got .*expected a number, a string, a list, a policy"),
        ('"given.error"', '"given.eror"', 10, r"latent_reference\[0\]: got 'given.eror', .*did you mean 'error'"),
        ('"given.error"', "-1.0", 10, r"latent_reference: got .*scale\]; LatentReference: error=-1.0: expected a fi"),
        ('"given.error", "given.n_arms", 0.5', "0.1", 10, r"latent_reference: got \[0.1\], expected \[error, n_arms"),
        ("0.5]", "0.5, 1]", 10, r"latent_reference: got .*, expected \[error, n_arms, scale\]"),
    ],
)
def test_mistakes_about_balls_are_told_with_their_line(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    assert old in LATENT
    with pytest.raises(ValueError, match=message) as caught:
        read_specification(write(tmp_path, LATENT.replace(old, new, 1)))
    assert f"sweep.toml:{line}: " in str(caught.value)


def test_a_value_of_a_problem_that_is_a_list_is_written_in_a_list(tmp_path: Path) -> None:
    path = write(tmp_path, SEVERAL.replace("[2, 4]", "[[2, 3]]"))
    with pytest.raises(ValueError, match=r"sweep.toml:4: problems.large.n_models: got \[2, 3\], expected a whole"):
        read_specification(path)


def test_tuning_leaves_policies_alone_that_do_not_have_the_argument(tmp_path: Path) -> None:
    text = GOOD + '[policies.uniform]\ntype = "Uniform"\n[tuning]\nexploration = [1, 100]\nreplicates = 2\n'
    text = text.replace('{ type = "SquareCB" }', '{ type = "SquareCB", reward_range = "given.reward_range" }')
    found = read_specification(write(tmp_path, text))
    told: list[str] = []
    results = found.run(phase=lambda title: lambda progress: told.append(title))
    assert list(dict.fromkeys(told)) == ["tuning, n_models=2", "tuning, n_models=3", "playing"]
    for result in results.values():
        assert result.policies == [*found.policies]
        assert set(result.settings["tuning"]["policies"]) == {"oracle", "FS-SCB", "RB-SCB"}
        assert np.isfinite(result.final("uniform")).all()


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("dim = 4", "dim = = 4", 7, "not TOML: Invalid value"),
        ("replicates = 3", "replicates 3", 2, "not TOML: Expected '=' after a key"),
        ('"SquareCB" } }\n', '"SquareCB" }', 23, "not TOML: "),
        ("rounds = 60\n", "", 1, "rounds: missing; expected a whole number >= 1"),
        ("rounds = 60", "rounds = 1.5", 1, "rounds: got 1.5, expected a whole number >= 1"),
        ("rounds = 60", "rounds = '60'", 1, "rounds: got '60', expected a whole number"),
        ("rounds = 60", "round = 60", 1, "round: not a key of a sweep; expected one of .*did you mean 'rounds'"),
        ("replicates = 3", "replicates = 0", 2, "replicates: got 0, expected"),
        ("replicates = 3", "replicates = 3\nseed = -1", 3, "seed: got -1, expected a whole number >= 0"),
        ("replicates = 3", "replicates = 3\nmetric = 'regrets'", 3, "metric: got 'regrets', .*did you mean 'regret'"),
        ("replicates = 3", "replicates = 3\nimport = 'a.py'", 3, "import: got 'a.py', expected a list"),
        ("replicates = 3", "replicates = 3\nimport = [\n'a.py']", 4, r"import\[0\]: .*a.py: no such Python file"),
        ("[problems.features]", "[problem.features]", 4, "problem: not a key of a sweep"),
        (
            '"SyntheticFeatureSelection"',
            '"SyntheticFeature"',
            5,
            "features.type: got .*did you mean 'SyntheticFeatureS",
        ),
        ('type = "SyntheticFeatureSelection"', "", 4, "problems.features.type: missing; expected one of"),
        ("n_models = [2, 3]", "n_model = [2, 3]", 6, "problems.features.n_model: not an argument of Synthetic"),
        ("n_models = [2, 3]", "n_models = []", 6, "problems.features.n_models: got .*expected different values"),
        (
            "n_models = [2, 3]",
            "n_models = [2,\n3, 2]",
            6,
            "problems.features.n_models: got .*expected different values",
        ),
        (
            "n_models = [2, 3]",
            "n_models = [2, 0]",
            6,
            "problems.features.n_models: got 0, expected a whole number >= 1",
        ),
        ("n_items = 50", "n_items = 5", 8, "problems.features.n_items: got 5, expected a whole number >= 10"),
        ('"SquareCB"\non', '"Squarecb"\non', 11, "policies.oracle.type: got 'Squarecb', .*did you mean 'SquareCB'"),
        ("on_map = 0", "on_map = -1", 12, "policies.oracle.on_map: got -1, expected"),
        ("on_map = 0", "on_map = 2", 10, r"policies.oracle: features: got .*\(on problem 'n_models=2'\)"),
        ("on_map = 0\n", "", 10, r"policies.oracle: features: got .*\(on problem 'n_models=2'\)"),
        (
            "on_map = 0",
            "on_maps = 0",
            12,
            "on_maps: not an argument of SquareCB; expected one of .*did you mean 'on_map'",
        ),
        ("on_map = 0", "on_map = 0\nseed = 3", 13, "policies.oracle.seed: not an argument of SquareCB"),
        ('"given.reward_range"', '"given.range"', 13, "oracle.reward_range: got 'given.range', expected a constant of"),
        ("given.noise", "given.nois", 17, "FS-SCB.noise: got 'given.nois', expected a constant .*did you mean 'noise'"),
        ("[-2.5, 2.5]", "[2.5, -2.5]", 18, "policies.FS-SCB.reward_range: got .*expected a pair"),
        ("[-2.5, 2.5]", "1979-05-27", 18, "policies.FS-SCB.reward_range: got datetime.date.* expected a number"),
        ("[10, 0.5]", "[10, 9]", 19, r"policies.FS-SCB.exploration.power: got \[10, 9\], expected \[scale, exponent"),
        ("[10, 0.5]", "'fast'", 19, "policies.FS-SCB.exploration.power: got 'fast'"),
        (
            "{ power = [10, 0.5] }",
            "{ powr = 1 }",
            19,
            "policies.FS-SCB.exploration: got {'powr': 1}, expected a number",
        ),
        ("{ power = [10, 0.5] }", "-1", 19, "policies.FS-SCB.exploration: got -1, expected a finite number"),
        (
            "noise =",
            'weighting = "paper"\nnoise =',
            15,
            "policies.FS-SCB: FSSquareCB: feature_bound: got None, expected a number",
        ),
        ("{ on_every_map = {", "{ on_every_map = { dlm = 2,", 23, r"bases.on_every_map.dlm: not an argument of Squa"),
        ("{ on_every_map = {", "{ on_every_map = { exploration = -2,", 23, r"bases.on_every_map.exploration: got -2"),
        ("bases =", "rule = 'best'\nbases =", 23, "policies.RB-SCB.rule: got 'best', expected"),
        ("bases = {", "basis = {", 23, "policies.RB-SCB.basis: not an argument of RegretBalancing; .*'bases'"),
        ('bases = { on_every_map = { type = "SquareCB" } }', "", 21, "policies.RB-SCB: bases is missing: RegretB"),
    ],
)
def test_every_mistake_is_told_with_its_line(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as caught:
        read_specification(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("more", "line", "message"),
    [
        ("[tuning]\n", 24, "tuning: nothing to tune"),
        ("[tuning]\nexplore = [1]\n", 25, "tuning.explore: no policy has it; .*did you mean 'exploration'"),
        ("[tuning]\nexploration = 1\n", 25, "tuning.exploration: got 1, expected a list"),
        ("[tuning]\nreplicates = 2\nexploration = [1, -1]\n", 26, "tuning.exploration: got -1, expected"),
        ("[tuning]\nexploration = [1]\nreplicates = 'x'\n", 26, "tuning.replicates: got 'x', expected"),
        ("tuning = 3\n", 24, "policies.RB-SCB.tuning: not an argument"),
        (
            "[policies.y]\ntype = 'SquareCB'\non_map = 0\nreward_range = 'given.centers'\n",
            27,
            "got 'given.centers', expected a constant",
        ),
        ("[policies]\noracle.type = 3\n", 25, "not TOML: Cannot redefine"),
        ("[policies.x]\ntype = ['OFUL']\n", 25, r"policies.x.type: got \['OFUL'\], expected one of"),
        ("[problems.p]\ntype = 'LoggedReplay'\n", 24, "problems.p.log: missing; LoggedReplay needs it"),
    ],
)
def test_mistakes_at_the_end(tmp_path: Path, more: str, line: int, message: str) -> None:
    path = write(tmp_path, GOOD + more)
    with pytest.raises(ValueError, match=message) as caught:
        read_specification(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="No such file"):
        read_specification(tmp_path / "none.toml")
    path = tmp_path / "sweep.toml"
    path.write_bytes(b"rounds = 1\nx = '\xff'\n")
    with pytest.raises(ValueError, match=r"sweep.toml:2: not TOML: expected text in UTF-8"):
        read_specification(path)


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
    with pytest.raises(ValueError, match=message) as caught:
        read_specification(path)
    assert str(caught.value).startswith(f"{path}:{4 if 'problems' in message[:8] else 3}: ")


def test_own_problems(tmp_path: Path) -> None:
    (tmp_path / "own_good.py").write_text(OWN.format(name="Own", error=""))
    path = write(tmp_path, OWN_SWEEP.format(file="own_good.py"))
    for _ in range(2):
        assert repr(read_specification(path).problems) == "{'own': Own(dim=2)}"
