"""What is told to a person about ready-made things: however they are imported, and nothing that is not there."""

import time

import pytest

from lectures_lib.homework import load, names
from lectures_lib.homework.submissions.mentions import mentions
from tests.homework.bank import answer_cells

READY = ("MultiheadAttention", "nn.functional.scaled_dot_product_attention", "lectures_lib.attention")
FUSED = "nn.functional.scaled_dot_product_attention"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("torch.nn.functional.scaled_dot_product_attention(Q, K, V)", FUSED),
        ("from torch.nn.functional import scaled_dot_product_attention", FUSED),
        ("from torch.nn.functional import (\n    relu,\n    scaled_dot_product_attention as f,\n)", FUSED),
        ("import torch.nn.functional as F\ndef f(Q):\n    return F.scaled_dot_product_attention(Q, Q, Q)", FUSED),
        ("from torch.nn import functional as G; x = G.scaled_dot_product_attention", FUSED),
        ("from torch import nn as n\nn.functional.scaled_dot_product_attention(Q)", FUSED),
        ("from torch import nn\nG = nn.functional\nfrom torch.nn import functional as H\nH.scaled_dot_product_attention", FUSED),
        ("import torch.nn.functional as F\ngetattr(F, 'scaled_dot_product_attention')", FUSED),
        ("nn.MultiheadAttention(4, 2)", "MultiheadAttention"),
        ("from torch.nn import MultiheadAttention as M", "MultiheadAttention"),
        ("from lectures_lib import attention", "lectures_lib.attention"),
        ("from lectures_lib import attention as a, positions", "lectures_lib.attention"),
        ("import lectures_lib as l\nl.attention.causal_mask(3)", "lectures_lib.attention"),
        ("import lectures_lib.attention", "lectures_lib.attention"),
        ("import importlib\nimportlib.import_module('lectures_lib.attention')", "lectures_lib.attention"),
        ("%%time\nfrom lectures_lib import attention\nbroken(", "lectures_lib.attention"),
    ],
)
def test_ready_made_things_are_found(code, found):
    assert mentions(["x = 1", code], READY) == (found,)


@pytest.mark.parametrize(
    "code",
    [
        "# nn.MultiheadAttention is not allowed",
        "def scaled_dot_product_attention(Q, K, V):\n    return Q",
        "import torch.nn.functional as F\nF.relu(x)",
        "from lectures_lib import setup\nfrom lectures_lib.homework import check",
        "attention = 3\nattention.real",
        "class MultiHeadAttention(nn.Module): pass",
        "from lectures_lib.attentions import x",
    ],
)
def test_what_is_not_there_is_not_found(code):
    assert mentions([code], READY) == ()


@pytest.mark.parametrize("homework", names())
def test_the_solutions_mention_nothing_ready_made(homework):
    given, cells = answer_cells(homework)[0][0], [source for _, source in answer_cells(homework)]
    assert mentions([given, *cells], load(homework).ready_made) == ()


@pytest.mark.parametrize(
    "code",
    ["from a import (" * 200_000, "import " * 400_000, "import a as b\n" * 100_000, "a" * 3_000_000, "a." * 1_000_000, "getattr(" * 300_000,
     "from " + " " * 3_000_000, "from a import " + "b as c, " * 300_000, "from a import b\nb." * 100_000, "#" * 3_000_000, " " * 3_000_000],
    ids=range(11),
)  # fmt: skip
def test_hostile_code_is_read_in_time(code):
    began = time.process_time()
    mentions([code], READY)
    assert time.process_time() - began < 10
