"""Homework 2: from recurrent translators to the Transformer (chapters 1, 5, 6). Eight questions, 20
points, about two and a half hours.

Each wrong answer below is the right one with one thing changed, as in homework 1.
"""

from lectures_lib.homework.banks.hw2.additive import ADDITIVE
from lectures_lib.homework.banks.hw2.count import COUNT
from lectures_lib.homework.banks.hw2.decoder_block import DECODER
from lectures_lib.homework.banks.hw2.decoder_step import STEP
from lectures_lib.homework.banks.hw2.encoder_block import ENCODER
from lectures_lib.homework.banks.hw2.forcing import FORCING
from lectures_lib.homework.banks.hw2.loss import LOSS
from lectures_lib.homework.banks.hw2.norm import NORM
from lectures_lib.homework.questions import Homework

HOMEWORK = Homework(
    name="hw2",
    title="From recurrence to the Transformer",
    notebook="hw2_transformer",
    ready_made=(
        "F.layer_norm",
        "nn.functional.layer_norm",
        "torch.layer_norm",
        "TransformerEncoderLayer",
        "TransformerDecoderLayer",
        "TransformerEncoder",
        "TransformerDecoder",
        "native_layer_norm",
        "nn.Transformer",
        "lectures_lib.blocks.layers",
        "lectures_lib.blocks.scoring",
        "lectures_lib.models.seq2seq",
        "lectures_lib.models.transformer",
        "lectures_lib.training",
        "lectures_lib.models.bert",
        "lectures_lib.models.language_model",
    ),
    questions=(ADDITIVE, STEP, NORM, ENCODER, DECODER, FORCING, LOSS, COUNT),
)
