"""The rules of a course: what they make of a result, and what is said of a file that is wrong."""

import csv
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from lectures_lib.homework import load as load_homework
from lectures_lib.homework import names
from lectures_lib.homework.grader.grading.course_file import load
from lectures_lib.homework.grader.grading.late import LatePolicy
from lectures_lib.homework.grader.grading.moments import moment
from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.grading.settings import Decision
from lectures_lib.homework.grader.reports import class_report, feedback, gradebook, gradescope
from lectures_lib.homework.grader.reports.class_summary import summary
from lectures_lib.homework.grader.reports.everything import write_all
from lectures_lib.homework.grader.reports.moodle import table as moodle_import
from lectures_lib.homework.verdict import Verdict
from tests.homework.bank import ROOT
from tests.homework.toy import TOY
from tests.homework.toy_results import BERLIN, DEADLINE

TEN = LatePolicy(percent_per_day=10)


def result(student="anna", right=("double", "Scale"), handed_in="", **more):
    verdicts = tuple(
        Verdict(question.name, question.answer_name in right, "values")
        for question in TOY.questions
    )
    return Result(
        student, (), "", verdicts, handed_in=handed_in.isoformat() if handed_in else "", **more
    )


def after(**time):
    return result(handed_in=DEADLINE.astimezone(UTC) + timedelta(**time))


# ----------------------------------------------------------------------------------- what is scored


def test_without_rules_the_bank_decides():
    score = Rules().score(TOY, result(right=("double",)))
    assert (score.points, score.possible) == (
        {"toy.double": 2.0, "toy.Scale": 0.0},
        {"toy.double": 2.0, "toy.Scale": 1.0},
    )
    assert (
        score.total,
        score.out_of,
        score.deducted,
        score.days_late,
        score.note,
        score.withdrawn,
    ) == (2.0, 3.0, 0.0, 0.0, "", ())
    assert Rules().score(TOY, after(days=400)).total == 3.0
    assert Rules().score(TOY, Result("anna", (), "", problem="The file is empty.")).total == 0.0


def test_points_withdrawn_and_cap():
    score = Rules(points={"double": 4.5, "toy.Scale": 0}).score(TOY, result())
    assert (score.points, score.out_of) == ({"toy.double": 4.5, "toy.Scale": 0.0}, 4.5)
    score = Rules(withdrawn=["toy.double"]).score(TOY, result())
    assert (score.points, score.possible, score.withdrawn) == (
        {"toy.Scale": 1.0},
        {"toy.Scale": 1.0},
        ("toy.double",),
    )
    score = Rules(cap=2.5).score(TOY, result())
    assert (sum(score.points.values()), score.earned, score.out_of, score.total) == (
        3.0,
        2.5,
        2.5,
        2.5,
    )
    assert score.note == "At most 2.5 points count."
    assert Rules(cap=2.5).score(TOY, result(right=("double",))).note == ""
    with pytest.raises(ValueError, match="toy has no question 'triple'; it has double, Scale"):
        Rules(points={"triple": 1}).score(TOY, result())


@pytest.mark.parametrize(
    ("time", "days", "total"),
    [
        ({"days": -3}, 0, 3.0),
        ({}, 0, 3.0),
        ({"minutes": 15}, 0, 3.0),
        ({"minutes": 15, "seconds": 1}, 1, 2.7),
        ({"days": 1, "minutes": 15}, 1, 2.7),
        ({"days": 1, "minutes": 16}, 2, 2.4),
        ({"days": 4}, 4, 1.8),
        ({"days": 7}, 7, 1.5),
        ({"days": 8}, 8, 0.0),
    ],
)
def test_each_started_day_takes_its_part(time, days, total):
    policy = LatePolicy(percent_per_day=10, floor_percent=50, accepted_days=7)
    score = Rules(deadline=DEADLINE, grace_minutes=15, late=policy).score(TOY, after(**time))
    assert (score.days_late, score.total, score.deducted) == (days, total, round(3 - total, 2))


def test_a_part_of_what_was_possible():
    rules = Rules(deadline=DEADLINE, late=LatePolicy(percent_per_day=20, of="possible"))
    late = DEADLINE.astimezone(UTC) + timedelta(hours=30)
    assert rules.score(TOY, result(right=("double",), handed_in=late)).total == 0.8
    assert rules.score(TOY, result(right=("Scale",), handed_in=late)).total == 0.0
    rules = rules.model_copy(update={"cap": 1.0})
    assert rules.score(TOY, result(right=("double",), handed_in=late)).total == 0.6


def test_what_the_student_is_told():
    policy = LatePolicy(percent_per_day=10, floor_percent=50, accepted_days=7)
    rules = Rules(deadline=DEADLINE, late=policy)
    day = "Handed in after the deadline (2026-10-12 23:59 Europe/Berlin), on day"
    taken = (
        "Each started day takes 10 % of what was earned, but 50 % of them are left in any case: "
        "0.6 points."
    )
    assert rules.score(TOY, after(days=2)).note == f"{day} 2. {taken}"
    assert (
        rules.score(TOY, after(days=8)).note
        == f"{day} 8. The last day on which it counted was day 7."
    )
    assert (
        Rules(deadline=DEADLINE).score(TOY, after(days=2)).note == f"{day} 2. That costs nothing."
    )
    capped = Rules(
        deadline=DEADLINE, late=LatePolicy(percent_per_day=1, of="possible"), cap=2
    ).score(TOY, after(hours=1))
    assert (
        capped.note
        == f"At most 2 points count. {day} 1. Each started day takes 1 % of the 2 possible points: 0.02 points."
    )


def test_a_day_is_24_hours_also_when_the_clocks_change():
    """The night to 25 October 2026 has an hour more in Berlin."""
    rules = Rules(deadline=datetime(2026, 10, 24, 23, 59, tzinfo=BERLIN), late=TEN)
    assert (
        rules.score(TOY, result(handed_in=datetime(2026, 10, 25, 22, 59, tzinfo=BERLIN))).days_late
        == 1
    )
    assert (
        rules.score(TOY, result(handed_in=datetime(2026, 10, 25, 23, 0, tzinfo=BERLIN))).days_late
        == 2
    )


@pytest.mark.parametrize(
    "known",
    [
        {"student": "ada"},
        {"student": "x", "ids": {"canvas": "ada"}},
        {"student": "x", "ids": {"moodle": "Participant 1", "email": "ada"}},
    ],
)
def test_an_extension_by_any_name(known):
    rules = Rules(deadline=DEADLINE, late=TEN, extensions={"ada": DEADLINE + timedelta(days=7)})
    late = DEADLINE.astimezone(UTC) + timedelta(days=8)
    assert rules.score(TOY, result(handed_in=late, **known)).days_late == 1
    assert rules.score(TOY, result(handed_in=late)).days_late == 8
    assert rules.unused([result(**known)]) == []
    assert rules.unused([result()]) == ["ada"]


@pytest.mark.parametrize("name", ["4711", "Participant 4711"])
def test_moodle_s_number_names_a_student_with_its_word_and_without(name):
    rules = Rules(deadline=DEADLINE, late=TEN, extensions={name: DEADLINE + timedelta(days=7)})
    theirs = result(
        ids={"moodle": "Participant 4711"}, handed_in=DEADLINE.astimezone(UTC) + timedelta(days=8)
    )
    assert rules.score(TOY, theirs).days_late == 1
    assert rules.unused([theirs]) == []


def test_canvas_mark_is_nobody_s_name():
    rules = Rules(deadline=DEADLINE, late=TEN, extensions={"LATE": DEADLINE + timedelta(days=7)})
    marked = result(
        ids={"canvas": "1", "canvas_late": "LATE"}, handed_in=DEADLINE + timedelta(days=2)
    )
    assert rules.score(TOY, marked).days_late == 2
    assert rules.unused([marked]) == ["LATE"]


def test_when_nobody_knows_when():
    rules = Rules(deadline=DEADLINE, late=TEN, handed_in={"ben": DEADLINE + timedelta(hours=1)})
    assert rules.score(TOY, result()).total == 3.0
    assert rules.score(TOY, result("ben")).total == 2.7
    marked = result(ids={"canvas": "1", "canvas_late": "LATE"})
    score = rules.score(TOY, marked)
    assert (score.total, score.days_late, score.note) == (3.0, 0.0, "")
    assert "Canvas marks this as late" in score.remark
    score = Rules().score(TOY, marked)
    assert (score.total, score.remark) == (
        3.0,
        "Canvas marks this as late; no deadline is set, so nothing is taken off.",
    )
    assert Rules(handed_in={"1": DEADLINE}).score(TOY, marked).remark == ""
    assert Rules(deadline=DEADLINE, extensions={"1": DEADLINE}).score(TOY, marked).remark == ""
    assert Rules(deadline=DEADLINE, handed_in={"1": DEADLINE}).score(TOY, marked).remark == ""


# --------------------------------------------------------------------------------------- properties

cents = st.integers(0, 2000).map(lambda n: n / 100)
percents = st.integers(0, 1000).map(lambda n: n / 10)
policies = st.builds(
    LatePolicy,
    percent_per_day=percents,
    of=st.sampled_from(["earned", "possible"]),
    floor_percent=percents,
    accepted_days=st.none() | st.integers(0, 10),
)
minutes = st.integers(-2000, 20_000)
rights = st.sets(st.sampled_from(["double", "Scale"]))
excuses = st.just("all") | st.lists(st.sampled_from(["toy.double", "Scale"]), max_size=2)
all_rules = st.builds(
    Rules,
    points=st.dictionaries(st.sampled_from(["double", "toy.Scale"]), cents),
    withdrawn=st.lists(st.just("toy.double"), max_size=1),
    extra=st.lists(st.just("Scale"), max_size=1),
    excused=st.dictionaries(st.sampled_from(["anna", "4711", "ben"]), excuses),
    deadline=st.just(DEADLINE),
    grace_minutes=st.integers(0, 3000).map(float),
    late=st.none() | policies,
    cap=st.none() | cents,
)


@settings(max_examples=150, deadline=None)
@given(all_rules, rights, minutes)
def test_never_below_nothing_nor_above_what_is_possible(rules, right, late):
    score = rules.score(
        TOY, result(right=right, handed_in=DEADLINE.astimezone(UTC) + timedelta(minutes=late))
    )
    most = score.out_of + sum(score.possible[name] for name in score.extra)
    assert 0 <= score.total <= score.earned <= round(most, 2)
    assert score.out_of <= sum(score.possible.values()) + 1e-9
    assert 0 <= score.deducted <= score.earned
    assert score.total == round(score.total, 2) == round(score.earned - score.deducted, 2)
    assert not set(score.points) & set(score.withdrawn)
    if rules.late and rules.late.accepted_days is None:
        assert score.total >= round(score.earned * rules.late.floor_percent / 100, 2) - 0.0051


@settings(max_examples=150, deadline=None)
@given(all_rules, rights, minutes, minutes)
def test_later_never_earns_more(rules, right, one, other):
    early, late = (
        rules.score(
            TOY, result(right=right, handed_in=DEADLINE.astimezone(UTC) + timedelta(minutes=m))
        )
        for m in sorted((one, other))
    )
    assert late.total <= early.total
    assert late.days_late >= early.days_late


@settings(max_examples=150, deadline=None)
@given(all_rules, rights, minutes, st.integers(0, 10_000), st.sampled_from(["anna", "4711"]))
def test_an_extension_never_costs_anything(rules, right, late, more, key):
    submission = result(
        right=right,
        handed_in=DEADLINE.astimezone(UTC) + timedelta(minutes=late),
        ids={"canvas": "4711"},
    )
    extended = rules.model_copy(
        update={"extensions": {key: DEADLINE.astimezone(UTC) + timedelta(minutes=more)}}
    )
    assert extended.score(TOY, submission).total >= rules.score(TOY, submission).total
    assert extended.score(TOY, result("ben", right)) == rules.score(TOY, result("ben", right))


@settings(max_examples=100, deadline=None)
@given(all_rules, rights, minutes)
def test_one_more_right_answer_never_costs_anything(rules, right, late):
    when = DEADLINE.astimezone(UTC) + timedelta(minutes=late)
    with_more = rules.score(TOY, result(right={*right, "double"}, handed_in=when)).total
    assert with_more >= rules.score(TOY, result(right=right, handed_in=when)).total


@settings(max_examples=150, deadline=None)
@given(all_rules, rights, minutes, excuses, st.sampled_from(["anna", "4711"]))
def test_an_excuse_shrinks_what_is_possible_for_one_student_alone(rules, right, late, excuse, key):
    when = DEADLINE.astimezone(UTC) + timedelta(minutes=late)
    hers = result(right=right, handed_in=when, ids={"canvas": "4711"})
    plain = rules.model_copy(update={"excused": {}})
    excused = Rules(**{**plain.model_dump(), "excused": {key: excuse}})
    before, after = plain.score(TOY, hers), excused.score(TOY, hers)
    assert set(after.excused) == set(before.possible) - set(after.possible)
    assert after.points == {name: before.points[name] for name in after.possible}
    assert after.out_of <= before.out_of
    assert after.exempt == (bool(after.excused) and set(after.possible) <= set(after.extra))
    if excuse == "all":
        assert not after.possible and after.total == 0
    if not after.excused:
        assert after == before
    someone = result("ben", right, when)
    assert excused.score(TOY, someone) == plain.score(TOY, someone)


@settings(max_examples=150, deadline=None)
@given(all_rules, rights, minutes)
def test_extra_credit_never_costs_anything(rules, right, late):
    """Beside a question that does not count at all."""
    when = DEADLINE.astimezone(UTC) + timedelta(minutes=late)
    late = rules.late and rules.late.model_copy(update={"of": "earned"})
    extra = rules.model_copy(update={"extra": ["Scale"], "excused": {}, "late": late})
    without = extra.model_copy(update={"extra": [], "withdrawn": [*rules.withdrawn, "Scale"]})
    one, other = (each.score(TOY, result(right=right, handed_in=when)) for each in (extra, without))
    assert one.total >= other.total
    assert one.out_of == other.out_of


# ----------------------------------------------------------------------------------------- the file

COURSE = """\
# late applies where a homework has a deadline and says nothing else
late: {percent_per_day: 10, floor_percent: 50, accepted_days: 7}

homework:
  toy:
    points:
      double: 4
      toy.Scale: 1.5
    withdrawn: []
    deadline: 2026-10-12 23:59 Europe/Berlin
    grace_minutes: 15
    extensions:
      0042: 2026-10-19T23:59+02:00
      Participant 4711: "2026-10-19 21:59 UTC"
    handed_in:
    cap: 5
  hw1:
    withdrawn: [order_effect]
  hw2:
    deadline: 2026-11-01T00:00:00Z
    late:
  hw3:
"""


def written(tmp_path, text):
    path = tmp_path / "course.yml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_course_file(tmp_path):
    path = written(tmp_path, COURSE)
    rules = load(path, TOY)
    assert rules.possible(TOY) == {"toy.double": 4.0, "toy.Scale": 1.5}
    assert (rules.deadline, rules.grace_minutes, rules.cap) == (DEADLINE, 15, 5)
    assert rules.late == LatePolicy(percent_per_day=10, floor_percent=50, accepted_days=7)
    assert rules.extensions == {
        "0042": moment("2026-10-19T21:59Z"),
        "Participant 4711": moment("2026-10-19T21:59Z"),
    }
    assert rules.score(TOY, after(days=2)).total == 4.0
    path.write_text(
        COURSE.replace("  toy:\n", "  hw4:\n")
        .replace("double:", "rollout:")
        .replace("toy.Scale", "hw4.patches")
    )
    hw1 = load_homework("hw1")
    assert "hw1.order_effect" not in load(path, hw1).possible(hw1)
    assert load(path, hw1).late is None
    assert load(path, load_homework("hw2")).late is None
    assert load(path, load_homework("hw3")) == load(path, load_homework("hw5")) == Rules()


def test_times_mean_one_moment():
    same = [
        "2026-10-12 23:59 Europe/Berlin",
        "2026-10-12T23:59+02:00",
        "2026-10-12 21:59Z",
        "2026-10-12T21:59:00 UTC",
        DEADLINE,
    ]
    assert {moment(time) for time in same} == {DEADLINE}


LAUGHS = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{y}: &{y} [{','.join([f'*{x}'] * 9)}]\n" for x, y in ("ab", "bc", "cd", "de", "ef")
)
TIME = 'must be a day, a time and a zone, such as "2026-10-12 23:59 Europe/Berlin"'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1, the whole file: must be settings: a name, a colon, and what it is set to, and is empty"),
        ("- 1", "line 1, the whole file: must be settings: a name, a colon, and what it is set to, and is a list"),
        ("late: {percent_per_day: 10}", "line 1, the whole file: homework is missing"),
        ("homework: {hw1: 7}", "line 1, homework.hw1: must be settings: a name, a colon, and what it is set to, and is 7"),
        ("homework:\n  hw99: {}", "line 2, homework.hw99: there is no homework 'hw99'; there is hw1, hw2, "),
        ("homework:\n  toy:\n    dedline: x", "line 3, homework.toy.dedline: there is no such setting; is deadline meant? There is "),
        ("homework: {}\nzone: x", "line 2, zone: there is no such setting; there is late, variant, homework"),
        ("late: {per_day: 1}\nhomework: {}", "line 1, late.per_day: there is no such setting; is percent_per_day meant? "),
        ("late: {}\nhomework: {}", "line 1, late: percent_per_day is missing"),
        ("late: {percent_per_day: 120}\nhomework: {}", "line 1, late.percent_per_day: must be at most 100, and is 120"),
        ("late: {percent_per_day: '10'}\nhomework: {}", "line 1, late.percent_per_day: must be a number, and is the text '10'"),
        ("late: {percent_per_day: 10 %}\nhomework: {}", "must be a number, and is the text '10 %'"),
        ("late: {percent_per_day: 1, of: all}\nhomework: {}", "line 1, late.of: must be 'earned' or 'possible', and is 'all'"),
        ("late: {percent_per_day: 1, accepted_days: 1.5}\nhomework: {}", "late.accepted_days: must be a whole number, and is 1.5"),
        ("homework:\n  toy:\n    points:\n      double: -1", "line 4, homework.toy.points.double: must be at least 0, and is -1"),
        ("homework: {toy: {points: {double: 0.125}}}", "homework.toy.points.double: must have at most two decimals, and is 0.125"),
        ("homework: {toy: {points: {double: true}}}", "homework.toy.points.double: must be a number, and is true"),
        ("homework: {toy: {points: {double: .inf}}}", "homework.toy.points.double: must be a number, and is the text '.inf'"),
        ("homework: {toy: {points: [double]}}", "must be settings: a name, a colon, and what it is set to, and is a list"),
        ("homework:\n  toy:\n    points: {tripel: 1}", "line 3, homework.toy.points.tripel: toy has no question 'tripel'; it has dou"),
        ("homework: {toy: {points: {double: 1, toy.double: 2}}}", "homework.toy.points.toy.double: toy.double is named twice"),
        ("homework:\n  hw1:\n    withdrawn:\n    - causal", "line 4, homework.hw1.withdrawn.0: hw1 has no question 'causal'; it has"),
        ("homework: {toy: {withdrawn: double}}", "homework.toy.withdrawn: must be a list: [one, another], and is the text 'double'"),
        ("homework: {toy: {cap: -3}}", "homework.toy.cap: must be at least 0, and is -3"),
        ("homework:\n  toy:\n    deadline: 2026-10-12 23:59", "line 3, homework.toy.deadline: names no time zone: write \"2026-10-12 "),
        ("homework: {toy: {deadline: 2026-10-12}}", f"homework.toy.deadline: {TIME}"),
        ("homework: {toy: {deadline: 23:59}}", "and is '23:59'"),
        ("homework: {toy: {deadline: 12.10.2026 23:59 Europe/Berlin}}", "and is '12.10.2026 23:59 Europe/Berlin'"),
        ("homework: {toy: {deadline: 2026-10-12 23:59 CEST}}", "this machine knows no zone 'CEST'"),
        ("homework: {toy: {deadline: 2026-10-12 23:59 ../passwd}}", "and is '2026-10-12 23:59 ../passwd'"),
        ("homework: {toy: {deadline: 2026-02-30 23:59 UTC}}", "is no time that exists: '2026-02-30 23:59 UTC'"),
        ("homework: {toy: {grace_minutes: 5}}", "homework.toy.grace_minutes: needs a deadline beside it"),
        ("homework: {toy: {late: {percent_per_day: 5}}}", "homework.toy.late: needs a deadline beside it"),
        ("homework:\n  toy:\n    deadline: 2026-10-12 23:59 UTC\n    extensions:\n      ada: 2026-10-12 23:58 UTC",
         "line 5, homework.toy.extensions.ada: is before the deadline: 2026-10-12 23:58 UTC "
         "instead of 2026-10-12 23:59 UTC"),
        ("homework:\n  toy: {}\n  toy: {}", "line 3: homework.toy is set for the second time; the first is in line 2"),
        ("homework: {toy: {deadline: [}}", "line 1, column"),
        ("homework:\n\ttoy: {}", "line 2, column 1: this is no YAML"),
        ("? [a]\n: b", "line 1: a name is expected before the colon"),
        ("homework: !!python/object:os.system {}", "is no kind of value that is read here"),
        ("homework: !!python/name:os.system x", "tag:yaml.org,2002:python/name:os.system is no kind of value"),
        ("homework: &a {toy: *a}", "line 1: this contains itself"),
        (LAUGHS, "this file sets more than 20,000 values"),
        ("[" * 5000, "is no YAML"),
        (b"\xff\xfe", "is no text in UTF-8 (byte 0)"),
        (b"homework: {}\x00", "is no YAML"),
        (b"#" * (1 << 21), "is larger than the 1 MB"),
        ("homework: {}\n---\nhomework: {}", "this is no YAML: but found another document"),
    ],
    ids=range(47),
)  # fmt: skip
def test_mistakes_in_the_file_are_explained(tmp_path, text, told):
    with pytest.raises(ValueError) as refusal:
        load(written(tmp_path, text), TOY)
    said = str(refusal.value)
    assert told in said
    assert said.startswith(str(tmp_path / "course.yml"))
    assert "pydantic" not in said


def test_every_mistake_is_told_at_once(tmp_path):
    with pytest.raises(ValueError, match="cannot be used") as refusal:
        load(
            written(
                tmp_path,
                "late: {percent_per_day: 200}\nhomework:\n  toy: {cap: -1, points: {double: x}}\n  "
                "hw1: {withdrawn: [tripel]}\n",
            ),
            TOY,
        )
    first, *wrong = str(refusal.value).splitlines()
    assert first.endswith("course.yml cannot be used:")
    assert [line.partition(":")[0].strip() for line in wrong] == [
        "line 1, late.percent_per_day",
        "line 3, homework.toy.points.double",
        "line 3, homework.toy.cap",
        "line 4, homework.hw1.withdrawn.0",
    ]


def test_hostile_text_in_an_error_stays_on_its_line(tmp_path):
    with pytest.raises(ValueError, match="there is no such setting") as refusal:
        load(written(tmp_path, 'homework: {toy: {"x\\u202e\\ny": 1}}'), TOY)
    assert len(str(refusal.value).splitlines()) == 2
    assert "\u202e" not in str(refusal.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "course.yml", TOY)


def test_rules_made_in_code_are_checked_too():
    with pytest.raises(ValidationError, match="names no time zone"):
        Rules(deadline="2026-10-12 23:59")
    with pytest.raises(ValidationError, match="must be a day, a time and a zone"):
        Rules(deadline=datetime(2026, 10, 12))
    with pytest.raises(ValidationError, match="needs a deadline"):
        Rules(extensions={"ada": DEADLINE})


def test_any_homework_may_be_set(tmp_path):
    text = "homework:\n" + "".join(f"  {name}:\n    cap: 10\n" for name in names())
    for name in names():
        assert load(written(tmp_path, text), load_homework(name)).cap == 10


def test_the_example_of_the_page_is_a_course_file(tmp_path):
    page = (ROOT / "book" / "instructors.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```yaml\n(# course\.yml\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    hw1, hw2 = load_homework("hw1"), load_homework("hw2")
    rules = load(written(tmp_path, example), hw1)
    assert (
        rules.possible(hw1)["hw1.causal_mask"],
        rules.late.accepted_days,
        len(rules.extensions),
    ) == (3.0, 7, 2)
    assert load(written(tmp_path, example), hw2).late is None
    wrong = example.replace("causal_mask", "causal_maks").replace(
        "23:59 Europe/Berlin\n    grace", "23:59\n    grace"
    )
    (told,) = re.findall(
        r"^```text\n(course\.yml cannot be used:\n.*?)^```$", page, re.MULTILINE | re.DOTALL
    )
    for line in told.splitlines()[1:]:
        with pytest.raises(ValueError, match="cannot be used") as refusal:
            load(
                written(
                    tmp_path,
                    wrong
                    if "causal" not in line
                    else example.replace("causal_mask", "causal_maks"),
                ),
                hw1,
            )
        assert line.removesuffix("…").strip() in str(refusal.value)


# ------------------------------------------------------------- partial credit, and a person's decision


def squares(student="anna", **more):
    """A result: a named mistake in the first question, the second right."""
    verdicts = (
        Verdict("toy.double", False, "misconception", "You made the mistake squares.", "squares"),
        Verdict("toy.Scale", True, "right"),
    )
    return Result(student, (), "", verdicts, **more)


def test_a_named_mistake_may_cost_less_than_all():
    rules = Rules(mistakes={"double": {"squares": 50.0}})
    assert rules.score(TOY, squares()).points == {"toy.double": 1.0, "toy.Scale": 1.0}
    other = Rules(mistakes={"toy.double": {"reversed": 50.0}})
    assert other.score(TOY, squares()).points["toy.double"] == 0.0
    assert rules.score(TOY, result(right=())).total == 0.0, "wrong, but not that mistake"


def test_a_decision_counts_for_one_answer_of_one_student():
    decided = {"anna": {"double": Decision(points=1.5, comment="nearly")}}
    rules = Rules(decisions=decided, mistakes={"double": {"squares": 50.0}})
    score = rules.score(TOY, squares())
    assert score.points == {"toy.double": 1.5, "toy.Scale": 1.0} and score.total == 2.5
    assert score.decided == {"toy.double": "nearly"}
    assert rules.score(TOY, squares("bob")).points["toy.double"] == 1.0
    lower = Rules(decisions={"anna": {"Scale": Decision(points=0.0)}})
    assert lower.score(TOY, squares()).total == 0.0
    assert Rules(withdrawn=["double"], decisions=decided).score(TOY, squares()).total == 1.0
    by_number = Rules(decisions={"4711": decided["anna"]})
    assert by_number.score(TOY, squares("x", ids={"canvas": "4711"})).points["toy.double"] == 1.5
    assert rules.unused([squares("bob")]) == ["anna"]


def test_a_file_that_could_not_be_read_is_graded_by_decisions():
    rules = Rules(decisions={"anna": {"double": Decision(points=2.0, comment="on paper")}})
    unread = Result("anna", (), "", problem="The file is empty.")
    assert rules.score(TOY, unread).total == 2.0
    page = feedback.page(TOY, unread, rules)
    assert "Your instructor counts this question with 2 points.</p>" not in page
    assert "Your instructor counts this question with 2 points. “" in page and "on paper" in page


def test_decisions_are_shown_wherever_grades_are():
    rules = Rules(
        decisions={"anna": {"double": Decision(points=1.5, comment="<b>nearly</b>")}},
    )
    page = feedback.page(TOY, squares(), rules)
    assert "&lt;b&gt;nearly&lt;/b&gt;" in page and "<b>nearly" not in page
    assert "with 1.5 points" in page and "1.5 of 2" in page
    (row,) = gradebook.table(TOY, [squares()], rules).splitlines()[1:]
    assert row.startswith("anna,2.5,1.5,1,") and "decided: double" in row
    told = json.loads(gradescope.results(TOY, squares(), rules))
    assert told["tests"][0]["score"] == 1.5 and "nearly" in told["tests"][0]["output"]


def test_a_mistake_or_question_that_there_is_not_is_told_with_its_line(tmp_path):
    (tmp_path / "course.yml").write_text(
        "homework:\n  toy:\n    mistakes:\n      double: {sqares: 50}\n"
        "    decisions:\n      anna:\n        duoble: {points: 1}\n"
        "      bob:\n        double: {points: -1}\n"
    )
    with pytest.raises(ValueError, match="cannot be used") as refused:
        load(tmp_path / "course.yml", TOY)
    told = str(refused.value)
    assert (
        "line 4" in told and "double knows no mistake 'sqares'; it knows squares, reversed" in told
    )
    assert "line 7" in told and "toy has no question 'duoble'" in told
    assert "line 9" in told and "must be at least 0, and is -1" in told


# ---------------------------------------------------------------------- excuses, and extra credit


def test_an_excuse_from_a_question():
    rules = Rules(excused={"anna": ["double"]})
    score = rules.score(TOY, squares())
    assert (score.total, score.out_of, score.excused) == (1.0, 1.0, ("toy.double",))
    assert not score.exempt
    assert score.beside(3.0) == 3.0, "all that was possible for her is all"
    other = rules.score(TOY, squares("ben"))
    assert (other.total, other.out_of, other.excused) == (1.0, 3.0, ())
    assert rules.score(TOY, squares("x", ids={"email": "anna"})).excused == ("toy.double",)


def test_an_excuse_from_a_homework_costs_nothing_however_late():
    rules = Rules(excused={"anna": "all"}, deadline=DEADLINE, late=TEN)
    score = rules.score(TOY, after(days=5))
    assert score.exempt and (score.total, score.out_of, score.note) == (0.0, 0.0, "")
    assert rules.score(TOY, after(days=5)).days_late == 0


def test_a_file_that_could_not_be_read_is_not_called_a_zero_where_somebody_settled_it(tmp_path):
    people = [squares(name, problem="It is a zip.") for name in ("anna", "ben", "carl")]
    decided = {"ben": {"double": Decision(points=1)}}
    for excused, decisions, words in (
        ({}, {}, "3 of 3 files could not be read and count 0 points; "),
        (
            {"anna": "all"},
            decided,
            "3 of 3 files could not be read; 1 count 0 points, the others what the rules say; ",
        ),
        (
            {"anna": "all", "carl": "all"},
            decided,
            "3 of 3 files could not be read and count what the rules say; ",
        ),
    ):
        rules = Rules(excused=excused, decisions=decisions)
        assert write_all(TOY, people, tmp_path, rules) == [
            f"{words}class_report.html says which and why"
        ]


def test_an_excuse_is_shown_wherever_grades_are(tmp_path):
    rules = Rules(excused={"anna": ["double"], "dora": "all", "4713": "all", "misspelt": ["Scale"]})
    ids = {"anna": "1", "ben": "2", "dora": "3"}
    people = [
        squares(name, ids={"canvas": ids[name], "moodle": f"Participant {ids[name]}"})
        for name in ids
    ]
    told = write_all(TOY, people, tmp_path, rules)
    assert told == [
        "1 excused from this homework handed in nothing",
        "the rules name misspelt, who handed in nothing, or are nobody in this class",
    ]
    rows = list(csv.reader((tmp_path / "grades.csv").read_text().splitlines()))
    assert rows == [
        ["student", "total", "toy.double", "toy.Scale", "possible", "remarks"],
        ["anna", "1", "", "1", "1", "double: squares; excused: double"],
        ["ben", "1", "0", "1", "", "double: squares"],
        ["dora", "", "", "", "0", "double: squares; excused"],
        ["4713", "", "", "", "0", "excused"],
    ]
    canvas = list(csv.reader((tmp_path / "canvas_import.csv").read_text().splitlines()))
    assert [(row[1], row[-1]) for row in canvas[1:]] == [
        ("", "3"),
        ("1", "3"),
        ("2", "1"),
        ("3", "EX"),
        ("4713", "EX"),
    ]
    moodle = list(csv.reader((tmp_path / "moodle_import.csv").read_text().splitlines()))
    assert [row[:4] for row in moodle[1:]] == [
        ["Participant 1", "anna", "3", "3"],
        ["Participant 2", "ben", "1", "3"],
    ]
    assert "Question 1: Double: excused" in moodle[1][-1]
    assert "You are excused from a question: 1 point can be reached." in moodle[1][-1]


def test_a_page_tells_of_an_excuse():
    page = feedback.page(TOY, squares(), Rules(excused={"anna": ["double"]}))
    assert "<b>1</b> of 1 points" in page and "<span>excused</span>" in page
    assert "You are excused from a question" in page
    page = feedback.page(TOY, squares(), Rules(excused={"anna": "all"}))
    assert '<div class="total">excused</div>' in page and "it does not count for you" in page
    assert 'class="bar"' not in page
    told = json.loads(gradescope.results(TOY, squares(), Rules(excused={"anna": ["double"]})))
    assert (told["score"], [test["max_score"] for test in told["tests"]]) == (1.0, [0.0, 1.0])
    assert told["output"].startswith("You are excused from a question")
    assert told["tests"][0]["name"].endswith("(excused)")


def test_the_class_report_counts_who_is_not_excused():
    people = [squares("anna"), squares("ben"), squares("dora")]
    rules = Rules(excused={"anna": ["double"], "dora": "all"})
    counted = summary(TOY, people, rules)
    assert (counted.read, counted.excused, counted.partly) == (2, ["dora"], ["anna"])
    assert (counted.mean, counted.full) == (2.0, 1)
    assert [question.asked for question in counted.questions] == [1, 2]
    page = class_report.page(TOY, people, rules)
    assert "Excused from the homework: <bdi>dora</bdi>" in page
    assert "Excused from some questions: <bdi>anna</bdi>" in page


def test_extra_credit_counts_but_is_not_asked_for():
    rules = Rules(extra=["toy.Scale"])
    score = rules.score(TOY, result())
    assert (score.total, score.out_of, score.possible["toy.Scale"]) == (3.0, 2.0, 1.0)
    assert rules.score(TOY, result(right=("double",))).total == 2.0
    assert Rules(extra=["Scale"], cap=2).score(TOY, result()).total == 2.0
    assert "<span>1 of 1, extra credit</span>" in feedback.page(TOY, result(), rules)
    assert "Extra credit: Question 2: Scale." in class_report.page(TOY, [result()], rules)
    told = json.loads(gradescope.results(TOY, result(), rules))
    assert told["score"] == 3.0
    assert [(test["score"], test["max_score"]) for test in told["tests"]] == [(2.0, 2.0), (1.0, 0)]


def test_moodle_skips_grades_above_the_maximum_and_the_grader_says_so():
    rules = Rules(extra=["toy.Scale"])
    someone = result(ids={"moodle": "Participant 1"})
    _, warnings = moodle_import(TOY, [someone], rules)
    assert warnings == [
        "1 of 1 grades in moodle_import.csv lie above 2, and Moodle skips a grade above the "
        "assignment's maximum: set that to 3 or more, or a cap in the rules"
    ]
    assert moodle_import(TOY, [someone], Rules(extra=["Scale"], cap=2))[1] == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("excused: {anna: 3}", "homework.toy.excused.anna: must be all, or a list of questions"),
        ("excused: {anna: }", "homework.toy.excused.anna: must be all, or a list of questions: "),
        ("excused: {anna: most}", "must be all, or a list of questions: [one, another], and is 'most'"),
        ("excused: {anna: [duoble]}", "homework.toy.excused.anna.0: toy has no question 'duoble'"),
        ("excused: {anna: [1]}", "homework.toy.excused.anna.0: must be a text, and is 1"),
        ("extra: [duoble]", "homework.toy.extra.0: toy has no question 'duoble'; it has double"),
        ("{extra: [double], withdrawn: [toy.double]}", "homework.toy.extra: double is withdrawn"),
        ("{excused: {anna: all}, decisions: {anna: {double: {points: 1}}}}",
         "homework.toy.excused.anna: decisions has points for double"),
        ("{excused: {anna: [double]}, decisions: {anna: {toy.double: {points: 1}}}}",
         "homework.toy.excused.anna: decisions has points for double"),
    ],
)  # fmt: skip
def test_mistakes_about_excuses_and_extra_credit_are_explained(tmp_path, text, told):
    inner = text if text.startswith("{") else f"{{{text}}}"
    with pytest.raises(ValueError, match="cannot be used") as refusal:
        load(written(tmp_path, f"homework:\n  toy: {inner}\n"), TOY)
    assert told in str(refusal.value)
