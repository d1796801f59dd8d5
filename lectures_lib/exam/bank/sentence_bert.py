"""Sentence-BERT (chapter 17)."""

from random import Random

import torch

from lectures_lib.exam.pictures import heat
from lectures_lib.exam.question import Drawn, Question, asked_in, row

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=17)


@_asked("The others are the wrong answers", points=7)
def in_batch_negatives(chance: Random) -> Drawn:
    """The contrastive loss of two pairs."""
    scale = chance.choice([5, 10])
    cosines = torch.tensor([[0.9, 0.5], [0.6, chance.choice([0.8, 0.7])]])
    loss = torch.nn.functional.cross_entropy(scale * cosines, torch.arange(2), reduction="none")
    return Drawn(
        f"Two pairs of sentences have the cosines {row(cosines[0], 1)} (first sentence of pair 1 "
        f"with both second sentences) and {row(cosines[1], 1)} (of pair 2). Compute the loss with "
        f"in-batch negatives, cosines times {scale}. What happens to it if both second sentences "
        f"are the same text, and what should be done about it?",
        f"Row by row −ln of the right one's share: {row(loss, 3)}, mean {loss.mean():.3f}. With "
        f"equal second sentences both columns are alike, each share is ½ and each loss ln 2 = "
        f"0.693, however good the vectors are. By itself this floor does no harm, pull and push "
        f"cancel; copies are best left out of each other's rows.",
        marks=(
            (3, "both losses, row by row"),
            (1, "their mean"),
            (3, "½, ln 2, and what is done about copies"),
        ),
        wrong="The softmax runs over all four cosines.",
        picture=heat(
            "in_batch_negatives",
            "Cosines of two pairs of sentences",
            cosines,
            ["first of pair 1", "first of pair 2"],
            ["second of pair 1", "second of pair 2"],
        ),
        reveals="A row is one question with its candidates; the other row is another question.",
    )


@_asked("Who finds the partner?", points=5)
def who_finds_the_partner(chance: Random) -> Drawn:
    """Recall at 1 and the mean reciprocal rank, from a table of cosines."""
    rows = chance.choice(
        [
            [[9, 3, 2, 1], [6, 5, 1, 2], [1, 2, 8, 4], [7, 5, 6, 4]],
            [[4, 6, 2, 1], [2, 7, 1, 3], [5, 6, 3, 1], [1, 2, 3, 9]],
            [[8, 1, 2, 3], [7, 4, 6, 5], [2, 1, 9, 3], [1, 2, 6, 5]],
        ]
    )
    order = chance.sample(range(4), 4)
    cosines = torch.tensor([[rows[i][j] / 10 for j in order] for i in order])
    ranks = [1 + int((line > line[i]).sum()) for i, line in enumerate(cosines)]
    first = ranks.count(1)
    mean = sum(1 / r for r in ranks) / 4
    return Drawn(
        "Four questions are compared with four answers; answer *i* belongs to question *i*. Which "
        "rank has the right answer for each question? For how many does it stand first, and what "
        "is the mean of 1/rank? Why does the size of the cosines, all of them plus 0.05, say, "
        "not matter here?",
        f"Ranks {', '.join(map(str, ranks))}. First for {first} of 4; the mean of "
        f"{', '.join(f'1/{r}' for r in ranks)} is {mean:.3f}. Only the order within a row counts, "
        f"and it stays.",
        marks=((2, "the ranks, row by row"), (2, "both measures"), (1, "only the order counts")),
        wrong="The ranks are counted down the columns.",
        reveals="Who searches is the question; its row is the list that it is shown.",
        picture=heat("who_finds_the_partner", "Cosines of four questions and four answers",
                     cosines, [f"question {i}" for i in range(1, 5)],
                     [f"answer {i}" for i in range(1, 5)]),
    )  # fmt: skip


@_asked("Padding in the mean", points=6, kind="find the bug")
def padding_in_the_mean(chance: Random) -> Drawn:
    """Mean pooling that divides by the wrong number, or sums too much."""
    code = [
        "def mean_vector(hidden, mask):",
        '    """hidden (batch, n, d); mask (batch, n): 1 = a token, 0 = padding."""',
        "    mask = mask.unsqueeze(-1).to(hidden.dtype)",
        "    total = (hidden * mask).sum(dim=1)",
        "    number = mask.sum(dim=1)",
        "    return total / number",
    ]
    if chance.random() < 0.5:
        line, bad, scale = 5, "    number = hidden.shape[1]", True
        wrong = "It does not matter, as padded places are zero in the sum."
        reveals = "The sum is right; it is divided by places that are not in it."
    else:
        line, bad, scale = 4, "    total = hidden.sum(dim=1)", False
        wrong = "It does not matter, as padding is zero."
        reveals = (
            "The input's padding is taken for the output's: behind the encoder a padded place "
            "has a vector like any other."
        )
    mended, code[line - 1] = code[line - 1], bad
    n, filled = chance.choice([(2, 8), (3, 6), (5, 10)])
    says = (
        f"It divides by all places. A sentence of {n} tokens filled up to {filled} gets its mean "
        f"times {n}/{filled} = {n / filled:.2f}. Its direction is right, so cosines do not notice; "
        f"dot products, distances and (u, v, |u − v|) do"
        if scale
        else f"The vectors at padded places are added too. For {n} tokens filled up to {filled} "
        f"{filled - n} foreign vectors are in the sum, which is then divided by {n}: direction "
        f"and length are wrong, and so are cosines"
    )
    return Drawn(
        f"One line of this pooling is wrong. Which, and how should it read? What happens to a "
        f"sentence of {n} tokens that is filled up to {filled}? Do cosines notice? Name a test.",
        f"{says}. A test: a sentence must get the same vector alone and in a batch.",
        marks=((2, "the line"), (1, "mended"), (2, "what happens, and whether cosines notice"),
               (1, "a test")),
        wrong=wrong,
        reveals=reveals,
        code="\n".join(code), line=line, mended=mended,
    )  # fmt: skip
