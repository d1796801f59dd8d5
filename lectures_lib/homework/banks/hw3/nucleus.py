"""Question 5: the likeliest words that together reach p."""

from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, pick, sizes, whole
from lectures_lib.homework.banks.telling import telling
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

ONE = "of a single row, the likeliest words that reach p are kept and share all"
EACH_ROW = "each row of a batch has a nucleus of its own, exact where a sum lies next to p"


def _nucleus_cases(g: Generator) -> list[Case]:
    def draw(g: Generator) -> list[Case]:
        batch, vocab = sizes(g, 1, 3, 5) + sizes(g, 1, 6, 10)
        p, other_p = (share / 100 for share in pick(g, range(55, 95, 5), 2))
        low = whole(g, 20, 45) / 100
        other = 1.5 * normal(g, 1, vocab)
        flat, steep = 1.5 * normal(g, batch, vocab), normal(g, batch, vocab)
        steep[torch.arange(batch), torch.randint(vocab, (batch,), generator=g)] += whole(g, 6, 8)
        # So many words that neighbours differ by less than a thousandth of a probability; no sum
        # of them is near 0.5.
        close = 0.004 * torch.randperm(200, generator=g)[None]
        return [
            Case((other, low), shows=f"one row of {vocab} logits, p = {low}"),
            Case((flat, p), shows=f"{batch} rows of {vocab} logits, p = {p}", demands=(EACH_ROW,)),
            Case(
                (steep, other_p),
                shows=(
                    f"{batch} rows of {vocab} logits, in each a single one with more than p = "
                    f"{other_p}"
                ),
                demands=(EACH_ROW,),
            ),
            Case((close, 0.5), shows="one row of 200 logits close together, p = 0.5"),
        ]

    def clear(g: Generator) -> list[Case]:
        """No sum so close to p that rounding decides; and of the single row, 1 - p takes others."""
        while True:
            cases = draw(g)
            sums = [
                logits.sort(descending=True).values.softmax(dim=-1).cumsum(dim=-1) - p
                for logits, p in (case.args for case in cases)
            ]
            logits, p = cases[0].args
            differ = _kept(logits, p).sum() != _kept(logits, 1 - p).sum()
            if differ and min(sum_.abs().min() for sum_ in sums) > 1e-3:
                return cases

    answers = [mistake.answer for mistake in _MISTAKES]
    return telling(g, clear, nucleus, answers, always=[_just_beside(g)])


def _just_beside(g: Generator) -> Case:
    """Two rows. Of one a sum lies just below p, of the other just above: by three ten-thousandths,
    some hundred times what rounding in float32 comes to.
    """

    def sums(row: Tensor) -> Tensor:
        return row.sort(descending=True).values.softmax(dim=-1).cumsum(dim=-1)

    below = 0.004 * torch.randperm(200, generator=g)
    p = round(sums(below)[whole(g, 60, 100)].item() + 3e-4, 4)
    while True:
        above = (0.003 + 0.002 * torch.rand((), generator=g)) * torch.randperm(200, generator=g)
        beside = sums(above) - p
        if ((beside > 2e-4) & (beside < 4e-4)).any():
            break
    shows = f"2 rows of 200 logits close together, each with a sum that is nearly p = {p}"
    return Case((torch.stack([below, above]), p), shows=shows, demands=(EACH_ROW,))


def nucleus(logits: Tensor, p: float) -> Tensor:
    """(batch, vocab): the softmax over the fewest likeliest words that together reach p; 0 for all
    others.
    """
    return _nucleus(logits, p)


def _beside(logits: Tensor, p: float, by: float) -> Tensor:
    return _nucleus(logits, p + by)


def _kept(logits: Tensor, p: float, count: str = "before", descending: bool = True) -> Tensor:
    probabilities, order = logits.softmax(dim=-1).sort(dim=-1, descending=descending)
    total = probabilities.cumsum(dim=-1)
    if count == "before":
        kept = total - probabilities < p
    elif count == "with":
        kept = total <= p
    else:  # one more than it takes
        kept = torch.ones_like(total, dtype=torch.bool)
        kept[:, 2:] = total[:, :-2] < p
    return torch.zeros_like(kept).scatter(-1, order, kept)


def _nucleus(logits: Tensor, p: float, count: str = "before", descending: bool = True) -> Tensor:
    return _over(logits, _kept(logits, p, count, descending))


def _over(logits: Tensor, kept: Tensor) -> Tensor:
    return logits.masked_fill(~kept, -torch.inf).softmax(dim=-1)


def _crossing_dropped(logits: Tensor, p: float) -> Tensor:
    return _nucleus(logits, p, count="with").nan_to_num(0.0)


def _crossing_dropped_but_one(logits: Tensor, p: float) -> Tensor:
    kept = _kept(logits, p, count="with")
    return _over(logits, kept.scatter(-1, logits.argmax(dim=-1, keepdim=True), True))


def _in_vocabulary_order(logits: Tensor, p: float) -> Tensor:
    probabilities = logits.softmax(dim=-1)
    return _over(logits, probabilities.cumsum(dim=-1) - probabilities < p)


def _not_renormalised(logits: Tensor, p: float) -> Tensor:
    return logits.softmax(dim=-1) * _kept(logits, p)


def _divided_by_p(logits: Tensor, p: float) -> Tensor:
    return logits.softmax(dim=-1) * _kept(logits, p) / p


def _zero_logits(logits: Tensor, p: float) -> Tensor:
    return (logits * _kept(logits, p)).softmax(dim=-1)


def _softmax_twice(logits: Tensor, p: float) -> Tensor:
    return _over(logits.softmax(dim=-1), _kept(logits, p))


def _left_sorted(logits: Tensor, p: float) -> Tensor:
    return nucleus(logits, p).sort(dim=-1, descending=True).values


def _mask_left_sorted(logits: Tensor, p: float) -> Tensor:
    """The mask is made for the sorted words and laid over the unsorted ones."""
    order = logits.argsort(dim=-1, descending=True)
    return _over(logits, _kept(logits, p).gather(-1, order))


def _put_back_the_wrong_way(logits: Tensor, p: float) -> Tensor:
    """gather with the order, where scatter (or the inverse order) is needed."""
    order = logits.argsort(dim=-1, descending=True)
    return nucleus(logits, p).gather(-1, order).gather(-1, order)


def _flags_put_back_the_wrong_way(logits: Tensor, p: float) -> Tensor:
    """The sorted words' flags are gathered by the order, not scattered."""
    order = logits.argsort(dim=-1, descending=True)
    return _over(logits, _kept(logits, p).gather(-1, order).gather(-1, order))


def _struck_in_all_rows(logits: Tensor, p: float) -> Tensor:
    """What any row drops is dropped in all of them."""
    return _over(logits, _kept(logits, p).all(dim=0, keepdim=True).expand_as(logits))


def _share_of_the_words(logits: Tensor, p: float) -> Tensor:
    k = max(1, round(p * logits.shape[-1]))
    return _over(logits, logits >= logits.topk(k, dim=-1).values[:, -1:])


def _each_at_least(logits: Tensor, p: float, share: str = "p") -> Tensor:
    probabilities = logits.softmax(dim=-1)
    top = probabilities.amax(dim=-1, keepdim=True)
    least = {"p": p, "rest": 1 - p, "of the top": p * top}[share]
    return _over(logits, probabilities >= least).nan_to_num(0.0)


def _nearly_as_likely(logits: Tensor, p: float, near: float) -> Tensor:
    """What comes near the least likely word of the nucleus is kept, too."""
    probabilities = logits.softmax(dim=-1)
    least = torch.where(_kept(logits, p), probabilities, 1.0).amin(dim=-1, keepdim=True)
    return _over(logits, probabilities > least - near)


def _top_only(logits: Tensor, p: float) -> Tensor:
    return _over(logits, logits == logits.amax(dim=-1, keepdim=True))


def _first_row_for_all(logits: Tensor, p: float) -> Tensor:
    """As many words in every row as the first row needs."""
    k = int(_kept(logits, p)[0].sum())
    return _over(logits, logits >= logits.topk(k, dim=-1).values[:, -1:])


def _most_for_all(logits: Tensor, p: float) -> Tensor:
    """As many words in every row as the row that needs most."""
    k = int(_kept(logits, p).sum(dim=-1).max())
    return _over(logits, logits >= logits.topk(k, dim=-1).values[:, -1:])


def _divided_by_all_rows(logits: Tensor, p: float) -> Tensor:
    kept = _not_renormalised(logits, p)
    return kept / kept.sum()


_DROPPED = (
    "You drop the word with which the sum crosses p, so that what you keep stays *below* p; where "
    "a single word has more than p, nothing would be left but for an exception. The nucleus "
    "reaches p: keep a word if the sum of the likelier ones *before* it is below p."
)
_SORTED = (
    "The right words are kept in sorted order, but they do not find their way home: column i of "
    "the result is word i of the vocabulary. torch.zeros_like(…).scatter(-1, order, sorted_values) "
    "puts each back in its place."
)


def _logits_returned(logits: Tensor, p: float) -> Tensor:
    return logits.masked_fill(~_kept(logits, p), -torch.inf)


def _softmax_of_what_is_left(logits: Tensor, p: float, zeros: bool = True) -> Tensor:
    """Of the probabilities, the dropped ones 0; or put back in a table of zeros."""
    kept = _kept(logits, p)
    weights = _not_renormalised(logits, p).softmax(dim=-1)
    return weights if zeros else weights * kept


def _at_least_the_rest_divided(logits: Tensor, p: float) -> Tensor:
    probabilities = logits.softmax(dim=-1)
    left = probabilities * (probabilities >= 1 - p)
    return left / left.sum(dim=-1, keepdim=True)


def _at_least_the_rest_or_the_top(logits: Tensor, p: float) -> Tensor:
    probabilities = logits.softmax(dim=-1)
    kept = probabilities >= 1 - p
    return _over(logits, kept.scatter(-1, logits.argmax(dim=-1, keepdim=True), True))


def _at_least_p_divided(logits: Tensor, p: float) -> Tensor:
    probabilities = logits.softmax(dim=-1)
    left = probabilities * (probabilities >= p)
    return left / left.sum(dim=-1, keepdim=True)


def _softmax_over_the_batch(logits: Tensor, p: float) -> Tensor:
    probabilities, order = logits.softmax(dim=0).sort(dim=-1, descending=True)
    left = probabilities * (probabilities.cumsum(dim=-1) - probabilities < p)
    return torch.zeros_like(left).scatter(-1, order, left / left.sum(dim=-1, keepdim=True))


def _up_to_the_rest(logits: Tensor, p: float) -> Tensor:
    return nucleus(logits, 1 - p)


def _all_alike(logits: Tensor, p: float) -> Tensor:
    kept = _kept(logits, p)
    return kept / kept.sum(dim=-1, keepdim=True)


_EACH = (
    "You compare each word's own probability with p. It is the *sum* that must reach p, of a word "
    "and all that are likelier: cumsum."
)
_REST = (
    "You keep every word that has at least 1 - p by itself. It is the sum of the likeliest words "
    "that must reach p: cumsum."
)

_MISTAKES = (
    Misconception("crossing_word_dropped", _DROPPED, _crossing_dropped),
    Misconception("crossing_word_dropped", _DROPPED, partial(_nucleus, count="with")),
    Misconception("crossing_word_dropped", _DROPPED, _crossing_dropped_but_one),
    Misconception(
        "one_too_many",
        "You keep one word more than needed: the sum has reached p already before it.",
        partial(_nucleus, count="one more"),
    ),
    Misconception(
        "vocabulary_order",
        "You add up the probabilities in the order of the vocabulary. Which words are kept then "
        "depends on their numbers: sort from the likeliest down before you add up.",
        _in_vocabulary_order,
    ),
    Misconception(
        "least_likely_first",
        "You sort from the least likely up, and keep the words nobody would say. Sort with "
        "descending=True.",
        partial(_nucleus, descending=False),
    ),
    Misconception(
        "not_renormalised",
        "Your rows sum to less than 1: the words that are left keep their old probabilities. "
        "Divide by what is left, or take the softmax again with -∞ in the other places.",
        _not_renormalised,
    ),
    Misconception(
        "divided_by_p",
        "You divide by p. What is left sums to a little *more* than p, since the last word crosses "
        "it: divide by the sum itself.",
        _divided_by_p,
    ),
    Misconception(
        "logits_set_to_zero",
        "You set the logits of dropped words to 0, but e⁰ = 1: they get a probability again. Set "
        "them to -∞ before the softmax.",
        _zero_logits,
    ),
    Misconception(
        "softmax_twice",
        "You put probabilities through a second softmax, which makes them nearly equal. Divide by "
        "their sum instead, or give the softmax the logits.",
        _softmax_twice,
    ),
    Misconception("left_sorted", _SORTED, _left_sorted),
    Misconception("left_sorted", _SORTED, _mask_left_sorted),
    Misconception("left_sorted", _SORTED, _put_back_the_wrong_way),
    Misconception(
        "flags_put_back_the_wrong_way",
        "You find out rightly which of the sorted words are kept, and then gather these flags with "
        "the order of the sorting. That sorts them a second time. Back to the vocabulary leads "
        "scatter, or gather with order.argsort().",
        _flags_put_back_the_wrong_way,
    ),
    Misconception(
        "dropped_in_all_rows",
        "Right for a single row. With several you drop a word in every row as soon as one of them "
        "drops it: logits[:, places] = … means these places in *all* rows. Each row has places of "
        "its own: scatter.",
        _struck_in_all_rows,
    ),
    Misconception(
        "share_of_the_words",
        "You keep the share p of the *words*, the same number in every row, as top-k does. Here p "
        "is a probability: where the model is sure, a single word reaches it.",
        _share_of_the_words,
    ),
    Misconception(
        "each_word_at_least_p",
        _EACH,
        _each_at_least,
    ),
    Misconception(
        "each_word_at_least_the_rest",
        _REST,
        partial(_each_at_least, share="rest"),
    ),
    Misconception("each_word_at_least_the_rest", _REST, _at_least_the_rest_or_the_top),
    Misconception(
        "share_of_the_likeliest",
        "You keep what has at least p times the probability of the likeliest word. That exists, "
        "under the name of min-p; top-p adds up the likeliest words until they reach p.",
        partial(_each_at_least, share="of the top"),
    ),
    *(
        Misconception(
            "nearly_as_likely_kept",
            "You also keep words whose probability comes near that of the last word needed. Where "
            "many words are nearly equally likely, these are more than p takes: compare without a "
            "margin.",
            partial(_nearly_as_likely, near=near),
        )
        for near in (1e-3, 1e-4)
    ),
    Misconception(
        "likeliest_only",
        "You keep the likeliest word only, as greedy decoding does. Keep as many of the likeliest "
        "as are needed to reach p.",
        _top_only,
    ),
    Misconception(
        "first_row_for_all",
        "You keep as many words in every row as the first row needs. Each row of the batch has its "
        "own nucleus.",
        _first_row_for_all,
    ),
    Misconception(
        "most_for_all",
        "You keep as many words in every row as the row that needs most. Each row of the batch has "
        "its own nucleus.",
        _most_for_all,
    ),
    Misconception(
        "divided_by_the_sum_of_all_rows",
        "You divide by the sum over the whole batch. Each row is a distribution of its own and "
        "sums to 1: sum(dim=-1, keepdim=True).",
        _divided_by_all_rows,
    ),
    Misconception(
        "logits_returned",
        "You keep the right words but return their logits, and -∞ for the others. Probabilities "
        "are asked for: take the softmax of what you have, over dim=-1.",
        _logits_returned,
    ),
    Misconception(
        "dropped_words_in_a_second_softmax",
        "You set the probabilities of dropped words to 0 and take a softmax of that: e⁰ = 1, so "
        "they come back, and the others become nearly equal. Divide what is left by its sum.",
        _softmax_of_what_is_left,
    ),
    Misconception("each_word_at_least_the_rest", _REST, _at_least_the_rest_divided),
    Misconception("each_word_at_least_p", _EACH, _at_least_p_divided),
    Misconception(
        "softmax_over_the_batch",
        "Your softmax is over the rows of the batch. Each row is scores for the words of a "
        "vocabulary: dim=-1.",
        _softmax_over_the_batch,
    ),
    Misconception(
        "up_to_1_minus_p",
        "You keep the likeliest words until they reach 1 - p. It is p that they must reach.",
        _up_to_the_rest,
    ),
    Misconception(
        "all_kept_alike",
        "The right words are kept, but all with the same probability. They keep their shares: take "
        "their own probabilities and divide them by their sum.",
        _all_alike,
    ),
    *(
        Misconception(
            "p_missed_by_little",
            "Your nucleus is right unless a sum lies next to p: there you take a word too many or "
            "too few. Compare the sums as they are, with p as it is; nothing is to be added to "
            "either, and nothing to be rounded.",
            partial(_beside, by=by),
        )
        for by in (1e-3, -1e-3)
    ),
)

NUCLEUS = Question(
    name="hw3.nucleus",
    title="The likeliest words that reach p",
    points=2,
    minutes=15,
    difficulty=2,
    chapter="09_generating#top-k-and-top-p",
    cases=_nucleus_cases,
    reference=nucleus,
    demands=(Demand(ONE, 1), Demand(EACH_ROW, 1)),
    misconceptions=_MISTAKES,
)
