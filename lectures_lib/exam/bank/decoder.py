"""The decoder (chapter 6)."""

from random import Random

from lectures_lib.exam.question import Drawn, Question, asked_in

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=6)


@_asked("Where do Q, K and V come from?", points=5)
def where_from(chance: Random) -> Drawn:
    """The three attentions of a Transformer and their shapes."""
    n, m = chance.sample([5, 7, 9, 12], 2)
    return Drawn(
        f"The source has {n} words, the target so far {m}. For each of the three attentions of a "
        f"Transformer say where queries, keys and values come from, which masks apply, and what "
        f"shape the table of weights has.",
        f"Encoder self-attention: all three from the source, padding mask, {n} × {n}. Decoder "
        f"self-attention: all three from the target, causal mask (and padding), {m} × {m}. "
        f"Cross-attention: queries from the decoder, keys and values from the encoder's output, "
        f"the source's padding mask, {m} × {n}.",
        marks=(
            (1, "the encoder's attention"),
            (2, "the decoder's own, with the causal mask"),
            (2, "cross-attention: who asks, and its shape"),
        ),
        wrong="Cross-attention takes its queries from the encoder.",
        reveals="Who writes asks: each target word looks for what it needs in the source.",
    )


@_asked("One to the right", points=5)
def one_to_the_right(chance: Random) -> Drawn:
    """Input and target of a decoder in training."""
    word = chance.choice(["cat", "sun", "map"])
    read, predicted = ["BEGIN", *word], [*word, "END"]
    return Drawn(
        f'A decoder learns to write "{word}", letter by letter. What does it read, and what must '
        f"it predict at each place? What will the training loss do if the two are not shifted "
        f"against each other, and what does the model write then?",
        f"It reads {', '.join(read)} and predicts {', '.join(predicted)}. Without the shift it is "
        f"shown at each place what it has to predict: the loss goes to zero, nothing is learned, "
        f"and in use, where it reads what it wrote, it can only repeat what it is given.",
        marks=(
            (2, "what is read and what is predicted"),
            (1, "the loss falls to zero"),
            (2, "nothing is learned, and why it shows only in use"),
        ),
        wrong="The loss stays high, because the task is impossible.",
        reveals="The other way round: unshifted, the answer is in the input.",
    )
