"""Five heads for one body: what fine-tuning adds to BERT (chapters 14 and 14b; Devlin et al. 2019,
section 4 and figure 4). One module for each; `head` has what they share.

| head | answers | stands on | new numbers |
|---|---|---|---|
| `SentenceClassifier` | one class for a sentence or a pair | pooled | (d_model + 1) · classes |
| `SentenceRegressor` | one number for a sentence or a pair | pooled | d_model + 1 |
| `MultipleChoice` | one of several endings | pooled, once for each ending | d_model + 1 |
| `TokenTagger` | one class for each token | hidden | (d_model + 1) · classes |
| `SpanExtractor` | where an answer begins and ends | hidden | (d_model + 1) · 2 |

Each wraps a `bert.Bert` as `.bert`, with dropout and one linear layer, `.head`, on top, and knows
the loss it is trained with.
"""

from lectures_lib.tasks.task_heads.classification import SentenceClassifier
from lectures_lib.tasks.task_heads.head import Head
from lectures_lib.tasks.task_heads.multiple_choice import MultipleChoice
from lectures_lib.tasks.task_heads.regression import SentenceRegressor
from lectures_lib.tasks.task_heads.span_extraction import (
    SpanExtractor,
    Spans,
    SpanScores,
    best_spans,
)
from lectures_lib.tasks.task_heads.tagging import UNLABELLED, TokenTagger

__all__ = [
    "UNLABELLED",
    "Head",
    "MultipleChoice",
    "SentenceClassifier",
    "SentenceRegressor",
    "SpanExtractor",
    "SpanScores",
    "Spans",
    "TokenTagger",
    "best_spans",
]
