"""The drawings of chapter 18: the number is the chapter's kind of number, the masks the library's."""

import pytest
import torch
from num2words import num2words

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.show.drawings import draw, families
from tests.helpers.drawn import holds_in_order, texts


def test_the_number_is_read_and_labelled_as_in_the_chapter():
    words = num2words(families.NUMBER).replace(" and ", " ").replace("-", " ").split()
    assert tuple(words) == families.WORDS
    first = num2words(families.NUMBER // 1000).replace(" and ", " ").split()
    rest = len(words) - len(first)
    assert families.counts_thousands() == [True] * len(first) + [False] * rest
    high = families.NUMBER // 1000
    assert families.digits() == 3 + len(str(high))


def test_the_masks_are_the_librarys():
    n = len(families.WORDS) + 1
    assert torch.equal(torch.tensor(families.sees(causal=True)), causal_mask(n))
    assert all(all(row) for row in families.sees(causal=False))


@pytest.mark.parametrize("narrow", [False, True])
def test_what_can_be_said_follows_from_what_is_seen(narrow):
    shown = texts(draw("two_readers", narrow).svg())
    said = [text for text in shown if text in ("yes", "no", "?") or text.endswith("digits")]
    full, causal = ["yes", "yes", "yes", "no", "no"], ["?", "?", "?", "no", "no"]
    assert said == [*full, "6 digits", *causal, "6 digits"]
    # as the chapter's limit counts: a word is known if "thousand" has been seen
    words = families.WORDS
    assert [says != "?" for says in families.can_say(causal=True)[:-1]] == [
        "thousand" in words[: i + 1] for i in range(len(words))
    ]


@pytest.mark.parametrize("narrow", [False, True])
def test_every_row_holds_the_words_that_it_sees(narrow):
    shown = texts(draw("two_readers", narrow).svg())
    words = [*families.WORDS, families.END]
    for i in range(len(words)):
        says = families.can_say(causal=True)[i]
        assert holds_in_order(shown, [*words[: i + 1], says])
        assert holds_in_order(shown, [*words, families.can_say(causal=False)[i]])


def hidden_cells(svg: str) -> int:
    """How many cells a mask hides."""
    return svg.count('class="f-mask s-paper"')


@pytest.mark.parametrize("narrow", [False, True])
def test_what_is_hidden_is_what_comes_later(narrow):
    n = len(families.WORDS) + 1
    assert hidden_cells(draw("two_readers", narrow).svg()) == n * (n - 1) // 2
    decoder, both = families.FAMILIES[1:]
    later = len(decoder.writes) * (len(decoder.writes) - 1) // 2
    reads, writes = len(both.reads), len(both.writes)
    unread = reads * writes + writes * (writes - 1) // 2
    assert hidden_cells(draw("three_families", narrow).svg()) == later + unread
