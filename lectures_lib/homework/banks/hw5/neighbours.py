"""Question 7: pairs that follow each other, and pairs that do not."""

from functools import partial
from itertools import pairwise

import torch
from torch import Generator

from lectures_lib.homework.banks.inputs import pick, whole
from lectures_lib.homework.banks.telling import showing, telling
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

PAIRS = "a pair for each sentence with a successor: that one, or a drawn one, as the coin says"
ALIKE = "also where documents or sentences are alike, or one stands alone, or a coin shows just 0.5"


def _cases(g: Generator) -> list[Case]:
    later = [mistake.answer for mistake in _MISTAKES if mistake.name in _OF_ODD_ONES]
    answers = [mistake.answer for mistake in _MISTAKES]
    common = [answer for answer in answers if answer not in later]
    plain = showing(g, _plain, next_sentence_pairs, common, [*later, *_ODD_SLIPS])
    cases = telling(g, _draw, next_sentence_pairs, answers, _SLIPS, always=plain)
    return [*plain, *cases[: -len(plain)]]


def _plain(g: Generator) -> list[Case]:
    """Documents of several sentences, no two of them alike."""
    cases = []
    for n_documents in (3, 4):
        documents = [
            [f"{letter}{i}" for i in range(whole(g, 2, 6))] for letter in "ABCD"[:n_documents]
        ]
        n_draws = sum(map(len, documents)) + 2
        draws = torch.rand(n_draws, 3, generator=g, dtype=torch.float64).tolist()
        told = ", ".join(str(len(document)) for document in documents)
        cases.append(Case((documents, draws), shows=f"documents of {told} different sentences"))
    return cases


def _draw(g: Generator) -> list[Case]:
    cases = []
    for n_documents in (3, 4, 2):
        documents = [
            [f"{letter}{i}" for i in range(whole(g, 2, 6))] for letter in "ABCDE"[:n_documents]
        ]
        if n_documents > 2:
            documents[whole(g, 0, n_documents - 1)] = ["Z0"]  # a document without a pair
        # one text that is there twice, and one in which a sentence comes again
        if n_documents == 4:
            twin, other, again = pick(
                g, [document for document in documents if len(document) > 1], 3
            )
            other[:] = twin
            again[:] = [f"{again[0][0]}{i}" for i in (0, 1, 0, 2)]
        n_sentences = sum(map(len, documents))
        draws = torch.rand(n_sentences + 2, 3, generator=g, dtype=torch.float64).tolist()
        draws[whole(g, 0, n_sentences - n_documents - 1)][0] = 0.5  # just not below 0.5
        shows = f"documents of {', '.join(str(len(document)) for document in documents)} sentences"
        cases.append(Case((documents, draws), shows=shows, demands=(ALIKE,)))
    return cases


Pairs = list[tuple[str, str, int]]


def next_sentence_pairs(documents: list[list[str]], draws: list[list[float]]) -> Pairs:
    """(first, second, label) for every sentence that has a successor; the label is 1 where the
    second was drawn.
    """
    return _pairs(documents, draws)


def _pairs(
    documents,
    draws,
    own=False,
    labels=(0, 1),
    is_next=lambda coin: coin < 0.5,
    step=1,
    after_random=1,
    restart=False,
    sparing=False,
    u_at=1,
    v_at=2,
    from_all=0,
    first_only=False,
    neighbour=False,
    last_too=False,
    drawn_first=False,
    cut_last=False,
    rest=lambda documents, number: documents[number + 1 :],
    among=None,
    successor=lambda document, i: document[i + 1],
    place=lambda u, m: int(u * m),
    instead=None,
    by_own_length=None,
):
    pairs, used = [], 0
    for number, document in enumerate(documents):
        others = documents if own else documents[:number] + rest(documents, number)
        others = among(documents, number) if among else others
        others = documents if instead else others
        i, of_this = 0, 0
        while i < len(document) - (0 if last_too else 2 if cut_last else 1):
            draw = draws[of_this if restart else used]
            coin, u, v = draw[0], draw[u_at], draw[v_at]
            used, of_this = used + 1, of_this + 1
            if is_next(coin) and i + 1 < len(document):
                pairs.append((document[i], successor(document, i), labels[0]))
                used -= sparing
                i += step
                continue
            if from_all:
                sentences = [sentence for other in others for sentence in other]
                second = sentences[place(draw[from_all], len(sentences))]
            else:
                drawn = place(u, len(others))
                if instead and drawn == number:
                    drawn = (drawn + instead) % len(documents)
                other = documents[(number + 1) % len(documents)] if neighbour else others[drawn]
                second = other[0 if first_only else place(v, len(other))]
                if by_own_length:
                    second = other[by_own_length(int(v * len(document)), len(other))]
            pairs.append(
                (second, document[i], labels[1])
                if drawn_first
                else (document[i], second, labels[1])
            )
            i += max(step, after_random)
    return pairs


def _over_the_borders(documents, draws):
    """All sentences in one row: the last of a document is followed by the first of the next."""
    row = [(sentence, number) for number, document in enumerate(documents) for sentence in document]
    pairs = []
    for ((first, number), (second, _)), (coin, u, v) in zip(pairwise(row), draws, strict=False):
        others = documents[:number] + documents[number + 1 :]
        other = others[int(u * len(others))]
        pairs.append((first, second, 0) if coin < 0.5 else (first, other[int(v * len(other))], 1))
    return pairs


def _a_draw_for_each_sentence(documents, draws):
    """The last sentence of a document, which begins no pair, uses up a draw as well."""
    pairs, used = [], 0
    for number, document in enumerate(documents):
        others = documents[:number] + documents[number + 1 :]
        for (first, second), (coin, u, v) in zip(pairwise(document), draws[used:], strict=False):
            other = others[int(u * len(others))]
            pairs.append(
                (first, second, 0) if coin < 0.5 else (first, other[int(v * len(other))], 1)
            )
        used += len(document)
    return pairs


def _numbers_one_by_one(documents, draws):
    """One number is used up where the next sentence is taken, three where one is drawn."""
    pairs, numbers = [], iter([number for draw in draws for number in draw])
    for number, document in enumerate(documents):
        others = documents[:number] + documents[number + 1 :]
        for first, second in pairwise(document):
            if next(numbers) < 0.5:
                pairs.append((first, second, 0))
                continue
            other = others[int(next(numbers) * len(others))]
            pairs.append((first, other[int(next(numbers) * len(other))], 1))
    return pairs


def _grouped(documents, draws):
    pairs, done = next_sentence_pairs(documents, draws), 0
    groups = []
    for document in documents:
        groups.append(pairs[done : done + len(document) - 1])
        done += len(document) - 1
    return groups


_NOT_ALL = (
    "Pairs are missing. Every sentence that has a successor in its document is the first of a "
    "pair, also one that was the second of the pair before."
)
_COIN_ORDER = (
    "You have swapped the last two numbers of a draw: the first of them, u, decides which "
    "document, the second, v, which of its sentences."
)
_INVERTED = (
    "You draw where the coin is below 0.5 and take the next sentence above. It is the other way "
    "round. (The shares would be the same, but here the coins are given, so the result is, too.)"
)
_INSTEAD = (
    "You draw from all documents, and where the draw falls on the sentence's own you take the one "
    "beside it, which then comes twice as often as the others. Take the document out before you "
    "draw: of documents[:i] + documents[i + 1 :], all are equally likely."
)
_ALL_SENTENCES = (
    "You put the sentences of all other documents in one row and draw one of them with a single "
    "number. Here a document is drawn first, with u, and then one of its sentences, with v."
)
_MISTAKES = (
    Misconception(
        "own_document_drawn",
        "You draw from all documents, the sentence's own among them. A 'random' second sentence "
        "can then be the next one, or one from the same story, and it is labelled as foreign. Take "
        "the document out before you draw.",
        partial(_pairs, own=True),
    ),
    Misconception(
        "twins_left_out",
        "You leave out every document that *equals* this one. Two documents may have the same text "
        "and are two all the same: all but this one are lined up, and which that is, its number "
        "says: documents[:i] + documents[i + 1 :].",
        partial(
            _pairs,
            among=lambda documents, number: [
                other for other in documents if other != documents[number]
            ],
        ),
    ),
    Misconception(
        "successor_looked_up",
        "You look the sentence up in its document (list.index), to find the next one. A sentence "
        "may come twice, and then you find its first place. Count the places, or go through the "
        "pairs of neighbours.",
        partial(_pairs, successor=lambda document, i: document[document.index(document[i]) + 1]),
    ),
    Misconception(
        "rounded",
        "You round u · m to the nearest whole number. int() cuts off: of m things, the numbers 0 "
        "to m - 1 are then equally likely.",
        partial(_pairs, place=lambda u, m: min(round(u * m), m - 1)),
    ),
    Misconception(
        "last_never_drawn",
        "You take int(u * (m - 1)), and the last of m things is never drawn: int(u * m) is at most "
        "m - 1 already, since u is below 1.",
        partial(_pairs, place=lambda u, m: int(u * (m - 1))),
    ),
    Misconception(
        "labels_swapped",
        "Your labels are swapped: 0 means that the second sentence follows, 1 that it comes from "
        "elsewhere. It would be as good a choice, but published weights have made theirs.",
        partial(_pairs, labels=(1, 0)),
    ),
    Misconception("coin_inverted", _INVERTED, partial(_pairs, is_next=lambda coin: coin >= 0.5)),
    Misconception("coin_inverted", _INVERTED, partial(_pairs, is_next=lambda coin: coin > 0.5)),
    Misconception(
        "half_is_next",
        "A coin of exactly 0.5 counts as next in your answer. The next sentence is taken where the "
        "coin is *below* 0.5: compare with <, not with <=.",
        partial(_pairs, is_next=lambda coin: coin <= 0.5),
    ),
    Misconception(
        "always_next",
        "All your pairs follow each other: there is nothing to tell apart. Where the coin is 0.5 "
        "or more, the second is drawn from another document.",
        partial(_pairs, is_next=lambda coin: True),
    ),
    Misconception(
        "never_next",
        "All your second sentences are drawn. Where the coin is below 0.5, the second is the one "
        "that really follows.",
        partial(_pairs, is_next=lambda coin: False),
    ),
    Misconception("not_every_sentence", _NOT_ALL, partial(_pairs, step=2)),
    Misconception("not_every_sentence", _NOT_ALL, partial(_pairs, after_random=2)),
    Misconception(
        "last_pair_forgotten",
        "The last pair of each document is missing: the last sentence but one has a successor.",
        partial(_pairs, cut_last=True),
    ),
    Misconception(
        "last_sentence_paired",
        "The last sentence of a document begins a pair in your list. Nothing follows it, so a pair "
        "that it begins is always a drawn one: the model could learn to recognise endings instead "
        "of what belongs together.",
        partial(_pairs, last_too=True),
    ),
    Misconception(
        "over_the_borders",
        "You let the first sentence of a document follow the last one of the document before. They "
        "are no neighbours: pairs are made within a document.",
        _over_the_borders,
    ),
    Misconception(
        "draws_begin_again",
        "You begin again with the first draw in each document. Draws are used up in order, one for "
        "each pair, through all documents: count pairs, not sentences.",
        partial(_pairs, restart=True),
    ),
    Misconception(
        "a_draw_for_each_sentence",
        "You use up a draw for each sentence, the last of a document included. It begins no pair: "
        "draws are used up by pairs.",
        _a_draw_for_each_sentence,
    ),
    Misconception(
        "draw_kept_for_the_next_pair",
        "You go on to the next draw only when a sentence was drawn. Every pair uses up one draw, "
        "also where only its coin was needed.",
        partial(_pairs, sparing=True),
    ),
    Misconception("u_and_v_swapped", _COIN_ORDER, partial(_pairs, u_at=2, v_at=1)),
    Misconception(
        "one_number_for_both",
        "You use u for the document and for the sentence. The second choice has a number of its "
        "own, v.",
        partial(_pairs, v_at=1),
    ),
    Misconception(
        "drawn_from_all_sentences",
        _ALL_SENTENCES,
        partial(_pairs, from_all=1),
    ),
    Misconception("drawn_from_all_sentences", _ALL_SENTENCES, partial(_pairs, from_all=2)),
    Misconception(
        "always_the_first_sentence",
        "From the other document you always take the first sentence. First sentences are easily "
        "recognised; v decides which one it is.",
        partial(_pairs, first_only=True),
    ),
    Misconception(
        "always_the_next_document",
        "You always take the document after this one. u decides which of the others it is.",
        partial(_pairs, neighbour=True),
    ),
    Misconception(
        "drawn_sentence_first",
        "You put the drawn sentence first. The text's own sentence is the first of every pair, and "
        "the *second* is drawn.",
        partial(_pairs, drawn_first=True),
    ),
    Misconception(
        "a_list_for_each_document",
        "You return a list of pairs for each document. One list with all pairs is asked for: "
        "`extend` it instead of `append`.",
        _grouped,
    ),
    Misconception(
        "rounded_from_one_less",
        "You round u · (m - 1). Then the first and the last of m things are drawn half as often as "
        "the others: int(u * m) cuts off, and all are equally likely.",
        partial(_pairs, place=lambda u, m: round(u * (m - 1))),
    ),
    Misconception(
        "others_from_the_next_on",
        "You line up the other documents beginning with the one after this, and those before it "
        "come last. They keep their order: documents[:i] + documents[i + 1 :].",
        partial(
            _pairs,
            among=lambda documents, number: documents[number + 1 :] + documents[:number],
        ),
    ),
    *(
        Misconception("own_document_replaced", _INSTEAD, partial(_pairs, instead=step))
        for step in (1, -1)
    ),
    Misconception(
        "numbers_used_up_one_by_one",
        "You use up the numbers one by one: one where the next sentence is taken, three where one "
        "is drawn. Every pair has a draw of three numbers, also where only its coin is needed.",
        _numbers_one_by_one,
    ),
    *(
        Misconception(
            "counted_in_its_own_document",
            "You multiply v by the number of sentences in the document of the *first* sentence. "
            "Which sentence of the drawn document it is, says int(v * m), and m is the number of "
            "sentences there: no min(…) or % is needed then.",
            partial(_pairs, by_own_length=kept_inside),
        )
        for kept_inside in (lambda i, m: min(i, m - 1), lambda i, m: i % m)
    ),
    Misconception(
        "documents_of_one_sentence_left_out",
        "You never draw from a document with a single sentence. It begins no pair, but its "
        "sentence can be the second of one.",
        partial(
            _pairs,
            among=lambda documents, number: [
                other for i, other in enumerate(documents) if i != number and len(other) > 1
            ],
        ),
    ),
)


def _no_pair_twice(documents, draws):
    return list(dict.fromkeys(next_sentence_pairs(documents, draws)))


def _rest_of_the_first_twin(documents, number):
    return documents[: documents.index(documents[number])] + documents[number + 1 :]


# The documents that are left to draw from: one too few, or all of them once more; pairs left out
# because of what is in them.
_SLIPS = [
    partial(_pairs, rest=rest)
    for rest in (
        lambda documents, number: documents[number + 2 :],
        lambda documents, number: documents,
    )
]
_ODD_SLIPS = [partial(_pairs, among=_rest_of_the_first_twin), _no_pair_twice]
_SLIPS += _ODD_SLIPS
# what they do is right as long as no two sentences are alike and none stands alone
_OF_ODD_ONES = (
    "twins_left_out",
    "successor_looked_up",
    "half_is_next",
    "documents_of_one_sentence_left_out",
)

NEIGHBOURS = Question(
    name="hw5.next_sentence_pairs",
    title="Does it follow?",
    points=4,
    minutes=20,
    difficulty=2,
    chapter="13_pretraining#does-b-follow-a",
    cases=_cases,
    reference=next_sentence_pairs,
    misconceptions=_MISTAKES,
    demands=(Demand(PAIRS, 2.5), Demand(ALIKE, 1.5)),
)
