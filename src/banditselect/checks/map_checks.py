"""Checks that a feature map keeps the contract: shapes, finite features for any records, no side effects."""

import copy
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import SkipTest

import numpy as np
from numpy.typing import NDArray

from ..kernels.features import LIMIT
from ..maps import Encoder, FeatureMap, Records
from ..runtime import files
from ..runtime.shapes import values_of
from ..types import Array, Blocked

WORD = "a word that no example has"
ODD: tuple[Any, ...] = (None, WORD, "", 1e3, -1e300, 10**400, np.nan, np.inf, True, [], [1.0, None], {"a": 1}, object())


class Subject(NamedTuple):
    """A feature map, fitted or not, with contexts and items that it accepts: records as dicts."""

    map: FeatureMap
    contexts: list[dict[str, Any]]
    items: list[dict[str, Any]]

    def fitted(self) -> FeatureMap:
        """Return the map fitted to the examples."""
        return self.map.fit(self.contexts, self.items)

    def changed(self) -> Iterator[tuple[str, Any, dict[str, Any], list[dict[str, Any]]]]:
        """Yield a column, an odd value, and a context and items with that value in one of their columns."""
        for side in (0, 1):
            for column in dict.fromkeys(name for row in (self.contexts, self.items)[side] for name in row):
                for value in ODD:
                    context, items = dict(self.contexts[0]), [dict(item) for item in self.items]
                    (context, items[-1])[side][column] = value
                    yield column, value, context, items


def check_map_settings(subject: Subject) -> None:
    """``repr`` names the class, and a copy has the same settings."""
    name, own = type(subject.map).__name__, subject.map
    assert repr(own).startswith(f"{name}("), f"repr does not begin with the class: {own!r}"
    twin = copy.copy(own)
    assert repr(twin) == repr(own), f"the copy of {own!r} is {twin!r}"


def check_feature_shape(subject: Subject) -> None:
    """Features are float64 of shape ``(K, width)``, finite, at most 1e30; every feature has a name of its own."""
    fitted = subject.fitted()
    for context in subject.contexts:
        for K in (1, len(subject.items)):
            _check_features(fitted, fitted.features(context, subject.items[:K]), K, f"{K} items")
    names = fitted.names
    assert all(isinstance(name, str) for name in names), f"names are {names!r}, not words"
    assert len(names) == fitted.width, f"there are {len(names)} names of {fitted.width} features"
    twice = sorted({name for name in names if names.count(name) > 1})
    assert not twice, f"several features have the names {twice}"


def check_feature_blocks(subject: Subject) -> None:
    """With several ``blocks`` the features are ``Blocked``, and the block of an item is a whole number below them."""
    fitted = subject.fitted()
    features, K = fitted.features(subject.contexts[0], subject.items), len(subject.items)
    if fitted.blocks == 1:
        assert not isinstance(features, Blocked), "features are Blocked, but blocks is 1"
        raise SkipTest("it has one block of parameters")
    assert isinstance(features, Blocked), f"blocks is {fitted.blocks}, but features are no Blocked(values, block)"
    block = np.asarray(features.block)
    assert block.dtype.kind in "iu", f"blocks of dtype {block.dtype}, not whole numbers"
    assert block.shape == (K,), f"blocks of shape {block.shape}, not {(K,)}"
    assert ((block >= 0) & (block < fitted.blocks)).all(), f"blocks {block} are not below {fitted.blocks}"


def check_repeated_calls(subject: Subject) -> None:
    """The same records give the same features, also after what was returned before has been written into."""
    fitted, (context, items) = subject.fitted(), (subject.contexts[0], subject.items)
    before, kept = _picture(fitted), Records(items)
    first = _features(fitted, context, kept)
    shown = [array.copy() for array in first]
    for array in first:
        if array.flags.writeable:
            array[...] = 77
    for offered, what in ((items, "the same records"), (kept, "records that are kept")):
        again = _features(fitted, context, offered)
        assert _same(shown, again), f"{what} give other features when they are asked for again"
    assert _picture(fitted) == before, "features() changed the map"


def check_records_unchanged(subject: Subject) -> None:
    """Fitting, observing and encoding leave the records as they were."""
    before = _text((subject.contexts, subject.items))
    fitted = subject.fitted()
    fitted.observe(subject.contexts[0], subject.items)
    fitted.features(subject.contexts[0], subject.items)
    assert _text((subject.contexts, subject.items)) == before, "the records were changed"


def check_single_items(subject: Subject) -> None:
    """An item alone has the features that it has among others."""
    _check_rows(subject, [[k] for k in range(len(subject.items))], "an item alone")


def check_permuted_items(subject: Subject) -> None:
    """Permuted and repeated items have permuted and repeated features."""
    K = len(subject.items)
    _check_rows(subject, [[*range(K)][::-1], [K - 1, 0, 0, *range(K)]], "items in another order")


def check_odd_values(subject: Subject) -> None:
    """Features are finite for missing values and values of another type, and with columns that no example has."""
    fitted, extra = subject.fitted(), {"a column that no example has": 1.0}
    cases: list[tuple[str, Any, list[Any]]] = [(f"{c}={v!r:.40}", x, z) for c, v, x, z in subject.changed()]
    cases += [(f"the record {record}", record, [record]) for record in (extra, {}, None)]
    for what, context, items in cases:
        try:
            features = fitted.features(context, items)
        except Exception as error:
            raise AssertionError(f"{what} raises {error!r}") from error
        _check_features(fitted, features, len(items), what)


def check_fit(subject: Subject) -> None:
    """``fit`` returns a fitted copy of the same class, the same for the same records, and changes nothing else."""
    before, context, items = _picture(subject.map), subject.contexts[0], subject.items
    first = subject.fitted()
    assert type(first) is type(subject.map), f"fit returned {first!r}, not a map of the same class"
    assert first is not subject.map, "fit returned the map itself, not a copy"
    assert first.fitted, "what fit returned is not fitted: is all of `state` filled?"
    features = _features(first, context, items)
    assert _picture(subject.map) == before, "fit changed the map that was fitted"
    assert _same(features, _features(subject.fitted(), context, items)), "two fits to one set of records differ"
    first.fit([*subject.contexts, context], [*items, items[0]])
    assert _same(features, _features(first, context, items)), "a second fit changed the first"


def check_observe(subject: Subject) -> None:
    """``observe`` changes what ``state`` names and nothing else, not in copies either, and counts its ``changes``."""
    fitted, context, items = subject.fitted(), subject.contexts[-1], subject.items
    twin, form, kept = copy.copy(fitted), (fitted.names, fitted.blocks, repr(fitted)), Records(items)
    before, shown = _picture(fitted), _features(fitted, context, kept)
    fitted.observe(context, [*items[::2], {"id": WORD}])
    after, now = _picture(fitted), _features(fitted, context, items)
    assert (fitted.names, fitted.blocks, repr(fitted)) == form, "observe changed names, blocks or settings"
    assert after != before or _same(shown, now), "observe changed the features, but nothing that `state` names"
    stale = "records that are kept have the features of before: `changes` must count what observe changes"
    assert _same(now, _features(fitted, context, kept)), stale
    same = _picture(twin) == before and _same(shown, _features(twin, context, items))
    assert same, "observe changed a copy made before"


def check_saved_map(subject: Subject) -> None:
    """A map that is saved and loaded has the same features, also afterwards."""
    fitted, (context, items) = subject.fitted(), (subject.contexts[-1], subject.items)
    fitted.observe(context, items[:1])
    code = next((part for part in _all_parts(fitted) if not getattr(part, "savable", True)), None)
    if code is not None:
        raise SkipTest(f"it cannot be saved: {code!r}")
    try:
        with tempfile.TemporaryDirectory() as folder:
            fitted.save(Path(folder) / "map.bsel")
            again = files.load(Path(folder) / "map.bsel")
    except (TypeError, ValueError, RuntimeError) as error:
        raise AssertionError(f"it cannot be saved and loaded: {error}") from error
    assert repr(again) == repr(fitted), f"{fitted!r} is loaded as {again!r}"
    for moment in ("at once", "after it has observed more"):
        saved, mine = (_features(one, context, items) for one in (again, fitted))
        assert _same(saved, mine), f"other features {moment} when loaded: does `state` name all that is learned?"
        for one in (again, fitted):
            one.observe(context, items)


def _all_parts(part: FeatureMap | Encoder) -> Iterator[FeatureMap | Encoder]:
    """Yield a map or an encoder and everything inside."""
    yield part
    for _, inner in part._parts:
        yield from _all_parts(inner)


def _check_features(fitted: FeatureMap, features: Array | Blocked, K: int, what: str) -> None:
    """Assert that features are numbers that policies take."""
    values = values_of(features)
    shape = np.shape(values)
    assert getattr(values, "dtype", None) == np.float64, f"features of {what} are no float64 array"
    assert shape == (K, fitted.width), f"features of {what} have the shape {shape}, not {(K, fitted.width)}"
    assert (np.abs(values) <= LIMIT).all(), f"features of {what} are not finite, or above {LIMIT:g}"


def _check_rows(subject: Subject, choices: list[list[int]], what: str) -> None:
    """Assert that chosen items have the rows of all items that are chosen, up to rounding."""
    fitted, kept = subject.fitted(), Records(subject.items)
    for context in subject.contexts:
        every = _features(fitted, context, subject.items)
        for chosen in choices:
            for offered in ([subject.items[k] for k in chosen], kept.take(chosen)):
                found = _features(fitted, context, offered)
                equal = [np.allclose(a[chosen], b, rtol=1e-9, atol=1e-12) for a, b in zip(every, found, strict=True)]
                assert all(equal), f"{what} has other features than among the others"


def _features(fitted: FeatureMap, context: Any, items: Any) -> list[NDArray[Any]]:
    """Return features as arrays: those of a map with blocks and their blocks."""
    found = fitted.features(context, items)
    return [*found] if isinstance(found, Blocked) else [found]


def _same(one: list[NDArray[Any]], other: list[NDArray[Any]]) -> bool:
    return len(one) == len(other) and all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def _picture(whole: FeatureMap) -> str:
    """Return settings and state of a map and of all inside, to the last bit."""
    return _text([[repr(part), part.learned()] for part in _all_parts(whole)])


def _text(value: Any) -> str:
    return json.dumps(value, default=lambda part: part.tolist() if isinstance(part, np.ndarray) else repr(part))
