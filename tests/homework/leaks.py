"""What of a question bank could be had from a folder of released files: each file, each member of
each zip, each key's text and numbers, is looked through for the bank's functions.
"""

import ast
import functools
import json
import struct
import types
import zipfile
from collections.abc import Iterator
from pathlib import Path

from lectures_lib.homework import banks
from lectures_lib.homework.release import BEGIN, END

ENDINGS = (".py", ".key", ".ipynb", ".js", ".css", ".html", ".json", ".jsonl", ".md")
PICKLED = (b"\x80\x02", b"\x80\x03", b"\x80\x04\x95", b"\x80\x05\x95")
LONG = 24  # bytes of code, and characters of a syntax tree below are nobody's secret


def leaks(folder: Path, homework: str) -> list[str]:
    """What leaks, in words; [] if nothing does."""
    found = []
    for name, content in members(folder):
        found += [f"{name}: {what}" for what in _of_form(name, content)]
        found += [f"{name}: {what}" for what in _of_text(content, homework)]
        if name.endswith(".py"):
            found += [f"{name}: {what}" for what in _of_code(content.decode(), homework)]
        if name.endswith(".ipynb"):
            for cell in json.loads(content)["cells"]:
                if cell["cell_type"] == "code":
                    code = "".join(cell["source"])
                    found += [f"{name}: {what}" for what in _of_code(code, homework)]
    return found


def members(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file, and every member of a zip, with its bytes."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for entry in archive.infolist():
                    assert not entry.comment
                    assert not entry.extra
                    yield f"{path.name}/{entry.filename}", archive.read(entry)
        elif path.is_file():
            yield path.name, path.read_bytes()


def _of_form(name: str, content: bytes) -> Iterator[str]:
    """A file that is of a bank, or of a kind in which code could be hidden."""
    if "banks" in name or "solution" in name:
        yield "has the name of a bank's or a solution's file"
    if not name.endswith(ENDINGS):
        yield "is of a kind that is not released"
    if name.endswith(".key"):
        yield from _of_key(content)
        return
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        yield "is no text: bytecode, or a pickle?"
        return
    for marker in (BEGIN, END):
        if marker in text:
            yield f"holds {marker!r}"


def _of_key(content: bytes) -> Iterator[str]:
    """A key is two lengths, JSON, and safetensors that fill the rest to the last byte."""
    text, blob = struct.unpack(">II", content[:8])
    if len(content) != 8 + text + blob:
        yield f"{len(content) - 8 - text - blob} bytes beside text and tensors"
    frame = json.loads(content[8 : 8 + text])
    if set(frame) != {"head", "tree"} or set(frame["head"]) != {"question", "mistakes"}:
        yield f"holds {sorted(frame)} and {sorted(frame['head'])}"
    for raised in _raised(frame["tree"]):
        if raised["source"] or raised["line"]:
            yield f"holds the line of code {raised['source']!r}"
    if blob:
        start = 8 + text
        (size,) = struct.unpack("<Q", content[start : start + 8])
        header = json.loads(content[start + 8 : start + 8 + size])
        if header.pop("__metadata__", None):
            yield "holds words beside its tensors"
        covered = sum(end - begin for begin, end in (t["data_offsets"] for t in header.values()))
        if covered != blob - 8 - size:
            yield f"{blob - 8 - size - covered} bytes belong to no tensor"


def _raised(tree: list) -> Iterator[dict]:
    """The exceptions in a key, as dictionaries."""
    kind, content = tree
    if kind == "dict":
        keys = {key[1]: value for key, value in content}
        if "source" in keys:
            yield {name: int(v[1], 16) if v[0] == "int" else v[1] for name, v in keys.items()}
        for value in keys.values():
            yield from _raised(value)
    elif kind in ("list", "tuple"):
        for item in content:
            yield from _raised(item)


def _of_text(content: bytes, homework: str) -> Iterator[str]:
    """Source or bytecode of the bank's functions among these bytes, whatever they are."""
    squeezed = b"".join(content.replace(rb"\n", b"").replace(rb"\"", b'"').split())
    for name, _, text, codes in _functions(homework):
        if text in squeezed:
            yield f"holds the source of {name}"
        if any(code in content for code in codes):
            yield f"holds the bytecode of {name}"
    for start in PICKLED:
        if content.startswith(start):
            yield "is a pickle"


def _of_code(source: str, homework: str) -> Iterator[str]:
    """Functions that do what the bank's do, whatever they are called."""
    have = {_shape(node) for node in ast.walk(ast.parse(source)) if isinstance(node, _KINDS)}
    for name, shape, *_ in _functions(homework):
        if shape in have:
            yield f"defines a function with the body of {name}"


_KINDS = (ast.FunctionDef, ast.Lambda)


@functools.cache
def _functions(homework: str) -> list[tuple[str, str, bytes, list[bytes]]]:
    """(name, shape, source without spaces, bytecodes) of each function in a homework's bank, and in
    what all banks share.
    """
    found, folder = [], Path(banks.__path__[0])
    for path in sorted([*folder.glob(f"{homework}/*.py"), *folder.glob("*.py")]):
        source = path.read_text(encoding="utf-8")
        codes = _bytecodes(source)
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, _KINDS):
                continue
            shape = _shape(node)
            body = node.body if isinstance(node, ast.Lambda) else _without_docstring(node)
            parts = body if isinstance(body, list) else [body]
            text = "".join("".join(ast.get_source_segment(source, each).split()) for each in parts)
            if len(shape) < 10 * LONG or len(text) < LONG:
                continue
            name = f"{path.name}:{node.lineno}"
            found.append((name, shape, text.encode(), codes.get(node.lineno, [])))
    assert len(found) > 30, f"{homework} has {len(found)} functions to look for"
    return found


def _shape(node: ast.FunctionDef | ast.Lambda) -> str:
    """What a function does, as text: without its name, docstring and annotations, and whatever its
    arguments are called.
    """
    body = [node.body] if isinstance(node, ast.Lambda) else _without_docstring(node)
    names = {a.arg: f"a{i}" for i, a in enumerate(ast.walk(node.args)) if isinstance(a, ast.arg)}
    text = "".join(ast.dump(each) for each in body)
    for name, place in names.items():
        text = text.replace(f"id='{name}'", f"id='{place}'")
    return text


def _without_docstring(node: ast.FunctionDef) -> list[ast.stmt]:
    first = node.body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return node.body[told:] or node.body


def _bytecodes(source: str) -> dict[int, list[bytes]]:
    """The bytecode of all functions, compiled as Python would, by the line where they begin."""
    codes, found = [compile(source, "bank", "exec")], {}
    while codes:
        code = codes.pop()
        codes += [each for each in code.co_consts if isinstance(each, types.CodeType)]
        if len(code.co_code) > 2 * LONG:
            found.setdefault(code.co_firstlineno, []).append(code.co_code)
    return found
