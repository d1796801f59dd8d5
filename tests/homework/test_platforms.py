"""What Canvas, Moodle and Gradescope give out is recognised, and everybody's notebook found in it
with the names their grade books need.
"""

from datetime import UTC, datetime

import pytest

from lectures_lib.homework.grader.submissions import collect as collecting
from lectures_lib.homework.grader.submissions.collect import collect
from lectures_lib.homework.notebook import Unreadable, code_cells
from tests.homework.packed import both, pack
from tests.homework.toy import notebook


def cells(submission):
    return code_cells(submission.read())


# ------------------------------------------------------------------------------------------- Canvas

CANVAS = {
    "lovelaceada_12345_67890_hw1.ipynb": notebook("ada"),
    "noetheremmy_LATE_23456_67900_hw1-1.ipynb": notebook("emmy"),
    "müllerjörg_34567_67910_my solution_1_2.ipynb": notebook("jörg"),
    "gaußcarl_45678_text.html": b"<p>see my site</p>",
    "turingalan_LATE_56789_link.html": b"<a>",
    "hoppergrace_67891_67930_hw1.pdf": b"%PDF",
}


@both
def test_canvas(tmp_path, zipped):
    found = collect(pack(tmp_path, CANVAS, zipped))
    assert found.kind == "canvas"
    assert found.told == "6 submissions in 6 files, read as a Canvas download."
    students = {each.student: each for each in found}
    assert sorted(students) == [
        "gaußcarl_45678", "hoppergrace_67891", "lovelaceada_12345", "müllerjörg_34567", "noetheremmy_23456", "turingalan_56789",
    ]  # fmt: skip
    ada, emmy = students["lovelaceada_12345"], students["noetheremmy_23456"]
    assert (cells(ada), ada.ids, ada.name, ada.handed_in) == (
        ["ada"],
        {"canvas": "12345"},
        "",
        None,
    )
    assert (cells(emmy), emmy.ids, emmy.handed_in) == (
        ["emmy"],
        {"canvas": "23456", "canvas_late": "LATE"},
        None,
    )
    assert cells(students["müllerjörg_34567"]) == ["jörg"]
    for student, words in (
        ("gaußcarl_45678", "only what was typed in or linked"),
        ("hoppergrace_67891", "no notebook: hw1.pdf"),
    ):
        with pytest.raises(Unreadable, match=words):
            students[student].read()


@both
def test_canvas_two_downloads_in_one_folder(tmp_path, zipped):
    """Files are numbered as they are uploaded. The name that their author gave them tells
    nothing.
    """
    files = {
        "monday/lovelaceada_12345_67890_hw1-7.ipynb": notebook("first"),
        "friday/lovelaceada_LATE_12345_68123_hw1_final.ipynb": notebook("last"),
        "friday/lovelaceada_LATE_12345_68001_hw1.ipynb": notebook("second"),
        "friday/lovelaceada_LATE_12345_68124_notes.txt": b"text",
    }
    (ada,) = collect(pack(tmp_path, files, zipped), homework="hw1")
    assert cells(ada) == ["last"]
    assert ada.files == ("friday/lovelaceada_LATE_12345_68123_hw1_final.ipynb",)
    assert ada.earlier == (
        "friday/lovelaceada_LATE_12345_68001_hw1.ipynb",
        "monday/lovelaceada_12345_67890_hw1-7.ipynb",
    )
    assert ada.ids == {"canvas": "12345", "canvas_late": "LATE"}


@both
def test_a_page_of_trials_handed_in_beside_the_homework_does_not_count(tmp_path, zipped):
    """Canvas gives out one attempt of each student, with all its files, and numbers them, too: the
    last of them need not be the homework.
    """
    answer = notebook("def add(a, b):\n    return a + b")
    checked = notebook("plus = sum", 'check("toy.add", plus)')
    files = {
        "lovelaceada_12345_67890_toy.ipynb": answer,
        "lovelaceada_12345_67891_scratch.ipynb": notebook("1 + 1", "# toy.ipynb"),
        "noetheremmy_23456_67892_first.ipynb": answer,
        "noetheremmy_23456_67893_last.ipynb": checked,
        "hoppergrace_34567_67894_a.ipynb": notebook("a"),
        "hoppergrace_34567_67895_b.ipynb": notebook("b"),
        "turingalan_45678_67896_toy.ipynb": answer,
        "turingalan_45678_67897_damaged.ipynb": answer[:20],
        "gaußcarl_56789_67898_toy.ipynb": answer.decode().encode("utf-16"),
        "gaußcarl_56789_67899_trials.ipynb": notebook("addition = 1"),
    }
    found = collect(pack(tmp_path, files, zipped), "canvas", "toy", ["add"])
    assert {each.student: each.files for each in found} == {
        "gaußcarl_56789": ("gaußcarl_56789_67898_toy.ipynb",),
        "hoppergrace_34567": ("hoppergrace_34567_67895_b.ipynb",),
        "lovelaceada_12345": ("lovelaceada_12345_67890_toy.ipynb",),
        "noetheremmy_23456": ("noetheremmy_23456_67893_last.ipynb",),
        "turingalan_45678": ("turingalan_45678_67897_damaged.ipynb",),
    }
    assert [each.earlier for each in found if each.student == "lovelaceada_12345"] == [
        ("lovelaceada_12345_67891_scratch.ipynb",)
    ]


@both
def test_a_later_file_changes_the_content_and_not_the_name(tmp_path, zipped):
    """So the next run of the grader finds the student's old result, sees that it no longer holds,
    and grades the new file.
    """
    first = {"lovelaceada_12345_67890_hw1.ipynb": notebook("old")}
    later = {"lovelaceada_LATE_12345_68123_hw1-1.ipynb": notebook("new")}
    (tmp_path / "before").mkdir()
    (before,) = collect(pack(tmp_path / "before", first, zipped))
    (after,) = collect(pack(tmp_path, first | later, zipped))
    assert (before.student, cells(before), cells(after)) == (after.student, ["old"], ["new"])


@both
def test_canvas_anonymous(tmp_path, zipped):
    files = {
        "anon_xYz12_67890_hw1.ipynb": notebook("a"),
        "LATE_anon_12345_67891_hw1.ipynb": notebook("b"),
    }
    found = collect(pack(tmp_path, files, zipped))
    assert [(each.student, each.ids) for each in found] == [
        ("anon_12345", {"canvas_late": "LATE"}),
        ("anon_xYz12", {}),
    ]


@both
def test_canvas_latecomers_are_put_beside(tmp_path, zipped):
    found = collect(pack(tmp_path, CANVAS | {"by_mail/zuse.ipynb": notebook("z")}, zipped))
    assert (found.kind, found[-1].student, cells(found[-1])) == ("canvas", "zuse", ["z"])


@both
def test_hostile_canvas_names_are_taken_from_the_left(tmp_path, zipped):
    """A student chooses the end of the file's name only, and cannot hand in for another."""
    (mallory,) = collect(
        pack(tmp_path, {"mallory_1_20_lovelaceada_12345_99999_hw1.ipynb": notebook("m")}, zipped)
    )
    assert (mallory.student, mallory.ids) == ("mallory_1", {"canvas": "1"})


# ------------------------------------------------------------------------------------------- Moodle

MOODLE = {
    "Ada Lovelace_4711_assignsubmission_file/hw1.ipynb": notebook("ada"),
    "Emmy Noether_4712_assignsubmission_file_/work/hw1.ipynb": notebook("emmy"),
    "Emmy Noether_4712_assignsubmission_onlinetext_/onlinetext.html": b"<p>see the file</p>",
    "Carl Friedrich Gauß_4713_assignsubmission_onlinetext/onlinetext.html": b"<p>done</p>",
    "Alan Turing_4714_assignsubmission_file_hw1.ipynb": notebook("alan"),
    "Participant_4715_assignsubmission_file/hw1.ipynb": notebook("blind"),
}


@both
def test_moodle(tmp_path, zipped):
    found = collect(pack(tmp_path, MOODLE, zipped))
    assert found.kind == "moodle"
    students = {each.student: each for each in found}
    assert sorted(students) == [
        "Ada Lovelace_4711", "Alan Turing_4714", "Carl Friedrich Gauß_4713", "Emmy Noether_4712", "Participant_4715",
    ]  # fmt: skip
    ada = students["Ada Lovelace_4711"]
    assert (cells(ada), ada.name, ada.ids, ada.handed_in) == (
        ["ada"],
        "Ada Lovelace",
        {"moodle": "Participant 4711"},
        None,
    )
    emmy = students["Emmy Noether_4712"]
    assert (cells(emmy), emmy.files, emmy.earlier) == (
        ["emmy"],
        ("Emmy Noether_4712_assignsubmission_file_/work/hw1.ipynb",),
        (),
    )
    assert cells(students["Alan Turing_4714"]) == ["alan"]
    assert (students["Participant_4715"].name, students["Participant_4715"].ids) == (
        "",
        {"moodle": "Participant 4715"},
    )
    with pytest.raises(Unreadable, match="only what was typed in"):
        students["Carl Friedrich Gauß_4713"].read()


def test_one_folder_of_a_moodle_download_alone(tmp_path):
    """When a student disagrees, only her folder is graded again: it has her name."""
    source = pack(tmp_path, MOODLE, zipped=False)
    (ada,) = collect(source / "Ada Lovelace_4711_assignsubmission_file")
    assert (ada.student, ada.name) == ("Ada Lovelace_4711", "Ada Lovelace")
    assert (cells(ada), ada.ids) == (["ada"], {"moodle": "Participant 4711"})


@both
def test_moodle_several_notebooks(tmp_path, zipped):
    """Handed in together: the names decide, else nobody does."""
    ada, ben, carl = (
        "Ada_1_assignsubmission_file",
        "Ben_2_assignsubmission_file",
        "Carl_3_assignsubmission_file",
    )
    files = {f"{ada}/hw1.ipynb": notebook("old"), f"{ada}/hw1-1.ipynb": notebook("new")}
    files |= {
        f"{ben}/hw1_ben.ipynb": notebook("right"),
        f"{ben}/hw10.ipynb": notebook("x"),
        f"{ben}/tools.ipynb": notebook("y"),
    }
    files |= {f"{carl}/hw1_a.ipynb": notebook("a"), f"{carl}/hw1_b.ipynb": notebook("b")}
    source = pack(tmp_path, files, zipped)
    found = collect(source, homework="hw1")
    assert [cells(found[0]), cells(found[1])] == [["new"], ["right"]]
    assert found[0].earlier == (f"{ada}/hw1.ipynb",)
    with pytest.raises(Unreadable, match="2 files from this student"):
        found[2].read()
    with pytest.raises(Unreadable, match="3 files from this student"):
        collect(source)[1].read()


@both
def test_hostile_moodle_folders_are_taken_from_the_outside(tmp_path, zipped):
    inner = "Ada_1_assignsubmission_file/Ben_2_assignsubmission_file/submission_7"
    files = {f"{inner}/lovelaceada_1_{i}_hw1.ipynb": notebook("m") for i in range(9)}
    files |= {f"{inner}/submission_metadata.yml": b"{}", "submissions.csv": b"x"}
    found = collect(pack(tmp_path, files, zipped))
    assert (found.kind, [each.student for each in found]) == ("moodle", ["Ada_1", "submissions"])


# --------------------------------------------------------------------------------------- Gradescope

METADATA = """\
---
submission_1001:
  :submitters:
  - :name: Ada Lovelace
    :sid: '0123'
    :email: ada@example.org
  :created_at: 2026-10-12 21:58:59.434238000 Z
  :score: 10.0
  :status: processed
  :results:
    tests: [{name: q1, score: 1.0}]
  :history:
  - :id: 999
    :created_at: 2026-10-11 08:00:00.000000000 Z
submission_1002:
  :submitters:
  - :name: Emmy Noether
    :sid: 077
    :email: emmy@example.org
  - :name: Carl Gauß
    :sid:
    :email: carl@example.org
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: &1 2026-10-13 06:00:00.000000000 Z
    zone: &2 !ruby/object:ActiveSupport::TimeZone
      name: Pacific Time (US & Canada)
    time: 2026-10-12 23:00:00.000000000 Z
  :history: []
submission_1003:
  :submitters:
  - :name: Ada Lovelace
    :sid: '0123'
    :email: ada@example.org
  :created_at: 2026-10-14 10:00:00
submission_1004:
  :submitters:
  - :name: Alan Turing
    :email:
  :created_at: "2026-10-14T10:00:00+02:00"
submission_1005:
  :submitters: []
"""
GRADESCOPE = {
    "submission_metadata.yml": METADATA.encode(),
    "submission_1001/hw1.ipynb": notebook("ada, first"),
    "submission_1002/hw1.ipynb": notebook("emmy and carl"),
    "submission_1002/tools.py": b"a = 1",
    "submission_1003/hw1.ipynb": notebook("ada, last"),
    "submission_1003/notes.txt": b"text",
    "submission_1006/hw1.ipynb": notebook("unknown"),
}


@both
@pytest.mark.parametrize("outer", ["", "assignment_77_export/"])
def test_gradescope(tmp_path, zipped, outer):
    found = collect(
        pack(tmp_path, {outer + path: data for path, data in GRADESCOPE.items()}, zipped)
    )
    assert found.kind == "gradescope"
    students = {each.student: each for each in found}
    alan = "Alan Turing_submission_1004"
    assert sorted(students) == [
        alan,
        "ada@example.org",
        "carl@example.org",
        "emmy@example.org",
        "submission_1005",
        "submission_1006",
    ]
    ada = students["ada@example.org"]
    assert (cells(ada), ada.earlier) == (["ada, last"], (f"{outer}submission_1001/hw1.ipynb",))
    assert (ada.name, ada.ids) == (
        "Ada Lovelace",
        {"gradescope": "submission_1003", "email": "ada@example.org", "sid": "0123"},
    )
    assert ada.handed_in == datetime(2026, 10, 14, 10, tzinfo=UTC)
    emmy, carl = students["emmy@example.org"], students["carl@example.org"]
    assert cells(emmy) == cells(carl) == ["emmy and carl"]
    assert (emmy.ids["sid"], "sid" in carl.ids) == ("077", False)
    assert emmy.handed_in == carl.handed_in == datetime(2026, 10, 13, 6, tzinfo=UTC)
    assert cells(students["submission_1006"]) == ["unknown"]
    assert students[alan].handed_in == datetime(2026, 10, 14, 8, tzinfo=UTC)
    with pytest.raises(Unreadable, match="no file of this submission"):
        students[alan].read()


@both
def test_gradescope_one_submission_several_notebooks(tmp_path, zipped):
    metadata = (
        b"submission_1: {':submitters': [{':email': a@b}], ':created_at': 2026-10-14 10:00:00}"
    )
    files = {
        "submission_metadata.yml": metadata,
        "submission_1/hw1.ipynb": notebook("right"),
        "submission_1/other.ipynb": notebook("x"),
    }
    source = pack(tmp_path, files, zipped)
    assert cells(collect(source, homework="hw1")[0]) == ["right"]
    with pytest.raises(Unreadable, match="2 files from this student"):
        collect(source)[0].read()


@both
def test_hostile_metadata_of_a_student_is_not_read(tmp_path, zipped):
    theirs = b"submission_1002: {':submitters': [{':email': ada@example.org}]}\nsubmission_1001: {}"
    files = {
        **GRADESCOPE,
        "submission_1001/submission_metadata.yml": theirs,
        "submission_1001/Ben_2_assignsubmission_file/hw1.ipynb": b"",
    }
    found = collect(pack(tmp_path, files, zipped))
    assert found.kind == "gradescope"
    assert {each.student for each in found} >= {"emmy@example.org", "carl@example.org"}
    del files["submission_metadata.yml"]
    source = pack(tmp_path, files, zipped)
    if not zipped:
        (source / "submission_metadata.yml").unlink()
    with pytest.raises(ValueError, match=r"there is no submission_metadata.yml"):
        collect(source)


@both
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"submission_1: {':submitters': [", "line 2"),
        (b"[1, 2]", "holds list"),
        (b"\xff\xfe\xff", "cannot be read"),
        (b"a: 2026-99-99 10:00:00", "cannot be read"),
        (b"[" * 50_000 + b"]" * 50_000, "more than 100 levels deep"),
        (b"? {a: b}\n: c", "cannot be read"),
        (b"!!python/object/apply:os.system ['true']", "cannot be read"),
    ],
    ids=range(7),
)
def test_hostile_metadata_is_refused_with_a_reason(tmp_path, zipped, text, words):
    with pytest.raises(ValueError, match=words):
        collect(pack(tmp_path, {**GRADESCOPE, "submission_metadata.yml": text}, zipped))


def test_odd_metadata_costs_names_only(tmp_path):
    text = b"submission_1001: 7\nsubmission_1002: {':submitters': 3, ':created_at': [1]}\nsubmission_1003: {':created_at': never}\n1: 2"
    found = collect(pack(tmp_path, {**GRADESCOPE, "submission_metadata.yml": text}, zipped=False))
    assert [(each.student, each.handed_in) for each in found][:2] == [
        ("1", None),
        ("submission_1001", None),
    ]


# --------------------------------------------------------------------------------- told which it is


@both
def test_the_kind_can_be_told(tmp_path, zipped):
    source = pack(tmp_path, CANVAS, zipped)
    assert collect(source, kind="plain")[-1].student == "turingalan_LATE_56789_link"
    with pytest.raises(
        ValueError,
        match=(
            r"nothing in .* is named like Ada Lovelace_4711_assignsubmission_file/hw1.ipynb; the "
            r"first file is"
        ),
    ):
        collect(source, kind="moodle")
    with pytest.raises(ValueError, match=r"there is no submission_metadata.yml"):
        collect(source, kind="gradescope")
    assert set(collecting._readers("hw1")) | {"auto"} == set(collecting.KINDS)


@both
@pytest.mark.parametrize(
    "names",
    [
        ["hw_1_2_anna", "zoe"],
        ["team_1_2_x", "anna", "ben", "carl"],
        ["submission_1", "submission_2"],
    ],
)
def test_a_few_names_by_chance_make_no_platform(tmp_path, zipped, names):
    found = collect(pack(tmp_path, {f"{name}.ipynb": notebook("a") for name in names}, zipped))
    assert (found.kind, [each.student for each in found]) == ("plain", sorted(names))
