"""The figure with a cache that can be broken, on a page below "Type your own" (type_your_own.py)."""

from copy import deepcopy
from functools import cache

import torch
from figure_of_dates import DATED, DAY, YEARS
from live_models import model
from torch import Tensor

from lectures_lib import decoding, stored
from lectures_lib.data import dates
from lectures_lib.models.transformer import Transformer


def forgetting_places(reader: Transformer) -> Transformer:
    """The same translator, but every letter that it has written is at place 0 (chapter 9b)."""
    forgetful = deepcopy(reader)
    forgetful.encode = reader.encode  # the source is read as before
    forgetful.positions.positions[:] = forgetful.positions.positions[0].clone()
    return forgetful


def checked(reader: Transformer, source: Tensor, read: Tensor) -> tuple[float, int]:
    """A letter at a time against all at once: the largest difference of a score, and how many
    numbers are in the cache at the end.
    """
    at_once, steps = reader(source, read), decoding.TransformerWithCache(reader)
    state, differences = steps.start(source).state, []
    for i in range(read.shape[1]):
        logits, state, _ = steps.step(read[:, i], state)
        differences.append(float((logits - at_once[:, i]).abs().max()))
    return max(differences), sum(2 * cache.n * reader.config.d_model for cache in state.caches)


@cache
@torch.no_grad()
def remembering() -> tuple[dict, str]:
    """The figure with a cache that can be broken; one date, written without a cache, with one, and
    with one that puts every letter at place 0.
    """
    reader, text = stored.dates(), dates.spellings(DAY)[1]
    source, _ = dates.to_ids([text])
    most = len(DAY.isoformat()) + 1  # with the end token

    def written(decoder: torch.nn.Module) -> str:
        marks = {"begin": dates.BEGIN, "end": dates.END, "max_len": most}
        return dates.to_text(decoding.greedy(decoder, source, **marks).tokens[0])

    answer = written(decoding.WithoutCache(reader))
    difference, kept = checked(reader, source, dates.to_ids([f">{answer[:-1]}"])[0])
    n = len(answer)
    options = {
        "title": "A cache at work",
        "models": [model("translator", stored.FOLDER / f"dates_{stored.DATES[-1]}.safetensors")],
        "alphabet": dates.ALPHABET,
        "room": reader.config.max_len,
        "years": YEARS,
        "examples": DATED,
        "text": text,
        "asks": [
            {
                "task": "remember",
                "source": source[0].tolist(),
                "most": most,
                "faults": {"noPlaces": False, "lost": []},
            }
        ],
    }
    lines = [
        text,
        f"without a cache: {answer}  {n * (n + 1) // 2} positions computed",
        f"with a cache:    {written(reader)}  {n} positions computed, {kept:,} numbers kept",
        f"largest difference of a score: {difference:.0e}",
        f"with a cache and every letter at place 0: {written(forgetting_places(reader))}",
    ]
    return options, "\n".join(lines)
