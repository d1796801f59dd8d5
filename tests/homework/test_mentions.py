"""What is told to a person about ready-made things: however they are imported, and nothing that is
not there.
"""

import time
import tracemalloc

import pytest

from lectures_lib.homework import load, names
from lectures_lib.homework.grader.grading import grade_one
from lectures_lib.homework.grader.submissions.mentions import mentions
from lectures_lib.homework.sealed_release import INSTALL, SET_UP
from tests.homework.bank import answer_cells

READY = (
    "MultiheadAttention",
    "nn.functional.scaled_dot_product_attention",
    "lectures_lib.blocks.attention",
)
FUSED = "nn.functional.scaled_dot_product_attention"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("torch.nn.functional.scaled_dot_product_attention(Q, K, V)", FUSED),
        ("from torch.nn.functional import scaled_dot_product_attention", FUSED),
        (
            "from torch.nn.functional import (\n    relu,\n    scaled_dot_product_attention as "
            "f,\n)",
            FUSED,
        ),
        (
            "import torch.nn.functional as F\ndef f(Q):\n    return "
            "F.scaled_dot_product_attention(Q, Q, Q)",
            FUSED,
        ),
        ("from torch.nn import functional as G; x = G.scaled_dot_product_attention", FUSED),
        ("from torch import nn as n\nn.functional.scaled_dot_product_attention(Q)", FUSED),
        (
            "from torch import nn\nG = nn.functional\nfrom torch.nn import functional as "
            "H\nH.scaled_dot_product_attention",
            FUSED,
        ),
        ("import torch.nn.functional as F\ngetattr(F, 'scaled_dot_product_attention')", FUSED),
        ("nn.MultiheadAttention(4, 2)", "MultiheadAttention"),
        ("from torch.nn import MultiheadAttention as M", "MultiheadAttention"),
        ("from lectures_lib.blocks import attention", "lectures_lib.blocks.attention"),
        (
            "from lectures_lib.blocks import attention as a, positions",
            "lectures_lib.blocks.attention",
        ),
        (
            "import lectures_lib as l\nl.blocks.attention.causal_mask(3)",
            "lectures_lib.blocks.attention",
        ),
        ("import lectures_lib.blocks.attention", "lectures_lib.blocks.attention"),
        (
            "import importlib\nimportlib.import_module('lectures_lib.blocks.attention')",
            "lectures_lib.blocks.attention",
        ),
        (
            "%%time\nfrom lectures_lib.blocks import attention\nbroken(",
            "lectures_lib.blocks.attention",
        ),
        (
            "%%time\nif True:\n    %matplotlib inline\n    from lectures_lib.blocks import "
            "attention",
            "lectures_lib.blocks.attention",
        ),
        (
            "try: from lectures_lib.blocks import attention as A\nexcept ImportError: pass",
            "lectures_lib.blocks.attention",
        ),
        (
            "import torch.nn as n\nfn = n.functional\nfn.scaled_dot_product_attention(Q, K, V)",
            FUSED,
        ),
        (
            "from torch import nn as n\ndef f(Q, G=n.functional):\n    return "
            "G.scaled_dot_product_attention(Q, Q, Q)",
            FUSED,
        ),
        (
            "import torch\na, b = torch.nn, 3\nc = a.functional\nf = "
            "c.scaled_dot_product_attention",
            FUSED,
        ),
        ("from torch.nn.functional import *\nscaled_dot_product_attention(Q, K, V)", FUSED),
        (
            "from torch.nn import functional\nvars(functional); "
            "functional.__dict__['scaled_dot_product_attention']",
            FUSED,
        ),
        (
            "if (G := __import__('torch').nn.functional): G.scaled_dot_product_attention(Q, Q, Q)",
            FUSED,
        ),
        (
            "from importlib import import_module as "
            "load\nload('lectures_lib').blocks.attention.causal_mask(3)",
            "lectures_lib.blocks.attention",
        ),
        (
            "import sys\nsys.modules['lectures_lib.blocks.attention']",
            "lectures_lib.blocks.attention",
        ),
        ("class Mine(nn.MultiheadAttention): pass", "MultiheadAttention"),
    ],
)
def test_ready_made_things_are_found(code, found):
    assert mentions(["x = 1", code], READY) == (found,)


@pytest.mark.parametrize(
    "code",
    [
        "# nn.MultiheadAttention is not allowed",
        'def f(x):\n    """It must not use nn.MultiheadAttention, nor '
        'lectures_lib.blocks.attention."""\n    return x',
        "x = 1  # not nn.MultiheadAttention\nprint('nn.functional.scaled_dot_product_attention is "
        "slower')",
        "class MultiheadAttention(nn.Module):\n    pass\nheads = MultiheadAttention()",
        "class A:\n    def __init__(self):\n        self.MultiheadAttention = 3\n    def "
        "f(self):\n        return self.MultiheadAttention",
        "def f(MultiheadAttention):\n    return MultiheadAttention + 1\nf(MultiheadAttention=2)",
        "import torch\ndef attention(F):\n    return F\nattention(torch.nn.functional.relu)",
        "def scaled_dot_product_attention(Q, K, V):\n    return Q",
        "import torch.nn.functional as F\nF.relu(x)",
        "from lectures_lib import setup\nfrom lectures_lib.homework import check",
        "attention = 3\nattention.real",
        "class MultiHeadAttention(nn.Module): pass",
        "from lectures_lib.blocks.attentions import x",
    ],
)
def test_what_is_not_there_is_not_found(code):
    assert mentions([code], READY) == ()


@pytest.mark.parametrize(
    ("homework", "code"),
    [
        ("hw1", "from lectures_lib.blocks import layers"),
        ("hw1", "import torch.nn.functional as F\nF.multi_head_attention_forward(x)"),
        ("hw1", "from torch import nn\nnn.TransformerEncoderLayer(8, 2)"),
        ("hw1", "from torch import nn\nnn.TransformerDecoderLayer(8, 2)"),
        ("hw1", "from lectures_lib.models.bert import Bert"),
        ("hw2", "from lectures_lib import training"),
        ("hw3", "from torch import nn\nnn.CrossEntropyLoss(label_smoothing=0.1)"),
        ("hw3", "import sentencepiece"),
        ("hw4", "from torchvision import models"),
        ("hw5", "from lectures_lib.tasks import task_heads"),
        ("hw6", "from sklearn.metrics import f1_score"),
        ("hw7", "import scipy.sparse.csgraph as g\ng.minimum_spanning_tree(x)"),
    ],
)
def test_each_homework_lists_what_would_answer_it(homework, code):
    assert mentions([code], load(homework).ready_made) != ()


def test_one_cell_that_cannot_be_read_knows_the_imports_of_the_others():
    assert mentions(
        ["import torch.nn.functional as F", "F.scaled_dot_product_attention(Q, K\nbroken("], READY
    ) == (FUSED,)


@pytest.mark.parametrize("homework", names())
def test_the_solutions_mention_nothing_ready_made(homework):
    given, cells = answer_cells(homework)[0][0], [source for _, source in answer_cells(homework)]
    assert mentions([given, *cells], load(homework).ready_made) == ()


@pytest.mark.parametrize(
    "code",
    ["from a import (" * 200_000, "import " * 400_000, "import a as b\n" * 100_000, "a" * 3_000_000, "a." * 1_000_000, "getattr(" * 300_000,
     "from " + " " * 3_000_000, "from a import " + "b as c, " * 300_000, "from a import b\nb." * 100_000, "#" * 3_000_000, " " * 3_000_000,
     "(" * 90_000 + ")" * 90_000, "not " * 40_000 + "x", "-" * 190_000 + "1", "lambda: " * 20_000 + "1", "x if x else " * 15_000 + "x",
     "a" + ".b" * 90_000, "a" + "(b)" * 60_000, "1" + "+1" * 90_000, "if a: pass\n" + "elif a: pass\n" * 14_000,
     "f'{" * 5_000 + "}'" * 5_000, "1" + "**1" * 60_000, "~" * 190_000 + "1", "await " * 30_000 + "x",
     "import a\nx = a.b\n" + "".join(f"x{i} = x{i - 1}.b\n" for i in range(1, 9_000)), "x = x.b\n" * 20_000, "a = b = " * 20_000 + "c.d",
     "\0", "\ud800", "# coding: rot13\nimport a",
     "import a" + " " * 2_500_000 + "b", "from a import b" + "\t" * 2_500_000 + "c"],
    ids=range(32),
)  # fmt: skip
def test_hostile_code_is_read_in_time(code):
    began = time.process_time()
    mentions([code], READY)
    assert time.process_time() - began < 120  # not the minutes or hours of a backtracking search


STARS = "".join(f"from m{i} import *\n" for i in range(300))
USES = "".join(f"a{i}.x\n" for i in range(1_500))
LONG = "m" * 20_000


@pytest.mark.parametrize(
    "code",
    [
        STARS + USES,
        f"from {LONG} import a\n" + "a.x\n" * 1_500,
        f"from {LONG} import a\n" + "a.x\n" * 1_500 + "broken(",
        f"from {LONG} import {', '.join(f'a{i}' for i in range(1_500))}",
        f"from {LONG} import {', '.join(f'a{i}' for i in range(900))}\nbroken(",
        f"import {LONG} as a\n" + "a.x\n" * 1_500 + "broken(",
    ],
    ids=["stars", "uses", "uses, broken", "names", "names, broken", "alias, broken"],
)
def test_hostile_code_takes_no_more_memory_than_it_has_letters(code):
    """Uses times modules, or names times a module's letters: of the 3 MB that a cell may have they
    would make gigabytes.
    """
    tracemalloc.start()
    try:
        mentions([code], READY)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 12 << 20


def test_an_import_with_spaces_of_every_kind_is_read_by_its_pattern():
    code = (
        "from  torch.nn.functional  import  relu \t as\t  r , scaled_dot_product_attention  as f\n"
    )
    assert mentions([f"{code}broken(", "f(Q, K, V)"], READY) == (FUSED,)


def test_one_of_many_modules_imported_whole_is_seen():
    stars = "".join(f"from m{i} import *\n" for i in range(40))
    code = stars + "from torch.nn.functional import *\nscaled_dot_product_attention(Q, K, V)"
    assert mentions([code], READY) == (FUSED,)
    assert mentions([f"{code}\ndef scaled_dot_product_attention(Q, K, V): ..."], READY) == ()


PATCHES = {
    "sys.modules": "import sys\nsys.modules['lectures_lib.homework.watch'].Watch.used = lambda self: []",
    "sys._getframe": "from sys import _getframe\n_getframe(1).f_locals.clear()",
    "gc.get_objects": "import gc as g\nfor each in g.get_objects(): pass",
    "ctypes": "import ctypes",
}


@pytest.mark.parametrize("name", PATCHES)
def test_hostile_ways_to_silence_what_watches_are_told_to_a_person(name):
    """A rule on how an answer is written is watched in the student's own process, which can be made
    to keep silent. That earns the points of a right value, and a remark.
    """
    honest = ["import gc\ngc.collect()\nimport sys\nprint(sys.version)", set_up_cell()]
    assert grade_one.uses(honest, load("hw2")) == ()
    assert grade_one.uses([*honest, PATCHES[name]], load("hw2")) == (name,)


def set_up_cell():
    """The set-up cell of a sealed notebook, which asks whether it is on Colab."""
    text = SET_UP.format(file="hw2_sealed.zip", address="", needed="{}", install=INSTALL)
    assert grade_one.SEALED_SET_UP in text
    return text
