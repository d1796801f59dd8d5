"""The figure with the translators of dates, on a page below "Type your own" (type_your_own.py)."""

import datetime
from functools import cache

import torch
from live_models import model

from lectures_lib import decoding, stored
from lectures_lib.data import dates

DAY = datetime.date(2017, 6, 12)
DATED = ["july 20, 1969", "5 may 1821", "31 february 1950", "1969 july 20", "tomorrow"]
YEARS = [
    dates.FIRST.year,
    (dates.FIRST + datetime.timedelta(dates.DAYS - 1)).year,
]  # of the training
FIRST_STEP = 6  # of the walk through the first date


@cache
@torch.no_grad()
def dates_by_letter() -> tuple[dict, str]:
    """The figure with the translators of dates; for one date the shares of all letters, with a
    teacher and alone.
    """
    translates, answer = stored.dates(stored.DATES[0]), DAY.isoformat()
    text = dates.spellings(DAY)[1]
    source, lengths = dates.to_ids([text])
    found = decoding.greedy(
        translates, source, lengths, begin=dates.BEGIN, end=dates.END, max_len=len(answer) + 1
    )
    written = dates.to_text(found.tokens[0])

    def shares(letters: str) -> list[list[float]]:
        """Of the letter behind each of these."""
        scores = translates(source, dates.to_ids([letters])[0], lengths)[0]
        return [[round(share, 5) for share in row] for row in scores.softmax(dim=-1).tolist()]

    taught = shares(f">{answer}")
    run = {
        "text": text,
        "answer": answer,
        "written": written,
        "taught": taught,
        "rows": shares(f">{written[:-1]}"),
    }
    options = {
        "title": "A date, letter by letter",
        "models": [
            {
                **model("translator", stored.FOLDER / f"dates_{steps}.safetensors"),
                "name": f"{steps:,} steps",
            }
            for steps in stored.DATES
        ],
        "alphabet": dates.ALPHABET,
        "room": translates.config.max_len,
        "years": YEARS,
        "examples": DATED,
        "run": run,
        "first": FIRST_STEP,
    }
    said = [
        f"reads >{answer[:i]:10}  right is {letter}, share {row[dates.ALPHABET.index(letter)]:.3f}"
        for i, (letter, row) in enumerate(zip(f"{answer}.", taught, strict=True))
    ]
    return options, "\n".join([f"{text}, in training, all at once:", *said, f"written: {written}"])
