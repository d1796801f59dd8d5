"""Where a question asks for a class, `check` builds it, gives it the parameters and calls it."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from lectures_lib.homework.banks.mistakes import always_dropping, dropping
from lectures_lib.homework.diagnosis import AnswerKey, run
from lectures_lib.homework.question_key import packed, unpacked
from lectures_lib.homework.questions import Case
from tests.homework.toy import SCALE, Scale, double, judged, question


class NoSuper(nn.Module):
    def __init__(self, n):
        self.layer = nn.Linear(n, n)


class Renamed(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weights = nn.Parameter(torch.ones(n))


class Crooked(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n, 1))


class DropsOut(Scale):
    def forward(self, x):
        return nn.functional.dropout(super().forward(x), 0.5, self.training)


class Adds(Scale):
    def forward(self, x):
        return x + self.weight


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Renamed, "missing: weight (3,); not asked for: weights (3,)"),
        (Crooked, "of another shape: weight is (3, 1) instead of (3,)"),
        (double, "a class is asked for, and this is a function"),
        (NoSuper, "__init__() call. Call `super().__init__()` in the first line"),
        (Adds, "differs in 3 of 3 values"),
        (Scale(3), "a class is asked for, and this is a Scale"),
    ],
)
def test_a_class_is_built_and_given_parameters(answer, words):
    assert words in judged(SCALE, answer).message


class Buffered(Scale):
    """Right: a buffer of its own, and the parameter under a second name."""

    def __init__(self, n):
        super().__init__(n)
        self.register_buffer("one", torch.ones(()))
        self.register_buffer("mask", torch.ones(n), persistent=False)
        self.also = self.weight

    def forward(self, x):
        return self.one * self.also * x


class Linear(nn.Module):
    """Right: layers registered once more in an nn.Sequential, before they get their own names."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.LayerNorm(3))
        self.dense, self.norm = self.layers[0], self.layers[2]

    def forward(self, x):
        return self.layers(x)


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense, self.norm = nn.Linear(2, 3), nn.LayerNorm(3)

    def forward(self, x):
        return self.norm(self.dense(x).relu())


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense, self.norm = nn.Linear(2, 3), nn.LayerNorm(3)
        self.norm.bias = self.dense.bias

    def forward(self, x):
        return self.norm(self.dense(x).relu())


STATE = {
    "dense.weight": torch.tensor([[1.0, 2], [3, 5], [7, 11]]),
    "dense.bias": torch.tensor([1.0, 2, 3]),
}
STATE |= {"norm.weight": torch.tensor([2.0, 3, 5]), "norm.bias": torch.tensor([7.0, 11, 13])}
LAYERS = question(
    "Plain", Plain, [Case((torch.tensor([[1.0, -2], [0.5, 1]]),), init={}, state=STATE)]
)


def test_parameters_count_whatever_else_is_registered():
    assert judged(SCALE, Buffered).right
    assert judged(LAYERS, Linear).right
    assert "under several names: dense.bias, norm.bias" in judged(LAYERS, Tied).message


class Remembers(Scale):
    mask = None

    def forward(self, x):
        self.mask = torch.ones(len(x)) if self.mask is None else self.mask
        return self.mask * x


def test_the_same_object_is_called_again():
    case = Case(
        (torch.ones(3),),
        init={"n": 3},
        state={"weight": torch.ones(3)},
        again=((torch.ones(2),),),
        gradients="none",
    )
    scale = question("Scale", lambda **init: None, [case])
    scale = replace(
        scale,
        reference=type("Once", (Scale,), {"forward": lambda self, x: x * self.weight[: len(x)]}),
    )
    verdict = judged(scale, Remembers)
    assert verdict.kind == "raised"
    longer = replace(case, again=((2 * torch.ones(1),),))
    assert (
        "In call 2 of the same object"
        in judged(replace(scale, cases=lambda g: [longer]), Remembers).message
    )
    assert judged(
        replace(scale, cases=lambda g: [longer]),
        type("Twice", (Scale,), {"forward": lambda self, x: x * 1.0}),
    ).right


def test_a_class_is_called_in_evaluation_mode():
    assert judged(SCALE, DropsOut).right


# ------------------------------------------------------------------------ dropout that nobody asked

LONG, WEIGHT = torch.arange(1.0, 21), torch.arange(2.0, 22)
NO_DROPOUT = replace(
    question(
        "Scale",
        Scale,
        [
            Case((LONG,), init={"n": 20}, state={"weight": WEIGHT}, train=train)
            for train in (False, True)
        ],
    ),
    misconceptions=(dropping(Scale), always_dropping(Scale)),
)


class DropsBefore(Scale):
    """Another place and rate than the known mistake's."""

    def forward(self, x):
        return super().forward(nn.Dropout(0.4)(x) if self.training else x)


class DropsTheWeight(Scale):
    def forward(self, x):
        return x * nn.functional.dropout(self.weight, 0.3, self.training)


class DropsAlways(Scale):
    def forward(self, x):
        return super().forward(nn.functional.dropout(x))


class DropsAndAdds(Scale):
    def forward(self, x):
        return nn.functional.dropout(x + self.weight, 0.1, self.training)


class DropsNothing(Scale):
    """A rate of 0, and another mistake, which shows in training alone."""

    def forward(self, x):
        x = nn.functional.dropout(x, 0.0, self.training)
        return x + self.weight if self.training else x * self.weight


class DropsInEvaluation(Scale):
    """The two modes exchanged: neither of the known mistakes."""

    def forward(self, x):
        return super().forward(nn.functional.dropout(x, 0.5, not self.training))


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (DropsOut, "dropout_added"),
        (DropsBefore, "dropout_added"),
        (DropsTheWeight, "dropout_added"),
        (DropsAlways, "dropout_always"),
        (DropsAndAdds, ""),
        (DropsNothing, ""),
        (DropsInEvaluation, ""),
    ],
)
def test_dropout_is_named_at_whatever_place_and_rate(answer, mistake):
    asked = AnswerKey(NO_DROPOUT, 0)
    for key in (asked, unpacked(packed(asked))):
        verdict = key.verdict([run(answer, case) for case in key.cases])
        assert (verdict.right, verdict.mistake) == (False, mistake), verdict
        assert (
            not mistake
            or verdict.message
            == {each.name: each.diagnosis for each in NO_DROPOUT.misconceptions}[mistake]
        )
