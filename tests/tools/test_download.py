"""Downloads end with the right file, or with a message and what has arrived, whatever servers do."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from image_server import (
    CONTENT,
    Server,
    announces,
    breaks_off,
    broken_chunks,
    code,
    fails,
    fetch,
    hangs,
    lying,
    redirect,
    sends,
    single,
    whole,
    without_length,
)

from tools.packs import files
from tools.packs.official import DataSet

N = len(CONTENT)


def test_a_file_is_downloaded_once(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    told: list[files.Transfer] = []
    fetch(tiny, tmp_path / "new" / "folder", tell=told.append)
    assert lying(tmp_path / "new" / "folder") == {"x.gz": CONTENT}
    assert told[0] == (1, 0, 0, N, 0, 0)
    assert told[-1] == (1, 1, 0, N, N, 0)
    assert [at.size_done for at in told] == sorted(at.size_done for at in told)
    fetch(tiny, tmp_path / "new" / "folder", tell=told.append)
    assert told[-1] == (1, 1, 1, N, N, N)
    assert server.requests() == [("/one/x.gz", None)]


def test_what_broke_off_continues_there(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    server.answers = {"/one/x.gz": [breaks_off(40_000)], "/two/x.gz": [breaks_off(10_000)]}
    fetch(tiny, tmp_path)
    assert lying(tmp_path) == {"x.gz": CONTENT}
    server.close()
    assert server.seen == [
        ("/one/x.gz", None, 40_000),
        ("/two/x.gz", "bytes=40000-", 10_000),
        ("/one/x.gz", "bytes=50000-", 50_000),
    ]


def test_the_next_command_continues(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    server.answers = {"/one/x.gz": [breaks_off(40_000)] * 2, "/two/x.gz": [code(500)] * 3}
    server.answers["/one/x.gz"] += [breaks_off(0)]
    message = fails(tiny, tmp_path)
    assert "80000 of 100000 bytes are kept: the same command continues there" in message
    assert "/one/x.gz: the connection broke off after 80000 of 100000 bytes" in message
    assert "/two/x.gz: answered 500 Internal Server Error" in message
    assert lying(tmp_path) == {"x.gz.part": CONTENT[:80_000]}
    told: list[files.Transfer] = []
    fetch(tiny, tmp_path, tell=told.append)
    assert server.requests()[-1] == ("/one/x.gz", "bytes=80000-")
    assert told[0] == (1, 0, 0, N, 80_000, 80_000)
    assert lying(tmp_path) == {"x.gz": CONTENT}


def test_ctrl_c_keeps_what_has_arrived(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    server.answers = {"/one/x.gz": [breaks_off(30_000)]}

    def stop(at: files.Transfer) -> None:
        if at.size_done >= 30_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(tiny, tmp_path, tell=stop)
    assert lying(tmp_path) == {"x.gz.part": CONTENT[:30_000]}
    fetch(tiny, tmp_path)
    assert server.requests()[-1] == ("/one/x.gz", "bytes=30000-")
    assert lying(tmp_path) == {"x.gz": CONTENT}


@pytest.mark.parametrize("answer", [whole, without_length])
def test_a_server_without_ranges_starts_over(server: Server, tiny: DataSet, tmp_path: Path, answer: Any) -> None:
    server.answers = {"/one/x.gz": [breaks_off(40_000)], "/two/x.gz": [answer]}
    fetch(tiny, tmp_path)
    assert server.requests()[-1] == ("/two/x.gz", "bytes=40000-")
    assert lying(tmp_path) == {"x.gz": CONTENT}


def test_a_server_that_refuses_ranges_is_asked_for_everything(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    server.answers = {"/one/x.gz": [breaks_off(40_000)], "/two/x.gz": [code(416)]}
    fetch(tiny, tmp_path)
    assert server.requests()[1:] == [("/two/x.gz", "bytes=40000-"), ("/two/x.gz", None)]
    assert lying(tmp_path) == {"x.gz": CONTENT}


@pytest.mark.parametrize("size", [N, N + 7])
def test_a_part_of_full_length_is_checked_first(server: Server, tiny: DataSet, tmp_path: Path, size: int) -> None:
    (tmp_path / "tiny-files").mkdir()
    (tmp_path / "tiny-files" / "x.gz.part").write_bytes((CONTENT + bytes(7))[:size])
    fetch(tiny, tmp_path)
    assert server.requests() == ([] if size == N else [("/one/x.gz", None)])
    assert lying(tmp_path) == {"x.gz": CONTENT}


def test_a_wrong_part_is_fetched_anew(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    (tmp_path / "tiny-files").mkdir()
    (tmp_path / "tiny-files" / "x.gz.part").write_bytes(bytes(1000))
    fetch(tiny, tmp_path)
    assert server.requests() == [("/one/x.gz", "bytes=1000-"), ("/one/x.gz", None)]
    assert lying(tmp_path) == {"x.gz": CONTENT}


def test_a_damaged_file_is_replaced(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    (tmp_path / "tiny-files").mkdir()
    (tmp_path / "tiny-files" / "x.gz").write_bytes(bytes(N))
    assert list(files.wrong(tiny, tmp_path)) == ["x.gz"]
    fetch(tiny, tmp_path)
    assert files.wrong(tiny, tmp_path) == {}


def test_the_wrong_file_is_deleted_and_named(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    other = bytes(N)
    server.answers = {path: [sends(other)] for path in server.files}
    message = fails(tiny, tmp_path)
    found, expected = hashlib.md5(other).hexdigest(), hashlib.md5(CONTENT).hexdigest()
    assert message.startswith("x.gz: could not be downloaded\n")
    for path in server.files:
        assert f"{server.url(path)}: got md5 {found}, expected {expected}: another file; deleted" in message
    assert lying(tmp_path) == {}


def test_the_next_mirror_makes_good(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    server.answers = {"/one/x.gz": [sends(bytes(N))]}
    fetch(tiny, tmp_path)
    assert server.requests() == [("/one/x.gz", None), ("/two/x.gz", None)]
    assert lying(tmp_path) == {"x.gz": CONTENT}


@pytest.mark.parametrize(
    ("answer", "words", "tries"),
    [
        (announces(N + 1), "announces 100001 bytes, expected 100000: another file", 1),
        (announces(N - 1), "announces 99999 bytes, expected 100000: another file", 1),
        (sends(b"<html>"), "announces 6 bytes, expected 100000: another file", 1),
        (sends(b""), "announces 0 bytes, expected 100000: another file", 1),
        (code(404), "answered 404 Not Found", 1),
        (code(403), "answered 403 Forbidden", 1),
        (code(416), "answered 416 Requested Range Not Satisfiable", 1),
        (code(429), "answered 429 Too Many Requests", 3),
        (code(503), "answered 503 Service Unavailable", 3),
        (breaks_off(0), "the connection broke off after 0 of 100000 bytes", 3),
    ],
)
def test_what_a_server_does_wrong_is_said(server: Server, tmp_path: Path, answer: Any, words: str, tries: int) -> None:
    dataset = single(server.url("/x.gz"))
    server.files["/x.gz"] = CONTENT
    server.answers["/x.gz"] = [answer] * 3
    message = fails(dataset, tmp_path, pauses=(0.0, 0.0))
    assert f"{server.url('/x.gz')}: {words}" in message
    assert len(server.seen) == tries
    assert not any(lying(tmp_path).values())


def test_more_than_is_expected_is_not_read(server: Server, tmp_path: Path) -> None:
    server.files["/x.gz"] = CONTENT + CONTENT
    server.answers["/x.gz"] = [without_length]
    fetch(single(server.url("/x.gz")), tmp_path)
    assert lying(tmp_path) == {"x.gz": CONTENT}


def test_broken_chunks_are_kept(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    server.answers["/one/x.gz"] = [broken_chunks]
    fetch(tiny, tmp_path)
    (_, first), (_, second) = server.requests()
    assert first is None
    assert second in (None, "bytes=500-")
    assert lying(tmp_path) == {"x.gz": CONTENT}


def test_a_wrong_range_is_not_believed(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    def elsewhere(to: Any, content: bytes, start: int) -> int:
        return breaks_off(10)(to, content, start + 1)

    server.answers = {"/one/x.gz": [breaks_off(40_000), elsewhere], "/two/x.gz": [elsewhere]}
    message = fails(tiny, tmp_path)
    assert "answered 206 with Content-Range 'bytes 40001-99999/100000', expected 'bytes 40000-...'" in message
    assert lying(tmp_path) == {"x.gz.part": CONTENT[:40_000]}


def test_a_redirect_is_followed_with_the_range(server: Server, tmp_path: Path) -> None:
    server.files["/real"] = CONTENT
    server.answers["/x.gz"] = [redirect(server.url("/real"))] * 2
    server.answers["/real"] = [breaks_off(1_000)]
    fetch(single(server.url("/x.gz")), tmp_path)
    assert server.requests() == [(path, r) for r in (None, "bytes=1000-") for path in ("/x.gz", "/real")]
    assert lying(tmp_path) == {"x.gz": CONTENT}


def test_a_server_that_falls_silent_is_left(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    server.answers["/one/x.gz"] = [hangs(server, 5_000)]
    fetch(tiny, tmp_path, timeout=4.0)
    assert server.requests() == [("/one/x.gz", None), ("/two/x.gz", "bytes=5000-")]
    assert lying(tmp_path) == {"x.gz": CONTENT}


def test_nobody_there(server: Server, tiny: DataSet, tmp_path: Path) -> None:
    server.close()
    message = fails(tiny, tmp_path)
    assert "cannot be reached: [Errno" in message
    assert "without internet: python -m tools.packs fetch --from DIR" in message
