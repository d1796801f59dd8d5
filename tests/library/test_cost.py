"""What `cost` counts by formula is what torch counts while our own models run."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from lectures_lib.blocks.attention import causal_mask, scaled_dot_product_attention
from lectures_lib.blocks.layers import Encoder
from lectures_lib.decoding.cache import KeyValueCache, encoder_block_with_cache
from lectures_lib.models.bert import Bert, BertConfig, BertForPreTraining
from lectures_lib.training import cost

BERT = BertConfig(70, d_model=24, n_layers=3, n_heads=4, d_ff=40, dropout=0.0, max_len=20)


def counted(function):
    """The operations that torch counts, and what the function gives; fused kernels are not counted
    on every device.
    """
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        result = function()
    return counter.get_total_flops(), result


def test_a_block_by_parts():
    block = Encoder(1, 24, 4, 40).blocks[0]
    x = torch.randn(2, 7, 24)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        block(x)
    by_module = {name: sum(flops.values()) for name, flops in counter.get_flop_counts().items()}
    attention = cost.attention_flops(7, 7, 24)
    assert by_module["EncoderBlock.feed_forward"] == 2 * cost.feed_forward_flops(7, 24, 40)
    assert by_module["EncoderBlock.self_attention"] == 2 * sum(attention.values())
    assert 4 * by_module["EncoderBlock.self_attention.W_Q"] == 2 * attention["projections"]


@pytest.mark.parametrize(("batch", "n"), [(1, 5), (3, 20)])
def test_berts_body(batch, n):
    model = Bert(BERT)
    flops, _ = counted(lambda: model(torch.randint(0, 70, (batch, n))))
    assert flops == sum(cost.bert_flops(BERT, n, batch).values())


def test_pretraining_forward_and_backward():
    model = BertForPreTraining(BERT)
    tokens, at = torch.randint(0, 70, (3, 11)), torch.rand(3, 11) < 0.3

    def forward():
        encoded = model.bert(tokens)
        return model.masked_words(
            encoded.hidden[at], model.bert.embeddings.tokens
        ), model.next_sentence(encoded.pooled)

    forward_flops, (words, following) = counted(forward)
    parts = cost.bert_flops(BERT, 11, 3, scored=int(at.sum()))
    assert forward_flops == sum(parts.values())
    loss = F.cross_entropy(words, tokens[at]) + F.cross_entropy(following, torch.tensor([0, 1, 1]))
    backward_flops, _ = counted(loss.backward)
    assert forward_flops + backward_flops == sum(cost.training_flops(parts).values())


def test_heads_are_counted_only_where_asked_for():
    assert "heads" not in cost.bert_flops(BERT, 5)
    assert cost.bert_flops(BERT, 5, scored=0)["heads"] == 4 * 24
    with pytest.raises(
        ValueError, match="11 positions to be scored, but 2 inputs of 5 tokens have 10"
    ):
        cost.bert_flops(BERT, 5, 2, scored=11)


@pytest.mark.parametrize(
    "config",
    [BERT, BertConfig.BASE, BertConfig.LARGE, BertConfig.MINILM],
    ids=["tiny", "base", "large", "minilm"],
)
def test_parameters(config):
    with torch.device("meta"):
        for model, heads in ((Bert(config), False), (BertForPreTraining(config), True)):
            assert sum(p.numel() for p in model.parameters()) == sum(
                cost.bert_parameters(config, heads).values()
            )


def test_rule_of_thumb_is_the_exact_count_of_the_matrices():
    """6 N D counts every matrix of the blocks once for each token; biases and norms are in N,
    attention's scores are not.
    """
    d, d_ff, L = BERT.d_model, BERT.d_ff, BERT.n_layers
    parts = cost.training_flops(cost.bert_flops(BERT, n=10, batch=4))
    exact = parts["projections"] + parts["feed_forward"]
    assert exact == cost.rule_of_thumb(L * (4 * d * d + 2 * d * d_ff), 40)


def test_generating_with_and_without_a_cache():
    config = replace(BERT, vocab_size=50)
    encoder = Encoder(config.n_layers, config.d_model, config.n_heads, config.d_ff)
    head = torch.nn.Linear(config.d_model, 50, bias=False)
    prompt, new = 6, 5

    def with_cache():
        caches = [KeyValueCache() for _ in encoder.blocks]
        for n in [prompt, *([1] * (new - 1))]:
            x, mask = torch.randn(1, n, config.d_model), causal_mask(n) if n > 1 else None
            for block, cache in zip(encoder.blocks, caches, strict=True):
                x = encoder_block_with_cache(block, x, cache, mask)
            head(x[:, -1])

    def anew():
        for n in range(prompt, prompt + new):
            head(encoder(torch.randn(1, n, config.d_model))[:, -1])

    assert counted(with_cache)[0] == cost.generation_flops(config, prompt, new)
    assert counted(anew)[0] == cost.generation_flops(config, prompt, new, cache=False)


def kept_bytes(function, model):
    """What autograd keeps of the function's forward pass, parameters left out."""
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept, alive = {}, []

    def note(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in parameters:
            kept[storage.data_ptr()] = storage.nbytes()
        alive.append(tensor)  # so that no storage is freed and its address used again
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = function()
    del result
    return sum(kept.values())


@pytest.mark.parametrize("explicit", [True, False], ids=["explicit", "fused"])
@pytest.mark.parametrize(("batch", "n"), [(2, 7), (3, 20)])
def test_activations_are_what_autograd_keeps(batch, n, explicit, monkeypatch):
    encoder = Encoder(
        BERT.n_layers, BERT.d_model, BERT.n_heads, BERT.d_ff, activation="gelu"
    ).train()
    x = torch.randn(batch, n, BERT.d_model, requires_grad=True)
    if explicit:
        monkeypatch.setattr(
            "lectures_lib.blocks.attention.fused_attention", scaled_dot_product_attention
        )
    kept = kept_bytes(lambda: encoder(x), encoder)
    assert kept == sum(cost.activation_bytes(BERT, n, batch, explicit).values())


def test_half_precision_of_korthikanti():
    """Their 34 bytes for each token and unit of width, without the 2 of dropout's masks and the
    statistics.
    """
    config = replace(BERT, d_ff=4 * BERT.d_model, n_layers=1)
    linear = cost.activation_bytes(config, 1, width=2)["linear"]
    assert linear == (34 - 2) * config.d_model + 2 * 4


def test_a_training_steps_memory():
    parts = cost.training_bytes(BERT, 10, 4, explicit=True)
    weights = 4 * sum(cost.bert_parameters(BERT).values())
    assert (parts["weights"], parts["gradients"], parts["moments"]) == (
        weights,
        weights,
        2 * weights,
    )
    twice = cost.training_bytes(BERT, 20, 4, explicit=True)
    assert twice["linear"] == 2 * parts["linear"] and twice["attention"] == 4 * parts["attention"]
    fused = cost.training_bytes(BERT, 20, 4)
    assert fused["attention"] * 20 == twice["attention"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: cost.bert_flops(BERT, 0),
        lambda: cost.bert_flops(BERT, 4, batch=0),
        lambda: cost.generation_flops(BERT, 0, 3),
        lambda: cost.activation_bytes(BERT, 4, width=0),
    ],
)
def test_numbers_below_one_are_refused(call):
    with pytest.raises(ValueError, match=r"must be at least 1: \w+ = 0"):
        call()
