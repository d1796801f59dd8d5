"""Points for what a question demands: a wrong answer earns those of the demands that it meets, in
the notebook's check, on its page, in the tables. (That nobody's stub earns any is asked of the banks, in test_banks.)
"""

import csv
import io
import json
import re
from dataclasses import replace

import pytest
import torch

from lectures_lib.homework import WrongAnswer, check, find, load, names
from lectures_lib.homework.checking import told
from lectures_lib.homework.diagnosis import AnswerKey, run
from lectures_lib.homework.grader.grading.course_file import load as rules_of
from lectures_lib.homework.grader.grading.grade_one import Job, better, grade_one
from lectures_lib.homework.grader.grading.records import Records, Result
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.reports import feedback, gradebook, gradescope, moodle
from lectures_lib.homework.grader.submissions.collect import collect
from lectures_lib.homework.question_key import packed, unpacked
from lectures_lib.homework.questions import Case, Demand, Homework
from lectures_lib.homework.variants import ANOTHER, with_variant
from lectures_lib.homework.verdict import Verdict
from tests.homework import bank, toy
from tests.homework.toy_results import Page

WITH_DEMANDS = [
    question.name
    for homework in names()
    for question in load(homework).questions
    if question.demands
]
every_question = pytest.mark.parametrize("name", WITH_DEMANDS)

# ------------------------------------------------------------------------------- a toy of its own

PLAIN, ZERO, SIGN = "positive numbers get their root", "a zero gets a zero", "a negative gets a -1"


def root(x):
    """The root of a number above 0; 0 for a 0, and -1 below it."""
    return torch.where(x < 0, -1.0, x.clamp(min=0.0).sqrt())


def cases():
    positive, zero, negative = torch.tensor([4.0, 9.0]), torch.zeros(2), torch.tensor([-4.0, -9.0])
    return [
        Case((positive,), shows="two positive numbers"),
        Case((zero,), shows="two zeros", demands=(ZERO,)),
        Case((negative,), shows="two negative numbers", demands=(SIGN,)),
        Case((torch.cat([zero, negative]),), shows="both", demands=(ZERO, SIGN)),
    ]


DEMANDS = (Demand(PLAIN, 1), Demand(ZERO, 0.5), Demand(SIGN, 1.5))
ROOT = toy.question("root", root, cases(), points=3, demands=DEMANDS, seconds=2.0)
HOMEWORK = Homework("toy", "A toy", (ROOT, toy.SCALE))
NO_SIGN = "import torch\ndef root(x):\n    return x.sqrt()"
NO_ZERO = (
    "import torch\ndef root(x):\n    return torch.where(x < 0, -1.0, x.abs().sqrt() + (x == 0))"
)
TEMPLATE = 'def root(x):\n    raise NotImplementedError("your answer here")'


def held(verdict):
    """The verdict's demands: "✓✗✓"; "" where there are none."""
    return "".join("✓" if holds else "✗" for _, holds in verdict.demands)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (root, ""),
        (torch.sqrt, "✓✓✗"),
        (lambda x: torch.where(x < 0, -1.0, x.abs().sqrt() + (x == 0)), "✓✗✓"),
        (lambda x: x.sqrt() + (x == 0), "✓✗✗"),
        # right on each by itself, and not on both: put down to the last of the two
        (lambda x: root(x) + (len(x) > 2), "✓✓✗"),
        (lambda x: root(x) if x.min() >= 0 else 1 / 0, "✓✓✗"),
        (lambda x: 1 / 0 if x.min() == 0 else root(x), "✓✗✓"),
        (lambda x: 1 / 0, ""),
        (lambda x: torch.where(x > 0, 7.0, root(x)), ""),
        (torch.zeros_like, ""),
        (lambda x: x, ""),
        (lambda x: -torch.ones_like(x), ""),
        (lambda x: ..., ""),
    ],
)
def test_which_demands_a_wrong_answer_meets(answer, expected):
    assert held(toy.judged(ROOT, answer)) == expected


def test_a_template_in_a_branch_is_no_answer():
    space = {"torch": torch}
    exec(
        TEMPLATE.replace("    raise", "    if x.min() > 0:\n        return x.sqrt()\n    raise"),
        space,
    )
    verdict = toy.judged(ROOT, space["root"])
    assert verdict.kind == "unfinished" and verdict.demands == ()


@pytest.mark.parametrize(
    ("demands", "some"),
    [
        (DEMANDS[:2], cases()),
        ((Demand(PLAIN, 1), Demand(ZERO, 0.5), Demand("another", 1.5)), cases()),
        (DEMANDS, cases()[:2] + cases()[3:]),
    ],
)
def test_demands_that_do_not_fit_their_question_are_refused(demands, some):
    with pytest.raises(ValueError, match=r"toy\.root"):
        AnswerKey(replace(ROOT, demands=demands, cases=lambda g: some), 0)


def test_the_check_says_which_demands_hold(capsys):
    with pytest.raises(WrongAnswer) as wrong:
        check(ROOT, torch.sqrt)
    assert f"\n  ✓ {PLAIN}\n  ✓ {ZERO}\n  ✗ {SIGN}" in str(wrong.value)
    with pytest.raises(WrongAnswer) as wrong:
        check(ROOT, torch.zeros_like)
    assert "✓" not in str(wrong.value)
    check(ROOT, root)
    assert capsys.readouterr().out == "✓ toy.root: right (3 points)\n"


def test_a_sealed_question_says_the_same():
    asked = AnswerKey(ROOT, 0)
    kept = unpacked(packed(asked))
    assert kept.question.demands == DEMANDS
    for answer in (torch.sqrt, torch.zeros_like, root):
        outcomes = [run(answer, case) for case in kept.cases]
        assert kept.verdict(outcomes) == asked.verdict(outcomes)


# ------------------------------------------------------------------------------------ in the grader


@pytest.fixture
def graded(tmp_path):
    """What grading makes of these cells."""

    def grade(*cells):
        (tmp_path / "anna.ipynb").write_bytes(toy.notebook(*cells))
        keys = tuple(AnswerKey(question, seed=1) for question in HOMEWORK.questions)
        return grade_one(collect(tmp_path)[0], Job(HOMEWORK, 1, keys, toy.QUICK))

    return grade


def points(result, rules=None):
    return (rules or Rules()).score(HOMEWORK, result).points["toy.root"]


def test_a_partly_right_answer_earns_points_wherever_grades_are(graded, tmp_path):
    result = graded(NO_SIGN)
    assert held(result.verdicts[0]) == "✓✓✗" and points(result) == 1.5
    page = Page(feedback.page(HOMEWORK, result))
    told_ = " ".join(page.text.split())
    assert "1.5 of 3" in told_ and "Partly right" in told_ and "Not right yet" not in told_
    for part in (f"✓ {PLAIN} (1 of 1)", f"✓ {ZERO} (0.5 of 0.5)", f"✗ {SIGN} (0 of 1.5)"):
        assert part in told_
    assert "All the same" not in told_
    (row,) = csv.DictReader(io.StringIO(gradebook.table(HOMEWORK, [result])))
    assert (row["total"], row["toy.root"]) == ("1.5", "1.5")
    (test, _) = json.loads(gradescope.results(HOMEWORK, result))["tests"]
    assert (test["score"], test["max_score"], test["status"]) == (1.5, 3.0, "failed")
    assert f"✗ {SIGN} (0 of 1.5)" in test["output"]
    worksheet, _ = moodle.table(HOMEWORK, [replace(result, ids={"moodle": "Participant 1"})])
    assert f"✗ {SIGN} (0 of 1.5)" in worksheet
    with Records(tmp_path / "kept") as records:
        records.put(result)
        assert records.get("anna") == result


@pytest.mark.parametrize(
    "cell",
    [
        TEMPLATE,
        "def root(x):\n    return x",
        "import torch\ndef root(x):\n    return torch.zeros_like(x)",
        "def root(x):\n    return -1.0",
        "def root(x):\n    return 1 / 0",
        "def root(x):\n    while True: pass",
        "root = 3",
        "",
    ],
)
def test_trivial_answers_earn_nothing(graded, cell):
    result = graded(cell)
    assert points(result) == 0 and result.verdicts[0].demands == ()


def test_what_a_loop_leaves_unasked_does_not_hold(graded):
    result = graded(
        f"{NO_SIGN.replace('return', 'while x.min() < 0: pass' + chr(10) + '    return')}"
    )
    assert result.verdicts[0].kind == "time"
    assert held(result.verdicts[0]) == "✓✓✗" and points(result) == 1.5


CHECK = """\
from lectures_lib.homework import check
try:
    check("toy.root", root)
except Exception:
    pass
"""


@pytest.mark.parametrize(
    ("cells", "expected", "cell"),
    [
        # worse at the end: what the check saw counts
        ((NO_ZERO, CHECK, NO_SIGN), "✓✗✓", 1),
        ((NO_ZERO, CHECK, "def root(x):\n    return x"), "✓✗✓", 1),
        ((NO_ZERO, CHECK, "del root"), "✓✗✓", 1),
        # better at the end: that counts
        (("def root(x):\n    return x", CHECK, NO_SIGN), "✓✓✗", 3),
        # above the untouched template
        ((NO_SIGN, TEMPLATE), "✓✓✗", 1),
        ((f"{NO_SIGN}\n{TEMPLATE}",), "✓✓✗", 1),
        ((NO_SIGN, TEMPLATE, CHECK), "✓✓✗", 1),
    ],
)
def test_of_several_states_the_one_with_more_demands_counts(graded, cells, expected, cell):
    result = graded(*cells)
    assert held(result.verdicts[0]) == expected
    excerpt = result.code["toy.root"][0]
    assert excerpt.cell == cell and "raise" not in "".join(excerpt.lines)
    if any(TEMPLATE in each for each in cells):
        assert "delete the template" in result.verdicts[0].message
        assert "the last counts" not in result.verdicts[0].message


def test_a_doubtful_run_is_no_worse_than_its_second():
    some = Verdict("toy.root", False, "time", demands=((PLAIN, True), (ZERO, False)))
    none = Verdict("toy.root", False, "time")
    for first, second in ((some, none), (none, some)):
        both = [toy_result(verdict) for verdict in (first, second)]
        assert better(*both).verdicts == (some,)


def toy_result(*verdicts):
    return Result("anna", ("anna.ipynb",), "f", verdicts)


# -------------------------------------------------------------------------------------- by the rules

PARTLY = toy_result(
    Verdict(
        "toy.root",
        False,
        "misconception",
        "You made a mistake.",
        "no_sign",
        demands=((PLAIN, True), (ZERO, True), (SIGN, False)),
    )
)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (Rules(), 1.5),
        (Rules(demands="off"), 0.0),
        (Rules(demands={"root": "off"}), 0.0),
        (Rules(demands={"toy.root": [0.5, 0.25, 2.25]}), 0.75),
        (Rules(points={"root": 6.0}), 3.0),
        (Rules(points={"root": 6.0}, demands={"root": [4.0, 1.0, 1.0]}), 5.0),
        # of a named mistake's share and the demands', the larger
        (Rules(mistakes={"root": {"no_sign": 20.0}}), 1.5),
        (Rules(mistakes={"root": {"no_sign": 80.0}}), 2.4),
        (Rules(mistakes={"root": {"no_sign": 80.0}}, demands="off"), 2.4),
        (Rules(withdrawn=["root"]), None),
    ],
)
def test_rules_switch_them_off_and_weigh_them(rules, expected):
    score = rules.score(HOMEWORK, PARTLY)
    assert score.points.get("toy.root") == expected
    text = Page(feedback.page(HOMEWORK, PARTLY, rules)).text
    assert (SIGN in text) == bool(score.parts)
    assert ("All the same" in text) == (expected == 2.4)


def test_a_decision_stands_above_them():
    rules = Rules(decisions={"anna": {"root": {"points": 2.0}}})
    assert points(PARTLY, rules) == 2.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("demands: off", ""),
        ("demands:", ""),
        ("demands: {root: off}", ""),
        ("demands: {root: [1, 1, 1]}", ""),
        ("points: {toy.root: 4}\n    demands: {root: [1, 1, 2]}", ""),
        ("demands: on", "demands: must be off, or questions with off or points, and is 'on'"),
        ("demands: {all: off}", "demands.all: toy has no question 'all'"),
        ("demands: {rot: off}", "demands.rot: toy has no question 'rot'"),
        ("demands: {root: no}", "must be off, or the points of each demand: [1, 0.5, 0.5]"),
        ("demands: {root: [1, 2]}", f"root has 3 demands: {PLAIN}; {ZERO}; {SIGN}"),
        ("demands: {root: [1, 1, 2]}", "must add up to the 3 points of root"),
        (
            "points: {root: 4}\n    demands: {root: [1, 1, 1]}",
            "must add up to the 4 points of root",
        ),
        ("demands: {Scale: [1]}", "Scale has one demand: an answer is right or not"),
        ("demands: {root: [1, -1, 3]}", "must be at least 0, and is -1"),
        ("demand: off", "there is no such setting; is demands meant?"),
    ],
)
def test_what_a_rules_file_may_say(tmp_path, text, said):
    (tmp_path / "course.yml").write_text(f"homework:\n  toy:\n    {text}\n")
    if not said:
        rules_of(tmp_path / "course.yml", HOMEWORK)
        return
    with pytest.raises(ValueError, match="cannot be used") as refused:
        rules_of(tmp_path / "course.yml", HOMEWORK)
    assert said in str(refused.value)


# -------------------------------------------------------------------------------- the course's banks


@pytest.mark.parametrize("name", [name for name in WITH_DEMANDS if find(name).varied])
def test_last_year_s_answer_earns_nothing(name):
    for number in range(1, len(find(name).varied.values)):
        key = AnswerKey(with_variant(find(name), number), 0)
        for misconception, outcomes in key.mistakes:
            if misconception.name == ANOTHER:
                assert key.verdict(outcomes).demands == (), number


def test_masked_softmax_of_the_course():
    """Two of three demands, and what its author reads."""
    key = bank.key("hw1.masked_softmax", 0)
    verdict = key.verdict(
        [run(lambda s, m: s.masked_fill(~m, -torch.inf).softmax(-1), case) for case in key.cases]
    )
    assert held(verdict) == "✓✓✗✓" and verdict.mistake == "nan_without_allowed_keys"
    assert "\n  ✗ a query without an allowed key gets zeros" in told(verdict)


def test_a_slip_in_the_length_penalty_costs_that_alone():
    key = bank.key("hw3.beam_search", 0)
    named = ("no_length_penalty", "alpha_ignored", "penalty_without_brackets")
    found = [held(key.verdict(o)) for m, o in key.mistakes if m.name in named]
    assert found == ["✓✗✓"] * 5


@pytest.mark.parametrize(
    ("answer", "same"),
    [
        (lambda *_: [([1, 2], 7.0), ([3], torch.tensor(0.0))], True),
        (lambda *_: [[[1, 2], 7], [[3], 9]], True),
        (lambda *_: [([1, 2], 7.0)], False),
        (lambda *_: [([1, 2], 7.0), ([3], 0.0), ([4], 0.0)], False),
        (lambda *_: [([1, 3], -1.0), ([3], -2.0)], False),
        (lambda *_: [[1, 2], [3]], False),
        (lambda *_: [([1, 2], torch.zeros(2)), ([3], "none")], False),
        (lambda *_: None, False),
    ],
)
def test_where_scores_do_not_count_all_else_does(answer, same):
    case = Case((1,), shows="a beam", without_scores=True)
    asked = toy.question("beam", lambda x: [([1, 2], -1.0), ([3], -2.0)], [case])
    assert toy.judged(asked, answer).right == same


WHOLE, SUM = "twice each number", "the sum of all"


def of_two_parts(cases):
    asked = tuple(Demand(says, 1) for says in (WHOLE, SUM))
    return toy.question("both", lambda x: (2 * x, x.sum()), cases, demands=asked)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda x: (2 * x, x.mean()), "✓✗"),
        (lambda x: [2 * x, None], "✓✗"),
        (lambda x: (x, x.sum()), ""),
        (lambda x: (x.sum(), 2 * x), ""),
        (lambda x: 2 * x, ""),
        (lambda x: (2 * x,), ""),
        (lambda x: (2 * x, x.sum(), x), ""),
        (lambda x: (2 * x, x.sum()), "right"),
    ],
)
@pytest.mark.parametrize("again", [(), ((torch.arange(5.0),),)])
def test_a_demand_may_be_about_one_part_of_a_result(answer, expected, again):
    x = torch.arange(1.0, 4)
    cases = [Case((x,), part=0, again=again), Case((x,), part=1, again=again, demands=(SUM,))]
    verdict = toy.judged(of_two_parts(cases), answer)
    assert "right" * verdict.right + held(verdict) == expected


def test_what_is_wrong_in_a_part_is_told_by_its_place():
    asked = of_two_parts([Case((torch.ones(3),)), Case((torch.ones(3),), part=1, demands=(SUM,))])
    verdict = toy.judged(asked, lambda x: (2 * x, x.mean()))
    assert "`result[1]`" in verdict.message


@pytest.mark.parametrize(
    ("name", "mistake", "expected"),
    [
        ("hw7.best_tree", "root_counted", "✓✗"),
        ("hw7.mix_layers", "layers_counted_from_1", "✓✓✗"),
        ("hw7.word_attention", "everything_between", "✓✓✗"),
        ("hw7.control_labels", "upper_case_is_another_type", "✓✗"),
        ("hw6.best_answer", "threshold_ignored", "✓✗✓"),
        ("hw6.best_answer", "last_token_left_out", "✓✓✗"),
        ("hw6.best_answer", "each_by_itself", ""),
        ("hw5.next_sentence_pairs", "successor_looked_up", "✓✗"),
    ],
)
def test_a_slip_in_one_thing_costs_that_one(name, mistake, expected):
    key = bank.key(name, 0)
    found = {held(key.verdict(outcomes)) for m, outcomes in key.mistakes if m.name == mistake}
    assert found == {expected}


def test_the_instructors_page_says_which_questions_have_none():
    page = (bank.ROOT / "book" / "instructors.md").read_text(encoding="utf-8")
    said = page.partition("The other five are right or not: ")[2].partition(" In the rules")[0]
    every = [question.name for homework in names() for question in load(homework).questions]
    without = [name for name in every if name not in WITH_DEMANDS]
    assert re.findall(r"`(hw\d\.\w+)`", said) == without and len(without) == 5


@every_question
def test_the_instructors_page_lists_the_demands(name):
    page = (bank.ROOT / "book" / "instructors.md").read_text(encoding="utf-8")
    listed = "; ".join(f"{says} ({points:g})" for says, points in find(name).demands)
    assert f"| `{name}` | {listed} |" in page


def test_points_in_tenths_add_up_too():
    """0.7 + 0.2 + 0.1 is 0.9999999999999999."""
    asked = bank.find("hw1.masked_softmax")
    for points, fits in (((0.7, 0.2, 0.1), True), ((0.7, 0.2, 0.2), False)):
        demands = tuple(Demand(f"demand {i}", worth) for i, worth in enumerate(points))
        if fits:
            assert replace(asked, points=1, demands=demands).demands == demands
        else:
            with pytest.raises(ValueError, match="must add up to 1"):
                replace(asked, points=1, demands=demands)
