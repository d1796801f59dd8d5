"""Files named after their students: ada_lovelace.ipynb. Folders do not matter."""

from lectures_lib.homework.grader.submissions.entry import Entry, notebook_ending
from lectures_lib.homework.grader.submissions.found import Found, again

LOOKS = "ada_lovelace.ipynb"


def belonging(entry: Entry) -> Found:
    """The file with its owner: its name without the ending."""
    return Found(_stem(entry.name), entry, entry.name)


def read(entries: list[Entry]) -> list[Found]:
    """Every file with its owner.

    "ada (1).ipynb" beside "ada.ipynb" is what a browser makes of a second download: one student.
    "group-1" and "group-2" are two.
    """
    everybody = {_stem(entry.name) for entry in entries}
    found = []
    for entry in entries:
        stem, number = again(entry.name)
        copy = (
            number
            and entry.name.removesuffix(_ending(entry.name)).endswith(")")
            and stem in everybody
        )
        found.append(Found(stem if copy else _stem(entry.name), entry, entry.name))
    return found


def _ending(name: str) -> str:
    if ending := notebook_ending(name):
        return ending
    stem, dot, ending = name.rpartition(".")
    return dot + ending if stem else ""


def _stem(name: str) -> str:
    return name.removesuffix(_ending(name))
