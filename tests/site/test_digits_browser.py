"""The digit that a reader draws: the page makes the same greys of it as the library, and names the
same digit.
"""

import random

import pytest
import torch
from live_page import between, swipe

from lectures_lib import data, stored
from lectures_lib.analysis.rollout import rollout
from lectures_lib.blocks.recording import record
from lectures_lib.data.drawing import digit_image
from lectures_lib.tasks.sentence_bert import cosines

pytestmark = pytest.mark.browser
PAGE = "book/live.html"
TOLERANCE = 1e-5
COMPUTE = """async (drawings) => {
  const [tensors, models, drawing, choosing] = await Promise.all(
    ["tensors", "models", "drawing", "choosing"].map((name) => import(`/live/${name}.js`)));
  const file = await (await fetch("/live/models/digits.safetensors")).arrayBuffer();
  const vit = new models.ViT(tensors.readSafetensors(file));
  return drawings.map((strokes) => {
    const image = drawing.digitImage(strokes), attention = [];
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


def test_greys_shares_and_rollout_are_the_librarys(tab, address):
    page = tab()
    page.goto(address + PAGE)
    some = drawings(40)
    found = page.evaluate(COMPUTE, some)
    images = torch.stack([digit_image(strokes) for strokes in some])
    vit, names = stored.digits(), "encoder.blocks.*.self_attention.weights"
    with torch.no_grad(), record(vit, names) as seen:
        shares = vit(images).softmax(dim=-1)
    reached = rollout(seen.all(names))[:, 0]
    for (grey, share, reach), *expected in zip(found, images, shares, reached, strict=True):
        assert torch.equal(torch.tensor(grey), expected[0].flatten())
        assert torch.allclose(torch.tensor(share), expected[1], rtol=0, atol=TOLERANCE)
        assert torch.allclose(torch.tensor(reach), expected[2], rtol=0, atol=TOLERANCE)


def test_positions_are_as_alike_as_the_librarys(computing):
    positions = stored.digits().positions.detach()[1:]
    found = computing.evaluate(
        """async () => (await live.load("ViT", "digits")).placesAlike()""",
    )
    expected = cosines(positions, positions)
    torch.testing.assert_close(torch.tensor(found), expected, rtol=0, atol=TOLERANCE)


@pytest.fixture(params=[(1280, False), (390, True)], ids=["mouse", "finger"])
def drawing(tab, address, request):
    width, touch = request.param
    page = tab(width, 900, has_touch=touch, is_mobile=touch)
    page.goto(address + PAGE)
    yield page, page.get_by_role("group", name="A digit that you draw"), page.asked
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
    assert [url.rsplit("/", 1)[1] for url in asked if "/models/" in url] == ["digits.safetensors"]
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
    box.get_by_role("button", name="patch 3", exact=True).click()
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


def test_a_patch_is_pressed_and_its_position_compared(drawing):
    page, box, asked = drawing
    positions = stored.digits().positions.detach()[1:]
    expected = cosines(positions, positions)
    grid = box.get_by_role("group", name="Positions of the patches").get_by_role("button")
    grid.nth(15).wait_for()
    assert not [url for url in asked if "/models/" in url]
    grid.nth(5).focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('.lv-positions button').textContent !== ''")
    for i in (5, 2):
        if i == 2:  # in the picture that the model sees: first row, third patch
            wide = box.locator(".lv-seen").bounding_box()["width"]
            box.locator(".lv-seen").click(position={"x": 0.6 * wide, "y": 0.1 * wide})
            page.wait_for_function(
                "document.querySelectorAll('.lv-positions button')[2].ariaPressed === 'true'"
            )
        told = [float(text.replace("−", "-")) for text in grid.all_inner_texts()]
        assert told == pytest.approx(expected[i].tolist(), abs=0.006)
        assert box.locator(".lv-positions [aria-pressed=true]").inner_text() == "1.00"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_dot_and_quick_clicks_have_an_answer(drawing):
    page, box, _ = drawing
    for _ in range(5):
        stroke(page, box, [(0.5, 0.5)])
        box.get_by_role("button", name="Clear").click()
    stroke(page, box, [(0.5, 0.5)])
    page.wait_for_function("document.querySelectorAll('.lv-classes li').length === 10")
    page.wait_for_function("document.querySelector('.lv-status') !== null")
