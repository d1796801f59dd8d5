"""What code makes use of, as far as its text tells: names are followed through imports and other
names for the same thing.

A cell is read as a syntax tree. One that is too long, too deep or no Python is read with patterns
instead: they find less, and sometimes too much, but nothing that is written can bring them down.
"""

import ast
import itertools
import re
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from lectures_lib.homework.imports import without_magic

MAX_TEXT = 200_000  # characters of code that are read as syntax trees: a homework has a tenth of it
MAX_DEPTH = 90  # brackets within brackets; Python itself stops at 200
# bytes for the parser, which stops at some thousand levels and needs 1 MB for them
STACK = 64 << 20
_lock = threading.Lock()
_ROUNDS = 5  # names for names for names …
_MOST, _LONGEST = 8, 200  # things that one name may stand for, and characters of each
_SPELLED = 50_000  # names that are spelled out where patterns read: a homework has a few hundred
_GETTERS = ("getattr", "hasattr", "attrgetter", "operator.attrgetter")
_IMPORTERS = ("import_module", "__import__", "importlib.import_module")

_FROM = re.compile(
    r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]{0,5000}\)|[^\n#;]*)", re.MULTILINE
)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n#;]*)", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_ASKED_FOR = re.compile(
    r"\b(?:getattr[ \t]*\([ \t]*([\w.]+)[ \t]*,|import_module[ \t]*\(|__import__[ \t]*\()"
    r"""[ \t]*["']([\w.]+)["']"""
)
_FIRST_NAME = re.compile(r"(?<![\w.])(\w+)(?=\.)")


def mentions(cells: list[str], names: Iterable[str]) -> tuple[str, ...]:
    """Those of these names ("MultiheadAttention", "nn.functional.unfold",
    "lectures_lib.blocks.attention") that the cells make use of.

    It does not matter how they were imported or what they were called afterwards. Comments and
    texts do not count, and neither does what the cells define themselves under such a name.
    """
    used, unread, known = with_a_large_stack(_read, cells)
    found = f".{'.|.'.join(used)}."
    code = (
        spelled_out(_COMMENT.sub("", "\n".join([*known.as_imports(), *unread]))) if unread else ""
    )
    return tuple(
        name
        for name in names
        if f".{name}." in found
        or known.by_stars(name)
        or re.search(rf"\b{re.escape(name)}\b", code)
    )


def with_a_large_stack(read: Callable[[list[str]], Any], cells: list[str]) -> Any:
    """What `read` makes of the cells, in a thread of its own: how much stack others have is up to
    the machine.
    """
    with _lock:
        before = threading.stack_size(STACK)
        try:
            reader = ThreadPoolExecutor(1)
            reading = reader.submit(read, cells)
        finally:
            threading.stack_size(before)
    with reader:
        return reading.result()


def syntax_trees(cells: list[str]) -> list[tuple[int, ast.Module]]:
    """The code cells that can be read as syntax trees, with their numbers, from 1. To be called
    `with_a_large_stack`, and so is what goes down its trees by recursion (ast.walk does not).
    """
    found, left = [], MAX_TEXT
    for number, cell in enumerate(cells, start=1):
        if len(cell) > left:
            continue
        left -= len(cell)
        if tree := _tree(cell) or _tree(without_magic(cell)):
            found.append((number, tree))
    return found


def _read(cells: list[str]) -> tuple[list[str], list[str], "_Names"]:
    """What the cells use that could be read as syntax trees; those that could not; what their names
    stand for.
    """
    trees = dict(syntax_trees(cells))
    unread = [cell for number, cell in enumerate(cells, start=1) if number not in trees]
    known = _Names()
    return _used(list(trees.values()), known), unread, known


def _tree(code: str) -> ast.Module | None:
    if _depth(code) > MAX_DEPTH:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in a text is a student's business
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def _depth(code: str) -> int:
    """How deep brackets stand within brackets, at most; those in texts count as well."""
    deepest = depth = 0
    for bracket in re.findall(r"[()\[\]{}]", code):
        depth += 1 if bracket in "([{" else -1
        deepest = max(deepest, depth)
    return deepest


@dataclass
class _Names:
    """What the names in a notebook stand for: {"F": {"torch.nn.functional"}}."""

    meanings: dict[str, set[str]] = field(default_factory=dict)
    stars: set[str] = field(default_factory=set)  # modules of which everything was imported
    # what is used and no import explains: from one of those, or there before
    unexplained: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    own_attributes: set[str] = field(default_factory=set)

    def add(self, name: str, meanings: Iterable[str]) -> None:
        known = self.meanings.setdefault(name, set())
        known.update(
            [meaning for meaning in meanings if len(meaning) <= _LONGEST][: _MOST - len(known)]
        )

    def as_imports(self) -> list[str]:
        """The same as import statements, one a line."""
        return [
            f"import {meaning} as {name}"
            for name, meanings in self.meanings.items()
            for meaning in sorted(meanings)
        ]

    def full(self, node: ast.expr) -> list[str]:
        """The dotted names that an expression may stand for: `F.relu` is
        ["torch.nn.functional.relu"].
        """
        parts: list[str] = []
        firsts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.NamedExpr):
            node = node.value
        if isinstance(node, ast.Call):
            firsts = _asked_for(node, self)
        elif isinstance(node, ast.Name):
            firsts = sorted(self.meanings.get(node.id, ()))
            if not firsts and node.id not in self.own:
                self.unexplained.add(".".join([node.id, *reversed(parts)]))
                firsts = [node.id]
        firsts = firsts or [""]
        # self.label_smoothing = …
        if firsts == [""] and parts and parts[-1] in self.own_attributes:
            return [""]
        return [".".join(filter(None, [first, *reversed(parts)])) for first in firsts]

    def by_stars(self, name: str) -> bool:
        """Whether "a.b.c" may be the c, or the b.c, that is used, of a module imported whole.

        Not spelled out, module by module and use by use: a cell can have thousands of both.
        """
        parts = name.split(".")
        halves = [(".".join(parts[:k]), ".".join(parts[k:])) for k in range(1, len(parts))]
        return any(
            any(f".{module}".endswith(f".{first}") for module in self.stars)
            and any(f"{used}.".startswith(f"{rest}.") for used in self.unexplained)
            for first, rest in halves
        )


def _used(trees: list[ast.Module], names: _Names) -> list[str]:
    """Everything that is imported, and every name that is used, in full. What the names stand for
    is added to `names`.
    """
    nodes = [node for tree in trees for node in ast.walk(tree)]
    imported = []
    for node in nodes:
        imported += _imports(node, names)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.own.add(node.name)
        elif isinstance(node, ast.arg):
            names.own.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.own.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.own_attributes.add(node.attr)
    bound = [pair for node in nodes for pair in _bindings(node)]
    for _ in range(_ROUNDS):
        for name, value in bound:
            names.add(
                name, (full for full in names.full(value) if "." in full or full in names.meanings)
            )
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    return imported + [
        full for node in nodes if id(node) not in inner for full in _mentioned(node, names)
    ]


def _imports(node: ast.AST, names: _Names) -> list[str]:
    """The full names of what a statement imports; what it binds is added to the names."""
    told = []
    if isinstance(node, ast.Import):
        for alias in node.names:
            told.append(alias.name)
            first = alias.name.partition(".")[0]
            names.add(alias.asname or first, [alias.name if alias.asname else first])
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        if len(module) > _LONGEST:
            return []  # it would be written once for each name
        for alias in node.names:
            full = f"{module}.{alias.name}".strip(".")
            told.append(module if alias.name == "*" else full)
            if alias.name != "*":
                names.add(alias.asname or alias.name, [full])
            else:
                names.stars.add(module)
    return told


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """(name, expression) for each name that a statement gives to what an expression stands for."""
    if isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        pairs = [(node.target, node.value)]
    elif isinstance(node, ast.arguments):
        with_default = (
            [*node.posonlyargs, *node.args][-len(node.defaults) :] if node.defaults else []
        )
        both = [
            *zip(with_default, node.defaults, strict=True),
            *zip(node.kwonlyargs, node.kw_defaults, strict=True),
        ]
        pairs = [
            (ast.Name(argument.arg), default) for argument, default in both if default is not None
        ]
    else:
        return
    for target, value in pairs:
        if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            matched = zip(target.elts, value.elts, strict=False)
        else:
            matched = [(target, value)]
        yield from ((one.id, of) for one, of in matched if isinstance(one, ast.Name))


def _mentioned(node: ast.AST, names: _Names) -> list[str]:
    """What a node of the tree makes use of."""
    if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
        return names.full(node)
    if isinstance(node, ast.Call):
        own = isinstance(node.func, ast.Name) and node.func.id in names.own
        return _asked_for(node, names) + [
            keyword.arg for keyword in node.keywords if keyword.arg and not own
        ]
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
    ):
        if names.full(node.value) == ["sys.modules"]:
            return [node.slice.value]
        if isinstance(node.value, ast.Attribute) and node.value.attr == "__dict__":
            return [f"{full}.{node.slice.value}" for full in names.full(node.value.value)]
    return []


def _asked_for(call: ast.Call, names: _Names) -> list[str]:
    """What a call names in a text: getattr(F, "unfold"),
    import_module("lectures_lib.models.vit").
    """
    texts = [
        argument.value
        for argument in call.args[:2]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    if not texts or not isinstance(call.func, ast.Name | ast.Attribute):
        return []
    asked = _plain(call.func, names)
    if asked & set(_IMPORTERS):
        return texts[:1]
    if asked & set(_GETTERS):
        whose = (
            _plain(call.args[0], names)
            if isinstance(call.args[0], ast.Name | ast.Attribute)
            else {""}
        )
        return [f"{of}.{texts[0]}".strip(".") for of in sorted(whose)]
    return []


def _plain(node: ast.expr, names: _Names) -> set[str]:
    """The full names of `a.b.c`; nothing for any other expression."""
    first = node
    while isinstance(first, ast.Attribute):
        first = first.value
    return set(names.full(node)) if isinstance(first, ast.Name) else {""}


def spelled_out(code: str) -> str:
    """The code, and behind it the code with each imported name in full: `from torch import nn as n`
    makes `n.Linear` `torch.nn.Linear`.
    """
    full: dict[str, str] = {}
    told = []
    for name, alias in itertools.islice(_imported(code), _SPELLED):
        full[alias] = name
        told.append(name)
    told += [".".join(filter(None, found)) for found in _ASKED_FOR.findall(code)]
    text = "\n".join([code, *told])
    for _ in range(2):  # an alias of an alias
        text = _FIRST_NAME.sub(lambda found: full.get(found[1], found[1]), text, count=_SPELLED)
    return f"{code}\n{text}"


def _imported(code: str) -> Iterator[tuple[str, str]]:
    """(full name, the name it goes by) of each thing that is imported under a name of its own."""
    for module, imported in _FROM.findall(code):
        if len(module) <= _LONGEST:
            for name, alias in _listed(imported):
                yield f"{module}.{name}", alias or name
    for imported in _IMPORT.findall(code):
        yield from ((name, alias) for name, alias in _listed(imported) if alias)


def _listed(imported: str) -> list[tuple[str, str]]:
    """(name, alias or "") of each in what stands behind `import`, as far as they can be names."""
    parts = (
        _COMMENT.sub("", part.strip("() \t\n\\")).split(maxsplit=3)
        for part in imported.split(",")[:1000]
    )
    return [
        (part[0], part[2] if len(part) > 2 and part[1] == "as" else "")
        for part in parts
        if part and len(part[0]) <= _LONGEST
    ]
