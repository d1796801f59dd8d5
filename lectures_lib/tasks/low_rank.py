"""Fine-tuning that changes little: beside every matrix of a frozen body two thin ones learn
(chapter 14; Hu et al. 2022, "LoRA: low-rank adaptation of large language models", section 4).

    model = task_heads.SentenceClassifier(Bert.from_pretrained(minilm.checkpoint()), n_classes=2)
    low_rank.adapt(model, r=8)                    # of 67 numbers one asks for a gradient
    fine_tuning.fine_tune(model, batches, rate=2e-3)
    small = low_rank.learned(model)               # all that has to be kept
    low_rank.merge(model)                         # plain layers again, with the same answers
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.low_rank import check_low_rank, check_not_adapted
from lectures_lib.tasks.task_heads import Head


class LowRank(nn.Linear):
    """A linear layer that stays as it is, and a product of two thin matrices that learns:
    W x + b + α/r · B A x.

    B begins at 0, so that nothing is changed before the first step. A begins as a linear layer's
    matrix does: were it 0 too, no gradient would reach either.

    Args:
        linear: the layer, whose weight and bias are shared and frozen.
        r: the rank: A is r × d_in, B is d_out × r.
        alpha: how much the product counts; None: 2 r.

    Raises:
        TypeError: for what is no linear layer, or a rank that is no whole number.
        ValueError: for a rank below 1 or above the layer's smaller side.
    """

    @at_the_door(check_low_rank)
    def __init__(self, linear: nn.Linear, r: int, alpha: float | None = None):
        super().__init__(linear.in_features, linear.out_features, device="meta")
        self.weight, self.bias = linear.requires_grad_(False).weight, linear.bias
        self.A = nn.Parameter(torch.empty_like(linear.weight[:r]))
        self.B = nn.Parameter(torch.zeros_like(linear.weight[:, :r]))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scale = 2.0 if alpha is None else alpha / r

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        """The layer's answer, and what was learned beside it."""
        return super().forward(x) + self.scale * (x @ self.A.T @ self.B.T)

    def merged(self) -> nn.Linear:
        """One plain layer with the same answers: W + α/r · B A."""
        plain = nn.Linear(self.in_features, self.out_features, device="meta")
        learned = self.scale * self.B.data @ self.A.data
        plain.weight = nn.Parameter(self.weight.data + learned)
        plain.bias = self.bias
        return plain


def linear_layers(body: nn.Module, kind: type[nn.Module]) -> list[tuple[nn.Module, str]]:
    """Where the layers of a kind stand: the module that holds each, and its name there."""
    return [
        (parent, name)
        for parent in list(body.modules())
        for name, child in parent.named_children()
        if type(child) is kind
    ]


@at_the_door(check_not_adapted)
def adapt(model: Head, r: int = 8, alpha: float | None = None) -> None:
    """Freeze the body, put a `LowRank` in place of each of its linear layers; the head on top
    learns as before. The model is changed in place.

    Raises:
        ValueError: for a model that was adapted before, or a rank that does not fit.
    """
    places = linear_layers(model.bert, nn.Linear)
    for parent, name in places:  # all of them before the first is frozen
        check_low_rank(None, getattr(parent, name), r, alpha)
    layers = [LowRank(getattr(parent, name), r, alpha) for parent, name in places]
    model.bert.requires_grad_(False)
    for (parent, name), layer in zip(places, layers, strict=True):
        setattr(parent, name, layer)


def learned(model: Head) -> dict[str, Tensor]:
    """All that an adapted model has beyond its body: each A and B, and the head."""
    return {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}


def merge(model: Head) -> None:
    """Put plain layers in place of the adapted ones: the same answers, at the old cost, and all of
    the body can learn again. The model is changed in place; where nothing was adapted, nothing
    happens.
    """
    adapted = linear_layers(model.bert, LowRank)
    for parent, name in adapted:
        setattr(parent, name, getattr(parent, name).merged())
    if adapted:
        model.bert.requires_grad_(True)
