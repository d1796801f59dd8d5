"""Question 2: a task that can only be learned by heart."""

from functools import partial

import torch
from torch import Generator

from lectures_lib.homework.banks.inputs import pick, whole
from lectures_lib.homework.banks.telling import showing, telling
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

DRAWN = "each type gets one label, the next that is drawn from those of all words"
TYPES = "a type is a word in small letters, be it a full stop"

_WORDS = [
    "the",
    "a",
    "old",
    "dog",
    "cat",
    "sees",
    "hears",
    "walk",
    "light",
    "sleeps",
    "today",
    "and",
]
_LABELS = ["DET", "NOUN", "VERB", "ADJ", "ADV"]


def _cases(g: Generator) -> list[Case]:
    later = [mistake.answer for mistake in _MISTAKES if mistake.name in _OF_TYPES]
    answers = [mistake.answer for mistake in _MISTAKES]
    drawn = [answer for answer in answers if answer not in later]
    small = showing(g, _small_letters, control_labels, drawn, later)
    cases = telling(g, _draw, control_labels, answers, always=small)
    return [*small, *cases[: -len(small)]]


def _small_letters(g: Generator) -> list[Case]:
    """Words alone, as a dictionary writes them; the second time, the last draw is needed."""
    cases = []
    for more in (2, 0):
        types = pick(g, _WORDS, whole(g, 4, 6))
        words = [types[i] for i in torch.randint(len(types), (whole(g, 9, 13),), generator=g)]
        some, n_types = pick(g, _LABELS, 3), len({*words})
        labels = [some[min(i, 2)] for i in torch.randint(5, (len(words),), generator=g)]
        n_draws = len(words) + more if more else n_types
        draws = torch.rand(n_draws, generator=g, dtype=torch.float64).tolist()
        shows = f"{len(words)} words in small letters, of {n_types} types, {n_draws} draws"
        cases.append(Case((words, labels, draws), shows=shows))
    return cases


def _draw(g: Generator) -> list[Case]:
    cases = []
    for more in (True, False):
        types = [*pick(g, _WORDS, whole(g, 3, 4)), ".", ","]  # a full stop is a type like others
        words = [types[i] for i in torch.randint(len(types), (whole(g, 9, 13),), generator=g)]
        written = [str, str, str, str.capitalize, str.upper]  # the, The, THE
        words = [written[whole(g, 0, 4) if i else 3](word) for i, word in enumerate(words)]
        some = pick(g, _LABELS, 3)
        # the third label is the most frequent
        labels = [some[min(i, 2)] for i in torch.randint(5, (len(words),), generator=g)]
        n_types = len(set(map(str.lower, words)))
        # the second time, the last draw is needed
        n_draws = whole(g, len(words) + 1, len(words) + 3) if more else n_types
        draws = (
            (0.9 if more else 1) * torch.rand(n_draws, generator=g, dtype=torch.float64)
        ).tolist()  # rounded, 0.9 · n is below n
        shows = f"{len(words)} words of {n_types} types, {n_draws} draws"
        cases.append(Case((words, labels, draws), shows=shows, demands=(TYPES,)))
    # The first has draws enough for the wrong number of them to show in the labels.
    first = cases[0].args
    slips = (
        {"next_draw": False},
        {"key": str},
        {"key": _first_letter},
        {"key": _without_punctuation},
        {"as_whole": round},
    )
    shown = all(_labels(*first, **slip) != control_labels(*first) for slip in slips)
    return cases if shown else _draw(g)


def control_labels(words: list[str], labels: list[str], draws: list[float]) -> list[str]:
    """A drawn label for every word; words of one type have the same."""
    return _labels(words, labels, draws)


def _first_letter(word):
    return word[:1].lower() + word[1:]


def _without_punctuation(word):
    return word.lower().strip(".,;:!?")


def _labels(
    words,
    labels,
    draws,
    key=str.lower,
    next_draw=True,
    remember=True,
    urn=lambda labels: labels,
    as_whole=int,
    count=len,
):
    urn = urn(labels)
    given, found = {}, []
    for place, word in enumerate(words):
        if key(word) not in given or not remember:
            given[key(word)] = urn[as_whole(draws[len(given) if next_draw else place] * count(urn))]
        found.append(given[key(word)])
    return found


def _types_with_labels(words, labels, draws):
    """A word that has two real labels is two types."""
    given = {}
    for word, label in zip(words, labels, strict=True):
        if (word.lower(), label) not in given:
            given[word.lower(), label] = labels[int(draws[len(given)] * len(labels))]
    return [given[word.lower(), label] for word, label in zip(words, labels, strict=True)]


def _a_draw_each(words, labels, draws):
    return [labels[int(u * len(labels))] for _, u in zip(words, draws, strict=False)]


def _with_its_place(words, labels, draws):
    """Word by word beside the draws, as far as there are both."""
    given = {}
    return [
        given.setdefault(word.lower(), labels[int(u * len(labels))])
        for word, u in zip(words, draws, strict=False)
    ]


def _with_its_place_then_looked_up(words, labels, draws):
    given = {}
    for word, u in zip(words, draws, strict=False):
        given.setdefault(word.lower(), labels[int(u * len(labels))])
    return [given[word.lower()] for word in words]


def _one_of_each_type(words, labels, draws):
    """Drawn from the labels that the types have where they first stand."""
    first = {}
    for word, label in zip(words, labels, strict=True):
        first.setdefault(word.lower(), label)
    return _labels(words, labels, draws, urn=lambda labels: list(first.values()))


def _only_the_known(words, labels, draws):
    """The type's first real label."""
    first = {}
    for word, label in zip(words, labels, strict=True):
        first.setdefault(word.lower(), label)
    return [first[word.lower()] for word in words]


def _most_frequent(words, labels, draws):
    seen = {}
    for word, label in zip(words, labels, strict=True):
        seen.setdefault(word.lower(), []).append(label)
    return [max(dict.fromkeys(seen[word.lower()]), key=seen[word.lower()].count) for word in words]


def _urn_gets_empty(words, labels, draws):
    urn, given = list(labels), {}
    for word in words:
        if word.lower() not in given:
            given[word.lower()] = urn.pop(int(draws[len(given)] * len(urn)))
    return [given[word.lower()] for word in words]


def _types_in_alphabetical_order(words, labels, draws):
    types = sorted({word.lower() for word in words})
    given = {word: labels[int(u * len(labels))] for word, u in zip(types, draws, strict=False)}
    return [given[word.lower()] for word in words]


def _of_its_own_labels(words, labels, draws):
    seen = {}
    for word, label in zip(words, labels, strict=True):
        seen.setdefault(word.lower(), []).append(label)
    given = {
        word: mine[int(u * len(mine))] for (word, mine), u in zip(seen.items(), draws, strict=False)
    }
    return [given[word.lower()] for word in words]


def _shuffled(words, labels, draws):
    """The real labels in another order: sorted by the draws."""
    order = sorted(range(len(labels)), key=lambda i: draws[i])
    return [labels[i] for i in order]


def _one_a_type(words, labels, draws):
    found = dict(zip(map(str.lower, words), _labels(words, labels, draws), strict=True))
    return list(found.values())


_REAL = (
    "Your labels are taken from the word's own real labels. Then the control task is nearly the "
    "real one, and a probe that reads the real labels would shine in both. Which word gets which "
    "label has to be chance: each type's label is drawn from the labels of *all* words."
)
_CLASSES = (
    "You draw from the *different* labels, where each has the same chance. Draw from the list of "
    "all labels: what is frequent in the real task is then frequent in the control task, and the "
    "two are equally hard to guess."
)
_SKIPPED = (
    "For a new type you take the draw at the word's *place* in the text. Draws are used up in "
    "order, one for each new type: the number of types met so far says which is next."
)


def _a_draw_each_again(words, labels, draws):
    """The draws are used from the front again when they have run out."""
    return [labels[int(draws[i % len(draws)] * len(labels))] for i in range(len(words))]


def _draw_at_its_place(words, labels, draws):
    """That of the place where a type first stands, counted round."""
    given = {}
    for place, word in enumerate(words):
        u = draws[place % len(draws)]
        given.setdefault(word.lower(), labels[int(u * len(labels))])
    return [given[word.lower()] for word in words]


def _in_order(words, labels, draws):
    """The first type gets the first label, and so on."""
    given = {}
    for word in words:
        given.setdefault(word.lower(), labels[len(given)])
    return [given[word.lower()] for word in words]


_EACH = (
    "You draw anew for each word of the text. A control task gives each *type* one label, the same "
    "wherever the word stands: otherwise it could not be learned at all, not even by heart."
)


def _a_draw_at_each_place(words, labels, draws):
    return [labels[int(draws[i] * len(labels))] for i in range(len(words))]


_MISTAKES = (
    Misconception(
        "a_draw_for_each_word",
        _EACH,
        _a_draw_each,
    ),
    Misconception(
        "upper_case_is_another_type",
        "You treat 'The' and 'the' as two types. A type is a word in small letters: word.lower().",
        partial(_labels, key=str),
    ),
    Misconception(
        "punctuation_taken_off",
        "You take full stops and commas off before you look a word up. '.' and ',' are words of "
        "the list and types of their own: a type is a word in small letters, and nothing else "
        "about it changes.",
        partial(_labels, key=_without_punctuation),
    ),
    Misconception(
        "first_letter_only",
        "You make only the first letter of a word small. 'THE' is the type 'the', too: "
        "word.lower() makes all letters small.",
        partial(_labels, key=_first_letter),
    ),
    Misconception("draws_skipped", _SKIPPED, partial(_labels, next_draw=False)),
    Misconception("draws_skipped", _SKIPPED, _with_its_place),
    Misconception("draws_skipped", _SKIPPED, _with_its_place_then_looked_up),
    Misconception(
        "last_never_drawn",
        "You take int(u * (n - 1)), and the last of n labels is never drawn: int(u * n) is at most "
        "n - 1 already, since u is below 1.",
        partial(_labels, count=lambda urn: len(urn) - 1),
    ),
    Misconception(
        "drawn_from_one_label_a_type",
        "You draw from one label for each type, the one it has where it first stands. Draw from "
        "the labels of *all* words: a label that many words have is then drawn more often.",
        _one_of_each_type,
    ),
    Misconception(
        "drawn_from_the_classes",
        _CLASSES,
        partial(_labels, urn=lambda labels: sorted(set(labels))),
    ),
    Misconception(
        "drawn_from_the_classes",
        _CLASSES,
        partial(_labels, urn=lambda labels: list(dict.fromkeys(labels))),
    ),
    Misconception(
        "rounded",
        "You round u · n to the nearest whole number. Cut it off, as int() does: rounded, the "
        "first label would have half a chance, and above the last there is a number without a "
        "label.",
        partial(_labels, as_whole=round),
    ),
    Misconception(
        "ends_half_as_often",
        "You round u · (n - 1) to the nearest whole number. The first and the last label then have "
        "half the chance of the others; u · n, cut off as int() does, gives all the same.",
        partial(_labels, as_whole=round, count=lambda labels: len(labels) - 1),
    ),
    Misconception("real_labels_used", _REAL, _only_the_known),
    Misconception("real_labels_used", _REAL, _most_frequent),
    Misconception("real_labels_used", _REAL, _of_its_own_labels),
    Misconception(
        "urn_gets_empty",
        "You take each drawn label out of the list before the next draw. Every type draws from all "
        "labels: nothing is taken away.",
        _urn_gets_empty,
    ),
    Misconception(
        "label_part_of_the_type",
        "A word with two real labels gets two control labels from you, as if it were two types. A "
        "type is a word in small letters, whatever its real label: 'light' has the same control "
        "label as a noun and as an adjective.",
        _types_with_labels,
    ),
    Misconception(
        "types_sorted",
        "You give the draws to the types in alphabetical order. They are used up in the order in "
        "which the types first stand in the text.",
        _types_in_alphabetical_order,
    ),
    Misconception(
        "labels_shuffled",
        "You put the real labels in another order, one for each place. Then 'the' has one label "
        "here and another there; a control task gives a type the same label everywhere.",
        _shuffled,
    ),
    Misconception(
        "one_label_a_type",
        "You return one label for each type. Asked for is one for each word of the text, in its "
        "order: a probe is trained on words.",
        _one_a_type,
    ),
    Misconception("a_draw_for_each_word", _EACH, _a_draw_each_again),
    Misconception("draws_skipped", _SKIPPED, _draw_at_its_place),
    Misconception(
        "draws_not_used",
        "You hand out the labels in the order of the text, and do not look at the draws. A type "
        "gets the label at place int(u * n), with the next u of `draws`.",
        _in_order,
    ),
    Misconception(
        "first_labels_only",
        "You multiply by the number of *different* labels, and take that place in the list of all: "
        "only the labels of the first few words are ever drawn. n is the length of `labels`.",
        partial(_labels, count=lambda labels: len(set(labels))),
    ),
    Misconception("a_draw_for_each_word", _EACH, _a_draw_at_each_place),
)

# what they do is right as long as words are written in small letters
_OF_TYPES = ("upper_case_is_another_type", "first_letter_only", "punctuation_taken_off")

CONTROL = Question(
    name="hw7.control_labels",
    title="Learned by heart",
    points=2,
    minutes=15,
    difficulty=1,
    chapter="16b_probing#a-probe-that-learns-words-by-heart",
    cases=_cases,
    reference=control_labels,
    misconceptions=_MISTAKES,
    demands=(Demand(DRAWN, 1.5), Demand(TYPES, 0.5)),
)
