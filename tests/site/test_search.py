"""The search: what it finds for what students type, what its index weighs, and its two faces in a
browser.
"""

import gzip
import json
import re
import subprocess
import sys

import pytest
import yaml
from sitemap import ROOT, pages

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import section_search
from formula_text import as_text
from node import NODE
from queries import AFTERWARDS, BY_STUDENTS, IN_GERMAN, MISSPELT, QUERIES, UNTOUCHED

# Of how many queries the right section comes first at least, and of how many among the first five.
FOUND = {
    "those it was made with": (QUERIES, 91, 92),
    "those thought up afterwards": (AFTERWARDS, 25, 26),
    "as students type them": (BY_STUDENTS, 55, 58),
    "untouched": (UNTOUCHED, 22, 26),
}
ASK = """
const fs = require("fs"), vm = require("vm");
const [, rank, index] = process.argv;
for (const file of [rank, index]) vm.runInThisContext(fs.readFileSync(file, "utf8"));
const told = vm.runInThisContext("CourseSearch"), { pages, sections } = told.index;
const address = ({ section: place }) => {
  const [page, anchor] = sections[place];
  return pages[page][0].replace(".html", "") + (anchor && "#" + anchor);
};
const asked = JSON.parse(fs.readFileSync(0, "utf8"));
console.log(JSON.stringify(asked.map(query => told.rank(told.index, query, 5).map(address))));
"""


@pytest.fixture(scope="module")
def built(html):
    """The folder of the search in the built site."""
    return html / section_search.FOLDER


@pytest.fixture(scope="module")
def first_five(built):
    """A function: the addresses of the first five sections found, for each of some queries."""

    def ask(queries: list[str]) -> list[list[str]]:
        done = subprocess.run(
            [NODE, "-e", ASK, built / "rank.js", built / "index.js"],
            input=json.dumps(queries),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        )
        return json.loads(done.stdout)

    return ask


@pytest.mark.parametrize(("queries", "first", "in_five"), FOUND.values(), ids=list(FOUND))
def test_the_right_section_comes_first(first_five, queries, first, in_five):
    found = dict(zip(queries, first_five(list(queries)), strict=True))
    right = {q: [w] if isinstance(w, str) else w for q, w in queries.items()}
    wrong = {q: found[q][:2] for q, wanted in right.items() if not {*found[q][:1]} & {*wanted}}
    assert len(queries) - len(wrong) >= first, wrong
    missed = [q for q, wanted in right.items() if not {*found[q]} & {*wanted}]
    assert len(queries) - len(missed) >= in_five, missed


def test_no_query_counts_twice_and_every_place_exists(built):
    sets = [queries for queries, *_ in FOUND.values()]
    assert len({q.lower() for queries in sets for q in queries}) == sum(map(len, sets))
    index = json.loads((built / "index.js").read_text("utf-8").split("=", 1)[1].strip(" ;\n"))
    places = {
        index["pages"][page][0].removesuffix(".html") + (anchor and f"#{anchor}")
        for page, anchor, *_ in index["sections"]
    }
    of_all = [one for queries in sets for one in queries.values()]
    wanted = {w for one in of_all for w in ([one] if isinstance(one, str) else one)}
    assert not wanted - places


def test_the_ten_of_the_review_all_come_first(first_five):
    ten = list(QUERIES)[:10]
    assert [found[0] for found in first_five(ten)] == [QUERIES[query] for query in ten]


def test_spelling_makes_no_difference(first_five):
    alike = [
        ["layer norm", "LayerNorm", "layer-norms", "Layer Normalisation", "layer normalization"],
        ["KV cache", "kv-cache", "KVCache", "key value caches"],
        ["self attention", "Self-Attention", "selfattention"],
        ["fine-tuning", "finetuning", "fine tune"],
        ["encoder vs decoder", "encoder or decoder?", "difference between encoder and decoder"],
        ["Encoder vs. decoder", "What is the difference between the encoder and the decoder?"],
        ["weight tying", "tied weights", "tie weights"],
        ["max length", "maximum length"],
        ["positional", "positions"],
        ["frozen BERT", "freeze BERT"],
    ]
    for names in alike:
        assert len({found[0] for found in first_five(names)}) == 1, names


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("##", "notebooks/07b_wordpiece#the-longest-piece-that-fits"),
        ("[MASK]", "notebooks/13_pretraining#making-holes-with-a-pencil"),
        ("[mask] token", "notebooks/13_pretraining#making-holes-with-a-pencil"),
        ("offline", "book/running#your-own-machine"),
        ("NaN", "notebooks/02_self_attention#a-query-that-may-look-at-nothing"),
        ("my loss becomes NaN", "notebooks/02_self_attention#a-query-that-may-look-at-nothing"),
        ("parameters of BERT", "notebooks/12_bert#counting"),  # a name, in another order
        ("sampling vs greedy", "notebooks/09_generating#sampling"),  # which comes later
        ("greedy vs sampling", "notebooks/09_generating#sampling"),
        # a section of the chapter that is named beside it
        ("the pooler of BERT", "notebooks/12_bert#the-body"),
        ("BERT", "notebooks/12_bert"),
        ("i-bert", "notebooks/18_after_bert#i-bert-integers"),
        ("POS tagging", "notebooks/16b_probing"),  # no position
    ],
)
def test_names_are_found_within_a_question(first_five, query, place):
    assert first_five([query])[0][0] == place


@pytest.mark.parametrize("queries", [MISSPELT, IN_GERMAN], ids=["misspelt", "in German"])
def test_slips_are_forgiven_and_german_is_understood(first_five, queries):
    found = dict(zip(queries, first_five(list(queries)), strict=True))
    assert {query: places[:1] for query, places in found.items()} == {
        query: [place] for query, place in queries.items()
    }


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        ("d_k", "d_k"),
        (r"d_{\text{model}}", "d_model"),
        (r"\frac{QK^\top}{\sqrt{d_k}}", "(QK^T)/(√d_k)"),
        (r"e^{s_i}", "e^(s_i)"),
        (r"\sqrt{p(1-p)/n}", "√(p(1-p)/n)"),
        (r"10^{-3}", "10^-3"),
        (r"\begin{bmatrix}1\\2\end{bmatrix}", "…"),
    ],
)
def test_a_formula_in_a_result_is_a_line_of_text(tex, text):
    assert as_text(tex) == text


def test_a_result_shows_the_formulas_of_its_beginning(built):
    index = (built / "index.js").read_text(encoding="utf-8")
    assert "A dot product is a sum of <i>d</i><sub>k</sub> products." in index


@pytest.mark.parametrize("query", ["", " ", "?", "…", "qqqzzz", "\\", "[", "constructor"])
def test_what_is_nowhere_is_not_found(first_five, query):
    assert first_five([query]) == [[]]


def test_every_entry_of_the_glossary_has_a_home():
    glossary = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^(\w.*)\n  \S", glossary.split("```{glossary}")[1], re.MULTILINE)
    told = yaml.safe_load((section_search.HERE / "concepts.yml").read_text(encoding="utf-8"))
    names = {str(name) for named in told.values() for name in named}
    assert len(terms) > 80
    assert not set(terms) - names


def test_every_address_exists(html, built):
    index = json.loads(
        (built / "index.js").read_text(encoding="utf-8").split("=", 1)[1].strip(" ;\n")
    )
    texts = [(html / page[0]).read_text(encoding="utf-8") for page in index["pages"]]
    assert len(texts) == len(pages())
    lost = [s[:3] for s in index["sections"] if s[1] and f'id="{s[1]}"' not in texts[s[0]]]
    assert not lost


def test_it_is_small(built):
    weight = {file.name: len(gzip.compress(file.read_bytes())) for file in built.iterdir()}
    assert weight.pop("index.js") < 250_000
    assert sum(weight.values()) < 12_000


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("one two", "one two"),
        ("one  two\nthree", "one two …"),
        ("one two, three four", "one two …"),
    ],
)
def test_a_lead_ends_between_words(long, short):
    assert section_search.shortened(long, 10) == short


@pytest.fixture
def window(tab):
    """A window, with what it asked for."""
    return tab(1280, 900)


@pytest.mark.browser
def test_in_the_dialog_by_keyboard(window, address):
    window.goto(address + "notebooks/05_encoder.html")
    window.keyboard.press("Control+k")
    field = window.locator("input[role=combobox]")
    window.wait_for_timeout(200)
    assert not [url for url in window.asked if "/search/" in url], "fetched before it was needed"
    window.keyboard.type("KV cache")
    option = window.get_by_role("option")
    option.first.wait_for()
    assert "A cache: the same words, less work" in option.first.inner_text()
    assert "Writing with a cache" in option.first.inner_text()
    assert field.get_attribute("aria-expanded") == "true"
    for key, place in (("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", 7), ("ArrowDown", 0)):
        window.keyboard.press(key)
        assert field.get_attribute("aria-activedescendant") == f"found-{place}"
        assert option.nth(place).get_attribute("aria-selected") == "true"
    assert window.get_by_role("status").inner_text() == "The best 8 results."
    field.fill("softmx")
    assert "“softmx” was read as “softmax”." in window.get_by_role("status").inner_text()
    field.fill("qqqq")
    ask = window.get_by_role("link", name="Ask the book instead")
    assert ask.get_attribute("href").endswith("book/ask.html")
    field.fill("KV cache")
    window.keyboard.press("Enter")
    window.wait_for_url("**/notebooks/09b_cache.html#a-cache-the-same-words-less-work")


@pytest.mark.browser
def test_a_result_on_the_same_page_closes_the_dialog(window, address):
    window.goto(address + "notebooks/05_encoder.html")
    window.keyboard.press("Control+k")
    window.keyboard.type("layer norm")
    window.get_by_role("option").first.click()
    window.wait_for_url("**/05_encoder.html#normalisation")
    assert not window.locator("#pst-search-dialog").evaluate("dialog => dialog.open")


@pytest.mark.browser
def test_the_page_of_results(window, address):
    window.goto(address + "search.html?q=ViT")
    links = window.locator("#search-results li a")
    links.first.wait_for()
    assert links.first.get_attribute("href").endswith("notebooks/11_vision_transformer.html")
    window.locator("main input").fill("nothing of the kind qqq")
    window.locator("main input").fill("bleu")
    assert links.first.get_attribute("href").endswith("#bleu")
    assert window.url.endswith("search.html?q=bleu")
    window.keyboard.press("ArrowDown")
    window.keyboard.press("ArrowDown")
    assert links.nth(1).evaluate("link => link === document.activeElement")
    window.locator("main input").fill("qqqq")
    assert window.get_by_role("status").inner_text() == "Nothing found."


@pytest.mark.browser
def test_without_scripts_the_page_says_so(tab, address):
    page = tab(java_script_enabled=False)
    page.goto(address + "search.html")
    assert page.locator("main noscript p").is_visible()
    assert not page.get_by_role("searchbox").is_visible()
