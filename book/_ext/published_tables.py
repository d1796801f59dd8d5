"""Published tables: the directive {published} with the name of a page, one section for each of its
tables with its picture, its source and what we measured ourselves; and {published-overview}, a line
for each table.
"""

import io
import json
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import made_sections
import matplotlib
import matplotlib.pyplot as plt
import yaml
from docutils import nodes
from kept import result
from plots_in_both_themes import exponents, scrolling
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from lectures_lib.show import plots

PATH, FINE = re.compile(r" d=\"[^\"]*\""), re.compile(r"\d+\.\d{3,}")
BOOK = Path(__file__).parents[1]
sys.path.insert(0, str(BOOK))  # where the package `published` is
import claims  # noqa: E402
from published import PAGES, Column, Ours, Table, page, tables  # noqa: E402
from published.figures import FIGURES  # noqa: E402

LONG = 28  # letters in a cell that may be broken into lines
EXPONENT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def printed(cell: str, column: Column) -> str:
    """A cell for readers: 2.3e19 as 2.3 · 10¹⁹, 1024 as 1,024."""
    if column.type == "text":
        return cell
    if "e" in cell:
        base, exponent = cell.split("e")
        return f"{base} · 10{exponent.translate(EXPONENT)}"
    return f"{int(cell):,}" if cell.isdigit() else cell


def table_node(heads: list[str], rows: list[list[str]]) -> nodes.table:
    """A table of text cells. Short ones stay on one line: a wide table scrolls."""

    def line(cells: list[str]) -> nodes.row:
        return nodes.row(
            "",
            *(
                nodes.entry(
                    "", nodes.paragraph("", cell), classes=["long"] if len(cell) > LONG else []
                )
                for cell in cells
            ),
        )

    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in heads), cols=len(heads))
    group += nodes.thead("", line(heads))
    group += nodes.tbody("", *map(line, rows))
    return nodes.table("", group, classes=["published"])


def anchor(table: Table) -> str:
    """A table's address on its page."""
    return nodes.make_id(table.title)


def svg(table: Table) -> str:
    """A table's picture."""
    return picture(table.name, lambda: FIGURES[table.figure](table))


def picture(name: str, draw: Callable[[], str]) -> str:
    """A picture as part of the page: its letters are the page's, its colours follow the reader's
    theme. `draw` draws with matplotlib and returns the words for who does not see it.
    """
    style = {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "font.size": 10,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
        "savefig.transparent": True,
    }
    with matplotlib.rc_context(style):
        words = draw()
        target = io.StringIO()
        plt.savefig(
            target,
            format="svg",
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
        plt.close()
    drawing = target.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    # hundredths of a point are enough: a page has thousands of such numbers
    drawing = PATH.sub(lambda path: FINE.sub(lambda n: f"{float(n[0]):.2f}", path[0]), drawing)
    drawing = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", drawing, count=1)
    drawing = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", drawing, count=1)
    drawing = drawing.replace("<svg", f'<svg role="img" aria-label="{words}"', 1)
    drawing = re.sub(r"font: (\d+)px [^;\"]*", r"font-size: \1px", drawing)
    drawing = re.sub(r"font-family: [^;\"]*;?", "", drawing)
    drawing = exponents(drawing)
    # several pictures stand on one page
    drawing = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{name}-", drawing)
    drawing = drawing.replace(plots.BLACK, "currentColor")
    drawing = plots.COLOUR.sub(in_both, drawing)
    return f'<figure class="picture plot figure-card">\n{scrolling(drawing, drawing, "div")}</figure>\n'


def in_both(colour: re.Match) -> str:
    """A colour of the palette as the page's theme has it."""
    light, dark = colour[0], plots.DARK.get(colour[0].lower())
    return f"light-dark({light}, {dark})" if dark else light


class Overview(SphinxDirective):
    """Every published table in a line, in the order of the course."""

    def run(self) -> list[nodes.Node]:
        """The table of tables."""
        self.env.note_reread()
        heads = ("table", "source", "measured by us beside it")
        group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in heads), cols=len(heads))
        heads = (nodes.entry("", nodes.paragraph("", head)) for head in heads)
        group += nodes.thead("", nodes.row("", *heads))
        body = nodes.tbody()
        for table in tables():
            uri = f"published/{page(table.name)}.html#{anchor(table)}"
            link = nodes.reference("", table.title, refuri=uri, internal=True)
            row = nodes.row("", nodes.entry("", nodes.paragraph("", "", link)))
            source = f"{{cite}}`{table.source}`, {table.place}"
            row += nodes.entry("", *self.parse_text_to_nodes(source))
            row += nodes.entry("", nodes.paragraph("", "yes" if table.ours else "no"))
            body += row
        group += body
        return [nodes.table("", group, classes=["overview", "of-published"])]


class Published(SphinxDirective):
    """The published tables of one page, in the order of the course: `{published} glue`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The sections."""
        self.env.note_reread()
        if self.arguments[0] not in PAGES:
            raise self.error(f"published has no page {self.arguments[0]!r}: {', '.join(PAGES)}")
        self.names = {key: fields["short"] for key, fields in claims.read()["lectures"].items()}
        return [self.section(table) for table in tables(self.arguments[0])]

    def section(self, table: Table) -> nodes.section:
        """One table."""
        section = nodes.section(
            "", nodes.title("", table.title), names=[nodes.fully_normalize_name(table.title)]
        )
        self.state.document.note_implicit_target(section)
        made_sections.note(self.env, anchor(table), table.title)
        section += self.markdown(table.about)
        if table.figure:
            section += nodes.raw("", result(svg, table), format="html")
        section += table_node(
            [column.head for column in table.columns],
            [list(map(printed, row, table.columns)) for row in table.rows],
        )
        section += self.origin(table)
        for ours in table.ours:
            section += self.measured(ours)
        return section

    def markdown(self, text: str) -> list[nodes.Node]:
        """Text of a data file, with its links and citations."""
        return self.parse_text_to_nodes(text)

    def origin(self, table: Table) -> nodes.field_list:
        """Whose numbers they are, where the lectures show them, and where the course uses them."""
        facts = {"Source": f"{{cite}}`{table.source}`, {table.place}"}
        if table.lectures:
            first, *others = (self.names[key] for key in table.lectures)
            facts["Lectures"] = f"{first}, “{table.where}”" + (
                f"; also {', '.join(others)}" if others else ""
            )
        if table.see:
            facts["In the course"] = f"[{chapter(table.see)}](/{table.see})"
        facts["Data"] = (
            f"[`book/published/{table.name}.yml`]({self.config.myst_substitutions['repository']}/blob/main/book/published/{table.name}.yml)"
        )
        fields = [
            nodes.field("", nodes.field_name("", name), nodes.field_body("", *self.markdown(fact)))
            for name, fact in facts.items()
        ]
        return nodes.field_list("", *fields)

    def measured(self, ours: Ours) -> list[nodes.Node]:
        """Our own measurements, with the machine and the seeds."""
        record = json.loads((BOOK / "results" / f"{ours.results}.json").read_text(encoding="utf-8"))
        rows = [
            [value["label"], f"{at(record['results'], value['key']):{value['format']}}"]
            for value in ours.values
        ]
        seeds = f"; seeds {', '.join(map(str, record['seeds']))}" if record["seeds"] else ""
        kept = (
            f"`book/results/{ours.results}.json`, measured on {record['device']}, "
            f"{record['date']}{seeds}. See [all numbers of that file]({measured_at(ours.results)})."
        )
        title = nodes.paragraph("", "", nodes.strong("", "Measured by us"))
        return [
            title,
            *self.markdown(ours.note),
            table_node(["what", "mean"], rows),
            *self.markdown(kept),
        ]


@cache
def pages_of_results() -> dict[str, list[str]]:
    """results.yml: for each page the files whose numbers it prints."""
    return yaml.safe_load((BOOK / "results.yml").read_text(encoding="utf-8"))


def measured_at(name: str) -> str:
    """Where all numbers of a results file stand."""
    told = pages_of_results()
    page = next(page for page, files in told.items() if name in files)
    return f"/book/results/{page}.md#{nodes.make_id(name)}"


def at(results: dict, key: str) -> float:
    """A number of a results file, by the path to it."""
    for step in key.split("/"):
        results = results[step]
    return results


def chapter(path: str) -> str:
    """ "chapter 6" for notebooks/06_decoder.ipynb#…, "chapter 10b" for 10b_agreement.ipynb#…"""
    name = path.split("/")[1]
    return f"chapter {name.split('_')[0].lstrip('0')}"


def setup(app: Sphinx) -> dict:
    """Add the directive."""
    app.add_directive("published", Published)
    app.add_directive("published-overview", Overview)
    app.setup_extension("made_sections")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
