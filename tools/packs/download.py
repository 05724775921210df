"""Download a file over HTTP: resume it, switch to the next mirror after a failure, and verify it.

Partial downloads stay in a ``.part`` file, also after Ctrl-C. It is deleted only if it is complete and wrong.
"""

import contextlib
import hashlib
import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from .official import Source

TIMEOUT = 30.0  #: seconds without a byte after which a connection counts as broken
PAUSES = (1.0, 5.0)  #: seconds to wait after all mirrors failed to send new bytes; after the last pause it is given up

_CHUNK = 1 << 18


class NotFetchedError(OSError):
    """A file could not be downloaded; the message has the error of each URL."""


class _BrokenError(Exception):
    """A temporary failure; worth another try."""


class _UselessError(Exception):
    """This URL does not lead to the file."""


class _NoSuchRangeError(_UselessError):
    """This URL will not be continued from there."""


# permanent errors, unlike "took too long" and "too many requests"
_ANSWERS = {code: _UselessError for code in range(400, 500) if code not in (408, 429)} | {416: _NoSuchRangeError}


def download(
    source: Source,
    part: Path,
    *,
    tell: Callable[[int], None],
    timeout: float = TIMEOUT,
    pauses: Sequence[float] = PAUSES,
) -> None:
    """Download ``source`` to the file ``part``, with the right size and MD5.

    Parameters
    ----------
    source: the file and its mirrors.
    part: resumed if it exists.
    tell: called with the number of bytes in ``part``.
    timeout: seconds without a byte after which a connection counts as broken.
    pauses: seconds to wait after all mirrors failed to send new bytes; after the last pause it is given up.

    Raises
    ------
    NotFetchedError: no mirror has it.
    OSError: it cannot be written.
    """
    mirrors, said = list(source.urls), dict[str, str]()
    longest, waits = _size(part), iter(pauses)
    while mirrors:
        for url in tuple(mirrors):
            try:
                _attempt(url, source, part, tell, timeout)
                return
            except _BrokenError as error:
                said[url] = str(error)
            except _UselessError as error:
                said[url] = str(error)
                mirrors.remove(url)
        if _size(part) > longest:
            longest = _size(part)
        elif mirrors and (wait := next(waits, None)) is not None:
            time.sleep(wait)
        else:
            break
    lines = "".join(f"\n  {url}: {said[url]}" for url in source.urls)
    kept = f"\n{_size(part)} of {source.size} bytes are kept: the same command continues there" if _size(part) else ""
    offline = "\nwithout internet: python -m tools.packs fetch --from DIR, a folder with the official files"
    raise NotFetchedError(f"{source.name}: could not be downloaded{lines}{kept}{offline}")


@contextlib.contextmanager
def naming(path: Path, done: str) -> Iterator[None]:
    """Raise system errors of reading or writing ``path`` (``done``) with a message that names it."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # already has our message
            raise
        raise OSError(f"{path}: cannot be {done}: {error.strerror}") from error


def _attempt(url: str, source: Source, part: Path, tell: Callable[[int], None], timeout: float) -> None:
    """Fetch the missing bytes and verify the file; if a resumed file is wrong, fetch all of it again."""
    if _size(part) > source.size:
        part.unlink()
    while True:
        start = source.size if _size(part) == source.size else _transfer(url, source, part, tell, timeout)
        found = _md5(part)
        if found == source.md5:
            return
        part.unlink()
        if start == 0:
            raise _UselessError(f"got md5 {found}, expected {source.md5}: another file; deleted")


def _transfer(
    url: str, source: Source, part: Path, tell: Callable[[int], None], timeout: float, *, anew: bool = False
) -> int:
    """Append the missing bytes to ``part``; return the first byte sent: 0 if the server sent everything."""
    have = 0 if anew else _size(part)
    headers = {"User-Agent": "banditselect", "Accept-Encoding": "identity"}
    request = urllib.request.Request(url, headers=headers | ({"Range": f"bytes={have}-"} if have else {}))
    with contextlib.ExitStack() as stack:
        try:
            with _network():
                response = stack.enter_context(urllib.request.urlopen(request, timeout=timeout))
        except _NoSuchRangeError:
            if not have:
                raise
            return _transfer(url, source, part, tell, timeout, anew=True)
        start = done = _start(response, have)
        announced = response.headers.get("Content-Length", "")
        if announced.isdecimal() and start + int(announced) != source.size:
            raise _UselessError(f"announces {start + int(announced)} bytes, expected {source.size}: another file")
        with naming(part, "written"), part.open("ab" if start else "wb") as file:
            while done < source.size and (chunk := _chunk(response, source.size - done)):
                file.write(chunk)
                done += len(chunk)
                tell(done)
    if done < source.size:
        raise _BrokenError(f"the connection broke off after {done} of {source.size} bytes")
    return start


def _start(response: http.client.HTTPResponse, have: int) -> int:
    """Return the position of the first byte that the server sends."""
    if response.status == http.client.OK:
        return 0
    span = response.headers.get("Content-Range", "")
    if response.status != http.client.PARTIAL_CONTENT or not span.startswith(f"bytes {have}-"):
        raise _UselessError(f"answered {response.status} with Content-Range {span!r}, expected 'bytes {have}-...'")
    return have


def _chunk(response: http.client.HTTPResponse, most: int) -> bytes:
    """Return the next bytes, none at the end."""
    with _network():
        return response.read1(min(_CHUNK, most))


@contextlib.contextmanager
def _network() -> Iterator[None]:
    """Raise network errors as temporary or permanent ones."""
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        kind = _ANSWERS.get(error.code, _BrokenError)
        raise kind(f"answered {error.code} {error.reason}") from None
    except urllib.error.URLError as error:
        raise _BrokenError(f"cannot be reached: {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        raise _BrokenError(f"the connection broke off: {error or type(error).__name__}") from None


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
