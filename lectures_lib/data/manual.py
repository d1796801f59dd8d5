"""A text that every reader has: the manual and the docstrings that come with Python (chapters 7,
7b, 10 and 13).

Their wording differs between versions of Python, so a page asserts thresholds on what it learns
from them and prints no counts.
"""

import ast
import os
import sysconfig
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lectures_lib.data.splits import check_split, split_by_checksum

# Not read: tests, what was installed beside the library, the manual's own source, and folders of
# tables or of another grammar.
SKIPPED = {
    "test",
    "tests",
    "site-packages",
    "dist-packages",
    "pydoc_data",
    "idlelib",
    "lib2to3",
    "encodings",
    "__pycache__",
}


def python_manual(split: str = "train", *, docstrings: bool = True) -> list[str]:
    """Chapters of the language reference, and with `docstrings` each module of the standard
    library's, as one text each.

    A paragraph that was there before is left out (the manual repeats whole sections under several
    names), so no split holds text of another. About 0.3 million characters, 1.5 million more with
    docstrings. A checksum of a text's name decides its split: a tenth is for validation, a tenth
    for testing.

    Args:
        split: "train", "validation" or "test".
        docstrings: whether to read the standard library's docstrings too, which takes 2 seconds.

    Raises:
        ValueError: for a split that does not exist.
    """
    check_split(split)
    texts = _without_repetition(docstrings)
    return [text for name, text in texts.items() if split_by_checksum(name) == split]


@cache
def _without_repetition(docstrings: bool) -> dict[str, str]:
    from pydoc_data.topics import topics

    texts = dict(topics) | (_docstrings() if docstrings else {})
    seen: set[str] = set()
    kept = {}
    for name, text in texts.items():
        new = []
        for paragraph in text.strip().split("\n\n"):
            if paragraph.strip() not in seen:
                seen.add(paragraph.strip())
                new.append(paragraph)
        if new:
            kept[name] = "\n\n".join(new)
    return kept


def _docstrings() -> dict[str, str]:
    """The docstrings of every module of the standard library, by its path. The source is read,
    nothing is imported or run.
    """
    root = Path(sysconfig.get_path("stdlib"))
    found = {}
    for path in sorted(_modules(root)):
        with warnings.catch_warnings():
            # a few modules hold escapes that newer versions of Python warn of
            warnings.simplefilter("ignore")
            tree = ast.parse(path.read_text(encoding="utf-8", errors="replace"))
        docstrings = [text for node in _documented(tree) if (text := ast.get_docstring(node))]
        if docstrings:
            found[path.relative_to(root).as_posix()] = "\n\n".join(docstrings)
    return found


def _modules(root: Path) -> Iterator[Path]:
    """The library's files, without a walk through what was installed beside it."""
    for folder, inner, files in os.walk(root):
        inner[:] = set(inner) - SKIPPED
        yield from (Path(folder, name) for name in files if name.endswith(".py"))


def _documented(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
) -> Iterator[ast.AST]:
    """A module and the classes and functions in it, in the order of the source."""
    yield node
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _documented(child)
