"""Files of a model over a bad network: what does not come, comes in part or is something else is
said in our own words with the file's name, and the next press tries again; while a file comes one
sees how far it is, and a second visit fetches none. And a browser that cannot run a model says so.
"""

import re
import socket
import threading
from pathlib import Path

import pytest
from live_page import AT_REST, EVERY_FIGURE, PAGE_OF, box_of, file_name, said

pytestmark = pytest.mark.browser
MODELS = "/live/models/"
MANY = 60_000  # milliseconds


class Network:
    """What the server makes of a request for a model's file."""

    def __init__(self):
        self.served: list[str] = []  # names of files, in the order in which they were asked for
        self.answers = {}  # a part of an address, and what answers in the server's place
        self.go_on = threading.Event()

    def __call__(self, handler) -> bool:
        if MODELS in handler.path:
            self.served.append(file_name(handler.path))
        for part, answer in self.answers.items():
            if part in handler.path:
                file = Path(handler.translate_path(handler.path))
                answer(handler, file.read_bytes())
                return True
        return False

    # Answers ...
    def cut(self, handler, content):
        """Half of what was promised, and then the line is dead."""
        send(handler, content[: len(content) // 2], len(content))
        handler.wfile.flush()
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)

    def page(self, handler, content):
        """A page where one is to log in."""
        send(handler, b"<!doctype html><title>Log in</title>" * 9, kind="text/html")

    def short(self, handler, content):
        """Half of it, as if it were all, to be kept for ever."""
        send(handler, content[: len(content) // 2])

    def spoilt(self, handler, content):
        """As long as it should be, and not the file."""
        send(handler, bytes(reversed(content)))

    def slow(self, handler, content):
        """A half; the other when the test says so."""
        send(handler, content[: len(content) // 2], len(content))
        handler.wfile.flush()
        self.go_on.wait(60)
        handler.wfile.write(content[len(content) // 2 :])


def send(handler, body: bytes, promised: int | None = None, kind="application/octet-stream"):
    """An answer of status 200 that a browser may keep; `promised`: how long it says that it is."""
    handler.send_response(200)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(promised or len(body)))
    handler.send_header("Cache-Control", "public, max-age=31536000, immutable")
    handler.end_headers()
    handler.wfile.write(body)


@pytest.fixture
def network(tricks):
    """The network, which is good until a test changes it."""
    one = Network()
    tricks.append(one)
    yield one
    one.go_on.set()
    tricks.clear()


@pytest.fixture
def fresh(browser, address):
    """A function that opens a page of one who has never been here: nothing is in the cache."""
    opened = []

    def open_it(path, only="", init="", **options):
        context = browser.new_context(viewport={"width": 1000, "height": 900}, **options)
        context.add_init_script(init)
        page = context.new_page()
        page.set_default_timeout(MANY)
        page.wrong = []
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        opened.append(page)
        page.home = address + path + (only and f"?only={only}")
        page.goto(page.home)
        page.wait_for_function(EVERY_FIGURE)
        return page

    yield open_it
    for page in opened:
        assert not page.wrong
        page.context.close()


class InAFigure:
    """A live figure whose button is pressed."""

    def __init__(self, name, path="", model="", vocabulary="", beside=""):
        self.name, self.path = name, path or PAGE_OF[name]
        self.model, self.vocabulary = model, vocabulary
        self.beside = beside

    def open(self, fresh, **options):
        return fresh(self.path, "" if "through" in self.path else self.name, **options)

    def press(self, page):
        box_of(page, self.name).locator(".lv-go").click()

    def said(self, page):
        return said(box_of(page, self.name))

    def answers(self, page):
        box = box_of(page, self.name)
        page.wait_for_function(AT_REST, arg=box.element_handle())
        assert "That did not work" not in self.said(page)


class Inside(InAFigure):
    """Into a vector of the film."""

    def press(self, page):
        box = box_of(page, self.name)
        if not box.locator(".lv-lanes [aria-pressed=true]").count():
            box.locator('[data-at="encoder-2-1"]').click()
        box.get_by_role("button", name="Look inside").click()

    def answers(self, page):
        box_of(page, self.name).locator(".lv-within").wait_for()


class Share(InAFigure):
    """How a share of one head comes about: for that two more scripts are fetched."""

    def press(self, page):
        box = box_of(page, self.name)
        box.get_by_label("Head", exact=True).select_option("1")
        box.locator(".lv-candidates button").first.click()

    def answers(self, page):
        box_of(page, self.name).locator(".lv-why .lv-arithmetic").wait_for()


class Preset(InAFigure):
    """A mix whose table comes when another one is asked for."""

    def press(self, page):
        box_of(page, self.name).get_by_role("button", name="Only 6").click()

    def answers(self, page):
        super().answers(page)
        box_of(page, self.name).locator(".lv-occurrences").wait_for()


class Ask(InAFigure):
    """The page "Ask the book"."""

    def open(self, fresh, **options):
        page = fresh(self.path, **options)
        page.get_by_label("Your question").fill("what is a head?")
        return page

    def press(self, page):
        page.get_by_role("button", name="Ask", exact=True).click()

    def said(self, page):
        return page.locator("#ask-count").inner_text()

    def answers(self, page):
        page.get_by_text("nearest to your question").wait_for()


class Welcome(InAFigure):
    """The first page's picture."""

    def open(self, fresh, **options):
        page = fresh(self.path, **options)
        page.locator("#welcome-own").fill("the dog is here")
        return page

    def press(self, page):
        page.locator(".welcome-own button").click()

    def said(self, page):
        return page.locator(".welcome-own output").inner_text()

    def answers(self, page):
        page.get_by_text("The model is here").wait_for()


TRANSLATOR = {
    "model": "translator_de_en.safetensors",
    "vocabulary": "translator.json",
    "beside": "translator_words_de.safetensors",
}
MINILM = {"model": "minilm_8bit.safetensors", "vocabulary": "vocab.txt"}
PLACES = {
    "translator": InAFigure("translator", **TRANSLATOR),
    "sentiment": InAFigure("sentiment", model="sentiment.safetensors", vocabulary="vocab.txt"),
    "pieces": InAFigure("pieces", model="translator.json", vocabulary="vocab.txt"),
    "dice": InAFigure("dice", "book/motion.html", vocabulary="vocab.txt"),
    "hiding": InAFigure("hiding", model="fill_mask_8bit.safetensors", vocabulary="vocab.txt"),
    "mixing": Preset("mixing", "book/motion.html", model="senses.products"),
    "through": InAFigure("through", "book/through.html", **TRANSLATOR),
    "at_work": InAFigure("at_work", "book/through.html", **TRANSLATOR),
    "inside": Inside("at_work", "book/through.html", **TRANSLATOR),
    "ask": Ask("ask", "book/ask.html", **MINILM),
    "welcome": Welcome("welcome", "book/welcome.html", **MINILM),
}
FILES = [(name, kind) for name in PLACES for kind in ("model", "vocabulary")]
FILES.remove(("dice", "model"))
FILES.remove(("mixing", "vocabulary"))
OURS = {
    "cut": "came only in part: the connection broke.",
    "page": "could not be fetched: a web page came in its place.",
    "short": "came damaged:",
}


def told(page, place) -> str:
    """What is said of the failure, once it is."""
    page.wait_for_function("() => document.body.innerText.includes('That did not work: ')")
    return place.said(page).partition("That did not work: ")[2]


@pytest.mark.parametrize(("name", "kind"), FILES)
def test_a_file_that_does_not_come_whole_is_named_and_fetched_anew(fresh, network, name, kind):
    place = PLACES[name]
    file = getattr(place, kind)
    page = place.open(fresh)
    for how, words in OURS.items():
        network.answers = {f"/{file}": getattr(network, how)}
        place.press(page)
        assert told(page, place).startswith(f"{MODELS}{file} {words}"), how
    network.answers = {}
    place.press(page)
    place.answers(page)
    others = [one for one in network.served if one != file]
    assert len(others) == len(set(others)), "what had come was not fetched anew"


@pytest.mark.parametrize("name", PLACES)
def test_without_a_connection_it_says_so_and_tries_again(fresh, network, name):
    """Nothing comes at all, neither files nor scripts."""
    place = PLACES[name]
    page = place.open(fresh)
    page.context.set_offline(True)
    for _ in range(2):
        place.press(page)
        words = told(page, place)
        assert "could not be fetched: there is no connection." in words, words
    page.context.set_offline(False)
    place.press(page)
    place.answers(page)


@pytest.mark.parametrize("name", PLACES)
def test_a_request_that_is_broken_off_is_said_with_the_files_name(fresh, name):
    place = PLACES[name]
    page = place.open(fresh)
    page.context.route(f"**{MODELS}**", lambda route: route.abort())
    place.press(page)
    assert re.match(rf"{MODELS}[\w.]+ could not be fetched: there is no", told(page, place))
    page.context.unroute(f"**{MODELS}**")
    place.press(page)
    place.answers(page)


def test_a_file_that_is_no_model_is_said_and_fetched_anew(fresh, network):
    """It is as long as the model, so that only the worker sees it."""
    place = PLACES["translator"]
    page = place.open(fresh)
    network.answers = {place.model: network.spoilt}
    place.press(page)
    words = told(page, place)
    assert words.startswith(f"The model cannot be read: of {MODELS}{place.model} and ")
    assert "something came damaged" in words
    network.answers = {}
    place.press(page)
    place.answers(page)


def test_further_scripts_that_do_not_come_are_said(fresh):
    place = Share("reader")
    page = place.open(fresh)
    box_of(page, "reader").locator(".lv-go").click()
    InAFigure.answers(place, page)
    page.context.set_offline(True)
    place.press(page)
    assert re.match(r"/live/\w+\.js could not be fetched: there is no", told(page, place))
    page.context.set_offline(False)
    place.press(page)
    place.answers(page)


def test_the_inside_that_does_not_come_is_said(fresh):
    """The model is there, the code for what is inside is not."""
    place = PLACES["inside"]
    page = place.open(fresh)
    page.context.route("**/live/inside.js", lambda route: route.abort())
    place.press(page)
    assert told(page, place).startswith("/live/inside.js could not be fetched: there is no")
    page.context.unroute("**/live/inside.js")
    place.press(page)
    place.answers(page)


def test_a_workers_script_that_does_not_come_is_no_old_browser(fresh):
    place = PLACES["translator"]
    page = place.open(fresh)
    page.context.route("**/live/worker.js", lambda route: route.abort())
    place.press(page)
    assert told(page, place).startswith("/live/worker.js could not be fetched: there is no")
    page.context.unroute("**/live/worker.js")
    place.press(page)
    place.answers(page)


# Before 2023 a browser took a worker's script for one of the old kind, which knows no import; some
# may start none at all.
OLD = {
    "of the old kind": "(Worker) => class extends Worker { constructor(script) { super(script); } }",
    "none": "() => class { constructor() { throw new Error('no workers here'); } }",
}


@pytest.mark.parametrize("kind", OLD)
@pytest.mark.parametrize("name", ["translator", "ask", "welcome"])
def test_a_browser_that_cannot_run_a_model_is_told_so(fresh, name, kind):
    place = PLACES[name]
    page = place.open(fresh, init=f"window.Worker = ({OLD[kind]})(Worker)")
    for _ in range(2):
        place.press(page)
        words = told(page, place)
        assert words.startswith("The model cannot run in this browser: it needs workers made of")


@pytest.mark.parametrize("name", ["translator", "ask", "welcome"])
def test_one_sees_how_far_a_file_is(fresh, network, name):
    place = PLACES[name]
    page = place.open(fresh)
    network.answers = {f"/{place.model}": network.slow}
    place.press(page)
    page.get_by_text(re.compile("Fetching .*: 50 % of [0-9.]+ MB")).wait_for()
    network.go_on.set()
    place.answers(page)


@pytest.mark.parametrize("name", ["pieces", "dice"])
def test_one_sees_that_a_vocabulary_comes(fresh, network, name):
    place = PLACES[name]
    page = place.open(fresh)
    network.answers = {f"/{place.vocabulary}": network.slow}
    place.press(page)
    assert re.match("Fetching the vocabular(y|ies) …", place.said(page))
    network.go_on.set()
    place.answers(page)


@pytest.mark.parametrize("name", ["translator", "pieces", "dice", "through"])
def test_a_second_visit_fetches_no_model(fresh, network, name):
    place = PLACES[name]
    page = place.open(fresh)
    place.press(page)
    place.answers(page)
    files = sorted(filter(None, (place.model, place.vocabulary, place.beside)))
    assert sorted(network.served) == files
    page.goto("about:blank")
    page.goto(page.home)
    page.wait_for_function(EVERY_FIGURE)
    place.press(page)
    place.answers(page)
    assert sorted(network.served) == files
