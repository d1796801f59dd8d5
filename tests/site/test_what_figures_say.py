"""What the live figures say and keep in cases that are rare: names that begin with an I-, text that is
cut, a search that is cut off, a question given up, an input method's Enter, two fingers.
"""

import pytest
from live_page import figure

pytestmark = pytest.mark.browser
MODEL = {"kind": "none", "weights": "models/none.safetensors", "vocabulary": None, "bytes": 1}
# A figure of its own in the page, with answers that a model might have given: no model is fetched.
SHOW = """async ([figure, options, answers]) => {
  const host = document.body.appendChild(document.createElement("div"));
  host.dataset.live = JSON.stringify({ title: "A figure", ...options, figure });
  host.dataset.answers = JSON.stringify(answers.map((result) => ({ parts: [], result })));
  const { begin } = await import(document.querySelector("script[src*='live/live.js']").src);
  window.shown = await begin(host);
  window.host = host;
}"""


class Shown:
    """A figure that shows these answers."""

    def __init__(self, page, name, options, *answers):
        page.evaluate(SHOW, [name, {"models": [MODEL], "examples": ["none"], **options}, answers])
        self.page = page

    def evaluate(self, script, given=None):
        return self.page.evaluate(script, given)

    def text(self, selector):
        return self.evaluate("one => host.querySelector(one).textContent", selector)


@pytest.fixture
def shows(computing):
    """A function that shows a figure (`Shown`)."""
    page = computing._page
    yield lambda *given: Shown(page, *given)
    page.evaluate("() => window.host?.remove()")


def test_a_name_may_begin_with_an_i(shows):
    words = [("the", "O"), ("new", "I-corporation"), ("york", "I-group"), ("times", "I-group")]
    words = [{"word": word, "label": label, "share": 0.9} for word, label in words]
    shown = shows("entities", {}, {"words": words, "read": 4, "pieces": 4})
    assert shown.text(".lv-about").startswith("2 names found.")


@pytest.mark.parametrize(
    ("pieces", "span", "said"),
    [
        ("keys of greta lind , the owner", (2, 3), "keys of greta lind, the owner"),
        ("ice closes it ( in winter )", (4, 5), "ice closes it (in winter)"),
    ],
)
def test_an_answer_stands_in_its_text_as_one_writes(shows, pieces, span, said):
    pieces, (first, last) = pieces.split(), span
    found = {"context": pieces, "from": first, "to": last, "read": 7, "pieces": 7}
    examples = [{"question": "Who?", "text": "a text"}]
    shown = shows("answers", {"examples": examples}, found)
    assert shown.text(".lv-words") == said


def test_pieces_that_were_left_out_are_told(shows):
    look = {"tokens": ["[CLS]", "a", "[SEP]"], "segments": [0, 0, 0], "left": 40}
    look["attention"] = [[[[1, 0, 0]] * 3]]
    first = {"layer": 0, "head": 0, "tokens": []}
    shown = shows("reader", {"layers": 1, "heads": 1, "first": first}, look)
    again = "(look) => { shown.answers = [{ parts: [], result: look }]; return shown.read(); }"
    shown.evaluate(again, look)  # after the example, whose line stands there at first
    assert "the last 40 pieces were left out" in shown.text("[role=status]")
    near = {"tokens": ["[CLS]", "a"], "vector": [1, 0], "read": 254, "pieces": 300}
    lines = f"{'😀' * 69}👩‍🚀 and more\nshort"
    options = {"examples": lines.split("\n")}
    shown = shows("nearness", options, near, {**near, "pieces": 1, "read": 1})
    assert "Too long to be read to the end: 1." in shown.text(".lv-about")
    assert shown.text("tbody th") == f"1. {'😀' * 69}👩‍🚀…"  # 70 signs, none of them cut in two


def step(token, parent=0, *, done=False, cut=False):
    one = {"tokens": [token], "token": token, "text": token, "score": -1.0, "parent": parent}
    of = {"begun": 1, "each": 60}
    return {
        **{"live": [one], "ended": [], "lost": [], "of": of},
        **{"finished": [], "done": done, "cut": cut},
    }


@pytest.mark.parametrize("cut", [False, True])
def test_a_search_says_why_it_ends_and_grows_from_the_first_step(shows, cut):
    steps = [step("a"), step("b"), step("c", done=True, cut=cut)]
    named = {**MODEL, "name": "German to English", "examples": ["none"], "language": "de"}
    shown = shows("beams", {"models": [named]}, steps)
    expected = "Cut off after 3 steps." if cut else "Done after 3 steps: as they stand"
    assert shown.text(".lv-about").startswith(expected)
    assert shown.text(".lv-about").endswith("Kept 1 of 60 candidates (1 alive before × 60 tokens).")
    at = shown.evaluate("() => { shown.grow(); const { value } = shown.at.input; return value; }")
    assert at == "1"
    shown.evaluate("() => shown.halt()")


def test_long_vectors_have_shares_too(computing):
    found = computing.evaluate(
        """async (xs) => (await import("/live/stream.js")).attention(xs, { W_V: [[1, 0], [0, 1]] })""",
        [[40.0, 0.0], [-40.0, 1.0]],
    )
    assert found == [[40.0, 0.0], [-40.0, 1.0]]


@pytest.mark.parametrize("ids", [[None], [7], [-1]])
def test_an_id_without_a_vector_is_refused(computing, ids):
    said = computing.evaluate(
        """(ids) => {
          const model = Object.create(live.Bert.prototype);
          model.config = { vocab_size: 7, max_len: 9 };
          try { model.check(ids.map((id) => id ?? undefined)); } catch (error) { return error.message; }
        }""",
        ids,
    )
    assert said and said.startswith("the vocabulary has ids 0 … 6")


@pytest.mark.parametrize(
    ("hash_", "there"),
    [
        ("#at-output-1-2", True),
        ("#at-output-x-2", False),
        ("#at-encoder-x-self_attention", False),
        ("#at-encoder-0-self_attention", True),
        ("#at-source-norm", False),
        ("#at-encoder-norm-1", True),
    ],
)
def test_an_address_that_leads_nowhere_is_seen(computing, hash_, there):
    config = {"n_layers": 2, "n_heads": 2, "d_ff": 8, "d_model": 4}
    trace = {"config": config, "source": [1, 2, 3], "read": [1, 2], "candidates": [[1] * 5] * 2}
    found = computing.evaluate(
        """async ([address, trace]) => {
          const { fromAddress, valid } = await import("/live/places.js");
          return valid(fromAddress(address), trace);
        }""",
        [hash_, trace],
    )
    assert found is there


def test_what_was_given_up_is_not_computed(computing):
    """Of three questions at once the first two are cancelled: only the third is answered."""
    answered = computing.evaluate(
        """async (image) => {
          const worker = new Worker("/live/worker.js", { type: "module" });
          const blob = await (await fetch("/live/models/digits.safetensors")).blob();
          const heard = [];
          const last = new Promise((resolve) => {
            worker.onmessage = ({ data }) => {
              heard.push(data.id);
              if (data.id === 4) resolve();
              if (data.id !== 1) return;
              for (const id of [2, 3]) {
                worker.postMessage({ id, task: "classify", image });
                worker.postMessage({ task: "cancel", which: id });
              }
              worker.postMessage({ id: 4, task: "classify", image });
            };
          });
          worker.postMessage({ id: 1, task: "load", kind: "images", weights: blob });
          await last;
          worker.terminate();
          return heard;
        }""",
        [0.5] * 64,
    )
    assert answered == [1, 4]


def test_words_in_any_script_can_be_hidden_and_pieces_join_their_word(shows):
    holes = [[{"token": "##ing", "share": 0.5}]]
    found = {"tokens": ["play", "[MASK]"], "holes": holes}
    shown = shows("filler", {"examples": ["हिन्दी naïve play [MASK]."]}, found)
    words = "() => [...host.querySelectorAll('.lv-words button')].map((one) => one.textContent)"
    assert shown.evaluate(words) == ["हिन्दी", "naïve", "play", "[MASK]"]
    shown.evaluate("() => host.querySelector('.lv-candidates button').click()")
    assert shown.evaluate("() => shown.text.value") == "हिन्दी naïve playing."
    assert shown.evaluate("() => host.contains(document.activeElement)"), "the focus is not lost"


def test_the_enter_of_an_input_method_does_not_ask(live):
    page = live(only="reader")
    box = figure(page, "Where a BERT looks")
    before = box.get_by_role("status").inner_text()
    box.get_by_label("Your sentence").evaluate(
        """field => { for (const more of [{ isComposing: true }, { shiftKey: true }])
          field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, ...more })); }"""
    )
    assert box.get_by_role("status").inner_text() == before
    assert not [url for url in page.asked if "/models/" in url]


def test_of_72_heads_the_tab_key_meets_one(live):
    page = live(only="reader")
    heads = figure(page, "Where a BERT looks").get_by_role("group", name="All 72 heads")
    assert heads.locator("[tabindex='0']").count() == 1
    heads.locator("[tabindex='0']").focus()
    before = page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("ArrowRight")
    after = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert before.split(",")[0] == after.split(",")[0] and before != after
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')")[:7] != after[:7]
    assert heads.locator("[tabindex='0']").count() == 1


def test_a_lost_key_is_shown_lost_when_its_answer_does_not_come(live):
    page = live(only="remembering")
    page.context.route("**/models/**", lambda route: route.fulfill(status=503))
    button = figure(page, "A cache at work").get_by_role("button", name="at place 3")
    button.click()
    figure(page, "A cache at work").get_by_text("could not be fetched").wait_for()
    assert button.get_attribute("aria-pressed") == "true"


def test_the_download_goes_on_telling(live):
    """Who types while a model comes is told that it has come."""
    page = live(only="sentiment")
    held = []
    page.context.route("**/minilm_8bit.safetensors**", lambda route: held.append(route))
    box = figure(page, "Praise or complaint?")
    box.get_by_role("button", name="Praise or complaint?").click()
    box.get_by_text("Fetching the model").wait_for()
    box.get_by_label("A sentence").press_sequentially("x")
    assert "Fetching" in box.get_by_role("status").inner_text()
    while not held:
        page.wait_for_timeout(50)
    held[0].continue_()
    box.get_by_text("The model is here.").wait_for()
