"""Who marks what: the same answers and the same markers give the same sheets, every time."""

import hashlib
from collections.abc import Iterable


def shared_out(
    answers: Iterable[str], markers: tuple[str, ...], twice_percent: float | int
) -> dict[str, tuple[str, ...]]:
    """Who marks each of one question's answers: everybody as many as the others, give or take one.

    Args:
        answers: their ids. Those that are marked twice are chosen by them, so by nobody.
        markers: at least one; two, where some are marked twice.
        twice_percent: so many of the answers go to two markers.
    """
    answers = sorted(answers, key=_order)
    twice = round(len(answers) * twice_percent / 100)
    loads = dict.fromkeys(markers, 0)
    chosen = {}
    for i, answer in enumerate(answers):
        # sorted() is stable: of those with equal loads, the one who was named first
        least = sorted(markers, key=loads.__getitem__)[: 2 if i < twice else 1]
        for marker in least:
            loads[marker] += 1
        chosen[answer] = tuple(sorted(least, key=markers.index))
    return chosen


def _order(answer: str) -> bytes:
    return hashlib.sha256(answer.encode()).digest()
