"""Variants from the course's file to the grade: what is released, how `check` judges it, sealed or
not, and what the grader makes of it.
"""

import csv
import subprocess
import sys
import zipfile

import nbformat
import pytest
from typer.testing import CliRunner

from lectures_lib.homework import WrongAnswer, check, load, names, variants
from lectures_lib.homework.__main__ import app
from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.grader.grading import course_file
from lectures_lib.homework.grader.grading.grade_one import Job
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.grader.submissions.found import Submission
from lectures_lib.homework.question_key import unpacked
from lectures_lib.homework.release import OPEN, Unreleasable, student_version
from lectures_lib.homework.variants import Draw, of_seed, with_variant
from tests.homework.bank import ROOT
from tests.homework.toy import notebook

COURSE = """
variant: 2027
homework:
  hw1:
    variant: {seed: 2027, students: [ada, ben, cy]}
"""
ANSWER = """
import math
def scaled_dot_product_attention(Q, K, V):
    return (Q @ K.mT / (%s * math.sqrt(Q.shape[-1]))).softmax(-1) @ V
"""
NAME = "hw1.scaled_dot_product_attention"


@pytest.fixture
def course(tmp_path):
    path = tmp_path / "course.yml"
    path.write_text(COURSE, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def none_chosen(monkeypatch):
    monkeypatch.setattr(variants, "_chosen", {})


def temperature(homework):
    question = homework[NAME]
    return question.varied.values[question.variant]


def released(course, out, *more):
    done = CliRunner().invoke(
        app, ["release", "hw1", "--rules", str(course), "--out", str(out), *more]
    )
    assert done.exit_code == 0, done.output
    return out


def test_each_student_s_folder_holds_the_variant_that_the_table_says(course, tmp_path):
    out = released(course, tmp_path / "out")
    rows = list(csv.DictReader((out / "hw1_variants.csv").read_text().splitlines()))
    assert [row["student"] for row in rows] == ["ada", "ben", "cy"]
    draw = course_file.load(course, load("hw1")).draw
    for row in rows:
        own = draw.homework(load("hw1"), [row["student"]])
        text = (out / row["folder"] / "hw1_attention.ipynb").read_text(encoding="utf-8")
        assert f"always T = {temperature(own):g}:" in text
    shared = (out / "hw1_attention.ipynb").read_text(encoding="utf-8")
    assert f"always T = {temperature(draw.homework(load('hw1'))):g}:" in shared


@pytest.mark.parametrize("homework", ["hw1", "hw2", "hw3", "hw4", "hw5", "hw6", "hw7"])
def test_without_a_variant_the_notebook_is_the_public_one_byte_for_byte(homework, tmp_path):
    rules = tmp_path / "course.yml"
    rules.write_text(f"homework:\n  {homework}:\n    points: {{}}\n", encoding="utf-8")
    done = CliRunner().invoke(
        app, ["release", homework, "--rules", str(rules), "--out", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output
    (public,) = (ROOT / "exercises").glob(f"{homework}_*.ipynb")
    assert (tmp_path / "out" / public.name).read_bytes() == public.read_bytes()


def test_a_text_that_is_not_there_is_no_variant():
    (path,) = (ROOT / "solutions").glob("hw1_*.ipynb")
    text = path.read_text(encoding="utf-8").replace("the output is 7.3", "the output is 7,3")
    with pytest.raises(Unreleasable, match=r"replaces 'the output is 7\.3'"):
        student_version(of_seed(load("hw1"), 2027), text)


def test_check_judges_by_what_the_set_up_cell_says(course, tmp_path):
    out = released(course, tmp_path / "out")
    student = nbformat.read(out / "hw1_attention.ipynb", as_version=4)
    (set_up,) = [cell for cell in student.cells if "setup" in cell.metadata.get("tags", [])]
    space = {}
    exec(ANSWER % temperature(of_seed(load("hw1"), 2027)), space)
    answer = space["scaled_dot_product_attention"]
    with pytest.raises(WrongAnswer):
        check(NAME, answer)
    exec(set_up.source[set_up.source.index("# Some questions have") :], {})
    check(NAME, answer)
    exec(ANSWER % 1.0, space)
    with pytest.raises(WrongAnswer, match="answers another variant"):
        check(NAME, space["scaled_dot_product_attention"])


def test_a_sealed_variant_is_checked_without_the_bank(course, tmp_path):
    out = released(course, tmp_path / "out", "--sealed")
    value = temperature(of_seed(load("hw1"), 2027))
    student = nbformat.read(out / "hw1_attention.ipynb", as_version=4)
    code = [cell.source for cell in student.cells if cell.cell_type == "code"]
    tries = [
        f"{ANSWER % tried}\ntry:\n    check('{NAME}', scaled_dot_product_attention)\n"
        "except Exception as error:\n    print(error)\n"
        for tried in (value, 1.0)
    ]
    imports = [each for each in code if "from lectures_lib.homework import check" in each]
    script = "\n".join([code[0], *imports, *tries])
    assert OPEN not in script
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=out, capture_output=True, text=True, timeout=300
    )
    assert f"✓ {NAME}: right" in done.stdout, done.stdout + done.stderr
    assert "answers another variant" in done.stdout
    assert (out / "hw1-2-1" / "hw1_sealed.zip").exists()
    own = {int(path.parent.name.split("-")[1]): path for path in out.glob("hw1-*/hw1_sealed.zip")}
    assert len(own) > 1, "folders share what does not vary, and only that"
    for variant, path in own.items():
        with zipfile.ZipFile(path) as package:
            key = unpacked(package.read(f"lectures_lib/homework/keys/{NAME}.key"))
        space = {}
        exec(ANSWER % load("hw1")[NAME].varied.values[variant], space)
        assert key.accepts(space["scaled_dot_product_attention"]), path


@pytest.mark.sandbox
def test_the_grader_goes_by_the_course_s_file_and_not_by_the_notebook(course, tmp_path):
    draw = Draw(2027, ("ada", "ben", "cy"))
    hw1 = load("hw1")
    own = {name: temperature(draw.homework(hw1, [name])) for name in ("ada", "ben", "cy", "dan")}
    other = next(value for value in (1.3, 0.7, 1.7) if value != own["ben"])
    claims = f"from lectures_lib.homework import use_variants\nuse_variants({{'{NAME}': 0}})"
    answers = {"ada": own["ada"], "ben": other, "cy": 1.0, "dan": own["dan"]}
    folder = tmp_path / "submissions"
    folder.mkdir()
    for name, value in answers.items():
        cells = [claims, ANSWER % value]
        (folder / f"{name}.ipynb").write_bytes(notebook(*cells))
    arguments = ["grade", "hw1", str(folder), "--out", str(tmp_path / "grades")]
    arguments += ["--rules", str(course), "--seed", "5", "--workers", "1"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    rows = csv.DictReader((tmp_path / "grades" / "grades.csv").read_text().splitlines())
    rows = {row["student"]: row for row in rows}
    points = {name: row[NAME] for name, row in rows.items()}
    assert points == {"ada": "2", "ben": "0", "cy": "0", "dan": "2"}
    assert all("another_variant" in str(rows[name]) for name in ("ben", "cy"))
    assert not any("cell" in row["remarks"] for row in rows.values()), "all cells ran"
    # another year: everybody is graded anew, and what was right is last year's
    course.write_text(COURSE.replace("2027, ", "2028, "), encoding="utf-8")
    assert CliRunner().invoke(app, arguments).exit_code == 0
    rows = csv.DictReader((tmp_path / "grades" / "grades.csv").read_text().splitlines())
    assert {row[NAME] for row in rows if row["student"] != "ben"} == {"0"}


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("per student", "must be a whole number, such as the year, or a seed and students"),
        ("0", "must be at least 1, and is 0"),
        ("{students: [ada]}", "seed is missing"),
        ("{seed: 1, students: [ada, ada]}", "ada is named twice"),
        ("{seed: 1, student: [ada]}", "is students meant?"),
    ],
)
def test_a_wrong_setting_is_told_with_its_line(setting, told, tmp_path):
    path = tmp_path / "course.yml"
    path.write_text(f"homework:\n  hw1:\n    variant: {setting}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 3, ") as refusal:
        course_file.load(path, load("hw1"))
    assert told in str(refusal.value)


def test_a_mistake_of_another_variant_can_earn_part_of_the_points(tmp_path):
    path = tmp_path / "course.yml"
    wanted = "{scaled_dot_product_attention: {another_variant: 50}}"
    path.write_text(f"homework:\n  hw1:\n    mistakes: {wanted}\n", encoding="utf-8")
    assert course_file.load(path, load("hw1")).mistakes
    path.write_text(
        "homework:\n  hw1:\n    mistakes: {causal_mask: {another_variant: 50}}\n", encoding="utf-8"
    )
    with pytest.raises(ValueError, match="knows no mistake 'another_variant'"):
        course_file.load(path, load("hw1"))


# ------------------------------------------------------------------------------ to each his or her own

STUDENTS = tuple(f"student{i}" for i in range(12))
VARIED = [q.name for name in names() for q in load(name).questions if q.varied]


def own_variants(name):
    """The draw for a class, and {number of a variant: a student who has it} of a question."""
    draw = Draw(2027, STUDENTS)
    homework = load(name.split(".")[0])
    theirs = {draw.homework(homework, [each])[name].variant: each for each in STUDENTS}
    assert set(theirs) == set(range(1, len(homework[name].varied.values)))
    return draw, homework, theirs


@pytest.mark.parametrize("name", VARIED)
def test_a_student_s_check_is_by_the_variant_that_the_own_notebook_asks_for(name):
    """And an answer to what another student was asked is told to be that."""
    draw, homework, theirs = own_variants(name)
    (path,) = (ROOT / "solutions").glob(f"{homework.name}_*.ipynb")
    solution = path.read_text(encoding="utf-8")
    answers = {i: with_variant(homework[name], i).reference for i in theirs}
    for i, student in theirs.items():
        mine = draw.homework(homework, [student])
        notebook = nbformat.reads(student_version(mine, solution), as_version=4)
        (set_up,) = [c.source for c in notebook.cells if "setup" in c.metadata.get("tags", [])]
        exec(set_up[set_up.index("# Some questions have") :], {})
        text = " ".join(" ".join(cell.source for cell in notebook.cells).split())
        varied = homework[name].varied
        for put in varied.wording(varied.values[i]).values():
            assert " ".join(put.split()) in text
        check(name, answers[i])
        for other in set(theirs) - {i}:
            with pytest.raises(WrongAnswer, match="answers another variant") as wrong:
                check(name, answers[other])
            assert varied.says(varied.values[i]) in str(wrong.value)


@pytest.mark.parametrize("name", VARIED)
def test_a_student_is_graded_by_the_own_variant(name):
    """By whatever name the course's file calls the student; nothing of it is taken from another."""
    draw, homework, theirs = own_variants(name)
    keys = (AnswerKey(homework[name], 5),)
    job = Job(homework, 5, keys, Limits(), draw)
    answers = {i: with_variant(homework[name], i).reference for i in theirs}
    for i, student in theirs.items():
        for submission in (
            Submission(student, (), bytes),
            Submission("someone", (), bytes, ids={"canvas": student}),
        ):
            (key,) = job.of(submission).keys
            assert key.question.variant == i
        right = {other: key.accepts(answer) for other, answer in answers.items()}
        assert right == {other: other == i for other in theirs}
