"""Which class decodes which model step by step."""

from typing import Any

from lectures_lib.decoding.cache import LanguageModelWithCache, TransformerWithCache
from lectures_lib.decoding.protocol import StepModel
from lectures_lib.decoding.recurrent import RecurrentSteps

# A model is known by what it is made of, not by its class: one that a reader has built herself can
# be decoded as well.
STEPS = {
    ("encode", "decode", "logits"): TransformerWithCache,  # transformer.Transformer
    ("embedding", "positions", "stack"): LanguageModelWithCache,  # language_model.LanguageModel
    ("encode", "decoder"): RecurrentSteps,  # seq2seq.Seq2Seq
}


def stepwise(model: Any) -> StepModel:
    """The model, ready to decode step by step and with its cache; what can do so already is
    returned as it is.

    Raises:
        TypeError: for a model that nobody has taught to decode.
    """
    if isinstance(model, StepModel):
        return model
    for parts, steps in STEPS.items():
        if all(hasattr(model, part) for part in parts):
            return steps(model)
    raise TypeError(
        f"a {type(model).__name__} cannot be decoded: give a Transformer, a LanguageModel or a "
        f"Seq2Seq, one of your own that has the "
        "same parts, or an object with the methods start and step"
    )
