"""HTML pages that need nothing else: no requests, no scripts. Whatever stands in them is escaped,
unless it is markup of ours.
"""

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from lectures_lib.homework.grader.grading.own_code import Excerpt
from lectures_lib.homework.grader.reports import told
from lectures_lib.homework.grader.reports.spreadsheet import number

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def rendered(template: str, **values: object) -> str:
    """A template of this folder, filled."""
    return _environment().get_template(template).render(**values)


def marked(text: str) -> Markup:
    """Escaped, with what stands between backticks set as code, and *this* in italics.

    Code may turn the direction of writing: it cannot turn the rest.
    """
    parts = str(escape(visible(text))).split("`")
    if len(parts) % 2 == 0:
        parts = ["`".join(parts)]
    return Markup("").join(
        Markup(f"<code><bdi>{part}</bdi></code>" if i % 2 else _italics(part))
        for i, part in enumerate(parts)
    )


def _italics(escaped: str) -> str:
    return re.sub(r"(?<![\w*])\*(\w[\w -]{0,60})\*(?![\w*])", r"<em>\1</em>", escaped)


def visible(text: str) -> str:
    """Text in which control characters, which HTML does not allow, can be seen."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def numbered(excerpt: Excerpt) -> Markup:
    """A student's lines with their numbers in the cell, which are not copied with them.

    Of an empty block browsers copy nothing: a blank line needs a break.
    """
    shown = Markup("")
    for i, text in enumerate(excerpt.lines, start=excerpt.first):
        line = Markup('<span data-line="{}">{}</span>').format(i, visible(text) or Markup("<br>"))
        shown += (Markup("<mark>{}</mark>").format(line) if i == excerpt.told else line) + "\n"
    return shown


def theirs(text: str) -> Markup:
    """A text from a student, such as a name: it may be written from right to left, and turns
    nothing around it.
    """
    return Markup("<bdi>{}</bdi>").format(visible(text))


def isolated(text: str) -> str:
    """The same where there can be no markup, as in a page's title: between marks of Unicode's."""
    return f"\N{FIRST STRONG ISOLATE}{visible(text)}\N{POP DIRECTIONAL ISOLATE}"


def days(value: float | int) -> str:
    """A time in words: "1 day", "2.5 days", "40 minutes", "5 seconds"."""
    for unit, length in (
        ("day", 1.0),
        ("hour", 24.0),
        ("minute", 24.0 * 60),
        ("second", 24.0 * 3600),
    ):
        if value * length >= 1 or unit == "second":
            text = f"{value * length:.1f}".removesuffix(".0")
            return f"{text} {unit}{'' if text == '1' else 's'}"
    raise AssertionError


@cache
def _environment() -> Environment:
    folder = Path(__file__).parent
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        marked=marked,
        theirs=theirs,
        isolated=isolated,
        numbered=numbered,
        days=days,
        number=number,
        moment=told.moment,
    )
    environment.globals.update(
        style=Markup((folder / "page.css").read_text(encoding="utf-8")), section=told.section
    )
    return environment
