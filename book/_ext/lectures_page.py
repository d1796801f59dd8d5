"""The directive {lectures}: every item of the five lectures, slide by slide, and where the book has
it.

The rows are in lectures.yml, which says how a place is written; the lectures' names are those of
claims.yml. A place that does not exist stops the build.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml
from docutils import nodes
from kept import of_files, result
from myst_parser.mdit_to_docutils.base import default_slugify
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
BOOK, FILE = ROOT / "book", ROOT / "book" / "lectures.yml"
sys.path[:0] = [str(BOOK), str(ROOT / "tools")]
import claims  # noqa: E402
import published  # noqa: E402
import sections  # noqa: E402

NONE = "none, "  # and then the reason
PLACE = re.compile(r"(?P<page>\d\d[bc]?|[a-z]\w*)(?:#(?P<anchor>[\w-]+))?")
MARKS = re.compile(r"([\\`*_\[\]<>|$#])")  # what MyST would read as more than a letter
SHORTEST_REASON = 20


@dataclass(frozen=True)
class Item:
    """One thing that a lecture says, shows or asks.

    Args:
        lecture: a key of claims.yml's `lectures`.  slide: its title.
        says: what stands there, in our words.
        places: where the book has it; empty if it has not, and then there is a `reason`.
    """

    lecture: str
    slide: str
    says: str
    places: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True)
class Place:
    """Where a link leads: an address relative to book/, and the words that stand for it."""

    address: str
    words: str


def item(lecture: str, slide: str, row: str) -> Item:
    """A row of lectures.yml; a ValueError if it is none."""
    says, arrow, rest = row.rpartition(" => ")
    if not arrow or not says:
        raise ValueError(f"{lecture}, {slide}: no `item => places`: {row!r}")
    if rest.startswith(NONE):
        return Item(lecture, slide, says, (), rest.removeprefix(NONE))
    return Item(lecture, slide, says, tuple(rest.split()))


def read(file: Path = FILE) -> list[Item]:
    """All items, in the order of the slides."""
    record = yaml.safe_load(file.read_text(encoding="utf-8"))
    return [
        item(lecture, slide, row)
        for lecture, slides in record.items()
        for slide, rows in slides.items()
        for row in rows.splitlines()
    ]


@cache
def chapters() -> dict[str, dict[str, str]]:
    """For each chapter's number ("08b" for the page behind chapter 8): the titles of its sections by
    their anchors.
    """
    return {
        chapter.stem.split("_")[0]: result(titles, chapter, of_files([chapter]))
        for chapter in notebooks()
    }


def notebooks() -> list[Path]:
    """The chapters, as executed: what the site shows."""
    return sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))


def titles(chapter: Path, content: str) -> dict[str, str]:
    """Those of one chapter; `content` says which version of it."""
    return {section["anchor"]: section["title"] for section in sections.sections(chapter)}


@cache
def headings(page: Path) -> dict[str, str]:
    """The headings of a Markdown page by their anchors; the first is the page's title."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {default_slugify(heading): heading for heading in found}


def place(written: str) -> Place:
    """What a place of lectures.yml stands for; a LookupError, in words, if there is no such."""
    match = PLACE.fullmatch(written)
    if not match:
        raise LookupError(f"{written!r} is no place")
    page, anchor = match["page"], match["anchor"]
    if page[0].isdigit():
        return _chapter(page, anchor)
    if page == "claims" and anchor:
        topic, verdict = _claims().get(anchor, ("", ""))
        page_of = f"claims/{claims.page(topic)}" if topic else "claims"
        address = f"{page_of}.md#claim-{anchor}"
        return _known(written, bool(verdict), address, f"checked: {verdict}")
    if page == "published" and anchor:
        title = _tables().get(anchor, "")
        page_of = f"published/{published.page(anchor)}" if title else "published"
        address = f"{page_of}.md#{nodes.make_id(title)}"
        return _known(written, bool(title), address, f"Table: {title}")
    if homework := next((ROOT / "exercises").glob(f"{page}_*.ipynb"), None):
        words = f"Homework {page.removeprefix('hw')}"
        return _known(written, not anchor, f"../exercises/{homework.name}", words)
    return _page(page, anchor)


def _chapter(number: str, anchor: str | None) -> Place:
    """A section of a chapter."""
    title = chapters().get(number, {}).get(anchor or "", "")
    twin = next((ROOT / "notebooks").glob(f"{number}_*.ipynb"), Path(""))
    address = f"../notebooks/{twin.name}#{anchor}"
    return _known(f"{number}#{anchor}", bool(title), address, f"{number.lstrip('0')}, {title}")


def _page(page: str, anchor: str | None) -> Place:
    """A page of book/, or one of its sections: "Primer: Softmax"; a section of "live" is on one of the
    pages that this one leads to.
    """
    if page == "live" and anchor:
        rooms = (BOOK / "your_own").glob("*.md")
        page = next((f"your_own/{file.stem}" for file in rooms if anchor in headings(file)), page)
    file = BOOK / f"{page}.md"
    known = headings(file) if file.exists() else {}
    title = next(iter(known.values()), "")
    if not anchor:
        return _known(page, bool(title), f"{page}.md", title)
    words = f"{title.partition(':')[0]}: {known.get(anchor, '')}"
    return _known(f"{page}#{anchor}", anchor in known, f"{page}.md#{anchor}", words)


def _known(written: str, exists: bool, address: str, words: str) -> Place:
    """The place, if it exists."""
    if not exists:
        raise LookupError(f"there is no {written!r}")
    return Place(address, words)


@cache
def _claims() -> dict[str, tuple[str, str]]:
    """The topics and verdicts of the checked claims by their names."""
    return {claim.id: (claim.topic, claim.verdict) for claim in claims.read()["claims"]}


@cache
def _tables() -> dict[str, str]:
    """The titles of the published tables by the names of their files."""
    return {table.name: table.title for table in published.tables()}


def problems(row: Item) -> Iterator[str]:
    """What is wrong with a row, in words."""
    for written in row.places:
        try:
            place(written)
        except LookupError as error:
            yield f"{row.lecture}, {row.slide}, {row.says!r}: {error.args[0]}"
    if not row.places and len(row.reason) < SHORTEST_REASON:
        yield f"{row.lecture}, {row.slide}, {row.says!r}: no place, and no reason why"


class Lectures(SphinxDirective):
    """All of the page below its introduction."""

    def run(self) -> list[nodes.Node]:
        """How many items have a place, and a section with a table for each lecture."""
        for source in (FILE, claims.FILE, *notebooks()):
            self.env.note_dependency(str(source))
        rows, lectures = read(), claims.read()["lectures"]
        if wrong := [problem for row in rows for problem in problems(row)]:
            raise self.error("; ".join(wrong))
        placed = sum(bool(row.places) for row in rows)
        said = f"{len(rows)} items, {placed} of them with a place and {len(rows) - placed} without."
        return [
            *self.parse_text_to_nodes(said),
            *(
                self.lecture(names, [row for row in rows if row.lecture == key])
                for key, names in lectures.items()
            ),
        ]

    def lecture(self, names: dict[str, str], rows: list[Item]) -> nodes.section:
        """A section for one lecture."""
        title = re.sub("^the ", "The ", names["short"])
        section = nodes.section("", nodes.title("", title), names=[title.lower()])
        self.state.document.note_implicit_target(section)
        section += self.parse_text_to_nodes(
            f"{names['title']}, {names['from']}. {len(rows)} items."
        )
        section += self.table(rows)
        return section

    def table(self, rows: list[Item]) -> nodes.table:
        """Item and places; before the items of a slide, a line with its title."""
        group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in range(2)), cols=2)
        heads = [nodes.entry("", nodes.paragraph("", head)) for head in ("says", "is here")]
        group += nodes.thead("", nodes.row("", *heads))
        body, slide = nodes.tbody(), ""
        for row in rows:
            if row.slide != slide:
                slide = row.slide
                name = nodes.paragraph("", "", nodes.strong("", slide))
                body += nodes.row("", nodes.entry("", name, morecols=1, classes=["slide"]))
            body += nodes.row("", nodes.entry("", nodes.paragraph("", row.says)), self.places(row))
        group += body
        return nodes.table("", group, classes=["lectures"])

    def places(self, row: Item) -> nodes.entry:
        """The links, or why there is none."""
        if not row.places:
            return nodes.entry("", nodes.paragraph("", f"not here: {row.reason}"))
        paragraph = nodes.paragraph()
        for found in map(place, row.places):
            if paragraph.children:
                paragraph += nodes.Text(" · ")
            paragraph += self.link(found)
        return nodes.entry("", paragraph)

    def link(self, found: Place) -> list[nodes.Node]:
        """A link. What a directive makes is no heading that MyST knows, so it gets its address."""
        if found.address.startswith(("claims/", "published/")):
            address = found.address.replace(".md#", ".html#")
            return [nodes.reference("", found.words, refuri=address, internal=True)]
        words = MARKS.sub(r"\\\1", found.words)
        return self.parse_text_to_nodes(f"[{words}]({found.address})")[0].children


def setup(app: Sphinx) -> dict:
    """Add the directive."""
    app.add_directive("lectures", Lectures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
