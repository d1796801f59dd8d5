"""Measured results: the directive {results-overview}, a line for each file of book/results, and
{results} with the name of a page, which shows the files of that page.

book/results.yml says which files these are, what each was to find out and what it found; the
chapters that quote a file are found in their text. All is read when the site is built.
"""

import json
import re
import string
import sys
from functools import cache
from pathlib import Path
from typing import Any

import chapters
import made_sections
import results_layout
import yaml
from docutils import nodes
from results_layout import Block, named, told, usual_runs
from results_plot import curves
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import sections  # noqa: E402

FOLDER = ROOT / "book" / "results"
PAGES = ROOT / "book" / "results.yml"
QUOTE = re.compile(r"<!--\s+(\w+):\s+\S+\s+\S+\s+-->")
LONG = 28  # letters in a cell that may be broken into lines
PROPER = {  # names that scripts write as they are typed
    "cola": "CoLA",
    "minilm": "MiniLM",
    "rte": "RTE",
    "squad": "SQuAD",
    "sst2": "SST-2",
    "stsb": "STS-B",
    "wnut": "WNUT-17",
}
HEADING = re.compile(r"^#{1,4} .+$", re.MULTILINE)


@cache
def pages(listed: Path = PAGES, folder: Path = FOLDER) -> dict[str, dict[str, dict[str, Any]]]:
    """For each page its files, and for each file `asks`, `found`, `first` and `axis`.

    Raises:
        ValueError: if a file is on no page or on two, or a page names one that there is not.
    """
    told_of = yaml.safe_load(listed.read_text(encoding="utf-8"))
    named_files = [name for files in told_of.values() for name in files]
    there = {path.stem for path in folder.glob("*.json")}
    if twice := sorted({name for name in named_files if named_files.count(name) > 1}):
        raise ValueError(f"{listed.name} has on two pages: {', '.join(twice)}")
    if missing := sorted(there - set(named_files)):
        raise ValueError(f"{listed.name} has no line for {', '.join(missing)}: add one to a page")
    if unknown := sorted(set(named_files) - there):
        raise ValueError(f"{listed.name} names {', '.join(unknown)}, and there is no such file")
    return told_of


def anchor(name: str) -> str:
    """A file's address on its page."""
    return nodes.make_id(name)


def home(name: str) -> str:
    """The page that shows a file."""
    return next(page for page, files in pages().items() if name in files)


@cache
def load(name: str) -> dict[str, Any]:
    """A results file."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


class Filled(string.Formatter):
    """Fills {path/to/a/number:format} from a results file."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        """The number at a path; a KeyError says where the path ends."""
        found: Any = kwargs["results"]
        for step in field_name.split("/"):
            if not isinstance(found, dict) or step not in found:
                raise KeyError(f"{field_name!r} ends at {step!r}; there is {list(found)}")
            found = found[step]
        return found, field_name


def answer(name: str) -> str:
    """What a file found, with its numbers."""
    return filled(pages()[home(name)][name]["found"], name)


def filled(line: str, name: str) -> str:
    """A line with the numbers of a file in it."""
    said = Filled().vformat(line, (), {"results": load(name)["results"]})
    return re.sub(r"(?<=\d)%", " %", said)


def where(device: str) -> str:
    """A device in few words: "CPU, 1 thread"."""
    threads = re.search(r"^CPU.* (\d+) torch threads", device)
    if not threads:
        return device
    return f"CPU, {threads[1]}\u00a0thread{'s' if threads[1] != '1' else ''}"


@cache
def quoting() -> dict[str, dict[Path, int]]:
    """For each file the pages that quote it, in the order of the book, and how many of its numbers
    each quotes.
    """
    found: dict[str, dict[Path, int]] = {}
    notebooks = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
    book = {*(ROOT / "book").glob("*.md"), *(ROOT / "book" / "your_own").glob("*.md")}
    book.remove(ROOT / "book" / "results.md")  # which shows them all
    for page in [*notebooks, *sorted(book)]:
        for name in QUOTE.findall(prose(page)):
            places = found.setdefault(name, {})
            places[page] = places.get(page, 0) + 1
    return found


def prose(page: Path) -> str:
    """The text of a page, or of a notebook's text cells."""
    if page.suffix == ".md":
        return page.read_text(encoding="utf-8")
    return sections.prose(page)


def short_name(page: Path) -> str:
    """ "chapter 8b", or a page's title."""
    if number := chapters.key(page.stem):
        return f"chapter\u00a0{number.lstrip('0')}"
    return "“" + HEADING.search(prose(page))[0].lstrip("# ") + "”"


def quoted_in(name: str) -> list[str]:
    """Links to the pages that quote a file, with the number of quotations, in Markdown; from the
    top of the sources.
    """
    return [
        f"[{short_name(page)}](/{page.relative_to(ROOT)})\u00a0({count})"
        for page, count in quoting().get(name, {}).items()
    ]


def table(one: Block, title: str, usual: int, axis: Any) -> nodes.table:
    """A table of a file. Numbers at its edge are named in its corner."""
    said = corner(one, axis)
    spare = one.rows == ((),) and not said  # a single row of names needs none of its own
    group = nodes.tgroup(cols=len(one.columns) + (not spare))
    heads = [*map(named, one.columns)]
    if not spare:
        group += nodes.colspec(colwidth=1, stub=1)
        heads.insert(0, said)
    group += [nodes.colspec(colwidth=1) for _ in one.columns]
    if any(heads):
        group += nodes.thead("", nodes.row("", *map(cell, heads)))
    body = nodes.tbody()
    for row in one.rows:
        line = nodes.row() if spare else nodes.row("", cell(named(row or one.caption)))
        for column in one.columns:
            leaf = one.cells.get((row, column))
            line += cell(*told(leaf[1], usual)) if leaf else cell("")
        body += line
    group += body
    whole = nodes.table("", group, classes=["measured"])
    if title:
        whole.insert(0, nodes.title("", upper(title)))
    return whole


def upper(words: str) -> str:
    """With a capital letter."""
    return words[:1].upper() + words[1:]


def corner(one: Block, axis: Any) -> str:
    """What the numbers at a table's edge count, if it has any there."""
    at_edge = any(
        keys and results_layout.numeric(keys) for keys in (one.rows, one.columns) if keys != ((),)
    )
    if not at_edge or not axis:
        return ""
    if isinstance(axis, str):
        return axis
    keys = (*one.caption, *(key for row in one.rows for key in row))
    return next((words for key, words in axis.items() if set(key.split()) <= set(keys)), "")


def cell(text: str, *below: str) -> nodes.entry:
    """A cell: a number, and below it in small letters what is said of its runs."""
    mean, bracket, median = text.partition(" (") if any(below) else (text, "", "")
    paragraph = nodes.paragraph("", mean)
    if bracket:
        paragraph += nodes.inline("", f" ({median}", classes=["median"])
    for line in filter(None, below):
        paragraph += [nodes.Text(" "), nodes.inline("", line, classes=["spread"])]
    return nodes.entry("", paragraph, classes=["long"] if len(text) > LONG else [])


def provenance(record: dict, usual: int) -> nodes.field_list:
    """How, where, when and with what the numbers were measured."""
    versions = ", ".join(
        f"{name} {version}" for name, version in record.get("versions", {}).items()
    )
    seeds = ", ".join(map(str, record.get("seeds", []))) or "none (a measurement of time)"
    runs = f"; n = {usual}, where nothing else is said" if usual else ""
    facts = {
        "Command": nodes.literal("", record["command"]),
        "Device": nodes.Text(record["device"]),
        "Seeds": nodes.Text(seeds + runs),
        "Versions": nodes.Text(versions),
        "Date": nodes.Text(f"{record['date']}, commit {record['commit']}"),
    }
    return nodes.field_list("", *(fact_field(name, fact) for name, fact in facts.items()))


def fact_field(name: str, fact: nodes.Node) -> nodes.field:
    """One line of it."""
    return nodes.field(
        "", nodes.field_name("", name), nodes.field_body("", nodes.paragraph("", "", fact))
    )


def titled(title: str) -> list[nodes.Node]:
    """A file's title as a sentence of the page: names as they are written, a capital letter, and
    `code` as code.
    """
    text = re.sub(r"\w+", lambda word: PROPER.get(word[0], word[0]), title)
    text = text.replace("10^9", "10⁹")
    parts = enumerate(upper(text).split("`"))
    return [nodes.literal("", part) if i % 2 else nodes.Text(part) for i, part in parts]


class Folded(nodes.General, nodes.Element):
    """What a reader may unfold; on paper it is open."""


def visit_folded(translator, node: Folded) -> None:
    """Its beginning, with the words that stay."""
    translator.body.append(f'<details class="single-runs"><summary>{node["words"]}</summary>\n')


def depart_folded(translator, node: Folded) -> None:
    """Its end."""
    translator.body.append("</details>\n")


class Results(SphinxDirective):
    """The files of one page, one below the other: `{results} attention`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The sections, in the order of results.yml."""
        self.env.note_reread()
        files = pages().get(self.arguments[0])
        if files is None:
            raise self.error(f"results.yml has no page {self.arguments[0]!r}: {', '.join(pages())}")
        sections = [self.section(name, told_of) for name, told_of in files.items()]
        return [*self.in_short(files), *sections]

    def in_short(self, files: dict[str, dict[str, Any]]) -> list[nodes.Node]:
        """What to look at first: a line for each file that is `first`, or for all of a few."""
        lines = [
            f"- [{files[name]['asks']}](/book/results/{home(name)}.md#{anchor(name)}) {answer(name)}"
            for name in [name for name in files if files[name].get("first")] or files
        ]
        found = self.parse_text_to_nodes("\n".join(lines))
        return [nodes.container("", nodes.rubric("", "In short"), *found, classes=["in-short"])]

    def section(self, name: str, told_of: dict[str, Any]) -> nodes.section:
        """One file."""
        record = load(name)
        section = nodes.section("", nodes.title("", told_of["asks"]), ids=[anchor(name)])
        made_sections.note(self.env, anchor(name), told_of["asks"])
        section += self.parse_text_to_nodes(answer(name))
        section += self.about(name, record["title"])
        found, usual = results_layout.blocks(record["results"]), usual_runs(record["results"])
        axis = told_of.get("axis", "")
        tables = list(zip(found, results_layout.titles(found), strict=True))
        for one, title in tables:
            if not one.single_runs:
                section += curves(name, one)
                section += table(one, title, usual, axis)
        if runs := [table(one, title, usual, axis) for one, title in tables if one.single_runs]:
            section += Folded("", *runs, words="The single runs")
        section += provenance(record, usual)
        return section

    def about(self, name: str, title: str) -> nodes.paragraph:
        """What was measured, and who quotes it."""
        places = quoted_in(name)
        said = f"Numbers quoted in {', '.join(places)}." if places else "Quoted in no chapter."
        paragraph = nodes.paragraph("", "", *titled(title), classes=["measured-what"])
        paragraph += nodes.Text(". ")
        paragraph += self.parse_text_to_nodes(said)[0].children
        return paragraph


class Overview(SphinxDirective):
    """A table for each page: what was asked, what was found, on what, and who quotes it."""

    def run(self) -> list[nodes.Node]:
        """The tables."""
        self.env.note_reread()
        found = []
        for page in pages():
            source = ROOT / "book" / "results" / f"{page}.md"
            title = HEADING.search(source.read_text(encoding="utf-8"))[0].lstrip("# ")
            section = nodes.section("", nodes.title("", upper(title.partition(": ")[2])))
            section["ids"] = [nodes.make_id(f"page-{page}")]
            section += self.table(page)
            found.append(section)
        return found

    def table(self, page: str) -> nodes.table:
        """A line for each file of a page."""
        heads = ("asked", "found", "measured on", "quoted in")
        group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in heads), cols=len(heads))
        group += nodes.thead("", nodes.row("", *map(cell, heads)))
        body = nodes.tbody()
        for name, told_of in pages()[page].items():
            link = f"[{told_of['asks']}](/book/results/{page}.md#{anchor(name)})"
            texts = [link, answer(name), where(load(name)["device"]), ", ".join(quoted_in(name))]
            row = nodes.row()
            for text in texts:
                row += nodes.entry("", *(self.parse_text_to_nodes(text) if text else []))
            body += row
        group += body
        return nodes.table("", group, classes=["overview"])


def setup(app: Sphinx) -> dict:
    """Add the directives."""
    app.add_node(Folded, html=(visit_folded, depart_folded))
    app.add_directive("results", Results)
    app.add_directive("results-overview", Overview)
    app.setup_extension("made_sections")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
