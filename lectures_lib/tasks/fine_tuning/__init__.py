"""Fine-tuning: labelled examples into batches, all of BERT and a new head trained on them,
predictions out (chapter 14).

Devlin et al. 2019, section 4 and appendix A.3: a few epochs, Adam with a small learning rate that
rises, then falls.

    examples = fine_tuning.sentences(data.load("sentiment"), tokenizer)
    model = task_heads.SentenceClassifier(Bert.from_pretrained(minilm.checkpoint()), n_classes=2)
    fine_tuning.fine_tune(model, fine_tuning.batches(examples, batch_size=32), epochs=3, rate=5e-5)
    fine_tuning.predict(model, examples)
"""

from lectures_lib.tasks.fine_tuning.batching import Batch, batches, collate
from lectures_lib.tasks.fine_tuning.examples import (
    Example,
    choices,
    pairs,
    questions,
    sentences,
    tagged,
)
from lectures_lib.tasks.fine_tuning.prediction import predict, scores
from lectures_lib.tasks.fine_tuning.training import decayed_and_not, fine_tune

__all__ = [
    "Batch",
    "Example",
    "batches",
    "choices",
    "collate",
    "decayed_and_not",
    "fine_tune",
    "pairs",
    "predict",
    "questions",
    "scores",
    "sentences",
    "tagged",
]
