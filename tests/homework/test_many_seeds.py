"""A class is graded on inputs nobody saw before: what holds for the seeds of `test_banks` must hold
for any other.

    python -m pytest tests/homework/test_many_seeds.py -m long -k hw2          a hundred seeds each
    SEEDS=1000 python -m pytest tests/homework/test_many_seeds.py -m long

A question fails with the seeds on which a right answer is refused, or a mistake passes or gets
another name.
"""

import os
from collections import defaultdict

import pytest

from lectures_lib.homework import find, names
from lectures_lib.homework.diagnosis import AnswerKey, run
from tests.homework.bank import each, questions, right_answers, students, with_students

pytestmark = pytest.mark.long

SEEDS = range(1_000, 1_000 + int(os.environ.get("SEEDS", 100)))
QUICK = [name for homework in names() for name in questions(homework) if find(name).seconds <= 10]


def answers(name):
    """[(mistake or "", answer)]: all that is known of right and wrong answers to a question."""
    homework = find(name).homework
    known = [("", answer) for answer in (find(name).reference, *right_answers(homework)[name])]
    known += [
        (misconception.name, misconception.answer) for misconception in find(name).misconceptions
    ]
    if homework in with_students():
        known += [
            (mistake, answer)
            for asked, mistake, answer in each(students(homework))
            if asked == name
        ]
    return known


@pytest.mark.parametrize("name", QUICK)
def test_no_seed_is_unlucky(name):
    wrong = defaultdict(list)
    for seed in SEEDS:
        key = AnswerKey(find(name), seed)
        for mistake, answer in answers(name):
            verdict = key.verdict([run(answer, case) for case in key.cases])
            if verdict.mistake != mistake or verdict.right != (not mistake):
                told = verdict.mistake or verdict.message or "right"
                wrong[
                    f"{mistake or 'right'}, {getattr(answer, '__name__', answer)}: {told[:160]}"
                ].append(seed)
    assert not wrong, "\n".join(
        f"{len(found)} of {len(SEEDS)} seeds ({found[0]}, …): {what}"
        for what, found in wrong.items()
    )
