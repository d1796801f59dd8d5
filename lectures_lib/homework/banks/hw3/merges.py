"""Question 1: which byte pairs are merged."""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise

from torch import Generator

from lectures_lib.homework.banks.inputs import pick, whole
from lectures_lib.homework.banks.telling import showing, telling
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

COMMON = "the commonest pairs of a list of words, in their order"
EDGES = (
    "words that repeat a letter, pairs that read alike when joined, and fewer pairs than merges "
    "asked for"
)

# They hold a pair twice.
_TWICE = ("banana", "cabana", "papaya", "mama", "singing", "training", "raining")
_POOL = (
    "rain", "train", "drain", "grain", "bring", "string", "ring", "sing", "king", "llama",
    "pasta", "coffee", "toffee", "tree", "three", "free", "street", "sweet", "sleep", "sheep",
    "deep", "asleep", "queen", "between", "letter", "better", "butter", "little", "middle",
    "puddle", "muddle", "fiddle", "riddle", "ready", "steady", "already",
)  # fmt: skip

Pair = tuple[str, str]
Words = dict[tuple[str, ...], int]


def _merges_cases(g: Generator) -> list[Case]:
    def ordinary(g: Generator) -> list[Case]:
        chosen = pick(g, _TWICE, 1) + pick(g, _POOL, whole(g, 4, 6))
        words = {word: whole(g, 1, 5) for word in chosen}
        n = whole(g, 7, 11)
        return [
            Case((words, n), shows=f"{n} merges, learned from {words}"),
            Case((words, n - 4), shows=f"{n - 4} merges, learned from {words}"),
        ]

    def edges(g: Generator) -> list[Case]:
        few_letters = {
            "".join(pick(g, "aaaabbb", whole(g, 4, 6))): whole(g, 1, 3) for _ in range(3)
        }
        shows = f"20 merges asked of {few_letters}, which has not as many"
        return [Case((few_letters, 20), shows=shows, demands=(EDGES,))]

    later = [mistake.answer for mistake in _MISTAKES if mistake.name in _AT_THE_EDGES]
    later.append(_JOINED)
    answers = [mistake.answer for mistake in _MISTAKES]
    common = [answer for answer in answers if answer not in later]
    common_cases = showing(g, ordinary, byte_pairs, common, later)
    # It stops behind the first pair that occurs once; others of that kind must be left then.
    slips = [partial(_learn, last_at=1)]
    last, *first = telling(g, edges, byte_pairs, answers, slips, always=common_cases)
    return [*first, last]


def _counts(words: Words) -> Counter[Pair]:
    counts: Counter[Pair] = Counter()
    for symbols, n in words.items():
        for pair in pairwise(symbols):
            counts[pair] += n
    return counts


def _merge(symbols: tuple[str, ...], pair: Pair) -> tuple[str, ...]:
    merged, i = [], 0
    while i < len(symbols):
        n = 2 if symbols[i : i + 2] == pair else 1
        merged.append("".join(symbols[i : i + n]))
        i += n
    return tuple(merged)


def _merge_from_the_right(symbols: tuple[str, ...], pair: Pair) -> tuple[str, ...]:
    return _merge(symbols[::-1], pair[::-1])[::-1] if pair[0] == pair[1] else _merge(symbols, pair)


def _merge_in_text(symbols: tuple[str, ...], pair: Pair) -> tuple[str, ...]:
    return tuple(" ".join(symbols).replace(" ".join(pair), "".join(pair)).split(" "))


def _first(counts: Counter[Pair]) -> Pair:
    return min(counts, key=lambda pair: (-counts[pair], pair))


def byte_pairs(words: dict[str, int], n_merges: int) -> list[str]:
    """The first n_merges merges, each as "left right": always the most frequent pair, of equal ones
    the first in the alphabet.
    """
    return _learn(words, n_merges)


def _learn(
    words: dict[str, int],
    n_merges: int,
    count: Callable[[Words], Counter[Pair]] = _counts,
    choose: Callable[[Counter[Pair]], Pair] = _first,
    merge: Callable[[tuple[str, ...], Pair], tuple[str, ...]] = _merge,
    spell: Callable[[str], Iterable[str]] = tuple,
    at_least: int = 1,
    guarded: bool = True,
    last_at: int = 0,
) -> list[str]:
    spelled: Words = {tuple(spell(word)): n for word, n in words.items()}
    merges = []
    for _ in range(n_merges):
        counts = count(spelled)
        if guarded and max(counts.values(), default=0) < at_least:
            break
        pair = choose(counts)
        merges.append(" ".join(pair))
        if counts[pair] <= last_at:
            break
        # Two words may come to be spelled alike only if they were the same.
        spelled = {merge(symbols, pair): n for symbols, n in spelled.items()}
    return merges


def _count_types(words: Words) -> Counter[Pair]:
    return _counts(dict.fromkeys(words, 1))


def _count_words_with(words: Words) -> Counter[Pair]:
    counts: Counter[Pair] = Counter()
    for symbols, n in words.items():
        for pair in dict.fromkeys(pairwise(symbols)):
            counts[pair] += n
    return counts


def _count_without_overlap(words: Words) -> Counter[Pair]:
    counts: Counter[Pair] = Counter()
    for symbols, n in words.items():
        for pair in dict.fromkeys(pairwise(symbols)):
            counts[pair] += n * (len(symbols) - len(_merge(symbols, pair)))
    return counts


def _across_words(words: dict[str, int], n_merges: int) -> list[str]:
    """All words in a row, as often as they occur: the end of one and the beginning of the next make
    a pair too.
    """
    return _learn({"".join(word * n for word, n in words.items()): 1}, n_merges)


def _counted_once(words: dict[str, int], n_merges: int) -> list[str]:
    counts = _counts({tuple(word): n for word, n in words.items()})
    return [
        " ".join(pair) for pair in sorted(counts, key=lambda pair: (-counts[pair], pair))[:n_merges]
    ]


def _made(words: dict[str, int], n_merges: int) -> list[str]:
    return [merge.replace(" ", "") for merge in byte_pairs(words, n_merges)]


def _as_tuples(words: dict[str, int], n_merges: int) -> list[tuple[str, ...]]:
    return [tuple(merge.split(" ")) for merge in byte_pairs(words, n_merges)]


def _vocabulary(words: dict[str, int], n_merges: int) -> list[str]:
    return sorted({letter for word in words for letter in word}) + _made(words, n_merges)


def _first_met(counts: Counter[Pair]) -> Pair:
    return max(counts, key=lambda pair: counts[pair])


def _oldest_symbols(words: dict[str, int], n_merges: int) -> list[str]:
    """Of equally frequent pairs the one whose symbols are oldest, as in chapter 7."""
    rank = {letter: i for i, letter in enumerate(sorted(set("".join(words))))}

    def choose(counts):
        pair = min(counts, key=lambda pair: (-counts[pair], rank[pair[0]], rank[pair[1]]))
        rank.setdefault("".join(pair), len(rank))
        return pair

    return _learn(words, n_merges, choose=choose)


_TIES = (
    "Right until two pairs are equally frequent, then you take another one than the question says. "
    "The first in the alphabet wins: the smaller tuple (left, right), for example the smallest of "
    "all (-count, pair)."
)
_RUNS_OUT = (
    "Your answer breaks down when no pair is left because every word has become a single symbol: "
    "max and min of nothing raise ValueError. Stop there, and return the merges that there were."
)
_OVERLAPS = (
    "In a row like a·a·a the pair (a, a) counts twice, once for each neighbour on the right; only "
    "when it comes to merging must the two not overlap. You count otherwise: go through all "
    "neighbours with zip(symbols, symbols[1:])."
)


def _merge_overlapping(symbols: tuple[str, ...], pair: Pair) -> tuple[str, ...]:
    """Every place where the pair stands, also where its first symbol was just used up."""
    merged, i = [], 0
    while i < len(symbols):
        if symbols[i : i + 2] != pair:
            merged.append(symbols[i])
            i += 1
            continue
        merged.append("".join(pair))
        i += 1 if symbols[i + 1 : i + 3] == pair else 2
    return tuple(merged)


def _merge_once(symbols: tuple[str, ...], pair: Pair) -> tuple[str, ...]:
    """Only the first place of a word where the pair stands."""
    for i in range(len(symbols) - 1):
        if symbols[i : i + 2] == pair:
            return (*symbols[:i], "".join(pair), *symbols[i + 2 :])
    return symbols


def _merge_up_to_the_last(symbols: tuple[str, ...], pair: Pair) -> tuple[str, ...]:
    """A last symbol that is not merged is lost."""
    merged = _merge(symbols, pair)
    return merged if symbols[-2:] == pair and merged[-1] == "".join(pair) else merged[:-1]


def _count_overwritten(words: Words) -> Counter[Pair]:
    return Counter({pair: n for symbols, n in words.items() for pair in pairwise(symbols)})


def _merge_second_stays(symbols: tuple[str, ...], pair: Pair) -> tuple[str, ...]:
    """After a merge the loop goes on with the pair's second symbol."""
    return tuple(
        "".join(symbols[i : i + 2]) if symbols[i : i + 2] == pair else symbol
        for i, symbol in enumerate(symbols)
    )


def _count_across(words: Words) -> Counter[Pair]:
    """All words in a row, each as often as it occurs; merged is within words."""
    return Counter(pairwise(s for symbols, n in words.items() for _ in range(n) for s in symbols))


def _counts_kept(words: dict[str, int], n_merges: int) -> list[str]:
    """What was counted before the earlier merges still counts."""
    counts: Counter[Pair] = Counter()

    def count(spelled: Words) -> Counter[Pair]:
        counts.update(_counts(spelled))
        return counts

    return _learn(words, n_merges, count=count)


def _rare_words_left_out(words: dict[str, int], n_merges: int) -> list[str]:
    return byte_pairs({word: n for word, n in words.items() if n > 1}, n_merges)


def _one_more(words: dict[str, int], n_merges: int) -> list[str]:
    return byte_pairs(words, n_merges + 1)


_ACROSS = (
    "You also count pairs that stand across the end of a word: its last letter and the first one "
    "of the next word. Count within each word by itself."
)

_JOINED = partial(
    _learn, choose=lambda counts: min(counts, key=lambda pair: (-counts[pair], "".join(pair)))
)
_AT_THE_EDGES = (
    "overlaps_counted_otherwise",
    "merged_from_the_right",
    "replaced_in_text",
    "rare_pairs_left_out",
    "no_pair_left",
    "symbol_merged_twice",
)
_MISTAKES = (
    Misconception(
        "words_not_weighted",
        "You count a pair once for each different word. A word that occurs five times brings its "
        "pairs five times: add the word's count, not 1.",
        partial(_learn, count=_count_types),
    ),
    Misconception(
        "pair_once_a_word",
        "You count a pair once for each word it is in, even where the word holds it twice, as "
        '"singing" holds "in". Every place counts.',
        partial(_learn, count=_count_words_with),
    ),
    Misconception(
        "across_words",
        _ACROSS,
        _across_words,
    ),
    Misconception("ties", _TIES, partial(_learn, choose=_first_met)),
    Misconception(
        "ties_by_age",
        "Right until two pairs are equally frequent. Then you take the one with the oldest "
        "symbols, as chapter 7 does. Here the first in the alphabet wins: the smaller tuple "
        "(left, right).",
        _oldest_symbols,
    ),
    Misconception(
        "ties",
        _TIES,
        partial(_learn, choose=lambda counts: max(counts, key=lambda pair: (counts[pair], pair))),
    ),
    Misconception(
        "ties",
        _TIES,
        _JOINED,
    ),
    Misconception(
        "counted_only_once",
        "You count the letters' pairs once and take the most frequent ones. After a merge there "
        "are new neighbours, and old ones are gone: merge in all words, then count again, n_merges "
        "times.",
        _counted_once,
    ),
    Misconception(
        "overlaps_counted_otherwise", _OVERLAPS, partial(_learn, count=_count_without_overlap)
    ),
    Misconception(
        "merged_from_the_right",
        "Of three equal symbols a·a·a you merge the last two. Go from left to right: the first two "
        "become one, and a·a·a turns into aa·a.",
        partial(_learn, merge=_merge_from_the_right),
    ),
    Misconception(
        "replaced_in_text",
        'You merge by replacing text: in "b aa b", "a b" is found although the symbol in front of '
        '"b" is "aa". Compare whole '
        "symbols, in a list or tuple of them.",
        partial(_learn, merge=_merge_in_text),
    ),
    Misconception(
        "end_of_word_added",
        "You put a sign such as </w> behind every word, as in the paper of 2016. Here a word is "
        "its letters and nothing else.",
        partial(_learn, spell=lambda word: (*word, "</w>")),
    ),
    Misconception(
        "rare_pairs_left_out",
        "You stop when no pair occurs twice. That is sensible for a real text, but the question "
        "asks you to go on until no pair is left.",
        partial(_learn, at_least=2),
    ),
    Misconception("no_pair_left", _RUNS_OUT, partial(_learn, guarded=False), by_exception=True),
    Misconception(
        "no_pair_left",
        _RUNS_OUT,
        partial(_learn, guarded=False, choose=lambda c: sorted(c, key=lambda p: (-c[p], p))[0]),
        by_exception=True,
    ),
    Misconception(
        "no_pair_left",
        _RUNS_OUT,
        partial(_learn, guarded=False, choose=lambda c: (max(c.values()), _first(c))[1]),
        by_exception=True,
    ),
    Misconception(
        "symbols_not_merges",
        'You return the new symbols, such as "in". A merge is a pair, and from "ing" nobody can '
        'tell whether "i" and "ng" were merged or "in" and "g": return both parts with a space '
        'between them, "in g".',
        _made,
    ),
    Misconception(
        "whole_vocabulary",
        "You return the vocabulary, the letters and the new symbols. The merges are asked for: "
        '"left right" for each, in the order in '
        "which they were learned.",
        _vocabulary,
    ),
    Misconception(
        "tuples_not_strings",
        "Your merges are right, but they are tuples. Return strings, the two parts with a space "
        'between them: " ".join(pair).',
        _as_tuples,
    ),
    Misconception(
        "first_place_merged",
        "In a word that holds the pair twice you merge it once. Go on behind the place that you "
        "have merged, to the end of the word.",
        partial(_learn, merge=_merge_once),
    ),
    Misconception(
        "last_symbol_lost",
        "When you merge, a word loses its last symbol, unless that is merged itself: your loop "
        "over neighbours ends at the last pair. What follows the last merge must be kept, too.",
        partial(_learn, merge=_merge_up_to_the_last),
    ),
    Misconception(
        "count_overwritten",
        "A pair gets the count of a single word, such as the last one that holds it. All of its "
        "places are added up: counts[pair] += n.",
        partial(_learn, count=_count_overwritten),
    ),
    Misconception(
        "symbol_merged_twice",
        "In a run of equal symbols you use one of them twice: a a a becomes aa aa. A symbol "
        "belongs to one pair: after a merge, go on *behind* it, so that a a a becomes aa a.",
        partial(_learn, merge=_merge_overlapping),
    ),
    Misconception(
        "second_symbol_stays",
        "When you merge a pair, its second symbol stays behind: h·u·g becomes h·ug·g. After a "
        "merge go on *behind* the pair, two places further.",
        partial(_learn, merge=_merge_second_stays),
    ),
    Misconception(
        "counts_kept",
        "You add to the counts of the earlier rounds, which hold pairs that have long been merged. "
        "Begin each round with an empty Counter().",
        _counts_kept,
    ),
    Misconception(
        "rarest_first",
        "You take the rarest pair. The most frequent one is merged: the smallest of all "
        "(-count, pair), mind the minus.",
        partial(_learn, choose=lambda counts: min(counts, key=lambda pair: (counts[pair], pair))),
    ),
    Misconception(
        "rare_words_left_out",
        "You leave out the words that occur once. Programs may do so in a large text; here every "
        "word counts, with its count.",
        _rare_words_left_out,
    ),
    Misconception(
        "one_merge_too_many",
        "You learn n_merges + 1 merges: one too many.",
        _one_more,
    ),
    Misconception(
        "ties",
        _TIES,
        partial(_learn, choose=lambda c: min(c, key=lambda pair: (-c[pair], pair[::-1]))),
    ),
    Misconception("across_words", _ACROSS, partial(_learn, count=_count_across)),
)

MERGES = Question(
    name="hw3.byte_pairs",
    title="Which pairs are merged",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="07_subwords#byte-pairs-by-hand",
    cases=_merges_cases,
    reference=byte_pairs,
    misconceptions=_MISTAKES,
    demands=(Demand(COMMON, 2), Demand(EDGES, 1)),
)
