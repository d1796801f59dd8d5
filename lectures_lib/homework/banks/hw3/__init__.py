"""Homework 3: subwords, training, generating, a language model (chapters 7 to 10). Eight questions,
20 points, two and a half hours.

Where the inputs are drawn at random and a mistake might not show on them, they are drawn again
until all of them do: see `banks.telling`.
"""

from lectures_lib.homework.banks.hw3.beam import BEAM
from lectures_lib.homework.banks.hw3.cache import CACHE
from lectures_lib.homework.banks.hw3.merges import MERGES
from lectures_lib.homework.banks.hw3.nucleus import NUCLEUS
from lectures_lib.homework.banks.hw3.pieces import PIECES
from lectures_lib.homework.banks.hw3.schedule import SCHEDULE
from lectures_lib.homework.banks.hw3.smoothing import SMOOTHING
from lectures_lib.homework.banks.hw3.training import TRAINING
from lectures_lib.homework.questions import Homework

HOMEWORK = Homework(
    name="hw3",
    title="Training and generating",
    notebook="hw3_training_and_generating",
    ready_made=(
        "label_smoothing",
        "tokenizers",
        "transformers",
        "sentencepiece",
        "tiktoken",
        "lectures_lib.tokenization",
        "lectures_lib.training",
        "lectures_lib.decoding",
    ),
    questions=(MERGES, PIECES, SCHEDULE, SMOOTHING, NUCLEUS, BEAM, CACHE, TRAINING),
)
