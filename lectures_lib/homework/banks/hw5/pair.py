"""Question 1: what BERT reads when it reads two sentences."""

from functools import partial

import torch
from torch import Generator

from lectures_lib.homework.banks.inputs import whole
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

ONE = "one pair becomes tokens, segments and positions"
BATCH = "in a batch with pairs of other lengths and single sentences, all rows are of one length"

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


def _pair_cases(g: Generator) -> list[Case]:
    def sentence(n: int) -> list[str]:
        return [_WORDS[i] for i in torch.randperm(len(_WORDS), generator=g)[:n]]

    first, second, short, long = whole(g, 2, 4), whole(g, 2, 5), whole(g, 1, 2), whole(g, 6, 8)
    a, b = sentence(first), sentence(second)
    return [
        Case(
            ([[sentence(first), sentence(second)]], "[CLS]", "[SEP]", "[PAD]"),
            shows=f"one pair, of {first} and {second} tokens",
        ),
        Case(
            (
                [
                    [sentence(short), sentence(second)],
                    [sentence(long), None],
                    [sentence(first), sentence(long)],
                ],
                "[CLS]",
                "[SEP]",
                "[PAD]",
            ),
            shows=(
                f"a pair of {short} and {second} tokens, a single sentence of {long}, a pair of "
                f"{first} and {long}"
            ),
            demands=(BATCH,),
        ),
        Case(
            (
                [
                    [sentence(long), sentence(short)],
                    [sentence(short), None],
                    [sentence(second), sentence(1)],
                ],
                "<s>",
                "</s>",
                "_",
            ),
            shows=(
                f"pairs of {long} and {short}, {second} and 1 tokens, a single sentence of "
                f"{short}; the padding is '_'"
            ),
            demands=(BATCH,),
        ),
        Case(
            (
                [[a, [*b, a[-1], a[0], b[0]]], [sentence(14), None], [b[:1], a[:1]]],
                "[CLS]",
                "[SEP]",
                "[PAD]",
            ),
            shows=(
                f"a pair of {first} and {second + 3} tokens that has words twice, a single "
                f"sentence of 14, a pair of single words"
            ),
            demands=(BATCH,),
        ),
    ]


Rows = list[list]


def pair_input(pairs: Rows, cls: str, sep: str, pad: str) -> tuple[Rows, Rows, Rows]:
    """Tokens, segments and positions, a row for each pair."""
    return _inputs(pairs, cls, sep, pad)


def _inputs(
    pairs,
    cls,
    sep,
    pad,
    begin=True,
    begin_again=False,
    middle=True,
    end=True,
    end_of_single=False,
    middle_segment=0,
    end_segment=1,
    numbers=(0, 1),
    pad_segment=0,
    restart=False,
    first_position=0,
    pad_position=None,
    left=False,
    padded=True,
):
    tokens, segments, positions = [], [], []
    for first, second in pairs:
        a = [cls] * begin + first + [sep] * (middle or second is None)
        b = (
            ([cls] * begin_again + second + [sep] * end)
            if second is not None
            else [sep] * end_of_single
        )
        segment_ids = [0] * (len(a) - 1) + [
            middle_segment if a[-1] == sep and second is not None else 0
        ]
        segment_ids += [1] * (len(b) - 1) + [end_segment] if b else []
        tokens.append(a + b)
        segments.append([numbers[i] for i in segment_ids])
        positions.append([*range(len(a)), *range(len(b))] if restart else list(range(len(a + b))))
    width = max(map(len, tokens)) if padded else 0
    for row in range(len(tokens)):
        gap = max(width - len(tokens[row]), 0)
        more = [pad] * gap, [segments[row][-1] if pad_segment == "last" else pad_segment] * gap
        tokens[row] = more[0] + tokens[row] if left else tokens[row] + more[0]
        segments[row] = more[1] + segments[row] if left else segments[row] + more[1]
        n = len(positions[row])
        on = list(range(n, n + gap)) if pad_position is None else [pad_position] * gap
        positions[row] = list(range(n + gap)) if left else positions[row] + on
        positions[row] = [first_position + i for i in positions[row]]
    return tokens, segments, positions


def _counted_by_separators(pairs, cls, sep, pad):
    """A segment begins with each [SEP]: the last one would begin a third."""
    tokens, _, positions = pair_input(pairs, cls, sep, pad)
    return tokens, [[row[: i + 1].count(sep) for i in range(len(row))] for row in tokens], positions


def _counted_before(pairs, cls, sep, pad):
    """How many [SEP] stand before each token: right for words, and padding gets a number of its
    own.
    """
    tokens, _, positions = pair_input(pairs, cls, sep, pad)
    return tokens, [[row[:i].count(sep) for i in range(len(row))] for row in tokens], positions


def _a_triple_each(pairs, cls, sep, pad):
    return [list(rows) for rows in zip(*pair_input(pairs, cls, sep, pad), strict=True)]


_PAD_SEGMENT = (
    "Right, but for the padding: it has segment 0 here, as in BERT's own code, whatever stands "
    "before it. Only the tokens of the second sentence, and the [SEP] that ends it, have segment 1."
)


def _tokens_not_padded(pairs, cls, sep, pad):
    """Only the positions run to the end of the longest row."""
    tokens, segments, _ = _inputs(pairs, cls, sep, pad, padded=False)
    _, _, positions = pair_input(pairs, cls, sep, pad)
    return tokens, segments, positions


def _restart_and_count_on(pairs, cls, sep, pad):
    """The padding counts on from the second sentence."""
    tokens, segments, _ = pair_input(pairs, cls, sep, pad)
    width = len(tokens[0])
    begins = [len(first) + 2 if second is not None else width for first, second in pairs]
    return tokens, segments, [[*range(n), *range(width - n)] for n in begins]


def _first_sep_in_segment_1(pairs, cls, sep, pad):
    """Also that which ends a single sentence."""
    tokens, segments, positions = pair_input(pairs, cls, sep, pad)
    for row, (first, _) in zip(segments, pairs, strict=True):
        row[len(first) + 1] = 1
    return tokens, segments, positions


def _one_longer(pairs, cls, sep, pad):
    tokens, segments, positions = pair_input(pairs, cls, sep, pad)
    return (
        [[*row, pad] for row in tokens],
        [[*row, 0] for row in segments],
        [[*row, len(row)] for row in positions],
    )


_NOT_PADDED = (
    "Your rows have different lengths, and no tensor can be made of them. Fill up the shorter ones "
    "to the length of the longest: tokens with pad, segments with 0, positions by counting on."
)
_RESTART = (
    "Your positions begin again with the second sentence. They count the places of the whole "
    "input, from 0 to its end: what tells the sentences apart is the segment."
)


def _padded_to_the_first(pairs, cls, sep, pad):
    alone = [pair_input([pair], cls, sep, pad) for pair in pairs]
    length = len(alone[0][0][0])
    tables = [[], [], []]
    for rows in alone:
        for table, (row,), more in zip(tables, rows, (pad, 0, None), strict=True):
            missing = range(len(row), length)
            table.append(row + (list(missing) if more is None else [more] * len(missing)))
    return tuple(tables)


def _padded_to_the_first(pairs, cls, sep, pad):
    rows = [pair_input([pair], cls, sep, pad) for pair in pairs]
    n = len(rows[0][0][0])
    tokens, segments = (
        [each[i][0] + [filling] * (n - len(each[i][0])) for each in rows]
        for i, filling in ((0, pad), (1, 0))
    )
    return tokens, segments, [list(range(len(row))) for row in tokens]


PAIR = Question(
    name="hw5.pair_input",
    title="Two sentences, one input",
    points=2,
    minutes=15,
    difficulty=1,
    chapter="12_bert#what-goes-in",
    cases=_pair_cases,
    reference=pair_input,
    misconceptions=(
        Misconception(
            "padded_to_the_first_row",
            "You pad to the length of the first row. A later one may be longer: build all rows, "
            "then take the longest.",
            _padded_to_the_first,
        ),
        Misconception(
            "last_sep_forgotten",
            "Your second sentence has no [SEP] at its end. Each sentence ends with one: [CLS] A "
            "[SEP] B [SEP].",
            partial(_inputs, end=False),
        ),
        Misconception(
            "middle_sep_forgotten",
            "Nothing separates your two sentences. Each ends with a [SEP]: [CLS] A [SEP] B [SEP].",
            partial(_inputs, middle=False),
        ),
        Misconception(
            "first_sep_in_the_second_segment",
            "The [SEP] between the sentences has segment 1 in your rows. It *ends* the first "
            "sentence and belongs to it: segment 0.",
            partial(_inputs, middle_segment=1),
        ),
        Misconception(
            "last_sep_in_the_first_segment",
            "The last [SEP] has segment 0 in your rows. It ends the second sentence and belongs to "
            "it: segment 1.",
            partial(_inputs, end_segment=0),
        ),
        Misconception(
            "segments_counted_from_1",
            "Your segments are 1 and 2. They are rows of a table with two rows, and rows are "
            "counted from 0: segments 0 and 1.",
            partial(_inputs, numbers=(1, 2)),
        ),
        Misconception(
            "a_segment_for_each_sep",
            "You begin a new segment *at* each [SEP]. A [SEP] ends its sentence and belongs to it; "
            "there are two segments, 0 and 1, and padding is in segment 0.",
            _counted_by_separators,
        ),
        Misconception(
            "positions_restart",
            _RESTART,
            partial(_inputs, restart=True),
        ),
        Misconception(
            "positions_counted_from_1",
            "Your positions begin with 1. [CLS] stands at position 0, the first row of BERT's "
            "table of positions.",
            partial(_inputs, first_position=1),
        ),
        Misconception(
            "padding_has_position_0",
            "All your padding is at position 0. Places go on being counted through the padding, so "
            "that all rows of positions are alike.",
            partial(_inputs, pad_position=0),
        ),
        Misconception("padding_has_a_segment", _PAD_SEGMENT, partial(_inputs, pad_segment=1)),
        Misconception("padding_has_a_segment", _PAD_SEGMENT, partial(_inputs, pad_segment=2)),
        Misconception("padding_has_a_segment", _PAD_SEGMENT, partial(_inputs, pad_segment="last")),
        Misconception("padding_has_a_segment", _PAD_SEGMENT, _counted_before),
        Misconception(
            "single_sentence_ends_twice",
            "Right for pairs, but after a single sentence you write two [SEP]. Without a second "
            "sentence there is nothing for the second [SEP] to end: [CLS] A [SEP].",
            partial(_inputs, end_of_single=True),
        ),
        Misconception(
            "cls_forgotten",
            "Your rows begin with the first sentence. Every input of BERT begins with [CLS], whose "
            "last vector stands for the whole.",
            partial(_inputs, begin=False),
        ),
        Misconception(
            "cls_twice",
            "You put a [CLS] in front of each sentence. There is one for the whole input, at its "
            "front; the sentences are set apart by [SEP].",
            partial(_inputs, begin_again=True),
        ),
        Misconception(
            "padded_on_the_left",
            "Your padding stands on the left. BERT's inputs are padded on the right, so that [CLS] "
            "is always at position 0.",
            partial(_inputs, left=True),
        ),
        Misconception(
            "not_padded",
            _NOT_PADDED,
            partial(_inputs, padded=False),
        ),
        Misconception(
            "a_triple_for_each_pair",
            "You return tokens, segments and positions of one pair, then those of the next. Three "
            "tables are asked for, since the model gets them as three tensors: (tokens, segments, "
            "positions), each with a row for every pair.",
            _a_triple_each,
        ),
        Misconception("not_padded", _NOT_PADDED, _tokens_not_padded),
        Misconception("positions_restart", _RESTART, _restart_and_count_on),
        Misconception(
            "first_sep_of_all_in_segment_1",
            "The first [SEP] of each row has segment 1, that of single sentences too. It *ends* "
            "the first sentence and belongs to it: segment 0.",
            _first_sep_in_segment_1,
        ),
        Misconception(
            "padded_by_one_too_many",
            "Your rows are right but for one padding token too many in each: the longest row needs "
            "none.",
            _one_longer,
        ),
    ),
    demands=(Demand(ONE, 1), Demand(BATCH, 1)),
)
