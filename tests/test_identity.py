"""What names a cell: equal settings and code give equal names, anything else gives another."""

import ast
import importlib
import json
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given as given_that
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from banditselect import OFUL, FSSquareCB, Power, RegretBalancing, SquareCB, Uniform, given, on_every_map, on_map
from banditselect.problems import SyntheticFeatureSelection, SyntheticParameterSelection
from banditselect.simulation.identity import code_version, describe, digest, joined, recorded

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
SETTINGS = st.dictionaries(st.text(max_size=4), PLAIN | st.lists(PLAIN, max_size=3), max_size=4)


def name(value):
    return digest(describe("x", value))


def same(a, b):
    """Tell whether two settings are equal as they would be written down: 1, 1.0 and True are different."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


# Names


def test_a_name_has_32_hexadecimal_digits_and_ignores_the_order_of_keys():
    assert digest({"a": 1, "b": [2.5, None]}) == digest({"b": [2.5, None], "a": 1})
    assert len(digest({})) == 32
    assert set(digest({})) <= set("0123456789abcdef")


@given_that(a=SETTINGS, b=SETTINGS)
def test_equal_settings_have_equal_names_and_others_have_others(a, b):
    assert name(a) == name(dict(reversed(a.items())))
    assert (name(a) == name(b)) == same(a, b)


@given_that(settings=SETTINGS, key=st.text(max_size=4), value=PLAIN)
def test_any_change_of_any_argument_changes_the_name(settings, key, value):
    changed = settings | {key: value}
    assert (name(settings) == name(changed)) == same(settings, changed)


ARRAYS = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.bool_]), hnp.array_shapes(min_dims=0, max_side=3)
)


@given_that(a=ARRAYS, b=ARRAYS)
def test_arrays_are_told_by_dtype_shape_and_content(a, b):
    alike = a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    assert (name(a) == name(b)) == alike
    assert name(a) == name(a.copy())
    assert name(a) == name(np.array(a, order="F"))


def test_arrays_by_hand():
    x = np.array([1.0, 2.0, 3.0])
    others = [x.astype(np.float32), x.astype(int), x[None], x[:, None], x[::-1], -x, x[:2], x.tolist(), np.array(["1"])]
    assert len({name(v) for v in (x, *others)}) == 10
    assert name(np.array(2.5)) != name(np.array([2.5]))  # per lane or for all
    assert name(np.repeat(x, 2)[::2]) == name(x)


def test_an_array_of_objects_is_refused_because_its_content_cannot_be_compared():
    with pytest.raises(ValueError, match="array"):
        describe("policies['a']", np.array([{}, None], dtype=object))


def test_every_part_of_a_binding_counts():
    base = SquareCB.bind(reward_range=given.reward_range)
    different = [
        base,
        SquareCB.bind(reward_range=given.range),
        SquareCB.bind(reward_range="reward_range"),
        SquareCB.bind(reward_range=(0.0, 1.0)),
        SquareCB.bind(reward_range=(0.0, 2.0)),
        SquareCB.bind(reward_range=given.reward_range, exploration=Power(1.0, 0.5)),
        SquareCB.bind(reward_range=given.reward_range, exploration=Power(2.0, 0.5)),
        SquareCB.bind(reward_range=given.reward_range, exploration=2.0),
        FSSquareCB.bind(reward_range=given.reward_range),
        on_map(base, 0),
        on_map(base, 1),
        on_map(on_map(base, 1), 1),
        RegretBalancing.bind(bases=on_every_map(base)),
        RegretBalancing.bind(bases=[base]),
        RegretBalancing.bind(bases=[base, base]),
        RegretBalancing.bind(bases=[on_map(base, 0), on_map(base, 1)]),
        RegretBalancing.bind(bases=[on_map(base, 1), on_map(base, 0)]),
        RegretBalancing.bind(bases=[SquareCB(dim=2)]),
        RegretBalancing.bind(bases=[SquareCB(dim=3)]),
        SyntheticFeatureSelection(n_models=2, dim=3),
        SyntheticFeatureSelection(n_models=3, dim=3),
        SyntheticParameterSelection(n_models=2, dim=3),
    ]
    assert len({name(v) for v in different}) == len(different)
    assert name(on_map(SquareCB.bind(reward_range=given.reward_range), 1)) == name(on_map(base, 1))


def test_a_description_is_plain_json():
    binding = RegretBalancing.bind(
        bases=on_every_map(SquareCB.bind(exploration=Power(1.0, 0.5))), reference=np.int64(3)
    )
    told = describe("x", {"a": binding, "b": np.arange(3), "c": (1, np.float64(2.5)), "d": given.noise})
    assert json.loads(json.dumps(told)) == told


@pytest.mark.parametrize(
    "value", [lambda t: t, np.sqrt, open, object(), Uniform], ids=["lambda", "ufunc", "builtin", "object", "class"]
)
def test_what_cannot_be_compared_is_refused_by_name(value):
    with pytest.raises(ValueError, match=r"policies\['a'\]: exploration.*cannot be stored"):
        describe("policies['a']", SquareCB.bind(exploration=value))
    with pytest.raises(ValueError, match=r"bases\[1\].*exploration"):
        describe("x", RegretBalancing.bind(bases=[SquareCB.bind(), SquareCB.bind(exploration=value)]))


# What was really run


def test_the_record_has_shapes_defaults_and_what_was_given():
    binding = FSSquareCB.bind(reward_range=given.reward_range, noise=given.noise)
    told = recorded(binding, {"n_models": 2, "dim": 3}, {"reward_range": (-1.0, 1.0), "noise": 0.5})
    assert told["policy"] == "FSSquareCB"
    arguments = told["arguments"]
    assert (arguments["n_models"], arguments["dim"], arguments["noise"]) == (2, 3, 0.5)
    assert arguments["reward_range"] == [-1.0, 1.0]
    assert not {"lanes", "seed"} & set(arguments)
    assert json.loads(json.dumps(told)) == told


def test_the_record_of_nested_policies_has_the_shapes_that_they_see():
    binding = RegretBalancing.bind(bases=[on_map(OFUL.bind(noise=given.noise), 1)])
    told = recorded(binding, {"n_models": 2, "dim": [3, 5]}, {"noise": 0.5})
    (base,) = told["arguments"]["bases"]
    assert base["arguments"]["index"] == 1
    assert (base["arguments"]["policy"]["arguments"]["dim"], base["arguments"]["policy"]["arguments"]["noise"]) == (
        5,
        0.5,
    )


def test_constants_of_every_replicate_are_put_together_in_order():
    binding = OFUL.bind(parameter_bound=given.bound, noise=given.noise)
    bounds = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    blocks = [
        recorded(binding, {"dim": 2}, {"bound": bounds[s], "noise": 0.5})
        for s in (slice(0, 2), slice(2, 4), slice(4, 5))
    ]
    whole = recorded(binding, {"dim": 2}, {"bound": bounds, "noise": 0.5})
    assert whole["arguments"]["parameter_bound"] == {"per replicate": [1.0, 2.0, 3.0, 4.0, 5.0]}
    assert joined(blocks) == whole
    assert joined([whole]) == whole


@given_that(
    rows=hnp.arrays(np.float64, st.tuples(st.integers(1, 7), st.integers(1, 3)), elements=st.floats(-9, 9)),
    block=st.integers(1, 7),
)
def test_the_record_does_not_depend_on_the_blocks(rows, block):
    binding = RegretBalancing.bind(bases=[OFUL.bind(noise=given.rows), Uniform.bind()])
    parts = [recorded(binding, {"dim": 2}, {"rows": rows[k : k + block]}) for k in range(0, len(rows), block)]
    assert joined(parts) == recorded(binding, {"dim": 2}, {"rows": rows})


def test_long_arrays_are_recorded_by_a_digest_of_their_content():
    short, long = np.arange(64.0), np.arange(65.0)
    assert recorded({"x": short}, {}, {}) == {"x": short.tolist()}
    (told,) = recorded({"x": long}, {}, {}).values()
    assert told.startswith("array (65,), sha256 ")
    assert told == recorded(long.copy(), {}, {})
    assert told != recorded(long + 1.0, {}, {})
    per_lane = recorded(given.x, {}, {"x": np.stack([long, long + 1.0])})["per replicate"]
    assert per_lane == [told, recorded(long + 1.0, {}, {})]


# Code

SOURCE = """
from dataclasses import dataclass

from banditselect import Uniform

RATE = 1.0


def helper(x):
    return RATE * x


class Mine(Uniform):
    def _absorb(self, ids, x, y, memo):
        helper(1.0)


@dataclass(frozen=True)
class Falling:
    scale: float

    def __call__(self, t):
        return self.scale / t
"""
SILENT = {
    "a comment": SOURCE + "# a comment\n",
    "layout": SOURCE.replace("RATE * x", "(RATE\n        * x)"),
    "a docstring of the file": '"""What it is."""\n' + SOURCE,
    "a docstring of the class": SOURCE.replace("class Mine(Uniform):", 'class Mine(Uniform):\n    """Plays."""\n'),
    "a docstring of a method": SOURCE.replace("        helper(1.0)", '        """Learn."""\n        helper(1.0)'),
}
LOUD = {
    "the method": SOURCE.replace("helper(1.0)", "helper(2.0)"),
    "a function it calls": SOURCE.replace("RATE * x", "RATE + x"),
    "a number of the file": SOURCE.replace("RATE = 1.0", "RATE = 2.0"),
}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes a file of the user's own and loads it as a new process would."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def written(source, module="my_own_policies"):
        ast.parse(source)
        (tmp_path / f"{module}.py").write_text(source)
        sys.modules.pop(module, None)
        importlib.invalidate_caches()
        return importlib.import_module(module)

    yield written
    sys.modules.pop("my_own_policies", None)


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_comments_docstrings_and_layout_do_not_count(write, source):
    before = code_version(write(SOURCE).Mine.bind())
    assert code_version(write(source).Mine.bind()) == before


@pytest.mark.parametrize("source", LOUD.values(), ids=LOUD)
def test_a_change_of_the_code_counts_wherever_the_policy_is_used(write, source):
    def versions(module):
        mine = module.Mine.bind()
        uses = [mine, on_map(mine, 0), RegretBalancing.bind(bases=on_every_map(mine)), {"a": [mine]}]
        return [code_version(use)["my_own_policies.Mine"] for use in uses]

    before, after = versions(write(SOURCE)), versions(write(source))
    assert len(set(before)) == len(set(after)) == 1
    assert before != after


def test_the_code_of_a_schedule_of_one_s_own_counts(write):
    before = code_version(SquareCB.bind(exploration=write(SOURCE).Falling(2.0)))
    after = code_version(SquareCB.bind(exploration=write(SOURCE.replace("/ t", "/ t**2")).Falling(2.0)))
    assert before["my_own_policies.Falling"] != after["my_own_policies.Falling"]


def test_a_base_class_in_another_file_counts(write, tmp_path):
    child = "from my_own_policies import Mine\n\n\nclass Child(Mine):\n    pass\n"
    write(SOURCE)
    before = code_version(write(child, "my_children").Child.bind())
    write(LOUD["the method"])
    after = code_version(write(child, "my_children").Child.bind())
    sys.modules.pop("my_children")
    assert before["my_children.Child"] == after["my_children.Child"]
    assert before["my_own_policies.Mine"] != after["my_own_policies.Mine"]


def test_policies_of_the_library_depend_on_the_library_and_what_it_stands_on_only():
    assert set(code_version(Uniform.bind(), SyntheticFeatureSelection())) == {
        "banditselect",
        "python",
        "numpy",
        "numba",
        "compiled for",
    }
    assert code_version() == code_version(Uniform.bind())


def test_a_class_without_a_source_is_refused():
    made = type("Made", (Uniform,), {"__module__": "nowhere"})
    with pytest.raises(ValueError, match=r"out: got .*Made.*source"):
        code_version(made.bind())


@dataclass(frozen=True)
class Setting:
    number: float
    part: object = None


def test_dataclasses_are_told_by_their_class_and_fields():
    values = [Setting(1.0), Setting(2.0), Setting(1.0, Setting(1.0)), Setting(1.0, np.ones(2)), Power(1.0, 0.5)]
    assert len({name(v) for v in values}) == 5
    assert name(Setting(1.0, np.ones(2))) == name(Setting(1.0, np.ones(2)))
    with pytest.raises(ValueError, match="part"):
        describe("x", Setting(1.0, lambda t: t))


def test_a_class_made_inside_a_function_is_refused_by_name():
    class Inside(Uniform):
        pass

    with pytest.raises(ValueError, match=r"out: .*a class at the top of its file"):
        code_version(Inside.bind())


USES = """
from helping import EXTRA
from banditselect import Uniform

class Mine(Uniform):
    gain = EXTRA
"""


def test_the_files_that_a_file_imports_count_and_installed_ones_do_not(write):
    write("EXTRA = 1\n", "deeper")
    write("from deeper import EXTRA\n", "beside")  # which Mine does not import
    write("import numpy, json\nfrom deeper import EXTRA\n", "helping")
    before = code_version(write(USES).Mine.bind())
    assert set(before) - set(code_version()) == {"my_own_policies.Mine", "helping", "deeper"}
    write("EXTRA = 3\n", "deeper")
    write("import numpy, json\nfrom deeper import EXTRA\n", "helping")
    after = code_version(write(USES).Mine.bind())
    assert {name for name in before if before[name] != after[name]} == {"deeper"}
    for name in ("helping", "deeper", "beside"):
        sys.modules.pop(name)


HOLDS = """
from banditselect.problems import LatentBandit

class Mine(LatentBandit):
    def __init__(self, *, n_arms=3):
        super().__init__(n_arms=n_arms)
        self.data = DATA
"""


def test_the_data_that_a_problem_of_one_s_own_holds_count(write):
    module = write("DATA = [1.0, 2.0]\n" + HOLDS)
    before = describe("p", module.Mine())
    assert before == describe("p", module.Mine())
    module.DATA = [1.0, 3.0]
    assert describe("p", module.Mine()) != before


@pytest.mark.parametrize("place", ["RATE = 1.0", "helper(1.0)"])
def test_a_file_that_was_changed_after_it_was_loaded_is_refused_by_name(write, tmp_path, place):
    policy = write(SOURCE).Mine.bind()
    (tmp_path / "my_own_policies.py").write_text(SOURCE.replace(place, place.replace("1.0", "5.0")))
    with pytest.raises(ValueError, match=r"out: got .*Mine.*the file was changed after it was loaded"):
        code_version(policy)
