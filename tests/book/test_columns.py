"""Code and docstrings in notebooks fit the page: 88 columns, in chapters, solutions and
exercises.
"""

import ast
import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(
    path
    for folder in ("notebooks", "solutions", "exercises")
    for path in ROOT.glob(f"{folder}/*.ipynb")
)
TEXTS = re.compile(r'""".*?"""', re.DOTALL)
WITH_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(source):
    """The lines of the docstrings of a cell, as they stand there."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a command for the shell, or a magic word
        return []
    lines = source.split("\n")
    return [
        line
        for node in ast.walk(tree)
        if isinstance(node, WITH_DOCSTRINGS) and ast.get_docstring(node) is not None
        for line in lines[node.body[0].lineno - 1 : node.body[0].end_lineno]
    ]


def too_wide(source):
    """The lines of a cell beyond 88 columns. Tables and sentences in one long string may be wider;
    docstrings may not.
    """
    lines = TEXTS.sub(lambda text: text.group()[:80], source).split("\n")
    return [line for line in [*lines, *docstrings(source)] if len(line) > 88]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_code_and_docstrings_fit_the_page(path):
    found = [
        line
        for cell in nbformat.read(path, 4).cells
        if cell.cell_type == "code" and "remove-cell" not in cell.metadata.get("tags", [])
        for line in too_wide(cell.source)
    ]
    assert found == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_source_that_a_cell_shows_fits_the_page(path):
    """The library's own lines may have 100 columns; those that `source.show` prints may not."""
    shown = [
        line
        for cell in nbformat.read(path, 4).cells
        if cell.cell_type == "code" and "source.show(" in cell.source
        for output in cell.outputs
        for line in output["data"]["text/plain"].split("\n")
    ]
    assert [line for line in shown if len(line) > 88] == []


def test_a_wide_docstring_is_seen_and_a_wide_table_is_not():
    long = "a b c d " * 12
    assert too_wide(f'def f():\n    """{long}"""')
    assert too_wide(f'class A:\n    """Short.\n\n    {long}\n    """')
    assert too_wide(f"x = 1  # {long}")
    assert too_wide(f'table = """\n{long}\n"""') == []
