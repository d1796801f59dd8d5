"""Homework 1: its inputs, its worked examples. The rest: `test_banks.py` and
`test_graded_class.py`.
"""

import pytest
import torch

from lectures_lib.homework import find
from tests.homework.bank import SEEDS, key, questions

every_question = pytest.mark.parametrize("name", questions("hw1"))


@every_question
def test_inputs_are_not_square(name):
    """No two sizes that an answer might confuse agree by accident."""
    for seed in SEEDS:
        for case in key(name, seed).cases:
            if name == "hw1.scaled_dot_product_attention":
                Q, K, V = case.args
                if len(Q) == 1:
                    continue
                sizes = [Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]]
            elif name == "hw1.MultiHeadAttention":
                batch, n, d_model = case.args[0].shape
                if n == 1:
                    continue
                heads, width = case.init["n_heads"], case.init["d_head"]
                sizes = [batch, n, heads, width, d_model]
                assert heads * width != d_model
            elif name == "hw1.split_heads":
                x, n_heads = case.args
                if 1 in (*x.shape, n_heads, x.shape[-1] // n_heads):
                    continue
                sizes = [x.shape[-2], n_heads, x.shape[-1] // n_heads]
            else:
                continue
            assert len(set(sizes)) == len(sizes), f"seed {seed}: {sizes}"


def test_the_worked_examples_are_true():
    right = {name.split(".")[1]: find(name).reference for name in questions("hw1")}
    attention = right["scaled_dot_product_attention"](
        torch.ones(1, 1, 4),
        torch.tensor([[[1.0, 1, 0, 0], [0, 0, 0, 0]]]),
        torch.tensor([[[10.0], [0]]]),
    )
    assert f"{attention.item():.1f}" == "7.3"
    weights = right["masked_softmax"](
        torch.tensor([[1.0, 2, 3]]), torch.tensor([[True, True, False]])
    )
    assert [f"{w:.2f}" for w in weights[0]] == ["0.27", "0.73", "0.00"]
    assert torch.tensor(89.0).exp().isinf()
    assert torch.tensor(-104.0).exp() == 0
    assert right["causal_mask"](2, 1).tolist() == [[True, True, False], [True, True, True]]
    lengths = torch.tensor([2, 3])
    assert right["padding_mask"](lengths, 3)[:, 0, 0].tolist() == [
        [True, True, False],
        [True, True, True],
    ]
    assert right["padding_mask"](lengths, 3, "left")[:, 0, 0].tolist() == [
        [False, True, True],
        [True, True, True],
    ]
    assert right["split_heads"](torch.arange(8.0).view(1, 2, 4), 2).tolist() == [
        [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    ]
    layer = right["MultiHeadAttention"](8, 2, 3)
    assert sum(p.numel() for p in layer.parameters()) == 192
    word = torch.randn(1, 1, 8, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(layer(word), layer.W_O(layer.W_V(word)))
    assert [f"{p:.3f}" for p in right["sinusoidal_positions"](2, 4)[1]] == [
        "0.841",
        "0.540",
        "0.010",
        "1.000",
    ]
    assert [f"{p:.3f}" for p in right["sinusoidal_positions"](2, 3)[1]] == [
        "0.841",
        "0.540",
        "0.002",
    ]
    moved = torch.tensor([1, 2, 0])
    assert moved.argsort()[0] == 2  # "dog" comes home from seat 2
