"""BERT's body (chapter 12)."""

from random import Random

from lectures_lib.exam.pictures import table
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


@_asked("What goes in", points=6)
def what_goes_in(chance: Random) -> Drawn:
    """The row of a pair: tokens, segments, positions, mask."""
    texts = (["it", "rains"], ["we", "stay", "in"], ["why", "?"], ["he", "runs"])
    first, second = chance.sample(texts, 2)
    used = len(first) + len(second) + 3
    n = used + chance.randint(1, 2)
    tokens = ["[CLS]", *first, "[SEP]", *second, "[SEP]", *["[PAD]"] * (n - used)]
    border = len(first) + 2
    segments = ["0"] * border + ["1"] * (used - border) + ["0"] * (n - used)
    rows = {
        "token": tokens,
        "segment": segments,
        "position": [str(i) for i in range(n)],
        "mask": ["1"] * used + ["0"] * (n - used),
    }
    colours = ["key", "encoder", "position", "mask"]
    return Drawn(
        f"*{' '.join(first)}* and *{' '.join(second)}* go into BERT as a pair, each word one "
        f"piece, filled up to {n}. Fill in the table (mask: 1 = may be looked at). How "
        f"many vectors are added up for each token, and what is done with the sum? A "
        f"slide says that the segment's vector is all zeros for the first and all "
        f"ones for the second. What would be left of it then?",
        "See the table (the segment of a [PAD] does not matter; it is 0 by custom). Three vectors, "
        "all learned; the sum goes through a LayerNorm. A vector of ones would leave nothing: "
        "LayerNorm subtracts the mean, and with it what was added to every component alike.",
        marks=((3, "tokens, segments, positions, mask; one off for each wrong row"),
               (1, "three, then LayerNorm"), (2, "ones vanish in the norm, with the reason")),
        wrong="The second sentence's positions begin at 0 again.",
        reveals="The pair is taken for two inputs; it is one row of tokens, and its parts are told "
        "apart by [SEP] and the segments, not by the positions.",
        picture=table("what_goes_in", "The input of BERT, to be filled in",
                      {label: [""] * n for label in rows}, colours),
        solved=table("what_goes_in_solved", "The input of BERT", rows, colours),
    )  # fmt: skip


@_asked("To the left and to the right", points=5, kind="explain")
def to_the_left_and_to_the_right(chance: Random) -> Drawn:
    """Why an encoder may look to both sides, and what that costs."""
    word, sentence, clue = chance.choice(
        [
            ("bank", "The bank was closed, so we swam from the other side of the river", "river"),
            ("light", "The light bag cost more than the heavy one", "bag* or *heavy"),
            ("bat", "The bat was gone when he came back, and so was the ball", "ball"),
        ]
    )
    return Drawn(
        f"*{sentence}.* Explain in three sentences why BERT's vector at *{word}* can know which "
        f"{word} it is and a left-to-right model's cannot, why BERT is not trained to predict the "
        f"next word, and what it cannot do in return.",
        f"What decides is *{clue}*, which stands to the right of *{word}*: without a causal mask "
        f"{word} looks there, with one it cannot, in no layer. If every word saw the next "
        f"one, predicting it would be copying, so BERT hides words and predicts those. It cannot "
        f"write: it never learned to tell the next word from the words before alone, and each "
        f"new word would change all vectors.",
        marks=(
            (2, "a clue to the right, and the mask hides it in every layer"),
            (2, "next-word prediction would be copying; hence holes"),
            (1, "no writing from left to right"),
        ),
        wrong="The left-to-right model knows it as soon as it has read on.",
        reveals="The later words' vectors may know; the vector at this word was made before and is "
        "not revised.",
    )
