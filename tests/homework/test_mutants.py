"""The grader graded: every mutant of the notebooks' answers is caught, but for those that were
looked at and are right.
"""

import gc
import sys
import time

import pytest

from lectures_lib.homework import find, names
from tests.homework.bank import answer_cells, key, questions
from tests.homework.graded_mutants import (
    SEEDS,
    TooLong,
    equivalent,
    is_quick,
    judged,
    limited,
    sample,
    survivors,
)
from tests.homework.mutants import Mutant, mutants

pytestmark = pytest.mark.skipif(
    sys.platform != "linux",
    reason="mutants are held to limits of time and memory as Linux has them",
)
QUICK = [name for homework in names() for name in questions(homework) if is_quick(name)]
ALL = [name for homework in names() for name in questions(homework)]


def of(name):
    """A question's mutants."""
    answers = dict(
        zip(questions(find(name).homework), answer_cells(find(name).homework), strict=True)
    )
    return mutants(answers[name][1])


def unjudged(name, seeds, one_in=1):
    """Mutants that pass and are in no list."""
    return [
        mutant.name
        for mutant in survivors(name, seeds, one_in)
        if mutant.name not in equivalent(name)
    ]


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize("name", QUICK)
def test_mutants_are_caught(name):
    """With one seed; questions whose mutants take their time are tried by the long test alone."""
    assert unjudged(name, SEEDS[:1]) == []


@pytest.mark.long
@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize("name", ALL)
def test_mutants_are_caught_with_any_seed(name):
    assert unjudged(name, SEEDS, sample(name)) == []


@pytest.mark.parametrize("name", ALL)
def test_every_judgement_is_about_a_mutant(name):
    """An answer that was rewritten has other mutants, to be judged anew."""
    assert set(equivalent(name)) <= {mutant.name for mutant in of(name)}


@pytest.mark.parametrize("homework", names())
def test_judgements_are_few(homework):
    """The list is no way out: of the questions that do not train, at most one mutant in fifteen is
    on it.
    """
    asked = [name for name in questions(homework) if find(name).share == 1]
    n_judged = sum(len(equivalent(name)) for name in asked)
    assert n_judged <= sum(len(of(name)) for name in asked) / 15


def test_a_mutant_changes_one_place_of_the_answer_alone():
    source = (
        "def f(x, n=2):\n    y = x + 1\n    ### BEGIN SOLUTION\n    z = y.sum(dim=-1)[1:] * n\n    "
        "return z\n    ### END SOLUTION\n"
    )
    found = {mutant.name for mutant in mutants(source)}
    for name in (
        "z = y.sum(dim=-1)[1:] * n → z = y.sum(dim=-2)[1:] * n",
        "z = y.sum(dim=-1)[1:] * n → z = y.sum()[1:] * n",
        "z = y.sum(dim=-1)[1:] * n → z = y[1:] * n",
        "z = y.sum(dim=-1)[1:] * n → z = y.mean(dim=-1)[1:] * n",
        "z = y.sum(dim=-1)[1:] * n → z = y.sum(dim=-1)[:] * n",
        "z = y.sum(dim=-1)[1:] * n → z = y.sum(dim=-1)[1 + 1:] * n",
        "z = y.sum(dim=-1)[1:] * n → z = y.sum(dim=-1)[1:] / n",
        "z = y.sum(dim=-1)[1:] * n → (deleted)",
        "return z → return x",
    ):
        assert name in found
    assert all(
        "y = x + 1" in mutant.source and "n=2" in mutant.source for mutant in mutants(source)
    )
    assert len({mutant.source for mutant in mutants(source)}) == len(mutants(source))


@pytest.mark.parametrize(
    "loop", ["while True:\n        x = x", "for _ in iter(int, 1):\n        pass"]
)
def test_a_mutant_that_loops_is_cut(loop):
    source = f"def causal_mask(n, n_past=0):\n    x = 1\n    {loop}"
    assert judged(Mutant("", "", "", source), {}, key("hw1.causal_mask", 1), 0.2).kind == "time"


def test_what_another_test_left_does_not_swallow_the_alarm():
    """A finalizer that runs while the alarm rings would take it: what is raised in one is dropped,
    and the mutant that loops would loop on.
    """

    class Left:
        def __del__(self):
            until = time.process_time() + 0.5
            while time.process_time() < until:
                pass

    left = Left()
    left.itself = left  # for the collector to find
    del left
    until = time.process_time() + 2
    with pytest.raises(TooLong), limited(0.2):
        while time.process_time() < until:
            [[] for _ in range(1000)]
    gc.collect()
