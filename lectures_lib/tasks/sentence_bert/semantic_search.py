"""Semantic search: the texts of a corpus whose vectors are nearest to a query's, by cosine
(chapters 17 and 17b).
"""

from typing import NamedTuple

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from lectures_lib.checks.door import at_the_door


def _check_vectors(u: Tensor, v: Tensor) -> None:
    for name, vectors in (("u", u), ("v", v)):
        if not isinstance(vectors, Tensor):
            raise TypeError(f"{name} must be a tensor (n, d_model), got a {type(vectors).__name__}")
        if vectors.dim() != 2:
            hint = f"; for a single vector write {name}[None]" if vectors.dim() == 1 else ""
            raise ValueError(
                f"{name} must be (n, d_model), got a tensor of shape {tuple(vectors.shape)}{hint}"
            )
    if u.shape[-1] != v.shape[-1]:
        raise ValueError(
            f"vectors of {u.shape[-1]} and of {v.shape[-1]} numbers cannot be compared: they come "
            f"from different models"
        )


@at_the_door(_check_vectors)
def cosines(u: Float[Tensor, "n d_model"], v: Float[Tensor, "m d_model"]) -> Float[Tensor, "n m"]:
    """The cosine of every vector of u with every vector of v.

    Raises:
        TypeError: for what is no tensor.
        ValueError: for vectors of different widths, or tensors of another shape.
    """
    return F.normalize(u, dim=-1) @ F.normalize(v, dim=-1).T


class Found(NamedTuple):
    """For every query the k nearest of the corpus, the nearest first: their cosines, and their
    places in the corpus.
    """

    scores: Float[Tensor, "queries k"]
    places: Int[Tensor, "queries k"]


def search(
    queries: Float[Tensor, "queries d_model"], corpus: Float[Tensor, "corpus d_model"], k: int = 5
) -> Found:
    """The nearest neighbours by cosine. It compares with all: exact, and fast enough for a million
    vectors.

    Raises:
        ValueError: for vectors of different widths, or a k that is not between 1 and the size of
            the corpus.
    """
    if not 1 <= k <= len(corpus):
        raise ValueError(
            f"k must lie between 1 and the {len(corpus)} vectors of the corpus, got {k}"
        )
    return Found(*cosines(queries, corpus).topk(k, dim=-1))
