"""Homework 2: its inputs, its worked examples. The rest: `test_banks.py` and
`test_graded_class.py`.
"""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close

from lectures_lib.homework import find
from tests.homework.bank import SEEDS, judged, key, questions, seeds, text


@pytest.mark.parametrize("name", questions("hw2")[:5])
def test_inputs_are_not_square(name):
    """No two sizes that an answer might confuse agree by accident."""
    for seed in SEEDS:
        for case in key(name, seed).cases:
            if any(
                1 in given.shape
                for given in case.args
                if torch.is_tensor(given) and given.is_floating_point()
            ):
                continue  # a size of 1 fits everywhere, on purpose
            if name == "hw2.additive_attention":
                query, states, W_q = case.args[:3]
                sizes = [*states.shape, query.shape[-1], len(W_q)]
            elif name == "hw2.DecoderStep":
                states = case.args[2]
                sizes = [*states.shape, case.init["d_embedding"], case.init["vocab_size"]]
            elif name == "hw2.layer_norm":
                sizes = list(case.args[0].shape[-2:])
            else:
                x, *others = case.args
                lengths = [
                    x.shape[1],
                    *(other.shape[1] for other in others[:1] if name == "hw2.DecoderBlock"),
                ]
                sizes = [*lengths, case.init["d_model"], case.init["d_ff"]]
            assert len(set(sizes)) == len(sizes), f"seed {seed}: {sizes}"


def test_a_list_that_is_changed_is_noticed():
    def in_place(sentences, begin, end, pad):
        width = max(len(words) for words in sentences) + 1
        for words in sentences:
            words.append(end)
        read = [[begin, *words[:-1]] for words in sentences]
        return tuple(
            [row + [pad] * (width - len(row)) for row in rows] for rows in (read, sentences)
        )

    verdict = judged("hw2.teacher_forcing", in_place)
    assert (verdict.right, verdict.kind) == (False, "changed")


@pytest.mark.parametrize(
    "norm", [F.layer_norm, torch.layer_norm, lambda x, shape, *more: nn.LayerNorm(shape)(x)]
)
def test_a_ready_made_norm_is_ruled_out(norm):
    def answer(x, gamma, beta, eps=1e-5):
        return (
            gamma * norm(x, x.shape[-1:], torch.ones_like(gamma), torch.zeros_like(beta), eps)
            + beta
        )

    verdict = judged("hw2.layer_norm", answer)
    assert not verdict.right
    assert verdict.kind == "forbidden" or "LayerNorm" in norm.__code__.co_names


class DropsOut(find("hw2.EncoderBlock").reference):
    """The question says that there is no dropout."""

    def feed_forward(self, x):
        return F.dropout(super().feed_forward(x), 0.1, self.training)


class KeepsItsMask(find("hw2.DecoderBlock").reference):
    """Right for the first target, whatever comes afterwards."""

    first = None

    def forward(self, x, memory, source_mask=None):
        self.first = x.shape[1] if self.first is None else self.first
        return super().forward(x[:, : self.first], memory, source_mask)


def test_training_mode_and_a_second_call_are_looked_at():
    for seed in seeds("hw2.EncoderBlock"):
        verdict = judged("hw2.EncoderBlock", DropsOut, seed)
        assert (verdict.right, verdict.on.endswith("(in training mode)")) == (False, True)
        assert judged("hw2.DecoderBlock", KeepsItsMask, seed).message.startswith(
            "In call 2 of the same object, with another input"
        )


def squeezed(query, states, W_q, W_k, v, lengths):
    hidden = torch.tanh((query @ W_q.T)[:, None] + states @ W_k.T)
    words = torch.arange(states.shape[1]) < lengths[:, None]
    weights = (hidden @ v).masked_fill(~words, -torch.inf).softmax(dim=-1)
    return (weights[:, None, :] @ states).squeeze(), weights


def no_gradients(answer):
    """The same class, its forward below no_grad."""
    return type(answer.__name__, (answer,), {"forward": torch.no_grad()(answer.forward)})


def frozen(answer):
    """The same class, its parameters without gradients."""

    class Frozen(answer):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.requires_grad_(False)

    return Frozen


def test_a_batch_of_one_and_gradients_are_looked_at():
    for seed in seeds("hw2.EncoderBlock"):
        assert judged("hw2.additive_attention", squeezed, seed).mistake == "axis_of_size_1_lost"
        for name in ("hw2.DecoderStep", "hw2.EncoderBlock", "hw2.DecoderBlock"):
            assert judged(name, no_gradients(find(name).reference), seed).kind == "gradient"
            assert judged(name, frozen(find(name).reference), seed).kind == "gradient"


def test_the_worked_examples_are_true():
    right = {name.split(".")[1]: find(name).reference for name in questions("hw2")}
    one = torch.ones(1, 1)
    states = torch.tensor([[[1.0], [-1], [7]]])
    for query, weights, context in (
        (0.0, ["0.955", "0.045", "0.000"], "0.91"),
        (3.0, ["0.518", "0.482", "0.000"], "0.04"),
    ):
        found = right["additive_attention"](
            query * one, states, one, one, torch.tensor([2.0]), torch.tensor([2])
        )
        assert [f"{w:.3f}" for w in found[1][0]] == weights
        assert f"{found[0].item():.2f}" == context
    step = right["DecoderStep"](10, 4, 3)
    assert sum(p.numel() for p in step.parameters()) == 182
    look = right["DecoderStep"](1, 1, 2).look(
        torch.tensor([[1.0, 0]]), torch.tensor([[[2.0, 0], [0, 3]]]), torch.tensor([2])
    )
    assert [f"{c:.2f}" for c in look[0]] == ["1.76", "0.36"]
    ones, zeros = torch.ones(4), torch.zeros(4)
    x = torch.tensor([2.0, 4, 4, 6])
    assert [f"{y:.2f}" for y in right["layer_norm"](x, ones, zeros)] == [
        "-1.41",
        "0.00",
        "0.00",
        "1.41",
    ]
    assert right["layer_norm"](x, ones, zeros, eps=2.0).tolist() == [-1, 0, 0, 1]
    x, norm = torch.tensor([1.0, 3]), torch.nn.LayerNorm(2, elementwise_affine=False)
    assert_close(norm(x), torch.tensor([-1.0, 1]))
    assert_close(norm(x + 2 * x), torch.tensor([-1.0, 1]))
    assert_close(x + 2 * norm(x), torch.tensor([-1.0, 5]))
    rows = [
        row.split(" | ")
        for row in text("hw2").splitlines()
        if row.startswith(("| reads", "| predicts"))
    ]
    rows = [[cell.strip(" |`") for cell in row[1:]] for row in rows]
    assert right["teacher_forcing"](
        [["I", "saw", "her"], ["stop"]], "<begin>", "<end>", "<pad>"
    ) == (rows[::2], rows[1::2])
    p = torch.tensor([[[0.5, 0.5], [0.25, 0.75]], [[0.5, 0.5], [0.9, 0.1]]])
    assert (
        f"{right['sequence_loss'](p.log(), torch.tensor([[0, 0], [0, 1]]), 1).item():.2f}" == "0.92"
    )
    assert right["count_parameters"](5, 2, 1, 3, 1) == 141
    assert right["count_parameters"](5, 2, 1, 3, 1, tied=False) == 161
