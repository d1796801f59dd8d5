"""A class's submissions, compared."""

from pathlib import Path

from lectures_lib.files import write_whole
from lectures_lib.homework.grader.alike.pairs import FEW, FORCED, Pair, pairs
from lectures_lib.homework.grader.alike.parts import parts
from lectures_lib.homework.grader.reports import alike
from lectures_lib.homework.grader.submissions.collect import Submission, collect
from lectures_lib.homework.notebook import Unreadable, code_cells
from lectures_lib.homework.questions import Homework

SMALL = 10  # in a class of fewer nobody can know what is forced
MOST = 100  # pairs that are shown


def similar(
    homework: Homework,
    source: Path,
    out: Path,
    kind: str = "auto",
    beside: tuple[Path, ...] = (),
) -> list[Pair]:
    """Compare every submission with every other; write the page to `out`. Nothing is run.

    Args:
        homework: which one was handed in.
        source, kind: what was handed in, see `submissions.collect`.
        out: the HTML file to write.
        beside: notebooks, or folders of them, that are compared with the class and not with each
            other: the published solution, last year's submissions.

    Raises:
        FileNotFoundError, ValueError: if there is nothing to compare.
    """
    cells, unread = _read(collect(source, kind, homework.name, homework.answer_names), "")
    others: dict[str, list[str]] = {}
    for path in beside:
        # by their whole names: last year's folder is often called as this year's
        more, _ = _read(collect(path, "auto", homework.name), f"{path}: ")
        others |= more
    class_ = {name: parts(each) for name, each in (cells | others).items()}
    found = pairs(class_, others, MOST)
    facts = _facts(len(cells), unread, len(others), len(found))
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, alike.page(homework, found, cells | others, facts))
    return found


def _read(submissions: list[Submission], before: str) -> tuple[dict[str, list[str]], int]:
    """The code cells of each submission, and how many could not be read."""
    cells, unread = {}, 0
    for submission in submissions:
        try:
            cells[before + submission.student] = code_cells(submission.read())
        except Unreadable:
            unread += 1
    return cells, unread


def _facts(size: int, unread: int, beside: int, shown: int) -> list[str]:
    """What was compared, in sentences."""
    told = [
        f"Each of {size} submissions was compared with every other"
        + (f", and with {beside} more notebooks" if beside else "")
        + ". Functions and classes only; names, comments, docstrings, layout, and the order of "
        "functions and statements make no difference.",
        f"A piece of code that more than {max(FEW, int(FORCED * (size + beside)))} have counts "
        f"nothing: there the question leaves little choice, or the notebook gave it. What is left "
        f"counts the more, the fewer have it.",
    ]
    if size < SMALL:
        told.append(
            f"This class is small: with fewer than {SMALL} submissions, what everybody would write "
            f"cannot be told from what two share."
        )
    if unread:
        told.append(f"{unread} could not be read, and {'is' if unread == 1 else 'are'} left out.")
    if shown == MOST:
        told.append(f"There may be more pairs than the {MOST} shown.")
    return told
