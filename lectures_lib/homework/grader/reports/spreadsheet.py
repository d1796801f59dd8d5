"""Tables for spreadsheets and learning platforms, in which nothing acts."""

import csv
import io
import re
from collections.abc import Iterable

_LINE_ENDS = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
# Spaces and marks that nobody sees, then what a spreadsheet takes for the beginning of a formula
# (in full width, too).
_FORMULA = re.compile(r"\t|[\s\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*[=+\-@\t＝＋－＠]")
# Where semicolons separate cells, as in much of Europe, a cell begins after each of them.
_FORMULA_IN_THE_MIDDLE = re.compile(r"""([;\t]\s*["']*)(?=[=+\-@＝＋－＠])""")


def harmless(text: str) -> str:
    """A text that stays on its line and that no spreadsheet takes for a formula: an apostrophe
    stands before one.
    """
    text = _FORMULA_IN_THE_MIDDLE.sub(r"\1'", _LINE_ENDS.sub(" ", text).replace("\0", "�"))
    return f"'{text}" if _FORMULA.match(text) else text


def number(value: float | int) -> str:
    """A number of points: two digits after the point at most, and none where it is whole."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def table(rows: Iterable[Iterable[str]]) -> str:
    """The rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
