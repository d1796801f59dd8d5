"""Hide more and more: the page draws, hides and guesses what the library does, counts what it was
told, and keeps what was hidden.
"""

import json
import random
import sys

import axe
import computed
import pytest
import torch
from live_page import AT_REST, figure
from sitemap import ROOT

from lectures_lib import results
from lectures_lib.models import minilm
from lectures_lib.tokenization import WordPiece
from lectures_lib.training.pretraining import MaskingRates, mask_tokens, masking

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import hiding

pytestmark = pytest.mark.browser
FIGURE, TITLE = "hiding", "Hide more and more"
PIECES = WordPiece.load(minilm.checkpoint() / "vocab.txt")
WORDS = [hiding.WORDS_FROM, len(PIECES)]
DRAWN = """async ([seed, n, words]) => (await import("/live/hiding.js")).dice(seed, n, words)"""
ASK = """async ([task, request]) => {
  const { Machine } = await import("/live/machine.js");
  const place = document.querySelector('.live[data-live*=\\'"figure": "hiding"\\']');
  window.hides ??= new Machine(JSON.parse(place.dataset.live).models[0]);
  await hides.load();
  return hides.ask(task, request).promise;
}"""
HIDDEN = """async ([ids, seed, words, mask, never, rates]) => {
  const [{ dice }, { holes }] = await Promise.all(
    ["hiding", "dice"].map((name) => import(`/live/${name}.js`)));
  const special = ids.map((id) => never.includes(id));
  return holes(ids, special, dice(seed, ids.length, words), mask, rates)
    .flatMap(({ id, kind }, i) => (kind ? [[i, id]] : []));
}"""
OWN = "The dog sleeps by the door of the old house, and the cat sits on the roof."
SENTENCES = [*hiding.EXAMPLES, OWN, "Zwei Hunde, 12 😀 naïve cats [MASK]?", "w" * 60, "a b " * 90]


@pytest.fixture(scope="module")
def rounded(html):
    """The model that the page fetches, read by the library."""
    return computed.rounded(html, "fill_mask").eval()


def test_the_dice_are_the_same_in_both_languages(computing):
    for seed in (0, 1, 2, 77, 2**31, 2**32 - 1):
        found = computing.evaluate(DRAWN, [seed, 40, WORDS])
        expected = hiding.dice(seed, 40, range(*WORDS))
        assert found == expected._asdict()
    shorter, longer = (hiding.dice(3, n, range(*WORDS)) for n in (5, 9))
    assert [one[:5] for one in longer] == list(shorter)


def test_the_dice_are_fair():
    thrown = hiding.dice(5, 20_000, range(*WORDS))
    for one in (
        thrown.choice,
        thrown.fate,
        [(x - WORDS[0]) / (WORDS[1] - WORDS[0]) for x in thrown.others],
    ):
        shares = torch.histc(torch.tensor(one), bins=10, min=0, max=1) / len(one)
        assert shares.sub(0.1).abs().max() < 0.01


def asked(seed: int) -> list[tuple]:
    """Sentences, each with a draw, a rate in per cent and a split."""
    chance = random.Random(seed)
    return [
        (text, chance.randrange(1, 99), chance.randrange(5, 95, 5), chance.choice([*hiding.SPLITS]))
        for text in SENTENCES
    ]


@pytest.mark.parametrize(("text", "seed", "rate", "split"), asked(0), ids=lambda one: str(one)[:20])
def test_holes_and_guesses_are_the_librarys(computing, rounded, text, seed, rate, split):
    cut = computing.evaluate(ASK, ["cut", {"text": text}])
    ids = hiding.read(PIECES, text)
    assert cut["ids"] == ids and len(ids) <= hiding.LONGEST
    assert cut["left"] == len(PIECES.pair(text).ids) - len(ids)
    masked, other = hiding.SPLITS[split]
    never = [PIECES.token_id(name) for name in hiding.NEVER]
    rates = {"chosen": rate / 100, "masked": masked, "random": other}
    mask = PIECES.token_id("[MASK]")
    given = computing.evaluate(HIDDEN, [ids, seed, WORDS, mask, never, rates])
    holes = hiding.hidden(PIECES, ids, seed, rate / 100, split)
    assert dict(given) == holes
    if not holes:
        return
    tokens = [holes.get(i, was) for i, was in enumerate(ids)]
    found = computing.evaluate(ASK, ["guess", {"ids": tokens, "at": list(holes)}])
    expected = hiding.guesses(rounded, ids, holes)
    with torch.no_grad():
        at = torch.zeros(1, len(ids), dtype=torch.bool)
        at[0, list(holes)] = True
        rows = rounded(torch.tensor([tokens]), at=at).words.softmax(dim=-1)
    for one, hole, row in zip(found, expected, rows, strict=True):
        assert one["share"] == pytest.approx(hole.share, abs=1e-4)
        # two that are as likely may change places
        assert one["id"] == hole.says or row[one["id"]] == pytest.approx(hole.share, abs=1e-4)
        assert one["token"] == PIECES.known_tokens([one["id"]])[0]
        assert one["reads"] == PIECES.known_tokens([hole.reads])[0]


@pytest.mark.parametrize("split", hiding.SPLITS)
def test_what_is_hidden_is_what_mask_tokens_hides(split, monkeypatch):
    """The chapter's function, thrown these dice; and what is chosen stays chosen at a higher rate."""
    ids = hiding.read(PIECES, OWN)
    thrown = hiding.dice(4, len(ids), range(*WORDS))
    tokens = torch.tensor([ids])
    never = torch.tensor([PIECES.token_id(name) for name in hiding.NEVER])
    before = {}
    for rate in range(5, 95, 5):
        rolls = iter([torch.tensor([thrown.choice]), torch.tensor([thrown.fate])])
        monkeypatch.setattr(masking.torch, "rand", lambda *_, rolls=rolls, **__: next(rolls))
        monkeypatch.setattr(
            masking.torch, "randint", lambda *_, **__: torch.tensor([thrown.others])
        )
        rates = MaskingRates(rate / 100, *hiding.SPLITS[split])
        mask = PIECES.token_id("[MASK]")
        read, chosen = mask_tokens(tokens, torch.isin(tokens, never), mask, range(*WORDS), rates)
        holes = hiding.hidden(PIECES, ids, 4, rate / 100, split)
        assert list(holes) == chosen[0].nonzero().flatten().tolist()
        assert list(holes.values()) == read[0, list(holes)].tolist()
        assert before.items() <= holes.items()
        before = holes
    assert before


def turn(box, rate):
    box.get_by_role("slider").fill(str(rate))


def counted(box) -> list[str]:
    """The line of the reader's text: what it is called, its holes, the share told."""
    return box.locator(".lv-told tbody tr").first.locator("th, td").all_inner_texts()


def rest(box):
    box.page.wait_for_function(AT_REST, arg=box.element_handle())


def answered(box, n):
    """Until the table counts so many draws at this rate."""
    box.locator(".lv-told th", has_text=f"your text, {n} draw").wait_for()


def expected_count(rounded, text, seeds, rate, split="always_mask"):
    """Holes behind [MASK], and how many of them the library tells."""
    ids, mask = hiding.read(PIECES, text), PIECES.token_id("[MASK]")
    found = [
        hole.says == ids[hole.at]
        for seed in seeds
        for hole in hiding.guesses(
            rounded, ids, hiding.hidden(PIECES, ids, seed, rate / 100, split)
        )
        if hole.reads == mask
    ]
    return len(found), sum(found)


def line(n, draws, rounded, text, rate, split="always_mask"):
    holes, right = expected_count(rounded, text, draws, rate, split)
    draws = f"{n} draw{'s' if n > 1 else ''}"
    return [f"your text, {draws}", str(holes), f"{100 * right / holes:.1f} %" if holes else "–"]


def test_the_example_is_there_before_anything_is_fetched(live, rounded):
    page = live(only="hiding")
    box = figure(page, TITLE)
    for rate in hiding.STORED:
        turn(box, rate)
        assert counted(box) == line(1, [1], rounded, hiding.EXAMPLES[0], rate)
        _, right = expected_count(rounded, hiding.EXAMPLES[0], [1], rate)
        assert box.locator('[data-kind="masked"][data-right="true"]').count() == right
    turn(box, 50)
    assert "Press “Fill the holes” for the guesses" in box.locator(".lv-about").inner_text()
    assert counted(box) == ["your text", "–", "–"]
    assert not [url for url in page.asked if "/models/" in url]


def test_draws_of_a_readers_sentence_are_counted_once(live, rounded):
    page = live(only="hiding")
    box = figure(page, TITLE)
    box.get_by_label("Your sentence").fill(OWN)
    assert not box.locator(".lv-hidden").is_visible(), "it was of another sentence"
    turn(box, 40)
    box.locator(".lv-go").click()
    answered(box, 1)
    assert counted(box) == line(1, [1], rounded, OWN, 40)
    box.locator(".lv-go").click()
    rest(box)
    assert counted(box)[0] == "your text, 1 draw", "the same holes count once"
    box.get_by_role("button", name="Other holes").click()
    answered(box, 2)
    assert counted(box) == line(2, [1, 2], rounded, OWN, 40)
    # each hole as the library has it
    ids = hiding.read(PIECES, OWN)
    holes = hiding.guesses(rounded, ids, hiding.hidden(PIECES, ids, 2, 0.4, "always_mask"))
    for hole in holes:
        item = box.locator(".lv-hidden > li").nth(hole.at - 1)
        says, was = PIECES.known_tokens([hole.says, ids[hole.at]])
        right = says == was
        lines = [says, f"{'✓' if right else '✗'} {100 * hole.share:.1f} %"]
        assert item.inner_text().split("\n") == lines + [f"was: {was}"] * (not right)
    # the slider asks by itself now, and the other split has a count of its own
    turn(box, 75)
    answered(box, 1)
    assert counted(box) == line(1, [2], rounded, OWN, 75)
    box.get_by_label("80/10/10").check()
    answered(box, 1)
    assert counted(box) == line(1, [2], rounded, OWN, 75, "80_10_10")
    caption = box.locator(".lv-told caption").inner_text()
    assert caption == "75 exercises in 100 pieces; 40 are left to read, 7.5 of them wrong"


def test_what_is_hidden_stays_hidden(live):
    page = live(only="hiding")
    box = figure(page, TITLE)
    before = set()
    for rate in range(5, 95, 5):
        turn(box, rate)
        kinds = box.locator(".lv-hidden > li").evaluate_all(
            "all => all.map((one) => one.dataset.kind)"
        )
        now = {i for i, kind in enumerate(kinds) if kind == "masked"}
        assert before <= now
        before = now
    assert len(before) > 20


def test_the_film_goes_through_all_rates_and_can_be_stopped(live, rounded):
    page = live(only="hiding")
    box = figure(page, TITLE)
    box.get_by_label("Your sentence").fill("The dog sleeps by the door.")
    turn(box, 40)
    box.get_by_role("button", name="All rates").click()
    box.get_by_role("button", name="Stop").wait_for()
    box.get_by_role("button", name="All rates").wait_for()
    rest(box)
    rates = range(5, 95, 5)
    drawn = [
        rate
        for rate in rates
        if expected_count(rounded, "The dog sleeps by the door.", [1], rate)[0]
    ]
    assert box.locator("circle.lv-yours").count() == len(drawn)
    assert box.get_by_role("slider").input_value() == "40", "where it stood before"
    assert box.locator(".lv-rate .lv-value").inner_text() == "40 %"
    assert box.locator(".lv-about").inner_text().startswith("At 40 %")
    box.get_by_role("button", name="Other holes").click()
    answered(box, 2)
    box.get_by_role("button", name="All rates").click()
    box.get_by_role("button", name="Stop").click()
    rest(box)
    at = box.get_by_role("slider").input_value()
    page.wait_for_timeout(400)
    assert box.get_by_role("slider").input_value() == at and int(at) < 90


def test_held_out_sentences_stand_at_every_rate(live):
    page = live(only="hiding")
    box = figure(page, TITLE)
    measured = results.load("masking_rates")["results"]
    for split in hiding.SPLITS:
        box.get_by_label("80/10/10").set_checked(split == "80_10_10")
        for rate in (5, 40, 90):
            turn(box, rate)
            one = measured[split][str(rate)]
            others, half = box.locator(".lv-told tbody tr").all()[1:]
            said = f"{100 * one['right']:.1f} ± {200 * one['error']:.1f} %"
            assert others.locator("td").all_inner_texts() == [f"{one['holes']:,}", said]
            lower, upper = (float(f"{100 * one[name]:.2f}") for name in ("lower", "upper"))
            low, high = half.locator("td").last.inner_text().removesuffix(" %").split(" to ")
            assert abs(int(low) - lower) <= 0.51 and abs(int(high) - upper) <= 0.51


def test_a_text_without_a_known_piece_is_said(live):
    page = live(only="hiding")
    box = figure(page, TITLE)
    box.get_by_label("Your sentence").fill("😀 [MASK]")
    box.locator(".lv-go").click()
    box.get_by_text("There is no piece here that the model knows").wait_for()
    assert box.locator(".lv-about").inner_text() == "", "of no pieces none is counted"
    box.get_by_label("Your sentence").fill("中" * 300)
    turn(box, 5)
    box.locator(".lv-go").click()
    box.get_by_text("The text is long: its last 174 pieces were left out.").wait_for()


def test_keyboard_finger_and_both_themes(live):
    page = live(path="notebooks/13c_choices.html", reduced_motion="reduce")
    box = figure(page, TITLE)
    box.get_by_role("slider").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert box.get_by_role("slider").get_attribute("aria-valuetext") == "40 %"
    assert "Guessed right" in box.locator(".lv-about").inner_text()
    assert axe.by_day_and_night(page, ".live") == []
    phone = live(390, only="hiding", has_touch=True, is_mobile=True)
    box = figure(phone, TITLE)
    curve = box.locator(".lv-rates")
    curve.scroll_into_view_if_needed()
    size = curve.bounding_box()
    phone.touchscreen.tap(size["x"] + 0.7 * size["width"], size["y"] + size["height"] / 2)
    assert int(box.get_by_role("slider").input_value()) in (65, 70)
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_field_has_room_for_the_lines_of_its_sentence(live):
    page = live(390, only="hiding")
    field = figure(page, TITLE).get_by_label("Your sentence")
    sizes = "e => [e.clientHeight, e.scrollHeight, parseFloat(getComputedStyle(e).lineHeight)]"
    for text in ("A short one.", hiding.EXAMPLES[0], OWN * 3):
        field.fill(text)
        high, needed, line = field.evaluate(sizes)
        assert high == needed
        assert (high - 16) / line == pytest.approx(round((high - 16) / line), abs=0.1)  # no half
    field.fill("")
    assert field.evaluate(sizes)[0] > 2 * line


def test_what_the_page_is_given_fits_it():
    options, said = hiding.hiding()
    del options["models"]
    assert len(json.dumps(options)) < 4_000
    lines = said.splitlines()
    assert [one.partition(":")[0] for one in lines] == ["15 %", "40 %", "75 %"]
