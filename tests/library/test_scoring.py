"""The scoring functions, each against its formula written as a loop over pairs."""

import pytest
import torch
from torch.testing import assert_close

from lectures_lib.blocks.scoring import AdditiveScore, GeneralScore, dot_score, scaled_dot_score


def pairwise(score, Q, K):
    return torch.stack([torch.stack([score(q, k) for k in K]) for q in Q])


def test_dot_and_scaled_dot():
    Q, K = torch.randn(4, 6), torch.randn(5, 6)
    assert_close(dot_score(Q, K), pairwise(torch.dot, Q, K))
    assert_close(scaled_dot_score(Q, K), pairwise(lambda q, k: torch.dot(q, k) / 6**0.5, Q, K))


def test_general():
    Q, K, general = torch.randn(4, 3), torch.randn(5, 6), GeneralScore(3, 6)
    assert_close(general(Q, K), pairwise(lambda q, k: q @ general.W.weight @ k, Q, K))


def test_additive():
    Q, K, additive = torch.randn(4, 3), torch.randn(5, 6), AdditiveScore(3, 6, 7)
    formula = pairwise(
        lambda q, k: (
            additive.v.weight[0] @ torch.tanh(additive.W_q.weight @ q + additive.W_k.weight @ k)
        ),
        Q,
        K,
    )
    assert_close(additive(Q, K), formula)


@pytest.mark.parametrize(
    "score", [dot_score, scaled_dot_score, GeneralScore(6, 6), AdditiveScore(6, 6, 4)]
)
def test_batches_and_heads(score):
    Q, K = torch.randn(2, 3, 4, 6), torch.randn(2, 3, 5, 6)
    assert score(Q, K).shape == (2, 3, 4, 5)
    assert_close(score(Q, K)[1, 2], score(Q[1, 2], K[1, 2]))
