"""What the interactive pictures share: one piece of HTML that needs no kernel, no network and no
other file.

A `<div>` that holds the data (as JSON, in an attribute), a style, and what is there to be seen
without scripts; behind it the script that takes over. The script finds its div by a name that
follows from the data: the same input gives the same bytes, and a picture that stands on a page
twice is two pictures.
"""

import hashlib
import html
import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from lectures_lib.show.palette import card


def embedded(
    kind: str,
    mark: str,
    holds: str,
    data: dict[str, Any],
    *,
    style: str,
    fallback: str,
    script: str,
) -> str:
    """A widget's HTML.

    Args:
        kind: the div's class.  mark: the data attribute by which its script finds it.  holds: the
            one with the data.
        data: what the script reads.
        style: the rules, as `style_of` makes them.  fallback: markup put into the div as it is.
        script: with WIDGET_ID where the div's name belongs.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    name = name_of(text)
    return (
        f'<div class="{kind}" data-{mark}="{name}" data-lm-suppress-shortcuts="true" '
        f'data-{holds}="{html.escape(text)}">\n'
        f"<style>\n{style}</style>\n{fallback}\n</div>\n<script>\n{script.replace('WIDGET_ID', name)}</script>"
    )


def name_of(text: str) -> str:
    """The name by which a script finds what was made of this text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cache
def source(name: str) -> str:
    """A style or a script of this package, by its path below `lectures_lib/show`."""
    return files("lectures_lib.show").joinpath(name).read_text(encoding="utf-8")


@cache
def style_of(kind: str, colours: Iterable[str], sheet: str) -> str:
    """The rules of one kind of picture: its colours in both schemes, the card that all figures stand
    on, and its own sheet.
    """
    return card(f".{kind}", colours) + source(sheet)
