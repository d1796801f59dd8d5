"""What must hold of every homework: right answers pass, each known mistake is called by its name,
the notebook and the bank agree.

A homework named in `names()` needs `solutions/<homework>_….py` and
`tests/homework/right_answers_<homework>.py`, whose `RIGHT_ANSWERS` maps a question's full name to
its answers. If there is a `students_<homework>.py`, its `STUDENTS` maps a question's full name to
mistakes, and each to answers that make it. `pytest -k hw2` runs one homework's tests.
"""

import ast
import functools
import inspect
import re
from dataclasses import replace

import pytest
import torch

from lectures_lib.homework import find, load, names
from tests.homework.bank import (
    SEEDS,
    answer_cells,
    each,
    judged,
    key,
    notebook,
    questions,
    right_answers,
    sections,
    seeds,
    students,
    text,
    with_students,
)

every_homework = pytest.mark.parametrize("homework", names())
every_question = pytest.mark.parametrize(
    "name", [name for homework in names() for name in questions(homework)]
)


def finite(value):
    """Whether there is neither NaN nor infinity in it."""
    if isinstance(value, list | tuple):
        return all(map(finite, value))
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    return not hasattr(value, "isfinite") or bool(value.isfinite().all())


# ----------------------------------------------------------------------------------------- the bank


@every_question
def test_the_reference_is_right(name):
    for seed in seeds(name):
        assert judged(name, find(name).reference, seed).right
        for outcome in key(name, seed).right:
            assert outcome.raised is None
            assert outcome.changed == ()
            assert finite(outcome.value)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        (name, answer)
        for homework in names()
        for name, answers in right_answers(homework).items()
        for answer in answers
    ],
)
def test_right_answers_are_accepted(name, answer):
    for seed in seeds(name):
        verdict = judged(name, answer, seed)
        assert verdict.right, f"seed {seed}: {verdict.message}"


@pytest.mark.parametrize(
    ("name", "mistake", "answer"),
    [student for homework in with_students() for student in each(students(homework))],
)
def test_the_same_mistake_written_otherwise_gets_the_same_name(name, mistake, answer):
    for seed in seeds(name):
        verdict = judged(name, answer, seed)
        assert verdict.mistake == mistake, f"seed {seed}: {verdict}"


@functools.cache
def verdicts(name, seed):
    """Those on the known mistakes, in their order."""
    return [key(name, seed).verdict(outcomes) for _, outcomes in key(name, seed).mistakes]


@every_question
def test_every_mistake_is_caught_and_named(name):
    for seed in seeds(name):
        misconceptions = find(name).misconceptions
        for misconception, verdict in zip(misconceptions, verdicts(name, seed), strict=True):
            assert not verdict.right, f"{misconception.name} passes with seed {seed}"
            assert (verdict.mistake, verdict.message) == (
                misconception.name,
                misconception.diagnosis,
            ), f"seed {seed}"
            assert verdict.on, "the message names the input on which it shows"


@every_question
def test_mistakes_differ_from_each_other(name):
    """Also routes to the same mistake: two that return the same values would be one."""
    for seed in seeds(name):
        mistakes = key(name, seed).mistakes
        for i, (one, outcomes) in enumerate(mistakes):
            for other, theirs in mistakes[:i]:
                assert not key(name, seed)._alike(outcomes, theirs), (
                    f"{one.name} and {other.name} with seed {seed}"
                )


def kept(answer, argument, keeps):
    """The right class; of one argument it takes what `keeps` makes of an earlier one and of this
    call's.
    """
    signature = inspect.signature(answer.forward)

    class Kept(answer):
        earlier = ()

        def forward(self, *args, **kwargs):
            given = signature.bind(self, *args, **kwargs)
            given.apply_defaults()
            now = given.arguments[argument]
            given.arguments[argument] = keeps(self.earlier[0], now) if self.earlier else now
            self.earlier = (given.arguments[argument],)
            return super().forward(*given.args[1:], **given.kwargs)

    return Kept


def shapes(value):
    """Those of a tensor, or of each in a tuple."""
    return getattr(value, "shape", None) if not isinstance(value, tuple) else [*map(shapes, value)]


KEEPS = {
    "the first": lambda earlier, now: earlier,
    "the first while its shape fits": lambda earlier, now: (
        earlier if shapes(earlier) == shapes(now) else now
    ),
    "the last where none is given": lambda earlier, now: earlier if now is None else now,
}


@pytest.mark.parametrize(
    ("name", "argument", "keeps"),
    [
        (name, argument, keeps)
        for homework in names()
        for name in questions(homework)
        if isinstance(find(name).reference, type)
        for argument in find(name).arguments
        for keeps in KEEPS
        if keeps != "the last where none is given"
        or inspect.signature(find(name).reference.forward).parameters[argument].default is None
    ],
)
def test_an_object_that_keeps_an_argument_is_refused(name, argument, keeps):
    answer = kept(find(name).reference, argument, KEEPS[keeps])
    assert not key(name, 0).accepts(answer)


@every_question
def test_one_name_has_one_diagnosis(name):
    told = {}
    for misconception in find(name).misconceptions:
        assert (
            told.setdefault(misconception.name, misconception.diagnosis) == misconception.diagnosis
        )
    assert len(set(told.values())) == len(told)


@every_question
def test_enough_answers_of_each_kind(name):
    assert len({m.name for m in find(name).misconceptions}) >= 3
    assert len(right_answers(find(name).homework)[name]) >= 3


@every_question
def test_sizes_vary_with_the_seed(name):
    shown = ([case.shows for case in key(name, seed).cases] for seed in SEEDS)
    public = next(shown)
    assert any(other != public for other in shown)


@every_question
def test_the_chapter_has_that_section(name):
    """The feedback page says "Reread …", and the notebook links it: it must be there."""
    chapter, anchor = find(name).chapter.split("#")
    assert anchor in sections(chapter), (
        f"readers of {name} are sent to {chapter}#{anchor}; the sections are {sections(chapter)}"
    )


# ------------------------------------------------------------------------------------- its demands
# (`test_demands` has what they are worth. These ask the keys above once more.)

every_question_with_demands = pytest.mark.parametrize(
    "name", [q.name for homework in names() for q in load(homework).questions if q.demands]
)


def constants(question):
    """Answers that somebody who has not understood anything might give."""
    asked = key(question.name, 0)

    def nothing(*args, **kwargs):
        return None

    def raises(*args, **kwargs):
        raise NotImplementedError

    yield from (nothing, raises)
    for i in range(len(asked.cases[0].args)):
        yield lambda *args, i=i, **kwargs: args[i]
    other = key(question.name, 1).right[0].value  # such as one that a check has shown
    other = other["result"] if isinstance(other, dict) else other
    yield lambda *args, **kwargs: other
    for change in (torch.zeros_like, torch.ones_like, lambda t: torch.full_like(t, 0.5)):
        if isinstance(other, torch.Tensor):
            yield lambda *args, change=change, **kw: change(question.reference(*args, **kw))
    yield lambda *args, **kwargs: ([], [])
    yield lambda *args, **kwargs: (args[0], [False] * len(args[0]))
    yield lambda *args, **kwargs: (["[MASK]"] * len(args[0]), [True] * len(args[0]))
    yield lambda *args, **kwargs: []
    yield lambda *args, **kwargs: 0


@every_question_with_demands
def test_an_answer_without_thought_earns_nothing(name):
    for answer in constants(find(name)):
        verdict = judged(name, answer)
        assert not verdict.right and verdict.demands == ()


@every_question_with_demands
def test_a_mistake_earns_the_same_with_every_seed(name):
    found = [[verdict.demands for verdict in verdicts(name, seed)] for seed in SEEDS]
    for i, misconception in enumerate(find(name).misconceptions):
        assert len({each[i] for each in found}) == 1, misconception.name
    assert any(found[0]), "demands that no mistake meets are of no use"


@every_question_with_demands
def test_every_demand_is_missed_by_a_mistake_that_meets_the_first(name):
    found = [verdict.demands for verdict in verdicts(name, 0)]
    for i, demand in enumerate(find(name).demands[1:], start=1):
        assert any(each and not each[i][1] for each in found), demand.says


# ------------------------------------------------------------------------------------- the notebook

HEADING = re.compile(
    r"## Question (\d+): (.+)\n\n\*(\d+) points? · difficulty (\d) of 3 · (\d+) minutes"
)
HOURS = {
    120: "two hours",
    130: "two hours and ten minutes",
    135: "two and a quarter hours",
    140: "two hours and twenty minutes",
}
HOURS |= dict.fromkeys((145, 150, 155), "two and a half hours") | {180: "three hours"}


@every_homework
def test_the_notebook_says_what_the_bank_says(homework):
    asked = load(homework).questions
    bank = [
        (str(i), q.title, str(q.points), str(q.difficulty), str(q.minutes))
        for i, q in enumerate(asked, start=1)
    ]
    assert HEADING.findall(text(homework)) == bank
    table = re.findall(
        r"^\| (\d) \| (.+?) \| (\d+) \| (\d) \| (\d+) \|$", text(homework), flags=re.MULTILINE
    )
    assert table == bank


@pytest.mark.parametrize("homework", [f"hw{number}" for number in range(1, 8)])
def test_the_course_s_own_homeworks_have_20_points(homework):
    asked = load(homework).questions
    assert sum(q.points for q in asked) == 20
    assert f"**20 points, about {HOURS[sum(q.minutes for q in asked)]}.**" in text(homework)


@every_homework
def test_the_notebook_answers_and_checks_every_question(homework):
    asked = load(homework).questions
    defined = [
        node.name
        for _, source in answer_cells(homework)
        for node in ast.parse(source).body
        if hasattr(node, "name")
    ]
    assert defined == [q.answer_name for q in asked]
    checks = [
        cell.source
        for cell in notebook(homework).cells
        if cell.cell_type == "code" and cell.source.startswith("check(")
    ]
    assert checks == [f'check("{q.name}", {q.answer_name})' for q in asked]


@every_question
def test_the_notebook_s_answer_is_right_by_itself(name):
    """Run after the imports and what the notebook gives: it leans on no earlier answer."""
    homework = find(name).homework
    given, source = answer_cells(homework)[questions(homework).index(name)]
    space = {}
    exec(f"{given}\n{source}", space)
    for seed in seeds(name):
        verdict = judged(name, space[find(name).answer_name], seed)
        assert verdict.right, verdict


@every_question
def test_messages_call_arguments_as_the_notebook_does(name):
    homework = find(name).homework
    given, source = answer_cells(homework)[questions(homework).index(name)]
    space = {}
    exec(f"{given}\n{source}", space)
    answer = space[find(name).answer_name]
    assert replace(find(name), reference=answer, arguments=()).arguments == find(name).arguments


@every_homework
def test_the_notebook_links_sections_that_exist(homework):
    links = re.findall(r"\]\(\.\./notebooks/(\w+)\.ipynb#([^)]*)\)", text(homework))
    assert len(links) >= len(questions(homework))
    for chapter, anchor in links:
        assert anchor in sections(chapter), f"{chapter}#{anchor}"
    assert {f"{chapter}#{anchor}" for chapter, anchor in links} >= {
        question.chapter for question in load(homework).questions
    }
