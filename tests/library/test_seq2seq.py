"""The recurrent translator: its attention equals the papers' formulas written out, and padding
never shows.
"""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from lectures_lib.blocks.recording import record
from lectures_lib.decoding import StepModel, StepState, stepwise
from lectures_lib.models.seq2seq import Seq2Seq, Seq2SeqConfig
from lectures_lib.models.seq2seq import alignment as alignment_of

CONFIG = Seq2SeqConfig(source_vocab_size=11, target_vocab_size=13, d_embedding=6, d_hidden=8)
KINDS = [None, "additive", "dot", "general"]


def model_of(kind, **changes):
    torch.manual_seed(3)
    return Seq2Seq(replace(CONFIG, attention=kind, **changes)).double()


def batch_of(lengths=(5, 3), n_target=4):
    source, target = (
        torch.randint(4, 11, (len(lengths), max(lengths))),
        torch.randint(4, 13, (len(lengths), n_target)),
    )
    return source, target, torch.tensor(lengths)


def gru(cell, x, h, suffix=""):
    """One gated recurrent unit's step, as nn.GRU writes it: the reset gate acts on W h, not on
    h.
    """
    W_i, W_h, b_i, b_h = (
        getattr(cell, name + suffix) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    (r_x, z_x, n_x), (r_h, z_h, n_h) = (W_i @ x + b_i).chunk(3), (W_h @ h + b_h).chunk(3)
    r, z = torch.sigmoid(r_x + r_h), torch.sigmoid(z_x + z_h)
    return (1 - z) * torch.tanh(n_x + r * n_h) + z * h


def score(kind, look, s, h):
    if kind == "dot":
        return s @ h
    if kind == "general":
        return s @ look.score.W.weight @ h
    return look.score.v.weight[0] @ torch.tanh(
        look.score.W_q.weight @ s + look.score.W_k.weight @ h
    )


def by_hand(kind, model, source, target):
    """Logits and alignment of one sentence, a word and a number at a time."""
    encoder, decoder = model.encoder, model.decoder
    x = [encoder.embedding.weight[i] for i in source]
    forward, backward = [torch.zeros(4, dtype=torch.float64)], [torch.zeros(4, dtype=torch.float64)]
    for i in range(len(x)):
        forward.append(gru(encoder.gru, x[i], forward[-1], "_l0"))
        backward.insert(0, gru(encoder.gru, x[-1 - i], backward[0], "_l0_reverse"))
    states = [torch.cat(pair) for pair in zip(forward[1:], backward[:-1], strict=True)]
    s = torch.tanh(encoder.W_s.weight @ torch.cat([forward[-1], backward[0]]) + encoder.W_s.bias)

    def look(query):
        e = torch.stack([score(kind, decoder.look, query, h) for h in states]).exp()
        alpha = e / e.sum()
        return sum(a * h for a, h in zip(alpha, states, strict=True)), alpha

    logits, alignment = [], []
    features = torch.zeros_like(s)
    for word in target:
        y = decoder.embedding.weight[word]
        if kind is None:
            features = s = gru(decoder.gru, y, s)
        else:
            if kind == "additive":
                context, alpha = look(s)
                s = gru(decoder.gru, torch.cat([y, context]), s)
            else:
                s = gru(decoder.gru, torch.cat([y, features]), s)
                context, alpha = look(s)
            features = torch.tanh(decoder.W_c.weight @ torch.cat([context, s]) + decoder.W_c.bias)
            alignment.append(alpha)
        logits.append(decoder.output.weight @ features + decoder.output.bias)
    return torch.stack(logits), torch.stack(alignment) if alignment else None


@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_formulas_by_hand(kind):
    model, (source, target, lengths) = model_of(kind), batch_of()
    with record(model) as seen:
        logits = model(source, target, lengths)
    for i, n in enumerate(lengths):
        expected, alignment = by_hand(kind, model, source[i, :n], target[i])
        assert_close(logits[i], expected, rtol=0, atol=1e-12)
        if kind is None:
            assert "decoder.look" not in seen
        else:
            assert_close(alignment_of(seen)[i, :, :n], alignment, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(kind):
    """A sentence alone gives what it gives beside longer ones, whatever stands in its padding; so
    do its gradients.
    """
    model, (source, target, lengths) = model_of(kind), batch_of()
    together = model(source, target, lengths)
    other = source.clone()
    other[1, 3:] = 9
    assert torch.equal(model(other, target, lengths), together)
    alone = model(source[1:, :3], target[1:], lengths[1:])
    assert_close(together[1:], alone, rtol=0, atol=1e-12)
    more = torch.cat([source, torch.full((2, 4), 7)], dim=1)
    assert_close(model(more, target, lengths), together, rtol=0, atol=1e-12)
    parameters = list(model.parameters())
    upstream = torch.randn_like(alone)
    for a, b in zip(
        torch.autograd.grad(together[1:], parameters, upstream),
        torch.autograd.grad(alone, parameters, upstream),
        strict=True,
    ):
        assert_close(a, b, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_alignment_is_a_distribution_over_the_real_words(kind):
    model, (source, target, lengths) = model_of(kind), batch_of()
    with record(model) as seen:
        model(source, target, lengths)
    alignment = alignment_of(seen)
    assert alignment.shape == (2, 4, 5)
    assert_close(alignment.sum(-1), torch.ones(2, 4, dtype=torch.float64))
    assert alignment[1, :, 3:].abs().max() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_learns(kind):
    model, (source, target, lengths) = model_of(kind), batch_of()
    model(source, target, lengths).square().sum().backward()
    still = [
        name for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().max() > 0
    ]
    assert not still


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_equal_finite_differences(kind):
    model, (source, target, lengths) = model_of(kind), batch_of((2, 1), 2)
    names = [name for name, _ in model.named_parameters()]

    def logits(*values):
        return torch.func.functional_call(
            model, dict(zip(names, values, strict=True)), (source, target, lengths)
        )

    torch.autograd.gradcheck(logits, tuple(model.parameters()), fast_mode=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_sees_no_later_target_word_and_every_source_word(kind):
    model, (source, target, lengths) = model_of(kind), batch_of()
    before = model(source, target, lengths)
    target[:, 2] = (target[:, 2] + 1) % 13
    after = model(source, target, lengths)
    assert torch.equal(before[:, :2], after[:, :2]) and not torch.equal(before[:, 2], after[:, 2])
    for i in range(5):
        changed = source.clone()
        changed[0, i] = (changed[0, i] + 1) % 11
        assert (model(changed, target, lengths)[0, 0] - after[0, 0]).abs().max() > 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_steps_equal_teacher_forcing(kind):
    model, (source, target, lengths) = model_of(kind), batch_of()
    steps = stepwise(model)
    assert isinstance(steps, StepModel) and stepwise(steps) is steps
    with record(model) as seen:
        expected = model(source, target, lengths)
    logits, state, _ = steps.start(source, lengths)
    assert logits is None and isinstance(state, StepState)
    for i in range(4):
        logits, state, attention = steps.step(target[:, i], state, return_weights=True)
        assert torch.equal(logits, expected[:, i])
        assert (
            attention is None if kind is None else torch.equal(attention, alignment_of(seen)[:, i])
        )
    assert steps.step(target[:, 0], state).attention is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_can_be_reordered(kind):
    """As beam search does: row 1 twice, row 0 after it."""
    model, (source, target, lengths) = model_of(kind), batch_of()
    rows = torch.tensor([1, 1, 0])
    steps = stepwise(model)
    state = steps.step(target[:, 0], steps.start(source, lengths).state).state
    kept, moved = steps.step(target[:, 1], state), steps.step(target[rows, 1], state.select(rows))
    assert_close(moved.logits, kept.logits[rows], rtol=0, atol=1e-12)


def test_all_lengths_are_full_where_none_are_given():
    model, (source, target, _) = model_of("additive"), batch_of()
    assert torch.equal(model(source, target), model(source, target, torch.tensor([5, 5])))


def test_dropout_acts_in_training_only():
    model, (source, target, lengths) = model_of("dot", dropout=0.5), batch_of()
    assert not torch.equal(model(source, target, lengths), model(source, target, lengths))
    model.eval()
    assert torch.equal(model(source, target, lengths), model(source, target, lengths))


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda model, s, t, n: model(s, t, torch.tensor([5, 0])), r"got lengths \[5, 0\]"),
        (lambda model, s, t, n: model(s, t, torch.tensor([6, 3])), r"got lengths \[6, 3\]"),
        (lambda model, s, t, n: model(s[:, :0], t, n), r"\(2, 0\)"),
        (lambda model, s, t, n: model(s, t[:, :0], n), r"\(2, 0\)"),
        (lambda model, s, t, n: model(s + 7, t, n), r"token id 1\d .* 11, 0 … 10"),
        (lambda model, s, t, n: model(s, t - 13, n), r"token id -\d .* 13, 0 … 12"),
        (
            lambda model, s, t, n: stepwise(model).step(
                torch.tensor([4, 13]), stepwise(model).start(s, n).state
            ),
            r"token id 13 .* 13, 0 … 12",
        ),
        (lambda *_: Seq2SeqConfig(5, 5, d_hidden=7), r"d_hidden = 7"),
        (lambda *_: Seq2SeqConfig(0, 5), r"source_vocab_size = 0"),
        (
            lambda *_: Seq2SeqConfig(5, 5, attention="scaled"),
            r"'scaled'; there is: additive, dot, general",
        ),
    ],
)
def test_bad_input_is_refused_with_its_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call(model_of("additive"), *batch_of())
