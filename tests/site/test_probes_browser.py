"""Probes in the page: what they read of a sentence is what the library's read, they are chapter
16b's, and the figure can be used on a phone, by keyboard, and without scripts.
"""

import json
import random
from itertools import pairwise

import axe
import computed
import pytest
import torch
from live_page import figure
from safetensors import safe_open

from lectures_lib import data
from lectures_lib.analysis.probing import Probed, control_labels, fit_probe, label_ids
from lectures_lib.models import minilm
from lectures_lib.tasks.word_level import cut_words, word_states
from lectures_lib.tokenization import WordPiece

pytestmark = pytest.mark.browser
TITLE = "A sentence, read by probes"
WORDPIECE = WordPiece.load(minilm.checkpoint() / "vocab.txt")
LEARN = [s for split in ("train", "validation") for s in data.load("treebank", split)]
TEST = data.load("treebank", "test")
WORDS, TAGS = ([w for s in [*LEARN, *TEST] for w in s[field]] for field in ("words", "upos"))
N = sum(len(s["words"]) for s in LEARN)
NAMES = sorted(set(TAGS))
REAL = label_ids(TAGS, NAMES)
LABELS = {"tag": REAL, "control": control_labels(WORDS, REAL)}
ROUNDING = 0.02  # of a share: the probes' numbers are kept in half precision
PROBE = """async (rows) => {
  const fetched = async (name) => live.readSafetensors(await (await fetch(`/live/models/${name}.safetensors`)).arrayBuffer());
  window.probed ??= new live.BertWithProbes(await fetched("minilm_8bit"), await fetched("probes"));
  return rows.map(([ids, places]) => {
    const { tag, control } = probed.probe(ids, places);
    return [tag, control].map((task) => task.map((state) => state.map((scores) => [...scores])));
  });
}"""


@pytest.fixture(scope="module")
def rounded(html):
    """MiniLM as the page fetches it."""
    return computed.rounded(html, "minilm")


@pytest.fixture(scope="module")
def kept(html):
    """The probes that the page fetches: their numbers in single precision, and what is said of
    them.
    """
    with safe_open(html / "live" / "models" / "probes.safetensors", "pt") as file:
        numbers = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
        return numbers, json.loads(file.metadata()["config"])


def scores(rounded, kept, words):
    """What the page's probes say of a sentence's words: of each task (states, words, classes)."""
    (x,) = word_states(rounded, WORDPIECE, [words])
    numbers, _ = kept
    return [
        torch.stack(
            [
                state @ numbers[f"{task}.{i}.weight"].T + numbers[f"{task}.{i}.bias"]
                for i, state in enumerate(x)
            ]
        )
        for task in LABELS
    ]


def random_sentence(chance):
    """Words of the treebank, of the vocabulary, and words that it has to spell."""
    known = [piece for piece in WORDPIECE.vocabulary.tokens[2000:] if piece.isalpha()]
    made = ["".join(chance.choices("abcdeioprst", k=chance.randint(4, 12))) for _ in range(9)]
    return [
        chance.choice(chance.choice([WORDS, known, made])) for _ in range(chance.randint(1, 25))
    ]


def test_scores_are_the_librarys_on_random_sentences(computing, rounded, kept):
    chance = random.Random(0)
    sentences = [random_sentence(chance) for _ in range(6)]
    found = computing.evaluate(PROBE, [list(cut_words(WORDPIECE, words)) for words in sentences])
    for words, both in zip(sentences, found, strict=True):
        for said, expected in zip(both, scores(rounded, kept, words), strict=True):
            torch.testing.assert_close(torch.tensor(said), expected, atol=2e-3, rtol=1e-3)


@pytest.mark.parametrize(("task", "state"), [("tag", 0), ("tag", 2), ("control", 3)])
def test_they_are_the_chapters_probes(live, rounded, kept, task, state):
    numbers, config = kept
    assert config["tags"] == NAMES
    met = zip(WORDS[:N], LABELS["control"].tolist(), strict=False)
    assert config["drawn"] == {word.lower(): label for word, label in met}
    x, asked = (
        torch.cat(word_states(rounded, WORDPIECE, [s["words"] for s in part]), dim=1)[state]
        for part in (LEARN, TEST)
    )
    with torch.enable_grad():
        probe = fit_probe(Probed(x[None], LABELS[task][:N]), len(NAMES))
    with torch.no_grad():
        expected = probe(asked[None]).softmax(dim=-1)
    said = asked @ numbers[f"{task}.{state}.weight"].T + numbers[f"{task}.{state}.bias"]
    torch.testing.assert_close(said.softmax(dim=-1), expected, atol=ROUNDING, rtol=0)
    right = float((expected.argmax(dim=-1) == LABELS[task][N:]).float().mean())
    place = live(only="probes").locator('.live[data-live*=\'"figure": "probes"\']')
    told = json.loads(place.get_attribute("data-live"))
    assert told["right"][task][state] == pytest.approx(right, abs=0.01)
    assert told["asked"] == len(WORDS) - N


def read(page, one, other=""):
    """The figure, when it has read this."""
    box = figure(page, TITLE)
    box.get_by_label("Your sentence").fill(one)
    box.get_by_label("A second one").fill(other)
    box.get_by_role("button", name="Read it").click()
    box.locator(".lv-probes tbody").first.wait_for()
    return box


def rows(box, kind=":not(.lv-control)"):
    """By row its name and what stands in its cells: (label, share)."""
    found = box.locator(f".lv-probes tbody tr{kind}").evaluate_all(
        "all => all.map((row) => [row.cells[0].textContent, [...row.cells].slice(1).map("
        "(cell) => [cell.firstChild.textContent, cell.querySelector('small').textContent])])"
    )
    return [(name, [tuple(cell) for cell in cells]) for name, cells in found]


SAID = ["Unbelievably, the translators left the left office!", "Der Hund schläft. 😀 שלום"]


@pytest.mark.parametrize("text", SAID)
def test_what_is_typed_is_read_as_in_the_library(live, rounded, kept, text):
    pieces = WORDPIECE.known_tokens(WORDPIECE.encode(text))
    words = []
    for piece in pieces:
        words += [words.pop() + piece[2:]] if piece.startswith("##") else [piece]
    box = read(live(only="probes"), text)
    _, config = kept
    for kind, expected in zip(
        (":not(.lv-control)", ".lv-control"), scores(rounded, kept, words), strict=True
    ):
        shown, shares = rows(box, kind), expected.softmax(dim=-1)
        assert len(shown) == len(words)
        for i, (name, cells) in enumerate(shown):
            drawn = config["drawn"].get(words[i])
            label = "never met" if drawn is None else f"drawn: {NAMES[drawn]}"
            assert name == (words[i] if kind != ".lv-control" else label)
            for state, (said, share) in enumerate(cells):
                best = shares[state, i]
                assert best[NAMES.index(said)] > best.max() - 1e-3
                assert float(share.removeprefix("✓ ")) == pytest.approx(
                    100 * float(best.max()), abs=0.6
                )
                hit = kind == ".lv-control" and NAMES.index(said) == drawn
                assert share.startswith("✓") == hit


def test_a_word_in_two_sentences_parts_behind_state_0_and_its_drawn_label_stays(live):
    page = live(only="probes")
    box = figure(page, TITLE)
    (one, other) = [cells for name, cells in rows(box) if name == "watch"]
    assert one[0][0] == other[0][0]  # state 0 has the word and its place
    assert [cells[2][0] for cells in (one, other)] == ["VERB", "NOUN"]
    told = box.locator(".lv-about").inner_text()
    differ = [state for state, (a, b) in enumerate(zip(one, other, strict=True)) if a[0] != b[0]]
    assert differ == [*range(differ[0], 7)]
    assert (
        f"“watch” stands there more than once, with different tags from state {differ[0]} on."
        in told
    )
    both = [drawn for (name, _), drawn in with_controls(box) if name == "watch"]
    assert len({name for name, _ in both}) == 1 and both[0][0].startswith("drawn: ")
    assert all(cells[0][1].startswith("✓") for _, cells in both)
    met = [drawn for _, drawn in with_controls(box) if drawn[0] != "never met"]
    known = [sum(cells[state][1].startswith("✓") for _, cells in met) for state in (0, 6)]
    assert (
        f"Of the {len(met)} words that the control's probes met in training, they have "
        f"{known[0]} right in state 0 and {known[1]} in the last." in told
    )
    assert not [url for url in page.asked if "/models/" in url or "/answers/probes" in url]


def with_controls(box):
    """Each word's row with that of the control below it."""
    shown = rows(box, "")
    return [(word, below) for i, (word, below) in enumerate(pairwise(shown)) if i % 2 == 0]


def test_the_foot_tells_how_selective_the_probes_are(live):
    box = figure(live(only="probes"), TITLE)
    right, control, selectivity = (
        [int(text) for text in row.locator("td").all_inner_texts()]
        for row in box.locator(".lv-probes tfoot tr").all()[1:]
    )
    assert right[2] > 93 and control[0] > 62
    for a, b, apart in zip(right, control, selectivity, strict=True):
        assert apart == a - b


def test_the_control_is_hidden_and_shown_by_keyboard(live):
    page = live(only="probes")
    box = figure(page, TITLE)
    box.get_by_role("checkbox").focus()
    page.keyboard.press("Space")
    assert box.locator(".lv-control:visible").count() == 0
    assert box.locator(".lv-probes tbody tr:visible").count() == 10
    box.get_by_label("A second one").focus()
    page.keyboard.press("Enter")
    box.locator(".lv-status:empty").wait_for(state="attached")
    assert box.locator(".lv-control:visible").count() == 0  # it stays as it was chosen
    box.get_by_role("checkbox").focus()
    page.keyboard.press("Space")
    assert box.locator(".lv-control:visible").count() > 10


def test_another_sentence_hides_what_was_read(live):
    box = figure(live(only="probes"), TITLE)
    assert box.locator(".lv-probes").is_visible()
    box.get_by_label("A second one").fill("x")
    assert not box.locator(".lv-probes").is_visible()


def test_what_is_not_read_is_said(live):
    box = read(live(only="probes"), "." * 300)
    assert "Of 300 pieces the first 254 were read." in box.locator(".lv-about").inner_text()
    box.get_by_label("Your sentence").fill("\u200b")
    box.get_by_role("button", name="Read it").click()
    box.get_by_text("there is nothing that BERT reads").wait_for()
    assert not box.locator(".lv-probes").is_visible()


# Words that are wider than their cell, and by how much the table, scrolled where it must, is wider than its box.
CRAMPED = """(table) => [
  [...table.querySelectorAll("td")].filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent),
  table.parentElement.getBoundingClientRect().right - table.closest(".lv-box").getBoundingClientRect().right]"""


@pytest.mark.parametrize("width", [320, 390, 1000])
def test_seven_states_fit(live, width):
    page = live(width, has_touch=True, is_mobile=True, only="probes")
    box = figure(page, TITLE)
    box.get_by_role("button", name="I know that she left.").tap()
    page.wait_for_function("() => /SCONJ/.test(document.querySelector('.lv-probes').textContent)")
    cramped, over = box.locator(".lv-probes").evaluate(CRAMPED)
    assert cramped == [] and over < 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_axe_finds_nothing(live):
    page = live(only="probes")
    read(page, "I know that she left the office.", "That bird sings.")
    assert axe.by_day_and_night(page, ".live") == []


def test_without_scripts_the_tags_of_an_example_stand_there(live):
    page = live(java_script_enabled=False, only="probes")
    assert "watch: VERB, NOUN" in page.inner_text("main")


def test_the_probes_are_a_small_part_of_what_is_fetched(html):
    assert (html / "live" / "models" / "probes.safetensors").stat().st_size < 180_000
