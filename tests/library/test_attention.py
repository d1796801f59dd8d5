"""Attention equals torch's, forward and backward, and keeps the properties that chapters 2 and 3
claim.
"""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import TypeCheckError
from torch import nn
from torch.testing import assert_close

from lectures_lib.blocks.attention import (
    DotProductAttention,
    MultiHeadAttention,
    attention_weights,
    causal_mask,
    fused_attention,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)
from lectures_lib.blocks.recording import record

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}
GRADIENT_TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}


def largest_difference(a, b):
    """Of any two entries, against 1 or the largest entry: at 5 a step of float32 is 5e-7 wide, and
    which of them a sum ends on depends on the processor.
    """
    return (a - b).abs().max().item() / max(1.0, b.abs().max().item())


def masks(n_query, n_key):
    """Every kind of mask that a model uses, for a batch of 2 with lengths n_key and n_key - 2."""
    padding = padding_mask(torch.tensor([n_key, n_key - 2]), n_key)
    causal = torch.ones(n_query, n_key, dtype=torch.bool).tril()
    return {"none": None, "causal": causal, "padding": padding, "both": causal & padding}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", ["none", "causal", "padding", "both"])
@pytest.mark.parametrize("attend", [scaled_dot_product_attention, fused_attention])
def test_equals_torch_function(dtype, kind, attend):
    inputs = [
        torch.randn(2, 3, n, d, dtype=dtype, requires_grad=True)
        for n, d in ((5, 8), (7, 8), (7, 4))
    ]
    mask = masks(5, 7)[kind]
    ours = attend(*inputs, mask)
    theirs = F.scaled_dot_product_attention(*inputs, attn_mask=mask)
    assert largest_difference(ours, theirs) <= TOLERANCE[dtype]
    upstream = torch.randn_like(ours)
    for a, b in zip(
        torch.autograd.grad(ours, inputs, upstream),
        torch.autograd.grad(theirs, inputs, upstream),
        strict=True,
    ):
        assert largest_difference(a, b) <= GRADIENT_TOLERANCE[dtype]


def torch_twin(ours, d_model, n_heads, d_context, bias):
    """nn.MultiheadAttention with our parameters. It packs W_Q, W_K and W_V into one matrix when
    their widths agree.
    """
    theirs = nn.MultiheadAttention(
        d_model, n_heads, bias=bias, batch_first=True, kdim=d_context, vdim=d_context
    )
    projections = (ours.W_Q, ours.W_K, ours.W_V)
    state = {"out_proj.weight": ours.W_O.weight}
    if d_context == d_model:
        state["in_proj_weight"] = torch.cat([p.weight for p in projections])
    else:
        state |= {
            f"{name}_proj_weight": p.weight for name, p in zip("qkv", projections, strict=True)
        }
    if bias:
        state |= {
            "in_proj_bias": torch.cat([p.bias for p in projections]),
            "out_proj.bias": ours.W_O.bias,
        }
    theirs.load_state_dict(state)
    return theirs


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", ["none", "causal", "padding", "both"])
@pytest.mark.parametrize(
    ("cross", "d_context", "bias"),
    [(False, 12, False), (False, 12, True), (True, 12, True), (True, 10, True)],
)
def test_equals_torch_module(dtype, kind, cross, d_context, bias):
    d_model, n_heads, n_query, n_key = 12, 3, 6, 7 if cross else 6
    ours = MultiHeadAttention(d_model, n_heads, d_context=d_context, bias=bias)
    theirs = torch_twin(ours, d_model, n_heads, d_context, bias).to(dtype)
    ours = ours.to(dtype)
    query = torch.randn(2, n_query, d_model, dtype=dtype, requires_grad=True)
    context = torch.randn(2, n_key, d_context, dtype=dtype, requires_grad=True) if cross else query
    mask = masks(n_query, n_key)[kind]
    # torch's module means the opposite (True = may not attend) and wants one mask for each head of
    # each sentence.
    theirs_mask = (
        None
        if mask is None
        else ~mask.expand(2, n_heads, n_query, n_key).reshape(-1, n_query, n_key)
    )
    expected, expected_weights = theirs(
        query, context, context, attn_mask=theirs_mask, average_attn_weights=False
    )
    with record(ours) as seen:
        output = ours(query, context if cross else None, mask)
    assert largest_difference(output, expected) <= TOLERANCE[dtype]
    assert largest_difference(seen["weights"], expected_weights) <= TOLERANCE[dtype]
    upstream = torch.randn_like(output)
    inputs = [query, context] if cross else [query]
    grads = torch.autograd.grad(output, [*inputs, ours.W_O.weight], upstream)
    expected_grads = torch.autograd.grad(expected, [*inputs, theirs.out_proj.weight], upstream)
    for a, b in zip(grads, expected_grads, strict=True):
        assert largest_difference(a, b) <= GRADIENT_TOLERANCE[dtype]


@pytest.mark.parametrize("attend", [scaled_dot_product_attention, fused_attention])
def test_a_query_without_keys_gets_zeros_and_finite_gradients(attend):
    Q, K, V = (torch.randn(1, 3, 4, requires_grad=True) for _ in range(3))
    mask = torch.tensor([[True, False, False], [False, False, False], [True, True, True]])
    output = attend(Q, K, V, mask)
    assert torch.equal(output[0, 1], torch.zeros(4))
    assert_close(attention_weights(Q, K, mask).sum(-1), torch.tensor([[1.0, 0.0, 1.0]]))
    for gradient in torch.autograd.grad(output.square().sum(), (Q, K, V)):
        assert gradient.isfinite().all()
    assert_close(output[0, 2], F.scaled_dot_product_attention(Q, K, V)[0, 2])


def test_a_fully_padded_sentence_gives_zeros():
    attention = MultiHeadAttention(8, 2)
    output = attention(torch.randn(2, 3, 8), mask=padding_mask(torch.tensor([3, 0]), 3))
    assert torch.equal(output[1], torch.zeros(3, 8))
    assert output[0].abs().min() > 0


@given(n=st.integers(2, 12), d=st.integers(1, 16), seed=st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_rows_of_weights_sum_to_one(n, d, seed):
    generator = torch.Generator().manual_seed(seed)
    weights = attention_weights(
        torch.randn(n, d, generator=generator) * 30, torch.randn(n + 1, d, generator=generator) * 30
    )
    assert (weights >= 0).all()
    assert_close(weights.sum(-1), torch.ones(n))


@given(n=st.integers(2, 10), seed=st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_permutation_equivariance(n, seed):
    """Without positions, shuffling the tokens shuffles the outputs and changes nothing else."""
    torch.manual_seed(seed)
    attention, x, order = (
        MultiHeadAttention(8, 2).double(),
        torch.randn(1, n, 8, dtype=torch.float64),
        torch.randperm(n),
    )
    assert_close(attention(x)[:, order], attention(x[:, order]))


@given(n=st.integers(2, 10), data=st.data())
@settings(max_examples=40, deadline=None)
def test_causality(n, data):
    """Changing tokens after position i leaves the outputs up to i bit for bit the same, and does
    change a later one.
    """
    i = data.draw(st.integers(0, n - 2))
    attention, x = MultiHeadAttention(8, 2), torch.randn(1, n, 8)
    changed = torch.cat([x[:, : i + 1], torch.randn(1, n - i - 1, 8)], dim=1)
    before, after = attention(x, mask=causal_mask(n)), attention(changed, mask=causal_mask(n))
    assert_close(before[:, : i + 1], after[:, : i + 1], rtol=0, atol=1e-7)
    assert largest_difference(before[:, -1], after[:, -1]) > 1e-4


def test_gradient_flows_from_the_past_only():
    x = torch.randn(1, 5, 8, requires_grad=True)
    output = MultiHeadAttention(8, 2)(x, mask=causal_mask(5))
    for i in range(5):
        (gradient,) = torch.autograd.grad(output[0, i].sum(), x, retain_graph=True)
        reached = gradient[0].abs().sum(-1) > 0
        assert reached.tolist() == [j <= i for j in range(5)]


@given(n=st.integers(1, 8), extra=st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_padding_invariance(n, extra):
    """However much padding follows, and whatever stands in it, a sentence's outputs stay the
    same.
    """
    attention, x = MultiHeadAttention(8, 2).double(), torch.randn(1, n, 8, dtype=torch.float64)
    padded = torch.cat([x, 100 * torch.randn(1, extra, 8, dtype=torch.float64)], dim=1)
    output = attention(padded, mask=padding_mask(torch.tensor([n]), n + extra))
    assert_close(output[:, :n], attention(x))


def test_scaling_keeps_the_scores_variance_at_one():
    for d_k in (4, 64, 1024):
        Q, K = torch.randn(500, d_k), torch.randn(500, d_k)
        assert (Q @ K.T).var().item() == pytest.approx(d_k, rel=0.1)
        assert (Q @ K.T / math.sqrt(d_k)).var().item() == pytest.approx(1, rel=0.1)


def test_separate_heads_equal_one_sliced_matrix():
    d_model, n_heads, d_k, d_v = 10, 3, 4, 5
    attention, x = (
        MultiHeadAttention(d_model, n_heads, d_k=d_k, d_v=d_v),
        torch.randn(2, 6, d_model),
    )
    heads = []
    for i in range(n_heads):
        Q, K, V = (
            x @ W.weight[i * d : (i + 1) * d].T
            for W, d in ((attention.W_Q, d_k), (attention.W_K, d_k), (attention.W_V, d_v))
        )
        heads.append(scaled_dot_product_attention(Q, K, V))
    assert_close(attention(x), torch.cat(heads, dim=-1) @ attention.W_O.weight.T)


def test_heads_split_and_merge():
    x = torch.arange(24.0).view(1, 3, 8)
    heads = split_heads(x, 2)
    assert heads.shape == (1, 2, 3, 4)
    assert torch.equal(heads[0, 1, 2], x[0, 2, 4:])
    assert torch.equal(merge_heads(heads), x)


def test_dropout_acts_in_training_only():
    attention, x = MultiHeadAttention(8, 2, dropout=0.5), torch.randn(1, 6, 8)
    assert not torch.equal(attention(x), attention(x))
    attention.eval()
    assert torch.equal(attention(x), attention(x))
    Q, K, V = torch.randn(3, 2, 50, 8)
    torch.manual_seed(1)
    dropped = scaled_dot_product_attention(Q, K, V, dropout=0.5)
    assert (dropped - scaled_dot_product_attention(Q, K, V)).abs().max() > 0.1
    assert not torch.equal(
        fused_attention(Q, K, V, dropout=0.5), fused_attention(Q, K, V, dropout=0.5)
    )


def test_masks_by_hand():
    assert causal_mask(3).tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]
    assert padding_mask(torch.tensor([1, 3]), 3)[:, 0, 0].tolist() == [
        [True, False, False],
        [True, True, True],
    ]


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MultiHeadAttention(10, 3), r"d_model = 10 .* n_heads = 3"),
        (lambda: MultiHeadAttention(8, 0), "n_heads = 0"),
        (lambda: split_heads(torch.zeros(1, 2, 7), 2), r"width of 7 .* n_heads = 2"),
        (lambda: causal_mask(0), r"n = 0"),
        (lambda: padding_mask(torch.tensor([2, 5]), 4), r"between 0 and n = 4, got \[2, 5\]"),
        (
            lambda: scaled_dot_product_attention(
                torch.zeros(2, 3), torch.zeros(2, 4), torch.zeros(2, 4)
            ),
            r"\(2, 3\), K is \(2, 4\)",
        ),
        (
            lambda: scaled_dot_product_attention(
                torch.zeros(2, 3), torch.zeros(2, 3), torch.zeros(4, 3)
            ),
            r"\(2, 3\), V is \(4, 3\)",
        ),
        (
            lambda: scaled_dot_product_attention(
                *[torch.zeros(5, 3)] * 3, mask=torch.ones(4, 5, dtype=torch.bool)
            ),
            r"\(4, 5\) does not broadcast to the scores' \(5, 5\)",
        ),
        (
            lambda: scaled_dot_product_attention(
                *[torch.zeros(5, 3)] * 3, mask=torch.ones(2, 5, 5, dtype=torch.bool)
            ),
            r"\(2, 5, 5\) does not broadcast",
        ),
        (
            lambda: scaled_dot_product_attention(*[torch.zeros(5, 3)] * 3, mask=torch.zeros(5, 5)),
            r"boolean, True = may attend; this one is torch.float32",
        ),
    ],
)
def test_bad_input_is_refused_with_its_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_shapes_in_signatures_are_checked():
    """The suite runs with the library's shape annotations enforced; without that, they would be
    mere comments.
    """
    with pytest.raises(TypeCheckError):
        DotProductAttention()(*[torch.zeros(3)] * 3)
