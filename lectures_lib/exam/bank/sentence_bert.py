"""Sentence-BERT (chapter 17)."""

from random import Random

import torch

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
        f"are the same text?",
        f"Row by row −ln of the right one's share: {row(loss, 3)}, mean {loss.mean():.3f}. With "
        f"equal second sentences both columns are alike, each share is ½ and each loss ln 2 = "
        f"0.693, however good the vectors are: copies must be left out.",
        marks=(
            (3, "both losses, row by row"),
            (1, "their mean"),
            (3, "½, ln 2, and what follows"),
        ),
        wrong="The softmax runs over all four cosines.",
        reveals="A row is one question with its candidates; the other row is another question.",
    )
