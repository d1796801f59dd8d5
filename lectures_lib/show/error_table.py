"""What a model gets wrong, in a table to be sorted and read: with no kernel behind it, by mouse or
keyboard (chapter 14).

    ErrorTable("Sentiment", {"sentence": texts, "is": labels, "said": predicted, "sure":
    probabilities}, wrong)

The HTML is self-contained and follows from the input alone. Without scripts it is a plain table.
"""

import html
import json
import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real

from lectures_lib.show.widget import name_of, source, style_of

PAGE = """\
<div class="error-table figure-card" data-errors="{name}" role="group" aria-label="{title}" style="--et-height: {height}; --et-columns: {columns}">
<style>
{style}</style>
<p class="et-bar"><b>{title}</b><label><input type="checkbox"> only what is wrong: {n_wrong} of {n}</label></p>
<div class="et-scroll" tabindex="0" role="region" aria-label="Table: {title}">
<table><thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody></table></div>
<script>
{script}</script>
</div>
"""
HEAD = (
    '<th scope="col" aria-sort="none"><button type="button">{} <span '
    'aria-hidden="true">↕</span></button></th>'
)


COLOURS = ("error", "active")


def style() -> str:
    """Its rules, colours and all."""
    return style_of("error-table", COLOURS, "error_table.css")


class ErrorTable:
    """Examples and what was said of them, sortable by every column; a box hides what is right.

    Args:
        title: what the table shows.
        columns: for each heading its cells, as many in all columns: texts or numbers, those of
            NumPy and PyTorch too. Numbers that may have a fraction are shown with two digits.
            Sorted, numbers come before texts, and NaN is last either way.
        wrong: for each row, whether the model is wrong there.
        height: of the window in which the rows scroll, as CSS writes it.

    Raises:
        ValueError: for no columns, no rows, or columns of different lengths.
    """

    def __init__(
        self,
        title: str,
        columns: Mapping[str, Sequence[object]],
        wrong: Sequence[bool],
        height: str = "22rem",
    ):
        lengths = {name: len(cells) for name, cells in columns.items()} | {"(wrong)": len(wrong)}
        if not columns or len(set(lengths.values())) != 1 or len(wrong) == 0:
            raise ValueError(
                f"every column needs a cell for each row, and there must be both, got lengths "
                f"{lengths}"
            )
        self.title, self.columns, self.wrong, self.height = (
            title,
            dict(columns),
            [bool(w) for w in wrong],
            height,
        )

    def _repr_html_(self) -> str:
        rows = "\n".join(
            ('<tr class="et-wrong">' if wrong else "<tr>") + "".join(map(_cell, cells)) + "</tr>"
            for wrong, *cells in zip(self.wrong, *self.columns.values(), strict=True)
        )
        content = json.dumps([self.title, self.height, list(self.columns), rows])
        name = name_of(content)
        return PAGE.format(
            name=name,
            title=html.escape(self.title),
            height=html.escape(self.height),
            columns=" ".join(map(_narrow, list(self.columns.values())[1:])) or "auto",
            style=style(),
            n_wrong=sum(self.wrong),
            n=len(self.wrong),
            heads="".join(HEAD.format(html.escape(heading)) for heading in self.columns),
            rows=rows,
            script=source("error_table.js").replace("WIDGET_ID", name),
        )

    def __repr__(self) -> str:
        return f"{self.title}: {len(self.wrong)} rows, {sum(self.wrong)} of them wrong"


def _narrow(cells: Sequence[object]) -> str:
    """The width that a narrow page gives a column: numbers take little, texts what is left."""
    return "min-content" if "data-value" in _cell(cells[0]) else "minmax(min-content, 1fr)"


def _cell(value: object) -> str:
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()  # what NumPy or PyTorch wraps around a single number
    if isinstance(value, bool) or not isinstance(value, Real):
        return f"<td>{html.escape(str(value))}</td>"
    if isinstance(value, Integral):
        return f'<td data-value="{int(value)}">{int(value)}</td>'
    number = float(value)
    spelled = (
        str(number)
        if math.isfinite(number)
        else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(number, "NaN")
    )  # JavaScript's
    return f'<td data-value="{spelled}">{number:.2f}</td>'
