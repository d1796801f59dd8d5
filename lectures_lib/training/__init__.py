"""Training: the loop, losses and schedules (chapter 8), checkpoints, pre-training data (chapter
13), packing, cost and distillation (chapter 18b).
"""

from lectures_lib.training.loop import History, fit, plain_step, training_step
from lectures_lib.training.losses import (
    distillation_loss,
    label_smoothed_cross_entropy,
    translation_loss,
)
from lectures_lib.training.schedules import bert_schedule, transformer_schedule
from lectures_lib.training.stream import Epochs, Stream

__all__ = [
    "Epochs",
    "History",
    "Stream",
    "bert_schedule",
    "distillation_loss",
    "fit",
    "label_smoothed_cross_entropy",
    "plain_step",
    "training_step",
    "transformer_schedule",
    "translation_loss",
]
