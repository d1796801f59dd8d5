"""What chapter 18b says between its cells, held against the library's counts, the measured results,
and the chapters that it speaks of.
"""

import re
from pathlib import Path

import jupytext
import torch

from lectures_lib import results
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.training import cost

ROOT = Path(__file__).resolve().parents[2]


def prose(name):
    """A chapter's text in one line, without the notes that say where a number is from."""
    cells = jupytext.read(ROOT / "notebooks" / f"{name}.py").cells
    text = " ".join(c.source for c in cells if c.cell_type == "markdown")
    return re.sub(r"\s+", " ", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))


PAGE = prose("18b_what_it_costs")
BASE, LARGE = BertConfig.BASE, BertConfig.LARGE
MODELS = {"base": BASE, "large": LARGE}


def says(sentence):
    """Whether the page has these words."""
    return sentence in PAGE


def pretraining(config):
    """Operations, and tokens read, of 900,000 steps at 128 and 100,000 at 512, 256 inputs each."""
    phases = {128: 900_000, 512: 100_000}
    work = sum(
        3 * steps * sum(cost.bert_flops(config, n, 256, round(0.15 * 256 * n)).values())
        for n, steps in phases.items()
    )
    return work, sum(256 * n * steps for n, steps in phases.items())


def test_heads_asked_about_every_position_cost_more_than_a_quarter_of_the_blocks():
    for n in (128, 512):
        parts = cost.bert_flops(BASE, n, 256, scored=256 * n)
        blocks = parts["projections"] + parts["scores"] + parts["feed_forward"]
        assert 0.25 < parts["heads"] / blocks < 0.28
    assert says("they would cost more than a quarter of what all blocks cost")


def test_the_rule_of_thumb_is_a_sixth_too_high_for_base():
    work, read = pretraining(BASE)
    parameters = sum(cost.bert_parameters(BASE).values())
    assert 1 / 6.5 < cost.rule_of_thumb(parameters, read) / work - 1 < 1 / 5.5
    assert 0.19 < BASE.vocab_size * BASE.d_model / parameters < 0.22
    assert says("a sixth too high for base: a fifth of base's parameters is a table")


def test_what_pretraining_used_and_what_an_hour_of_mnli_needs():
    """A tenth or less of what the chips could; an hour for large, five times that share."""
    used = {}
    for name, config, chips in (("base", BASE, 16), ("large", LARGE, 64)):
        available = chips * 4 * 24 * 3600 * 180e12 / 4
        used[name] = pretraining(config)[0] / available
    assert 0.09 < used["base"] < 0.105 and used["large"] < used["base"]
    pairs = {n: 9 * 392_000 * sum(cost.bert_flops(c, 128).values()) for n, c in MODELS.items()}
    needed = {name: work / (3600 * 180e12) for name, work in pairs.items()}
    assert round(100 * needed["base"]) == 12 and round(100 * needed["large"]) == 43
    assert 1 < needed["base"] / used["base"] < 1.5
    assert 4.5 < needed["large"] / used["large"] < 5.5
    assert says("did a tenth of what they could, or less") and says("five times as much as")
    squad = 9 * 88_000 * sum(cost.bert_flops(LARGE, 384).values()) / (1800 * 180e12)
    assert round(100 * squad) == 60 and squad > needed["large"]
    assert says("the half hour for SQuAD means more still, 60 %")


def test_the_quarter_of_the_transformers_gpus_is_that_of_chapter_8():
    """Of what its paper takes them to achieve, which is not what they could at best."""
    assert "a bit over a quarter of the operations that the paper counts" in prose("08_training")
    assert "that the authors assume for the P100 cards" in prose("08b_judging")
    assert says("a good quarter of what its paper takes them to achieve")


def test_what_is_kept_against_the_model():
    """Five to eight times as much with 512 tokens, and more than the model with 128, too."""

    def times(n, explicit):
        of = cost.training_bytes(BASE, n, 32, explicit)
        return (of["linear"] + of["attention"]) / (of["weights"] + of["gradients"] + of["moments"])

    assert 5 < times(512, False) < 6 and 8 < times(512, True) < 8.5
    assert min(times(128, explicit) for explicit in (True, False)) > 1
    assert says("with 512 tokens, five to eight times as much")
    assert says("more than five times as much, 9.7 GB against 1.8")


def test_the_neighbours_of_one_in_bfloat16():
    one = torch.tensor(1.0, dtype=torch.bfloat16)
    below, above = (torch.nextafter(one, torch.full_like(one, to)).item() for to in (0.0, 2.0))
    assert says(f"between {below:.4f} and {above:.4f} `bfloat16` has no number except 1")


def test_what_the_counter_leaves_out():
    """The scores' share of a forward pass: for the page's small BERT, and for base at 4,096."""

    def share(config, n):
        parts = cost.bert_flops(config, n)
        return parts["scores"] / sum(parts.values())

    assert round(100 * share(BertConfig.TINY, 50)) == 6 and 0.45 < share(BASE, 4096) < 0.5
    assert says("hides six per cent; of BERT base with 4,096 tokens it would hide nearly half")


def test_how_many_sentences_were_measured():
    text = (ROOT / "benchmarks" / "cost" / "batching.py").read_text(encoding="utf-8")
    assert "SENTENCES = 8_000" in text and says(
        "Eight thousand of SST-2's training texts, sentences and parts of them, have 13"
    )
    assert 0.64 < results.value("cost", "batching/padding/as_they_come") < 0.7
    assert says("two thirds of a random batch are padding")


def test_what_the_measured_numbers_are_said_to_show():
    def measured(path):
        return results.value("cost", path)

    reading = measured("compile/inference/median")
    assert says(f"reading gets {100 * (reading - 1):.0f} % faster")
    assert says(f"the time of some {measured('compile/steps_to_compile'):.0f} steps")
    assert measured("precision/matrix_units_for_bfloat16") == 1 and says("(AMX)")
    assert measured("processes/two_over_one_with_two_threads/min") > 1
    assert says("they gain more than two threads of one process")


def test_adam_walks_over_all_weights_of_minilm():
    weights = sum(p.numel() for p in Bert.from_pretrained(minilm.checkpoint()).parameters())
    assert says(f"all {weights / 10**6:.0f} million weights")
