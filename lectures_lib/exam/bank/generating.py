"""Generating (chapter 9)."""

import math
from random import Random

import torch

from lectures_lib.exam.pictures import beam_tree
from lectures_lib.exam.question import Drawn, Question, asked_in, row

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=9)


@_asked("Two kinds of cutting off", points=6)
def two_kinds_of_cutting(chance: Random) -> Drawn:
    """Top-k and top-p on one distribution."""
    p = torch.tensor(chance.choice([[0.5, 0.2, 0.15, 0.1, 0.05], [0.4, 0.3, 0.15, 0.1, 0.05]]))
    k, top_p = 2, 0.8
    kept = int((p.cumsum(0) - p < top_p).sum())
    return Drawn(
        f"The next word has the probabilities {row(p)}. Which remain, and with which "
        f"probabilities, with top-k, k = {k}, and with top-p, p = {top_p}? In which situation do "
        f"the two differ most?",
        f"k = {k}: {row(p[:k] / p[:k].sum())}. p = {top_p}: the first {kept} (the fewest that "
        f"reach {top_p}), {row(p[:kept] / p[:kept].sum())}. Where the model is sure, top-p keeps "
        f"one word and top-k still k; where it is not, top-p keeps many.",
        marks=(
            (2, "top-k, normalised again"),
            (2, "top-p, normalised again"),
            (2, "sure or unsure"),
        ),
        wrong="Top-p keeps all words whose probability is above p.",
        reveals="p is read as a threshold for one word; it is one for the sum.",
    )


@_asked("Greedy, or two beams", points=7)
def greedy_or_beams(chance: Random) -> Drawn:
    """A tree of two steps in which greedy loses."""
    a, b = 0.6, 0.4
    after_a, after_b = chance.choice([0.4, 0.5]), 0.8

    def logs(p, q):
        return (
            f"ln {p} + ln {q} = −{-math.log(p):.2f} − {-math.log(q):.2f} = −{-math.log(p * q):.2f}"
        )

    return Drawn(
        f"Two words are written. The first is A with {a} or B with {b}. After A the likeliest "
        f"second word has {after_a}, after B {after_b}. What do greedy decoding and beam "
        f"search of width 2 write, with which probability? Give the scores as sums of natural "
        f"logarithms. Why are logarithms added instead of multiplying probabilities?",
        f"Greedy takes A: {a} · {after_a} = {a * after_a:.2f}, {logs(a, after_a)}. "
        f"The beam keeps both and finds B: {b} · {after_b} = {b * after_b:.2f}, "
        f"{logs(b, after_b)}. Products of many probabilities fall below what a computer "
        f"can hold; sums of logarithms do not.",
        marks=(
            (2, "greedy"),
            (2, "the beam"),
            (2, "logarithms, negative, summed"),
            (1, "underflow"),
        ),
        wrong="The beam writes A, since A leads after the first step.",
        reveals="A beam is taken for greedy with a spare; it compares whole beginnings after "
        "each step.",
    )


@_asked("The price of a cache", points=5)
def price_of_a_cache(chance: Random) -> Drawn:
    """Bytes of keys and values."""
    layers, d, n, batch = chance.choice([12, 24]), chance.choice([768, 1024]), 2048, 8
    size = 2 * layers * n * d * batch * 2
    return Drawn(
        f"A model has {layers} layers of width {d} and writes {batch} texts of {n} tokens at once. "
        f"How many bytes do the cached keys and values take at two bytes a number? What would be "
        f"computed again for each token without the cache?",
        f"2 · {layers} · {n} · {d} · {batch} · 2 bytes = {size:,} bytes, {size / 2**30:.2f} GiB. "
        f"Without it, all earlier tokens run through the whole stack again for every new one, "
        f"since their keys and values in the higher layers need what is below.",
        marks=(
            (3, "the product with all its factors"),
            (2, "the earlier tokens, in every layer: keys, values and what they are made from"),
        ),
        wrong="The factor 2 for keys and values is missing.",
        reveals="That both are kept is forgotten; the query of an earlier token is not needed "
        "again.",
    )


@_asked("A tree to be pruned", points=6)
def a_tree_to_be_pruned(chance: Random) -> Drawn:
    """Beam search of width 2 on a tree of three by three."""
    a, b, c, after_b = chance.choice(
        [(0.5, 0.3, 0.2, [0.9, 0.1, 0.0]), (0.5, 0.35, 0.15, [0.9, 0.1, 0.0]),
         (0.4, 0.35, 0.25, [0.6, 0.3, 0.1]), (0.4, 0.33, 0.27, [0.7, 0.2, 0.1])]
    )  # fmt: skip
    shares = {
        "A": chance.choice([[0.4, 0.3, 0.3], [0.3, 0.4, 0.3], [0.2, 0.5, 0.3]]),
        "B": chance.sample(after_b, 3),
        "C": chance.choice([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    }
    first = {"A": a, "B": b, "C": c}
    then = {a: dict(zip("xyz", row_, strict=True)) for a, row_ in shares.items()}
    paths = {f"{a} {w}": p * q for a, p in first.items() for w, q in then[a].items()}
    beam = sorted((k for k in paths if k[0] in "AB"), key=paths.get, reverse=True)
    greedy = max((k for k in paths if k[0] == "A"), key=paths.get)
    missed = paths[beam[0]] < c
    than = f"{'more' if missed else 'less'} than {paths[beam[0]]:.3g}"
    draws = "a_tree_to_be_pruned"
    return Drawn(
        "A model gives these probabilities. Beam search of width 2: which beginnings survive "
        "the first step, which path is the best after the second, and with which probability? What "
        "does greedy decoding write? Which path has the beam lost without looking at it, "
        "and how large is its probability? Has the beam found the best of all paths?",
        f"A and B survive. Best is {beam[0]} with {paths[beam[0]]:.3g}; "
        f"greedy writes {greedy} with {paths[greedy]:.3g}. Everything behind C is "
        f"lost; the best there has {c:g} · 1 = {c:g}, {than}: the beam has "
        f"{'missed the best path of all' if missed else 'found the best of all, this time'}. It is "
        f"no guarantee: what it drops never comes back.",
        marks=((1, "the survivors"), (2, "the best path"), (1, "greedy"),
               (2, "what was lost, and whether it was the best")),
        wrong="C survives, for its second word is certain.",
        reveals="The search is thought to see ahead; after the first step it knows the first step.",
        picture=beam_tree(draws, first, then),
        solved=beam_tree(f"{draws}_solved", first, then, ["A", "B", beam[0]]),
    )  # fmt: skip
