"""The tables that the lectures show, as data: one .yml file a table, with its source (page:
published.md).

Cells are kept as they are printed ("26.30"), and read as numbers where their column is one. An
empty cell is empty in the table, too.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent
NUMBER = re.compile(r"-?\d+(\.\d+)?(e\d+)?")
# 88.4 / 88.5*: the star is another paper's
MEASURED = re.compile(r"(?P<mean>\d+(\.\d+)?)( ± (?P<deviation>\d+\.\d+))?( / \d+\.\d+\*)?")
TYPES = ("text", "number", "measured")


@dataclass(frozen=True)
class Column:
    """A column: the name that code uses, the head that readers see, and what stands in it
    (`TYPES`).
    """

    name: str
    head: str
    type: str


@dataclass(frozen=True)
class Ours:
    """What we measured that belongs beside a table: values of one file of book/results, each with a
    label, and what to keep in mind.
    """

    results: str
    note: str
    values: list[dict[str, str]]


@dataclass(frozen=True)
class Table:
    """A published table.

    Args:
        name: of its file.  title, about: what it shows.
        lectures: which of them show it (keys of claims.yml's `lectures`); none: it belongs here,
            but no lecture shows it.
        where: on which of their slides.
        source: whose numbers they are, a key of references.bib.  place: where in that paper.
        columns, rows: the table; the cells as printed.
        see: the section of a chapter that draws or uses it.  figure: the name of a function in
            `figures`.
        ours: our own measurements.
    """

    name: str
    title: str
    about: str
    lectures: list[str]
    where: str
    source: str
    place: str
    columns: list[Column]
    rows: list[list[str]]
    see: str = ""
    figure: str = ""
    ours: tuple[Ours, ...] = ()

    def __getitem__(self, name: str) -> list:
        """A column: its texts, or its numbers with None for an empty cell. Of "88.55 ± 0.04" that
        is 88.55.
        """
        i, column = next(
            (i, column) for i, column in enumerate(self.columns) if column.name == name
        )
        return [value(row[i], column) for row in self.rows]

    def row(self, first: str) -> dict:
        """The row whose first cell this is, by the columns' names."""
        (cells,) = [row for row in self.rows if row[0] == first]
        return {
            column.name: value(cell, column)
            for cell, column in zip(cells, self.columns, strict=True)
        }


def value(cell: str, column: Column) -> str | float | None:
    """What a cell holds.

    Raises:
        ValueError: for a cell that is not what its column says; the message names both.
    """
    if column.type == "text":
        return cell
    if cell == "":
        return None
    found = (NUMBER if column.type == "number" else MEASURED).fullmatch(cell)
    if found is None:
        raise ValueError(f"{cell!r} in the column {column.name!r} is no {column.type}")
    return float(found["mean"] if column.type == "measured" else cell)


def deviation(cell: str) -> float:
    """0.04 of "88.55 ± 0.04"; 0 where none is printed."""
    return float(MEASURED.fullmatch(cell)["deviation"] or 0)


@cache
def table(name: str) -> Table:
    """One table.

    Raises:
        ValueError: for one that is not rectangular, has an unknown type or field, or a cell that is
            not of its column's type.
    """
    # every scalar stays text
    fields = yaml.load((FOLDER / f"{name}.yml").read_text(encoding="utf-8"), yaml.BaseLoader)
    fields["columns"] = [Column(**column) for column in fields["columns"]]
    fields["ours"] = tuple(Ours(**ours) for ours in fields.pop("ours", []))
    try:
        found = Table(name=name, **fields)
    except TypeError as error:
        raise ValueError(f"{name}.yml: {error}") from error
    strange = [column.type for column in found.columns if column.type not in TYPES]
    crooked = [row for row in found.rows if len(row) != len(found.columns)]
    if strange or crooked:
        raise ValueError(
            f"{name}.yml has {len(found.columns)} columns; unknown types: {strange}; rows of "
            f"another length: {crooked}"
        )
    for column in found.columns:
        found[column.name]
    return found


PAGES = {  # book/published/NAME.md, with its tables as the course meets them
    "transformer": ("transformer_bleu", "transformer_sizes", "subwords"),
    "vision": ("vit_benchmarks", "vit_sizes"),
    "bert": ("bert_sizes", "bert_masking", "bert_pretraining_tasks", "bert_model_size"),
    "glue": ("glue_tasks", "glue", "glue_leaderboard"),
    "beyond_glue": ("bert_beyond_glue", "bert_features"),
}


def page(name: str) -> str:
    """The page that shows a table: "glue" for book/published/glue.md."""
    return next(page for page, names in PAGES.items() if name in names)


def tables(page: str = "") -> list[Table]:
    """All of them, or those of one page, in the order of the course."""
    names = PAGES[page] if page else [name for names in PAGES.values() for name in names]
    return [table(name) for name in names]
