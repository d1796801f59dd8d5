"""The files in a folder. Only ordinary ones are opened: no links, no pipes, no devices."""

import os
import stat
from pathlib import Path

from lectures_lib.homework.grader.submissions.entry import (
    MAX_FILES,
    Entry,
    belongs_to_the_system,
    not_too_many,
    refused,
)
from lectures_lib.homework.notebook import MAX_BYTES, Unreadable

LINK = "This is a symbolic link. Links are not followed: hand in the notebook itself."
FOLDER = "This is a folder, not a notebook. Hand in the .ipynb file itself."
# A pipe that nobody writes to must not hold up the grader, and a name that has become a link must
# not lead anywhere.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
)


def entries(source: Path) -> list[Entry]:
    """What lies in a folder and in the folders in it, sorted by path.

    A link, a pipe, a device, a folder that cannot be opened, and a folder that is called like a
    notebook are entries that refuse to be read, so that whoever handed them in is told.

    Raises:
        OSError: if the folder itself cannot be listed.
        ValueError: if it contains more than MAX_FILES files and folders.
    """
    found, waiting, seen = [], [()], []
    while waiting:
        path = waiting.pop()
        try:
            listing = sorted(os.scandir(source.joinpath(*path)), key=lambda item: item.name)
        except OSError as error:
            if not path:
                raise
            found.append(refused(path, f"This folder could not be opened ({error.strerror})."))
            continue
        for item in listing:
            if belongs_to_the_system(item.name):
                continue
            inner = (*path, item.name)
            seen.append(inner)
            if _is_folder(item):
                waiting.append(inner)
            else:
                found.append(_entry(item, inner))
        if len(seen) > MAX_FILES:
            not_too_many(source, seen)
    return sorted(found, key=lambda entry: entry.path)


def _is_folder(item: os.DirEntry) -> bool:
    """Whether it is a folder to look into; one that pretends to be a notebook is not."""
    return item.is_dir(follow_symlinks=False) and not item.name.lower().endswith(".ipynb")


def _entry(item: os.DirEntry, path: tuple[str, ...]) -> Entry:
    if item.is_symlink():
        return refused(path, LINK)
    if item.is_dir(follow_symlinks=False):
        return refused(path, FOLDER)
    return Entry(path, lambda: head(item.path))


def head(path: str | Path) -> bytes:
    """A file's first MAX_BYTES + 1 bytes.

    Raises:
        Unreadable: if it cannot be read or is no ordinary file.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):  # to open a device can be to do something
            raise Unreadable("This is not an ordinary file. Hand in the .ipynb file.")
        with open(os.open(path, _FLAGS), "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"The file could not be read ({error.strerror}).") from None
