"""A file that was found, not read yet: what a folder and a zip have in common."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from lectures_lib.homework.grader.submissions.names import normal
from lectures_lib.homework.notebook import Unreadable

MAX_FILES = 20_000
# ".." is no system's file, but somebody's trick
_SYSTEM = re.compile(r"\.(?!\.$)|__MACOSX$|Thumbs\.db$|desktop\.ini$", re.IGNORECASE)

_NOTEBOOK = re.compile(r"\.ipynb(?:\.txt|\.json)?\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Entry:
    """A file in a folder or a zip.

    Attributes:
        path: the folders it lies in and its own name, accents in their usual encoding. Text to look
            at, never to open.
        read: gives its bytes (one more than allowed at most), or raises Unreadable.
        refusal: why it will not be read, where that is known beforehand; told to its author.
    """

    path: tuple[str, ...]
    read: Callable[[], bytes]
    refusal: str = ""

    def __post_init__(self):
        object.__setattr__(self, "path", tuple(map(normal, self.path)))

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path[-1]

    @property
    def is_notebook(self) -> bool:
        """Whether it is called one."""
        return notebook_ending(self.name) != ""

    def __str__(self):
        return "/".join(self.path)


def notebook_ending(name: str) -> str:
    """The ending by which a file's name says that it is a notebook, as it is spelt there; "" if it
    does not. Browsers that do not know notebooks add an ending of their own.
    """
    match = _NOTEBOOK.search(name)
    return match[0] if match else ""


def refused(path: tuple[str, ...], why: str) -> Entry:
    """A file that is there and will not be read; `why` is told to its author."""
    return Entry(path, refuser(why), why)


def refuser(why: str) -> Callable[[], bytes]:
    """In place of the function that reads a file: one that says why not."""

    def read() -> bytes:
        raise Unreadable(why)

    return read


def belongs_to_the_system(name: str) -> bool:
    """Whether a file or folder of this name is nobody's work: .DS_Store, .ipynb_checkpoints,
    __MACOSX.
    """
    return bool(_SYSTEM.match(name))


def not_too_many(source: Path, paths: Iterable[tuple[str, ...]]) -> None:
    """Refuse to go on when there are more files than are read.

    Raises:
        ValueError: saying how many, and where most of them lie.
    """
    paths = list(paths)
    if len(paths) <= MAX_FILES:
        return
    folder, most = Counter("/".join(path[:-1]) for path in paths).most_common(1)[0]
    where = f"; {most:,} of them lie in {folder!r}" if folder else ""
    raise ValueError(
        f"{source} contains {len(paths):,} files or more{where}. Up to {MAX_FILES:,} are read: "
        f"take out what is no submission."
    )
