"""Attention: scaled dot products, masks and heads (chapters 2 and 3; Vaswani et al. 2017, section
3.2).

One convention for masks, everywhere in this library: boolean, `True` = may attend. A mask is
`(n_query, n_key)`, or has all of the scores' dimensions, of size 1 where it is the same for all:
`(batch, 1, 1, n_key)`, for instance. A query that may attend to nothing gets zeros, never NaN.

What a chapter builds comes first; the fused kernel, which computes the same, stands at the end.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lectures_lib.checks.attention import (
    check_attention,
    check_heads,
    check_lengths_fit,
    check_merge,
    check_query_and_context,
    check_scores,
    check_some_positions,
    check_split,
)
from lectures_lib.checks.door import at_the_door


@at_the_door(check_scores)
def attention_weights(
    Q: Float[Tensor, "*batch n_query d_k"],
    K: Float[Tensor, "*batch n_key d_k"],
    mask: Bool[Tensor, "..."] | None = None,
) -> Float[Tensor, "*batch n_query n_key"]:
    """softmax(Q Kᵀ / √d_k), over the keys: every row sums to 1, but for a query that may attend to
    nothing, whose row is all zeros.

    Args:
        Q: queries.  K: keys.
        mask: who may attend to whom (see above); None: every query to every key.

    Raises:
        TypeError: for what is no tensor.
        ValueError: where d_k disagrees, or the mask is not boolean or does not broadcast. The
            message states the shapes.
    """
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is not None:  # before softmax: the allowed keys share all of the weight
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1)
    if mask is not None:  # and after it: a query with no allowed key gets zeros
        weights = weights.masked_fill(~mask, 0.0)
    return weights


@at_the_door(check_attention)
def scaled_dot_product_attention(
    Q: Float[Tensor, "*batch n_query d_k"],
    K: Float[Tensor, "*batch n_key d_k"],
    V: Float[Tensor, "*batch n_key d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "*batch n_query d_v"]:
    """softmax(Q Kᵀ / √d_k) V: each query's average of the values, weighted by how well its key
    fits.

    Args:
        Q, K, mask: as in `attention_weights`.  V: values, one for each key.
        dropout: share of the weights set to zero (the rest scaled up); pass 0.0 outside training.

    Raises:
        TypeError: for what is no tensor.
        ValueError: where d_k or n_key disagree, or the mask is not boolean or does not broadcast.
            The message states the shapes.
    """
    weights = attention_weights(Q, K, mask)
    return F.dropout(weights, dropout) @ V


@at_the_door(check_some_positions)
def causal_mask(n: int, device: torch.device | None = None) -> Bool[Tensor, "n n"]:
    """The mask of a left-to-right model: position i may attend to positions 0 … i.

    Raises:
        ValueError: for fewer than one position.
    """
    return torch.ones(n, n, dtype=torch.bool, device=device).tril()


@at_the_door(check_lengths_fit)
def padding_mask(lengths: Int[Tensor, " batch"], n: int) -> Bool[Tensor, "batch 1 1 n"]:
    """The mask that hides padding: in sequence b, only the first `lengths[b]` of the n keys may be
    attended to.

    Its two dimensions of size 1 stand for heads and queries: every head and every query of a
    sequence sees the same keys.

    Raises:
        TypeError: for lengths that are no tensor.
        ValueError: for lengths that are no whole numbers in a row, or one below 0 or above n.
    """
    positions = torch.arange(n, device=lengths.device)
    return (positions < lengths[:, None])[:, None, None, :]


@at_the_door(check_split)
def split_heads(
    x: Float[Tensor, "batch n width"], n_heads: int
) -> Float[Tensor, "batch n_heads n d_head"]:
    """Cut every vector into n_heads pieces and put the heads before the positions: `(batch,
    n_heads, n, width / n_heads)`.

    Raises:
        ValueError: if n_heads does not divide the width.
    """
    batch, n, width = x.shape
    # view cuts each vector; only transpose may move a position past a head. view alone would mix
    # the positions (chapter 3).
    return x.view(batch, n, n_heads, width // n_heads).transpose(1, 2)


@at_the_door(check_merge)
def merge_heads(x: Float[Tensor, "batch n_heads n d_head"]) -> Float[Tensor, "batch n width"]:
    """The inverse of `split_heads`: concatenate the heads' outputs, position by position.

    Raises:
        ValueError: for a tensor without four dimensions.
    """
    return x.transpose(1, 2).flatten(start_dim=2)


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each with its own small projections; their outputs
    concatenated and mixed by W_O.

    The h matrices W_i^Q of the paper are kept as one: head i owns rows i·d_k … (i+1)·d_k - 1 of
    `W_Q.weight`.

    Args:
        d_model: width of the vectors that come in (as queries) and go out.
        n_heads: number of heads h.
        d_k: width of each head's queries and keys; None: d_model / n_heads, as in the paper.
        d_v: width of each head's values; None: d_k.
        d_context: width of the vectors that keys and values are made from; None: d_model. They
            differ in cross-attention.
        bias: whether the four projections add a bias. The paper's formula has none; BERT's have
            one.
        dropout: share of the attention weights dropped in training.

    Raises:
        ValueError: if d_k is not given and n_heads does not divide d_model, a size is below 1, or
            dropout is no share.
    """

    @at_the_door(check_heads)
    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        d_k: int | None = None,
        d_v: int | None = None,
        d_context: int | None = None,
        bias: bool = False,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.n_heads = n_heads
        d_k = d_model // n_heads if d_k is None else d_k
        d_v = d_k if d_v is None else d_v
        d_context = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, n_heads * d_k, bias=bias)
        self.W_K = nn.Linear(d_context, n_heads * d_k, bias=bias)
        self.W_V = nn.Linear(d_context, n_heads * d_v, bias=bias)
        self.W_O = nn.Linear(n_heads * d_v, d_model, bias=bias)
        self.attention = DotProductAttention(dropout)

    @at_the_door(check_query_and_context)
    def forward(
        self,
        query: Float[Tensor, "batch n_query d_model"],
        context: Float[Tensor, "batch n_key d_context"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "batch n_query d_model"]:
        """Attend from `query` to `context`, or to itself where no context is given
        (self-attention).

        Args:
            query: the vectors that ask.
            context: the vectors that are looked at (cross-attention: the encoder's output); None:
                `query` itself.
            mask: who may attend to whom. One for each sequence of a batch is `(batch, 1, n_query,
                n_key)`, one for each head `(batch, n_heads, n_query, n_key)`.
        """
        K, V = self.keys_values(query if context is None else context)
        return self.attend(query, K, V, mask)

    def keys_values(
        self, context: Float[Tensor, "batch n_key d_context"]
    ) -> tuple[Float[Tensor, "batch n_heads n_key d_k"], Float[Tensor, "batch n_heads n_key d_v"]]:
        """Every head's keys and values of a context. They are a method of their own because a model
        that generates text makes them once and uses them at every later step (chapter 9).
        """
        K = split_heads(self.W_K(context), self.n_heads)
        V = split_heads(self.W_V(context), self.n_heads)
        return K, V

    def attend(
        self,
        query: Float[Tensor, "batch n_query d_model"],
        K: Float[Tensor, "batch n_heads n_key d_k"],
        V: Float[Tensor, "batch n_heads n_key d_v"],
        mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "batch n_query d_model"]:
        """Attention in every head; then the outputs concatenated and mixed by W_O."""
        Q = split_heads(self.W_Q(query), self.n_heads)
        outputs = self.attention(Q, K, V, mask)
        return self.W_O(merge_heads(outputs))


class DotProductAttention(nn.Module):
    """`fused_attention`, with dropout while training: a module without parameters, at which a
    recorder can look on (`recording`).
    """

    def __init__(self, dropout: float = 0.0):
        super().__init__()
        self.dropout = dropout

    def forward(
        self,
        Q: Float[Tensor, "*batch n_query d_k"],
        K: Float[Tensor, "*batch n_key d_k"],
        V: Float[Tensor, "*batch n_key d_v"],
        mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "*batch n_query d_v"]:
        """One output for each query."""
        return fused_attention(Q, K, V, mask, self.dropout if self.training else 0.0)


@at_the_door(check_attention)
def fused_attention(
    Q: Float[Tensor, "*batch n_query d_k"],
    K: Float[Tensor, "*batch n_key d_k"],
    V: Float[Tensor, "*batch n_key d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "*batch n_query d_v"]:
    """The same as `scaled_dot_product_attention`, by torch's own function: what the models call.

    Where torch has a fused kernel for the device and the arguments, the n_query × n_key weights are
    never stored; where it has none (on a CPU with dropout, or with d_v ≠ d_k), torch computes and
    stores them as well. Arguments and errors are the same.
    """
    if mask is None:
        return F.scaled_dot_product_attention(Q, K, V, dropout_p=dropout)
    # Kernels differ in what a query sees that may attend to nothing. It looks everywhere instead,
    # and what it saw is dropped.
    blind = ~mask.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask | blind, dropout_p=dropout)
    return output.masked_fill(blind, 0.0)
