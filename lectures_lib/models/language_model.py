"""A left-to-right language model: the Transformer's decoder alone (chapter 10; Radford et al. 2018
and 2019).

Without an encoder there is no cross-attention, and what remains of a decoder block is an encoder
block under a causal mask.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float, Int
from torch import Tensor, nn

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.blocks.layers import ACTIVATIONS, Encoder, TokenEmbedding, initialise
from lectures_lib.blocks.positions import LearnedPositions, SinusoidalPositions
from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.sizes import check_config
from lectures_lib.checks.tokens import check_lengths


def check_two_tokens(model: "LanguageModel", tokens: Tensor) -> None:
    """Refuse texts in which there is nothing to predict."""
    check_lengths(None, tokens)
    if tokens.shape[1] < 2:
        raise ValueError(
            f"nothing predicts a first token: at least 2 are needed, got tokens of shape "
            f"{tuple(tokens.shape)}"
        )


class LanguageModel(nn.Module):
    """Scores of every token's successor, given that token and those before it. The output uses the
    token vectors again (tied).
    """

    def __init__(self, config: "LanguageModelConfig"):
        super().__init__()
        self.config = config
        scale = 1.0 if config.learned_positions else math.sqrt(config.d_model)
        self.embedding = TokenEmbedding(config.vocab_size, config.d_model, scale)
        make_positions = LearnedPositions if config.learned_positions else SinusoidalPositions
        self.positions = make_positions(config.d_model, config.max_len)
        self.dropout = nn.Dropout(config.dropout)
        self.stack = Encoder(
            config.n_layers,
            config.d_model,
            config.n_heads,
            config.d_ff,
            dropout=config.dropout,
            activation=config.activation,
            pre_norm=config.pre_norm,
        )
        initialise(self)
        if config.learned_positions:
            # GPT's; the learned positions begin as small
            nn.init.normal_(self.embedding.weight, std=0.02)

    @at_the_door(lambda self, tokens: check_lengths(None, tokens))
    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n vocab"]:
        """The scores (logits) of the token that follows each token: row i sees tokens 0 … i.

        Texts of a batch may be padded on the right: padding comes after everything that a real
        token looks at.

        Raises:
            ValueError: for an unknown token id, no tokens, or more tokens than positions.
        """
        x = self.dropout(self.positions(self.embedding(tokens)))
        x = self.stack(x, causal_mask(tokens.shape[1], tokens.device))
        return self.embedding.scores(x)

    @at_the_door(check_two_tokens)
    def log_probabilities(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n-1"]:
        """log P(token i | tokens before it), for every token but the first, which nothing predicts.

        exp of minus their mean is the perplexity.
        """
        log_probs = self(tokens[:, :-1]).log_softmax(dim=-1)
        return log_probs.gather(-1, tokens[:, 1:, None])[:, :, 0]


@dataclass(frozen=True)
class LanguageModelConfig:
    """The sizes of a left-to-right language model.

    Args:
        vocab_size: tokens in the vocabulary.
        d_model: width of the vectors.  n_heads: heads of each attention.  d_ff: width of the
            feed-forward's hidden layer.
        n_layers: number of blocks.
        dropout: share of each sublayer's output, and of the embeddings, dropped in training.
        max_len: the longest text, in tokens.
        activation: a name in `layers.ACTIVATIONS`.
        pre_norm: normalise before each sublayer (GPT-2) instead of after the sum (GPT).
        learned_positions: a learned vector for each position, as in GPT; else sinusoids, and token
            vectors times √d_model, as in the Transformer.

    Raises:
        TypeError: for a size that is no whole number.
        ValueError: for a size below 1, a dropout that is no share, heads that do not divide
            d_model, or an unknown activation.
    """

    vocab_size: int
    d_model: int = 256
    n_heads: int = 4
    n_layers: int = 4
    d_ff: int = 1024
    dropout: float = 0.1
    max_len: int = 512
    activation: str = "gelu_tanh"
    pre_norm: bool = True
    learned_positions: bool = True

    def __post_init__(self):
        check_config(self, ACTIVATIONS)

    GPT: ClassVar["LanguageModelConfig"]
    GPT2: ClassVar["LanguageModelConfig"]
    TINY: ClassVar["LanguageModelConfig"]


# Radford et al. 2018, section 4.1, and the smallest model of Radford et al. 2019; the vocabularies
# are those of the published weights.
LanguageModelConfig.GPT = LanguageModelConfig(
    40_478, 768, n_heads=12, n_layers=12, d_ff=3072, max_len=512, pre_norm=False
)
LanguageModelConfig.GPT2 = LanguageModelConfig(
    50_257, 768, n_heads=12, n_layers=12, d_ff=3072, max_len=1024
)
# For a minute on a CPU.
LanguageModelConfig.TINY = LanguageModelConfig(
    1_000, 64, n_heads=4, n_layers=2, d_ff=256, dropout=0.0, max_len=128
)
