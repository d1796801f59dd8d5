"""Homework 5: its inputs, its worked examples, its references against the library.

The rest: `test_banks.py` and `test_graded_class.py`.
"""

import re
from itertools import pairwise

import pytest
import torch
from torch.testing import assert_close

from lectures_lib.homework import find
from lectures_lib.models import bert
from lectures_lib.training import pretraining
from tests.homework.bank import SEEDS, judged, key, questions, seeds, text
from tests.homework.students_hw5 import CAUGHT

RIGHT = {name.split(".")[1]: find(name).reference for name in questions("hw5")}


@pytest.mark.parametrize("name", ["hw5.pair_input", "hw5.next_sentence_pairs"])
def test_a_list_that_is_changed_is_noticed(name):
    def in_place(things, *others):
        result = find(name).reference(things, *others)
        things.reverse()
        return result

    verdict = judged(name, in_place)
    assert (verdict.right, verdict.kind) == (False, "changed")


def test_inputs_are_not_square():
    """No two sizes that an answer might confuse agree by accident."""
    for seed in SEEDS:
        for name in ("hw5.Embeddings", "hw5.WordHead", "hw5.masked_word_loss"):
            for case in key(name, seed).cases:
                if name == "hw5.masked_word_loss":
                    sizes = [*case.args[0].shape, case.args[1].shape[1]]
                else:
                    sizes = [*case.args[0].shape[:2], case.init["d_model"], case.init["vocab_size"]]
                sizes = [size for size in sizes if size > 1]  # sizes of 1 are tried, too
                assert len(set(sizes)) == len(sizes), f"{name}, seed {seed}: {sizes}"


def test_a_row_without_gradient_and_an_argument_are_named():
    """Both earn half: their values are right."""

    class Padded(RIGHT["Embeddings"]):
        def __init__(self, vocab_size, d_model, max_len, n_segments=2):
            super().__init__(vocab_size, d_model, max_len, n_segments)
            self.tokens = torch.nn.Embedding(vocab_size, d_model, padding_idx=0)

    class Detached(RIGHT["WordHead"]):
        def forward(self, hidden, token_vectors, at=None):
            return super().forward(hidden, token_vectors.detach(), at)

    for name, answer, said in (
        ("hw5.Embeddings", Padded, "no gradient to row 0 of tokens.weight flows back"),
        ("hw5.WordHead", Detached, "no gradient to token_vectors flows back"),
    ):
        for seed in seeds(name):
            verdict = judged(name, answer, seed)
            assert said in verdict.message and verdict.mistake == "no_gradient"


def test_every_fate_is_met():
    """Among the inputs there are masks, replacements, words that stay, special tokens with small
    chances, and long words.
    """
    for seed in SEEDS:
        met = set()
        for case in key("hw5.mask_words", seed).cases:
            tokens, chance, fate, _ = case.args
            _, chosen = RIGHT["mask_words"](*case.args)
            met |= {("fate", f >= 0.8, f >= 0.9) for f, c in zip(fate, chosen, strict=True) if c}
            met |= {
                "special"
                for token, c in zip(tokens, chance, strict=True)
                if token.startswith("[") and c < 0.15
            }
            met |= {
                "piece"
                for token, c in zip(tokens, chosen, strict=True)
                if token.startswith("##") and c
            }
        assert met == {
            ("fate", False, False),
            ("fate", True, False),
            ("fate", True, True),
            "special",
            "piece",
        }, f"seed {seed}"


def test_no_piece_stands_right_behind_a_special_token():
    """The text says so: whether it would be a word, or the token's piece, is asked of nobody."""
    for seed in range(50):
        for case in find("hw5.mask_words").inputs(torch.Generator().manual_seed(seed)):
            assert not any(
                token in ("[CLS]", "[SEP]", "[PAD]") and piece.startswith("##")
                for token, piece in pairwise(case.args[0])
            ), f"seed {seed}"


# ------------------------------------------------------------------- the references and the library


def test_the_embeddings_are_the_librarys():
    torch.manual_seed(0)
    config = bert.BertConfig(11, d_model=6, n_heads=2, max_len=9, dropout=0.0)
    theirs = bert.BertEmbeddings(config)
    ours = RIGHT["Embeddings"](11, 6, 9)
    ours.tokens, ours.positions, ours.segments = theirs.tokens, theirs.positions, theirs.segments
    ours.norm = theirs.norm
    tokens, segments = torch.randint(11, (3, 7)), torch.randint(2, (3, 7))
    torch.nn.init.normal_(theirs.norm.bias)
    assert_close(ours(tokens, segments), theirs(tokens, segments))
    assert_close(ours(tokens), theirs(tokens))


def test_the_counts_are_the_librarys():
    for config in (bert.BertConfig.TINY, bert.BertConfig.BASE, bert.BertConfig.LARGE):
        sizes = {
            "vocab_size": config.vocab_size,
            "d_model": config.d_model,
            "n_layers": config.n_layers,
            "d_ff": config.d_ff,
        }
        sizes |= {"max_len": config.max_len, "n_segments": config.n_segments}
        with torch.device("meta"):
            models = bert.Bert(config), bert.BertForPreTraining(config)
        for model, heads in zip(models, (False, True), strict=True):
            assert RIGHT["count_bert"](**sizes, heads=heads) == sum(
                p.numel() for p in model.parameters()
            )


def test_the_head_is_the_librarys():
    torch.manual_seed(0)
    theirs, table = (
        bert.MaskedWordHead(bert.BertConfig(11, d_model=6, n_heads=2)),
        torch.nn.Embedding(11, 6),
    )
    torch.nn.init.normal_(theirs.bias)
    ours = RIGHT["WordHead"](6, 11)
    ours.load_state_dict(theirs.state_dict())
    hidden, at = torch.randn(2, 5, 6), torch.rand(2, 5) < 0.5
    assert_close(ours(hidden, table.weight), theirs(hidden, table))
    assert_close(ours(hidden, table.weight, at), theirs(hidden[at], table))


def test_the_loss_is_the_librarys():
    for case in key("hw5.masked_word_loss", 1).cases:
        logits, positions, words, weights = case.args
        rows, places = (weights == 1).nonzero().T
        theirs = pretraining.masked_word_loss(
            logits[rows, positions[rows, places]], words[rows, places]
        )
        assert_close(RIGHT["masked_word_loss"](*case.args), theirs)


def test_the_rates_of_masking_are_the_librarys():
    torch.manual_seed(0)
    n = 40_000
    read, chosen = RIGHT["mask_words"](["word"] * n, *torch.rand(2, n).tolist(), ["other"] * n)
    rates = pretraining.MaskingRates()
    assert sum(chosen) / n == pytest.approx(rates.chosen, abs=0.01)
    assert read.count("[MASK]") / sum(chosen) == pytest.approx(rates.masked, abs=0.02)
    assert read.count("other") / sum(chosen) == pytest.approx(rates.random, abs=0.02)


# ------------------------------------------------------------------------------ the worked examples


def table(question, rows):
    """The cells of a question's table, row by row, without marks."""
    section = text("hw5").split(f"## Question {question}:")[1].split("## Question")[0]
    lines = [
        line
        for line in section.splitlines()
        if line.startswith("|") and not line.startswith("|---")
    ]
    return [[cell.strip(" *`") for cell in line.strip("|").split("|")] for line in lines][1:][:rows]


def test_the_worked_example_of_pair_input():
    rows = [row[1:] for row in table(1, 6)]
    numbers = [[list(map(int, row)) for row in rows[i::3]] for i in (1, 2)]
    pairs = [[["my", "dog"], ["it", "barks"]], [["stop"], None]]
    assert RIGHT["pair_input"](pairs, "[CLS]", "[SEP]", "[PAD]") == (rows[::3], *numbers)


def test_the_worked_example_of_the_embeddings():
    model = RIGHT["Embeddings"](10, 4, 6)
    assert sum(p.numel() for p in model.parameters()) == 80
    vectors = torch.tensor([[3.0, 0], [1, 1], [0, 1]])
    assert_close(RIGHT["Embeddings"](1, 2, 1).together(*vectors), torch.tensor([1.0, -1]))


def test_the_worked_example_of_the_count():
    sizes = {"vocab_size": 5, "d_model": 2, "n_layers": 1, "d_ff": 3, "max_len": 4, "n_segments": 2}
    assert RIGHT["count_bert"](**sizes) == 81
    assert RIGHT["count_bert"](**sizes, heads=True) == 102


def test_the_worked_example_of_the_holes():
    tokens, chance, fate, others, read, chosen = map(list, zip(*table(4, 7), strict=True))
    found = RIGHT["mask_words"](tokens, list(map(float, chance)), list(map(float, fate)), others)
    assert found == (read, [word == "True" for word in chosen])


def test_the_worked_example_of_the_head():
    head = RIGHT["WordHead"](4, 10)
    assert sum(p.numel() for p in head.parameters()) == 38
    small = RIGHT["WordHead"](2, 3)
    small.bias.data = torch.tensor([0, 0, 0.5])
    scores = small.scores(torch.tensor([1.0, -1]), torch.tensor([[2.0, 0], [0, 2], [1, 1]]))
    assert scores.tolist() == [2, -2, 0.5]


def test_the_worked_example_of_the_loss():
    first, second = table(6, 2)
    assert first[4:] == ["0.50, 0.25", "0.69, 1.39"]
    assert second[1:4] == ["1, 0", "it, –", "1, 0"]
    p = torch.full((2, 4, 3), 1 / 3)
    p[0, 1], p[0, 2], p[1, 1] = torch.tensor(
        [[0.3, 0.5, 0.2], [0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]
    )
    positions, words, weights = (
        torch.tensor([[1, 2], [1, 0]]),
        torch.tensor([[1, 2], [2, 0]]),
        torch.tensor([[1.0, 1], [1, 0]]),
    )
    assert f"{RIGHT['masked_word_loss'](p.log(), positions, words, weights).item():.2f}" == "0.92"


def test_the_worked_example_of_the_pairs():
    draws = [[float(number) for number in row[1:4]] for row in table(7, 3)]
    told = [re.search(r'\("(\w+)", "(\w+)", (\d)\)', row[5]).groups() for row in table(7, 3)]
    pairs = RIGHT["next_sentence_pairs"]([["A0", "A1", "A2"], ["B0", "B1"], ["C0"]], draws)
    assert pairs == [(first, second, int(label)) for first, second, label in told]


@pytest.mark.parametrize(
    ("name", "answer"), [(name, answer) for name, answers in CAUGHT.items() for answer in answers]
)
def test_what_an_answer_leaves_out_shows_with_any_seed(name, answer):
    """An argument, a place, a size of 1, a branch: some input of each seed asks for it."""
    for seed in range(20):
        assert not key(name, seed).accepts(answer), f"seed {seed}"
