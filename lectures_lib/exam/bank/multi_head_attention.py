"""Several heads (chapter 3)."""

from random import Random

import torch

from lectures_lib.exam.pictures import heads
from lectures_lib.exam.question import Drawn, Question, asked_in, shuffled
from lectures_lib.show.drawings.canvas import Canvas

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=3)


@_asked("Shapes of heads", points=6)
def shapes_of_heads(chance: Random) -> Drawn:
    """Shapes from the input to the output, and the parameters."""
    h = chance.choice([4, 8, 12])
    d = h * chance.choice([16, 32, 64])
    batch, n = chance.choice([2, 8]), chance.choice([10, 24])
    return Drawn(
        f"Multi-head attention with h = {h} and d_model = {d} reads a batch of {batch} sentences "
        f"of {n} words. Give the shapes of Q after the projection, of Q cut into heads, of the "
        f"weights and of the output. How many parameters have the four matrices, without biases?",
        f"({batch}, {n}, {d}); ({batch}, {h}, {n}, {d // h}); ({batch}, {h}, {n}, {n}); "
        f"({batch}, {n}, {d}). Parameters: 4 · {d}² = {4 * d * d:,}, whatever h is.",
        marks=(
            (4, "one for each shape"),
            (2, "four square matrices, with their number"),
        ),
        wrong="The parameters are multiplied by h once more.",
        reveals="Heads are thought to be added; they are a cut of one projection, d_model / h "
        "columns each.",
    )


@_asked("One head or two", points=5, kind="predict")
def one_head_or_two(chance: Random) -> Drawn:
    """Why averages cannot replace concatenation."""
    a, b = chance.sample([(1, 0), (0, 1), (1, 1)], 2)
    mean = [(x + y) / 2 for x, y in zip(a, b, strict=True)]
    return Drawn(
        f"The word on the left has the value {a}, the one on the right {b}. One head gives each "
        f"half of its attention. Two heads look left and right. Write down the results, and those "
        f"with left and right exchanged. Which can tell the two sentences apart?",
        f"One head: {tuple(mean)} both times. Two heads: {a + b}, and exchanged {b + a}. Only "
        f"what is put side by side still tells who was where.",
        marks=(
            (2, "the single head, equal both times"),
            (2, "two heads, and exchanged"),
            (1, "only what is put side by side tells"),
        ),
        wrong="Two heads give the mean of both values, too.",
        reveals="Concatenation is taken for averaging; the heads' outputs get places of their own.",
    )


HABITS = {
    "looks at the word before": lambda n: torch.eye(n).roll(-1, dims=1).tril(-1) * 0.8 + 0.2 / n,
    "rests on the first token": lambda n: torch.eye(n)[[0] * n] * 0.7 + 0.3 / n,
    "looks at the word itself": lambda n: torch.eye(n) * 0.8 + 0.2 / n,
    "spreads its attention evenly": lambda n: torch.full((n, n), 1 / n),
    "looks at the next word": lambda n: torch.eye(n).roll(1, dims=1).triu(1) * 0.8 + 0.2 / n,
}


@_asked("Which head is it?", points=5, kind="choose and justify")
def which_head_is_it(chance: Random) -> Drawn:
    """Three tables of weights and their habits."""
    words = ["[CLS]", "the", "dog", "sleeps", "[SEP]"]
    first = "rests on the first token"  # always there: it is asked about
    habits = chance.sample([first, *chance.sample([h for h in HABITS if h != first], 2)], 3)
    tables = {}
    for letter, habit in zip("ABC", habits, strict=True):
        made = HABITS[habit](len(words))
        tables[letter] = made / made.sum(dim=-1, keepdim=True)

    def said(order):
        return ", ".join(f"{x}: {habit}" for x, habit in zip("ABC", order, strict=True))

    a, b, c = habits
    evidence = (
        "A row is a query. In the maps read down the rows: a line beside the diagonal is a step "
        "by one word (below it: the word before), the diagonal is the word itself, "
        "a full column is one token for all, and bars of equal length are no choice at all."
    )
    return Drawn(
        "Three heads read the same sentence; the longer a bar, the larger the weight. Which head "
        "has which habit? Say for each what in its map shows it. Why may a full column at "
        "[CLS] mean that the head has nothing to report?",
        f"{evidence} A row must sum to 1, so a head that finds nothing has to put its "
        f"attention somewhere, and [CLS] is always there.",
        marks=((3, "the option, with what shows it in each map"),
               (2, "rows sum to 1: attention must go somewhere")),
        wrong="Two heads are exchanged.",
        reveals="Rows and columns are exchanged: the row asks, the column is looked at.",
        picture=heads("which_head_is_it", tables, words),
        **shuffled(chance, said([a, b, c]), said([b, a, c]), said([c, b, a]), said([b, c, a])),
    )  # fmt: skip


@_asked("Cut by view alone", points=6, kind="predict")
def cut_by_view_alone(chance: Random) -> Drawn:
    """What the heads hold after a view without a transpose."""
    n, h = chance.choice([(4, 2), (6, 2), (6, 3)])
    start = chance.choice([0, 1, 10])
    x = torch.arange(start, start + n * 2 * h).view(n, 2 * h)
    wrong, right = x.view(h, n, 2), x.view(n, h, 2).transpose(0, 1)
    share = n // h
    words = [f"word {i}" for i in range(n)]
    picture = Canvas(
        "exam_cut_by_view_alone", 130 + 52 * 2 * h, 40 + 32 * n,
        "The queries of all words, numbered entry by entry",
        f"A matrix of {n} rows, one for each word, and {2 * h} columns. "
        + "; ".join(f"word {i}: {', '.join(map(str, r))}" for i, r in enumerate(x.tolist()))
        + ".",
        "",
    )  # fmt: skip
    cells = [[str(number) for number in r] for r in x.tolist()]
    picture.matrix(96, 20, cells, (52, 32), "query", rows=words)
    held = "; ".join(str(tuple(r)) for r in wrong[0].tolist())
    wanted = "; ".join(str(tuple(r)) for r in right[0].tolist())
    return Drawn(
        f"Q for {n} words, width {2 * h}, is to be cut into {h} heads. What does head 0 hold "
        f"after `Q.view({h}, {n}, 2)`, and what should it hold? Write down both, row by row, and "
        f"the line that is right. With a causal mask, and joined by view again, which outputs move "
        f"with the wrong cut when word 0 is changed?",
        f"It holds {held}: the whole of words 0 to {share - 1}. It should hold {wanted}: two "
        f"numbers of each word, `Q.view({n}, {h}, 2).transpose(0, 1)`. Words 0 to {share - 1} are "
        f"alone in head 0, so a change of word 0 can reach no output after word {share - 1}; with "
        f"the right cut it reaches all {n}.",
        marks=((2, "what view makes"), (2, "what is wanted, and the line"),
               (2, "outputs 0 to n / h - 1 at most, not all")),
        wrong="Head 0 holds the first two columns.",
        reveals="That is the wish. `view` moves no number; it reads on, row by row.",
        picture=picture,
    )  # fmt: skip
