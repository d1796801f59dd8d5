"""The directive {results}: one section for each file of book/results, read when the site is
built.
"""

import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).parents[1] / "results"
COLUMNS = ("what", "mean", "median", "range", "n")


def rows(results: dict, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """One row for each measurement in a nest of dictionaries, named by the keys that lead to it."""
    found = []
    for key, value in results.items():
        name = (*path, key.replace("_", " "))
        if isinstance(value, dict) and {"mean", "n"} <= value.keys():
            found.append((" › ".join(name), *spread(value)))
        elif isinstance(value, dict):
            found += rows(value, name)
        elif not isinstance(value, list):  # a curve is for a figure
            found.append((" › ".join(name), number(value), "", "", ""))
    return found


def spread(value: dict) -> tuple[str, str, str, str]:
    """Mean, median, range and count of a measurement that was repeated."""
    median = number(value["median"]) if "median" in value else ""
    return (
        f"{number(value['mean'])} {value.get('unit', '')}".strip(),
        median,
        f"{number(value['min'])} – {number(value['max'])}",
        str(value["n"]),
    )


def number(value: float | str) -> str:
    """Three digits that count, and all that stand before the point."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}"


def table(body: list[tuple[str, ...]]) -> nodes.table:
    """A table with a head; columns that stay empty throughout are left out."""
    used = [i for i in range(len(COLUMNS)) if any(row[i] for row in body)]
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in used), cols=len(used))
    group += nodes.thead("", table_row(COLUMNS, used))
    group += nodes.tbody("", *(table_row(row, used) for row in body))
    return nodes.table("", group)


def table_row(row: tuple[str, ...], used: list[int]) -> nodes.row:
    """One row of text cells."""
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", row[i])) for i in used))


def provenance(record: dict) -> nodes.field_list:
    """How, where, when and with what the numbers were measured."""
    versions = ", ".join(
        f"{name} {version}" for name, version in record.get("versions", {}).items()
    )
    seeds = ", ".join(map(str, record.get("seeds", []))) or "none (a measurement of time)"
    facts = {
        "Command": nodes.literal("", record["command"]),
        "Device": nodes.Text(record["device"]),
        "Seeds": nodes.Text(seeds),
        "Versions": nodes.Text(versions),
        "Date": nodes.Text(f"{record['date']}, commit {record['commit']}"),
    }
    return nodes.field_list("", *(fact_field(name, fact) for name, fact in facts.items()))


def fact_field(name: str, fact: nodes.Node) -> nodes.field:
    """One line of it."""
    return nodes.field(
        "", nodes.field_name("", name), nodes.field_body("", nodes.paragraph("", "", fact))
    )


class Results(SphinxDirective):
    """Every results file, one below the other."""

    def run(self) -> list[nodes.Node]:
        """The sections, in the order of the files' names."""
        self.env.note_reread()
        files = sorted(FOLDER.glob("*.json"))
        if not files:
            return [nodes.paragraph("", "Nothing has been measured yet.")]
        return [self.section(path) for path in files]

    def section(self, path: Path) -> nodes.section:
        """One file."""
        record = json.loads(path.read_text(encoding="utf-8"))
        title = record.get("title", path.stem.replace("_", " ").capitalize())
        section = nodes.section(
            "", nodes.title("", title), names=[nodes.fully_normalize_name(path.stem)]
        )
        self.state.document.note_implicit_target(section)
        section += [table(rows(record["results"])), provenance(record)]
        return section


def setup(app: Sphinx) -> dict:
    """Add the directive."""
    app.add_directive("results", Results)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
