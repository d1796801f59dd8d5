"""An answer that cannot be trained is wrong, whatever it returns: `check` compares gradients too."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from lectures_lib.homework.questions import Case
from tests.homework.toy import Scale, judged, question


class AsBuffer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("weight", torch.ones(n))

    def forward(self, x):
        return self.weight * x


class Frozen(Scale):
    def __init__(self, n):
        super().__init__(n)
        self.weight.requires_grad_(False)


class Data(Scale):
    def forward(self, x):
        return self.weight.data * x


class Copied(Scale):
    def forward(self, x):
        return torch.tensor(self.weight.tolist()) * x


class NoGrad(Scale):
    @torch.no_grad()
    def forward(self, x):
        return self.weight * x


class CutOff(Scale):
    def forward(self, x):
        return self.weight * x.detach()


class Halves(Scale):
    def forward(self, x):
        return (self.weight * x + (self.weight * x).detach()) / 2


class Overwrites(Scale):
    def forward(self, x):
        root = (self.weight * x).exp()
        result = root.log()
        root.zero_()
        return result


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (AsBuffer, "a buffer, which training does not change, and no nn.Parameter: weight"),
        (Frozen, "no gradient to weight flows back"),
        (Data, "no gradient to weight flows back"),
        (Copied, "no gradient to weight flows back"),
        (NoGrad, "no gradient at all flows back"),
        (CutOff, "no gradient to x flows back"),
        (Halves, "the gradient that flows back from it to weight, x is not"),
        (Overwrites, "backpropagation through it fails. RuntimeError: one of the variables needed"),
    ],
)
def test_a_right_value_that_cannot_be_trained_is_wrong(answer, words):
    case = Case(
        (torch.arange(1.0, 4),), init={"n": 3}, state={"weight": torch.tensor([2.0, 3.0, 5.0])}
    )
    verdict = judged(question("Scale", Scale, [case]), answer)
    assert words in verdict.message
    assert judged(question("Scale", Scale, [replace(case, gradients="none")]), answer).right == (
        answer is not AsBuffer
    )
    reach = judged(question("Scale", Scale, [replace(case, gradients="reach")]), answer)
    assert reach.right == (answer is Halves)


def test_only_the_gradients_that_are_asked_for_are_compared():
    def detached(x, y):
        return x * y.detach()

    case = Case((torch.ones(3), torch.arange(1.0, 4)), gradients="values")
    product = question("product", lambda x, y: x * y, [case])
    assert judged(product, detached).kind == "gradient"
    assert judged(
        replace(product, cases=lambda g: [replace(case, gradients_of=("argument 1",))]), detached
    ).right
    assert (
        judged(
            replace(product, cases=lambda g: [replace(case, gradients_of=("argument 2",))]),
            detached,
        ).kind
        == "gradient"
    )


def test_gradients_of_a_function_s_inputs():
    case = Case(
        (torch.arange(1.0, 4), [2 * torch.ones(3)]),
        {"scale": torch.tensor(2.0)},
        gradients="values",
    )
    asked = question("dot", lambda x, others, scale: (x * others[0]).sum() * scale, [case])
    assert judged(asked, lambda x, others, scale: scale * x @ others[0]).right
    assert (
        "no gradient to others[0] flows"
        in judged(asked, lambda x, others, scale: scale * x @ others[0].detach()).message
    )
    assert (
        "to scale flows"
        in judged(asked, lambda x, others, scale: scale.item() * x @ others[0]).message
    )
    assert (
        judged(asked, lambda x, others, scale: (scale * x.mul_(others[0])).sum()).kind == "changed"
    )


@pytest.mark.parametrize(("left", "right"), [(2e-6, True), (1e-3, False)])
def test_what_rounding_leaves_of_a_0_is_none(left, right):
    """A softmax of one score has no gradient; the kernels of some processors leave a little."""
    case = Case(
        (torch.ones(3),), init={"n": 3}, state={"weight": torch.ones(3)}, gradients="values"
    )

    class Alone(Scale):
        of = 0.0

        def forward(self, x):
            return x + self.of * (self.weight - self.weight.detach())

    class Rounded(Alone):
        of = left

    assert judged(question("Alone", Alone, [case]), Rounded).right == right
