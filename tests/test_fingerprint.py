"""Settings as JSON: equal ones have equal fingerprints and others have others; a record has everything filled in."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given as given_that
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from banditselect import OFUL, FSSquareCB, Power, RegretBalancing, SquareCB, Uniform, given, on_every_map, on_map
from banditselect.problems import SyntheticFeatureSelection, SyntheticParameterSelection
from banditselect.simulation.fingerprint import describe, digest, join_records, record_of

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


# What was really run


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
    told = record_of(binding, {"n_models": 2, "dim": [3, 5]}, {"noise": 0.5})
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
        record_of(binding, {"dim": 2}, {"bound": bounds[s], "noise": 0.5})
        for s in (slice(0, 2), slice(2, 4), slice(4, 5))
    ]
    whole = record_of(binding, {"dim": 2}, {"bound": bounds, "noise": 0.5})
    assert whole["arguments"]["parameter_bound"] == {"per replicate": [1.0, 2.0, 3.0, 4.0, 5.0]}
    assert join_records(blocks) == whole
    assert join_records([whole]) == whole


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
