"""What Lighthouse, Google's audit of web pages, thinks of the built site: the aim is a median of 95
for speed and 100 for the rest on every page measured.

    python benchmarks/pages.py
        every chapter and the pages with live figures five times, on a machine that does nothing
        else (three quarters of an hour); writes book/results/pages.json. Stopped, it goes on
        where it was when it is called again with the same number of rounds
    python benchmarks/pages.py --only notebooks/03_multi_head_attention.html
        one page again; the others stay as they stand in the results file

`make book` first. Lighthouse slows the processor down fourfold and the network to that of a
telephone, and asks what a reader would wait for: until something is painted, until the largest
thing is, and how long the page does not answer meanwhile. It comes from npm the first time.
"""

import argparse
import json
import os
import sys
import threading
from pathlib import Path

from lectures_lib import results

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tools.site import HTML, audit, server  # noqa: E402

NAME = "pages"
ROUNDS = 5
# Of book/, the pages with live figures, and the one that leads to some of them.
BESIDE = (
    *("welcome", "live", "motion", "through", "ask"),
    *(
        f"your_own/{name}"
        for name in ("writing", "holes", "tasks", "inside", "sentences", "pictures")
    ),
)
SCORES = {
    "performance": "speed",
    "accessibility": "accessibility",
    "best-practices": "best_practices",
    "seo": "being_found",
}
TIMES = {
    "first-contentful-paint": ("first_paint_seconds", 1000),
    "largest-contentful-paint": ("largest_paint_seconds", 1000),
    "total-blocking-time": ("blocked_milliseconds", 1),
    "cumulative-layout-shift": ("layout_shift", 1),
}
KEPT = ROOT / "_build" / "lighthouse_rounds.json"  # of the rounds so far, where they were stopped


def pages() -> list[str]:
    """The addresses of what is measured, below the site's root."""
    chapters = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    return [f"notebooks/{name}.html" for name in chapters] + [f"book/{n}.html" for n in BESIDE]


def measured(report: dict) -> dict[str, float]:
    """The numbers of one visit."""
    categories, audits = report["categories"], report["audits"]
    scores = {name: 100 * categories[key]["score"] for key, name in SCORES.items()}
    times = {name: audits[key]["numericValue"] / by for key, (name, by) in TIMES.items()}
    return scores | times


def of_all(rounds: dict[str, list[dict[str, float]]]) -> dict[str, dict]:
    """For each page the spread of what was measured, and the worst median of all pages."""
    by_page = {Path(page).stem: results.spreads(visits) for page, visits in rounds.items()}
    worst = {
        name: min(page[name]["median"] for page in by_page.values()) for name in SCORES.values()
    }
    return {"worst_median": worst, "by_page": by_page}


def visits_of(by_page: dict[str, dict]) -> dict[str, list[dict[str, float]]]:
    """The visits that `of_all` was made of, out of its table by page."""
    found = {}
    for page in pages():
        spreads = by_page.get(Path(page).stem, {})
        values = zip(*(spread["values"] for spread in spreads.values()), strict=True)
        if of_page := [dict(zip(spreads, visit, strict=True)) for visit in values]:
            found[page] = of_page
    return found


def main() -> None:
    """Round after round, so that a page's visits lie apart in time."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", help="addresses of pages, such as book/ask.html")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    asked = options.only or pages()
    if lost := [page for page in asked if not (HTML / page).exists()]:
        sys.exit(f"Not in _build/html: {', '.join(lost)}. Run `make book SERVE=0` first.")
    rounds = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    rounds = {page: kept for page, kept in rounds.items() if page in pages()}
    if options.only:  # what was measured elsewhere is in the results file alone
        measured_before = visits_of(results.load(NAME)["results"]["by_page"])
        rounds = measured_before | rounds | {page: [] for page in options.only}
    with server(0) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        for visit in range(options.rounds):
            for page in asked:
                if len(rounds.setdefault(page, [])) > visit:
                    continue
                report = audit(f"http://localhost:{running.server_port}/{page}")
                rounds[page].append(measured(report))
                KEPT.write_text(json.dumps(rounds), encoding="utf-8")
                told = " ".join(f"{rounds[page][-1][name]:.0f}" for name in SCORES.values())
                print(f"{page:46} {told}", flush=True)
        running.shutdown()
    title = "Lighthouse's scores of the site's pages (of 100), and what a reader waits for"
    results.save(NAME, of_all(rounds), title, [])


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
