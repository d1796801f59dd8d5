"""Training a Transformer, and judging one (chapters 8 and 8b)."""

import math
from random import Random

import torch

from lectures_lib.exam.pictures import curves
from lectures_lib.exam.question import Drawn, Question, asked_in, power_of_ten, shuffled
from lectures_lib.metrics.generation import corpus_bleu, n_grams

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=8)


@_asked("Smoothed labels", points=6)
def smoothed_labels(chance: Random) -> Drawn:
    """The loss with label smoothing, spread over all words."""
    n, epsilon = chance.choice([4, 5]), 0.1
    p = torch.tensor([0.7] + [0.3 / (n - 1)] * (n - 1))
    target = torch.full((n,), epsilon / n)
    target[0] += 1 - epsilon
    plain, smooth = -p[0].log(), -(target * p.log()).sum()
    return Drawn(
        f"Of {n} words a model gives the right one 0.7 and the others equal shares. Compute the "
        f"cross-entropy, and the one with label smoothing ε = 0.1 (spread over all {n} words). "
        f"What share for the right word makes the smoothed loss smallest?",
        f"−ln 0.7 = {plain:.3f}. The wanted shares are {target[0]:.3f} and {target[1]:.3f}, the "
        f"loss {smooth:.3f}. It is smallest where the model gives the wanted shares: "
        f"{target[0]:.3f}, not 1.",
        marks=(
            (2, "the plain loss"),
            (3, "the wanted shares and the smoothed loss"),
            (1, "where it is smallest"),
        ),
        wrong="ε is taken from the right word and shared among the others only.",
        reveals="A variant that exists; here the share ε / n goes to every word, the right one "
        "too, as in PyTorch.",
    )


@_asked("Warming up", points=5)
def warming_up(chance: Random) -> Drawn:
    """The paper's schedule at three steps."""
    d, warm = chance.choice([256, 512]), 4000

    def rate(step):
        return d**-0.5 * min(step**-0.5, step * warm**-1.5)

    late = chance.choice([16_000, 36_000])
    return Drawn(
        f"The paper's rate is d<sup>−1/2</sup> · min(step<sup>−1/2</sup>, "
        f"step · {warm}<sup>−3/2</sup>), with d = {d}. "
        f"How large is it at step 1,000, at its top, and at step {late:,}?",
        f"{power_of_ten(rate(1000), 2)}; at step {warm:,} {power_of_ten(rate(warm), 2)}, four "
        f"times as much; {power_of_ten(rate(late), 2)}, the top divided by "
        f"√({late}/{warm}) = {math.sqrt(late / warm):g}.",
        marks=(
            (2, "during the warm-up"),
            (2, "at the top"),
            (1, "after it"),
        ),
        wrong="The rate at the top is lr = 1.",
        reveals="The schedule is taken for a factor; here it is the rate itself, and d sets its"
        " size.",
    )


SCHEDULES = {
    "the paper's: straight up, then down like 1/√step": lambda x, w: min(x / w, (w / x) ** 0.5),
    "warm-up, then a straight line down to zero": lambda x, w: min(x / w, (1 - x) / (1 - w)),
    "warm-up, then constant": lambda x, w: min(x / w, 1.0),
    "no warm-up, a straight line down to zero": lambda x, w: 1 - x,
}


@_asked("Which schedule is which?", points=5, kind="choose and justify")
def which_schedule_is_which(chance: Random) -> Drawn:
    """Three curves of the learning rate and their names."""
    warm = chance.choice([0.2, 0.25])
    paper, *others = SCHEDULES
    names = chance.sample([paper, *chance.sample(others, 2)], 3)
    places = [i / 100 for i in range(1, 101)]
    lines = {
        letter: [(x, SCHEDULES[name](x, warm)) for x in places]
        for letter, name in zip("ABC", names, strict=True)
    }
    steps = chance.choice([20_000, 40_000, 100_000])

    def said(order):
        return "; ".join(f"{letter}: {name}" for letter, name in zip("ABC", order, strict=True))

    a, b, c = names
    ends = (warm**0.5, steps * warm)
    return Drawn(
        f"Three schedules over {steps:,} steps, all with the same top. Which is which? What tells "
        f"you? How long is the warm-up of those that have one? And how large is the paper's rate "
        f"at the end, as a share of its top?",
        f"The paper's never reaches zero and falls ever more slowly; the straight ones are drawn "
        f"with a ruler; constant is flat. The warm-up ends at {ends[1]:,.0f} steps, {warm:.0%} of "
        f"the whole. At the end the paper's rate is √({ends[1]:,.0f}/{steps:,}) = {ends[0]:.2f} of "
        f"its top.",
        marks=((2, "the option"), (1, "what tells"), (1, "the warm-up"), (1, "the share")),
        wrong="The paper's is the one that reaches zero.",
        reveals="1/√step falls without end; a rate that must be zero at the last step has to know "
        "beforehand which one that is.",
        picture=curves(
            "which_schedule_is_which", "Three curves of a learning rate", lines, "steps",
            "rate", 1.0, {0.0: "0", warm: f"{ends[1]:,.0f}", 1.0: f"{steps:,}"}, {1.0: "top"},
        ),
        **shuffled(chance, said([a, b, c]), said([b, a, c]), said([c, b, a]), said([b, c, a])),
    )  # fmt: skip


@_asked("The mean of means", points=5)
def the_mean_of_means(chance: Random) -> Drawn:
    """A loss a token, from batches of different sizes."""
    (n, a), (m, b) = chance.choice(
        [((100, 2.0), (300, 1.0)), ((50, 3.0), (150, 1.0)), ((20, 4.0), (80, 2.0)),
         ((100, 1.0), (400, 3.0))]
    )  # fmt: skip
    right = (n * a + m * b) / (n + m)
    return Drawn(
        f"Two batches have {n} and {m} tokens that count (padding left out); their mean losses are "
        f"{a:g} and {b:g} nats a token. What is the mean loss a token over both? What does the "
        f"mean of the two means say? In which batches does a token count for more than it should, "
        f"if gradients of means are added up?",
        f"({n} · {a:g} + {m} · {b:g}) / {n + m} = {right:g}. The mean of means: {(a + b) / 2:g}. A "
        f"token of a small batch counts for more: here 1/{n} of a batch against 1/{m}. Sums are "
        f"added, and divided once by the number of tokens.",
        marks=((2, "weighted by tokens"), (1, "the mean of means"), (2, "small batches, and why")),
        wrong=f"{(a + b) / 2:g}.",
        reveals="Batches are taken for equals; what is to be averaged is tokens.",
    )


CAPTIONS = (
    "two men are standing in front of a car",
    "a girl with brown hair plays on the beach",
    "the old man is reading some books in bed",
    "an orange cat sleeps on top of the wall",
)


@_asked("BLEU of one sentence", points=7)
def bleu_of_one_sentence(chance: Random) -> Drawn:
    """Clipped hits, their geometric mean, and what a short translation pays."""
    caption = chance.choice(CAPTIONS)
    wanted = caption.split()
    change, place = chance.choice(["left out", "twice", "another"]), chance.choice([2, 5, 6])
    said = list(wanted)
    said[place : place + 1] = {
        "left out": [], "twice": [wanted[place]] * 2, "another": ["green"]
    }[change]  # fmt: skip
    found = [n_grams(said, n) for n in (1, 2, 3, 4)]
    hits = [(f & n_grams(wanted, n)).total() for n, f in enumerate(found, 1)]
    shares = [h / f.total() for h, f in zip(hits, found, strict=True)]
    c, r = len(said), len(wanted)
    penalty = min(1.0, math.exp(1 - r / c))
    score, unpaid = corpus_bleu([" ".join(said)], [caption]), 100 * math.prod(shares) ** 0.25
    listed = ", ".join(f"{h}/{f.total()}" for h, f in zip(hits, found, strict=True))
    pays = f"e<sup>1 − {r}/{c}</sup> = {penalty:.3f}" if c < r else "1, since it is not too short"
    wrong, reveals = {
        "left out": (
            f"{unpaid:.1f}.",
            "Nothing is paid for the word that is missing: it must not pay to say little.",
        ),
        "twice": (
            f"All {c} words are hits, since each is in the other sentence.",
            "The counts are not clipped: a word that is written once there is found once.",
        ),
        "another": (
            f"{25 * sum(shares):.1f}, the mean of the four shares.",
            "The mean is the geometric one: a small share pulls all of it down.",
        ),
    }[change]
    return Drawn(
        f"A person has translated: *{caption}*. A model writes: *{' '.join(said)}*. How many of "
        f"the model's pieces of one, two, three and four words are hits, each time out of how "
        f"many? What is the brevity penalty, and what is BLEU, from 0 to 100? Somebody takes the "
        f"mean of all sentences' scores for the score of a test set. What does BLEU do instead?",
        f"{listed}. Penalty {pays}. BLEU is the fourth root of the product of the shares, times "
        f"the penalty, times 100: {score:.1f}. For a test set hits, pieces and words of all "
        f"sentences are added up first, and then divided once.",
        marks=((3, "the hits, each out of its number of pieces"), (1, "the penalty"),
               (2, "the geometric mean, and the score"), (1, "first added up, then divided")),
        wrong=wrong,
        reveals=reveals,
    )  # fmt: skip
