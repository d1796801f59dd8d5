"""Which submissions have in common what few others have.

A part that a large share of the class has is nearly forced: the question has one obvious answer, or
the notebook gave it. It counts nothing; any other part counts the more, the fewer have it.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from lectures_lib.homework.grader.alike.parts import Part

FORCED = 0.1  # of the class: what more than so many share counts nothing,
FEW = 4  # but what so few share counts in a small class, too
LEAST = 40.0  # bits of rare agreement, below which a pair is not shown
SHARE = 0.45  # of the smaller one's rare code, below which it is not,
ALONE = 0.8  # unless one function has so many bits and shares so much


@dataclass(frozen=True)
class Pair:
    """Two submissions with rare code in common.

    Attributes:
        one, other: whose.
        score: how much of the smaller one's code that is not forced the other one has as well: 0 to
            1.
        bits: how much that is: for each shared part log₂ of (size of the class / how many have it).
        matches: the largest shared parts, from both, the rarest first, with how many have each.
    """

    one: str
    other: str
    score: float
    bits: float
    matches: tuple[tuple[Part, Part, int], ...]


def pairs(class_: dict[str, list[Part]], beside: Iterable[str] = (), most: int = 100) -> list[Pair]:
    """The pairs that are alike, the most alike first.

    Args:
        class_: the parts of each submission, by its name.
        beside: names among them that are no students (a published solution, last year's): they are
            not compared with each other.
        most: how many pairs at most.
    """
    beside = set(beside)
    held = {name: {part.key: part for part in reversed(found)} for name, found in class_.items()}
    rarity = _rarity(held)
    own = {name: _by_function(keys, keys, rarity) for name, keys in held.items()}
    shared: Counter = Counter()
    for key, names in _holders(held, rarity).items():
        for pair in combinations(names, 2):
            shared[pair] += rarity[key]
    found = []
    for (one, other), bits in shared.items():
        if bits < LEAST or {one, other} <= beside:
            continue
        score = bits / min(own[one].total(), own[other].total())
        if score >= SHARE or _one_function(held, own, one, other, rarity):
            found.append((score, bits, one, other))
    found.sort(key=lambda each: (-each[0] * math.log2(each[1]), each[2:]))
    counts = Counter(key for keys in held.values() for key in keys)
    return [
        Pair(one, other, score, bits, _matches(held[one], held[other], rarity, counts))
        for score, bits, one, other in found[:most]
    ]


def _by_function(
    keys: Iterable[bytes], held: dict[bytes, Part], rarity: dict[bytes, float]
) -> Counter:
    """The bits of these parts, by the function that they are in."""
    bits: Counter = Counter()
    for key in keys:
        if key in rarity:
            bits[held[key].function] += rarity[key]
    return bits


def _one_function(
    held: dict[str, dict[bytes, Part]],
    own: dict[str, Counter],
    one: str,
    other: str,
    rarity: dict[bytes, float],
) -> bool:
    """Whether nearly all of one function, and no small one, is shared: one answer of many."""
    shared = _by_function(held[one].keys() & held[other].keys(), held[one], rarity)
    return any(
        bits >= LEAST and bits >= ALONE * max(own[one][name], own[other][name])
        for name, bits in shared.items()
    )


def _rarity(held: dict[str, dict[bytes, Part]]) -> dict[bytes, float]:
    """The bits of each part that is not forced."""
    size, counts = len(held), Counter(key for keys in held.values() for key in keys)
    limit = max(FEW, FORCED * size)
    return {key: math.log2(size / n) for key, n in counts.items() if n <= limit and n < size}


def _holders(
    held: dict[str, dict[bytes, Part]], rarity: dict[bytes, float]
) -> dict[bytes, list[str]]:
    """For each part that several have and that is not forced, who."""
    holders = defaultdict(list)
    for name in sorted(held):
        for key in held[name]:
            if key in rarity:
                holders[key].append(name)
    return {key: names for key, names in holders.items() if len(names) > 1}


def _matches(
    one: dict[bytes, Part], other: dict[bytes, Part], rarity: dict[bytes, float], counts: Counter
) -> tuple[tuple[Part, Part, int], ...]:
    """The shared parts that lie in no larger shared one."""
    both = sorted(
        (key for key in one.keys() & other.keys() if key in rarity),
        key=lambda key: (-one[key].nodes, key),
    )
    largest: list[bytes] = []
    for key in both:
        if not any(one[outer].holds(one[key]) for outer in largest):
            largest.append(key)
    largest.sort(key=lambda key: (-rarity[key], one[key].cell, one[key].first))
    return tuple((one[key], other[key], counts[key]) for key in largest)
