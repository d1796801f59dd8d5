"""Attention: scaled dot products, masks and heads (chapters 2 and 3; Vaswani et al. 2017, section 3.2).

One convention for masks, everywhere in this library: boolean, `True` = may attend, broadcastable to the scores'
`(..., n_query, n_key)`. A query that may attend to nothing gets zeros, never NaN.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lectures_lib.checks import check_share, check_whole_numbers


class Attended(NamedTuple):
    """What attention gives when its weights are asked for too."""

    output: Float[Tensor, "*batch n_query d_v"]
    weights: Float[Tensor, "*batch n_query n_key"]


class KeysValues(NamedTuple):
    """A context already projected to every head's keys and values: what a decoder keeps between its steps (chapter 9)."""

    K: Float[Tensor, "batch n_heads n_key d_k"]
    V: Float[Tensor, "batch n_heads n_key d_v"]


def scaled_dot_product_attention(
    Q: Float[Tensor, "*batch n_query d_k"],
    K: Float[Tensor, "*batch n_key d_k"],
    V: Float[Tensor, "*batch n_key d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    dropout: float = 0.0,
    return_weights: bool = False,
) -> Float[Tensor, "*batch n_query d_v"] | Attended:
    """softmax(Q Kᵀ / √d_k) V: each query's average of the values, weighted by how well its key fits.

    Asked for the weights, it computes them explicitly, as the formula says; otherwise torch's own function gives the same output.
    Where torch has a fused kernel for the device and the arguments, that function never stores the n_query × n_key weights; where
    it has none (on a CPU with dropout, or with d_v ≠ d_k), it computes and stores them as well.

    Args:
        Q: queries.  K: keys.  V: values, one for each key.
        mask: `True` = may attend, `(n_query, n_key)` or with all of the scores' dimensions, broadcastable to
            `(*batch, n_query, n_key)`; None: every query attends to every key.
        dropout: share of the weights set to zero (the rest scaled up); pass 0.0 outside training.
        return_weights: also return the weights, as `Attended(output, weights)`.

    Raises:
        TypeError: for what is no tensor.
        ValueError: where d_k or n_key disagree, or the mask is not boolean or does not broadcast. The message states the shapes.
    """
    _check_shapes(Q, K, V, mask)
    empty = None
    if mask is not None:
        # Softmax over no keys at all is 0/0. Such a query looks everywhere instead, and what it saw is dropped below.
        empty = ~mask.any(dim=-1, keepdim=True)
        mask = mask | empty
    if return_weights:
        weights = attention_weights(Q, K, mask)
        output = F.dropout(weights, dropout) @ V
    else:
        weights = None
        output = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask, dropout_p=dropout)
    if empty is not None:
        output = output.masked_fill(empty, 0.0)
        weights = None if weights is None else weights.masked_fill(empty, 0.0)
    return output if weights is None else Attended(output, weights)


def attention_weights(
    Q: Float[Tensor, "*batch n_query d_k"],
    K: Float[Tensor, "*batch n_key d_k"],
    mask: Bool[Tensor, "..."] | None = None,
) -> Float[Tensor, "*batch n_query n_key"]:
    """softmax(Q Kᵀ / √d_k), over the keys: every row sums to 1. A mask must leave every query at least one key."""
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)  # e^-∞ = 0: no weight, and the allowed keys share all of it
    return scores.softmax(dim=-1)


def causal_mask(n: int, device: torch.device | None = None) -> Bool[Tensor, "n n"]:
    """The mask of a left-to-right model: position i may attend to positions 0 … i.

    Raises:
        ValueError: for fewer than one position.
    """
    if n < 1:
        raise ValueError(f"a causal mask needs at least one position, got n = {n}")
    return torch.ones(n, n, dtype=torch.bool, device=device).tril()


def padding_mask(lengths: Int[Tensor, " batch"], n: int) -> Bool[Tensor, "batch 1 1 n"]:
    """The mask that hides padding: in sequence b, only the first `lengths[b]` of the n keys may be attended to.

    Its two dimensions of size 1 stand for heads and queries: every head and every query of a sequence sees the same keys.

    Raises:
        TypeError: for lengths that are no tensor.
        ValueError: for lengths that are no whole numbers in a row, or one below 0 or above n.
    """
    check_whole_numbers("lengths", lengths)
    if lengths.dim() != 1:
        raise ValueError(f"one length for each sequence is needed, in a row; got lengths of shape {tuple(lengths.shape)}")
    if lengths.numel() and not (0 <= int(lengths.min()) and int(lengths.max()) <= n):
        raise ValueError(f"lengths must lie between 0 and n = {n}, got {lengths.tolist()}")
    positions = torch.arange(n, device=lengths.device)
    return (positions < lengths[:, None])[:, None, None, :]


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each with its own small projections; their outputs concatenated and mixed by W_O.

    The h matrices W_i^Q of the paper are kept as one: head i owns rows i·d_k … (i+1)·d_k - 1 of `W_Q.weight`.

    Args:
        d_model: width of the vectors that come in (as queries) and go out.
        n_heads: number of heads h.
        d_k: width of each head's queries and keys; None: d_model / n_heads, as in the paper.
        d_v: width of each head's values; None: d_k.
        d_context: width of the vectors that keys and values are made from; None: d_model. They differ in cross-attention.
        bias: whether the four projections add a bias. The paper's formula has none; BERT's have one.
        dropout: share of the attention weights dropped in training.

    Raises:
        ValueError: if d_k is not given and n_heads does not divide d_model, a size is below 1, or dropout is no share.
    """

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
        sizes = {"d_model": d_model, "n_heads": n_heads, "d_k": d_k, "d_v": d_v, "d_context": d_context}
        if any(size is not None and size < 1 for size in sizes.values()):
            raise ValueError(f"every size must be at least 1, got {sizes}")
        if d_k is None and d_model % n_heads:
            raise ValueError(f"d_model = {d_model} cannot be divided into n_heads = {n_heads} equal heads; give d_k")
        check_share("dropout", dropout)
        self.n_heads = n_heads
        self.d_k = d_model // n_heads if d_k is None else d_k
        self.d_v = self.d_k if d_v is None else d_v
        self.dropout = dropout
        d_context = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, n_heads * self.d_k, bias=bias)
        self.W_K = nn.Linear(d_context, n_heads * self.d_k, bias=bias)
        self.W_V = nn.Linear(d_context, n_heads * self.d_v, bias=bias)
        self.W_O = nn.Linear(n_heads * self.d_v, d_model, bias=bias)

    def forward(
        self,
        query: Float[Tensor, "batch n_query d_model"],
        context: Float[Tensor, "batch n_key d_context"] | KeysValues | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        return_weights: bool = False,
    ) -> Float[Tensor, "batch n_query d_model"] | Attended:
        """Attend from `query` to `context`, or to itself where no context is given (self-attention).

        Args:
            query: the vectors that ask.
            context: the vectors that are looked at (cross-attention: the encoder's output), or the keys and values already made
                of them; None: `query` itself.
            mask: `True` = may attend, `(n_query, n_key)` or broadcastable to `(batch, n_heads, n_query, n_key)`, with four
                dimensions. One for each sequence of a batch is `(batch, 1, n_query, n_key)`.
            return_weights: also return every head's weights, `(batch, n_heads, n_query, n_key)`.
        """
        self._check_widths(query, context)
        context = query if context is None else context
        Q = split_heads(self.W_Q(query), self.n_heads)
        K, V = context if isinstance(context, KeysValues) else self.keys_values(context)
        dropout = self.dropout if self.training else 0.0
        if return_weights:
            heads, weights = scaled_dot_product_attention(Q, K, V, mask, dropout, return_weights=True)
            return Attended(self.W_O(merge_heads(heads)), weights)
        return self.W_O(merge_heads(scaled_dot_product_attention(Q, K, V, mask, dropout)))

    def _check_widths(self, query: Tensor, context: Tensor | KeysValues | None) -> None:
        given = {"query": (query, self.W_Q), "context": (context if isinstance(context, Tensor) else query, self.W_K)}
        for name, (x, W) in given.items():
            if isinstance(context, KeysValues) and name == "context":
                continue
            if not isinstance(x, Tensor):
                raise TypeError(f"{name} must be a tensor (batch, n, {W.in_features}), got a {type(x).__name__}")
            if x.dim() != 3 or x.shape[-1] != W.in_features:
                hint = f"; for a single sequence write {name}[None]" if x.dim() == 2 else ""
                raise ValueError(f"{name} must be (batch, n, {W.in_features}), got a tensor of shape {tuple(x.shape)}{hint}")
        if isinstance(context, Tensor) and len(context) != len(query):
            raise ValueError(f"one context for each query is needed: a batch of {len(query)} queries, and of {len(context)} contexts")

    def keys_values(self, context: Float[Tensor, "batch n_key d_context"]) -> KeysValues:
        """Every head's keys and values of a context."""
        return KeysValues(split_heads(self.W_K(context), self.n_heads), split_heads(self.W_V(context), self.n_heads))


def split_heads(x: Float[Tensor, "batch n width"], n_heads: int) -> Float[Tensor, "batch n_heads n d_head"]:
    """Cut every vector into n_heads pieces and put the heads before the positions: `(batch, n_heads, n, width / n_heads)`.

    Raises:
        ValueError: if n_heads does not divide the width.
    """
    _check_cut(x, n_heads)
    batch, n, width = x.shape
    # view cuts each vector; only transpose may move a position past a head. view alone would mix the positions (chapter 3).
    return x.view(batch, n, n_heads, width // n_heads).transpose(1, 2)


def merge_heads(x: Float[Tensor, "batch n_heads n d_head"]) -> Float[Tensor, "batch n width"]:
    """The inverse of `split_heads`: concatenate the heads' outputs, position by position."""
    return x.transpose(1, 2).flatten(start_dim=2)


def _check_cut(x: Tensor, n_heads: int) -> None:
    if x.dim() != 3:
        hint = "; for a single sequence write x[None]" if x.dim() == 2 else ""
        raise ValueError(f"vectors must be (batch, n, width), got a tensor of shape {tuple(x.shape)}{hint}")
    if n_heads < 1 or x.shape[-1] % n_heads:
        raise ValueError(f"a width of {x.shape[-1]} cannot be cut into n_heads = {n_heads} equal pieces")


def _check_shapes(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None) -> None:
    for name, given in (("Q", Q), ("K", K), ("V", V), ("the mask", mask)):
        if not isinstance(given, Tensor) and (given is not None or name != "the mask"):
            raise TypeError(f"{name} must be a tensor, got a {type(given).__name__}: write torch.tensor(…)")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries and keys must have the same width: Q is {tuple(Q.shape)}, K is {tuple(K.shape)}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"there must be one value for each key: K is {tuple(K.shape)}, V is {tuple(V.shape)}")
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise ValueError(f"a mask is boolean, True = may attend; this one is {mask.dtype}")
    scores = (*torch.broadcast_shapes(Q.shape[:-2], K.shape[:-2]), Q.shape[-2], K.shape[-2])
    fits = mask.dim() <= len(scores) and all(m in (1, s) for m, s in zip(mask.shape[::-1], scores[::-1], strict=False))
    if fits and 2 < mask.dim() < len(scores):
        one = f"mask[:, None], of shape {(len(mask), 1, *mask.shape[1:])}" if mask.dim() == 3 else "all dimensions"
        raise ValueError(
            f"a mask of shape {tuple(mask.shape)} for scores {scores} could be meant for each sequence of the batch or for each head: "
            f"for each sequence write {one}; for each head mask[None]"
        )
    if not fits:
        raise ValueError(f"a mask of shape {tuple(mask.shape)} does not broadcast to the scores' {scores}")
