"""What search engines, social networks and lost readers need: a description and a card for each
page, its one address, a map of the site, and a page for addresses that lead nowhere.

Where the site is published follows from the one setting that names the repository
(`tools/fork.py` says how); a `html_baseurl` in _config.yml comes before it.
"""

import html
import importlib.util
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import social_cards
import yaml
from docutils import nodes
from section_search import contents_titles, said, shortened
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
MOST = 160  # characters of a description that search engines show
LEAST = 60  # a first paragraph shorter than this takes in the next one
UNLISTED = ("search", "genindex", "404")
SENTENCE = re.compile(r"[.?!][”\")]?(?= |$)")
RELATIVE = re.compile(r'(\b(?:href|src|action|data-content_root)=")(?!#|/|[a-z]+:)(?:\./)?')


@cache
def chapter_lines() -> dict[str, dict[str, str]]:
    """For each chapter's page its `question` and what one is `able` to do afterwards."""
    told = yaml.safe_load((ROOT / "book" / "chapters.yml").read_text(encoding="utf-8"))
    return {f"notebooks/{name}": lines for name, lines in told.items()}


def published_at(repository: str) -> str:
    """Where GitHub Pages publishes a repository, with a slash at the end."""
    spec = importlib.util.spec_from_file_location("fork_tool", ROOT / "tools" / "fork.py")
    fork = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fork)
    slug = repository.removeprefix("https://github.com/").strip("/")
    return f"https://{fork.pages(slug)}/"


def set_address(app: Sphinx, config: Any) -> None:
    """Tell Sphinx where the site is published, unless _config.yml does."""
    if not config.html_baseurl:
        config.html_baseurl = published_at(config.html_theme_options["repository_url"])


def description(page: str, doctree: nodes.document) -> str:
    """A chapter's question, or what a page's first paragraphs say, in whole sentences where they
    are short enough.
    """
    if page in chapter_lines():
        return chapter_lines()[page]["question"]
    text = ""
    for paragraph in doctree.findall(nodes.paragraph):
        if len(text) >= LEAST:
            break
        if not isinstance(paragraph.parent, (nodes.entry, nodes.list_item)):
            text = " ".join(f"{text} {said(paragraph)}".split())
    whole = [end for end in map(re.Match.end, SENTENCE.finditer(text)) if LEAST <= end <= MOST]
    return text[: whole[-1]] if whole and len(text) > MOST else shortened(text, MOST)


def page_title(app: Sphinx, page: str, context: dict[str, Any]) -> str:
    """What a tab and a search engine call the page: a chapter has its number, and all but the
    front page the book's name.
    """
    book = app.config.html_title
    title = contents_titles(app).get(page) or re.sub("<[^>]+>", "", context.get("title", ""))
    title = html.unescape(title)
    return book if title in ("", book) else f"{title} — {book}"


def tell(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give the page's head what it needs; there is one viewport, and Sphinx writes it."""
    tags = context.get("metatags", "")
    context["metatags"] = re.sub(r'<meta\b[^>]*name="viewport"[^>]*>', "", tags)
    context["page_title"] = page_title(app, page, context)
    context["page_description"] = description(page, doctree) if doctree else ""
    context["unlisted"] = page in UNLISTED
    card = page.rsplit("/", 1)[-1] if page in chapter_lines() else social_cards.COURSE
    context["card"] = f"{app.config.html_baseurl}{social_cards.FOLDER}/{card}.png"
    context["card_alt"] = (
        f"Card of the chapter “{context['page_title'].split(' — ')[0]}”"
        if page in chapter_lines()
        else "Arcs from each word of a sentence to those it attends to"
    )


def lost_page(app: Sphinx) -> list[tuple[str, dict, str]]:
    """The page for addresses that lead nowhere."""
    return [("404", {"title": "Nothing here"}, "404.html")]


def anchor_lost_page(site: Path, base: str) -> None:
    """The page for lost addresses is shown at any of them, in any folder: its links begin at the
    top of the host.
    """
    top = urlsplit(base).path
    page = site / "404.html"
    text = RELATIVE.sub(rf"\g<1>{top}", page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")


def front_door(app: Sphinx) -> str:
    """The page at the site's own address: it sends readers on to the first page, and those that
    make a preview of a link find the card here.
    """
    root = app.config.root_doc
    kept = re.findall(
        r'<title>.*?</title>|<meta name="description"[^>]*>|<meta (?:property="og|name="twitter)[^>]*>'
        r'|<link rel="canonical"[^>]*>',
        Path(app.outdir, f"{root}.html").read_text(encoding="utf-8"),
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        + "\n".join(kept)
        + f'\n<meta http-equiv="refresh" content="0; url={root}.html"></head>\n'
        f'<body><a href="{root}.html">{html.escape(app.config.html_title)}</a></body></html>\n'
    )


def write(app: Sphinx, exception: Exception | None) -> None:
    """The files beside the pages."""
    if exception is not None or app.builder.format != "html":
        return
    site, base = Path(app.outdir), app.config.html_baseurl
    pages = [page for page in contents_titles(app, untitled=True) if page in app.env.found_docs]
    listed = "".join(f"<url><loc>{base}{page}.html</loc></url>\n" for page in pages)
    (site / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{listed}</urlset>\n',
        encoding="utf-8",
    )
    (site / "robots.txt").write_text(f"User-agent: *\nAllow: /\nSitemap: {base}sitemap.xml\n")
    (site / "index.html").write_text(front_door(app), encoding="utf-8")
    anchor_lost_page(site, base)
    social_cards.write(app, chapter_lines())


def setup(app: Sphinx) -> dict:
    """Connect them; what the theme says of a page is said before, and replaced."""
    app.connect("config-inited", set_address, priority=900)
    app.connect("html-page-context", tell, priority=800)
    app.connect("html-collect-pages", lost_page)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
