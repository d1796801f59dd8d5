"""Pooling: a vector for each token → one for the sentence (chapter 17)."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.tokens import check_lengths


def _check_real(hidden: Tensor, lengths: Tensor | None) -> None:
    if hidden.dim() != 3:
        raise ValueError(
            f"hidden must be (batch, n, d_model), got a tensor of shape {tuple(hidden.shape)}"
        )
    check_lengths(lengths, torch.empty_like(hidden[..., 0], dtype=torch.long))


@at_the_door(_check_real)
def real_tokens(
    hidden: Float[Tensor, "batch n d_model"], lengths: Int[Tensor, " batch"] | None
) -> Bool[Tensor, "batch n 1"]:
    """True where there is a token, False where there is padding.

    Raises:
        ValueError: for lengths that do not fit, or of which one is 0: nothing has no mean.
    """
    batch, n, _ = hidden.shape
    places = torch.arange(n, device=hidden.device).expand(batch, n)
    lengths = torch.full_like(places[:, 0], n) if lengths is None else lengths
    return (places < lengths[:, None])[..., None]


def mean_pooling(
    hidden: Float[Tensor, "batch n d_model"], lengths: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch d_model"]:
    """The mean of the tokens' vectors, [CLS] and [SEP] among them, padding left out. What MiniLM
    was trained with.
    """
    real = real_tokens(hidden, lengths)
    return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)


def cls_pooling(
    hidden: Float[Tensor, "batch n d_model"], lengths: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch d_model"]:
    """The vector of the first token, [CLS]: without BERT's pooler, whose layer was trained for
    another task.
    """
    real_tokens(hidden, lengths)  # only to check them: the first token is never padding
    return hidden[:, 0]


def max_pooling(
    hidden: Float[Tensor, "batch n d_model"], lengths: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch d_model"]:
    """In every component the largest number that a token has there, padding left out."""
    return hidden.masked_fill(~real_tokens(hidden, lengths), -torch.inf).amax(dim=1)


POOLING: dict[str, Callable[..., Tensor]] = {
    "mean": mean_pooling,
    "cls": cls_pooling,
    "max": max_pooling,
}  # section 3
