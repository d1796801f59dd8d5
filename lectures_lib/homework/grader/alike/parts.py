"""The parts of a submission's code that can be compared: every expression and statement of some
size in its functions and classes, whatever the names, comments and layout.

Two parts are the same if their syntax trees are, with names numbered as they come. So renaming,
formatting, comments, docstrings, annotations, and the order of functions and statements make no
difference to the parts; a statement that is written otherwise does, to itself and to what it is in.
"""

import ast
import builtins
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lectures_lib.homework.grader.submissions.mentions import (
    syntax_trees,
    with_a_large_stack,
)

SMALLEST = 8  # nodes of a syntax tree: `x = a @ b` has fewer and says nothing
LARGEST = 400  # a whole class may be larger; what is in it is compared
MOST = 4000  # parts of one submission
PATIENCE = (
    1_000_000  # nodes that are looked at in one submission: a homework's has some ten thousand
)
KEPT_NAMES = {*dir(builtins), "torch", "nn", "F", "math", "np", "numpy", "itertools"}
_SILENT = (ast.expr_context, ast.type_ignore)


@dataclass(frozen=True)
class Part:
    """A piece of code.

    Attributes:
        key: the same for parts that are alike.
        nodes: its size.
        function: the function or class that it is in, at the top of its cell.
        cell: the number of the code cell.
        first, last: its lines in the cell, from 1.
    """

    key: bytes
    nodes: int
    function: str
    cell: int
    first: int
    last: int

    def holds(self, other: "Part") -> bool:
        """Whether the other one lies in it."""
        return (
            self.cell == other.cell
            and self.first <= other.first
            and other.last <= self.last
            and self.nodes >= other.nodes
        )


def parts(cells: list[str]) -> list[Part]:
    """The parts of what the code cells define. Cells that are no Python have none."""
    return with_a_large_stack(_parts, cells)


def _parts(cells: list[str]) -> list[Part]:
    found, seen = [], 0
    for number, tree in syntax_trees(cells):
        for top in tree.body:
            if not isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            for node in _inside(top):
                tokens = list(_tokens(node, LARGEST + 1))
                seen += len(tokens)
                if len(found) == MOST or seen > PATIENCE:
                    return found
                if SMALLEST <= len(tokens) <= LARGEST:
                    last = getattr(node, "end_lineno", None) or node.lineno
                    found.append(
                        Part(_key(tokens), len(tokens), top.name, number, node.lineno, last)
                    )
    return found


def _inside(top: ast.AST) -> Iterator[ast.AST]:
    """A definition and what it consists of, but for what says nothing: annotations,
    docstrings, `raise NotImplementedError`, and what is printed.
    """
    waiting = [top]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt | ast.expr):
            yield node
        waiting.extend(_children(node))


def _children(node: ast.AST) -> list[ast.AST]:
    kept = []
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, _SILENT) and not _idle(child):
                kept.append(child)
    return kept


def _idle(node: ast.AST) -> bool:
    """Whether a statement says nothing about how the question is answered."""
    if isinstance(node, ast.Pass | ast.Import | ast.ImportFrom | ast.Raise):
        return True
    if not isinstance(node, ast.Expr):
        return False
    value = node.value
    printed = isinstance(value, ast.Call) and getattr(value.func, "id", "") == "print"
    return printed or isinstance(value, ast.Constant)


def _tokens(node: ast.AST, most: int) -> Iterator[str]:
    """The nodes of a syntax tree in order, up to so many. Names that the author chose are numbered
    as they come.
    """
    numbers: dict[str, int] = {}
    waiting, count = [node], 0
    while waiting and count < most:
        node = waiting.pop()
        count += 1
        yield _token(node, numbers)
        waiting.extend(reversed(_children(node)))


def _token(node: ast.AST, numbers: dict[str, int]) -> str:
    kind = type(node).__name__
    if isinstance(node, ast.Name | ast.arg):
        name = node.id if isinstance(node, ast.Name) else node.arg
        if name in KEPT_NAMES:
            return f"{kind} {name}"
        return f"{kind} {numbers.setdefault(name, len(numbers))}"
    if isinstance(node, ast.Attribute):
        own = getattr(node.value, "id", "") == "self"
        return f"{kind} {numbers.setdefault(node.attr, len(numbers)) if own else node.attr}"
    if isinstance(node, ast.Constant):
        return f"{kind} {node.value!r}" if isinstance(node.value, int | float) else kind
    if isinstance(node, ast.keyword):
        return f"{kind} {node.arg}"
    return kind


def _key(tokens: Iterable[str]) -> bytes:
    return hashlib.blake2b("\n".join(tokens).encode("utf-8", "replace"), digest_size=8).digest()
