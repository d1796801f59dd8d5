"""Decoding: the cache changes nothing but the work, a beam of 1 is greedy, a full beam is
exhaustive search, sampling follows its rules.
"""

import itertools
from dataclasses import dataclass, replace
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from lectures_lib.blocks.recording import record
from lectures_lib.decoding import (
    Decoded,
    LanguageModelWithCache,
    Step,
    StepModel,
    StepState,
    TransformerWithCache,
    WithoutCache,
    beam,
    greedy,
    keep_top_k,
    keep_top_p,
    length_penalty,
    n_best,
    sample,
)
from lectures_lib.models.transformer import Transformer, TransformerConfig, shift_right
from lectures_lib.modes import evaluating
from tests.helpers.marian_twins import marian_twins
from tests.helpers.models import jiggle

END = 2
CONFIG = TransformerConfig(11, d_model=16, n_heads=2, n_layers=2, d_ff=32, dropout=0.0, max_len=20)
LENGTHS = torch.tensor([6, 2, 4])


@dataclass
class TableState:
    """The last two tokens, and which sentence this is."""

    source: torch.Tensor
    previous: torch.Tensor

    def select(self, rows):
        return TableState(self.source[rows], self.previous[rows])


class Table:
    """The next token's scores stand in a table, by first source token and the last two target
    tokens: any model can be decoded.
    """

    def __init__(self, table, first=0):
        self.table = table
        self.first = first  # what stands before the begin token

    def start(self, source, source_lengths=None):
        return Step(None, TableState(source[:, 0], torch.full_like(source[:, 0], self.first)))

    def step(self, tokens, state, return_weights=False):
        return Step(
            self.table[state.source, state.previous, tokens], TableState(state.source, tokens)
        )


def random_table(vocab, sentences=2, spread=1.5, first=0):
    return Table(spread * torch.randn(sentences, vocab, vocab, vocab, dtype=torch.float64), first)


def transformer(**changes):
    return jiggle(Transformer(replace(CONFIG, **changes))).eval()


@pytest.fixture(scope="module", params=[False, True], ids=["post_norm", "pre_norm"])
def reverser(request):
    """A model half trained to write its source backwards: its sentences vary, and end at different
    steps.
    """
    torch.manual_seed(1)
    model = Transformer(replace(CONFIG, d_model=32, pre_norm=request.param))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(120):
        lengths = torch.randint(1, 7, (32,))
        source = torch.randint(3, 11, (32, 6)).masked_fill(torch.arange(6) >= lengths[:, None], 0)
        target = torch.zeros(32, 7, dtype=torch.long)
        for row, words, n in zip(target, source, lengths.tolist(), strict=True):
            row[:n], row[n] = words[:n].flip(0), END
        loss = F.cross_entropy(
            model(source, shift_right(target, 1), lengths).flatten(0, 1),
            target.flatten(),
            ignore_index=0,
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


def sources(batch=3, n=6):
    return torch.randint(3, 11, (batch, n))


# ---------------------------------------------------------------------------------------- the cache


@pytest.mark.parametrize("pre_norm", [False, True])
@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_cached_steps_give_the_logits_of_all_at_once(pre_norm, lengths):
    model, source, target = transformer(pre_norm=pre_norm), sources(), torch.randint(0, 11, (3, 9))
    expected = model(source, target, lengths)
    steps = TransformerWithCache(model)
    _, state, _ = steps.start(source, lengths)
    for i in range(9):
        logits, state, attention = steps.step(target[:, i], state, return_weights=True)
        assert (logits - expected[:, i]).abs().max().item() <= 1e-5
        assert attention.shape == (3, 2, 2, 6)
    with record(model) as seen:
        model(source, target, lengths)
    assert_close(
        attention[:, 1],
        seen["decoder.blocks.1.cross_attention.weights"][:, :, 8],
        atol=1e-6,
        rtol=1e-5,
    )


@pytest.mark.parametrize("decode", [greedy, beam])
def test_cached_decoding_gives_the_same_tokens(reverser, decode):
    source, lengths = sources(32), torch.randint(1, 7, (32,))
    cached = decode(reverser, source, lengths, begin=1, end=END, max_len=15)
    uncached = decode(WithoutCache(reverser), source, lengths, begin=1, end=END, max_len=15)
    assert torch.equal(cached.tokens, uncached.tokens)
    # the test would show little otherwise
    assert len({tuple(sentence) for sentence in cached.sentences()}) > 10
    assert_close(cached.scores, uncached.scores, atol=1e-5, rtol=1e-5)


def test_the_cache_saves_work():
    """A step with the cache runs the decoder over one position, whatever came before; the source is
    projected only once.
    """
    model, seen = transformer(), []
    model.decoder.blocks[0].feed_forward.register_forward_hook(
        lambda module, args, output: seen.append(args[0].shape[1])
    )
    projected = []
    model.decoder.blocks[0].cross_attention.W_K.register_forward_hook(
        lambda *_: projected.append(1)
    )
    greedy(model, sources(), begin=1, end=END, max_len=5, never=[END])
    assert seen == [1, 1, 1, 1, 1]
    assert projected == [1]
    seen.clear()
    greedy(WithoutCache(model), sources(), begin=1, end=END, max_len=5, never=[END])
    assert seen == [1, 2, 3, 4, 5]


def test_a_batch_is_its_sentences(reverser):
    """Sources of different lengths, translations that end at different steps: each sentence comes
    out as it does alone.
    """
    model, source = reverser, sources(8)
    lengths = torch.tensor([6, 2, 4, 1, 3, 6, 5, 2])
    together = greedy(model, source, lengths, begin=1, end=END, max_len=12)
    assert len(set(together.lengths.tolist())) > 2  # the test would show nothing otherwise
    best = beam(model, source, lengths, begin=1, end=END, max_len=12, width=3)
    for i, n in enumerate(lengths.tolist()):
        alone = greedy(model, source[i : i + 1, :n], begin=1, end=END, max_len=12)
        assert together.sentences()[i] == alone.sentences()[0]
        assert_close(together.scores[i : i + 1], alone.scores)
        alone = beam(model, source[i : i + 1, :n], begin=1, end=END, max_len=12, width=3)
        assert best.sentences()[i] == alone.sentences()[0]
        assert_close(best.scores[i : i + 1], alone.scores)


# ------------------------------------------------------------------------------------------- greedy


def test_greedy_by_hand():
    table = torch.full((1, 4, 4, 4), -5.0)
    # begin 1, then 3, then 0, then the end token 2
    table[0, 0, 1, 3] = table[0, 1, 3, 0] = table[0, 3, 0, 2] = 5.0
    found = greedy(Table(table), torch.tensor([[0]]), begin=1, end=2, max_len=9)
    assert found.tokens.tolist() == [[3, 0, 2]]
    assert found.sentences() == [[3, 0]]
    expected = 3 * torch.tensor([-5.0, -5.0, -5.0, 5.0]).log_softmax(-1)[3]
    assert_close(found.scores, expected[None])


def test_a_sentence_without_end_is_cut_off():
    found = greedy(random_table(5), torch.tensor([[0], [1]]), begin=1, end=2, max_len=4, never=[2])
    assert found.tokens.shape == (2, 4)
    assert found.lengths.tolist() == [4, 4]


def test_decoding_stops_when_all_have_ended():
    table = torch.zeros(2, 4, 4, 4)
    table[0, 0, 1, 2] = 9.0  # the first sentence ends at once
    table[1, 0, 1, 3] = table[1, 1, 3, 2] = 9.0  # the second one step later
    found = greedy(Table(table), torch.tensor([[0], [1]]), begin=1, end=2, max_len=50)
    assert found.tokens.tolist() == [[2, 2], [3, 2]]
    assert found.lengths.tolist() == [0, 1]
    # what follows the end costs nothing
    assert_close(found.scores[0], table[0, 0, 1].log_softmax(-1)[2])


def test_never_is_never_chosen_and_scores_stay_the_models_own():
    model, source = random_table(5), torch.tensor([[0]])
    free = greedy(model, source, begin=1, end=2, max_len=1)
    first = int(free.tokens[0, 0])
    other = greedy(model, source, begin=1, end=2, max_len=1, never=[first])
    log_probs = model.table[0, 0, 1].log_softmax(-1)
    assert int(other.tokens[0, 0]) == int(log_probs.topk(2).indices[1])
    assert_close(other.scores, log_probs.topk(2).values[1:])
    for decode in (beam, sample):
        assert (
            first
            not in decode(model, source, begin=1, end=2, max_len=6, never=[first])
            .tokens[0]
            .tolist()
            or first == 2
        )


def test_looks_show_the_likeliest_tokens_and_the_attention():
    model, source = transformer(), sources()
    found = greedy(model, source, LENGTHS, begin=1, end=END, max_len=6, look=4)
    assert len(found.looks) == found.tokens.shape[1]
    first = found.looks[0]
    probabilities = model(source, torch.ones(3, 1, dtype=torch.long), LENGTHS)[:, 0].softmax(-1)
    assert_close(first.probabilities, probabilities.topk(4).values)
    assert torch.equal(first.candidates, probabilities.topk(4).indices)
    assert torch.equal(first.candidates[:, 0], found.tokens[:, 0])
    assert first.attention.shape == (3, 2, 2, 6)
    assert first.attention[1, :, :, 2:].abs().max() == 0  # padding is not looked at
    assert greedy(model, source, begin=1, end=END, max_len=6).looks == []
    assert greedy(random_table(4), torch.tensor([[0]]), begin=1, end=2, max_len=2, look=9).looks[
        0
    ].candidates.shape == (1, 4)


def test_dropout_is_off_while_decoding_and_back_on_after():
    model = transformer(dropout=0.5).train()
    first, second = (
        greedy(model, sources(1) * 0 + 5, begin=1, end=END, max_len=8) for _ in range(2)
    )
    assert torch.equal(first.tokens, second.tokens)
    assert_close(first.scores, second.scores, rtol=0, atol=0)
    assert model.training and model.encoder.blocks[0].around_feed_forward.dropout.training
    model.eval()
    with evaluating(model):
        pass
    assert not model.training


# --------------------------------------------------------------------------------------------- beam


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("max_len", [3, 12])
def test_a_beam_of_one_is_greedy(reverser, alpha, max_len):
    source, lengths = sources(32), torch.randint(1, 7, (32,))
    one = beam(reverser, source, lengths, begin=1, end=END, max_len=max_len, width=1, alpha=alpha)
    expected = greedy(reverser, source, lengths, begin=1, end=END, max_len=max_len)
    assert one.sentences() == expected.sentences()
    counted = (expected.lengths + 1).clamp(max=max_len)
    penalties = torch.tensor([length_penalty(int(n), alpha) for n in counted])
    assert_close(one.scores, expected.scores / penalties)


def exhaustive(model, sentence, vocab, begin, end, max_len, alpha):
    """Every sequence that ends, or has max_len tokens, by its log probability over the length
    penalty; best first.
    """
    found = []
    others = [token for token in range(vocab) if token != end]
    for n in range(1, max_len + 1):
        for body in itertools.product(others, repeat=n - 1):
            for last in range(vocab) if n == max_len else [end]:
                tokens, total, previous, current = (*body, last), 0.0, model.first, begin
                for token in tokens:
                    total += model.table[sentence, previous, current].log_softmax(-1)[token].item()
                    previous, current = current, token
                found.append((total / ((5 + n) / 6) ** alpha, tokens + (end,) * (max_len - n)))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
@pytest.mark.parametrize("seed", range(3))
def test_a_full_beam_is_exhaustive_search(alpha, seed):
    """With room for every hypothesis, all of them are found, in the right order with the right
    scores, in both sentences.
    """
    torch.manual_seed(seed)
    vocab, max_len = 3, 4
    # The end token stands for the beginning too: no other context is the same, so no two sequences
    # have the same score.
    model = random_table(vocab, first=2)
    everything = [exhaustive(model, sentence, vocab, 2, 2, max_len, alpha) for sentence in (0, 1)]
    width = len(everything[0])
    assert width == 1 + 2 + 4 + 8 * 3
    found, _ = n_best(
        model, torch.tensor([[0], [1]]), begin=2, end=2, max_len=max_len, width=width, alpha=alpha
    )
    for sentence, expected in enumerate(everything):
        assert [tuple(row) for row in found.tokens[sentence].tolist()] == [
            tokens for _, tokens in expected
        ]
        assert_close(
            found.scores[sentence],
            torch.tensor([score for score, _ in expected], dtype=torch.float64),
        )


def test_a_wider_beam_finds_what_greedy_misses():
    table = torch.full((1, 4, 4, 4), -9.0)
    table[0, 0, 1, 3], table[0, 0, 1, 0] = 1.0, 0.8  # token 3 looks a little better than token 0 …
    table[0, 1, 3] = 0.0  # … but nothing likely follows it,
    table[0, 1, 0, 2] = 9.0  # while the sentence surely ends after token 0
    model, source = Table(table), torch.tensor([[0]])
    assert greedy(model, source, begin=1, end=2, max_len=2).tokens[0, 0] == 3
    best = beam(model, source, begin=1, end=2, max_len=2, width=2)
    assert best.sentences() == [[0]]


@pytest.mark.parametrize("width", [2, 3])
def test_a_beam_goes_on_while_the_best_is_alive(width):
    """A model that is nearly sure: what ends early is junk, and as much of it as the beam is wide
    must not end the search.
    """
    table = torch.full((1, 5, 5, 5), -9.0)
    # begin 1, then 3, 4, 3 and the end 2
    table[0, 0, 1, 3] = table[0, 1, 3, 4] = table[0, 3, 4, 3] = table[0, 4, 3, 2] = 9.0
    # to end earlier is always second best
    table[0, 0, 1, 2] = table[0, 1, 3, 2] = table[0, 3, 4, 2] = 0.0
    model, source = Table(table), torch.tensor([[0]])
    expected = greedy(model, source, begin=1, end=2, max_len=9)
    found = beam(model, source, begin=1, end=2, max_len=9, width=width, alpha=0.0)
    assert found.sentences() == expected.sentences() == [[3, 4, 3]]
    assert_close(found.scores, expected.scores)


def test_the_length_penalty_lets_longer_sentences_win():
    table = torch.full((1, 4, 4, 4), -9.0)
    table[0, 0, 1] = torch.tensor([-0.9, -9.0, -0.6, -9.0])  # to end at once, or begin with token 0
    table[0, 1, 0, 3] = table[0, 0, 3, 3] = table[0, 3, 3, 3] = 2.0
    table[0, 3, 3, 2] = 0.0
    lengths = [
        beam(
            Table(table), torch.tensor([[0]]), begin=1, end=2, max_len=8, width=4, alpha=alpha
        ).lengths.item()
        for alpha in (0.0, 5.0)
    ]
    assert lengths[0] == 0 < lengths[1]
    assert length_penalty(1, 0.6) == 1.0
    assert length_penalty(7, 1.0) == 2.0


def test_beam_equals_hugging_face():
    """The same hypothesis as `generate` on the same weights, without length penalty (theirs is
    another one).
    """
    for seed in range(3):
        torch.manual_seed(seed)
        ours, theirs = marian_twins()
        source = torch.randint(4, 30, (6, 5))
        expected = theirs.generate(
            source,
            attention_mask=torch.ones_like(source),
            num_beams=3,
            early_stopping=False,
            length_penalty=0.0,
            max_new_tokens=9,
        )
        found = beam(ours, source, begin=1, end=0, max_len=9, width=3, alpha=0.0)
        theirs_cut = [row[1:].tolist() for row in expected]
        assert [row[: row.index(0)] if 0 in row else row for row in theirs_cut] == found.sentences()


def test_steps_of_a_beam():
    found, steps = n_best(
        random_table(5), torch.tensor([[0], [1]]), begin=1, end=2, max_len=6, width=3
    )
    assert found.tokens.shape == (2, 3, 6) and found.scores.shape == (2, 3)
    assert (found.scores.diff(dim=1) <= 0).all()
    assert [step.tokens.shape for step in steps] == [(2, 3, n + 1) for n in range(len(steps))]
    assert all((step.tokens != 2).all() for step in steps)


def test_a_sentence_that_is_done_has_no_live_hypotheses():
    """Beside it others go on; what is listed for it meanwhile must not look like a hypothesis."""
    torch.manual_seed(0)
    model = random_table(5)
    model.table[0] -= 20 * (torch.arange(5) != 2)  # the first sentence ends at once
    model.table[1] -= 20 * (torch.arange(5) == 2)
    options = {"begin": 1, "end": 2, "max_len": 6, "width": 2}
    _, alone = n_best(model, torch.tensor([[0]]), **options)
    _, beside = n_best(model, torch.tensor([[0], [1]]), **options)
    assert len(alone) < len(beside) == 6
    for step, alone_too in zip(beside, alone, strict=False):
        assert_close(step.scores[0], alone_too.scores[0])
    for step in beside[len(alone) :]:
        assert step.scores[0].isinf().all() and step.scores[1].isfinite().all()
    found = greedy(model, torch.tensor([[0], [1]]), begin=1, end=2, max_len=6, look=2)
    assert found.lengths.tolist() == [0, 6]
    assert found.looks[0].probabilities[0, 0] > 0.99
    for look in found.looks[1:]:
        assert not look.probabilities[0].any() and look.probabilities[1].all()


# ----------------------------------------------------------------------------------------- sampling


def test_samples_follow_the_distribution():
    model, source = random_table(5, sentences=1), torch.zeros(20_000, 1, dtype=torch.long)
    drawn = sample(model, source, begin=1, end=2, max_len=1, temperature=0.7).tokens[:, 0]
    expected = (model.table[0, 0, 1] / 0.7).softmax(-1)
    assert_close(drawn.bincount(minlength=5) / 20_000, expected.float(), atol=0.015, rtol=0)


def test_temperature_near_zero_and_top_k_of_one_are_greedy():
    model, source = transformer(), sources()
    expected = greedy(model, source, begin=1, end=END, max_len=9)
    for rule in ({"temperature": 1e-4}, {"top_k": 1}, {"top_p": 1e-6}):
        found = sample(model, source, begin=1, end=END, max_len=9, **rule)
        assert torch.equal(found.tokens, expected.tokens)
        assert_close(found.scores, expected.scores)  # the model's own, whatever the rule


def test_a_generator_repeats_its_samples():
    model, source = random_table(6), torch.tensor([[0], [1]] * 8)
    draws = [
        sample(
            model, source, begin=1, end=2, max_len=9, generator=torch.Generator().manual_seed(seed)
        ).tokens.tolist()
        for seed in (5, 5, 6)
    ]
    assert draws[0] == draws[1] != draws[2]


@given(k=st.integers(1, 12), p=st.floats(0.01, 1.0), seed=st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_top_k_and_top_p_equal_hugging_face(k, p, seed):
    from transformers import TopKLogitsWarper, TopPLogitsWarper

    logits = 2 * torch.randn(
        3, 10, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )
    assert torch.equal(keep_top_k(logits, k), TopKLogitsWarper(k)(None, logits))
    assert torch.equal(keep_top_p(logits, p), TopPLogitsWarper(p)(None, logits))


def test_top_p_by_hand():
    logits = torch.tensor([[0.1, 0.5, 0.15, 0.25]]).log()
    kept = {p: keep_top_p(logits, p).isfinite()[0].tolist() for p in (0.3, 0.7, 0.8, 1.0)}
    assert kept == {
        0.3: [False, True, False, False],
        0.7: [False, True, False, True],
        0.8: [False, True, True, True],
        1.0: [True, True, True, True],
    }
    # two of 0.25 reach 0.5: that is enough
    assert keep_top_p(torch.zeros(1, 4), 0.5).isfinite().sum() == 2


# --------------------------------------------------------------------------------- protocol, errors


def test_models_follow_the_protocol():
    model = TransformerWithCache(transformer())
    assert isinstance(model, StepModel) and isinstance(random_table(3), StepModel)
    assert isinstance(model.start(sources()).state, StepState)
    assert not isinstance(torch.nn.Linear(1, 1), StepModel)


def test_what_cannot_be_decoded_is_said():
    with pytest.raises(
        TypeError,
        match=(
            "a Linear cannot be decoded: give a Transformer, a LanguageModel or a Seq2Seq, one of "
            "your own"
        ),
    ):
        greedy(torch.nn.Linear(1, 1), sources(), end=END, max_len=3)


def test_decoded_sentences():
    decoded = Decoded(
        torch.tensor([[4, 2, 2], [5, 6, 7]]), torch.tensor([1, 3]), torch.zeros(2), []
    )
    assert decoded.sentences() == [[4], [5, 6, 7]]


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: beam(m, sources(), begin=1, end=2, max_len=5, width=0), r"width = 0"),
        (lambda m: beam(m, sources(), begin=1, end=2, max_len=5, alpha=-1.0), r"alpha .* -1.0"),
        (lambda m: greedy(m, sources(), begin=1, end=2, max_len=0), r"max_len = 0"),
        (lambda m: greedy(m, sources(), end=2, max_len=5), r"pass begin="),
        (lambda m: greedy(m, sources(), begin=11, end=2, max_len=5), r"token id 11"),
        (
            lambda m: greedy(m, sources(), begin=1, end=11, max_len=5),
            r"end = 11 is not in the vocabulary of 11 tokens, 0 … 10",
        ),
        (lambda m: greedy(m, sources(), begin=1, end=2, max_len=5, never=[3, -1]), r"never = -1"),
        (
            lambda m: greedy(m, sources(), begin=1, end=2, max_len=21, never=[2]),
            r"20 tokens are decoded",
        ),
        (
            lambda m: greedy(m, sources(1, 21), begin=1, end=2, max_len=5),
            r"21 tokens, but positions for only 20",
        ),
        (
            lambda m: greedy(m, sources(), torch.tensor([6, 0, 1]), begin=1, end=2, max_len=5),
            r"none may be empty",
        ),
        (
            lambda m: sample(m, sources(), begin=1, end=2, max_len=5, temperature=0.0),
            r"above 0, got 0.0",
        ),
        (
            lambda m: sample(m, sources(), begin=1, end=2, max_len=5, top_k=0),
            r"top_k must be at least 1, got 0",
        ),
        (lambda m: sample(m, sources(), begin=1, end=2, max_len=5, top_p=1.5), r"top_p .* got 1.5"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call(transformer())


# -------------------------------------------------------- half precision, and texts that have ended


class Coarse:
    """A table's logits in bfloat16, as a model in half precision gives them."""

    def __init__(self, table, dtype=torch.bfloat16):
        self.table, self.dtype = table, dtype

    def start(self, source, source_lengths=None):
        return self.table.start(source, source_lengths)

    def step(self, tokens, state, return_weights=False):
        step = self.table.step(tokens, state)
        return step._replace(logits=step.logits.bfloat16().to(self.dtype))


@pytest.mark.parametrize("decode", [greedy, beam, sample])
def test_half_precision_scores_are_added_up_in_full(decode):
    """The same logits, once as bfloat16 and once as float32: the same sentences, and the same
    scores.
    """
    for seed in range(10):
        torch.manual_seed(seed)
        table, source = random_table(9, sentences=4), torch.arange(4)[:, None]
        found = []
        for dtype in (torch.bfloat16, torch.float32):
            torch.manual_seed(seed)
            found.append(
                decode(
                    Coarse(table, dtype),
                    source,
                    begin=1,
                    end=2,
                    max_len=40,
                    never=[2] if decode is not beam else [],
                )
            )
        assert found[0].scores.dtype == torch.float32
        assert torch.equal(found[0].tokens, found[1].tokens)
        assert torch.equal(found[0].scores, found[1].scores)
    assert decode(table, source, begin=1, end=2, max_len=4).scores.dtype == torch.float64


def language_model(max_len=8):
    from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig

    return LanguageModel(
        LanguageModelConfig(
            11, d_model=16, n_heads=2, n_layers=2, d_ff=32, dropout=0.0, max_len=max_len
        )
    ).eval()


@pytest.mark.parametrize(
    "decode", [greedy, sample, partial(beam, width=2)], ids=["greedy", "sample", "beam"]
)
def test_a_finished_text_neither_grows_nor_stops_the_others(decode):
    """8 positions, prompts of 6 and 2 tokens: the first ends soon, and the second may go on to its
    eighth.
    """
    model = LanguageModelWithCache(language_model())
    embedding = model.model.embedding
    start, step, scores = model.start, model.step, embedding.scores
    # the newest token of each row. Behind 3 and 4 the text ends, or goes on with them; behind the
    # others it never does
    last = []
    small = torch.tensor([3, 4])

    def biased(x, bias=None):
        ends = torch.isin(last[-1], small)[:, None]
        token = torch.arange(11)
        wanted = torch.where(
            ends, 20.0 * (token == END) + 10.0 * torch.isin(token, small), 20.0 * (token > 4)
        )
        return scores(x, bias) / 100 + wanted

    def watched_start(prompt, lengths=None):
        last.append(prompt[torch.arange(len(prompt)), lengths - 1])
        return start(prompt, lengths)

    def watched_step(tokens, state, return_weights=False):
        last.append(tokens)
        return step(tokens, state, return_weights)

    model.start, model.step, embedding.scores = watched_start, watched_step, biased
    prompt, lengths = torch.tensor([[5, 6, 7, 8, 9, 3], [5, 6, 0, 0, 0, 0]]), torch.tensor([6, 2])
    found = decode(model, prompt, lengths, end=END, max_len=6)
    assert found.lengths.tolist() == [0, 6] and len(last[-1]) == (
        1 if decode in (greedy, sample) else 2
    )
    if decode is not sample:
        alone = decode(model, prompt[1:, :2], lengths[1:], end=END, max_len=6)
        assert found.sentences()[1] == alone.sentences()[0]
        assert_close(found.scores[1:], alone.scores)
    with pytest.raises(ValueError, match="8 tokens already"):
        decode(model, prompt, lengths, end=END, max_len=9)


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"end": None}, TypeError, "end = None"),
        ({"begin": 1.0}, TypeError, r"begin = 1\.0"),
        ({"max_len": 3.5}, TypeError, r"max_len = 3\.5"),
        ({"never": ["a"]}, TypeError, r"never\[0\] = 'a'"),
        ({"look": -1}, ValueError, "look .* got -1"),
        ({"look": 1.5}, ValueError, r"look .* got 1\.5"),
    ],
)
def test_numbers_that_are_none_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        greedy(
            random_table(5), torch.tensor([[0]]), **{"begin": 1, "end": 2, "max_len": 3} | options
        )


def test_parts_that_were_at_rest_stay_so():
    model = transformer(dropout=0.5).train()
    model.encoder.eval()
    for decode in (greedy, beam):
        decode(model, sources(1), begin=1, end=END, max_len=2)
        assert (
            model.training
            and model.decoder.blocks[0].training
            and not any(part.training for part in model.encoder.modules())
        )
