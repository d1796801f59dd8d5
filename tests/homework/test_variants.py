"""Variants: with other constants than the course's own, right answers are those that use them, and
last year's are refused by name.
"""

import inspect
import re
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F

from lectures_lib.homework import find, load, names
from lectures_lib.homework.diagnosis import AnswerKey, run
from lectures_lib.homework.release import student_version
from lectures_lib.homework.variants import ANOTHER, Draw, number, of_seed, reworded, with_variant
from tests.homework.bank import ROOT, right_answers, seeds

VARIED = [q.name for name in names() for q in load(name).questions if q.varied]
every_variant = pytest.mark.parametrize(
    ("name", "variant"),
    [(name, i) for name in VARIED for i in range(1, len(find(name).varied.values))],
)


key_of = cache(AnswerKey)  # by question, variant and seed: some are drawn again and again


def judged(question, answer, seed=0):
    key = key_of(question, seed)
    return key.verdict([run(answer, case) for case in key.cases])


# ------------------------------------------------------------------------------------ the questions


@every_variant
def test_every_mistake_is_caught_and_named_in_every_variant(name, variant):
    for seed in seeds(name):
        key = key_of(with_variant(find(name), variant), seed)
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


def numbers(text):
    """The numbers in a text."""
    return {float(found) for found in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", text)}


@every_variant
def test_what_a_variant_says_of_itself_has_its_value(name, variant):
    varied = find(name).varied
    value = varied.values[variant]
    values = value if isinstance(value, tuple) else (value,)
    assert numbers(varied.says(value)) >= set(map(float, values))
    assert [varied.says(each) for each in varied.values].count(varied.says(value)) == 1
    written = " ".join(varied.wording(value).values())
    assert numbers(written) >= set(map(float, values)), written


@pytest.mark.parametrize("name", VARIED)
def test_mistakes_are_made_with_the_value_of_the_variant(name):
    """Each takes it, but for the one that is a fixed other value."""
    question = find(name)
    for mistake in question.misconceptions:
        takes = question.varied.name in inspect.signature(mistake.answer).parameters
        assert takes or mistake.name == "base_1000", mistake.name


# what the diagnoses say of the course's own value
OWN = {
    "hw1.sinusoidal_positions": r"10000",
    "hw4.rollout": r"/ 2\b|\b[Hh]al(f|ve)|\b0\.5\b",
    "hw5.mask_words": r"\b(15|85) per cent|0\.15|\b(80|90) per cent|\btenths?\b",
    "hw6.best_answer": r"\bsums of all\b",
    "hw7.ranking_loss": r"divided by ∞",
}


@pytest.mark.parametrize("name", OWN)
def test_the_mistakes_of_a_variant_are_told_with_its_value(name):
    question = find(name)
    told = " ".join(m.diagnosis for m in question.misconceptions)
    assert re.search(OWN[name], told), "else this test looks at nothing"
    for variant in range(1, len(question.varied.values)):
        value = question.varied.values[variant]
        for mistake in with_variant(question, variant).misconceptions:
            words = re.search(OWN[name], mistake.diagnosis)
            same = words and words[0] in " ".join(question.varied.told(value).values())
            assert mistake.name == ANOTHER or not words or same, (variant, mistake.diagnosis)
        if name == "hw4.rollout":
            put = " ".join(question.varied.told(value).values())
            assert numbers(put) <= numbers(question.varied.says(value))


@every_variant
def test_the_notebook_is_written_with_the_value(name, variant):
    """What is to be replaced stands in the question's part, and its formula's braces pair."""
    question = with_variant(find(name), variant)
    homework = load(question.homework)
    one = replace(
        homework, questions=tuple(question if q.name == name else q for q in homework.questions)
    )
    (path,) = (ROOT / "solutions").glob(f"{question.homework}_*.ipynb")
    told = student_version(one, path.read_text(encoding="utf-8"))
    before = student_version(homework, path.read_text(encoding="utf-8"))
    assert told.count("{") == told.count("}") and told != before


# ----------------------------------------------------------------------------- the small cases worked out


@pytest.mark.parametrize("share", find("hw4.rollout").varied.values[1:])
def test_the_small_case_of_the_rollout(share):
    weights = torch.tensor([[[0.0, 1, 0], [0, 0, 1], [0, 0, 1]], [[0, 1, 0], [0, 1, 0], [0, 0, 1]]])
    first, second = find("hw4.rollout").reference(list(weights[:, None, None]), 1, 2, share=share)[
        0, 0
    ]
    put = find("hw4.rollout").varied.wording(share)
    assert put["The answer is 0.5 for patch 0 and 0.25 for"] == (
        f"The answer is {first:.4g} for patch 0 and {second:.4g} for"
    )
    one, two, product = (
        torch.tensor(
            [[float(x) for x in row.split("&")] for row in put[key].split(r"\\") if row.strip()]
        )
        for key in list(put)[1:4]
    )
    identity = torch.eye(3)
    M_0, M_1 = (share * A + (1 - share) * identity for A in weights)
    assert torch.allclose(one, M_0[:2]) and torch.allclose(two, M_1[:2])
    assert torch.allclose(product, (M_1 @ M_0)[:2], atol=1e-4)


@pytest.mark.parametrize("price", find("hw6.best_answer").varied.values[1:])
def test_the_small_case_of_the_answer(price):
    start = torch.tensor([1.0, 5, 0, 1, 0, 2, 3, 0])
    end = torch.tensor([0.5, 4, 0, 3.5, 0, 1, 2, 6])
    best = partial(find("hw6.best_answer").reference, start, end, 3, 6, 2, price=price)
    assert best(3.0) == (6, 6) and best(3.5) == (0, 0)
    told = find("hw6.best_answer").varied.wording(price)["(5, 6) has 4.0."]
    assert told == f"(5, 6) has 4.0 − {price:g} = {start[5] + end[6] - price:g}."


# ------------------------------------------------------------------------ right answers, written anew


def with_another_residual(answer, share, weights, rows, columns):
    """(A' + I) / 2 is what the share makes of A and I, for A' = 2 · share · A + (1 - 2 · share) I."""
    identity = torch.eye(1 + rows * columns)
    return answer([2 * share * A + (1 - 2 * share) * identity for A in weights], rows, columns)


def with_a_price(answer, price, start, end, first, last, longest, threshold):
    """A pair pays price · j and gets price · i back; for (0, 0) that is nothing."""
    paid = price * torch.arange(len(start))
    return answer(start + paid, end - paid, first, last, longest, threshold)


def with_a_margin(answer, margin, u, v, text, scale=20.0):
    """One more number for each pair, in which its two vectors differ and all others are 0: cosines
    c become c / (1 + margin), and on the diagonal (c - margin) / (1 + margin).
    """
    u, v = (F.normalize(x, dim=-1) for x in (u, v))
    own = margin**0.5 * torch.eye(len(u))
    u, v = torch.cat([u, own], dim=-1), torch.cat([v, -own], dim=-1)
    return answer(u, v, text, scale * (1 + margin))


REWRITTEN = {
    "hw4.rollout": with_another_residual,
    "hw6.best_answer": with_a_price,
    "hw7.ranking_loss": with_a_margin,
}


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
    if name in REWRITTEN:
        return partial(REWRITTEN[name], answer, value)
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
        for seed in seeds(name):
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


def test_every_homework_has_a_question_that_varies():
    assert {name.split(".")[0] for name in VARIED} == set(names())


def test_a_homework_keeps_its_questions_points_and_titles():
    for name in names():
        one, other = load(name), of_seed(load(name), 2027)
        assert [(q.name, q.title, q.points) for q in one.questions] == [
            (q.name, q.title, q.points) for q in other.questions
        ]
