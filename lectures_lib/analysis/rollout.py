"""Attention rollout: how much of each input reaches each output through all layers (chapters 11 and
16; Abnar and Zuidema 2020).
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor


def rollout(weights: Sequence[Float[Tensor, "batch heads n n"]]) -> Float[Tensor, "batch n n"]:
    """The product of the layers' attention, each with its residual: row i says what output i is
    made of, if one follows attention alone.

    A layer hands on half of what came in (the residual) and half of what its heads, on average,
    looked at: (A + I) / 2. It is a rough picture: it takes the two for equally long, and knows
    nothing of values, feed-forward layers and norms.

    Args:
        weights: every layer's, from the first to the last; each row sums to 1, and so do the rows
            of the result.

    Raises:
        ValueError: for no layers.
    """
    if not weights:
        raise ValueError("no layers: rollout needs the attention weights of at least one")
    n = weights[0].shape[-1]
    identity = torch.eye(n, dtype=weights[0].dtype, device=weights[0].device)
    product = identity.expand(len(weights[0]), n, n)
    for layer in weights:
        product = (layer.mean(dim=1) + identity) / 2 @ product
    return product
