"""Programs that differ from a right answer in one place, made from its syntax tree: what a question
must tell from the right one.

mutmut and cosmic-ray mutate files and run a test command for each mutant; here some five thousand
are tried in one process, and only inside the lines that a student writes.
"""

import ast
import copy
import functools
from collections.abc import Iterator
from dataclasses import dataclass

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
MODULES = ("torch", "F", "nn", "math")  # F.relu(x) is a function of x, x.relu() a method of it
ARITHMETIC = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Div, ast.Mult),
    ast.Pow: (ast.Mult, ast.Div),
    ast.Mod: (ast.FloorDiv,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_PAIRS = (
    "sin cos|exp log|softmax log_softmax|sum mean|max min|amax amin|argmax argmin|tril triu|tanh "
    "sigmoid|any all|zeros ones|zeros_like ones_like|relu gelu|square abs|cumsum cumprod|lower "
    "upper|startswith endswith|mean std|logsigmoid sigmoid|sqrt log|append extend|eye ones|round "
    "int|sorted list|zero_grad step"
)
SWAPPED: dict[str, list[str]] = {}
for _one, _other in (pair.split() for pair in _PAIRS.split("|")):
    SWAPPED.setdefault(_one, []).append(_other)
    SWAPPED.setdefault(_other, []).append(_one)


@dataclass(frozen=True)
class Mutant:
    """A wrong answer, or one that is right in spite of the change.

    Attributes:
        operator: the kind of change, such as "axis".
        before, after: the statement that was changed, in one line; the head of it, where other
            statements stand in it.
        source: the whole answer.
    """

    operator: str
    before: str
    after: str
    source: str

    @property
    def name(self) -> str:
        """What the change is, for lists of survivors."""
        return f"{self.before} → {self.after or '(deleted)'}"


@functools.cache
def mutants(source: str) -> tuple[Mutant, ...]:
    """Every mutant of an answer's cell, each program once; changed are the lines between BEGIN
    SOLUTION and END SOLUTION alone.
    """
    lines = source.splitlines()
    begun = [i for i, line in enumerate(lines, start=1) if line.strip() == BEGIN]
    ended = [i for i, line in enumerate(lines, start=1) if line.strip() == END]
    regions = list(zip(begun, ended, strict=True))
    tree = ast.parse(source)
    original, found = ast.unparse(tree), {}
    for path, operator, new in _changes(tree, regions):
        changed = copy.deepcopy(tree)
        before, after = _put(changed, path, new)
        program = ast.unparse(ast.fix_missing_locations(changed))
        if program != original:
            found.setdefault(program, Mutant(operator, before, after, program))
    return tuple(found.values())


Path = tuple[tuple[str, int | None], ...]


def _changes(
    tree: ast.Module, regions: list[tuple[int, int]]
) -> Iterator[tuple[Path, str, ast.AST | list[ast.stmt]]]:
    """(where, operator, what stands there instead) for every change."""

    def visit(node: ast.AST, path: Path, parameters: tuple[str, ...]) -> Iterator:
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            parameters = tuple(a.arg for a in node.args.args if a.arg != "self") or parameters
        if isinstance(node, ast.keyword) and node.arg == "strict":
            return  # of zip: a check of the answer's own
        inside = any(first < getattr(node, "lineno", 0) < last for first, last in regions)
        if inside and isinstance(node, ast.stmt):
            yield from ((path, operator, new) for operator, new in _statements(node, parameters))
        if (
            inside
            and isinstance(node, ast.expr)
            and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        ):
            yield from ((path, operator, new) for operator, new in _expressions(node, parameters))
        for field, value in ast.iter_fields(node):
            if field in ("args", "returns", "decorator_list", "name") and isinstance(
                node, ast.FunctionDef
            ):
                continue
            if isinstance(value, list):
                for i, child in enumerate(value):
                    if isinstance(child, ast.AST):
                        yield from visit(child, (*path, (field, i)), parameters)
            elif isinstance(value, ast.AST):
                yield from visit(value, (*path, (field, None)), parameters)

    yield from visit(tree, (), ())


def _put(tree: ast.Module, path: Path, new: ast.AST | list[ast.stmt]) -> tuple[str, str]:
    """Put `new` in its place; the statement around it before and after, each in a line."""
    node, statement = tree, None
    for field, i in path[:-1]:
        node = getattr(node, field) if i is None else getattr(node, field)[i]
        statement = node if isinstance(node, ast.stmt) else statement
    field, i = path[-1]
    old = getattr(node, field) if i is None else getattr(node, field)[i]
    if isinstance(old, ast.stmt):
        news = new if isinstance(new, list) else [new]
        told = _head(old), " ; ".join(map(_head, news))
        getattr(node, field)[i : i + 1] = news or (
            [ast.Pass()] if len(getattr(node, field)) == 1 else []
        )
        return told
    before = _head(statement)
    if i is None:
        setattr(node, field, new)
    else:
        getattr(node, field)[i] = new
    return before, _head(statement)


def _head(statement: ast.stmt) -> str:
    """A statement in one line, without the statements in it."""
    shown = copy.copy(statement)
    if hasattr(shown, "body"):
        shown.body = [ast.Expr(ast.Constant(...))]
    if hasattr(shown, "orelse"):
        shown.orelse = []
    return " ".join(ast.unparse(ast.fix_missing_locations(shown)).split())


# --------------------------------------------------------------------------------------- statements


def _statements(
    node: ast.stmt, parameters: tuple[str, ...]
) -> Iterator[tuple[str, ast.stmt | list[ast.stmt]]]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.Return):
        yield "returned", ast.Return(ast.Constant(None))
        yield from (("returned", ast.Return(ast.Name(name, ast.Load()))) for name in parameters)
    elif not isinstance(node, ast.FunctionDef):
        yield "statement deleted", []
    if isinstance(node, ast.AugAssign):
        yield "assignment", ast.Assign([node.target], node.value)
        yield from (
            ("operator", ast.AugAssign(node.target, op(), node.value))
            for op in ARITHMETIC.get(type(node.op), ())
        )
    if isinstance(node, ast.If):
        yield "condition", node.body
        yield "condition", node.orelse
        yield "condition", ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    if isinstance(node, ast.For | ast.While):
        yield "loop", _with(node, body=[*node.body, ast.Break()])  # the first round only
        yield "loop", [_with(node, orelse=[]), *node.orelse]
    if isinstance(node, ast.For) and ast.unparse(node.target) != "_":
        backwards = ast.Call(
            ast.Name("reversed", ast.Load()),
            [ast.Call(ast.Name("list", ast.Load()), [node.iter], [])],
            [],
        )
        yield "loop", _with(node, iter=backwards)
    if isinstance(node, ast.Break | ast.Continue):
        yield "loop", ast.Continue() if isinstance(node, ast.Break) else ast.Break()
    if isinstance(node, ast.With):
        yield "statement deleted", node.body


def _with(node: ast.AST, **fields) -> ast.AST:
    """A copy with other fields."""
    changed = copy.copy(node)
    for field, value in fields.items():
        setattr(changed, field, value)
    return changed


# -------------------------------------------------------------------------------------- expressions


def _expressions(node: ast.expr, parameters: tuple[str, ...]) -> Iterator[tuple[str, ast.expr]]:
    kinds = {
        ast.BinOp: _operation,
        ast.UnaryOp: _sign,
        ast.BoolOp: _and_or,
        ast.Compare: _comparison,
        ast.Constant: _constant,
        ast.IfExp: _choice,
        ast.Call: _call,
        ast.Subscript: _subscript,
        ast.Slice: _slice,
        ast.Tuple: _order,
        ast.List: _order,
        ast.ListComp: _comprehension,
        ast.SetComp: _comprehension,
        ast.GeneratorExp: _comprehension,
        ast.Attribute: _swapped,
    }
    if isinstance(node, ast.Name):
        if node.id in parameters:
            yield from (
                ("name", ast.Name(other, ast.Load())) for other in parameters if other != node.id
            )
        yield from _swapped(node)
    elif type(node) in kinds:
        yield from kinds[type(node)](node)


def _operation(node: ast.BinOp) -> Iterator[tuple[str, ast.expr]]:
    yield from (
        ("operator", ast.BinOp(node.left, op(), node.right))
        for op in ARITHMETIC.get(type(node.op), ())
    )
    yield "operand dropped", node.left
    yield "operand dropped", node.right
    if not isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd | ast.BitOr):
        yield "order", ast.BinOp(node.right, node.op, node.left)


def _sign(node: ast.UnaryOp) -> Iterator[tuple[str, ast.expr]]:
    yield "mask" if isinstance(node.op, ast.Invert) else "sign", node.operand


def _and_or(node: ast.BoolOp) -> Iterator[tuple[str, ast.expr]]:
    yield (
        "condition",
        ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values),
    )
    yield from (("condition", value) for value in node.values)


def _comparison(node: ast.Compare) -> Iterator[tuple[str, ast.expr]]:
    for op in COMPARISONS.get(type(node.ops[0]), ()):
        yield "comparison", ast.Compare(node.left, [op(), *node.ops[1:]], node.comparators)


def _constant(node: ast.Constant) -> Iterator[tuple[str, ast.expr]]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int):
        yield from (
            ("constant", _number(other))
            for other in dict.fromkeys((value + 1, value - 1, 0))
            if other != value
        )
    elif isinstance(value, float):
        yield from (
            ("constant", _number(other))
            for other in dict.fromkeys((value + 1, value - 1, value * 2, value / 10, 0.0))
        )
    elif isinstance(value, str):
        yield "constant", ast.Constant("" if value else "x")


def _number(value: float) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _choice(node: ast.IfExp) -> Iterator[tuple[str, ast.expr]]:
    yield from (("condition", part) for part in (node.body, node.orelse))
    yield "condition", ast.IfExp(node.test, node.orelse, node.body)


def _call(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    function = node.func
    of_module = (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id in MODULES
    )
    if isinstance(function, ast.Attribute) and not of_module:
        yield "call removed", function.value
    elif node.args:
        yield from (
            ("call removed", arg) for arg in node.args[:2] if not isinstance(arg, ast.Starred)
        )
    if getattr(function, "attr", "") != "transpose":  # of a and b is that of b and a
        yield from (("order", _with(node, args=args)) for args in _neighbours_swapped(node.args))
    yield from (
        ("argument dropped", _with(node, args=node.args[:i] + node.args[i + 1 :]))
        for i in range(1, len(node.args))
    )
    for i, keyword in enumerate(node.keywords):
        if keyword.arg == "strict":
            continue
        yield "keyword dropped", _with(node, keywords=node.keywords[:i] + node.keywords[i + 1 :])
        if keyword.arg in ("dim", "axis"):
            for axis in (-1, -2, 0, 1):
                yield (
                    "axis",
                    _with(
                        node,
                        keywords=[
                            *node.keywords[:i],
                            ast.keyword(keyword.arg, _number(axis)),
                            *node.keywords[i + 1 :],
                        ],
                    ),
                )


def _subscript(node: ast.Subscript) -> Iterator[tuple[str, ast.expr]]:
    yield "index dropped", node.value


def _slice(node: ast.Slice) -> Iterator[tuple[str, ast.expr]]:
    for bound in ("lower", "upper"):
        value = getattr(node, bound)
        if value is not None:
            if ast.unparse(value) != "0":
                yield "slice", _with(node, **{bound: None})
            yield from (
                ("slice", _with(node, **{bound: ast.BinOp(value, op(), ast.Constant(1))}))
                for op in (ast.Add, ast.Sub)
            )
    if node.step is not None:
        yield "slice", _with(node, step=None)


def _order(node: ast.Tuple | ast.List) -> Iterator[tuple[str, ast.expr]]:
    yield from (
        ("order", _with(node, elts=elements)) for elements in _neighbours_swapped(node.elts)
    )
    # x[0, :] is x[0]
    last = len(node.elts) - isinstance(node.elts[-1] if node.elts else None, ast.Slice)
    if len(node.elts) > 1:
        yield from (
            ("element dropped", _with(node, elts=node.elts[:i] + node.elts[i + 1 :]))
            for i in range(last)
        )


def _neighbours_swapped(items: list[ast.expr]) -> Iterator[list[ast.expr]]:
    for i in range(len(items) - 1):
        yield [*items[:i], items[i + 1], items[i], *items[i + 2 :]]


def _comprehension(
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp,
) -> Iterator[tuple[str, ast.expr]]:
    for i, generator in enumerate(node.generators):
        if generator.ifs:
            yield (
                "condition",
                _with(
                    node,
                    generators=[
                        *node.generators[:i],
                        _with(generator, ifs=[]),
                        *node.generators[i + 1 :],
                    ],
                ),
            )


def _swapped(node: ast.Attribute | ast.Name) -> Iterator[tuple[str, ast.expr]]:
    field = "attr" if isinstance(node, ast.Attribute) else "id"
    yield from (
        ("function", _with(node, **{field: other}))
        for other in SWAPPED.get(getattr(node, field), ())
    )
