"""From a homework with its answers to the notebook that students get."""

import re
from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from lectures_lib.files import write_whole
from lectures_lib.homework import text_answers, variants
from lectures_lib.homework.inside.unanswered import TEMPLATE_SAYS
from lectures_lib.homework.questions import Homework, Question
from lectures_lib.homework.text_answers import Asked

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
OPEN = f'raise NotImplementedError("{TEMPLATE_SAYS}")'
SET_UP_VARIANTS = """

# Some questions have values of their own in this course; by these your answers are checked.
from lectures_lib.homework import use_variants

use_variants(
    {{
{listed}
    }}
)"""
_HEADING = re.compile(r"^## Question (\d+): (.+)$", re.MULTILINE)
_STATED = re.compile(r"^\*(\d+) points? · difficulty (\d+) of 3 · (\d+) minutes\b", re.MULTILINE)
_REPOSITORY = re.compile(
    r"""^REPOSITORY = ["']https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?["']""", re.MULTILINE
)
_RELATIVE = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s]*)\)")
_PAGE = re.compile(r"\.\./((?:notebooks|book)/\w+)\.(?:ipynb|md)(#[^)]*)?")
_CHECK = re.compile(r"""^check\(\s*["']([\w.]+)["']\s*,\s*(\w+)\s*\)""", re.MULTILINE)


class Unreleasable(Exception):
    """A solution notebook from which no student notebook can be made. The message names the
    cell.
    """


def release(homework: Homework, solutions: Path, out: Path, asked: Iterable[Asked] = ()) -> Path:
    """Write the student notebook of a homework; return where it is.

    Args:
        homework: its questions; the notebook must state the same.
        solutions: folder with the executed `<homework>_<name>.ipynb`.
        out: folder for the student notebook, of the same name.
        asked: further questions, to be answered in words.

    Raises:
        FileNotFoundError: if there is not exactly one such notebook.
        Unreleasable: if markers do not pair, or the notebook and the questions disagree.
    """
    solution = solution_of(homework, solutions)
    text = student_version(homework, solution.read_text(encoding="utf-8"), asked)
    out.mkdir(parents=True, exist_ok=True)
    path = out / solution.name
    write_whole(path, text)
    return path


def solution_of(homework: Homework, solutions: Path) -> Path:
    """The notebook with a homework's answers in a folder.

    Raises:
        FileNotFoundError: if there is not exactly one `<homework>_<name>.ipynb`.
    """
    found = sorted(solutions.glob(f"{homework.name}_*.ipynb"))
    if len(found) != 1:
        raise FileNotFoundError(
            f"{solutions.resolve()} must contain one {homework.name}_*.ipynb, and contains "
            f"{len(found)}: run this in the course's folder, or name another with --solutions"
        )
    return found[0]


def student_version(homework: Homework, solution: str, asked: Iterable[Asked] = ()) -> str:
    """The text of the student notebook: the same text for the same solution, every time. `asked`
    are further questions, to be answered in words.

    Raises:
        Unreleasable: if markers do not pair, or the notebook and the questions disagree.
    """
    notebook = nbformat.reads(solution, as_version=4)
    _agree(homework, notebook.cells)
    _vary(homework, notebook.cells)
    student = nbformat.v4.new_notebook(
        cells=[
            _student_cell(cell, i, book(notebook.cells)) for i, cell in enumerate(notebook.cells)
        ],
        metadata={
            "kernelspec": notebook.metadata.get("kernelspec", {}),
            "language_info": {"name": "python"},
        },
    )
    student = text_answers.with_questions(student, asked)
    nbformat.validate(student)
    return nbformat.writes(student) + "\n"


def without_solutions(source: str) -> str:
    """`source` with each marked region replaced by a line that raises NotImplementedError, indented
    as the marker was.

    Raises:
        Unreleasable: if a region is not closed, or closed without having been opened.
    """
    kept, inside = [], False
    for line in source.splitlines():
        marker = line.strip()
        if marker in (BEGIN, END):
            if (marker == BEGIN) == inside:
                raise Unreleasable(f"{marker!r} where the other marker belongs:\n{source}")
            inside = not inside
            if inside:
                kept.append(line.replace(BEGIN, OPEN))
        elif "SOLUTION" in line and marker.startswith("#"):
            raise Unreleasable(f"is {marker!r} a marker? They are written {BEGIN!r} and {END!r}")
        elif not inside:
            kept.append(line)
    if inside:
        raise Unreleasable(f"{BEGIN!r} without {END!r}:\n{source}")
    return "\n".join(kept)


def book(cells: list[NotebookNode]) -> str:
    """The address of the book on GitHub Pages, from the repository that the set-up cell names; ""
    where none is named.
    """
    found = next(
        filter(
            None, (_REPOSITORY.search(cell.source) for cell in cells if cell.cell_type == "code")
        ),
        None,
    )
    return f"https://{pages(found[1], found[2])}" if found else ""


def pages(owner: str, name: str) -> str:
    """Where GitHub Pages publishes a repository's site; that of a repository named
    <owner>.github.io stands at the top.
    """
    if name.lower() == f"{owner.lower()}.github.io":
        return name.lower()
    return f"{owner.lower()}.github.io/{name}"


def with_addresses(source: str, book: str) -> str:
    """`source` with its links to chapters and pages beside it replaced by those on the site: a
    student has this one file alone.

    Raises:
        Unreleasable: if a link leads to something that has no address there, or the site's is not
            known.
    """

    def address(link: re.Match) -> str:
        page = _PAGE.fullmatch(link[1])
        if not page or not book:
            raise Unreleasable(
                f"the link {link[1]!r} would lead nowhere: "
                f"{'no page of the site' if book else 'no REPOSITORY is named'}"
            )
        return f"]({book}/{page[1]}.html{page[2] or ''})"

    return _RELATIVE.sub(address, source)


def _student_cell(cell: NotebookNode, i: int, book: str) -> NotebookNode:
    """A cell without answer, outputs, or traces of having been run; links with the site's
    address.
    """
    identity, tags = f"cell-{i:02}", cell.metadata.get("tags")
    metadata = {"tags": list(tags)} if tags else {}
    if cell.cell_type == "markdown":
        return nbformat.v4.new_markdown_cell(
            with_addresses(cell.source, book), id=identity, metadata=metadata
        )
    return nbformat.v4.new_code_cell(without_solutions(cell.source), id=identity, metadata=metadata)


def _agree(homework: Homework, cells: list[NotebookNode]) -> None:
    """Make sure that the notebook asks what the bank asks, states the same points, and checks every
    answer it asks for.
    """
    headings = [
        heading
        for cell in cells
        if cell.cell_type == "markdown"
        for heading in _headings(cell.source)
    ]
    asked = [
        (str(i), q.title, str(q.points), str(q.difficulty), str(q.minutes))
        for i, q in enumerate(homework.questions, start=1)
    ]
    for stated, right in zip(headings, asked, strict=False):
        if stated != right:
            raise Unreleasable(
                f"the notebook states question, title, points, difficulty, minutes as {stated}, "
                f"{homework.name}.py as {right}"
            )
    if len(headings) != len(asked):
        raise Unreleasable(
            f"the notebook has {len(headings)} questions, {homework.name}.py has {len(asked)}"
        )
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    checks = [(i, *found) for i, source in enumerate(code) for found in _CHECK.findall(source)]
    expected = [(question.name, question.answer_name) for question in homework.questions]
    if [check[1:] for check in checks] != expected:
        raise Unreleasable(
            f"the notebook checks {[check[1:] for check in checks]}; it should check {expected}, "
            f"in this order"
        )
    start = 0
    for (position, *_), question in zip(checks, homework.questions, strict=True):
        _defined_once(question, code[start:position])
        start = position
    if any(BEGIN in source for source in code[start:]):
        raise Unreleasable("there is a solution after the last check: nothing checks it")


def _vary(homework: Homework, cells: list[NotebookNode]) -> None:
    """Write the variants' values into the questions' parts, and into the set-up cell which variants
    these are.

    Raises:
        Unreleasable: if a text that is to be replaced is not there, or the set-up cell is not.
    """
    drawn = {q.name: q.variant for q in homework.questions if q.variant}
    if not drawn:
        return
    starts = [i for i, cell in enumerate(cells) if _HEADING.search(cell.source)]
    ends = [*starts[1:], len(cells)]
    for question, start, end in zip(homework.questions, starts, ends, strict=True):
        if question.variant:
            _put(question, cells[start:end])
    set_up = [cell for cell in cells if "setup" in cell.metadata.get("tags", [])]
    if len(set_up) != 1:
        raise Unreleasable(f"one cell must have the tag 'setup'; {len(set_up)} have")
    listed = "\n".join(f'        "{name}": {number},' for name, number in drawn.items())
    set_up[0].source += SET_UP_VARIANTS.format(listed=listed)


def _put(question: Question, cells: list[NotebookNode]) -> None:
    """Write a variant's value into the part of a notebook that asks for it."""
    put = question.varied.wording(question.varied.values[question.variant])
    if absent := variants.missing("\n".join(cell.source for cell in cells), put):
        raise Unreleasable(
            f"{question.name}: its variant replaces {absent[0]!r}, which the notebook does not say"
        )
    for cell in cells:
        cell.source = variants.reworded(cell.source, put)


def _headings(source: str) -> list[tuple[str, ...]]:
    """Number, title, points, difficulty and minutes of the questions that a text cell opens."""
    headings = _HEADING.findall(source)
    stated = _STATED.findall(source)
    if len(headings) != len(stated):
        raise Unreleasable(
            f"a question does not state `*2 points · difficulty 1 of 3 · 10 minutes "
            f"…*`:\n{source[:200]}"
        )
    return [(*heading, *numbers) for heading, numbers in zip(headings, stated, strict=True)]


def _defined_once(question: Question, cells: list[str]) -> None:
    """Make sure that one cell before the check asks for the answer, with a solution in it."""
    defined = re.compile(rf"^(?:def|class) {question.answer_name}\b", re.MULTILINE)
    cells_with_answers = [source for source in cells if BEGIN in source]
    if len(cells_with_answers) != 1 or not defined.search(cells_with_answers[0]):
        raise Unreleasable(
            f"before check({question.name!r}) there must be one cell with a solution, and it must "
            f"define {question.answer_name}"
        )
