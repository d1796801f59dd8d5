"""The figure that hides more and more of a sentence and lets the model fill all holes at once: what it
tells at each rate of masking, beside what it tells of held-out sentences (chapter 13c).
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import torch
from figures_of_bert import filler

from lectures_lib import results, stored
from lectures_lib.models.bert import BertForPreTraining
from lectures_lib.tokenization import WordPiece

EXAMPLES = [
    "The old town lies on the left bank of the river, and in the summer many people come to see "
    "the church and the castle on the hill.",
    "one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve",
    "In 1969 Neil Armstrong became the first man to walk on the surface of the moon.",
    "The keys to the cabinet are on the table, and the cabinet is in the room of the old sailor.",
]
FIRST, STORED = 15, (15, 40, 75)  # per cent: BERT's rate, and those of the example in the page
LONGEST = 128  # tokens of the longest text that the model was trained on
WORDS_FROM = 1_000  # as in its training: below stand unused places and single signs
NEVER = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SPLITS = {"always_mask": (1.0, 0.0), "80_10_10": (0.8, 0.1)}  # [MASK], another one
FEW = 2**32


def chances(seed: int) -> Iterator[float]:
    """Numbers from 0 to 1 that a whole number decides, the same in any language (mulberry32)."""
    state = seed % FEW
    while True:
        state = (state + 0x6D2B79F5) % FEW
        mixed = (state ^ (state >> 15)) * (state | 1) % FEW
        mixed ^= (mixed + (mixed ^ (mixed >> 7)) * (mixed | 61)) % FEW
        yield (mixed ^ (mixed >> 14)) / FEW


class Dice(NamedTuple):
    """For each piece, two numbers between 0 and 1 and a piece that may take its place: what
    `mask_tokens` draws.
    """

    choice: list[float]
    fate: list[float]
    others: list[int]


def dice(seed: int, n: int, words: range) -> Dice:
    """Those of draw number `seed` for n pieces."""
    chance, thrown = chances(seed), Dice([], [], [])
    for _ in range(n):
        thrown.choice.append(next(chance))
        thrown.fate.append(next(chance))
        thrown.others.append(words.start + int(next(chance) * len(words)))
    return thrown


class Hole(NamedTuple):
    """A chosen piece: where it stands, what the model reads there, and what it takes it for."""

    at: int
    reads: int
    says: int
    share: float


def read(pieces: WordPiece, text: str) -> list[int]:
    """[CLS] text [SEP], as long as the model was trained for."""
    (*ids, end) = pieces.pair(text).ids
    return [*ids[: LONGEST - 1], end]


def hidden(pieces: WordPiece, ids: list[int], seed: int, rate: float, split: str) -> dict[int, int]:
    """The chosen places at this rate, each with the id that the model reads there."""
    thrown = dice(seed, len(ids), range(WORDS_FROM, len(pieces)))
    never, mask = set(map(pieces.token_id, NEVER)), pieces.token_id("[MASK]")
    masked, other = SPLITS[split]
    return {
        i: mask if fate < masked else new if fate < masked + other else was
        for i, (was, choice, fate, new) in enumerate(zip(ids, *thrown, strict=True))
        if choice < rate and was not in never
    }


@torch.no_grad()
def guesses(model: BertForPreTraining, ids: list[int], holes: dict[int, int]) -> list[Hole]:
    """All of them filled at once."""
    if not holes:
        return []
    tokens = torch.tensor([[holes.get(i, was) for i, was in enumerate(ids)]])
    at = torch.zeros_like(tokens, dtype=torch.bool)
    at[0, list(holes)] = True
    best = model(tokens, at=at).words.softmax(dim=-1).max(dim=-1)
    found = zip(holes.items(), best.indices.tolist(), best.values.tolist(), strict=True)
    return [Hole(i, reads, says, share) for (i, reads), says, share in found]


def in_words(pieces: WordPiece, ids: list[int], holes: list[Hole]) -> str:
    """A text with its guesses, and what stood there where that is another."""
    names = pieces.known_tokens(ids)
    said = dict(enumerate(names))
    for hole in holes:
        (guess,) = pieces.known_tokens([hole.says])
        was = "" if hole.says == ids[hole.at] else f", was: {names[hole.at]}"
        said[hole.at] = f"[{guess} {100 * hole.share:.0f} %{was}]"
    right = sum(hole.says == ids[hole.at] for hole in holes)
    return f"{' '.join(list(said.values())[1:-1])} ({right} of {len(holes)})"


@cache
def hiding() -> tuple[dict, str]:
    """The figure that hides more and more of a sentence; an example at three rates."""
    model, pieces = stored.fill_mask()
    ids = read(pieces, EXAMPLES[0])
    asks, lines = [], []
    for rate in STORED:
        holes = hidden(pieces, ids, 1, rate / 100, "always_mask")
        given = [holes.get(i, was) for i, was in enumerate(ids)]
        asks.insert(0, {"task": "guess", "ids": given, "at": list(holes)})
        lines.append(f"{rate} %: {in_words(pieces, ids, guesses(model, ids, holes))}")
    measured = results.load("masking_rates")["results"]
    rates = [int(rate) for rate in measured["always_mask"]]
    names = ("right", "error", "lower", "upper", "holes")
    options = {
        "title": "Hide more and more",
        "models": filler()[0]["models"],
        "examples": EXAMPLES,
        "first": FIRST,
        "stored": STORED,
        "rates": rates,
        "mask": pieces.token_id("[MASK]"),
        "never": list(map(pieces.token_id, NEVER)),
        "words": [WORDS_FROM, len(pieces)],
        "sentences": measured["settings"]["sentences"],
        "others": {
            split: {
                name: [round(one[name], 6) for one in measured[split].values()] for name in names
            }
            for split in SPLITS
        },
        "asks": [{"task": "cut", "text": EXAMPLES[0]}, *asks],
    }
    return options, "\n".join(lines)
