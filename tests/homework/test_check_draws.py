"""What an answer draws at random, and in which dtype: `check` repeats it, and leaves the student's
own generator and dtype as they were.
"""

import random
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lectures_lib.homework.diagnosis import AnswerKey, run
from lectures_lib.homework.inside.looking import MOST
from lectures_lib.homework.questions import Case
from tests.homework.toy import Scale, double, judged, question


class Dropping(Scale):
    """Two of it that begin otherwise drop the same numbers."""

    def forward(self, x):
        return nn.functional.dropout(super().forward(x), 0.5, self.training)


class BeginsOtherwise(Dropping):
    def __init__(self, n):
        super().__init__(n)
        torch.randn(7)


def test_what_a_class_draws_to_begin_with_changes_nothing_later():
    case = Case(
        (torch.arange(1.0, 20),), init={"n": 19}, state={"weight": torch.ones(19)}, train=True
    )
    asked = question("Scale", Scale, [case], (("drops", Dropping),))
    assert judged(asked, BeginsOtherwise).mistake == "drops"


class Drops(nn.Module):
    """Right: dropout of rate p, then a sum of what is left."""

    def __init__(self, p, n=4):
        super().__init__()
        self.w, self.p = nn.Parameter(torch.ones(n)), p

    def forward(self, x):
        return F.dropout(x * self.w, self.p, self.training) + x


class DropsByHand(Drops):
    def forward(self, x):
        kept = (torch.rand(x.shape) >= self.p) / (1 - self.p) if self.training else 1.0
        return x + kept * self.w * x


class DropsRate(Drops):
    def __init__(self, p):
        super().__init__(0.1)


class DropsAll(Drops):
    def forward(self, x):
        return F.dropout(x * self.w + x, self.p, self.training)


class DropsAlways(Drops):
    def forward(self, x):
        return F.dropout(x * self.w, self.p) + x


class DropsUnscaled(Drops):
    def forward(self, x):
        return x * self.w * (torch.rand(x.shape) >= self.p if self.training else 1.0) + x


class DropsRows(Drops):
    def forward(self, x):
        return x * self.w * F.dropout(torch.ones(2, 1), self.p, self.training) + x


class DropsNothing(Drops):
    def forward(self, x):
        return x * self.w + x


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        (DropsByHand, True),
        (DropsRate, False),
        (DropsAll, False),
        (DropsAlways, False),
        (DropsUnscaled, False),
        (DropsNothing, False),
    ],
)
def test_dropout_is_seen_in_training_mode(answer, right):
    x = torch.tensor([[1.0, 2, 3, 4], [-1, 2, 0, 5]])
    asked = {"init": {"p": 0.4}, "state": {"w": torch.tensor([1.0, -2, 3, 4])}}
    cases = [
        Case((x,), **asked, train=True, draws=300),
        Case((x,), **asked),
        Case((x,), **asked | {"init": {"p": 0.0}}, train=True),
    ]
    asked = question("Drops", Drops, cases)
    assert judged(asked, Drops).right
    verdict = judged(asked, answer)
    assert verdict.right == right, verdict


def test_numbers_that_are_dropped_together_are_seen():
    """Their sum spreads more."""
    x, w = torch.ones(2, 4), torch.ones(4)
    case = Case((x,), init={"p": 0.4}, state={"w": w}, train=True, draws=300)
    asked = question("Drops", Drops, [case])
    assert judged(asked, DropsByHand).right
    assert "its numbers vary together" in judged(asked, DropsRows).message


class DropsInTwos(Drops):
    """The second number is dropped with the first, the fourth with the third."""

    def forward(self, x):
        kept = F.dropout(torch.ones(x.shape[0], x.shape[1] // 2), self.p, self.training)
        return x * self.w * kept.repeat_interleave(2, dim=1) + x


class DropsInTurn(Drops):
    """The first number of the lower row is kept where that of the upper one is dropped."""

    def forward(self, x):
        kept = (torch.rand(x.shape) >= self.p) / (1 - self.p) if self.training else 1.0
        if self.training:
            kept[1, 0] = (kept[0, 0] == 0) / self.p
        return x * self.w * kept + x


@pytest.mark.parametrize(
    ("answer", "p", "w"),
    [
        (DropsRows, 0.4, [1.0, -1, 1, 1]),  # the sum spreads as of four that vary each by itself
        (DropsInTwos, 0.4, [1.0, -1, 1, 1]),
        (DropsInTurn, 0.5, [1.0, -1, 1, 1]),
        (DropsInTwos, 0.4, [3.0, 1, 3, 1]),
    ],
)
def test_numbers_that_are_dropped_together_are_seen_also_where_they_cancel(answer, p, w):
    case = Case((torch.ones(2, 4),), init={"p": p}, state={"w": torch.tensor(w)}, train=True)
    asked = question("Drops", Drops, [replace(case, draws=200)])
    assert judged(asked, DropsByHand).right
    assert "vary together" in judged(asked, answer).message


def test_numbers_that_should_be_dropped_together_are_seen_too():
    state = {"w": torch.tensor([1.0, -1, 1, 1])}
    case = Case((torch.ones(2, 4),), init={"p": 0.4}, state=state, train=True, draws=200)
    asked = question("Drops", DropsRows, [case])
    assert judged(asked, DropsRows).right
    assert "should vary together" in judged(asked, DropsByHand).message


def test_of_a_large_result_some_pairs_are_looked_at():
    w = torch.ones(400)
    w[:190] = -1
    asked = {"init": {"p": 0.4, "n": 400}, "state": {"w": w}}
    case = Case((torch.ones(2, 400),), **asked, train=True, draws=200)
    value = run(Drops, case).value
    assert value["pairs"][0].shape == (MOST, MOST)
    asked = question("Drops", Drops, [case])
    assert judged(asked, DropsByHand).right
    assert "vary together" in judged(asked, DropsRows).message


class InPlace(Drops):
    """Works in its inputs: of each call's own copy, that harms nothing."""

    def forward(self, x):
        return x.add_(F.dropout(x * self.w, self.p, self.training))


class Doubles(Drops):
    """Changes its first input and returns the second."""

    def forward(self, x, y):
        x.mul_(2.0)
        return F.dropout(y * self.w, self.p, self.training)


def test_every_draw_begins_with_the_same_inputs():
    state = {"w": torch.tensor([1.0, -2, 3, 4])}
    asked = {"init": {"p": 0.4}, "state": state, "train": True, "draws": 200}
    case = Case((torch.tensor([[1.0, 2, 3, 4], [-1, 2, 0, 5]]),), **asked)
    assert judged(question("Drops", Drops, [case]), InPlace).right
    for named in (
        Case((), {"x": case.args[0]}, **asked),
        Case((case.args[0].T.contiguous().T,), **asked),
    ):
        assert judged(question("Drops", Drops, [named]), InPlace).right


def test_inputs_that_share_their_memory_share_it_in_every_draw():
    """Two that are one tensor, or parts of one; and one whose rows are one row."""
    asked = {"init": {"p": 0.4}, "state": {"w": torch.ones(4)}, "train": True, "draws": 200}
    x = torch.ones(2, 4)
    means = [
        run(Doubles, Case(args, **asked)).value["mean"][0].mean().item()
        for args in ((x, x), (x, x[:]), (x, x.clone()), (x[:1], x[1:]))
    ]
    assert [round(mean) for mean in means] == [2, 2, 1, 1]
    rows = run(InPlace, Case((torch.ones(1, 4).expand(2, 4),), **asked))
    assert rows.raised and "single memory location" in rows.raised.message


# the shape checks draw random numbers too
def test_randomness_repeats_and_the_students_own_is_left_alone(shapes_unchecked):
    noise = question("noise", lambda x: torch.randn(3) + random.random())
    torch.manual_seed(5)
    random.seed(5)
    before = torch.get_rng_state(), random.getstate()
    assert judged(noise, lambda x: random.random() + torch.randn(3)).right
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == random.getstate()


@pytest.fixture
def restored():
    yield
    torch.set_default_dtype(torch.float32)


class Layer(nn.Module):
    """A layer whose parameters have the default dtype."""

    def __init__(self, n):
        super().__init__()
        self.layer = nn.Linear(n, 2)

    def forward(self, x):
        return self.layer(x)


def test_another_default_dtype_makes_no_right_answer_wrong(restored):
    state = {"layer.weight": torch.ones(2, 3), "layer.bias": torch.ones(2)}
    case = Case((torch.ones(4, 3),), init={"n": 3}, state=state)
    key = AnswerKey(question("layer", Layer, [case]), seed=0)
    torch.set_default_dtype(torch.float64)  # as a cell of a notebook does
    assert key.verdict([run(Layer, case) for case in key.cases]).right
    assert torch.get_default_dtype() is torch.float64


def test_inputs_are_drawn_with_the_usual_dtype(restored):
    torch.set_default_dtype(torch.float64)
    asked = replace(question("drawn", double), cases=_drawn)
    assert AnswerKey(asked, seed=0).cases[0].args[0].dtype is torch.float32


def _drawn(generator):
    return [Case((torch.randn(3, generator=generator),))]


def test_an_answer_that_sets_the_default_dtype_leaves_it_as_it_was(restored):
    def sets(x):
        torch.set_default_dtype(torch.float64)
        return 2 * x

    assert judged(question("sets", double), sets).right
    assert torch.get_default_dtype() is torch.float32
