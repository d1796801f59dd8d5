"""The lines of a notebook that a verdict is about, so that a page can show them beside it. Read and
never run: whatever stands there is text.
"""

import ast
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace

from lectures_lib.homework.grader.grading import hints
from lectures_lib.homework.grader.submissions.mentions import (
    syntax_trees,
    with_a_large_stack,
)

MOST_LINES = 120  # of an answer and its helpers together: the longest of our solutions has 35
LONGEST_LINE = 300  # characters
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign)
_NEW_LINE = re.compile("\r\n|\r|\n")  # what the parser counts lines by
_LINE_TOLD = re.compile(r"in line (\d{1,6}), `([^`]+)`")  # so `verdict` and `explained` tell it
_Definition = tuple[int, ast.stmt]  # a cell's number, and the statement


@dataclass(frozen=True)
class Excerpt:
    """Lines of one code cell.

    Attributes:
        cell: its number, from 1.
        first: the first line's number in the cell, from 1.
        lines: their text.
        left_out: how many more there are.
        told: the number of the line where the answer raised what the verdict tells; 0 where it is
            none of these.
    """

    cell: int
    first: int
    lines: tuple[str, ...]
    left_out: int = 0
    told: int = 0

    def with_the_line_of(self, message: str) -> "Excerpt":
        """The same, with the line marked of which a verdict's message gives number and text."""
        for number, source in _LINE_TOLD.findall(message):
            place = int(number) - self.first
            if 0 <= place < len(self.lines) and source.strip() in self.lines[place]:
                return replace(self, told=int(number))
        return self


@dataclass(frozen=True)
class Definitions:
    """What a notebook's code cells define at their left margin.

    Attributes:
        cells: their sources.
        found: of each name the numbers of the cells and the statements, in order.
    """

    cells: list[str]
    found: dict[str, list[_Definition]]

    @classmethod
    def read(cls, cells: list[str]) -> "Definitions":
        """The definitions in those cells that are Python."""
        found: dict[str, list[_Definition]] = {}
        for number, tree in with_a_large_stack(syntax_trees, cells):
            for statement in tree.body:
                for name in _names(statement):
                    found.setdefault(name, []).append((number, statement))
        return cls(cells, found)

    def excerpts(self, name: str, cell: int | None, others: Container[str]) -> tuple[Excerpt, ...]:
        """An answer's lines, and those of the helpers that it calls.

        Args:
            name: the answer's.
            cell: the number of the cell with the definition that was judged; None for the last.
            others: names of answers to other questions, which are shown there.

        Returns:
            The answer first; () where it is written nowhere.
        """
        found = [each for each in self.found.get(name, []) if cell in (None, each[0])]
        if not found:
            return self._unread(name, cell)
        shown, left, waiting, seen = [], MOST_LINES, [found[-1]], {name}
        while waiting and left > 0:
            number, statement = waiting.pop(0)
            shown.append(_excerpt(self.cells[number - 1], number, *_span(statement), left))
            left -= len(shown[-1].lines)
            for helper in _used(statement):
                if helper in self.found and helper not in seen and helper not in others:
                    seen.add(helper)
                    waiting += _functions(self.found[helper])[-1:]
        return tuple(shown)

    def is_a_template(self, name: str) -> bool:
        """Whether the last definition of this name does nothing but raise."""
        found = self.found.get(name, [])
        return bool(found) and _only_raises(found[-1][1])

    def without_templates(self, name: str) -> "Definitions":
        """The same, without the definitions of this name that do nothing but raise."""
        written = [each for each in self.found.get(name, []) if not _only_raises(each[1])]
        return replace(self, found=self.found | {name: written})

    def _unread(self, name: str, cell: int | None) -> tuple[Excerpt, ...]:
        """The same for a cell that is no Python: from the line that defines the name down to the
        next one at the left margin.
        """
        places = [i for i in hints.defining(self.cells, name) if cell in (None, i + 1)]
        if not places:
            return ()
        text = self.cells[places[-1]]
        lines = _NEW_LINE.split(text)
        begins = re.compile(
            rf"(?:(?:async[ \t]+)?def|class)[ \t]+{re.escape(name)}\b|{name}[ \t]*="
        )
        first = next((i for i, line in enumerate(lines) if begins.match(line)), 0)
        margin = (i for i in range(first + 1, len(lines)) if re.match(r"[^\s#)\]}]", lines[i]))
        last = next(margin, len(lines))
        return (_excerpt(text, places[-1] + 1, first + 1, last, MOST_LINES),)


def _names(statement: ast.stmt) -> Iterator[str]:
    """What a statement defines or assigns to."""
    if isinstance(statement, _DEFINITIONS):
        yield statement.name
    elif isinstance(statement, _ASSIGNMENTS):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def _functions(found: list[_Definition]) -> list[_Definition]:
    """Those that are functions or classes: a helper's size says more than a constant's."""
    return [each for each in found if isinstance(each[1], _DEFINITIONS)]


def _used(statement: ast.stmt) -> dict[str, None]:
    """The names that it reads, in order."""
    return dict.fromkeys(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))


def _only_raises(definition: ast.stmt) -> bool:
    """Whether it does nothing else."""
    return not any(_does_something(each) for each in ast.walk(definition))


def _does_something(node: ast.AST) -> bool:
    """Whether it is a statement other than a definition, a text, or a `raise`."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return False
    return isinstance(node, ast.stmt) and not isinstance(node, (*_DEFINITIONS, ast.Raise))


def _span(statement: ast.stmt) -> tuple[int, int]:
    """Its first and its last line, decorators among them."""
    above = [node.lineno for node in getattr(statement, "decorator_list", [])]
    return min([statement.lineno, *above]), statement.end_lineno or statement.lineno


def _excerpt(text: str, cell: int, first: int, last: int, most: int) -> Excerpt:
    """The cell's lines from the first to the last, up to so many of them."""
    lines = _NEW_LINE.split(text)[first - 1 : last]
    kept = tuple(
        line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + " …" for line in lines[:most]
    )
    return Excerpt(cell, first, kept, len(lines) - len(kept))
