"""What a live figure shows before anybody has typed: what its model says of the example, asked while
the site was built.
"""

import hashlib
import json
import os
import re
import sys

import pytest
from live_page import PAGE_OF
from sitemap import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import first_answers
import live_models
import type_your_own

BOX = '.live[data-live*=\'"figure": "{}"\'] .lv-box[role=group]'
# two draw a picture of their own at first
FIGURES = [name for name in type_your_own.FIGURES if name not in {"dates", "sentence_map"}]
# What is read of a figure, less its status line.
SEEN = """(box) => [...box.querySelectorAll("*")]
  .filter((e) => !e.firstElementChild && e.textContent.trim() && e.role !== "status" && e.checkVisibility())
  .map((e) => e.textContent)"""
LONGEST = "␣the"  # of the pairs of the text in pieces
# It has come to rest again, with an answer of the model that was fetched.
ANSWERED = """(box) => !/Shown|Fetching|Starting|Computing/.test(box.querySelector("[role=status]").textContent)"""


@pytest.mark.browser
@pytest.mark.parametrize("name", FIGURES)
def test_the_first_answer_is_the_models(live, name):
    page = live(path=PAGE_OF[name])
    box = page.locator(BOX.format(name))
    box.get_by_text("Shown: what it makes of the example.").wait_for()
    at_first = box.evaluate(SEEN)
    assert not [url for url in page.asked if "/models/" in url or "worker" in url]
    if name == "writer":  # its button goes on with the text: back to where it began
        begin = box.get_by_role("textbox").input_value()
        box.get_by_role("button", name="Write on").click()
        page.wait_for_function("() => document.querySelector('.lv-play').value.length > 20")
        box.get_by_role("button", name="Stop").click()
        box.get_by_role("textbox").fill(begin)
        box.get_by_text("What may come next").wait_for()
    else:
        box.locator(".lv-examples button" if name == "digits" else ".lv-go").first.click()
    page.wait_for_function(ANSWERED, arg=box.element_handle())
    if name == "pieces":  # the merges of this token were shown
        box.get_by_role("button", name=LONGEST, exact=True).click()
    assert box.evaluate(SEEN) == at_first


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(first_answers, "KEPT", tmp_path / "cleared" / "kept.json")
    return first_answers.KEPT


def options(tmp_path, number):
    """A figure whose model is one file, which only has to be there."""
    (tmp_path / "weights").write_text(number)
    one = {"kind": "images", "weights": "models/weights", "vocabulary": None, "learned": None}
    model = {**one, "files": [tmp_path / "weights"]}
    return {"one": {"models": [model], "asks": [{"task": "classify"}]}, "other": {"models": []}}


def test_a_model_is_asked_again_when_it_is_another(kept, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(first_answers, "asked", lambda asking: asked.append(asking) or {"one": []})
    for number in ("1", "1", "2"):
        assert first_answers.answers(options(tmp_path, number)) == {"one": []}
    assert len(asked) == 2
    assert json.loads(kept.read_text())["answers"] == {"one": []}


def test_another_model_has_another_address(tmp_path):
    file = tmp_path / "weights.safetensors"
    addresses = []
    for number in ("one", "two", "one"):
        file.write_text(number)
        os.utime(file, ns=(0, len(addresses)))
        addresses.append(live_models.model("images", file)["weights"])
    assert addresses[0] == addresses[2] != addresses[1]
    assert all(
        re.fullmatch(r"models/weights\.safetensors\?[0-9a-f]{8}-3", one) for one in addresses
    )


def test_every_file_of_a_model_is_asked_for_with_its_digest_and_size(html):
    """On every page: whatever lies in live/models is named nowhere without them."""
    found = set()
    for page in html.glob("**/*.html"):
        found |= set(
            re.findall(
                r"models/([\w.-]+\.(?:safetensors|json|txt)\??[\w-]*)", page.read_text("utf-8")
            )
        )
    assert len(found) > 8
    for name in found:
        file, _, digest = name.partition("?")
        content = (html / "live" / "models" / file).read_bytes()
        expected = f"{hashlib.sha256(content).hexdigest()[:8]}-{len(content)}"
        assert digest == expected, name


def test_a_model_that_cannot_be_read_is_said(kept, tmp_path):
    with pytest.raises(RuntimeError, match=r"(?s)first_answers\.js ended with 1: .*load"):
        first_answers.answers(options(tmp_path, "not weights"))
    assert not kept.exists()
