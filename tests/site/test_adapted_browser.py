"""A sentence judged, two compared, names found, a question answered in the page: with MiniLM in 8 bits and the
small differences beside it, as the library computes them.
"""

from functools import cache

import axe
import computed
import pytest
import torch
from live_page import EVERY_FIGURE, PAGE_OF, figure, file_name

from lectures_lib import stored
from lectures_lib.models.minilm import checkpoint
from lectures_lib.tasks import fine_tuning
from lectures_lib.tokenization import WordPiece

pytestmark = pytest.mark.browser
WORDPIECE = WordPiece.load(checkpoint() / "vocab.txt")
PRAISE, NAMES, ANSWERS = "Praise or complaint?", "Names in a message", "A question about a text"
ALIKE = "How alike are two sentences?"


@cache
def in_eight_bits(html, task):
    """The library's model with the numbers that the page fetches."""
    return stored.load_adapted(
        stored.FOLDER / f"{task}.safetensors", computed.rounded(html, "minilm")
    )


LOAD = """async (task) => {
  const fetched = async (name) => live.readSafetensors(await (await fetch(`/live/models/${name}.safetensors`)).arrayBuffer());
  window.common ??= await fetched("minilm_8bit");
  window.adapted = new live.Adapted(common, await fetched(task));
}"""


@pytest.mark.parametrize(
    "text",
    ["A warm, funny film that never outstays its welcome.", "no", "Was?! 😀 naïve " * 20],
)
def test_verdicts_are_the_librarys(computing, html, text):
    computing.evaluate(LOAD, "sentiment")
    ids = WORDPIECE.pair(text).ids
    with torch.no_grad():
        expected = in_eight_bits(html, "sentiment")(torch.tensor([ids]))[0]
    found = torch.tensor(computing.evaluate("ids => [...adapted.classify(ids)]", ids))
    torch.testing.assert_close(found, expected, atol=2e-3, rtol=1e-3)


def test_labels_are_the_librarys(computing, html):
    computing.evaluate(LOAD, "entities")
    ids = WORDPIECE.pair("Met Emma Watson at Heathrow, she flew in from New York").ids
    model = in_eight_bits(html, "entities")
    with torch.no_grad():
        expected = model(torch.tensor([ids]))[0]
    found = torch.tensor(computing.evaluate("ids => adapted.label(ids).map(row => [...row])", ids))
    torch.testing.assert_close(found, expected, atol=2e-3, rtol=1e-3)
    names = list(stored.load_adapted(stored.FOLDER / "entities.safetensors").names)
    assert computing.evaluate("() => adapted.names") == names


def test_answers_are_the_librarys(computing, html):
    computing.evaluate(LOAD, "answers")
    question, text = "Who keeps the lighthouse?", "Greta Lind, who owns the inn, keeps it."
    rows = [{"question": question, "context": text, "answers": []}]
    examples = fine_tuning.questions(rows, WORDPIECE, 192)
    (read,) = examples[0].reads
    model = in_eight_bits(html, "answers")
    with torch.no_grad():
        start, end = model(torch.tensor([read.ids]), torch.tensor([read.segments]))
    found = torch.tensor(
        computing.evaluate(
            "([ids, segments]) => adapted.label(ids, segments).map(row => [...row])",
            [read.ids, read.segments],
        )
    )
    expected = torch.stack([start[0], end[0]], dim=1)
    torch.testing.assert_close(found, expected, atol=3e-3, rtol=1e-3)
    first = read.segments.index(1)
    spanned = computing.evaluate(
        "([scores, first, last]) => live.span(scores, first, last)",
        [expected.tolist(), first, len(read.ids) - 2],
    )
    assert tuple(spanned) == tuple(fine_tuning.predict(model, examples)[0])


COMPARED = [
    ("They postponed the meeting to Friday.", "The meeting was put off until Friday."),
    ("no", "Was?! 😀 naïve"),
    ("a good one " * 60, "a bad one " * 40),
    ("yes", "a good one " * 100),
]


def expected_of(html, first, second):
    """The score, the cosine, and how many pieces were read of how many."""
    ids, segments = (
        getattr(WORDPIECE.pair(first, second, 256), name) for name in ("ids", "segments")
    )
    n = segments.index(1)
    body, read = computed.rounded(html, "minilm"), (ids[:n], [ids[0], *ids[n:]])
    with torch.no_grad():
        score = in_eight_bits(html, "similarity")(torch.tensor([ids]), torch.tensor([segments]))
        vectors = [body(torch.tensor([one])).hidden[0].mean(dim=0) for one in read]
    pieces = len(WORDPIECE.encode(first)) + len(WORDPIECE.encode(second))
    return score.item(), torch.cosine_similarity(*vectors, dim=0).item(), len(ids) - 3, pieces


@pytest.mark.parametrize(("first", "second"), COMPARED, ids=lambda text: text[:9])
def test_scores_and_cosines_are_the_librarys(used, html, first, second):
    """Asked of the worker: also what is cut off of texts that are too long."""
    found = used.evaluate(
        """async ([first, second]) => {
          const { Machine } = await import("/live/machine.js");
          const place = [...document.querySelectorAll(".live[data-live]")].find((one) =>
            JSON.parse(one.dataset.live).figure === "similarity");
          window.alike ??= new Machine(JSON.parse(place.dataset.live).models[0]);
          await alike.load();
          const { score, cosine, read, pieces } = await alike.ask("alike", { first, second }).promise;
          return [score, cosine, read, pieces];
        }""",
        [first, second],
    )
    score, cosine, read, pieces = expected_of(html, first, second)
    assert found == [
        pytest.approx(score, abs=2e-3), pytest.approx(cosine, abs=1e-3), read, pieces
    ]  # fmt: skip


def test_two_sentences_of_a_reader_are_compared(used, html):
    box = figure(used, ALIKE)
    first, second = COMPARED[0]
    box.get_by_label("First sentence").fill(first)
    box.get_by_label("Second sentence").fill(second)
    box.get_by_role("button", name="How alike?").click()
    rows = box.locator(".lv-candidates li")
    rows.first.wait_for()
    score, cosine, _, _ = expected_of(html, first, second)
    assert [row.split() for row in rows.all_inner_texts()] == [
        ["score", f"{score:.1f}", "of", "5"], ["cosine", f"{cosine:.2f}"]
    ]  # fmt: skip
    box.get_by_label("First sentence").fill(" ")
    assert rows.first.is_hidden()
    box.get_by_role("button", name="How alike?").click()
    assert "Type something first" in box.get_by_role("status").inner_text()
    box.locator(".lv-examples button").nth(1).click()
    rows.first.wait_for()
    assert "bites" in box.get_by_label("First sentence").input_value()
    assert axe.by_day_and_night(used, ".live") == []


def test_a_readers_sentence_is_judged(live):
    page = live(only="sentiment")
    box = figure(page, PRAISE)
    assert not [url for url in page.asked if "/models/" in url]
    box.get_by_label("A sentence about").fill("What a wonderful, touching film!")
    box.get_by_role("button", name=PRAISE).click()
    first = box.locator(".lv-candidates li").first
    first.wait_for()
    assert first.inner_text().startswith("praise")
    assert float(first.locator("small").inner_text().split()[0]) > 80
    box.get_by_label("A sentence about").fill("")
    box.get_by_role("button", name=PRAISE).click()
    assert "Type something first" in box.locator(".lv-status").inner_text()


@pytest.fixture(scope="module")
def used(tabs, address):
    """The page for the tests that type all that is read: it fetches each file once."""
    page = tabs.take(1000, 900)
    page.goto(address + PAGE_OF["sentiment"])
    page.wait_for_function(EVERY_FIGURE)
    yield page
    assert not page.wrong
    tabs.give_back(page)


@pytest.mark.parametrize("text", ["x" * 2000, "😀 مرحبا 你好", "\u200d"])
def test_strange_texts_get_a_verdict(used, text):
    box = figure(used, PRAISE)
    box.get_by_label("A sentence about").fill(text)
    box.get_by_label("A sentence about").press("Enter")
    box.locator(".lv-candidates li").first.wait_for()


def test_names_are_marked(live):
    box = figure(live(only="entities"), NAMES)
    box.get_by_role("button", name="Find the names").click()
    box.locator(".lv-status:empty").wait_for(state="attached")
    marked = " ".join(box.locator("mark").all_inner_texts())
    assert "new" in marked and "york" in marked
    box.get_by_label("A message").fill("the cat sleeps")
    assert box.locator("mark").first.is_hidden()


def test_a_question_is_answered_from_the_text(used):
    box = figure(used, ANSWERS)
    box.get_by_role("button", name="Why does it not run in winter?").click()
    box.locator(".lv-answer").wait_for()
    assert "ice" in box.locator(".lv-answer").inner_text()
    assert "ice" in box.locator("mark").inner_text()
    box.get_by_label("A text").fill("")
    box.get_by_role("button", name="Answer", exact=True).click()
    assert "Type something first" in box.locator(".lv-status").inner_text()


@pytest.mark.parametrize(
    ("title", "field", "read"),
    [(PRAISE, "A sentence about", 254), (NAMES, "A message", 254), (ANSWERS, "A text", 0)],
)
def test_what_is_not_read_is_said(used, title, field, read):
    box = figure(used, title)
    box.get_by_label(field).fill("a good one " * 100)
    box.locator(".lv-go").click()
    status = box.get_by_text("The text is too long: the first")
    status.wait_for()
    said = status.inner_text()
    assert "of its 300 pieces were read" in said and (not read or f"first {read} of" in said)


def test_of_a_short_text_nothing_is_said(live):
    box = figure(live(only="sentiment"), PRAISE)
    box.locator(".lv-go").click()
    box.locator(".lv-status:empty").wait_for(state="attached")


def test_figures_of_one_page_fetch_their_common_file_once(live):
    page = live(path=PAGE_OF["sentiment"])
    for title in (PRAISE, ALIKE, NAMES, ANSWERS):
        box = figure(page, title)
        box.locator(".lv-go").click()
        box.locator(".lv-status:empty").wait_for(state="attached")
    fetched = [file_name(url) for url in page.asked if "/models/" in url]
    assert sorted(fetched) == sorted(
        ["minilm_8bit.safetensors", "vocab.txt"]
        + [f"{task}.safetensors" for task in ("sentiment", "similarity", "entities", "answers")]
    )
