"""BERT's pre-training: masked words, sentence pairs, the two losses (chapter 13; Devlin et al.
2019, sections 3.1 and A.1).

To read in this order: `masking` and `next_sentence`, the two tasks; `batches` of both; `losses`;
`evaluation`; `mask_filling`, what a trained model puts into the holes of a text.
"""

from lectures_lib.training.pretraining.batches import (
    PreTrainingBatch,
    PreTrainingBatches,
    masked_batch,
)
from lectures_lib.training.pretraining.evaluation import Scores, evaluate
from lectures_lib.training.pretraining.losses import masked_word_loss, pretraining_loss
from lectures_lib.training.pretraining.mask_filling import Guess, fill_mask
from lectures_lib.training.pretraining.masking import Masked, MaskingRates, mask_tokens
from lectures_lib.training.pretraining.next_sentence import Document, Pair, sentence_pairs

__all__ = [
    "Document",
    "Guess",
    "Masked",
    "MaskingRates",
    "Pair",
    "PreTrainingBatch",
    "PreTrainingBatches",
    "Scores",
    "evaluate",
    "fill_mask",
    "mask_tokens",
    "masked_batch",
    "masked_word_loss",
    "pretraining_loss",
    "sentence_pairs",
]
