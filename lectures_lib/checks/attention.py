"""Queries, keys, values, masks, and the sizes of heads."""

from typing import Any

import torch
from torch import Tensor

from lectures_lib.checks.door import can_be_read
from lectures_lib.checks.sizes import check_numbers, check_share, check_size
from lectures_lib.checks.tensors import check_tensor, check_whole_numbers


def check_scores(Q: Tensor, K: Tensor, mask: Tensor | None = None) -> None:
    """Refuse queries, keys and a mask that do not go together.

    Raises:
        TypeError: for what is no tensor.
        ValueError: where widths differ, or the mask is not boolean, does not broadcast, or could be
            meant in two ways.
    """
    for name, given in (("Q", Q), ("K", K), ("the mask", mask)):
        check_tensor(name, given, optional=name == "the mask")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(
            f"queries and keys must have the same width: Q is {tuple(Q.shape)}, K is "
            f"{tuple(K.shape)}"
        )
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise ValueError(f"a mask is boolean, True = may attend; this one is {mask.dtype}")
    batch = Q.shape[:-2]
    if K.shape[:-2] != batch:  # `broadcast_shapes` takes longer than all else here
        batch = torch.broadcast_shapes(batch, K.shape[:-2])
    scores = (*batch, Q.shape[-2], K.shape[-2])
    fits = mask.dim() <= len(scores) and all(
        m in (1, s) for m, s in zip(mask.shape[::-1], scores[::-1], strict=False)
    )
    if fits and 2 < mask.dim() < len(scores):
        one = (
            f"mask[:, None], of shape {(len(mask), 1, *mask.shape[1:])}"
            if mask.dim() == 3
            else "all dimensions"
        )
        raise ValueError(
            f"a mask of shape {tuple(mask.shape)} for scores {scores} could be meant for each "
            f"sequence of the batch or for each head: for each sequence write {one}; for each head "
            f"mask[None]"
        )
    if not fits:
        raise ValueError(
            f"a mask of shape {tuple(mask.shape)} does not broadcast to the scores' {scores}"
        )


def check_attention(
    Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None, dropout: float = 0.0
) -> None:
    """Refuse queries, keys, values and a mask that do not go together: as `check_scores`, and where
    K and V differ in number, or dropout is no share.
    """
    check_share("dropout", dropout)
    check_tensor("Q", Q)
    check_tensor("K", K)
    check_tensor("V", V)
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(
            f"there must be one value for each key: K is {tuple(K.shape)}, V is {tuple(V.shape)}"
        )
    check_scores(Q, K, mask)


def check_heads(
    layer: Any,
    d_model: int,
    n_heads: int,
    *,
    d_k: int | None = None,
    dropout: float = 0.0,
    **others: Any,
) -> None:
    """Refuse sizes that no multi-head attention can have.

    Raises:
        TypeError: for a dropout that is no number.
        ValueError: if d_k is not given and n_heads does not divide d_model, a size is no whole
            number of at least 1, or dropout is outside 0 … 1.
    """
    sizes = {"d_model": d_model, "n_heads": n_heads, "d_k": d_k} | {
        name: others.get(name) for name in ("d_v", "d_context")
    }
    check_numbers(**{name: size for name, size in sizes.items() if size is not None})
    if d_k is None and d_model % n_heads:
        raise ValueError(
            f"d_model = {d_model} cannot be divided into n_heads = {n_heads} equal heads; give d_k"
        )
    check_share("dropout", dropout)


def check_query_and_context(
    attention: Any, query: Tensor, context: Tensor | None = None, mask: Tensor | None = None
) -> None:
    """Refuse vectors that this multi-head attention cannot read.

    Raises:
        TypeError: for what is no tensor.
        ValueError: for another shape or width, or batches of different sizes. The message states
            them.
    """
    for name, x, width in (
        ("query", query, attention.W_Q.in_features),
        ("context", context, attention.W_K.in_features),
    ):
        x = query if x is None else x
        if not isinstance(x, Tensor):
            raise TypeError(
                f"{name} must be a tensor (batch, n, {width}), got a {type(x).__name__}"
            )
        if x.dim() != 3 or x.shape[-1] != width:
            hint = f"; for a single sequence write {name}[None]" if x.dim() == 2 else ""
            raise ValueError(
                f"{name} must be (batch, n, {width}), got a tensor of shape {tuple(x.shape)}{hint}"
            )
    if context is not None and len(context) != len(query):
        raise ValueError(
            f"one context for each query is needed: a batch of {len(query)} queries, and of "
            f"{len(context)} contexts"
        )


def check_some_positions(n: int, device: torch.device | None = None) -> None:
    """Refuse a causal mask of no positions."""
    check_size("n", n)


def check_split(x: Tensor, n_heads: int) -> None:
    """Refuse vectors that cannot be cut into this many heads."""
    check_tensor("x", x)
    check_size("n_heads", n_heads)
    if x.dim() != 3:
        hint = "; for a single sequence write x[None]" if x.dim() == 2 else ""
        raise ValueError(
            f"vectors must be (batch, n, width), got a tensor of shape {tuple(x.shape)}{hint}"
        )
    if x.shape[-1] % n_heads:
        raise ValueError(
            f"a width of {x.shape[-1]} cannot be cut into n_heads = {n_heads} equal pieces"
        )


def check_merge(x: Tensor) -> None:
    """Refuse what is not cut into heads."""
    check_tensor("x", x)
    if x.dim() != 4:
        raise ValueError(
            f"vectors cut into heads are (batch, n_heads, n, d_head), got a tensor of shape "
            f"{tuple(x.shape)}"
        )


def check_lengths_fit(lengths: Tensor, n: int) -> None:
    """Refuse lengths that no sequences of n positions can have.

    Raises:
        TypeError: for lengths that are no tensor.
        ValueError: for lengths that are no whole numbers in a row, or one below 0 or above n.
    """
    check_whole_numbers("lengths", lengths)
    if lengths.dim() != 1:
        raise ValueError(
            f"one length for each sequence is needed, in a row; got lengths of shape "
            f"{tuple(lengths.shape)}"
        )
    if (
        lengths.numel()
        and can_be_read(lengths)
        and not (0 <= int(lengths.min()) and int(lengths.max()) <= n)
    ):
        raise ValueError(f"lengths must lie between 0 and n = {n}, got {lengths.tolist()}")
