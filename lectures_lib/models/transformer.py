"""The Transformer: an encoder that reads the source and a decoder that writes the target (chapter
6; Vaswani et al. 2017).

Sentences of a batch are padded on the right; `source_lengths` says how many tokens of each are
real. Targets need no lengths: padding on their right comes after everything that a causal model
looks at, and the loss leaves it out.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lectures_lib.blocks.attention import causal_mask, padding_mask
from lectures_lib.blocks.layers import ACTIVATIONS, Decoder, Encoder, TokenEmbedding, initialise
from lectures_lib.blocks.positions import SinusoidalPositions
from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.sizes import check_config
from lectures_lib.checks.tokens import check_shift, check_source, check_target


class Transformer(nn.Module):
    """Scores of every target token's successor, given the source and the target tokens up to it.

    One matrix serves as source embedding, target embedding and (transposed) as output projection
    (section 3.4).
    """

    def __init__(self, config: "TransformerConfig"):
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(
            config.vocab_size, config.d_model, scale=math.sqrt(config.d_model)
        )
        self.positions = SinusoidalPositions(config.d_model, config.max_len)
        self.dropout = nn.Dropout(config.dropout)
        sizes = (config.n_layers, config.d_model, config.n_heads, config.d_ff)
        options = {
            "dropout": config.dropout,
            "activation": config.activation,
            "pre_norm": config.pre_norm,
            "bias": config.bias,
        }
        self.encoder = Encoder(*sizes, **options)
        self.decoder = Decoder(*sizes, **options)
        self.output_bias = nn.Parameter(torch.zeros(config.vocab_size)) if config.bias else None
        initialise(self)

    def forward(
        self,
        source: Int[Tensor, "batch n_source"],
        target: Int[Tensor, "batch n_target"],
        source_lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch n_target vocab"]:
        """The scores (logits) of the token that follows each target token: all positions at once,
        as in training.

        Args:
            source: token ids, padded on the right.
            target: what the decoder reads: the begin token and the translation so far (in training,
                `shift_right` of all of it).
            source_lengths: how many tokens of each source are real; None: all.

        Raises:
            ValueError: for an unknown token id, an empty sentence, lengths that do not fit, or more
                tokens than positions.
        """
        memory = self.encode(source, source_lengths)
        return self.logits(self.decode(target, memory, source_lengths))

    @at_the_door(check_source)
    def encode(
        self,
        source: Int[Tensor, "batch n_source"],
        source_lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch n_source d_model"]:
        """The memory: one vector for each source token, made from the whole sentence."""
        mask = None if source_lengths is None else padding_mask(source_lengths, source.shape[1])
        return self.encoder(self.embed(source), mask)

    @at_the_door(check_target)
    def decode(
        self,
        target: Int[Tensor, "batch n_target"],
        memory: Float[Tensor, "batch n_source d_model"],
        source_lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch n_target d_model"]:
        """One vector for each target token, made from the tokens up to it and the memory; `logits`
        reads the next token from it.
        """
        mask = causal_mask(target.shape[1], target.device)
        memory_mask = (
            None if source_lengths is None else padding_mask(source_lengths, memory.shape[1])
        )
        return self.decoder(self.embed(target), memory, mask, memory_mask)

    def embed(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n d_model"]:
        """Token vectors times √d_model, plus positions (sections 3.4 and 3.5)."""
        return self.dropout(self.positions(self.embedding(tokens)))

    def logits(self, hidden: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab"]:
        """The score of every token of the vocabulary; their softmax is the distribution of the next
        token.
        """
        return self.embedding.scores(hidden, self.output_bias)


@at_the_door(check_shift)
def shift_right(target: Int[Tensor, "batch n"], begin: int) -> Int[Tensor, "batch n"]:
    """What the decoder reads in training: the begin token, then the target without its last token.

        the target, to be predicted    I    saw   her  <end>
        what the decoder reads      <begin>  I    saw   her

    At each position the decoder has read the *right* tokens before, whatever it would have said
    itself (teacher forcing), so all positions train at once. A sentence padded on the right keeps
    its padding; the loss leaves those positions out.

    Raises:
        TypeError: for a target that is no tensor, or a begin that is no whole number.
        ValueError: for a target that is empty, or has not two dimensions.
    """
    return torch.cat([torch.full_like(target[:, :1], begin), target[:, :-1]], dim=1)


@dataclass(frozen=True)
class TransformerConfig:
    """The sizes of a Transformer; `dataclasses.replace(TransformerConfig.BASE, vocab_size=…)`
    changes some of them.

    Args:
        vocab_size: tokens in the vocabulary that source and target share.
        d_model: width of the vectors.  n_heads: heads of each attention.  d_ff: width of the
            feed-forward's hidden layer.
        n_layers: blocks in the encoder, and as many in the decoder.
        dropout: share of each sublayer's output, and of the embeddings, dropped in training
            (section 5.4).
        max_len: the longest source or target, in tokens.
        activation: a name in `layers.ACTIVATIONS`.
        pre_norm: normalise before each sublayer instead of after the sum; then a LayerNorm ends
            each stack.
        bias: whether attention's projections and the output add a bias. The paper's formulas have
            none; most code has it.

    Raises:
        TypeError: for a size that is no whole number.
        ValueError: for a size below 1, a dropout that is no share, heads that do not divide
            d_model, or an unknown activation.
    """

    vocab_size: int
    d_model: int = 512
    n_heads: int = 8
    n_layers: int = 6
    d_ff: int = 2048
    dropout: float = 0.1
    max_len: int = 1024
    activation: str = "relu"
    pre_norm: bool = False
    bias: bool = True

    def __post_init__(self):
        check_config(self, ACTIVATIONS)

    BASE: ClassVar["TransformerConfig"]
    BIG: ClassVar["TransformerConfig"]
    SMALL: ClassVar["TransformerConfig"]
    TINY: ClassVar["TransformerConfig"]


# Table 3 of the paper. Its shared English-German vocabulary has "about 37000 tokens" (section 5.1).
TransformerConfig.BASE = TransformerConfig(37_000)
TransformerConfig.BIG = TransformerConfig(37_000, d_model=1024, n_heads=16, d_ff=4096, dropout=0.3)
# Sizes of this book, for data sets of some ten thousand sentences and for a minute on a CPU.
TransformerConfig.SMALL = TransformerConfig(8_000, d_model=256, n_heads=4, n_layers=3, d_ff=1024)
TransformerConfig.TINY = TransformerConfig(
    1_000, d_model=64, n_heads=4, n_layers=2, d_ff=256, dropout=0.0
)
