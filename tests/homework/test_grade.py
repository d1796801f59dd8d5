"""Grading a class: resumed after interruptions, refused without a sandbox, never brought down by
one file.
"""

import ast
import csv
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

import lectures_lib
from lectures_lib.homework import __main__ as main
from lectures_lib.homework.__main__ import app
from lectures_lib.homework.grader.grading import grade_class, grade_one
from lectures_lib.homework.grader.grading.executors import Threads
from lectures_lib.homework.grader.grading.records import Records, Result
from lectures_lib.homework.grader.reports import canvas, moodle
from lectures_lib.homework.grader.reports.class_summary import summary
from lectures_lib.homework.grader.sandbox import bubblewrap, doors
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.grader.submissions.collect import collect
from lectures_lib.homework.questions import Case, Homework
from lectures_lib.homework.verdict import Verdict
from tests.homework.toy import (
    DOUBLE,
    QUICK,
    RIGHT_DOUBLE,
    RIGHT_SCALE,
    SCALE,
    TOY,
    notebook,
    question,
)


def test_an_interrupted_run_goes_on(submissions, pretended, tmp_path):
    out = tmp_path / "grades"
    pretended.broken["carl"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        grade_class.grade(TOY, submissions, out)
    assert not (out / "grades.csv").exists()
    seed = json.loads((out / "grading.json").read_text())["seed"]
    del pretended.broken["carl"]
    first = list(pretended.graded)
    results = grade_class.grade(TOY, submissions, out)
    assert [result.student for result in results] == ["anna", "ben", "carl", "dora"]
    again = pretended.graded[len(first) :]
    assert "carl" in again
    assert "anna" not in again
    assert json.loads((out / "grading.json").read_text())["seed"] == seed
    (submissions / "ben.ipynb").write_bytes(notebook("# changed"))
    done = len(pretended.graded)
    grade_class.grade(TOY, submissions, out, Threads(3))
    assert pretended.graded[done:] == ["ben"]
    assert len(list((out / "feedback").iterdir())) == 4


def test_a_fault_of_the_grader_costs_one_row_and_is_tried_again(submissions, pretended, tmp_path):
    pretended.broken["ben"] = RuntimeError("a bug")
    results = grade_class.grade(TOY, submissions, tmp_path / "grades")
    assert results[1].fault
    assert "fault of the grader" in results[1].problem
    del pretended.broken["ben"]
    results = grade_class.grade(TOY, submissions, tmp_path / "grades")
    assert results[1].problem == ""
    assert pretended.graded.count("ben") == 2
    assert pretended.graded.count("anna") == 1


def test_a_fault_of_the_grader_is_not_a_grade(submissions, pretended, tmp_path):
    """No zero anywhere: empty cells, no row for Canvas and Moodle, a word in the summary and on the
    page.
    """
    pretended.broken["ben"] = bubblewrap.Refused("no spaces left")
    said, out = [], tmp_path / "grades"
    results = grade_class.grade(TOY, submissions, out, tell=said.append)
    assert [result.student for result in results if result.fault] == ["ben"]
    with (out / "grades.csv").open(newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["student"] == "ben")
    assert (row["total"], row["toy.double"], row["toy.Scale"]) == ("", "", "")
    assert row["remarks"].startswith("NOT GRADED. The grader failed on this file")
    assert [text for text in said if "1 of 4 were NOT graded" in text]
    report = (out / "class_report.html").read_text()
    assert "Not graded" in report
    assert "The grader failed on these" in report
    (page,) = [path.read_text() for path in (out / "feedback").glob("ben*")]
    assert "not graded yet" in page
    assert "of 3 points" not in page
    assert "0</b>" not in page


def test_a_fault_of_the_grader_is_in_no_import_file():
    fine = Result(
        "anna",
        (),
        "f",
        (Verdict("toy.double", True, "right"),),
        ids={"canvas": "1", "moodle": "Participant 1"},
    )
    failed = Result(
        "ben",
        (),
        "",
        problem="It failed.",
        fault=True,
        ids={"canvas": "2", "moodle": "Participant 2"},
    )
    for table in (canvas.table, moodle.table):
        text, warnings = table(TOY, [fine, failed])
        assert "anna" in text
        assert "ben" not in text
        assert warnings == []
        assert table(TOY, [failed]) == ("", [])
    counted = summary(TOY, [fine, failed])
    assert (counted.read, counted.mean, counted.full) == (1, 2.0, 0)
    assert [shared.name for shared in counted.ungraded] == ["It failed."]
    assert counted.unread == []


def test_the_command_says_that_not_all_is_graded(submissions, pretended, tmp_path, monkeypatch):
    monkeypatch.setattr(main, "load", lambda name: TOY)
    pretended.broken["ben"] = RuntimeError("a bug")
    command = [
        "grade",
        "toy",
        str(submissions),
        "--out",
        str(tmp_path / "grades"),
        "--workers",
        "1",
    ]
    for_gradescope = tmp_path / "results.json"
    done = CliRunner().invoke(app, [*command, "--gradescope", str(for_gradescope)])
    assert done.exit_code == 3
    assert "3 graded, 3.0 of 3 points on average" in " ".join(done.output.split())
    assert "1 NOT graded" in done.output
    assert "The first: The grader failed on this file (RuntimeError: a bug)." in " ".join(
        done.output.split()
    )
    assert not for_gradescope.exists(), "Gradescope is told that nothing was graded, not a 0"
    del pretended.broken["ben"]
    assert CliRunner().invoke(app, command).exit_code == 0


def test_one_thread_gives_results_in_the_order_in_which_they_came_in(submissions, pretended):
    for i in range(60):
        (submissions / f"student{i:02d}.ipynb").write_bytes(notebook("# more"))
    job = grade_one.Job(TOY, 1, (), Limits())
    given = [result.student for result in Threads(1).results(list(collect(submissions)), job)]
    assert given == pretended.graded
    assert len(given) == 64


def test_after_a_few_faults_in_a_row_the_run_stops(submissions, pretended, tmp_path):
    for i in range(12):
        (submissions / f"student{i:02d}.ipynb").write_bytes(notebook("# more"))
    pretended.broken.update(
        {f"student{i:02d}": bubblewrap.Refused("no spaces left") for i in range(12)}
    )
    out = tmp_path / "grades"
    with pytest.raises(
        bubblewrap.Refused, match=r"failed on 5 submissions in a row.*no spaces left.*safe"
    ):
        grade_class.grade(TOY, submissions, out)
    assert not (out / "grades.csv").exists()
    with Records(out) as records:
        assert sorted(student for student, _ in records.written()) == [
            "anna",
            "ben",
            "carl",
            "dora",
        ]
    pretended.broken.clear()
    assert len(grade_class.grade(TOY, submissions, out)) == 16
    assert pretended.graded.count("anna") == 1


def test_a_changed_bank_or_limit_is_told_and_graded_anew(submissions, pretended, tmp_path):
    out = tmp_path / "grades"
    other_reference = Homework("toy", "A toy", (replace(DOUBLE, reference=lambda x: 3 * x), SCALE))
    other_case = Homework(
        "toy", "A toy", (replace(DOUBLE, cases=lambda g: [Case((torch.ones(4),))]), SCALE)
    )
    stricter = Homework("toy", "A toy", (replace(DOUBLE, rtol=1e-9), SCALE))
    runs = [
        (TOY, Limits()),
        (other_reference, Limits()),
        (other_case, Limits()),
        (stricter, Limits()),
        (stricter, Limits(cell=5.0)),
    ]
    for i, (homework, limits) in enumerate(runs):
        for told in ([0] if i == 0 else [1], []):
            said, before = [], len(pretended.graded)
            grade_class.grade(homework, submissions, out, limits=limits, tell=said.append)
            anew = (
                "4 results were worked out with another version of the questions, or under other "
                "limits: they are worked out anew."
            )
            assert (anew in said) == bool(told and told[0])
            assert len(pretended.graded) - before == (4 if told else 0)


def imported(path: Path) -> set[Path]:
    """The modules of the homework from which this one imports."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    names = {
        name
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    }
    root = Path(lectures_lib.__file__).parents[1]
    paths = {root.joinpath(*name.split(".")).with_suffix(".py") for name in names}
    return {path for path in paths if path.is_relative_to(grade_one.HOMEWORK) and path.exists()}


def test_all_that_judges_is_in_the_fingerprint_and_is_there():
    found = {pattern: set(grade_one.HOMEWORK.glob(pattern)) for pattern in grade_one.JUDGES}
    assert [pattern for pattern, paths in found.items() if not paths] == []
    behind, new = set(), {grade_one.HOMEWORK / "diagnosis.py"}
    while new:
        behind |= new
        new = set().union(*map(imported, new)) - behind
    assert len(behind) > 10
    assert behind <= set().union(*found.values())


@pytest.mark.parametrize(
    ("homework", "module"), [("hw1", "blocks.positions"), ("hw2", "homework.banks.hw1.inputs")]
)
def test_what_a_bank_takes_from_elsewhere_is_in_its_fingerprint(homework, module, monkeypatch):
    """The reference of hw1's last question, and what draws the inputs of hw2."""
    file = Path(lectures_lib.__file__).parent / f"{module.replace('.', '/')}.py"
    before, read = grade_one.Job(main.load(homework), 1, (), Limits()).bank, Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"# changed" * (path == file))
    assert grade_one.Job(main.load(homework), 1, (), Limits()).bank != before


def test_of_a_changed_bank_one_question_can_be_put_again(submissions, pretended, tmp_path):
    out = tmp_path / "grades"
    grade_class.grade(TOY, submissions, out)
    mended = Homework("toy", "A toy", (replace(DOUBLE, rtol=1e-2), SCALE))
    said = []
    grade_class.grade(mended, submissions, out, again=("toy.double",), tell=said.append)
    assert pretended.questions[-4:] == [(student, 1) for student in ("anna", "ben", "carl", "dora")]
    assert "only what is asked for is worked out anew" in said[1]
    grade_class.grade(mended, submissions, out)
    assert len(pretended.graded) == 8


@pytest.mark.parametrize(
    "damaged",
    [b"", b"{", b"[]", b'{"homework": "toy"}', b'{"homework": "toy", "seed": "x"}', b"\xff\xfe"],
)
def test_a_damaged_record_of_the_run_is_named(submissions, pretended, tmp_path, damaged):
    out = tmp_path / "grades"
    grade_class.grade(TOY, submissions, out)
    (out / "grading.json").write_bytes(damaged)
    with pytest.raises(ValueError, match=r"grading\.json is damaged"):
        grade_class.grade(TOY, submissions, out)
    assert (out / "grading.json").read_bytes() == damaged


def test_one_folder_holds_one_run(submissions, pretended, tmp_path):
    out = tmp_path / "grades"
    grade_class.grade(TOY, submissions, out, seed=7)
    grade_class.grade(TOY, submissions, out, seed=7)
    with pytest.raises(ValueError, match="with seed 7"):
        grade_class.grade(TOY, submissions, out, seed=8)
    with pytest.raises(ValueError, match="lies in the folder"):
        grade_class.grade(TOY, submissions, submissions / "grades")
    first, second = (tmp_path / name for name in ("one", "two"))
    for folder in (first, second):
        grade_class.grade(TOY, submissions, folder)
    seeds = [
        json.loads((folder / "grading.json").read_text())["seed"] for folder in (first, second)
    ]
    assert seeds[0] != seeds[1]


def refused(*arguments):
    done = CliRunner().invoke(app, ["grade", *map(str, arguments)])
    assert done.exit_code == 2
    return " ".join(done.output.split())


def test_without_bubblewrap_nothing_is_graded(submissions, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda program, path=None: None)
    out = tmp_path / "grades"
    said = refused("hw1", submissions, "--out", out)
    assert "sudo apt-get install bubblewrap" in said or "setpriv" in said
    assert not out.exists()


def test_elsewhere_than_on_linux_nothing_is_graded(submissions, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "needs Linux" in refused("hw1", submissions, "--out", tmp_path / "grades")


@pytest.mark.parametrize(
    ("complaint", "remedy"),
    [
        ("bwrap: No permissions to create new namespace", "user namespaces"),
        ("bwrap: setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns=0"),
        ("bwrap: Unknown option --size", "too old; 0.8 is known to do"),
        ("bwrap: Can't find source path /private/x: Permission denied", "readable for every user"),
    ],
)
def test_a_sandbox_that_does_not_start_is_explained(
    submissions, tmp_path, monkeypatch, complaint, remedy
):
    monkeypatch.setattr(
        bubblewrap,
        "command",
        lambda program, filter_fd, **_: ["sh", "-c", f'echo "{complaint}" >&2; exit 1'],
    )
    said = refused("hw1", submissions, "--out", tmp_path / "grades")
    assert complaint in said
    assert remedy in said


def test_a_sandbox_with_an_open_door_is_refused(submissions, tmp_path, monkeypatch):
    monkeypatch.setattr(doors, "_try_doors", lambda paths: ["there is a network"])
    assert "not shut: there is a network" in refused(
        "hw1", submissions, "--out", tmp_path / "grades"
    )


def test_what_is_asked_for_must_exist(submissions, tmp_path):
    assert "there is hw1" in refused("hw0", submissions, "--out", tmp_path / "grades")
    assert "there is no" in refused("hw1", tmp_path / "nowhere", "--out", tmp_path / "grades")


@pytest.mark.sandbox
def test_a_class_in_the_sandbox(tmp_path):
    """Names that are formulas or markup, files that are no notebooks, and honest work, in one
    run.
    """
    folder = tmp_path / "submissions"
    folder.mkdir()
    right = notebook("import lectures_lib", "lectures_lib.setup()", RIGHT_DOUBLE, RIGHT_SCALE)
    (folder / '=HYPERLINK("http:,,x").ipynb').write_bytes(right)
    (folder / "<script>alert(1)<,script>.ipynb").write_bytes(
        notebook("def double(x):\n    return x**2")
    )
    (folder / "zero.ipynb").write_bytes(b"")
    (folder / "deep.ipynb").write_bytes(b"[" * 100_000)
    results = grade_class.grade(TOY, folder, tmp_path / "grades", Threads(2), limits=QUICK)
    assert [sum(verdict.right for verdict in result.verdicts) for result in results] == [0, 2, 0, 0]
    with (tmp_path / "grades" / "grades.csv").open(newline="") as file:
        table = list(csv.reader(file))
    assert table[2][:4] == ['\'=HYPERLINK("http:,,x")', "3", "2", "1"]
    assert table[1][-1] == "double: squares; Scale: missing"
    assert not [
        path
        for path in (tmp_path / "grades" / "feedback").iterdir()
        if "<script" in path.read_text(encoding="utf-8")
    ]


@pytest.mark.sandbox
def test_a_broken_installation_gives_no_zeros(tmp_path, monkeypatch):
    """If answers cannot come back at all, that is no student's fault."""
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "anna.ipynb").write_bytes(notebook(RIGHT_DOUBLE))
    monkeypatch.setitem(bubblewrap.ENVIRONMENT, "PYTHONHOME", "/nowhere")
    with pytest.raises(bubblewrap.Refused, match="does not start"):
        grade_class.grade(TOY, tmp_path / "submissions", tmp_path / "grades")
    monkeypatch.delitem(bubblewrap.ENVIRONMENT, "PYTHONHOME")
    with pytest.raises(bubblewrap.Refused, match="do not come back"):
        grade_class.grade(
            TOY, tmp_path / "submissions", tmp_path / "grades", limits=Limits(total=-1.0)
        )
    assert not (tmp_path / "grades" / "grades.csv").exists()


@pytest.mark.sandbox
def test_submissions_that_the_sandbox_would_show_are_refused(monkeypatch):
    with pytest.raises(bubblewrap.Refused, match="can be read"):
        doors.require(hidden=[bubblewrap.PACKAGE / "blocks" / "attention.py"])


def again(submissions, out, *questions):
    return grade_class.grade(TOY, submissions, out, again=questions)


def test_one_question_is_put_again_to_everybody(submissions, pretended, tmp_path):
    """The others' verdicts stay; a new file is asked everything."""
    out = tmp_path / "grades"
    grade_class.grade(TOY, submissions, out)
    (submissions / "eva.ipynb").write_bytes(notebook("# eva"))
    results = again(submissions, out, "toy.double")
    assert sorted(pretended.questions[-5:]) == [
        ("anna", 1),
        ("ben", 1),
        ("carl", 1),
        ("dora", 1),
        ("eva", 2),
    ]
    assert all(
        [verdict.question for verdict in result.verdicts] == ["toy.double", "toy.Scale"]
        for result in results
    )
    with pytest.raises(KeyError, match=r"toy.double, toy.Scale"):
        again(submissions, out, "toy.nothing")


def test_a_later_file_of_a_student_is_graded_and_the_earlier_result_is_kept(
    submissions, pretended, tmp_path
):
    out = tmp_path / "grades"
    grade_class.grade(TOY, submissions, out)
    (submissions / "ben.ipynb").write_bytes(notebook("# better"))
    grade_class.grade(TOY, submissions, out)
    with Records(out) as records:
        assert sorted(student for student, _ in records.written()) == [
            "anna",
            "ben",
            "ben",
            "carl",
            "dora",
        ]


def test_two_graders_do_not_share_a_folder(submissions, pretended, tmp_path):
    out = tmp_path / "grades"
    grade_class.grade(TOY, submissions, out)
    with grade_class.only_one(out), pytest.raises(ValueError, match="another grader is at work"):
        grade_class.grade(TOY, submissions, out)


def test_a_full_disk_stops_the_run_and_loses_nothing(submissions, pretended, tmp_path, monkeypatch):
    out = tmp_path / "grades"
    begin = Records.__init__

    def small(self, folder):
        begin(self, folder)
        self._file.execute("PRAGMA max_page_count=4")  # of 4 KB

    monkeypatch.setattr(Records, "__init__", small)
    for name in ("anna", "ben", "carl", "dora"):
        (submissions / f"{name * 50}.ipynb").write_bytes(notebook(f"# {name}"))
    with pytest.raises(
        OSError, match=r"disk is full.*The [1-7] results before are safe: make room"
    ):
        grade_class.grade(TOY, submissions, out)
    monkeypatch.setattr(Records, "__init__", begin)
    before = len(pretended.graded)
    with Records(out) as records:
        safe = len(records.written())
    assert safe > 0
    assert len(grade_class.grade(TOY, submissions, out)) == 8
    assert len(pretended.graded) - before == 8 - safe


def test_a_record_that_is_damaged_is_not_overwritten(submissions, pretended, tmp_path):
    out = tmp_path / "grades"
    out.mkdir()
    (out / "results.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(ValueError, match="Put it aside"):
        grade_class.grade(TOY, submissions, out)
    assert (out / "results.sqlite").read_bytes().startswith(b"not a database")


def test_a_seed_with_which_an_argument_does_not_matter_is_not_drawn(monkeypatch):
    """Nobody listed the mistake of leaving `lengths` out; with the first seed's inputs it is
    right.
    """
    seeds = iter([1, 12, 23])
    monkeypatch.setattr(grade_class.secrets, "randbits", lambda bits: next(seeds))

    def inputs(generator):
        return [Case((torch.tensor([1.0, 2.0]), 1 if generator.initial_seed() == 1 else 2))]

    times = replace(question("times", lambda x, n, unused=0: x * n), cases=inputs)
    assert grade_class.drawn(Homework("toy", "A toy", (times,))) == 12


def test_a_seed_on_which_a_mistake_does_not_show_is_not_drawn(monkeypatch):
    """A vector that reads the same backwards cannot tell `reversed` from the right answer."""
    seeds = iter([1, 12, 23])
    monkeypatch.setattr(grade_class.secrets, "randbits", lambda bits: next(seeds))
    palindromes = question(
        "double", DOUBLE.reference, mistakes=(("reversed", lambda x: 2 * x.flip(0)),)
    )
    shown = replace(
        palindromes,
        cases=lambda g: [Case((torch.tensor([1.0, 2.0, 1.0 if g.initial_seed() == 1 else 3.0]),))],
    )
    assert grade_class.drawn(Homework("toy", "A toy", (shown,))) == 12
    never = replace(shown, cases=lambda g: [Case((torch.zeros(2),), shows="nothing")])
    monkeypatch.setattr(grade_class.secrets, "randbits", lambda bits: 0)
    with pytest.raises(
        ValueError, match=r"none tells all mistakes apart.*reversed is judged right"
    ):
        grade_class.drawn(Homework("toy", "A toy", (never,)))
