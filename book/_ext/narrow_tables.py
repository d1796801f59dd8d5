"""A table of sentences on a telephone, if it has three columns or more: each of its lines becomes a
card, in which the heads of the columns stand before what the cells say; so does the line of a table
that has only one and is too wide. A table of numbers keeps its columns and, if they do not fit, it
scrolls; there the first column, which names the lines, stays where it is.

The style sheet does it (`table.cards`); here tables are told apart, and each cell gets its head. A
browser that shows a line as a block forgets that it is one: the roles say it.
"""

import html
import re

import page_body
from sphinx.application import Sphinx

TABLE = re.compile(r'<table class="([^"]*\btable\b[^"]*)">.*?</table>', re.DOTALL)
KEPT = {"overview", "lectures"}  # these have a layout of their own
OWN_ROOM = {"measured", "published"}  # these say themselves which cells are long
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
CELL = re.compile(r"<(t[dh])\b([^>]*)>(.*?)</\1>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
ROOM = 46  # letters in a line of a telephone
LINE = 28  # letters in a line of a cell that is as wide as cells may be there
PROSE = 20  # letters: a longer cell is no number


def words(cell: str) -> str:
    """What a cell says, without its tags."""
    return " ".join(html.unescape(TAG.sub("", cell)).split())


def with_cards(body: str) -> str:
    """A page's HTML, in which tables of sentences are marked as such."""
    return TABLE.sub(lambda found: card_table(found[0], found[1]), body)


def card_table(table: str, classes: str) -> str:
    """The table, as it was or marked."""
    head, _, rest = table.partition("</thead>")
    heads = [words(cell) for _, _, cell in CELL.findall(head)]
    rows = [[words(cell) for _, _, cell in CELL.findall(row)] for row in ROW.findall(rest)]
    kinds = set(classes.split())
    plain = "katex" not in head and "span=" not in table and not KEPT & kinds
    if not plain or not rows or {len(row) for row in rows} != {len(heads)} or len(heads) < 3:
        return table
    if is_list(heads, rows):
        kind = "cards one-line"
    elif "measured" not in kinds and is_prose(rows):
        kind = "cards"
    else:
        return table if OWN_ROOM & kinds else CELL.sub(with_room, table)
    table = table.replace(f'class="{classes}"', f'class="{classes} {kind}" role="table"', 1)
    table = re.sub("<(thead|tbody)>", r'<\1 role="rowgroup">', table)
    return ROW.sub(lambda row: named(row[0], heads), table)


def is_list(heads: list[str], rows: list[list[str]]) -> bool:
    """Whether a table is a list of named numbers, one line that a telephone is too narrow for."""
    if len(rows) > 1 or not all(heads):
        return False
    wide = [
        max(len(cell), *map(len, head.split())) for head, cell in zip(heads, rows[0], strict=True)
    ]
    return sum(wide) + 2 * len(wide) > ROOM


def is_prose(rows: list[list[str]]) -> bool:
    """Whether a table is too wide for a telephone, and sentences make it so."""
    longest = [max(map(len, column)) for column in zip(*rows, strict=True)]
    wide = sum(min(LINE, letters) + 2 for letters in longest)
    prose = sum(letters > PROSE for letters in longest)
    return wide > ROOM and max(longest) > LINE and 3 * prose >= len(longest)


def with_room(cell: re.Match) -> str:
    """A cell of a table that stays one; a sentence in it is not set a word a line."""
    tag, attributes, inside = cell.groups()
    if "class=" in attributes or len(words(inside)) <= LINE:
        return cell[0]
    return f'<{tag}{attributes} class="says">{inside}</{tag}>'


def named(row: str, heads: list[str]) -> str:
    """A line whose cells know the heads of their columns."""
    name = iter(heads)
    in_head = 'class="head' in row

    def cell(found: re.Match) -> str:
        tag, attributes, inside = found.groups()
        head, role = next(name), "cell"
        if tag == "th":
            role = "columnheader" if in_head else "rowheader"
        said = "" if in_head or not head else f' data-head="{html.escape(head)}"'
        return f'<{tag}{attributes} role="{role}"{said}>{inside}</{tag}>'

    return CELL.sub(cell, row.replace("<tr", '<tr role="row"', 1))


def setup(app: Sphinx) -> dict:
    """Before names are made whole, which puts tags into cells."""
    page_body.change(app, with_cards, priority=940)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
