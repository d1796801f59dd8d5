"""The annotations are enforced (`tests.shapes`): without that, they would be mere comments."""

from dataclasses import dataclass

import pytest
import torch
from jaxtyping import Float, Int, TypeCheckError
from torch import Tensor

from lectures_lib.decoding.sampling import keep_top_k
from lectures_lib.homework.compare.values import Difference
from lectures_lib.homework.inside.outcomes import describe
from tests.shapes import checked


@checked
def weigh(weights: Float[Tensor, "n m"], x: Float[Tensor, " m"] | None = None, times: int = 1):
    return weights


@checked
def cut(x: Float[Tensor, "n m"], to: int) -> Float[Tensor, "m n"]:
    return x.mT[:, :to]


@checked
@dataclass
class Pair:
    one: Int[Tensor, " n"]
    other: Int[Tensor, " n"]
    name: str = ""


def one(*shape):
    return torch.ones(*shape)


@pytest.mark.parametrize(
    "call",
    [
        lambda: weigh(one(2)),
        lambda: weigh(one(2, 3).long()),
        lambda: weigh([[1.0]]),
        lambda: weigh(one(2, 3), one(2)),
        lambda: weigh(one(2, 3), times="2"),
        lambda: cut(one(2, 3), to=1),
        lambda: Pair(one(2).long(), one(3).long()),
        lambda: Pair(one(2).long(), one(2).long(), 3),
        lambda: keep_top_k(one(3), 1),
        lambda: Difference("type", 1),
    ],
)
def test_what_an_annotation_rules_out_is_refused(call):
    with pytest.raises(TypeCheckError):
        call()


def test_the_rest_passes_and_sizes_are_each_call_s_own():
    weigh(one(2, 3), one(3), times=2)
    weigh(one(4, 5))
    assert cut(one(2, 3), to=2).shape == (3, 2)
    assert Pair(one(2).long(), one(2).long()).name == ""


def test_inner_calls_do_not_see_the_sizes_of_outer_ones():
    @checked
    def outer(x: Float[Tensor, "n m"]) -> Float[Tensor, "m n"]:
        return weigh(cut(x, to=len(x)))

    assert outer(one(2, 3)).shape == (3, 2)


@pytest.mark.usefixtures("shapes_unchecked")
def test_it_can_be_switched_off():
    assert weigh("anything") == "anything"
    assert Difference("type", 1).message == 1


def test_what_has_no_annotations_is_left_alone():
    def plain(x):
        return x

    assert checked(plain) is plain


def test_no_frame_of_it_is_taken_for_a_student_s_line():
    def answer():
        return keep_top_k(one(3), 1)

    with pytest.raises(TypeCheckError) as caught:
        answer()
    assert describe(caught.value).source == "return keep_top_k(one(3), 1)"
