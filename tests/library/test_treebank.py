"""The book's own treebank: every sentence is a tree in Universal Dependencies' terms, no sentence
comes twice, none is borrowed.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from lectures_lib import data

FILE = Path(data.__file__).parent / "labelled" / "treebank.jsonl"
SENTENCES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]

UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
RELATIONS = """
acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed flat goeswith iobj
list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative xcomp
"""
# of those of UD English
SUBTYPES = "acl:relcl aux:pass compound:prt nmod:poss nsubj:pass obl:agent obl:unmarked"
# What these words may be: a slip of the pen shows here.
TAGS_OF = {
    "det": {"DET"},
    "case": {"ADP", "PART"},
    "amod": {"ADJ"},
    "nummod": {"NUM"},
    "aux": {"AUX"},
    "aux:pass": {"AUX"},
    "cop": {"AUX"},
    "cc": {"CCONJ"},
    "mark": {"SCONJ", "PART"},
    "punct": {"PUNCT"},
    "expl": {"PRON"},
    "compound:prt": {"ADP"},
    "advmod": {"ADV", "PART"},
    "nsubj": {"NOUN", "PRON", "PROPN"},
    "obj": {"NOUN", "PRON", "PROPN"},
}
# words that govern nothing
LEAVES = {"det", "case", "mark", "punct", "cc", "aux", "aux:pass", "cop"}


def text(sentence):
    return " ".join(sentence["words"])


@pytest.mark.parametrize("sentence", SENTENCES, ids=text)
def test_is_a_projective_tree(sentence):
    n, heads = len(sentence["words"]), sentence["heads"]
    assert len(sentence["upos"]) == len(heads) == len(sentence["relations"]) == n
    assert 5 <= n <= 15
    assert heads.count(0) == 1 and all(0 <= head <= n for head in heads)
    for i in range(1, n + 1):
        steps = 0
        while i != 0:
            i, steps = heads[i - 1], steps + 1
            assert steps <= n, "a circle"
    # the root's comes from 0, left of all words
    arcs = [tuple(sorted((i, head))) for i, head in enumerate(heads, 1)]
    assert not [(a, b, c, d) for a, b in arcs for c, d in arcs if a < c < b < d]


@pytest.mark.parametrize("sentence", SENTENCES, ids=text)
def test_tags_and_relations_are_universal_dependencies(sentence):
    assert set(sentence["upos"]) <= set(UPOS.split())
    assert set(sentence["relations"]) <= {*RELATIONS.split(), *SUBTYPES.split()}
    for tag, head, relation in zip(
        sentence["upos"], sentence["heads"], sentence["relations"], strict=True
    ):
        assert tag in TAGS_OF.get(relation, UPOS.split())
        assert (relation == "root") == (head == 0)
        assert head == 0 or sentence["relations"][head - 1] not in LEAVES
    assert (sentence["upos"][-1], sentence["relations"][-1]) == ("PUNCT", "punct")


def test_no_sentence_comes_twice_and_splits_are_of_a_useful_size():
    assert len({text(sentence).lower() for sentence in SENTENCES}) == len(SENTENCES) == 154
    assert Counter(sentence["split"] for sentence in SENTENCES) == {
        "train": 94,
        "validation": 20,
        "test": 40,
    }
    assert all(
        set(sentence) == {"words", "upos", "heads", "relations", "split"} for sentence in SENTENCES
    )


def test_words_with_two_tags_are_in_it():
    """A probe that knows the word alone must fail on them."""
    tags = {}
    for sentence in SENTENCES:
        for word, tag in zip(sentence["words"], sentence["upos"], strict=True):
            tags.setdefault(word.lower(), set()).add(tag)
    assert {word for word in tags if len(tags[word]) > 1} >= {
        "light",
        "watch",
        "book",
        "park",
        "close",
        "hard",
        "fly",
        "left",
        "well",
    }


@pytest.mark.mirror("universal-dependencies/universal_dependencies")
def test_no_sentence_is_taken_from_ud_english():
    own = {text(sentence).lower().rstrip(" .?!") for sentence in SENTENCES}
    for split in data.SPLITS:
        rows, _ = data.read_split("universal-dependencies/universal_dependencies/en_ewt", split)
        theirs = {" ".join(tokens).lower().rstrip(" .?!") for tokens in rows["tokens"]}
        assert not own & theirs
