"""Four ways to score how well a key fits a query (chapter 2, used again in chapter 1's translator).

Dot and general: Luong et al. 2015; additive: Bahdanau et al. 2015; scaled dot: Vaswani et al. 2017.
All take queries `(*batch, n_query, d_q)` and keys `(*batch, n_key, d_k)` and give scores `(*batch,
n_query, n_key)`.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn


def dot_score(
    Q: Float[Tensor, "*batch n_query d_k"], K: Float[Tensor, "*batch n_key d_k"]
) -> Float[Tensor, "*batch n_query n_key"]:
    """q · k. Nothing to learn, but queries and keys must be equally wide, and scores grow with that
    width.
    """
    return Q @ K.transpose(-2, -1)


def scaled_dot_score(
    Q: Float[Tensor, "*batch n_query d_k"], K: Float[Tensor, "*batch n_key d_k"]
) -> Float[Tensor, "*batch n_query n_key"]:
    """q · k / √d_k: for independent entries of mean 0 and variance 1, a score of variance 1
    whatever the width.
    """
    return dot_score(Q, K) / math.sqrt(Q.shape[-1])


class GeneralScore(nn.Module):
    """qᵀ W k, "general" or bilinear: W learns how to compare, and queries and keys may differ in
    width.
    """

    def __init__(self, d_q: int, d_k: int):
        super().__init__()
        self.W = nn.Linear(d_k, d_q, bias=False)

    def forward(
        self, Q: Float[Tensor, "*batch n_query d_q"], K: Float[Tensor, "*batch n_key d_k"]
    ) -> Float[Tensor, "*batch n_query n_key"]:
        """The scores of every query with every key."""
        return dot_score(Q, self.W(K))


class AdditiveScore(nn.Module):
    """vᵀ tanh(W_q q + W_k k): a small network with one hidden layer for every pair of query and
    key.
    """

    def __init__(self, d_q: int, d_k: int, d_hidden: int):
        super().__init__()
        self.W_q = nn.Linear(d_q, d_hidden, bias=False)
        self.W_k = nn.Linear(d_k, d_hidden, bias=False)
        self.v = nn.Linear(d_hidden, 1, bias=False)

    def forward(
        self, Q: Float[Tensor, "*batch n_query d_q"], K: Float[Tensor, "*batch n_key d_k"]
    ) -> Float[Tensor, "*batch n_query n_key"]:
        """The scores of every query with every key."""
        # Broadcasting makes the pairs: (n_query, 1, d_hidden) + (1, n_key, d_hidden).
        # All of them are stored at once, which dot products need not.
        hidden = torch.tanh(self.W_q(Q)[..., :, None, :] + self.W_k(K)[..., None, :, :])
        return self.v(hidden).squeeze(-1)
