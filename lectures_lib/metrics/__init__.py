"""How good is it? One module for each kind of answer: running text, classes and scores, names in a
text, quoted answers; and one that asks how sure the number is.

`generation` (chapters 1, 8, 8b, 10), `classification` (chapter 14), `entities` and `answers` (14b),
`certainty` (the page before 14).
"""

from lectures_lib.metrics.answers import (
    AnswerScores,
    answer_f1,
    answer_scores,
    exact_answer,
    normalise_answer,
)
from lectures_lib.metrics.certainty import bootstrap_difference, sign_test, standard_error
from lectures_lib.metrics.classification import (
    Counts,
    Scores,
    accuracy,
    counts,
    matthews,
    pearson,
    precision_recall_f1,
    spearman,
)
from lectures_lib.metrics.entities import Entity, bio_errors, entities, entity_scores
from lectures_lib.metrics.generation import (
    Bleu,
    bleu,
    corpus_bleu,
    exact_match,
    n_grams,
    perplexity,
    token_accuracy,
)

__all__ = [
    "AnswerScores",
    "Bleu",
    "Counts",
    "Entity",
    "Scores",
    "accuracy",
    "answer_f1",
    "answer_scores",
    "bio_errors",
    "bleu",
    "bootstrap_difference",
    "corpus_bleu",
    "counts",
    "entities",
    "entity_scores",
    "exact_answer",
    "exact_match",
    "matthews",
    "n_grams",
    "normalise_answer",
    "pearson",
    "perplexity",
    "precision_recall_f1",
    "sign_test",
    "spearman",
    "standard_error",
    "token_accuracy",
]
