"""Packs are read as they were written, and the shipped ones are problems."""

from pathlib import Path

import numpy as np
import pytest

from banditselect.experiments import packs
from banditselect.experiments.packs import NAMES, FeaturePack, load_pack
from banditselect.problems import Classification

SHIPPED = Path(packs.__file__).parent


def test_values_are_codes_times_scale_plus_offset():
    pack, content = load_pack("ps-mnist"), np.load(SHIPPED / "ps-mnist.npz")
    values = content["map.offset"] + content["map.scale"] * content["map.codes"].astype(np.float32)
    np.testing.assert_array_equal(pack.features, values)
    np.testing.assert_array_equal(pack.balls["coarse", 5].centers, content["coarse5.centers"])
    assert not pack.features.flags.writeable


def test_a_pack_that_there_is_not_is_refused_by_name(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no pack .*ps-mnist\.npz; docs/data\.md says how to build"):
        load_pack("ps-mnist", tmp_path)
    with pytest.raises(ValueError, match="load_pack: name: got 'fs', expected one of fs-mnist, "):
        load_pack("fs")


@pytest.mark.parametrize("name", NAMES)
def test_shipped_packs_are_problems(name):
    pack = load_pack(name)
    if isinstance(pack, FeaturePack):
        problem = Classification(features=pack.maps[:2], labels=pack.labels, parameters=pack.parameters)
    else:
        problem = Classification(features=pack.features, labels=pack.labels, reward="label", targets=range(2))
    assert problem.draw(range(2), 5, seed=0).constants["label"].shape == (2,)


def test_the_packs_are_small():
    files = sorted(SHIPPED.glob("*.npz"))
    assert [file.stem for file in files] == sorted(NAMES)
    assert sum(file.stat().st_size for file in files) < 6e6
