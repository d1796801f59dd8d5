"""Question 6: what the decoder reads in training and what it is to predict."""

from functools import partial

import torch
from torch import Generator

from lectures_lib.homework.questions import Case, Demand, Misconception, Question

SHIFT = "with sentences of one length, each word is predicted from those before it"
PADS = "shorter sentences, also empty ones, are padded at their end"

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
    "follows",
    "old",
    "young",
    "never",
    "always",
    "today",
]


def _forcing_cases(g: Generator) -> list[Case]:
    def sentences(*lengths: int) -> list[list[str]]:
        return [
            [_WORDS[i] for i in torch.randperm(len(_WORDS), generator=g)[:length]]
            for length in lengths
        ]

    def number(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=g))

    def telling(*lengths: int) -> list[list[str]]:
        """Sentences of which the last in the alphabet is the last: neither first nor longest."""
        found = sentences(*lengths)
        return found if max(found) is found[-1] else telling(*lengths)

    n = number(3, 6)
    short, long = number(1, 3), number(5, 9)
    return [
        Case(
            (sentences(n, n), "<begin>", "<end>", "<pad>"), shows=f"two sentences of {n} words each"
        ),
        Case(
            (telling(short, long, 4), "<s>", "</s>", "_"),
            shows=f"sentences of {short}, {long} and 4 words; the padding is '_'",
            demands=(PADS,),
        ),
        Case(
            (sentences(long, 0), ">", ".", "0"),
            shows=f"a sentence of {long} words and one without any; the padding is '0'",
            demands=(PADS,),
        ),
    ]


Sentences = list[list[str]]


def teacher_forcing(
    sentences: Sentences, begin: str, end: str, pad: str
) -> tuple[Sentences, Sentences]:
    """What the decoder reads and what it is to predict, all padded on the right to one length."""
    width = max(map(len, sentences)) + 1
    read = [[begin, *words] + [pad] * (width - len(words) - 1) for words in sentences]
    predict = [[*words, end] + [pad] * (width - len(words) - 1) for words in sentences]
    return read, predict


def _padded(rows: Sentences, pad: str, left: bool = False) -> Sentences:
    width = max(map(len, rows))
    return [
        [pad] * (width - len(row)) + row if left else row + [pad] * (width - len(row))
        for row in rows
    ]


def _forcing(
    sentences,
    begin,
    end,
    pad,
    before=True,
    after=True,
    read_end=False,
    predict_begin=False,
    left=False,
    ragged=False,
):
    read = [
        ([begin] if before else []) + words + ([end] if read_end else []) for words in sentences
    ]
    predict = [
        ([begin] if predict_begin else []) + words + ([end] if after else []) for words in sentences
    ]
    return (read, predict) if ragged else (_padded(read, pad, left), _padded(predict, pad, left))


def _forcing_of_the_spoken(sentences, begin, end, pad):
    return teacher_forcing([words for words in sentences if words], begin, end, pad)


def _forcing_empty_as_padding(sentences, begin, end, pad):
    tables = teacher_forcing(sentences, begin, end, pad)
    return tuple(
        [row if words else [pad] * len(row) for row, words in zip(table, sentences, strict=True)]
        for table in tables
    )


def _forcing_roles_swapped(sentences, begin, end, pad):
    return teacher_forcing(sentences, begin, end, pad)[::-1]


def _forcing_not_shifted(sentences, begin, end, pad):
    _, predict = teacher_forcing(sentences, begin, end, pad)
    return predict, predict


def _forcing_not_shifted_with_begin(sentences, begin, end, pad):
    whole = _padded([[begin, *words, end] for words in sentences], pad)
    return whole, whole


def _forcing_last_column_cut(sentences, begin, end, pad):
    whole = _padded([[begin, *words, end] for words in sentences], pad)
    return [row[:-1] for row in whole], [row[1:] for row in whole]


def _forcing_no_end(sentences, begin, end, pad):
    return _padded([[begin, *words[:-1]] for words in sentences], pad), _padded(sentences, pad)


def _forcing_no_end_begin_counts(sentences, begin, end, pad):
    whole = _padded([[begin, *words] for words in sentences], pad)
    return [row[:-1] for row in whole], [row[1:] for row in whole]


def _forcing_end_behind_padding(sentences, begin, end, pad):
    padded = _padded(sentences, pad)
    return [[begin, *row] for row in padded], [[*row, end] for row in padded]


def _forcing_cut_off(sentences, begin, end, pad):
    width = max(map(len, sentences))
    read, predict = teacher_forcing(sentences, begin, end, pad)
    return [row[:width] for row in read], [row[:width] for row in predict]


def _forcing_pairs(sentences, begin, end, pad):
    return [list(pair) for pair in zip(*teacher_forcing(sentences, begin, end, pad), strict=True)]


_END_READ = (
    "Your decoder reads the end token. What comes after the end? There is no answer to predict. "
    "The end is predicted and never read: the decoder reads begin and the words, and predicts the "
    "words and end, as many of one as of the other."
)
_NOT_SHIFTED = (
    "Your decoder reads the very word it is to predict, at the same place. Its loss would be "
    "wonderful and the model useless: it learns to copy. What it reads is moved one place to the "
    "right, with the begin token in front."
)
_NO_END = (
    "Your targets lack the end token, so a model trained on them never learns to stop. The last "
    "thing to predict, after the last word, is end."
)
_BEGIN = (
    "Your decoder is asked to predict the begin token. It is given, not predicted: the first thing "
    "to predict is the first word."
)


def _forcing_both_in_both(sentences, begin, end, pad):
    whole = _padded([[begin, *words, end] for words in sentences], pad)
    return whole, [[*row[1:], pad] for row in whole]


def _forcing_first_length(sentences, begin, end, pad):
    width = len(sentences[0])
    return (
        [[begin, *words] + [pad] * (width - len(words)) for words in sentences],
        [[*words, end] + [pad] * (width - len(words)) for words in sentences],
    )


def _forcing_last_of_the_alphabet(sentences, begin, end, pad):
    width = len(max(sentences))
    return (
        [[begin, *words] + [pad] * (width - len(words)) for words in sentences],
        [[*words, end] + [pad] * (width - len(words)) for words in sentences],
    )


def _forcing_tokens_of_the_example(sentences, begin, end, pad):
    return teacher_forcing(sentences, "<begin>", "<end>", "<pad>")


def _forcing_one_too_long(sentences, begin, end, pad):
    read, predict = teacher_forcing(sentences, begin, end, pad)
    return [[*row, pad] for row in read], [[*row, pad] for row in predict]


def _forcing_filled_with_end(sentences, begin, end, pad, tables="both"):
    read, predict = teacher_forcing(sentences, begin, end, end)
    right = teacher_forcing(sentences, begin, end, pad)
    return (
        right[0] if tables == "predict" else read,
        right[1] if tables == "read" else predict,
    )


def _forcing_last_word_not_read(sentences, begin, end, pad, full=True):
    read, predict = teacher_forcing(sentences, begin, end, pad)
    width = len(read[0])
    rows = [[begin, *words[:-1]] for words in sentences]
    rows = [
        row + [pad] * (width - (len(row) if full else 1 + len(words)))
        for row, words in zip(rows, sentences, strict=True)
    ]
    return rows, predict


def _forcing_end_not_predicted(sentences, begin, end, pad):
    read, _ = teacher_forcing(sentences, begin, end, pad)
    return read, [words + [pad] * (len(read[0]) - len(words)) for words in sentences]


def _forcing_one_list_for_all(sentences, begin, end, pad):
    """[[pad] * width] * n holds one list n times: each row is written over the one before."""
    tables = teacher_forcing(sentences, begin, end, pad)
    for table in tables:
        whole = [pad] * len(table[0])
        for words in table:
            length = next((i for i, word in enumerate(words) if word == pad), len(words))
            whole[:length] = words[:length]
        table[:] = [whole] * len(table)
    return tables


_FILLED = (
    "You fill up the shorter rows with the end token. It stands once, behind the last word that is "
    "predicted; everything behind it is pad."
)

FORCING = Question(
    name="hw2.teacher_forcing",
    title="One to the right",
    points=2,
    minutes=15,
    difficulty=1,
    chapter="06_decoder#one-to-the-right",
    cases=_forcing_cases,
    reference=teacher_forcing,
    misconceptions=(
        Misconception(
            "empty_sentences_left_out",
            "You leave out sentences without words. Each sentence has a row: of an empty one "
            "`begin` is read and `end` predicted.",
            _forcing_of_the_spoken,
        ),
        Misconception(
            "empty_sentences_as_padding",
            "You make a row of padding of a sentence without words. It has a beginning and an end "
            "like the others: `begin` is read and `end` predicted.",
            _forcing_empty_as_padding,
        ),
        Misconception("end_is_read", _END_READ, partial(_forcing, read_end=True)),
        Misconception(
            "end_is_read",
            _END_READ,
            partial(_forcing, read_end=True, predict_begin=True, after=False),
        ),
        Misconception(
            "end_is_read_in_shorter_sentences",
            "Right for the longest sentence; in the shorter ones your decoder reads the end token. "
            "Cutting off the last *column* of begin, words, end, padding removes the end of the "
            "longest only. As long as the loss skips padding this does no harm (this course's "
            "shift_right does the same), but here reading and predicting must have the same number "
            "of real tokens: build each row by itself.",
            _forcing_last_column_cut,
        ),
        Misconception("not_shifted", _NOT_SHIFTED, _forcing_not_shifted),
        Misconception("not_shifted", _NOT_SHIFTED, _forcing_not_shifted_with_begin),
        Misconception(
            "not_shifted", _NOT_SHIFTED, partial(_forcing, predict_begin=True, after=False)
        ),
        Misconception("begin_is_predicted", _BEGIN, partial(_forcing, predict_begin=True)),
        Misconception(
            "begin_is_predicted",
            _BEGIN,
            partial(_forcing, predict_begin=True, before=False, after=False),
        ),
        Misconception("end_forgotten", _NO_END, partial(_forcing, after=False)),
        Misconception("end_forgotten", _NO_END, _forcing_no_end),
        Misconception("end_forgotten", _NO_END, _forcing_no_end_begin_counts),
        Misconception(
            "begin_forgotten",
            "Nothing stands before the first word that your decoder reads. Without a begin token "
            "it has nothing to predict the first word from, and everything else stands one place "
            "too far left.",
            partial(_forcing, before=False),
        ),
        Misconception(
            "roles_swapped",
            "Both halves are right and have changed places: return what the decoder *reads* first "
            "(it starts with begin), then what it is to predict (it finishes with end).",
            _forcing_roles_swapped,
        ),
        Misconception(
            "padded_on_the_left",
            "Your padding stands on the left. Here it comes after everything else, on the right, "
            "where a causal model never looks.",
            partial(_forcing, left=True),
        ),
        Misconception(
            "not_padded",
            "Your rows have different lengths, and no tensor can be made of them. Fill up the "
            "shorter ones with pad, on the right, to the length of the longest.",
            partial(_forcing, ragged=True),
        ),
        Misconception(
            "end_behind_the_padding",
            "You pad first and add the end token last, so in a shorter sentence it stands behind "
            "the padding. The end follows the last word; padding comes after it.",
            _forcing_end_behind_padding,
        ),
        Misconception(
            "longest_cut_off",
            "Your rows are as long as the longest sentence, which leaves no room for begin or end: "
            "its last word is never read and its end never predicted. The length is that of the "
            "longest sentence plus one.",
            _forcing_cut_off,
        ),
        Misconception(
            "pairs",
            "You return a pair for each sentence. Two tables are asked for, since the model gets "
            "them as two tensors: (read, predict), each with a row for every sentence.",
            _forcing_pairs,
        ),
        Misconception("end_is_read", _END_READ, _forcing_both_in_both),
        Misconception(
            "padded_to_the_first_sentence",
            "Your rows are padded to the length of the first sentence, which need not be the "
            "longest: take the largest of all lengths.",
            _forcing_first_length,
        ),
        Misconception(
            "padded_to_the_last_in_the_alphabet",
            "max(sentences) is not the longest of them: lists are compared by their first words, "
            "in the order of the alphabet. The length that is asked for is max(map(len, "
            "sentences)), and one more.",
            _forcing_last_of_the_alphabet,
        ),
        *(
            Misconception(
                "filled_with_end", _FILLED, partial(_forcing_filled_with_end, tables=tables)
            )
            for tables in ("both", "read", "predict")
        ),
        *(
            Misconception(
                "last_word_not_read",
                "Your decoder never reads the last word of a sentence. It is read, and the end is "
                "predicted from it: begin and *all* words.",
                partial(_forcing_last_word_not_read, full=full),
            )
            for full in (True, False)
        ),
        Misconception("end_forgotten", _NO_END, _forcing_end_not_predicted),
        Misconception(
            "one_list_for_all_rows",
            "All your rows are one and the same list: [[pad] * n] * m holds it m times, and what "
            "is written into one row stands in all. Make a new list for each row.",
            _forcing_one_list_for_all,
        ),
        Misconception(
            "tokens_of_the_example",
            'You write "<begin>", "<end>" and "<pad>", as in the example. What these tokens are '
            "called, the arguments begin, end and pad say.",
            _forcing_tokens_of_the_example,
        ),
        Misconception(
            "padded_by_one_too_many",
            "Your rows are right but for one padding token too many in each. Each row holds one "
            "token beside the words, begin or end: the longest sentence's length and 1.",
            _forcing_one_too_long,
        ),
    ),
    demands=(Demand(SHIFT, 1), Demand(PADS, 1)),
)
