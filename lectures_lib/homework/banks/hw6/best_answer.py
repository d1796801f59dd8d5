"""Question 4: from two rows of scores to the words of an answer, or to none."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, whole
from lectures_lib.homework.banks.telling import showing, telling
from lectures_lib.homework.questions import Case, Demand, Misconception, Question, Varied

FOUND = "the best legal pair, where it beats [CLS] by far"
NONE = "(0, 0), where no legal pair beats [CLS] by more than the threshold"
EDGES = "both, at the text's first and last token, in a long text, and with scores below 0"

N_FOUND, N_CASES = 10, 24
PRICES = (0.0, 0.25, 0.5, 0.75)  # of every further token; sums with scores are exact
Span = tuple[int, int]


def _cases(g: Generator, *, price: float = 0.0) -> list[Case]:
    right = _priced(best_answer, price)
    legal, of_cls, at_edges = (
        [_priced(mistake.answer, price) for mistake in _MISTAKES if _about(mistake) == about]
        for about in (FOUND, NONE, EDGES)
    )
    if price:  # nor may another variant's answer be right
        legal += [_priced(best_answer, other) for other in PRICES if other != price]

    def found(g: Generator) -> list[Case]:
        one = partial(_ordinary, aheads=(-8.0,), price=price)
        one_by_one = [showing(g, one, right, (), of_cls + at_edges) for _ in range(N_FOUND)]
        return [case for cases in one_by_one for case in cases]

    none = partial(_ordinary, aheads=(-0.5, 0.5, 1.5, -1.0, -0.5), price=price)
    first = showing(g, found, right, legal)
    behind = [_priced(partial(_answer, pairs=_ends_behind_the_text), price)]
    first += [replace(case, demands=(NONE,)) for case in showing(g, none, right, of_cls, behind)]
    draw = partial(_draw, price=price)
    cases = telling(g, draw, right, [*legal, *of_cls, *at_edges], always=first)
    return [*first, *cases[: -len(first)]]


def _about(mistake: Misconception) -> str:
    """The first demand that it does not meet."""
    return NONE if mistake.name in _OF_CLS else EDGES if mistake.name in _AT_EDGES else FOUND


def _priced(answer: Callable, price: float) -> Callable:
    return partial(answer, price=price)


def _ordinary(g: Generator, aheads: tuple[float, ...], price: float) -> list[Case]:
    """Cases in which the score of [CLS] lies so many thresholds ahead of the best pair's."""
    cases = []
    for ahead in aheads:
        first, length, padding = whole(g, 4, 7), whole(g, 5, 9), whole(g, 2, 5)
        longest, threshold = whole(g, 2, 4), whole(g, 4, 12) / 8
        last = first + length - 1
        start, end = _scores(g, last + 2 + padding)
        cases.append(_against(g, start, end, first, last, longest, threshold, ahead, price))
    return _ordinary(g, aheads, price) if _any_twice(cases, price) else cases


def _scores(g: Generator, n: int) -> tuple[Tensor, Tensor]:
    """In steps of 1/64; thresholds are in steps of 1/8: their sums are exact."""
    start, end = ((128 * normal(g, n)).round() / 64 for _ in range(2))
    return start, end


def _against(
    g: Generator,
    start: Tensor,
    end: Tensor,
    first: int,
    last: int,
    longest: int,
    threshold: float,
    ahead: float,
    price: float,
) -> Case:
    """A case in which [CLS] has so many thresholds more than the best pair."""
    nothing = _pairs(start, end, first, last, longest)[0][0] + ahead * threshold
    start[0] = nothing / 2 + round(64 * float(normal(g, 1))) / 64
    end[0] = nothing - start[0]
    # what a longer answer costs, the places give back: the best answer is the same at any price
    back = price * torch.arange(len(start))
    start, end = start - back, end + back
    shows = (
        f"{len(start)} tokens, the text from {first} to {last}, at most {longest} long, "
        f"threshold {threshold}"
    )
    return Case((start, end, first, last, longest, threshold), shows=shows)


def _any_twice(cases: list[Case], price: float) -> bool:
    """Whether two legal answers are equally good, or would be by the mean of their tokens: nobody
    says which to take.
    """
    prices = PRICES if price else (price,)  # and an answer to another variant has to be one
    return any(_best_twice(*case.args, price=each) for case in cases for each in prices)


def _draw(g: Generator, *, price: float = 0.0) -> list[Case]:
    cases = []
    for i in range(N_CASES):
        first, length, padding = whole(g, 4, 7), whole(g, 5, 9), whole(g, 2, 5)
        longest, threshold = whole(g, 2, 4), whole(g, 4, 12) / 8
        longest, length = {8: 1, 0: 2, 20: 4}.get(i, longest), 1 if i == 9 else length
        first, threshold = {0: 4, 11: 6}.get(i, first), {3: 0.5, 6: 1.5}.get(i, threshold)
        last = first + length - 1
        start, end = _scores(g, last + 2 + padding)
        # all below 0, and one of them is the best
        start, end = (start - 16, end - 16) if i % 8 == 5 else (start, end)
        # Some scores stand out: the best answer begins with the text's first token, or ends with
        # its last, or is as long as it may be; a token just before the text, or behind it, would be
        # better still.
        for n, scores, place in (
            (11, start, first),
            (12, end, last),
            (20, start, first),
            (15, start, first - 1),
            (19, end, last + 1),
        ):
            scores[place] += 16 * (i == n)
        end[first + 3] += 16 * (i == 20)
        # The score of [CLS] lies behind that of the best answer, or ahead of it, by less than the
        # threshold, by just that, or by more.
        ahead = (-0.5, 0.5, 1.5, -1.5, -1.5, -8.0, -1.0, -1.5)[i % 8]
        cases.append(_against(g, start, end, first, last, longest, threshold, ahead, price))
    cases = [replace(case, demands=(NONE, EDGES)) for case in cases]
    cases += [_the_best_do_not_fit(g, price), _far_below_0(g, price)]
    return _draw(g, price=price) if _any_twice(cases, price) else cases


def _the_best_do_not_fit(g: Generator, price: float) -> Case:
    """A long text: none of the 20 best starts makes a legal answer with one of the 20 best ends."""
    first, length, longest = whole(g, 4, 7), whole(g, 56, 64), whole(g, 2, 4)
    last = first + length - 1
    start, end = _scores(g, last + 4)
    start[last - 21 : last + 1] += 64
    end[first : first + 22] += 64
    return _to_be_found(start, end, first, last, longest, price)


def _far_below_0(g: Generator, price: float) -> Case:
    """All scores are as low as those that are made to hide a token."""
    first, length, longest = whole(g, 4, 7), whole(g, 5, 9), whole(g, 2, 4)
    last = first + length - 1
    start, end = (scores - 65536 for scores in _scores(g, last + 4))
    return _to_be_found(start, end, first, last, longest, price)


def _to_be_found(
    start: Tensor, end: Tensor, first: int, last: int, longest: int, price: float
) -> Case:
    """The best answer beats [CLS] by more than the threshold."""
    nothing = _pairs(start, end, first, last, longest)[0][0] - 1
    start[0] = nothing / 2
    end[0] = nothing - start[0]
    back = price * torch.arange(len(start))  # as in `_draw`
    start, end = start - back, end + back
    shows = (
        f"{len(start)} tokens, the text from {first} to {last}, at most {longest} long, threshold "
        f"0.5"
    )
    return Case((start, end, first, last, longest, 0.5), shows=shows, demands=(EDGES,))


def _best_twice(start, end, first, last, longest, threshold, *, price) -> bool:
    found = _pairs(start, end, first, last, longest, price=price)
    shares = sorted((share for share, _, _ in _shares(found)), reverse=True)
    return len(found) > 1 and (found[0][0] == found[1][0] or shares[0] == shares[1])


def best_answer(
    start: Tensor,
    end: Tensor,
    first: int,
    last: int,
    longest: int,
    threshold: float,
    *,
    price: float = 0.0,
) -> Span:
    """The best legal answer's first and last token; (0, 0) where it does not beat [CLS] by more
    than the threshold. Every token after the first costs `price`.
    """
    return _answer(start, end, first, last, longest, threshold, price=price)


def _pairs(start, end, first, last, longest, backwards=False, *, price=0.0):
    """(score, i, j) of all legal answers, the best first."""
    found = [
        (float(start[i] + end[j]) - price * (j - i), i, j)
        for i in range(first, last + 1)
        for j in range(first, last + 1)
        if (backwards or i <= j) and j - i < longest
    ]
    return sorted(found, key=lambda pair: -pair[0])


def _shares(pairs):
    """(score of a token, i, j) of the same pairs."""
    return [(score / (j - i + 1), i, j) for score, i, j in pairs]


def _nothing_by_sum(start, end):
    return float(start[0] + end[0])


def _answer(
    start,
    end,
    first,
    last,
    longest,
    threshold,
    nothing=_nothing_by_sum,
    sign=1,
    pairs=_pairs,
    inverted=False,
    *,
    price=0.0,
):
    best, i, j = (pairs(start, end, first, last, longest, price=price) or [(-math.inf, 0, 0)])[0]
    beaten = best > nothing(start, end) + sign * threshold
    return (i, j) if beaten != inverted else (0, 0)


def _ends_behind_the_text(start, end, first, last, longest, *, price=0.0):
    """Only the start has to lie in the text."""
    found = [
        (float(start[i] + end[j]) - price * (j - i), i, j)
        for i in range(first, last + 1)
        for j in range(i, min(i + longest, len(end)))
    ]
    return sorted(found, key=lambda pair: -pair[0])


def _begins_before_the_last(start, end, first, last, longest, threshold, *, price=0.0):
    """The last token may end an answer, but not be one."""
    return _answer(
        start,
        end,
        first,
        last,
        longest,
        threshold,
        pairs=lambda *of, **at: [pair for pair in _pairs(*of, **at) if pair[1] < last],
        price=price,
    )


def _pairs_above(*of, floor, **at):
    """The best score so far is a low number before the search begins."""
    return [pair for pair in _pairs(*of, **at) if pair[0] > floor]


def _of_the_20_best(start, end, first, last, longest, threshold, *, price=0.0):
    """As in Hugging Face's programs: `n_best_size` starts and ends of the whole row."""
    n = min(20, len(start))
    starts, ends = (set(scores.topk(n).indices.tolist()) for scores in (start, end))
    return _answer(
        start,
        end,
        first,
        last,
        longest,
        threshold,
        pairs=lambda *of, **at: [
            pair for pair in _pairs(*of, **at) if pair[1] in starts and pair[2] in ends
        ],
        price=price,
    )


def _threshold_apart(start, end, first, last, longest, threshold, *, price=0.0):
    """Above [CLS], and above the threshold."""
    return _answer(
        start,
        end,
        first,
        last,
        longest,
        0.0,
        nothing=lambda start, end: max(_nothing_by_sum(start, end), threshold),
        price=price,
    )


def _equal_is_enough(start, end, first, last, longest, threshold, *, price=0.0):
    best, i, j = _pairs(start, end, first, last, longest, price=price)[0]
    return (i, j) if best >= _nothing_by_sum(start, end) + threshold else (0, 0)


def _from_the_front(start, end, first, last, longest, threshold, *, price=0.0):
    """[CLS] and the question may be part of an answer."""
    return _answer(start, end, 1, last, longest, threshold, price=price)


def _cls_competes(start, end, first, last, longest, threshold, *, price=0.0):
    """[CLS] is one more place: no threshold at all, but spans may run out of it."""
    return _answer(start, end, 0, last, longest, -1e9, price=price)


def _to_the_end(start, end, first, last, longest, threshold, *, price=0.0):
    return _answer(start, end, first, len(start) - 1, longest, threshold, price=price)


def _anywhere(start, end, first, last, longest, threshold, *, price=0.0):
    return _answer(start, end, 1, len(start) - 1, longest, threshold, price=price)


def _without_the_last(start, end, first, last, longest, threshold, *, price=0.0):
    return _answer(start, end, first, last - 1, longest, threshold, price=price)


def _no_threshold(start, end, first, last, longest, threshold, *, price=0.0):
    return _answer(start, end, first, last, longest, 0.0, price=price)


def _always(start, end, first, last, longest, threshold, *, price=0.0):
    return _answer(start, end, first, last, longest, -1e9, price=price)


def _one_too_long(start, end, first, last, longest, threshold, *, price=0.0):
    return _answer(start, end, first, last, longest + 1, threshold, price=price)


def _one_too_short(start, end, first, last, longest, threshold, *, price=0.0):
    return _answer(start, end, first, last, longest - 1, threshold, price=price)


def _any_length(start, end, first, last, longest, threshold, *, price=0.0):
    return _answer(start, end, first, last, 10**6, threshold, price=price)


def _each_by_itself(start, end, first, last, longest, *, price=0.0):
    i, j = (
        first + int(start[first : last + 1].argmax()),
        first + int(end[first : last + 1].argmax()),
    )
    return [(float(start[i] + end[j]) - price * (j - i), i, j)]


def _each_by_itself_in_order(start, end, first, last, longest, *, price=0.0):
    (score, i, j), *_ = _each_by_itself(start, end, first, last, longest, price=price)
    return [(score, min(i, j), max(i, j))]


def _start_first(start, end, first, last, longest, *, price=0.0):
    i = first + int(start[first : last + 1].argmax())
    j = i + int(end[i : min(i + longest, last + 1)].argmax())
    return [(float(start[i] + end[j]) - price * (j - i), i, j)]


def _end_first(start, end, first, last, longest, *, price=0.0):
    j = first + int(end[first : last + 1].argmax())
    i = max(first, j - longest + 1)
    i += int(start[i : j + 1].argmax())
    return [(float(start[i] + end[j]) - price * (j - i), i, j)]


def _product(start, end, first, last, longest, *, price=0.0):
    pairs = _pairs(start, end, first, last, longest, price=price)
    return sorted(
        ((float(start[i] * end[j]) - price * (j - i), i, j) for _, i, j in pairs),
        key=lambda pair: -pair[0],
    )


def _products_compared(start, end, first, last, longest, threshold, *, price=0.0):
    return _answer(
        start,
        end,
        first,
        last,
        longest,
        threshold,
        pairs=_product,
        nothing=lambda s, e: float(s[0] * e[0]),
        price=price,
    )


def _probabilities_added(start, end, first, last, longest, threshold, *, price=0.0):
    return best_answer(
        start.softmax(0), end.softmax(0), first, last, longest, threshold, price=price
    )


def _a_share_for_each_token(start, end, first, last, longest, threshold, *, price=0.0):
    """The score of a pair is divided by its number of tokens."""
    pairs = _shares(_pairs(start, end, first, last, longest, price=price))
    best, i, j = max(pairs, key=lambda pair: pair[0])
    return (i, j) if best > _nothing_by_sum(start, end) + threshold else (0, 0)


def _end_exclusive(start, end, first, last, longest, threshold, *, price=0.0):
    i, j = best_answer(start, end, first, last, longest, threshold, price=price)
    return (i, j + 1) if j else (0, 0)


def _counted_in_the_text(start, end, first, last, longest, threshold, *, price=0.0):
    i, j = best_answer(start, end, first, last, longest, threshold, price=price)
    return (i - first, j - first) if j else (0, 0)


_INDEPENDENT = (
    "You take the best start and the best end, each by itself. The two need not fit: the end may "
    "come before the start, or far behind it. What is looked for is the best *pair* among the "
    "legal ones."
)
_GREEDY = (
    "You fix one end of the answer first, because it is the best by itself, and then look for the "
    "other. The best pair may have neither the best start nor the best end: compare the sums of "
    "all legal pairs."
)
_OUTSIDE = (
    "Your answers can begin or end outside the text. The question and the padding have scores, "
    "too, and sometimes high ones; only pairs with first ≤ i ≤ j ≤ last are legal."
)


def _each_by_itself_if_legal(start, end, first, last, longest, *, price=0.0):
    """The two best, or no answer at all where they do not fit."""
    found = _each_by_itself(start, end, first, last, longest, price=price)
    return [pair for pair in found if pair[1] <= pair[2] < pair[1] + longest]


def _near_each_other(start, end, first, last, longest, *, price=0.0):
    """Less than `longest` apart, whichever comes first."""
    pairs = _pairs(start, end, first, last, longest, backwards=True, price=price)
    return [pair for pair in pairs if pair[1] - pair[2] < longest]


def _everywhere(start, end, first, last, longest, threshold, *, price=0.0):
    return _answer(start, end, 0, len(start) - 1, longest, threshold, price=price)


_BACKWARDS = "Some of your answers end before they begin: only pairs with i ≤ j are legal."

_MISTAKES = (
    Misconception(
        "ends_behind_the_text",
        "Your answers begin in the text, but may end behind it, in [SEP] or in the padding. The "
        "end, too, lies between first and last.",
        partial(_answer, pairs=_ends_behind_the_text),
    ),
    Misconception("each_by_itself", _INDEPENDENT, partial(_answer, pairs=_each_by_itself)),
    Misconception("each_by_itself", _INDEPENDENT, partial(_answer, pairs=_each_by_itself_in_order)),
    Misconception(
        "end_before_start",
        _BACKWARDS,
        partial(_answer, pairs=partial(_pairs, backwards=True)),
    ),
    Misconception("greedy", _GREEDY, partial(_answer, pairs=_start_first)),
    Misconception("greedy", _GREEDY, partial(_answer, pairs=_end_first)),
    Misconception("outside_the_text", _OUTSIDE, _from_the_front),
    Misconception("outside_the_text", _OUTSIDE, _to_the_end),
    Misconception("outside_the_text", _OUTSIDE, _anywhere),
    Misconception(
        "last_token_left_out",
        "The text's last token is in none of your answers. `last` is the place of that token and "
        "belongs to the text; range(first, last) ends before it.",
        _without_the_last,
    ),
    Misconception(
        "last_token_begins_nothing",
        "No answer of yours begins at the text's last token, which may be an answer by itself. "
        "`last` belongs to the text: the beginnings go through range(first, last + 1).",
        _begins_before_the_last,
    ),
    Misconception(
        "search_begins_at_0",
        "You find no answer whose score is below 0: the best score so far is 0, perhaps, when your "
        "search begins. Scores may all be negative; begin with -∞.",
        partial(_answer, pairs=partial(_pairs_above, floor=0)),
    ),
    Misconception(
        "search_begins_too_high",
        "You find no answer whose score is below some number, -100 or -10,000 perhaps, with which "
        "your search begins. Scores may be lower still; begin with -∞, float('-inf').",
        partial(_answer, pairs=partial(_pairs_above, floor=-100)),
    ),
    Misconception(
        "only_the_best_of_each",
        "You combine only the best starts with the best ends, 20 of each perhaps, as programs do "
        "to save time. In a long text none of these pairs need be legal: here the best answer is "
        "looked for among *all* legal pairs.",
        _of_the_20_best,
    ),
    Misconception(
        "one_too_long",
        "Some of your answers have one token more than `longest`. From i to j there are j - i + 1 "
        "tokens.",
        _one_too_long,
    ),
    Misconception(
        "one_too_short",
        "You leave out answers of exactly `longest` tokens, which are allowed. From i to j there "
        "are j - i + 1 tokens.",
        _one_too_short,
    ),
    Misconception(
        "any_length",
        "You do not look at `longest`: some of your answers have more tokens.",
        _any_length,
    ),
    Misconception(
        "threshold_ignored",
        "You compare the best answer with [CLS] as they are. It must beat [CLS] by more than "
        "`threshold`.",
        _no_threshold,
    ),
    Misconception(
        "threshold_compared_by_itself",
        "You ask for two things, a score above that of [CLS] and one above the threshold. The "
        "threshold is a distance: the score has to be above the *sum* of the two.",
        _threshold_apart,
    ),
    Misconception(
        "threshold_subtracted",
        "Your threshold helps the answer. It must make it harder: the best pair's score has to be "
        "above that of [CLS] *plus* the threshold.",
        partial(_answer, sign=-1),
    ),
    Misconception(
        "always_an_answer",
        "You always give an answer. Where the best pair does not beat start[0] + end[0], the score "
        "of [CLS], by more than the threshold, the text does not say: (0, 0).",
        _always,
    ),
    Misconception(
        "cls_is_a_place_like_others",
        "You let [CLS] compete as one more token of the text. Its score is that of *no answer*: "
        "compare it with the best pair of the text, and mind the threshold.",
        _cls_competes,
    ),
    Misconception(
        "equal_is_enough",
        "Where the best answer's score is exactly that of [CLS] plus the threshold, you return the "
        "answer. It has to be *above*: compare with >, not with >=.",
        _equal_is_enough,
    ),
    Misconception(
        "decision_inverted",
        "You say (0, 0) where there is a good answer, and answer where there is none: the "
        "comparison is the wrong way round.",
        partial(_answer, inverted=True),
    ),
    Misconception(
        "only_the_start_of_cls",
        "You compare a sum of two scores with start[0] alone. The score of no answer is start[0] + "
        "end[0].",
        partial(_answer, nothing=lambda start, end: float(start[0])),
    ),
    Misconception(
        "only_the_end_of_cls",
        "You compare a sum of two scores with end[0] alone. The score of no answer is start[0] + "
        "end[0].",
        partial(_answer, nothing=lambda start, end: float(end[0])),
    ),
    Misconception(
        "multiplied",
        "You multiply the scores. They are logarithms of probabilities, up to a constant, and may "
        "be below 0: what one would multiply in probabilities is added in scores.",
        _products_compared,
    ),
    Misconception(
        "multiplied",
        "You multiply the scores. They are logarithms of probabilities, up to a constant, and may "
        "be below 0: what one would multiply in probabilities is added in scores.",
        partial(_answer, pairs=_product),
    ),
    Misconception(
        "probabilities_added",
        "You turn the scores into probabilities and add these. The probability of a pair is a "
        "*product*; its logarithm is, up to a constant, the sum of the scores. No softmax is "
        "needed.",
        _probabilities_added,
    ),
    Misconception(
        "divided_by_the_length",
        "You divide the score of a pair by the number of its tokens. It is start[i] + end[j], "
        "however many tokens are between the two.",
        _a_share_for_each_token,
    ),
    Misconception(
        "end_is_behind_the_answer",
        "Your second number is one behind the answer, as in a slice. Here both belong to the "
        "answer: its first and its last token.",
        _end_exclusive,
    ),
    Misconception(
        "counted_in_the_text",
        "Your places are counted from the beginning of the text. They are asked for as places in "
        "the whole row: add `first`.",
        _counted_in_the_text,
    ),
    Misconception("each_by_itself", _INDEPENDENT, partial(_answer, pairs=_each_by_itself_if_legal)),
    Misconception("end_before_start", _BACKWARDS, partial(_answer, pairs=_near_each_other)),
    Misconception("outside_the_text", _OUTSIDE, _everywhere),
    Misconception(
        "cls_not_compared",
        "You compare the best score with the threshold alone. It must beat the score of no answer, "
        "start[0] + end[0], by more than the threshold.",
        partial(_answer, nothing=lambda start, end: 0.0),
    ),
    Misconception(
        "larger_score_of_cls",
        "For no answer you take the larger of start[0] and end[0]. Its score is their sum, as that "
        "of any other pair is.",
        partial(_answer, nothing=lambda start, end: float(max(start[0], end[0]))),
    ),
)


# What they do is right where the best pair beats [CLS] by far; of the others, anywhere but at the
# edges.
_OF_CLS = (
    "threshold_ignored",
    "threshold_compared_by_itself",
    "threshold_subtracted",
    "always_an_answer",
    "equal_is_enough",
    "only_the_start_of_cls",
    "only_the_end_of_cls",
    "cls_not_compared",
    "larger_score_of_cls",
)
_AT_EDGES = (
    "ends_behind_the_text",
    "last_token_left_out",
    "last_token_begins_nothing",
    "search_begins_at_0",
    "search_begins_too_high",
    "only_the_best_of_each",
)


def _wording(price: float) -> dict[str, str]:
    """The score of a pair, and the only one worked out that has two tokens."""
    return {
        "The best answer is the legal pair with the largest `start[i] + end[j]`.": (
            f"Short answers are preferred: every token after the first costs {price:g}. The best "
            f"answer is the legal pair with the largest `start[i] + end[j] - {price:g} * (j - i)`."
        ),
        "(5, 6) has 4.0.": f"(5, 6) has 4.0 − {price:g} = {4 - price:g}.",
    }


def _told(price: float) -> dict[str, str]:
    return {"compare the sums of all legal pairs": "compare the scores of all legal pairs"}


BEST_ANSWER = Question(
    name="hw6.best_answer",
    title="The answer, or none",
    points=3,
    minutes=25,
    difficulty=3,
    chapter="14b_words_and_spans#a-span-where-is-the-answer",
    cases=_cases,
    reference=best_answer,
    misconceptions=_MISTAKES,
    demands=(Demand(FOUND, 1.5), Demand(NONE, 1), Demand(EDGES, 0.5)),
    varied=Varied(
        "price",
        PRICES,
        says=lambda price: f"every token of an answer after its first costs {price:g}",
        wording=_wording,
        told=_told,
    ),
)
