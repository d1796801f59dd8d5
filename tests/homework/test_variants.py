"""Variants: with other constants than the course's own, right answers are those that use them, and
last year's are refused by name.
"""

import inspect
from itertools import pairwise

import pytest

from lectures_lib.homework import find, load, names
from lectures_lib.homework.diagnosis import AnswerKey, run
from lectures_lib.homework.variants import ANOTHER, Draw, number, of_seed, reworded, with_variant
from tests.homework.bank import right_answers

VARIED = [q.name for name in names() for q in load(name).questions if q.varied]
every_variant = pytest.mark.parametrize(
    ("name", "variant"),
    [(name, i) for name in VARIED for i in range(1, len(find(name).varied.values))],
)
SEEDS = (0, 1, 17)


def judged(question, answer, seed=0):
    key = AnswerKey(question, seed)
    return key.verdict([run(answer, case) for case in key.cases])


# ------------------------------------------------------------------------------------ the questions


@every_variant
def test_every_mistake_is_caught_and_named_in_every_variant(name, variant):
    for seed in SEEDS:
        key = AnswerKey(with_variant(find(name), variant), seed)
        assert key.faults() == []
        for i, (one, outcomes) in enumerate(key.mistakes):
            for other, theirs in key.mistakes[:i]:
                assert not key._alike(outcomes, theirs), f"{one.name} and {other.name}"


@every_variant
def test_answers_to_the_course_s_own_variant_are_refused_by_name(name, variant):
    question = with_variant(find(name), variant)
    for answer in (find(name).reference, *right_answers(question.homework)[name]):
        verdict = judged(question, answer)
        assert verdict.mistake == ANOTHER, verdict
        assert question.varied.says(question.varied.values[variant]) in verdict.message


@every_variant
def test_the_reference_of_a_variant_is_right_there_and_in_no_other(name, variant):
    question = find(name)
    reference = with_variant(question, variant).reference
    for other in range(len(question.varied.values)):
        assert judged(with_variant(question, other), reference).right == (other == variant)


@every_variant
def test_a_diagnosis_names_no_value_of_the_course_s_own(name, variant):
    """What `told` writes in the place of something must be there, or it writes nothing."""
    question = find(name)
    told = " ".join(m.diagnosis for m in question.misconceptions)
    for text in question.varied.told(question.varied.values[variant]):
        assert text in told, text


# ------------------------------------------------------------------------ right answers, written anew


def written_anew(name, answer, value):
    """A right answer to the course's own variant, changed as a student who reads another value in
    the question would write it.
    """
    if name == "hw1.scaled_dot_product_attention":
        return lambda Q, K, V: answer(Q / value, K, V)
    if name == "hw2.count_parameters":
        return lambda *sizes, **named: answer(*sizes, **named) + 2 * value * named["d_model"]
    if name == "hw3.learning_rate":
        return lambda *sizes: value * answer(*sizes)
    numbers = {
        "hw1.sinusoidal_positions": lambda: {"10000": f"{value}"},
        "hw5.mask_words": lambda: dict(zip(("0.15", "0.8", "0.9"), map(str, value), strict=True)),
    }[name]()
    space = dict(answer.__globals__)
    exec(reworded(inspect.getsource(answer), numbers), space)
    return space[answer.__name__]


@every_variant
def test_right_answers_with_the_variant_s_value_are_accepted(name, variant):
    question = with_variant(find(name), variant)
    value = question.varied.values[variant]
    for answer in right_answers(question.homework)[name]:
        for seed in SEEDS:
            verdict = judged(question, written_anew(name, answer, value), seed)
            assert verdict.right, f"{answer.__name__}: {verdict.message}"


# ----------------------------------------------------------------------------------------- the draw


@pytest.mark.parametrize("name", VARIED)
def test_a_seed_draws_no_variant_twice_in_a_row_and_never_the_public_one(name):
    numbers = [number(find(name), seed) for seed in range(2020, 2040)]
    assert 0 not in numbers
    assert all(one != following for one, following in pairwise(numbers))
    assert set(numbers) == set(range(1, len(find(name).varied.values)))


def test_variant_0_is_the_question_itself():
    for name in VARIED:
        assert with_variant(find(name), 0) is find(name)


def drawn(homework):
    return tuple(question.variant for question in homework.questions)


def test_students_of_a_list_have_their_own_and_the_others_share_one():
    draw = Draw(2027, tuple(f"student{i}" for i in range(30)))
    hw1 = load("hw1")
    own = {drawn(draw.homework(hw1, [student])) for student in draw.students}
    assert len(own) == 9, "three times three"
    assert drawn(draw.homework(hw1, ["nobody"])) == drawn(draw.homework(hw1))
    asked = {(q.name, q.variant) for q in draw.all(hw1)}
    assert len(asked) == 6 + 2 * 3, "six questions do not vary, two in three variants each"


def test_a_homework_keeps_its_questions_points_and_titles():
    for name in ("hw1", "hw2", "hw3", "hw4", "hw5"):
        one, other = load(name), of_seed(load(name), 2027)
        assert [(q.name, q.title, q.points) for q in one.questions] == [
            (q.name, q.title, q.points) for q in other.questions
        ]
