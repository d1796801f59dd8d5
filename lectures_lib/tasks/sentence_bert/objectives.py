"""Objectives: what is wanted of the vectors u and v of a pair of sentences (chapter 17; Reimers and
Gurevych 2019, section 3).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from lectures_lib.tasks.sentence_bert.semantic_search import cosines


def pair_features(
    u: Float[Tensor, "batch d_model"], v: Float[Tensor, "batch d_model"]
) -> Float[Tensor, "batch three_d_model"]:
    """(u, v, |u - v|), what the classification objective looks at (section 3)."""
    _check_pairs(u, v)
    return torch.cat([u, v, (u - v).abs()], dim=-1)


def cosine_regression(
    u: Float[Tensor, "batch d_model"],
    v: Float[Tensor, "batch d_model"],
    similarity: Float[Tensor, " batch"],
) -> Float[Tensor, ""]:
    """The mean squared difference of the pairs' cosines and the similarities that people gave them
    (section 3).

    Args:
        u, v: the pairs.  similarity: from -1 to 1; STS-B's scores divided by 5.

    Raises:
        ValueError: for a similarity that no cosine can reach, or parts of different sizes.
    """
    _check_pairs(u, v, similarity)
    if similarity.abs().max() > 1:
        raise ValueError(
            f"a cosine lies between -1 and 1, got a similarity of {similarity.abs().max():g}; "
            f"divide STS-B's scores by 5"
        )
    return F.mse_loss(F.cosine_similarity(u, v), similarity)


def in_batch_negatives(
    u: Float[Tensor, "batch d_model"], v: Float[Tensor, "batch d_model"], scale: float = 20.0
) -> Float[Tensor, ""]:
    """Which of all v belongs to this u? A softmax over the batch's cosines (Henderson et al. 2017;
    "InfoNCE").

    Only pairs that belong together are needed: for each u, the other pairs' v are the wrong
    answers. So no text may occur twice.

    Args:
        u, v: the pairs.
        scale: what the cosines are multiplied by, one over the temperature. Without, e^1 against
            e^-1 is the most that a softmax sees.

    Raises:
        ValueError: for fewer than two pairs, or a scale that is not positive.
    """
    _check_pairs(u, v)
    if len(u) < 2 or scale <= 0:
        raise ValueError(
            f"negatives come from the other pairs, and the scale is positive; got {len(u)} pairs, "
            f"scale = {scale}"
        )
    return F.cross_entropy(cosines(u, v) * scale, torch.arange(len(u), device=u.device))


def contrastive_pairs(
    u: Float[Tensor, "batch d_model"],
    v: Float[Tensor, "batch d_model"],
    same: Bool[Tensor, " batch"],
    margin: float = 0.5,
) -> Float[Tensor, ""]:
    """Pull together what is the same, push apart what is not, up to a margin (Hadsell, Chopra and
    LeCun 2006).

    With the distance D = 1 - cosine: ½ D² for a pair that is the same, ½ max(0, margin - D)² for
    one that is not.

    Raises:
        ValueError: for parts of different sizes, or a margin that is not between 0 and 2, the
            greatest distance there is.
    """
    _check_pairs(u, v, same)
    if same.dtype != torch.bool:
        raise ValueError(
            f"same must be boolean, True for a pair that is the same; got {same.dtype}: write "
            f"labels > 0.5"
        )
    if not 0 < margin <= 2:
        raise ValueError(
            f"the distance 1 - cosine lies between 0 and 2, and so must the margin; got {margin}"
        )
    distance = 1 - F.cosine_similarity(u, v)
    return (0.5 * torch.where(same, distance, F.relu(margin - distance)) ** 2).mean()


def _check_pairs(u: Tensor, v: Tensor, label: Tensor | None = None) -> None:
    for name, given in (("u", u), ("v", v), ("labels", label)):
        if not isinstance(given, Tensor) and (given is not None or name != "labels"):
            raise TypeError(f"{name} must be a tensor, got a {type(given).__name__}")
    if u.dim() != 2:
        raise ValueError(f"pairs are two tensors (batch, d_model), got {_sizes(u, v)}")
    if u.shape != v.shape or len(u) == 0 or (label is not None and label.shape != (len(u),)):
        labels = "" if label is None else f", labels {tuple(label.shape)}"
        raise ValueError(
            f"pairs need as many u as v, of the same width, at least one, and one label each: got "
            f"{_sizes(u, v)}{labels}"
        )


def _sizes(u: Tensor, v: Tensor) -> str:
    return f"u {tuple(u.shape)}, v {tuple(v.shape)}"
