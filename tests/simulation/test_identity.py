"""The names of cells: equal settings have equal names and others have others; a record has everything filled in."""

import ast
import importlib
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given as given_that
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import banditselect
from banditselect import OFUL, FSSquareCB, Power, RegretBalancing, SquareCB, Uniform, given, on_every_map, on_map
from banditselect.problems import SyntheticFeatureSelection, SyntheticParameterSelection
from banditselect.simulation import identity
from banditselect.simulation.identity import describe, digest, join_records, record_of

LIBRARY = Path(banditselect.__file__).parent
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
SETTINGS = st.dictionaries(st.text(max_size=4), PLAIN | st.lists(PLAIN, max_size=3), max_size=4)


def name(value):
    return digest(describe("x", value))


def same(a, b):
    """Tell whether two settings are equal as they would be written down: 1, 1.0 and True are different."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


# Names


def test_a_name_has_32_hexadecimal_digits():
    assert len(digest({})) == 32
    assert set(digest({})) <= set("0123456789abcdef")


@given_that(settings=SETTINGS, other=SETTINGS, key=st.text(max_size=4), value=PLAIN)
def test_equal_settings_have_equal_names_and_others_have_others(settings, other, key, value):
    """One changed argument changes the name; the order of the keys does not."""
    assert name(settings) == name(dict(reversed(settings.items())))
    for changed in (other, settings | {key: value}):
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


# Records


def test_the_record_has_shapes_defaults_and_what_was_given():
    binding = FSSquareCB.bind(reward_range=given.reward_range, noise=given.noise)
    told = record_of(binding, {"n_models": 2, "dim": 3}, {"reward_range": (-1.0, 1.0), "noise": 0.5})
    assert told["policy"] == "FSSquareCB"
    arguments = told["arguments"]
    assert (arguments["n_models"], arguments["dim"], arguments["noise"]) == (2, 3, 0.5)
    assert arguments["reward_range"] == [-1.0, 1.0]
    assert not {"lanes", "seed"} & set(arguments)
    assert json.loads(json.dumps(told)) == told


def test_the_record_of_nested_policies_has_the_shapes_that_they_see():
    binding = RegretBalancing.bind(bases=[on_map(OFUL.bind(noise=given.noise), 1)])
    (base,) = record_of(binding, {"n_models": 2, "dim": [3, 5]}, {"noise": 0.5})["arguments"]["bases"]
    inner = base["arguments"]["policy"]["arguments"]
    assert (base["arguments"]["index"], inner["dim"], inner["noise"]) == (1, 5, 0.5)


def test_constants_of_every_replicate_are_put_together_in_order():
    binding = OFUL.bind(parameter_bound=given.bound, noise=given.noise)
    whole = record_of(binding, {"dim": 2}, {"bound": np.array([1.0, 2.0, 3.0]), "noise": 0.5})
    assert whole["arguments"]["parameter_bound"] == {"per replicate": [1.0, 2.0, 3.0]}
    assert whole["arguments"]["noise"] == 0.5


@given_that(
    rows=hnp.arrays(np.float64, st.tuples(st.integers(1, 7), st.integers(1, 3)), elements=st.floats(-9, 9)),
    block=st.integers(1, 7),
)
def test_the_record_does_not_depend_on_the_blocks(rows, block):
    binding = RegretBalancing.bind(bases=[OFUL.bind(noise=given.rows), Uniform.bind()])
    parts = [record_of(binding, {"dim": 2}, {"rows": rows[k : k + block]}) for k in range(0, len(rows), block)]
    assert join_records(parts) == record_of(binding, {"dim": 2}, {"rows": rows})


def test_long_arrays_are_recorded_by_a_digest_of_their_content():
    short, long = np.arange(64.0), np.arange(65.0)
    assert record_of({"x": short}, {}, {}) == {"x": short.tolist()}
    (told,) = record_of({"x": long}, {}, {}).values()
    assert told.startswith("array (65,), sha256 ")
    assert told == record_of(long.copy(), {}, {})
    assert told != record_of(long + 1.0, {}, {})
    per_lane = record_of(given.x, {}, {"x": np.stack([long, long + 1.0])})["per replicate"]
    assert per_lane == [told, record_of(long + 1.0, {}, {})]


# The code


SOURCE = """
from dataclasses import dataclass

from banditselect import Uniform

RATE = 1.0


def helper(x):
    return RATE * x


class Mine(Uniform):
    def _learn(self, ids, x, y, played):
        helper(1.0)


@dataclass(frozen=True)
class Falling:
    scale: float

    def __call__(self, t):
        return self.scale / t
"""
CHANGED = {
    "the method": SOURCE.replace("helper(1.0)", "helper(2.0)"),
    "a function it calls": SOURCE.replace("RATE * x", "RATE + x"),
    "a number of the file": SOURCE.replace("RATE = 1.0", "RATE = 2.0"),
    "a comment": SOURCE + "# a comment\n",
}


@pytest.fixture
def write(tmp_path, monkeypatch, registry):
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
    for module in ("my_own_policies", "my_children", "helping"):
        sys.modules.pop(module, None)


@pytest.mark.parametrize("source", CHANGED.values(), ids=CHANGED)
def test_a_change_of_its_file_counts_wherever_the_policy_is_used(write, source):
    def versions(source):
        module = write(
            "from banditselect.authoring import register\n" + source.replace("class M", "@register\nclass M")
        )
        mine, inside = module.Mine.bind(), RegretBalancing.bind(bases=[module.Mine()])
        schedule = SquareCB.bind(exploration=module.Falling(2.0))
        child = write("from my_own_policies import Mine\n\n\nclass Child(Mine):\n    pass\n", "my_children").Child
        several = RegretBalancing.bind(bases=on_every_map(mine))
        return [name(use) for use in (mine, on_map(mine, 0), several, {"a": [mine]}, inside, schedule, child.bind())]

    before, again, after = (versions(one) for one in (SOURCE, SOURCE, source))
    assert before == again
    assert not set(before) & set(after)


def test_policies_of_the_library_depend_on_the_library_and_what_it_stands_on_only():
    assert set(identity.installed()) == {"banditselect", "python", "numpy", "numba", "compiled for"}
    assert describe("x", Uniform.bind())["bind"] == "banditselect.policies.uniform.Uniform"


def test_a_class_without_a_source_is_refused():
    made = type("Made", (Uniform,), {"__module__": "nowhere"})
    with pytest.raises(ValueError, match=r"out: got .*Made.*source"):
        describe("x", made.bind())


def test_a_class_made_inside_a_function_is_refused_by_name():
    class Inside(Uniform):
        pass

    with pytest.raises(ValueError, match=r"out: .*a class at the top of its file"):
        describe("x", Inside.bind())


def test_a_class_is_known_by_the_file_that_it_was_first_read_from(write, tmp_path):
    mine = write(SOURCE).Mine.bind()
    before = name(mine)
    (tmp_path / "my_own_policies.py").write_text(CHANGED["the method"])  # and not loaded again
    assert name(mine) == before


def test_a_file_that_a_file_imports_does_not_count(write):
    write("EXTRA = 1\n", "helping")
    uses = "from helping import EXTRA\n" + SOURCE
    before = name(write(uses).Mine.bind())
    write("EXTRA = 3\n", "helping")
    assert name(write(uses).Mine.bind()) == before


HOLDS = """
from banditselect.problems import LatentBandit

class Mine(LatentBandit):
    def _set_up(self):
        self.data = DATA
"""


def test_the_data_that_a_problem_of_one_s_own_holds_count(write):
    module = write("DATA = [1.0, 2.0]\n" + HOLDS)
    before = describe("p", module.Mine())
    assert before == describe("p", module.Mine())
    module.DATA = [1.0, 3.0]
    assert describe("p", module.Mine()) != before


# The library


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Return a copy of the library's source, which the digest is taken of, and a function that takes it."""
    root = tmp_path / "banditselect"
    shutil.copytree(LIBRARY, root, ignore=lambda folder, names: [n for n in names if "." in n and n[-3:] != ".py"])
    monkeypatch.setattr(identity, "_ROOT", root)
    return root, identity._library_digest.__wrapped__


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("types.py", True),
        ("kernels/ridge.py", True),
        ("problems/base.py", True),
        ("simulation/loop.py", True),
        ("masters/anew.py", True),
        ("cli/app.py", False),
        ("experiments/arena.py", False),
        ("reporting/tables.py", False),
        ("py.typed", False),
    ],
)
def test_a_changed_file_of_the_library_counts_where_numbers_depend_on_it(library, file, counts):
    root, digest = library
    before = digest()
    assert digest() == before
    with (root / file).open("a") as changed:
        changed.write("# a comment\n")
    assert (digest() != before) == counts


def test_another_process_has_the_same_digest():
    code = "from banditselect.simulation.identity import installed; print(installed()['banditselect'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    identity._library_digest.cache_clear()
    assert done.stdout.strip() == identity.installed()["banditselect"]
