"""Mechanisms in motion: their numbers are the library's, and they answer to mouse, finger and
keyboard.
"""

import ast
import json

import pytest
import torch
from live_page import figure
from sitemap import ROOT

from lectures_lib import decoding
from lectures_lib.decoding import WithoutCache
from lectures_lib.models.transformer import Transformer, TransformerConfig

pytestmark = pytest.mark.browser
PAGE = "book/motion.html"
FILLING = "A cache that fills"
IN_CHAPTERS = {"09b_cache": "filling"}


def number(text: str) -> float:
    """What a figure shows, as a number."""
    return float(text.replace("−", "-").replace(",", "").split()[0])


def in_chapter(chapter: str, name: str):
    """A function that a chapter defines."""
    tree = ast.parse((ROOT / "notebooks" / f"{chapter}.py").read_text())
    (found,) = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
    space: dict = {}
    exec(compile(ast.Module([found], []), chapter, "exec"), space)
    return space[name]


def cells(box, row: int) -> list[float]:
    """The numbers in a row of the table of counts."""
    texts = box.locator(".lv-counts tbody tr").nth(row).locator("td").all_inner_texts()
    return [number(text) for text in texts[:2]]


def test_counts_are_those_of_a_decoder(computing):
    torch.manual_seed(0)
    sizes = {"d_model": 8, "n_heads": 2, "n_layers": 2, "d_ff": 8, "max_len": 16}
    model = Transformer(TransformerConfig(20, dropout=0.0, **sizes)).eval()
    counted = {}
    for cache, decoder in ((True, model), (False, WithoutCache(model))):
        positions = []
        hook = model.decoder.blocks[0].self_attention.W_K.register_forward_hook(
            lambda _, args, out, positions=positions: positions.append(out.shape[1])
        )
        text = torch.randint(3, 20, (1, 5))
        decoding.greedy(decoder, text, begin=1, end=2, max_len=9, never=[2])
        hook.remove()
        counted[cache] = [positions, torch.tensor(positions).cumsum(0).tolist()]
    found = computing.evaluate(
        """async () => {
          const { inStep, soFar } = await import("/live/filling.js");
          const steps = Array.from({ length: 9 }, (_, i) => i + 1);
          return [true, false].map((cache) => [inStep, soFar].map((count) => steps.map((step) => count(step, cache))));
        }"""
    )
    assert found == [counted[True], counted[False]]


def test_multiply_adds_are_the_chapters(computing):
    expected = in_chapter("09b_cache", "multiply_adds")
    asked = [(n, d, cache) for n in (1, 16, 20, 128) for d in (256, 512) for cache in (True, False)]
    found = computing.evaluate(
        """async (asked) => {
          const { multiplyAdds } = await import("/live/filling.js");
          return asked.map(([n, d, cache]) => multiplyAdds(n, { d, cache }));
        }""",
        asked,
    )
    assert found == [expected(n, d=d, cache=cache) for n, d, cache in asked]


def test_a_cache_fills_step_by_step(live):
    page = live(path=PAGE)
    box = figure(page, FILLING)
    step = box.get_by_role("slider", name="Step")
    for _ in range(3):
        box.get_by_role("button", name="One step").click()
    without, kept = (
        [li.get_attribute("data-kind") for li in box.locator(f".lv-columns >> nth={i} >> li").all()]
        for i in (0, 1)
    )
    assert without == ["again", "again", "new"] + 5 * ["none"]
    assert kept == ["kept", "kept", "new"] + 5 * ["none"]
    assert cells(box, 0) == [6, 3]
    assert "Without a cache: 3 columns" in box.locator(".lv-side").first.inner_text()
    assert "With a cache: 1 column in" in box.locator(".lv-side").last.inner_text()
    step.focus()
    page.keyboard.press("End")
    assert cells(box, 0) == [36, 8]
    assert "= 8 · 9 / 2 = 36. With: 8" in box.locator(".lv-about").last.inner_text()
    expected = in_chapter("09b_cache", "multiply_adds")
    assert cells(box, 1) == [round(expected(8, cache=cache) / 1e6) for cache in (False, True)]
    page.keyboard.press("ArrowLeft")
    assert cells(box, 0) == [28, 7]


def test_a_reader_writes_other_words(live):
    box = figure(live(path=PAGE), FILLING)
    words = box.get_by_label("The words that are written")
    words.fill(" ".join(["na"] * 20))
    box.get_by_role("slider", name="Step").press("End")
    assert cells(box, 0) == [210, 20]
    words.fill("na " * 30)
    assert "6 are left out" in box.get_by_role("status").inner_text()
    words.fill(" ")
    assert "Type a word" in box.get_by_role("status").inner_text()
    assert cells(box, 0) == [0, 0]
    box.get_by_role("button", name="Play").click()
    box.get_by_role("button", name="Play").wait_for()


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_it_plays_and_pauses(live, motion):
    page = live(390, path=PAGE, has_touch=True, is_mobile=True, reduced_motion=motion)
    box = figure(page, FILLING)
    step = box.get_by_role("slider", name="Step")
    box.get_by_role("button", name="Play").tap()
    page.wait_for_function("input => Number(input.value) >= 2", arg=step.element_handle())
    box.get_by_role("button", name="Pause").tap()
    at = step.input_value()
    page.wait_for_timeout(1200)
    assert step.input_value() == at
    style = "one => getComputedStyle(one).animationName"
    flashes = box.locator('.lv-columns [data-kind="new"] b').first.evaluate(style)
    assert (flashes == "none") == (motion == "reduce")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(live, theme):
    page = live(path=PAGE, color_scheme=theme, reduced_motion="reduce")
    figure(page, FILLING).get_by_role("slider", name="Step").press("End")
    page.evaluate((ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text())
    found = page.evaluate(
        "() => axe.run('.live').then(found => "
        "JSON.stringify(found.violations.map(v => [v.id, v.nodes[0].html])))"
    )
    assert json.loads(found) == []


@pytest.mark.parametrize("chapter", IN_CHAPTERS)
def test_a_chapter_has_its_figure(live, chapter):
    page = live(390, path=f"notebooks/{chapter}.html")
    host = page.locator(".live[data-live]").filter(has=page.get_by_role("group"))
    names = host.evaluate_all("all => all.map(one => JSON.parse(one.dataset.live).figure)")
    assert IN_CHAPTERS[chapter] in names
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not [url for url in page.asked if "/models/" in url]


def test_without_scripts_an_example_stands_there(live):
    page = live(path=PAGE, java_script_enabled=False)
    stills = page.locator(".lv-still pre")
    assert stills.count() == len(IN_CHAPTERS)
    assert "1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 = 36" in stills.first.inner_text()
