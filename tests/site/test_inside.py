"""Inside a vector of the film: from its block down to one product every number is the library's, and
one gets there and back by mouse, finger and keyboard.
"""

import math
import re

import axe
import pytest
import torch
from computed import Computed
from live_page import EVERY_FIGURE, figure, file_name

pytestmark = pytest.mark.browser
PAGE = "book/through.html"
TITLE = "A translation, step by step"
FIRST = "Zwei Hunde spielen im Schnee."
OWN = "Ein Mann liest die Zeitung."
ROUNDED = 1e-3  # as in test_through.py: three or four digits behind the point
# Where attention is looked at: of which vector, which attention, head and key.
ENCODER, DECODER = ("encoder", 3, 1), ("decoder", 2, 3)
WAYS = [
    (ENCODER, "self_attention", 1, 2),
    (DECODER, "self_attention", 2, 3),
    (DECODER, "cross_attention", 0, 5),
]
SUBLAYERS = {
    "encoder": ["self_attention", "feed_forward"],
    "decoder": ["self_attention", "cross_attention", "feed_forward"],
}


@pytest.fixture(scope="module")
def german():
    return Computed(FIRST)


@pytest.fixture(scope="module")
def opened(tabs, address):
    """A page whose model has come, for the tests that read numbers there."""
    page = tabs.take(1000, 900, reduced_motion="reduce")
    page.goto(address + PAGE)
    page.wait_for_function(EVERY_FIGURE)
    yield page
    assert not page.wrong
    tabs.give_back(page)


def press(box, vector):
    box.locator(f'[data-at="{"-".join(map(str, vector))}"]').click()


def enter(box, vector):
    """Into a vector of the film, from wherever one is."""
    if box.locator(".lv-within").count():
        box.get_by_role("button", name="film", exact=True).click()
    if box.locator(f'[aria-pressed="true"][data-at="{"-".join(map(str, vector))}"]').count() == 0:
        press(box, vector)
    box.get_by_role("button", name="Look inside").click()
    box.locator(".lv-within").wait_for()
    return box


def to(box, place):
    """Press what leads there."""
    box.locator(f'.lv-within [data-place="{place}"]').click()
    assert box.locator(".lv-view").first.get_attribute("data-place") == place


def down(box, way, levels=3):
    """From the film to an attention's head, score and product (number 0 or the largest)."""
    (stack, level, at), name, head, key = way
    enter(box, way[0])
    place = f"{stack}-{level - 1}-{name}-{head}-{at}"
    to(box, place)
    if levels > 1:
        to(box, f"{place}-{key}")
    if levels > 2:
        box.locator(".lv-view .lv-arithmetic tbody button").first.click()


def steps(box) -> list[str]:
    return box.locator(".lv-within .lv-steps li button").all_inner_texts()


def numbers(text: str) -> list[float]:
    return [float(n) for n in re.findall(r"-?\d+\.?\d*", text.replace("−", "-").replace(",", ""))]


def drawn(strip) -> torch.Tensor:
    """The heights of a vector's bars."""
    found = re.findall(r"v(-?[\d.]+)", strip.locator(".lv-bars").get_attribute("d"))
    return -torch.tensor([float(n) for n in found])


def is_drawn(strip, vector, most=None) -> bool:
    """Is it this vector, a number of the size `most` 20 high? (What is 0 is a dot.)"""
    most = vector.abs().max() if most is None else most
    return torch.allclose(drawn(strip), 20 * (vector / most).clamp(-1, 1), rtol=0, atol=0.41)


def cut(vector) -> float:
    """A larger number is drawn no higher."""
    return 3 * float(vector.pow(2).mean().sqrt())


def rows(box, which=0):
    found = box.locator(".lv-view .lv-arithmetic").nth(which).locator("tbody tr, tfoot tr").all()
    return [row.locator("th, td").all_inner_texts() for row in found]


def of_block(computed, vector):
    """In a block of the library: what came in, and of each sublayer the normed copy, what it adds,
    and the sum.
    """
    stack, level, at = vector
    here, seen = f"{stack}.blocks.{level - 1}", computed.seen
    entering = seen.each("positions")[0 if stack == "encoder" else 1]
    below = f"{stack}.blocks.{level - 2}.around_feed_forward"
    x = entering if level == 1 else seen[below]
    parts = [
        [seen[f"{here}.{part}"][0, at] for part in (f"around_{name}.norm", name, f"around_{name}")]
        for name in SUBLAYERS[stack]
    ]
    return x[0, at], parts


# ------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize("vector", [ENCODER, DECODER, ("encoder", 1, 0), ("decoder", 4, 1)])
def test_a_block_is_drawn_with_the_librarys_vectors(opened, german, vector):
    box = enter(figure(opened, TITLE), vector)
    stack, level, at = vector
    x, parts = of_block(german, vector)
    hidden = german.seen[f"{stack}.blocks.{level - 1}.feed_forward.W_1"][0, at].relu()
    most = max(map(cut, [x, *(total for *_, total in parts)]))
    strips = iter(box.locator(".lv-view svg.lv-nested").all())
    assert is_drawn(next(strips), x, most)
    for name, (normed, says, total) in zip(SUBLAYERS[stack], parts, strict=True):
        assert is_drawn(next(strips), normed), name
        assert is_drawn(next(strips), says, cut(says)), name
        if name == "feed_forward":
            assert is_drawn(next(strips), hidden)
        assert is_drawn(next(strips), total, most), name
    svg = box.locator("svg.lv-token").text_content()
    lengths = [float(n) for n in re.findall(r"length (\d+\.\d)", svg)]
    shown = [x, *(v for _, says, total in parts for v in (says, total))]
    shown = shown if level < 4 else shown[:-1]  # behind the last block the next drawing begins
    expected = sorted(float(v.norm()) for v in shown)
    assert sorted(lengths) == pytest.approx(expected, abs=0.051)
    assert f"{int((hidden > 0).sum())} of 256 units above 0" in svg
    for c in (0, 90):
        box.get_by_role("slider", name="Number").fill(str(c))
        which, *terms, total = numbers(box.locator(".lv-view .lv-formula").inner_text())
        assert which == c
        said = [float(x[c]), *(float(says[c]) for _, says, _ in parts)]
        assert terms == pytest.approx(said, abs=ROUNDED)
        assert total == pytest.approx(float(parts[-1][2][c]), abs=ROUNDED)


@pytest.mark.parametrize(("vector", "name"), [(way[0], way[1]) for way in WAYS])
def test_heads_say_where_they_look_most(opened, german, vector, name):
    stack, level, at = vector
    box = enter(figure(opened, TITLE), vector)
    weights = german.seen[f"{stack}.blocks.{level - 1}.{name}.weights"][0, :, at]
    for head, row in enumerate(weights):
        part = box.locator(f'[data-place="{stack}-{level - 1}-{name}-{head}-{at}"]')
        share = numbers(part.get_attribute("aria-label"))[-1]
        assert share == pytest.approx(100 * float(row.max()), abs=0.06)
        bars = [
            float(n) for n in re.findall(r"v(-[\d.]+)", part.locator("path").get_attribute("d"))
        ]
        n = at + 1 if (stack, name) == ("decoder", "self_attention") else len(row)
        assert bars == pytest.approx([-0.5 - 22 * float(p) for p in row[:n]], abs=0.06)


def test_above_the_last_block_the_next_token_is_chosen(opened, german):
    box = enter(figure(opened, TITLE), ("decoder", 4, 1))
    scores = german.seen[""][0, 1]
    best, shares = scores.topk(5), scores.softmax(dim=-1)
    texts = box.locator('[data-place="output-1"] text').all_text_contents()[4:]
    for k, (score, token) in enumerate(zip(*best, strict=True)):
        word, shown, share = texts[3 * k : 3 * k + 3]
        assert word == german.decode([int(token)]).strip()
        assert numbers(shown) == pytest.approx([float(score)], abs=ROUNDED)
        assert numbers(share)[0] == pytest.approx(100 * float(shares[token]), abs=0.1)
    normed = box.locator('[data-place="decoder-norm-1"] svg')
    assert is_drawn(normed, german.seen["decoder.norm"][0, 1])
    assert "writes “dogs”" in box.locator("svg.lv-token").text_content()
    to(box, "output-1")
    to(box, "output-1-0")
    (*_, last) = rows(box)
    assert numbers(last[-1]) == pytest.approx([float(best.values[0])], abs=ROUNDED)
    assert steps(box) == ["film", "decoder block 3, “Two”", "output", "score of “␣dogs”"]
    assert "␣ stands for the space" in box.locator(".lv-within").inner_text()


def test_above_the_encoder_stands_its_last_norm(opened, german):
    box = enter(figure(opened, TITLE), ("encoder", 4, 2))
    normed = box.locator('[data-place="encoder-norm-2"] svg')
    assert is_drawn(normed, german.seen["encoder.norm"][0, 2])
    assert "to the decoder: K and V" in box.locator("svg.lv-token").text_content()


@pytest.mark.parametrize("way", WAYS)
def test_a_head_is_the_librarys(opened, german, way):
    (stack, level, at), name, head, _ = way
    box = figure(opened, TITLE)
    down(box, way, levels=1)
    where = f"{stack}.blocks.{level - 1}.{name}"
    Q, K, V = (german.head(where, matrix, head) for matrix in ("W_Q", "W_K", "W_V"))
    weights = german.seen[f"{where}.weights"][0, head, at]
    n = at + 1 if (stack, name) == ("decoder", "self_attention") else len(K)
    found = rows(box)
    assert len(found) == n
    strips = box.locator(".lv-view svg.lv-strip")
    assert is_drawn(strips.first, Q[at])
    for j, (_, _, z, weight, _) in enumerate(found):
        score = float(Q[at] @ K[j]) / math.sqrt(32)
        assert numbers(z) == pytest.approx([score], abs=ROUNDED)
        shown = 0.0 if "<" in weight else numbers(weight)[0]
        assert shown == pytest.approx(100 * float(weights[j]), abs=0.06)
        assert is_drawn(strips.nth(1 + 2 * j), K[j], K[:n].abs().max())
        assert is_drawn(strips.nth(2 + 2 * j), V[j], V[:n].abs().max())
    assert is_drawn(strips.nth(1 + 2 * n), weights @ V)
    said = box.locator(".lv-view").inner_text()
    assert ("later word" in said) == (n < len(K))
    box.get_by_text("The same in numbers").click()
    box.get_by_role("slider", name="Number of the value").fill("9")
    *keys, _ = rows(box, 1)
    total = rows(box, 1)[-1][-1]
    assert [numbers(row[-2])[0] for row in keys] == pytest.approx(V[:n, 9].tolist(), abs=ROUNDED)
    assert numbers(total) == pytest.approx([float(weights @ V[:, 9])], abs=ROUNDED)


@pytest.mark.parametrize("way", WAYS)
def test_a_score_and_a_product_are_the_librarys(opened, german, way):
    (stack, level, at), name, head, key = way
    box = figure(opened, TITLE)
    down(box, way, levels=2)
    where = f"{stack}.blocks.{level - 1}.{name}"
    q, k = german.head(where, "W_Q", head)[at], german.head(where, "W_K", head)[key]
    box.get_by_label("all 32 products").check()
    *products, total = rows(box)
    for c, row in enumerate(products):
        expected = [c, float(q[c]), float(k[c]), float(q[c] * k[c])]
        assert [numbers(cell)[0] for cell in row] == pytest.approx(expected, abs=ROUNDED)
    assert len(products) == 32
    assert numbers(total[-1]) == pytest.approx([float(q @ k)], abs=ROUNDED)
    said = numbers(box.locator(".lv-view .lv-formula").inner_text())
    assert said[2] == pytest.approx(float(q @ k) / math.sqrt(32), abs=ROUNDED)
    box.get_by_label("all 32 products").uncheck()
    box.locator(".lv-view .lv-arithmetic tbody button").first.click()
    c = int((q * k).abs().argmax())
    assert steps(box)[-1] == f"product {c}"
    of = german.seen[f"{stack}.blocks.{level - 1}.around_{name}.norm"][0]
    keys_of = german.seen["encoder.norm"][0] if name == "cross_attention" else of
    weights = dict(german.model.named_parameters())
    for which, (x, matrix) in enumerate([(of[at], "W_Q"), (keys_of[key], "W_K")]):
        terms = x * weights[f"{where}.{matrix}.weight"][32 * head + c].detach()
        largest = terms.abs().topk(8).indices
        *shown, others, bias, last = rows(box, which)
        assert [int(row[0]) for row in shown] == largest.tolist()
        assert [numbers(row[-1])[0] for row in shown] == pytest.approx(
            terms[largest].tolist(), abs=ROUNDED
        )
        assert others[0] == "the other 120"
        rest = float(terms.sum() - terms[largest].sum())
        assert numbers(others[-1]) == pytest.approx([rest], abs=ROUNDED)
        b = float(weights[f"{where}.{matrix}.bias"][32 * head + c].detach())
        assert numbers(bias[-1]) == pytest.approx([b], abs=ROUNDED)
        assert numbers(last[-1]) == pytest.approx([float((q, k)[which][c])], abs=ROUNDED)
    found = numbers(box.locator(".lv-view .lv-formula").inner_text())
    expected = [float(q[c]), float(k[c]), float(q[c] * k[c])]
    assert found == pytest.approx(expected, abs=ROUNDED)


def test_a_vector_that_comes_in_is_its_row_and_its_position(opened, german):
    box = enter(figure(opened, TITLE), ("decoder", 0, 2))
    box.get_by_role("slider", name="Number").fill("33")
    total = numbers(box.locator(".lv-view .lv-formula").inner_text())[-1]
    assert total == pytest.approx(float(german.seen.each("positions")[1][0, 2, 33]), abs=ROUNDED)
    assert steps(box) == ["film", "“dogs” comes in"]


# ------------------------------------------------------------------------------- the way in and out


@pytest.fixture
def film(live):
    """A function that opens the page and gives the film."""

    def open_it(width=1000, path=PAGE, **options):
        page = live(width, path=path, **{"reduced_motion": "reduce", **options})
        return figure(page, TITLE)

    return open_it


def test_nothing_is_fetched_before_the_reader_looks_inside(film):
    box = film()
    page = box.page
    press(box, ENCODER)
    page.wait_for_load_state("networkidle")

    def later():
        return [file_name(u) for u in page.asked if re.search("/models/|inside|worker", u)]

    assert later() == []
    enter(box, ENCODER)
    assert {"inside.js", "inside.css", "translator_de_en.safetensors"} <= set(later())


def test_by_keyboard_down_to_a_product_and_up_to_the_vector(film):
    box = film()
    page = box.page
    keys = page.keyboard
    page.locator('[data-at="encoder-0-0"]').focus()
    for key in ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowRight", "Enter", "Tab"]:
        keys.press(key)
    focused = "document.activeElement"
    assert "Look inside Hunde" in page.evaluate(f"{focused}.getAttribute('aria-label')")
    keys.press("Enter")
    box.locator(".lv-within").wait_for()
    way = ["", "encoder-2-self_attention-1-1", "-2", "-31"]
    assert page.evaluate(f"{focused}.getAttribute('aria-label')") == (
        "Inside: encoder block 2, “Hunde”"
    )
    place = ""
    for i, step in enumerate(way[1:]):
        place += step
        if i == 2:
            box.get_by_label("all 32 products").press(" ")
        box.locator(f'[data-place="{place}"]').focus()
        keys.press("Enter")
        assert page.evaluate(f"{focused}.dataset.place") == place
        assert page.evaluate(f"{focused}.classList.contains('lv-view')")
    names = ["film", "encoder block 2, “Hunde”", "head 1", "score with “spielen”", "product 31"]
    assert steps(box) == names
    assert (
        page.evaluate(f"{focused}.getAttribute('aria-label')") == f"Inside: {', '.join(names[1:])}"
    )
    keys.press("Escape")
    assert steps(box) == names[:-1]  # the largest products are shown again, without this one
    for part in ("encoder-2-self_attention-1-1-2", "encoder-2-self_attention-1-1"):
        keys.press("Escape")
        assert page.evaluate(f"{focused}.dataset.place") == part
        assert not page.evaluate(f"{focused}.classList.contains('lv-view')")
    keys.press("Escape")
    assert page.evaluate(f"{focused}.dataset.at") == "encoder-3-1"
    assert box.locator(".lv-within").count() == 0
    assert box.locator("[data-at][aria-pressed=true]").get_attribute("data-at") == "encoder-3-1"


def test_by_finger_on_a_phone_and_no_level_is_wider_than_the_page(film):
    box = film(390, has_touch=True, is_mobile=True)
    page = box.page
    fits = "document.documentElement.scrollWidth <= innerWidth"
    box.locator('[data-at="decoder-4-2"]').tap()
    box.get_by_role("button", name="Look inside").tap()
    box.locator(".lv-within").wait_for()
    for place in ["cross_attention-1-2", "cross_attention-1-2-2"]:
        assert page.evaluate(fits)
        box.locator(f'.lv-within [data-place="decoder-3-{place}"]').tap()
    assert page.evaluate(fits)
    box.locator(".lv-view .lv-arithmetic tbody button").first.tap()
    assert page.evaluate(fits)
    box.get_by_role("button", name="Back").tap()
    box.get_by_role("button", name="decoder block 3, “dogs”").tap()
    for place in ["feed_forward-2", "feed_forward-norm-2", "cross_attention-mix-2"]:
        box.locator(f'.lv-within [data-place="decoder-3-{place}"]').tap()
        assert page.evaluate(fits), place
        box.get_by_role("button", name="Back").tap()
    # each part of the drawing is large enough for a finger
    sizes = box.locator(".lv-token [data-place]").evaluate_all(
        "all => all.map((one) => { const { width, height } = one.getBoundingClientRect(); return Math.min(width, height); })"
    )
    assert min(sizes) >= 24
    box.get_by_role("button", name="film", exact=True).tap()
    assert page.evaluate("document.activeElement.dataset.at") == "decoder-4-2"


def test_along_the_film_from_within(film):
    """What comes in is the film's vector one block below, down to the row of the table."""
    box = film()
    enter(box, ("encoder", 2, 1))
    box.locator('.lv-within [data-place="film-encoder-1-1"]').click()
    assert steps(box) == ["film", "encoder block 0, “Hunde”"]
    box.locator('.lv-within [data-place="film-encoder-0-1"]').click()
    assert steps(box) == ["film", "“Hunde” comes in"]
    box.page.keyboard.press("Escape")
    assert box.page.evaluate("document.activeElement.dataset.at") == "encoder-0-1"
    assert "as it comes in" in box.locator(".lv-moment").inner_text()


def test_another_head_or_key_takes_the_place_of_the_one_that_is_seen(film):
    box = film()
    down(box, WAYS[0], levels=1)
    box.get_by_role("list", name="Heads").get_by_role("button", name="head 3").click()
    assert steps(box)[1:] == ["encoder block 2, “Hunde”", "head 3"]
    assert box.page.evaluate("document.activeElement.textContent") == "head 3"
    to(box, "encoder-2-self_attention-3-1-0")
    box.get_by_role("list", name="Keys").get_by_role("button", name="spielen").click()
    assert steps(box)[-1] == "score with “spielen”"
    assert len(steps(box)) == 4


def entries(page) -> int:
    return page.evaluate("history.length")


def back(page, expected, forward=False):
    """Browser's Back (or Forward); what the line of steps says then."""
    (page.go_forward if forward else page.go_back)()
    page.wait_for_function(
        """names => JSON.stringify([...document.querySelectorAll(".lv-within .lv-steps li button")]
             .map(button => button.innerText)) === JSON.stringify(names)""",
        arg=expected,
    )


def test_back_closes_a_level_and_forward_opens_it_again(film):
    box = film()
    page = box.page
    before = entries(page)
    down(box, WAYS[0])
    names = steps(box)
    assert len(names) == 5 and entries(page) == before + 4
    address = page.url
    for n in (4, 3, 2, 0):
        back(page, names[:n])
    assert box.locator("[data-at][aria-pressed=true]").get_attribute("data-at") == "encoder-3-1"
    for n in (2, 3, 4, 5):
        back(page, names[:n], forward=True)
    assert entries(page) == before + 4 and page.url == address
    # Escape, the button and the line of steps lead out by the same entries
    page.keyboard.press("Escape")
    box.locator(".lv-within").get_by_role("button", name="Back").click()
    assert steps(box) == names[:3]
    back(page, names[:4], forward=True)
    box.locator(".lv-within .lv-steps").get_by_role("button", name="film").click()
    assert box.locator(".lv-within").count() == 0
    page.wait_for_function("!history.state.level.path")  # the history follows
    back(page, names[:2], forward=True)
    assert entries(page) == before + 4


def test_neighbours_leave_no_trail(film):
    box = film()
    page = box.page
    down(box, WAYS[0], levels=2)
    n = entries(page)
    heads = box.get_by_role("list", name="Keys")
    for key in ("spielen", "im", "Schnee"):
        heads.get_by_role("button", name=key, exact=True).click()
    assert entries(page) == n
    back(page, steps(box)[:3])
    back(page, steps(box)[:2])
    back(page, [])
    page.go_back()
    page.wait_for_url("about:blank")


def test_escape_pressed_fast_leads_out_and_no_further(film):
    box = film()
    page = box.page
    down(box, WAYS[0])
    for _ in range(6):
        page.keyboard.press("Escape")
    assert box.locator(".lv-within").count() == 0
    page.wait_for_function("!history.state?.level?.n")
    assert page.url.endswith(PAGE) and page.evaluate("history.state.level.path") is None
    page.go_back()
    page.wait_for_url("about:blank")


def test_another_step_of_the_film_leaves_its_levels_behind(film):
    box = film()
    page = box.page
    down(box, WAYS[0], levels=2)
    box.get_by_role("slider").first.press("End")
    assert box.locator(".lv-within").count() == 0
    page.wait_for_function("!history.state?.level?.n")
    page.go_back()
    page.wait_for_url("about:blank")


def test_levels_of_another_sentence_stay_closed(film):
    box = film()
    page = box.page
    enter(box, ENCODER)
    back(page, [])
    box.get_by_label("Your own sentence").fill(OWN)
    box.get_by_role("button", name="Translate").click()
    box.get_by_text("liest").first.wait_for()
    page.evaluate("window.popped = 0; addEventListener('popstate', () => { popped += 1; });")
    page.go_forward()  # to the level, and back from it: it cannot be shown
    page.wait_for_function("popped > 1 && history.state?.level?.n === 0")
    assert box.locator(".lv-within").count() == 0


def test_what_was_open_before_the_page_was_loaded_again_is_passed_over(film):
    box = film()
    page = box.page
    down(box, WAYS[0], levels=3)
    page.reload()
    page.wait_for_function(EVERY_FIGURE)
    assert box.locator(".lv-within").count() == 0
    page.go_back()  # a level that can no longer be shown, and on to the entry before all of them
    page.wait_for_function("history.state?.level?.n === 0")
    page.go_back()
    page.wait_for_url("about:blank")


def test_the_sections_and_the_other_figure_have_entries_of_their_own(film):
    box = film()
    page = box.page
    enter(box, ENCODER)
    names = steps(box)
    page.evaluate("location.hash = '#three-things-to-try'")
    page.wait_for_timeout(100)
    assert steps(box) == names
    other = figure(page, "One sentence, all the way down")
    other.get_by_role("button", name="encoder block 2").click()
    page.wait_for_url("**#at-encoder-2")
    to(box, "encoder-2-self_attention-1-1")
    deeper = steps(box)
    page.keyboard.press("Escape")
    assert steps(box) == names
    page.wait_for_function("history.state.level.path.length === 1")
    back(page, deeper, forward=True)
    back(page, names)
    assert page.url.endswith("#at-encoder-2")
    back(page, names)
    page.wait_for_url("**#three-things-to-try")
    back(page, names)
    back(page, [])
    assert "#" not in page.url


def test_a_download_that_fails_is_said_and_can_be_tried_again(film):
    box = film()
    page = box.page
    page.context.route("**/models/**", lambda route: route.fulfill(status=503))
    press(box, ENCODER)
    box.get_by_role("button", name="Look inside").click()
    box.locator(".lv-status.lv-wrong").wait_for()
    assert "could not be fetched (503)" in box.get_by_role("status").inner_text()
    assert box.locator(".lv-within").count() == 0
    assert box.locator(".lv-scene").is_visible()
    page.context.unroute("**/models/**")
    enter(box, ENCODER)
    assert box.get_by_role("status").inner_text() == ""


def test_into_a_sentence_of_ones_own(film):
    box = film()
    page = box.page
    box.get_by_label("Your own sentence").fill(OWN)
    box.get_by_role("button", name="Translate", exact=True).click()
    box.get_by_role("button", name="Pause").click()
    asked = len([url for url in page.asked if "/models/" in url])
    last = box.get_by_role("slider", name="Step").get_attribute("max")
    box.get_by_role("slider", name="Step").fill(last)
    computed, vector = Computed(OWN), ("decoder", 3, 2)
    enter(box, vector)
    x, parts = of_block(computed, vector)
    box.get_by_role("slider", name="Number").fill("7")
    _, *terms, total = numbers(box.locator(".lv-view .lv-formula").inner_text())
    assert terms == pytest.approx([float(x[7]), *(float(p[1][7]) for p in parts)], abs=ROUNDED)
    assert total == pytest.approx(float(parts[-1][2][7]), abs=ROUNDED)
    assert len([url for url in page.asked if "/models/" in url]) == asked
    # the film goes on: the inside gives way
    box.get_by_role("button", name="From the start").click()
    assert box.locator(".lv-within").count() == 0
    assert box.locator(".lv-scene").is_visible()


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_it_grows_out_of_the_vector_unless_less_motion_is_asked_for(film, motion):
    box = film(reduced_motion=motion)
    page = box.page
    page.evaluate(
        """() => {
          window.moved = [];
          const animate = Element.prototype.animate;
          Element.prototype.animate = function (frames, options) {
            window.moved.push([this.className.baseVal ?? this.className, frames[0].transform]);
            return animate.call(this, frames, options);
          };
        }"""
    )
    box.get_by_role("slider", name="Step").fill("20")
    at = box.locator('[data-at="encoder-3-1"] rect').bounding_box()
    enter(box, ENCODER)
    moved = page.evaluate("window.moved")
    if motion == "reduce":
        assert moved == []
        assert not box.locator(".lv-scene").is_visible()
        return
    (_, scale), (view, begins) = moved
    assert scale == "none" and view == "lv-inside lv-within lv-encoder"
    x, y, _ = numbers(begins)
    here = box.locator(".lv-within").evaluate(
        "one => { one.getAnimations().forEach((a) => a.finish()); const { left, top } = one.getBoundingClientRect(); return [left, top]; }"
    )
    assert [x + here[0], y + here[1]] == pytest.approx([at["x"], at["y"]], abs=3)
    box.locator(".lv-scene").wait_for(state="hidden")


def test_on_another_page_its_style_comes_with_it(film):
    box = film(path="notebooks/06_decoder.html")
    enter(box, DECODER)
    part = box.locator(".lv-token .lv-headpart > rect").first
    assert part.evaluate("one => getComputedStyle(one).stroke") != "none"
    down(box, WAYS[2], levels=1)
    assert box.locator(".lv-looks .lv-strip").first.bounding_box()["height"] < 40


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_at_any_level(film, theme):
    box = film(color_scheme=theme)
    this = ".live:has(.lv-lanes)"
    press(box, DECODER)
    assert axe.objections(box.page, this, theme) == []
    for vector in [("decoder", 4, 1), ("encoder", 4, 1), ("encoder", 0, 1)]:
        enter(box, vector)
        assert axe.objections(box.page, this, theme) == [], vector
    down(box, WAYS[2], levels=1)
    further = [".lv-looks tbody button", ".lv-view .lv-arithmetic tbody button"]
    for press_next in further:
        assert axe.objections(box.page, this, theme) == [], steps(box)
        box.locator(press_next).first.click()
    assert axe.objections(box.page, this, theme) == [], steps(box)
