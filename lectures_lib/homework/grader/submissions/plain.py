"""Files named after their students, ada_lovelace.ipynb; and folders that are, where the file in it
is called after the homework: ada_lovelace/hw3.ipynb.
"""

import re
from collections.abc import Callable
from pathlib import Path

import lectures_lib
from lectures_lib.homework.grader.submissions.entry import Entry, notebook_ending
from lectures_lib.homework.grader.submissions.found import Found, again
from lectures_lib.homework.questions import load, names

LOOKS = "ada_lovelace/hw3.ipynb"
_CHECKOUT = Path(lectures_lib.__file__).parent.parent


def reader(homework: str) -> Callable[[list[Entry]], list[Found]]:
    """A reader that gives every file its owner.

    "ada (1).ipynb" beside "ada.ipynb" is what a browser makes of a second download: one student.
    "group-1" and "group-2" are two.

    A notebook called after the homework, "hw3" or as it was released, names nobody. The nearest
    folder around it that is not called so either does (nbgrader has ada/hw3/hw3.ipynb), and files
    in there that are no notebooks are hers as well. Without such a folder it keeps its own name.

    Args:
        homework: its short name, "hw3"; "" where none is known: then every file is named after its
            student.
    """
    called = _called(homework)

    def read(entries: list[Entry]) -> list[Found]:
        everybody = {_stem(entry.name) for entry in entries}
        owners = {
            entry.path[:-1]: owner
            for entry in entries
            if entry.is_notebook
            and called(again(entry.name)[0])
            and (owner := _folder(entry, called))
        }
        return [_found(entry, everybody, owners, called) for entry in entries]

    return read


def by_folder(homework: str) -> Callable[[Entry], Found | None]:
    """Gives each file to the folder that it lies in, however it is called itself; None to one that
    lies in none.
    """
    called = _called(homework)

    def belonging(entry: Entry) -> Found | None:
        owner = _folder(entry, called)
        return Found(owner, entry, entry.name) if owner else None

    return belonging


def _called(homework: str) -> Callable[[str], bool]:
    """Whether a name is the homework's: "hw3", "Homework 3", or that of the notebook which
    students were given.
    """
    if not homework:
        return lambda name: False
    bank = [load(homework).notebook.casefold()] if homework in names() else []
    released = {  # a course's own homework may have another name here
        path.stem.casefold()
        for folder in ("exercises", "solutions")
        for path in (_CHECKOUT / folder).glob(f"{homework}_*.ipynb")
    }
    number = re.escape(homework.removeprefix("hw").lstrip("0"))
    short = re.compile(
        rf"{re.escape(homework)}|(?:hw|homework)[ _-]?0*{number}", re.IGNORECASE | re.ASCII
    )
    return lambda name: name.casefold() in (*bank, *released) or bool(short.fullmatch(name))


def _folder(entry: Entry, called: Callable[[str], bool]) -> str:
    """The nearest folder around a file that is not called after the homework; "" without one."""
    return next((name for name in reversed(entry.path[:-1]) if not called(name)), "")


def _found(
    entry: Entry,
    everybody: set[str],
    owners: dict[tuple[str, ...], str],
    called: Callable[[str], bool],
) -> Found:
    stem, number = again(entry.name)
    mine = called(stem) if entry.is_notebook else True
    if mine and (owner := owners.get(entry.path[:-1])):
        return Found(owner, entry, entry.name)
    by_a_browser = number and entry.name.removesuffix(_ending(entry.name)).endswith(")")
    return Found(
        stem if by_a_browser and stem in everybody else _stem(entry.name), entry, entry.name
    )


def _ending(name: str) -> str:
    if ending := notebook_ending(name):
        return ending
    stem, dot, ending = name.rpartition(".")
    return dot + ending if stem else ""


def _stem(name: str) -> str:
    return name.removesuffix(_ending(name))
