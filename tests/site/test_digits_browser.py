"""The digit or the garment that a reader draws: the page makes the same greys of it as the library,
and names the same.
"""

import random
import re

import axe
import pytest
import torch
from live_page import EVERY_FIGURE, PAGE_OF, between, file_name, swipe

from lectures_lib import data, results, stored
from lectures_lib.analysis.rollout import rollout
from lectures_lib.blocks.recording import record
from lectures_lib.data.strokes import brushed, digit_image, displaced
from lectures_lib.tasks.sentence_bert import cosines

pytestmark = pytest.mark.browser
PAGE = PAGE_OF["digits"]
TOLERANCE = 1e-5
TITLE = "A digit or a garment that you draw"
# A change of the page's own, and what its ViT makes of the picture.
COMPUTE = """async ([name, drawings]) => {
  const [tensors, models, drawing, choosing] = await Promise.all(
    ["tensors", "models", "drawing", "choosing"].map((name) => import(`/live/${name}.js`)));
  const file = await (await fetch(`/live/models/${name}.safetensors`)).arrayBuffer();
  const vit = new models.ViT(tensors.readSafetensors(file));
  const make = {
    digits: (strokes) => drawing.digitImage(strokes),
    garments: ([greys, stroke, grey, right, down]) => drawing.moved(drawing.brushed(Float32Array.from(greys), stroke, grey), right, down),
  }[name];
  return drawings.map((one) => {
    const image = make(one), attention = [];
    const scores = vit.classify(image, [0, 1, 2].map((layer) => (weights) => { attention[layer] = weights; }));
    return [image, choosing.shares(scores), models.rollout(attention)].map((row) => Array.from(row));
  });
}"""


def drawings(n: int) -> list:
    """Random strokes: from a single point to a scrawl."""
    rng = random.Random(0)
    return [[[[3.0, 4.0]]]] + [
        [
            [[rng.uniform(0, 200), rng.uniform(0, 200)] for _ in range(rng.randint(1, 9))]
            for _ in range(rng.randint(1, 4))
        ]
        for _ in range(n)
    ]


def changes(n: int) -> list:
    """Garments, each with a random stroke, its grey, and a random move."""
    rng, pictures = random.Random(1), [one["image"] for one in data.ten_garments()]
    return [
        [
            pictures[i % 10].flatten().tolist(),
            [[rng.uniform(0, 28), rng.uniform(0, 28)] for _ in range(rng.randint(1, 9))],
            rng.choice([0.0, 0.3, 0.6, 0.9]),
            rng.randint(-4, 4),
            rng.randint(-4, 4),
        ]
        for i in range(n)
    ]


def changed(greys: list, stroke: list, grey: float, right: int, down: int) -> torch.Tensor:
    """The library's picture of such a change."""
    return displaced(brushed(torch.tensor(greys).view(1, 28, 28), stroke, grey), right, down)


@pytest.mark.parametrize("name", ["digits", "garments"])
def test_greys_shares_and_rollout_are_the_librarys(tab, address, name):
    page = tab()
    page.goto(address + PAGE)
    some = drawings(40) if name == "digits" else changes(40)
    found = page.evaluate(COMPUTE, [name, some])
    images = torch.stack([digit_image(o) if name == "digits" else changed(*o) for o in some])
    vit, names = getattr(stored, name)(), "encoder.blocks.*.self_attention.weights"
    with torch.no_grad(), record(vit, names) as seen:
        shares = vit(images).softmax(dim=-1)
    reached = rollout(seen.all(names))[:, 0]
    for (grey, share, reach), *expected in zip(found, images, shares, reached, strict=True):
        exact = 0 if name == "digits" else 1e-6  # a brush's edge is no share of whole pixels
        assert torch.allclose(torch.tensor(grey), expected[0].flatten(), rtol=0, atol=exact)
        assert torch.allclose(torch.tensor(share), expected[1], rtol=0, atol=TOLERANCE)
        assert torch.allclose(torch.tensor(reach), expected[2], rtol=0, atol=TOLERANCE)


@pytest.fixture(params=[(1280, False), (390, True)], ids=["mouse", "finger"])
def drawing(tab, address, request):
    width, touch = request.param
    page = tab(width, 900, has_touch=touch, is_mobile=touch)
    page.goto(f"{address}{PAGE}?only=digits")
    page.wait_for_function(EVERY_FIGURE)
    yield page, page.get_by_role("group", name=TITLE), page.asked
    assert not page.wrong


def stroke(page, box, points):
    """Draw with the mouse, or on a phone with a finger, in shares of the field."""
    field = box.locator(".lv-canvas")
    field.scroll_into_view_if_needed()
    at = field.bounding_box()
    (x, y), *others = [(at["x"] + at["width"] * u, at["y"] + at["height"] * v) for u, v in points]
    if page.evaluate("navigator.maxTouchPoints"):
        way = [(x, y)]
        for place in others:
            way += between(way[-1], place)[1:]
        swipe(page, way)
        return
    page.mouse.move(x, y)
    page.mouse.down()
    for x, y in others:
        page.mouse.move(x, y, steps=5)
    page.mouse.up()


def test_a_drawn_digit_is_read_and_cleared(drawing):
    page, box, asked = drawing
    assert not [url for url in asked if "/models/" in url]
    stroke(page, box, [(0.35, 0.1), (0.15, 0.6), (0.8, 0.6)])
    stroke(page, box, [(0.6, 0.35), (0.6, 0.95)])
    page.wait_for_function("document.querySelectorAll('.lv-classes li').length === 10")
    page.wait_for_function("document.body.innerText.includes('It says: 4')")
    assert [file_name(url) for url in asked if "/models/" in url] == ["digits.safetensors"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert box.locator(".lv-patch").count() == 16
    box.get_by_label("how much of each patch").check()
    shown = box.locator(".lv-patch").evaluate_all(
        "frames => frames.map(frame => Number(frame.style.fillOpacity))"
    )
    assert max(shown) == pytest.approx(0.75) and min(shown) < 0.75
    box.get_by_role("button", name="Clear").click()
    assert box.locator(".lv-classes li").count() == 0
    assert box.locator(".lv-canvas polyline").count() == 0


def test_the_examples_verdict_does_not_stay_beside_ones_own_digit(drawing):
    page, box, _ = drawing
    assert box.locator(".lv-classes li").count() == 10
    page.context.route("**/models/**", lambda route: route.fulfill(status=503))
    stroke(page, box, [(0.2, 0.1), (0.8, 0.1), (0.4, 0.9)])
    box.get_by_text("could not be fetched (503)").wait_for()
    assert box.locator(".lv-classes li").count() == 0
    assert box.locator(".lv-about").inner_text() == ""
    page.context.unroute("**/models/**")


def test_a_patch_that_is_pressed_meanwhile_does_not_end_the_reading(drawing):
    page, box, _ = drawing
    stroke(page, box, [(0.2, 0.1), (0.8, 0.1), (0.4, 0.9)])
    box.get_by_role("button", name=re.compile("^patch 3:")).click()
    box.get_by_text("It says:").wait_for()


def test_a_test_image_is_read_by_keyboard(drawing):
    page, box, _ = drawing
    box.get_by_role("button", name="a test image: 9").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('.lv-classes li').length === 10")
    nine = next(one["image"] for one in data.load("images", "test") if one["label"] == 9)
    with torch.no_grad():
        expected = stored.digits()(nine[None]).softmax(dim=-1)[0]
    assert box.locator(".lv-about").inner_text() == f"It says: {int(expected.argmax())}"
    told = box.locator(".lv-classes li small").all_inner_texts()
    share = 100 * float(expected.max())
    assert float(told[int(expected.argmax())].split()[0]) == pytest.approx(share, abs=0.1)


@pytest.mark.parametrize("kind", ["digits", "garments"])
def test_a_patch_is_pressed_and_its_position_compared(drawing, kind):
    """One is compared before anybody has pressed; no model is fetched for it."""
    page, box, asked = drawing
    if kind == "garments":
        garments(page, box)
    positions = getattr(stored, kind)().positions.detach()[1:]
    expected = cosines(positions, positions)
    grid = box.get_by_role("group", name="Positions of the patches").get_by_role("button")
    for i in (None, 9, 2):
        if i == 9:
            grid.nth(i).focus()
            page.keyboard.press("Enter")
        if i == 2:  # in the picture that the model sees: first row, third patch
            wide = box.locator(".lv-seen").bounding_box()["width"]
            box.locator(".lv-seen").click(position={"x": 0.6 * wide, "y": 0.1 * wide})
        (pressed,) = (
            at for at, one in enumerate(grid.all()) if "true" in one.get_attribute("aria-pressed")
        )
        assert i in (None, pressed)
        told = [float(text.replace("−", "-")) for text in grid.all_inner_texts()]
        assert told == pytest.approx(expected[pressed].tolist(), abs=0.006)
        assert told[pressed] == 1
    assert not [url for url in asked if "/models/" in url]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_dot_and_quick_clicks_have_an_answer(drawing):
    page, box, _ = drawing
    for _ in range(5):
        stroke(page, box, [(0.5, 0.5)])
        box.get_by_role("button", name="Clear").click()
    stroke(page, box, [(0.5, 0.5)])
    page.wait_for_function("document.querySelectorAll('.lv-classes li').length === 10")
    page.wait_for_function("document.querySelector('.lv-status') !== null")


def garments(page, box):
    """Choose garments; the first, a T-shirt, lies there."""
    box.get_by_label("What you draw").select_option("A garment")
    box.get_by_role("button", name="move it left").wait_for()


def greys(box):
    """What lies on the field, as numbers."""
    read = """(canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, 28, 28);
      return Array.from({ length: 784 }, (_, i) => data[4 * i + 3] / 255);
    }"""
    return torch.tensor(box.locator(".lv-canvas canvas").evaluate(read)).view(1, 28, 28)


def told(box):
    """The shares that stand there."""
    shares = box.locator(".lv-classes li small").all_inner_texts()
    return [0.0 if "<" in share else float(share.split()[0]) for share in shares]


def test_a_garment_is_changed_by_keyboard_and_read(drawing):
    page, box, asked = drawing
    shirt = data.ten_garments()[0]["image"]
    garments(page, box)
    assert box.locator(".lv-classes li").count() == 0  # the digit's verdict is gone
    assert torch.allclose(greys(box), shirt, atol=1e-6)
    assert not [url for url in asked if "/models/" in url]
    box.get_by_role("button", name="move it right").focus()
    page.keyboard.press("Enter")
    box.get_by_text("It says:").wait_for()
    assert [file_name(url) for url in asked if "/models/" in url] == ["garments.safetensors"]
    assert box.get_by_role("button", name="Rub out a patch").is_disabled()
    patch = box.get_by_role("group", name="Positions of the patches").get_by_role("button").nth(4)
    patch.focus()
    page.keyboard.press("Enter")
    rub = box.get_by_role("button", name="Rub out patch 5")
    rub.focus()
    page.keyboard.press("Enter")
    sleeveless = displaced(shirt, 1, 0)
    sleeveless[0, 7:14, :7] = 0
    with torch.no_grad():
        expected = 100 * stored.garments()(sleeveless[None]).softmax(dim=-1)[0]
    page.wait_for_function(
        """([at, share]) => {
          const told = document.querySelectorAll(".lv-classes small")[at].textContent;
          return Math.abs(parseFloat(told) - share) < 0.11;
        }""",
        arg=[int(expected.argmax()), float(expected.max())],
    )
    assert torch.allclose(greys(box), sleeveless, atol=1e-6)
    assert told(box) == pytest.approx(expected.tolist(), abs=0.11)
    assert box.locator(".lv-about").first.inner_text() == (
        f"It says: {data.GARMENTS[int(expected.argmax())]}"
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_garment_is_drawn_and_rubbed_out(drawing):
    page, box, _ = drawing
    garments(page, box)
    box.get_by_role("button", name="bag").click()
    box.get_by_text("It says:").wait_for()
    before = data.ten_garments()[8]["image"]
    for brush, grey in (("strong", 0.9), ("rubs out", 0.0)):
        box.get_by_label("Brush").select_option(brush)
        stroke(page, box, [(0.2, 0.5), (0.8, 0.5)])
        assert (greys(box)[0, 13:15, 8:20] - grey).abs().max() < 0.05
        assert torch.equal(greys(box)[0, :8] > 0, before[0, :8] > 0)
    page.wait_for_function("document.querySelectorAll('.lv-classes li').length === 10")
    box.get_by_role("button", name="bag").click()
    assert torch.allclose(greys(box), before, atol=1e-6)
    box.get_by_role("button", name="Clear").click()
    assert not greys(box).any()


def test_the_first_stroke_takes_away_the_garment_that_nobody_chose(drawing):
    page, box, _ = drawing
    garments(page, box)
    stroke(page, box, [(0.2, 0.5), (0.8, 0.5)])
    assert greys(box)[0, 13:15, 8:20].min() > 0.8
    assert not greys(box)[0, :10].any(), "the T-shirt is gone"
    stroke(page, box, [(0.2, 0.2), (0.8, 0.2)])
    assert greys(box)[0, 13:15, 8:20].min() > 0.8, "one's own stroke stays"


def test_the_first_garment_can_be_rubbed_out_and_moved(drawing):
    page, box, _ = drawing
    shirt = data.ten_garments()[0]["image"]
    garments(page, box)
    box.get_by_label("Brush").select_option("rubs out")
    stroke(page, box, [(0.2, 0.5), (0.8, 0.5)])
    assert torch.equal(greys(box)[0, :8] > 0, shirt[0, :8] > 0)
    box.get_by_label("Brush").select_option("strong")
    stroke(page, box, [(0.2, 0.5), (0.8, 0.5)])
    assert torch.equal(greys(box)[0, :8] > 0, shirt[0, :8] > 0), "it has been changed: it stays"


def test_what_was_drawn_of_the_other_kind_stays(drawing):
    page, box, _ = drawing
    stroke(page, box, [(0.35, 0.1), (0.15, 0.6), (0.8, 0.6)])
    box.get_by_text("It says:").wait_for()
    garments(page, box)
    assert box.locator(".lv-canvas polyline").count() == 0
    box.get_by_role("button", name=re.compile("^patch 3:")).click()
    box.get_by_label("What you draw").select_option("A digit")
    assert box.locator(".lv-canvas polyline").count() == 1
    box.get_by_text("It says:").wait_for()
    (pressed,) = box.locator(".lv-positions [aria-pressed=true]").all()
    assert pressed.get_attribute("aria-label") == "patch 6: 1.00"  # the digits' again, as at first


def test_a_garments_model_that_does_not_come_leaves_no_verdict(drawing):
    page, box, _ = drawing
    garments(page, box)
    page.context.route("**/models/**", lambda route: route.fulfill(status=503))
    box.get_by_role("button", name="coat").click()
    box.get_by_text("could not be fetched (503)").wait_for()
    assert box.locator(".lv-classes li").count() == 0
    page.context.unroute("**/models/**")
    box.get_by_role("button", name="coat").click()
    box.get_by_text("It says:").wait_for()


def test_how_far_to_believe_it_stands_behind_the_figure(drawing):
    page, _, _ = drawing
    lines = page.locator(".live[data-live*=kinds] ~ .lv-rounding").all_inner_texts()
    found = results.load("drawn_garments")["results"]
    assert f"{100 * found['stored']['test']:.1f} % of 10,000 test pictures" in lines[1]
    assert f"of ten outlines by this brush {found['outlines']['right']}" in lines[1]


def test_axe_finds_nothing(live):
    page = live(path=PAGE)
    box = page.get_by_role("group", name=TITLE)
    for kind, button in (("A digit", "a test image: 4"), ("A garment", "coat")):
        box.get_by_label("What you draw").select_option(kind)
        box.get_by_role("button", name=button).click()
        box.get_by_text("It says:").wait_for()
        assert axe.by_day_and_night(page, ".live[data-live*=kinds]") == []
