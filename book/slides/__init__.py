"""Slides for a lecture on each chapter, made of the chapter itself.

NN.yml lists the slides of chapter NN, NNb.yml those of its second half: a title, a few points, what
is shown, what to say. What is shown (code, figures, formulas, questions, printed lines, tables) is
not in that file but pointed at by a piece of its text, and taken from the chapter when the deck is
built: `chapter.py` says how. A slide with `live: NAME` has a live figure of the chapter (the names
of book/_ext/live.py): first its example, and the figure itself when its button is pressed. One with
`widget: TEXT` has what the cell with this text shows, a dial say, which is moved on the slide.

    python book/slides              every deck, into _build/slides
    python book/slides 02 OUT       one of them, into the folder OUT

A chapter is named by a text: "02", "08b".
"""

import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [
    folder for folder in (str(HERE.parent / "_ext"), str(ROOT)) if folder not in sys.path
]

import typefaces  # noqa: E402
from kept import digest, kept, of_files, under  # noqa: E402

from .chapter import Chapter, LostError  # noqa: E402
from .page import code_colours, count, minutes, page  # noqa: E402

__all__ = ["Chapter", "LostError", "build", "count", "decks", "minutes", "place", "read"]
MODULES = ROOT / "node_modules"
LIST = "../book/teaching.html#slides"  # all decks, seen from their folder
INDEX = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Slides</title>'
    f'<meta http-equiv="refresh" content="0; url={LIST}"></head>'
    f'<body><p><a href="{LIST}">All decks</a></p></body></html>\n'
)


def decks() -> list[str]:
    """The chapters that have slides."""
    return sorted(path.stem for path in HERE.glob("[0-9]*.yml"))


def read(name: str) -> dict[str, Any]:
    """A deck's file: "say", "discussion" (minutes), "slides"."""
    return yaml.safe_load((HERE / f"{name}.yml").read_text(encoding="utf-8"))


@cache
def contents() -> dict[str, Any]:
    """_toc.yml."""
    return yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))


def place(name: str) -> tuple[str, str]:
    """A chapter's part of the course and its title with its number, as _toc.yml has them."""
    for tree in contents()["parts"]:
        for entry in tree["chapters"]:
            if entry["file"].startswith(f"notebooks/{name}_"):
                return tree["caption"], entry["title"]
    raise ValueError(f"_toc.yml has no chapter {name}")


def build(folder: Path, names: list[str] | None = None) -> list[Path]:
    """Write decks, and beside them all that they load, into a folder; return the pages.

    Raises:
        LostError: where a pointer no longer finds its place.
    """
    copy_assets(folder / "assets")
    pages = []
    for name in names or decks():
        path = folder / f"{name}.html"
        path.write_bytes(kept("deck", made_of(name), lambda name=name: deck(name).encode()))
        pages.append(path)
    if names is None:
        (folder / "index.html").write_text(INDEX, encoding="utf-8")
    return pages


def deck(name: str) -> str:
    """A deck's page."""
    return page(Chapter.named(name), *place(name), read(name))


def made_of(name: str) -> str:
    """One number for all that a deck comes from, besides its own file and the programs: its
    chapter, its place in the course, what was measured, what there is to talk about.
    """
    chapter = next((ROOT / "notebooks").glob(f"{name}_*.ipynb"))
    return digest(
        name, *place(name), of_files([chapter, *under("book/results", "book/teaching.md")])
    )


def copy_assets(folder: Path) -> None:
    """reveal.js with its speaker view, KaTeX's style and letters, and our own letters, style and
    scripts."""
    folder.mkdir(parents=True, exist_ok=True)
    reveal, katex = MODULES / "reveal.js" / "dist", MODULES / "katex" / "dist"
    for path in (reveal / "reveal.css", reveal / "reveal.js", reveal / "plugin" / "notes.js"):
        shutil.copy(path, folder)
    shutil.copy(katex / "katex.min.css", folder)
    (folder / "fonts").mkdir(exist_ok=True)
    for font in (katex / "fonts").glob("*.woff2"):
        shutil.copy(font, folder / "fonts")
    typefaces.write(folder / "fonts")
    for name in ("theme.js", "deck.js"):
        shutil.copy(HERE / name, folder)
    style = (HERE / "deck.css").read_text(encoding="utf-8") + code_colours()
    (folder / "deck.css").write_text(style, encoding="utf-8")
