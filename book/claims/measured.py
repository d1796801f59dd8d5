"""What the course's own experiments measured (book/results), for claims that rest on it."""

from collections.abc import Callable

from lectures_lib import results


def measured(name: str) -> Callable[[str], float]:
    """The numbers of one results file, by their keys."""
    return lambda key: results.value(name, key)
