"""The front page: two ways in, a sentence of one's own, and a card for every chapter; how a page
looks without scripts and on paper.
"""

import json

import pytest
from bs4 import BeautifulSoup
from live_page import file_name
from PIL import Image, ImageStat
from sitemap import ROOT, pages

SENTENCE = "the keys to the cabinet are on the table"
CHAPTERS = [page for page in pages() if page.startswith("notebooks/")]


@pytest.fixture(scope="module")
def front(html):
    return BeautifulSoup((html / pages()[0]).read_text(encoding="utf-8"), "html.parser").main


def test_two_ways_in(front):
    start, colab = front.select(".start a")
    assert start.get_text() == "Start with chapter 2"
    assert start["href"] == "../notebooks/02_self_attention.html"
    assert colab["href"].startswith("https://colab.research.google.com/github/")
    assert colab["href"].endswith("/blob/main/notebooks/02_self_attention.ipynb")


def test_a_card_for_each_chapter_in_order(front, html):
    cards = front.select(".chapter-cards a")
    assert [card["href"].removeprefix("../") for card in cards] == CHAPTERS
    titles = [card.select_one(".card-title").get_text() for card in cards]
    # the page between chapters 13 and 14 has no number
    titles.remove("How sure can we be?")
    for path, title in zip([c for c in CHAPTERS if "13b" not in c], titles, strict=True):
        number = path.removeprefix("notebooks/").split("_")[0].lstrip("0")
        assert title.startswith(f"{number}. ")
    for card in cards:
        assert card.select_one(".card-able").get_text().endswith(".")
        light, dark = (brightness(html, image) for image in card.select("img"))
        grey = 140 if "11b_" in card["href"] else 80  # 11b's are pictures on white, only dimmed
        assert dark < grey < 160 < light, card["href"]


def brightness(html, image) -> float:
    """Of a card's picture, of 255; it has its size and few bytes."""
    file = html / image["src"].removeprefix("../")
    assert file.stat().st_size < 40_000
    with Image.open(file) as picture:
        assert picture.size == (int(image["width"]), int(image["height"]))
        return ImageStat.Stat(picture.convert("L")).mean[0]


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_card_shows_the_picture_of_its_theme(tab, address, scheme):
    page = tab(1280, 900, color_scheme=scheme)
    page.goto(address + pages()[0])
    seen = page.locator(".card-picture img").evaluate_all(
        "all => all.filter((one) => one.checkVisibility()).map((one) => one.className)"
    )
    assert seen == [f"plot-{scheme} dark-light"] * len(CHAPTERS)


@pytest.mark.browser
@pytest.mark.parametrize("width", [1360, 390])
def test_a_card_shows_all_of_its_picture(tab, address, width):
    page = tab(width, 844)
    page.goto(address + pages()[0])
    shown = page.locator(
        ".card-picture img.plot-light"
    ).evaluate_all("""async (all) => {
      for (const one of all) one.loading = "eager";
      await Promise.all(all.map((one) => one.decode()));
      return all.map((one) => {
      const { width, height, left, right } = one.getBoundingClientRect(),
        card = one.closest(".card-picture").getBoundingClientRect();
      const fits = left >= card.left && right <= card.right && height <= card.height;
      return [fits, getComputedStyle(one).objectFit === "cover"
        ? 0 : (width / height) / (one.getAttribute("width") / one.getAttribute("height"))]; }); }""")
    assert len(shown) == len(CHAPTERS)
    for fits, ratio in shown:
        assert fits and ratio == pytest.approx(1, abs=0.06)


@pytest.mark.browser
def test_cards_are_as_high_as_their_neighbours_and_their_pictures_sharp(tab, address):
    """No hole at a row's end, and two pixels of a picture for each of the page's."""
    page = tab(1360, 900)
    page.goto(address + pages()[0])
    for cards in page.locator(".chapter-cards").all():
        places = cards.evaluate("""(list) => [...list.children].map((card) => {
          const { left, right, height } = card.getBoundingClientRect(), all = list.getBoundingClientRect();
          return [Math.round(height), Math.round(left - all.left), Math.round(all.right - right)]; })""")
        assert len({height for height, *_ in places}) == 1
        assert places[-1][2] == 0
    sizes = page.locator(".card-picture img.plot-light").evaluate_all(
        "all => all.map((one) => [one.getBoundingClientRect().width, one.getAttribute('width')])"
    )
    assert all(int(pixels) >= 1.9 * width for width, pixels in sizes)
    assert sum(width > 240 for width, _ in sizes) > 0.7 * len(sizes)


def test_five_ways_through(front):
    ways = front.select(".routes > ul > li")
    assert len(ways) == 5
    start = front.select_one(".start").find_next_sibling("p")
    to = [link["href"].removeprefix("#") for link in start.select("a")]
    assert to[0] == front.select_one(".routes").find_parent("section")["id"]
    for way, name in zip(ways, to[1:], strict=True):
        assert way.find(id=name)
    teach = {link["href"].removeprefix("instructors.html") for link in ways[2].select("a")}
    assert {"#grading", "#sealed", "exam.html", "projects.html"} <= teach
    assert {"teaching.html#slides", "teaching.html#fourteen-weeks"} <= teach


def test_after_the_arcs_come_the_ways_and_then_the_machine(front):
    """The arcs are the first figure, and nothing of it needs to be known to find one's way."""
    text = str(front)
    places = [text.index(part) for part in ('class="start', "welcome-line", "routes", "data-live=")]
    assert places == sorted(places)
    assert [json.loads(live["data-live"])["figure"] for live in front.select(".live")] == [
        "at_work"
    ]
    before = front.article.get_text().partition("What the arcs are")[0]
    assert not [word for word in ("[CLS]", "[SEP]", "8 bits", "448,200") if word in before]
    assert "MiniLM, a small trained BERT" in before
    fold = front.select_one("details")
    assert "8 bits" in fold.get_text() and "open" not in fold.attrs


def test_what_a_full_stop_changes_is_as_the_page_says(front):
    from lectures_lib.models.minilm import read

    fold = front.select_one("details").get_text()
    for sentence, share in [(SENTENCE, "0.81"), (f"{SENTENCE}.", "0.79")]:
        mini = read(sentence)
        at = mini.tokens.index
        assert f"{mini.weights[3, 1, at('are'), at('keys')]:.2f}" == share
        assert share in fold


@pytest.fixture
def picture(tab, address):
    """The welcome page's picture, of a window on a desk."""
    page = tab(1280, 900)
    page.goto(address + pages()[0])
    yield page.locator(".welcome")
    assert not page.wrong


SHARES = json.loads((ROOT / "book" / "_static" / "welcome.json").read_text())


def shown(picture) -> list[int]:
    """Per cent below the words; none is written where there is nothing."""
    below, places = (
        picture.locator(f"svg {texts}").evaluate_all(
            "all => all.map((text) => [text.getAttribute('x'), text.textContent])"
        )
        for texts in (".muted", "text:not(.muted)")
    )
    return [round(100 * float(dict(below).get(x, 0))) for x, _ in places]


@pytest.mark.browser
def test_a_pressed_word_asks(picture):
    asked = [url for url in picture.page.asked if "welcome.json" in url]
    assert not asked  # nothing before a press
    word = picture.get_by_role("button", name="table")
    word.click()
    picture.locator("text.asks", has_text="table").wait_for()
    assert shown(picture) == SHARES[0]["shares"][3][1][8]
    assert word.get_attribute("aria-pressed") == "true"
    picture.page.keyboard.press("Shift+Tab")  # to the word before
    picture.page.keyboard.press("Shift+Tab")
    picture.page.keyboard.press("Enter")
    picture.locator("text.asks", has_text="on").wait_for()
    assert shown(picture) == SHARES[0]["shares"][3][1][6]
    assert "“on”" in picture.locator("figcaption").inner_text()


@pytest.mark.browser
def test_it_is_drawn_again_as_it_was(picture):
    """The script's picture of the word and the head that the page begins with is welcome.py's."""
    read = """(svg) => [svg.getAttribute("viewBox"), ...[...svg.querySelectorAll(".arc")].map((arc) => ["d", "stroke-width", "opacity"].map((name) => arc.getAttribute(name)).join()),
      ...[...svg.querySelectorAll("text")].map((text) => [text.textContent, ...["x", "y", "class", "font-size"].map((name) => text.getAttribute(name))].join()).sort()]"""
    before = picture.locator("svg").evaluate(read)
    for word in ("table", "are"):
        picture.get_by_role("button", name=word).click()
        picture.locator("text.asks", has_text=word).wait_for()
    assert picture.locator("svg").evaluate(read) == before


@pytest.mark.browser
def test_another_head_and_another_sentence(picture):
    slider = picture.get_by_role("slider")
    slider.press("End")
    picture.get_by_text("layer 5, head 11", exact=True).wait_for()
    assert shown(picture) == SHARES[0]["shares"][5][11][5]
    arcs = picture.locator("svg .arc").count()
    assert arcs == sum(share > 0 for i, share in enumerate(shown(picture)) if i != 5)
    picture.get_by_label("Or one of these").select_option(index=1)
    picture.locator("text.asks", has_text="is").wait_for()
    begin = SHARES[1]
    assert shown(picture) == begin["shares"][begin["layer"]][begin["head"]][begin["asks"]]
    assert "“boy”: 0.61" in picture.locator(".welcome-said").inner_text()


@pytest.mark.browser
def test_numbers_that_cannot_be_fetched_are_said(picture):
    picture.page.route("**/welcome.json", lambda route: route.abort())
    before = shown(picture)
    picture.get_by_label("Or one of these").select_option(index=1)
    picture.get_by_text("could not be fetched").wait_for()
    assert shown(picture) == before
    assert picture.get_by_label("Or one of these").evaluate("list => list.selectedIndex") == 0
    picture.page.unroute("**/welcome.json")
    picture.get_by_role("button", name="table").click()
    picture.locator("text.asks", has_text="table").wait_for()


@pytest.mark.browser
@pytest.mark.parametrize("size", [(1360, 800), (390, 844)])
def test_the_first_screen_has_the_promise_the_start_and_a_field(tab, address, size):
    """Without scrolling; and nothing is fetched for the field before it is used."""
    page = tab(*size)
    page.goto(address + pages()[0], wait_until="networkidle")
    first = page.locator(".bd-article section > p").first
    assert "four lines of attention" in first.inner_text()
    own = page.locator(".welcome-own")
    ways = page.locator(".start ~ p:not(.read-so-far)").first
    assert "read, study, teach, want only BERT or have an hour" in ways.inner_text()
    seen_first = (first, page.locator(".start-first"), ways, *map(own.locator, ("input", "button")))
    for seen in seen_first:
        box = seen.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= size[1]
    assert "23 MB" in own.inner_text()
    parts = ("/models/", "worker.js", "welcome.json")
    assert not [url for url in page.asked if any(part in url for part in parts)]


def read_own(picture, sentence: str) -> None:
    """Type a sentence and press Enter; wait until it is drawn."""
    picture.get_by_label("Your own sentence").fill(sentence)
    picture.page.keyboard.press("Enter")
    picture.get_by_text("The model is here").wait_for(timeout=120_000)


@pytest.mark.browser
def test_a_sentence_of_ones_own_is_read_as_the_library_reads_it(picture):
    from lectures_lib.models.minilm import read

    sentence = "The cats that our dog unchased are tired"
    read_own(picture, sentence)
    fetched = sorted({file_name(url) for url in picture.page.asked if "/models/" in url})
    assert fetched == ["minilm_8bit.safetensors", "vocab.txt"]
    mini = read(sentence)
    words, asks = mini.tokens[1:-1], mini.tokens.index("are")
    letters = picture.locator("svg text:not(.muted)")
    assert letters.all_text_contents() == words and any(word.startswith("##") for word in words)
    assert "## marks one that goes on" in picture.locator("figcaption").inner_text()
    assert picture.locator("text.asks").text_content() == "are"  # the verb
    for layer, head in ((3, 1), (3, 2)):
        expected = 100 * mini.weights[layer, head, asks, 1:-1]
        assert shown(picture) == pytest.approx(expected.tolist(), abs=2.5)  # 8 bits
        picture.get_by_role("slider").press("ArrowRight")

    # It stays in the list, beside those of the page.
    chosen = picture.get_by_label("Or one of these")
    assert chosen.locator("option").count() == len(SHARES) + 1
    chosen.select_option(index=0)
    picture.locator("text.asks", has_text="are").wait_for()
    assert shown(picture) == SHARES[0]["shares"][3][1][5]
    chosen.select_option(label=sentence)
    assert letters.all_text_contents() == words
    read_own(picture, sentence)
    assert chosen.locator("option").count() == len(SHARES) + 1


@pytest.mark.browser
def test_arcs_of_a_long_sentence_stay_in_the_picture(picture):
    read_own(picture, "a b c d e f g h i j k l m is")
    tops = picture.locator(".arc").evaluate_all("arcs => arcs.map((arc) => arc.getBBox().y)")
    assert len(tops) > 3 and min(tops) >= 0


LONG = "I typed the students in the library that my sister likes were sleeping"


@pytest.mark.browser
@pytest.mark.parametrize("width", [1360, 390])
def test_a_long_sentence_is_read_to_its_end(picture, width):
    """Its letters get no smaller than can be read: the line is moved sideways to what asks."""
    page = picture.page
    page.set_viewport_size({"width": width, "height": 844})
    read_own(picture, LONG)
    letters = picture.locator("svg text:not(.muted)")
    assert letters.all_text_contents() == LONG.lower().split()
    assert picture.locator("text.asks").text_content() == "were"
    assert "is cut" not in picture.locator(".welcome-own output").inner_text()
    places = picture.evaluate("""(figure) => [".welcome-line", "text.asks"].map((one) => {
      const { left, right, height } = figure.querySelector(one).getBoundingClientRect();
      return [left, right, height]; })""")
    (left, right, _), (begins, ends, high) = places
    assert left <= begins < ends <= right and high > 11
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.browser
def test_what_the_field_cuts_is_said_also_when_it_has_been_read(picture):
    field, status = (
        picture.get_by_label("Your own sentence"),
        picture.locator(".welcome-own output"),
    )
    field.press_sequentially("word " * 30, delay=0)
    assert len(field.input_value()) == 120
    assert "takes 120 characters; what is longer is cut" in status.inner_text()
    field.press("Enter")
    picture.get_by_text("The model is here").wait_for(timeout=120_000)
    assert "takes 120 characters; what is longer is cut" in status.inner_text()


@pytest.mark.browser
def test_where_no_verb_is_known_the_last_word_asks(picture):
    for sentence, asks in [
        ("The boys who feed our cat dance.", "dance"),
        ("The boys danced on unchased", "un"),  # un ##cha ##sed
        ("?! ...", "."),
    ]:
        read_own(picture, sentence)
        picture.locator("text.asks", has_text=asks).wait_for()
        assert picture.locator("text.asks").text_content() == asks


@pytest.mark.browser
def test_what_cannot_be_read_is_said(picture):
    own, field = picture.locator(".welcome-own"), picture.get_by_label("Your own sentence")
    before = shown(picture)
    field.press("Enter")
    own.get_by_text("Type a sentence first").wait_for()
    assert not [url for url in picture.page.asked if "/models/" in url]
    picture.page.context.route("**/models/**", lambda route: route.fulfill(status=503))
    field.fill("the dog is here")
    own.get_by_role("button").click()
    own.get_by_text("could not be fetched (503)").wait_for()
    assert shown(picture) == before
    picture.page.context.unroute("**/models/**")
    read_own(picture, "the dog is here")
    before = shown(picture)
    field.fill("Hello")
    field.press("Enter")
    own.get_by_text("It takes two words").wait_for()
    assert shown(picture) == before
    field.fill("a " * 60)
    field.press("Enter")
    own.get_by_text("too long for one line").wait_for()
    assert shown(picture) == before


@pytest.mark.browser
def test_a_short_sentence_does_not_become_huge(picture):
    high = picture.locator("svg").bounding_box()["height"]
    read_own(picture, "I am")
    assert picture.locator("svg").bounding_box()["height"] < 1.4 * high


@pytest.mark.browser
def test_without_scripts_a_page_has_its_colours(tab, address):
    page = tab(java_script_enabled=False)
    page.goto(address + pages()[0])
    assert page.locator("html").get_attribute("data-theme") == "light"
    assert page.locator(".welcome svg").is_visible()
    assert page.locator(".welcome-controls").is_hidden()


@pytest.mark.browser
def test_on_paper_long_code_wraps(tab, address):
    page = tab(700, 1000)
    page.goto(address + "notebooks/05_encoder.html")
    page.emulate_media(media="print")
    wide = """[...document.querySelectorAll(".bd-article pre")]
        .filter(pre => pre.scrollWidth > pre.clientWidth + 1).length"""
    assert page.evaluate(wide) == 0
    page.emulate_media(media="screen")
    assert page.evaluate(wide) > 0, "the window is wide enough for all code: this tests nothing"
