"""BERT's body (chapter 12)."""

from random import Random

from lectures_lib.exam.question import Drawn, Question, asked_in

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=12)


@_asked("BERT, counted", points=7)
def bert_counted(chance: Random) -> Drawn:
    """The embeddings' share of BERT."""
    vocab, d, layers = 30_522, *chance.choice([(768, 12), (1024, 24)])
    embeddings = (vocab + 512 + 2) * d + 2 * d
    block = 12 * d * d + 13 * d
    total = embeddings + layers * block + d * d + d
    return Drawn(
        f"BERT has {vocab:,} word pieces, 512 positions, 2 segments, {layers} layers, d_model = "
        f"{d}, d_ff = 4 · d_model, biases everywhere, a norm after the embeddings and a pooler "
        f"(one square matrix with bias). How many parameters has it, to the nearest million? Which "
        f"share are word vectors?",
        f"Embeddings with their norm {embeddings:,}; a block 12 d² + 13 d = {block:,}, {layers} of "
        f"them {layers * block:,}; pooler {d * d + d:,}. Together {total:,}, about "
        f"{total / 1e6:.0f} million; word vectors {vocab * d / total:.0%}.",
        marks=(
            (2, "the three embeddings"),
            (3, "a block, with biases and norms"),
            (1, "the sum"),
            (1, "the share"),
        ),
        wrong="The output layer's matrix is added.",
        reveals="It is the matrix of the word vectors, used a second time; the question has no "
        "masked-word head either.",
    )
