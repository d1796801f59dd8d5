"""Student notebooks: made from the solutions, never stale, with no answer in them."""

import errno
import re
from pathlib import Path

import nbformat
import pytest
import yaml

from lectures_lib.homework import load, names
from lectures_lib.homework.release import (
    BEGIN,
    END,
    OPEN,
    Unreleasable,
    book,
    release,
    student_version,
    with_addresses,
    without_solutions,
)
from tests.homework.toy import TOY
from tests.homework.toy_solution import solution

ROOT = Path(__file__).resolve().parents[2]


def test_a_students_notebook_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    def full(fd):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "toy_solution.ipynb").write_text(solution(), encoding="utf-8")
    out = tmp_path / "exercises"
    made = release(TOY, tmp_path, out).read_text(encoding="utf-8")
    monkeypatch.setattr("os.fsync", full)
    (tmp_path / "toy_solution.ipynb").write_text(solution(("Text.", "More.")), encoding="utf-8")
    with pytest.raises(OSError, match="No space left"):
        release(TOY, tmp_path, out)
    assert [path.read_text(encoding="utf-8") for path in out.iterdir()] == [made]


def test_answers_and_outputs_go_and_the_rest_stays():
    text = student_version(TOY, solution())
    student = nbformat.reads(text, as_version=4)
    code = [cell for cell in student.cells if cell.cell_type == "code"]
    assert [cell.source for cell in code[:3]] == [
        "import lectures_lib",
        f"def double(x):\n    {OPEN}",
        'check("toy.double", double)',
    ]
    assert code[3].source.endswith(f"    def forward(self, x):\n        {OPEN}")
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert code[0].metadata.tags == ["setup"]
    assert student.metadata.kernelspec.name == "python3"
    assert "widgets" not in student.metadata
    assert "x + x" not in text
    assert "SOLUTION" not in text
    assert text == student_version(TOY, solution())


@pytest.mark.parametrize(
    "source",
    [
        BEGIN,
        END,
        f"{BEGIN}\n{BEGIN}\n{END}",
        f"{END}\n{BEGIN}",
        f"{BEGIN}\n{END}\n{END}",
        "### begin SOLUTION\n",
        f"{BEGIN} here\n{END}",
    ],
)
def test_markers_must_pair(source):
    with pytest.raises(Unreleasable):
        without_solutions(source)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (END, "pass", "without"),
        ("*2 points", "*3 points", "'3'"),
        ("5 minutes", "6 minutes", "'6'"),
        ("difficulty 1", "difficulty 2", "'2'"),
        ("Question 1: Double", "Question 1: Twice", "Twice"),
        ("## Question 2", "Then 2", "does not state"),
        ("*1 point ·", "*One point ·", "does not state"),
        ('check(\\"toy.double\\", double)', "double(1)", "it should check"),
        ("check('toy.Scale', Scale)", "check('toy.Scale', scale)", "it should check"),
        ("def double", "def twice", "must define double"),
        (BEGIN, "pass", "one cell with a solution"),
    ],
)
def test_a_notebook_that_disagrees_with_its_questions_is_refused(old, new, words):
    with pytest.raises(Unreleasable, match=words):
        student_version(TOY, solution((old, new)))


def test_links_lead_to_the_site():
    """A student has this file alone: nothing stands beside it."""
    site = "https://owner.github.io/course"
    text = (
        "[a](../notebooks/02_x.ipynb#why), [b](../book/handing_in.md), "
        "[c](../notebooks/03_y.ipynb), [d](https://pytorch.org/), [e](#here)"
    )
    found = with_addresses(text, site)
    assert found.startswith(
        f"[a]({site}/notebooks/02_x.html#why), [b]({site}/book/handing_in.html), "
        f"[c]({site}/notebooks/03_y.html), "
    )
    assert found.endswith(", [d](https://pytorch.org/), [e](#here)")
    for link in ("../data/words.txt", "hw2.ipynb", "../notebooks/02_x.py"):
        with pytest.raises(Unreleasable, match="no page of the site"):
            with_addresses(f"[a]({link})", site)
    with pytest.raises(Unreleasable, match="no REPOSITORY"):
        with_addresses(text, "")
    setup = nbformat.v4.new_code_cell('REPOSITORY = "https://github.com/Some-Body/our-course"')
    assert book([setup]) == "https://some-body.github.io/our-course"
    setup = nbformat.v4.new_code_cell('REPOSITORY = "https://github.com/Ada/Ada.github.io"')
    assert book([setup]) == "https://ada.github.io"


@pytest.mark.parametrize("name", names())
def test_every_link_is_absolute_and_of_this_book(name):
    (path,) = (ROOT / "exercises").glob(f"{name}_*.ipynb")
    cells = [
        cell.source
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "markdown"
    ]
    links = re.findall(r"\]\(([^)\s]*)\)", "\n".join(cells))
    assert len(links) > len(load(name).questions)
    assert all(link.startswith(("https://", "#")) for link in links)
    repository = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"][
        "url"
    ]
    owner, course = repository.split("/")[-2:]
    ours = [link for link in links if ".github.io/" in link]
    assert ours
    assert all(link.startswith(f"https://{owner.lower()}.github.io/{course}/") for link in ours)
    for link in ours:
        page = link.split(f"/{course}/")[1].split(".html")[0]
        assert list(ROOT.glob(f"{page}.*")), link


def test_there_must_be_one_solution_notebook(tmp_path):
    with pytest.raises(FileNotFoundError, match="contains 0"):
        release(TOY, tmp_path, tmp_path / "out")
    (tmp_path / "toy_a.ipynb").write_text(solution())
    assert release(TOY, tmp_path, tmp_path / "out") == tmp_path / "out" / "toy_a.ipynb"
    (tmp_path / "toy_b.ipynb").write_text(solution())
    with pytest.raises(FileNotFoundError, match="contains 2"):
        release(TOY, tmp_path, tmp_path / "out")


@pytest.mark.parametrize("name", names())
def test_student_notebooks_are_not_stale(name, tmp_path):
    made = release(load(name), ROOT / "solutions", tmp_path)
    stored = ROOT / "exercises" / made.name
    assert stored.read_bytes() == made.read_bytes(), "run `python -m lectures_lib.homework release`"


def test_every_student_notebook_belongs_to_a_homework():
    assert (
        sorted(path.name.split("_")[0] for path in (ROOT / "exercises").glob("*.ipynb")) == names()
    )


@pytest.mark.parametrize("name", names())
def test_no_answer_leaks(name):
    (path,) = (ROOT / "exercises").glob(f"{name}_*.ipynb")
    text, inside, lines = path.read_text(encoding="utf-8"), False, set()
    for cell in nbformat.read(ROOT / "solutions" / path.name, as_version=4).cells:
        for line in map(str.strip, cell.source.splitlines()):
            inside = line == BEGIN or (inside and line != END)
            if inside and len(line) >= 12 and line != BEGIN:
                lines.add(line)
    assert len(lines) >= len(load(name).questions)
    student = nbformat.reads(text, as_version=4)
    shown = {line.strip() for cell in student.cells for line in cell.source.splitlines()}
    assert not lines & shown
    assert not [line for line in lines if any(line in other for other in shown)]
    assert "SOLUTION" not in text
    assert text.count(OPEN.replace('"', '\\"')) >= len(load(name).questions)
