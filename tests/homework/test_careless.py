"""Every argument and every place of it is seen by some input, whatever the seed.

    python -m pytest tests/homework/test_careless.py -k hw2                  two seeds each
    python -m pytest tests/homework/test_careless.py -m long -k hw2          a hundred

An answer that passes with any seed, because what it ignores does not matter, stands under `arguments` in `equivalent_mutants.yml`
with the reason.
"""

import os
from collections import Counter

import pytest
import torch
import yaml

from lectures_lib.homework import find, names
from lectures_lib.homework.diagnosis import AnswerKey, run
from lectures_lib.homework.questions import Case
from tests.homework.bank import questions
from tests.homework.careless import careless
from tests.homework.mutation import JUDGED
from tests.homework.toy import question

QUICK = [name for homework in names() for name in questions(homework) if find(name).seconds <= 10]
SEEDS = range(2_000, 2_000 + int(os.environ.get("SEEDS", 100)))


def accepted(name, seeds):
    """{what it does: how many of these seeds let it pass}, without those that were looked at."""
    found, asked = Counter(), find(name) if isinstance(name, str) else name
    for seed in seeds:
        key = AnswerKey(asked, seed)
        for told, answer in careless(asked, key.cases).items():
            outcomes = []
            for case, right in zip(key.cases, key.right, strict=True):
                outcomes.append(run(answer, case))
                if outcomes[-1].raised or key._finding(outcomes[-1], right, case):
                    break
            else:
                found[told] += 1
    listed = judged().get(asked.name, {})
    return {told: count for told, count in found.items() if told not in listed}


def judged():
    """{question: {what it does: why it is right}}."""
    listed = yaml.safe_load(JUDGED.read_text(encoding="utf-8")).get("arguments", {})
    return {name: {told: why for why, tolds in reasons.items() for told in tolds} for name, reasons in listed.items()}


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize("name", QUICK)
def test_every_argument_is_seen(name):
    assert not accepted(name, SEEDS[:2])


@pytest.mark.long
@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize("name", QUICK)
def test_every_argument_is_seen_with_any_seed(name):
    assert not accepted(name, SEEDS)


@pytest.mark.parametrize("name", sorted(judged()))
def test_every_judgement_is_about_an_answer(name):
    key = AnswerKey(find(name), SEEDS[0])
    assert set(judged()[name]) <= set(careless(find(name), key.cases))


def test_a_question_whose_inputs_miss_something_is_seen():
    """The padded length is always the greatest: an answer may take one for the other."""
    lengths = torch.tensor([2, 3])
    mask = question("mask", lambda lengths, n: torch.arange(n) < lengths[:, None], [Case((lengths, 3))])
    assert set(accepted(mask, [0])) == {"n ← its first value", "n ← max(lengths)"}
    mask = question("mask", lambda lengths, n: torch.arange(n) < lengths[:, None], [Case((lengths, 3)), Case((lengths, 4))])
    assert not accepted(mask, [0])
