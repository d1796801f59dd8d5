"""Dates for the chapter on the decoder, and the models that read them."""

import datetime
import random

import pytest
import torch

from lectures_lib import decoding, stored
from lectures_lib.data.dates import (
    ALPHABET,
    BEGIN,
    END,
    PAD,
    DateBatches,
    date_pairs,
    seen_and_unseen,
    spellings,
    to_ids,
    to_text,
)

DAY = datetime.date(1969, 7, 20)


def test_letters_become_ids_and_come_back():
    assert (ALPHABET[PAD], ALPHABET[BEGIN], ALPHABET[END]) == ("_", ">", ".")
    assert len(set(ALPHABET)) == len(ALPHABET) == 42
    ids, lengths = to_ids(["july 20, 1969", "5 may 1821"])
    assert lengths.tolist() == [13, 10]
    assert to_text(ids[0]) == "july 20, 1969" and to_text(ids[1]) == "5 may 1821___"
    with pytest.raises(
        ValueError, match=r"'/' \(character 2 of text 1, '20/7/1969'\) is not among"
    ):
        to_ids(["5 may 1821", "20/7/1969"])
    for texts, place in (([""], 0), (["5 may 1821", ""], 1)):
        with pytest.raises(ValueError, match=f"text {place} is empty"):
            to_ids(texts)


def test_a_day_has_two_spellings():
    assert spellings(DAY) == ("20 july 1969", "july 20, 1969")


def test_the_days_kept_aside_are_the_chapters():
    seen, unseen = seen_and_unseen()
    assert len(unseen) == 1000 and len(seen) == 72_049
    assert not set(seen) & set(unseen) and min(seen).year == 1900 and max(seen).year == 2099
    generator, first = random.Random(0), datetime.date(1900, 1, 1)
    days = [first + datetime.timedelta(i) for i in range(73_049)]
    generator.shuffle(days)
    assert unseen == days[:1000]


def test_a_pair_runs_from_begin_to_end():
    pair = date_pairs([DAY], random.Random(0))
    assert to_text(pair.source[0]) in spellings(DAY)
    assert to_text(pair.read[0]) == ">1969-07-20" and to_text(pair.predicted[0]) == "1969-07-20."


def test_an_epoch_has_every_day_once_in_an_order_of_its_own():
    days = seen_and_unseen()[1][:70]

    def read(number, seed=0):
        batches = DateBatches(days, 32, seed).epoch(number)
        return [to_text(row[1:-1]) for pair in batches for row in pair.target]

    assert sorted(read(0)) == sorted(day.isoformat() for day in days)
    assert read(0) == read(0) and read(0) != read(1) != read(1, seed=1)


def written(steps, days):
    """What the model writes of these days, in both spellings by turns."""
    source, lengths = to_ids([spellings(day)[i % 2] for i, day in enumerate(days)])
    found = decoding.greedy(stored.dates(steps), source, lengths, begin=BEGIN, end=END, max_len=11)
    return [to_text(row) for row in found.sentences()]


def share_right(steps):
    _, unseen = seen_and_unseen()
    hits = [
        said == day.isoformat() for said, day in zip(written(steps, unseen), unseen, strict=True)
    ]
    return sum(hits) / len(hits)


def test_longer_training_mends_the_mistakes():
    assert share_right(6000) > 0.995
    assert 0.02 < share_right(150) < 0.6


def test_it_writes_the_centuries_that_it_was_trained_on():
    """What chapter 6 says of days two hundred years earlier."""
    days = [day.replace(year=day.year - 200) for day in seen_and_unseen()[1] if day.day < 29]
    said = written(6000, days)
    assert sum(one[:2] in ("19", "20") for one in said) / len(days) > 0.92
    assert sum(one == day.isoformat() for one, day in zip(said, days, strict=True)) < 5


def test_another_number_of_steps_is_refused():
    with pytest.raises(ValueError, match="after 7"):
        stored.dates(7)


@torch.no_grad()
def test_a_teacher_reads_all_at_once_what_writing_reads_letter_by_letter():
    model = stored.dates(150)
    source, lengths = to_ids(["july 20, 1969"])
    read, _ = to_ids([">1969-07-20"])
    at_once = model(source, read, lengths)[0]
    for i in range(read.shape[1]):
        so_far = model(source, read[:, : i + 1], lengths)[0, -1]
        assert torch.allclose(so_far, at_once[i], atol=1e-4)
