"""Question 2: labels are for words, and BERT reads pieces."""

from functools import partial

from torch import Generator

from lectures_lib.homework.banks.inputs import pick, whole
from lectures_lib.homework.banks.telling import telling
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

LABELS = "where all fits, the first piece of each word has its label, and nothing else has"
CUT = "what does not fit is cut off at the end, its labels too"

_SHORT = [["she"], ["lives"], ["in"], ["the"], ["old"], ["town"], ["with"], ["him"], ["near"]]
_LONG = [
    ["rey", "##k", "##ja", "##vik"],
    ["ad", "##a"],
    ["kla", "##us"],
    ["sol", "##berg"],
    ["nor", "##d", "##licht"],
    ["un", "##do"],
]

Tagged = tuple[list[str], list[int]]


def _draw(g: Generator) -> list[Case]:
    cases = []
    for kind in (
        "all fits",
        "a word is cut",
        "cut between words",
        "a word is cut",
        "a single word",
    ):
        n = 1 if kind == "a single word" else whole(g, 6, 9)
        words = [
            word
            for pair in zip(pick(g, _SHORT, n), pick(g, _LONG * 2, n), strict=True)
            for word in pair
        ][:n]
        labels = [whole(g, 1, 6) for _ in words]
        labels[0] = 0 if n > 1 else labels[0]
        # a word of two labels; pieces without a mark; a word outside all names between others
        if kind == "all fits":
            words[2], words[4] = ["o", "'", "neil"], list(words[1])
            labels[1], labels[4], labels[3] = 1, 2, 0
            words[5], labels[5] = ["'", "n", "'"], whole(g, 1, 6)  # a piece that comes twice
        n_pieces = sum(map(len, words))
        if kind == "a word is cut":  # behind the first or the second of its pieces
            i = max(j for j, word in enumerate(words) if len(word) > 2 or j == 1)
            words[i] = ["rey", "##k", "##ja", "##vik"]
            max_len = sum(map(len, words[:i])) + whole(g, 1, 2) + 2
        elif kind == "cut between words":
            max_len = sum(map(len, words[:-2])) + 2
        else:
            max_len = n_pieces + 2 + whole(g, 0, 1) * 3
        max_len += 3 * ("cut" not in kind and max_len == n_pieces + 2)
        shows = f"{n} words, {sum(map(len, words))} pieces, max_len = {max_len}"
        demand = CUT if "cut" in kind else LABELS
        cases.append(Case((words, labels, max_len), shows=shows, demands=(demand,)))
    return cases


def piece_labels(words: list[list[str]], labels: list[int], max_len: int) -> Tagged:
    """The pieces between [CLS] and [SEP], and a label for each of them."""
    return _labelled(words, labels, max_len)


def _first(label, word):
    return [label] + [-100] * (len(word) - 1)


def _every(label, word):
    return [label] * len(word)


def _last(label, word):
    return [-100] * (len(word) - 1) + [label]


def _zeros(label, word):
    return [label] + [0] * (len(word) - 1)


def _minus_ones(label, word):
    return [label] + [-1] * (len(word) - 1)


def _only_whole(label, word):
    return [label] if len(word) == 1 else [-100] * len(word)


def _labelled(
    words,
    labels,
    max_len,
    of_word=_first,
    special=(-100, -100),
    counted=2,
    whole_words=False,
    whole_labels=False,
):
    tokens, targets = [], []
    for word, label in zip(words, labels, strict=True):
        room = max_len - counted - len(tokens)
        if whole_words and len(word) > room:
            break
        cut_word = len(word) > room
        tokens += word[: max(room, 0)]
        told = of_word(label, word)[: max(room, 0)]
        targets += [-100] * len(told) if whole_labels and cut_word else told
    return ["[CLS]", *tokens, "[SEP]"], [special[0], *targets, special[1]]


def _no_special(words, labels, max_len):
    tokens, targets = piece_labels(words, labels, max_len)
    return tokens, targets[1:-1]


def _label_below_the_last_sep(words, labels, max_len):
    """What is cut off leaves its label at the place where [SEP] is written."""
    tokens, targets = piece_labels(words, labels, max_len)
    pieces = [
        piece for label, word in zip(labels, words, strict=True) for piece in _first(label, word)
    ]
    return tokens, [*targets[:-1], [*pieces, -100][len(tokens) - 2]]


def _shifted(words, labels, max_len):
    """The labels begin at [CLS]."""
    tokens, targets = piece_labels(words, labels, max_len)
    return tokens, [*targets[1:-1], -100, -100]


def _uncut(words, labels, max_len):
    return piece_labels(words, labels, 10**6)


def _row_cut(words, labels, max_len):
    tokens, targets = _uncut(words, labels, max_len)
    return tokens[:max_len], targets[:max_len]


def _one_for_each_word(words, labels, max_len):
    """The labels as they came, as if each word were one piece, filled up."""
    tokens, _ = piece_labels(words, labels, max_len)
    inner = len(tokens) - 2
    return tokens, [-100, *(labels + [-100] * inner)[:inner], -100]


def _by_marks(words, labels, max_len):
    """Every piece without ## is taken for a first one, and gets its word's label."""

    def of_word(label, word):
        return [-100 if piece.startswith("##") else label for piece in word]

    return _labelled(words, labels, max_len, of_word)


def _by_text(words, labels, max_len):
    """Every piece that reads like its word's first is taken for it."""

    def of_word(label, word):
        return [label if piece == word[0] else -100 for piece in word]

    return _labelled(words, labels, max_len, of_word)


def _one_label_a_word(words, labels, max_len):
    """A word that comes again has the label that it had the first time."""
    return piece_labels(words, [labels[words.index(word)] for word in words], max_len)


def _last_label_of_a_word(words, labels, max_len):
    of = {tuple(word): label for word, label in zip(words, labels, strict=True)}
    return piece_labels(words, [of[tuple(word)] for word in words], max_len)


def _zero_is_none(words, labels, max_len):
    return piece_labels(words, [label or -100 for label in labels], max_len)


def _left_out(words, labels, max_len):
    """Pieces behind a word's first are not read."""
    kept = [word[:1] for word in words]
    return piece_labels(kept, labels, max_len)


_UNLABELLED = (
    "Where there is nothing to learn you write 0. But 0 is a label, the one of words outside all "
    "names: the loss would ask for it at every [CLS] and at every second half of a word. -100 is "
    "what F.cross_entropy leaves out."
)

_LOOKED_UP = (
    "You look a word's label up by the word. The same word may be a name here and none there "
    "('may', 'rose'): go through words and labels side by side, with zip."
)


def _labels_uncut(words, labels, max_len):
    tokens, _ = piece_labels(words, labels, max_len)
    return tokens, _uncut(words, labels, max_len)[1]


def _into_the_first_word(words, labels, max_len):
    """`pieces = words[0]`, and `+=`: the input's first word becomes the whole sentence, before the
    labels are made.
    """
    pieces = words[0]
    for word in words[1:]:
        pieces += word
    targets = [t for word, label in zip(words, labels, strict=True) for t in _first(label, word)]
    room = max_len - 2
    return ["[CLS]", *pieces[:room], "[SEP]"], [-100, *targets[:room], -100]


_COUNTED = (
    "Your rows can be longer than max_len: [CLS] and [SEP] take two of the places. There is room "
    "for max_len - 2 pieces."
)
_MISTAKES = (
    Misconception(
        "label_below_the_last_sep",
        "You write [SEP] over the last token that is left, and keep its label. [SEP] is no word: "
        "-100 belongs there.",
        _label_below_the_last_sep,
    ),
    Misconception(
        "first_pieces_told_by_marks",
        "You take every piece without ## for a word's first. Tokenisers also cut at apostrophes "
        "and dots, without a mark: o ' neil is one word of three pieces here. Which pieces make a "
        "word is told by `words`.",
        _by_marks,
    ),
    Misconception(
        "first_pieces_told_by_their_text",
        "You take every piece that reads like a word's first for the first. ' n ' is one word of "
        "three pieces here, and its last reads like its first: count places, with enumerate.",
        _by_text,
    ),
    Misconception("label_looked_up_by_the_word", _LOOKED_UP, _one_label_a_word),
    Misconception("label_looked_up_by_the_word", _LOOKED_UP, _last_label_of_a_word),
    Misconception(
        "label_0_taken_for_none",
        "Words with the label 0 get -100 from you. 0 is a label like the others, the one of words "
        "outside all names; in Python it counts as false, so compare with None, or not at all.",
        _zero_is_none,
    ),
    Misconception(
        "every_piece_labelled",
        "You repeat a word's label at all its pieces. Then long words would count more than short "
        "ones, in training and when they are counted right. The first piece speaks for the word, "
        "the others get -100.",
        partial(_labelled, of_word=_every),
    ),
    Misconception(
        "last_piece_labelled",
        "Your label stands at a word's last piece. It belongs to the first, which is never cut off "
        "before the others.",
        partial(_labelled, of_word=_last),
    ),
    Misconception(
        "zero_for_nothing", _UNLABELLED, partial(_labelled, of_word=_zeros, special=(0, 0))
    ),
    Misconception("zero_for_nothing", _UNLABELLED, partial(_labelled, of_word=_zeros)),
    Misconception("zero_for_nothing", _UNLABELLED, partial(_labelled, special=(0, 0))),
    Misconception(
        "words_of_several_pieces_unlabelled",
        "You label only the words that are a single piece. A word of several pieces has its label "
        "at the first of them.",
        partial(_labelled, of_word=_only_whole),
    ),
    Misconception(
        "special_tokens_without_labels",
        "[CLS] and [SEP] have no entry in your labels, so that these are two shorter than the "
        "tokens, and each stands one place too early. They have an entry like every token: -100.",
        _no_special,
    ),
    Misconception(
        "shifted_by_cls",
        "Your labels stand one place too early: the first word's is at [CLS]. [CLS] takes the "
        "first place, with -100.",
        _shifted,
    ),
    Misconception(
        "a_label_for_each_place",
        "You write the labels one after the other, as if each word were one piece. From the first "
        "word of several pieces on, they stand at the wrong tokens.",
        _one_for_each_word,
    ),
    Misconception(
        "not_cut",
        "You cut nothing: there must be at most max_len tokens, [CLS] and [SEP] included.",
        _uncut,
    ),
    Misconception(
        "last_sep_cut_off",
        "You cut the finished row, and [SEP] with it. Cut the pieces to max_len - 2, then put "
        "[CLS] and [SEP] around them.",
        _row_cut,
    ),
    Misconception("special_tokens_not_counted", _COUNTED, partial(_labelled, counted=0)),
    Misconception("special_tokens_not_counted", _COUNTED, partial(_labelled, counted=1)),
    Misconception(
        "minus_one_for_nothing",
        "Where there is nothing to learn you write -1. F.cross_entropy leaves out -100, unless it "
        "is told another number, and refuses -1 as a label.",
        partial(_labelled, of_word=_minus_ones, special=(-1, -1)),
    ),
    Misconception(
        "only_whole_words_kept",
        "You leave out a word of which not all pieces fit. Its first pieces do fit, and its label "
        "with them: cut pieces, not words.",
        partial(_labelled, whole_words=True),
    ),
    Misconception(
        "cut_word_unlabelled",
        "Your tokens are right, but a word that loses some of its pieces loses its label, too. Its "
        "first piece is there, and that is what is labelled.",
        partial(_labelled, whole_labels=True),
    ),
    Misconception(
        "further_pieces_left_out",
        "You read the first piece of each word and leave out the rest. BERT reads all of them; the "
        "others are only not labelled.",
        _left_out,
    ),
    Misconception(
        "cut_too_short",
        "Your rows are a token shorter than they may be: there is one sentence here, and it has "
        "one [SEP]. max_len - 2 pieces fit.",
        partial(_labelled, counted=3),
    ),
    Misconception(
        "labels_not_cut",
        "You cut the pieces and not their labels: each token has one label, so both lists have the "
        "same length.",
        _labels_uncut,
    ),
)
# It changes its input, and would change that of the others.
_CHANGES = Misconception(
    "first_word_made_longer",
    "You put the pieces of all words into the first word's own list. `pieces = words[0]` makes no "
    "new list, and `+=` makes that one longer: whoever called you finds another first word, and "
    "your labels count its pieces. Begin with an empty list, pieces = [].",
    _into_the_first_word,
)

PIECE_LABELS = Question(
    name="hw6.piece_labels",
    title="One label, three pieces",
    points=2,
    minutes=15,
    difficulty=1,
    chapter="14b_words_and_spans#tagging-names-in-a-text",
    cases=lambda g: telling(g, _draw, piece_labels, [mistake.answer for mistake in _MISTAKES]),
    reference=piece_labels,
    misconceptions=(*_MISTAKES, _CHANGES),
    demands=(Demand(LABELS, 1), Demand(CUT, 1)),
)
