"""The map of sentences in the page: its places, neighbours and cosines are the library's, and it can
be read and used on a phone, by mouse, finger and keyboard.
"""

import json
from itertools import combinations

import axe
import computed
import pytest
import torch
import yaml
from live_page import PAGE_OF, figure
from sitemap import ROOT
from sklearn.decomposition import PCA

from lectures_lib.models import minilm
from lectures_lib.tasks.sentence_bert import SentenceBert, cosines
from lectures_lib.tokenization import WordPiece

pytestmark = pytest.mark.browser
MAP, NAME = "A map of sentences", "A sentence of your own"
TOPICS = yaml.safe_load((ROOT / "book" / "live" / "sentence_map.yml").read_text("utf-8"))
GIVEN = [text for some in TOPICS.values() for text in some]
OWN = [
    "Parliament has passed the law.",
    "Der Hund schläft. 😀",
    "The vet gave our dog an injection.",
]
WORDPIECE = WordPiece.load(minilm.checkpoint() / "vocab.txt")
HALVES = 1e-3  # the map's vectors and axes are kept in half precision
EIGHT_BITS = 0.03  # a cosine of MiniLM's published numbers, and of their rounding
PLACE = """async (rows) => {
  const fetched = async (name) => live.readSafetensors(await (await fetch(`/live/models/${name}.safetensors`)).arrayBuffer());
  const model = new live.BertWithMap(await fetched("minilm_8bit"), await fetched("sentence_map"));
  return rows.map((ids) => { const { vector, at, cosines } = model.place(ids); return [[...vector], at, cosines]; });
}"""


@pytest.fixture(scope="module")
def encoder(html):
    """MiniLM as the page fetches it."""
    return SentenceBert(computed.rounded(html, "minilm"), WORDPIECE)


def points(page):
    """What the page knows before it fetches anything."""
    told = page.locator('.live[data-live*=\'"figure": "sentence_map"\']').get_attribute("data-live")
    return json.loads(told)["points"]


def test_vectors_places_and_cosines_are_the_librarys(computing, encoder):
    found = computing.evaluate(PLACE, [WORDPIECE.pair(text).ids for text in OWN])
    vectors, places, table = (torch.tensor(part) for part in zip(*found, strict=True))
    given, own = encoder.embed(GIVEN), encoder.embed(OWN)
    torch.testing.assert_close(vectors, own, rtol=0, atol=1e-4)
    torch.testing.assert_close(table, cosines(own, given), rtol=0, atol=HALVES)
    expected = torch.from_numpy(PCA(2).fit(given).transform(own))
    signs = (places * expected).sum(dim=0).sign()  # an axis may point either way
    torch.testing.assert_close((places * signs).float(), expected.float(), rtol=0, atol=HALVES)


def test_what_stands_there_first_is_the_librarys(live, encoder):
    page = live(only="sentence_map")
    given, pca = encoder.embed(GIVEN), PCA(2)
    at, table = torch.from_numpy(pca.fit_transform(given)), cosines(given, given)
    table.fill_diagonal_(-2)
    told = points(page)
    assert [point["text"] for point in told] == GIVEN
    places = torch.tensor([point["at"] for point in told])
    torch.testing.assert_close(places.abs(), at.abs().float(), rtol=0, atol=HALVES)
    flat = torch.cdist(places, places).fill_diagonal_(9)
    for i, point in enumerate(told):
        for (j, cosine), other in ((point["near"], table[i].argmax()), (point["beside"], None)):
            assert cosine == pytest.approx(float(table[i, j]), abs=HALVES)
            # two that are as near as each other may change places
            assert other is None or table[i, j] > table[i, other] - HALVES
        assert flat[i, point["beside"][0]] < flat[i].min() + HALVES
    same = sum(point["near"][0] == point["beside"][0] for point in told)
    kept = 100 * pca.explained_variance_ratio_.sum()
    said = figure(page, MAP).locator(".lv-head").first.inner_text().replace("\xa0", " ")
    assert f"keep {kept:.1f} % of the variance" in said and f"For {same} of the 64" in said
    assert not [url for url in page.asked if "/models/" in url]


def put(box, text):
    """A sentence of the reader's on the map."""
    n = box.locator(".lv-typed li").count()
    box.get_by_label(NAME).fill(text)
    box.get_by_role("button", name="Put it on the map").click()
    box.locator(".lv-typed li").nth(n).wait_for()
    return box.locator(".lv-typed li").nth(n)


def test_own_sentences_land_with_their_nearest_and_go(live):
    page = live(390, has_touch=True, is_mobile=True, only="sentence_map")
    box = figure(page, MAP)
    published = SentenceBert.from_pretrained(minilm.checkpoint())
    given = published.embed(GIVEN)
    for text in OWN[::2]:
        said = put(box, text).inner_text()
        expected = cosines(published.embed([text]), given)[0]
        before, after = said.split("Nearest in 384 dimensions: “")[1].split("”, cosine ", 1)
        assert float(after.split(". ")[0]) == pytest.approx(float(expected.max()), abs=EIGHT_BITS)
        assert expected[GIVEN.index(before)] > expected.max() - EIGHT_BITS
        assert "the nearest on the map, too" in said or "Nearest on the map is another" in said
    assert box.locator(".lv-mine").count() == 2 and box.get_by_label(NAME).input_value() == ""
    assert box.locator(".lv-to:not(.lv-flat)").count() == 2
    # two of the reader's are compared with each other, too
    assert (
        "“The vet gave our dog an injection.”"
        in put(box, "The vet gave her dog an injection").inner_text()
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box.get_by_role("button", name="Remove sentence 2").click()
    assert box.locator(".lv-typed li").count() == 2
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Remove sentence 2"
    for _ in range(2):
        box.get_by_role("button", name="Remove sentence 1").click()
    assert box.locator(".lv-mine").count() == 0
    assert box.get_by_label(NAME).evaluate("field => field === document.activeElement")


def test_a_sentence_is_put_once_and_what_was_not_read_is_said(live):
    page = live(only="sentence_map")
    box = figure(page, MAP)
    said = put(box, f"😀 {'dog ' * 400}").inner_text()
    assert "no piece for" in said and "Of its 401 pieces the first 254 were read." in said
    put(box, "Snow fell during the night.")
    assert "cosine 1.00" in box.locator(".lv-typed li").nth(1).inner_text()
    box.get_by_label(NAME).fill("Snow fell during the night.")
    box.get_by_role("button", name="Put it on the map").click()
    assert "your sentence 2" in box.get_by_role("status").inner_text()
    assert box.locator(".lv-typed li").count() == 2


@pytest.mark.parametrize("width", [390, 1360])
def test_labels_cover_no_label_and_stay_on_the_map(live, width):
    box = figure(live(width, only="sentence_map"), MAP)
    at = box.locator(".lv-map text").evaluate_all(
        "all => all.map(one => { const b = one.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"
    )
    assert len(at) == len(TOPICS) + 1  # and the cosine of the chosen one
    for a, b in combinations(at, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    frame = box.locator(".lv-map").bounding_box()
    for left, _, right, _ in at:
        assert frame["x"] <= left and right <= frame["x"] + frame["width"]


def test_near_means_the_same_along_both_axes(live):
    page = live(only="sentence_map")
    told = points(page)
    (i, j), (k, m) = (0, 63), (20, 41)
    shown = (
        figure(page, MAP)
        .locator(".lv-place")
        .evaluate_all(
            "all => all.map(one => { const t = one.transform.baseVal[0].matrix; return [t.e, t.f]; })"
        )
    )

    def scale(a, b):
        return torch.dist(*(torch.tensor(shown[x]) for x in (a, b))) / torch.dist(
            *(torch.tensor(told[x]["at"]) for x in (a, b))
        )

    assert float(scale(i, j) / scale(k, m)) == pytest.approx(1, abs=0.01)


def chosen(box) -> str:
    return box.locator(".lv-neighbours b").inner_text()


def test_the_keyboard_goes_from_sentence_to_sentence_and_topic_to_topic(live):
    page = live(only="sentence_map")
    box = figure(page, MAP)
    box.locator(".lv-place[tabindex='0']").focus()
    for key, i in (
        ("ArrowRight", 1),
        ("ArrowDown", 8),
        ("ArrowLeft", 7),
        ("ArrowUp", 56),
        ("End", 63),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        assert chosen(box) == GIVEN[i], key
    assert box.locator(".lv-place[tabindex='0']").count() == 1
    box.get_by_role("button", name="music", exact=True).click()
    assert box.locator(".lv-faint").count() == 56


def test_a_finger_and_a_mouse_choose(live):
    for options in ({"width": 390, "has_touch": True, "is_mobile": True}, {"width": 1360}):
        page = live(**options, only="sentence_map")
        box = figure(page, MAP)
        mark = box.locator(".lv-place").nth(34)
        mark.scroll_into_view_if_needed()
        at = mark.bounding_box()
        where = at["x"] + at["width"] / 2 + 3, at["y"] + at["height"] / 2 + 2
        page.touchscreen.tap(*where) if "has_touch" in options else page.mouse.move(*where)
        page.wait_for_function(
            "text => document.querySelector('.lv-neighbours b').textContent === text", arg=GIVEN[34]
        )


def test_axe_finds_nothing(live):
    page = live(only="sentence_map")
    put(figure(page, MAP), OWN[0])
    assert axe.by_day_and_night(page, ".live") == []


def test_what_eight_bits_change_stands_behind_every_rounded_model(live):
    measured = json.loads((ROOT / "book" / "results" / "eight_bits.json").read_text("utf-8"))
    for name, words in {
        **dict.fromkeys(
            ("filler", "agreement"),
            f"{100 * measured['results']['same_word']:.1f} % get the same first word",
        ),
        "answers": f"{100 * measured['results']['answers']['same_answer']:.1f} % get the same answer",
        **dict.fromkeys(("nearness", "sentence_map"), "Spearman's correlation"),
        "similarity": "the scores of",
        **dict.fromkeys(("sentiment", "entities", "reader", "senses", "probes"), "8 bits"),
        "digits": "In half precision, not in 8 bits",
    }.items():
        page = live(path=PAGE_OF[name])
        behind = page.locator(f'.live[data-live*=\'"figure": "{name}"\'] + .lv-rounding')
        assert words in behind.inner_text(), name
