"""A YAML file that people write settings in: read so that an error can say in which line it is, and
that nothing is guessed.

Of YAML's many spellings only those that mean what they look like: `010` is ten, `23:59` and
`2026-10-12` and `yes` are texts, and the key `0042` stays `0042`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

MAX_BYTES, MAX_VALUES = 1 << 20, 20_000
Path_ = tuple[str | int, ...]


@dataclass(frozen=True)
class Settings:
    """What a file says.

    Attributes:
        content: of mappings with texts as keys, lists, texts, numbers, booleans and None.
        lines: where each value stands, by its path: {("homework", "hw1", "deadline"): 4}.
    """

    content: object
    lines: dict[Path_, int]

    def place(self, path: Path_) -> str:
        """A path in words: "line 4, homework.hw1.deadline"."""
        return f"line {self.line(path)}, {'.'.join(map(str, path)) or 'the whole file'}"

    def line(self, path: Path_) -> int:
        """Where the value at this path stands, or what it would belong to."""
        known = next((path[:i] for i in range(len(path), -1, -1) if path[:i] in self.lines), ())
        return self.lines.get(known, 1)


def read(path: Path) -> Settings:
    """The settings in a file.

    Raises:
        OSError: if it cannot be opened.
        ValueError: if it is no YAML, sets something twice, or is larger than settings are.
    """
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"{path} is larger than the {MAX_BYTES >> 20} MB that are read")
    try:
        root = yaml.compose(data.decode("utf-8-sig"), Loader=_Loader)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text in UTF-8 (byte {error.start})") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ValueError(
            f"{path}{where}: this is no YAML: {error.problem or error.context}"
        ) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ValueError(f"{path} is no YAML: {' '.join(str(error).split())[:200]}") from None
    lines: dict[Path_, int] = {}
    try:
        return Settings(None if root is None else _value(root, (), lines, ()), lines)
    except _Wrong as error:
        raise ValueError(f"{path}, {error}") from None


class _Wrong(ValueError):
    pass


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict = {}  # noqa: RUF012 - PyYAML's own way


_KINDS = {
    "null": r"~|null|",
    "bool": r"true|false",
    "int": r"[-+]?[0-9]+",
    "float": r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?",
}
for _kind, _pattern in _KINDS.items():
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_kind}", re.compile(rf"(?:{_pattern})\Z"), None
    )
_MAKE = {
    "null": lambda text: None,
    "bool": lambda text: text == "true",
    "int": int,
    "float": float,
    "str": str,
}


def _value(
    node: yaml.Node, path: Path_, lines: dict[Path_, int], inside: tuple[int, ...]
) -> object:
    """What a node stands for; the lines of everything in it are noted."""
    line = node.start_mark.line + 1
    if id(node) in inside:
        raise _Wrong(f"line {line}: this contains itself")
    if len(lines) >= MAX_VALUES:
        raise _Wrong(f"line {line}: this file sets more than {MAX_VALUES:,} values")
    lines.setdefault(path, line)
    inside = (*inside, id(node))
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if kind not in ("map", "seq", *_MAKE):
        raise _Wrong(f"line {line}: {node.tag} is no kind of value that is read here")
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, i), lines, inside) for i, item in enumerate(node.value)]
    if isinstance(node, yaml.ScalarNode):
        return _MAKE[kind](node.value)
    content = {}
    for key, item in node.value:
        here = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise _Wrong(f"line {here}: a name is expected before the colon")
        inner = (*path, key.value)
        if key.value in content:
            raise _Wrong(
                f"line {here}: {'.'.join(map(str, inner))} is set for the second time; the first "
                f"is in line {lines[inner]}"
            )
        lines[inner] = here
        content[key.value] = _value(item, inner, lines, inside)
    return content
