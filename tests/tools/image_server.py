"""A server that misbehaves as it is told, and tiny data sets that it serves."""

import gzip
import hashlib
import io
import struct
import tarfile
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tools.packs import files
from tools.packs.download import NotFetchedError
from tools.packs.official import DataSet, File, Source

CONTENT = np.random.default_rng(0).bytes(100_000)
Answer = Callable[[BaseHTTPRequestHandler, bytes, int], int]


class Server:
    """Serves on a free port.

    Attributes
    ----------
    files: what is served, by path.
    answers: how the next requests for a path are answered; after that, as they should be.
    seen: for each request the path, its Range header (None without) and the bytes of the body that were sent.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.answers: dict[str, list[Answer]] = {}
        self.seen: list[tuple[str, str | None, int]] = []
        self.closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = self.headers["Range"]
                start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
                answers = outer.answers.get(self.path, [])
                answer = answers.pop(0) if answers else properly
                place = len(outer.seen)
                outer.seen.append((self.path, asked, 0))
                sent = answer(self, outer.files.get(self.path, b""), start)
                outer.seen[place] = (self.path, asked, sent)

            def log_message(self, *_: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = False  # closing waits for them, so that what was seen is complete

            def handle_error(self, *_: object) -> None:
                pass

        self._http = Quiet(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._http.server_port}{path}"

    def requests(self) -> list[tuple[str, str | None]]:
        return [(path, asked) for path, asked, _ in self.seen]

    def close(self) -> None:
        if not self.closing.is_set():
            self.closing.set()
            self._http.shutdown()
            self._http.server_close()
            self._thread.join()


def reply(to: BaseHTTPRequestHandler, code: int, body: bytes, **headers: object) -> int:
    to.send_response(code)
    for name, value in ({"Content_Length": len(body)} | headers).items():
        if value is not None:
            to.send_header(name.replace("_", "-"), str(value))
    to.end_headers()
    to.wfile.write(body)
    return len(body)


def properly(to: BaseHTTPRequestHandler, content: bytes, start: int) -> int:
    if not content:
        return reply(to, 404, b"not here")
    if start == 0:
        return reply(to, 200, content)
    if start >= len(content):
        return reply(to, 416, b"", Content_Range=f"bytes */{len(content)}")
    return reply(to, 206, content[start:], Content_Range=f"bytes {start}-{len(content) - 1}/{len(content)}")


def whole(to: BaseHTTPRequestHandler, content: bytes, start: int) -> int:
    """Ignore the range that was asked for."""
    return reply(to, 200, content)


def without_length(to: BaseHTTPRequestHandler, content: bytes, start: int) -> int:
    return reply(to, 200, content, Content_Length=None)


def code(number: int) -> Answer:
    return lambda to, content, start: reply(to, number, b"sorry")


def redirect(url: str) -> Answer:
    return lambda to, content, start: reply(to, 302, b"", Location=url)


def breaks_off(after: int) -> Answer:
    """Announce everything, send so many bytes."""

    def answer(to: BaseHTTPRequestHandler, content: bytes, start: int) -> int:
        span = {"Content_Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if start else {}
        part = content[start : start + after]
        return reply(to, 206 if start else 200, part, Content_Length=len(content) - start, **span)

    return answer


def announces(length: int) -> Answer:
    return lambda to, content, start: reply(to, 200, content, Content_Length=length)


def sends(body: bytes) -> Answer:
    """Send something else, whatever was asked for."""
    return lambda to, content, start: reply(to, 200, body)


def hangs(server: Server, after: int) -> Answer:
    """Send so many bytes, then nothing until the test is over."""

    def answer(to: BaseHTTPRequestHandler, content: bytes, start: int) -> int:
        sent = reply(to, 200, content[:after], Content_Length=len(content))
        to.wfile.flush()
        server.closing.wait(600.0)
        return sent

    return answer


def broken_chunks(to: BaseHTTPRequestHandler, content: bytes, start: int) -> int:
    """Announce a chunk of 1000 bytes, send 500."""
    to.protocol_version = "HTTP/1.1"
    return reply(to, 200, b"3e8\r\n" + content[:500], Content_Length=None, Transfer_Encoding="chunked")


def described(name: str, content: bytes) -> File:
    return File(name, len(content), hashlib.sha256(content).hexdigest())


def source_of(urls: tuple[str, ...], content: bytes, brings: tuple[File, ...]) -> Source:
    return Source(urls, len(content), hashlib.md5(content, usedforsecurity=False).hexdigest(), brings)


def single(*urls: str, content: bytes = CONTENT) -> DataSet:
    """Return a data set of one file."""
    name = urls[0].rpartition("/")[2]
    return DataSet("tiny", "tiny-files", (source_of(urls, content, (described(name, content),)),))


def packed(url: str, archive: bytes, members: dict[str, bytes]) -> DataSet:
    """Return a data set of an archive."""
    inside = tuple(described(name, content) for name, content in members.items())
    return DataSet("tiny", "tiny-files", (source_of((url,), archive, inside),))


def tar(members: dict[str, bytes], *extra: tarfile.TarInfo) -> bytes:
    """Return a ``.tar.gz``; ``extra`` members come first."""
    with io.BytesIO() as out:
        with tarfile.open(fileobj=out, mode="w") as archive:
            for info in extra:
                archive.addfile(info)
            for name, content in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        return gzip.compress(out.getvalue(), mtime=0)


def idx(array: Any, magic: int | None = None) -> bytes:
    """Return an idx file, packed with gzip."""
    head = struct.pack(f">{1 + array.ndim}I", 0x800 + array.ndim if magic is None else magic, *array.shape)
    return gzip.compress(head + array.tobytes(), 1, mtime=0)


def fetch(dataset: DataSet, folder: Path, **options: Any) -> None:
    """Fetch without waiting between tries."""
    files.fetch(dataset, folder, **({"pauses": (), "timeout": 60.0} | options))


def fails(dataset: DataSet, folder: Path, **options: Any) -> str:
    """Return the message of a fetch that fails."""
    with pytest.raises(NotFetchedError) as caught:
        fetch(dataset, folder, **options)
    return str(caught.value)


def lying(folder: Path) -> dict[str, bytes]:
    """Return what lies in the folder of a tiny data set."""
    return {path.name: path.read_bytes() for path in (folder / "tiny-files").glob("*")}
