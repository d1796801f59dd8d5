"""The exam's questions as many seeds draw them, once for all tests of a process."""

from functools import cache

from lectures_lib.exam import draw

SEEDS = range(200)


@cache
def drawn_with(one):
    """A question with the numbers of 200 seeds."""
    return [draw(one, seed) for seed in SEEDS]
