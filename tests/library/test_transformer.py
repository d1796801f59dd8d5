"""The whole Transformer: its size, its equality with nn.Transformer, what it may see, and what it
refuses.
"""

import math
from dataclasses import FrozenInstanceError, replace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from lectures_lib.blocks.positions import sinusoidal_positions
from lectures_lib.blocks.recording import record
from lectures_lib.models.transformer import Transformer, TransformerConfig, shift_right
from tests.helpers.models import jiggle, largest_difference
from tests.helpers.torch_twins import torch_transformer

SMALLEST = TransformerConfig(
    11, d_model=16, n_heads=2, n_layers=2, d_ff=32, dropout=0.0, max_len=12
)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return jiggle(Transformer(SMALLEST)).double().eval()


def tokens(batch, n, low=0):
    return torch.randint(low, SMALLEST.vocab_size, (batch, n))


@pytest.mark.parametrize(
    ("config", "parameters"),
    [(TransformerConfig.BASE, 63_119_496), (TransformerConfig.BIG, 214_282_376)],
)
def test_published_sizes(config, parameters):
    """65 M and 213 M in the paper's table 3; its vocabulary is only said to have about 37,000
    tokens.
    """
    with torch.device("meta"):
        model = Transformer(config)
    assert sum(p.numel() for p in model.parameters()) == parameters
    # By hand: one matrix of token vectors and the output's bias, then attentions, feed-forwards and
    # LayerNorms.
    d, d_ff = config.d_model, config.d_ff
    attention, feed_forward, norm = 4 * (d * d + d), 2 * d * d_ff + d_ff + d, 2 * d
    assert parameters == config.vocab_size * (d + 1) + 6 * (
        3 * attention + 2 * feed_forward + 5 * norm
    )


def test_without_biases_only_the_feed_forward_has_one():
    with torch.device("meta"):
        model = Transformer(replace(SMALLEST, bias=False))
    assert {
        name.split(".")[-2] for name, _ in model.named_parameters() if name.endswith("bias")
    } == {"W_1", "W_2", "norm"}


def test_configuration_is_frozen_and_named():
    with pytest.raises(FrozenInstanceError):
        TransformerConfig.BASE.d_model = 3
    big = TransformerConfig.BIG
    assert (big.d_model, big.n_heads, big.n_layers, big.d_ff, big.dropout) == (
        1024,
        16,
        6,
        4096,
        0.3,
    )


@pytest.mark.parametrize("pre_norm", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_equals_torch_transformer(pre_norm, activation):
    ours = Transformer(replace(SMALLEST, pre_norm=pre_norm, activation=activation))
    ours.encoder.norm, ours.decoder.norm = nn.LayerNorm(16), nn.LayerNorm(16)
    jiggle(ours)
    theirs = torch_transformer(
        (ours.encoder, ours.decoder), (2, 16, 2, 32), norm_first=pre_norm, activation=activation
    )
    source, target, lengths = tokens(3, 7), tokens(3, 5), torch.tensor([7, 4, 1])

    def embed(ids):
        return ours.embedding.weight[ids] * math.sqrt(16) + sinusoidal_positions(ids.shape[1], 16)

    padded = torch.arange(7) >= lengths[:, None]
    causal = torch.ones(5, 5, dtype=torch.bool).triu(1)
    hidden = theirs(
        embed(source),
        embed(target),
        tgt_mask=causal,
        src_key_padding_mask=padded,
        memory_key_padding_mask=padded,
        tgt_is_causal=True,
    )
    expected = hidden @ ours.embedding.weight.T + ours.output_bias
    logits = ours(source, target, lengths)
    assert largest_difference(logits, expected) <= 5e-6
    # All of the tied matrix's three uses send it gradients.
    labels = tokens(3, 5).flatten()
    parameters = [ours.embedding.weight, ours.output_bias]
    grads = torch.autograd.grad(F.cross_entropy(logits.flatten(0, 1), labels), parameters)
    expected_grads = torch.autograd.grad(
        F.cross_entropy(expected.flatten(0, 1), labels), parameters
    )
    for a, b in zip(grads, expected_grads, strict=True):
        assert largest_difference(a, b) <= 5e-6


def test_encode_and_decode_make_up_forward(model):
    source, target, lengths = tokens(2, 6), tokens(2, 4), torch.tensor([6, 3])
    memory = model.encode(source, lengths)
    assert memory.shape == (2, 6, 16)
    assert torch.equal(
        model.logits(model.decode(target, memory, lengths)), model(source, target, lengths)
    )


@given(n=st.integers(2, 10), data=st.data())
@settings(max_examples=25, deadline=None)
def test_causality(model, n, data):
    """Changing target tokens after position i changes no score up to i, and does change a later
    one.
    """
    i = data.draw(st.integers(0, n - 2))
    source, target = tokens(1, 5), tokens(1, n)
    changed = target.clone()
    changed[:, i + 1 :] = (changed[:, i + 1 :] + 1) % SMALLEST.vocab_size
    before, after = model(source, target), model(source, changed)
    assert_close(before[:, : i + 1], after[:, : i + 1], rtol=0, atol=1e-12)
    assert largest_difference(before[:, i + 1 :], after[:, i + 1 :]) > 1e-6


@given(n=st.integers(1, 6), extra=st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_padding_invariance(model, n, extra):
    """However much padding follows the source, and whatever token stands in it, the scores stay the
    same.
    """
    source, target = tokens(1, n), tokens(1, 4)
    padded = torch.cat([source, tokens(1, extra)], dim=1)
    assert_close(model(padded, target, torch.tensor([n])), model(source, target))
    # without lengths, padding is read
    assert largest_difference(model(padded, target), model(source, target)) > 1e-6


def test_a_batch_is_its_sentences(model):
    """The other sentences of a batch change nothing, source and target padded as they may be."""
    sources, targets = [tokens(1, n) for n in (6, 2, 4)], [tokens(1, n) for n in (3, 5, 1)]
    lengths = torch.tensor([6, 2, 4])

    def pad(rows, n):
        return torch.cat([F.pad(row, (0, n - row.shape[1]), value=7) for row in rows])

    together = model(pad(sources, 6), pad(targets, 5), lengths)
    for i, (source, target) in enumerate(zip(sources, targets, strict=True)):
        assert_close(together[i : i + 1, : target.shape[1]], model(source, target))


def test_intermediates_have_stable_names(model):
    source, target = tokens(2, 6), tokens(2, 4)
    with record(model) as seen:
        logits = model(source, target)
    assert_close(logits, model(source, target))
    assert len(seen.all("encoder.blocks.*")) == len(seen.all("decoder.blocks.*")) == 2
    weights = seen["decoder.blocks.1.cross_attention.weights"]
    assert weights.shape == (2, 2, 4, 6)
    assert_close(weights.sum(-1), torch.ones(2, 2, 4, dtype=torch.float64))
    assert_close(model.logits(seen["decoder"]), logits)


def test_shift_right_by_hand():
    target = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]])
    assert shift_right(target, begin=1).tolist() == [[1, 5, 6, 7], [1, 8, 2, 0]]


def test_learns_to_copy():
    """Teacher forcing with the shift: a loss near zero on a task that needs cross-attention, and no
    peeking at the answer.
    """
    torch.manual_seed(1)
    model = Transformer(replace(SMALLEST, d_model=32, n_layers=1, d_ff=64))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(250):
        target = tokens(32, 5, low=2)
        loss = F.cross_entropy(
            model(target, shift_right(target, 1)).flatten(0, 1), target.flatten()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1
    # Without the source in view, the next token cannot be known: the score of guessing among 9
    # tokens is log 9 = 2.2.
    blind = F.cross_entropy(
        model(tokens(32, 5, low=2), shift_right(target, 1)).flatten(0, 1), target.flatten()
    )
    assert blind.item() > 1.5


def test_dropout_acts_in_training_only():
    model = Transformer(replace(SMALLEST, dropout=0.5))
    source, target = tokens(1, 5), tokens(1, 5)
    assert not torch.equal(model(source, target), model(source, target))
    model.eval()
    assert torch.equal(model(source, target), model(source, target))


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda model: model(torch.tensor([[3, 11]]), tokens(1, 2)),
            r"token id 11 \(row 0, position 1\).* 11, 0 … 10",
        ),
        (lambda model: model(tokens(1, 2), torch.tensor([[-100]])), r"token id -100"),
        (
            lambda model: model(tokens(1, 13), tokens(1, 2)),
            r"a sequence of 13 tokens, but positions for only 12",
        ),
        (
            lambda model: model(tokens(1, 2), tokens(1, 13)),
            r"a sequence of 13 tokens, but positions for only 12",
        ),
        (lambda model: model(tokens(2, 0), tokens(2, 2)), r"empty: .*\(2, 0\)"),
        (lambda model: model(tokens(2, 3), tokens(2, 0)), r"empty: .*\(2, 0\)"),
        (
            lambda model: model(tokens(2, 3), tokens(2, 2), torch.tensor([3, 0])),
            r"none may be empty\), got lengths \[3, 0\]",
        ),
        (
            lambda model: model(tokens(2, 3), tokens(2, 2), torch.tensor([2])),
            r"each of the 2 sentences, .* \(1,\)",
        ),
        (lambda model: Transformer(replace(SMALLEST, n_heads=3)), r"d_model = 16 .* n_heads = 3"),
        (lambda model: Transformer(replace(SMALLEST, n_layers=0)), r"n_layers = 0"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(model, call, message):
    with pytest.raises(ValueError, match=message):
        call(model)
