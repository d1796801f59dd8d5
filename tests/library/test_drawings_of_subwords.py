"""The drawings of chapters 7 and 7b show what the chapters' own functions and the library's
tokenizers do.
"""

from lectures_lib.data.manual import python_manual
from lectures_lib.models import minilm
from lectures_lib.show.drawings import draw, subwords, wordpiece
from lectures_lib.tokenization import BPE, WordPiece
from tests.helpers.drawn import holds_in_order, texts
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
    shown = texts(draw("merge_tree").svg())
    for cut in (["d", "rain", "ed"], ["s", "training"]):
        assert holds_in_order(shown, cut)
    assert holds_in_order(texts(draw("merge_order").svg()), ["t", "r", "a", "in", "ing"])


def test_bytes_become_the_librarys_tokens():
    found = BPE.train([subwords.RIDDLE], 256 + 13).tokenize(subwords.TEXT)
    all_bytes, characters, tokens = subwords.tokenized()
    assert [token.text for token in tokens] == found.tokens
    assert [token.id for token in tokens] == found.ids
    assert bytes(byte.number for byte in all_bytes) == subwords.TEXT.encode()
    assert "".join(character.text for character in characters) == subwords.TEXT
    for token in tokens:  # each stands over its own bytes
        assert token.text == "".join(byte.shown for byte in all_bytes[token.start : token.end])
    shown = texts(draw("bytes_to_tokens").svg())
    assert all(str(i) in shown for i in found.ids) and set(found.tokens) <= set(shown)


BERTS = WordPiece.load(minilm.checkpoint() / "vocab.txt")


def test_the_reader_tries_what_it_would_try_with_all_of_berts_tokens():
    for word in (wordpiece.WORD, *wordpiece.PRAISE):
        places = wordpiece.walk(word, wordpiece.VOCABULARY)
        assert places == wordpiece.walk(word, BERTS.vocabulary.ids)
        found = [wordpiece.piece(word, tries[-1]) for tries in places]
        if not places[-1][-1].fits:
            found = ["[UNK]"]
        assert found == BERTS.tokenize(word).tokens
    assert sum(map(len, wordpiece.walk(wordpiece.WORD, wordpiece.VOCABULARY))) == 27


def test_each_try_is_a_bar_or_a_box():
    for narrow in (False, True):
        svg = draw("longest_first", narrow).svg()
        assert svg.count('height="6"') == 27 - 4
        assert {"un", "##put", "##down", "##able"} <= set(texts(svg))


def test_messages_are_cut_as_the_chapters_tokenizers_cut_them():
    byte_pairs = BPE.train(python_manual(docstrings=False), vocab_size=4000)
    for message, drawn in zip(wordpiece.MESSAGES, wordpiece.BYTE_PAIRS, strict=True):
        assert byte_pairs.tokenize(message).tokens == drawn.split()
        assert BERTS.tokenize(message).tokens == wordpiece.BERTS.split()
    first, second = (drawn.split() for drawn in wordpiece.BYTE_PAIRS)
    differ = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    assert differ == list(range(11))[wordpiece.DIFFER]
