"""The models that translate lists of number words, and the words that they know."""

import json
import re

import pytest
import torch

from lectures_lib import data, decoding, metrics, stored
from lectures_lib.data.numbers import GERMAN_PARTS

HALF, LONG = stored.NUMBER_WORDS
KEPT = json.loads((stored.FOLDER / "number_words.json").read_text(encoding="utf-8"))


def cut(pairs):
    return [tuple(data.number_tokens(pair[side]) for side in ("en", "de")) for pair in pairs]


def share_right(steps, count, size=200):
    """Of unseen lists of so many numbers, those that the model translates without a mistake."""
    model, words = stored.number_words(steps)
    pairs = cut(data.number_words("test", counts=(count,), size=size))
    sources, lengths = data.pad([words.encode(english, eos=True) for english, _ in pairs])
    found = decoding.greedy(
        model, sources, lengths, begin=data.BOS, end=data.EOS, max_len=10 * count + 10
    )
    said = [words.decode(ids) for ids in found.sentences()]
    return metrics.exact_match(said, [german for _, german in pairs])


def test_the_words_are_the_chapters():
    pairs = cut(data.load("translation", counts=(1, 2), size=20_000))
    built = data.WordVocabulary.build(side for pair in pairs for side in pair)
    for steps in stored.NUMBER_WORDS:
        assert stored.number_words(steps)[1].words == built.words


def test_the_parts_of_a_page_are_the_librarys():
    assert KEPT["parts"] == GERMAN_PARTS
    texts = ["siebenhundertsieben", "hunderteins, null", "hundert und eins", "elfe", "sechsig"]
    for text in texts:
        words = []
        for word in re.findall(r"\w+|,", text):
            parts = re.findall("|".join(KEPT["parts"]), word)
            words += parts if "".join(parts) == word else [word]
        assert words == data.number_tokens(text)


def test_they_have_the_chapters_sizes():
    for steps in stored.NUMBER_WORDS:
        model, words = stored.number_words(steps)
        config = model.config
        assert (config.d_model, config.n_heads, config.n_layers, config.d_ff) == (64, 4, 2, 256)
        assert config.vocab_size == len(words) and config.pre_norm and not model.training
        assert (stored.FOLDER / f"number_words_{steps}.safetensors").stat().st_size < 500_000


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_longer_trained_one_is_right_of_lists_as_long_as_it_has_seen(count):
    assert share_right(LONG, count) > 0.97


def test_what_it_has_not_been_trained_on_it_cannot():
    assert share_right(LONG, 6) < 0.5
    assert 0.3 < share_right(HALF, 2) < 0.8 and share_right(HALF, 3) < 0.1


@torch.no_grad()
def goes_on(text, begun=""):
    """What the longer trained one writes greedily, behind words that somebody else chose."""
    model, words = stored.number_words()
    source = torch.tensor([words.encode(data.number_tokens(text), eos=True)])
    written = words.encode(begun.split(), bos=True)
    while written[-1] != data.EOS and len(written) < 40:
        written.append(int(model(source, torch.tensor([written]))[0, -1].argmax()))
    return " ".join(words.decode(written))


def test_of_five_numbers_it_says_four():
    """What chapter 8 and the page "Type your own" say of lists longer than it was trained on."""
    model, words = stored.number_words()
    pairs = cut(data.number_words("test", counts=(5,), size=200))
    sources = data.pad([words.encode(english, eos=True) for english, _ in pairs])
    found = decoding.greedy(model, *sources, begin=data.BOS, end=data.EOS, max_len=60)
    four = [words.decode(ids).count(",") == 3 for ids in found.sentences()]
    assert sum(four) / len(four) > 0.8
    longest = data.number_words("train", counts=(1, 2, 3, 4), size=100_000)
    for side in ("en", "de"):
        assert max(len(data.number_tokens(pair[side])) for pair in longest) == 23
    assert goes_on("one, two, three, four, five") == "eins , zwei , drei , vier , fünf"
    assert goes_on("one, two, three, four, five, six") == "eins , zwei , drei , vier , sechs"
    long = (
        "nine hundred and seventy-one, one hundred and thirty-nine, three hundred and ninety-four"
    )
    said = goes_on(f"{long}, seven hundred and seventy, five hundred and seventy-nine")
    assert said.split(" , ")[3:] == ["sieben hundert neun und siebzig"]


def test_a_wrong_word_does_not_lead_it_astray():
    """What the page "Type your own" says."""
    text = "one hundred and eighty-two, four hundred and four"
    begun = "ein hundert zwei und achtzig , neun"
    assert goes_on(text, begun) == f"{begun} hundert vier"
    assert goes_on(text, "ein hundert drei") == "ein hundert drei und achtzig , vier hundert vier"


def test_a_beam_finds_what_the_beginner_misses():
    """The first list of the page's beam, as chapter 9 tells it."""
    model, words = stored.number_words(HALF)
    text = "one hundred and eighty-two, four hundred and four"
    source = torch.tensor([words.encode(data.number_tokens(text), eos=True)])

    def said(width, alpha=0.6):
        marks = {"begin": data.BOS, "end": data.EOS, "max_len": 60, "never": (data.PAD, data.BOS)}
        found = decoding.beam(model, source, width=width, alpha=alpha, **marks)
        return " ".join(words.decode(found.sentences()[0]))

    right = "ein hundert zwei und achtzig , vier hundert vier"
    assert said(2) == said(3) == said(3, 0.0) == said(6) == right
    assert said(1).startswith(f"{right} und vier und vier und vier")
    assert said(3, 2.0) == f"{right} und achtzig"


def test_a_model_is_read_once_whichever_way_it_is_asked_for():
    assert stored.number_words() is stored.number_words(LONG)
    assert stored.number_words(HALF)[0] is not stored.number_words()[0]


def test_another_number_of_steps_is_refused():
    with pytest.raises(ValueError, match="after 7"):
        stored.number_words(7)
