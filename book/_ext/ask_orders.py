"""In which order the page *Ask the book* shows the sections: by meaning, by words, or by both; and how
often the first of them is right.
"""

import itertools
from collections.abc import Callable, Sequence

import section_search
import torch
from queries import UNTOUCHED
from sphinx.application import Sphinx

from lectures_lib.data.book import Question, Section
from lectures_lib.tasks.sentence_bert import search

SHOWN = 5  # sections found, as in ask.js
EXAMPLES = 6
FROM, WORDS = 5, 2  # of `both`, as in ask.js; chosen with the queries BY_STUDENTS


def both(meaning: Sequence[int], words: Sequence[int]) -> list[int]:
    """One order of two, by the sum of 1 / (a constant + place): reciprocal rank fusion (Cormack et
    al., 2009). The place by words counts twice.
    """
    sums: dict[int, float] = {}
    for order, worth in ((meaning, 1), (words, WORDS)):
        for place, j in enumerate(order, start=1):
            sums[j] = sums.get(j, 0.0) + worth / (FROM + place)
    return sorted(sums, key=lambda j: -sums[j])


def orders(
    asked: torch.Tensor, told: torch.Tensor, by_words: Sequence[Sequence[int]] | None
) -> dict[str, list[Sequence[int]]]:
    """For each question the numbers of the sections, the best first, in each way that there is; the
    page begins with the first way.

    Args:
        asked: (questions, width).  told: (sections, width).
        by_words: for each question what the search by words finds, where there is one.
    """
    meaning = search(asked.double(), told.double(), k=len(told)).places.tolist()
    if by_words is None:
        return {"meaning": meaning}
    together = list(itertools.starmap(both, zip(meaning, by_words, strict=True)))
    return {"both": together, "meaning": meaning, "words": list(by_words)}


def fitness(
    sections: list[Section],
    questions: list[Question],
    asked: torch.Tensor,
    told: torch.Tensor,
    by_words: Sequence[Sequence[int]] | None = None,
) -> list[tuple[bool, int, float]]:
    """How well each question shows what the page can do, to be compared: whether the first section
    lies in a chapter that answers it, how many of those that are shown do, and how near the nearest
    is.
    """
    shown = next(iter(orders(asked, told, by_words).values()))
    nearest = search(asked, told, k=1).scores[:, 0].tolist()
    found = []
    for question, places, score in zip(questions, shown, nearest, strict=True):
        right = [sections[i].number in question.chapters for i in places[:SHOWN]]
        found.append((right[0], sum(right), score))
    return found


def best_of_each_part(fitness: list, parts: int = EXAMPLES) -> list[int]:
    """The places of the fittest in each of some parts, which are as long as each other but for one:
    questions stand in the order of the book, so that examples come from all over it.
    """
    n, parts = len(fitness), min(parts, len(fitness))
    edges = [n * part // parts for part in range(parts + 1)]
    return [
        max(range(start, end), key=fitness.__getitem__) for start, end in itertools.pairwise(edges)
    ]


def how_often(
    right: Sequence[Callable[[Section], bool]],
    found: Sequence[Sequence[int]],
    sections: list[Section],
) -> tuple[int, int]:
    """For how many of some questions the first section found is right, and one of the first
    three.
    """
    rows = [
        [is_right(sections[i]) for i in order[:3]]
        for is_right, order in zip(right, found, strict=True)
    ]
    return sum(any(row[:1]) for row in rows), sum(map(any, rows))


def typed_about(sections: list[Section]) -> list[tuple[str, set[str]]]:
    """What students type into a search, and the pages where we would send them, if these sections
    are of one: words for which nothing was mended.
    """
    there = {section.page for section in sections}
    typed = []
    for words, at in UNTOUCHED.items():
        right = {address.split("#")[0] for address in ([at] if isinstance(at, str) else at)}
        if right & there:
            typed.append((words, right))
    return typed


def found_by_words(app: Sphinx, sections: list[Section], queries: list[str]) -> list[list[int]]:
    """For each query the numbers of these sections, as the search of all pages finds them; where it
    finds a page as a whole, its first section.
    """
    places: dict[str, int] = {}
    for j, section in enumerate(sections):
        places.setdefault(f"{section.page}.html", j)
        places[f"{section.page}.html#{section.anchor}"] = j
    return [
        list(dict.fromkeys(places[address] for address in found if address in places))
        for found in section_search.found(app, queries)
    ]
