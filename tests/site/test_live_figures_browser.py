"""Beams, pieces, senses and nearness in the page: their numbers are the library's; and the figures
that stand in chapters.
"""

import axe
import computed
import lxml.html
import pytest
import torch
from live_page import IN_CHAPTERS, PAGE_OF, figure

from lectures_lib import data, decoding, stored
from lectures_lib.blocks.recording import record
from lectures_lib.models import minilm
from lectures_lib.tokenization import BPE, WordPiece

pytestmark = pytest.mark.browser
BEAM, PIECES = "A beam that grows and is pruned", "Your text in pieces"
SENSES, NEAR = "One word, two sentences", "Near by meaning"


@torch.no_grad()
def losers(model, source, before, kept, width):
    """From how many continuations of the hypotheses before, (tokens, score) each, a step chose, and
    those that are not among the kept ones, best first: its scores, computed without a cache.
    """
    rows = [[data.BOS, *tokens] for tokens, _ in before]
    shares = model(torch.tensor([source] * len(rows)), torch.tensor(rows))[:, -1].log_softmax(-1)
    shares[:, [data.PAD, data.BOS]] = -torch.inf
    totals = torch.tensor([score for _, score in before])[:, None] + shares
    scores, places = totals.flatten().topk(4 * width + 4)
    found = [
        ([*before[place // shares.shape[1]][0], place % shares.shape[1]], score)
        for score, place in zip(scores.tolist(), places.tolist(), strict=True)
    ]
    ended = [tokens for tokens, _ in found[:width] if tokens[-1] == data.EOS]
    chosen = [*kept, *ended]
    return int(totals.isfinite().sum()), [one for one in found if one[0] not in chosen]


@pytest.mark.parametrize(
    ("direction", "text", "width", "alpha"),
    [
        (("de", "en"), "Ein Mann mit Hut liest auf einer Bank die Zeitung.", 3, 0.6),
        (("de", "en"), "Quatsch 😀!", 4, 0.0),
        (("en", "de"), "The government passed a new law.", 2, 1.5),
        (("en", "de"), "Two dogs", 1, 0.6),
        (("de", "en"), "Zwei Kinder spielen am Strand Ball.", 6, 2.0),
    ],
)
def test_the_beam_is_the_librarys(computing, direction, text, width, alpha):
    translates = stored.translator(*direction)
    source, longest = translates.source(text), 30
    found, steps = decoding.n_best(
        translates.model,
        torch.tensor([source]),
        width=width,
        alpha=alpha,
        begin=data.BOS,
        end=data.EOS,
        max_len=longest,
        never=(data.PAD, data.BOS),
    )
    told = computing.evaluate(
        """async ([name, source, options]) => {
          const { beam } = await import("/live/beam.js");
          return [...beam(await live.load("Transformer", name), source, options)];
        }""",
        [
            "translator_{}_{}".format(*direction),
            source,
            {
                "width": width,
                "alpha": alpha,
                "begin": data.BOS,
                "end": data.EOS,
                "never": [data.PAD, data.BOS],
                "longest": longest,
            },
        ],
    )
    assert len(told) == len(steps)
    for step, expected in zip(told, steps, strict=True):
        assert [one["tokens"] for one in step["live"]] == expected.tokens[0].tolist()
        scores = torch.tensor([one["score"] for one in step["live"]])
        assert torch.allclose(scores, expected.scores[0], rtol=0, atol=1e-3)
    before = [([], 0.0)]
    for step, expected in zip(told, steps, strict=True):
        kept = expected.tokens[0].tolist()
        n, lost = losers(translates.model, source, before, kept, width)
        assert step["of"]["begun"] * step["of"]["each"] == n
        assert [one["tokens"] for one in step["lost"]] == [tokens for tokens, _ in lost[:3]]
        assert [one["score"] for one in step["lost"]] == pytest.approx(
            [score for _, score in lost[:3]], abs=1e-3
        )
        before = list(zip(kept, expected.scores[0].tolist(), strict=True))
    for one, tokens, score in zip(
        told[-1]["finished"], found.tokens[0].tolist(), found.scores[0], strict=True
    ):
        assert one["tokens"] == tokens[: len(one["tokens"])]
        assert set(tokens[len(one["tokens"]) :]) <= {data.EOS}
        assert one["score"] == pytest.approx(float(score), abs=1e-3)


def search(page, text):
    """With the translator of captions."""
    box = figure(page, BEAM)
    box.get_by_label("Direction").select_option("German → English")
    box.get_by_label("Your sentence").fill(text)
    box.get_by_role("button", name="Search").click()
    return box


def test_a_tree_grows_and_can_be_stepped_through(live):
    page = live(only="beams")
    box = search(page, "Zwei Hunde spielen im Schnee.")
    box.locator(".lv-finished tbody tr").first.wait_for()
    best = box.locator(".lv-finished tbody td").first.inner_text()
    translates = stored.translator("de", "en")
    (expected,) = translates(
        ["Zwei Hunde spielen im Schnee."], lambda *a, **k: decoding.beam(*a, width=3, **k)
    )
    assert best == expected
    step = box.get_by_role("slider", name="Step")
    step.focus()
    page.keyboard.press("End")
    last = int(step.input_value())
    assert last == int(step.get_attribute("max")) > 3
    kept = box.locator(".lv-node:not(.lv-lost)")
    whole = kept.count()
    assert box.locator(".lv-finished tbody td").first.inner_text() == expected
    page.keyboard.press("Home")
    assert kept.count() == 3 < whole
    assert "After step 1: 3 alive, 0 finished" in box.locator(".lv-about").inner_text()
    box.get_by_role("button", name="Watch it grow").click()
    page.wait_for_function("n => document.querySelectorAll('.lv-node').length > n", arg=6)
    box.get_by_role("button", name="Pause").click()
    assert 1 < int(step.input_value()) <= last


def test_what_lost_in_the_step_in_view_stands_struck_through_below_it(live):
    page = live(only="beams")
    text = "Zwei Hunde spielen im Schnee."
    box = search(page, text)
    box.locator(".lv-finished tbody tr").first.wait_for()
    step = box.get_by_role("slider", name="Step")
    step.fill("1")
    translates = stored.translator("de", "en")
    n, lost = losers(translates.model, translates.source(text), [([], 0.0)], [], 3)
    shown = box.locator(".lv-node.lv-lost")
    scores = shown.locator(".lv-small").all_text_contents()
    assert scores == [f"{score:.2f}".replace("-", "−") for _, score in lost[3:6]]
    tokens = shown.locator(".lv-token")
    for token in tokens.all():
        assert "line-through" in token.evaluate("one => getComputedStyle(one).textDecoration")
    said = f"Kept 3 of {n:,} candidates (1 alive before × {n:,} tokens); struck through"
    assert said in box.locator(".lv-about").inner_text()
    names = tokens.all_text_contents()
    assert "; not kept, among others: " in box.get_by_role("img").get_attribute("aria-label")
    step.fill("2")
    assert shown.count() == 3 and tokens.all_text_contents() != names
    assert f"Kept 3 of {3 * n:,} candidates (3 alive" in box.locator(".lv-about").inner_text()
    assert axe.by_day_and_night(page, ".live") == []


@pytest.mark.parametrize("wide", [390, 1360])
def test_a_tree_opens_at_a_step_that_is_seen_whole_and_follows_the_reader(live, wide):
    page = live(
        wide, **({"has_touch": True, "is_mobile": True} if wide < 400 else {}), only="beams"
    )
    left = """tree => {
      const { scrollLeft, clientWidth, scrollWidth } = tree;
      return [scrollLeft, scrollWidth - clientWidth];
    }"""
    box = figure(page, BEAM)
    tree, step = box.locator(".lv-tree"), box.get_by_role("slider", name="Step")

    def opens_whole():
        last, of = int(step.input_value()), int(step.get_attribute("max"))
        assert 1 < last < of and tree.evaluate(left) == [0, 0]
        ends = "all => Math.max(...all.map((one) => one.getBoundingClientRect().bottom))"
        strip = tree.evaluate("tree => tree.getBoundingClientRect().bottom")
        assert strip - box.locator(".lv-node").evaluate_all(ends) < 45  # was 180
        assert f"After step {last} of {of}: " in box.locator(".lv-about").inner_text()
        said = box.locator(".lv-finished caption").inner_text()
        assert said == f"Finished after step {of}, best first"
        assert box.locator(".lv-finished tbody tr").count() == 3

    opens_whole()  # the example
    search(page, "Ein Mann mit Hut liest auf einer Bank die Zeitung.")
    box.locator(".lv-status:empty").wait_for(state="attached")
    opens_whole()
    step.press("ArrowRight")
    step.press("ArrowRight")
    here, most = tree.evaluate(left)
    assert here == pytest.approx(most, abs=1) and most > 100
    assert "Finished after" not in box.locator(".lv-finished caption").inner_text()


@pytest.mark.parametrize(("motion", "pause"), [("reduce", 900), ("no-preference", 500)])
def test_it_grows_slower_for_those_who_asked_for_less_motion(timed, address, motion, pause):
    page = timed(f"{address}{PAGE_OF['beams']}?only=beams", motion)
    step = figure(page, BEAM).get_by_role("slider", name="Step")
    figure(page, BEAM).get_by_role("button", name="Watch it grow").click()
    for n in range(1, 4):
        assert step.input_value() == str(n)
        page.clock.run_for(pause - 10)
        assert step.input_value() == str(n)
        page.clock.run_for(10)


@pytest.mark.parametrize("text", ["x" * 300, "😀" * 100, "שלום עולם", "مرحبا"], ids=lambda t: t[:6])
def test_whatever_is_typed_is_searched(live, text):
    page = live(390, has_touch=True, is_mobile=True, only="beams")
    if len(text) >= 100:  # a minute for three hypotheses of such a text
        figure(page, BEAM).get_by_role("slider", name="Beam width").fill("1")
    box = search(page, text)
    box.locator(".lv-node").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_sentence_that_is_missing_or_too_many_is_said(live):
    page = live(only="senses")
    box = figure(page, SENSES)
    box.get_by_role("textbox", name="Second sentence").fill("")
    box.get_by_role("button", name="Compare", exact=True).click()
    assert "Type two sentences" in box.get_by_role("status").inner_text()
    box = figure(live(only="nearness"), NEAR)
    for lines, said in (("one", "two sentences at least"), ("a\n" * 9, "9 sentences are too many")):
        box.get_by_role("textbox").fill(lines)
        box.get_by_role("button", name="Compare").click()
        assert said in box.get_by_role("status").inner_text()


@pytest.mark.parametrize("text", ["Unglaublich, 12 Hunde!", "naïve 😀 שלום", "a  b\nc"])
def test_texts_are_cut_as_in_the_library(live, text):
    page = live(only="pieces")
    box = figure(page, PIECES)
    box.get_by_label("Your text").fill(text)
    box.get_by_role("button", name="Cut it").click()
    lists = box.locator(".lv-tokens")
    lists.first.wait_for()
    pieces = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    assert lists.nth(0).locator("li").all_inner_texts() == pieces.known_tokens(pieces.encode(text))
    pairs = BPE.load(stored.FOLDER / "translator.json")
    ids = [int(title.split()[1]) for title in titles(lists.nth(1))]
    assert ids == pairs.encode(text)


def titles(tokens):
    """What is told of each token: "id 17"."""
    return tokens.locator("[title]").evaluate_all("all => all.map(one => one.title)")


def test_a_token_tells_how_it_was_merged(live):
    page = live(only="pieces")
    box = figure(page, PIECES)
    box.get_by_label("Your text").fill(" the")
    box.get_by_role("button", name="Cut it").click()
    box.get_by_role("button", name="␣the", exact=True).click()
    rows = box.locator(".lv-merges li")
    shown = [rows.nth(i).locator("code").all_inner_texts() for i in range(rows.count())]
    assert shown[0] == ["␣", "t", "h", "e"]
    assert shown[-1] == ["␣the"]
    assert [len(symbols) for symbols in shown] == list(range(4, 0, -1))


@pytest.fixture(scope="module")
def rounded(html):
    """MiniLM as the page fetches it."""
    return computed.rounded(html, "minilm")


@torch.no_grad()
def test_states_are_the_librarys(computing, rounded):
    ids = WordPiece.load(minilm.checkpoint() / "vocab.txt").pair("The bag is very light.").ids
    with record(rounded) as seen:
        rounded(torch.tensor([ids]))
    expected = torch.stack([*seen.all("embeddings"), *seen.all("encoder.blocks.*")])[:, 0]
    found = computing.evaluate(
        """async (ids) => {
          const model = await live.load("Bert", "minilm_8bit");
          return model.states(ids).map((state) => state.map((row) => Array.from(row)));
        }""",
        ids,
    )
    assert torch.allclose(torch.tensor(found), expected, rtol=0, atol=1e-4)


def test_one_word_parts_from_itself(live):
    page = live(only="senses")
    box = figure(page, SENSES)
    one, other = "The keys are on the table.", "The table on page 9 lists the prices."
    box.get_by_role("textbox", name="First sentence").fill(one)
    box.get_by_role("textbox", name="Second sentence").fill(other)
    box.get_by_role("button", name="Compare", exact=True).click()
    box.locator(".lv-plainlist li").first.wait_for()
    box.locator(".lv-tokens").nth(0).get_by_role("button", name="table").click()
    box.locator(".lv-tokens").nth(1).get_by_role("button", name="table").click()
    shown = [float(t) for t in box.locator(".lv-plainlist small").all_inner_texts()]
    reads = [minilm.read(one), minilm.read(other)]
    vectors = [[state[read.tokens.index("table")] for state in read.hidden] for read in reads]
    expected = [float(torch.cosine_similarity(a, b, dim=0)) for a, b in zip(*vectors, strict=True)]
    # the page's numbers are of 8 bits
    assert shown == pytest.approx(expected, abs=0.02)


def test_sentences_are_compared(live):
    page = live(390, has_touch=True, is_mobile=True, only="nearness")
    box = figure(page, NEAR)
    lines = ["A man plays the guitar.", "Someone makes music.", "Shares fell. 😀"]
    box.get_by_role("textbox").fill("\n".join(lines))
    box.get_by_role("button", name="Compare").click()
    box.locator("tbody td").first.wait_for()
    shown = [float(text.replace("−", "-")) for text in box.locator("tbody td").all_inner_texts()]
    vectors = torch.stack([minilm.read(line).hidden[-1].mean(dim=0) for line in lines])
    expected = torch.cosine_similarity(vectors[:, None], vectors[None], dim=-1).flatten()
    assert shown == pytest.approx(expected.tolist(), abs=0.03)
    assert "Nearest: 1 and 2" in box.locator(".lv-about").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_axe_finds_nothing(live):
    page = live(only="beams")
    search(page, "Ein Hund.").locator(".lv-node").first.wait_for()
    assert axe.by_day_and_night(page, ".live") == []
    for name, title, button in (
        ("pieces", PIECES, "Cut it"),
        ("senses", SENSES, "Compare"),
        ("nearness", NEAR, "Compare"),
    ):
        page = live(only=name)
        figure(page, title).get_by_role("button", name=button, exact=True).click()
        figure(page, title).locator(".lv-status:empty").wait_for(state="attached")
        assert axe.by_day_and_night(page, ".live") == [], name


@pytest.mark.parametrize("chapter", IN_CHAPTERS)
def test_a_figure_stands_where_its_subject_is_taught(html, chapter):
    """Behind the exercises hardly anyone meets it."""
    page = lxml.html.fromstring((html / "notebooks" / f"{chapter}.html").read_text("utf-8"))
    assert page.xpath("//*[@data-live]")
    assert not page.get_element_by_id("summary").xpath(".//*[@data-live]")


def test_a_chapters_figure_works_there(live):
    page = live(path="notebooks/09_generating.html")
    box = search(page, "Ein Mann.")
    box.locator(".lv-finished tbody tr").first.wait_for()
    assert box.locator(".lv-finished tbody td").first.inner_text()
