"""The questions, a module for each chapter, named like its notebook. Every number of a solution is
computed there, with torch or the library where the chapter has the code for it.
"""

from lectures_lib.exam.bank import (
    after_bert,
    bert,
    bottleneck,
    decoder,
    encoder,
    features,
    fine_tuning,
    generating,
    language_model,
    multi_head_attention,
    order,
    pretraining,
    self_attention,
    sentence_bert,
    subwords,
    training,
    vision_transformer,
    what_bert_learns,
)
from lectures_lib.exam.question import Question

CHAPTERS = (
    bottleneck,
    self_attention,
    multi_head_attention,
    order,
    encoder,
    decoder,
    subwords,
    training,
    generating,
    language_model,
    vision_transformer,
    bert,
    pretraining,
    fine_tuning,
    features,
    what_bert_learns,
    sentence_bert,
    after_bert,
)
QUESTIONS: list[Question] = [one for chapter in CHAPTERS for one in chapter.QUESTIONS]
