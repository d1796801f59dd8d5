"""What the page of mechanisms says below "What we saw", computed again."""

import math
import re
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from lectures_lib.training.pretraining import MaskingRates

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import motion  # noqa: E402

PAGE = re.sub(r"\s+", " ", (ROOT / "book" / "motion.md").read_text(encoding="utf-8"))


def says(words: str) -> bool:
    """Whether the page has these words."""
    return words in PAGE


def ends(**settings) -> list[list[torch.Tensor]]:
    """The states behind each sublayer, for all draws."""
    return [
        motion.travel(motion.words(), motion.sublayers(seed), **settings)
        for seed in range(motion.DRAWS)
    ]


def cosines(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Of each word with itself in another state."""
    return F.cosine_similarity(a, b, dim=-1)


def test_without_plus_signs_all_words_point_one_way():
    assert all(f"{motion.alike(states[-1]):.2f}" == "1.00" for states in ends(residual=False))
    assert says("every two have a cosine of 1.00, in all six draws") and motion.DRAWS == 6


def test_how_long_pre_norm_makes_a_vector_and_how_far_it_turns_at_last():
    found = ends(pre_norm=True)
    lengths = torch.cat([states[-1].norm(dim=-1) for states in found])
    assert (round(lengths.min().item()), round(lengths.max().item())) == (4, 9)
    assert found[0][0].norm(dim=-1).mean().item() == pytest.approx(1.7, abs=0.05)
    turned = torch.cat([cosines(*states[-2:]).clamp(max=1).acos().rad2deg() for states in found])
    assert (turned < 10).float().mean() > 0.9 and round(turned.max().item()) == 26
    assert says("4 to 9 long in the six draws, where it began at 1.7") and says("by 26° at most")


def test_post_norm_forgets_the_beginning_with_large_additions():
    least = {
        scale: min(cosines(s[-1], s[0]).min().item() for s in ends(scale=scale))
        for scale in (0.2, 2.0)
    }
    assert least[2.0] < -0.9 and 0.85 <= round(least[0.2], 2) < 0.86
    assert says("With 0.2 no cosine with the beginning falls below 0.85")


def test_the_lowest_point_with_smoothing_is_the_target():
    for vocab, right in ((5, 0.92), (1000, 0.9001)):
        assert 1 - 0.1 + 0.1 / vocab == pytest.approx(right)
    assert says("with ε = 0.1 at 0.92 for 5 tokens and at 0.9001 for 1,000.")


def test_what_a_cache_saves():
    """As book/live/filling.js counts: width 512, a source of 24 words, one block."""

    def work(n, cache):
        total = 2 * 512**2 * 24 * (1 if cache else n)
        for step in range(1, n + 1):
            positions = 1 if cache else step
            total += positions * (14 * 512**2 + 2 * 512 * 24 + 2 * 512 * step)
        return total

    assert sum(range(1, 6)) == 15 and sum(range(1, 21)) == 210
    assert says("At the fifth: 15 against 5. 2. Yes, 210, against 20.")
    ratio = work(20, False) / work(20, True)
    assert says(f"the multiply–adds, {ratio:.1f} against {210 / 20} after twenty words")
    assert "nSource = 24" in (ROOT / "book" / "live" / "filling.js").read_text(encoding="utf-8")


def test_how_far_the_shares_are_from_the_rule_after_a_thousand_throws():
    rates, n = MaskingRates(), 1_000 * 10
    chosen = 2 * math.sqrt(rates.chosen * (1 - rates.chosen) / n)
    masked, other = (
        2 * math.sqrt(rate * (1 - rate) / (rates.chosen * n))
        for rate in (rates.masked, rates.random)
    )
    assert [round(100 * two, 1) for two in (chosen, masked, other)] == [0.7, 2.1, 1.5]
    assert says("mostly within 0.7 points, the 80 % within 2, the two of 10 % within 1.5")


def test_how_near_partners_come():
    def means(angles):
        table = motion.table(angles)
        own, n = table.diag().sum(), len(table)
        return (own / n).item(), ((table.sum() - own) / (n * n - n)).item()

    way = motion.pulled(motion.STARTS, 0.2, 0.05, 10)
    (own, others), (own_10, others_10) = means(way[0][0]), means(way[10][0])
    assert says(f"partners has gone from −{-own:.2f} to {own_10:.2f}")
    assert says(f"of the others from {others:.2f} to −{-others_10:.2f}")
    for temperature, words in ((0.05, "0.88 and the loss to 0.0006"), (1.0, "0.96")):
        angles, loss = motion.pulled(motion.STARTS, temperature, 0.05, 150)[-1]
        own, _ = means(angles)
        assert words.startswith(f"{own:.2f}") and says(f"come to {words}")
        assert loss == pytest.approx(0.0006 if temperature < 1 else 0.72, rel=0.1)
