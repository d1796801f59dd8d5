"""Blocks with a cache compute what is new, and what they compute is what the plain blocks give."""

import pytest
import torch
from torch.testing import assert_close

from lectures_lib.blocks.attention import causal_mask, padding_mask
from lectures_lib.blocks.layers import DecoderBlock, EncoderBlock
from lectures_lib.decoding.cache import (
    KeyValueCache,
    TransformerWithCache,
    decoder_block_with_cache,
    encoder_block_with_cache,
)
from lectures_lib.models.transformer import Transformer, TransformerConfig


@pytest.mark.parametrize("pre_norm", [False, True])
def test_a_cached_encoder_block_computes_only_what_is_new(pre_norm):
    block, x = EncoderBlock(8, 2, 16, pre_norm=pre_norm), torch.randn(2, 6, 8)
    expected = block(x, causal_mask(6))
    cache = KeyValueCache()
    assert_close(encoder_block_with_cache(block, x[:, :3], cache, causal_mask(3)), expected[:, :3])
    for i in range(3, 6):
        assert_close(
            encoder_block_with_cache(block, x[:, i : i + 1], cache), expected[:, i : i + 1]
        )
    assert cache.n == 6


@pytest.mark.parametrize("pre_norm", [False, True])
def test_a_cached_decoder_block_computes_only_what_is_new(pre_norm):
    block, x, memory = (
        DecoderBlock(8, 2, 16, pre_norm=pre_norm),
        torch.randn(2, 4, 8),
        torch.randn(2, 5, 8),
    )
    mask = padding_mask(torch.tensor([5, 3]), 5)
    expected = block(x, memory, causal_mask(4), mask)
    cache, keys_values = KeyValueCache(), block.cross_attention.keys_values(memory)
    for i in range(4):
        assert_close(
            decoder_block_with_cache(block, x[:, i : i + 1], cache, keys_values, mask),
            expected[:, i : i + 1],
        )
    cache = KeyValueCache()  # two words, then two more at once
    for new, rows in ((x[:, :2], causal_mask(2)), (x[:, 2:], causal_mask(4)[2:])):
        found = decoder_block_with_cache(block, new, cache, keys_values, mask, rows)
        assert_close(found, expected[:, cache.n - 2 : cache.n])


def test_cache_of_selected_rows():
    block, x = EncoderBlock(8, 2, 16), torch.randn(3, 4, 8)
    cache = KeyValueCache()
    encoder_block_with_cache(block, x[:, :3], cache, causal_mask(3))
    rows = torch.tensor([2, 0, 2, 1])
    chosen = cache.select(rows)
    assert_close(
        encoder_block_with_cache(block, x[rows, 3:], chosen), block(x, causal_mask(4))[rows, 3:]
    )
    assert (cache.n, chosen.n) == (3, 4)
    # The one it was taken from is as it was.
    assert_close(encoder_block_with_cache(block, x[:, 3:], cache), block(x, causal_mask(4))[:, 3:])
    assert KeyValueCache().select(rows).n == 0


@pytest.mark.parametrize("return_weights", [False, True])
def test_a_step_changes_the_state_that_it_is_given_and_returns_it(return_weights):
    steps = TransformerWithCache(Transformer(TransformerConfig.TINY).eval())
    state = steps.start(torch.randint(3, 999, (2, 5))).state
    for n in (1, 2):
        after = steps.step(torch.tensor([1, 1]), state, return_weights)
        assert after.state is state and state.n_decoded == n
        assert [cache.n for cache in state.caches] == [n, n]
        assert (after.attention is not None) == return_weights


def test_room_doubles():
    cache, rooms = KeyValueCache(), set()
    for n in range(1, 101):
        K, V = cache.extend(torch.full((1, 2, 1, 4), float(n)), torch.full((1, 2, 1, 4), -float(n)))
        assert K[0, 1, :, 3].tolist() == list(range(1, n + 1))
        assert torch.equal(V, -K)
        rooms.add(cache.K.shape[2])
    assert rooms == {1, 3, 7, 15, 31, 63, 127}  # seven copies for a hundred positions
