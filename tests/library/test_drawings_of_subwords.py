"""The drawings of chapters 7 and 7b show what the chapters' own functions and the library's
tokenizers do.
"""

from lectures_lib.show.drawings import draw, subwords
from lectures_lib.tokenization import BPE
from tests.helpers.drawn_words import drawn_words, in_a_row
from tests.helpers.page_code import defined

SEVEN = defined("07_subwords", "weather", "riddle", "count_pairs", "merge", "learn", "spell")


def pieces(word, pairs):
    """As the drawing cuts it."""
    return [word[start:end] for start, end in subwords.spelled(word, pairs)[1]]


def test_merges_and_pieces_are_those_of_the_chapters_functions():
    assert SEVEN["weather"] == subwords.WEATHER and SEVEN["riddle"] == subwords.RIDDLE
    pairs = SEVEN["learn"](SEVEN["weather"], subwords.N_MERGES)
    assert subwords.merges() == pairs
    for word in (*subwords.NEW_WORDS, subwords.KNOWN_WORD, "tea", "aaaa", "inin"):
        for order in (pairs, sorted(pairs), [("a", "a"), ("aa", "aa")]):
            assert pieces(word, order) == SEVEN["spell"](word, order), (word, order)


def test_trees_end_with_the_pieces():
    shown = drawn_words(draw("merge_tree").svg())
    for cut in (["d", "rain", "ed"], ["s", "training"]):
        assert in_a_row(shown, cut)
    assert in_a_row(drawn_words(draw("merge_order").svg()), ["t", "r", "a", "in", "ing"])


def test_bytes_become_the_librarys_tokens():
    found = BPE.train([subwords.RIDDLE], 256 + 13).tokenize(subwords.TEXT)
    all_bytes, characters, tokens = subwords.tokenized()
    assert [token.text for token in tokens] == found.tokens
    assert [token.id for token in tokens] == found.ids
    assert bytes(byte.number for byte in all_bytes) == subwords.TEXT.encode()
    assert "".join(character.text for character in characters) == subwords.TEXT
    for token in tokens:  # each stands over its own bytes
        assert token.text == "".join(byte.shown for byte in all_bytes[token.start : token.end])
    shown = drawn_words(draw("bytes_to_tokens").svg())
    assert all(str(i) in shown for i in found.ids) and set(found.tokens) <= set(shown)
