"""Homework 1: attention (chapters 2 to 4). Eight questions, 20 points, about two and a half hours.

Each wrong answer below is the right one with one thing changed, so that what a mistake does can be
read off its one line. Where students reach the same mistake by routes that return different values
(NaN here, zeros there), the routes share its name.
"""

from lectures_lib.homework.banks.hw1.attention import ATTENTION
from lectures_lib.homework.banks.hw1.causal import CAUSAL
from lectures_lib.homework.banks.hw1.multi_head import HEADS
from lectures_lib.homework.banks.hw1.order import ORDER
from lectures_lib.homework.banks.hw1.padding import PADDING
from lectures_lib.homework.banks.hw1.sinusoids import POSITIONS
from lectures_lib.homework.banks.hw1.softmax import SOFTMAX
from lectures_lib.homework.banks.hw1.split import SPLIT
from lectures_lib.homework.questions import Homework

HOMEWORK = Homework(
    name="hw1",
    title="Attention",
    notebook="hw1_attention",
    ready_made=(
        "F.scaled_dot_product_attention",
        "nn.functional.scaled_dot_product_attention",
        "MultiheadAttention",
        "lectures_lib.blocks.attention",
        "lectures_lib.blocks.positions",
        "multi_head_attention_forward",
        "nn.attention",
        "torch._C",
        "nn.Transformer",
        "TransformerEncoder",
        "TransformerDecoder",
        "TransformerEncoderLayer",
        "TransformerDecoderLayer",
        "transformers",
        "lectures_lib.blocks.layers",
        "lectures_lib.models.transformer",
        "lectures_lib.models.bert",
        "lectures_lib.models.vit",
        "lectures_lib.models.language_model",
    ),
    questions=(ATTENTION, SOFTMAX, CAUSAL, PADDING, SPLIT, HEADS, POSITIONS, ORDER),
)
