"""The foot of a page."""

import re
import subprocess
import sys
from datetime import date

import pytest
from sitemap import ROOT, pages

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import last_changed


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


def git(folder, *arguments, day="2026-01-01"):
    """Run git there, on a day."""
    told = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
    for who in ("AUTHOR", "COMMITTER"):
        told |= {
            f"GIT_{who}_NAME": "a",
            f"GIT_{who}_EMAIL": "a@b",
            f"GIT_{who}_DATE": f"{day}T12:00",
        }
    subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, env=told, capture_output=True
    )


@pytest.fixture
def checkout(tmp_path):
    """Two pages; the second was changed again on another day."""
    folder = (tmp_path / "checkout").resolve()
    folder.mkdir()
    git(folder, "init")
    for day, names in (("2026-01-01", "ab"), ("2026-02-03", "b")):
        for name in names:
            (folder / f"{name}.md").write_text(day)
            git(folder, "add", f"{name}.md")
        git(folder, "commit", "-m", "x", day=day)
    return folder


def test_a_page_was_changed_when_its_last_commit_was_made(checkout):
    assert last_changed.days(checkout) == {"a.md": date(2026, 1, 1), "b.md": date(2026, 2, 3)}


def test_nothing_is_said_where_the_history_is_not_whole(checkout, tmp_path):
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--depth", "1", checkout.as_uri(), str(shallow))
    assert last_changed.days(shallow) == {}
    (checkout / "inside").mkdir()
    assert last_changed.days(checkout / "inside") == {}, "an archive in somebody's own checkout"
    assert last_changed.days(tmp_path) == {}


def test_a_page_says_when_it_was_changed_and_leads_to_its_history(html):
    known = last_changed.days(ROOT)  # nothing outside a checkout
    for page in pages():
        text = (html / page).read_text(encoding="utf-8")
        said = re.findall(r'<time datetime="[\d-]+">.*?/commits/main/([^"]+)"', text)
        sources = [page.removesuffix("html") + kind for kind in ("md", "ipynb")]
        assert said == [source for source in sources if source in known]
