"""BERT (chapters 12 and 13; Devlin et al. 2019). To read in this order: `config` (its sizes),
`body` (embeddings, encoder, pooler), `pretraining_heads`, and `checkpoint`, which reads and writes
weights under Hugging Face's names.
"""

from lectures_lib.models.bert.body import Bert, BertEmbeddings, Encoded, initialise_as_bert
from lectures_lib.models.bert.config import BertConfig
from lectures_lib.models.bert.pretraining_heads import (
    BertForPreTraining,
    MaskedWordHead,
    PreTrainingScores,
    every_other_layer,
)

__all__ = [
    "Bert",
    "BertConfig",
    "BertEmbeddings",
    "BertForPreTraining",
    "Encoded",
    "MaskedWordHead",
    "PreTrainingScores",
    "every_other_layer",
    "initialise_as_bert",
]
