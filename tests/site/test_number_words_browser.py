"""The translators of number words in the page: their tokens, scores and beams are the library's, and a
word that they do not know is named.
"""

import random

import axe
import pytest
import torch
from live_page import figure, file_name

from lectures_lib import data, decoding, stored
from lectures_lib.data.words import UNK

pytestmark = pytest.mark.browser
TITLE, BEAM = "Your sentence, translated", "A beam that grows and is pruned"
HALF, LONG = stored.NUMBER_WORDS
NUMBERS = {LONG: "Numbers, English → German", HALF: f"Numbers, after {HALF} steps"}
TOLERANCE = 1e-4  # the same single-precision numbers, summed in another order
STRANGE = [
    "",
    " , ,, ",
    "Three, 17; twenty_one—two!",
    "siebenhundertsieben,hunderteins undzwanzig",
    "elfelf elfe zwölfund",
    "½ ² Ⅷ x1 naïve Æ",
    "😀 שלום مرحبا 漢字",
    "<s> five </s> <unk>",
    "nine\u00a0nine\u200bnine\u2028ten",
]
CUT = """async (texts) => {
  const { Words } = await import("/live/tokens.js");
  window.words ??= new Words(await (await fetch("/live/models/number_words.json")).json());
  return texts.map((text) => words.cut(text));
}"""


def random_lists(n):
    """In both languages; in half of them numbers are larger than the models know."""
    rng, pairs = random.Random(0), []
    for highest in (999, 999_999):
        pairs += data.number_words("train", counts=(1, 2, 3, 5), size=n // 2, highest=highest)
    return [pair[rng.choice(["en", "de"])] for pair in pairs]


def test_texts_are_cut_as_in_the_library(computing):
    texts = STRANGE + random_lists(200)
    for text, found in zip(texts, computing.evaluate(CUT, texts), strict=True):
        assert found == data.number_tokens(text), repr(text)


def test_words_become_the_same_ids_and_come_back_and_unknown_ones_are_named(computing):
    _, words = stored.number_words()
    computing.evaluate(CUT, [])
    texts = STRANGE + random_lists(200)
    found = computing.evaluate(
        """(texts) => texts.map((text) => {
          try { const ids = words.encode(text); return [ids, words.decode([1, ...ids, 2, 5])]; }
          catch ({ message }) { return message; }
        })""",
        texts,
    )
    refused = 0
    for text, given in zip(texts, found, strict=True):
        cut = data.number_tokens(text)
        ids = words.encode(cut)
        unknown = [word for word, number in zip(cut, ids, strict=True) if number == UNK]
        if not cut:
            assert given == "there is no word in your text"
        elif unknown:
            refused += 1
            said, listed = given.split(". It knows ")
            assert said == f"the model does not know the word “{unknown[0]}”"
            near = listed.rstrip(".").split("among them ")[1].split(", ")
            assert len(near) == 5 and set(near) <= set(words.words[4:])
        else:
            assert given == [ids, " ".join(words.decode(ids))]
    assert 20 < refused < len(texts) - 20


def test_words_are_offered_that_look_like_the_unknown_one(computing):
    computing.evaluate(CUT, [])
    for typed, meant in (("seventen", "seventeen"), ("zwolf", "zwölf"), ("fourty", "forty")):
        said = computing.evaluate(
            "(text) => { try { words.encode(text); } catch ({ message }) { return message; } }",
            f"two, {typed}",
        )
        assert f"“{typed}”" in said and f"among them {meant}, " in said


@torch.no_grad()
@pytest.mark.parametrize("steps", stored.NUMBER_WORDS)
def test_the_scores_are_the_librarys(computing, steps):
    model, words = stored.number_words(steps)
    generator = torch.Generator().manual_seed(3)
    for n in (1, 9, 40):
        source, target = (torch.randint(3, len(words), (1, n), generator=generator) for _ in "ab")
        found = computing.evaluate(
            """async ([name, source, target]) => {
              const model = await live.load("Transformer", name), state = model.start(source);
              return target.map((id) => Array.from(model.step(id, state).scores));
            }""",
            [f"number_words_{steps}", source[0].tolist(), target[0].tolist()],
        )
        expected = model(source, target)[0]
        assert torch.allclose(torch.tensor(found), expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("steps", stored.NUMBER_WORDS)
def test_random_lists_are_translated_as_in_the_library(computing, steps):
    model, words = stored.number_words(steps)
    pairs = data.number_words("test", counts=(1, 2, 3, 5), size=40)
    sources = [words.encode(data.number_tokens(pair["en"]), eos=True) for pair in pairs]
    found = decoding.greedy(
        model, *data.pad(sources), begin=data.BOS, end=data.EOS, max_len=60,
        never=(data.PAD, data.BOS),
    )  # fmt: skip
    told = computing.evaluate(
        """async ([name, sources]) => {
          const model = await live.load("Transformer", name);
          return sources.map((source) => {
            const state = model.start(source), written = [];
            while (written.at(-1) !== 2 && written.length < 60) {
              const { scores } = model.step(written.at(-1) ?? 1, state);
              written.push(live.largest(live.shares(scores, { never: [0, 1] }), 1)[0]);
            }
            return written;
          });
        }""",
        [f"number_words_{steps}", sources],
    )
    assert [words.decode(ids) for ids in told] == [words.decode(ids) for ids in found.sentences()]


@pytest.mark.parametrize(("width", "alpha"), [(1, 0.6), (3, 0.0), (6, 1.0)])
@pytest.mark.parametrize("steps", stored.NUMBER_WORDS)
def test_the_beam_is_the_librarys(computing, steps, width, alpha):
    model, words = stored.number_words(steps)
    text = data.number_tokens("three, seventeen, one hundred and two")
    source = words.encode(text, eos=True)
    marks = {"begin": data.BOS, "end": data.EOS, "never": (data.PAD, data.BOS)}
    found, _ = decoding.n_best(
        model, torch.tensor([source]), width=width, alpha=alpha, max_len=30, **marks
    )
    told = computing.evaluate(
        """async ([name, source, options]) => {
          const { beam } = await import("/live/beam.js");
          return [...beam(await live.load("Transformer", name), source, options)].at(-1).finished;
        }""",
        [
            f"number_words_{steps}",
            source,
            {**marks, "never": [data.PAD, data.BOS], "width": width, "alpha": alpha, "longest": 30},
        ],
    )
    for one, tokens, score in zip(told, found.tokens[0], found.scores[0], strict=True):
        assert words.decode(one["tokens"]) == words.decode(tokens.tolist())
        assert one["score"] == pytest.approx(float(score), abs=1e-3)


def translate(box, text, steps=LONG):
    box.get_by_label("Direction").select_option(NUMBERS[steps])
    box.get_by_label("Your sentence").fill(text)
    box.get_by_role("button", name="Translate").click()
    done = box.locator(".lv-found:not([hidden]) .lv-candidates li, .lv-status.lv-wrong")
    done.first.wait_for()
    return box.locator(".lv-translation").inner_text()


def german(text, steps=LONG):
    model, words = stored.number_words(steps)
    source = words.encode(data.number_tokens(text.lower()), eos=True)
    found = decoding.greedy(
        model, torch.tensor([source]), begin=data.BOS, end=data.EOS, max_len=len(source) + 50
    )
    return " ".join(words.decode(found.sentences()[0]))


def test_a_readers_list_is_translated_in_small_letters(live):
    page = live(390, has_touch=True, is_mobile=True, only="translator")
    box = figure(page, TITLE)
    for steps in (LONG, HALF):
        for text in ("Three, seventeen, One Hundred and Two", "zero; zero, zero!"):
            assert translate(box, text, steps) == german(text, steps)
    sources = box.get_by_role("list", name="Tokens of the source").locator("li").all_inner_texts()
    assert sources == ["zero", "zero", ",", "zero", "</s>"]
    asked = {file_name(url) for url in page.asked if "/models/" in url}
    assert asked == {"number_words.json", *(f"number_words_{n}.safetensors" for n in (HALF, LONG))}
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_each_model_has_its_own_layers(live):
    box = figure(live(only="translator"), TITLE)
    layers = box.get_by_label("Attention of").locator("option")
    for name, expected in (("German → English", 4), (NUMBERS[LONG], 2), (NUMBERS[HALF], 2)):
        box.get_by_label("Direction").select_option(name)
        assert layers.all_inner_texts() == [
            "all layers", *(f"layer {layer}" for layer in range(expected))
        ]  # fmt: skip
    translate(box, "five, six")
    box.get_by_label("Attention of").select_option("layer 1")
    assert "mean of 4 heads" in box.locator(".lv-about").inner_text()


def test_the_list_stays_when_another_model_shall_read_it(live):
    box = figure(live(only="translator"), TITLE)
    field = box.get_by_label("Your sentence")
    caption = field.input_value()
    box.get_by_label("Direction").select_option(NUMBERS[LONG])
    first = field.input_value()
    assert first != caption
    box.locator(".lv-examples button").nth(1).click()
    second = field.input_value()
    assert second != first
    box.get_by_label("Direction").select_option(NUMBERS[HALF])
    assert field.input_value() == second
    box.get_by_label("Direction").select_option("German → English")
    assert field.input_value() == caption


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("three, 17", "“17”"),
        ("two thousand", "“thousand”"),
        ("Ein Hund.", "“hund”"),
        ("x" * 2000, "“" + "x" * 30 + "…”"),
        ("😀👩‍🚀 " * 30, "there is no word in your text"),
        ("שלום עולם", "“שלום”"),
        ("nine " * 1100, None),
    ],
    ids=lambda one: str(one)[:9],
)
def test_what_the_model_does_not_know_is_named(live, text, said):
    page = live(390, has_touch=True, is_mobile=True, only="translator")
    box = figure(page, TITLE)
    translate(box, text)
    status = box.get_by_role("status").inner_text()
    if said is None:  # 2,000 letters of them: 400 words, which it reads
        assert "That did not work" not in status
        assert box.locator("[aria-label='Tokens of the translation'] li").count() > 0
    else:
        assert status.startswith("That did not work: ") and said in status
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_download_that_fails_is_said_and_can_be_tried_again(live):
    page = live(only="translator")
    box = figure(page, TITLE)
    page.context.route("**/models/**", lambda route: route.fulfill(status=503))
    translate(box, "five, six")
    assert "could not be fetched (503)" in box.get_by_role("status").inner_text()
    page.context.unroute("**/models/**")
    assert translate(box, "five, six") == "fünf , sechs"


def test_the_beam_of_a_list_grows(live):
    page = live(390, has_touch=True, is_mobile=True, only="beams")
    box = figure(page, BEAM)
    for steps in (HALF, LONG):
        box.get_by_label("Direction").select_option(NUMBERS[steps])
        box.get_by_label("Your sentence").fill("Twelve, forty")
        box.get_by_role("button", name="Search").click()
        box.locator(".lv-status:empty").wait_for(state="attached")
        assert box.locator(".lv-finished tbody tr").count() == 3
    assert box.locator(".lv-finished tbody td").first.inner_text() == "zwölf , vierzig"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_axe_finds_nothing(live):
    page = live(only="translator")
    box = figure(page, TITLE)
    for text in ("five, six", "five sixx"):
        translate(box, text)
        assert axe.by_day_and_night(page, ".live") == []
