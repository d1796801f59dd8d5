"""How long a reader waits for a model in the page: from the fetched file until it can be asked, for
its first answer, and for each one after that.

    python benchmarks/live_models.py
        writes book/results/live_models.json; `make book` first, and nothing beside it

Each number is of Chromium on this machine, of a new worker each round, with the files already
there: the download is as fast as the reader's network. What is asked is the same for all who
measure: a sentence of 16 tokens with [CLS] and [SEP] for MiniLM and for the model that fills holes,
a caption, 50 letters of a play, a digit.
"""

import json
import shutil
import sys
import threading
from pathlib import Path

import lxml.html
from playwright.sync_api import sync_playwright

from lectures_lib import results

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tools.site import BROWSERS, HTML, server  # noqa: E402

NAME, ROUNDS = "live_models", 7
PAGES = "book/your_own"  # of the site: the figures
PLAIN = {"temperature": 1, "topK": 1e9, "topP": 1}
SENTENCE = "The old keys to the cabinet are still lying on the kitchen table."
HOLE = "The old keys to the cabinet [MASK] still lying on the kitchen table."
ASKED = {  # the figure that has the model: what is measured, the worker's task, its request
    "reader": ("minilm", "look", {"text": SENTENCE}),
    "filler": ("masked_words", "fill", {"text": HOLE}),
    "translator": (
        "translator",
        "translate",
        {"text": "Zwei Hunde spielen im Schnee.", "forced": []},
    ),
    "writer": ("language_model", "write", {"text": "ROMEO:\n", "n": 50, "options": PLAIN}),
    "digits": ("digits", "classify", {"image": [i % 17 / 16 for i in range(64)]}),
}
# Twice the same model: the first one fetches the files, the second finds them.
ASK = """async ([model, task, request]) => {
  const { Machine } = await import("/live/machine.js");
  const first = new Machine(model);
  await first.load();
  first.worker.terminate();
  const machine = new Machine(model), start = performance.now();
  await machine.load();
  const loaded = performance.now();
  const answer = await machine.ask(task, request).promise;
  const once = performance.now();
  await machine.ask(task, request).promise;
  const twice = performance.now();
  machine.worker.terminate();
  return { tokens: answer.tokens?.length ?? 0, ready_seconds: (loaded - start) / 1000,
    first_answer_seconds: (once - loaded) / 1000, answer_seconds: (twice - once) / 1000 };
}"""


def models() -> dict[str, dict]:
    """The model of each figure asked here, as the page names its files."""
    pages = map(lxml.html.parse, sorted((HTML / PAGES).glob("*.html")))
    places = [place for page in pages for place in page.xpath("//*[@data-live]")]
    told = [json.loads(place.get("data-live")) for place in places]
    return {one["figure"]: one["models"][0] for one in told if one["figure"] in ASKED}


def main() -> None:
    """Round after round, each model once in a round."""
    if not (HTML / PAGES).exists():
        sys.exit("There is no site in _build/html yet. Run `make book SERVE=0`.")
    chrome = next(filter(None, map(shutil.which, BROWSERS)), None)
    runs: dict[str, list[dict[str, float]]] = {}
    with server(0) as running, sync_playwright() as playwright:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=chrome, args=["--no-sandbox"])
        for _ in range(ROUNDS):
            for figure, model in models().items():
                name, task, request = ASKED[figure]
                page = browser.new_page()
                page.goto(f"http://localhost:{running.server_port}/{PAGES}/inside.html")
                found = page.evaluate(ASK, [model, task, request])
                page.close()
                assert name not in ("minilm", "masked_words") or found["tokens"] == 16, found
                found.pop("tokens")
                runs.setdefault(name, []).append(found)
                print(name, {key: round(value, 3) for key, value in found.items()}, flush=True)
        browser.close()
        running.shutdown()
    by_model = {name: results.spreads(found) for name, found in runs.items()}
    sizes = {ASKED[f][0]: model["bytes"] / 1e6 for f, model in models().items()}
    found = {name: {"megabytes": sizes[name]} | by_model[name] for name in by_model}
    title = "The book's models in the browser: seconds until they can be asked, and of an answer"
    results.save(NAME, found, title, [])


if __name__ == "__main__":
    main()
