"""Question 4: which words are hidden, and how. Whole words: what is chosen is never a piece
alone.
"""

from collections.abc import Callable
from functools import partial
from math import ceil

import torch
from torch import Generator

from lectures_lib.homework.banks.inputs import pick, whole
from lectures_lib.homework.banks.telling import telling
from lectures_lib.homework.questions import Case, Demand, Misconception, Question, Varied

_WORDS = [
    ["cats"],
    ["like"],
    ["fish"],
    ["the"],
    ["old"],
    ["man"],
    ["play", "##ing"],
    ["flight", "##less"],
    ["un", "##friend", "##ly"],
    ["bird", "##s"],
    ["pen", "##gui", "##ns"],
    ["today"],
    ["#"],  # words that look like pieces, and are none
    ["C##"],
    ["["],  # and words that look special
    ["[1]"],
    ["[UNK]"],
]
CHOSEN = "words of one piece are chosen by their chance, and masked by a low fate"
SPARED = "special tokens are never chosen, and nothing else is spared"
WHOLE = "the chance of a word's first piece decides for all its pieces"
FATES = "each chosen piece has its own fate, bounds included"
_SPECIAL = ("[CLS]", "[SEP]", "[PAD]")
Bounds = tuple[float, float, float]  # chosen below, [MASK] below, another token below
_BERTS = (0.15, 0.8, 0.9)


def _draw(g: Generator, bounds: Bounds) -> list[Case]:
    cases = []
    for padding in (0, whole(g, 3, 8)):
        halves = [
            [piece for _ in range(whole(g, 30, 45)) for piece in pick(g, _WORDS, 1)[0]]
            for _ in range(2)
        ]
        tokens = ["[CLS]", *halves[0], "[SEP]", *halves[1], "[SEP]"] + ["[PAD]"] * padding
        chance, fate = torch.rand(2, len(tokens), generator=g, dtype=torch.float64).tolist()
        others = [f"other{i}" for i in range(len(tokens))]
        _make_telling(g, tokens, chance, fate, others, bounds)
        n_words = sum(not token.startswith("##") and token not in _SPECIAL for token in tokens)
        shows = f"{len(tokens)} tokens, {n_words} words, {padding or 'no'} padding"
        demands = (SPARED, WHOLE, FATES)
        cases.append(Case((tokens, chance, fate, others), shows=shows, demands=demands))
    return cases


def _one_by_one(g: Generator, bounds: Bounds) -> list[Case]:
    """For each demand an input that asks for nothing else. All but the last have low fates alone,
    all but `WHOLE` only words of one piece.
    """
    chosen, masked, replaced = bounds

    def between(low: float, high: float) -> float:
        """A number inside of these, and not near them."""
        return low + (high - low) * whole(g, 40, 60) / 100

    def case(demand: str, tokens: list[str], chosen_ones: list[bool], fate: list[float]) -> Case:
        # so near the bound that an answer with another variant's is none
        chance = [between(0.95, 1.0) * chosen / (1 if each else 0.95) for each in chosen_ones]
        others = [f"other{i}" for i in range(len(tokens))]
        if demand is FATES:  # as chance may have it, one is replaced by itself
            others[4] = tokens[4]
        shows = f"{len(tokens)} tokens: {demand}"
        return Case((tokens, chance, fate, others), shows=shows, demands=(demand,))

    def low_fates(tokens: list[str]) -> list[float]:
        return [between(0.0, masked) for _ in tokens]

    words = [f"word{i}" for i in range(whole(g, 10, 14))]
    half = [i % 2 == 0 for i in range(len(words))]
    ordinary = case(CHOSEN, words, half, low_fates(words))

    look_special = ("[", "[1]", "[UNK]")
    text = ["[CLS]", *words[:4], "[", "[SEP]", *words[4:8], "[1]", "[UNK]", "[SEP]"]
    text += ["[PAD]", "[PAD]"]
    low = [token in _SPECIAL or token in (*look_special, *words[:8:2]) for token in text]
    special = case(SPARED, text, low, low_fates(text))

    pieces = [["un", "##friend", "##ly"], ["bird", "##s"], ["pen", "##gui", "##ns"]]
    pieces = pick(g, pieces, 3)
    first = [[True, False, False], [False, True, False], [False, False, True]]
    rows = [each for row in first for word in pieces for each in zip(word, row, strict=False)]
    of_words = [piece for piece, _ in rows]
    several = case(WHOLE, of_words, [low for _, low in rows], low_fates(of_words))

    fates = [
        0.01,
        between(0.0, masked),
        masked,
        between(masked, replaced),
        between(masked, replaced),
    ]
    fates += [replaced, between(replaced, 1.0)]
    rest = [between(0.0, 1.0) for _ in words[len(fates) :]]
    low = [True] * len(fates) + [False] * len(rest)
    return [ordinary, special, several, case(FATES, words, low, fates + rest)]


def _make_telling(
    g: Generator,
    tokens: list[str],
    chance: list[float],
    fate: list[float],
    others: list[str],
    bounds: Bounds,
) -> None:
    """Special tokens would be chosen if they could be; three words lie exactly on a bound, two have
    a 0, which is a low number too; one is replaced by itself, as chance may have it, and of a word
    of several pieces the second is replaced.
    """
    chosen, masked, replaced = bounds
    for i, token in enumerate(tokens):
        if token in _SPECIAL:
            chance[i] *= chosen
    first = [i for i, token in enumerate(tokens) if not _goes_on(token) and token not in _SPECIAL]
    long = pick(g, [i for i in first if _goes_on(tokens[i + 1])], 1)[0]
    at_chosen, at_masked, at_replaced, at_0, at_fate_0, at_same = pick(
        g, [i for i in first if i != long], 6
    )
    chance[long], fate[long + 1] = chosen * chance[long], (masked + replaced) / 2
    chance[at_chosen] = chosen
    chance[at_masked], fate[at_masked] = chosen * chance[at_masked], masked
    chance[at_replaced], fate[at_replaced] = chosen * chance[at_replaced], replaced
    chance[at_0] = 0.0
    chance[at_fate_0], fate[at_fate_0] = chosen * chance[at_fate_0], 0.0
    chance[at_same], fate[at_same] = chosen * chance[at_same], (masked + replaced) / 2
    others[at_same] = tokens[at_same]


Read = tuple[list[str], list[bool]]


def mask_words(
    tokens: list[str],
    chance: list[float],
    fate: list[float],
    others: list[str],
    *,
    bounds: Bounds = _BERTS,
) -> Read:
    """What the model reads, and which tokens it is asked about."""
    return _masked(tokens, chance, fate, others, bounds=bounds)


def _goes_on(token: str) -> bool:
    return token.startswith("##")


def _starts(tokens: list[str], goes_on: Callable = _goes_on) -> list[int]:
    """For each token, where its word begins."""
    starts: list[int] = []
    for i, token in enumerate(tokens):
        starts.append(starts[-1] if goes_on(token) else i)
    return starts


def _of_first(numbers: list[float], starts: list[int]) -> list[float]:
    return [numbers[start] for start in starts]


def _own(numbers: list[float], starts: list[int]) -> list[float]:
    return numbers


def _of_all(choose: Callable) -> Callable:
    def of_word(numbers, starts):
        return [
            choose(numbers[j] for j, other in enumerate(starts) if other == start)
            for start in starts
        ]

    return of_word


def _of_piece_before(numbers: list[float], starts: list[int]) -> list[float]:
    return [numbers[i if i == start else i - 1] for i, start in enumerate(starts)]


def _of_last(numbers: list[float], starts: list[int]) -> list[float]:
    last = {start: numbers[i] for i, start in enumerate(starts)}
    return [last[start] for start in starts]


def _masked(
    tokens,
    chance,
    fate,
    others,
    word_chance: Callable = _of_first,
    word_fate: Callable = _own,
    may: Callable = lambda token: token not in _SPECIAL,
    chosen: Callable = lambda chance, below: chance < below,
    asked: Callable = lambda chosen, old, new: chosen,
    of_all: bool = False,
    mask: Callable = lambda fate, masked, replaced: fate < masked,
    replace: Callable = lambda fate, masked, replaced: masked <= fate < replaced,
    replaced_last: bool = False,
    goes_on: Callable = _goes_on,
    *,
    bounds: Bounds = _BERTS,
):
    below, *fates = bounds
    starts = _starts(tokens, goes_on)
    read, picked = [], []
    for token, c, f, other in zip(
        tokens, word_chance(chance, starts), word_fate(fate, starts), others, strict=True
    ):
        choose = may(token) and chosen(c, below)
        struck = may(token) if of_all else choose
        masked, replaced = struck and mask(f, *fates), struck and replace(f, *fates)
        if replaced_last:
            new = other if replaced else "[MASK]" if masked else token
        else:
            new = "[MASK]" if masked else other if replaced else token
        read.append(new)
        picked.append(asked(choose, token, new))
    return read, picked


def _in_place(tokens, chance, fate, others, *, bounds=_BERTS):
    read, chosen = mask_words(tokens, chance, fate, others, bounds=bounds)
    tokens[:] = read
    return tokens, chosen


def _words_asked(tokens, chance, fate, others, *, bounds=_BERTS):
    """The second list holds what stood there, and None elsewhere."""
    read, chosen = mask_words(tokens, chance, fate, others, bounds=bounds)
    return read, [token if asked else None for token, asked in zip(tokens, chosen, strict=True)]


def _numbers(tokens, chance, fate, others, *, bounds=_BERTS):
    read, chosen = mask_words(tokens, chance, fate, others, bounds=bounds)
    return read, [i for i, asked in enumerate(chosen) if asked]


def _others_in_order(tokens, chance, fate, others, *, bounds=_BERTS):
    """Whatever is replaced takes the next of `others`."""
    read, chosen = mask_words(tokens, chance, fate, [""] * len(tokens), bounds=bounds)
    places = [i for i, token in enumerate(read) if not token]
    for i, other in zip(places, others, strict=False):
        read[i] = other
    return read, chosen


def _later_pieces_replaced(by: Callable) -> Callable:
    """Whatever is replaced becomes its own token of `others` where a word begins; a later piece
    becomes what `by` says: of all tokens, all others, its place and the word's first.
    """

    def answer(tokens, chance, fate, others, *, bounds=_BERTS):
        told = [
            others[i] if i == first else by(tokens, others, i, first)
            for i, first in enumerate(_starts(tokens))
        ]
        return mask_words(tokens, chance, fate, told, bounds=bounds)

    return answer


def _once_decided(tokens, chance, fate, others, *, bounds=_BERTS):
    """A word that comes again shares the decision that was made when it came first."""
    first = {token: i for i, token in reversed(list(enumerate(tokens)))}
    again = [
        c if token.startswith("##") else chance[first[token]]
        for token, c in zip(tokens, chance, strict=True)
    ]
    return mask_words(tokens, again, fate, others, bounds=bounds)


def _swapped(tokens, chance, fate, others, *, bounds=_BERTS):
    return mask_words(tokens, chance, fate, others, bounds=bounds)[::-1]


def _one_mask_for_a_word(tokens, chance, fate, others, *, bounds=_BERTS):
    """A word whose every piece is masked becomes a single [MASK]: the rows get shorter."""
    read, chosen = mask_words(tokens, chance, fate, others, bounds=bounds)
    drop = [
        t.startswith("##") and r == "[MASK]" and b == "[MASK]"
        for t, r, b in zip(tokens, read, ["", *read[:-1]], strict=True)
    ]
    return [r for r, d in zip(read, drop, strict=True) if not d], [
        c for c, d in zip(chosen, drop, strict=True) if not d
    ]


_ANY = (
    "You choose a word as soon as *one* of its pieces has a chance below 0.15. Long words have "
    "several tries then, and more than 15 per cent are chosen. The chance of the first piece "
    "decides for all of them."
)
_SPECIALS = (
    "You choose special tokens too. [CLS], [SEP] and [PAD] are no words of the text: there is "
    "nothing to learn from guessing them."
)
_BOUNDS = (
    "Your bounds belong to the wrong side. *Below* 0.15 excludes 0.15 itself, which is not chosen; "
    "a fate of exactly 0.8 replaces the token, and one of exactly 0.9 leaves it as it is. Compare "
    "with <, not with <=."
)


def _with_bounds(chance=False, mask=False, replace=False):
    """An answer with <= in place of < at these."""
    less = {False: lambda a, b: a < b, True: lambda a, b: a <= b}
    return partial(
        _masked,
        chosen=lambda c, below: less[chance](c, below),
        mask=lambda f, masked, replaced: less[mask](f, masked),
        replace=lambda f, masked, replaced: (
            not less[mask](f, masked) and less[replace](f, replaced)
        ),
    )


def _piece_joins_in(tokens, chance, fate, others, *, bounds=_BERTS):
    """A piece goes with the piece before it, or is chosen by a small chance of its own."""
    starts = _starts(tokens)
    chosen: list[bool] = []
    for i, (token, c) in enumerate(zip(tokens, chance, strict=True)):
        goes_with = i != starts[i] and chosen[-1]
        chosen.append(token not in _SPECIAL and (goes_with or c < bounds[0]))
    told = [0.0 if each else 1.0 for each in chosen]
    return _masked(tokens, told, fate, others, word_chance=_own, bounds=bounds)


def _first_pieces_asked(tokens, chance, fate, others, *, bounds=_BERTS):
    read, chosen = mask_words(tokens, chance, fate, others, bounds=bounds)
    return read, [
        asked and not _goes_on(token) for asked, token in zip(chosen, tokens, strict=True)
    ]


def _changed_or_kept(tokens, chance, fate, others, *, bounds=_BERTS):
    """What is replaced by itself is not asked about."""
    read, chosen = mask_words(tokens, chance, fate, others, bounds=bounds)
    compared = zip(chosen, read, tokens, fate, strict=True)
    return read, [asked and (new != old or f >= bounds[2]) for asked, new, old, f in compared]


def _kept_not_asked(tokens, chance, fate, others, *, bounds=_BERTS):
    """Told by `fate`: what is replaced by itself is asked about."""
    read, chosen = mask_words(tokens, chance, fate, others, bounds=bounds)
    return read, [asked and f < bounds[2] for asked, f in zip(chosen, fate, strict=True)]


def _all_struck(tokens, chance, fate, others, *, bounds=_BERTS):
    """Special tokens as well."""
    _, chosen = mask_words(tokens, chance, fate, others, bounds=bounds)
    read, _ = _masked(
        tokens, chance, fate, others, may=lambda token: True, of_all=True, bounds=bounds
    )
    return read, chosen


def _by_chance_alone(tokens, chance, fate, others, *, bounds=_BERTS):
    """One number says whether a word is chosen and what becomes of its pieces."""
    alone = [number / bounds[0] for number in _of_first(chance, _starts(tokens))]
    return _masked(tokens, chance, alone, others, bounds=bounds)


def _smallest_chances(tokens, chance, fate, others, count=round, *, bounds=_BERTS):
    """The words with the smallest chances, as many as make up the share."""
    starts = _starts(tokens)
    words = [start for start in dict.fromkeys(starts) if tokens[start] not in _SPECIAL]
    first = sorted(words, key=chance.__getitem__)[: count(bounds[0] * len(words))]
    told = [0.0 if start in first else 1.0 for start in starts]
    return _masked(tokens, told, fate, others, word_chance=_own, bounds=bounds)


_SMALLEST = (
    "You choose the words with the smallest chances, so many that they make up 15 per cent. Each "
    "word is judged by itself, and chosen if its chance is below 0.15: how many are is chance, too."
)
_OF_ALL = (
    "Your 80, 10 and 10 per cent are shares of *all* words: almost the whole text is hidden. They "
    "are shares of what is chosen; what is not chosen stays as it is."
)

_CHANGED = (
    "What the model reads is right, but you do not ask it about what is left as it is. "
    "It has been chosen too: the model is asked about it, and cannot know which of the words "
    "before it are to be trusted."
)


def _looks_joined(
    tokens, chance, fate, others, looks=lambda token: "##" in token, *, bounds=_BERTS
):
    """What looks so is joined to what stands before it; behind a special token it is spared."""
    starts = _starts(tokens, looks)
    alone = [1.0 if tokens[start] in _SPECIAL else chance[start] for start in starts]
    return _masked(tokens, alone, fate, others, word_chance=_own, bounds=bounds)


_LOOKS = (
    "You take a word that only looks like a piece for one: '#', or '##' elsewhere than at the "
    "beginning. A piece that goes on with a word begins with ##; such a word has a chance of its "
    "own."
)


_MISTAKES = (
    *(
        Misconception("word_that_looks_like_a_piece", _LOOKS, answer)
        for answer in (
            partial(_masked, goes_on=lambda token: token.startswith("#")),
            partial(_masked, goes_on=lambda token: "##" in token),
            partial(_looks_joined, looks=lambda token: token.startswith("#")),
            _looks_joined,
        )
    ),
    Misconception(
        "piece_by_piece",
        "You choose each piece by its own chance. BERT's first version did so, but where 'flight "
        "##less' loses only its first piece, the second gives it away. Here the chance of a word's "
        "first piece decides for all its pieces.",
        partial(_masked, word_chance=_own),
    ),
    Misconception("any_piece_decides", _ANY, partial(_masked, word_chance=_of_all(min))),
    Misconception(
        "all_pieces_decide",
        "You choose a word only if all its pieces have a chance below 0.15: long words are then "
        "hardly ever chosen. The first piece's chance decides for all of them.",
        partial(_masked, word_chance=_of_all(max)),
    ),
    Misconception(
        "last_piece_decides",
        "You let the chance of a word's last piece decide. It is the first piece's, the one "
        "without ##.",
        partial(_masked, word_chance=_of_last),
    ),
    Misconception(
        "piece_before_decides",
        "For a piece with ## you ask the chance of the piece *before* it. That is the word's first "
        "piece only where the word has two; with three, the first piece's chance decides for the "
        "third as well.",
        partial(_masked, word_chance=_of_piece_before),
    ),
    Misconception(
        "decided_once_for_a_word",
        "A word that stands in the text twice is chosen both times or never in your answer. Each "
        "of its places has a chance of its own: keep no decisions by word, and look nothing up by "
        "list.index.",
        _once_decided,
    ),
    Misconception(
        "others_used_up_in_order",
        "You use `others` up from the front, one for each token that is replaced. All four lists "
        "go side by side: the token at place i becomes others[i].",
        _others_in_order,
    ),
    *(
        Misconception(
            "later_pieces_replaced_otherwise",
            "Where a later piece of a word (one with ##) is replaced, your answer has something "
            "else than the token in `others` at its own place. All pieces are treated alike: the "
            "token at place i becomes others[i], as it stands there.",
            _later_pieces_replaced(by),
        )
        for by in (
            lambda tokens, others, i, first: others[first],
            lambda tokens, others, i, first: "##" + others[i],
            lambda tokens, others, i, first: tokens[i],
        )
    ),
    Misconception(
        "one_fate_for_the_word",
        "You choose the right words, and then all pieces of a word share the fate of the first. "
        "Chosen are whole words; but each piece has a fate of its own.",
        partial(_masked, word_fate=_of_first),
    ),
    Misconception(
        "first_pieces_only",
        "Of a chosen word you hide only the first piece. All its pieces are chosen with it, those "
        "with ## too.",
        partial(_masked, may=lambda token: token not in _SPECIAL and not token.startswith("##")),
    ),
    Misconception("special_tokens_chosen", _SPECIALS, partial(_masked, may=lambda token: True)),
    *(
        Misconception(
            "special_tokens_chosen",
            _SPECIALS,
            partial(_masked, may=lambda token, spared=spared: token not in spared),
        )
        for spared in (("[SEP]", "[PAD]"), ("[CLS]", "[PAD]"))
    ),
    Misconception(
        "brackets_taken_for_special",
        "You take every token that begins with a bracket for a special one. [CLS], [SEP] and [PAD] "
        "are special; a bracket in the text is a word like others.",
        partial(_masked, may=lambda token: not token.startswith("[")),
    ),
    Misconception(
        "unknown_words_spared",
        "You spare [UNK], too, as a tokenizer's list of special tokens has it. Here [CLS], [SEP] "
        "and [PAD] are special and nothing else: [UNK] is a word of the text, and may be chosen.",
        partial(_masked, may=lambda token: token not in (*_SPECIAL, "[UNK]")),
    ),
    Misconception(
        "padding_chosen",
        "You spare [CLS] and [SEP] and forget [PAD]: the model is asked about words that are not "
        "there.",
        partial(_masked, may=lambda token: token not in ("[CLS]", "[SEP]")),
    ),
    Misconception(
        "shares_of_all_tokens",
        _OF_ALL,
        partial(_masked, of_all=True),
    ),
    Misconception(
        "always_mask",
        "You replace everything that is chosen by [MASK]. Then the model learns nothing about "
        "words that it can see, and after pre-training, when there is no [MASK] any more, it sees "
        "nothing else. From 0.8 on, fate has other plans.",
        partial(_masked, mask=lambda fate, masked, replaced: True),
    ),
    Misconception(
        "none_kept",
        "Your masked tokens are right; of the others that were chosen, you replace too many. Three "
        "fates: below 0.8 [MASK], from 0.8 to below 0.9 another token, from 0.9 on the token "
        "stays.",
        partial(_masked, replace=lambda fate, masked, replaced: fate >= masked),
    ),
    Misconception(
        "none_replaced",
        "No token of yours becomes another one: a fifth of the chosen ones stays as it is. From "
        "0.8 to below 0.9 the token is replaced by the one in `others`; from 0.9 on it stays.",
        partial(_masked, replace=lambda fate, masked, replaced: False),
    ),
    Misconception(
        "replaced_and_kept_swapped",
        "You keep the tokens whose fate lies between 0.8 and 0.9, and replace those above. It is "
        "the other way round. (The shares would be the same, but the numbers here are given, so "
        "the result is, too.)",
        partial(_masked, replace=lambda fate, masked, replaced: fate >= replaced),
    ),
    Misconception(
        "masked_and_replaced_swapped",
        "You have swapped the shares: 80 per cent of the chosen tokens become other ones, and 10 "
        "per cent [MASK].",
        partial(
            _masked,
            mask=lambda fate, masked, replaced: masked <= fate < replaced,
            replace=lambda fate, masked, replaced: fate < masked,
        ),
    ),
    Misconception(
        "masks_overwritten",
        "You write the masks and then write other tokens over them: `fate < 0.9` is true below 0.8 "
        "as well. Ask for 0.8 first and use `elif`, or give the second condition both its ends.",
        partial(
            _masked, replace=lambda fate, masked, replaced: fate < replaced, replaced_last=True
        ),
    ),
    Misconception(
        "replaced_below_a_tenth",
        "You take fate < 0.1 for the tokens to be replaced. These are among those below 0.8, which "
        "become [MASK]; so too few are masked, and two tenths stay as they are. The tenth that is "
        "meant begins at 0.8.",
        partial(
            _masked,
            replace=lambda fate, masked, replaced: fate < replaced - masked,
            replaced_last=True,
        ),
    ),
    Misconception(
        "only_changed_are_asked",
        _CHANGED,
        partial(_masked, asked=lambda chosen, old, new: old != new),
    ),
    Misconception("only_changed_are_asked", _CHANGED, _kept_not_asked),
    Misconception(
        "replaced_by_itself_not_asked",
        "What the model reads is right. But where the token in `others` happens to be the one that "
        "stood there, you do not ask about it. It has been chosen all the same: `chance` alone "
        "decides that, not what a token looks like afterwards.",
        _changed_or_kept,
    ),
    Misconception(
        "only_masks_are_asked",
        "What the model reads is right, but you ask it only about [MASK]. Everything chosen is "
        "asked about, also what was replaced or left as it is.",
        partial(_masked, asked=lambda chosen, old, new: new == "[MASK]"),
    ),
    Misconception(
        "chance_inverted",
        "You choose where chance is above 0.15, which is 85 per cent of the words: the model would "
        "have almost nothing to read. Choose below 0.15.",
        partial(_masked, chosen=lambda chance, below: chance >= below),
    ),
    *(
        Misconception("bounds_included", _BOUNDS, _with_bounds(*which))
        for which in (
            (True,),
            (False, True),
            (False, False, True),
            (False, True, True),
            (True, True, True),
        )
    ),
    Misconception(
        "everything_chosen",
        "You do not look at `chance`: every word is chosen. Only those with a chance below 0.15 "
        "are.",
        partial(_masked, chosen=lambda chance, below: True),
    ),
    Misconception(
        "chosen_inverted",
        "What the model reads is right, but your second list is True where nothing was chosen.",
        partial(_masked, asked=lambda chosen, old, new: not chosen),
    ),
    Misconception(
        "one_mask_for_a_word",
        "Where several pieces of a word are masked you write one [MASK] for all of them. Each "
        "piece keeps its place and gets a [MASK] of its own: the rows stay as long as they were.",
        _one_mask_for_a_word,
    ),
    Misconception(
        "tokens_instead_of_booleans",
        "Your second list says *what* stood at the chosen places. Here it says only which they "
        "are: True or False for each token.",
        _words_asked,
    ),
    Misconception(
        "numbers_instead_of_booleans",
        "Your second list holds the numbers of the chosen places. Here it is as long as the text: "
        "True or False for each token.",
        _numbers,
    ),
    Misconception(
        "order_swapped",
        "Both lists are right and have changed places: first what the model reads, then what is "
        "chosen.",
        _swapped,
    ),
    Misconception(
        "piece_joins_in",
        "A later piece with a chance below 0.15 is chosen by you though its word is not, and those "
        "behind it with it. Whole words are chosen: the chance of the first piece decides for all "
        "of them.",
        _piece_joins_in,
    ),
    Misconception(
        "only_first_pieces_are_asked",
        "What the model reads is right, but you ask it only about the first piece of each word. "
        "Every piece of a chosen word is asked about.",
        _first_pieces_asked,
    ),
    Misconception("shares_of_all_tokens", _OF_ALL, _all_struck),
    Misconception(
        "replaced_are_masked",
        "You write [MASK] where another token belongs: of what is chosen, everything below 0.9 "
        "becomes [MASK]. Ask in this order: below 0.8 [MASK], otherwise below 0.9 another token, "
        "otherwise the token stays.",
        partial(
            _masked,
            mask=lambda fate, masked, replaced: fate < replaced,
            replace=lambda fate, masked, replaced: False,
        ),
    ),
    Misconception(
        "shares_in_reverse",
        "Your shares stand in the wrong order: few of the chosen tokens become [MASK], and most "
        "stay as they are. Below 0.8 a token becomes [MASK], from 0.8 to below 0.9 another one, "
        "from 0.9 on it stays.",
        partial(
            _masked,
            mask=lambda fate, masked, replaced: fate < 1 - replaced,
            replace=lambda fate, masked, replaced: 1 - replaced <= fate < 1 - masked,
        ),
    ),
    Misconception(
        "fate_not_used",
        "One number decides twice in your answer: the chance of a word also says what becomes of "
        "its pieces, and `fate` does nothing. Each piece of a chosen word has a fate of its own: "
        "below 0.8 [MASK], from 0.8 to below 0.9 another token, from 0.9 on the token stays.",
        _by_chance_alone,
    ),
    *(
        Misconception("smallest_chances_chosen", _SMALLEST, partial(_smallest_chances, count=count))
        for count in (round, int, ceil)
    ),
)
_CHANGED = Misconception(
    "changed_in_place",
    "You write the masks into `tokens` itself. What was there before is gone, and with it the "
    "answers that the model is to be trained on. Make a new list.",
    _in_place,
)


# A chance or a fate of 0 that is taken for none.
_SLIPS = [
    partial(_masked, chosen=lambda chance, below: 0 < chance < below),
    partial(_masked, mask=lambda fate, masked, replaced: 0 < fate < masked),
]


def _cases(g: Generator, *, bounds: Bounds = _BERTS) -> list[Case]:
    answers = [mask_words, *(mistake.answer for mistake in _MISTAKES), *_SLIPS]
    right, *others = [partial(answer, bounds=bounds) for answer in answers]
    mistakes, slips = others[: len(_MISTAKES)], others[len(_MISTAKES) :]
    return telling(g, partial(_draw, bounds=bounds), right, mistakes, slips, _one_by_one(g, bounds))


def _shares(bounds: Bounds) -> list[str]:
    """Those of what is chosen, and of what becomes of it: "15", "80", "10", "10"."""
    chosen, masked, replaced = bounds
    return [f"{100 * share:.0f}" for share in (chosen, masked, replaced - masked, 1 - replaced)]


def _wording(bounds: Bounds) -> dict[str, str]:
    """Rules 1 and 2, and their numbers. The table in between is right for all values that there
    are.
    """
    chosen, masked, replaced, kept = _shares(bounds)
    return {
        "15 per cent of the words": f"{chosen} per cent of the words (not BERT's 15)",
        "80 per cent become `[MASK]`, 10 per cent become another token, and 10 per cent stay": (
            f"{masked} per cent become `[MASK]`, {replaced} per cent become another token, and "
            f"{kept} per cent stay"
        ),
        "piece is below 0.15": f"piece is below {bounds[0]:g}",
        "below 0.8 it becomes": f"below {bounds[1]:g} it becomes",
        "from 0.8 to below 0.9 it": f"from {bounds[1]:g} to below {bounds[2]:g} it",
        "from 0.9 on it stays": f"from {bounds[2]:g} on it stays",
    }


def _told(bounds: Bounds) -> dict[str, str]:
    chosen, masked, replaced, kept = _shares(bounds)
    return {
        "0.15": f"{bounds[0]:g}",
        "0.8": f"{bounds[1]:g}",
        "0.9": f"{bounds[2]:g}",
        "15 per cent": f"{chosen} per cent",
        "85 per cent": f"{100 - int(chosen)} per cent",
        "80, 10 and 10 per cent": f"{masked}, {replaced} and {kept} per cent",
        "80 per cent": f"{masked} per cent",
        "and 10 per cent [MASK]": f"and {replaced} per cent [MASK]",
        "almost the whole text is": "most of the text is",
        "a fifth of the chosen ones stays as it is": "too many of the chosen ones stay as they are",
        "fate < 0.1": f"fate < {bounds[2] - bounds[1]:.2g}",
        "two tenths stay as they are": "too many stay as they are",
        "The tenth that is meant": "The share that is meant",
        "The shares would be the same": "The shares may be the same",
    }


MASKING = Question(
    name="hw5.mask_words",
    title="Holes in the text",
    points=3,
    minutes=25,
    difficulty=2,
    chapter="13_pretraining#making-holes-with-a-pencil",
    cases=_cases,
    reference=mask_words,
    demands=(Demand(CHOSEN, 0.5), Demand(SPARED, 0.5), Demand(WHOLE, 1), Demand(FATES, 1)),
    misconceptions=(*_MISTAKES, _CHANGED),
    varied=Varied(
        "bounds",
        (_BERTS, (0.2, 0.75, 0.9), (0.3, 0.75, 0.95), (0.25, 0.85, 0.95)),
        says=lambda bounds: (
            f"words are chosen below {bounds[0]:g}, masked below {bounds[1]:g}, replaced below "
            f"{bounds[2]:g}"
        ),
        wording=_wording,
        told=_told,
    ),
)
