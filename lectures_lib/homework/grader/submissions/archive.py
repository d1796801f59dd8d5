"""The files in a zip, whoever made it: nothing is unpacked to the disk, and no entry is believed
about its size or its name.
"""

import stat
import struct
import threading
import zipfile
import zlib
from pathlib import Path

from lectures_lib.homework.grader.submissions.entry import (
    Entry,
    belongs_to_the_system,
    not_too_many,
    refused,
)
from lectures_lib.homework.grader.submissions.folder import FOLDER, LINK
from lectures_lib.homework.notebook import MAX_BYTES, Unreadable

_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    OverflowError,
)
# The other methods of packing are unpacked by Python without a limit: a kilobyte of them can fill
# the memory.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_UTF8, _ENCRYPTED = 0x800, 0x1


def entries(source: Path) -> list[Entry]:
    """What a zip contains, in its order. The names are looked at as text: "../../x" is no place,
    and "\\" counts as "/".

    Raises:
        ValueError: if it is no zip that can be read, or contains more than MAX_FILES files.
    """
    if not zipfile.is_zipfile(source):
        raise ValueError(f"{source} is neither a folder nor a zip")
    try:
        archive = zipfile.ZipFile(source)
    except _BROKEN as error:
        raise ValueError(
            f"{source} is damaged: its list of files cannot be read ({error}). Download it again."
        ) from None
    named = [(_path(info), info) for info in archive.infolist()]
    named = [
        (path, info) for path, info in named if path and not any(map(belongs_to_the_system, path))
    ]
    not_too_many(source, [path for path, _ in named])
    lock, overlapping = threading.Lock(), _overlapping(archive.infolist())
    found = {}
    for path, info in named:
        pretender = _pretender(path, info)
        if pretender:
            found[pretender] = refused(pretender, FOLDER)
        elif not info.is_dir():
            found[id(info)] = _entry(archive, lock, path, info, info.header_offset in overlapping)
    return list(found.values())


def _path(info: zipfile.ZipInfo) -> tuple[str, ...]:
    """The folders and the name of an entry; without the root, a drive, and "." """
    return tuple(
        part for part in _name(info).replace("\\", "/").split("/") if part not in ("", ".")
    )


def _name(info: zipfile.ZipInfo) -> str:
    """An entry's name. The Macintosh's own zips hold UTF-8 without saying so, which Python reads as
    the letters of MS-DOS.
    """
    if info.flag_bits & _UTF8 or info.filename.isascii():
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _pretender(path: tuple[str, ...], info: zipfile.ZipInfo) -> tuple[str, ...]:
    """The folder called like a notebook that this entry is or lies in; () if there is none."""
    folders = path if info.is_dir() else path[:-1]
    return next(
        (path[: i + 1] for i, name in enumerate(folders) if name.lower().endswith(".ipynb")), ()
    )


def _entry(
    archive: zipfile.ZipFile,
    lock: threading.Lock,
    path: tuple[str, ...],
    info: zipfile.ZipInfo,
    overlaps: bool,
) -> Entry:
    """The entry, if it is an ordinary one."""
    # 3: made on Unix, which keeps the kind of file there
    kind = stat.S_IFMT(info.external_attr >> 16) if info.create_system == 3 else 0
    if kind == stat.S_IFLNK:
        return refused(path, LINK)
    if kind not in (0, stat.S_IFREG):
        return refused(path, "This is not an ordinary file. Hand in the .ipynb file.")
    if info.flag_bits & _ENCRYPTED:
        return refused(
            path, "The file is locked with a password inside the zip. Hand it in without one."
        )
    if info.compress_type not in _METHODS:
        return refused(
            path,
            f"The file is packed by method {info.compress_type} of the zip format; 0 and 8 "
            f"(deflate) are read.",
        )
    if overlaps:
        return refused(
            path, "The file shares its bytes with another file of the zip, as in zip bombs."
        )
    return Entry(path, lambda: _head(archive, lock, info))


def _head(archive: zipfile.ZipFile, lock: threading.Lock, info: zipfile.ZipInfo) -> bytes:
    """An entry's first MAX_BYTES + 1 bytes, whatever size it claims to have."""
    try:
        with lock, archive.open(info) as file:
            return file.read(MAX_BYTES + 1)
    except _BROKEN as error:
        raise Unreadable(
            f"The file could not be taken out of the zip ({type(error).__name__})."
        ) from None


def _overlapping(infos: list[zipfile.ZipInfo]) -> set[int]:
    """Where the entries begin that reach into the next one, and where those begin that are reached
    into.
    """
    starts = sorted(
        (info.header_offset, info.header_offset + 30 + len(info.orig_filename) + info.compress_size)
        for info in infos
    )
    bad, end, owner = set(), -1, -1
    for start, stop in starts:
        if start < end:
            bad |= {start, owner}
        if stop > end:
            end, owner = stop, start
    return bad
