"""The page of submissions that are alike: pairs, and their code side by side."""

from dataclasses import dataclass

from lectures_lib.homework.grader.alike.pairs import Pair
from lectures_lib.homework.grader.alike.parts import Part
from lectures_lib.homework.grader.reports import told
from lectures_lib.homework.grader.reports.page import rendered, theirs
from lectures_lib.homework.questions import Homework

AROUND = 1  # lines shown before and after what is shared
LONGEST = 60  # lines of one piece that are shown
WIDEST = 300  # characters of a line


@dataclass(frozen=True)
class Line:
    """A line of a student's code, and whether it lies in a shared part."""

    number: int
    text: str
    shared: bool


@dataclass(frozen=True)
class Side:
    """One student's piece of code."""

    function: str
    cell: int
    lines: list[Line]


def page(
    homework: Homework, pairs: list[Pair], cells: dict[str, list[str]], facts: list[str]
) -> str:
    """The text of the page: one HTML page that needs nothing else.

    Args:
        homework: which one was handed in.
        pairs: the most alike first.
        cells: the code cells of each submission, by its name.
        facts: what was compared, in sentences.
    """
    shown = [
        {
            "pair": pair,
            "pieces": _pieces(pair, cells[pair.one], cells[pair.other]),
            "fewest": min((n for *_, n in pair.matches), default=2),
        }
        for pair in pairs
    ]
    return rendered("alike.html", title=told.title(homework), pairs=shown, facts=facts)


def _pieces(pair: Pair, one: list[str], other: list[str]) -> list[tuple[Side, Side]]:
    """The shared code, side by side, function by function."""
    groups: dict[tuple, list[tuple[Part, Part]]] = {}
    for mine, yours, _ in pair.matches:
        key = (mine.cell, mine.function, yours.cell, yours.function)
        groups.setdefault(key, []).append((mine, yours))
    return [
        (_side(one, [mine for mine, _ in both]), _side(other, [yours for _, yours in both]))
        for _, both in sorted(groups.items())
    ]


def _side(cells: list[str], parts: list[Part]) -> Side:
    cell = parts[0].cell
    lines = cells[cell - 1].split("\n")
    shared = {i for part in parts for i in range(part.first, part.last + 1)}
    first, last = max(min(shared) - AROUND, 1), min(max(shared) + AROUND, len(lines))
    shown = range(first, min(last, first + LONGEST - 1) + 1)
    return Side(
        parts[0].function,
        cell,
        [Line(i, theirs(lines[i - 1][:WIDEST]), i in shared) for i in shown],
    )
