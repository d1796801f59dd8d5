"""Span extraction: where in a text the answer to a question begins and ends (SQuAD; chapter 14b;
Devlin et al. 2019, sections 4.2 and 4.3).
"""

from typing import Any, ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from lectures_lib.models.bert import Bert
from lectures_lib.tasks.task_heads.head import Head, check_labels


class SpanScores(NamedTuple):
    """How well an answer might begin, and end, at each token."""

    start: Float[Tensor, "batch n"]
    end: Float[Tensor, "batch n"]


class SpanExtractor(Head):
    """Where in a text an answer begins and ends (figure 4, c; sections 4.2 and 4.3): a start vector
    and an end vector, nothing more.

    Args:
        bert: the body.  dropout: before the two vectors; None: none, as in the authors' code and in
            Hugging Face's.
    """

    architecture = "BertForQuestionAnswering"
    keys: ClassVar[dict[str, str]] = {"qa_outputs.{kind}": "head.{kind}"}
    pools = False

    def __init__(self, bert: Bert, dropout: float | None = None):
        super().__init__(bert, 2, None, 0.0 if dropout is None else dropout)

    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        segments: Int[Tensor, "batch n"] | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> SpanScores:
        """The scores of every token, those of [CLS], the question and the padding too: `best_spans`
        picks the legal ones.
        """
        return SpanScores(
            *self.head(self.dropout(self.bert(tokens, segments, lengths).hidden)).unbind(dim=-1)
        )

    @staticmethod
    def loss(scores: SpanScores, targets: Int[Tensor, "batch 2"]) -> Float[Tensor, ""]:
        """The mean of two cross-entropies over the positions: of the first and of the last token of
        the answer, (0, 0) for none.

        Raises:
            ValueError: for a position outside the row, or an end before its start.
        """
        check_labels(targets, scores.start.shape[-1])
        if (wrong := targets[:, 0] > targets[:, 1]).any():
            raise ValueError(
                f"an answer must not end before it begins, got (start, end) = "
                f"{targets[wrong][0].tolist()}"
            )
        return (
            F.cross_entropy(scores.start, targets[:, 0])
            + F.cross_entropy(scores.end, targets[:, 1])
        ) / 2

    @classmethod
    def _made(cls, bert: Bert, n_out: int, facts: dict[str, Any]):
        if n_out != 2:
            raise ValueError(f"this checkpoint's head gives {n_out} numbers, that of a span 2")
        return cls(bert)


class Spans(NamedTuple):
    """The best answer of each row, as its first and last token, and its score. (0, 0), [CLS], is
    "no answer".
    """

    start: Int[Tensor, " batch"]
    end: Int[Tensor, " batch"]
    score: Float[Tensor, " batch"]


def best_spans(
    scores: SpanScores,
    allowed: Bool[Tensor, "batch n"],
    max_length: int = 30,
    threshold: float | None = None,
) -> Spans:
    """The highest start + end score of a legal span: it does not end before it begins, is not too
    long, and all of it is allowed.

    Args:
        scores: what a `SpanExtractor` says.
        allowed: where an answer may stand: True in the context alone, not in [CLS], question, [SEP]
            or padding.
        max_length: the most tokens of an answer.
        threshold: an answer must beat [CLS]'s start + end by more than this, or there is none
            (SQuAD 2.0, the paper's τ); None: there always is one (SQuAD 1.1).

    Raises:
        ValueError: for a max_length below 1, shapes that differ, [CLS] allowed, or a row where
            nothing is.
    """
    if allowed.dtype != torch.bool:
        raise ValueError(
            f"allowed must be boolean, True where an answer may stand; got {allowed.dtype}"
        )
    if max_length < 1 or allowed.shape != scores.start.shape:
        raise ValueError(
            f"max_length must be at least 1 and `allowed` have the scores' shape "
            f"{tuple(scores.start.shape)}, got max_length = {max_length}, {tuple(allowed.shape)}"
        )
    if allowed[:, 0].any() or not allowed.any(dim=1).all():
        row = int((allowed[:, 0] | ~allowed.any(dim=1)).nonzero()[0])
        raise ValueError(
            f"row {row}: position 0 is [CLS], no part of an answer"
            if allowed[row, 0]
            else f"row {row}: no position is allowed"
        )
    n = allowed.shape[1]
    # holes[:, i]: how many forbidden positions stand before i. A span from i to j has none in it if
    # holes[j] = holes[i].
    holes = (~allowed).cumsum(dim=1)
    unbroken = allowed[:, :, None] & allowed[:, None, :] & (holes[:, :, None] == holes[:, None, :])
    short = torch.ones(n, n, dtype=torch.bool, device=allowed.device).triu().tril(max_length - 1)
    total = (scores.start[:, :, None] + scores.end[:, None, :]).masked_fill(
        ~(unbroken & short), -torch.inf
    )
    best, place = total.flatten(1).max(dim=1)
    start, end = place // n, place % n
    if threshold is not None:
        nothing = scores.start[:, 0] + scores.end[:, 0]
        answered = best > nothing + threshold
        start, end, best = start * answered, end * answered, torch.where(answered, best, nothing)
    return Spans(start, end, best)
