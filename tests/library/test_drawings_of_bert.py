"""The drawings of BERT's body: masks, ids, tables and sums are the library's and the chapter's."""

import re

import torch
from torch.testing import assert_close

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.models import minilm
from lectures_lib.models.bert import BertConfig, BertEmbeddings
from lectures_lib.show.drawings import bert, draw
from lectures_lib.tokenization import WordPiece
from tests.helpers.drawn import constants, holds_in_order, texts, written

CHAPTER = constants("12_bert")


def test_gpts_square_is_the_causal_mask_and_berts_has_none():
    squares = bert.who_looks_at_whom()
    assert_close(squares["GPT"].bool(), causal_mask(7))
    assert squares["BERT"].bool().all()
    assert_close(squares["ELMo"] == 1, causal_mask(7))
    assert set(squares["ELMo"].unique().tolist()) == {1, 2}, "one reader or the other, everywhere"


def test_only_gpt_hides_cells():
    svg = draw("who_sees_whom").svg()
    hidden = re.findall(r'<rect [^>]*class="f-mask ', svg)
    assert len(hidden) == 7 * 6 / 2
    shown = texts(svg)
    assert shown.count("→") == shown.count("←") == 7 * 6 / 2


def test_input_is_what_the_published_tokenizer_makes_of_the_pair():
    wordpiece = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    pair = wordpiece.pair("My dog is cute", "He likes playing")
    shown = texts(draw("bert_input").svg())
    assert holds_in_order(shown, pair.tokens)
    for name in ("tokens", "ids", "segments"):
        assert list(bert.PIECES[name]) == list(getattr(pair, name)), name
    for numbers in (pair.ids, pair.segments):  # under each but the last row a plus sign
        assert holds_in_order([word for word in shown if word != "+"], list(map(str, numbers)))


def test_tables_have_the_published_numbers_of_rows():
    with torch.device("meta"):
        embeddings = BertEmbeddings(BertConfig.BASE)
    for name, table in {
        "token": embeddings.tokens,
        "position": embeddings.positions,
        "segment": embeddings.segments,
    }.items():
        assert bert.TABLES[name] == f"{table.num_embeddings:,} rows"
    assert BertConfig.BASE.n_layers == bert.BLOCKS


def test_vectors_of_dog_are_the_chapters_and_become_the_embeddings():
    for name, vector in bert.VECTORS.items():
        assert vector.tolist() == CHAPTER[name], name
    embeddings = BertEmbeddings(BertConfig(1, 4, 1, 1, 4, max_len=1)).eval()
    with torch.no_grad():
        for name in ("token", "position", "segment"):
            getattr(embeddings, f"{name}s").weight[0] = bert.VECTORS[name]
        made = embeddings(torch.zeros(1, 1, dtype=torch.long))[0, 0]
    assert_close(bert.embedded()["norm"], made, rtol=0, atol=1e-4)
    for narrow in (False, True):
        shown = texts(draw("bert_input", narrow).svg())
        assert holds_in_order(shown, written(bert.embedded()["sum"]))
        assert holds_in_order(shown, written(made, ".2f"))
