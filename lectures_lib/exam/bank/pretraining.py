"""Pre-training, and how sure a comparison is (chapters 13, 13b and 13c)."""

import math
import statistics
from fractions import Fraction
from random import Random

from lectures_lib.exam.pictures import table
from lectures_lib.exam.question import Drawn, Question, asked_in
from lectures_lib.metrics import sign_test

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=13)


@_asked("Holes", points=6)
def holes(chance: Random) -> Drawn:
    """Expected numbers in BERT's masking."""
    n = chance.choice([200, 400, 512])
    asked = 0.15 * n
    return Drawn(
        f"A text has {n} tokens that may be chosen. How many are expected to be chosen, to become "
        f"[MASK], another word, and to stay? In how many places does one expect the input "
        f"to differ from the text, if another word is never the same by chance, and at how many is "
        f"a loss computed? Why are some left as they are?",
        f"Chosen {asked:g}; [MASK] {0.8 * asked:g}, another word {0.1 * asked:g}, unchanged "
        f"{0.1 * asked:g}. The input differs in {0.9 * asked:g} places, the loss counts all "
        f"{asked:g}. In use there is no [MASK]: a model that "
        f"need only predict where it sees one would have no reason to care for the others.",
        marks=(
            (2, "the four numbers"),
            (2, "where the input differs, and where a loss is computed"),
            (2, "why some are left"),
        ),
        wrong="The loss counts only the [MASK] places.",
        reveals="Then the other two kinds would teach nothing: every chosen token is to be "
        "predicted.",
    )


@_asked("Drawn by chance", points=6)
def drawn_by_chance(chance: Random) -> Drawn:
    """What the model reads and must tell, from two draws for each token."""
    words = chance.choice([["the", "cat", "sat", "down"], ["we", "read", "a", "book"],
                           ["it", "was", "too", "late"]])  # fmt: skip
    tokens = ["[CLS]", *words, "[SEP]"]
    fates = chance.sample(["mask", "other", "stay", "none"], 4)
    draws = {
        "mask": (chance.choice([0.03, 0.08, 0.12]), chance.choice([0.25, 0.61, 0.78])),
        "other": (chance.choice([0.02, 0.10, 0.13]), chance.choice([0.82, 0.86, 0.89])),
        "stay": (chance.choice([0.04, 0.09, 0.14]), chance.choice([0.92, 0.95, 0.98])),
        "none": (chance.choice([0.16, 0.4, 0.77]), chance.choice([0.1, 0.5, 0.85])),
    }
    ends = [(chance.choice([0.3, 0.6]), 0.4), (chance.choice([0.05, 0.11]), 0.64)]
    pairs = [ends[0], *(draws[fate] for fate in fates), ends[1]]
    reads = {"mask": "[MASK]", "other": "another"}
    read = ["[CLS]", *(reads.get(f, w) for f, w in zip(fates, words, strict=True)), "[SEP]"]
    told = ["", *("" if f == "none" else w for f, w in zip(fates, words, strict=True)), ""]
    given = {
        "token": tokens,
        "first": [f"{a:.2f}" for a, _ in pairs],
        "second": [f"{b:.2f}" for _, b in pairs],
    }
    return Drawn(
        "Chance has drawn two numbers for each token. A token is chosen if the first is below "
        "0.15; the second decides its fate: below 0.8 [MASK], below 0.9 another token, else it "
        "stays. Fill in what the model reads and what it must tell. At which places can it see "
        "that something was done? Why is [SEP] safe?",
        f"See the table: it must tell {', '.join(w for w in told if w)}. It sees a [MASK] for what "
        f"it is, and may suspect the other token; that *{words[fates.index('stay')]}* was chosen "
        f"it cannot know. Special tokens are never chosen: there is nothing to guess.",
        marks=((2, "what is read"), (2, "what is told: all that were chosen"),
               (1, "what it can see"), (1, "[SEP]")),
        wrong=f"*{words[fates.index('stay')]}* need not be told, since nothing was done to it.",
        reveals="Chosen is taken for changed. To be chosen is what counts.",
        picture=table("drawn_by_chance", "Six tokens and what chance has drawn for them",
                      {**given, "read": [""] * 6, "told": [""] * 6}),
        solved=table("drawn_by_chance_solved", "What is read and what is told",
                     {**given, "read": read, "told": told}),
    )  # fmt: skip


@_asked("Holes with a leak", points=6, kind="find the bug")
def holes_with_a_leak(chance: Random) -> Drawn:
    """Masking code in which the labels are wrong, or special tokens may be chosen."""
    code = [
        "import torch",
        "",
        "def make_holes(ids, special, MASK, generator):",
        '    """ids (batch, n); special: True where [CLS], [SEP] or [PAD] stands.',
        '    Every chosen token becomes [MASK]; label -100 = not asked."""',
        "    drawn = torch.rand(ids.shape, generator=generator)",
        "    chosen = (drawn < 0.15) & ~special",
        "    labels = ids.masked_fill(~chosen, -100)",
        "    read = ids.masked_fill(chosen, MASK)",
        "    return read, labels",
    ]
    kind = chance.choice(["labels", "special", "late"])
    if kind == "labels":
        line, wrong_line = 8, "    labels = ids.clone()"
        says = (
            "All tokens are asked for, also the 85 % that stand there to be read: the loss is "
            "mostly copying, it falls quickly, and the holes count for little"
        )
        test = "the labels where nothing was chosen, which must all be -100"
    elif kind == "special":
        line, wrong_line = 7, "    chosen = drawn < 0.15"
        says = (
            "[CLS], [SEP] and [PAD] are chosen as well: the model is asked for what is at its "
            "place anyway, and in short texts much of the loss is about padding"
        )
        test = "that no special token is ever [MASK], over many draws"
    else:
        line, wrong_line = 8, "    labels = ids.masked_fill(chosen, -100)"
        says = (
            "The mask is the wrong way round: asked for is what stands in plain sight, and never "
            "what was hidden, so the model learns to copy"
        )
        test = "the labels at the holes, which must be the tokens that stood there"
    mended, code[line - 1] = code[line - 1], wrong_line
    return Drawn(
        "This makes holes in a text (a simplified form: always [MASK]). One line is wrong. Which, "
        "and how should it read? What does a model learn from such examples? Name a test.",
        f"{says}. A test: {test}.",
        marks=((2, "the line"), (1, "mended"), (2, "what is learned"), (1, "a test")),
        wrong="Line 9: the original should be kept for the loss.",
        reveals="`masked_fill` is thought to change ids; it makes a copy, and the original "
        "is in the labels.",
        code="\n".join(code), line=line, mended=mended,
    )  # fmt: skip


@_asked("Where two systems differ", points=6)
def where_two_systems_differ(chance: Random) -> Drawn:
    """The sign test with a handful of disagreements."""
    n = chance.choice([60, 80, 100])
    won, lost = chance.choice([(5, 0), (6, 0), (4, 1), (5, 1), (7, 1), (8, 1), (6, 2), (9, 1)])
    both = n - won - lost - chance.choice([5, 8, 11])
    coins = won + lost
    ways = sum(math.comb(coins, heads) for heads in range(won, coins + 1))
    p = sign_test(won, lost)
    counted = " + ".join(str(math.comb(coins, heads)) for heads in range(won, coins + 1))
    added = f"{counted} = {ways}" if lost else counted
    may = (
        f"Luck alone does this once in {1 / p:.0f} times, which is rare. But p is not the "
        f"probability that the two are equally good"
        if p < 0.05
        else f"Luck alone does this once in {1 / p:.0f} times, so it may have been luck. That does "
        f"not show that the two are equally good: {n} sentences are few"
    )
    return Drawn(
        f"Two systems are asked the same {n} sentences. The first is right in {both + won} of "
        f"them, the second in {both + lost}; {both} both have right. On how many do they differ, "
        f"and how do these divide? How often would fair coins divide them at least as unevenly, "
        f"one way or the other? May one write that one system is better, or that they are equally "
        f"good?",
        f"{won} only the first has right, {lost} only the second: {coins} coins. They fall in "
        f"2<sup>{coins}</sup> = {2**coins} ways. As uneven: {added} one way, and as many the "
        f"other, p = {2 * ways}/{2**coins} = {p:.3g}. {may}. (Sentences on which both agree say "
        f"nothing about which is better.)",
        marks=((1, "the disagreements, divided"), (3, "the ways counted, on both sides"),
               (2, "what may be written")),
        wrong=f"p = {Fraction(ways, 2**coins)} = {p / 2:.3g}.",
        reveals="One side only is counted, as if somebody had said beforehand which system would "
        "win.",
    )  # fmt: skip


@_asked("Three seeds beside three", points=7)
def three_seeds_beside_three(chance: Random) -> Drawn:
    """An ablation: the difference, its standard error, whether rows are apart, and what else
    changed."""
    higher, apart = chance.choice([35.0, 38.0, 41.0]), chance.choice([1.0, 1.3, 2.0, 4.0])
    spreads = chance.choice([(0.2, 0.3), (0.6, 0.8), (1.2, 0.5)])
    rows = [
        [round(middle + k * spread, 1) for k in chance.sample([-1, 0, 1], 3)]
        for middle, spread in zip((higher, higher - apart), spreads, strict=True)
    ]
    without, with_nsp = rows
    error = math.sqrt(sum(statistics.variance(each) for each in rows) / 3)
    clear = apart > 2 * error
    rows_apart = min(without) > max(with_nsp)
    said = "more than" if clear else "less than"
    return Drawn(
        "A small BERT is trained three times with the paper's recipe and three times without "
        "next-sentence prediction; there the second text of every pair continues the first. The "
        "table has the share of right answers at the same 28,000 holes, in per cent. How large is "
        "the difference of the means, and twice its standard error, from the spread of the seeds? "
        "Are the two rows apart, and how often are they with two recipes that are equally good? "
        "Does it follow that the exercise does harm?",
        f"{statistics.mean(without):.1f} − {statistics.mean(with_nsp):.1f} = {apart:.1f} points. "
        f"The standard deviations are {spreads[0]:.1f} and {spreads[1]:.1f}; the standard error is "
        f"√(({spreads[0]:.1f}² + {spreads[1]:.1f}²)/3) = {error:.2f}, so it is {apart:.1f}, give "
        f"or take {2 * error:.1f}: {said} twice the error. The rows "
        f"{'are apart' if rows_apart else 'overlap'}; with equal recipes rows are apart once in "
        f"10 times (2 of the 20 ways to deal six numbers). "
        + ("It does not follow" if clear else "It does not follow, even less so here")
        + ": a second thing has changed. Without torn pairs there is more related text to read.",
        marks=((1, "the difference"), (2, "its error, from the seeds"), (2, "apart or not, once in "
               "10"), (2, "the second change")),
        wrong="Give or take 0.6 points, from 28,000 holes.",
        reveals="That is the luck of the holes, which all models share. The luck of a training "
        "shows only in the seeds.",
        picture=table("three_seeds_beside_three", "Two recipes and their three seeds",
                      {"paper's recipe": [f"{x:.1f}" for x in with_nsp],
                       "without NSP": [f"{x:.1f}" for x in without]},
                      columns=["seed 0", "seed 1", "seed 2"]),
    )  # fmt: skip
