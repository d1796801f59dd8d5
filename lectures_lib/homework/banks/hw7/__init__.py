"""Homework 7: probing and sentence vectors (chapters 16, 16b, 16c and 17). Eight questions, 20
points, two and a half hours.

No question needs a model: attention weights, impacts and vectors are given as numbers, so that all
of it runs anywhere.
"""

from lectures_lib.homework.banks.hw7.attention import ATTENTION
from lectures_lib.homework.banks.hw7.control import CONTROL
from lectures_lib.homework.banks.hw7.mix import MIX
from lectures_lib.homework.banks.hw7.pairs import PAIRS
from lectures_lib.homework.banks.hw7.pooling import POOLING
from lectures_lib.homework.banks.hw7.probe import PROBE
from lectures_lib.homework.banks.hw7.ranking import RANKING
from lectures_lib.homework.banks.hw7.tree import TREE
from lectures_lib.homework.questions import Homework

HOMEWORK = Homework(
    name="hw7",
    title="Probing and sentence vectors",
    notebook="hw7_probing_and_sentences",
    ready_made=(
        "sentence_transformers",
        "sklearn",
        "networkx",
        "minimum_spanning_tree",
        "maximum_spanning_tree",
        "transformers",
        "lectures_lib.analysis.probing",
        "lectures_lib.tasks.word_level",
        "lectures_lib.analysis.perturbed_masking",
        "lectures_lib.tasks.sentence_bert",
        "lectures_lib.models.minilm",
        "lectures_lib.metrics",
    ),
    questions=(MIX, CONTROL, PROBE, ATTENTION, TREE, POOLING, PAIRS, RANKING),
)
