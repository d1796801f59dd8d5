"""A left-to-right language model: the Transformer's decoder alone (chapter 10; Radford et al. 2018 and 2019).

Without an encoder there is no cross-attention, and what remains of a decoder block is an encoder block under a causal mask.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lectures_lib.attention import causal_mask, padding_mask
from lectures_lib.checks import check_config
from lectures_lib.layers import ACTIVATIONS, Encoder, Intermediates, TokenEmbedding, check_lengths, initialise
from lectures_lib.positions import LearnedPositions, SinusoidalPositions
from lectures_lib.stepping import KeyValueCache, Step


@dataclass(frozen=True)
class LanguageModelConfig:
    """The sizes of a left-to-right language model.

    Args:
        vocab_size: tokens in the vocabulary.
        d_model: width of the vectors.  n_heads: heads of each attention.  d_ff: width of the feed-forward's hidden layer.
        n_layers: number of blocks.
        dropout: share of each sublayer's output, and of the embeddings, dropped in training.
        max_len: the longest text, in tokens.
        activation: a name in `layers.ACTIVATIONS`.
        pre_norm: normalise before each sublayer (GPT-2) instead of after the sum (GPT).
        learned_positions: a learned vector for each position, as in GPT; else sinusoids, and token vectors times √d_model, as in
            the Transformer.

    Raises:
        TypeError: for a size that is no whole number.
        ValueError: for a size below 1, a dropout that is no share, heads that do not divide d_model, or an unknown activation.
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


# Radford et al. 2018, section 4.1, and the smallest model of Radford et al. 2019; the vocabularies are those of the published weights.
LanguageModelConfig.GPT = LanguageModelConfig(40_478, 768, n_heads=12, n_layers=12, d_ff=3072, max_len=512, pre_norm=False)
LanguageModelConfig.GPT2 = LanguageModelConfig(50_257, 768, n_heads=12, n_layers=12, d_ff=3072, max_len=1024)
# For a minute on a CPU.
LanguageModelConfig.TINY = LanguageModelConfig(1_000, 64, n_heads=4, n_layers=2, d_ff=256, dropout=0.0, max_len=128)


class LanguageModel(nn.Module):
    """Scores of every token's successor, given that token and those before it. The output uses the token vectors again (tied)."""

    def __init__(self, config: LanguageModelConfig):
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
            nn.init.normal_(self.embedding.weight, std=0.02)  # GPT's; the learned positions begin as small

    def forward(
        self, tokens: Int[Tensor, "batch n"], return_intermediates: bool = False
    ) -> Float[Tensor, "batch n vocab"] | tuple[Float[Tensor, "batch n vocab"], Intermediates]:
        """The scores (logits) of the token that follows each token: row i sees tokens 0 … i.

        Texts of a batch may be padded on the right: padding comes after everything that a real token looks at.

        Raises:
            ValueError: for an unknown token id, no tokens, or more tokens than positions.
        """
        check_lengths(None, tokens)
        x = self.dropout(self.positions(self.embedding(tokens)))
        x = self.stack(x, causal_mask(tokens.shape[1], tokens.device), return_intermediates=return_intermediates)
        if not return_intermediates:
            return self.embedding.scores(x)
        x, seen = x
        return self.embedding.scores(x), seen

    def log_probabilities(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n-1"]:
        """log P(token i | tokens before it), for every token but the first, which nothing predicts.

        exp of minus their mean is the perplexity.
        """
        check_lengths(None, tokens)
        if tokens.shape[1] < 2:
            raise ValueError(f"nothing predicts a first token: at least 2 are needed, got tokens of shape {tuple(tokens.shape)}")
        log_probs = self(tokens[:, :-1]).log_softmax(dim=-1)
        return log_probs.gather(-1, tokens[:, 1:, None])[:, :, 0]

    def start(self, prompt: Int[Tensor, "batch n"], prompt_lengths: Int[Tensor, " batch"] | None = None) -> Step:
        """Read the prompts, padded on the right, and score what follows the last real token of each (`stepping.StepModel`)."""
        check_lengths(prompt_lengths, prompt)
        batch, n = prompt.shape
        lengths = torch.full((batch,), n, device=prompt.device) if prompt_lengths is None else prompt_lengths
        state = LanguageModelState([KeyValueCache() for _ in self.stack.blocks], lengths)
        if int(lengths.min()) < n:
            state.mask = padding_mask(lengths, n)
        x = self.dropout(self.positions(self.embedding(prompt)))
        x = self.stack(x, causal_mask(n, prompt.device), state.caches)
        last = x[torch.arange(batch, device=x.device), lengths - 1]
        return Step(self.embedding.scores(last), state)

    def step(self, tokens: Int[Tensor, " batch"], state: "LanguageModelState", return_weights: bool = False) -> Step:
        """Read one more token of each text. With `return_weights`, the step's attention is that of every layer and head to all
        tokens so far, `(batch, n_layers, n_heads, n)`.

        Raises:
            ValueError: where a text grows longer than the model has positions.
        """
        if int(state.lengths.max()) == self.config.max_len:
            raise ValueError(f"a text has {self.config.max_len} tokens already, and the model has positions for no more")
        if state.mask is not None:
            state.mask = nn.functional.pad(state.mask, (0, 1), value=True)  # the new token may be looked at, by all to come
        # Each text goes on at its own position, wherever its padding made it end.
        x = self.embedding(tokens[:, None]) + self.positions.positions[state.lengths][:, None]
        x = self.stack(self.dropout(x), state.mask, state.caches, return_weights)
        attention = None
        if return_weights:
            x, seen = x
            attention = torch.stack([seen[f"block_{i}"]["self_attention_weights"][:, :, 0] for i in range(self.config.n_layers)], dim=1)
        state.lengths = state.lengths + 1
        return Step(self.embedding.scores(x[:, 0]), state, attention)


@dataclass
class LanguageModelState:
    """What a language model keeps between two steps.

    Args:
        caches: each block's keys and values of the tokens so far.
        lengths: how many tokens each text has so far, padding not counted.
        mask: which of the kept tokens are real; None where no prompt was padded.
    """

    caches: list[KeyValueCache]
    lengths: Int[Tensor, " batch"]
    mask: Bool[Tensor, "batch 1 1 n"] | None = None

    def select(self, rows: Int[Tensor, " kept"]) -> "LanguageModelState":
        """The state of these texts, in this order; one may come more than once."""
        mask = None if self.mask is None else self.mask[rows]
        return LanguageModelState([cache.select(rows) for cache in self.caches], self.lengths[rows], mask)
