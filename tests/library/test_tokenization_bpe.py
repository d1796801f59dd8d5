"""Byte-level BPE: equal to the `tokenizers` library in training and encoding, and to the
definition, written naively.
"""

import json
import random
import unicodedata
from collections import Counter
from itertools import pairwise
from pydoc_data.topics import topics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, pre_tokenizers

from lectures_lib.tokenization import BPE, Merge, byte_level
from lectures_lib.tokenization.bpe import apply_merges
from lectures_lib.tokenization.plain_bpe import learn, merge, replace_pair
from tests.helpers.tokenizer_peers import learned, pairs, peer_of

MANUAL = list(topics.values())  # Python's own manual
SPECIALS = ("<bos>", "<pad>")
HOSTILE = {
    "emoji": "😀👩‍👩‍👧‍👦🇩🇪 ok 👍🏽!",
    "combining marks": "e\u0301\u0323 Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢ नमस्ते",
    "CJK": "日本語のテキスト 中文字, 한국어",
    "controls": "a\x00b\x01\x1c\x1d\x85\x7f\r\n\t\x0b\x0c \u2028\u2029\ufeff\u200b",
    "white space": "  two   three \n\n\t end  ",
    "contractions": "don't I'll we've 'tis it's'S o'clock’s",
    "numbers": "3.14 ½ ٣ Ⅷ 1,000 x2 2x",
    "right to left": "مرحبا שלום",
    "noncharacters": "\ufffe\uffff\ufffd\U0010ffff\ue000",
    "special names": "<bos>a<pad><pad> <bos >",
    "no space": "ab" * 2000,
    "byte characters": "Ġ Ċ ĠĠ Ã© ŃŁ",
}


@pytest.fixture(scope="module")
def ours() -> BPE:
    return BPE.train(MANUAL, 2000, SPECIALS)


@pytest.fixture(scope="module")
def peer() -> Tokenizer:
    return peer_of(MANUAL, 2000, specials=SPECIALS)


# --- the alphabet and the words


def test_the_alphabet_shows_every_byte_as_gpt2_does():
    assert (
        sorted(byte_level.ALPHABET) == sorted(pre_tokenizers.ByteLevel.alphabet())
        and len(set(byte_level.ALPHABET)) == 256
    )
    everything = bytes(range(256))
    assert byte_level.to_bytes(byte_level.visible(everything)) == everything
    assert byte_level.visible(" café\n".encode()) == "ĠcafÃ©Ċ"
    with pytest.raises(ValueError, match="'a b' is not made of bytes: ' ' is none of the 256"):
        byte_level.to_bytes("a b")


def test_every_character_is_cut_as_the_peer_cuts_it():
    """Every character of the Unicode version that Python knows; the newest ones are known to one
    library and not to the other.
    """
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False)
    characters = [
        c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ("Cn", "Cs")
    ]
    assert len(characters) > 280_000
    for start in range(0, len(characters), 2000):
        text = "".join(f"a{c}1{c}.{c}{c} {c} b  " for c in characters[start : start + 2000])
        theirs = [offsets for _, offsets in cut.pre_tokenize_str(text)]
        assert [found.span() for found in byte_level.WORD.finditer(text)] == theirs


@given(st.text())
@settings(max_examples=200, deadline=None)
def test_the_words_are_the_text(text):
    assert "".join(byte_level.WORD.findall(text)) == text


# --- training


def test_training_by_hand():
    """hug, pug, pun, bun, hugs: u g stand together 20 times, u n 16, then h ug 15, p un 12; of the
    rest, hug s 5 = p ug 5.
    """
    words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    bpe = BPE.train([word for word, n in words.items() for _ in range(n)], 256 + 7)
    assert bpe.merges == [
        Merge("u", "g", 20),
        Merge("u", "n", 16),
        Merge("h", "ug", 15),
        Merge("p", "un", 12),
        Merge("p", "ug", 5),  # p came into the vocabulary before hug did
        Merge("hug", "s", 5),
        Merge("b", "un", 4),
    ]
    assert bpe.tokenize("hugs bug").tokens == ["hugs", "Ġ", "b", "ug"]


def naive_training(texts: list[str], n_merges: int) -> list[Merge]:
    """The definition: count all pairs of all words anew, merge the most frequent (of equals, the
    first in the vocabulary).
    """
    tokens = list(byte_level.ALPHABET)
    words = [
        [tokens.index(c) for c in byte_level.visible(word.encode())]
        for text in texts
        for word in byte_level.WORD.findall(text)
    ]
    merges = []
    for _ in range(n_merges):
        counts = Counter(pair for word in words for pair in pairwise(word))
        if not counts or max(counts.values()) < 2:
            break
        pair = min(counts, key=lambda pair: (-counts[pair], pair))
        left, right = tokens[pair[0]], tokens[pair[1]]
        merges.append(Merge(left, right, counts[pair]))
        tokens.append(left + right)
        words = [replace_pair(word, pair, len(tokens) - 1) for word in words]
    return merges


@given(st.lists(st.text(alphabet="ab é1", min_size=1, max_size=60), min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_incremental_counts_are_the_naive_ones_and_the_peers_merges(texts):
    bpe = BPE.train(texts, 256 + 20)
    assert bpe.merges == naive_training(texts, 20)
    assert pairs(bpe) == learned(peer_of(texts, 256 + 20))


def test_the_plain_functions_give_what_their_page_shows():
    merges = learn({"sing": 2, "ring": 1}, n_merges=2)
    assert merges == [(105, 110), (256, 103)] and merge("king", merges) == [107, 257]
    # of two equally frequent pairs the lower one, whichever stands first
    assert learn({"bca": 3}, 1) == [(98, 99)] and learn({"cab": 3}, 1) == [(97, 98)]


def test_the_cut_into_words_is_the_one_that_is_shown():
    assert BPE.word_pattern.findall(" it's 42!") == [" it", "'s", " 42", "!"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("abcde", min_size=1, max_size=9), min_size=1, max_size=12))
def test_the_two_plain_functions_are_the_class(words):
    """`learn` and `merge` explain the algorithm; the class must do what they say."""
    merges = learn(Counter(words), 12)
    spelled = [bytes([i]) for i in range(256)]
    for left, right in merges:
        spelled.append(spelled[left] + spelled[right])
    bpe = BPE.train(words, 256 + 12, min_count=1)
    pairs = [(spelled[left].decode(), spelled[right].decode()) for left, right in merges]
    assert pairs == [(found.left, found.right) for found in bpe.merges]
    for word in [*words, "abcdeabcde"]:
        expected = [spelled[symbol].decode() for symbol in merge(word, merges)]
        assert expected == [bpe.vocabulary.tokens[i] for i in bpe.encode(word)]


@pytest.mark.parametrize("min_count", [0, 1, 2, 5])
def test_rare_pairs_are_not_merged(min_count):
    texts = ["aaaa bbb", "abab", "ab" * 5, "cd"]
    bpe = BPE.train(texts, 500, min_count=min_count)
    assert pairs(bpe) == learned(peer_of(texts, 500, min_count)) and len(bpe) < 500
    assert all(merge.count >= max(1, min_count) for merge in bpe.merges)


def test_the_same_merges_as_the_peer_on_pythons_manual(ours, peer):
    assert len(ours.merges) == 2000 - 256 - 2
    assert pairs(ours) == learned(peer)
    assert ours.vocabulary.ids == peer.get_vocab()


def test_nothing_depends_on_the_order_of_the_texts():
    shuffled = MANUAL[:20]
    random.Random(0).shuffle(shuffled)
    assert BPE.train(MANUAL[:20], 500).merges == BPE.train(shuffled, 500).merges


# --- encoding


def equal(ours: BPE, peer: Tokenizer, text: str) -> None:
    encoding, theirs = ours.tokenize(text), peer.encode(text)
    assert (
        encoding.ids == theirs.ids
        and encoding.tokens == theirs.tokens
        and encoding.offsets == theirs.offsets
    )
    assert ours.encode(text) == theirs.ids
    assert ours.decode(encoding.ids) == text == peer.decode(theirs.ids, skip_special_tokens=False)


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text(ours, peer, kind):
    equal(ours, peer, HOSTILE[kind])


def test_pythons_manual(ours, peer):
    for text in MANUAL:
        equal(ours, peer, text)


def test_a_megabyte_without_a_space(ours, peer):
    text = "".join(random.Random(0).choices("etaoinshrdlu", k=1_000_000))
    ids = ours.encode(text)
    assert ids == peer.encode(text).ids and ours.decode(ids) == text


@given(st.text(max_size=50))
@settings(max_examples=500, deadline=None)
def test_any_text_comes_back(ours, text):
    encoding = ours.tokenize(text)
    assert ours.decode(encoding.ids) == text and ours.encode(text) == encoding.ids
    covered = {position for start, end in encoding.offsets for position in range(start, end)}
    assert covered == set(range(len(text)))


@given(st.text(alphabet="abcdef", max_size=40))
@settings(max_examples=300, deadline=None)
def test_merging_with_a_queue_is_merging_in_rounds(text):
    """GPT-2's own code: find the pair learned first, merge it everywhere, repeat."""
    rules = {
        (0, 1): (0, 6),
        (2, 2): (1, 7),
        (6, 2): (2, 8),
        (7, 7): (3, 9),
        (1, 0): (4, 10),
        (8, 6): (5, 11),
        (3, 6): (6, 12),
    }
    symbols = expected = ["abcdef".index(c) for c in text]
    while known := [pair for pair in pairwise(expected) if pair in rules]:
        pair = min(known, key=lambda pair: rules[pair])
        expected = replace_pair(expected, pair, rules[pair][1])
    assert apply_merges(symbols, rules) == expected


def test_tokens_of_one_character_share_its_place():
    bare = BPE.train(["x"], 256)
    encoding = bare.tokenize("é€!")
    assert encoding.tokens == list("Ã©" + "âĤ¬" + "!")
    assert encoding.offsets == [(0, 1)] * 2 + [(1, 2)] * 3 + [(2, 3)]


def test_ids_that_break_a_character_give_the_replacement_character(ours, peer):
    ids = ours.encode("€")[:-1] + ours.encode("a")
    assert ours.decode(ids) == "\ufffda" == peer.decode(ids)


def test_a_vocabulary_without_its_bytes_or_with_a_token_that_is_none(tmp_path, ours):
    ours.save(tmp_path / "bpe.json")
    record = json.loads((tmp_path / "bpe.json").read_text(encoding="utf-8"))
    for change, expected in [
        ({"tokens": record["tokens"][5:], "specials": []}, "is not among the 1995 tokens"),
        ({"tokens": [*record["tokens"], "a b"]}, "'a b' is not made of bytes"),
        ({"merges": ["x q 3"]}, "'xq' is not among the 2000 tokens"),
        ({"merges": ["t h many"]}, "'left right count', found 't h many'"),
    ]:
        (tmp_path / "bad.json").write_text(json.dumps(record | change))
        with pytest.raises(ValueError, match=f"bad.json is damaged: .*{expected}"):
            BPE.load(tmp_path / "bad.json")
