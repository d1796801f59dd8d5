"""The directive {slide-decks}: a table of the lectures' slides. The decks themselves are written into
slides/ beside the pages when these are done: `book/slides` makes them.
"""

import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

BOOK = Path(__file__).parents[1]
sys.path.insert(0, str(BOOK))
import slides  # noqa: E402


class SlideDecks(SphinxDirective):
    """A list of links, one for each deck."""

    def run(self) -> list[nodes.Node]:
        """Chapter, number of slides, minutes."""
        self.env.note_reread()
        above = "../" * self.env.docname.count("/")
        listed = nodes.bullet_list(classes=["slide-decks"])
        for name in slides.decks():
            deck = slides.read(name)
            link = nodes.reference("", slides.place(name)[1], refuri=f"{above}slides/{name}.html")
            said = f": {slides.count(deck)} slides, {slides.minutes(deck):.0f} minutes"
            listed += nodes.list_item("", nodes.paragraph("", "", link, nodes.Text(said)))
        return [listed]


def write(app: Sphinx, exception: Exception | None) -> None:
    """The decks, after the trimming of pages, which would take their comments for a page's."""
    if exception is None and app.builder.format == "html":
        slides.build(Path(app.outdir) / "slides")


def setup(app: Sphinx) -> dict:
    """Register the directive."""
    app.add_directive("slide-decks", SlideDecks)
    app.connect("build-finished", write, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
