"""Sentence-BERT: one vector for a whole sentence, and three ways to train it (chapter 17; Reimers
and Gurevych 2019).

Two sentences go through the *same* encoder, one after the other (a siamese network), and are
compared as vectors. A corpus can therefore be encoded once and searched ever after. To read in this
order: `pooling` (a vector for each token → one for the sentence), `encoder` (`SentenceBert`),
`semantic_search`, the `objectives`, and `siamese`, which trains by one of them with `training.fit`.
"""

from lectures_lib.tasks.sentence_bert.encoder import SentenceBert
from lectures_lib.tasks.sentence_bert.objectives import (
    contrastive_pairs,
    cosine_regression,
    in_batch_negatives,
    pair_features,
)
from lectures_lib.tasks.sentence_bert.pooling import (
    POOLING,
    cls_pooling,
    max_pooling,
    mean_pooling,
)
from lectures_lib.tasks.sentence_bert.semantic_search import Found, cosines, search
from lectures_lib.tasks.sentence_bert.siamese import (
    Siamese,
    SiameseBatch,
    SiameseBatches,
    classification_loss,
    margin_loss,
    ranking_loss,
    regression_loss,
)

__all__ = [
    "POOLING",
    "Found",
    "SentenceBert",
    "Siamese",
    "SiameseBatch",
    "SiameseBatches",
    "classification_loss",
    "cls_pooling",
    "contrastive_pairs",
    "cosine_regression",
    "cosines",
    "in_batch_negatives",
    "margin_loss",
    "max_pooling",
    "mean_pooling",
    "pair_features",
    "ranking_loss",
    "regression_loss",
    "search",
]
