"""The foot of a page."""

import pytest


def test_the_authors_are_named_as_one_says_it(html):
    text = (html / "notebooks" / "02_self_attention.html").read_text(encoding="utf-8")
    assert "By the authors of From Attention to BERT" in " ".join(text.split())


@pytest.mark.browser
def test_on_a_phone_both_ways_on_have_the_whole_width(live):
    page = live(width=390, path="notebooks/14b_words_and_spans.html")
    ways = page.locator(".prev-next-area a")
    boxes = [ways.nth(i).bounding_box() for i in range(2)]
    assert all(box["width"] > 330 for box in boxes)
    assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]
    assert ways.evaluate_all("all => all.every(e => e.scrollWidth <= e.clientWidth)")
