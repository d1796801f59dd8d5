"""The left-to-right language model: GPT's sizes, equality with Hugging Face's GPT-2, causality, and
reading on from a prompt.
"""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from lectures_lib.blocks.recording import record
from lectures_lib.decoding import beam, greedy, sample, stepwise
from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig
from tests.helpers.models import jiggle, largest_difference

SMALLEST = LanguageModelConfig(
    13, d_model=16, n_heads=2, n_layers=2, d_ff=32, dropout=0.0, max_len=16
)
VARIANTS = {
    "gpt": replace(SMALLEST, pre_norm=False),
    "gpt2": SMALLEST,
    "sinusoids": replace(SMALLEST, learned_positions=False),
}


@pytest.fixture(params=VARIANTS)
def model(request):
    return jiggle(LanguageModel(VARIANTS[request.param])).double().eval()


def tokens(batch, n):
    return torch.randint(0, SMALLEST.vocab_size, (batch, n))


@pytest.mark.parametrize(
    ("config", "parameters"),
    [(LanguageModelConfig.GPT, 116_534_784), (LanguageModelConfig.GPT2, 124_439_808)],
)
def test_published_sizes(config, parameters):
    """GPT's 117 M, and the 124 M of GPT-2's smallest weights."""
    with torch.device("meta"):
        assert sum(p.numel() for p in LanguageModel(config).parameters()) == parameters


def gpt2_state(ours):
    """Our parameters under GPT-2's names; it stores matrices transposed, and W_Q, W_K, W_V as
    one.
    """
    state = {
        "transformer.wte.weight": ours.embedding.weight,
        "transformer.wpe.weight": ours.positions.positions,
    }
    state |= {
        f"transformer.ln_f.{kind}": getattr(ours.stack.norm, kind) for kind in ("weight", "bias")
    }
    state["lm_head.weight"] = ours.embedding.weight
    for i, block in enumerate(ours.stack.blocks):
        attention, name = block.self_attention, f"transformer.h.{i}"
        packed = (attention.W_Q, attention.W_K, attention.W_V)
        state[f"{name}.attn.c_attn.weight"] = torch.cat([linear.weight for linear in packed]).T
        state[f"{name}.attn.c_attn.bias"] = torch.cat([linear.bias for linear in packed])
        ours_of = {
            "attn.c_proj": attention.W_O,
            "mlp.c_fc": block.feed_forward.W_1,
            "mlp.c_proj": block.feed_forward.W_2,
        }
        for key, linear in ours_of.items():
            state |= {f"{name}.{key}.weight": linear.weight.T, f"{name}.{key}.bias": linear.bias}
        for key, residual in {
            "ln_1": block.around_self_attention,
            "ln_2": block.around_feed_forward,
        }.items():
            state |= {
                f"{name}.{key}.{kind}": getattr(residual.norm, kind) for kind in ("weight", "bias")
            }
    return state


def test_equals_gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    ours = jiggle(LanguageModel(SMALLEST)).eval()
    sizes = {
        "vocab_size": 13,
        "n_positions": 16,
        "n_embd": 16,
        "n_layer": 2,
        "n_head": 2,
        "n_inner": 32,
    }
    theirs = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=1, eos_token_id=2)).eval()
    theirs.load_state_dict(
        {name: tensor.detach().contiguous() for name, tensor in gpt2_state(ours).items()}
    )
    text = tokens(3, 9)
    logits, expected = ours(text), theirs(text).logits
    assert largest_difference(logits, expected) <= 5e-6
    (grad,) = torch.autograd.grad(logits.logsumexp(-1).sum(), [ours.embedding.weight])
    (expected_grad,) = torch.autograd.grad(
        expected.logsumexp(-1).sum(), [theirs.transformer.wte.weight]
    )
    assert largest_difference(grad, expected_grad) <= 2e-5


@given(n=st.integers(2, 12), data=st.data())
@settings(max_examples=25, deadline=None)
def test_causality(n, data):
    """Changing tokens after position i changes no score up to i, and does change a later one."""
    i = data.draw(st.integers(0, n - 2))
    model, text = jiggle(LanguageModel(SMALLEST)).double(), tokens(1, n)
    changed = text.clone()
    changed[:, i + 1 :] = (changed[:, i + 1 :] + 1) % SMALLEST.vocab_size
    before, after = model(text), model(changed)
    assert_close(before[:, : i + 1], after[:, : i + 1], rtol=0, atol=1e-12)
    assert largest_difference(before[:, i + 1 :], after[:, i + 1 :]) > 1e-6


def test_log_probabilities(model):
    text = tokens(2, 6)
    log_probs = model.log_probabilities(text)
    assert log_probs.shape == (2, 5)
    expected = -F.cross_entropy(
        model(text)[:, :-1].flatten(0, 1), text[:, 1:].flatten(), reduction="none"
    )
    assert_close(log_probs.flatten(), expected)


def test_an_untrained_model_is_as_perplexed_as_its_vocabulary_is_large():
    model = LanguageModel(LanguageModelConfig.TINY)
    perplexity = (-model.log_probabilities(torch.randint(0, 1000, (8, 40))).mean()).exp().item()
    assert perplexity == pytest.approx(1000, rel=0.05)


def test_reading_on_step_by_step(model):
    """A prompt and then token by token, with a cache: the scores of reading all of it at once."""
    text = tokens(2, 9)
    expected = model(text)
    steps = stepwise(model)
    logits, state, _ = steps.start(text[:, :4])
    assert_close(logits, expected[:, 3])
    for i in range(4, 9):
        logits, state, attention = steps.step(text[:, i], state, return_weights=True)
        assert_close(logits, expected[:, i])
        assert attention.shape == (2, 2, 2, i + 1)


def test_prompts_of_different_lengths(model):
    """Each continues as it does alone, whatever stands in the padding."""
    lengths = torch.tensor([6, 2, 4])
    prompts = tokens(3, 6)
    together = greedy(model, prompts, lengths, end=0, max_len=7)
    for i, n in enumerate(lengths.tolist()):
        alone = greedy(model, prompts[i : i + 1, :n], end=0, max_len=7)
        assert together.sentences()[i] == alone.sentences()[0]
        assert_close(together.scores[i : i + 1], alone.scores)
        in_beam, alone = (
            beam(model, p, n, end=0, max_len=7, width=3)
            for p, n in ((prompts, lengths), (prompts[i : i + 1, :n], None))
        )
        assert in_beam.sentences()[i] == alone.sentences()[0]
        assert_close(in_beam.scores[i : i + 1], alone.scores)


def test_greedy_continuation_is_the_argmax_of_forward(model):
    text = tokens(1, 3)
    found = greedy(
        model, text, end=SMALLEST.vocab_size - 1, max_len=8, never=[SMALLEST.vocab_size - 1]
    ).tokens
    for _ in range(8):
        scores = model(text)[:, -1, :-1]
        text = torch.cat([text, scores.argmax(-1, keepdim=True)], dim=1)
    assert torch.equal(found, text[:, 3:])


def test_it_learns_a_rhythm_and_goes_on_with_it():
    torch.manual_seed(0)
    model = LanguageModel(replace(SMALLEST, d_model=32))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    beat = torch.tensor([[1, 2, 3, 4, 5]]).repeat(8, 4)
    for _ in range(120):
        shifted = torch.stack([row.roll(k) for k, row in enumerate(beat)])[:, :15]
        loss = -model.log_probabilities(shifted).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.3
    assert greedy(
        model, torch.tensor([[2, 3, 4], [5, 1, 2]]), end=0, max_len=6
    ).tokens.tolist() == [[5, 1, 2, 3, 4, 5], [3, 4, 5, 1, 2, 3]]
    drawn = sample(model, torch.tensor([[2, 3, 4]]), end=0, max_len=6, top_k=1).tokens
    assert drawn.tolist() == [[5, 1, 2, 3, 4, 5]]


def test_embeddings_are_scaled_with_sinusoids_only():
    assert LanguageModel(VARIANTS["sinusoids"]).embedding.scale == math.sqrt(16)
    assert LanguageModel(SMALLEST).embedding.scale == 1


def test_intermediates_have_stable_names(model):
    text = tokens(2, 5)
    with record(model) as seen:
        logits = model(text)
    assert_close(logits, model(text))
    assert len(seen.all("stack.blocks.*")) == 2
    assert seen["stack.blocks.0.self_attention.weights"].shape == (2, 2, 5, 5)
    assert seen["stack.blocks.0.self_attention.weights"].triu(1).abs().max() == 0


def write_on(model, state, steps):
    for _ in range(steps):
        _, state, _ = stepwise(model).step(torch.tensor([1]), state)


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda model: model(torch.tensor([[3, 13]])),
            r"token id 13 \(row 0, position 1\).* 13, 0 … 12",
        ),
        (lambda model: model(tokens(1, 17)), r"a sequence of 17 tokens, but positions for only 16"),
        (lambda model: model(tokens(2, 0)), r"empty: .*\(2, 0\)"),
        (
            lambda model: stepwise(model).start(tokens(2, 3), torch.tensor([0, 3])),
            r"none may be empty\), got lengths \[0, 3\]",
        ),
        (
            lambda model: write_on(model, stepwise(model).start(tokens(1, 14)).state, 3),
            r"16 tokens already",
        ),
        (
            lambda model: stepwise(model).step(
                torch.tensor([13]), stepwise(model).start(tokens(1, 2)).state
            ),
            r"token id 13",
        ),
    ],
)
def test_bad_input_is_refused_with_its_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call(LanguageModel(SMALLEST))


def test_the_last_position_can_be_used():
    model = LanguageModel(SMALLEST)
    write_on(model, stepwise(model).start(tokens(1, 14)).state, 2)
