"""What chapter 18b says between its cells, held against the library's counts, the measured results,
and the chapters that it speaks of.
"""

import re
from pathlib import Path

import jupytext
import torch

from lectures_lib import results
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig, BertForPreTraining
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


def pretraining(config, short=256):
    """Operations, and tokens read, of 900,000 steps of so many inputs of 128 tokens, and 100,000 of
    256 of 512.
    """
    phases = ((128, short, 900_000), (512, 256, 100_000))
    work = sum(
        3 * steps * sum(cost.bert_flops(config, n, batch, round(0.15 * batch * n)).values())
        for n, batch, steps in phases
    )
    return work, sum(n * batch * steps for n, batch, steps in phases)


def share_of_v2(work, chips, hours):
    """Of what so many v2 chips can do at best in these hours."""
    return work / (chips * hours * 3600 * 180e12 / 4)


def test_heads_asked_about_every_position_cost_more_than_a_quarter_of_the_blocks():
    for n in (128, 512):
        parts = cost.bert_flops(BASE, n, 256, scored=256 * n)
        blocks = parts["projections"] + parts["scores"] + parts["feed_forward"]
        assert 0.25 < parts["heads"] / blocks < 0.28
    assert says("they would cost more than a quarter of what all blocks cost")


def test_the_rule_of_thumb_is_a_sixth_to_a_fifth_too_high_for_base():
    parameters = sum(cost.bert_parameters(BASE).values())
    for short, part in ((256, 6), (1024, 5)):
        work, read = pretraining(BASE, short)
        too_high = cost.rule_of_thumb(parameters, read) / work - 1
        assert 1 / (part + 0.5) < too_high < 1 / (part - 0.5)
    assert 0.19 < BASE.vocab_size * BASE.d_model / parameters < 0.22
    assert says("a sixth to a fifth too high for base: a fifth of base's parameters is a table")


def test_what_pretraining_used():
    """A tenth or less of what v2 chips could, or a quarter to 29 %: the short batches decide."""
    used = {
        (name, short): share_of_v2(pretraining(config, short)[0], chips, 4 * 24)
        for short in (256, 1024)
        for name, config, chips in (("base", BASE, 16), ("large", LARGE, 64))
    }
    assert 0.09 < used["base", 256] < 0.105 and 0.08 < used["large", 256] < used["base", 256]
    assert says("So v2 chips did a tenth of what they could, or less")
    assert round(100 * used["base", 1024]) == 29 and round(100 * used["large", 1024]) == 25
    assert says("1,024 inputs, a quarter (large) to 29 % (base)")
    assert [round(100 * share) for share in used.values()] == [10, 8, 29, 25]
    assert says("between 8 and 29 % of what v2 chips could do")
    mnli = share_of_v2(9 * 392_000 * sum(cost.bert_flops(LARGE, 128).values()), 4, 1)
    assert 4.5 < mnli / used["large", 256] < 5.5 and f"{mnli / used['large', 1024]:.1f}" == "1.7"
    assert says(
        "five times what pre-training got with 256 inputs a step, and 1.7 times what it got"
    )


def test_what_an_hour_of_mnli_needs():
    mnli = {n: 9 * 392_000 * sum(cost.bert_flops(c, 128).values()) for n, c in MODELS.items()}
    assert [round(100 * share_of_v2(work, 4, 1)) for work in mnli.values()] == [12, 43]
    assert says("An hour for base means 12 % ") and says("An hour for large means 43 %")
    epoch = 3 * 88_000 * sum(cost.bert_flops(LARGE, 384).values())
    assert [round(100 * share_of_v2(n * epoch, 4, 0.5)) for n in (3, 2)] == [60, 40]
    assert [round(30 * mnli["large"] / (n * epoch)) for n in (3, 2)] == [43, 64]
    assert says(
        "60 % with three epochs, 40 % with two, and MNLI at that speed takes 43 minutes or 64"
    )


def test_the_quarter_of_the_transformers_gpus_is_that_of_chapter_8():
    """Of what its paper takes them to achieve, which is not what they could at best."""
    assert "a bit over a quarter of the operations that the paper counts" in prose("08_training")
    assert "that the authors assume for the P100 cards" in prose("08b_judging")
    assert says("A bit over a quarter of the operations that its paper counts went into the model")


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


def test_who_teaches_better():
    """On WikiText-2: perplexities whose seeds do not touch, and a point of the holes with each."""
    found = results.load("distillation")["results"]
    words, teacher = (found["trained"][way] for way in ("words", "teacher"))
    assert found["settings"]["steps"] == 60 and words["accuracy"]["n"] == 3
    assert 1.1 * teacher["perplexity"]["max"] < words["perplexity"]["min"]
    assert says("The perplexities are far apart with every seed")
    pairs = zip(teacher["accuracy"]["values"], words["accuracy"]["values"], strict=True)
    lead = [found["settings"]["holes"] * (taught - told) for taught, told in pairs]
    assert all(19.5 < holes < 30.5 for holes in lead)
    assert says("with each seed some 20 to 30 of 2,166 holes")


def test_half_of_minilm_is_its_table_of_words():
    teacher = BertForPreTraining(BertConfig.MINILM)
    table = teacher.bert.embeddings.tokens.weight.numel()
    assert 0.5 < table / sum(p.numel() for p in teacher.parameters()) < 0.53
    assert says("half of MiniLM is its table of words")
    assert BertConfig.MINILM.vocab_size == 30_522 and says("the vocabulary has 30,522 words")
