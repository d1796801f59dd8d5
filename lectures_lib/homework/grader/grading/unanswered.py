"""What stops in a notebook because a question is not answered yet, and is no news of its own."""

import ast
import re
from collections.abc import Iterable, Mapping

from lectures_lib.homework.grader.submissions.mentions import syntax_trees, with_a_large_stack
from lectures_lib.homework.inside.outcomes import Raised

_ROUNDS = 5  # functions that call functions that call functions …
_UNDEFINED = re.compile(r"name '(\w{1,100})' is not defined")


def stopped_by(
    cells: list[str], failures: Mapping[int, Raised | str], missing: Iterable[str]
) -> dict[int, list[str]]:
    """The cells, by their index, that raised something because they make use of answers that are
    not there, themselves or by way of what other cells have made of them; and of which answers.

    Args:
        cells: the sources of the code cells.
        failures: what stopped a cell, by its index; one that was cut is left out.
        missing: names of the functions and classes that were not written.
    """
    raised = {i: why for i, why in failures.items() if isinstance(why, Raised)}
    missing = list(missing)
    if not raised or not missing:
        return {}
    uses, made_of = with_a_large_stack(lambda some: _read(some, missing), cells)
    found = {}
    for i, why in raised.items():
        undefined = _UNDEFINED.search(why.message) if why.kind == "NameError" else None
        names = {undefined[1]} if undefined else uses.get(i, set())
        if needed := set().union(*(made_of.get(name, set()) for name in names)):
            found[i] = [name for name in missing if name in needed]
    return found


def _read(cells: list[str], missing: list[str]) -> tuple[dict[int, set], dict[str, set]]:
    """The names that each cell uses, by its index; and of each name in the notebook the missing
    answers that it is made of.
    """
    uses: dict[int, set[str]] = {}
    bound: list[tuple[set[str], set[str]]] = []  # names, and the names that they are made of
    for number, tree in syntax_trees(cells):
        for statement in tree.body:
            binds, loads = _names(statement)
            bound.append((binds - set(missing), loads))
            uses.setdefault(number - 1, set()).update(loads)
    made_of = {name: {name} for name in missing}
    for _ in range(_ROUNDS):
        for binds, loads in bound:
            needed = set().union(*(made_of.get(name, set()) for name in loads))
            for name in binds if needed else ():
                made_of.setdefault(name, set()).update(needed)
    return uses, made_of


def _names(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The names that a statement of a cell binds, and those that it uses; what a function calls
    its arguments is neither.
    """
    nodes = list(ast.walk(statement))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    used -= {node.arg for node in nodes if isinstance(node, ast.arg)}
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}, used - {statement.name}
    stored = {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return stored, used - stored
