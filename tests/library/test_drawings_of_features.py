"""The drawings of chapters 15 and 15b: their numbers and words are the chapters' and the library's."""

import pytest
import torch
from torch.testing import assert_close

from lectures_lib import data
from lectures_lib.analysis.features import nearest_neighbour_accuracy
from lectures_lib.analysis.probing import ScalarMix
from lectures_lib.models import minilm
from lectures_lib.models.word2vec import pairs, skip_gram_loss
from lectures_lib.show.drawings import draw, features, word_vectors
from lectures_lib.tokenization import WordPiece
from tests.helpers.drawn import NOTEBOOKS, constants, holds_in_order, texts, written

SENSES = [e for split in ("train", "validation", "test") for e in data.load("senses", split)]


@pytest.mark.parametrize("narrow", [False, True])
def test_skip_gram_asks_the_chapters_questions(narrow):
    chapter, asked = constants("15_features"), word_vectors.questions()
    v, near = (torch.tensor(chapter[name]) for name in ("v", "near"))
    noise = torch.tensor(chapter["noise"])
    assert_close(v[0], word_vectors.V)
    assert_close(torch.tensor([a.vector for a in asked]), torch.cat([near, noise[0]]))
    assert [a.wanted for a in asked] == [True, False, False]
    total = skip_gram_loss(v, near, noise).item()
    assert sum(a.loss for a in asked) == pytest.approx(total)
    shown = texts(draw("skip_gram", narrow).svg())
    assert f"loss: {total:.3f}" in shown
    for a in asked:
        assert holds_in_order(shown, written(torch.tensor(a.vector)))
        assert holds_in_order(shown, [f"{a.yes:.2f}", f"{1 - a.yes:.2f}", f"{a.loss:.3f}"])
        assert a.yes == pytest.approx(torch.tensor(a.dot).sigmoid().item())
        assert f'"{a.word}"' in (NOTEBOOKS / "15_features.py").read_text(encoding="utf-8")


def test_the_window_of_skip_gram_is_the_librarys():
    words, reach = word_vectors.SENTENCE, word_vectors.REACH
    n = len(words)
    looking, seen = pairs(torch.arange(n), torch.zeros(n).long(), torch.full((n,), reach))
    of_word = [words[j] for i, j in zip(looking, seen, strict=True) if words[i] == "tree"]
    assert sorted(of_word) == ["fell", "old"] and word_vectors.NEAR in of_word
    drawn = [token for token in texts(draw("skip_gram").svg()) if token in words]
    assert drawn[:n] == list(words)


def test_a_table_has_one_arrow_where_bert_has_two():
    """A word of the table is as far from one direction as from the other."""
    for narrow in (False, True):
        shown = texts(draw("one_row_or_a_vector_each", narrow).svg())
        assert shown.count("light") == 4 + 1  # in the sentences, and the table's arrow
        assert [word for word in shown if word.startswith("light (")] == [
            f"light ({cut[-1] if cut[0] == 'light' else cut[0]})" for cut in word_vectors.TWO_LIGHTS
        ]
    sentences = [e["text"].lower() for e in SENSES if e["word"] == "light"]
    for cut in word_vectors.TWO_LIGHTS:
        (whole,) = [text for text in sentences if " ".join(cut) in text]
        assert whole


@pytest.mark.parametrize("narrow", [False, True])
def test_word_states_shows_the_pieces_and_senses_of_the_chapter(narrow):
    tokenizer = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    rows = [e for e in SENSES if e["word"] == "light"]
    pair = tokenizer.pair(rows[0]["text"])
    assert pair.tokens == features.PIECES and pair.tokens[features.LIGHT] == "light"
    assert [row["sense"] for row in rows[: len(features.SENSES)]] == list(features.SENSES)
    chapter = (NOTEBOOKS / "15_features.py").read_text(encoding="utf-8")
    assert rows[0]["text"].startswith("This racing bike")
    assert 'e["text"].startswith("This racing bike")' in chapter
    assert f"known, new = rows[:{features.KNOWN}]" in chapter
    shown = texts(draw("word_states", narrow).svg())
    assert holds_in_order(shown, features.PIECES)
    assert holds_in_order(shown, [str(i) for i in range(features.TAKEN + 1)])


@pytest.mark.parametrize("panel", features.PANELS, ids=lambda panel: panel.name)
def test_who_is_near_is_the_librarys_answer(panel):
    signs = features.marks(panel)
    there = list(signs)
    at = torch.tensor([float(features.POSITIONS[place]) for _, place, _ in there])
    away = (at[:, None] - at).abs()
    may = ~torch.eye(len(there), dtype=torch.bool)
    if panel.elsewhere:
        may &= away > 0
    asks = there.index((0, 0, 0))
    only = torch.zeros_like(may)
    only[asks] = may[asks]
    share = nearest_neighbour_accuracy(-away, [str(m) for m, _, _ in there], only)
    ticks, crosses = (list(signs.values()).count(sign) for sign in "✓✗")
    assert ticks / (ticks + crosses) == pytest.approx(share)
    shown = texts(draw("nearest_by_position").svg())
    assert f"{ticks} of {ticks + crosses} right" in shown


def test_the_scalar_mix_is_the_librarys():
    shares, mixed = features.mixed()
    mix = ScalarMix(7)
    with torch.no_grad():
        mix.w.copy_(torch.tensor(features.MIX_W))
        assert_close(shares, mix.shares)
        assert_close(mixed, mix(torch.tensor(features.MIX_STATES)))
    for narrow in (False, True):
        shown = texts(draw("scalar_mix", narrow).svg())
        assert holds_in_order(shown, written(shares.flip(0), ".2f"))
        assert holds_in_order(shown, written(mixed, ".2f"))
