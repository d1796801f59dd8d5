"""Predictions: what a fine-tuned model says of examples, and takes for right (chapters 14 and
14b).
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lectures_lib.checks.sizes import check_size
from lectures_lib.modes import evaluating
from lectures_lib.tasks import alignment
from lectures_lib.tasks.alignment import Read
from lectures_lib.tasks.fine_tuning.batching import collate
from lectures_lib.tasks.fine_tuning.examples import Example
from lectures_lib.tasks.task_heads import (
    Head,
    SentenceRegressor,
    SpanExtractor,
    SpanScores,
    TokenTagger,
    best_spans,
)


@torch.no_grad()
def scores(model: Head, examples: Sequence[Example], batch_size: int = 64) -> list[Tensor]:
    """What the model says of each example, in their order; it is in evaluation mode meanwhile.

    Returns:
        For each example: scores of the classes or endings; a number; (n, classes) for a tagger; (2,
            n) for a span extractor.

    Raises:
        ValueError: for a batch_size below 1.
    """
    check_size("batch_size", batch_size)
    order = sorted(
        range(len(examples)), key=lambda i: max(len(read.ids) for read in examples[i].reads)
    )
    device = next(model.parameters()).device
    found: list[Tensor] = [torch.empty(0)] * len(examples)
    for at in range(0, len(order), batch_size):
        rows = order[at : at + batch_size]
        batch = collate([examples[i] for i in rows])
        with evaluating(model):
            said = model(*(part.to(device) for part in batch[:3]))
        said = torch.stack(said, dim=1) if isinstance(said, SpanScores) else said
        for i, one, n in zip(rows, said.cpu(), batch.lengths, strict=True):
            if isinstance(model, (TokenTagger, SpanExtractor)):
                # without what is said of padding
                one = one[..., :n] if isinstance(model, SpanExtractor) else one[:n]
            found[i] = one
    return found


def predict(
    model: Head, examples: Sequence[Example], batch_size: int = 64, **options: Any
) -> list[Any]:
    """What the model takes for right, for each example.

    Args:
        model: a head from `lectures_lib.tasks.task_heads`.  examples: what to read; their targets
            are not looked at.
        batch_size: how many at once.
        options: of `best_spans`, for a `SpanExtractor`: `max_length`, `threshold`.

    Returns:
        A class (int) or an ending; a number (float); a class for each *word*, that of the name "O"
        for words that were cut off; or the first and the last piece of the answer, (0, 0) for none,
        for `alignment.quote`.

    Raises:
        ValueError: for words that were cut off, where the model has no class named "O".
    """
    outside = _outside(model, examples) if isinstance(model, TokenTagger) else 0
    found = scores(model, examples, batch_size)
    if isinstance(model, SentenceRegressor):
        return [float(number) for number in found]
    if isinstance(model, TokenTagger):
        return [
            alignment.words_of(e.reads[0], said.argmax(dim=-1).tolist(), outside)
            for e, said in zip(examples, found, strict=True)
        ]
    if isinstance(model, SpanExtractor):
        return [
            _best_span(e.reads[0], said, **options) for e, said in zip(examples, found, strict=True)
        ]
    return [int(said.argmax()) for said in found]


def _outside(model: TokenTagger, examples: Sequence[Example]) -> int:
    """The class of words that were cut off: "O", no name."""
    names = model.names or ()
    for i, starts in enumerate(example.reads[0].starts for example in examples):
        if None in starts and "O" not in names:
            named = f"are named {', '.join(names)}" if names else "have no names"
            raise ValueError(
                f"example {i}: {starts.count(None)} of its {len(starts)} words were cut off, and "
                f"which class is theirs is not known: none is named O, for the model's "
                f"{model.head.out_features} classes {named}"
            )
    return names.index("O") if "O" in names else 0


def _best_span(read: Read, said: Tensor, **options: Any) -> tuple[int, int]:
    allowed = torch.zeros(1, len(read.ids), dtype=torch.bool)
    allowed[0, alignment.context_places(read)] = True
    spans = best_spans(SpanScores(*said[:, None]), allowed, **options)
    return int(spans.start), int(spans.end)
