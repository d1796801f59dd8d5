"""Question 6: beam search, in a model that is a table."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, pick, whole
from lectures_lib.homework.banks.telling import telling
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

Hypothesis = tuple[list[int], float]  # its tokens, and its score
KEEPS = "where nothing ends, the best beginnings are kept alive and returned"
DIVIDES = "their scores are log probabilities, divided by the length penalty"
ENDS = "with hypotheses that end, all of it together comes right"


def _beam_cases(g: Generator) -> list[Case]:
    def draw(g: Generator) -> list[Case]:
        cases = []
        widths, most = pick(g, (2, 3, 4), 3), pick(g, (4, 5, 6), 3)
        # how likely the end is
        for likely, width, max_len in zip((1.0, 0.0, -2.5), widths, most, strict=True):
            vocab = whole(g, 6, 8)
            start, end = torch.randperm(vocab, generator=g)[:2].tolist()
            alpha = whole(g, 6, 12) / 10
            logits = 1.2 * normal(g, vocab, vocab)
            logits[:, end] += likely
            logits[:, start] -= 4.0
            where = (
                f"{vocab} tokens (start {start}, end {end}), width {width}, at most {max_len} "
                f"tokens, alpha = {alpha}"
            )
            shows = f"{where}; the end is {'unlikely' if likely < 0 else 'likely'}"
            cases.append(
                Case(
                    (logits.log_softmax(dim=-1), start, end, width, max_len, alpha),
                    shows=shows,
                    demands=(DIVIDES, ENDS),
                )
            )
        return draw(g) if any(_tied(*case.args) for case in cases) else cases

    special = [
        _close_race(g),
        _nothing_ends(g),
        _all_from_one(g),
        _few_tokens(g),
        _pushed_out(g),
        _start_again(g),
    ]
    one_by_one = [
        _endless(g, alpha=0.0),
        _endless(g, alpha=whole(g, 6, 12) / 10),
        _ends_without_penalty(g),
    ]
    special[-1:-1] = one_by_one
    slips = [
        partial(_other_width, of=of, width_of=width_of)
        for of in ("more_ended", "more_live")
        for width_of in _WIDTHS
    ]
    slips += [
        partial(_always, place=i, value=value) for i, values in _USUAL.items() for value in values
    ]
    slips += [_max_len_from_start, _max_len_from_vocabulary]
    slips += [
        partial(_row_from_another, row=row, other=other, axis=axis)
        for row, other in ((0, 1), (-1, -2))
        for axis in (0, 1)
    ]
    return telling(
        g,
        draw,
        beam_search,
        [mistake.answer for mistake in _MISTAKES],
        [*slips, partial(_search, ends_at=0)],
        special,
    )


def _close_race(g: Generator) -> Case:
    """The mistakes that show only in a close race differ from the right answer and from each
    other.
    """
    while True:
        case = _some_case(
            g, likely=whole(g, 0, 20) / 10, width=2, max_len=3, alpha=whole(g, 10, 20) / 10
        )
        results = [answer(*case.args) for answer in (beam_search, *_IN_A_CLOSE_RACE)]
        tokens = [[hypothesis for hypothesis, _ in result] for result in results]
        if not _tied(*case.args) and all(some not in tokens[:i] for i, some in enumerate(tokens)):
            return case


def _all_from_one(g: Generator) -> Case:
    """One of the best needs more continuations of a single hypothesis than there are places."""
    while True:
        case = _some_case(g, likely=2.0, width=2, max_len=3, alpha=whole(g, 10, 20) / 10)
        few = _search(*case.args, places="width each")
        if not _tied(*case.args) and few != beam_search(*case.args):
            return case


def _nothing_ends(g: Generator) -> Case:
    return _some_case(g, likely=-12.0, width=2, max_len=1, alpha=0.9)


def _ends_without_penalty(g: Generator) -> Case:
    """The end is likely, and no length is better than another, nor would be with a slip in the
    penalty.
    """
    while True:
        case = _some_case(
            g, likely=0.5, width=3, max_len=4, alpha=0.0, demands=(ENDS,), without_scores=True
        )
        results = [[tokens for tokens, _ in search(*case.args)] for search in _IN_THE_PENALTY]
        if not _tied(*case.args) and all(some == results[0] for some in results):
            return case


def _endless(g: Generator, alpha: float) -> Case:
    """End and start are out of reach: nothing but the search; with an alpha, and the penalty."""
    demand = DIVIDES if alpha else KEEPS
    while True:
        case = _some_case(
            g,
            likely=-40.0,
            width=3,
            max_len=3,
            alpha=alpha,
            start_likely=-40.0,
            vocab=7,
            demands=(demand,),
            without_scores=not alpha,
        )
        results = [[tokens for tokens, _ in search(*case.args)] for search in _IN_A_SEARCH]
        if not _tied(*case.args) and all(some not in results[:i] for i, some in enumerate(results)):
            return case


def _start_again(g: Generator) -> Case:
    """In one of the best the start token is said again: for the search it is a token like the
    others.
    """
    while True:
        case = _some_case(g, likely=0.0, width=3, max_len=4, alpha=0.9, start_likely=1.0)
        tokens = [hypothesis for hypothesis, _ in beam_search(*case.args)]
        if not _tied(*case.args) and case.args[1] in tokens[0]:
            return case


def _few_tokens(g: Generator) -> Case:
    """The first step has fewer continuations than there are places."""
    while True:
        case = _some_case(g, likely=0.0, width=4, max_len=4, alpha=0.9, vocab=3)
        if not _tied(*case.args):
            return case


def _pushed_out(g: Generator) -> Case:
    """One of the best ended early, when beginnings of others looked better that came to nothing."""
    while True:
        case = _some_case(
            g, likely=whole(g, 0, 20) / 10, width=2, max_len=4, alpha=whole(g, 10, 20) / 10
        )
        pushed = _ends_pushed_out(*case.args)
        if not _tied(*case.args) and pushed != beam_search(*case.args):
            return case


def _some_case(
    g: Generator,
    likely: float,
    width: int,
    max_len: int,
    alpha: float,
    start_likely: float = -4.0,
    vocab: int = 0,
    demands: tuple[str, ...] = (DIVIDES, ENDS),
    without_scores: bool = False,
) -> Case:
    vocab = vocab or whole(g, 5, 6)
    start, end = torch.randperm(vocab, generator=g)[:2].tolist()
    logits = 1.2 * normal(g, vocab, vocab)
    logits[:, end] += likely
    logits[:, start] += start_likely
    shows = (
        f"{vocab} tokens (start {start}, end {end}), width {width}, at most {max_len} tokens, "
        f"alpha = {alpha}{'; the start is likely, too' if start_likely > 0 else ''}"
    )
    args = (logits.log_softmax(dim=-1), start, end, width, max_len, alpha)
    return Case(args, shows=shows, demands=demands, without_scores=without_scores)


def beam_search(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    """The `width` best hypotheses, best first: (tokens, log probability over length penalty)."""
    return _search(log_probs, start, end, width, max_len, alpha)


def _search(
    log_probs: Tensor,
    start: int,
    end: int,
    width: int,
    max_len: int,
    alpha: float,
    stops: str = "at max_len",
    ended_from: str = "the best",
    places: str = "refilled",
    cut_off_compete: bool | str = True,
    live_compete: bool = False,
    penalty: str = "all tokens",
    scores: str = "sum of logs",
    more_ended: int = 0,
    more_live: int = 0,
    ends_at: int = -1,
    later_first: int = 0,
) -> list[Hypothesis]:
    table = (log_probs.exp() if "prob" in scores else log_probs).tolist()

    def best(hypothesis):
        return (
            (round(-hypothesis[1], 4), [later_first * token for token in hypothesis[0]])
            if later_first
            else -hypothesis[1]
        )

    live: list[Hypothesis] = [([], 1.0 if scores == "product of probs" else 0.0)]
    finished: list[Hypothesis] = []
    for n in range(1, max_len + 1):
        grown = [
            ([*tokens, token], _grown(score, more, scores))
            for tokens, score in live
            for token, more in enumerate(table[tokens[-1] if tokens else start])
        ]
        if places == "width each":
            grown = [
                h
                for i in range(0, len(grown), len(table))
                for h in sorted(grown[i : i + len(table)], key=best)[:width]
            ]
        if places == "one each" and n > 1:
            grown = [
                max(grown[i : i + len(table)], key=lambda h: h[1])
                for i in range(0, len(grown), len(table))
            ]
        grown.sort(key=best)
        if stops == "never":
            live = grown[:width]
            continue
        finished += [
            h
            for h in (grown[: width + more_ended] if ended_from == "the best" else grown)
            if h[0][-1] == end
        ]
        live = [
            h for h in (grown[:width] if places == "shrinking" else grown) if h[0][ends_at] != end
        ][: width + more_live]
        if places == "shrinking for good":
            live = live[: max(width - len(finished), 0)]
        if places == "ended too":
            live = grown[:width]
        if penalty == "at every step":
            live = [(tokens, score / ((5 + n) / 6) ** alpha) for tokens, score in live]
        if stops == "when an end leads" and grown[0][0][-1] == end:
            break
        if (
            len(finished)
            >= {
                "at max_len": math.inf,
                "at the first end": 1,
                "at width ends": width,
                "when an end leads": math.inf,
            }[stops]
        ):
            live = live if live_compete else []
            break
    few = {"if nothing ended": 1, "if too few ended": width, True: math.inf, False: 0}
    if len(finished) < few[cut_off_compete]:
        finished += live
    scored = []
    for tokens, score in finished:
        n = len(tokens) - (penalty == "without the end" and tokens[-1] == end)
        divisor = {
            "all tokens": ((5 + n) / 6) ** alpha,
            "without the end": ((5 + n) / 6) ** alpha,
            "the length": n**alpha,
            "none": 1.0,
        }
        divisor |= {
            "without alpha": (5 + n) / 6,
            "power of 6 alone": (5 + n) / 6**alpha,
            "power of the sum alone": (5 + n) ** alpha / 6,
            "what has ended": ((5 + n) / 6) ** alpha if tokens[-1:] == [end] else 1.0,
            "n alone divided": (5 + n / 6) ** alpha,
            "the start": ((6 + n) / 6) ** alpha,
            "one less": ((4 + n) / 6) ** alpha,
        }
        divisor["times alpha"] = alpha * (5 + n) / 6 if alpha else 1.0
        divisor["at every step"] = divisor["all tokens"] if tokens[-1:] == [end] else 1.0
        scored.append((tokens, score / divisor[penalty]))
    return sorted(scored, key=best)[:width]


def _grown(score: float, more: float, scores: str) -> float:
    if scores == "last only":
        return more
    return score * more if scores == "product of probs" else score + more


def _tied(log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float) -> bool:
    """Whether the answer depends on the order of hypotheses with equal scores, as those that take
    the same steps in another order have.
    """
    one, other = (
        _search(log_probs, start, end, width, max_len, alpha, later_first=order)
        for order in (1, -1)
    )
    return [tokens for tokens, _ in one] != [tokens for tokens, _ in other]


_WIDTHS = (
    lambda start, end, width, max_len: width + 1,
    lambda start, end, width, max_len: width - 1,
    lambda start, end, width, max_len: start,
    lambda start, end, width, max_len: end,
    lambda start, end, width, max_len: max_len,
)


def _other_width(
    log_probs: Tensor,
    start: int,
    end: int,
    width: int,
    max_len: int,
    alpha: float,
    of: str,
    width_of: Callable,
) -> list:
    """A slip: another number in the place of `width`."""
    return _search(
        log_probs,
        start,
        end,
        width,
        max_len,
        alpha,
        **{of: width_of(start, end, width, max_len) - width},
    )


_USUAL = {
    1: range(8),
    2: range(8),
    3: (2, 3, 4),
    4: (4, 5, 6),
    5: [alpha / 10 for alpha in range(6, 13)],
}


def _always(*args: Any, place: int, value: int | float) -> list[Hypothesis] | None:
    """A slip: one argument is always the same."""
    return beam_search(*args[:place], value, *args[place + 1 :]) if value < len(args[0]) else None


def _max_len_from_start(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    return beam_search(log_probs, start, end, width, start, alpha)


def _max_len_from_vocabulary(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    return beam_search(log_probs, start, end, width, len(log_probs), alpha)


def _row_from_another(
    log_probs: Tensor, *args: Any, row: int, other: int, axis: int
) -> list[Hypothesis]:
    places = torch.arange(len(log_probs))
    places[row] = places[other]
    return beam_search(log_probs.index_select(axis, places), *args)


def _greedy(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    tokens, score = [], 0.0
    while len(tokens) < max_len and end not in tokens:
        row = log_probs[tokens[-1] if tokens else start]
        tokens.append(int(row.argmax()))
        score += float(row.max())
    return [(tokens, score / ((5 + len(tokens)) / 6) ** alpha)]


def _with_start(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    return [
        ([start, *tokens], score)
        for tokens, score in beam_search(log_probs, start, end, width, max_len, alpha)
    ]


def _without_end(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    return [
        ([t for t in tokens if t != end], score)
        for tokens, score in beam_search(log_probs, start, end, width, max_len, alpha)
    ]


def _worst_first(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    return beam_search(log_probs, start, end, width, max_len, alpha)[::-1]


def _best_only(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    return beam_search(log_probs, start, end, width, max_len, alpha)[:1]


def _penalty_multiplied(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    return beam_search(log_probs, start, end, width, max_len, -alpha)


def _ranked_without_penalty(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    ranked = _search(log_probs, start, end, width, max_len, alpha, penalty="none")
    return [(tokens, score / ((5 + len(tokens)) / 6) ** alpha) for tokens, score in ranked]


def _tokens_only(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[list[int]]:
    return [tokens for tokens, _ in beam_search(log_probs, start, end, width, max_len, alpha)]


def _with_start_counted(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    found = _search(log_probs, start, end, width, max_len, alpha, penalty="the start")
    return [([start, *tokens], score) for tokens, score in found]


def _transposed(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    return beam_search(log_probs.T, start, end, width, max_len, alpha)


def _start_forbidden(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    """No token is the start again, as where it begins every sentence and is never said."""
    unsaid = log_probs.clone()
    unsaid[:, start] = -math.inf
    found = beam_search(unsaid, start, end, width, max_len, alpha)
    return [(tokens, score) for tokens, score in found if score > -math.inf]


def _start_not_kept(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    """The start is taken out of what is returned, wherever it stands."""
    return [
        ([token for token in tokens if token != start], score)
        for tokens, score in beam_search(log_probs, start, end, width, max_len, alpha)
    ]


def _other_number_of_steps(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float, more: int
) -> list[Hypothesis]:
    return beam_search(log_probs, start, end, width, max_len + more, alpha)


_SUMS = (
    "You add up probabilities. The probability of a sentence is the *product* of its tokens' "
    "probabilities, so it is their logarithms that are added: log_probs as it is, without exp."
)
_IN_THE_PENALTY = (
    beam_search,
    partial(_search, penalty="without alpha"),
    partial(_search, penalty="power of 6 alone"),
    partial(_search, penalty="n alone divided"),
    partial(_search, penalty="power of the sum alone"),
)
_IN_A_CLOSE_RACE = (
    _ranked_without_penalty,
    partial(_search, cut_off_compete="if nothing ended"),
    partial(_search, stops="at width ends"),
    partial(_search, stops="at width ends", live_compete=True),
)
_ENOUGH = (
    "You stop when `width` hypotheses have ended, good or bad. The best one may still be alive: go "
    "on until max_len."
)
_DROPPED = (
    "You drop what is still alive at max_len, always or where enough have ended. It was cut off, "
    "but it competes as it is with those that have ended, by its score: the best may be among "
    "them, and a model that never says `end` would otherwise say nothing at all."
)


def _all_worst_first(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    """Sorted upwards, then cut: the worst of all that were ever kept."""
    everything = _ranked_all(log_probs, start, end, width, max_len, alpha)
    return sorted(everything, key=lambda hypothesis: hypothesis[1])[:width]


def _ranked_all(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    """All that ended among the best of their step, and what was cut off."""
    table, live, found = log_probs.tolist(), [([], 0.0)], []
    for _ in range(max_len):
        grown = [
            ([*tokens, token], score + more)
            for tokens, score in live
            for token, more in enumerate(table[tokens[-1] if tokens else start])
        ]
        grown.sort(key=lambda hypothesis: -hypothesis[1])
        found += [h for h in grown[:width] if h[0][-1] == end]
        live = [h for h in grown if h[0][-1] != end][:width]
    return [(tokens, score / ((5 + len(tokens)) / 6) ** alpha) for tokens, score in found + live]


def _ends_of_twice_as_many(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    """The candidates are 2 · width, as in Hugging Face's programs, and nobody asks for an end's
    rank among them.
    """
    return _search(log_probs, start, end, width, max_len, alpha, more_ended=width)


def _top_k(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    """As with topk(width), which wants that many to choose from."""
    log_probs[start].topk(width)
    return beam_search(log_probs, start, end, width, max_len, alpha)


def _one_goes_on(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    return _search(log_probs, start, end, width, max_len, alpha, more_live=1 - width)


_IN_A_SEARCH = (
    beam_search,
    partial(_search, places="one each"),
    partial(_search, scores="sum of probs"),
    _one_goes_on,
    _transposed,
)


def _best_by_itself(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> Hypothesis:
    return beam_search(log_probs, start, end, width, max_len, alpha)[0]


def _scores_as_probabilities(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    ranked = _search(log_probs, start, end, width, max_len, alpha, penalty="none")
    return [(tokens, math.exp(score)) for tokens, score in ranked]


def _penalised_probabilities(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    found = beam_search(log_probs, start, end, width, max_len, alpha)
    return [(tokens, math.exp(score)) for tokens, score in found]


def _penalised(hypothesis: Hypothesis, alpha: float) -> float:
    return hypothesis[1] / ((5 + len(hypothesis[0])) / 6) ** alpha


def _ends_pushed_out(
    log_probs: Tensor, start: int, end: int, width: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    """What has ended is kept as long as it is among the best of all, ended or not."""
    table = log_probs.tolist()

    def best(hypotheses):
        return sorted(hypotheses, key=lambda h: -_penalised(h, alpha))

    live: list[Hypothesis] = [([], 0.0)]
    ended: list[Hypothesis] = []
    for _ in range(max_len):
        grown = [
            ([*tokens, token], score + more)
            for tokens, score in live
            for token, more in enumerate(table[tokens[-1] if tokens else start])
        ]
        ranked = best(grown + ended)
        ended = [h for h in ranked[:width] if h[0][-1] == end]
        live = [h for h in ranked if h[0][-1] != end][:width]
    return [(h[0], _penalised(h, alpha)) for h in best(ended + live)[:width]]


def _ends_stay(
    log_probs: Tensor,
    start: int,
    end: int,
    width: int,
    max_len: int,
    alpha: float,
    searched_by: float = 0.0,
) -> list[Hypothesis]:
    """What has ended stays in the beam as it is, and keeps a place there. `searched_by` times alpha
    is the exponent of the penalty by which it is compared while searching.
    """
    table = log_probs.tolist()
    beam: list[Hypothesis] = [([], 0.0)]
    for _ in range(max_len):
        grown = [h for h in beam if h[0][-1:] == [end]]
        grown += [
            ([*tokens, token], score + more)
            for tokens, score in beam
            if tokens[-1:] != [end]
            for token, more in enumerate(table[tokens[-1] if tokens else start])
        ]
        beam = sorted(grown, key=lambda h: -_penalised(h, searched_by * alpha))[:width]
    found = [(tokens, score / ((5 + len(tokens)) / 6) ** alpha) for tokens, score in beam]
    return sorted(found, key=lambda hypothesis: -hypothesis[1])


_BRACKETS = (
    "Your length penalty is not ((5 + n) / 6) ** alpha. Python takes the power first, then the "
    "division, then the sum, where no brackets say otherwise: the sum and the quotient need "
    "brackets of their own."
)
_BEST_ONLY = "You return the best hypothesis only. The `width` best are asked for, best first."
_EXPONENTIAL = (
    "Your scores are probabilities, the exponentials of what is asked for. A score is the sum of "
    "the log probabilities, divided by the length penalty: a negative number."
)

_START = (
    "Your tokens begin with the start token. It was given, not chosen: return what comes behind it."
)
_NOT_AGAIN = (
    "Your search never says the start token. In this table it is a token like the others, which "
    "may follow any of them: every live hypothesis is continued with *every* token."
)
_PLACES = (
    "What has ended stays in your beam: it holds a place there, so that fewer live on, and better "
    "beginnings can push it out. Put it aside: it competes again when all is done, and its place "
    "goes to the next best."
)
_EVERY_END = (
    "You accept ends that are not among the best, or every one, however unlikely. Only those among "
    "the `width` best of all continuations finish."
)
_SHRINKS = (
    "When a hypothesis ends, its place in your beam stays empty, and the search gets narrower. The "
    "place goes to the next best: `width` hypotheses live on, as long as there are so many."
)

_MISTAKES = (
    Misconception(
        "greedy",
        "This is greedy decoding: one hypothesis, always continued with its likeliest token. Keep "
        "`width` of them alive, and return as many.",
        _greedy,
    ),
    Misconception(
        "best_only",
        _BEST_ONLY,
        _best_only,
    ),
    Misconception(
        "no_length_penalty",
        "Your scores are plain log probabilities, and every token makes those smaller: short "
        "hypotheses win. Divide each by its length penalty, ((5 + n) / 6)^alpha, before you rank "
        "them.",
        partial(_search, penalty="none"),
    ),
    Misconception(
        "divided_by_length",
        "You divide by n^alpha. The penalty of the question is ((5 + n) / 6)^alpha, which is 1 for "
        "a single token and grows more gently.",
        partial(_search, penalty="the length"),
    ),
    Misconception(
        "alpha_multiplied",
        "You multiply (5 + n) / 6 by alpha. In the penalty alpha is the exponent: ((5 + n) / 6) ** "
        "alpha.",
        partial(_search, penalty="times alpha"),
    ),
    Misconception(
        "ranked_without_penalty",
        "Your scores are penalised, but you rank by the plain log probabilities. Divide first: the "
        "best have the highest *score*.",
        _ranked_without_penalty,
    ),
    Misconception(
        "end_not_counted",
        "Your length penalty does not count the end token. It was chosen and paid for like the "
        "others: n counts all tokens behind the start.",
        partial(_search, penalty="without the end"),
    ),
    Misconception(
        "penalty_multiplied",
        "You multiply by the length penalty. Log probabilities are negative, so that makes long "
        "hypotheses worse still: divide.",
        _penalty_multiplied,
    ),
    Misconception("probabilities_added", _SUMS, partial(_search, scores="sum of probs")),
    Misconception(
        "probabilities_multiplied",
        "You multiply probabilities. The order is the same, but the scores asked for are "
        "logarithms, and a product of a few hundred probabilities is 0 in float32. Add up "
        "log_probs.",
        partial(_search, scores="product of probs"),
    ),
    Misconception(
        "goes_on_behind_the_end",
        "You continue hypotheses that have ended. What ends with `end` is finished: put it aside "
        "and give its place to another.",
        partial(_search, stops="never"),
    ),
    Misconception(
        "each_its_own_best",
        "After the first step each hypothesis is continued with its own best token, so you run "
        "`width` greedy searches side by side. All continuations of all live hypotheses compete "
        "together; one hypothesis may have two children and another none.",
        partial(_search, places="one each"),
    ),
    Misconception(
        "beam_shrinks",
        _SHRINKS,
        partial(_search, places="shrinking"),
    ),
    Misconception("every_end_counts", _EVERY_END, partial(_search, ended_from="anywhere")),
    Misconception("every_end_counts", _EVERY_END, _ends_of_twice_as_many),
    Misconception(
        "stops_at_the_first_end",
        "You stop as soon as one hypothesis has ended. It is the likeliest *short* one; a longer "
        "one may still turn out better. Go on until max_len.",
        partial(_search, stops="at the first end"),
    ),
    Misconception(
        "stops_when_an_end_leads",
        "You stop when the likeliest continuation of all is one that ends. A longer hypothesis may "
        "still turn out better once its length is taken into account: go on until max_len.",
        partial(_search, stops="when an end leads"),
    ),
    Misconception(
        "penalised_at_every_step",
        "You divide by the length penalty at every step and go on adding to what is left, so the "
        "early tokens are divided again and again. While searching add up log probabilities as "
        "they are; divide once, when a hypothesis is complete.",
        partial(_search, penalty="at every step"),
    ),
    Misconception("stops_at_width_ends", _ENOUGH, partial(_search, stops="at width ends")),
    Misconception(
        "stops_at_width_ends", _ENOUGH, partial(_search, stops="at width ends", live_compete=True)
    ),
    Misconception("unfinished_dropped", _DROPPED, partial(_search, cut_off_compete=False)),
    Misconception(
        "unfinished_dropped", _DROPPED, partial(_search, cut_off_compete="if nothing ended")
    ),
    Misconception(
        "unfinished_dropped", _DROPPED, partial(_search, cut_off_compete="if too few ended")
    ),
    Misconception(
        "start_returned",
        _START,
        _with_start,
    ),
    Misconception(
        "end_dropped",
        "You drop the end token. Here it is part of a hypothesis; it tells a finished one from one "
        "that was cut off.",
        _without_end,
    ),
    Misconception(
        "worst_first",
        "Right, but the other way round: return the best first.",
        _worst_first,
    ),
    Misconception(
        "scores_missing",
        "You return the tokens only. Each entry is a pair: the tokens and the score.",
        _tokens_only,
    ),
    Misconception(
        "worst_kept",
        "You sort from the lowest score up, and then keep the first `width`: the worst of all. "
        "Scores are negative, and the best is the one nearest to 0: sort with reverse=True.",
        _all_worst_first,
    ),
    Misconception(
        "one_goes_on",
        "Only one hypothesis goes on from each step, as in greedy decoding; the others that are "
        "returned are ends that were met beside its way. Keep the `width` best that have not "
        "ended.",
        _one_goes_on,
    ),
    Misconception("best_only", _BEST_ONLY, _best_by_itself),
    Misconception("ends_keep_their_places", _PLACES, _ends_stay),
    Misconception("ends_keep_their_places", _PLACES, partial(_ends_stay, searched_by=1.0)),
    Misconception(
        "ends_pushed_out",
        "What has ended is pushed out of your list by beginnings that look better at the time, and "
        "is lost even if these come to nothing. Put it aside for good: it competes again when all "
        "is done, and not before.",
        _ends_pushed_out,
    ),
    Misconception(
        "width_continuations_each",
        "You continue each hypothesis with its `width` likeliest tokens only. If `end` is one of "
        "them, fewer are left to live on, and the `width` best may all stem from one: take every "
        "token, or width + 1.",
        partial(_search, places="width each"),
    ),
    Misconception(
        "penalty_without_brackets", _BRACKETS, partial(_search, penalty="power of 6 alone")
    ),
    Misconception(
        "penalty_without_brackets", _BRACKETS, partial(_search, penalty="n alone divided")
    ),
    Misconception(
        "alpha_ignored",
        "You divide by (5 + n) / 6, whatever alpha is. It is the penalty's exponent: "
        "((5 + n) / 6) ** alpha.",
        partial(_search, penalty="without alpha"),
    ),
    Misconception(
        "start_counted",
        "Your n is one too large. It counts the tokens that were chosen: not the start, which was "
        "given.",
        partial(_search, penalty="the start"),
    ),
    Misconception(
        "one_token_not_counted",
        "Your n is one too small: it counts all tokens that were chosen, from the first to the "
        "last. (In a loop over range(max_len) the number of the step is one less.)",
        partial(_search, penalty="one less"),
    ),
    Misconception("scores_as_probabilities", _EXPONENTIAL, _scores_as_probabilities),
    Misconception("scores_as_probabilities", _EXPONENTIAL, _penalised_probabilities),
    Misconception("start_returned", _START, _with_start_counted),
    Misconception("beam_shrinks", _SHRINKS, partial(_search, places="shrinking for good")),
    Misconception(
        "penalty_without_brackets", _BRACKETS, partial(_search, penalty="power of the sum alone")
    ),
    Misconception(
        "table_transposed",
        "You read the table the other way round. log_probs[i, j] is for token j *behind* i: what "
        "may follow stands in the row of the last token, log_probs[last].",
        _transposed,
    ),
    Misconception(
        "one_step_short",
        "You make one step too few: hypotheses may have max_len tokens, and every step adds one.",
        partial(_other_number_of_steps, more=-1),
    ),
    Misconception(
        "one_step_too_many",
        "You make one step too many: hypotheses have at most max_len tokens, and every step adds "
        "one.",
        partial(_other_number_of_steps, more=1),
    ),
    Misconception(
        "cut_off_without_penalty",
        "What was cut off at max_len keeps its plain sum of log probabilities, and only what has "
        "ended is divided by the length penalty. Both compete: divide all of them.",
        partial(_search, penalty="what has ended"),
    ),
    Misconception(
        "ended_and_alive",
        "What has ended is put aside and also lives on, so that it is continued behind its end. "
        "Only what does *not* end with `end` lives on.",
        partial(_search, places="ended too"),
    ),
    Misconception(
        "scores_not_added",
        "The score of a continuation is that of its last token alone. Add it to the score of the "
        "hypothesis that it continues.",
        partial(_search, scores="last only"),
    ),
    Misconception(
        "more_wanted_than_there_are",
        "topk(k) wants k numbers to choose from. With few tokens the first step has fewer "
        "continuations than `width`, and then all live on: topk(min(width, how many there are)).",
        _top_k,
        by_exception=True,
    ),
    Misconception("start_forbidden", _NOT_AGAIN, _start_forbidden),
    Misconception(
        "start_taken_out",
        "You take the start token out of the hypotheses, wherever it stands. Only the first was "
        "given. Where the search says it again, it is one of the tokens: return it, and count it.",
        _start_not_kept,
    ),
)

BEAM = Question(
    name="hw3.beam_search",
    title="Beam search",
    points=4,
    minutes=40,
    difficulty=3,
    chapter="09_generating#beam-search",
    cases=_beam_cases,
    reference=beam_search,
    misconceptions=_MISTAKES,
    demands=(Demand(KEEPS, 1), Demand(DIVIDES, 1), Demand(ENDS, 2)),
)
