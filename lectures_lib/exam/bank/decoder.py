"""The decoder (chapter 6)."""

from random import Random

from lectures_lib.exam import pictures
from lectures_lib.exam.question import Drawn, Question, asked_in

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=6)


@_asked("Where do Q, K and V come from?", points=5, kind="explain")
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


@_asked("One to the right", points=5, kind="explain")
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


@_asked("A mask to be filled in", points=6)
def a_mask_to_be_filled_in(chance: Random) -> Drawn:
    """The masks of cross-attention and of the decoder's own, from one batch with padding."""
    words = chance.randint(2, 3)
    padded = chance.randint(1, 2)
    source = ["ein", "Hund", "bellt"][:words] + ["PAD"] * padded
    target = ["BEGIN", "a", *["dog"] * chance.randint(0, 1), "PAD"]
    cross = [[word == "PAD" for word in source] for _ in target]
    own = [[j > i or word == "PAD" for j, word in enumerate(target)] for i in range(len(target))]
    ones = sum(not hidden for line in cross for hidden in line)
    return Drawn(
        f"The source has {words} words and is filled up to {len(source)}; the target, filled up to "
        f"{len(target)}, is read by the decoder while it trains. Hatch the cells "
        f"of *cross-attention* that must be hidden. How many stay open? Why is there no triangle? "
        f"Which cells would be open in the decoder's own self-attention in the row *a*?",
        f"Hidden {'is the column' if padded == 1 else 'are the columns'} of PAD, in every row; "
        f"{ones} cells stay open. The source is there as a whole before the first word is written, "
        f"so nothing in it is the future. In its own self-attention *a* sees "
        f"{' and '.join(w for w, h in zip(target, own[1], strict=True) if not h)}.",
        marks=((3, "the mask"), (1, "the open cells"), (1, "the source is no future"),
               (1, "the row of a: itself and what stands before")),
        wrong="The upper triangle is hidden, too.",
        reveals="Causality is taken for a property of the decoder; it belongs to what is "
        "still to be written.",
        picture=pictures.mask(
            "a_mask_to_be_filled_in", "An empty mask of cross-attention", target, source
        ),
        solved=pictures.mask(
            "a_mask_to_be_filled_in_solved", "The mask of cross-attention", target, source, cross
        ),
    )  # fmt: skip


@_asked("A loss too low", points=6, kind="find the bug")
def a_loss_that_falls_to_nothing(chance: Random) -> Drawn:
    """A training step that forgets the shift, or counts padding."""
    shift = chance.random() < 0.5
    code = [
        "import torch.nn.functional as F",
        "",
        "def loss(model, source, target, pad):",
        '    """target (batch, m): BEGIN, the words, END, then pad."""',
        "    read, predicted = target[:, :-1], target[:, 1:]",
        "    logits = model(source, read)  # (batch, m - 1, vocab)",
        "    return F.cross_entropy(",
        "        logits.flatten(0, 1), predicted.flatten(), ignore_index=pad",
        "    )",
    ]
    if shift:
        line, mended = 5, code[4]
        code[4] = "    read, predicted = target[:, :-1], target[:, :-1]"
        says = (
            "At each place the model reads the very token that it must predict; the loss falls "
            "to nearly 0, the model has learned to copy, and what it writes alone is no translation"
        )
        test = "what the model writes by itself; or that `read` and `predicted` differ by one place"
    else:
        line, mended = 8, code[7]
        code[7] = "        logits.flatten(0, 1), predicted.flatten()"
        says = (
            "Predicting pad behind END is easy and counts as much as a word: the loss looks low, "
            "the more so the more a batch is filled up, and the words' share of it shrinks"
        )
        test = (
            "the loss of one sentence before and after more columns of pad are added behind it, "
            "which must not differ"
        )
    return Drawn(
        "The training loss of a translator is suspiciously low. One line is wrong. Which, and how "
        "should it read? What does the model learn, and which test shows the mistake?",
        f"{says}. A test: {test}.",
        marks=((2, "the line"), (1, "mended"), (2, "what is learned"), (1, "a test")),
        wrong="The model is overfitting.",
        reveals="A loss that is low is explained by learning too well, before asking whether the "
        "task is the right one.",
        code="\n".join(code), line=line, mended=mended,
    )  # fmt: skip
