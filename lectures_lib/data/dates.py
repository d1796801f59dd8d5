"""Dates as people write them and as computers want them, letter by letter (chapter 6).

"july 20, 1969" or "20 july 1969" → "1969-07-20.", with an end token; it needs no download. The
chapter builds this in its cells.
"""

import datetime
import random
from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Int
from torch import Tensor, nn

from lectures_lib.checks.door import at_the_door
from lectures_lib.data.batches import PairBatch

ALPHABET = "_>." + " ,-0123456789abcdefghijklmnopqrstuvwxyz"
PAD, BEGIN, END = 0, 1, 2
FIRST, DAYS, ASIDE = datetime.date(1900, 1, 1), 73_049, 1000  # to the end of 2099


def _check_letters(texts: Sequence[str]) -> None:
    for number, text in enumerate(texts):
        if not text:
            raise ValueError(f"text {number} is empty: there are no letters to number")
        for place, character in enumerate(text):
            if character not in ALPHABET:
                raise ValueError(
                    f"{character!r} (character {place} of text {number}, {text!r:.60}) is not "
                    f"among the letters: {ALPHABET!r}"
                )


@at_the_door(_check_letters)
def to_ids(texts: Sequence[str]) -> tuple[Int[Tensor, "batch n"], Int[Tensor, " batch"]]:
    """Token ids (batch, n), padded on the right, and the lengths.

    Raises:
        ValueError: for a character that is not in the alphabet, or an empty text.
    """
    rows = [torch.tensor([ALPHABET.index(c) for c in text]) for text in texts]
    lengths = torch.tensor([len(row) for row in rows])
    return nn.utils.rnn.pad_sequence(rows, batch_first=True), lengths


def to_text(row: Sequence[int] | Int[Tensor, " n"]) -> str:
    """The characters of a row of token ids."""
    return "".join(ALPHABET[i] for i in row)


def spellings(day: datetime.date) -> tuple[str, str]:
    """A date as people write it."""
    month = day.strftime("%B").lower()
    return (f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}")


def seen_and_unseen() -> tuple[list[datetime.date], list[datetime.date]]:
    """The days from 1900 to 2099 to train on, and the 1,000 that the chapter keeps aside."""
    days = [FIRST + datetime.timedelta(i) for i in range(DAYS)]
    random.Random(0).shuffle(days)
    return days[ASIDE:], days[:ASIDE]


def date_pairs(days: Sequence[datetime.date], generator: random.Random) -> PairBatch:
    """These days, each in one of its spellings, and what is to be written, from the begin token to
    the end token.
    """
    texts = to_ids([generator.choice(spellings(day)) for day in days])
    return PairBatch(*texts, *to_ids([f">{day.isoformat()}." for day in days]))


class DateBatches:
    """Cuts days into batches, shuffled anew for every epoch, the same way for the same seed and
    epoch.
    """

    def __init__(self, days: Sequence[datetime.date], batch_size: int, seed: int = 0):
        self.days, self.batch_size, self.seed = list(days), batch_size, seed

    def epoch(self, number: int) -> Iterator[PairBatch]:
        """The batches of epoch 0, 1, 2, …"""
        generator = random.Random(f"seed {self.seed}, epoch {number}")
        days = generator.sample(self.days, len(self.days))
        for at in range(0, len(days), self.batch_size):
            yield date_pairs(days[at : at + self.batch_size], generator)
