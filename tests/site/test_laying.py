"""On a phone a long page is laid out a little at a time: first what is near the screen, the rest when
the page stands, in short turns.
"""

import pytest
from live_page import EVERY_FIGURE

pytestmark = pytest.mark.browser
PAGE = "notebooks/05_encoder.html"
# what is still passed over while it is far from the screen
PASSED_OVER = """() => [...document.querySelectorAll(".bd-article *")]
  .filter((e) => getComputedStyle(e).contentVisibility === "auto").length"""
AT_LOAD = f"""addEventListener("load", () => {{
  window.passedOver = ({PASSED_OVER})();
  window.seenAtLoad = document.querySelector("#exercises .cell > *").checkVisibility({{ contentVisibilityAuto: true }});
}})"""
HEIGHT = "document.querySelector('.bd-article').getBoundingClientRect().height"


def test_what_is_below_is_laid_out_once_the_page_stands(tab, address):
    page = tab(390, 844, init=AT_LOAD)
    page.goto(address + PAGE)
    page.wait_for_function(EVERY_FIGURE)
    assert page.evaluate("passedOver") > 100 and not page.evaluate("seenAtLoad")
    assert page.evaluate(PASSED_OVER) == 0
    laid = page.evaluate(HEIGHT)
    page.goto(address + PAGE + "#exercises")
    page.reload()
    page.wait_for_function(EVERY_FIGURE)
    assert page.evaluate(HEIGHT) == pytest.approx(laid, abs=1)


@pytest.mark.parametrize(
    ("width", "where"), [(1360, ""), (390, "#exercises")], ids=["desk", "link"]
)
def test_it_is_laid_out_at_once(tab, address, width, where):
    """On a desk, and where the address leads further down."""
    page = tab(width, 844, init=AT_LOAD)
    page.goto(address + PAGE + where)
    page.wait_for_load_state()
    assert page.evaluate("passedOver") == 0
