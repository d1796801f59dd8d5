"""What one has read: kept in the browser alone, marked in the list of pages and on the cards, with a
way on, and forgotten at a press.
"""

import axe
import pytest
from sitemap import pages

pytestmark = pytest.mark.browser
WELCOME, CHAPTER = pages()[0], "notebooks/05_encoder.html"
KEPT = "Object.keys(localStorage).filter((key) => key.startsWith('course-read'))"
LINK = '.bd-docs-nav a[href*="05_encoder"]'


def has_read(page, *lines: str) -> None:
    """As if these chapters had been read so far: "05_encoder 2/7"."""
    page.evaluate("kept => localStorage.setItem('course-read', JSON.stringify(kept))", lines)
    page.reload()


def section(page, n: int) -> None:
    """Read a section to its end, for six seconds of the page's clock."""
    page.locator(".bd-article > section > section").nth(n).evaluate("""(one) => {
      scrollTo({ top: scrollY + one.getBoundingClientRect().bottom - 0.45 * innerHeight, behavior: "instant" });
      return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); }""")
    page.wait_for_timeout(300)
    page.clock.run_for(6000)


def test_a_section_is_read_after_a_while_and_marked(tab, address):
    page = tab(1360, 900)
    page.clock.install()
    page.goto(address + CHAPTER)
    page.locator(".read-by-hand").wait_for(state="attached")
    page.clock.run_for(3000)
    assert page.evaluate(KEPT) == []
    section(page, 0)
    section(page, 1)
    mark = page.locator(".bd-docs-nav .current .read-mark")
    mark.wait_for()
    n = page.locator(
        ".bd-article > section > section:not(.end-card, #exercises, #references)"
    ).count()
    assert mark.get_attribute("aria-label") == f"2 of {n} sections read"
    assert len(page.evaluate("JSON.parse(localStorage['course-read:05_encoder'])")) == 2
    page.evaluate("scrollTo(0, 1e6)")  # a jump to the end reads nothing
    page.clock.run_for(1000)
    assert mark.get_attribute("aria-label") == f"2 of {n} sections read"
    assert not page.wrong


def test_by_hand_and_back(tab, address):
    page = tab(1360, 900)
    page.goto(address + CHAPTER)
    box = page.get_by_label("I have read this chapter")
    box.check()
    mark = page.locator(".bd-docs-nav .current .read-mark")
    assert mark.get_attribute("aria-label") == "read"
    page.reload()
    assert box.is_checked()
    assert mark.count() == 1
    box.uncheck()
    assert mark.count() == 0
    assert page.evaluate(KEPT) == []


def test_a_chapter_that_gained_a_section_is_counted_anew(tab, address):
    page = tab(1360, 900)
    page.goto(address + CHAPTER)
    page.get_by_label("I have read this chapter").check()
    n = page.evaluate("""() => {
      const ids = JSON.parse(localStorage["course-read:05_encoder"]), before = ids.length - 1;
      localStorage["course-read:05_encoder"] = JSON.stringify(ids.slice(1));
      localStorage["course-read"] = JSON.stringify([`05_encoder ${before}/${before}`, "06_decoder 1/9"]);
      return ids.length; }""")
    page.reload()
    mark = page.locator(".bd-docs-nav a.current .read-mark")
    assert mark.get_attribute("aria-label") == f"{n - 1} of {n} sections read"
    kept = page.evaluate("JSON.parse(localStorage['course-read'])")
    assert kept == [f"05_encoder {n - 1}/{n}", "06_decoder 1/9"], "which was read last is as before"
    page.evaluate("localStorage['course-read:05_encoder'] = '[\"what-is-no-more\"]'")
    page.reload()
    assert mark.count() == 0
    assert page.evaluate("JSON.parse(localStorage['course-read'])") == ["06_decoder 1/9"]


def test_where_nothing_can_be_kept_it_holds_for_the_visit(tab, address):
    page = tab(1360, 900)
    page.goto(address + CHAPTER)
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    box = page.get_by_label("I have read this chapter")
    box.check()
    mark = page.locator(".bd-docs-nav .current .read-mark")
    assert box.is_checked() and mark.get_attribute("aria-label") == "read"
    assert page.evaluate(KEPT) == []
    box.uncheck()
    assert mark.count() == 0 and not page.wrong


def test_what_is_forgotten_elsewhere_is_not_noted_again(tab, address):
    page = tab(1360, 900)
    page.clock.install()
    page.goto(address + CHAPTER)
    page.locator(".read-by-hand").wait_for(state="attached")
    section(page, 0)
    mark = page.locator(".bd-docs-nav .current .read-mark")
    mark.wait_for()
    page.evaluate("""() => {
      for (const key of Object.keys(localStorage)) localStorage.removeItem(key);
      dispatchEvent(new StorageEvent("storage", { key: null })); }""")
    assert mark.count() == 0
    page.clock.run_for(2000)
    assert page.evaluate(KEPT) == []


def test_the_welcome_page_says_where_to_go_on_and_forgets(tab, address):
    page = tab(1360, 900)
    page.goto(address + WELCOME)
    assert page.locator(".go-on, .read-mark, .card-read").count() == 0
    assert page.locator(".read-so-far").inner_text() == ""
    has_read(page, "02_self_attention 9/9", "05_encoder 2/7")
    on = page.get_by_role("link", name="Go on with chapter 5", exact=True)
    assert on.get_attribute("href").endswith(CHAPTER)
    of_all = sum(one.startswith("notebooks/") for one in pages())  # 18 chapters on more pages
    assert f"1 of {of_all} pages" in page.locator(".read-so-far").inner_text()
    assert "2 of 7 sections of chapter 5" in page.locator(".read-so-far").inner_text()
    assert page.locator(".card-read").all_text_contents() == ["Read", "2 of 7 sections read"]
    assert (
        page.locator(".bd-docs-nav")
        .get_by_role("link", name="5. The encoder 2 of 7 sections read")
        .is_visible()
    )
    asked = len(page.asked)
    page.get_by_role("button", name="Forget it").click()
    assert page.locator(".go-on, .read-mark, .card-read").count() == 0
    assert "Forgotten" in page.locator(".read-so-far").inner_text()
    assert page.evaluate(KEPT) == []
    assert page.locator(".start a:focus").inner_text() == "Start with chapter 2"
    # a card that comes nearer may fetch its own picture
    pictures = page.evaluate("() => [...document.images].map((image) => image.currentSrc)")
    assert not set(page.asked[asked:]) - set(pictures), "nothing is sent anywhere"
    assert not page.wrong


@pytest.mark.parametrize(
    ("kept", "on"),
    [
        (["05_encoder 7/7"], "Go on with chapter 6"),
        (["13_pretraining 7/7"], "Go on with “How sure can we be?”"),
        (["06_decoder 1/9", "18b_what_it_costs 7/7"], "Go on with chapter 1"),
    ],
)
def test_the_way_on_is_the_next_that_is_not_read(tab, address, kept, on):
    page = tab(1360, 900)
    page.goto(address + WELCOME)
    has_read(page, *kept)
    assert page.locator(".go-on").inner_text() == on


@pytest.mark.parametrize("kept", ["{", "[1]", '["../x 1/2", "nothing 1/2", "05_encoder"]', '""'])
def test_what_others_have_kept_is_no_progress(tab, address, kept):
    page = tab(1360, 900)
    page.goto(address + WELCOME)
    page.evaluate("kept => localStorage.setItem('course-read', kept)", kept)
    page.reload()
    page.wait_for_load_state("networkidle")
    assert page.locator(".go-on, .read-mark").count() == 0
    assert not page.wrong


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1360, 390])
def test_it_is_accessible_and_fits(tab, address, scheme, width):
    page = tab(width, 844, color_scheme=scheme)
    page.goto(address + WELCOME)
    has_read(page, "02_self_attention 9/9", "05_encoder 2/7")
    page.locator(".go-on").wait_for()
    assert not axe.objections(page, "body", scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_paper_and_without_scripts_there_is_none_of_it(tab, address):
    page = tab(1360, 900)
    page.goto(address + WELCOME)
    has_read(page, "02_self_attention 9/9", "05_encoder 2/7")
    page.locator(".go-on").wait_for()
    page.emulate_media(media="print")
    for shown in (".go-on", ".read-so-far", ".card-read", ".read-mark"):
        assert not page.locator(shown).first.is_visible()
    page = tab(java_script_enabled=False)
    page.goto(address + CHAPTER)
    assert page.locator(".read-mark, .read-by-hand").count() == 0
