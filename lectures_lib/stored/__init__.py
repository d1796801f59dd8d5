"""Models that were trained for hours, once, and come with the package: no network, no waiting (a
card beside each file tells how).

    model, tokenizer = stored.fill_mask()      # MiniLM, with a head that fills holes (chapter 13)
    translate = stored.translator("de", "en")  # a Transformer of two million numbers (chapter 8)
    model, letters = stored.language_model()   # a small GPT that writes plays (chapter 10)
    model = stored.dates()                     # reads dates, letter by letter (chapter 6)
    model, words = stored.number_words()       # reads lists of numbers, in words (chapter 8)
    model, tokenizer = stored.small_bert()     # in the middle of its training (chapter 13)
    model, tokenizer = stored.sentiment()      # MiniLM, adapted to film reviews (chapter 14)

What began with published weights is kept as differences to them, small, and of no use without those
weights: in a few bits each (`trained_further`), or as thin matrices in half precision
(`for_tasks`). What began with nothing is kept in half precision, with its sizes (`from_nothing`,
`whole_models`).
"""

from lectures_lib.stored.differences import added, packed
from lectures_lib.stored.for_tasks import (
    TASKS,
    adapted,
    answers,
    entities,
    load_adapted,
    save_adapted,
    sentiment,
    similarity,
)
from lectures_lib.stored.from_nothing import (
    DATES,
    DIRECTIONS,
    LANGUAGE_MODELS,
    NUMBER_WORDS,
    dates,
    digits,
    garments,
    language_model,
    number_words,
    save_language_model,
    save_number_words,
    save_translator,
    small_bert,
    translator,
)
from lectures_lib.stored.trained_further import fill_mask, minilm_below_zeros, named_anew
from lectures_lib.stored.whole_models import (
    FOLDER,
    filled,
    load_eight_bits,
    load_halves,
    save_eight_bits,
    save_halves,
    zeros,
)

__all__ = [
    "DATES",
    "DIRECTIONS",
    "FOLDER",
    "LANGUAGE_MODELS",
    "NUMBER_WORDS",
    "TASKS",
    "adapted",
    "added",
    "answers",
    "dates",
    "digits",
    "entities",
    "fill_mask",
    "filled",
    "garments",
    "language_model",
    "load_adapted",
    "load_eight_bits",
    "load_halves",
    "minilm_below_zeros",
    "named_anew",
    "number_words",
    "packed",
    "save_adapted",
    "save_eight_bits",
    "save_halves",
    "save_language_model",
    "save_number_words",
    "save_translator",
    "sentiment",
    "similarity",
    "small_bert",
    "translator",
    "zeros",
]
