"""What a submission's process sends back may be forged, down to the last value: it is judged, and
judging never fails. Otherwise one notebook would count as a fault of the grader, and a few of them
would stop the class.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from safetensors.torch import save
from torch import Tensor, nn

from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.inside import wire
from lectures_lib.homework.inside.values import DTYPES, Foreign
from lectures_lib.homework.questions import Case
from tests.homework.toy import Scale, double, judged, question

X, Y = torch.tensor([[1.0, -2.0, 3.0]]), torch.tensor([[4.0, 5.0, 6.0]])
STATE = {"weight": torch.tensor([2.0, 3.0, 5.0])}


class Drops(Scale):
    def forward(self, x):
        return nn.functional.dropout(super().forward(x), 0.5, self.training)


def scored(x):
    return [("a b", 0.5), ("c", x.sum())]


def labels(x):
    return [1, 2, 3, 4]


ASKED = {
    "a tensor": question("double", double, [Case((X,))]),
    "a number": question("sum", lambda x: x.sum().item(), [Case((X,))]),
    "a dictionary": question("parts", lambda x: {"a": [x, (1, "b")], "n": None}, [Case((X,))]),
    "gradients": question("Scale", Scale, [Case((X,), init={"n": 3}, state=STATE, again=((Y,),))]),
    "a remark": question(
        "double", double, [Case((X,)), Case((X,), gradients="reach", remark=True)]
    ),
    "draws": question("Drops", Drops, [Case((X,), init={"n": 3}, state=STATE, train=True, draws=200)]),
    "tools": question(
        "double", double, [Case((X,), watch=("torch.softmax",))], forbidden=("torch.softmax",)
    ),
    "a share": question("labels", labels, [Case((X,))], share=0.75),
    "scores": question("scored", scored, [Case((X,), without_scores=True)]),
}  # fmt: skip


def forged(place: Any) -> Iterator[Any]:
    """What may stand there instead."""
    yield from (None, True, -1, 10**4000, float("nan"), "", "\ud800", [], (), {}, [[], {}])
    yield from (
        {1: 2},
        {(1, 2): 3},
        {None: [], Foreign("x"): 0},
        Foreign("x"),
        [place],
        [place] * 9,
    )
    shape = place.shape if isinstance(place, Tensor) else (1, 3)
    for dtype in DTYPES:
        yield from (torch.ones(sizes).to(dtype) for sizes in (shape, (), (0,), (1,) * 4))
    yield torch.full(shape, float("nan"))


def places(value: Any, path: tuple = ()) -> Iterator[tuple[tuple, Any]]:
    """Every part of a value, with the way to it."""
    yield path, value
    if isinstance(value, dict | list | tuple):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))


def put(value: Any, path: tuple, new: Any) -> Any:
    """The same value, with another part there."""
    if not path:
        return new
    if isinstance(value, dict):
        return {k: put(v, path[1:], new) if k == path[0] else v for k, v in value.items()}
    return type(value)(
        put(v, path[1:], new) if k == path[0] else v for k, v in enumerate(value)
    )  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_hostile_values_are_judged_like_any_others(name):
    key = AnswerKey(ASKED[name], seed=1)
    for i, outcome in enumerate(key.right):
        for path, place in places(outcome.value):
            for new in forged(place):
                replies = list(key.right)
                replies[i] = replace(outcome, value=put(outcome.value, path, new))
                key.verdict(replies)


def test_hostile_draws_that_are_no_numbers_are_not_right():
    key = AnswerKey(ASKED["draws"], seed=1)
    tried = 0
    for i, outcome in enumerate(key.right):
        for path, place in places(outcome.value):
            if isinstance(place, Tensor) and place.is_floating_point():
                new = torch.full_like(place, float("nan"))
                replies = list(key.right)
                replies[i] = replace(outcome, value=put(outcome.value, path, new))
                assert not key.verdict(replies).right, path
                tried += 1
    assert tried >= 4


@pytest.mark.parametrize(
    "changed", ["argument 1", "argument x", "argument 99", "argument -7", "argument 0", "argument ²", "argument 1[0]", "x", ""]
)  # fmt: skip
def test_hostile_names_of_changed_inputs_are_only_told(changed):
    key = AnswerKey(ASKED["a tensor"], seed=1)
    verdict = key.verdict([replace(key.right[0], changed=(changed,))])
    assert verdict.mistake == "input_changed"


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.uint16, torch.uint32, torch.uint64])
def test_hostile_kinds_of_tensors_are_refused(dtype):
    blob = save({"0": torch.zeros(1, 3, dtype=dtype)})
    with pytest.raises(wire.Garbled):
        wire.unpack(b'{"head": {}, "tree": ["tensor", "0"]}', blob)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.uint32, torch.complex128])
def test_check_says_of_such_a_tensor_what_grade_says(dtype):
    key = AnswerKey(ASKED["a tensor"], seed=1)
    _, sent = wire.unpack(
        b'{"head": {}, "tree": ["foreign", "a tensor of %s"]}' % str(dtype).encode(), b""
    )
    graded = key.verdict([replace(key.right[0], value=sent)])
    assert graded == judged(ASKED["a tensor"], lambda x: torch.zeros(1, 3).to(dtype))
    assert f"a tensor of {dtype}" in graded.message
