"""The models in the page: their numbers are the library's, and whatever a reader types has an answer
in words.
"""

import random

import axe
import computed
import pytest
import torch
from live_page import PAGE_OF, figure, file_name

from lectures_lib import stored
from lectures_lib.blocks.recording import record
from lectures_lib.decoding.cache import TransformerWithCache
from lectures_lib.decoding.sampling import keep_top_k, keep_top_p
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert
from lectures_lib.tokenization import BPE, WordPiece
from lectures_lib.training.pretraining import fill_mask

pytestmark = pytest.mark.browser
# the same single-precision numbers, summed in another order
TOLERANCE = 1e-4
STRANGE = [
    "",
    " ",
    "  two  spaces ",
    "line\n\nline\t\tend\n",
    "don't I'll we've 'sup 12 345 a1b2",
    "naïve Ærø ﬁ ½ 中文字符 שלום مرحبا",
    "👩‍👩‍👧 😀😀 \U0001f1e9\U0001f1ea",
    "a\u00a0b\u2028c\u200bd\x85e\x1cf\ufeffg",
    "<s> is no </s> tag <pad>",
    "x" * 300,
]
ALPHABETS = ["abcdefgh ABC.,'!0123\n", "äöüß éñ ", "абв λμ 漢字 ", "😀👍 \t\u3000 ½²"]


def random_text(rng: random.Random) -> str:
    return "".join(
        rng.choice(rng.choice(ALPHABETS[: rng.randint(1, len(ALPHABETS))]))
        for _ in range(rng.randint(1, 60))
    )


def test_half_precision_is_read_as_torch_reads_it(computing):
    bits = torch.arange(-(2**15), 2**15, dtype=torch.int16)
    expected = bits.view(torch.float16).float()
    found = computing.evaluate(
        "bits => bits.map(b => String(live.half(b & 0xffff)))", bits.tolist()
    )
    found = torch.tensor([float(number) for number in found])
    assert torch.equal(found.nan_to_num(7.0), expected.nan_to_num(7.0))


@pytest.mark.parametrize(
    "name", ["translator", *map("language_model_{}".format, stored.LANGUAGE_MODELS)]
)
def test_texts_become_the_same_tokens_and_come_back(computing, name):
    tokenizer = BPE.load(stored.FOLDER / f"{name}.json")
    rng = random.Random(0)
    texts = STRANGE + [random_text(rng) for _ in range(200)]
    encoded, decoded = computing.evaluate(
        """async ([name, texts]) => {
          const bpe = await live.bpe(name), ids = texts.map((text) => bpe.encode(text));
          return [ids, ids.map((some) => bpe.decode(some))];
        }""",
        [name, texts],
    )
    for text, ids, back in zip(texts, encoded, decoded, strict=True):
        assert ids == tokenizer.encode(text), repr(text)
        assert back == tokenizer.decode(ids, skip_specials=True), repr(text)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", stored.LANGUAGE_MODELS)
def test_the_language_model_is_the_librarys(computing, name, seed):
    model, _ = stored.language_model(name)
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(257, (60 + 90 * seed,), generator=generator)
    with torch.no_grad():
        expected = model(ids[None])[0]
    cut = int(torch.randint(1, len(ids), (), generator=generator))
    found = computing.evaluate(
        """async ([name, ids, cut]) => {
          const gpt = await live.load("LanguageModel", `language_model_${name}`);
          const state = gpt.start();
          return [...gpt.read(ids.slice(0, cut), state), ...gpt.read(ids.slice(cut), state)].map((row) => Array.from(row));
        }""",
        [name, ids.tolist(), cut],
    )
    assert torch.allclose(torch.tensor(found), expected, rtol=0, atol=TOLERANCE)


@torch.no_grad()
@pytest.mark.parametrize("direction", stored.DIRECTIONS)
def test_the_translator_is_the_librarys(computing, direction):
    model = stored.translator(*direction).model
    generator = torch.Generator().manual_seed(1)
    source, target = (torch.randint(3, 5000, (1, n), generator=generator) for n in (17, 23))
    expected = model(source, target)[0]
    found = computing.evaluate(
        """async ([name, source, target]) => {
          const model = await live.load("Transformer", name), state = model.start(source);
          const steps = target.map((id) => model.step(id, state));
          return [steps.map(({ scores }) => Array.from(scores)),
                  steps.map(({ attention }) => attention.map((heads) => heads.map((row) => Array.from(row))))];
        }""",
        ["translator_{}_{}".format(*direction), source[0].tolist(), target[0].tolist()],
    )
    scores, attention = map(torch.tensor, found)
    assert torch.allclose(scores, expected, rtol=0, atol=TOLERANCE)
    cached = TransformerWithCache(model)
    now, looked = cached.start(source), []
    for token in target[0]:
        now = cached.step(token[None], now.state, return_weights=True)
        looked.append(now.attention[0])
    assert torch.allclose(attention, torch.stack(looked), rtol=0, atol=TOLERANCE)


def test_shares_are_those_of_the_library(computing):
    generator = torch.Generator().manual_seed(2)
    scores = 3 * torch.randn(1, 40, generator=generator)
    for temperature, k, p in ((1, None, 1.0), (0.4, 5, 1.0), (1.7, None, 0.7), (0.9, 20, 0.5)):
        logits = scores / temperature
        logits = logits if k is None else keep_top_k(logits, k)
        expected = keep_top_p(logits, p).softmax(dim=-1)[0]
        options = {"temperature": temperature, "topK": k or 1e9, "topP": p}
        found = computing.evaluate(
            "([scores, options]) => Array.from(live.shares(Float32Array.from(scores), options))",
            [scores[0].tolist(), options],
        )
        assert torch.allclose(torch.tensor(found), expected, atol=1e-6)


def test_draws_follow_the_shares(computing):
    found = computing.evaluate(
        """shares => {
          const n = 10000, counts = shares.map(() => 0);
          for (let i = 0; i < n; i++) counts[live.draw(shares, () => (i + 0.5) / n)] += 1 / n;
          return counts;
        }""",
        [0.1, 0.55, 0.0, 0.35],
    )
    assert found == pytest.approx([0.1, 0.55, 0.0, 0.35], abs=1e-3)


def translate(page, text):
    box = figure(page, "Your sentence, translated")
    box.get_by_label("Your sentence").fill(text)
    box.get_by_role("button", name="Translate").click()
    return box


def translation(box):
    """The translation, once it is whole."""
    box.locator(".lv-candidates li").first.wait_for()
    return box.locator(".lv-translation").inner_text()


def test_nothing_of_a_model_is_fetched_before_the_reader_asks(live):
    page = live(path=PAGE_OF["translator"])
    page.wait_for_load_state("networkidle")
    assert not [url for url in page.asked if "/models/" in url or "worker" in url]
    translation(translate(page, "Ein Hund."))
    fetched = sorted(file_name(url) for url in page.asked if "/models/" in url)
    assert fetched == [
        "translator.json",
        "translator_de_en.safetensors",
        "translator_words_de.safetensors",
    ]


@pytest.mark.parametrize("direction", stored.DIRECTIONS)
def test_sentences_are_translated_as_in_the_library(live, direction):
    page = live(only="translator")
    box = figure(page, "Your sentence, translated")
    box.get_by_label("Direction").select_option(str(stored.DIRECTIONS.index(direction)))

    texts = {
        "de": ["Zwei Hunde spielen im Schnee.", "Ein Kind mit rotem Ball", "Quatsch 😀!"],
        "en": ["A man is riding a bike.", "Nobody knows the colour of politics.", "dog"],
    }[direction[0]]

    for text in texts:
        (expected,) = stored.translator(*direction)([text])
        assert translation(translate(page, text)).strip() == expected.strip()


def test_another_word_is_chosen_and_the_sentence_goes_on_from_it(live):
    page = live(only="translator")
    box = translate(page, "Zwei Hunde spielen im Schnee.")
    before = translation(box)
    box.locator(".lv-candidates button").nth(2).click()
    box.locator(".lv-forced").wait_for()
    after = translation(box)
    assert after != before
    box.get_by_label("Attention of").select_option("layer 2")
    assert "mean of 4 heads" in box.locator(".lv-about").inner_text()
    shares = box.locator("[aria-label='Tokens of the source'] li").evaluate_all(
        "items => items.map(item => Number(item.style.getPropertyValue('--share')))"
    )
    assert sum(shares) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    "text", ["x" * 2000, "😀" * 300, "שלום עולם", "مرحبا", "a\n\nb"], ids=lambda t: t[:8]
)
def test_whatever_is_typed_has_an_answer(live, text):
    page = live(390, has_touch=True, is_mobile=True, only="translator")
    box = translate(page, text)
    done = box.locator(".lv-found:not([hidden]) .lv-candidates li, .lv-status.lv-wrong")
    done.first.wait_for(timeout=120_000)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if len(text) > 100:  # more tokens than the model has positions: that is said
        assert "1024 positions" in box.locator(".lv-status").inner_text()
    else:
        assert box.locator("[aria-label='Tokens of the translation'] li").count() > 0


def test_a_download_that_fails_is_said_and_can_be_tried_again(live):
    page = live(only="translator")
    page.context.route("**/models/**", lambda route: route.fulfill(status=503))
    box = translate(page, "Ein Hund.")
    box.locator(".lv-status.lv-wrong").wait_for()
    assert "could not be fetched (503)" in box.get_by_role("status").inner_text()
    page.context.unroute("**/models/**")
    assert translation(translate(page, "Ein Hund."))


def test_the_writer_goes_on_and_stops(live):
    page = live(only="writer")
    play = figure(page, "A play that you begin")
    text = play.get_by_label("Your beginning")
    text.fill("JULIET:\n")
    play.get_by_role("button", name="Write on").click()
    page.wait_for_function("() => document.querySelector('.lv-play').value.length > 40")
    play.get_by_role("button", name="Stop").click()
    play.locator(".lv-candidates li").first.wait_for()
    assert text.input_value().startswith("JULIET:\n")
    length = len(text.input_value())
    play.locator(".lv-candidates button").first.click()
    assert len(text.input_value()) == length + 1


def test_a_knob_is_turned_while_it_writes(live):
    page = live(only="writer")
    play = figure(page, "A play that you begin")
    stop = play.get_by_role("button", name="Stop")
    assert stop.is_disabled()
    play.get_by_role("button", name="Write on").click()
    page.wait_for_function("() => document.querySelector('.lv-play').value.length > 20")
    text = play.get_by_label("Your beginning")
    before = text.input_value()
    play.get_by_label("Top-k").fill("1")
    page.wait_for_function(
        "n => document.querySelector('.lv-play').value.length > n + 40", arg=len(before)
    )
    assert text.input_value().startswith(before) and stop.is_enabled()
    text.press("End")
    text.press_sequentially("!")
    assert stop.is_disabled()
    length = len(text.input_value())
    play.locator(".lv-candidates li").first.wait_for()
    assert len(text.input_value()) == length


def test_the_forecast_is_the_librarys(live):
    page = live(only="writer")
    play = figure(page, "A play that you begin")
    play.get_by_role("button", name="Write on").click()
    page.wait_for_function("() => document.querySelector('.lv-play').value.length > 20")
    play.get_by_role("button", name="Stop").click()
    text = "The keys to the cabinet"
    play.get_by_label("Your beginning").fill(text)
    model, letters = stored.language_model("shakespeare")
    with torch.no_grad():
        shares = model(torch.tensor([letters.encode(text)]))[0, -1].softmax(dim=-1)
    first = f"{100 * shares.max():.1f} %"
    page.wait_for_function(
        "first => document.querySelector('.lv-play').closest('.lv-box')"
        ".querySelector('.lv-candidates small')?.textContent.startsWith(first)",
        arg=first,
    )


def test_keyboard_alone(live):
    page = live(only="translator")
    box = figure(page, "Your sentence, translated")
    box.get_by_label("Direction").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type("Ein Mann.")
    page.keyboard.press("Enter")
    assert translation(box)
    box.locator("[aria-label='Tokens of the translation'] button").nth(1).focus()
    page.keyboard.press("Enter")
    pressed = box.locator("[aria-label='Tokens of the translation'] button[aria-pressed=true]")
    assert pressed.count() == 1


def test_axe_finds_nothing(live):
    page = live(only="translator")
    translation(translate(page, "Ein Hund."))
    assert axe.by_day_and_night(page, ".live") == []


def test_without_scripts_an_example_stands_there(live):
    page = live(path=PAGE_OF["translator"], java_script_enabled=False)
    assert "Zwei Hunde spielen im Schnee. →" in page.inner_text("main")
    assert page.locator(".live button").count() == 0


# ------------------------------------------------------------------------ the model that fills holes

HOLES = "Holes in your sentence"


@pytest.fixture(scope="module")
def rounded(html):
    """The model that the page fetches, read by the library."""
    return computed.rounded(html, "fill_mask")


def test_texts_become_the_same_word_pieces(computing):
    _, tokenizer = stored.fill_mask()
    rng = random.Random(1)
    texts = [*STRANGE, "a[MASK]b [CLS]x", "ÀÉÎõü İΣς ﬀ \u200d\u0301", "a\u0301b"]
    texts += [random_text(rng) for _ in range(200)]
    found = computing.evaluate(
        """async (texts) => {
          const { WordPiece } = await import("/live/tokens.js");
          window.pieces ??= new WordPiece(await (await fetch("/live/models/vocab.txt")).text());
          return texts.map((text) => pieces.encode(text));
        }""",
        texts,
    )
    for text, ids in zip(texts, found, strict=True):
        assert ids == tokenizer.encode(text), repr(text)


@torch.no_grad()
def test_bert_is_the_librarys(computing, rounded):
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(1000, 30000, (24,), generator=generator)
    at = [3, 17]
    asked = torch.zeros(1, 24, dtype=torch.bool)
    asked[0, at] = True
    expected = rounded(ids[None], at=asked).words
    found = computing.evaluate(
        """async ([ids, at]) => {
          const model = await live.load("Bert", "fill_mask_8bit", "bert.");
          return model.fill(ids, at).map((row) => Array.from(row));
        }""",
        [ids.tolist(), at],
    )
    assert torch.allclose(torch.tensor(found), expected, rtol=0, atol=1e-3)


def candidates(box):
    box.locator(".lv-candidates li").first.wait_for()
    return box.locator(".lv-candidates li span").all_inner_texts()


def test_a_hole_is_filled_as_in_the_library(live, rounded):
    _, tokenizer = stored.fill_mask()
    page = live(only="filler")
    box = figure(page, HOLES)
    text = "The keys to the cabinet [MASK] on the table."
    box.get_by_label("Your sentence").fill(text)
    box.get_by_role("button", name="Fill the holes").click()
    expected = [guess.token for guess in fill_mask(rounded, tokenizer, text, k=8)[0]]
    assert candidates(box) == expected
    box.locator(".lv-candidates button").first.click()
    sentence = f"The keys to the cabinet {expected[0]} on the table."
    assert box.get_by_label("Your sentence").input_value() == sentence


def test_a_word_is_hidden_by_a_click(live):
    page = live(only="filler")
    box = figure(page, HOLES)
    box.get_by_label("Your sentence").fill("Two dogs aren't here, [MASK]!")
    box.locator(".lv-words button", has_text="aren't").click()
    assert box.get_by_label("Your sentence").input_value() == "Two dogs [MASK] here, [MASK]!"
    first = candidates(box)
    assert "hole 1 of 2" in box.locator(".lv-about").inner_text()
    box.locator(".lv-hole").nth(1).click()
    assert "hole 2 of 2" in box.locator(".lv-about").inner_text()
    assert candidates(box) != first


def test_no_hole_is_said(live):
    page = live(only="filler")
    box = figure(page, HOLES)
    box.get_by_label("Your sentence").fill("😀 no hole")
    box.get_by_role("button", name="Fill the holes").click()
    assert "no hole yet" in box.locator(".lv-status").inner_text()


def test_too_long_a_text_is_said(live):
    page = live(only="filler")
    box = figure(page, HOLES)
    box.get_by_label("Your sentence").fill("[MASK] " + "x! " * 600)
    box.get_by_role("button", name="Fill the holes").click()
    box.locator(".lv-status.lv-wrong").wait_for()
    assert "512 positions" in box.locator(".lv-status").inner_text()


# ----------------------------------------------------------------------------------- where BERT looks

READ = "Where a BERT looks"
KEYS = "The keys to the cabinet are on the table."


def attention_of(bert, text):
    """[layer, head, i, j], and the tokens."""
    pair = WordPiece.load(minilm.checkpoint() / "vocab.txt").pair(text)
    with torch.no_grad(), record(bert, "encoder.blocks.*.self_attention.weights") as seen:
        bert(torch.tensor([pair.ids]))
    return pair.tokens, torch.stack(seen.all("encoder.blocks.*.self_attention.weights"))[:, 0]


def test_attention_is_the_librarys(computing, html):
    _, expected = attention_of(computed.rounded(html, "minilm"), KEYS)
    ids = WordPiece.load(minilm.checkpoint() / "vocab.txt").pair(KEYS).ids
    found = computing.evaluate(
        """async ([ids]) => {
          const model = await live.load("Bert", "minilm_8bit"), attention = [];
          model.read(ids, model.encoder.blocks.map((_, layer) => (weights) => {
            attention[layer] = weights.map((head) => head.map((row) => Array.from(row)));
          }));
          return attention;
        }""",
        [ids],
    )
    assert torch.allclose(torch.tensor(found), expected, rtol=0, atol=TOLERANCE)


def test_a_pair_of_texts_is_read_as_the_library_reads_it(live):
    """Its tokens, and the five largest shares of one of them in a layer, the mean of its heads."""
    bert = Bert.from_pretrained(minilm.checkpoint())
    pair = WordPiece.load(minilm.checkpoint() / "vocab.txt").pair("Is it raining?", "Take a coat.")
    with torch.no_grad(), record(bert, "encoder.blocks.2.self_attention.weights") as seen:
        bert(torch.tensor([pair.ids]), segments=torch.tensor([pair.segments]))
    (weights,) = seen.all("encoder.blocks.2.self_attention.weights")
    at = pair.tokens.index("coat")
    row = weights[0].mean(dim=0)[at]
    box = figure(live(only="reader"), READ)
    box.get_by_label("Your sentence").fill("Is it raining?")
    box.get_by_label("A second text").fill("Take a coat.")
    box.get_by_role("button", name="Read it").click()
    tokens = box.get_by_role("list", name="Tokens").get_by_role("button")
    tokens.first.wait_for()
    assert tokens.all_inner_texts() == pair.tokens
    box.get_by_label("Layer", exact=True).select_option("layer 2")
    box.get_by_label("Head", exact=True).select_option("mean of all")
    tokens.nth(at).click()
    for line, j in zip(
        box.locator(".lv-plainlist li").all_inner_texts(), row.topk(5).indices, strict=True
    ):
        name, place, share, _ = line.split()
        assert (name, place) == (pair.tokens[j], f"({j})")
        assert float(share) == pytest.approx(100 * float(row[j]), abs=1.5)


def test_a_share_is_computed_before_the_readers_eyes(live):
    """Its 32 products, their sum and the share itself are the library's, up to the eight bits."""
    bert = Bert.from_pretrained(minilm.checkpoint())
    tokens, weights = attention_of(bert, KEYS)
    are, keys, d = tokens.index("are"), tokens.index("keys"), 32
    ids = WordPiece.load(minilm.checkpoint() / "vocab.txt").pair(KEYS).ids
    names = [f"encoder.blocks.3.self_attention.W_{matrix}" for matrix in "QK"]
    with torch.no_grad(), record(bert, "encoder.blocks.3.self_attention.W_*") as seen:
        bert(torch.tensor([ids]))
    query, key = (
        seen.all(name)[0][0, at, d : 2 * d] for name, at in zip(names, (are, keys), strict=True)
    )
    box = figure(live(only="reader"), READ)
    box.get_by_label("Your sentence").fill(KEYS)
    box.get_by_role("button", name="Read it").click()
    box.get_by_role("button", name="are", exact=True).click()
    why = box.locator(".lv-why")
    why.get_by_text("Choose one of these").wait_for()
    box.locator(".lv-candidates button").first.focus()
    box.page.keyboard.press("Enter")
    why.get_by_label("all 32 products").check()
    rows = why.locator(".lv-arithmetic tbody tr")
    assert rows.count() == d
    products = [
        float(cell.replace("−", "-")) for cell in rows.locator("td:last-child").all_inner_texts()
    ]
    assert torch.allclose(torch.tensor(products), query * key, rtol=0, atol=0.25)
    total = float(why.locator(".lv-total").inner_text().replace("−", "-"))
    assert total == pytest.approx(sum(products), abs=0.02)
    assert total == pytest.approx(float(query @ key), abs=1.0)
    share = float(why.locator(".lv-formula").last.inner_text().split()[-2])
    listed = box.locator(".lv-candidates button").first.inner_text().split()
    assert share == pytest.approx(float(listed[-2]), abs=0.06)
    assert share == pytest.approx(100 * float(weights[3, 1, are, keys]), abs=2)
    # of a mean there is no such sum
    box.get_by_label("Head", exact=True).select_option("mean of all")
    why.get_by_text("Choose one of them").wait_for()
    assert box.locator(".lv-candidates button").count() == 0


def test_the_figure_shows_what_the_page_says_of_it(live):
    """The three numbers that the page tells, in full precision; and the second one on the page."""
    bert = Bert.from_pretrained(minilm.checkpoint())
    tokens, weights = attention_of(bert, KEYS)
    assert (weights[0, 2].argmax(dim=-1)[1:] == torch.arange(len(tokens) - 1)).all()
    are, keys = tokens.index("are"), tokens.index("keys")
    assert float(weights[3, 1, are, keys]) == pytest.approx(0.79, abs=0.005)
    specials = weights[4, :, 1:-1][..., [0, -1]].sum(dim=-1).mean(dim=0)  # of each word
    assert float(specials.mean()) == pytest.approx(0.6, abs=0.02)
    assert float(specials.min()) == pytest.approx(0.47, abs=0.005)
    assert float(specials.max()) == pytest.approx(0.84, abs=0.005)
    tokens, others = attention_of(bert, "The dog chased the cat because it was angry.")
    assert float(others[3, 1, tokens.index("it"), tokens.index("cat")]) == pytest.approx(
        0.53, abs=0.005
    )
    page = live(only="reader")
    box = figure(page, READ)
    box.get_by_label("Your sentence").fill(KEYS)
    box.get_by_role("button", name="Read it").click()
    box.get_by_label("Layer", exact=True).select_option("layer 3")
    box.get_by_label("Head", exact=True).select_option("head 1")
    box.get_by_role("button", name="are", exact=True).click()
    first = box.locator(".lv-candidates li").first.inner_text().split()
    assert first[0] == "keys" and float(first[-2]) == pytest.approx(79, abs=2)

    # the grid of heads says the same, and leads to each of them
    heads = box.locator(".lv-heads button")
    assert heads.count() == 72
    assert "layer 3, head 1: 7" in heads.nth(3 * 12 + 1).get_attribute("title")
    heads.nth(2).click()
    assert box.get_by_label("Layer", exact=True).input_value() == "0"
    assert heads.nth(2).get_attribute("aria-pressed") == "true"
    # the token before "are"
    assert box.locator(".lv-candidates li").first.inner_text().split()[0] == "cabinet"


@pytest.mark.parametrize(
    ("text", "verb", "where", "share"),
    [
        ("The dogs that chased the cat are hungry.", "are", "dogs", 0.72),
        ("The book on the shelves is dusty.", "is", "book", 0.39),
        ("The teacher who knows the answers is old.", "is", "old", 0.68),
        ("The letters from the minister were lost.", "were", "[CLS]", 0.35),
        ("The train from the mountains was late.", "was", "[CLS]", 0.46),
        ("The man beside the horses runs home.", "runs", "[CLS]", 0.52),
        ("The children near the fountain play chess.", "play", "[CLS]", 0.55),
        ("The woman with the two cats bought bread.", "bought", "[CLS]", 0.46),
        ("The actors behind the curtain laugh loudly.", "laugh", "[CLS]", 0.85),
        ("The baby in the blankets sleeps well.", "sleeps", "[CLS]", 0.91),
    ],
)
def test_one_head_finds_some_subjects(text, verb, where, share):
    """Layer 3, head 1, in ten sentences: what the page says under "What we saw"."""
    read = minilm.read(text)
    row = read.weights[3, 1, read.tokens.index(verb)]
    assert read.tokens[int(row.argmax())] == where
    assert float(row.max()) == pytest.approx(share, abs=0.006)


@pytest.mark.parametrize("width", [390, 1000])
def test_each_layer_has_a_row_whose_heads_a_finger_can_tell_apart(live, width):
    heads = figure(live(width, only="reader"), READ).locator(".lv-heads button")
    boxes = heads.evaluate_all("all => all.map((e) => e.getBoundingClientRect().toJSON())")
    assert [len({box["top"] for box in boxes[at : at + 12]}) for at in range(0, 72, 12)] == [1] * 6
    assert len({box["top"] for box in boxes}) == 6
    assert min(min(box["width"], box["height"]) for box in boxes) >= 24


def test_an_empty_sentence_and_an_emoji_are_read(live):
    page = live(390, has_touch=True, is_mobile=True, only="reader")
    box = figure(page, READ)
    box.get_by_label("Your sentence").fill(" ")
    box.get_by_role("button", name="Read it").click()
    assert "Type a sentence first" in box.locator(".lv-status").inner_text()
    for text in ("😀", "שלום", "x" * 400, "a " * 200):
        box.get_by_label("Your sentence").fill(text)
        box.get_by_role("button", name="Read it").click()
        box.locator(".lv-candidates li").first.wait_for()
        box.get_by_role("list", name="Tokens").get_by_role("button", name="[SEP]").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
