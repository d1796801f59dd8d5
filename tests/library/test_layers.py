"""Blocks and stacks equal torch's, forward and backward, post- and pre-norm; what they show on the
way is what they computed.
"""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close

from lectures_lib.blocks.attention import causal_mask, padding_mask
from lectures_lib.blocks.layers import (
    ACTIVATIONS,
    Decoder,
    DecoderBlock,
    Encoder,
    EncoderBlock,
    FeedForward,
    Residual,
    TokenEmbedding,
)
from lectures_lib.checks.tokens import check_lengths, check_tokens
from tests.helpers.models import jiggle, largest_difference
from tests.helpers.torch_twins import decoder_block_state, encoder_block_state, torch_transformer

D_MODEL, N_HEADS, D_FF = 12, 3, 20
LENGTHS = torch.tensor([7, 5])


def assert_same_gradients(ours, theirs, our_inputs, their_inputs, our_weight, their_weight):
    upstream = torch.randn_like(ours)
    grads = torch.autograd.grad(ours, [*our_inputs, our_weight], upstream)
    expected = torch.autograd.grad(theirs, [*their_inputs, their_weight], upstream)
    for a, b in zip(grads, expected, strict=True):
        assert largest_difference(a, b) <= 2e-5 * max(1.0, b.abs().max().item())


@pytest.mark.parametrize("pre_norm", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("padded", [False, True])
def test_encoder_block_equals_torch(pre_norm, activation, padded):
    ours = jiggle(EncoderBlock(D_MODEL, N_HEADS, D_FF, activation=activation, pre_norm=pre_norm))
    theirs = nn.TransformerEncoderLayer(
        D_MODEL,
        N_HEADS,
        D_FF,
        dropout=0.0,
        activation=activation,
        batch_first=True,
        norm_first=pre_norm,
    )
    theirs.load_state_dict(encoder_block_state(ours))
    x = torch.randn(2, 7, D_MODEL, requires_grad=True)
    mask = padding_mask(LENGTHS, 7) if padded else None
    output, expected = (
        ours(x, mask),
        theirs(x, src_key_padding_mask=~mask[:, 0, 0] if padded else None),
    )
    assert largest_difference(output, expected) <= 5e-6
    assert_same_gradients(
        output, expected, [x], [x], ours.feed_forward.W_1.weight, theirs.linear1.weight
    )


@pytest.mark.parametrize("pre_norm", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_decoder_block_equals_torch(pre_norm, padded):
    ours = jiggle(DecoderBlock(D_MODEL, N_HEADS, D_FF, pre_norm=pre_norm))
    theirs = nn.TransformerDecoderLayer(
        D_MODEL, N_HEADS, D_FF, dropout=0.0, batch_first=True, norm_first=pre_norm
    )
    theirs.load_state_dict(decoder_block_state(ours))
    x, memory = (
        torch.randn(2, 4, D_MODEL, requires_grad=True),
        torch.randn(2, 7, D_MODEL, requires_grad=True),
    )
    memory_mask = padding_mask(LENGTHS, 7) if padded else None
    output = ours(x, memory, causal_mask(4), memory_mask)
    expected = theirs(
        x,
        memory,
        ~causal_mask(4),
        memory_key_padding_mask=~memory_mask[:, 0, 0] if padded else None,
    )
    assert largest_difference(output, expected) <= 5e-6
    assert_same_gradients(
        output,
        expected,
        [x, memory],
        [x, memory],
        ours.cross_attention.W_O.weight,
        theirs.multihead_attn.out_proj.weight,
    )


@pytest.mark.parametrize("pre_norm", [False, True])
def test_stacks_equal_torch_transformer(pre_norm):
    sizes = (3, D_MODEL, N_HEADS, D_FF)
    encoder, decoder = (kind(*sizes, pre_norm=pre_norm) for kind in (Encoder, Decoder))
    for stack in (encoder, decoder):
        stack.norm = nn.LayerNorm(D_MODEL)  # torch's has one in any case
        jiggle(stack)
    theirs = torch_transformer((encoder, decoder), sizes, norm_first=pre_norm)
    source, target = (
        torch.randn(2, 7, D_MODEL, requires_grad=True),
        torch.randn(2, 5, D_MODEL, requires_grad=True),
    )
    mask = padding_mask(LENGTHS, 7)
    output = decoder(target, encoder(source, mask), causal_mask(5), mask)
    hidden = ~mask[:, 0, 0]
    expected = theirs(
        source,
        target,
        tgt_mask=~causal_mask(5),
        src_key_padding_mask=hidden,
        memory_key_padding_mask=hidden,
        tgt_is_causal=True,
    )
    assert largest_difference(output, expected) <= 5e-6
    first, their_first = (
        encoder.blocks[0].feed_forward.W_1.weight,
        theirs.encoder.layers[0].linear1.weight,
    )
    assert_same_gradients(output, expected, [source, target], [source, target], first, their_first)


def test_a_last_norm_follows_pre_norm():
    for kind in (Encoder, Decoder):
        assert type(kind(1, 8, 2, 16).norm) is nn.Identity
        assert kind(1, 8, 2, 16, pre_norm=True, eps=1e-3).norm.eps == 1e-3
    x = torch.randn(2, 3, 8)
    deep = Encoder(4, 8, 2, 16, pre_norm=True)(x)
    assert_close(deep.mean(-1), torch.zeros(2, 3), atol=1e-5, rtol=0)


def test_feed_forward_is_two_convolutions_of_width_one():
    ours, x = FeedForward(D_MODEL, D_FF), torch.randn(2, 7, D_MODEL)
    hidden = F.conv1d(x.transpose(1, 2), ours.W_1.weight[:, :, None], ours.W_1.bias)
    expected = F.conv1d(hidden.relu(), ours.W_2.weight[:, :, None], ours.W_2.bias).transpose(1, 2)
    assert_close(ours(x), expected, atol=1e-6, rtol=1e-5)


def test_activations_by_hand():
    x = torch.tensor([-1.0, 0.0, 2.0])
    assert ACTIVATIONS["relu"](x).tolist() == [0.0, 0.0, 2.0]
    Phi = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    assert_close(ACTIVATIONS["gelu"](x), x * Phi)
    assert_close(
        ACTIVATIONS["gelu_tanh"](x),
        0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    )
    assert_close(ACTIVATIONS["swish"](x), x / (1 + torch.exp(-x)))


def test_residual_post_and_pre_norm_by_hand():
    x = torch.randn(1, 2, 4)

    def normalised(x):
        return (x - x.mean(-1, keepdim=True)) / (
            x.var(-1, unbiased=False, keepdim=True) + 1e-5
        ).sqrt()

    assert_close(Residual(4)(x, torch.tanh), normalised(x + x.tanh()))
    assert_close(Residual(4, pre_norm=True)(x, torch.tanh), x + normalised(x).tanh())


def test_dropout_acts_on_what_the_sublayer_adds_and_in_training_only():
    residual, x = Residual(8, dropout=0.5, pre_norm=True), torch.randn(1, 200, 8)
    added = residual(x, torch.ones_like) - x
    assert set(added.round(decimals=3).unique().tolist()) == {0.0, 2.0}
    assert_close(residual.eval()(x, torch.ones_like), x + 1)


def test_attention_dropout_reaches_both_attentions():
    block = DecoderBlock(8, 2, 16, attention_dropout=0.3)
    assert (block.self_attention.attention.dropout, block.cross_attention.attention.dropout) == (
        0.3,
        0.3,
    )
    assert EncoderBlock(8, 2, 16, attention_dropout=0.3).self_attention.attention.dropout == 0.3


def test_token_vectors_are_scaled_and_tied():
    embedding = TokenEmbedding(5, 16, scale=4.0)
    tokens = torch.tensor([[3, 0]])
    assert_close(embedding(tokens), 4 * embedding.weight[[3, 0]][None])
    x = torch.randn(2, 3, 16)
    assert_close(embedding.scores(x), x @ embedding.weight.T)


def test_token_vectors_begin_with_variance_one_once_scaled():
    embedding = TokenEmbedding(2000, 64, scale=8.0)
    assert embedding(torch.arange(2000)[None]).std().item() == pytest.approx(1, rel=0.02)
    assert embedding.scores(torch.randn(1, 500, 64)).std().item() == pytest.approx(1, rel=0.05)


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: FeedForward(8, 16, "softplus"),
            r"no activation named 'softplus'; there are: relu, gelu",
        ),
        (lambda: Encoder(0, 8, 2, 16), r"n_layers = 0"),
        (lambda: EncoderBlock(10, 3, 16), r"d_model = 10 .* n_heads = 3"),
        (
            lambda: TokenEmbedding(5, 8)(torch.tensor([[1, 2], [3, 5]])),
            r"token id 5 \(row 1, position 1\).* 5, 0 … 4",
        ),
        (lambda: check_tokens(torch.tensor([[-1]]), 9), r"token id -1 \(row 0, position 0\)"),
        (lambda: check_lengths(None, torch.zeros(2, 0, dtype=torch.long)), r"empty: .* \(2, 0\)"),
        (
            lambda: check_lengths(torch.tensor([3, 0]), torch.zeros(2, 3).long()),
            r"1 to 3 tokens .* \[3, 0\]",
        ),
        (
            lambda: check_lengths(torch.tensor([3, 4]), torch.zeros(2, 3).long()),
            r"1 to 3 tokens .* \[3, 4\]",
        ),
        (
            lambda: check_lengths(torch.tensor([3]), torch.zeros(2, 3).long()),
            r"each of the 2 sentences, got lengths of shape \(1,\)",
        ),
    ],
)
def test_bad_input_is_refused_with_its_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call()
