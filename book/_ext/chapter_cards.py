"""The directive {chapter-cards}: a card for each chapter of one part, with its number, a picture and
what its reader will be able to do; {start}: the ways in; {welcome-picture}: the arcs, with a field
for a sentence of the reader's own.
"""

import html
import io
import json
from pathlib import Path

import live_models
import page_scripts
import quizzes
import social_cards
from being_found import chapter_lines
from docutils import nodes
from kept import result
from PIL import Image
from section_search import contents_titles
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from lectures_lib.show.palette import colour

THUMBNAILS = "_static/thumbnails"  # of the site
CARDS = '<ul class="chapter-cards">'
ENDS = {"light": ".png", "dark": ".dark.png"}  # of a thumbnail's file, by the theme
WIDTH, HEIGHT = 350, 200  # of the largest thumbnail
PICTURE = Path(__file__).parents[1] / "figures" / "welcome.svg"


class card_of(nodes.General, nodes.Element):  # noqa: N801
    """A chapter's card; its link is made when the page is written."""


class ChapterCards(SphinxDirective):
    """`{chapter-cards} The Transformer`: the chapters of this part of _toc.yml; no options."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The cards. Their titles and pictures are looked up when all pages have been read."""
        root = self.config.external_site_map.root
        parts = {tree.caption: list(tree.items) for tree in root.subtrees}
        if self.arguments[0] not in parts:
            raise self.error(f"_toc.yml has no part {self.arguments[0]!r}")
        return [
            card_of(pages=[page for page in parts[self.arguments[0]] if page in chapter_lines()])
        ]


class Start(SphinxDirective):
    """`{start} notebooks/02_self_attention`: buttons to read this chapter, and to open it on
    Colab.
    """

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Two links that look like buttons."""
        page, options = self.arguments[0], self.config.html_theme_options
        repository = options["repository_url"].removeprefix("https://")
        colab = (
            f"{options['launch_buttons']['colab_url']}/"
            f"{repository.replace('github.com', 'github', 1)}"
            f"/blob/{options['repository_branch']}/{page}.ipynb"
        )
        number = int(page.rsplit("/", 1)[-1][:2])
        up = "../" * self.env.docname.count("/")
        text = (
            f'<p class="start"><a class="start-first" href="{up}{page}.html">Start with chapter '
            f'{number}</a> <a href="{colab}">Open it in Colab</a></p>'
        )
        return [nodes.raw("", text, format="html")]


class WelcomePicture(SphinxDirective):
    """The picture of book/figures/welcome.py. It is told where MiniLM is fetched from, which reads a
    sentence that its reader types.
    """

    def run(self) -> list[nodes.Node]:
        """The figure, as it was drawn."""
        self.env.note_dependency(str(PICTURE))
        model = live_models.addresses(live_models.sentences())
        told = html.escape(json.dumps(model))
        text = PICTURE.read_text(encoding="utf-8")
        return [
            nodes.raw("", text.replace("<figure ", f'<figure data-model="{told}" '), format="html")
        ]


def visit_cards(translator, node: card_of) -> None:
    """A list of links, each with its picture."""
    app = translator.builder.app
    titles, up = contents_titles(app), "../" * translator.builder.current_docname.count("/")
    items = []
    for page in node["pages"]:
        title = titles.get(page) or app.env.titles[page].astext()
        name = page.rsplit("/", 1)[-1]
        width, height = thumbnails(app, page)
        pictures = "".join(
            f'<img class="plot-{theme} dark-light" src="{up}{THUMBNAILS}/{name}{end}" alt="" '
            f'loading="lazy" width="{width}" height="{height}">'
            for theme, end in ENDS.items()
        )
        items.append(
            f'<li><a href="{up}{page}.html"{asked(name)}><span class="card-picture">{pictures}'
            f'</span><span class="card-title">{html.escape(title)}</span> '
            f'<span class="card-able">{html.escape(chapter_lines()[page]["able"])}</span></a></li>'
        )
    translator.body.append(f"{CARDS}{''.join(items)}</ul>\n")
    raise nodes.SkipNode


def asked(name: str) -> str:
    """How many questions a chapter ends with, for the script that counts the answers to them."""
    chapter = name.split("_")[0]
    if chapter not in quizzes.there():
        return ""
    return f' data-questions="{len(quizzes.load(chapter))}"'


def thumbnails(app: Sphinx, page: str) -> tuple[int, int]:
    """Write a chapter's picture, small, into the site, for each theme; its width and height."""
    figure = app.env.course_told[page]["figure"]
    folder, name = Path(app.outdir, THUMBNAILS), page.rsplit("/", 1)[-1]
    folder.mkdir(parents=True, exist_ok=True)
    for theme in ("dark", "light"):
        size, content = result(thumbnail, figure and figure[theme], colour("paper", theme))
        (folder / f"{name}{ENDS[theme]}").write_bytes(content)
    return size


def thumbnail(figure: str | None, ground: str) -> tuple[tuple[int, int], bytes]:
    """A figure, or the arcs, so large as a card may show it: its width and height, and the file."""
    picture = social_cards.in_pixels(figure, ground) if figure else social_cards.arcs(WIDTH)
    small = picture.convert("RGB")
    small.thumbnail((2 * WIDTH, 2 * HEIGHT), Image.Resampling.LANCZOS)
    few = small.quantize(128, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)  # rare hues, too
    with io.BytesIO() as file:
        few.save(file, "png", optimize=True)
        return small.size, file.getvalue()


def setup(app: Sphinx) -> dict:
    """Add the directives and the node. A page of cards shows which chapters' questions its reader
    has answered.
    """
    page_scripts.where(
        app, lambda page, body: CARDS in body, "shared.js", "answered.js", "welcome.js"
    )
    app.add_directive("chapter-cards", ChapterCards)
    app.add_directive("start", Start)
    app.add_directive("welcome-picture", WelcomePicture)
    app.add_node(card_of, html=(visit_cards, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
