"""Tokenizers on disk: JSON that a person can read, written whole or not at all."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lectures_lib.files import write_whole


def write(path: Path | str, record: dict[str, Any]) -> None:
    """Write the record as JSON. The file of before stays in place until the new one is complete."""
    write_whole(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def read(path: Path | str, kind: str, fields: dict[str, type]) -> dict[str, Any]:
    """The record that `write` wrote, if it is of that kind and has all its fields, each of its
    type.

    Raises:
        FileNotFoundError: where there is no such file.
        ValueError: for a file that is damaged or of another kind; the message names the file and
            what is wrong with it.
    """
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is not a {kind} file, or is damaged: {error}") from None
    if not isinstance(record, dict) or record.get("kind") != kind:
        found = record.get("kind") if isinstance(record, dict) else type(record).__name__
        raise ValueError(f"{path} is not a {kind} file: it says that it is {found!r}")
    for field, expected in fields.items():
        if not isinstance(record.get(field), expected):
            raise ValueError(
                f"{path} is damaged: {field!r} should be a {expected.__name__}, found "
                f"{record.get(field)!r:.80}"
            )
        if expected is list and not all(isinstance(entry, str) for entry in record[field]):
            raise ValueError(f"{path} is damaged: {field!r} should hold text only")
    return record


@contextmanager
def blame(path: Path | str) -> Iterator[None]:
    """Put the name of the file before any error that what stands in it causes."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None
