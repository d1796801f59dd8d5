"""Claims about what a Transformer is made of: order, blocks, encoder and decoder, and its sizes."""

import math

import torch
from torch import nn

from claims import Found, found
from claims.attention import equal
from lectures_lib.blocks.attention import MultiHeadAttention, causal_mask
from lectures_lib.blocks.layers import DecoderBlock, Encoder, EncoderBlock, FeedForward
from lectures_lib.blocks.positions import frequencies, shift_matrix, sinusoidal_positions
from lectures_lib.blocks.recording import record
from lectures_lib.models.transformer import Transformer, TransformerConfig


def count(model_class: type[nn.Module], config) -> int:
    """Parameters of a model that is never filled."""
    with torch.device("meta"):
        return sum(p.numel() for p in model_class(config).parameters())


def tiny() -> Transformer:
    """An untrained Transformer, dropout off."""
    return Transformer(TransformerConfig.TINY).eval()


# -------------------------------------------------------------------------------------------- order


def sinusoids() -> Found:
    """The formula with 10000, term by term, against the library."""
    d_model = 16
    by_hand = [
        [
            f(pos / 10000 ** (2 * i / d_model))
            for i in range(d_model // 2)
            for f in (math.sin, math.cos)
        ]
        for pos in range(20)
    ]
    return found(
        equal(torch.tensor(by_hand), sinusoidal_positions(20, d_model)), positions=len(by_hand)
    )


def base_of_1000() -> Found:
    """The longest wave of 512 dimensions, in positions, with 1000 and with 10000."""
    longest = {base: 2 * math.pi / frequencies(512, base)[-1].item() for base in (1000.0, 10000.0)}
    same = equal(sinusoidal_positions(50, 512, 1000.0), sinusoidal_positions(50, 512))
    return found(same, with_1000=longest[1000.0], with_10000=longest[10000.0])


def range_of_i() -> Found:
    """0 ≤ i ≤ 255 gives 512 dimensions, a sine and a cosine each."""
    waves = len(frequencies(512))
    return found(
        waves - 1 == 255 and sinusoidal_positions(3, 512).shape[1] == 2 * waves,
        waves=waves,
        d_model=2 * waves,
    )


def same_shape() -> Found:
    """Position vectors are as many and as wide as the word vectors, and both stacks get them."""
    model, source, target = tiny(), torch.randint(3, 1000, (1, 5)), torch.randint(3, 1000, (1, 4))
    with record(model, "dropout") as seen:
        model(source, target)
    width = model.config.d_model
    entered = zip(seen.each("dropout"), (source, target), strict=True)
    added = [x[0] - model.embedding(tokens)[0] for x, tokens in entered]
    agrees = all(equal(extra, sinusoidal_positions(len(extra), width)) for extra in added)
    return found(agrees, n=len(added[0]), width=width)


def clocks() -> Found:
    """Each pair of dimensions goes round like the hand of a clock, the first fastest; a shift is
    one rotation for all positions.
    """
    periods = 2 * math.pi / frequencies(512)
    P = sinusoidal_positions(200, 512)
    flips = [int((P[1:, c].sign() != P[:-1, c].sign()).sum()) for c in (0, 100, 200)]
    shifted = equal(P[:-7] @ shift_matrix(7, 512).T, P[7:])
    return found(
        shifted and flips == sorted(flips, reverse=True),
        shortest=periods[0].item(),
        longest=periods[-1].item(),
        fast=flips[0],
        slow=flips[2],
    )


# ------------------------------------------------------------------------------------------- blocks


def each_position_alone() -> Found:
    """Change one word's vector: the feed-forward network gives another vector at that position, and
    the same at all others.
    """
    ffn, x = FeedForward(16, 64), torch.randn(1, 5, 16)
    other = x.clone()
    other[0, 2] += 1
    changed = (ffn(x) != ffn(other)).any(dim=-1)[0]
    moved = equal(ffn(x.flip(1)), ffn(x).flip(1))
    return found(
        changed.tolist() == [False, False, True, False, False] and moved,
        changed=int(changed.sum()),
        n=len(changed),
    )


def reshaped() -> Found:
    """(batch · n, features) through the network and back is the same as (batch, n, features)."""
    ffn, x = FeedForward(16, 64), torch.randn(3, 5, 16)
    return found(equal(ffn(x.reshape(1, 15, 16)).reshape(3, 5, 16), ffn(x)), rows=15)


def two_convolutions() -> Found:
    """The same weights as two convolutions of width 1."""
    ffn, x = FeedForward(16, 64), torch.randn(3, 5, 16)
    first, second = nn.Conv1d(16, 64, 1), nn.Conv1d(64, 16, 1)
    for convolution, linear in ((first, ffn.W_1), (second, ffn.W_2)):
        convolution.load_state_dict({"weight": linear.weight[:, :, None], "bias": linear.bias})
    y = second(first(x.transpose(1, 2)).relu()).transpose(1, 2)
    return found(equal(y, ffn(x)), width=first.kernel_size[0])


def last_dimension() -> Found:
    """LayerNorm's mean and variance are those over the last dimension."""
    x = torch.randn(3, 5, 16)
    by_hand = (x - x.mean(dim=-1, keepdim=True)) / (
        x.var(dim=-1, keepdim=True, correction=0) + 1e-5
    ).sqrt()
    return found(equal(nn.LayerNorm(16)(x), by_hand), means=3 * 5)


def first_dimension() -> Found:
    """A mean over the first of three dimensions, against what torch's BatchNorm does."""
    table, block = torch.randn(30, 4), torch.randn(3, 5, 4)
    norm = nn.BatchNorm1d(4, affine=False)

    def over_first(x: torch.Tensor) -> torch.Tensor:
        return (x - x.mean(dim=0)) / (x.var(dim=0, correction=0) + 1e-5).sqrt()

    in_a_table = equal(norm(table), over_first(table))
    in_a_block = equal(norm(block.transpose(1, 2)).transpose(1, 2), over_first(block))
    assert in_a_table
    return found(
        in_a_table and in_a_block, means=block.mean(dim=0).numel(), of_batch_norm=norm.num_features
    )


def six_blocks() -> Found:
    """Parameters of one block and of a stack of six."""
    with torch.device("meta"):
        one, six = EncoderBlock(512, 8, 2048), Encoder(6, 512, 8, 2048)
    of_one, of_six = (sum(p.numel() for p in module.parameters()) for module in (one, six))
    return found(of_six == 6 * of_one, one=of_one / 1e6, six=of_six / 1e6)


def what_the_decoder_adds() -> Found:
    """The parameters of a decoder block that an encoder block does not have: another attention, and
    its LayerNorm.
    """
    encoder, decoder = (
        dict(block(512, 8, 2048).state_dict()) for block in (EncoderBlock, DecoderBlock)
    )
    parts = {name.split(".")[0] for name in decoder.keys() - encoder.keys()}
    return found(
        encoder.keys() < decoder.keys() and parts == {"cross_attention", "around_cross_attention"},
        parts=len(parts),
    )


def queries_and_keys() -> Found:
    """Four target vectors look at seven source vectors: the weights are 4 × 7 in every head."""
    attention = MultiHeadAttention(32, 4)
    with record(attention) as seen:
        output = attention(torch.randn(1, 4, 32), torch.randn(1, 7, 32))
    weights = seen["weights"]
    return found(
        weights.shape == (1, 4, 4, 7) and output.shape == (1, 4, 32),
        rows=weights.shape[2],
        columns=weights.shape[3],
    )


def future_inputs() -> Found:
    """In training the whole target is in the input. Without the mask, changing its last token
    changes the earlier positions.
    """
    model, source = tiny(), torch.randint(3, 1000, (1, 5))
    target = torch.randint(3, 1000, (1, 6))
    other = target.clone()
    other[0, -1] = (target[0, -1] + 1) % 997 + 3
    memory = model.encode(source)

    def moved(mask: torch.Tensor | None) -> int:
        one, two = (model.decoder(model.embed(tokens), memory, mask) for tokens in (target, other))
        return int(((one - two).abs().amax(dim=-1)[0, :-1] > 1e-6).sum())

    assert moved(causal_mask(6)) == 0
    return found(moved(None) == 0, without_mask=moved(None), before=5)


def only_the_first_is_masked() -> Found:
    """The first target position gives weight to itself alone, and to every source position."""
    model = tiny()
    with record(model.decoder.blocks[0], "*.weights") as seen:
        model(torch.randint(3, 1000, (1, 5)), torch.randint(3, 1000, (1, 4)))
    to_itself, to_source = (
        seen["self_attention.weights"][0, :, 0],
        seen["cross_attention.weights"][0, :, 0],
    )
    return found(
        (to_itself[:, 1:] == 0).all() and (to_source > 0).all(),
        target=int((to_itself[0] > 0).sum()),
        source=int((to_source[0] > 0).sum()),
    )


# ------------------------------------------------------------------------------------------- sizes


def parameters_of_both() -> Found:
    """Base and big with the paper's shared vocabulary of about 37,000 tokens."""
    base, big = (
        count(Transformer, config) / 1e6
        for config in (TransformerConfig.BASE, TransformerConfig.BIG)
    )
    return found(
        round(base) == 65 and round(big) == 213,
        base=base,
        big=big,
        gap=max(abs(base / 65 - 1), abs(big / 213 - 1)) * 100,
    )


def empty_cells_of_big() -> Found:
    """1024 in 16 heads."""
    config = TransformerConfig.BIG
    return found(
        config.d_model // config.n_heads
        == TransformerConfig.BASE.d_model // TransformerConfig.BASE.n_heads,
        d_k=config.d_model // config.n_heads,
    )
