"""WordPiece: equal to the `tokenizers` library in encoding, and a trainer held against its
definition, written naively.
"""

import json
import math
import random
import unicodedata
from collections import Counter
from itertools import pairwise
from pydoc_data.topics import topics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from lectures_lib.models.minilm import checkpoint
from lectures_lib.tokenization import BasicTokenizer, Merge, WordPiece
from lectures_lib.tokenization.basic import CHINESE, is_chinese, is_punctuation
from lectures_lib.tokenization.plain_bpe import replace_pair
from lectures_lib.tokenization.wordpiece_training import SCORES, characters_of, likelihood_gain

MANUAL = list(topics.values())
# Characters whose category has not changed since Unicode 3.2: the peer's tables of categories are
# old.
SETTLED = [
    c
    for c in map(chr, range(0x110000))
    if unicodedata.category(c) == unicodedata.ucd_3_2_0.category(c)
    and unicodedata.category(c) not in ("Cn", "Cs")
]
HOSTILE = {
    "accents": "Ünïcödé café cafe\u0301 naïve Å e\u0301\u0323",
    "Korean": "한국어 텍스트",
    "Chinese and Japanese": "日本語のテキスト 中文字 x中y \U00020000\U0002f800",
    "Greek": "ΟΔΟΣ Σίσυφος ς",
    "small letters of other lengths": "İstanbul ıI ß ẞ ﬁ Ǆ Ω",
    "controls": "a\x00b\ufffdc\u200bd\x85e\x0bf\x1cg\ue000h\u00adi",
    "white space": "  \t\n\r one\u3000two\u2028three\xa0four  ",
    "emoji": "😀👩‍👩‍👧‍👦🇩🇪 ok👍🏽!",
    "long words": "x" * 100 + " " + "x" * 101 + " " + "é" * 100,
    "special names": "don't [SEP] [MASK]s[CLS] [sep] [PAD][UNK] [MASK",
    "signs": "$+<=>^`|~ a+b=c @user #tag ¿qué? «so» — … €5 §1",
    "right to left and marks": "नमस्ते مرحبا שָׁלוֹם",
    "a megabyte without a space": "a" * 1_000_000,
    "signs without a space": "!" * 3000 + "中" * 3000,
    "empty": "",
}


@pytest.fixture(scope="module")
def ours() -> WordPiece:
    return WordPiece.load(checkpoint() / "vocab.txt")


@pytest.fixture(scope="module")
def peer() -> Tokenizer:
    peer = Tokenizer.from_file(str(checkpoint() / "tokenizer.json"))
    peer.no_padding()
    peer.no_truncation()
    return peer


def equal(ours: WordPiece, peer: Tokenizer, text: str) -> None:
    encoding, theirs = ours.tokenize(text), peer.encode(text, add_special_tokens=False)
    assert (
        encoding.tokens == theirs.tokens
        and encoding.ids == theirs.ids
        and encoding.offsets == theirs.offsets
    )
    assert ours.encode(text) == theirs.ids


# --- cleaning


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, World!", ["hello", ",", "world", "!"]),
        ("don't", ["don", "'", "t"]),
        ("café", ["cafe"]),
        ("a\tb\u200bc", ["a", "bc"]),
        ("x中文y", ["x", "中", "文", "y"]),
        # accents off: a Korean syllable comes apart into its letters
        ("カナ 한", ["カナ", unicodedata.normalize("NFD", "한")]),
        ("", []),
    ],
)
def test_words_by_hand(text, words):
    assert [word.text for word in BasicTokenizer().words(text)] == words


def test_words_know_where_they_come_from():
    assert BasicTokenizer().words(" É\u200bß!") == [("eß", [1, 3]), ("!", [4])]


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    ("lowercase", "strip_accents"), [(True, None), (True, False), (False, None), (False, True)]
)
def test_every_settled_character_is_cleaned_as_the_peer_cleans_it(lowercase, strip_accents):
    clean = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=strip_accents)
    cut = pre_tokenizers.BertPreTokenizer()
    basic = BasicTokenizer(lowercase, strip_accents)
    assert len(SETTLED) > 230_000
    # Characters of private use, Chinese characters and Korean syllables are each alike; every tenth
    # will do.
    alike = [
        c
        for c in SETTLED
        if unicodedata.category(c) == "Co" or 0x3400 <= ord(c) < 0xD800 or ord(c) >= 0x20000
    ]
    characters = sorted({*SETTLED} - {*alike} | {*alike[::10]})
    for start in range(0, len(characters), 5000):
        text = "".join(f"a{c}b " for c in characters[start : start + 5000])
        theirs = [word for word, _ in cut.pre_tokenize_str(clean.normalize_str(text))]
        assert [word.text for word in basic.words(text)] == theirs


def test_where_chinese_begins_and_ends():
    space = normalizers.BertNormalizer(
        clean_text=False, strip_accents=False, lowercase=False
    ).normalize_str
    for first, last in CHINESE:
        for c in map(chr, (first - 1, first, last, last + 1)):
            mistaken = 0x2B820 <= ord(c) < 0x2B920  # by the peer
            assert (is_chinese(c) == (space(c) == f" {c} ")) != mistaken


def test_ascii_signs_are_punctuation():
    assert {c for c in map(chr, range(128)) if is_punctuation(c)} == set(
        "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
    )


# --- encoding, with the vocabulary of a real BERT


def test_the_vocabulary_of_vocab_txt_is_that_of_the_peers_file(ours, peer):
    assert ours.vocabulary.ids == peer.get_vocab() and len(ours) == 30522
    assert ours.specials == {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text(ours, peer, kind):
    equal(ours, peer, HOSTILE[kind])


def test_pythons_manual(ours, peer):
    for text in MANUAL:
        equal(ours, peer, text)


@given(
    st.lists(
        st.one_of(st.sampled_from(SETTLED), st.characters(max_codepoint=0x250)), max_size=40
    ).map("".join)
)
@settings(max_examples=500, deadline=None)
def test_any_text_of_settled_characters(ours, peer, text):
    equal(ours, peer, text)


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    ("lowercase", "strip_accents"), [(True, False), (False, None), (False, True)]
)
def test_case_and_accents_may_be_kept(lowercase, strip_accents):
    ours = WordPiece.from_vocab_txt(checkpoint() / "vocab.txt", lowercase, strip_accents)
    peer = Tokenizer(models.WordPiece(ours.vocabulary.ids, unk_token="[UNK]"))
    peer.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=strip_accents)
    peer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    peer.add_special_tokens(list(ours.specials))
    for text in [*HOSTILE.values(), *MANUAL[:10]]:
        equal(ours, peer, text)


def test_the_longest_piece_wins_even_where_it_leads_nowhere(tmp_path):
    (tmp_path / "vocab.txt").write_text("[UNK]\na\nab\nabc\n##c\n##d\n", encoding="utf-8")
    tokenizer = WordPiece.load(tmp_path / "vocab.txt")
    assert tokenizer.tokenize("abd").tokens == ["ab", "##d"]
    assert tokenizer.tokenize("abcc").tokens == ["abc", "##c"]
    assert tokenizer.tokenize("a abcb ad").tokens == ["a", "[UNK]", "a", "##d"], (
        "one missing piece makes the whole word unknown"
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[UNK]\na\nb\na\n", "of 4 tokens, 'a' stands twice"),
        (b"a\nb\n", r"'\[UNK\]' is not among the 2 tokens"),
        (b"[UNK]\n\xff\n", "can't decode"),
    ],
)
def test_a_damaged_vocab_txt(tmp_path, content, expected):
    path = tmp_path / "vocab.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"vocab.txt is damaged: .*{expected}"):
        WordPiece.load(path)


def test_saved_it_remembers_how_to_clean(tmp_path):
    kept = WordPiece.train(["Été été ETE"] * 5, 40, lowercase=False, strip_accents=True)
    kept.save(tmp_path / "w.json")
    assert json.loads((tmp_path / "w.json").read_text(encoding="utf-8"))["lowercase"] is False
    assert WordPiece.load(tmp_path / "w.json").tokenize("Été ÉTÉ") == kept.tokenize("Été ÉTÉ")
    assert kept.decode(kept.encode("Été ETE")) == "Ete ETE"


def test_decoding_puts_pieces_together(ours):
    assert ours.decode(ours.encode("Tokenizers  aren't magic!")) == "tokenizers aren ' t magic !"
    assert (
        ours.decode(ours.encode("[CLS] snowboarding [SEP]"), skip_specials=True) == "snowboarding"
    )


# --- pairs


def test_pairs_as_the_peer_builds_them(ours, peer):
    first, second = "The keys to the cabinet …", "are on the table, naïvely!"
    for texts in [(first,), (first, second), (first, ""), ("", second)]:
        encoding, theirs = ours.pair(*texts), peer.encode(*texts)
        assert encoding == (theirs.ids, theirs.tokens, theirs.offsets, theirs.type_ids)


def test_pairs_are_cut_at_the_longer_text(ours):
    def lengths(first: int, second: int, max_length: int) -> tuple[int, int]:
        encoding = ours.pair("a " * first, "b " * second, max_length)
        assert (
            len(encoding.ids)
            == len(encoding.segments)
            == len(encoding.tokens)
            == len(encoding.offsets)
            <= max_length
        )
        return encoding.tokens.count("a"), encoding.tokens.count("b")

    assert lengths(5, 5, 13) == (5, 5)
    assert lengths(5, 5, 12) == (5, 4), "of two equally long ones, the second is cut"
    assert lengths(9, 2, 10) == (5, 2)
    assert lengths(2, 9, 10) == (2, 5)
    assert lengths(9, 9, 5) == (1, 1)
    assert ours.pair("a b c d", max_length=4).tokens == ["[CLS]", "a", "b", "[SEP]"]


def test_a_pair_that_cannot_fit(ours):
    with pytest.raises(
        ValueError,
        match=r"\[CLS\], 2 \[SEP\] and a token of each text need a max_length of 5, got 4",
    ):
        ours.pair("a", "b", max_length=4)
    with pytest.raises(ValueError, match="max_length of 3, got 2"):
        ours.pair("a", max_length=2)


# --- training

HUGS = [
    word
    for word, n in {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}.items()
    for _ in range(n)
]


def test_three_ways_to_choose_by_hand():
    """h 15, p 17, b 4; ##u 36, ##g 20, ##n 16, ##s 5; N = 113. h ##u 15, p ##u 17, b ##u 4, ##u ##g
    20, ##u ##n 16, ##g ##s 5.

    Most frequent: ##u ##g. Highest ratio: ##g ##s, 5 / (20 · 5), the only pair without ##u.
    Gain in log-likelihood, in nats, from the definition:
    """

    def first(score: str) -> Merge:
        return WordPiece.train(HUGS, 5 + 2 * 7 + 1, score=score).merges[0]

    def log_likelihood(*counts: int) -> float:
        return sum(n * math.log(n / sum(counts)) for n in counts if n)

    before = log_likelihood(15, 17, 4, 36, 20, 16, 5)
    gains = {
        ("##u", "##g"): log_likelihood(15, 17, 4, 16, 0, 16, 5, 20) - before,
        ("##u", "##n"): log_likelihood(15, 17, 4, 20, 20, 0, 5, 16) - before,
        ("p", "##u"): log_likelihood(15, 0, 4, 19, 20, 16, 5, 17) - before,
        ("h", "##u"): log_likelihood(0, 17, 4, 21, 20, 16, 5, 15) - before,
        ("b", "##u"): log_likelihood(15, 17, 0, 32, 20, 16, 5, 4) - before,
        ("##g", "##s"): log_likelihood(15, 17, 4, 36, 15, 16, 0, 5) - before,
    }
    best = max(gains, key=gains.get)
    assert best == ("##u", "##g") and sorted(gains.values())[-2] < gains[best] - 1
    assert first("likelihood") == Merge("##u", "##g", 20)
    assert first("frequency") == Merge("##u", "##g", 20)
    assert first("ratio") == Merge("##g", "##s", 5)


@given(
    pair=st.integers(1, 50),
    more_left=st.integers(0, 50),
    more_right=st.integers(0, 50),
    others=st.lists(st.integers(1, 99), max_size=5),
)
@settings(max_examples=200, deadline=None)
def test_the_gain_is_the_difference_of_two_likelihoods(pair, more_left, more_right, others):
    def log_likelihood(counts: list[int]) -> float:
        return sum(n * math.log(n / sum(counts)) for n in counts if n)

    left, right = pair + more_left, pair + more_right
    expected = log_likelihood([more_left, more_right, pair, *others]) - log_likelihood(
        [left, right, *others]
    )
    arrays = (np.array([float(n)]) for n in (pair, left, right))
    assert likelihood_gain(*arrays, float(left + right + sum(others)))[0] == pytest.approx(
        expected, abs=1e-8
    )


def test_ordinary_text_does_not_become_a_special_token():
    """Cleaned, CAT is cat; but a special token is cut out of the text as it is written."""
    wordpiece = WordPiece.train(["the cat sat on a tin, cats"] * 3, 300)
    text, before = "CAT cat Cats", WordPiece.train(["the cat sat on a tin, cats"] * 3, 300)
    assert "cat" in wordpiece.tokenize(text).tokens  # it has seen these words
    special = wordpiece.add_special("cat")
    encoding = wordpiece.tokenize(text)
    assert [
        text[start:end]
        for i, (start, end) in zip(encoding.ids, encoding.offsets, strict=True)
        if i == special
    ] == ["cat"]
    assert wordpiece.decode(encoding.ids, skip_specials=True) == "cat cats"
    assert before.encode("CAT") == [special]


def naive_training(words: list[str], n_merges: int, score: str, specials: int) -> list[Merge]:
    """The definition: count everything anew, score every pair, merge the best (of equals, the first
    in the vocabulary).
    """
    alphabet = sorted(set("".join(words)))
    tokens = ["special"] * specials + alphabet + ["##" + c for c in alphabet]
    corpus = [[tokens.index(piece) for piece in characters_of(word)] for word in words]
    merges = []
    for _ in range(n_merges):
        pieces = Counter(piece for word in corpus for piece in word)
        counts = {
            pair: n
            for pair, n in Counter(pair for word in corpus for pair in pairwise(word)).items()
            if n >= 2
        }
        if not counts:
            break
        total = float(sum(pieces.values()))
        one = {
            p: SCORES[score](
                *(np.array([float(n)]) for n in (counts[p], pieces[p[0]], pieces[p[1]])), total
            )[0]
            for p in counts
        }
        highest = max(one.values())
        if highest <= 0:
            break
        pair = min(p for p in counts if one[p] >= highest * (1 - 1e-9))
        left, right = tokens[pair[0]], tokens[pair[1]]
        merges.append(Merge(left, right, counts[pair]))
        tokens.append(left + right.removeprefix("##"))
        corpus = [replace_pair(word, pair, len(tokens) - 1) for word in corpus]
    return merges


@pytest.mark.parametrize("score", SCORES)
@given(st.lists(st.text(alphabet="abc", min_size=1, max_size=10), min_size=1, max_size=30))
@settings(max_examples=100, deadline=None)
def test_incremental_training_is_the_naive_one(score, words):
    alphabet = set("".join(words))
    assert WordPiece.train(words, 5 + 2 * len(alphabet) + 15, score=score).merges == naive_training(
        words, 15, score, 5
    )


@pytest.mark.parametrize("score", SCORES)
def test_nothing_depends_on_the_order_of_the_texts(score):
    shuffled = MANUAL[:30]
    random.Random(0).shuffle(shuffled)
    trained = WordPiece.train(MANUAL[:30], 700, score=score)
    assert (
        trained.merges == WordPiece.train(shuffled, 700, score=score).merges and len(trained) == 700
    )


@pytest.mark.usefixtures("shapes_unchecked")
def test_likelihood_makes_shorter_text_than_ratio_and_cheaper_than_frequency():
    """Why "likelihood" is the default, on words that were not trained on."""

    def words_and_bits(score: str) -> tuple[float, float]:
        tokenizer = WordPiece.train(MANUAL[::2], 1000, score=score)
        counts = Counter(i for text in MANUAL[1::2] for i in tokenizer.encode(text))
        n = sum(counts.values())
        return n, -sum(count * math.log2(count / n) for count in counts.values())

    pieces, bits = zip(*map(words_and_bits, ("likelihood", "frequency", "ratio")), strict=True)
    assert pieces[0] < 0.7 * pieces[2] and bits[0] < 0.8 * bits[2]
    assert bits[0] < bits[1] and pieces[0] < 1.05 * pieces[1]


def test_training_stops_where_nothing_is_left_to_merge():
    trained = WordPiece.train(["aa ab"] * 3, 1000)
    assert len(trained) < 20 and trained.tokenize("aa ab ba").tokens[:2] == ["aa", "ab"]
    assert WordPiece.train(["aa ab"] * 3, 1000, min_count=4).merges == []


def test_a_small_alphabet_makes_rare_characters_unknown():
    small = WordPiece.train(["aaa bbb aa b c"] * 2, 30, alphabet_size=2)
    assert {"a", "b", "##a", "##b"} <= set(small.vocabulary.tokens) and not {"c", "##c"} & set(
        small.vocabulary.tokens
    )
    assert small.tokenize("ab c").tokens == ["a", "##b", "[UNK]"]


def test_words_too_long_to_be_encoded_are_not_learned_from():
    assert WordPiece.train(["ab" * 51, "ab ab"], 50).merges == WordPiece.train(["ab ab"], 50).merges


def test_nothing_can_be_learned_from_characters_that_are_not_read():
    for texts in (["\u200b"], ["\u200b \ufeff", "\u200b"]):
        with pytest.raises(ValueError, match="nothing to learn from"):
            WordPiece.train(texts, 100)
