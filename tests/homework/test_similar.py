"""Submissions that are alike: renamed and reordered copies are found, independent answers are not,
and the page is text.
"""

import ast
import inspect
import random
import re
import textwrap
import time

import pytest
from typer.testing import CliRunner

from lectures_lib.homework import load
from lectures_lib.homework.__main__ import app
from lectures_lib.homework.grader.alike import pairs as pairs_module
from lectures_lib.homework.grader.alike.compared import similar
from lectures_lib.homework.grader.alike.pairs import pairs
from lectures_lib.homework.grader.alike.parts import parts
from tests.homework.bank import right_answers, students
from tests.homework.toy import notebook

# Not hw3: its mistakes in beam search are one text with changes, and such texts are found.
HOMEWORK = ("hw2", "hw4", "hw5", "hw6", "hw7")


def answers(homework: str) -> dict[str, list[str]]:
    """The sources of all answers that the tests know to a homework's questions, each once."""
    found = {}
    for name, right in right_answers(homework).items():
        wrong = [answer for each in students(homework)[name].values() for answer in each]
        functions = [each for each in (*right, *wrong) if hasattr(each, "__name__")]
        sources = [inspect.getsource(each) for each in functions]
        found[name] = list(dict.fromkeys(s for s in sources if s.startswith(("def ", "class "))))
    return found


def independent(homework: str, size: int = 30, seed: int = 0) -> dict[str, list[str]]:
    """The cells of so many students, each with three answers that nobody else has."""
    random_ = random.Random(seed)
    decks = {name: random_.sample(each, len(each)) for name, each in answers(homework).items()}
    class_ = {}
    for i in range(size):
        fullest = sorted(decks, key=lambda name: -len(decks[name]))[:3]
        class_[f"student{i}"] = [decks[name].pop() for name in fullest if decks[name]]
    return class_


class Renamed(ast.NodeTransformer):
    """Other names for arguments and variables; statements that do not need each other change
    places.
    """

    def __init__(self, tree):
        stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _is_stored(n)}
        stored |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)} - {"self"}
        self.names = {name: f"other_{i}" for i, name in enumerate(sorted(stored))}

    def visit_Name(self, node):
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node):
        node.arg = self.names.get(node.arg, node.arg)
        node.annotation = ast.Name("int", ast.Load())
        return node

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        for i, (one, other) in enumerate(zip(node.body, node.body[1:], strict=False)):
            if _may_change_places(one, other):
                node.body[i : i + 2] = other, one
                break
        return node


def _is_stored(name):
    return isinstance(name.ctx, ast.Store)


def _may_change_places(one, other):
    both = isinstance(one, ast.Assign) and isinstance(other, ast.Assign)
    stored = {n.id for n in ast.walk(one) if isinstance(n, ast.Name) and _is_stored(n)}
    return both and not any(isinstance(n, ast.Name) and n.id in stored for n in ast.walk(other))


def disguised(cells: list[str]) -> list[str]:
    """A copy as it is made at night: names, order, layout and comments are others."""
    copied = []
    for cell in cells:
        tree = ast.parse(cell)
        copied.append(f"# my own work\n{ast.unparse(Renamed(tree).visit(tree))}\n")
    return copied[::-1]


def found(class_: dict[str, list[str]], **more) -> list[tuple[str, str]]:
    compared = pairs({name: parts(cells) for name, cells in class_.items()}, **more)
    return [(pair.one, pair.other) for pair in compared]


@pytest.mark.parametrize("homework", HOMEWORK)
def test_disguised_copies_are_found_among_30_and_independent_answers_are_not(homework):
    class_ = independent(homework)
    assert found(class_) == [], "30 independent ones"
    copies = {f"copy{i}": disguised(class_[f"student{i}"]) for i in range(5)}
    pairs_found = found(class_ | copies)
    assert {(f"copy{i}", f"student{i}") for i in range(5)} == set(pairs_found)


def test_the_disguise_is_one():
    class_ = independent("hw4")
    for i in range(5):
        for one, other in zip(
            class_[f"student{i}"], disguised(class_[f"student{i}"])[::-1], strict=True
        ):
            assert not set(one.splitlines()[1:]) & set(other.splitlines()[1:]) - {""} or (
                len(set(one.splitlines()) & set(other.splitlines())) < len(one.splitlines()) / 2
            )


def test_names_comments_layout_and_order_of_statements_make_no_difference():
    one = 'def f(a, b):\n    """Text."""\n    c = a @ b.mT / 2  # scores\n    d = a.sum(-1) * b.mean(0)\n    return c + d'
    other = (
        "def f(x: int, y) -> int:\n    v = x.sum(-1) * y.mean(\n        0)\n"
        "    u = x @ y.mT / 2\n    return u + v\n"
    )
    keys = [{part.key for part in parts([text])} for text in (one, other)]
    assert len(keys[0] & keys[1]) >= 3
    another = {part.key for part in parts([other.replace("mT", "T").replace("sum", "amax")])}
    assert len(keys[0] & another) == 0


def test_what_many_have_counts_nothing(monkeypatch):
    """The template's given code, and answers that are nearly forced."""
    given = inspect.getsource(independent) + inspect.getsource(disguised)
    class_ = {name: [given, *cells] for name, cells in independent("hw4").items()}
    assert found(class_) == []
    class_ = independent("hw4")
    class_ |= {f"student{i}": disguised(class_["student0"]) for i in range(1, 6)}
    assert found(class_) == [], "six of 30 count as everybody, and that is a limit of it"
    monkeypatch.setattr(pairs_module, "FORCED", 0.3)
    assert len(found(class_)) >= 10, "of their 15 pairs"


def test_a_published_solution_is_compared_with_the_class_and_not_with_last_year_s():
    class_ = independent("hw4")
    beside = {"solution": class_["student3"], "last year": class_["student4"]}
    class_["student5"] = disguised(class_["student4"])
    del class_["student4"], class_["student3"]
    assert found(class_ | beside, beside=beside) == [("last year", "student5")]
    both = class_ | beside | {"solution too": disguised(beside["solution"])}
    assert found(both, beside=[*beside, "solution too"]) == [("last year", "student5")]


# --------------------------------------------------------------------------------- command and page


def written(folder, class_):
    folder.mkdir()
    for name, cells in class_.items():
        (folder / f"{name}.ipynb").write_bytes(notebook(*cells))
    return folder


def test_the_command_writes_a_page_in_which_code_is_text(tmp_path):
    class_ = independent("hw4")
    evil = '    note = "</pre><script>alert(1)</script><b>"\n'
    class_["student0"] = [
        re.sub(r"(?m)^(    (?:return|x|\w+ =))", evil + r"\1", cell, count=1)
        for cell in class_["student0"]
    ]
    class_["<i>eve</i>"] = disguised(class_["student0"])
    class_["broken"] = ["def (:", "(" * 500, "x = " + "a+" * 9000 + "a"]
    folder = written(tmp_path / "handed_in", {k: v for k, v in class_.items() if "/" not in k})
    (folder / "<i>eve.ipynb").write_bytes(notebook(*class_["<i>eve</i>"]))
    (folder / "page.ipynb").write_bytes(b"<html>")
    out = tmp_path / "report" / "similar.html"
    done = CliRunner().invoke(app, ["similar", "hw4", str(folder), "--out", str(out)])
    assert done.exit_code == 0, done.output
    page = out.read_text(encoding="utf-8")
    assert "1 pair to look at" in done.output
    assert "student0" in page
    assert "&lt;i&gt;eve" in page
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<i>" not in page
    assert "http" not in page
    assert "no finding of misconduct and no grade" in page
    assert "1 could not be read, and is left out" in page
    again = out.read_bytes()
    CliRunner().invoke(app, ["similar", "hw4", str(folder), "--out", str(out)])
    assert out.read_bytes() == again, "the same page for the same folder"


def test_two_years_whose_folders_are_called_alike(tmp_path):
    class_ = independent("hw4")
    before = {"2024": class_.pop("student3"), "2025": class_.pop("student4")}
    class_["ada"] = disguised(before["2024"])
    own, years = written(tmp_path / "submissions", class_), []
    for year, cells in before.items():
        (tmp_path / year).mkdir()
        years.append(written(tmp_path / year / "submissions", {"bob": cells}))
    pairs = similar(load("hw4"), own, tmp_path / "similar.html", beside=tuple(years))
    assert len(pairs) == 1, "the first year's is not replaced by the second's"


def test_a_small_class_is_warned_of(tmp_path):
    class_ = dict(list(independent("hw4").items())[:4])
    similar(load("hw4"), written(tmp_path / "in", class_), tmp_path / "similar.html")
    assert "This class is small" in (tmp_path / "similar.html").read_text(encoding="utf-8")


def test_the_page_does_not_go_into_the_folder_of_submissions(tmp_path):
    folder = written(tmp_path / "in", {"ada": ["x = 1"]})
    done = CliRunner().invoke(app, ["similar", "hw4", str(folder), "--out", f"{folder}/a.html"])
    assert done.exit_code == 2
    assert "choose another place" in done.output


def test_endless_code_is_read_in_bounded_time():
    began = time.process_time()
    parts(
        [
            "def f(a):\n    return " + "a + " * 3000 + "a",
            *["def g(): return [" + "0," * 9000 + "]"] * 9,
        ]
    )
    assert time.process_time() - began < 30


@pytest.mark.long
def test_a_class_of_1000(tmp_path):
    """Every answer is shared by dozens: far more pairs have something in common than in life."""
    random_, pool = random.Random(0), answers("hw2")
    class_ = {f"student{i}": [random_.choice(each) for each in pool.values()] for i in range(1000)}
    began = time.monotonic()
    similar(load("hw2"), written(tmp_path / "in", class_), tmp_path / "similar.html")
    assert time.monotonic() - began < 600


def test_one_long_answer_of_several_is_found(monkeypatch):
    """Also where the rest of both is not alike."""
    monkeypatch.setattr(pairs_module, "SHARE", 1.1)
    long = inspect.getsource(Renamed.visit_FunctionDef).replace("    def", "def", 1)
    long = textwrap.dedent("    " + long) + "    " + "return [i for i in range(9) if i % 3 - 1]\n"
    long += "    return {name: len(each) for name, each in zip(node, self.names, strict=True)}\n"
    class_ = independent("hw2")
    class_["student1"] = [*class_["student1"], long]
    class_["student2"] = [*class_["student2"], disguised([long])[0]]
    assert found(class_) == [("student1", "student2")]
    monkeypatch.setattr(pairs_module, "ALONE", 1.1)
    assert found(class_) == []
