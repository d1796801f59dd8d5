"""Tables that people may have edited: a file is replaced only while it is as the grader left it."""

import hashlib
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

from lectures_lib.files import write_whole

RECORD = "written.json"  # beside the tables: a hash of each as it was written


def replace(path: Path, text: str) -> str:
    """Write a table, or take it away where there is nothing to write. Where the file was edited
    since, or nobody knows, it stays, and the new one is written beside it.

    Returns:
        What an instructor should be told; "" where the file was the grader's own.
    """
    written = _record(path.parent)
    beside = sorted(path.parent.glob(f"{path.stem}.new*{path.suffix}"))
    places = [place for place in (path, *beside) if place.exists()]
    edited = [place for place in places if _differs(place, written, text)]
    target = next(place for place in _places(path) if place not in edited)
    for place in places:
        if place not in (*edited, target) or (place == target and not text):
            place.unlink()
            written.pop(place.name, None)
    if text:
        write_whole(target, text)
        written[target.name] = _hash(target)
    write_whole(path.parent / RECORD, json.dumps(written, indent=1, sort_keys=True) + "\n")
    if not edited:
        return ""
    where = f"the new one is {target.name}" if text else "there is no new one"
    return (
        f"{edited[-1].name} was edited since it was written, so it stays as it is; {where}. What "
        f"is decided by hand belongs in the course's file, where it lasts"
    )


def _places(path: Path) -> Iterator[Path]:
    """grades.csv, grades.new.csv, grades.new2.csv, …"""
    yield path
    yield path.with_name(f"{path.stem}.new{path.suffix}")
    for number in itertools.count(2):
        yield path.with_name(f"{path.stem}.new{number}{path.suffix}")


def _differs(path: Path, written: dict[str, str], text: str) -> bool:
    """Whether somebody has edited the file. One that nobody remembers is taken for edited, unless
    it says what is to be written.
    """
    if path.read_bytes() == text.encode("utf-8", "backslashreplace"):
        return False
    return _hash(path) != written.get(path.name)


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _record(folder: Path) -> dict[str, str]:
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
