"""check_map: every map of the library passes, and every check finds what it looks for."""

import numpy as np
import pytest

from banditselect import maps
from banditselect.authoring import argument
from banditselect.checks import CHECKS, MAP_CHECKS, PROBLEM_CHECKS, check_map, run_check
from banditselect.checks.map_checks import Subject
from banditselect.types import Blocked
from expected_skips import run_or_skip
from maps_under_check import MOVIES, VISITORS, every_map

FILMS = [*MOVIES, {"id": 2, "year": 1975, "title": "Jaws", "tags": ["sea"], "vector": [0.5, 0.5]}]
ONE_BLOCK = {"check_feature_blocks": "it has one block of parameters"}
BLOCKS = {"disjoint", "levels"}


@pytest.mark.parametrize("check", MAP_CHECKS)
@pytest.mark.parametrize("name", every_map())
def test_maps_of_the_library_pass(name, check):
    run_or_skip(check, Subject(every_map()[name], VISITORS, FILMS), () if name in BLOCKS else ONE_BLOCK)


@pytest.mark.parametrize(
    "encoder",
    [
        maps.Numbers("year", scale="online", indicator=True),
        maps.Numbers("year", scale=None),
        maps.Categories("year", "id"),
        maps.Categories("id", width=4),
        maps.Text("title", width=8),
        maps.Embeddings("id", {1: [0.5], 2: [1.0]}),
        maps.Vectors("vector"),
        maps.Polynomials(maps.Numbers("year")),
        maps.Fourier(maps.Numbers("year"), width=6),
        *maps.candidates(VISITORS * 9, FILMS * 9).values(),
    ],
    ids=repr,
)
def test_encoders_and_candidates_of_the_library_pass(encoder):
    assert check_map(encoder, VISITORS, FILMS).keys() <= ONE_BLOCK.keys()


def test_maps_of_other_code_pass_but_for_what_they_do_not_promise():
    def distance(visitor, films):
        return [[abs(visitor["age"] - film["year"])] for film in films]

    unsafe = {"check_odd_values": "the function takes numbers only"}
    skipped = check_map(maps.Function(distance, width=1), VISITORS, FILMS, expected_failures=unsafe)
    assert skipped.keys() == {*ONE_BLOCK, "check_saved_map"}
    assert skipped["check_saved_map"].startswith("it cannot be saved: Function(<function")


class Years(maps.FeatureMap):
    """A feature per year since ``first``, and whether there is one; scaled by the largest that the fit has met."""

    state = ("largest",)

    first: int = argument(default=1900)

    def _set_up(self):
        self.largest = None

    @property
    def names(self):
        return ["years", "no year"]

    def _fit(self, contexts, items):
        self.largest = float(np.nanmax(self.years(items), initial=1.0))

    def years(self, items):
        return items.numbers("year") - self.first

    def read(self, items):
        years = self.years(items)
        absent = np.isnan(years)
        return np.where(absent, 0.0, years) / self.largest, absent.astype(float)

    def _features(self, context, items):
        return np.column_stack(self.read(items))


def flawed(base=Years, **changes):
    """Return a map with these methods replaced."""
    return type("Flawed", (base,), changes)()


def features(change, base=Years):
    """Return a map whose features are changed: ``change(map, context, items, features)``."""
    return flawed(base, _features=lambda self, c, items: change(self, c, items, base._features(self, c, items)))


class Seen(Years):
    """Counts the items that it has seen, in its state or not."""

    state = (*Years.state, "seen")
    seen = 0.0

    @property
    def changes(self):
        return int(self.seen)

    def _observe(self, context, items):
        self.seen = self.seen + len(items)

    def _features(self, context, items):
        return super()._features(context, items) + self.seen


class Counting(maps.Encoder):
    """An encoder that counts records; the cache of ``Records`` asks for its ``changes``."""

    state = ("count",)
    moves = 0

    def _set_up(self):
        self.count = np.zeros(1)

    @property
    def names(self):
        return ["count"]

    @property
    def changes(self):
        return self.moves

    def observe(self, records):
        self.count = self.count + len(records)

    def _encode(self, records):
        return np.tile(self.count, (len(records), 1))


class InPlace(Seen):
    """Writes into an array that its copies share."""

    def _set_up(self):
        super()._set_up()
        self.seen = np.zeros(1)

    def _observe(self, context, items):
        self.seen += len(items)

    @property
    def changes(self):
        return int(self.seen[0])


class Blocks(Years):
    @property
    def blocks(self):
        return 3

    def block(self, items):
        return np.arange(len(items)) * 0

    def _features(self, context, items):
        return Blocked(super()._features(context, items), self.block(items))


class Remembering(Years):
    """Keeps an object in its state that is no plain value."""

    state = (*Years.state, "met")

    def _fit(self, contexts, items):
        super()._fit(contexts, items)
        self.met = set(items.column("year"))


LIVE = np.random.default_rng(0)
FLAWS = [
    ("check_map_settings", "does not begin with the class", flawed(__repr__=lambda self: "years")),
    ("check_map_settings", "the copy of Flawed", flawed(__copy__=lambda self: type(self)(first=1950))),
    ("check_feature_shape", r"2 names of 3 features", flawed(width=3, _features=lambda *a: np.zeros((len(a[2]), 3)))),
    ("check_feature_shape", "have the names", flawed(names=["year", "year"])),
    ("check_feature_shape", "not words", flawed(names=[0, 1])),
    ("check_feature_shape", r"expected finite numbers of shape \(1, 2\)", features(lambda s, c, z, x: x.T)),
    ("check_feature_shape", "no float64 array", features(lambda s, c, z, x: x.tolist())),
    ("check_feature_shape", "no float64 array", features(lambda s, c, z, x: x.astype(np.float32))),
    ("check_feature_shape", "not finite, or above 1e", features(lambda s, c, z, x: x * 1e40)),
    ("check_feature_blocks", "Blocked, but blocks is 1", features(lambda s, c, z, x: Blocked(x, np.zeros(3, int)))),
    ("check_feature_blocks", "no Blocked", flawed(blocks=2)),
    ("check_feature_blocks", "are not below 3", flawed(Blocks, block=lambda s, z: np.arange(1, len(z) + 1))),
    ("check_feature_blocks", r"of shape \(3, 1\)", flawed(Blocks, block=lambda s, z: np.zeros((len(z), 1), int))),
    ("check_feature_blocks", "of dtype float64", flawed(Blocks, block=lambda s, z: np.zeros(len(z)))),
    ("check_repeated_calls", "the same records give other", features(lambda s, c, z, x: x + LIVE.normal())),
    (
        "check_repeated_calls",
        "that are kept give other",
        flawed(
            _features=lambda self, c, z: z.encoded(self, "once"), once=lambda self, z: np.column_stack(self.read(z))
        ),
    ),
    (
        "check_repeated_calls",
        r"features\(\) changed the map",
        flawed(
            state=("largest", "asked"),
            asked=0,
            read=lambda self, z: (Years.read(self, z), vars(self).update(asked=self.asked + 1))[0],
        ),
    ),
    ("check_records_unchanged", "were changed", features(lambda s, c, z, x: (x, c.rows()[0].update(a=1))[0])),
    ("check_single_items", "an item alone", features(lambda s, c, z, x: x - x.mean(axis=0))),
    ("check_permuted_items", "in another order", features(lambda s, c, z, x: x + np.arange(len(x))[:, None])),
    (
        "check_odd_values",
        "year=None raises KeyError",
        flawed(years=lambda self, z: np.array([{1990: 1.0, 2010: 2.0, 1975: 3.0}[year] for year in z.column("year")])),
    ),
    (
        "check_odd_values",
        "year=None raises .*expected finite numbers of shape",
        flawed(_features=lambda s, c, z: np.column_stack([s.years(z), s.years(z)])),
    ),
    (
        "check_odd_values",
        "year='a word that no example has' raises ValueError",
        flawed(years=lambda s, z: np.array([float(year or 0) for year in z.column("year")])),
    ),
    ("check_fit", "not a copy", flawed(fit=lambda self, contexts, items: (self._fit(0, maps.Records(items)), self)[1])),
    ("check_fit", "not a map of the same class", flawed(fit=lambda self, *records: Years().fit(*records))),
    (
        "check_fit",
        "is not fitted",
        flawed(_fit=lambda self, contexts, items: None, read=lambda s, z: 2 * [z.numbers("")]),
    ),
    (
        "check_fit",
        "fit changed the map",
        flawed(fit=lambda self, *rows: (self._fit(0, maps.Records(rows[1])), Years.fit(self, *rows))[1]),
    ),
    ("check_fit", "two fits", flawed(_fit=lambda self, contexts, items: vars(self).update(largest=LIVE.uniform()))),
    ("check_observe", "names, blocks or settings", flawed(_observe=lambda self, c, z: vars(self).update(first=1))),
    ("check_observe", "nothing that `state` names", flawed(Seen, state=Years.state)),
    ("check_observe", "records that are kept", maps.Items(Counting())),
    ("check_observe", "a copy made before", InPlace()),
    ("check_saved_map", r"cannot be saved and loaded: save: Remembering\.met=\{", Remembering()),
    ("check_saved_map", "other features at once", flawed(Seen, state=Years.state)),
]


@pytest.mark.parametrize(("check", "message", "own"), FLAWS, ids=[f"{c}-{m}" for c, m, _ in FLAWS])
def test_a_flaw_is_found(check, message, own):
    with pytest.raises((AssertionError, ValueError), match=message):
        run_check(check, Subject(own, VISITORS, FILMS))


def test_every_check_can_fail():
    assert {check for check, _, _ in FLAWS} == set(MAP_CHECKS)
    assert not set(MAP_CHECKS) & (set(CHECKS) | set(PROBLEM_CHECKS))


def test_without_a_flaw_every_check_passes_or_says_why_not():
    assert check_map(Years(), VISITORS, FILMS) == ONE_BLOCK
    assert check_map(Seen(), VISITORS, FILMS) == ONE_BLOCK
    assert check_map(Blocks(), VISITORS, FILMS) == {}


def test_what_is_no_map_or_has_too_few_examples_is_refused():
    with pytest.raises(ValueError, match="check_map: feature_map: got 3"):
        check_map(3, [{}], FILMS)
    with pytest.raises(ValueError, match=r"check_map: items: got .*expected at least 3 examples"):
        check_map(Years(), [{}], FILMS[:2])
    with pytest.raises(ValueError, match="check_map: contexts"):
        check_map(Years(), [], FILMS)
