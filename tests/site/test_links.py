"""Links: those inside the site lead somewhere, and those that name the repository come from its one
setting.
"""

import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
import yaml
from sitemap import ROOT, notebook_pages, pages

# What says nothing to one who goes from link to link (Lighthouse's list).
SAYS_NOTHING = {"click here", "here", "go", "more", "learn more", "read more", "see more", "this"}
COLAB, BINDER = "https://colab.research.google.com/github/", "https://mybinder.org/v2/gh/"


class Found(HTMLParser):
    """A page's anchors, and where it leads: all that is needed here of half a million elements."""

    def __init__(self, page: Path):
        super().__init__()
        self.ids, self.hrefs, self.texts, self.inside = set(), [], [], False
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.inside = True
            self.texts.append("")
        for name, value in attrs:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src"):
                self.hrefs.append(value or "")

    def handle_data(self, data):
        if self.inside:
            self.texts[-1] += data

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "a"


@cache
def found(page: Path) -> Found:
    return Found(page)


def setting() -> tuple[str, str]:
    """The repository as owner/name, and its branch."""
    repository = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]
    return repository["url"].removeprefix("https://github.com/"), repository["branch"]


@pytest.mark.parametrize("path", [*pages(), "search.html", "index.html"])
def test_every_internal_link_leads_somewhere(html, path):
    page, lost = html / path, []
    for href in found(page).hrefs:
        link = urlsplit(href)
        if link.scheme or link.netloc:
            continue
        target = (page.parent / unquote(link.path)).resolve() if link.path else page
        if not target.is_file() or (
            link.fragment and target.suffix == ".html" and link.fragment not in found(target).ids
        ):
            lost.append(href)
    assert not lost


@pytest.mark.parametrize("path", pages())
def test_a_link_says_where_it_leads(html, path):
    texts = {" ".join(text.split()).lower().strip(".") for text in found(html / path).texts}
    assert not texts & SAYS_NOTHING


@pytest.mark.parametrize("path", pages())
def test_launch_buttons_are_on_notebooks_only_and_follow_the_setting(html, path):
    launch = {href for href in found(html / path).hrefs if href.startswith((COLAB, BINDER))}
    repository, branch = setting()
    if path == pages()[0]:  # the welcome page's button: where to start
        assert launch == {f"{COLAB}{repository}/blob/{branch}/notebooks/02_self_attention.ipynb"}
        return
    source = path.replace(".html", ".ipynb")
    expected = {
        f"{COLAB}{repository}/blob/{branch}/{source}",
        f"{BINDER}{repository}/{branch}?urlpath=lab/tree/{source}",
    }
    assert launch == (expected if path in notebook_pages() else set())


@pytest.mark.parametrize("path", notebook_pages())
def test_notebook_can_be_downloaded(html, path):
    source = path.replace(".html", ".ipynb")
    assert any(href.endswith(f"_sources/{source}") for href in found(html / path).hrefs)
    downloaded = json.loads((html / "_sources" / source).read_text(encoding="utf-8"))
    nbformat.validate(downloaded)
    assert downloaded == json.loads((ROOT / source).read_text(encoding="utf-8"))


def test_pages_do_not_repeat_the_repository():
    repository, _ = setting()
    assert not [
        page.name for page in (ROOT / "book").rglob("*.md") if repository in page.read_text()
    ]


def test_every_paper_a_page_links_to_is_in_the_references():
    known = (ROOT / "book" / "references.bib").read_text()
    sources = [
        *(ROOT / "book").rglob("*.md"),
        *(ROOT / "notebooks").glob("*.ipynb"),
        *(ROOT / "exercises").glob("*.ipynb"),
    ]
    linked = {
        (url, path.name)
        for path in sources
        for url in re.findall(r"https://arxiv\.org/abs/[\d.]+\d", path.read_text())
    }
    assert not {(url, name) for url, name in linked if url not in known}


def test_feedback_points_at_sections_that_exist(html):
    from lectures_lib.homework.questions import load, names

    lost = []
    for question in (question for name in names() for question in load(name).questions):
        name, _, anchor = question.chapter.partition("#")
        page = html / "notebooks" / f"{name}.html"
        if not page.exists() or (anchor and anchor not in found(page).ids):
            lost.append((question.name, question.chapter))
    assert not lost
