"""What encoders and decoders are stacked from: embeddings, feed-forward, residuals, blocks
(chapters 5, 6; Vaswani et al. 2017, section 3).

The encoder's parts come first, then the decoder's, then how all of them start.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lectures_lib.blocks.attention import MultiHeadAttention
from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.sizes import Choices, check_layers
from lectures_lib.checks.tokens import check_known

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = Choices(
    "activation",
    {
        "relu": F.relu,  # Vaswani et al. 2017
        "gelu": F.gelu,  # Hendrycks and Gimpel 2016; BERT, ViT
        "gelu_tanh": partial(F.gelu, approximate="tanh"),  # its approximation; GPT
        "swish": F.silu,  # x · sigmoid(x), Ramachandran et al. 2017; Marian
    },
)


class TokenEmbedding(nn.Module):
    """A vector for every token id, times `scale`; the same matrix turns vectors back into scores of
    tokens (section 3.4).

    The paper multiplies by √d_model. With entries of variance 1 / d_model at the start, the entries
    that enter the model then have variance 1, of the size of the sinusoids (whose mean square is
    ½), and so have the scores that leave it.

    Raises:
        ValueError: for an id below 0 or not below vocab_size.
    """

    def __init__(self, vocab_size: int, d_model: int, scale: float = 1.0):
        super().__init__()
        self.scale = scale
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        nn.init.normal_(self.weight, std=1 / math.sqrt(d_model))

    @at_the_door(check_known)
    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n d_model"]:
        """The tokens' vectors."""
        return F.embedding(tokens, self.weight) * self.scale

    def scores(
        self, x: Float[Tensor, "*batch d_model"], bias: Float[Tensor, " vocab"] | None = None
    ) -> Float[Tensor, "*batch vocab"]:
        """How well each token of the vocabulary fits the vector x: its dot product with the token's
        own vector, plus a bias.
        """
        return F.linear(x, self.weight, bias)


class FeedForward(nn.Module):
    """max(0, x W_1 + b_1) W_2 + b_2, at each position by itself (section 3.3). Other activations
    are in `ACTIVATIONS`.

    Raises:
        ValueError: for an activation of another name.
    """

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu"):
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Float[Tensor, "batch n d_model"]) -> Float[Tensor, "batch n d_model"]:
        """The two layers, with the activation between them."""
        return self.W_2(self.activation(self.W_1(x)))


class Residual(nn.Module):
    """A way around a sublayer, and the normalisation that goes with it.

    Post-norm, LayerNorm(x + sublayer(x)), is the paper's. Pre-norm, x + sublayer(LayerNorm(x)),
    leaves the way around untouched from the first block to the last and trains without warm-up
    (Xiong et al. 2020). Dropout acts on the sublayer's output (section 5.4).

    What the sublayer needs beside x (a mask, the memory) is handed on to it.
    """

    def __init__(
        self, d_model: int, dropout: float = 0.0, pre_norm: bool = False, eps: float = 1e-5
    ):
        super().__init__()
        self.norm = nn.LayerNorm(d_model, eps)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        sublayer: Callable[..., Tensor],
        *others: Any,
        **options: Any,
    ) -> Float[Tensor, "batch n d_model"]:
        """x, and what the sublayer adds to it."""
        if self.pre_norm:
            return x + self.dropout(sublayer(self.norm(x), *others, **options))
        return self.norm(x + self.dropout(sublayer(x, *others, **options)))


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward, each with a residual around it (section 3.1).

    With a causal mask it is also the block of a left-to-right language model, which has no encoder
    to look at (chapter 10).

    Args:
        d_model: width of the vectors.  n_heads: number of heads.  d_ff: width of the feed-forward's
            hidden layer.
        dropout: share of each sublayer's output dropped in training.  attention_dropout: the same
            for attention weights.
        activation: the feed-forward's, a name in `ACTIVATIONS`.
        pre_norm: normalise before each sublayer instead of after the sum.
        bias: whether attention's projections add a bias.
        eps: what LayerNorm adds to the variance.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation: str = "relu",
        pre_norm: bool = False,
        bias: bool = True,
        eps: float = 1e-5,
    ):
        super().__init__()
        self.self_attention = MultiHeadAttention(
            d_model, n_heads, bias=bias, dropout=attention_dropout
        )
        self.feed_forward = FeedForward(d_model, d_ff, activation)
        self.around_self_attention = Residual(d_model, dropout, pre_norm, eps)
        self.around_feed_forward = Residual(d_model, dropout, pre_norm, eps)

    def forward(
        self, x: Float[Tensor, "batch n d_model"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        """Each word's vector after attention and feed-forward; the mask says who may attend to
        whom.
        """
        x = self.around_self_attention(x, self.self_attention, mask=mask)
        return self.around_feed_forward(x, self.feed_forward)


class Encoder(nn.Module):
    """N encoder blocks, one on another (section 3.1).

    Args:
        n_layers: how many.
        d_model, n_heads, d_ff: the sizes of each.
        pre_norm, eps, options: the blocks' other arguments. With `pre_norm` a LayerNorm follows the
            last block. (In `nn.Transformer` one always does.)

    Raises:
        ValueError: for fewer than one layer.
    """

    @at_the_door(check_layers)
    def __init__(
        self,
        n_layers: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        pre_norm: bool = False,
        eps: float = 1e-5,
        **options: Any,
    ):
        super().__init__()
        self.blocks = nn.ModuleList(
            EncoderBlock(d_model, n_heads, d_ff, pre_norm=pre_norm, eps=eps, **options)
            for _ in range(n_layers)
        )
        # Pre-norm leaves the last sum as it is, so one more norm ends the stack.
        self.norm = nn.LayerNorm(d_model, eps) if pre_norm else nn.Identity()

    def forward(
        self, x: Float[Tensor, "batch n d_model"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        """x through all blocks."""
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)


class DecoderBlock(nn.Module):
    """Causal self-attention, cross-attention to the encoder's output, then feed-forward, each with
    a residual (section 3.1).

    The arguments are those of `EncoderBlock`.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation: str = "relu",
        pre_norm: bool = False,
        bias: bool = True,
        eps: float = 1e-5,
    ):
        super().__init__()
        self.self_attention = MultiHeadAttention(
            d_model, n_heads, bias=bias, dropout=attention_dropout
        )
        self.cross_attention = MultiHeadAttention(
            d_model, n_heads, bias=bias, dropout=attention_dropout
        )
        self.feed_forward = FeedForward(d_model, d_ff, activation)
        self.around_self_attention = Residual(d_model, dropout, pre_norm, eps)
        self.around_cross_attention = Residual(d_model, dropout, pre_norm, eps)
        self.around_feed_forward = Residual(d_model, dropout, pre_norm, eps)

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        memory: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        """Each target word's vector after both attentions and feed-forward.

        Args:
            x: the target positions' vectors.
            memory: the encoder's output.
            mask: which target positions may attend to which; in training it is causal.
            memory_mask: which source positions may be attended to.
        """
        x = self.around_self_attention(x, self.self_attention, mask=mask)
        x = self.around_cross_attention(x, self.cross_attention, memory, memory_mask)
        return self.around_feed_forward(x, self.feed_forward)


class Decoder(nn.Module):
    """N decoder blocks, one on another (section 3.1). The arguments are those of `Encoder`."""

    @at_the_door(check_layers)
    def __init__(
        self,
        n_layers: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        pre_norm: bool = False,
        eps: float = 1e-5,
        **options: Any,
    ):
        super().__init__()
        self.blocks = nn.ModuleList(
            DecoderBlock(d_model, n_heads, d_ff, pre_norm=pre_norm, eps=eps, **options)
            for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model, eps) if pre_norm else nn.Identity()

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        memory: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        """x through all blocks, all of them looking at the same memory."""
        for block in self.blocks:
            x = block(x, memory, mask, memory_mask)
        return self.norm(x)


def initialise(model: nn.Module, std: float | None = None) -> None:
    """Fresh matrices and zero biases in every linear layer of the model.

    Xavier-uniform (Glorot and Bengio 2010), as in most code for the Transformer; or, with `std`,
    normal with this standard deviation, cut off at two of them, as in BERT and ViT.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            if std is None:
                nn.init.xavier_uniform_(module.weight)
            else:
                nn.init.trunc_normal_(module.weight, std=std, a=-2 * std, b=2 * std)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
