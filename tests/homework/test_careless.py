"""Every argument and every place of it is seen by some input, whatever the seed.

    python -m pytest tests/homework/test_careless.py -k hw2                  the public seed and one
    more python -m pytest tests/homework/test_careless.py -m long -k hw2          a hundred

An answer that passes with any seed, because what it ignores does not matter, stands under
`arguments` in `equivalent_mutants.yml` with the reason. With a few seeds in a hundred one passes by
chance; a class is never graded with such a seed (`grade_class.drawn`).
"""

import os
from dataclasses import replace

import pytest
import torch
import yaml

from lectures_lib.homework import careless, find, names
from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.questions import Case
from tests.homework.bank import NIGHT, questions
from tests.homework.graded_mutants import JUDGED
from tests.homework.toy import question

QUICK = [name for homework in names() for name in questions(homework) if find(name).seconds <= 10]
SEEDS = range(2_000, 2_000 + int(os.environ.get("SEEDS", 100)))
PUBLIC = 0  # the seed of `check`
OFTEN = 0.05  # of the seeds, no more may be refused for one question


def accepted(asked, seed):
    """What the careless answers do that pass with this seed, without those that were looked at."""
    return sorted(
        careless.accepted(AnswerKey(asked, seed)).keys() - judged().get(asked.name, {}).keys()
    )


def judged():
    """{question: {what it does: why it is right}}."""
    listed = yaml.safe_load(JUDGED.read_text(encoding="utf-8")).get("arguments", {})
    return {
        name: {told: why for why, tolds in reasons.items() for told in tolds}
        for name, reasons in listed.items()
    }


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize("name", QUICK)
def test_every_argument_is_seen(name):
    for seed in (PUBLIC, SEEDS[0]) if NIGHT else (PUBLIC,):
        assert accepted(find(name), seed) == [], f"seed {seed}"


@pytest.mark.long
@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize("name", QUICK)
def test_every_argument_is_seen_with_any_seed_that_is_drawn(name):
    """What passes by chance is found by the comparison with other seeds, which knows nothing of the
    list of those looked at.
    """
    asked, refused = find(name), {}
    for seed in SEEDS:
        key, *others = (AnswerKey(asked, seed + i) for i in range(4))
        by_chance = careless.by_chance(key, others)
        assert set(accepted(asked, seed)) <= set(by_chance)
        refused |= {seed: by_chance} if by_chance else {}
    assert len(refused) <= OFTEN * len(SEEDS), refused


@pytest.mark.parametrize("name", sorted(judged()))
def test_every_judgement_is_about_an_answer(name):
    key = AnswerKey(find(name), SEEDS[0])
    assert set(judged()[name]) <= set(careless.careless(find(name), key.cases))


def test_a_question_whose_inputs_miss_something_is_seen():
    """The padded length is always the greatest: an answer may take one for the other."""
    lengths = torch.tensor([2, 3])
    mask = question(
        "mask", lambda lengths, n: torch.arange(n) < lengths[:, None], [Case((lengths, 3))]
    )
    assert accepted(mask, 0) == ["n ← its first value", "n ← max(lengths)"]
    mask = question(
        "mask",
        lambda lengths, n: torch.arange(n) < lengths[:, None],
        [Case((lengths, 3)), Case((lengths, 4))],
    )
    assert accepted(mask, 0) == []


def test_what_passes_by_chance_is_told_from_what_is_right():
    """Turned over, two equal lengths are the same; other inputs have two that differ. The last
    argument never matters.
    """

    def inputs(generator):
        return [Case((torch.tensor([2, 2 if generator.initial_seed() == 1 else 3]), 4, 7))]

    mask = replace(
        question("mask", lambda lengths, n, unused: torch.arange(n) < lengths[:, None]),
        cases=inputs,
    )
    keys = [AnswerKey(mask, seed) for seed in (1, 2, 3)]
    assert any(told.startswith("unused") for told in careless.accepted(keys[0]))
    assert "lengths: axis 0 turned over" in careless.by_chance(keys[0], keys[1:])
    assert not any(told.startswith("unused") for told in careless.by_chance(keys[0], keys[1:]))
    assert careless.by_chance(keys[1], keys[2:]) == []
