"""The official files get onto the disk whole and right, or not at all, whatever archives, disks and folders hold."""

import errno
import hashlib
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from image_server import CONTENT, Server, breaks_off, described, fails, fetch, lying, packed, source_of, tar

from tools.packs import files
from tools.packs.official import DATASETS, DataSet, lookup

MEMBERS = {"a.bin": b"first" * 1000, "b.bin": b"second" * 1000}
ARCHIVE = tar({f"tiny-files/{name}": content for name, content in MEMBERS.items()})


def test_what_is_official_is_complete() -> None:
    assert list(DATASETS) == ["mnist", "cifar10", "cifar100"]
    assert [len(dataset.files) for dataset in DATASETS.values()] == [4, 6, 2]
    for dataset in DATASETS.values():
        for source in dataset.sources:
            assert all(url.startswith("https://") and url.endswith("/" + source.name) for url in source.urls)
            assert len(bytes.fromhex(source.md5)) == 16
        assert {len(bytes.fromhex(file.sha256)) for file in dataset.files.values()} == {32}
    images = [sum(file.size for file in DATASETS[name].files.values()) for name in ("cifar10", "cifar100")]
    assert images == [60_000 * 3073, 60_000 * 3074]
    with pytest.raises(ValueError, match="dataset: got 'cifar', expected one of mnist, cifar10, cifar100"):
        lookup("cifar")


def test_an_archive_gives_its_files_and_nothing_else(server: Server, tmp_path: Path) -> None:
    def link(name: str, kind: bytes) -> tarfile.TarInfo:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, "../../stolen"
        return info

    members = {f"tiny-files/{name}": content for name, content in MEMBERS.items()}
    evil = {"../outside": b"x", "/etc/outside": b"x", "tiny-files/../../outside": b"x", "a.bin": b"x"}
    links = (link("tiny-files/a.bin", tarfile.SYMTYPE), link("tiny-files/b.bin", tarfile.LNKTYPE))
    archive = server.files["/x.tar.gz"] = tar(evil | members | {"tiny-files/read.me": b"x"}, *links)
    folder = tmp_path / "deep" / "data"
    fetch(packed(server.url("/x.tar.gz"), archive, MEMBERS), folder)
    assert lying(folder) == MEMBERS
    written = [path for path in tmp_path.rglob("*") if not path.is_dir()]
    assert sorted(path.name for path in written) == ["a.bin", "b.bin"]
    assert not any(path.is_symlink() for path in written)


@pytest.mark.parametrize(
    ("archive", "words"),
    [
        (ARCHIVE[:80], "damaged or not a .tar.gz archive"),
        (b"no archive" * 50, "damaged or not a .tar.gz archive"),
        (tar({"tiny-files/a.bin": MEMBERS["a.bin"]}), "does not hold tiny-files/b.bin"),
        (tar({"tiny-files/a.bin": b"other"}), "tiny-files/a.bin: got 5 bytes, expected 5000"),
        (tar({"tiny-files/a.bin": bytes(6000)}), "tiny-files/a.bin: got more than 5000 bytes, expected 5000"),
        (tar({"tiny-files/a.bin": bytes(5000)}), "tiny-files/a.bin: got sha256 "),
    ],
    ids=["cut short", "no archive", "a file less", "short file", "long file", "another file"],
)
def test_a_wrong_archive_is_refused(server: Server, tmp_path: Path, archive: bytes, words: str) -> None:
    server.files["/x.tar.gz"] = archive
    dataset = packed(server.url("/x.tar.gz"), archive, MEMBERS)
    message = fails(dataset, tmp_path)
    assert words in message
    assert server.url("/x.tar.gz") in message
    assert set(lying(tmp_path)) <= {"a.bin"}
    (tmp_path / "x.tar.gz").write_bytes(archive)
    with pytest.raises(ValueError, match=r"x\.tar\.gz: ") as caught:
        files.take(dataset, tmp_path, tmp_path / "taken")
    assert words in str(caught.value)


def test_an_archive_continues_too(server: Server, tmp_path: Path) -> None:
    server.files["/x.tar.gz"] = ARCHIVE
    server.answers["/x.tar.gz"] = [breaks_off(100)]
    fetch(packed(server.url("/x.tar.gz"), ARCHIVE, MEMBERS), tmp_path)
    assert server.requests()[-1] == ("/x.tar.gz", "bytes=100-")
    assert lying(tmp_path) == MEMBERS


def test_of_several_downloads_only_the_missing_are_made(server: Server, tmp_path: Path) -> None:
    contents = {f"{k}.gz": bytes([k]) * 1000 for k in range(3)}
    server.files = {f"/{name}": content for name, content in contents.items()}
    sources = [
        source_of((server.url(f"/{name}"),), content, (described(name, content),)) for name, content in contents.items()
    ]
    fetch(DataSet("tiny", "tiny-files", (sources[1],)), tmp_path)
    told: list[files.Transfer] = []
    fetch(DataSet("tiny", "tiny-files", tuple(sources)), tmp_path, tell=told.append)
    assert [path for path, _ in server.requests()] == ["/1.gz", "/0.gz", "/2.gz"]
    assert (told[0], told[-1]) == ((3, 1, 1, 3000, 1000, 1000), (3, 3, 1, 3000, 3000, 1000))
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    assert files.checksums(DataSet("tiny", "tiny-files", tuple(sources)), tmp_path) == sums


def test_a_full_disk_is_named(server: Server, tiny: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"tiny-files/x\.gz: cannot be written: No space left on device"):
            fetch(tiny, tmp_path)
    assert lying(tmp_path) == {"x.gz.part": CONTENT}
    fetch(tiny, tmp_path)
    assert len(server.seen) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_disk_that_fills_up_while_downloading_is_named(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    (tmp_path / "tiny-files").mkdir()
    (tmp_path / "tiny-files" / "x.gz.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"x\.gz\.part: cannot be written: No space left on device"):
        fetch(tiny, tmp_path)


def test_a_place_that_cannot_be_written_is_named(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="tiny-files: cannot be written: Not a directory"):
        fetch(tiny, tmp_path / "file")
    assert server.seen == []


LAYOUTS: dict[str, Callable[[Path], dict[Path, bytes]]] = {
    "official layout": lambda d: {d / "tiny-files" / name: content for name, content in MEMBERS.items()},
    "the folder itself": lambda d: {d / name: content for name, content in MEMBERS.items()},
    "archive": lambda d: {d / "x.tar.gz": ARCHIVE},
    "archive in its folder": lambda d: {d / "tiny-files" / "x.tar.gz": ARCHIVE},
    "a file and an archive": lambda d: {d / "a.bin": MEMBERS["a.bin"], d / "x.tar.gz": ARCHIVE},
    "a wrong file and an archive": lambda d: {d / "a.bin": b"wrong", d / "x.tar.gz": ARCHIVE},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_files_are_taken_from_a_folder(tmp_path: Path, layout: str) -> None:
    for path, content in LAYOUTS[layout](tmp_path / "stick").items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    dataset = packed("nowhere/x.tar.gz", ARCHIVE, MEMBERS)
    for _ in range(2):
        files.take(dataset, tmp_path / "stick", tmp_path / "data")
        assert lying(tmp_path / "data") == MEMBERS
    fetch(dataset, tmp_path / "data")  # has nothing to do: the URL leads nowhere


def test_a_wrong_file_is_not_taken(tmp_path: Path) -> None:
    dataset = packed("nowhere/x.tar.gz", ARCHIVE, MEMBERS)
    with pytest.raises(ValueError, match=r"from: got '.*stick', expected a folder with the files of tiny"):
        files.take(dataset, tmp_path / "stick", tmp_path / "data")
    (tmp_path / "stick").mkdir()
    with pytest.raises(FileNotFoundError, match=r"stick: has no a\.bin, not in its folder tiny-files either, nor x\.t"):
        files.take(dataset, tmp_path / "stick", tmp_path / "data")
    (tmp_path / "stick" / "a.bin").write_bytes(b"x" * 5000)
    expected = hashlib.sha256(MEMBERS["a.bin"]).hexdigest()
    with pytest.raises(ValueError, match=rf"stick/a\.bin: got sha256 \w+, expected {expected}"):
        files.take(dataset, tmp_path / "stick", tmp_path / "data")
    assert lying(tmp_path / "data") == {}
