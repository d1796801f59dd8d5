"""The drawings of chapter 10: their numbers are the chapter's, their boxes the library's modules."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
import torch

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.metrics import perplexity
from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig
from lectures_lib.show.drawings import draw, language_model
from tests.helpers.drawn import holds_in_order, texts

CHAPTER = (Path(__file__).parents[2] / "notebooks" / "10_language_model.py").read_text()


def test_pencil_numbers_are_the_chapters():
    factors = ", ".join(f"1 / {factor.denominator}" for factor in language_model.FACTORS)
    assert f"({factors})" in CHAPTER
    bits, product, mean, choices = language_model.pencil()
    assert product == Fraction(1, 64) and sum(bits) == mean * len(bits)
    loss = -torch.tensor([float(factor) for factor in language_model.FACTORS]).log()
    assert perplexity(loss.sum().item(), len(bits)) == pytest.approx(choices)


def test_chain_rule_shows_factors_bits_product_and_perplexity():
    shown = texts(draw("chain_rule").svg())
    bits, product, mean, choices = language_model.pencil()
    for word, factor, bit in zip(
        language_model.SENTENCE, language_model.FACTORS, bits, strict=True
    ):
        assert holds_in_order(shown, [word, str(factor), str(bit)])
    assert str(product) in shown and f"sum {sum(bits)}" in shown
    assert f"mean {sum(bits)}/{len(bits)} = {mean}" in shown
    assert f"perplexity 2{language_model.power(mean)} = {choices}" in shown


def test_boxes_of_gpt_are_the_librarys_modules():
    model = LanguageModel(LanguageModelConfig.TINY)
    block = model.stack.blocks[0]
    assert LanguageModelConfig.GPT2.pre_norm and not hasattr(block, "cross_attention")
    shown = texts(draw("decoder_only").svg())
    # one of each block's two sublayers, one at the end
    norms = [block.around_self_attention.norm, block.around_feed_forward.norm, model.stack.norm]
    assert shown.count("LayerNorm") == len(norms)
    for name in ("masked self-attention", "feed-forward"):
        assert shown.count(name) == 2  # in the old block and in the new one
    assert shown.count("cross-attention") == 1


@pytest.mark.parametrize("narrow", [False, True])
def test_exercises_are_the_rows_of_the_causal_mask(narrow):
    drawing, n = draw("five_exercises", narrow), len(language_model.WORDS)
    shown = texts(drawing.svg())
    for i, row in enumerate(causal_mask(n - 1)):
        seen = [word for word, sees in zip(language_model.WORDS, row, strict=False) if sees]
        assert holds_in_order(shown, [*seen, language_model.WORDS[i + 1]])
    cells = re.findall(r'<rect [^>]*class="f-(decoder|prediction|mask) ', drawing.svg())
    for i in range(n - 1):
        kinds = (i + 1) * ["decoder"] + ["prediction"] + (n - 2 - i) * ["mask"]
        assert cells[i * n : (i + 1) * n] == kinds
    seen, hidden = int(causal_mask(n - 1).sum()), int((~causal_mask(n - 1)).sum())
    for colour, number in (("decoder", seen), ("prediction", n - 1), ("mask", hidden)):
        found = re.findall(rf'<rect [^>]*class="f-{colour}\b', drawing.svg())
        assert len(found) == number + 1  # one in the legend
