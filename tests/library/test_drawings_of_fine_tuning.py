"""The drawings of chapters 14 and 14b: their numbers and tokens are the chapter's and the
library's.
"""

import re

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from lectures_lib import metrics
from lectures_lib.models import minilm
from lectures_lib.models.bert import BertConfig
from lectures_lib.show.drawings import draw, fine_tuning, spans
from lectures_lib.tasks import alignment
from lectures_lib.tasks.low_rank import LowRank
from lectures_lib.tasks.task_heads import SpanScores, best_spans
from lectures_lib.tokenization import WordPiece
from tests.helpers.drawn import NOTEBOOKS, constants, holds_in_order, texts, written


@pytest.mark.parametrize("narrow", [False, True])
def test_the_layer_and_its_way_back_are_the_chapters(narrow):
    chapter = constants("14_fine_tuning")
    x, W = (torch.tensor(chapter[name], requires_grad=True) for name in ("x", "W"))
    p = (W @ x).softmax(dim=0)
    (-p[0].log()).backward()
    shown = texts(draw("one_layer_and_back", narrow).svg())
    for matrix, spec in (
        (W.detach(), "g"),
        (x.detach(), "g"),
        ((W @ x).detach(), "g"),
        (p.detach(), ".2f"),
        (x.grad, ".2f"),
        (W.detach().T, "g"),
    ):
        assert holds_in_order(shown, written(matrix, spec)), written(matrix, spec)
    assert x[fine_tuning.FOLLOWED] == 0 and x.grad[fine_tuning.FOLLOWED] > 0
    assert_close(fine_tuning.back()["gradient"], x.grad)


def test_the_thin_matrices_are_the_librarys():
    layer = LowRank(nn.Linear(fine_tuning.WIDTH, fine_tuning.WIDTH), fine_tuning.RANK)
    few = sum(p.numel() for p in layer.parameters() if p.requires_grad)
    assert fine_tuning.parameters() == (layer.weight.numel(), few)
    assert few == layer.A.numel() + layer.B.numel()
    shown = " ".join(texts(draw("low_rank").svg()))
    assert f"{few:,} numbers" in shown and f"{layer.weight.numel():,} numbers" in shown
    assert layer.scale == fine_tuning.SCALE
    chapter = (NOTEBOOKS / "14_fine_tuning.py").read_text(encoding="utf-8")
    assert f"with $r = {fine_tuning.RANK}$" in chapter and f"r={fine_tuning.RANK}," in chapter


def test_a_frame_is_around_what_a_head_reads():
    for head in fine_tuning.HEADS:
        tokens = head.text.split()
        if head.name in ("a sentence", "a pair", "a choice"):
            assert [tokens[i] for i in head.read] == ["[CLS]"]
        elif head.name == "tagging":  # all but the special ones and the later pieces of a word
            words = [i for i, t in enumerate(tokens) if not t.startswith("##") and t[0] not in "[#"]
            assert list(head.read) == words and len(head.says) == len(words)
        else:  # the second text
            assert list(head.read) == list(range(tokens.index("[SEP]") + 1, len(tokens) - 1))


@pytest.mark.parametrize("narrow", [False, True])
def test_five_heads_stand_on_one_body_and_read_its_framed_vectors(narrow):
    svg = draw("five_heads", narrow).svg()
    read = sum(len(head.read) for head in fine_tuning.HEADS)
    assert svg.count('class="s-ink" fill="none" stroke-width="2"/>') == read == 9
    shown = texts(svg)
    assert f"BERT’s body: {BertConfig.BASE.n_layers} blocks, the same for all five" in shown
    thin = re.findall(r'<rect [^>]*rx="[12]" class="d-encoder"/>', svg)
    assert len(thin) == BertConfig.BASE.n_layers == fine_tuning.N_BLOCKS
    vectors = sum(len(head.text.split()) for head in fine_tuning.HEADS)
    assert svg.count('class="d-encoder s-paper"') == 3 * vectors
    for head in fine_tuning.HEADS:
        assert set(fine_tuning.answers(head)) <= set(shown)
    assert {"Ida: person", "met: –", "Lind: person"} <= set(shown)


def test_words_pieces_and_labels_are_the_chapters():
    chapter = constants("14b_words_and_spans")
    assert list(spans.WORDS) == chapter["words"] and list(spans.LABELS) == chapter["labels"]
    wordpiece = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    assert [list(pieces) for pieces in spans.PIECES] == [
        wordpiece.tokenize(word).tokens for word in spans.WORDS
    ]
    read = alignment.read_words(wordpiece, spans.WORDS)
    classes = ["O", "B-person", "I-person", "B-location"]
    aligned = alignment.align(read, [classes.index(label) for label in spans.LABELS])
    drawn = [
        -100 if piece.label == spans.UNLABELLED else classes.index(piece.label)
        for piece in spans.pieces()
    ]
    assert drawn == aligned
    tokens = [wordpiece.vocabulary.tokens[i] for i in read.ids]
    assert [piece.text for piece in spans.pieces()] == tokens
    found = [tuple(name) for name in metrics.entities(list(spans.LABELS))]
    assert [(kind, first, last + 1) for kind, first, last in spans.names()] == found


@pytest.mark.parametrize("narrow", [False, True])
def test_the_table_of_spans_is_that_of_the_chapter(narrow):
    chapter = constants("14b_words_and_spans")
    start, end = (torch.tensor(chapter[name]) for name in ("start", "end"))
    assert list(spans.TOKENS) == chapter["tokens"]
    assert_close(start, spans.START)
    assert_close(end, spans.END)
    allowed = torch.zeros(1, len(start), dtype=torch.bool)
    allowed[0, list(spans.TEXT)] = True
    found = best_spans(SpanScores(start[None], end[None]), allowed)
    assert (int(found.start), int(found.end)) == spans.best()
    shown = texts(draw("span_table", narrow).svg())
    assert holds_in_order(shown, written(start, ".1f")) and holds_in_order(
        shown, written(end, ".1f")
    )
    sums = [start[i] + end[j] for i in (3, 4, 5) for j in (3, 4, 5) if i <= j]
    assert holds_in_order(shown, ["0.8", "5.5", *written(torch.stack(sums), ".1f")])


def test_the_windows_lose_what_the_chapter_says():
    cut = spans.SIZE - spans.LONGEST + 1
    for stride in spans.STRIDES:
        inside = [
            begin <= cut and cut + spans.LONGEST <= begin + spans.SIZE for begin in (0, stride)
        ]
        assert any(inside) == (stride <= cut)
    shown = texts(draw("windows").svg())
    assert [text for text in shown if text.startswith("stride")] == [
        "stride 355",
        "stride 356",
        "stride 384",
    ]
    assert shown.count("whole in the second") == 1
    assert shown.count(f"first window: pieces 0 to {spans.SIZE - 1}") == len(spans.STRIDES)
    assert {"second window: pieces 355 to 738", "second window: pieces 356 to 739"} <= set(shown)
    assert "its first piece is lost" in shown and "its first 29 pieces are lost" in shown
