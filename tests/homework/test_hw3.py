"""Homework 3: its worked examples, its references against the library.

The rest: `test_banks.py` and `test_graded_class.py`.
"""

import itertools
import math
import re
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from lectures_lib import decoding, training
from lectures_lib.decoding import Step
from lectures_lib.homework import find
from lectures_lib.homework.banks import inputs, telling
from lectures_lib.homework.banks.hw3 import merges
from lectures_lib.tokenization import Vocabulary, WordPiece
from tests.homework.bank import SEEDS, judged, key, questions, seeds, text
from tests.homework.students_hw3 import BELOW

RIGHT = {name.split(".")[1]: find(name).reference for name in questions("hw3")}


@pytest.mark.parametrize("answer", BELOW)
def test_a_model_trained_wrongly_is_below_the_threshold_and_no_cause_is_invented(answer):
    verdict = judged("hw3.train_and_predict", answer)
    assert (verdict.right, verdict.kind, verdict.mistake) == (False, "values", "")
    assert "at least 54 are needed" in verdict.message
    assert "zero_grad" in verdict.message


def test_an_answer_that_is_right_nine_times_of_ten_passes():
    name = "hw3.train_and_predict"
    for n_wrong in (6, 7):

        def answer(texts, prompts, vocab_size, n_wrong=n_wrong):
            predicted = RIGHT["train_and_predict"](texts, prompts, vocab_size)
            return predicted.index_fill(0, torch.arange(n_wrong), 0)

        assert judged(name, answer).right == (n_wrong == 6)


@pytest.mark.parametrize("name", questions("hw3"))
def test_mistakes_raise_only_what_students_see(name):
    """Not what checks of types and shapes would raise: then another mistake would be recognised
    than the one that is meant.
    """
    for _, outcomes in key(name, 0).mistakes:
        assert {o.raised.kind for o in outcomes if o.raised} <= {
            "ValueError",
            "IndexError",
            "ZeroDivisionError",
            "RuntimeError",
        }


def test_the_text_announces_scores_that_lie_far_apart():
    """Where log(softmax(x)) is refused, the question has said what a softmax has to stand."""
    asked = text("hw3").split("## Question 4: ")[1].split("## Question 5: ")[0]
    (apart,) = re.findall(r"perhaps (\d+) apart", asked)
    cases = [case for seed in SEEDS for case in key("hw3.smoothed_cross_entropy", seed).cases]
    largest = max(float(logits.amax() - logits.amin()) for logits, *_ in (c.args for c in cases))
    assert int(apart) - 5 < largest < int(apart) + 10, largest


def test_inputs_are_drawn_again_until_mistakes_show():
    drawn = []

    def draw(g):
        drawn.append(inputs.whole(g, 0, 3))
        return [telling.Case((drawn[-1],))]

    def square(x):
        return x * x

    def double(x):
        return 2 * x

    (case,) = telling.telling(
        torch.Generator().manual_seed(0), draw, square, [double, lambda x: 4 // (x - 1)]
    )
    # 0 and 2 are alike doubled and squared; 1 is fine: 1, 2, and a division by zero, which is not
    # for `telling` to hide.
    assert case.args[0] == 3
    assert set(drawn[:-1]) <= {0, 2}


# ------------------------------------------------------------------- the references and the library


def test_pieces_as_the_library_reads_them():
    for seed in seeds("hw3.word_pieces"):
        for case in key("hw3.word_pieces", seed).cases:
            word, vocabulary = case.args
            if word != word.lower():
                continue  # the library's tokenizer lowers it first
            theirs = WordPiece(Vocabulary(["[UNK]", *vocabulary], ["[UNK]"]))
            assert theirs.tokenize(word).tokens == RIGHT["word_pieces"](word, vocabulary)


def test_rate_and_loss_as_the_library_and_torch_compute_them():
    for seed in seeds("hw3.learning_rate"):
        for case in key("hw3.learning_rate", seed).cases:
            steps_before, d_model, warmup = case.args
            assert math.isclose(
                RIGHT["learning_rate"](*case.args),
                training.transformer_schedule(d_model, warmup)(steps_before),
            )
        for case in key("hw3.smoothed_cross_entropy", seed).cases:
            logits, targets, epsilon, pad = case.args
            mine = RIGHT["smoothed_cross_entropy"](*case.args)
            assert_close(mine, training.label_smoothed_cross_entropy(logits, targets, epsilon, pad))
            assert_close(
                mine, F.cross_entropy(logits.mT, targets, label_smoothing=epsilon, ignore_index=pad)
            )


def test_nucleus_as_the_library_keeps_it():
    for seed in seeds("hw3.nucleus"):
        for case in key("hw3.nucleus", seed).cases:
            assert_close(
                RIGHT["nucleus"](*case.args), decoding.keep_top_p(*case.args).softmax(dim=-1)
            )


def test_no_sum_comes_so_close_to_p_that_rounding_decides():
    """What the notebook promises; so it is all the same whether a sum that is p reaches it."""
    assert "comes so close to p that rounding decides" in " ".join(text("hw3").split())
    for seed in SEEDS:
        for logits, p in (case.args for case in key("hw3.nucleus", seed).cases):
            probabilities = logits.double().softmax(dim=-1).sort(descending=True).values
            exact = probabilities.cumsum(dim=-1)
            rounding = (probabilities.float().cumsum(dim=-1) - exact).abs().max()
            assert (exact - p).abs().min() > max(1.5e-4, 20 * rounding)


def test_a_nucleus_summed_otherwise_is_right_and_one_beside_p_is_not():
    def in_float64(logits, p):
        return RIGHT["nucleus"](logits.double(), p).float()

    def from_the_end(logits, p):
        """A word is kept if it and all less likely ones have more than 1 - p."""
        probabilities, order = logits.softmax(dim=-1).sort(dim=-1)
        kept = probabilities * (probabilities.cumsum(dim=-1) > 1 - p)
        kept = kept / kept.sum(dim=-1, keepdim=True)
        return torch.zeros_like(kept).scatter(-1, order, kept)

    for seed in SEEDS:
        for answer in (in_float64, from_the_end):
            assert judged("hw3.nucleus", answer, seed).right
        for by in (1e-3, -1e-3):
            off = judged("hw3.nucleus", lambda x, p, by=by: RIGHT["nucleus"](x, p + by), seed)
            assert off.mistake == "p_missed_by_little"


def test_in_one_of_the_best_the_start_is_said_again():
    """Who forbids it is told so by the last input, if by no other."""
    for seed in SEEDS:
        asked = key("hw3.beam_search", seed)
        start = asked.cases[-1].args[1]
        assert start in asked.right[-1].value[0][0]


class Table(torch.nn.Module):
    """The question's model: what follows depends on the last token only."""

    def __init__(self, log_probs):
        super().__init__()
        self.log_probs = log_probs

    def start(self, source, lengths=None):
        return Step(self.log_probs[source[:, -1]], self)

    def step(self, tokens, state, return_weights=False):
        return Step(self.log_probs[tokens], self)

    def select(self, rows):
        return self


def test_beam_as_the_library_searches():
    """Without a length penalty the library may stop early and still find the same."""
    for seed in seeds("hw3.beam_search"):
        for case in key("hw3.beam_search", seed).cases:
            log_probs, start, end, width, max_len, _ = case.args
            mine = RIGHT["beam_search"](log_probs, start, end, width, max_len, 0.0)
            theirs, _ = decoding.n_best(
                Table(log_probs),
                torch.tensor([[start]]),
                width=width,
                alpha=0.0,
                end=end,
                max_len=max_len,
            )
            assert_close(torch.tensor([score for _, score in mine]), theirs.scores[0])
            for (tokens, _), row in zip(mine, theirs.tokens[0].tolist(), strict=True):
                assert tokens == (row[: row.index(end) + 1] if end in row else row)


def test_a_beam_wide_enough_finds_the_best_there_is():
    log_probs, start, end, *_, alpha = key("hw3.beam_search", 0).cases[1].args
    max_len, vocab = 3, len(log_probs)
    everything = {}
    for tokens in itertools.product(range(vocab), repeat=max_len):
        cut = tokens[: tokens.index(end) + 1] if end in tokens else tokens
        score = sum(log_probs[a, b].item() for a, b in itertools.pairwise((start, *cut)))
        everything[cut] = score / ((5 + len(cut)) / 6) ** alpha
    best = sorted(everything, key=everything.get, reverse=True)[:5]
    found = RIGHT["beam_search"](log_probs, start, end, vocab**max_len, max_len, alpha)[:5]
    assert [tuple(tokens) for tokens, _ in found] == best
    assert_close([score for _, score in found], [everything[tokens] for tokens in best])


def test_all_at_once_or_one_by_one_is_the_same():
    layer = RIGHT["CachedAttention"](8, 2, 16)
    x = torch.randn(3, 5, 8)
    output, cache = layer(x)
    past, outputs = None, []
    for i, j in ((0, 2), (2, 3), (3, 5)):
        one, past = layer(x[:, i:j], past)
        outputs.append(one)
    assert_close(torch.cat(outputs, dim=1), output)
    assert_close(past, cache)


# ------------------------------------------------------------------------------ the worked examples


@pytest.mark.parametrize("seed", [0, 1, 10])
def test_merges_behind_the_first_pair_that_occurs_once_are_asked_for(seed):
    stops = partial(merges._learn, last_at=1)
    assert not key("hw3.byte_pairs", seed).accepts(stops)


def test_the_worked_examples_are_true():
    pairs = RIGHT["byte_pairs"]
    assert pairs({"hug": 3, "mug": 2, "hum": 1}, 9) == ["u g", "h ug", "m ug", "h u", "hu m"]
    assert pairs({"aaa": 1}, 9) == ["a a", "aa a"]
    pieces = ["un", "lock", "##lock", "##ed"]
    assert RIGHT["word_pieces"]("unlocked", pieces) == ["un", "##lock", "##ed"]
    assert RIGHT["word_pieces"]("unlocks", pieces) == ["[UNK]"]
    assert RIGHT["word_pieces"]("unlocked", [*pieces, "unl"]) == ["[UNK]"]
    rate = [RIGHT["learning_rate"](steps, 512, 4000) for steps in (0, 3998, 3999, 4000, 15999)]
    assert (f"{rate[0]:.9f}", f"{rate[2]:.6f}") == ("0.000000175", "0.000699")
    assert rate[2] == max(rate)
    assert math.isclose(rate[4], rate[2] / 2)
    logits = torch.tensor([[[0.7, 0.1, 0.1, 0.1]]]).log()
    losses = [
        RIGHT["smoothed_cross_entropy"](logits, torch.tensor([[0]]), epsilon, 3).item()
        for epsilon in (0.2, 0.0)
    ]
    assert [f"{loss:.3f}" for loss in losses] == ["0.649", "0.357"]
    logits = torch.tensor([[0.15, 0.5, 0.05, 0.3]]).log()
    assert_close(RIGHT["nucleus"](logits, 0.7), torch.tensor([[0, 0.625, 0, 0.375]]))
    assert_close(RIGHT["nucleus"](logits, 0.4), torch.tensor([[0.0, 1, 0, 0]]))
    start, end, tea, now = range(4)
    table = torch.zeros(4, 4)
    table[start, tea], table[start, now], table[tea, end], table[tea, now], table[now, end] = (
        0.6,
        0.4,
        0.55,
        0.45,
        1.0,
    )
    found = RIGHT["beam_search"](table.log(), start, end, 2, 3, 1.0)
    assert [(tokens, f"{score:.3f}") for tokens, score in found] == [
        ([now, end], "-0.785"),
        ([tea, end], "-0.950"),
    ]
    assert f"{math.log(0.6 * 0.45) * 6 / 8:.3f}" == "-0.982"


def test_the_texts_are_what_the_question_says():
    """The first animal decides the sound, the verb the sign, and no prompt is a text's
    beginning.
    """
    for seed in SEEDS[:2]:
        texts, prompts, vocab_size = key("hw3.train_and_predict", seed).cases[0].args
        assert len(texts) == 800
        assert int(texts.max()) < vocab_size
        rows = [[word for word in row if word] for row in texts.tolist()]
        assert (
            len({(row[0], row[-2]) for row in rows})
            == len({row[0] for row in rows})
            == len({row[-2] for row in rows})
        )
        assert len({(row[-3], row[-1]) for row in rows}) == len({row[-3] for row in rows}) == 3
        seen = {tuple(row[:-2]) for row in rows}
        prompts = [tuple(word for word in row if word) for row in prompts.tolist()]
        assert not seen & set(prompts)
        assert {len(prompt) for prompt in prompts} == {4, 6, 8}


@pytest.mark.parametrize(
    ("training_only", "name"), [(True, "dropout_added"), (False, "dropout_always")]
)
def test_a_memory_that_forgets_in_training_is_seen(training_only, name):
    """The layer has no dropout: it is called in training mode, too."""

    class Forgetful(RIGHT["CachedAttention"]):
        def forward(self, x, past=None):
            output, kept = super().forward(x, past)
            dropped = F.dropout(output, 0.1, self.training if training_only else True)
            return dropped, kept

    assert judged("hw3.CachedAttention", Forgetful).mistake == name
