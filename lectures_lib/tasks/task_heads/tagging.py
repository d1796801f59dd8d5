"""Tagging: one class for each token, as names are found in a text (NER; chapter 14b; Devlin et al.
2019, section 5.3).
"""

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from lectures_lib.tasks.task_heads.head import Classifier, check_labels

# the label of what has none: special tokens, padding, all pieces of a word but the first
UNLABELLED = -100


class TokenTagger(Classifier):
    """One class for each token, such as B-person for the first piece of a name's first word (figure
    4, d). The arguments are those of `Classifier`.
    """

    architecture = "BertForTokenClassification"
    pools = False

    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        segments: Int[Tensor, "batch n"] | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch n classes"]:
        """The scores (logits) of every token. The arguments are those of `Bert.forward`."""
        return self.head(self.dropout(self.bert(tokens, segments, lengths).hidden))

    @staticmethod
    def loss(
        scores: Float[Tensor, "batch n classes"], targets: Int[Tensor, "batch n"]
    ) -> Float[Tensor, ""]:
        """Cross-entropy over the tokens whose target is not `UNLABELLED`.

        Raises:
            ValueError: for a label that is no class, or where no token has one.
        """
        check_labels(targets, scores.shape[-1], UNLABELLED)
        if (targets == UNLABELLED).all():
            raise ValueError(
                f"none of the {targets.numel()} tokens has a label: all are {UNLABELLED}"
            )
        return F.cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=UNLABELLED)
