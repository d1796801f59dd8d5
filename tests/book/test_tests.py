"""A test module can be run, moved or thrown away by itself: nobody imports one. And what is said of
test files is said of files that are there.
"""

import ast
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tests import at_night, longest

ROOT = Path(__file__).resolve().parents[2]
# a homework of one's own is held to every test of the banks, by calling them
MAY = {("tests/homework/test_own_question.py", "tests.homework.test_banks")}


def imported(source: str) -> set[str]:
    """The full names of all that a module imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def of_tests(source: str) -> set[str]:
    """The test modules among them."""
    parts = [name.split(".") for name in imported(source)]
    ends = [next((i for i, p in enumerate(ps) if p.startswith("test_")), None) for ps in parts]
    return {".".join(ps[: i + 1]) for ps, i in zip(parts, ends, strict=True) if i is not None}


@pytest.mark.parametrize("room", ["tests", "benchmarks", "experiments", "tools"])
def test_no_test_module_is_imported(room):
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in sorted((ROOT / room).rglob("*.py"))
        for name in of_tests(path.read_text(encoding="utf-8"))
    }
    assert found <= MAY


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("from tests.homework.test_sealed import filled_in", "tests.homework.test_sealed"),
        ("def f():\n    from test_server import ask", "test_server"),
        ("from tests.homework import bank, test_banks", "tests.homework.test_banks"),
        ("import tests.homework.test_rules as rules", "tests.homework.test_rules"),
    ],
)
def test_every_way_of_importing_one_is_seen(source, name):
    assert of_tests(source) == {name}


def test_the_longest_files_are_there_and_named_once():
    assert [name for name in longest.LONGEST if not (ROOT / name).is_file()] == []
    assert len(set(longest.LONGEST)) == len(longest.LONGEST)


def test_a_file_that_takes_long_and_begins_late_is_named():
    took = {name: 60.0 + at for at, name in enumerate(longest.LONGEST)}
    others = {
        "tests/book/test_a.py": 61.0,
        "tests/book/test_b.py": 99.0,
        "notebooks/c.ipynb": 100.0,
    }
    assert longest.missing(took | others) == ["notebooks/c.ipynb", "tests/book/test_b.py"]
    assert longest.missing(others) == []


def test_no_two_test_modules_have_one_name():
    """pytest takes the second for the first, and says so only where it collects both."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, n in names.items() if n > 1] == []


def functions(source: str) -> set[str]:
    """The names of the test functions that a module defines."""
    return {
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_what_is_left_to_the_night_is_there():
    named = {
        f"{path.relative_to(ROOT).as_posix()}::{name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in functions(path.read_text(encoding="utf-8"))
    }
    for name in at_night.listed():
        assert any(fnmatchcase(one, name) for one in named), f"there is no {name}"


def test_of_every_file_something_runs_by_day():
    """A file of which nothing does is named whole, so that one sees it."""
    night = at_night.listed()
    for path in (ROOT / "tests").rglob("test_*.py"):
        file = path.relative_to(ROOT).as_posix()
        names = [f"{file}::{name}" for name in functions(path.read_text(encoding="utf-8"))]
        gone = [name for name in names if all(at_night.left([name], night))]
        assert len(gone) < len(names) or f"{file}::test_*" in night, f"{file} runs at night alone"


@pytest.mark.parametrize(
    ("by_day", "left"),
    [(0, [1, 1, 1]), (2, [0, 0, 1]), (5, [0, 0, 0]), (["two"], [1, 0, 1]), (["o"], [0, 0, 1])],
)
def test_the_first_cases_run_by_day_or_those_of_a_word(by_day, left):
    cases = ["t.py::test_a[one]", "t.py::test_a[two]", "t.py::test_a[third]"]
    assert [*at_night.left(cases, {"t.py::test_[a]": by_day})] == left
    assert not any(at_night.left(cases, {"t.py::test_b": by_day}))


def test_cases_of_two_functions_are_counted_apart():
    cases = ["t.py::test_a[1]", "t.py::test_b[1]", "t.py::test_a[2]", "t.py::test_b[2]"]
    assert [*at_night.left(cases, {"t.py::*": 1})] == [False, False, True, True]
