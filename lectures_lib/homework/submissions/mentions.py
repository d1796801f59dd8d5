"""What code makes use of, as far as its text tells. It is read with patterns alone: a parser can be brought down by what it parses."""

import re
from collections.abc import Iterable

_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]{0,5000}\)|[^\n#;]*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n#;]*)", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_ASKED_FOR = re.compile(r"""\b(?:getattr[ \t]*\([ \t]*([\w.]+)[ \t]*,|import_module[ \t]*\(|__import__[ \t]*\()[ \t]*["']([\w.]+)["']""")
_FIRST_NAME = re.compile(r"(?<![\w.])(\w+)(?=\.)")


def mentions(cells: list[str], names: Iterable[str]) -> tuple[str, ...]:
    """Those of these names ("MultiheadAttention", "nn.functional.unfold", "lectures_lib.attention") that the cells mention.

    It does not matter how they were imported, and lines that are comments do not count.
    """
    code = spelled_out(_COMMENT.sub("", "\n".join(cells)))
    return tuple(name for name in names if re.search(rf"\b{re.escape(name)}\b", code))


def spelled_out(code: str) -> str:
    """The code, and behind it the code with each imported name in full: `from torch import nn as n` makes `n.Linear` `torch.nn.Linear`."""
    full: dict[str, str] = {}
    told = []
    for module, imported in _FROM.findall(code):
        for name, alias in _names(imported):
            full[alias or name] = f"{module}.{name}"
            told.append(f"{module}.{name}")
    for imported in _IMPORT.findall(code):
        full |= {alias: name for name, alias in _names(imported) if alias}
    told += [".".join(filter(None, found)) for found in _ASKED_FOR.findall(code)]
    text = "\n".join([code, *told])
    for _ in range(2):  # an alias of an alias
        text = _FIRST_NAME.sub(lambda found: full.get(found[1], found[1]), text)
    return f"{code}\n{text}"


def _names(imported: str) -> list[tuple[str, str]]:
    """(name, alias or "") of each in what stands behind `import`."""
    parts = (re.split(r"\s+as\s+", _COMMENT.sub("", part.strip("() \t\n\\"))) for part in imported.split(",")[:1000])
    return [(part[0].strip(), part[1].strip() if len(part) > 1 else "") for part in parts if part[0].strip()]
