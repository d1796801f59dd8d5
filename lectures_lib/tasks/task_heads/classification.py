"""Classification: one class for a sentence or a pair (SST-2, CoLA, RTE; chapter 14; Devlin et al.
2019, section 4.1).
"""

from typing import Any

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from lectures_lib.models.bert import Bert
from lectures_lib.tasks.task_heads.head import Classifier, check_labels


class SentenceClassifier(Classifier):
    """One class for a sentence or a pair: a linear layer on the pooled vector (figure 4, a and b).
    The arguments are those of `Classifier`.
    """

    architecture = "BertForSequenceClassification"

    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        segments: Int[Tensor, "batch n"] | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch classes"]:
        """The scores (logits). The arguments are those of `Bert.forward`."""
        return self.head(self.dropout(self.bert(tokens, segments, lengths).pooled))

    @staticmethod
    def loss(
        scores: Float[Tensor, "batch classes"], targets: Int[Tensor, " batch"]
    ) -> Float[Tensor, ""]:
        """Cross-entropy. Raises ValueError for a label that is no class."""
        check_labels(targets, scores.shape[-1])
        return F.cross_entropy(scores, targets)

    @classmethod
    def _made(cls, bert: Bert, n_out: int, facts: dict[str, Any]):
        if n_out == 1 or facts.get("problem_type") == "regression":
            raise ValueError(
                "this checkpoint's head gives one number, a regressor's: read it as a "
                "SentenceRegressor"
            )
        return super()._made(bert, n_out, facts)
