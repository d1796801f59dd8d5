"""Packed sequences get the vectors that they get alone."""

import random
from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.training import packing

CONFIG = BertConfig(40, d_model=16, n_layers=2, n_heads=4, d_ff=32, dropout=0.0, max_len=12)


def some_sequences(seed, n=17, longest=12):
    rng = random.Random(seed)
    return [[rng.randrange(1, 40) for _ in range(rng.randint(1, longest))] for _ in range(n)]


@pytest.fixture
def bert():
    model = Bert(CONFIG).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("max_len", [12, 20, 60])
def test_every_vector_equals_the_unpacked_one(bert, seed, max_len):
    sequences = some_sequences(seed)
    segments = [[int(i > len(s) // 2) for i in range(len(s))] for s in sequences]
    packed = packing.pack(sequences, max_len, segments)
    with torch.no_grad():
        encoded = packing.encode(bert, packed)
        vectors = packing.unpack(encoded.hidden, packed)
        for i, (sequence, segment) in enumerate(zip(sequences, segments, strict=True)):
            alone = bert(torch.tensor([sequence]), torch.tensor([segment]))
            assert_close(vectors[i], alone.hidden[0], atol=1e-5, rtol=0)
            assert_close(encoded.pooled[i], alone.pooled[0], atol=1e-5, rtol=0)


def test_gradients_equal_the_padded_batchs(bert):
    sequences = some_sequences(7)
    weights = torch.randn(len(sequences), 16)
    lengths = torch.tensor([len(s) for s in sequences])
    padded = torch.tensor([s + [0] * (12 - len(s)) for s in sequences])
    gradients = []
    for pooled in (
        packing.encode(bert, packing.pack(sequences, 24)).pooled,
        bert(padded, lengths=lengths).pooled,
    ):
        bert.zero_grad()
        (pooled * weights).sum().backward()
        gradients.append([p.grad.clone() for p in bert.parameters()])
    assert_close(*gradients, atol=1e-4, rtol=1e-4)


def test_with_real_weights():
    bert = Bert.from_pretrained(minilm.checkpoint())
    sequences = [
        [101, *range(2000 + 50 * k, 2000 + 50 * k + length), 102]
        for k, length in enumerate((3, 17, 8, 1, 25))
    ]
    packed = packing.pack(sequences, 64)
    assert len(packed.tokens) == 1
    with torch.no_grad():
        pooled = packing.encode(bert, packed).pooled
        alone = torch.cat([bert(torch.tensor([s])).pooled for s in sequences])
    assert_close(pooled, alone, atol=1e-5, rtol=0)


@pytest.mark.parametrize("seed", range(20))
def test_a_plan_loses_nothing_and_overfills_nothing(seed):
    rng = random.Random(seed)
    lengths = [rng.randint(1, 30) for _ in range(rng.randint(1, 80))]
    rows = packing.plan(lengths, 30)
    assert Counter(i for row in rows for i in row) == Counter(range(len(lengths)))
    filled = [sum(lengths[i] for i in row) for row in rows]
    assert max(filled) <= 30
    # No two rows could be one: the later one's first sequence would have gone to the earlier one.
    assert all(filled[a] + lengths[rows[b][0]] > 30 for b in range(len(rows)) for a in range(b))


def test_what_a_row_holds():
    packed = packing.pack([[5, 6], [7, 8, 9, 10], [11]], 6)
    assert packed.tokens.tolist() == [[7, 8, 9, 10, 5, 6], [11, 0, 0, 0, 0, 0]]
    assert packed.positions.tolist() == [[0, 1, 2, 3, 0, 1], [0, 0, 0, 0, 0, 0]]
    assert packed.owner.tolist() == [[1, 1, 1, 1, 0, 0], [2, -1, -1, -1, -1, -1]]
    assert packed.starts.tolist() == [[0, 4], [0, 0], [1, 0]]
    assert packed.padding == pytest.approx(5 / 12)


def test_the_mask_is_made_of_blocks():
    mask = packing.block_mask(torch.tensor([[0, 0, 1, -1]]))
    expected = F.pad(torch.block_diag(torch.ones(2, 2), torch.ones(1, 1)), (0, 1, 0, 1)).bool()
    assert torch.equal(mask[0, 0], expected)
    assert not (mask & causal_mask(4)).diagonal(dim1=-2, dim2=-1)[..., -1].any()


def test_no_mask_or_no_new_positions_is_another_result(bert):
    """What the two safeguards are for: without either, the vectors differ."""
    packed = packing.pack([[5, 6, 7], [8, 9]], 5)
    with torch.no_grad():
        right = packing.encode(bert, packed).hidden
        one_owner = packing.encode(
            bert, packed._replace(owner=torch.zeros_like(packed.owner))
        ).hidden
        running_on = packing.encode(bert, packed._replace(positions=torch.arange(5)[None])).hidden
    assert (one_owner - right).abs().max() > 0.1
    assert (running_on - right)[0, 3:].abs().max() > 0.1
    assert_close(running_on[0, :3], right[0, :3])


@pytest.mark.parametrize(
    ("sequences", "max_len", "message"),
    [
        ([], 5, "no sequences"),
        ([[1], []], 5, "sequence 1 has 0 tokens; a row takes 1 to max_len = 5"),
        ([[1] * 6], 5, "sequence 0 has 6 tokens; a row takes 1 to max_len = 5"),
    ],
)
def test_what_cannot_be_packed_is_named(sequences, max_len, message):
    with pytest.raises(ValueError, match=message):
        packing.pack(sequences, max_len)


def test_segments_must_fit():
    with pytest.raises(ValueError, match=r"sequences have \[2\] tokens, segments \[1\]"):
        packing.pack([[1, 2]], 5, [[0]])


def test_a_sequence_beyond_the_positions_is_named(bert):
    with pytest.raises(ValueError, match="a sequence of 13 tokens, but positions for only 12"):
        packing.encode(bert, packing.pack([[1] * 13], 20))


def test_what_the_model_has_no_vector_for_is_named(bert, shapes_unchecked):
    size = bert.config.vocab_size
    with pytest.raises(ValueError, match=f"token id {size} .*not among the vocabulary's {size}"):
        packing.encode(bert, packing.pack([[1, size]], 5))
    with pytest.raises(ValueError, match=r"segment id 2 \(row 0, position 1\)"):
        packing.encode(bert, packing.pack([[1, 1]], 5, [[0, 2]]))
    packed = packing.pack([[1, 1]], 5)
    with pytest.raises(ValueError, match="every token has one segment id"):
        packing.encode(bert, packed._replace(segments=packed.segments[:, :1]))
