"""What the book's own search searches: title, place and first sentences of every section, in
lectures_lib/data/sections.jsonl.

python tools/sections.py write   make the file anew from the chapters' text twins
python tools/sections.py check   say whether it is up to date; exit 1 if not

Chapter 17b and the page "Ask the book" read it. It ships with the package, since a notebook on
Colab has no other file of the book.
"""

import json
import re
import sys
from pathlib import Path

import jupytext
import nbformat
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from myst_parser.mdit_to_docutils.base import default_slugify

from lectures_lib.files import write_whole

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "lectures_lib" / "data" / "sections.jsonl"
# words of a section that are kept: whole sentences until there are so many, and never more than
# that
LEAST, MOST = 35, 75
LEFT_OUT = {"Exercises", "References", "Summary"}
NOT_ABOUT_THE_SUBJECT = re.compile(r"^(After this chapter you can|Time about|You need|Predict\.)")
GREEK = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "lambda": "λ",
    "mu": "μ",
    "sigma": "σ",
    "theta": "θ",
}
MACROS = {
    r"\sqrt": "√",
    r"\times": "×",
    r"\cdot": "·",
    r"\dots": "…",
    r"\ldots": "…",
    r"\to": "→",
    r"\le": "≤",
    r"\ge": "≥",
    r"\sum": "Σ",
}


def twins() -> list[Path]:
    """The text twins of the chapters, in the order of the book; not of drafts that were never
    executed, nor of the page between two chapters (13b_name), which has no number to be found by;
    a chapter's second page (8b, 13c) has one.
    """
    return sorted(
        twin
        for twin in (ROOT / "notebooks").glob("[0-9]*.py")
        if twin.with_suffix(".ipynb").exists()
        and (ROOT / "book" / "quizzes" / f"{twin.stem.split('_')[0]}.yml").exists()
    )


def prose(chapter: Path) -> str:
    """The text cells of a chapter, from its text twin or, sooner, from the notebook itself."""
    if chapter.suffix == ".py":
        notebook = jupytext.read(chapter)
    else:
        notebook = nbformat.read(chapter, as_version=4)
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def sections(twin: Path) -> list[dict[str, str]]:
    """The sections of one chapter, its text twin or the notebook, that have text of their own."""
    markdown = prose(twin)
    parser = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)
    tokens = parser.parse(markdown)
    found: list[dict[str, str]] = []
    slugs: set[str] = set()
    chapter, texts, hidden = "", [], False
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "html_block":
            hidden = "<details" in token.content or (hidden and "</details" not in token.content)
        if token.type != "inline" or hidden:
            continue
        if before.type == "heading_open":
            slug = _unique(default_slugify(_title(token)), slugs)
            chapter = chapter or f"{twin.stem.split('_')[0].lstrip('0')}. {_plain(token)}"
            texts = []
            found.append(
                {
                    "page": f"notebooks/{twin.stem}",
                    "chapter": chapter,
                    "title": _plain(token),
                    "anchor": slug,
                    "text": texts,
                }
            )
        elif before.type == "paragraph_open" and not NOT_ABOUT_THE_SUBJECT.match(_plain(token)):
            texts.append(_plain(token))
    for section in found:
        section["text"] = first_sentences(" ".join(section["text"]))
    return [section for section in found if section["title"] not in LEFT_OUT and section["text"]]


def first_sentences(text: str) -> str:
    """Whole sentences until there are LEAST words, cut at MOST."""
    words: list[str] = []
    for sentence in re.split(r"(?<=[.!?:])\s+", text):
        if len(words) >= LEAST:
            break
        words += sentence.split()
    return " ".join(words) if len(words) <= MOST else " ".join(words[:MOST]) + " …"


def _title(inline: Token) -> str:
    """What the site makes a heading's address of: its text and code, no formulas."""
    return "".join(
        child.content for child in inline.children if child.type in ("text", "code_inline")
    )


def _unique(slug: str, slugs: set[str]) -> str:
    """As the site numbers headings of the same name."""
    i = 1
    while slug in slugs:
        slug, i = f"{slug}-{i}", i + 1
    slugs.add(slug)
    return slug


def _plain(inline: Token) -> str:
    """Running text without its marks."""
    parts = []
    for child in inline.children:
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type == "softbreak":
            parts.append(" ")
        elif child.type == "math_inline":
            parts.append(_formula(child.content))
    return re.sub(r"\s+", " ", "".join(parts)).strip()


def _formula(tex: str) -> str:
    """A short formula, readable without being set."""
    for macro, sign in (MACROS | {f"\\{name}": letter for name, letter in GREEK.items()}).items():
        tex = re.sub(re.escape(macro) + r"(?![a-zA-Z])", sign, tex)
    tex = re.sub(r"\\(text|mathrm|mathbf|texttt|operatorname)\b|\\[,;!]", "", tex)
    return re.sub(r"\\([a-zA-Z]+)", r"\1", tex.replace("{", "").replace("}", "")).replace("\\", "")


def text() -> str:
    """What the file should say."""
    return "".join(
        json.dumps(section, ensure_ascii=False) + "\n"
        for twin in twins()
        for section in sections(twin)
    )


def main() -> None:
    """Read the command line."""
    if sys.argv[1:] == ["write"]:
        write_whole(FILE, text())
        print(f"{FILE.relative_to(ROOT)}: {len(text().splitlines())} sections")
    elif sys.argv[1:] == ["check"]:
        if not FILE.exists() or FILE.read_text(encoding="utf-8") != text():
            sys.exit(
                f"{FILE.relative_to(ROOT)} is not what the chapters say: run `python "
                f"tools/sections.py write`"
            )
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
