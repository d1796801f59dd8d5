"""What was handed in: a folder of files, or a zip of them. Other ways of packing (Canvas, Moodle) become readers beside these two."""

import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath

from lectures_lib.homework.notebook import MAX_BYTES, Unreadable

MAX_FILES = 20_000


@dataclass(frozen=True)
class Submission:
    """A student's file, not read yet.

    Attributes:
        student: who it is from: the file's name without its ending.
        files: where it was found; several, if the student handed in several.
        read: gives its bytes (one more than allowed at most), or raises Unreadable.
        name: the student's name as people write it, where the platform tells.
        ids: what the platform calls this submission: {"canvas": "4711"}.
        handed_in: when, with a time zone; None where nobody knows.
        earlier: files of the same student that do not count, because this one is later.
    """

    student: str
    files: tuple[str, ...]
    read: Callable[[], bytes]
    name: str = ""
    ids: dict[str, str] = field(default_factory=dict)
    handed_in: datetime | None = None
    earlier: tuple[str, ...] = ()


def collect(source: Path) -> list[Submission]:
    """The submissions in a folder or a zip, sorted by student.

    Names inside a zip are never used as paths: nothing is unpacked to the disk.

    Raises:
        FileNotFoundError: if there is no such folder or file.
        ValueError: if it is neither a folder nor a zip, or has nothing in it.
    """
    if not source.exists():
        raise FileNotFoundError(f"there is no {source}")
    found = list(_in_folder(source) if source.is_dir() else _in_zip(source))
    if not found:
        raise ValueError(f"{source} contains no submissions (files named <student>.ipynb)")
    by_student: dict[str, list[Submission]] = {}
    for submission in found:
        by_student.setdefault(submission.student, []).append(submission)
    return [_one(theirs) for _, theirs in sorted(by_student.items())]


def _in_folder(folder: Path) -> Iterator[Submission]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if _counts(name) and path.is_file() and not path.is_symlink():
            yield _submission(name, lambda path=path: _head(path))


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"The file could not be read ({error.strerror}).") from None


def _in_zip(path: Path) -> Iterator[Submission]:
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is neither a folder nor a zip")
    archive, lock = zipfile.ZipFile(path), threading.Lock()
    entries = [entry for entry in archive.infolist() if not entry.is_dir() and _counts(entry.filename)]
    if len(entries) > MAX_FILES:
        raise ValueError(f"{path} contains {len(entries):,} files; up to {MAX_FILES:,} are read")
    for entry in entries:
        yield _submission(entry.filename, lambda entry=entry: _unzipped(archive, lock, entry))


def _unzipped(archive: zipfile.ZipFile, lock: threading.Lock, entry: zipfile.ZipInfo) -> bytes:
    """An entry's bytes, whatever size it claims to have."""
    try:
        with lock, archive.open(entry) as file:
            return file.read(MAX_BYTES + 1)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        raise Unreadable(f"The file could not be taken out of the zip ({type(error).__name__}).") from None


def _counts(name: str) -> bool:
    """Whether a file is someone's, and not the system's (.DS_Store, __MACOSX/…)."""
    return not any(part.startswith((".", "__MACOSX")) and part != ".." for part in PurePosixPath(name.replace("\\", "/")).parts)


def _submission(name: str, read: Callable[[], bytes]) -> Submission:
    name = name.encode("utf-8", "replace").decode()  # a file's name need not be text
    path = PurePosixPath(name.replace("\\", "/"))
    if path.suffix.lower() != ".ipynb":
        return Submission(path.stem, (name,), _refuser(f"This is no notebook: {path.name}. Hand in the .ipynb file."))
    return Submission(path.stem, (name,), read)


def _one(theirs: list[Submission]) -> Submission:
    """A student's submission; nobody guesses which one counts if there are several."""
    if len(theirs) == 1:
        return theirs[0]
    files = tuple(file for submission in theirs for file in submission.files)
    message = f"There are {len(files)} files from this student: {', '.join(files)}. Keep the one that counts."
    return Submission(theirs[0].student, files, _refuser(message))


def _refuser(message: str) -> Callable[[], bytes]:
    def read() -> bytes:
        raise Unreadable(message)

    return read
