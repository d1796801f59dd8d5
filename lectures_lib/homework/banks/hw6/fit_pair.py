"""Question 1: two sentences that are too long together."""

from functools import partial

from torch import Generator

from lectures_lib.homework.banks.inputs import pick, whole
from lectures_lib.homework.banks.telling import telling
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

ONE = "of a pair in which one sentence is too long, that one loses its end"
BOTH = "of two long ones, the longer one loses its last token, again and again"
SINGLE = "a single sentence that is too long loses its end"

_WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "bird",
    "mouse",
    "sees",
    "hears",
    "likes",
    "play",
    "##ing",
    "old",
    "un",
    "##friend",
    "##ly",
    "today",
]

Rows = tuple[list[str], list[int]]


def _pair_cases(g: Generator) -> list[Case]:
    def case(n: int, m: int, room: int, what: str) -> Case:
        first, second = pick(g, _WORDS, n), pick(g, _WORDS, m) if m else None
        for sentence in filter(None, (first, second)):
            # a word that stands in it twice: who removes a word by its name removes the wrong one
            sentence[-1] = sentence[0]
        max_len = room + (3 if m else 2)
        lengths = f"{n} and {m} tokens" if m else f"a single sentence of {n} tokens"
        return Case(
            (first, second, max_len),
            shows=f"{lengths}, max_len = {max_len}: {what}",
            demands=(SINGLE if not m else ONE if min(n, m) <= short + 1 else BOTH,),
        )

    short, long = whole(g, 3, 5), whole(g, 11, 15)
    middle = whole(g, 7, 8)
    room = 2 * whole(g, 4, 5) + 1
    return [
        case(short, short + 1, 2 * short + 1, "it just fits"),
        case(short + 1, short, 4 * short, "it fits"),
        case(long, short, short + middle, "the first is too long"),
        case(short, long, short + middle, "the second is too long"),
        case(long, middle, room, "both are too long"),
        case(middle, long, 2 * (middle - 2), "both are too long"),
        case(long, 0, long - 3, "too long"),
        case(middle, 0, middle, "it just fits"),
        case(short, 0, long, "it fits"),
        case(long, long, 2, "room for one token of each"),
    ]


def fit_pair(first: list[str], second: list[str] | None, max_len: int) -> Rows:
    """Tokens and segments of one sentence or two, of at most max_len tokens."""
    return _fitted(first, second, max_len)


def _from_the_longer(
    a: list[str], b: list[str], room: int, tie: str = "second", front: bool = False
) -> tuple[list[str], list[str]]:
    """One token after the other is taken from the longer sentence."""
    a, b = list(a), list(b)
    while len(a) + len(b) > max(room, 0):
        of_first = len(a) > len(b) or (len(a) == len(b) and tie == "first")
        (a if of_first else b).pop(0 if front else -1)
    return a, b


def _front_of_one(
    a: list[str], b: list[str], room: int, of_first: bool = False
) -> tuple[list[str], list[str]]:
    """The right numbers of tokens; one sentence loses its first ones."""
    first, second = _from_the_longer(a, b, room)
    return (
        (a[len(a) - len(first) :], second) if of_first and b else (first, b[len(b) - len(second) :])
    )


def _from_the_second(a, b, room):
    return a[:room], b[: max(room - len(a), 0)]


def _from_the_first(a, b, room):
    return a[: max(room - len(b), 0)], b[:room]


def _halves(a, b, room):
    """Both to half of the room, whether the other needs its half or not."""
    return (a[: room // 2], b[: room // 2]) if b else (a[:room], b)


def _halves_if_too_long(a, b, room):
    return (a, b) if len(a) + len(b) <= room else _halves(a, b, room)


def _halves_with_the_odd_one(a, b, room):
    return (
        (a[: room - room // 2], b[: room // 2]) if b and len(a) + len(b) > room else (a[:room], b)
    )


def _halves_in_any_case(a, b, room):
    """The odd one for the first, and no look at whether both fit."""
    return a[: room - room // 2], b[: room // 2]


def _halves_with_the_odd_one_behind(a, b, room):
    return a[: room // 2], b[: room - room // 2]


def _in_proportion(a, b, room, number=round, rest=True):
    """`rest`: what the first does not get, the second does; else both are rounded."""
    n = len(a) + len(b)
    if n <= room:
        return a, b
    k = number(room * len(a) / n)
    return a[:k], b[: room - k if rest else number(room * len(b) / n)]


def _second_alone(a, b, room, lowest=0):
    """The first is never cut; `lowest`: of the number that the second keeps, for a slice."""
    return a, b[: max(room - len(a), lowest)]


def _first_alone(a, b, room, lowest=0):
    return a[: max(room - len(b), lowest)], b


def _in_turn(a, b, room, second_begins=False):
    """Each loses one in turn, and keeps one."""
    a, b = list(a), list(b)
    for i in range(max(len(a) + len(b) - room, 0)):
        of_first = (i % 2 == second_begins and len(a) > 1) or len(b) == 1
        (a if of_first else b).pop()
    return a, b


def _fitted(first, second, max_len, cut=_from_the_longer, special=(2, 3), segments="after"):
    a, b = cut(first, second or [], max_len - special[second is not None])
    tokens = ["[CLS]", *a, "[SEP]"] + ([*b, "[SEP]"] if second is not None else [])
    n = len(first if segments == "before" else a) + 2
    return tokens, [0 if segments == "all 0" or i < n else 1 for i in range(len(tokens))]


def _pairs(first, second, max_len, row=None, **kinds):
    """A single sentence is treated rightly, a pair like this."""
    if second is None:
        return fit_pair(first, second, max_len)
    return (row or partial(_fitted, **kinds))(first, second, max_len)


def _uncut(first, second, max_len):
    return _fitted(first, second, 10**6)


def _row_cut(first, second, max_len):
    """The finished row is cut, and the [SEP] at its end with it."""
    tokens, segments = _uncut(first, second, max_len)
    return tokens[:max_len], segments[:max_len]


def _row_cut_before_sep(first, second, max_len):
    tokens, segments = _uncut(first, second, max_len)
    return (
        (tokens, segments)
        if len(tokens) <= max_len
        else ([*tokens[: max_len - 1], "[SEP]"], segments[:max_len])
    )


def _sep_in_the_second_segment(first, second, max_len):
    tokens, segments = fit_pair(first, second, max_len)
    if second is not None:
        segments[tokens.index("[SEP]")] = 1
    return tokens, segments


def _padded(first, second, max_len):
    tokens, segments = fit_pair(first, second, max_len)
    gap = max_len - len(tokens)
    return tokens + ["[PAD]"] * gap, segments + [0] * gap


def _in_place(first, second, max_len, of_first=True, of_second=True):
    a, b = (
        (first if of_first else list(first)),
        (second if of_second and second is not None else list(second or [])),
    )
    room = max_len - (2 if second is None else 3)
    while len(a) + len(b) > room:
        (a if len(a) > len(b) else b).pop()
    return fit_pair(a, None if second is None else b, max_len)


def _removed_by_name(first, second, max_len):
    def cut(a, b, room):
        a, b = list(a), list(b)
        while len(a) + len(b) > room:
            longer = a if len(a) > len(b) else b
            longer.remove(longer[-1])
        return a, b

    return _fitted(first, second, max_len, cut)


_LONGER = (
    "You shorten one particular sentence, whichever of the two is longer. What is too long is "
    "taken from the *longer* one, so that a short question keeps all its words beside a long text: "
    "one token after the other, from the end of the sentence that is longer at that moment."
)
_HALVES = (
    "You give each sentence half of the room. A short sentence does not need its half, and the "
    "longer one could have had the rest: take tokens one after the other from the longer sentence "
    "until both fit."
)
_ROW_CUT = (
    "You cut the finished row, and its last [SEP] goes first. Cut the sentences, then put the "
    "special tokens around them."
)
_PROPORTION = (
    "You shorten both in proportion to their lengths. Only the longer one is shortened, until it "
    "is no longer than the other."
)
_FRONT = "You take tokens from the beginning of the longer sentence. They are taken from its end."
_COUNT = (
    "Your rows are longer or shorter than they should be. [CLS] and each [SEP] take a place, too: "
    "for two sentences max_len - 3 tokens are left, for a single one max_len - 2."
)

_IN_PLACE = "changed_in_place"
_CHANGED = (
    "You take the tokens out of the lists that you were given: whoever called you has lost them. "
    "Work on copies: list(first)."
)


def _from_the_longer_at_first(a, b, room):
    """Which one pays is decided once."""
    a, b = list(a), list(b)
    loser = a if len(a) > len(b) else b
    while len(a) + len(b) > room:
        loser.pop()
    return a, b


def _from_the_second_but_one(a, b, room, of_first=False):
    """One token of it is left, and then the other one pays, too."""
    short, other = (list(a), list(b)) if of_first else (list(b), list(a))
    while len(a) + len(b) and len(short) + len(other) > room:
        (short if len(short) > 1 else other).pop()
    return (short, other) if of_first else (other, short)


def _single_uncut(first, second, max_len):
    return fit_pair(first, second, 10**6 if second is None else max_len)


_MISTAKES = (
    Misconception(
        "not_cut",
        "You build the row and cut nothing. BERT has a vector for each of 512 positions and "
        "none for what comes after: no row may be longer than max_len.",
        _uncut,
    ),
    Misconception(
        "last_sep_cut_off",
        _ROW_CUT,
        _row_cut,
    ),
    Misconception("one_sentence_pays", _LONGER, _row_cut_before_sep),
    Misconception("one_sentence_pays", _LONGER, partial(_fitted, cut=_from_the_second)),
    Misconception("one_sentence_pays", _LONGER, partial(_fitted, cut=_from_the_first)),
    Misconception("half_of_the_room", _HALVES, partial(_fitted, cut=_halves)),
    Misconception("half_of_the_room", _HALVES, partial(_fitted, cut=_halves_if_too_long)),
    Misconception("half_of_the_room", _HALVES, partial(_fitted, cut=_halves_with_the_odd_one)),
    Misconception(
        "in_proportion",
        _PROPORTION,
        partial(_fitted, cut=_in_proportion),
    ),
    Misconception(
        "beginning_cut_off",
        _FRONT,
        partial(_fitted, cut=partial(_from_the_longer, front=True)),
    ),
    Misconception(
        "beginning_of_one_cut_off",
        "One of the two sentences loses its first tokens in your rows, the other its last. "
        "Both are shortened at the end.",
        partial(_fitted, cut=_front_of_one),
    ),
    Misconception(
        "beginning_of_one_cut_off",
        "One of the two sentences loses its first tokens in your rows, the other its last. "
        "Both are shortened at the end.",
        partial(_fitted, cut=partial(_front_of_one, of_first=True)),
    ),
    Misconception(
        "tie_from_the_first",
        "Right, but for ties: where both sentences are equally long, the *second* loses a token.",
        partial(_fitted, cut=partial(_from_the_longer, tie="first")),
    ),
    Misconception("special_tokens_not_counted", _COUNT, partial(_fitted, special=(0, 0))),
    Misconception("special_tokens_not_counted", _COUNT, partial(_fitted, special=(1, 1))),
    Misconception("special_tokens_not_counted", _COUNT, partial(_fitted, special=(2, 2))),
    Misconception("special_tokens_not_counted", _COUNT, partial(_fitted, special=(3, 3))),
    Misconception("special_tokens_not_counted", _COUNT, partial(_fitted, special=(1, 2))),
    Misconception(
        "segments_before_cutting",
        "Your tokens are right, your segments belong to the sentences as they were before they "
        "were cut. Count what is left of the first.",
        partial(_fitted, segments="before"),
    ),
    Misconception(
        "all_in_one_segment",
        "All your segments are 0. The second sentence and the [SEP] that ends it have segment 1.",
        partial(_fitted, segments="all 0"),
    ),
    Misconception(
        "first_sep_in_the_second_segment",
        "The [SEP] between the sentences has segment 1 in your rows. It *ends* the first "
        "sentence and belongs to it: segment 0.",
        _sep_in_the_second_segment,
    ),
    Misconception(
        "padded",
        "You fill short rows up to max_len. Nothing is padded here: that is done for a whole "
        "batch, to the length of its longest row.",
        _padded,
    ),
    Misconception(
        "removed_by_its_name",
        "You take the last token out with `remove`, which looks for the *first* token of that "
        "name. Where a word stands in the sentence twice, the wrong one goes: pop() takes the "
        "last.",
        _removed_by_name,
    ),
    Misconception(_IN_PLACE, _CHANGED, _in_place),
    Misconception(_IN_PLACE, _CHANGED, partial(_in_place, of_first=False)),
    Misconception(_IN_PLACE, _CHANGED, partial(_in_place, of_second=False)),
    Misconception("one_sentence_pays", _LONGER, partial(_fitted, cut=_from_the_second_but_one)),
    Misconception(
        "decided_once_who_pays",
        "You decide once which sentence is longer, and take everything from it, even when it "
        "has become the shorter one. Compare anew for each token that is taken.",
        partial(_fitted, cut=_from_the_longer_at_first),
    ),
    Misconception(
        "single_sentence_not_cut",
        "Right for two sentences. A single one may be too long as well: max_len - 2 of its "
        "tokens are kept.",
        _single_uncut,
    ),
    Misconception("special_tokens_not_counted", _COUNT, partial(_fitted, special=(2, 4))),
    Misconception("special_tokens_not_counted", _COUNT, partial(_fitted, special=(3, 4))),
    Misconception("last_sep_cut_off", _ROW_CUT, partial(_pairs, row=_row_cut)),
    *(
        Misconception(
            "one_sentence_pays", _LONGER, partial(_pairs, cut=partial(cut, lowest=lowest))
        )
        for cut in (_second_alone, _first_alone)
        for lowest in (0, -1000)
    ),
    Misconception("half_of_the_room", _HALVES, partial(_pairs, cut=_halves_in_any_case)),
    Misconception(
        "half_of_the_room", _HALVES, partial(_pairs, cut=_halves_with_the_odd_one_behind)
    ),
    *(
        Misconception(
            "in_proportion",
            _PROPORTION,
            partial(_pairs, cut=partial(_in_proportion, number=int, rest=rest)),
        )
        for rest in (True, False)
    ),
    *(
        Misconception(
            "in_turn",
            "You take a token from each sentence in turn. Each time it is the *longer* one that "
            "loses one: the shorter keeps all of its tokens until both are equally long.",
            partial(_pairs, cut=partial(_in_turn, second_begins=second_begins)),
        )
        for second_begins in (False, True)
    ),
    Misconception(
        "beginning_cut_off", _FRONT, partial(_pairs, cut=partial(_from_the_longer, front=True))
    ),
    *(
        Misconception("special_tokens_not_counted", _COUNT, partial(_fitted, special=special))
        for special in ((2, 0), (2, 1), (0, 3), (1, 3))
    ),
)

FIT_PAIR = Question(
    name="hw6.fit_pair",
    title="Two sentences that are too long",
    points=2,
    minutes=15,
    difficulty=1,
    chapter="14_fine_tuning#the-same-head-another-question",
    cases=lambda g: telling(
        g, _pair_cases, fit_pair, [m.answer for m in _MISTAKES if m.name != _IN_PLACE]
    ),
    reference=fit_pair,
    misconceptions=_MISTAKES,
    demands=(Demand(ONE, 1), Demand(BOTH, 0.5), Demand(SINGLE, 0.5)),
)
