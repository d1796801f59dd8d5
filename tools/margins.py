"""How much room do a notebook's assertions have? Runs it on several imitated processors, thread
counts and seeds, and compares.

    python tools/margins.py 09
        chapter 9 under every set of RUNS; a table, the narrowest assertions first
    python tools/margins.py 09 avx2:1:0 plain:2:3
        under these alone: instruction set, threads, seed

Each comparison inside an `assert` is written down with the numbers on both sides, and a false one
does not end the run. It is reported as false only if the assertion failed as a whole: one of many
inside `any(…)` or `sum(…) > 5` may be false where all is well. The room of a comparison is the
distance of its sides, in the direction that keeps it true; it should be several times what the runs
make of the distance. Runs are kept in _build/margins and not repeated as long as the notebook's
text is the same.
"""

import ast
import hashlib
import json
import os
import re
import sys
import time
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

sys.path.insert(0, str(Path(__file__).resolve().parent))

from processors import SETS

from lectures_lib.files import write_whole

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "_build" / "margins"
RUNS = ("here:2:0", "plain:2:0", "avx2:2:0", "avx2:1:1", "plain:1:2", "compatible:4:3")
# What a comparison inside an `assert` becomes in the kernel: the same answer, written down, and
# nothing raised.
RECORDER = """
import json as _json, operator as _operator, os as _os
_OPS = {"<": _operator.lt, "<=": _operator.le, ">": _operator.gt, ">=": _operator.ge, "==": _operator.eq, "!=": _operator.ne,
        "in": lambda a, b: a in b, "not in": lambda a, b: a not in b, "is": _operator.is_, "is not": _operator.is_not}

def _number(x):
    try:
        return float(x.detach() if hasattr(x, "detach") else x)
    except Exception:
        return None

def _write(**row):
    with open(_os.environ["MARGINS_FILE"], "a") as file:
        file.write(_json.dumps(row) + "\\n")

_of_this = []  # the comparisons of the assertion that is being computed

def _compared(where, text, ops, *values):
    answer = True
    for op, a, b in zip(ops, values, values[1:]):
        true = _OPS[op](a, b)
        try:
            true = bool(true)
        except Exception:
            return true
        _of_this.append(dict(where=where, text=text, op=op, left=_number(a), right=_number(b), true=true))
        answer = answer and true
    return answer

def _asserted(where, text, test):
    outer = list(_of_this)  # if this is inside a function that another assertion calls
    _of_this.clear()
    try:
        holds = bool(test())
    except Exception as error:
        holds, text = False, f"{text}: {type(error).__name__} {error}"
    for row in _of_this:
        _write(**row, holds=holds)
    _of_this[:] = outer
    _write(where=where, text=text, op="assert", left=None, right=None, true=holds, holds=holds)
"""
SYMBOLS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
SYMBOLS |= {ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}


class _Recorded(ast.NodeTransformer):
    """Turns each `assert` into calls of the recorder."""

    def __init__(self, cell: int):
        self.cell, self.inside = cell, False

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        text, where = ast.unparse(node.test), f"{self.cell}:{node.lineno}"
        self.inside = True
        test = self.visit(node.test)
        self.inside = False
        call = ast.Call(
            ast.Name("_asserted", ast.Load()),
            [ast.Constant(where), ast.Constant(text), _thunk(test)],
            [],
        )
        return ast.copy_location(ast.Expr(call), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if not self.inside:
            return node
        ops = ast.List([ast.Constant(SYMBOLS[type(op)]) for op in node.ops], ast.Load())
        values = [node.left, *node.comparators]
        where = ast.Constant(f"{self.cell}:{node.lineno}")
        return ast.Call(
            ast.Name("_compared", ast.Load()),
            [where, ast.Constant(ast.unparse(node)), ops, *values],
            [],
        )


def _thunk(test: ast.expr) -> ast.Lambda:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(nothing, test)


def recorded(source: str, cell: int) -> str:
    """A cell's text with its assertions recorded; a cell that is no plain Python (magics) as it
    is.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    return ast.unparse(ast.fix_missing_locations(_Recorded(cell).visit(tree)))


def seeded(source: str, threads: int, seed: int) -> str:
    """A cell's text with another seed wherever it seeds, and other threads in the set-up."""
    source = source.replace(
        "lectures_lib.setup(seed=0)", f"lectures_lib.setup(seed={seed}, threads={threads})"
    )
    return re.sub(r"manual_seed\(", f"manual_seed({1000 * seed} + ", source) if seed else source


def run(twin: Path, name: str, folder: Path = KEPT) -> dict:
    """Execute a notebook under one set: its comparisons, and the texts that came out otherwise than
    stored. The run is kept in the folder.
    """
    instructions, threads, seed = name.split(":")
    kept = folder / twin.stem / f"{name}.json"
    notebook = jupytext.read(twin)
    fingerprint = hashlib.sha256(
        (RECORDER + "".join(cell.source for cell in notebook.cells)).encode()
    ).hexdigest()[:16]
    if kept.exists() and json.loads(kept.read_text())["fingerprint"] == fingerprint:
        return json.loads(kept.read_text())
    rows = kept.with_suffix(".rows")
    kept.parent.mkdir(parents=True, exist_ok=True)
    rows.write_text("")
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            cell.source = recorded(seeded(cell.source, int(threads), int(seed)), i)
    first = next(i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    notebook.cells.insert(first, nbformat.v4.new_code_cell(RECORDER))
    env = {**os.environ, **SETS[instructions], "MARGINS_FILE": str(rows), "HF_HUB_OFFLINE": "1"}
    client = NotebookClient(
        notebook, timeout=3000, kernel_name="python3", allow_errors=True, coalesce_streams=True
    )
    begun = time.perf_counter()
    client.execute(cwd=str(twin.parent), env=env)
    del notebook.cells[first]
    errors = [
        f"cell {i}: {o.ename}: {o.evalue}"[:300]
        for i, c in enumerate(notebook.cells)
        for o in c.get("outputs", [])
        if o.output_type == "error"
    ]
    found = {
        "fingerprint": fingerprint,
        "seconds": round(time.perf_counter() - begun),
        "errors": errors,
        "texts": _other_texts(twin, notebook) if seed == "0" else [],
        "rows": [json.loads(line) for line in rows.read_text().splitlines()],
    }
    write_whole(kept, json.dumps(found))
    rows.unlink()
    return found


def failed(found: dict) -> list[str]:
    """The assertions of a run that do not hold, each with the numbers of its false comparisons, and
    the cells that ended in an error.
    """
    lines = [f"ERROR {error}" for error in found["errors"]]
    for row in found["rows"]:
        if not row["true"] and not row["holds"]:
            sides = "" if row["op"] == "assert" else f"  {_sides({'': row})}"
            lines.append(f"[{row['where']}] {row['text']}{sides}")
    return lines


def _other_texts(twin: Path, fresh: nbformat.NotebookNode) -> list[str]:
    """Where a cell printed something else than is stored."""
    stored = nbformat.read(twin.with_suffix(".ipynb"), as_version=4)
    found = []
    for i, (a, b) in enumerate(zip(stored.cells, fresh.cells, strict=True)):
        if a.cell_type == "code" and not {"nbval-ignore-output", "setup"} & set(
            a.metadata.get("tags", [])
        ):
            old, new = _printed(a), _printed(b)
            if old != new:
                found.append(f"cell {i}:\n    stored: {old[:400]!r}\n    fresh:  {new[:400]!r}")
    return found


def _printed(cell: nbformat.NotebookNode) -> str:
    return "".join(
        o.get("text", "") or o.get("data", {}).get("text/plain", "")
        for o in cell.outputs
        if o.output_type != "error"
    )


def table(results: dict[str, dict]) -> str:
    """What the runs have in common, the narrowest first."""
    lines = []
    for name, found in results.items():
        lines += (
            [f"{name}: {found['seconds']} s"]
            + [f"  ERROR {error}" for error in found["errors"]]
            + [f"  OTHER TEXT {text}" for text in found["texts"]]
        )
    compared: dict[tuple, dict[str, list]] = {}
    for name, found in results.items():
        seen: dict[tuple, int] = {}
        for row in found["rows"]:
            place = (row["where"], row["text"], row["op"])
            seen[place] = seen.get(place, -1) + 1
            compared.setdefault((*place, seen[place]), {})[name] = row
    rows = []
    for (where, text, op, i), by_run in compared.items():
        false = [name for name, row in by_run.items() if not row["true"] and not row["holds"]]
        one_of_many = any(row["holds"] and not row["true"] for row in by_run.values())
        distances = [
            _room(row)
            for row in by_run.values()
            if row["left"] is not None and row["right"] is not None and not one_of_many
        ]
        if false:
            rows.append(
                (-1.0, f"FALSE under {', '.join(false)}: [{where} #{i}] {text}  {_sides(by_run)}")
            )
        elif distances and op in "<=>=":
            spread = max(distances) - min(distances)
            if spread > 1e-9 * max(1.0, abs(distances[0])):
                ratio = min(distances) / spread
                rows.append(
                    (ratio, f"room/spread {ratio:8.2f}: [{where} #{i}] {text}  {_sides(by_run)}")
                )
    return "\n".join(lines + [""] + [line for ratio, line in sorted(rows) if ratio < 3])


def _room(row: dict) -> float:
    return (row["right"] - row["left"]) * (-1 if row["op"][0] == ">" else 1)


def _sides(by_run: dict[str, dict]) -> str:
    return "  ".join(
        f"{_short(row['left'])} {row['op']} {_short(row['right'])}" for row in by_run.values()
    )


def _short(x: float | None) -> str:
    return "…" if x is None else f"{x:.4g}"


def main() -> None:
    """The command line: see the module's first lines."""
    only, *runs = sys.argv[1:] or sys.exit(__doc__)
    twins = [
        path
        for folder in ("notebooks", "solutions")
        for path in sorted((ROOT / folder).glob(f"{only}*.py"))
    ]
    for twin in twins:
        results = {}
        for name in runs or RUNS:
            results[name] = run(twin, name)
            print(f"{twin.stem} {name}: {results[name]['seconds']} s", file=sys.stderr, flush=True)
        print(f"== {twin.stem}\n{table(results)}\n", flush=True)


if __name__ == "__main__":
    main()
