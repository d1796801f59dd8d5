"""What the tests of the site share: where things are, and which pages there are."""

import importlib.util
from functools import cache
from pathlib import Path

import lxml.html
import yaml
from bs4 import BeautifulSoup, Tag

ROOT = Path(__file__).parents[2]
# A promise that what moves by the clock has come to rest. What moves by scrolling never ends.
# Some may be cut short, such as those of a film that plays on; and one that a browser without windows
# does not draw ends never, so that after some seconds nothing is waited for any more.
ANIMATED = """Promise.race([new Promise((enough) => setTimeout(enough, 5000)),
  Promise.allSettled(document.getAnimations()
    .filter(a => a.timeline === document.timeline).map(a => a.finished))])"""


def load_site_tool():
    """tools/site.py as a module (its name is taken by one of Python's own)."""
    spec = importlib.util.spec_from_file_location("site_tool", ROOT / "tools" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages() -> list[str]:
    """The addresses of all pages that _toc.yml lists, the root first."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    names = [toc["root"]]
    for part in toc["parts"]:
        for entry in part["chapters"]:
            names += [entry["file"], *(below["file"] for below in entry.get("sections", []))]
    return [f"{name}.html" for name in names]


def notebook_pages() -> list[str]:
    """Those among them that are made from a notebook."""
    return [page for page in pages() if (ROOT / page).with_suffix(".ipynb").exists()]


@cache
def article(html: Path, path: str) -> Tag:
    """What a built page says, between its head and foot; to be read, not to be changed."""
    return BeautifulSoup((html / path).read_text(encoding="utf-8"), "html.parser").find("article")


def read(html: Path, path: str) -> lxml.html.HtmlElement:
    """The same, by a parser that is 25 times as fast: for the tests that read every page."""
    return lxml.html.fromstring((html / path).read_text(encoding="utf-8")).find(".//article")
