"""Which words a translator met: none that it met is missed, hardly one that it did not is let
through, and what was measured with them stands in the results.
"""

import random
import string

import pytest

from lectures_lib import data, results, stored
from lectures_lib.stored import met_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Zwei Hunde, im Schnee!", ["zwei", "hunde", ",", "im", "schnee", "!"]),
        ("naïve e\u0301 x2", ["naïve", "e\u0301", "x2"]),
        ("a-b_c 😀", ["a", "-", "b", "_", "c", "😀"]),
        ("\u2764\ufe0f 1\u20e3", ["\u2764", "1\u20e3"]),  # marks behind a sign, and behind a digit
        (" \n", []),
    ],
)
def test_a_text_is_words_and_signs(text, words):
    assert met_words.words_of(text) == words


def test_what_a_caption_is_made_of_was_met_and_other_things_were_not():
    assert met_words.unmet("Ein Mann und eine Frau gehen mit einem Hund spazieren.", "de") == []
    assert met_words.unmet("A man in a red shirt is riding a bike.", "en") == []
    assert met_words.unmet("Das Gesetz, das Gesetz 😀", "de") == ["gesetz", "😀"]
    assert met_words.unmet("Zwei Hunde", "en") == ["zwei", "hunde"]


@pytest.mark.parametrize("language", ["de", "en"])
def test_hardly_a_word_that_nobody_wrote_is_taken_for_a_met_one(language):
    rng = random.Random(0)
    drawn = {"".join(rng.choices(string.ascii_lowercase, k=12)) for _ in range(2000)}
    let_through = 1 - len(met_words.unmet(" ".join(sorted(drawn)), language)) / len(drawn)
    assert let_through < 0.015


def test_none_that_was_kept_is_missed(tmp_path, monkeypatch):
    monkeypatch.setattr(met_words, "path_of", lambda language: tmp_path / language)
    words = sorted({word for one in data.own_captions() for word in met_words.words_of(one["de"])})
    met_words.save(words, "none")
    assert met_words.unmet(" ".join(words), "none") == []
    assert met_words.unmet("gesetz", "none") == ["gesetz"]
    met_words._kept.cache_clear()


def test_what_was_measured_is_of_the_stored_models():
    found = results.load("live_range")["results"]
    assert {"-".join(one) for one in stored.DIRECTIONS} < found.keys()
    assert [found[f"numbers_{steps}"]["numbers"] for steps in stored.NUMBER_WORDS] == [2, 4]
    for one in found.values():
        assert 0 < one["share"]["rare"] < one["share"]["median"] < 1
        assert one["words"]["told"] > 0.98 if "words" in one else one["longest"] < 30
