"""Labels stand at the first pieces of their words, answers at their pieces, whatever is cut off;
spans never leave the context.
"""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from lectures_lib.models.minilm import checkpoint
from lectures_lib.tasks.alignment import (
    align,
    context_places,
    find_answer,
    quote,
    read,
    read_question,
    read_words,
    words_of,
)
from lectures_lib.tasks.task_heads import UNLABELLED
from lectures_lib.tokenization import WordPiece

WORDPIECE = WordPiece.load(checkpoint() / "vocab.txt")
CLS, SEP, UNK = (WORDPIECE.token_id(name) for name in ("[CLS]", "[SEP]", "[UNK]"))


def their_tokenizer(max_len, strategy="longest_first"):
    peer = Tokenizer.from_file(str(checkpoint() / "tokenizer.json"))
    peer.no_padding()
    peer.enable_truncation(max_len, strategy=strategy)
    return peer


@pytest.mark.parametrize("max_len", [5, 9, 12, 512])
def test_texts_and_pairs_equal_the_tokenizers_library(max_len):
    for first, second in [
        ("A café in Reykjavík!", None),
        ("the unaffable cat", "on a mat"),
        ("one", "flightless birds, they say, walk"),
    ]:
        ours = read(WORDPIECE, first, second, max_len)
        theirs = their_tokenizer(max_len).encode(first, second)
        if max_len == 512:
            assert (ours.ids, ours.segments) == (theirs.ids, theirs.type_ids)
        assert len(ours.ids) <= max_len and ours.ids[0] == CLS and ours.ids[-1] == SEP
        texts = (first, second)
        for i, segment, span in zip(*ours, strict=True):
            if span is not None:
                assert WORDPIECE.vocabulary.tokens[i].removeprefix("##") == clean(
                    texts[segment][slice(*span)]
                )
        assert [i for i, span in zip(ours.ids, ours.spans, strict=True) if span is None] == [
            CLS,
            SEP,
            SEP,
        ][: 2 if second is None else 3]


def clean(text):
    return "".join(word for word, _ in WORDPIECE.basic.words(text))


def test_the_longer_text_is_cut():
    cut = read(WORDPIECE, "one two three four five six", "seven eight", 8)
    assert WORDPIECE.decode(cut.ids) == "[CLS] one two three [SEP] seven eight [SEP]"


def test_only_the_context_of_a_question_is_cut():
    cut = read_question(WORDPIECE, "one two three four five six", "seven eight nine ten", 11)
    assert WORDPIECE.decode(cut.ids) == "[CLS] one two three four five six [SEP] seven eight [SEP]"
    assert cut.segments == [0] * 8 + [1] * 3 and cut.spans[-3:] == [(0, 5), (6, 11), None]
    theirs = their_tokenizer(11, "only_second").encode(
        "one two three four five six", "seven eight nine ten"
    )
    assert (cut.ids, cut.segments) == (theirs.ids, theirs.type_ids)
    assert read_question(WORDPIECE, "one", "two", 512) == read(WORDPIECE, "one", "two")


def test_a_text_of_unknown_words_is_read_as_such():
    assert read(WORDPIECE, "☃☃ ☄").ids == [CLS, UNK, UNK, SEP]
    assert read_words(WORDPIECE, ["☃", "\u200d", "ok"]).starts == [1, 2, 3]
    assert read_words(WORDPIECE, ["☃", "\u200d", "ok"]).ids[1:3] == [UNK, UNK]


def test_labels_by_hand():
    words = read_words(WORDPIECE, ["flightless", "Reykjavík", "!"])
    pieces = [WORDPIECE.vocabulary.tokens[i] for i in words.ids]
    assert pieces == ["[CLS]", "flight", "##less", "reykjavik", "!", "[SEP]"]
    assert align(words, [7, 8, 9]) == [UNLABELLED, 7, UNLABELLED, 8, 9, UNLABELLED]
    assert words_of(words, [0, 7, 1, 8, 9, 0]) == [7, 8, 9]
    cut = read_words(WORDPIECE, ["flightless", "Reykjavík", "!"], 3)
    assert cut.starts == [1, None, None] and align(cut, [7, 8, 9]) == [UNLABELLED, 7, UNLABELLED]
    assert words_of(cut, [0, 7, 0], cut_off=5) == [7, 5, 5]


WORDS = st.lists(
    st.text(st.sampled_from("aBé-'☃漢 \u200dxyz9"), min_size=0, max_size=12),
    min_size=1,
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(WORDS, st.integers(3, 40))
def test_every_word_that_is_read_has_its_label_at_its_first_piece(words, max_len):
    found = read_words(WORDPIECE, words, max_len)
    labels = list(range(len(words)))
    aligned = align(found, labels)
    assert len(found.ids) == len(found.segments) == len(aligned) <= max_len
    assert found.ids[0] == CLS and found.ids[-1] == SEP and aligned[0] == aligned[-1] == UNLABELLED
    expected = []  # piece by piece, the slow way
    for label, word in zip(labels, words, strict=True):
        pieces = WORDPIECE.encode(word) or [UNK]
        expected += [(piece, label if k == 0 else UNLABELLED) for k, piece in enumerate(pieces)]
    assert list(zip(found.ids, aligned, strict=True))[1:-1] == expected[: max_len - 2]
    kept = [label for label in aligned if label != UNLABELLED]
    assert kept == labels[: len(kept)]  # what is cut off is cut off at the end
    assert words_of(found, [max(label, 0) for label in aligned], cut_off=-1) == [
        *kept,
        *[-1] * (len(words) - len(kept)),
    ]


TEXTS = st.text(st.sampled_from("ab é'.漢 Zz9"), min_size=1, max_size=40)


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS, st.integers(0, 39), st.integers(1, 40), st.integers(0, 40))
def test_answers_come_back_and_never_leave_the_context(question, context, start, length, spare):
    answer = context[start : start + length]
    assume(clean(question) and clean(context) and answer.strip())
    n_question = len(WORDPIECE.encode(question))
    pair = read_question(WORDPIECE, question, context, n_question + 4 + spare)
    places = context_places(pair)
    assert len(pair.ids) <= n_question + 4 + spare
    # not in the question, not in [SEP]
    assert places == list(range(n_question + 2, len(pair.ids) - 1))
    whole = WORDPIECE.tokenize(context).offsets
    touched = [i for i, (a, b) in enumerate(whole) if a < start + len(answer) and b > start]
    first, last = find_answer(pair, context, start, answer)
    if touched[-1] < len(places):
        assert (first, last) == (places[touched[0]], places[touched[-1]])
        assert (
            quote(pair, context, first, last)
            == context[whole[touched[0]][0] : whole[touched[-1]][1]]
        )
        assert answer.strip() in quote(pair, context, first, last)
    else:
        assert (first, last) == (0, 0)  # cut off
        assert quote(pair, context, 0, 0) == ""


def test_an_answer_inside_a_word_takes_the_whole_piece():
    context = "It was founded in 1890s style by flightless birds."
    pair = read_question(WORDPIECE, "When?", context)
    assert (
        quote(pair, context, *find_answer(pair, context, context.index("1890"), "1890")) == "1890s"
    )
    assert (
        quote(pair, context, *find_answer(pair, context, context.index("less"), "less birds"))
        == "less birds"
    )


# [CLS] who ? [SEP] they say [SEP]
CUT = read_question(WORDPIECE, "Who?", "They say that birds walk.", 7)


def test_an_answer_that_was_cut_off_is_none():
    context = "They say that birds walk."
    assert find_answer(CUT, context, 0, "They say") == (4, 5)
    assert find_answer(CUT, context, 5, "say that") == (0, 0)
    assert find_answer(CUT, context, 14, "birds") == (0, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: read(WORDPIECE, ""), r"the first text has no words to read: '' \(0 characters\)"),
        (
            lambda: read(WORDPIECE, "a", " \u200d "),
            r"the second text has no words to read: ' .u200d ' \(3 characters\)",
        ),
        (lambda: read(WORDPIECE, "a", None, 2), "max_length of 3, got 2"),
        (lambda: read_words(WORDPIECE, []), "got 0 words"),
        (lambda: read_words(WORDPIECE, ["a"], 2), "max_len = 2"),
        (lambda: align(read_words(WORDPIECE, ["a", "b"]), [1]), "got 1 labels for 2 words"),
        (
            lambda: read_question(WORDPIECE, "one two three", "four", 6),
            "question of 3 pieces.* in 6",
        ),
        (lambda: read_question(WORDPIECE, "one", " "), "the second text has no words"),
        (
            lambda: find_answer(CUT, "They say that birds walk.", 5, "sat"),
            "'sat' is not in the context at character 5: there stands 'say'",
        ),
        (
            lambda: find_answer(CUT, "They say that birds walk.", -1, "They"),
            "not in the context at character -1",
        ),
        (
            lambda: find_answer(CUT, "They say that birds walk.", 20, "walk. On"),
            "there stands 'walk.'",
        ),
        (lambda: find_answer(CUT, "They say that birds walk.", 4, " "), "not in the context"),
        (
            lambda: quote(CUT, "They say", 1, 4),
            "a piece of the context, 4 … 5, to a later one, got 1 to 4",
        ),
        (lambda: quote(CUT, "They say", 5, 4), "got 5 to 4"),
        (lambda: quote(CUT, "They say", 4, 6), "got 4 to 6"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call()
