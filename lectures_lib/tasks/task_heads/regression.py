"""Regression: one number for a sentence or a pair (STS-B; chapter 14)."""

from typing import Any

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from lectures_lib.models.bert import Bert
from lectures_lib.tasks.task_heads.head import Head


class SentenceRegressor(Head):
    """One number for a sentence or a pair, such as how similar two sentences are (STS-B).

    Args:
        bert: the body.  dropout: before the linear layer; None: the body's.
    """

    architecture = "BertForSequenceClassification"

    def __init__(self, bert: Bert, dropout: float | None = None):
        super().__init__(bert, 1, None, dropout)

    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        segments: Int[Tensor, "batch n"] | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, " batch"]:
        """The numbers. The arguments are those of `Bert.forward`."""
        x = self.bert(tokens, segments, lengths).pooled
        return self.head(self.dropout(x))[:, 0]

    @staticmethod
    def loss(
        scores: Float[Tensor, " batch"], targets: Float[Tensor, " batch"]
    ) -> Float[Tensor, ""]:
        """Mean squared error. Raises ValueError for targets that are no numbers."""
        if scores.shape != targets.shape:
            raise ValueError(
                f"one target for each number: scores are {tuple(scores.shape)}, targets "
                f"{tuple(targets.shape)}"
            )
        if not targets.isfinite().all():
            raise ValueError(f"every target must be a finite number, got {targets.tolist()}")
        return F.mse_loss(scores, targets)

    @classmethod
    def _made(cls, bert: Bert, n_out: int, facts: dict[str, Any]):
        if n_out != 1:
            raise ValueError(
                f"this checkpoint's head gives {n_out} numbers, a regressor's gives 1: read it as "
                f"a SentenceClassifier"
            )
        return cls(bert, facts.get("classifier_dropout"))

    def _their_labels(self) -> dict[str, Any]:
        return super()._their_labels() | {"problem_type": "regression"}
