"""The example of book/instructors.md: a question of one's own, held to what is demanded of the
course's questions.
"""

import importlib.util
import re
import sys
import zipfile

import jupytext
import nbformat
import pytest

from lectures_lib.homework import WrongAnswer, banks, check, load, names
from lectures_lib.homework.question_key import unpacked
from lectures_lib.homework.release import student_version
from lectures_lib.homework.sealed_release import release_sealed
from tests.homework import bank, test_banks
from tests.homework.bank import ROOT

NAME = "hw8.attention_entropy"


def files():
    """{path: content} of the section's files; each begins with its path."""
    page = (ROOT / "book" / "instructors.md").read_text(encoding="utf-8")
    section = re.search(
        r"^## Questions of your own\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL
    )[1]
    return {
        path: content
        for path, content in re.findall(
            r"^```python\n# (\S+\.py)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL
        )
    }


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A fork with the files of the page."""
    found = files()
    assert list(found) == [
        "lectures_lib/homework/banks/hw8/entropy.py",
        "lectures_lib/homework/banks/hw8/__init__.py",
        "solutions/hw8_heads.py",
        "tests/homework/right_answers_hw8.py",
    ]
    for path, content in found.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    before = set(sys.modules)
    for cached in (bank.key, bank.notebook, test_banks.verdicts):
        cached.cache_clear()
    monkeypatch.setattr(
        banks, "__path__", [*banks.__path__, str(tmp_path / "lectures_lib" / "homework" / "banks")]
    )
    monkeypatch.setattr(bank, "ROOT", tmp_path)
    spec = importlib.util.spec_from_file_location(
        "tests.homework.right_answers_hw8", tmp_path / "tests/homework/right_answers_hw8.py"
    )
    answers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(answers)
    monkeypatch.setitem(sys.modules, spec.name, answers)
    yield tmp_path
    for cached in (bank.key, bank.notebook, test_banks.verdicts):
        cached.cache_clear()
    for name in set(sys.modules) - before:
        if name.startswith("lectures_lib.homework.banks.hw8"):
            del sys.modules[name]


def test_it_is_found_and_answered(own, capsys):
    assert "hw8" in names()
    (question,) = load("hw8").questions
    check(NAME, question.reference)
    assert "3 points" in capsys.readouterr().out
    for misconception in question.misconceptions:
        with pytest.raises(WrongAnswer) as wrong:
            check(NAME, misconception.answer)
        assert wrong.value.verdict.mistake == misconception.name


def test_it_is_what_the_banks_must_be(own):
    """Every test of the banks that is about a question, and those about its notebook."""
    about_a_question = [
        test_banks.test_the_reference_is_right,
        test_banks.test_every_mistake_is_caught_and_named,
        test_banks.test_mistakes_differ_from_each_other,
        test_banks.test_one_name_has_one_diagnosis,
        test_banks.test_enough_answers_of_each_kind,
        test_banks.test_sizes_vary_with_the_seed,
        test_banks.test_the_chapter_has_that_section,
        test_banks.test_the_notebook_s_answer_is_right_by_itself,
        test_banks.test_messages_call_arguments_as_the_notebook_does,
    ]
    for test in about_a_question:
        test(NAME)
    for answer in bank.right_answers("hw8")[NAME]:
        test_banks.test_right_answers_are_accepted(NAME, answer)
    test_banks.test_the_notebook_answers_and_checks_every_question("hw8")
    test_banks.test_the_notebook_links_sections_that_exist("hw8")
    test_banks.test_the_notebook_says_what_the_bank_says("hw8")


def test_no_test_of_the_banks_is_left_out():
    tests = {name for name in vars(test_banks) if name.startswith("test_")}
    here = set(
        re.findall(
            r"test_banks\.(test_\w+)",
            (ROOT / "tests" / "homework" / "test_own_question.py").read_text(encoding="utf-8"),
        )
    )
    # for those who also keep students_hw8.py
    not_asked = {"test_the_same_mistake_written_otherwise_gets_the_same_name"}
    # and for questions with demands, which the page's has not
    not_asked |= {
        "test_a_mistake_earns_the_same_with_every_seed",
        "test_an_answer_without_thought_earns_nothing",
        "test_every_demand_is_missed_by_a_mistake_that_meets_the_first",
    }
    not_asked.add("test_an_object_that_keeps_an_argument_is_refused")  # the page's is a function
    assert tests - here == not_asked | {"test_the_course_s_own_homeworks_have_20_points"}


def test_a_mistake_that_does_not_show_is_noticed(own):
    """What the page says of inputs without masked keys."""
    path = own / "lectures_lib/homework/banks/hw8/entropy.py"
    path.write_text(
        path.read_text(encoding="utf-8").replace("    masked[:, -2:] = -torch.inf\n", ""),
        encoding="utf-8",
    )
    with pytest.raises(AssertionError, match="nan_at_zero passes"):
        test_banks.test_every_mistake_is_caught_and_named(NAME)


def test_the_student_s_notebook_is_made_of_it(own):
    solution = jupytext.read(own / "solutions" / "hw8_heads.py")
    solution.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    first = next(cell for cell in solution.cells if cell.cell_type == "code")
    # `make notebooks` writes the set-up cell there
    first.source = 'REPOSITORY = "https://github.com/someone/course"\n' + first.source
    student = nbformat.reads(student_version(load("hw8"), nbformat.writes(solution)), as_version=4)
    assert "NotImplementedError" in student.cells[3].source
    assert not any("xlogy" in cell.source for cell in student.cells)


def test_it_can_be_sealed(own):
    """The page's command: nothing of the bank is in the file, and its keys judge."""
    solution = jupytext.read(own / "solutions" / "hw8_heads.py")
    hw1 = jupytext.read(ROOT / "solutions" / "hw1_attention.py")
    set_up = next(cell for cell in hw1.cells if "setup" in cell.metadata.get("tags", []))
    solution.cells.insert(1, set_up)
    solution.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(solution, own / "solutions" / "hw8_heads.ipynb")
    notebook, package = release_sealed(load("hw8"), own / "solutions", own / "out")
    with zipfile.ZipFile(package) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert not [name for name in files if "banks" in name]
    for content in (notebook.read_bytes(), *files.values()):
        assert b"xlogy(weights" not in content
    key = unpacked(files[f"lectures_lib/homework/keys/{NAME}.key"])
    for answer in bank.right_answers("hw8")[NAME]:
        assert key.accepts(answer)
    assert key.faults() == []
