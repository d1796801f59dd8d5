"""A file with its owner, and which of an owner's files counts."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from lectures_lib.homework.grader.submissions.entry import Entry, notebook_ending, refuser
from lectures_lib.homework.grader.submissions.names import shown
from lectures_lib.homework.notebook import Unreadable, cells, source

# What is added to a file's name when the same name comes again: "hw1 (1).ipynb" by a browser,
# "hw1-1.ipynb" by Canvas.
_AGAIN = re.compile(
    r"^(?P<stem>.+?)(?: ?\((?P<browser>\d{1,3})\)|-(?P<canvas>\d{1,3}))?$", re.DOTALL
)
_LISTED = 5
_IF_FOLDERS = " If each folder is another student's, grade them with --kind folders."


@dataclass(frozen=True)
class Submission:
    """A student's file, not read yet. Its texts can be shown as they are (see `names`); only HTML
    and CSV escape them further.

    Attributes:
        student: who it is from, unique in the class and the same in every run: for plain files the
            file's name without its ending, or its folder's name (see `plain`), else what the
            platform tells apart by
            ("lovelaceada_12345", "Ada Lovelace_4711", "ada@example.org").
        files: where it was found; several, if nobody can know which one counts.
        read: gives its bytes (one more than allowed at most), or raises Unreadable.
        name: the student's name as people write it, where the platform tells.
        ids: what the platform knows this submission or its author by, whichever there are:
            "canvas" (the ID column of its gradebook), "canvas_late" ("LATE" where Canvas marks it
            so), "moodle" ("Participant 4711", the Identifier column of its grading worksheet),
            "gradescope" ("submission_1234567"), "email", "sid".
        handed_in: when, with a time zone; None where nobody knows. Only Gradescope's export tells:
            the dates of files and of the entries of a zip are when they were copied or packed.
        earlier: notebooks of the same student that do not count, because this one is later.
    """

    student: str
    files: tuple[str, ...]
    read: Callable[[], bytes]
    name: str = ""
    ids: dict[str, str] = field(default_factory=dict)
    handed_in: datetime | None = None
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """A file whose owner is known.

    Attributes:
        student: the owner, as the platform or the file's name tells; not made harmless yet.
        entry: the file.
        own_name: what its author called it.
        order: the larger, the later it was handed in; None where nobody knows. Files handed in
            together have the same.
        name, ids, handed_in: as in `Submission`.
    """

    student: str
    entry: Entry
    own_name: str
    order: float | None = None
    name: str = ""
    ids: dict[str, str] = field(default_factory=dict)
    handed_in: datetime | None = None


def chosen(theirs: list[Found], homework: str = "", answers: tuple[str, ...] = ()) -> Submission:
    """One student's submission: the latest of their notebooks.

    A notebook in which nothing of the homework stands, such as a page of trials, does not count
    beside one that has something of it. (Canvas numbers it like all others, and gives out the files
    of a student's last attempt only: two of them were as a rule handed in together.) Which one is
    the latest the platform knows, or the names tell ("hw1.ipynb", "hw1 (1).ipynb"). Of several that
    were handed in together, the one that is named after the homework counts. Beyond that nobody
    guesses: then the submission refuses to be read, and says why.

    Args:
        theirs: all files of that student, in any order, at least one.
        homework: its short name, "hw1".
        answers: the names that its answers have; of a student with one notebook nothing is read.
    """
    theirs = sorted(theirs, key=lambda found: found.entry.path)
    notebooks = [found for found in theirs if found.entry.is_notebook]
    if not notebooks:
        return _submission(theirs, theirs[0], refuser(_no_notebook(theirs)))
    of_it = _of_the_homework(notebooks, homework, answers)
    latest = _named_after(_last_of_its_name(_latest(of_it)), homework)
    if len(latest) > 1:
        message = (
            f"There are {len(latest)} files from this student: "
            f"{listed(map(str, (f.entry for f in latest)))}. Keep the one that counts."
            f"{_IF_FOLDERS * (len({f.entry.path[:-1] for f in latest}) > 1)}"
        )
        return _submission(latest, latest[0], refuser(message))
    earlier = tuple(str(found.entry) for found in notebooks if found is not latest[0])
    return _submission(latest, latest[0], latest[0].entry.read, earlier)


def _of_the_homework(found: list[Found], homework: str, answers: tuple[str, ...]) -> list[Found]:
    """Those that check or define one of the homework's answers, answer in words, or cannot be read;
    all of them, if none does.
    """
    if not homework or not answers or len(found) == 1:
        return found
    names = "|".join(map(re.escape, answers))
    sought = re.compile(
        rf"(?:\b(?:def|class)[ \t]+|\b{re.escape(homework)}\.)(?:{names})\b"
        rf"|\banswer: ?{re.escape(homework)}\."
    )

    def has_something(one: Found) -> bool:
        try:
            return any(sought.search(source(cell)) for cell in cells(one.entry.read()))
        except (Unreadable, OSError):  # told when it is its turn
            return True

    return [one for one in found if has_something(one)] or found


def _latest(found: list[Found]) -> list[Found]:
    """Those handed in last; all of them, if it is not known of each."""
    if any(one.order is None for one in found):
        return found
    last = max(one.order for one in found)
    return [one for one in found if one.order == last]


def _last_of_its_name(found: list[Found]) -> list[Found]:
    """The one with the highest number, if their names differ in nothing else; else all."""
    names = [again(one.own_name) for one in found]
    last = max(number for _, number in names)
    if (
        len({stem.casefold() for stem, _ in names}) > 1
        or [number for _, number in names].count(last) > 1
    ):
        return found
    return [one for one, (_, number) in zip(found, names, strict=True) if number == last]


def _named_after(found: list[Found], homework: str) -> list[Found]:
    """The one that has the homework's name in its own, if that is one; else all."""
    if not homework:
        return found
    pattern = re.compile(rf"(?<![a-z0-9]){re.escape(homework)}(?!\d)", re.IGNORECASE)
    named = [one for one in found if pattern.search(one.own_name)]
    return named if len(named) == 1 else found


def again(file_name: str) -> tuple[str, int]:
    """A file's name without its ending and without the number that tells it from an earlier one of
    that name, and that number.
    """
    ending = notebook_ending(file_name)
    stem = file_name.removesuffix(ending) if ending else file_name.rpartition(".")[0]
    match = _AGAIN.match(stem or file_name)
    return match["stem"], int(match["browser"] or match["canvas"] or 0)


def listed(names: Iterable[str]) -> str:
    """Names in a sentence: the first few, and how many more."""
    names = [shown(name) for name in names]
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _no_notebook(theirs: list[Found]) -> str:
    """Why there is nothing to grade: the file's own reason, if it has one."""
    if len(theirs) == 1 and theirs[0].entry.refusal:
        return theirs[0].entry.refusal
    names = [found.own_name for found in theirs]
    if all(name.lower().endswith(".zip") for name in names):
        return f"This is a zip: {listed(names)}. Unpack it, and hand in the .ipynb file."
    return f"This is no notebook: {listed(names)}. Hand in the .ipynb file."


def _submission(
    found: list[Found], one: Found, read: Callable[[], bytes], earlier: tuple[str, ...] = ()
) -> Submission:
    files = tuple(str(each.entry) for each in found)
    return Submission(one.student, files, read, one.name, one.ids, one.handed_in, earlier)
