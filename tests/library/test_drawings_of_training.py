"""The drawings of chapter 8 show PyTorch's numbers, the chapter's own Adam, and the library's
batches.
"""

import random

import pytest
import torch
from torch.testing import assert_close

from lectures_lib import data
from lectures_lib.show.drawings import draw, training
from tests.helpers.drawn import holds_in_order, texts
from tests.helpers.page_code import defined

EIGHT = defined("08_training", "adam_step", "cut_by_length")
SCORES = torch.tensor(training.SCORES)
HARD = torch.tensor([1.0, 0, 0])


def test_one_step_is_the_chapters():
    made, p = training.one_step(), SCORES.softmax(dim=-1)
    assert_close(made["gradient"], p - HARD)
    assert_close(made["clipped"], made["gradient"])  # shorter than 1: as it was
    zeros = torch.zeros(3)
    moved, _, _ = EIGHT["adam_step"](SCORES, p - HARD, zeros, zeros, t=1, rate=training.RATE)
    assert_close(made["scores"], moved, rtol=0, atol=1e-6)
    assert_close(made["scores"] - SCORES, torch.tensor([0.01, -0.01, -0.01]), rtol=0, atol=1e-6)


def test_the_loop_shows_the_chapters_numbers():
    for narrow in (False, True):
        shown = texts(draw("training_step", narrow).svg())
        assert "0.41" in shown and any("0.67, 0.24, 0.09" in text for text in shown)
        for row in (
            ["2.00", "1.00", "0.00"],
            ["−0.33", "+0.24", "+0.09"],
            ["2.01", "0.99", "−0.01"],
        ):
            assert holds_in_order(shown, row), row


def test_gradients_are_probability_minus_target():
    soft = 0.9 * HARD + 0.1 / 3
    assert_close(training.targets()["ε = 0.1"], soft)
    for (model, target), gradient in training.gradients().items():
        wanted = training.models_say()[model] - training.targets()[target]
        assert_close(gradient, wanted, rtol=0, atol=1e-6)
        down = (model, target) == ("very sure", "ε = 0.1")
        assert training.verdict(gradient) == ("down" if down else "up")
    shown = texts(draw("smoothed_targets").svg())
    assert holds_in_order(shown, ["0.933", "0.033", "0.033"])
    assert shown.count("right word down") == 1 and shown.count("right word up") == 3


def test_batches_hold_the_same_lists_as_the_chapters():
    ways, lengths = training.batches(), training.lengths()
    as_they_come, by_length = ways.values()
    assert [n for batch in as_they_come for n in batch] == lengths and len(
        lengths
    ) == training.LISTS
    pairs = data.load("translation", counts=(1, 2, 3, 4), size=training.LISTS)
    targets = [["<s>", *data.number_tokens(pair["de"]), "</s>"] for pair in pairs]
    assert lengths == [len(target) for target in targets]
    examples = [((), target) for target in targets]
    cut = EIGHT["cut_by_length"](examples, training.SIZE, random.Random(0))
    theirs = [sorted(len(targets[i]) for i in rows) for rows in cut]
    assert sorted(by_length) == sorted(theirs)
    assert by_length != sorted(by_length)  # shuffled


def test_padding_is_what_a_padded_tensor_holds():
    for cut in training.batches().values():
        padded = [data.pad([[1] * n for n in batch])[0] for batch in cut]
        empty = sum((batch == 0).sum().item() for batch in padded)
        places = sum(batch.numel() for batch in padded)
        assert training.padding(cut) == pytest.approx(empty / places)
    shown = texts(draw("batches_by_length").svg())
    assert [text for text in shown if "%" in text] == ["34 % padding", "9 % padding"]
