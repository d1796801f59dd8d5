"""Homework 5: BERT and its pre-training (chapters 12 and 13). Seven questions, 20 points, two and a
quarter hours.

Chance is given to the two questions that need it, as numbers: so their answers are right or wrong,
not likely.
"""

from lectures_lib.homework.banks.hw5.count import COUNT
from lectures_lib.homework.banks.hw5.embeddings import EMBEDDINGS
from lectures_lib.homework.banks.hw5.head import HEAD
from lectures_lib.homework.banks.hw5.loss import LOSS
from lectures_lib.homework.banks.hw5.masking import MASKING
from lectures_lib.homework.banks.hw5.neighbours import NEIGHBOURS
from lectures_lib.homework.banks.hw5.pair import PAIR
from lectures_lib.homework.questions import Homework

HOMEWORK = Homework(
    name="hw5",
    title="BERT and its pre-training",
    notebook="hw5_bert",
    ready_made=(
        "transformers",
        "sentence_transformers",
        "lectures_lib.models.bert",
        "lectures_lib.training.pretraining",
        "lectures_lib.models.hugging_face",
        "lectures_lib.blocks.positions",
        "lectures_lib.blocks.layers",
        "lectures_lib.tasks.task_heads",
        "lectures_lib.tokenization",
    ),
    questions=(PAIR, EMBEDDINGS, COUNT, MASKING, HEAD, LOSS, NEIGHBOURS),
)
