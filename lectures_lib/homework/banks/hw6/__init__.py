"""Homework 6: using BERT (chapters 14 to 15b). Eight questions, 20 points, two and a half hours.

No weights are needed: what a body would compute is given to the questions as random numbers.
"""

from lectures_lib.homework.banks.hw6.best_answer import BEST_ANSWER
from lectures_lib.homework.banks.hw6.choice_head import CHOICE_HEAD
from lectures_lib.homework.banks.hw6.entity_f1 import ENTITY_F1
from lectures_lib.homework.banks.hw6.fit_pair import FIT_PAIR
from lectures_lib.homework.banks.hw6.layer_mix import LAYER_MIX
from lectures_lib.homework.banks.hw6.piece_labels import PIECE_LABELS
from lectures_lib.homework.banks.hw6.skip_gram import SKIP_GRAM
from lectures_lib.homework.banks.hw6.training import TRAINING
from lectures_lib.homework.questions import Homework

HOMEWORK = Homework(
    name="hw6",
    title="using BERT",
    notebook="hw6_using_bert",
    ready_made=(
        "transformers",
        "seqeval",
        "sentence_transformers",
        "sklearn",
        "gensim",
        "lectures_lib.tasks.alignment",
        "lectures_lib.analysis.features",
        "lectures_lib.tasks.fine_tuning",
        "lectures_lib.tasks.task_heads",
        "lectures_lib.metrics",
        "lectures_lib.analysis.probing",
        "lectures_lib.tokenization",
        "lectures_lib.models.word2vec",
    ),
    questions=(
        FIT_PAIR,
        PIECE_LABELS,
        CHOICE_HEAD,
        BEST_ANSWER,
        ENTITY_F1,
        SKIP_GRAM,
        LAYER_MIX,
        TRAINING,
    ),
)
