"""One file of settings and arrays: what goes in comes out, and nothing that was damaged does."""

import hashlib
import json
import os
import struct

import numpy as np
import pytest

from banditselect.runtime import files

ARRAYS = {
    "floats": np.array([[0.1, -np.inf, np.nan], [np.inf, -0.0, 5e-324]]),
    "whole": np.array([-(2**63), 2**63 - 1, 0]),
    "bytes": np.array([[0, 255]], dtype=np.uint8),
    "flags": np.array([True, False, True]),
    "none": np.zeros((0, 3)),
    "hollow": np.zeros((2, 0, 4), dtype=np.int64),
    "number": np.array(2.5),
    "last": np.zeros(0, dtype=bool),
}
SETTINGS = {"name": "Größe", "rate": 0.1, "nested": [1, [2.5, None, True]], "empty": {}}


def test_round_trip_of_every_dtype_and_shape(tmp_path):
    path = tmp_path / "a.bsel"
    files.write(path, SETTINGS, ARRAYS)
    found, arrays = files.read(path)
    assert found == SETTINGS
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()  # bit for bit: NaN and -0.0 too
        assert arrays[name].flags.writeable
    files.write(str(path), {}, {})  # takes its place
    assert files.read(str(path)) == ({}, {})
    assert [p.name for p in tmp_path.iterdir()] == ["a.bsel"]
    with pytest.raises(FileNotFoundError):
        files.read(tmp_path / "b.bsel")


def test_memory_layout_and_byte_order_do_not_matter(tmp_path):
    x = np.arange(12.0).reshape(3, 4)
    arrays = {"fortran": np.asfortranarray(x), "strided": np.repeat(x, 2, axis=1)[:, ::2], "big": x.astype(">f8")}
    files.write(tmp_path / "a.bsel", {}, arrays)
    for found in files.read(tmp_path / "a.bsel")[1].values():
        np.testing.assert_array_equal(found, x)
        assert found.dtype == np.float64
        assert found.dtype.isnative


def test_layout_by_hand(tmp_path):
    files.write(tmp_path / "a.bsel", {"k": 1}, {"x": np.array([258], dtype=np.int64)})
    content = (tmp_path / "a.bsel").read_bytes()
    header = json.dumps({"settings": {"k": 1}, "arrays": [["x", "<i8", [1]]]}).encode()
    body = b"BSEL" + struct.pack("<HQ", 1, len(header)) + header + b"\x02\x01" + b"\x00" * 6
    assert content == body + hashlib.sha256(body).digest()


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "a.bsel"
    files.write(path, {"k": 1}, {"x": np.array([1.0, 2.0]), "f": np.array([True])})
    return path


def test_every_change_of_a_byte_is_found(small):
    content = small.read_bytes()
    for position in range(len(content)):
        damaged = bytearray(content)
        for change in (1, 128):
            damaged[position] ^= change
            small.write_bytes(damaged)
            with pytest.raises(ValueError, match=r"a\.bsel: "):
                files.read(small)


def test_every_truncation_is_found_and_what_is_appended(small):
    content = small.read_bytes()
    for changed in (*(content[:length] for length in range(len(content))), content + b"\x00"):
        small.write_bytes(changed)
        with pytest.raises(ValueError, match=r"a\.bsel: "):
            files.read(small)


NOT_WRITTEN = "not what this library writes"


@pytest.mark.parametrize(
    ("at", "packed", "words"),
    [
        (0, b"PK\x03\x04", "not a file of this library"),
        *((4, struct.pack("<H", v), f"format version {v}, this library reads version 1") for v in (0, 2, 65535)),
        *((6, struct.pack("<Q", length), NOT_WRITTEN) for length in (0, 1, 2**63, 2**64 - 1)),
    ],
)
def test_another_magic_another_version_and_a_header_of_another_length_are_refused(small, at, packed, words):
    body = bytearray(small.read_bytes()[:-32])
    body[at : at + len(packed)] = packed
    small.write_bytes(body + hashlib.sha256(body).digest())
    with pytest.raises(ValueError, match=rf"a\.bsel: {words}"):
        files.read(small)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"7",
        b"\xff\xfe",
        b'{"settings": {}}',
        b'{"settings": 7, "arrays": []}',
        b'{"settings": {}, "arrays": 7}',
        b'{"settings": {}, "arrays": [["x"]]}',
        b'{"settings": {}, "arrays": [["x", "<f8", [-1]]]}',
        b'{"settings": {}, "arrays": [["x", "<f8", [0.5]]]}',
        b'{"settings": {}, "arrays": [["x", "<f8", [4611686018427387904, 4]]]}',
        b'{"settings": {}, "arrays": [["x", "<f8", [0, 1%s]]]}' % (b"0" * 40),
        b'{"settings": {}, "arrays": [["x", "<f8", [1%s]]]}' % (b"0" * 5000),
        b'{"settings": {}, "arrays": [["x", "|O", [0]]]}',
        b'{"settings": {}, "arrays": [["x", ["<f8"], [0]]]}',
        b'{"settings": {}, "arrays": [[[], "<f8", [0]]]}',
        b'{"settings": {}, "arrays": [["x", "<f8", [%s]]]}' % b",".join([b"0"] * 100),
        b"[" * 100_000,
    ],
)
def test_a_header_that_nobody_wrote_raises_value_error(tmp_path, header):
    body = b"BSEL" + struct.pack("<HQ", files.VERSION, len(header)) + header
    (tmp_path / "a.bsel").write_bytes(body + hashlib.sha256(body).digest())
    with pytest.raises(ValueError, match=rf"a\.bsel: {NOT_WRITTEN}"):
        files.read(tmp_path / "a.bsel")


def test_bytes_that_nothing_names_and_flags_that_are_none_raise_value_error(small):
    content = small.read_bytes()[:-32]
    for body in (content + b"\x00", content[:-1], content[:-1] + b"\x02"):
        small.write_bytes(body + hashlib.sha256(body).digest())
        with pytest.raises(ValueError, match=rf"a\.bsel: {NOT_WRITTEN}"):
            files.read(small)


@pytest.mark.parametrize("call", ["replace", "fsync", "chmod"])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_write_that_breaks_off_leaves_the_old_file_and_nothing_else(small, monkeypatch, call, error):
    before = small.read_bytes()

    def broken(*arguments):
        raise error("no")

    monkeypatch.setattr(os, call, broken)
    with pytest.raises(error):
        files.write(small, {"k": 2}, {"x": np.zeros(3)})
    assert small.read_bytes() == before
    assert [p.name for p in small.parent.iterdir()] == ["a.bsel"]


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.complex128, object, "U3", "M8[s]"])
def test_other_dtypes_are_refused_by_name_before_anything_is_written(tmp_path, dtype):
    with pytest.raises(ValueError, match="array 'x': cannot store dtype"):
        files.write(tmp_path / "a.bsel", {}, {"x": np.zeros(2, dtype=dtype)})
    assert list(tmp_path.iterdir()) == []


def test_settings_that_are_not_json_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(TypeError):
        files.write(tmp_path / "a.bsel", {"f": len}, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        files.write(tmp_path / "a.bsel", {}, {})
        assert os.umask(0o027) == 0o027  # left as it was
    finally:
        os.umask(before)
    assert (tmp_path / "a.bsel").stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_a_file_that_was_there_keeps_its_permissions(small, mode):
    small.chmod(mode)
    files.write(small, {"k": 2}, {})
    assert files.read(small) == ({"k": 2}, {})
    assert small.stat().st_mode & 0o7777 == mode


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_what_is_being_written_is_never_open_to_more_than_the_file(small):
    small.chmod(0o600)
    with files.replacing(small) as file:
        (part,) = (p for p in small.parent.iterdir() if p.name != "a.bsel")
        assert part.stat().st_mode & 0o777 == 0o600
        file.write(b"x")


def test_a_link_stays_a_link(small, tmp_path):
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "current"
    link.symlink_to("../a.bsel")
    files.write(link, {"k": 2}, {})
    assert link.is_symlink()
    assert os.readlink(link) == "../a.bsel"
    assert files.read(small) == ({"k": 2}, {})
    assert [p.name for p in link.parent.iterdir()] == ["current"]
    new = tmp_path / "links" / "new"
    new.symlink_to(tmp_path / "b.bsel")  # which is not there yet
    files.write(new, {"k": 3}, {})
    assert new.is_symlink()
    assert files.read(tmp_path / "b.bsel") == ({"k": 3}, {})


@pytest.mark.skipif(os.name != "posix", reason="lengths of POSIX")
def test_a_name_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("n" * (os.pathconf(tmp_path, "PC_NAME_MAX") - 5) + ".bsel")
    files.write(path, {"k": 1}, {})
    files.write(path, {"k": 2}, {})
    assert files.read(path) == ({"k": 2}, {})
    assert list(tmp_path.iterdir()) == [path]
    longer = path.with_name("n" + path.name)
    with pytest.raises(OSError, match="File name too long") as error:
        files.write(longer, {}, {})
    assert error.value.filename == str(longer)
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_named_as_it_was_given(tmp_path):
    path = tmp_path / "missing" / "a.bsel"
    with pytest.raises(FileNotFoundError) as error:
        files.write(path, {}, {})
    assert error.value.filename == str(path)


@pytest.mark.skipif(os.name != "posix", reason="kinds of files of POSIX")
def test_what_is_no_file_is_not_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "round").symlink_to(tmp_path / "round")
    for name in ("folder", "pipe", "round"):
        with pytest.raises(OSError, match=rf"{name}'$") as error:
            files.write(tmp_path / name, {}, {})
        assert error.value.filename == str(tmp_path / name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "pipe", "round"]
    assert (tmp_path / "round").is_symlink()
