"""The files of a data set on this disk: downloaded, or copied from a folder; verified in either case.

The folders are ``FOLDER/mnist/``, ``FOLDER/cifar-10-batches-bin/`` and ``FOLDER/cifar-100-binary/``. A file is written
and verified under a temporary name, so a file under its own name is complete.
"""

import hashlib
import tarfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from banditselect.runtime import errors, files

from .download import PAUSES, TIMEOUT, NotFetchedError, download, naming
from .official import DataSet, File, Source, lookup

_CHUNK = 1 << 20


class Transfer(NamedTuple):
    """Progress of the download of a data set.

    Attributes
    ----------
    downloads, downloads_done, downloads_there: in all; finished; and of those, present before.
    size, size_done, size_there: the same in bytes.
    """

    downloads: int
    downloads_done: int
    downloads_there: int
    size: int
    size_done: int
    size_there: int


def fetch(
    dataset: str | DataSet,
    folder: str | Path,
    *,
    tell: Callable[[Transfer], None] = lambda _: None,
    timeout: float = TIMEOUT,
    pauses: Sequence[float] = PAUSES,
) -> None:
    """Download the files of a data set that are not in ``folder`` yet.

    After an interruption of any kind, the next call continues where this one stopped.

    Parameters
    ----------
    dataset: ``"mnist"``, ``"cifar10"``, ``"cifar100"``, or a description of another one.
    folder: made if it does not exist.
    tell: called with the progress.
    timeout, pauses: see :func:`~tools.packs.download.download`.

    Raises
    ------
    NotFetchedError: no mirror gave the right file; the message names file, URLs, and what was found and expected.
    OSError: the folder cannot be written.
    """
    found = lookup(dataset)
    place = Path(folder) / found.folder
    sizes = dict[str, int]()  # bytes that are there, by download
    missing = []
    for source in found.sources:
        part = _part(source, place)
        sizes[source.name] = part.stat().st_size if part.exists() else 0
        if any(_wrong(place / file.name, file) for file in source.files):
            missing.append(source)
        else:
            sizes[source.name] = source.size
    total, there = len(found.sources), len(found.sources) - len(missing)
    size, size_there = sum(source.size for source in found.sources), sum(sizes.values())
    tell(Transfer(total, there, there, size, size_there, size_there))
    for k, source in enumerate(missing):

        def note(arrived: int, name: str = source.name, done: int = there + k) -> None:
            sizes[name] = arrived
            tell(Transfer(total, done, there, size, sum(sizes.values()), size_there))

        part = _part(source, place)
        with naming(place, "written"):
            place.mkdir(parents=True, exist_ok=True)
        download(source, part, tell=note, timeout=timeout, pauses=pauses)
        try:
            _install(found, source, part, place)
        except ValueError as error:
            part.unlink()
            raise NotFetchedError(f"{source.name} from {', '.join(source.urls)}: {error}; deleted") from None
        part.unlink()
        note(source.size, done=there + k + 1)


def take(dataset: str | DataSet, source_folder: str | Path, folder: str | Path) -> None:
    """Copy the files of a data set that are not in ``folder`` yet from another folder.

    Parameters
    ----------
    dataset: ``"mnist"``, ``"cifar10"``, ``"cifar100"``, or a description of another one.
    source_folder: holds the files in the official layout, or the files themselves, or the archives.
    folder: made if it does not exist.

    Raises
    ------
    FileNotFoundError: a file is in none of these places.
    ValueError: a file is not the official one; the message names it, what was found and what was expected.
    OSError: the folder cannot be written.
    """
    found = lookup(dataset)
    place, origin = Path(folder) / found.folder, Path(source_folder)
    if not origin.is_dir():
        raise errors.refuse("from", str(origin), f"a folder with the files of {found.name}")
    for source in found.sources:
        troubles: list[str] = []
        for file in source.files:
            if _wrong(place / file.name, file):
                alone = Source((file.name,), file.size, "", (file,))
                _take(found, alone, [origin / found.folder / file.name, origin / file.name], place, troubles)
        missing = [file.name for file in source.files if _wrong(place / file.name, file)]
        if missing and source.packed:
            archives = [origin / source.name, origin / found.folder / source.name]
            missing = [] if _take(found, source, archives, place, troubles) else missing
        if missing and troubles:
            raise ValueError("\n".join(troubles))
        if missing:
            instead = f", nor {source.name}" if source.packed else ""
            raise FileNotFoundError(f"{origin}: has no {missing[0]}, not in its folder {found.folder} either{instead}")


def checksums(dataset: str | DataSet, folder: str | Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a data set in ``folder``, by name."""
    found = lookup(dataset)
    return {name: _sha256(Path(folder) / found.folder / name) for name in found.files}


def wrong(dataset: str | DataSet, folder: str | Path) -> dict[str, str]:
    """Return the faults of the files of a data set in ``folder``, by name; none if it is complete and correct."""
    found = lookup(dataset)
    looked = {name: _wrong(Path(folder) / found.folder / name, file) for name, file in found.files.items()}
    return {name: trouble for name, trouble in looked.items() if trouble}


def _part(source: Source, place: Path) -> Path:
    return place / f"{source.name}.part"


def _take(dataset: DataSet, source: Source, paths: list[Path], place: Path, troubles: list[str]) -> bool:
    """Install from the first of several paths that exists and is correct; note the faults of the others."""
    for path in paths:
        if path.is_file():
            try:
                with naming(place, "written"):
                    place.mkdir(parents=True, exist_ok=True)
                _install(dataset, source, path, place)
                return True
            except ValueError as error:
                troubles.append(str(error))
    return False


def _install(dataset: DataSet, source: Source, path: Path, place: Path) -> None:
    """Install the file ``path``, or the files in the archive ``path``; ValueError if one is not correct."""
    with naming(path, "read"), path.open("rb") as stream:
        if source.packed:
            _unpack(dataset, source, stream, path, place)
        else:
            _put(source.files[0], stream, str(path), place)


def _unpack(dataset: DataSet, source: Source, archive: IO[bytes], path: Path, place: Path) -> None:
    """Write the expected members of an archive; others are ignored."""
    wanted = {f"{dataset.folder}/{file.name}": file for file in source.files}
    try:
        with tarfile.open(fileobj=archive, mode="r|gz") as members:
            for member in members:
                if member.name in wanted and member.isreg() and (stream := members.extractfile(member)):
                    _put(wanted.pop(member.name), stream, f"{path}: {member.name}", place)
                if not wanted:
                    return
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: damaged or not a .tar.gz archive: {error}") from None
    raise ValueError(f"{path}: does not hold {', '.join(wanted)}")


def _put(file: File, stream: IO[bytes], origin: str, place: Path) -> None:
    """Write a file atomically if it is correct, else raise ValueError."""
    digest, size = hashlib.sha256(), 0
    with naming(place / file.name, "written"), files.replacing(place / file.name) as out:
        while chunk := _chunk(stream, origin, file.size + 1 - size):
            digest.update(chunk)
            size += len(chunk)
            out.write(chunk)
        if trouble := _difference(file, size, digest.hexdigest()):
            raise ValueError(f"{origin}: {trouble}")


def _chunk(stream: IO[bytes], origin: str, most: int) -> bytes:
    with naming(Path(origin), "read"):
        return stream.read(min(_CHUNK, most))


def _difference(file: File, size: int, sha256: str) -> str:
    if size != file.size:
        return f"got {'more than ' if size > file.size else ''}{min(size, file.size)} bytes, expected {file.size}"
    return f"got sha256 {sha256}, expected {file.sha256}" if sha256 != file.sha256 else ""


def _wrong(path: Path, file: File) -> str:
    """Return the fault of a file, or nothing if it is present and correct."""
    if not path.is_file():
        return "missing"
    size = path.stat().st_size
    if size != file.size:
        return f"got {size} bytes, expected {file.size}"
    return _difference(file, size, _sha256(path))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
