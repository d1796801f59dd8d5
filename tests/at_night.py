"""Which tests `make test` leaves to the night, by the file beside this one (it says how to read it)."""

from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import yaml

FILE = Path(__file__).with_suffix(".yml")


def listed() -> dict[str, int | list[str]]:
    """Each name of the file, and what runs by day as well."""
    return {
        name: by_day
        for group in yaml.safe_load(FILE.read_text(encoding="utf-8"))
        for name, by_day in group["tests"].items()
    }


def left(cases: Iterable[str], night: dict[str, int | list[str]]) -> Iterator[bool]:
    """Of each case, in the order in which they are collected, whether the day leaves it out."""
    seen = Counter()
    found = {}  # a function has many cases
    for case in cases:
        function = case.partition("[")[0]
        seen[function] += 1
        if function not in found:
            found[function] = [
                by_day for name, by_day in night.items() if fnmatchcase(function, name)
            ]
        yield any(not _by_day(case, seen[function], by_day) for by_day in found[function])


def _by_day(case: str, number: int, by_day: int | list[str]) -> bool:
    if isinstance(by_day, int):
        return number <= by_day
    return any(word in case.partition("::")[2] for word in by_day)
