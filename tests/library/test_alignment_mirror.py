"""Every word of WNUT-17 and UD English keeps its label, and every answer of SQuAD its pieces, on
real text from a mirror of the data.
"""

import pytest
from tokenizers import Tokenizer

from lectures_lib import data
from lectures_lib.metrics import normalise_answer
from lectures_lib.models.minilm import checkpoint
from lectures_lib.tasks.alignment import (
    align,
    context_places,
    find_answer,
    quote,
    read_question,
    read_words,
    words_of,
)
from lectures_lib.tasks.task_heads import UNLABELLED
from lectures_lib.tokenization import WordPiece

pytestmark = [
    pytest.mark.mirror(
        *(data.TASKS[task].real[0] for task in ("entities", "treebank", "questions"))
    ),
    pytest.mark.usefixtures("shapes_unchecked"),
]
WORDPIECE = WordPiece.load(checkpoint() / "vocab.txt")


@pytest.mark.parametrize("max_len", [512, 24])
@pytest.mark.parametrize(
    ("task", "split", "at_least"),
    [
        (t, s, n)
        for t, n in (("entities", 1000), ("treebank", 2000))
        for s, n in [("train", 3 * n), ("validation", n), ("test", n)]
    ],
)
def test_every_word_keeps_its_label(task, split, at_least, max_len):
    peer = Tokenizer.from_file(str(checkpoint() / "tokenizer.json"))
    peer.no_padding()
    peer.enable_truncation(max_len)
    rows = data.load(task, split, "real")
    assert len(rows) >= at_least
    cut = 0
    for row in rows:
        words = row["words"]
        found = read_words(WORDPIECE, words, max_len)
        labels = align(found, range(len(words)))
        for number, (word, start) in enumerate(zip(words, found.starts, strict=True)):
            if start is None:
                cut += 1
                assert len(found.ids) == max_len and all(
                    later is None for later in found.starts[number:]
                )
                continue
            pieces = WORDPIECE.encode(word) or [WORDPIECE.token_id("[UNK]")]
            assert (
                found.ids[start : min(start + len(pieces), max_len - 1)]
                == pieces[: max_len - 1 - start]
            )
            assert labels[start] == number
        kept = [label for label in labels if label != UNLABELLED]
        assert kept == list(range(len(kept))) and len(kept) == sum(
            start is not None for start in found.starts
        )
        assert words_of(found, labels, cut_off=-1) == [*kept, *[-1] * (len(words) - len(kept))]
        # the other library has no piece for a word that is cleaned away
        if all(WORDPIECE.encode(word) for word in words):
            theirs = peer.encode(words, is_pretokenized=True)
            assert found.ids == theirs.ids
            first = [
                w is not None and (i == 0 or w != theirs.word_ids[i - 1])
                for i, w in enumerate(theirs.word_ids)
            ]
            assert labels == [
                w if f else UNLABELLED for w, f in zip(theirs.word_ids, first, strict=True)
            ]
    assert (cut > 0) == (max_len == 24)


@pytest.mark.parametrize("max_len", [384, 64])
def test_every_answer_keeps_its_pieces(max_len):
    found = lost = 0
    for row in data.load("questions", "validation", "real")[::5]:
        question, context = row["question"], row["context"]
        pair = read_question(WORDPIECE, question, context, max_len)
        places = context_places(pair)
        assert (
            len(pair.ids) <= max_len
            and min(places) == pair.segments.count(0)
            and max(places) == len(pair.ids) - 2
        )
        for answer in row["answers"]:
            first, last = find_answer(pair, context, answer["start"], answer["text"])
            if (first, last) == (0, 0):
                lost += 1
                continue
            found += 1
            assert first in places and last in places
            quoted = quote(pair, context, first, last)
            assert answer["text"].strip() in quoted
            assert len(quoted) - len(answer["text"].strip()) < 12 or normalise_answer(
                quoted
            ) == normalise_answer(answer["text"])
    assert found > (6_000 if max_len == 384 else 1_000) and (lost < 0.05 * found) == (
        max_len == 384
    )
