"""What encoders and decoders are stacked from: embeddings, feed-forward, residuals, blocks (chapters 5, 6; Vaswani et al. 2017, section 3).

Every module that is built of others can show what it computed on the way: asked with `return_intermediates=True` it returns
`(output, intermediates)`, a dictionary with stable names, so that looking inside a model needs no hooks:

    block      self_attention_weights, after_self_attention,
               (decoder) cross_attention_weights, after_cross_attention,  after_feed_forward
    stack      input, block_0, block_1, …  (each what its block gives), output
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lectures_lib.attention import KeysValues, MultiHeadAttention
from lectures_lib.checks import check_whole_numbers
from lectures_lib.stepping import KeyValueCache

Intermediates = dict[str, Any]

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,  # Vaswani et al. 2017
    "gelu": F.gelu,  # Hendrycks and Gimpel 2016; BERT, ViT
    "gelu_tanh": partial(F.gelu, approximate="tanh"),  # its approximation; GPT
    "swish": F.silu,  # x · sigmoid(x), Ramachandran et al. 2017; Marian
}


class TokenEmbedding(nn.Module):
    """A vector for every token id, times `scale`; the same matrix turns vectors back into scores of tokens (section 3.4).

    The paper multiplies by √d_model. With entries of variance 1 / d_model at the start, the vectors that enter the model then have
    variance 1, as the sinusoids nearly do, and so have the scores that leave it.

    Raises:
        ValueError: for an id below 0 or not below vocab_size.
    """

    def __init__(self, vocab_size: int, d_model: int, scale: float = 1.0):
        super().__init__()
        self.scale = scale
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        nn.init.normal_(self.weight, std=1 / math.sqrt(d_model))

    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n d_model"]:
        """The tokens' vectors."""
        check_tokens(tokens, len(self.weight))
        return F.embedding(tokens, self.weight) * self.scale

    def scores(self, x: Float[Tensor, "*batch d_model"], bias: Float[Tensor, " vocab"] | None = None) -> Float[Tensor, "*batch vocab"]:
        """How well each token of the vocabulary fits the vector x: its dot product with the token's own vector, plus a bias."""
        return F.linear(x, self.weight, bias)


class FeedForward(nn.Module):
    """max(0, x W_1 + b_1) W_2 + b_2, at each position by itself (section 3.3). Other activations are in `ACTIVATIONS`.

    Raises:
        ValueError: for an activation of another name.
    """

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu"):
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(f"no activation named {activation!r}; there are: {', '.join(ACTIVATIONS)}")
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Float[Tensor, "batch n d_model"]) -> Float[Tensor, "batch n d_model"]:
        """The two layers, with the activation between them."""
        return self.W_2(self.activation(self.W_1(x)))


class Residual(nn.Module):
    """A way around a sublayer, and the normalisation that goes with it.

    Post-norm, LayerNorm(x + sublayer(x)), is the paper's. Pre-norm, x + sublayer(LayerNorm(x)), leaves the way around untouched
    from the first block to the last and trains without warm-up (Xiong et al. 2020). Dropout acts on the sublayer's output (section 5.4).
    """

    def __init__(self, d_model: int, dropout: float = 0.0, pre_norm: bool = False, eps: float = 1e-5):
        super().__init__()
        self.norm = nn.LayerNorm(d_model, eps)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x: Float[Tensor, "batch n d_model"], sublayer: Callable[[Tensor], Tensor]) -> Float[Tensor, "batch n d_model"]:
        """x, and what the sublayer adds to it."""
        if self.pre_norm:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward, each with a residual around it (section 3.1).

    With a causal mask it is also the block of a left-to-right language model, which has no encoder to look at (chapter 10).

    Args:
        d_model: width of the vectors.  n_heads: number of heads.  d_ff: width of the feed-forward's hidden layer.
        dropout: share of each sublayer's output dropped in training.  attention_dropout: the same for attention weights.
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
        self.self_attention = MultiHeadAttention(d_model, n_heads, bias=bias, dropout=attention_dropout)
        self.feed_forward = FeedForward(d_model, d_ff, activation)
        self.around_self_attention = Residual(d_model, dropout, pre_norm, eps)
        self.around_feed_forward = Residual(d_model, dropout, pre_norm, eps)

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        cache: KeyValueCache | None = None,
        return_intermediates: bool = False,
    ) -> Float[Tensor, "batch n d_model"] | tuple[Float[Tensor, "batch n d_model"], Intermediates]:
        """One block's work on x.

        Args:
            x: the positions' vectors; with a cache, those of the newest positions only.
            mask: who may attend to whom, broadcastable to `(batch, n_heads, n, n_key)`; n_key counts the cached positions too.
            cache: the keys and values of earlier positions; those of x are added to it.
            return_intermediates: also return what was computed on the way (the names are at the top of this module).
        """
        seen = {} if return_intermediates else None
        x = self.around_self_attention(x, lambda x: self_attend(self.self_attention, x, mask, cache, seen))
        note(seen, after_self_attention=x)
        x = self.around_feed_forward(x, self.feed_forward)
        note(seen, after_feed_forward=x)
        return x if seen is None else (x, seen)


class DecoderBlock(nn.Module):
    """Causal self-attention, cross-attention to the encoder's output, then feed-forward, each with a residual (section 3.1).

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
        self.self_attention = MultiHeadAttention(d_model, n_heads, bias=bias, dropout=attention_dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, bias=bias, dropout=attention_dropout)
        self.feed_forward = FeedForward(d_model, d_ff, activation)
        self.around_self_attention = Residual(d_model, dropout, pre_norm, eps)
        self.around_cross_attention = Residual(d_model, dropout, pre_norm, eps)
        self.around_feed_forward = Residual(d_model, dropout, pre_norm, eps)

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        memory: Float[Tensor, "batch n_source d_model"] | KeysValues,
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        cache: KeyValueCache | None = None,
        return_intermediates: bool = False,
    ) -> Float[Tensor, "batch n d_model"] | tuple[Float[Tensor, "batch n d_model"], Intermediates]:
        """One block's work on x.

        Args:
            x, mask, cache, return_intermediates: as in `EncoderBlock.forward`, all about target positions; in training the mask is causal.
            memory: the encoder's output, or the keys and values that `cross_attention` made of it once for all steps.
            memory_mask: which source positions may be attended to.
        """
        seen = {} if return_intermediates else None
        x = self.around_self_attention(x, lambda x: self_attend(self.self_attention, x, mask, cache, seen))
        note(seen, after_self_attention=x)
        x = self.around_cross_attention(x, lambda x: attend(self.cross_attention, x, memory, memory_mask, seen, "cross_attention_weights"))
        note(seen, after_cross_attention=x)
        x = self.around_feed_forward(x, self.feed_forward)
        note(seen, after_feed_forward=x)
        return x if seen is None else (x, seen)


class Stack(nn.Module):
    """Blocks of one kind, one on another; with pre-norm, a last LayerNorm is needed, for no block normalises what it hands on.

    Args:
        n_layers: how many.
        d_model, n_heads, d_ff: the sizes of each.
        final_norm: whether a LayerNorm follows the last block. None: with pre-norm only. (`nn.Transformer` always has one.)
        options: the blocks' other arguments.

    Raises:
        ValueError: for fewer than one layer.
    """

    kind_of_block: type[nn.Module]

    def __init__(self, n_layers: int, d_model: int, n_heads: int, d_ff: int, *, final_norm: bool | None = None, **options: Any):
        super().__init__()
        if n_layers < 1:
            raise ValueError(f"a stack needs at least one layer, got n_layers = {n_layers}")
        self.blocks = nn.ModuleList(self.kind_of_block(d_model, n_heads, d_ff, **options) for _ in range(n_layers))
        final_norm = options.get("pre_norm", False) if final_norm is None else final_norm
        self.norm = nn.LayerNorm(d_model, options.get("eps", 1e-5)) if final_norm else nn.Identity()


class Encoder(Stack):
    """N encoder blocks (section 3.1). The arguments are those of `Stack`."""

    kind_of_block = EncoderBlock

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        caches: list[KeyValueCache] | None = None,
        return_intermediates: bool = False,
    ) -> Float[Tensor, "batch n d_model"] | tuple[Float[Tensor, "batch n d_model"], Intermediates]:
        """x through all blocks; each is given its own cache of `caches`, where there are some (a language model's)."""
        seen = {"input": x} if return_intermediates else None
        for i, block in enumerate(self.blocks):
            x = block(x, mask, None if caches is None else caches[i], return_intermediates)
            if seen is not None:
                x, seen[f"block_{i}"] = x  # what the block returns is then a pair
        x = self.norm(x)
        note(seen, output=x)
        return x if seen is None else (x, seen)


class Decoder(Stack):
    """N decoder blocks (section 3.1). The arguments are those of `Stack`."""

    kind_of_block = DecoderBlock

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        memory: Float[Tensor, "batch n_source d_model"] | list[KeysValues],
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        caches: list[KeyValueCache] | None = None,
        return_intermediates: bool = False,
    ) -> Float[Tensor, "batch n d_model"] | tuple[Float[Tensor, "batch n d_model"], Intermediates]:
        """x through all blocks, all of them looking at the same memory, or each at its own keys and values of it."""
        seen = {"input": x} if return_intermediates else None
        for i, block in enumerate(self.blocks):
            block_memory = memory[i] if isinstance(memory, list) else memory
            x = block(x, block_memory, mask, memory_mask, None if caches is None else caches[i], return_intermediates)
            if seen is not None:
                x, seen[f"block_{i}"] = x  # what the block returns is then a pair
        x = self.norm(x)
        note(seen, output=x)
        return x if seen is None else (x, seen)


def attend(
    attention: MultiHeadAttention,
    x: Tensor,
    context: Tensor | KeysValues | None,
    mask: Tensor | None,
    seen: Intermediates | None,
    name: str,
) -> Tensor:
    """The attention's output. Where someone looks on, its weights are computed too and noted in `seen` under `name`."""
    if seen is None:
        return attention(x, context, mask)
    output, seen[name] = attention(x, context, mask, return_weights=True)
    return output


def self_attend(
    attention: MultiHeadAttention, x: Tensor, mask: Tensor | None, cache: KeyValueCache | None, seen: Intermediates | None
) -> Tensor:
    """x attends to itself; with a cache, to all positions so far, itself included."""
    context = None if cache is None else cache.extend(attention.keys_values(x))
    return attend(attention, x, context, mask, seen, "self_attention_weights")


def note(seen: Intermediates | None, **named: Tensor) -> None:
    """Keep these tensors, if someone looks on."""
    if seen is not None:
        seen.update(named)


def initialise(model: nn.Module, std: float | None = None) -> None:
    """Fresh matrices and zero biases in every linear layer of the model.

    Xavier-uniform (Glorot and Bengio 2010), as in most code for the Transformer; or, with `std`, normal with this standard
    deviation, cut off at two of them, as in BERT and ViT.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            if std is None:
                nn.init.xavier_uniform_(module.weight)
            else:
                nn.init.trunc_normal_(module.weight, std=std, a=-2 * std, b=2 * std)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


def check_tokens(tokens: Int[Tensor, "batch n"], vocab_size: int) -> None:
    """Refuse token ids that the vocabulary does not have, before an embedding fails without saying which.

    Raises:
        TypeError: for what is no tensor.
        ValueError: the message gives the first such id, its place and the vocabulary's size; or what came instead of token ids.
    """
    check_whole_numbers("token ids", tokens)
    strange = (tokens < 0) | (tokens >= vocab_size)
    if strange.any():
        place = tuple(strange.nonzero()[0].tolist())
        where = f"row {place[0]}, position {place[1]}" if len(place) == 2 else f"at {place}"
        raise ValueError(f"token id {tokens[place]} ({where}) is not among the vocabulary's {vocab_size}, 0 … {vocab_size - 1}")


def check_lengths(lengths: Int[Tensor, " batch"] | None, tokens: Int[Tensor, "batch n"]) -> None:
    """Refuse empty sentences, and lengths that do not belong to these tokens.

    Raises:
        TypeError: for tokens or lengths that are no tensor.
        ValueError: the message gives the lengths and the tokens' shape.
    """
    check_whole_numbers("token ids", tokens)
    if lengths is not None:
        check_whole_numbers("lengths", lengths)
    if tokens.dim() != 2:
        hint = "; for a single sentence write tokens[None]" if tokens.dim() == 1 else ""
        raise ValueError(f"token ids must be (batch, n), got a tensor of shape {tuple(tokens.shape)}{hint}")
    batch, n = tokens.shape
    if tokens.numel() == 0:
        raise ValueError(f"the sentences are empty: their tokens have the shape {tuple(tokens.shape)}")
    if lengths is not None and lengths.shape != (batch,):
        raise ValueError(f"there must be one length for each of the {batch} sentences, got lengths of shape {tuple(lengths.shape)}")
    if lengths is not None and not (1 <= int(lengths.min()) and int(lengths.max()) <= n):
        raise ValueError(f"every sentence has 1 to {n} tokens (none may be empty), got lengths {lengths.tolist()}")
