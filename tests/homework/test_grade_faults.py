"""A fault of the grader, a full disk or a damaged record is no grade, and is told."""

import csv

import pytest
from typer.testing import CliRunner

from lectures_lib.homework import __main__ as main
from lectures_lib.homework.__main__ import app
from lectures_lib.homework.grader.grading import grade_class, grade_one
from lectures_lib.homework.grader.grading.grade_one import Job
from lectures_lib.homework.grader.grading.records import Records, Result
from lectures_lib.homework.grader.reports import canvas, moodle
from lectures_lib.homework.grader.reports.class_summary import summary
from lectures_lib.homework.grader.sandbox import bubblewrap, template
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.grader.submissions.collect import collect
from lectures_lib.homework.verdict import Verdict
from tests.homework.toy import RIGHT_DOUBLE, TOY, notebook


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


def test_a_stop_between_two_tries_starts_nothing_new(monkeypatch):
    """Ctrl-C closes the template that a worker waits for: it must not start another."""
    tries = []

    class Closed:
        def fork(self, *_):
            tries.append(1)
            template._ending.set()
            raise bubblewrap.Refused("the warm process has ended")

    monkeypatch.setattr(template, "_of_this_thread", Closed)
    try:
        with pytest.raises(template.Ending):
            template.forked(Limits(), 0, 1)
    finally:
        template._ending.clear()
    assert tries == [1]


def test_a_fault_in_reading_a_file_is_one_file_s_and_does_not_end_the_class(
    submissions, tmp_path, monkeypatch
):
    def fails(data):
        raise RecursionError("too deep")

    monkeypatch.setattr(grade_one.text_answers, "answers", fails)
    submission = next(iter(collect(submissions)))
    result = grade_one.grade_safely(submission, Job(TOY, 0, (), Limits()))
    assert result.fault and "RecursionError: too deep" in result.problem


def test_a_fault_in_looking_up_a_result_does_not_end_the_class(
    submissions, pretended, tmp_path, monkeypatch
):
    out = tmp_path / "grades"
    grade_class.grade(TOY, submissions, out)

    def fails(self, submission):
        raise RecursionError("too deep")

    monkeypatch.setattr(Job, "fingerprint", fails)
    results = grade_class.grade(TOY, submissions, out)
    assert len(results) == 4 and all(result.fault for result in results)


@pytest.mark.parametrize(
    "limit",
    [
        "--cell-seconds=0", "--cell-seconds=-1", "--total-seconds=nan", "--total-seconds=0", "--memory-gb=inf", "--memory-gb=nan",
        "--memory-gb=-1",
    ],
)  # fmt: skip
def test_limits_under_which_nobody_could_answer_are_refused(
    submissions, pretended, tmp_path, monkeypatch, limit
):
    monkeypatch.setattr(main, "load", lambda name: TOY)
    command = ["grade", "toy", str(submissions), "--out", str(tmp_path / "grades"), limit]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 2, done.output
    assert not isinstance(done.exception, ValueError)
    assert not pretended.graded


@pytest.mark.parametrize(
    ("user", "options", "told"),
    [(0, [], True), (1000, [], False), (0, ["--container", "--gradescope", "r.json"], False)],
)
def test_root_is_told_that_it_need_not_be_root(
    submissions, pretended, tmp_path, monkeypatch, user, options, told
):
    monkeypatch.setattr(main, "load", lambda name: TOY)
    monkeypatch.setattr(main.os, "geteuid", lambda: user)
    monkeypatch.setattr(main, "write_whole", lambda path, text: None)
    monkeypatch.setattr(main.for_gradescope, "for_one_student", lambda *_: "")
    command = ["grade", "toy", str(submissions), "--out", str(tmp_path / "grades"), *options]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert ("You are root." in done.output) == told
