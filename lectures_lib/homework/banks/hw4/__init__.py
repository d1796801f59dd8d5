"""Homework 4: the Vision Transformer (chapter 11). Six questions, 20 points, about two and a
quarter hours.

Each wrong answer below is the right one with one thing changed, as in homework 1.
"""

from lectures_lib.homework.banks.hw4.convolution import CONVOLUTION
from lectures_lib.homework.banks.hw4.count import COUNT
from lectures_lib.homework.banks.hw4.embedding import EMBEDDING
from lectures_lib.homework.banks.hw4.patches import PATCHES
from lectures_lib.homework.banks.hw4.positions import POSITIONS
from lectures_lib.homework.banks.hw4.rollout import ROLLOUT
from lectures_lib.homework.questions import Homework

HOMEWORK = Homework(
    name="hw4",
    title="The Vision Transformer",
    notebook="hw4_vision_transformer",
    ready_made=(
        "F.unfold",
        "functional.unfold",
        "nn.Unfold",
        "torchvision",
        "timm",
        "transformers",
        "lectures_lib.models.vit",
        "lectures_lib.analysis.rollout",
        "lectures_lib.blocks.layers",
        "lectures_lib.blocks.positions",
    ),
    questions=(PATCHES, CONVOLUTION, EMBEDDING, POSITIONS, COUNT, ROLLOUT),
)
