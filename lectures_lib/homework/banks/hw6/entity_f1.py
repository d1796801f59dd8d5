"""Question 5: names count, not words."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

from torch import Generator

from lectures_lib.homework.banks.inputs import pick, whole
from lectures_lib.homework.banks.telling import showing, telling
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

NAMES = "in one sentence, precision and recall of whole names, and their F1"
SEVERAL = "in several, the names of all together, however they stand, and no digit rounded away"
NOTHING = "0 without a hit, without names, and without predictions"

_WITHIN = {"rtol": 0.0, "atol": 1e-6}  # a share in float32 is that exact, rounded ones are not
_KINDS = ("person", "place", "firm")
Labels = list[str]


def _cases(g: Generator) -> list[Case]:
    later = [mistake.answer for mistake in _MISTAKES if mistake.name in _IN_SEVERAL]
    ordinary = [mistake.answer for mistake in _MISTAKES if mistake.name not in _IN_SEVERAL]
    one = showing(g, _single_sentences, entity_f1, ordinary, later, **_WITHIN)
    several = partial(_some, sizes=[(3, 4), (5, 7)])
    nothing = _without_a_hit(g)
    answers = [mistake.answer for mistake in _MISTAKES]
    cases = telling(g, several, entity_f1, answers, always=[*one, *nothing], **_WITHIN)
    return [*one, *cases[:2], *nothing]


def _single_sentences(g: Generator) -> list[Case]:
    """Two sentences, each asked for by itself, of which no constant is right."""
    return [_one_sentence(g, *counts) for counts in pick(g, [(1, 2), (1, 4), (2, 2), (3, 2)], 2)]


def _one_sentence(g: Generator, n_found: int, n_overlooked: int) -> Case:
    """Names apart from each other: some are found, some are overlooked, one is found too short, one
    taken for another kind; and there is an I that goes on nothing.
    """

    def name(kind: str, length: int) -> Labels:
        return [f"B-{kind}"] + [f"I-{kind}"] * (length - 1)

    def some(longer: int = 0) -> Labels:
        return name(_KINDS[whole(g, 0, 2)], whole(g, 1, 3) + longer)

    # kinds of other first letters
    kind, taken_for = pick(g, [*pick(g, _KINDS[:2], 1), _KINDS[2]], 2)
    length, too_long = whole(g, 1, 3), some(longer=1)
    parts = [
        *((found, found) for found in (some() for _ in range(n_found))),
        *((lost, ["O"] * len(lost)) for lost in (some() for _ in range(n_overlooked))),
        (too_long, [*too_long[:-1], "O"]),
        (name(kind, length), name(taken_for, length)),
        (["O"], [f"I-{_KINDS[whole(g, 0, 2)]}"]),
    ]
    truth, said = [], []
    for right, predicted in pick(g, parts, len(parts)):
        behind = ["O"] * whole(g, 1, 2)
        truth, said = truth + right + behind, said + predicted + behind
    n_predicted = n_found + 2
    shows = (
        f"1 sentence, {len(truth)} words, {n_predicted + n_overlooked} names, {n_predicted} "
        f"predicted"
    )
    return Case(([said], [truth]), shows=shows)


def _some(g: Generator, sizes: list[tuple[int, int]]) -> list[Case]:
    cases = []
    for low, high in sizes:
        n_sentences = whole(g, low, high)
        right, predicted = [], []
        for _ in range(n_sentences):
            truth, said = [["O"] * whole(g, 0, 1)] * 2
            for _ in range(whole(g, 1, 4)):
                kind, length, behind = (
                    _KINDS[whole(g, 0, 2)],
                    whole(g, 0, 2),
                    ["O"] * whole(g, 0, 1),
                )
                taken_for = kind if whole(g, 0, 3) else _KINDS[whole(g, 0, 2)]
                truth = truth + [f"B-{kind}"] + [f"I-{kind}"] * length + behind
                said = said + [f"B-{taken_for}"] + [f"I-{taken_for}"] * length + behind
            right.append(truth)
            predicted.append([_misread(g, label) for label in said])
        # a name ends with its sentence, and the next is predicted to go on with it
        if n_sentences > 4:
            kind = _KINDS[whole(g, 0, 2)]
            right += [["O", f"B-{kind}"], [f"B-{kind}", "O"]]
            predicted += [["O", f"B-{kind}"], [f"I-{kind}", "O"]]
            # and one in which an I of another kind stands between two of the name's own
            other = next(k for k in _KINDS if k != kind)
            right += [[f"B-{kind}", f"I-{kind}", f"I-{kind}"]]
            predicted += [[f"B-{kind}", f"I-{other}", f"I-{kind}"]]
            n_sentences += 3
        words = sum(map(len, right))
        shows = (
            f"{n_sentences} sentences, {words} words, {len(_all(right))} names, "
            f"{len(_all(predicted))} predicted"
        )
        cases.append(Case((predicted, right), shows=shows, demands=(SEVERAL,)))
    return cases


def _without_a_hit(g: Generator) -> list[Case]:
    # of another first letter, too: a kind told by that one is another as well
    kinds, n = [*pick(g, _KINDS[:2], 1), _KINDS[2]], whole(g, 3, 6)
    taken_for, nothing = (
        ([f"B-{kind}", "O", f"B-{kind}", *[f"I-{kind}"] * n] for kind in kinds),
        ["O"] * n,
    )
    predicted, right = ([labels, nothing] for labels in taken_for)
    return [
        Case(
            (predicted, right),
            shows="2 sentences, all names taken for another kind: no hit",
            demands=(NOTHING,),
        ),
        Case(
            ([nothing], [nothing]),
            shows=f"a sentence of {n} words without a name, and none predicted",
            demands=(NOTHING,),
        ),
    ]


def _misread(g: Generator, label: str) -> str:
    """The label, most of the time; else no name, another kind, or I for B."""
    fate = whole(g, 0, 19)
    if label == "O":
        return f"{'BI'[fate % 2]}-{_KINDS[whole(g, 0, 2)]}" if fate < 3 else "O"
    if fate < 1:
        return "O"
    if fate < 2:
        return label[:2] + _KINDS[whole(g, 0, 2)]
    return "I" + label[1:] if fate < 5 else label


def names(labels: Labels) -> list[tuple[str, int, int]]:
    """(kind, first word, last word) of each name: it begins at B, and ends before what goes not
    on. An I that goes on nothing is in no name.
    """
    return _names(labels)


def _b_begins(before: str, label: str) -> bool:
    return label[0] == "B"


def _a_stray_i_begins(before, label):
    """As chapter 14b counts, and conlleval, and seqeval unless it is told otherwise."""
    return label[0] == "B" or (label[0] == "I" and before[2:] != label[2:])


def _another_kind_begins(before, label):
    return label != "O" and before[2:] != label[2:]


def _names(
    labels,
    begins: Callable = _b_begins,
    same_kind=True,
    of: Callable = lambda kind, i, j: (kind, i, j),
):
    found, open_name = [], None
    for i, (before, label) in enumerate(pairwise(["O", *labels])):
        if label != "O" and begins(before, label):
            found.append([label[2:], i, i])
            open_name = found[-1]
        elif (
            label != "O" and open_name is not None and (not same_kind or open_name[0] == label[2:])
        ):
            open_name[2] = i
        else:
            open_name = None
    return [of(*name) for name in found]


def _foreign_i_passed_over(labels):
    """An I of another kind is in no name, and ends none."""
    found, open_name = [], None
    for i, label in enumerate(labels):
        if label[0] == "B":
            open_name = [label[2:], i, i]
            found.append(open_name)
        elif label == "O":
            open_name = None
        elif open_name and label[2:] == open_name[0]:
            open_name[2] = i
    return [tuple(name) for name in found]


def _neighbours_merged(labels):
    """A B goes on with a name of its kind, as an I does."""
    inside = {i for _, first, last in names(labels) for i in range(first, last + 1)}
    kept = [label if i in inside else "O" for i, label in enumerate(labels)]
    return _names(kept, begins=_another_kind_begins)


def _all(sentences: list[Labels], decode: Callable = names) -> set:
    return {(s, *name) for s, labels in enumerate(sentences) for name in decode(labels)}


def _f1(hits: int, n_predicted: int, n_right: int) -> float:
    return _share(2 * hits, n_predicted + n_right)


def _share(some: int, of: int) -> float:
    """Their quotient; of nothing, 0."""
    return some / of if of else 0.0


def entity_f1(predicted: list[Labels], right: list[Labels]) -> float:
    """F1 of the names in all sentences together."""
    return _measured(predicted, right)


def _measured(predicted, right, decode=names, measure=_f1):
    p, r = _all(predicted, decode), _all(right, decode)
    return float(measure(len(p & r), len(p), len(r)))


def _accuracy(predicted, right):
    pairs = [
        (a, b) for x, y in zip(predicted, right, strict=True) for a, b in zip(x, y, strict=True)
    ]
    return sum(a == b for a, b in pairs) / len(pairs)


def _accuracy_inside(predicted, right):
    pairs = [
        (a, b)
        for x, y in zip(predicted, right, strict=True)
        for a, b in zip(x, y, strict=True)
        if b != "O"
    ]
    return sum(a == b for a, b in pairs) / len(pairs)


def _f1_of_words(predicted, right, key=lambda label: label):
    p, r = (
        {
            (s, i, key(label))
            for s, row in enumerate(rows)
            for i, label in enumerate(row)
            if label != "O"
        }
        for rows in (predicted, right)
    )
    return float(_f1(len(p & r), len(p), len(r)))


def _of_sentences(predicted, right):
    """Each sentence by itself, then the mean."""
    return sum(entity_f1([p], [r]) for p, r in zip(predicted, right, strict=True)) / len(right)


def _of_kinds(predicted, right):
    """Each kind by itself, then the mean."""
    p, r = _all(predicted), _all(right)
    kinds = sorted({name[1] for name in p | r})
    return sum(
        _f1(sum(n[1] == k for n in p & r), sum(n[1] == k for n in p), sum(n[1] == k for n in r))
        for k in kinds
    ) / max(len(kinds), 1)


def _sentences_thrown_together(predicted, right):
    p, r = ({name for labels in rows for name in names(labels)} for rows in (predicted, right))
    return float(_f1(len(p & r), len(p), len(r)))


def _flattened(predicted, right):
    """The labels of all sentences in one row."""
    return entity_f1(
        [[label for row in predicted for label in row]], [[label for row in right for label in row]]
    )


def _last_names_lost(predicted, right):
    """A name is stored when the next label ends it: the one that ends with its sentence never
    is.
    """

    def decode(labels):
        return [name for name in names(labels) if name[2] < len(labels) - 1]

    return _measured(predicted, right, decode)


def _overlaps(predicted, right):
    p, r = _all(predicted), _all(right)
    hits = sum(any(a[:2] == b[:2] and a[2] <= b[3] and b[2] <= a[3] for b in r) for a in p)
    return float(_f1(hits, len(p), len(r)))


def _harmonic_mean(hits, p, r):
    precision, recall = hits / p, hits / r
    return 2 * precision * recall / (precision + recall)


_WORDS = (
    "You count words, not names. A name of four words of which three are found is three quarters "
    "right by words; but whoever looks for it in the result finds something else. A name is right "
    "if its kind, its first and its last word are, and otherwise wrong."
)
_STRAY = (
    "Your names also begin at an I that goes on nothing. Chapter 14b counts so, and its cell gives "
    "this result. Here only a B begins a name: an I behind an O, behind another kind or at the "
    "beginning is in none."
)
_ROUNDED = (
    "You round the result. Whoever compares two models wants the number itself; round it where it "
    "is printed."
)
_NOTHING = (
    "Where nothing is found, your answer divides by zero. A bad model has no hit, and a text may "
    "have no name: without a hit, F1 is 0. Ask for that first."
)
_F1 = (
    "F1 is the harmonic mean of precision and recall: 2 · precision · recall / (precision + "
    "recall), or 2 · hits / (predicted + right)."
)


def _lost_before_b(predicted, right):
    """A B that follows a name of its kind begins anew, and what was open is never closed."""

    def decode(labels):
        found = names(labels)
        starts = {(kind, i) for kind, i, _ in found if labels[i][0] == "B"}
        return [name for name in found if (name[0], name[2] + 1) not in starts]

    return _measured(predicted, right, decode)


def _rounded(predicted, right, digits):
    return round(entity_f1(predicted, right), digits)


def _first_letters(predicted, right):
    """B-p for B-person and for B-place."""
    cut = ([[label[:3] for label in labels] for labels in each] for each in (predicted, right))
    return entity_f1(*cut)


_IN_SEVERAL = (  # what a single sentence with names of its own does not show
    "foreign_i_passed_over",
    "kinds_told_by_their_first_letter",
    "rounded",
    "neighbours_merged",
    "kind_of_i_ignored",
    "sentences_in_one_row",
    "last_name_lost",
    "mean_over_sentences",
    "sentences_thrown_together",
    "divides_by_zero",
    "one_where_there_is_nothing",
    "name_before_another_lost",
)
_MISTAKES = (
    Misconception(
        "foreign_i_passed_over",
        "You pass over an I of another kind, and the name goes on behind it. It ends where "
        "something stands that does not go on with it: of B-person I-place I-person only the first "
        "word is a name.",
        partial(_measured, decode=_foreign_i_passed_over),
    ),
    Misconception(
        "kinds_told_by_their_first_letter",
        "You take the first letter of a kind for the kind: place and person are then one. What "
        "stands behind the hyphen is compared as a whole, label[2:].",
        _first_letters,
    ),
    Misconception(
        "accuracy",
        "You return the share of words with the right label. Most words are outside all names, and "
        "a model that finds none is right about those. Names are to be counted, not words.",
        _accuracy,
    ),
    Misconception("words_counted", _WORDS, _accuracy_inside),
    Misconception("words_counted", _WORDS, _f1_of_words),
    Misconception("words_counted", _WORDS, partial(_f1_of_words, key=lambda label: label[2:])),
    Misconception(
        "as_in_the_chapter",
        _STRAY,
        partial(_measured, decode=partial(_names, begins=_a_stray_i_begins)),
    ),
    Misconception(
        "neighbours_merged",
        "Two names of the same kind that stand side by side are one in your count. A B always "
        "begins a new name; that is what it is for.",
        partial(_measured, decode=_neighbours_merged),
    ),
    Misconception(
        "kind_of_i_ignored",
        "Behind B-person an I-place goes on with the person's name in your count. An I belongs to "
        "the name before it only if the kind is the same; otherwise the name has ended.",
        partial(_measured, decode=partial(_names, same_kind=False)),
    ),
    Misconception(
        "sentences_in_one_row",
        "You put the labels of all sentences into one row. A name that ends with its sentence then "
        "goes on in the next, if that begins with an I. No name crosses two sentences: begin anew "
        "in each.",
        _flattened,
    ),
    Misconception(
        "last_name_lost",
        "You lose a name that ends with its sentence: it is stored when the next label ends it, "
        "and there is no next one. Store what is still open behind the loop, or put an O behind "
        "the labels.",
        _last_names_lost,
    ),
    Misconception(
        "kind_ignored",
        "A name counts as found in your result when its words are right and its kind is wrong. The "
        "kind is part of the name.",
        partial(_measured, decode=partial(_names, of=lambda kind, i, j: (i, j))),
    ),
    Misconception(
        "only_beginnings_compared",
        "You compare where names begin, not where they end: with half of its words missing, a name "
        "is not found.",
        partial(_measured, decode=partial(_names, of=lambda kind, i, j: (kind, i))),
    ),
    Misconception(
        "overlap_counts",
        "A name counts as found in your result when it shares a word with a right one. Its first "
        "and its last word must be right.",
        _overlaps,
    ),
    Misconception(
        "mean_over_sentences",
        "You take the F1 of each sentence and then the mean. A sentence with one name would weigh "
        "as much as one with five: count hits, predicted and right names in all sentences "
        "together, and divide once.",
        _of_sentences,
    ),
    Misconception(
        "mean_over_kinds",
        "You take the F1 of each kind and then the mean (macro). Asked for is the F1 of all names "
        "together, whatever their kind (micro).",
        _of_kinds,
    ),
    Misconception(
        "sentences_thrown_together",
        "You put the names of all sentences into one set without saying which sentence each is "
        "from. Two names that stand at the same places of two sentences become one, or count as "
        "found in the wrong sentence.",
        _sentences_thrown_together,
    ),
    *(
        Misconception(
            "precision",
            "You return precision: how many of the predicted names are right. " + _F1,
            partial(_measured, measure=measure),
        )
        for measure in (lambda hits, p, r: _share(hits, p), lambda hits, p, r: hits / p)
    ),
    Misconception(
        "half_of_f1",
        "You return half of the F1: where every name is found, and no other, yours is 0.5. Twice "
        "the hits are divided, since each is among the predicted and among the right. " + _F1,
        partial(_measured, measure=lambda hits, p, r: _f1(hits, p, r) / 2),
    ),
    *(
        Misconception(
            "recall",
            "You return recall: how many of the right names are found. " + _F1,
            partial(_measured, measure=measure),
        )
        for measure in (lambda hits, p, r: _share(hits, r), lambda hits, p, r: hits / r)
    ),
    *(
        Misconception(
            "arithmetic_mean",
            "You return half the sum of precision and recall. " + _F1,
            partial(_measured, measure=measure),
        )
        for measure in (
            lambda hits, p, r: (_share(hits, p) + _share(hits, r)) / 2,
            lambda hits, p, r: (hits / p + hits / r) / 2,
        )
    ),
    *(
        Misconception(
            "share_of_all_names",
            "You divide the hits by the names in either list (that is the Jaccard index). " + _F1,
            partial(_measured, measure=measure),
        )
        for measure in (
            lambda hits, p, r: _share(hits, p + r - hits),
            lambda hits, p, r: hits / (p + r - hits),
        )
    ),
    Misconception(
        "divides_by_zero",
        _NOTHING,
        partial(_measured, measure=lambda hits, p, r: 2 * hits / (p + r)),
        by_exception=True,
    ),
    Misconception(
        "divides_by_zero", _NOTHING, partial(_measured, measure=_harmonic_mean), by_exception=True
    ),
    Misconception(
        "one_where_there_is_nothing",
        "Where there is no name and none is predicted you return 1. One may see it so, but here F1 "
        "is 0 without a hit: nothing was found.",
        partial(_measured, measure=lambda hits, p, r: _f1(hits, p, r) if p + r else 1.0),
    ),
    Misconception(
        "percent",
        "Your result is 100 times too large: a share between 0 and 1 is asked for.",
        partial(_measured, measure=lambda hits, p, r: 100 * _f1(hits, p, r)),
    ),
    Misconception(
        "name_before_another_lost",
        "Where a name follows directly on another one of its kind, you lose the first of the two. "
        "A B ends the name before it, and begins a new one: store the old one first.",
        _lost_before_b,
    ),
    *(Misconception("rounded", _ROUNDED, partial(_rounded, digits=digits)) for digits in (2, 3, 4)),
)

ENTITY_F1 = Question(
    name="hw6.entity_f1",
    title="Names, not words",
    points=3,
    minutes=25,
    difficulty=2,
    chapter="14b_words_and_spans#tagging-names-in-a-text",
    cases=_cases,
    reference=entity_f1,
    misconceptions=_MISTAKES,
    **_WITHIN,
    demands=(Demand(NAMES, 1.5), Demand(SEVERAL, 1), Demand(NOTHING, 0.5)),
)
