"""A cache at work: with a cache and without one the page computes what the library computes, counts
what the library's layers multiply, and a broken cache goes wrong as a broken one there.
"""

import axe
import pytest
import torch
from live_page import figure, file_name, press

from lectures_lib import decoding, stored
from lectures_lib.blocks.recording import record
from lectures_lib.data import dates
from lectures_lib.decoding import TransformerWithCache, WithoutCache

pytestmark = pytest.mark.browser
TITLE = "A cache at work"
LENGTH = 11
TOLERANCE = 1e-4  # the same single-precision numbers, summed in another order
FIRST = "june 12, 2017"
TEXTS = [FIRST, "5 may 1821", "31 february 1950", "yes", "a-1, b"]
GOOD = {"noPlaces": False, "lost": []}
FAULTS = [
    GOOD,
    {"noPlaces": True, "lost": []},
    *({"noPlaces": False, "lost": lost} for lost in ([0], [4, 7], [1, 2, 3, 5, 6])),
]


class Broken(TransformerWithCache):
    """A cache as the page breaks it."""

    def __init__(self, model, noPlaces, lost):
        super().__init__(model)
        self.no_places, self.lost = noPlaces, lost

    def start(self, *source):
        self.read = 0
        return super().start(*source)

    def step(self, tokens, state):
        step = super().step(tokens, state)
        if self.no_places:
            state.n_decoded = 0
        if self.read in self.lost:
            for cache in state.caches:
                cache.n -= 1  # what stands behind it is empty, and is written over
        self.read += 1
        return step


@torch.no_grad()
def written(text, decoder):
    """The letters that it writes, and the scores (n, vocab) of each step."""
    source, lengths = dates.to_ids([text])
    state, letters, scores = decoder.start(source, lengths).state, [dates.BEGIN], []
    while len(scores) < LENGTH and letters[-1] != dates.END:
        logits, state, _ = decoder.step(torch.tensor(letters[-1:]), state)
        scores.append(logits[0])
        letters.append(int(logits[0].argmax()))
    return dates.to_text(letters[1:]), torch.stack(scores)


def both(text, faults=GOOD):
    model = stored.dates()
    return written(text, WithoutCache(model)), written(text, Broken(model, **faults))


@torch.no_grad()
def spent(text, decoder):
    """Positions and multiplications of the decoder in all steps: what its matrices multiply, and for
    each key that a query sees one product a number for the score and one for the mean.
    """
    block, counts = stored.dates().decoder.blocks[0], {"positions": 0, "multiplications": 0}

    def of_matrix(layer, args, out):
        rows = out[..., 0].numel()
        counts["multiplications"] += rows * layer.weight.numel()
        counts["positions"] += rows if layer is block.self_attention.W_K else 0

    model = stored.dates()
    source, lengths = dates.to_ids([text])
    state = decoder.start(source, lengths).state
    if isinstance(decoder, TransformerWithCache):  # the source's keys and values, made once
        counts["multiplications"] += 2 * source.shape[1] * model.config.d_model**2
    hooks = [
        one.register_forward_hook(of_matrix)
        for one in block.modules()
        if isinstance(one, torch.nn.Linear)
    ]
    letters = [dates.BEGIN]
    try:
        while letters[-1] != dates.END and len(letters) <= LENGTH:
            with record(model.decoder, "blocks.*.*.weights") as seen:
                logits, state, _ = decoder.step(torch.tensor(letters[-1:]), state)
            letters.append(int(logits[0].argmax()))
            for weights in seen.all("blocks.*.*.weights"):
                d_head = model.config.d_model // model.config.n_heads
                counts["multiplications"] += 2 * d_head * int((weights > 0).sum())
    finally:
        for hook in hooks:
            hook.remove()
    return counts


@pytest.fixture
def box(live):
    """The figure on a phone; what is there at the end fits it, and a wide page too."""
    page = live(390, has_touch=True, is_mobile=True, only="remembering")
    yield figure(page, TITLE)
    for width in (390, 1000):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture(params=[(1000, False), (390, True)], ids=["mouse", "finger"])
def either(live, request):
    """The figure where one points by mouse, and where by finger."""
    width, touch = request.param
    page = live(width, has_touch=touch, is_mobile=touch, only="remembering")
    yield figure(page, TITLE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def rest(box):
    box.page.wait_for_function(
        "box => !/Shown|Fetching|Starting|Computing|when you first/.test("
        "box.querySelector('[role=status]').textContent)",
        arg=box.element_handle(),
    )


def ask(box, text):
    box.get_by_label("Your date").fill(text)
    press(box.get_by_role("button", name="Let it write"))
    rest(box)


def go(box, step):
    box.get_by_role("slider", name="Step").fill(str(step))


def kinds(box, side):
    """What the step makes of each position that there is: without (0) or with (1) a cache."""
    cells = box.locator(f".lv-recall tbody td:nth-of-type({3 * side + 2})")
    found = cells.evaluate_all("all => all.map((one) => one.dataset.kind)")
    return [kind for kind in found if kind != "none"]


def column(box, side, what):
    """The letters that are read or written."""
    letters = box.locator(f".lv-recall tbody td:nth-of-type({3 * side + what})")
    return "".join(letters.all_text_contents()).replace("␣", " ")


def wrote(box):
    return [column(box, side, 3) for side in (0, 1)]


def counts(box):
    """The table of what was spent so far, without and with a cache."""
    rows = box.locator(".lv-spent").first.locator("tbody tr").all()
    cells = {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}
    del cells["written"]
    return {
        name: [int(text.replace(",", "")) for text in texts[:2]] for name, texts in cells.items()
    }


def said(box):
    return box.get_by_role("status").inner_text()


@pytest.mark.parametrize("faults", FAULTS, ids=str)
def test_both_writers_are_the_librarys(computing, faults):
    found = computing.evaluate(
        """async ([sources, faults, marks]) => {
          const { writeTwice } = await import("/live/cache.js");
          const model = await live.load("Transformer", "dates_6000");
          const bare = (steps) => steps.map((step) => ({ ...step, scores: Array.from(step.scores) }));
          return sources.map((source) => {
            const found = writeTwice(model, source, { ...marks, faults });
            return { ...found, without: bare(found.without), with: bare(found.with) };
          });
        }""",
        [
            [dates.to_ids([text])[0][0].tolist() for text in TEXTS],
            faults,
            {"begin": dates.BEGIN, "end": dates.END, "most": LENGTH},
        ],
    )
    for text, one in zip(TEXTS, found, strict=True):
        expected = both(text, faults)
        for steps, (letters, scores) in zip((one["without"], one["with"]), expected, strict=True):
            assert dates.to_text([step["id"] for step in steps]) == letters
            assert torch.allclose(
                torch.tensor([step["scores"] for step in steps]), scores, rtol=0, atol=TOLERANCE
            )
        (without, plain), (cached, kept) = expected
        same = [without[:i] == cached[:i] for i in range(len(without))]
        largest = (plain[: sum(same)] - kept[: sum(same)]).abs().amax(dim=-1)
        assert one["differences"] == pytest.approx(largest.tolist(), abs=TOLERANCE)
        if faults == GOOD:
            assert len(one["differences"]) == len(without)
            assert max(one["differences"]) < TOLERANCE


@pytest.mark.parametrize("text", TEXTS)
def test_it_counts_what_the_library_computes(computing, text):
    found = computing.evaluate(
        """async ([source, marks]) => {
          const { writeTwice } = await import("/live/cache.js");
          const model = await live.load("Transformer", "dates_6000"), found = writeTwice(model, source, marks);
          const sum = (steps, what) => steps.reduce((all, step) => all + step[what], 0);
          return [found.without, found.with].map((steps) => ({
            positions: sum(steps, "positions"), multiplications: sum(steps, "multiplications") }));
        }""",
        [
            dates.to_ids([text])[0][0].tolist(),
            {"begin": dates.BEGIN, "end": dates.END, "most": LENGTH},
        ],
    )
    model = stored.dates()
    assert found == [spent(text, one) for one in (WithoutCache(model), TransformerWithCache(model))]


def test_greedy_writes_what_the_figure_shows(box):
    for text in TEXTS:
        ask(box, text)
        go(box, LENGTH)
        source, lengths = dates.to_ids([text])
        marks = {"begin": dates.BEGIN, "end": dates.END, "max_len": LENGTH}
        for decoder, letters in zip(
            (WithoutCache(stored.dates()), stored.dates()), wrote(box), strict=True
        ):
            assert letters == dates.to_text(
                decoding.greedy(decoder, source, lengths, **marks).tokens[0]
            )


def test_the_first_answer_is_there_before_a_model_is(box):
    assert not [url for url in box.page.asked if "/models/" in url or "worker" in url]
    go(box, LENGTH)
    assert wrote(box) == [both(FIRST)[0][0]] * 2
    ask(box, FIRST)
    asked = [file_name(url) for url in box.page.asked if "/models/" in url]
    assert asked == ["dates_6000.safetensors"]


def test_a_step_computes_all_positions_or_one(either):
    box = either
    d = stored.dates().config.d_model
    for step in (1, 2, 7, LENGTH, 3):
        go(box, step)
        assert kinds(box, 0) == (step - 1) * ["again"] + ["new"]
        assert kinds(box, 1) == (step - 1) * ["kept"] + ["new"]
        assert counts(box)["positions computed"] == [step * (step + 1) // 2, step]
        assert counts(box)["numbers kept of the letters written"] == [0, step * 2 * d]
        reads = f">{both(FIRST)[0][0]}"[:step]
        assert [column(box, side, 1) for side in (0, 1)] == [reads, reads]
    go(box, 0)
    assert kinds(box, 0) == kinds(box, 1) == []
    assert counts(box)["positions computed"] == [0, 0]


def test_a_query_is_used_once_and_then_gone(either):
    box = either
    go(box, 5)
    shown = box.locator(".lv-recall td:nth-of-type(5)").evaluate_all(
        "all => all.map((cell) => [...cell.querySelectorAll('b')].map((b) => getComputedStyle(b).visibility === 'visible'))"
    )[-LENGTH:]
    assert shown == 4 * [[False, True, True]] + [[True, True, True]] + 6 * [[False, False, False]]
    assert "query meets 5 keys and is thrown away" in box.locator(".lv-about").first.inner_text()


def test_the_scores_stand_side_by_side(box):
    ask(box, "5 may 1821")
    (_, scores), _ = both("5 may 1821")
    for step in (1, 6, LENGTH):
        go(box, step)
        table = box.locator(".lv-spent").last
        rows = [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
        letters = table.locator("tbody th").all_inner_texts()
        expected = [float(scores[step - 1][dates.ALPHABET.index(one)]) for one in letters]
        for side in (0, 1):
            found = [float(row[side].replace("−", "-")) for row in rows]
            assert found == pytest.approx(expected, abs=0.0051)
        assert expected == pytest.approx(scores[step - 1].topk(3).values.tolist())
        told = box.locator(".lv-about").last.inner_text()
        number = float(told.split("so far: ")[1].rstrip(".").replace("−", "-"))
        assert number < TOLERANCE and f"in the {step} step" in told


def lose(box, at):
    press(box.get_by_role("button", name=f"Lose the key and the value at place {at}", exact=True))
    rest(box)


def test_what_is_lost_is_missed_from_the_next_step_on(either):
    box = either
    go(box, LENGTH)
    lose(box, 4)
    lose(box, 7)
    (right, _), (broken, _) = both(FIRST, {"noPlaces": False, "lost": [4, 7]})
    assert wrote(box) == [right, broken]
    expected = 10 * ["kept"] + ["new"]
    expected[4] = expected[7] = "lost"
    assert kinds(box, 1) == expected
    wrong = box.locator(".lv-recall .lv-writes.lv-wrong")
    assert wrong.count() == sum(a != b for a, b in zip(right, broken, strict=True))
    d = stored.dates().config.d_model
    for step, kept in ((5, 4), (6, 5), (8, 6), (9, 7)):
        go(box, step)
        assert counts(box)["numbers kept of the letters written"][1] == 2 * d * kept
        met = kept + (step in (5, 8))
        assert f"meets {met} keys" in box.locator(".lv-about").first.inner_text()
    press(box.get_by_role("button", name="Mend the cache"))
    rest(box)
    go(box, LENGTH)
    assert wrote(box) == [right, right]


def test_without_places_the_first_step_is_right_and_then_it_is_wrong(either):
    box = either
    go(box, LENGTH)
    press(box.get_by_label("The cache forgets the places"))
    rest(box)
    (right, _), (broken, _) = both(FIRST, {"noPlaces": True, "lost": []})
    assert wrote(box) == [right, broken] and right != broken
    parted = next(i for i, (a, b) in enumerate(zip(right, broken, strict=False)) if a != b)
    go(box, 1)
    assert box.locator(".lv-about").last.inner_text().endswith("so far: 0.")
    go(box, parted + 1)
    assert "in this step: 0" not in box.locator(".lv-about").last.inner_text()
    assert box.locator(".lv-recall .lv-writes.lv-wrong").count() == 1
    go(box, parted + 2)
    assert f"In step {parted + 1} they wrote different letters" in box.inner_text()
    press(box.get_by_label("The cache forgets the places"))
    rest(box)
    assert column(box, 1, 3) == right[: parted + 2]


def test_breaking_means_the_date_that_is_shown(box):
    go(box, LENGTH)
    box.get_by_label("Your date").fill("tomorrow 😀")
    lose(box, 2)
    assert wrote(box)[0] == both(FIRST)[0][0]


def test_the_pressed_key_keeps_the_focus(box):
    go(box, LENGTH)
    button = box.get_by_role("button", name="Lose the key and the value at place 3")
    button.focus()
    for pressed in ("true", "false"):
        box.page.keyboard.press("Enter")
        rest(box)
        assert button.get_attribute("aria-pressed") == pressed
        assert button.evaluate("one => one === document.activeElement")


UNREAD = [
    (" ", "Type a date first."),
    ("ein Hund " * 222, "places for 32"),
    ("😀 may 1999", "The model's alphabet has no “😀”"),
    ("שלום עולם", "The model's alphabet has no “ש”"),
    ("7/4/1976", "The model's alphabet has no “/”"),
]


def test_what_cannot_be_read_is_said(box):
    for text, words in UNREAD:
        box.get_by_label("Your date").fill(text)
        assert words not in said(box), "it is not what was said before"
        press(box.get_by_role("button", name="Let it write"))
        assert words in said(box), text
        assert box.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), text
    assert not [url for url in box.page.asked if "/models/" in url]


def test_a_failed_download_is_said_and_can_be_tried_again(box):
    context = box.page.context
    context.route("**/models/**", lambda route: route.fulfill(status=503))
    go(box, LENGTH)
    press(box.get_by_role("button", name="Lose the key and the value at place 1", exact=True))
    box.get_by_text("could not be fetched (503)").wait_for()
    assert "lost" not in kinds(box, 1)
    context.unroute("**/models/**")
    ask(box, "july 20, 1969")
    (right, _), (broken, _) = both("july 20, 1969", {"noPlaces": False, "lost": [1]})
    assert wrote(box) == [right, broken]


def test_it_plays_pauses_and_answers_to_keys(either):
    box = either
    page, step = box.page, box.get_by_role("slider", name="Step")
    press(box.get_by_role("button", name="From the start"))
    press(box.get_by_role("button", name="Play"))
    page.wait_for_function("input => Number(input.value) >= 2", arg=step.element_handle())
    press(box.get_by_role("button", name="Pause"))
    at = int(step.input_value())
    page.wait_for_timeout(1300)
    assert int(step.input_value()) == at
    press(box.get_by_role("button", name="One step"))
    assert len(kinds(box, 0)) == at + 1
    step.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert len(kinds(box, 0)) == at - 1
    page.keyboard.press("End")
    assert len(kinds(box, 0)) == LENGTH


@pytest.mark.parametrize(("motion", "moves"), [("reduce", False), ("no-preference", True)])
def test_who_asked_for_less_motion_gets_none(live, motion, moves):
    box = figure(live(reduced_motion=motion, only="remembering"), TITLE)
    go(box, 5)
    names = box.locator('.lv-recall [data-kind="new"] b').evaluate_all(
        "all => all.map((b) => getComputedStyle(b).animationName)"
    )
    assert len(names) == 6 and (set(names) != {"none"}) == moves


def test_axe_finds_nothing(live):
    page = live(only="remembering")
    box = figure(page, TITLE)
    for step in (0, LENGTH, 5):
        go(box, step)
    lose(box, 2)
    press(box.get_by_label("The cache forgets the places"))
    rest(box)
    assert axe.by_day_and_night(page, ".live") == []


def test_without_scripts_the_counts_stand_there(live):
    page = live(java_script_enabled=False, only="remembering")
    assert "without a cache: 2017-06-12.  66 positions computed" in page.inner_text("main")
    assert (
        "with a cache:    2017-06-12.  11 positions computed, 1,408 numbers kept"
        in page.inner_text("main")
    )
