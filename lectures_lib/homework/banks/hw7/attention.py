"""Question 4: who attends to whom, word by word."""

from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, whole
from lectures_lib.homework.banks.mistakes import squeezing
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

WORDS = "attention to a word is added up over its pieces, attention from it averaged"
LEFT = "so it is where [CLS] and [SEP] are left out, and of a single head"
APART = "the pieces of a word need not stand side by side"

Places = list[list[int]]


def _attention_cases(g: Generator) -> list[Case]:
    cases = []
    for special, apart in ((False, False), (True, False), (False, True)):
        words, heads = whole(g, 5, 7), whole(g, 2, 4)
        counts = [1, 2, 3] + [whole(g, 1, 2) for _ in range(words - 3)]
        counts = [counts[i] for i in torch.randperm(words, generator=g)]
        heads = heads if special or apart else 1
        n = 3 + sum(counts)
        places, start, words_in_front = [], 1, whole(g, 2, words - 2)
        for word, count in enumerate(counts):
            start += word == words_in_front  # a [SEP] between two sentences, which is no word
            places.append(list(range(start, start + count)))
            start += count
        if apart:  # each of two words stands with a piece among those of the other
            one, other = counts.index(2), counts.index(3)
            last = places[one][-1], places[other][-1]
            places[one], places[other] = (
                sorted([*places[one][:-1], last[1]]),
                sorted([*places[other][:-1], last[0]]),
            )
        shows = (
            f"{heads} head{'s' * (heads > 1)}, {words} words in {n} pieces, two sentences with a "
            f"[SEP] between them that is no word"
        )
        shows += "; pieces of two words do not stand side by side" if apart else ""
        shows += f"; [CLS] and the last [SEP] {'count as words' if special else 'are left out'}"
        if special:
            places = [[0], *places, [n - 1]]
        weights = (1.5 * normal(g, heads, n, n)).softmax(dim=-1)
        demand = WORDS if special else APART if apart else LEFT
        cases.append(Case((weights, places), shows=shows, demands=(demand,)))
    return cases


def word_attention(weights: Tensor, places: Places) -> Tensor:
    """(heads, words, words): summed over the pieces attended to, averaged over the pieces that
    attend.
    """
    return _between(weights, places)


def _pick(places: Places, n: int, how: str) -> Tensor:
    """(words, n): what each piece counts for each word."""
    matrix = torch.zeros(len(places), n)
    for word, pieces in enumerate(places):
        kept = {"first": pieces[:1], "last": pieces[-1:]}.get(how, pieces)
        matrix[word, kept] = 1 / len(kept) if how == "mean" else 1.0
    return matrix


def _between(
    weights: Tensor, places: Places, attending: str = "mean", attended: str = "sum"
) -> Tensor:
    n = weights.shape[-1]
    return _pick(places, n, attending) @ weights @ _pick(places, n, attended).T


def _spans(weights: Tensor, places: Places) -> Tensor:
    """Everything from a word's first piece to its last."""
    return word_attention(weights, [list(range(pieces[0], pieces[-1] + 1)) for pieces in places])


def _both_ends(weights: Tensor, places: Places) -> Tensor:
    columns = weights @ _pick(places, weights.shape[-1], "sum").T
    return torch.stack(
        [(columns[:, pieces[0]] + columns[:, pieces[-1]]) / 2 for pieces in places], dim=1
    )


def _largest(weights: Tensor, places: Places) -> Tensor:
    columns = torch.stack([weights[..., pieces].amax(dim=-1) for pieces in places], dim=-1)
    return _pick(places, weights.shape[-1], "mean") @ columns


def _largest_of_all(weights: Tensor, places: Places) -> Tensor:
    rows = [
        torch.stack([weights[:, mine][..., theirs].amax(dim=(1, 2)) for theirs in places], dim=-1)
        for mine in places
    ]
    return torch.stack(rows, dim=1)


def _renormalised(weights: Tensor, places: Places) -> Tensor:
    found = word_attention(weights, places)
    return found / found.sum(dim=-1, keepdim=True)


def _softmax_again(weights: Tensor, places: Places) -> Tensor:
    return word_attention(weights, places).softmax(dim=-1)


def _heads_averaged(weights: Tensor, places: Places) -> Tensor:
    return word_attention(weights, places).mean(dim=0)


def _counted_on(weights: Tensor, places: Places) -> Tensor:
    """Where words lie is counted from the first one on, as if no piece stood between them."""
    start, counted = places[0][0], []
    for pieces in places:
        counted.append(list(range(start, start + len(pieces))))
        start += len(pieces)
    return word_attention(weights, counted)


def _pieces_for_words(weights: Tensor, places: Places) -> Tensor:
    return weights[:, : len(places), : len(places)]


_FIRST = (
    "You look at each word's first piece only. What is attended at the other pieces is lost: "
    "attention *to* a word is the sum over its pieces, attention *from* a word the mean over its "
    "pieces."
)
_LARGEST = (
    "You take the largest weight of a word's pieces. The parts of attention that go to its pieces "
    "belong together: add them up; and average over the pieces that attend."
)


def _swapped_and_transposed(weights: Tensor, places: Places) -> Tensor:
    return _between(weights, places, attending="sum", attended="mean").mT


def _one_head_left(weights: Tensor, places: Places) -> Tensor:
    return word_attention(weights, places).mean(dim=0, keepdim=True)


def _divided_by_the_longest(weights: Tensor, places: Places) -> Tensor:
    return _between(weights, places, attending="sum") / max(map(len, places))


def _median(weights: Tensor, places: Places) -> Tensor:
    columns = weights @ _pick(places, weights.shape[-1], "sum").T
    return torch.stack([columns[:, pieces].median(dim=1).values for pieces in places], dim=1)


_HEADS = (
    "You average over the heads. Each head looks for something else: keep them apart, in dimension "
    "0."
)

ATTENTION = Question(
    name="hw7.word_attention",
    title="From pieces to words",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="16_what_bert_learns#from-pieces-to-words",
    cases=_attention_cases,
    reference=word_attention,
    misconceptions=(
        Misconception(
            "averaged_over_both",
            "You average over both, the pieces that attend and those attended to. To a word of two "
            "pieces that get 0.3 each, 0.6 of the attention goes, and not 0.3: sum over the "
            "columns of a word, average over its rows.",
            partial(_between, attended="mean"),
        ),
        Misconception(
            "summed_over_both",
            "You sum over both, the pieces attended to and those that attend. Then the rows of a "
            "word with three pieces sum to up to 3. A word's own pieces are averaged.",
            partial(_between, attending="sum"),
        ),
        Misconception(
            "rows_and_columns_swapped",
            "You sum over the pieces that attend and average over those attended to. It is the "
            "other way round: rows attend, columns are attended to.",
            partial(_between, attending="sum", attended="mean"),
        ),
        Misconception(
            "first_pieces_only", _FIRST, partial(_between, attending="first", attended="first")
        ),
        Misconception(
            "last_pieces_only",
            "You look at each word's last piece only. Sum over all pieces attended to, average "
            "over all that attend.",
            partial(_between, attending="last", attended="last"),
        ),
        Misconception(
            "first_piece_attends",
            "Your columns are right, summed over the pieces of each word. But of the pieces that "
            "attend you take the first; average over them all.",
            partial(_between, attending="first"),
        ),
        Misconception(
            "first_and_last_piece_attend",
            "Your columns are right, summed over the pieces of each word. But of the pieces that "
            "attend you take a word's first and last; the words of three pieces have one between "
            "them. Average over all.",
            _both_ends,
        ),
        Misconception(
            "everything_between",
            "You take all pieces from a word's first to its last, as in a slice. A word's pieces "
            "need not stand side by side: between them may stand pieces of another word. Take the "
            "places in the list, weights[:, :, pieces].",
            _spans,
        ),
        Misconception(
            "first_piece_attended_to",
            "Your rows are right, averaged over the pieces of each word. But of the pieces "
            "attended to you take the first; sum over them all.",
            partial(_between, attended="first"),
        ),
        Misconception("largest_taken", _LARGEST, _largest),
        Misconception("largest_taken", _LARGEST, _largest_of_all),
        Misconception(
            "rows_made_to_sum_to_1",
            "You divide the rows by their sums. Where [CLS] and [SEP] are left out, their share of "
            "the attention is missing from the rows, often most of it; that is to be seen, and not "
            "to be divided away.",
            _renormalised,
        ),
        Misconception(
            "softmax_again",
            "You take a softmax of the result. The weights are probabilities already; sums and "
            "means of them need no softmax.",
            _softmax_again,
        ),
        Misconception(
            "transposed",
            "Your result is transposed: row i is the word that attends, column j the word attended "
            "to, as in the weights you were given.",
            lambda weights, places: word_attention(weights, places).transpose(1, 2),
        ),
        Misconception(
            "heads_averaged",
            _HEADS,
            _heads_averaged,
        ),
        Misconception(
            "places_counted",
            "You use how many pieces each word has, and count their places yourself. Pieces that "
            "belong to no word may stand between two words, such as the [SEP] between two "
            "sentences: take the places from `places`.",
            _counted_on,
        ),
        squeezing(word_attention),
        Misconception(
            "pieces_taken_for_words",
            "You return the weights of the first few *pieces*, as many as there are words. Which "
            "pieces make a word is told by `places`.",
            _pieces_for_words,
        ),
        Misconception(
            "columns_first",
            "Your axes have changed places: you sum over the pieces that attend, average over "
            "those attended to, and the word attended to comes first. Rows attend: result[head, i, "
            "j] is the attention *from* word i *to* word j.",
            _swapped_and_transposed,
        ),
        Misconception("heads_averaged", _HEADS, _one_head_left),
        Misconception(
            "divided_by_the_longest_word",
            "You divide by the number of pieces of the *longest* word. Each word's rows are "
            "averaged over its own pieces.",
            _divided_by_the_longest,
        ),
        Misconception(
            "median_taken",
            "You take the median over the pieces that attend. Asked for is their mean.",
            _median,
        ),
    ),
    demands=(Demand(WORDS, 2), Demand(LEFT, 0.5), Demand(APART, 0.5)),
)
