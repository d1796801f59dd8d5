"""Lighthouse's scores of one page can be measured again where the visits to the others are in the
results file alone.
"""

import importlib.util
from pathlib import Path

import pytest

from lectures_lib import results

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "pages.py"


@pytest.fixture(scope="module")
def pages():
    spec = importlib.util.spec_from_file_location("benchmarks_pages", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_visits_come_out_of_the_file_as_they_went_in(pages):
    held = results.load("pages")["results"]
    rounds = pages.visits_of(held["by_page"])
    assert len(rounds) == len(held["by_page"])
    assert pages.of_all(rounds) == held


def test_a_page_that_was_never_measured_has_no_visits(pages):
    held = results.load("pages")["results"]["by_page"]
    rounds = pages.visits_of({name: held[name] for name in ("ask", "09b_cache")})
    assert list(rounds) == ["notebooks/09b_cache.html", "book/ask.html"]
