"""The exam's answers, worked out in another way: by hand, by drawing up all cases, by other
programs; and that each set of numbers shows what its question is about.
"""

import itertools
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from lectures_lib.exam import QUESTIONS, draw
from lectures_lib.exam.bank.subwords import LOWS, TRAINS
from lectures_lib.exam.pictures import joined
from lectures_lib.exam.question import Drawn
from lectures_lib.metrics import bleu
from tests.helpers.exam_draws import drawn_with


def _attention(run):
    Q, K, V = torch.randn(3, 2, 5, 4, generator=torch.Generator().manual_seed(0))
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    return run["attention"](Q, K, V, mask), scaled_dot_product_attention(Q, K, V, attn_mask=mask)


def _loss(run):
    """The wanted loss, when the scores at a place are the log-shares of what was read there."""
    target = torch.tensor([[1, 4, 5, 2, 0, 0]])
    scores = torch.randn(6, 6, generator=torch.Generator().manual_seed(0))
    wanted = -scores.log_softmax(dim=-1)[[1, 4, 5], [4, 5, 2]].mean()
    return run["loss"](lambda source, read: scores[read], None, target, 0), wanted


def _holes(run):
    ids, special = torch.arange(10, 410).view(1, -1), torch.arange(400).view(1, -1) % 4 == 0
    read, labels = run["make_holes"](ids, special, 4, torch.Generator().manual_seed(0))
    chosen = torch.rand(ids.shape, generator=torch.Generator().manual_seed(0)) < 0.15
    chosen &= ~special
    wanted = torch.stack([torch.where(chosen, 4, ids), torch.where(chosen, ids, -100)])
    return torch.stack([read, labels]).float(), wanted.float()


def _pieces(run):
    words = [None, 0, 0, 0, 1, 2, 2, None]
    made = run["to_pieces"]([7, 8, 9], words)
    return torch.tensor(made).float(), torch.tensor([-100, 7, -100, -100, 8, 9, -100, -100.0])


def _mean(run):
    hidden = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0))
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
    return run["mean_vector"](hidden, mask), torch.stack([hidden[0].mean(0), hidden[1, :2].mean(0)])


# For each question with a mistake in its code: what it computes, beside what it should.
REPAIRED = {
    "softmax_along_what": _attention,
    "a_loss_that_falls_to_nothing": _loss,
    "holes_with_a_leak": _holes,
    "a_label_on_every_piece": _pieces,
    "padding_in_the_mean": _mean,
}


def repaired(drawn: Drawn) -> str:
    """The code with the wrong line mended."""
    lines = drawn.code.split("\n")
    lines[drawn.line - 1] = drawn.mended
    return "\n".join(lines)


def test_the_wrong_line_is_wrong_and_the_mended_one_right():
    assert {one.name for one in QUESTIONS if draw(one, 0).code
            } == set(REPAIRED)  # fmt: skip
    for one in (one for one in QUESTIONS if one.name in REPAIRED):
        for each in {each.code: each for each in drawn_with(one) if each.code}.values():
            assert max(map(len, each.code.split("\n"))) <= 80
            for code, right in ((each.code, False), (repaired(each), True)):
                exec(compile(code, one.name, "exec"), run := {})
                got, wanted = REPAIRED[one.name](run)
                close = got.shape == wanted.shape and torch.allclose(got, wanted, atol=1e-5)
                assert close == right, code


# Worked out on paper: what a solution must say when the question says this.
BY_HAND = {
    "chain_or_look": ("50 words", "50 · 50 = 2500"),
    "mask_too_late": ("(1, 2, 3)", "sums to 0.33"),
    "shapes_of_heads": ("d_model = 128", "4 · 128² = 65,536"),
    "a_block_counted": ("d_model = 512", "together 3,150,336"),
    "gradients_through_a_stack": ("10 layers computes f(x) = 0.5 x", "9.8 · 10<sup>−4</sup>"),
    "smoothed_labels": ("Of 4 words", "−ln 0.7 = 0.357"),
    "warming_up": ("d = 512", "at step 4,000 6.99 · 10<sup>−4</sup>"),
    "greedy_or_beams": ("B 0.8", "= 0.32, ln 0.4 + ln 0.8 = −0.92 − 0.22 = −1.14"),
    "price_of_a_cache": ("12 layers of width 768", "603,979,776 bytes"),
    "patches": ("224 × 224", "196 patches and one class token: 197"),
    "bert_counted": ("12 layers", "Together 109,482,240"),
    "what_a_gate_lets_through": ("its gate is z = 0.9 and", "0.9<sup>"),
    "the_mean_of_means": ("100 and 300 tokens", "= 1.25. The mean of means: 1.5."),
    "how_many_choices": ("1/2, 1/16, 1/2", "1/64; 6 bits in all, 2 a word"),
    "an_image_twice_as_wide": ("take 4% of", "= 4.48 times; the share is 0.64/4.48 = 14%"),
    "what_time_is_it": ("three tokens later", "they have turned by 270 and 67.5"),
    "one_layer_used_again": ("d = 768", "23,040,000 before, 30,000 · 128 + 128 · 768 = 3,938,304"),
    "eight_bits": ("(0.05, -0.12, 1.27)", "1.27/127 = 0.01: 5, −12, 127. With one step"),
    "frozen_or_fine_tuned": ("same 1,000 texts", "3 · 1,000 · "),
    "holes": ("400 tokens", "Chosen 60; [MASK] 48, another word 6, unchanged 6"),
    "what_accuracy_hides": ("marks 6 of them", "recall 6/10 = 0.60, F1 0.60"),
    "what_training_needs": ("110 million", "1.76 GB"),
    "bleu_of_one_sentence": (
        "some green in bed",
        "8/9, 6/8, 4/7, 3/6. Penalty 1, since it is not too "
        "short. BLEU is the fourth root of the product of the shares, times the "
        "penalty, times 100: 66.1",
    ),
    "the_verb_and_the_nearest_noun": (
        "0 to 3 nouns",
        "1/4 of the sentences have none in between, and "
        "of the others half are right by luck: 0.625",
    ),
    "a_tree_beside_a_chain": ("old farmer sold", "old–farmer, farmer–sold, his–horse: 3/5 = 0.60"),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_solutions_worked_out_by_hand(name):
    asked, said = BY_HAND[name]
    (one,) = [one for one in QUESTIONS if one.name == name]
    drawn = drawn_with(one)
    fitting = [each for each in drawn if asked in each.asks]
    assert fitting, "no seed asks this"
    assert all(said in each.solution for each in fitting), fitting[0].solution


def _numbers(pattern, text_):
    """The numbers that the groups of a pattern find in a text."""
    found = re.search(pattern, text_)
    assert found, text_
    return [float(x) for x in found.groups()]


def _named(name):
    """All draws of the question of this name."""
    return drawn_with(next(one for one in QUESTIONS if one.name == name))


@pytest.mark.parametrize(("word", "merges"), [("training", TRAINS), ("lowest", LOWS)])
def test_a_tree_shows_every_merge_and_ends_in_one_word(word, merges):
    nodes, joins, _ = joined(word, merges)
    assert [text_ for text_, *_ in nodes] == [word]
    assert {number for number, *_ in joins} == set(range(1, len(merges) + 1))


def test_the_picture_of_merges_joins_all_that_the_text_counts():
    for each in _named("a_tree_of_merges"):
        (count,) = _numbers(r"shows all (\d+) merges", each.asks)
        (word,) = re.findall(r"how they build \*(\w+)\*", each.asks)
        said = each.picture.description
        assert {int(n) for n in re.findall(r"merge (\d+)", said)} == set(range(1, int(count) + 1))
        assert said.endswith(f"joins {word}.")


def test_the_mean_of_the_choices_is_not_the_perplexity():
    for each in _named("how_many_choices"):
        (geometric,) = _numbers(r"</sup> = (\d+):", each.solution)
        (arithmetic,) = _numbers(r"the arithmetic one, ([\d.]+), gives", each.solution)
        assert arithmetic - geometric > 0.5


def test_the_two_losses_to_be_compared_differ():
    verdicts = set()
    for each in _named("nats_and_perplexity"):
        (nats,) = _numbers(r"= ([\d.]+) nats a character", each.solution)
        assert abs(nats - 1) > 0.05
        assert ("better than 1.0" if nats < 1 else "worse than 1.0") in each.solution
        assert (nats > 1) == each.reveals.startswith("It is better, but")
        verdicts.add(nats < 1)
    assert verdicts == {True, False}


def test_the_fast_hand_alone_tells_a_wrong_position():
    for each in _named("what_time_is_it"):
        right, wrong = (_numbers(r"^Position (\d+)", t) for t in (each.solution, each.wrong))
        assert right != wrong


def test_patches_half_as_wide_exist():
    for each in _named("patches"):
        side, patch = _numbers(r"images of (\d+) × .* patches of (\d+) ×", each.asks)
        assert patch % 2 == 0 and side % (patch / 2) == 0


def test_a_beam_sometimes_loses_the_best_path():
    verdicts = set()
    for each in _named("a_tree_to_be_pruned"):
        best, lost = _numbers(r"Best is \w \w with ([\d.]+); .* · 1 = ([\d.]+),", each.solution)
        missed = "has missed the best path" in each.solution
        assert missed == (lost > best) == (f"{lost:g}, more than {best:g}:" in each.solution)
        verdicts.add(missed)
    assert verdicts == {True, False}


def test_two_merges_of_newest_are_those_of_the_counts():
    """Merged here by counting again after each merge, of equal pairs the first in the alphabet."""
    for each in _named("byte_pairs"):
        counts = {w: int(n) for w, n in re.findall(r"(\w+) (\d+) times", each.asks)}
        words = {word: list(word) for word in counts}
        for _ in range(2):
            pairs = Counter()
            for word, pieces in words.items():
                for pair in itertools.pairwise(pieces):
                    pairs[pair] += counts[word]
            best = min(pairs, key=lambda pair: (-pairs[pair], pair))
            for pieces in words.values():
                for i in reversed(range(len(pieces) - 1)):
                    if tuple(pieces[i : i + 2]) == best:
                        pieces[i : i + 2] = ["".join(best)]
        assert each.solution.endswith(f": {' '.join(words['newest'])}.")


def test_a_sign_test_is_counted_to_its_end():
    """By drawing up all ways in which the coins may fall."""
    for each in _named("where_two_systems_differ"):
        won, lost = map(int, _numbers(r"^(\d+) only .*, (\d+) only", each.solution))
        n, first, second, both = map(
            int, _numbers(r"same (\d+) .* in (\d+) .* in (\d+); (\d+) both", each.asks)
        )
        assert (first - both, second - both) == (won, lost) and both + won + lost <= n
        coins = won + lost
        heads = [way.bit_count() for way in range(2**coins)]
        uneven = sum(abs(2 * h - coins) >= won - lost for h in heads)
        assert f"p = {uneven}/{2**coins} = {uneven / 2**coins:.3g}." in each.solution


def test_a_stride_changes_the_sum_and_none_does_not():
    for each in _named("what_moves_along"):
        row, moved = (
            list(map(int, numbers.split(", ")))
            for numbers in re.findall(r"(?:pixels|moved): ([\d, ]+)[;.]", each.picture.description)
        )
        assert moved == [0, *row[:-1]] and row[-1] == 0
        edges = [[max(0, b - a) for a, b in itertools.pairwise(r)] for r in (row, moved)]
        said = [", ".join(map(str, e)) for e in edges]
        every_second = [", ".join(map(str, e[::2])) for e in edges]
        assert f"Stride 1: {said[0]}, and {said[1]}:" in each.solution
        sums = [sum(e[::2]) for e in edges]
        assert f"Stride 2: {every_second[0]} with the sum {sums[0]}, and" in each.solution
        assert f"{every_second[1]} with the sum {sums[1]}." in each.solution
        assert sum(edges[0]) == sum(edges[1]) and sums[0] != sums[1]


def test_rows_of_seeds_are_apart_or_not():
    seen = set()
    for each in _named("three_seeds_beside_three"):
        paper, without = (
            list(map(float, numbers.split(", ")))
            for numbers in re.findall(r": ([\d., ]+\d)[;.]", each.picture.description)
        )
        points, twice = _numbers(r"it is ([\d.]+), give or take ([\d.]+):", each.solution)
        rows = torch.tensor([paper, without], dtype=torch.float64)
        assert points == pytest.approx((rows[1] - rows[0]).mean().item())
        assert twice == pytest.approx(2 * (rows.var(dim=1).sum() / 3).sqrt().item(), abs=0.051)
        assert abs(points - twice) > 0.1
        assert _numbers(r"Give or take ([\d.]+) points", each.wrong) != [twice]
        assert ("more than twice the error" in each.solution) == (points > twice)
        assert ("rows are apart;" in each.solution) == (min(without) > max(paper))
        seen.add((points > twice, min(without) > max(paper)))
    assert seen == {(True, True), (True, False), (False, False)}


def test_a_probes_tree_is_a_tree():
    seen = set()
    for each in _named("a_tree_beside_a_chain"):
        gold, tree = (
            {frozenset(link.split("–")) for link in found.split(", ")}
            for found in re.search(
                r"the links are (.*?)\. .* layer, gives (.*?)\. W", each.asks
            ).groups()
        )
        words = set().union(*gold)
        assert len(tree) == len(gold) == len(words) - 1 and set().union(*tree) <= words
        reached = {next(iter(words))}
        for _ in words:
            reached |= {word for link in tree if link & reached for word in link}
        assert reached == words
        assert f"The probe {len(tree & gold)}/{len(gold)} = " in each.solution
        seen.add(re.search(r"(ahead|level|behind), but", each.solution)[1])
    assert seen == {"ahead", "level", "behind"}


def test_bleu_is_what_sacrebleu_says():
    changes = set()
    for each in _named("bleu_of_one_sentence"):
        wanted, said = re.findall(r": \*(.+?)\*", each.asks)
        (score,) = _numbers(r"times 100: ([\d.]+)\. For", each.solution)
        theirs = bleu([said], [wanted], tokenize="none").score
        assert score == pytest.approx(theirs, abs=0.051)
        listed, after = re.match(r"(.*?)\. Penalty (.*)", each.solution).groups()
        hits = torch.tensor([list(map(float, each.split("/"))) for each in listed.split(", ")])
        shares = hits[:, 0] / hits[:, 1]
        penalty = float(re.match(r"(?:.*</sup> = )?([\d.]+\d|1)", after)[1])
        assert 100 * shares.prod().item() ** 0.25 * penalty == pytest.approx(score, abs=0.1)
        changes.add(len(said.split()) - len(wanted.split()))
    assert changes == {-1, 0, 1}


def test_the_nearest_noun_in_sentences_drawn_by_chance():
    """All sentences with up to so many nouns are drawn up, each number of nouns as often."""
    for each in _named("the_verb_and_the_nearest_noun"):
        most, reach = map(int, _numbers(r"0 to (\d) nouns .* the last (\d) nouns", each.asks))
        shares = []
        for between in range(most + 1):
            drawn = list(itertools.product([0, 1], repeat=between + 1))
            shares.append(sum(nouns[0] == nouns[-1] for nouns in drawn) / len(drawn))
        assert f"by luck: {sum(shares) / len(shares):.3g}. In" in each.solution
        right = [[0, *[1] * n][-reach:][0] == 0 for n in range(reach + 2)]
        assert f"up to {reach - 1} in between, and from {reach} on" in each.solution
        assert right == [n < reach for n in range(reach + 2)]


def test_curves_are_read_out_as_they_are_drawn():
    for each in _named("which_layer"):
        said = each.picture.description
        assert said.startswith("Across: layer. Up: share right, from 0.4 to 1.")
        assert "Curve senses: (0, 0.50), (1," in said


@pytest.mark.parametrize("name", ["which_schedule_is_which", "which_layer"])
def test_a_curves_name_stands_beside_that_curve_alone(name):
    for each in _named(name):
        svg = each.picture.svg()
        curves = {
            colour: np.reshape([float(n) for n in re.findall(r"-?\d+\.?\d*", path)], (-1, 2))
            for path, colour in re.findall(r'<path d="([^"]*)" class="s-(\w+)[^"]*"', svg)
            if colour != "neutral"
        }
        names = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*class="t-(\w+) bold"', svg)
        assert len(names) == len(curves) >= 2
        for x, y, colour in names:
            here = (float(x), float(y) - 5)  # the middle of its letters
            away = {
                one: min(
                    np.hypot(*(np.linspace(a, b, 60) - here).T).min() for a, b in pairwise(corners)
                )
                for one, corners in curves.items()
            }
            assert away[colour] < 30
            assert all(far > away[colour] + 8 for one, far in away.items() if one != colour), away
