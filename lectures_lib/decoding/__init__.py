"""Decoding: greedy, sampling and beam search, with a cache or without (chapter 9)."""

from lectures_lib.decoding.beam_search import (
    Beams,
    beam,
    best_of,
    grow,
    length_penalty,
    n_best,
    rescore,
)
from lectures_lib.decoding.cache import (
    KeyValueCache,
    LanguageModelWithCache,
    TransformerWithCache,
    WithoutCache,
)
from lectures_lib.decoding.protocol import Step, StepModel, StepState
from lectures_lib.decoding.recurrent import RecurrentSteps
from lectures_lib.decoding.sampling import (
    Decoded,
    StepLook,
    decode_with,
    greedy,
    keep_top_k,
    keep_top_p,
    sample,
)
from lectures_lib.decoding.stepwise import stepwise

__all__ = [
    "Beams",
    "Decoded",
    "KeyValueCache",
    "LanguageModelWithCache",
    "RecurrentSteps",
    "Step",
    "StepLook",
    "StepModel",
    "StepState",
    "TransformerWithCache",
    "WithoutCache",
    "beam",
    "best_of",
    "decode_with",
    "greedy",
    "grow",
    "keep_top_k",
    "keep_top_p",
    "length_penalty",
    "n_best",
    "rescore",
    "sample",
    "stepwise",
]
