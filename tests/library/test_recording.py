"""A recorder sees what was computed, changes nothing, and leaves nothing behind."""

import pytest
import torch
from torch.testing import assert_close

from lectures_lib.blocks.attention import DotProductAttention, MultiHeadAttention, causal_mask
from lectures_lib.blocks.layers import DecoderBlock, Encoder
from lectures_lib.blocks.recording import record
from lectures_lib.models.seq2seq import Seq2Seq, Seq2SeqConfig, alignment


def test_what_is_seen_of_a_block_is_what_was_computed():
    block, x, memory = DecoderBlock(8, 2, 16), torch.randn(2, 4, 8), torch.randn(2, 6, 8)
    with record(block) as seen:
        output = block(x, memory, causal_mask(4))
    assert torch.equal(output, block(x, memory, causal_mask(4)))
    assert torch.equal(seen[""], output)
    assert seen["self_attention.weights"].shape == (2, 2, 4, 4)
    assert seen["self_attention.weights"].triu(1).abs().max() == 0
    assert seen["cross_attention.weights"].shape == (2, 2, 4, 6)
    assert_close(
        seen["around_self_attention"],
        block.around_self_attention.norm(x + block.self_attention(x, mask=causal_mask(4))),
    )
    assert torch.equal(seen["around_feed_forward"], output)


def test_weights_are_those_that_made_the_output():
    attention, x = MultiHeadAttention(8, 2), torch.randn(3, 5, 8)
    with record(attention) as seen:
        output = attention(x)
    _, V = attention.keys_values(x)
    assert_close(attention.W_O((seen["weights"] @ V).transpose(1, 2).flatten(2)), output)


def test_a_stack_layer_by_layer():
    encoder, x = Encoder(11, 8, 2, 16, pre_norm=True), torch.randn(2, 4, 8)
    with record(encoder) as seen:
        output = encoder(x)
    blocks = seen.all("blocks.*")
    assert len(blocks) == len(seen.all("blocks.*.self_attention.weights")) == 11
    for block, before, after in zip(encoder.blocks, [x, *blocks], blocks, strict=False):
        assert_close(block(before), after)  # in their order: 10 comes after 9
    assert_close(encoder.norm(blocks[-1]), output)


def test_parts_of_a_block_in_the_order_in_which_they_ran():
    encoder = Encoder(2, 8, 2, 16)
    with record(encoder) as seen:
        encoder(torch.randn(1, 3, 8))
        encoder(torch.randn(1, 3, 8))
    parts = ["self_attention", "around_self_attention", "feed_forward", "around_feed_forward"]
    for found, part in zip(seen.all("blocks.0.*"), parts, strict=True):
        assert found is seen[f"blocks.0.{part}"], part


def test_gradients_flow_through_what_is_seen():
    attention, x = MultiHeadAttention(8, 2), torch.randn(1, 3, 8, requires_grad=True)
    with record(attention) as seen:
        attention(x)
    (gradient,) = torch.autograd.grad(seen["weights"].square().sum(), x)
    assert gradient.abs().max() > 0


def test_it_keeps_all_calls_and_only_what_is_asked_for():
    encoder = Encoder(2, 8, 2, 16)
    with record(encoder, "blocks.*.self_attention.weights") as seen:
        encoder(torch.randn(1, 3, 8))
        encoder(torch.randn(1, 4, 8))
    assert list(seen) == ["blocks.0.self_attention.weights", "blocks.1.self_attention.weights"]
    assert [weights.shape[-1] for weights in seen.each("blocks.0.self_attention.weights")] == [3, 4]
    with pytest.raises(KeyError, match="nothing was recorded under 'blocks'"):
        seen.each("blocks")
    assert seen["blocks.0.self_attention.weights"].shape[-1] == 4


def test_nothing_is_left_behind_even_after_an_error():
    encoder = Encoder(2, 8, 2, 16)
    with pytest.raises(ValueError, match="3, 7"), record(encoder):
        encoder(torch.randn(1, 3, 7))
    assert not any(part._forward_hooks for part in encoder.modules())


def test_a_name_that_is_not_there():
    encoder = Encoder(2, 8, 2, 16)
    with record(encoder) as seen:
        encoder(torch.randn(1, 3, 8))
    with pytest.raises(KeyError, match=r"under 'block.1': the nearest names are blocks.1"):
        seen["block.1"]
    with pytest.raises(KeyError, match="nothing was recorded under 'layers"):
        seen.all("layers.*")
    with record(encoder) as seen, pytest.raises(KeyError, match="nothing has run in it yet"):
        seen["blocks.0"]


def test_two_recorders_at_once():
    encoder, x = Encoder(1, 8, 2, 16), torch.randn(1, 3, 8)
    with record(encoder) as outer, record(encoder, "blocks.*.self_attention.weights") as inner:
        encoder(x)
    assert torch.equal(
        outer["blocks.0.self_attention.weights"], inner["blocks.0.self_attention.weights"]
    )


def test_a_recurrent_decoder_that_does_not_look_has_no_alignment():
    model = Seq2Seq(Seq2SeqConfig(9, 9))
    with record(model) as seen:
        model(torch.ones(1, 3, dtype=torch.long), torch.ones(1, 2, dtype=torch.long))
    with pytest.raises(KeyError, match=r"decoder\.look"):
        alignment(seen)


class Masked(torch.nn.Module):
    """A layer as a reader writes it, who names what she passes."""

    def __init__(self):
        super().__init__()
        self.attention = DotProductAttention()

    def forward(self, x):
        return self.attention(Q=x, K=x, V=x, mask=causal_mask(3))


def test_arguments_may_be_named():
    layer = Masked()
    with record(layer) as seen:
        layer(torch.randn(1, 3, 8))
    assert seen["weights"].triu(1).abs().max() == 0
