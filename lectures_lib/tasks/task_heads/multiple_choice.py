"""Multiple choice: which of several endings continues a beginning (SWAG; chapter 14; Devlin et al.
2019, section 4.4).
"""

from typing import Any

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from lectures_lib.models.bert import Bert
from lectures_lib.tasks.task_heads.head import Head, check_labels


class MultipleChoice(Head):
    """Which of several endings continues a beginning (SWAG, section 4.4): each pair gets one score,
    and the scores compete.

    Args:
        bert: the body.  dropout: before the linear layer; None: the body's.
    """

    architecture = "BertForMultipleChoice"

    def __init__(self, bert: Bert, dropout: float | None = None):
        super().__init__(bert, 1, None, dropout)

    def forward(
        self,
        tokens: Int[Tensor, "batch choices n"],
        segments: Int[Tensor, "batch choices n"] | None = None,
        lengths: Int[Tensor, "batch choices"] | None = None,
    ) -> Float[Tensor, "batch choices"]:
        """A score for each ending. The body reads every pair by itself.

        Raises:
            ValueError: for tokens without an axis for the endings, or fewer than two of them.
        """
        check_choices(tokens)
        flat = [None if x is None else x.flatten(0, 1) for x in (tokens, segments, lengths)]
        return self.head(self.dropout(self.bert(*flat).pooled)).view(tokens.shape[:2])

    @staticmethod
    def loss(
        scores: Float[Tensor, "batch choices"], targets: Int[Tensor, " batch"]
    ) -> Float[Tensor, ""]:
        """Cross-entropy over the endings. Raises ValueError for a target that is none of them."""
        check_labels(targets, scores.shape[-1])
        return F.cross_entropy(scores, targets)

    @classmethod
    def _made(cls, bert: Bert, n_out: int, facts: dict[str, Any]):
        if n_out != 1:
            raise ValueError(
                f"this checkpoint's head gives {n_out} numbers, that of a multiple choice 1"
            )
        return cls(bert, facts.get("classifier_dropout"))


def check_choices(tokens: Int[Tensor, "*batch"]) -> None:
    """Refuse what is no choice: with one ending, the softmax of its score is 1 whatever the model
    says.

    Raises:
        ValueError: the message gives the shape.
    """
    if tokens.ndim != 3 or tokens.shape[1] < 2:
        n = (
            f"{tokens.shape[1]} ending(s)"
            if tokens.ndim == 3
            else "no axis of endings (a single ending is none to choose from)"
        )
        raise ValueError(
            f"tokens are (batch, endings, n) with at least 2 endings, got shape "
            f"{tuple(tokens.shape)}: {n}"
        )
