"""Tables and formulas that can be scrolled sideways say so: they fade where they go on."""

import pytest

pytestmark = pytest.mark.browser
EDGES = """() => [...document.querySelectorAll(".pst-scrollable-table-container")].map((e) => ({
  hidden: e.scrollWidth - e.clientWidth > 1,
  end: parseFloat(getComputedStyle(e).getPropertyValue("--fade-end")),
  start: parseFloat(getComputedStyle(e).getPropertyValue("--fade-start")),
}))"""


@pytest.mark.parametrize("chapter", ["08b_judging", "14b_words_and_spans", "14_fine_tuning"])
def test_what_goes_on_fades_at_its_end(live, chapter):
    page = live(width=390, path=f"notebooks/{chapter}.html")
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    page.wait_for_timeout(200)
    seen = page.evaluate(EDGES)
    assert any(one["hidden"] for one in seen)
    for one in seen:
        assert (one["end"] > 20) == one["hidden"] and one["start"] == 0


def test_scrolled_to_its_end_it_fades_at_its_beginning(live):
    page = live(width=390, path="notebooks/14_fine_tuning.html")
    page.evaluate(
        "document.querySelectorAll('.pst-scrollable-table-container').forEach(e => e.scrollLeft = 9999)"
    )
    page.wait_for_timeout(200)
    for one in page.evaluate(EDGES):
        assert one["end"] == 0 and (one["start"] > 20) == one["hidden"]


def test_where_all_is_seen_nothing_fades(live):
    page = live(width=1360, path="notebooks/10b_agreement.html")
    assert all(one["start"] == one["end"] == 0 for one in page.evaluate(EDGES))


@pytest.mark.parametrize("width", [1200, 1280, 1360, 1440])
def test_with_three_columns_no_line_of_code_and_no_drawing_is_cut(live, width):
    page = live(width=width, path="notebooks/06_decoder.html")
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".bd-article :is(.cell_input pre, .drawing .scroll)")]
          .filter((e) => e.clientWidth && e.scrollWidth > e.clientWidth + 1).map((e) => [e.clientWidth, e.scrollWidth])"""
    )
    assert cut == []
