"""The pages "Type your own", as their tests use them."""

import json
import re

import lxml.html
from sitemap import ROOT

OVERVIEW = "book/live.html"
# The page of each figure, and the figures of each page in their order.
PAGE_OF = {
    name: f"book/your_own/{page.stem}.html"
    for page in sorted((ROOT / "book" / "your_own").glob("*.md"))
    for name in re.findall(r"^```\{live\} (\w+)", page.read_text("utf-8"), re.MULTILINE)
}
YOUR_OWN = {page: [name for name in PAGE_OF if PAGE_OF[name] == page] for page in PAGE_OF.values()}
ADDRESS = PAGE_OF["reader"]  # one of them, for tests that need no more
# The live figures of each chapter, in their order.
IN_CHAPTERS = {
    "01_bottleneck": ["gate"],
    "02_self_attention": ["reader"],
    "03_multi_head_attention": ["reader"],
    "05_encoder": ["stream"],
    "06_decoder": ["dates", "at_work"],
    "07_subwords": ["pieces"],
    "07b_wordpiece": ["pieces"],
    "08_training": ["smoothing"],
    "08b_judging": ["translator"],
    "09_generating": ["writer", "beams"],
    "09b_cache": ["remembering", "filling"],
    "10_language_model": ["writer"],
    "10b_agreement": ["agreement"],
    "11_vision_transformer": ["digits"],
    "11b_attention_or_convolution": ["digits"],
    "12_bert": ["reader"],
    "13_pretraining": ["dice", "filler"],
    "13b_how_sure": ["examining"],
    "13c_choices": ["hiding"],
    "14_fine_tuning": ["similarity", "sentiment"],
    "14b_words_and_spans": ["entities", "answers"],
    "15_features": ["senses"],
    "15b_which_layers": ["mixing"],
    "16_what_bert_learns": ["reader"],
    "16b_probing": ["probes"],
    "16c_trees": ["linking"],
    "17_sentence_bert": ["nearness", "pulling"],
    "17b_searching": ["sentence_map"],
    "18_after_bert": ["filler"],
    "18b_what_it_costs": ["reader"],
}
PAPER = 718  # pixels between the margins of A4
# A figure's module is fetched when the page has loaded: until then its place holds the example. On a
# phone what is below is laid out only then, too (laying.js).
EVERY_FIGURE = """() => [...document.querySelectorAll(".live[data-live]")].every(
  (place) => place.classList.contains("lv-on")) &&
  !("laying" in document.documentElement.dataset)"""
# JavaScript in the page: its own modules, from the site's server.
MODULES = """async () => {
  const [tensors, models, tokens, choosing] = await Promise.all(
    ["tensors", "models", "tokens", "choosing"].map((name) => import(`/live/${name}.js`)));
  const fetched = async (path) => (await fetch(`/live/models/${path}`)).arrayBuffer();
  const load = async (Model, name, ...more) => new models[Model](tensors.readSafetensors(await fetched(`${name}.safetensors`)), ...more);
  const bpe = async (name) => new tokens.BPE(JSON.parse(new TextDecoder().decode(await fetched(`${name}.json`))));
  window.live = { ...tensors, ...models, ...choosing, load, bpe };
}"""


def with_one_figure(page: bytes, name: str) -> bytes:
    """A page without its live figures, but for this one."""
    tree = lxml.html.fromstring(page)
    places = tree.xpath("//*[@data-live]")
    kept = [place for place in places if json.loads(place.get("data-live"))["figure"] == name]
    assert kept, f"no figure {name}"
    for place in places:
        if place not in kept:
            place.drop_tree()
    return b"<!DOCTYPE html>" + lxml.html.tostring(tree, encoding="utf-8")


def file_name(url: str) -> str:
    """Of a file that a page has asked for; without its digest."""
    return url.rsplit("/", 1)[1].split("?")[0]


def figure(page, title):
    """A live figure by its title."""
    return page.get_by_role("group", name=title)


# It has come to rest: neither fetching nor computing.
AT_REST = """(box) => {
  const said = box.querySelector("[role=status]").textContent, go = box.querySelector(".lv-go");
  return !/Fetching|Starting|Computing|when you first/.test(said) && !go?.disabled;
}"""


def box_of(page, name):
    """A live figure by its name."""
    return page.locator(f'.live[data-live*=\'"figure": "{name}"\'] .lv-box[role=group]')


def said(box) -> str:
    """Its status line."""
    return box.get_by_role("status").inner_text()


def swipe(page, points):
    """Draw a finger over the page, as the browser itself takes it: what it may scroll, it scrolls."""
    session = page.context.new_cdp_session(page)
    for i, (x, y) in enumerate(points):
        kind = "touchMove" if i else "touchStart"
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


def between(begin, end, steps=8):
    """Points on the way from one to another, both included."""
    (x0, y0), (x1, y1) = begin, end
    return [(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps) for i in range(steps + 1)]


def press(locator) -> None:
    """By finger where the page has one, else by mouse."""
    if locator.page.evaluate("navigator.maxTouchPoints"):
        locator.tap()
    else:
        locator.click()
