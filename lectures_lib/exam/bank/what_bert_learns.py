"""What does BERT learn? (chapters 16, 16b and 16c)."""

from random import Random

import torch

from lectures_lib.analysis.perturbed_masking import chain, uuas
from lectures_lib.exam.pictures import heat
from lectures_lib.exam.question import Drawn, Question, asked_in, row

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=16)


@_asked("A control for a probe", points=5, kind="explain")
def control_for_a_probe(chance: Random) -> Drawn:
    """Selectivity of two probes."""
    small, large = (0.92, chance.choice([0.55, 0.6])), (0.96, chance.choice([0.88, 0.9]))
    return Drawn(
        f"A linear probe finds parts of speech with {small[0]}, a large network with {large[0]}. "
        f"With control labels, drawn once at random for each word type, they reach {small[1]} and "
        f"{large[1]}. Which selectivity has each? Which number says more about the vectors?",
        f"{small[0]} − {small[1]} = {small[0] - small[1]:.2f} and {large[0]} − {large[1]} = "
        f"{large[0] - large[1]:.2f}. The large probe can learn words by heart, so its accuracy "
        f"says little about what the vectors hold; the linear one's says more.",
        marks=(
            (2, "both selectivities"),
            (3, "which says more, and why"),
        ),
        wrong="The better probe shows more of what the vectors hold.",
        reveals="Accuracy is credited to the vectors, although the probe has learned part of it"
        " by itself.",
    )


@_asked("From pieces to words", points=6)
def from_pieces_to_words(chance: Random) -> Drawn:
    """Attention between pieces becomes attention between words: sum to, mean from."""
    one, *word = chance.choice(
        [("birds", "flight", "##less"), ("dogs", "sleep", "##ing"), ("we", "un", "##do")]
    )
    weights = torch.tensor(
        chance.choice(
            [[[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.6, 0.2, 0.2]],
             [[0.4, 0.4, 0.2], [0.7, 0.2, 0.1], [0.3, 0.5, 0.2]],
             [[0.2, 0.7, 0.1], [0.4, 0.1, 0.5], [0.8, 0.1, 0.1]]]
        )
    )  # fmt: skip
    to = torch.tensor([[1.0, 0, 0], [0, 1, 1]])
    words = (to / to.sum(dim=-1, keepdim=True)) @ weights @ to.T
    pieces, whole = [one, *word], [one, "".join(word).replace("##", "")]
    return Drawn(
        f"A head's weights between three pieces; *{word[0]}* and *{word[1]}* are one word. Compute "
        f"the 2 × 2 table of weights between the two words. Which rule holds for the rows "
        f"(who looks), which for the columns (who is looked at), and why are they not the "
        f"same? How do you check the result?",
        f"What either piece is given, the word is given: columns are added. Each piece had a whole "
        f"unit to give: rows are averaged. {one}: {row(words[0])}; {whole[1]}: {row(words[1])}. "
        f"Each row still sums to 1.",
        marks=((3, "the four numbers"), (2, "sum to, mean from, with the reason"),
               (1, "rows sum to 1")),
        wrong="Rows and columns are both added.",
        reveals=f"Then the row of {whole[1]} sums to 2: a word of two pieces would have twice the "
        "attention to give.",
        picture=heat("from_pieces_to_words", "Weights between three pieces", weights, pieces,
                     pieces),
        solved=heat("from_pieces_to_words_solved", "Weights between two words", words, whole,
                    whole),
    )  # fmt: skip


@_asked("Does the head know grammar?", points=6, kind="explain")
def does_the_head_know_grammar(chance: Random) -> Drawn:
    """A head that hits subjects, held against a fixed offset."""
    n = 8
    distances = chance.choice([(1, 1, 1, 2, 3), (1, 1, 2, 1, 3), (1, 2, 1, 1, 4)])
    hits = chance.choice([(1, 1, 1, 0, 1), (1, 1, 0, 1, 1), (1, 1, 1, 1, 0)])
    offset = max(set(distances), key=distances.count)
    most = distances.count(offset)
    head = sum(hits)
    far = sum(h for h, d in zip(hits, distances, strict=True) if d != offset)
    lines = "; ".join(
        f"distance {d}: {'right' if h else 'wrong'}" for h, d in zip(hits, distances, strict=True)
    )
    return Drawn(
        f"In five sentences a head looks from the verb, and should find its subject. For "
        f"each, here is how many words before the verb the subject stood, and whether the head "
        f"found it: {lines}. How often was the head right? How often is a rule right that always "
        f"looks {offset} to the left? Which cases speak for the head? It was chosen on these five, "
        f"as the best of {n * 9} heads: what is wrong with that?",
        f"The head {head}/5, the rule {most}/5. For the head speak the cases in which the subject "
        f"is not at {offset}: it found {far} of {5 - most}. The best of many heads owes "
        f"a part of its score to luck; even among untrained heads one would look good. A head must "
        f"be chosen on some sentences and counted on others.",
        marks=((2, "both shares"), (2, "the other distances"), (2, "chosen and counted on the "
               "same sentences")),
        wrong=f"With {head} of 5 the head knows what a subject is.",
        reveals="A share is read without a baseline: where most subjects stand at one "
        "distance, a habit of place does as well.",
    )  # fmt: skip


# Sentences and the links of their trees: the place of each word's governor, None at the root.
TREES = {
    "the old farmer sold his horse": (2, 2, 3, None, 5, 3),
    "a dog with long ears barks": (1, 5, 4, 4, 1, None),
    "she gave the child a book": (1, None, 3, 1, 5, 1),
    "the letter from my aunt was lost": (1, 6, 4, 4, 1, 6, None),
    "we read very old books": (1, None, 3, 4, 1),
}


def _relinked(links: set[tuple[int, int]], n: int, chance: Random) -> set[tuple[int, int]]:
    """The tree with one link taken away and its two parts joined by another."""
    taken = chance.choice(sorted(links))
    kept, part = links - {taken}, {taken[0]}
    for _ in range(n):
        part |= {x for link in kept if part & set(link) for x in link}
    between = [
        (i, j) for i in range(n) for j in range(i + 1, n)
        if (i in part) != (j in part) and (i, j) != taken
    ]  # fmt: skip
    return kept | {chance.choice(between)}


@_asked("A tree beside a chain", points=6)
def a_tree_beside_a_chain(chance: Random) -> Drawn:
    """UUAS of a probe's tree and of chained neighbours."""
    sentence = chance.choice(sorted(TREES))
    words, n = sentence.split(), len(TREES[sentence])
    gold = {tuple(sorted((i, j))) for i, j in enumerate(TREES[sentence]) if j is not None}
    tree = gold
    for _ in range(chance.choice([1, 2, 3])):
        tree = _relinked(tree, n, chance)
    right, chained = (round(uuas([links], [gold]) * (n - 1)) for links in (tree, chain(n)))

    def said(links):
        return ", ".join(f"{words[i]}–{words[j]}" for i, j in sorted(links))

    verdict = (
        "The probe is ahead" if right > chained else
        "The two are level" if right == chained else "The probe is behind"
    )  # fmt: skip
    return Drawn(
        f"*{sentence}*: in the treebank the links are {said(gold)}. A structural probe, "
        f"trained on the vectors of a middle layer, gives {said(tree)}. Which UUAS has the probe's "
        f"tree, and which the chain that links neighbours? What does this sentence show? On many "
        f"sentences the probe has 0.70 and the chain 0.53: name two things that must be measured "
        f"beside it before one says that the model had the trees.",
        f"The probe {right}/{n - 1} = {right / (n - 1):.2f}; the chain has "
        f"{said(chain(n) & gold)}: {chained}/{n - 1} = {chained / (n - 1):.2f}. {verdict}, but one "
        f"sentence shows nothing. The same kind of matrix is trained on the embeddings, which know "
        f"no neighbours, and on an untrained network, or on tags and places; and all are counted "
        f"on sentences on which no matrix was trained.",
        marks=((1, "the probe's tree"), (2, "the chain"), (1, "one sentence"),
               (2, "two of: embeddings, an untrained network, tags and places, other sentences")),
        wrong=f"{right} of {n - 1} is a lot, since a tree that knows nothing would find none.",
        reveals=f"One that knows only the order of the words finds {chained} of them: many words "
        f"hang on a neighbour.",
    )  # fmt: skip
