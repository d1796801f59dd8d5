"""The drawings of chapter 18b: what they count is what the library counts."""

import re
from itertools import pairwise

import pytest
import torch

from lectures_lib.models import minilm
from lectures_lib.models.bert import BertConfig
from lectures_lib.show.drawings import cost, draw
from lectures_lib.tokenization import WordPiece
from lectures_lib.training import packing
from lectures_lib.training.cost import activation_bytes
from tests.helpers.drawn import constants, texts


def test_rows_are_shared_as_the_library_plans():
    planned = packing.plan(cost.LENGTHS, max_len=cost.ROW)
    assert [[cost.LENGTHS[i] for i in row] for row in planned] == cost.shared_rows()
    packed = packing.pack([[5] * n for n in cost.LENGTHS], max_len=cost.ROW)
    assert cost.padding(cost.shared_rows(), cost.ROW) == pytest.approx(packed.padding, abs=0.02)
    assert cost.titles() == ("68 % padding", "11 % padding")


def bars_of(svg: str) -> int:
    """How many sentences' bars there are."""
    return len(re.findall(r'<path d="M[^"]*v8H[^"]*" class="l-encoder"', svg))


@pytest.mark.parametrize("narrow", [False, True])
def test_every_sentence_is_there_twice(narrow):
    assert bars_of(draw("padded_and_packed", narrow).svg()) == 2 * len(cost.LENGTHS)


def test_tokens_positions_and_blocks_are_the_librarys():
    wordpiece = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    sentences = constants("18b_what_it_costs")["sentences"]
    ids = [wordpiece.pair(text).ids for text in sentences]
    drawn = [wordpiece.vocabulary.tokens[i] for sentence in ids for i in sentence]
    assert drawn == cost.tokens() and drawn[cost.FOLLOWED] == "cabinet"
    packed = packing.pack(ids, max_len=len(drawn))
    order = torch.argsort(packed.starts[:, 1])  # the library puts the longest first
    positions, owner = cost.places()
    for k in range(len(ids)):
        assert positions[owner == k].tolist() == packed.positions[packed.owner == k].tolist()
    assert sorted(order.tolist()) == [0, 1, 2]
    for narrow in (False, True):
        shown = texts(draw("packed_row", narrow).svg())
        assert [text for text in shown if " × " in text] == ["7 × 7", "8 × 8", "5 × 5"]


def test_what_is_kept_is_what_the_library_counts():
    base = BertConfig.BASE
    assert (cost.D_MODEL, cost.D_FF, cost.N_HEADS) == (base.d_model, base.d_ff, base.n_heads)
    of = activation_bytes(base, cost.N, explicit=True)
    assert 4 * base.n_layers * cost.N * cost.kept_numbers() == of["linear"]
    (weights,) = (wide for name, _, wide in cost.kept() if "attention" in name)
    assert 4 * base.n_layers * cost.N * weights == of["attention"]
    for narrow in (False, True):
        shown = " ".join(texts(draw("kept_for_backward", narrow).svg()))
        assert f"{cost.kept_numbers():,} numbers" in shown and f"{weights:,}" in shown


@pytest.mark.parametrize("narrow", [False, True])
def test_each_bar_begins_where_the_one_above_it_ends_and_the_sums_are_as_long(narrow):
    bars = re.findall(
        r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="(2[04])"[^>]*',
        draw("kept_for_backward", narrow).svg(),
    )
    *steps, fused, by_formula, saved = [tuple(map(float, bar)) for bar in bars]
    for (x, _, wide, _), (after, _, _, _) in pairwise(steps):
        assert after == pytest.approx(x + wide, abs=0.02)
    (first, *_), (last, _, weights, _) = steps[0], steps[-1]
    for sum_ in (fused, by_formula):
        assert (sum_[0], sum_[2]) == pytest.approx((first, last - first), abs=0.02)
    assert (saved[0], saved[2]) == pytest.approx((last, weights), abs=0.02)
    # to scale: 4 numbers for the norms are less than a pixel
    share = cost.kept_numbers() / cost.kept()[-1][2]
    assert fused[2] / weights == pytest.approx(share, rel=0.001)
    assert 2 * cost.D_FF / cost.kept_numbers() == pytest.approx(0.5, abs=0.001)
