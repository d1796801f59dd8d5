"""Dials under mouse and keyboard: at every place of the slider the library's numbers; they run and
pause.
"""

import json

import pytest
import torch
from sitemap import ROOT

from lectures_lib.show.dial import ClockDial, SoftmaxDial

pytestmark = pytest.mark.browser
SCORES = torch.tensor([1.3, 0.4, 0.1, -0.8])
BY_FACTOR = SoftmaxDial(SCORES, list("abcd"), title="by factor")
HEATED = SoftmaxDial(
    SCORES, list("abcd"), by="temperature", least=0.1, most=4.0, title="by temperature"
)
CLOCKS = ClockDial(8, most=200, start=3, title="clocks")


@pytest.fixture(scope="module")
def source() -> str:
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<title>Dials</title>"
    )
    dials = "".join(dial._repr_html_() for dial in (BY_FACTOR, HEATED, CLOCKS))
    return (
        f'<!doctype html><html lang="en"><head>{head}</head><body><main><h1>Dials</h1>{dials}'
        f"</main></body></html>"
    )


def dial(page, title):
    return page.get_by_role("group", name=title)


@pytest.mark.parametrize(("shown", "name"), [(BY_FACTOR, "by factor"), (HEATED, "by temperature")])
def test_bars_are_the_librarys_shares(open_page, shown, name):
    box = dial(open_page(), name)
    slider = box.get_by_role("slider")
    for key in ("Home", "PageUp", "PageUp", "ArrowRight", "End"):
        slider.focus()
        slider.press(key)
        value = float(slider.get_attribute("aria-valuetext"))
        found = [float(text) for text in box.locator("svg text:not(.dl-quiet)").all_text_contents()]
        # the value is shown with two digits, which at a low temperature moves a share
        near = [shown.shares(v) for v in (max(value - 0.005, 0.0996), value + 0.005)]
        for share, one, other in zip(found, *near, strict=True):
            assert min(one, other) - 0.006 <= share <= max(one, other) + 0.006


@pytest.mark.parametrize("name", ["by factor", "by temperature"])
def test_one_comes_back_to_where_it_began(open_page, name):
    slider = dial(open_page(), name).get_by_role("slider")
    assert slider.get_attribute("aria-valuetext") == "1.00"
    for keys in (["ArrowRight", "ArrowLeft"], ["ArrowLeft"] * 3 + ["ArrowRight"] * 3):
        for key in keys:
            slider.press(key)
        assert slider.get_attribute("aria-valuetext") == "1.00"
    ends = {"by factor": ("0.00", "16.00"), "by temperature": ("0.10", "4.00")}[name]
    for key, end in zip(("Home", "End"), ends, strict=True):
        slider.press(key)
        assert slider.get_attribute("aria-valuetext") == end


def test_what_is_said_of_the_bars(open_page):
    """Of a temperature the entropy, which chapter 9 has explained; of a factor it has not been."""
    page = open_page()
    said = {
        name: dial(page, name).locator(".dl-says").inner_text()
        for name in ("by factor", "by temperature")
    }
    assert said["by factor"] == "Largest share 0.546, smallest 0.067."
    assert said["by temperature"].endswith("entropy 1.14 of 1.39 nats.")


def test_hands_are_the_librarys_positions(open_page):
    box = dial(open_page(), "clocks")
    slider = box.get_by_role("slider")
    for position in (0, 7, 200):
        slider.fill(str(position))
        said = box.locator(".dl-says").inner_text().split("(")[1].rstrip(")")
        found = [float(number.replace("−", "-")) for number in said.split(", ")]
        assert torch.allclose(
            torch.tensor(found), CLOCKS.hands(position).flatten(), rtol=0, atol=0.0051
        )


def test_clocks_run_and_pause(open_page):
    page = open_page()
    box = dial(page, "clocks")
    box.get_by_role("button", name="Run").click()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.dial')].at(-1).shadowRoot"
        ".querySelector('output').textContent !== '3'"
    )
    box.get_by_role("button", name="Pause").click()
    at = box.locator("output").inner_text()
    page.wait_for_timeout(700)
    assert box.locator("output").inner_text() == at


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_who_asked_for_less_motion_gets_single_steps(timed, source, tmp_path, motion):
    (tmp_path / "page.html").write_text(source, encoding="utf-8")
    page = timed((tmp_path / "page.html").as_uri(), motion)
    box = dial(page, "clocks")
    box.get_by_role("button", name="Run").click()
    seen = []
    for _ in range(9):
        page.clock.run_for(300)
        seen.append(box.locator(".dl-says").inner_text())
    box.get_by_role("button", name="Pause").click()
    page.clock.run_for(3000)
    assert box.locator(".dl-says").inner_text() == seen[-1]
    if motion == "no-preference":
        assert len(set(seen)) == len(seen), "the hands turn"
        return
    slider = box.get_by_role("slider")
    for place, said in enumerate(seen):
        slider.fill(str(3 + (place + 1) // 3))  # a whole position in 0.9 seconds, from 3 on
        assert box.locator(".dl-says").inner_text() == said


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page, scheme):
    page = open_page(color_scheme=scheme)
    page.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
    page.evaluate((ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text())
    found = page.evaluate(
        "() => axe.run().then(found => "
        "JSON.stringify(found.violations.map(v => [v.id, v.nodes[0].html])))"
    )
    assert json.loads(found) == []


def test_on_a_phone_nothing_sticks_out(open_page):
    page = open_page(390)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts_a_table_stands_there(open_page):
    page = open_page(java_script_enabled=False)
    assert page.locator("table").count() == 3
    assert page.locator("input").count() == 0
