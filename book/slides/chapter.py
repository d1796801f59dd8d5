"""What a slide may point at in a chapter: its cells' code, printed lines, figures and widgets, its
formulas, its boxes "Predict", its tables, aims and summary. A pointer is a piece of text; it must
be found in exactly one place.
"""

import ast
import re
import textwrap
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 20  # lines of code that a slide shows
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?")
PREDICT = re.compile(
    r"\*\*Predict\.\*\*(.*?)<details>\s*<summary>.*?</summary>(.*?)</details>", re.S
)
TABLE = re.compile(r"^\|.*\|\n\|[-:| ]+\|\n(?:\|.*\|(?:\n|$))+", re.M)
QUESTION = re.compile(
    r"^\d\. (.*?)\n\n\s*<details><summary>.*?</summary>\n(.*?)</details>", re.S | re.M
)


class LostError(LookupError):
    """A pointer that leads nowhere, or to more than one place."""


@dataclass(frozen=True)
class Figure:
    """A picture that a cell has stored, an SVG, and its words."""

    svg: str
    alt: str
    caption: str


@dataclass(frozen=True)
class Chapter:
    """A chapter's notebook, with its outputs, to be looked things up in."""

    path: Path

    @classmethod
    def named(cls, name: str) -> "Chapter":
        """The chapter of this number, "08", or its second half, "08b"."""
        (path,) = (ROOT / "notebooks").glob(f"{name}_*.ipynb")
        return cls(path)

    @property
    def name(self) -> str:
        """ "01" to "18", or "08b" for a second half."""
        return self.path.stem.split("_")[0]

    @cached_property
    def cells(self) -> list[Any]:
        """Those that a reader sees, in order."""
        return [
            cell
            for cell in nbformat.read(self.path, as_version=4).cells
            if "remove-cell" not in cell.metadata.get("tags", [])
        ]

    @cached_property
    def text(self) -> str:
        """All its prose."""
        return "\n\n".join(cell.source for cell in self.cells if cell.cell_type == "markdown")

    @cached_property
    def code_cells(self) -> list[Any]:
        """Its code cells."""
        return [cell for cell in self.cells if cell.cell_type == "code"]

    @cached_property
    def everything(self) -> str:
        """All that it says: prose, code, captions, printed lines."""
        parts = [self.text]
        for cell in self.code_cells:
            words = cell.metadata.get("mystnb", {})
            parts += [cell.source, *(str(word) for word in words.values())]
            parts += [output.get("text", "") for output in cell.outputs]
        return "\n".join(parts)

    @property
    def goals(self) -> str:
        """The list below "After this chapter you can" (or "this page")."""
        return re.search(
            r"\*\*After this (?:chapter|page) you can\*\*\s+((?:- .*\n(?:  .*\n)*)+)", self.text
        )[1]

    @property
    def summary(self) -> str:
        """The numbered list of its summary."""
        below = self.text.split("\n## Summary", 1)[1]
        return re.search(r"(?:^\d+\. .*\n(?:   ?.*\n)*)+", below + "\n", re.M)[0]

    def one(self, kind: str, pointer: str, found: list) -> Any:
        """The only one of what was found.

        Raises:
            LostError: for none, or several.
        """
        if len(found) != 1:
            how = "no" if not found else f"{len(found)}"
            raise LostError(f"{self.path.name}: {how} {kind} for {pointer!r}")
        return found[0]

    def cell(self, pointer: str) -> Any:
        """The code cell that holds this text."""
        found = [cell for cell in self.code_cells if pointer in cell.source]
        return self.one("code cell", pointer, found)

    def code(self, pointer: str | dict[str, Any]) -> str:
        """Code as the chapter shows it: of the function, class or method of this name; of the whole
        cell that holds this text; or, for {"from": text, "lines": n}, of the n lines from there.

        Raises:
            LostError: also for more lines than a slide has room for.
        """
        if isinstance(pointer, dict):
            source = self.cell(pointer["from"]).source
            start = source[: source.index(pointer["from"])].count("\n")
            lines = source.splitlines()[start : start + pointer["lines"]]
        elif NAME.fullmatch(pointer):
            found = [
                lines for cell in self.code_cells for lines in definitions(cell.source, pointer)
            ]
            lines = self.one("definition", pointer, found)
        else:
            lines = self.cell(pointer).source.splitlines()
        if len(lines) > LONGEST:
            raise LostError(f"{self.path.name}: {pointer!r} has {len(lines)} lines, {LONGEST} fit")
        return textwrap.dedent("\n".join(lines)).strip("\n")

    def output(self, pointer: str) -> str:
        """What the cell that holds this text (or defines this name) has printed."""
        cell = self.cell(pointer)
        printed = "".join(
            output.get("text", "") or output.get("data", {}).get("text/plain", "")
            for output in cell.outputs
        )
        return self.one("printed output", pointer, [printed.rstrip()] if printed.strip() else [])

    def figure(self, pointer: str) -> Figure:
        """The picture whose caption holds this text."""
        found = []
        for cell in self.code_cells:
            words = cell.metadata.get("mystnb", {})
            caption = words.get("figure", {}).get("caption", "")
            pictures = [
                o.data["image/svg+xml"]
                for o in cell.outputs
                if "image/svg+xml" in o.get("data", {})
            ]
            if pointer in caption and pictures:
                alt = words.get("image", {}).get("alt", "")
                found.append(Figure(pictures[0], alt, caption))
        return self.one("figure", pointer, found)

    def widget(self, pointer: str) -> str:
        """What the cell that holds this text has put on the page as HTML: a thing with a script of
        its own, to be moved.
        """
        cell = self.cell(pointer)
        found = [
            output.data["text/html"]
            for output in cell.outputs
            if "<script>" in output.get("data", {}).get("text/html", "")
        ]
        return self.one("widget", pointer, found)

    def formula(self, pointer: str) -> str:
        """The TeX of the formula on a line of its own, or else in the text, that holds this."""
        shown = [tex.strip().rstrip(",.") for tex in re.findall(r"\$\$(.+?)\$\$", self.text, re.S)]
        inside = re.findall(r"\$([^$]+)\$", re.sub(r"\$\$.+?\$\$", "", self.text, flags=re.S))
        found = [tex for tex in shown if pointer in tex] or list(
            dict.fromkeys(tex for tex in inside if pointer in tex)
        )
        return self.one("formula", pointer, found)

    def predict(self, pointer: str) -> tuple[str, str]:
        """The question that holds this text, and its answer."""
        found = [
            (question.strip(), answer.strip())
            for question, answer in PREDICT.findall(self.text)
            if pointer in " ".join(question.split())
        ]
        return self.one("box Predict", pointer, found)

    def given(self, pointer: str) -> str:
        """A paragraph of the chapter, from this text on: what a question takes for known."""
        paragraphs = [
            re.sub(r"\n\s*(?!\s*(?:- |\d\. |\|))", " ", part.strip())
            for part in re.split(r"\n\s*\n", self.text)
        ]
        found = [part for part in paragraphs if pointer in part]
        paragraph = self.one("paragraph", pointer, found)
        return paragraph[paragraph.index(pointer) :]

    def table(self, pointer: str) -> str:
        """The table of which this text is a part."""
        found = [table for table in TABLE.findall(self.text + "\n") if pointer in table]
        return self.one("table", pointer, found)

    @property
    def discussion(self) -> list[tuple[str, str]]:
        """The questions to talk about, from the page for teachers, each with what a good answer
        touches.
        """
        page = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
        title = re.escape(re.match(r"# (.+)", self.text)[1])
        heading = rf"{self.name.lstrip('0')}\. .*?|{title}"
        below = re.search(rf"^### (?:{heading})\n(.*?)(?=^##|\Z)", page, re.M | re.S)[1]
        return [(question, answer.strip()) for question, answer in QUESTION.findall(below)]


def definitions(source: str, name: str) -> list[list[str]]:
    """The lines of every function, class or Class.method of this name in a cell."""
    try:
        body = ast.parse(source).body
    except SyntaxError:  # a cell with a magic
        return []
    first, _, second = name.partition(".")
    kinds = (ast.FunctionDef, ast.ClassDef)
    nodes = [node for node in body if isinstance(node, kinds) and node.name == first]
    if second:
        nodes = [
            n for node in nodes for n in node.body if isinstance(n, kinds) and n.name == second
        ]
    lines = source.splitlines()
    return [
        lines[min([n.lineno, *(d.lineno for d in n.decorator_list)]) - 1 : n.end_lineno]
        for n in nodes
    ]
