"""What can be sealed and what cannot; questions that are graded later; the set-up cell."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
import torch
from torch import nn
from typer.testing import CliRunner

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.homework import WrongAnswer, check, example, imports, question_key, sealed_release
from lectures_lib.homework.__main__ import app
from lectures_lib.homework.diagnosis import run
from lectures_lib.homework.question_key import unpacked
from lectures_lib.homework.questions import Case, Homework
from lectures_lib.homework.release import Unreleasable, release
from lectures_lib.homework.sealed_release import Unsealable, release_sealed, sealed_key
from tests.homework.toy import DOUBLE, SCALE, TOY, Scale, double, question
from tests.homework.toy_solution import solution


def two_outputs(x, flag=None):
    return (x + 1, [x.sum().item(), "text", None, {"a": True, 3: 1 << 70}])


EVERYTHING = question(
    "everything",
    two_outputs,
    [
        Case((torch.ones(2, 3),), shows="a matrix"),
        Case((torch.arange(3.0).expand(2, 3),), {"flag": [1, (2.5, "x")]}, shows="a view"),
    ],
    mistakes=(("stays", lambda x, flag=None: x), ("stumbles", lambda x, flag=None: x[..., 7])),
    rtol=1e-3,
    below="Rarely.",
)


@pytest.mark.parametrize("asked", [DOUBLE, SCALE, EVERYTHING], ids=lambda q: q.answer_name)
def test_a_key_comes_back_as_it_was(asked):
    key = unpacked(sealed_key(asked))
    for name in question_key._SAID:
        assert getattr(key.question, name) == getattr(asked, name)
    said = [(m.name, m.diagnosis, m.by_exception, m.by_dropout) for m in asked.misconceptions]
    kept = [
        (m.name, m.diagnosis, m.by_exception, m.by_dropout) for m in key.question.misconceptions
    ]
    assert kept == said
    assert [case.shows for case in key.cases] == [
        case.shows for case in asked.cases(torch.Generator().manual_seed(0))
    ]
    assert key.accepts(asked.reference)
    assert key.faults() == [] or asked is EVERYTHING
    for misconception, outcomes in key.mistakes:
        assert key.verdict(outcomes).right is False
        assert misconception.answer is key.question.reference


def test_of_an_exception_the_line_of_code_is_not_kept():
    key = unpacked(sealed_key(EVERYTHING))
    (raised, _) = key.mistakes[1][1]
    assert raised.raised.kind == "IndexError"
    assert (raised.raised.source, raised.raised.line) == ("", 0)
    assert b"x[..., 7]" not in sealed_key(EVERYTHING)


class Once:
    """An answer that is another each time."""

    calls = 0

    def __call__(self, x):
        self.calls += 1
        return x + self.calls


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            question("module", lambda m: 1, [Case((nn.Linear(2, 2),), shows="a layer")]),
            r"toy.module, input 1 \(a layer\): argument 1 is or holds a torch Linear",
        ),
        (question("called", lambda f: 1, [Case((len,))]), "builtin_function_or_method"),
        (question("set", lambda x: 1, [Case(([{1, 2}],))]), "argument 1 is or holds a set"),
        (
            question("keyword", lambda x: 1, [Case((), {"x": {"a": (1, {2})}})]),
            "no description.: x is or holds a set",
        ),
        (question("returns", lambda x: {1}), "what the right answer returns is or holds a set"),
        (
            question("complex", lambda x: x.to(torch.complex128)),
            "returns is or holds a tensor of torch.complex128",
        ),
        (
            question("large", lambda x: 1, [Case((torch.zeros(7 << 20),)) for _ in range(3)]),
            "toy.large: its inputs and values are too large to send: 88,0",
        ),
        (question("random", Once()), "toy.random: the right answer is judged 'right' by the bank"),
        (
            question("chance", double, mistakes=(("other", Once()),)),
            "the mistake 'other' is judged 'other' by the bank and 'values' by the recorded",
        ),
    ],
)
def test_what_is_no_data_is_refused_with_the_reason(asked, words):
    with pytest.raises(Unsealable, match=words):
        sealed_key(asked)


@pytest.fixture
def folder(tmp_path):
    """A folder of solutions with that of the toy homework."""
    (tmp_path / "toy_a.ipynb").write_text(solution())
    return tmp_path


def test_all_that_cannot_be_sealed_is_told_at_once_and_nothing_is_written(folder):
    cannot = question("double", lambda m: 1, [Case((len,))])
    scale = question("Scale", lambda m: 1, [Case((nn.Linear(1, 1),))], points=1)
    with pytest.raises(Unsealable) as refused:
        release_sealed(Homework("toy", "A toy", (cannot, scale)), folder, folder / "out")
    text = str(refused.value)
    assert "toy.double, input 1" in text
    assert "toy.Scale, input 1" in text
    assert text.endswith("add: --graded-later toy.double --graded-later toy.Scale")
    assert not (folder / "out").exists()


def keys(package: Path) -> dict:
    with zipfile.ZipFile(package) as archive:
        names = [name for name in archive.namelist() if name.endswith(".key")]
        return {Path(name).stem: archive.read(name) for name in names}


@pytest.fixture
def as_released(monkeypatch, tmp_path):
    """Let `check` find the keys of a package."""

    def use(package):
        files = {}
        for name, content in keys(package).items():
            files[name] = tmp_path / f"{name}.key"
            files[name].write_bytes(content)
        monkeypatch.setattr(question_key, "_recorded", lambda: files)

    return use


def test_a_question_is_released_without_a_check(folder, as_released, capsys):
    cannot = question("double", lambda m: 1, [Case((len,))], mistakes=(("secret", lambda m: 2),))
    toy = Homework("toy", "A toy", (cannot, SCALE))
    _, package = release_sealed(toy, folder, folder / "out", ["toy.double"])
    assert b"secret" not in keys(package)["toy.double"]
    as_released(package)
    check("toy.double", double)
    assert capsys.readouterr().out == (
        "… toy.double: no check here, it is graded later (2 points)\n"
    )
    with pytest.raises(WrongAnswer, match="without calling it"):
        check("toy.double", 2)
    with pytest.raises(KeyError, match=r"toy\.double is graded later: none of its inputs"):
        example("toy.double")
    check("toy.Scale", Scale)
    assert "✓ toy.Scale: right (1 point)" in capsys.readouterr().out


def test_check_and_example_take_what_is_recorded(folder, as_released):
    as_released(release_sealed(TOY, folder, folder / "out")[1])
    with pytest.raises(WrongAnswer, match="You made the mistake squares") as wrong:
        check("toy.double", lambda x: x * x)
    assert wrong.value.verdict.differs.startswith("The result differs in 3 of 3 values")
    bad = example("toy.double")
    assert bad.shows == "a vector of 3 numbers"
    torch.testing.assert_close(bad.expected, 2 * bad.args[0])
    torch.testing.assert_close(bad.got, bad.args[0] ** 2)
    assert example("toy.double", double).got is not None
    with pytest.raises(
        KeyError, match=r"no question 'toy\.twice' here; there is toy\.Scale, toy\."
    ):
        check("toy.twice", double)


def test_the_same_bytes_every_time(folder):
    first = [path.read_bytes() for path in release_sealed(TOY, folder, folder / "one")]
    assert first == [path.read_bytes() for path in release_sealed(TOY, folder, folder / "two")]


def test_what_folders_of_a_class_share_is_worked_out_once(folder, monkeypatch):
    asked, made = [], {}
    monkeypatch.setattr(
        sealed_release, "sealed_key", lambda question: asked.append(question) or b"key"
    )
    for student in ("ada", "ben"):
        _, package = release_sealed(TOY, folder, folder / student, made=made)
        with zipfile.ZipFile(package) as archive:
            assert archive.read("lectures_lib/homework/keys/toy.double.key") == b"key"
    assert asked == list(TOY.questions)


def test_the_notebook_is_the_usual_one_but_for_the_set_up_cell(folder):
    usual = nbformat.read(release(TOY, folder, folder / "usual"), as_version=4)
    path, package = release_sealed(TOY, folder, folder / "out")
    ours = nbformat.read(path, as_version=4)
    assert package.name == "toy_sealed.zip"
    changed = [
        i
        for i, (one, other) in enumerate(zip(usual.cells, ours.cells, strict=True))
        if one != other
    ]
    assert changed == [0]
    assert ours.cells[0].source.endswith("\n\nimport lectures_lib")
    assert ours.cells[0].metadata == usual.cells[0].metadata


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"setup"', '"begin"', "tag 'setup', which installs the library; 0 do"),
        ('"import lectures_lib"', '"import torch"', "no line `import lectures_lib`"),
        (
            '"import lectures_lib"',
            '"import lectures_lib\\nfrom lectures_lib.homework.banks import hw1"',
            r"imports lectures_lib.homework.banks: that is a bank",
        ),
        (
            '"import lectures_lib"',
            '"import lectures_lib\\nimport lectures_lib.blocks.attention"',
            "toy.double: an answer of the bank is defined in lectures_lib.blocks.attention",
        ),
    ],
)
def test_a_notebook_that_cannot_be_released_sealed_is_refused(old, new, words, folder):
    text = solution((old, new))
    (folder / "toy_a.ipynb").write_text(text)
    asked = question("double", double, mistakes=(("taken", causal_mask),))
    with pytest.raises(Unreleasable, match=words):
        release_sealed(Homework("toy", "A toy", (asked, SCALE)), folder, folder / "out")


def test_the_command_says_what_belongs_together(tmp_path):
    for arguments, words in (
        (["hw1", "--sealed"], "--sealed needs --out FOLDER"),
        (["hw1", "--graded-later", "hw1.causal_mask"], "--graded-later belongs to --sealed"),
        (
            ["hw1", "--sealed", "--out", "x", "--graded-later", "hw2.layer_norm"],
            "--graded-later hw2.layer_norm: that homework is not released here",
        ),
        (
            ["hw1", "--sealed", "--out", "x", "--graded-later", "hw1.casual"],
            "hw1 has no question 'hw1.casual'; it has hw1.scaled",
        ),
    ):
        done = CliRunner().invoke(app, ["release", *arguments])
        assert done.exit_code == 2
        assert words in " ".join(done.output.split())


# ------------------------------------------------------------------------------- the set-up cell


def set_up(folder: Path, *before: str) -> subprocess.CompletedProcess:
    """Run some code, and the released notebook's set-up cell twice, in a process of its own."""
    (notebook,) = folder.glob("*.ipynb")
    source = nbformat.read(notebook, as_version=4).cells[0].source
    after = "import lectures_lib; print(lectures_lib.__file__)"
    code = "\n".join([*before, source, source, after])
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)


INSTALLED = f"import sys; sys.path.insert(0, {str(imports.PACKAGE.parent)!r})"
COLAB = """
import sys, types
from pathlib import Path
def upload():
    return {"toy_sealed (1).zip": Path("elsewhere/x.zip").read_bytes()}
sys.modules["google"] = types.ModuleType("google")
sys.modules["google.colab"] = types.ModuleType("google.colab")
sys.modules["google.colab"].files = types.SimpleNamespace(upload=upload)
"""


def test_the_set_up_takes_the_library_from_the_file(folder):
    """Whatever is installed; without it, and where the library was imported before, it tells."""
    _, package = release_sealed(TOY, folder, folder / "out")
    place = package.parent
    done = set_up(place, INSTALLED)
    assert done.stdout.strip() == str(place / "toy_sealed/lectures_lib/__init__.py"), done.stderr
    done = set_up(place, INSTALLED, "import lectures_lib")
    assert "restart the kernel" in done.stderr
    (place / "elsewhere").mkdir()
    package.rename(place / "elsewhere" / "x.zip")
    done = set_up(place, INSTALLED)
    assert f"in toy_sealed.zip. Put it beside this notebook, in {place}" in done.stderr
    done = set_up(place, COLAB)
    assert "toy_sealed/lectures_lib" in done.stdout, done.stderr
    assert package.exists()


# ------------------------------------------------------------------------------------ what is taken


def test_imports_are_followed():
    found = imports.behind(
        ["%time 1\nfrom lectures_lib.models import bert\n!ls", "def f():\n    import pandas"]
    )
    assert {"lectures_lib", "lectures_lib.models.bert", "lectures_lib.blocks"} <= set(found.modules)
    assert "torch" in found.packages
    assert "pandas" not in found.packages
    assert not [name for name in found.modules if "homework" in name]
    assert (
        "lectures_lib.homework.inside.values"
        in imports.behind(["from lectures_lib.homework.inside import calls"]).modules
    )  # by a relative import


def test_a_module_s_data_goes_with_it():
    files = sealed_release._library(imports.behind(["from lectures_lib import data"]).modules)
    assert "lectures_lib/data/labelled/entities.jsonl" in files
    assert not [name for name in files if "homework" in name or "stored" in name]
    assert json.loads(files["lectures_lib/data/labelled/entities.jsonl"].splitlines()[0])


def test_a_view_is_recorded_as_students_get_it():
    def needs_memory_in_order(x):
        return x.view(-1) * 1.0

    view = Case((torch.arange(6.0).view(2, 3).T,))
    asked = question("view", needs_memory_in_order, [view])
    assert run(needs_memory_in_order, view).raised
    with pytest.raises(Unsealable, match="depend on how a tensor lies in memory"):
        sealed_key(asked)
