"""On a GPU, where there is one: the same numbers as on the CPU, and nothing waits for it.

The other tests of devices imitate one (`test_other_device`); these are for a machine that has it.
"""

from contextlib import contextmanager
from functools import partial

import pytest
import torch
from torch.testing import assert_close

from lectures_lib import data
from lectures_lib.decoding import (
    LanguageModelWithCache,
    TransformerWithCache,
    WithoutCache,
    beam,
    greedy,
)
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.models.vit import ViT, ViTConfig
from lectures_lib.training import fit, translation_loss

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

PAIRS = [([3, 4, 5, 6], [1, 6, 5, 4, 2]), ([7, 8], [1, 8, 7, 2])] * 4


def tokens(*shape):
    return torch.randint(3, 999, shape)


MODELS = {
    "Transformer": (
        lambda: Transformer(TransformerConfig.TINY),
        lambda: (tokens(2, 5), tokens(2, 4), torch.tensor([5, 3])),
    ),
    "LanguageModel": (lambda: LanguageModel(LanguageModelConfig.TINY), lambda: (tokens(2, 5),)),
    "Bert": (
        lambda: Bert(BertConfig.TINY),
        lambda: (tokens(2, 5), torch.zeros_like(tokens(2, 5)), torch.tensor([5, 3])),
    ),
    "ViT": (lambda: ViT(ViTConfig.DIGITS), lambda: (torch.rand(2, 1, 8, 8),)),
}


def made(name):
    torch.manual_seed(0)
    make, inputs = MODELS[name]
    return make().eval(), inputs()


def first(said):
    return said if isinstance(said, torch.Tensor) else said[0]


@contextmanager
def no_waiting():
    """torch raises an error where the CPU would have to wait for the GPU."""
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("name", MODELS)
def test_a_forward_pass_is_the_cpus_and_never_waits(name):
    model, inputs = made(name)
    here = first(model(*inputs))
    there, moved = model.cuda(), [x.cuda() for x in inputs]
    with torch.no_grad(), no_waiting():
        said = first(there(*moved))
    assert_close(said.cpu(), here, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_the_cpus(name):
    def gradients(device):
        model, inputs = made(name)
        model.to(device)
        first(model(*(x.to(device) for x in inputs))).square().mean().backward()
        return {n: p.grad.cpu() for n, p in model.named_parameters() if p.grad is not None}

    assert_close(gradients("cuda"), gradients("cpu"), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_compiled_without_a_break(name):
    model, inputs = made(name)
    model.cuda()
    inputs = [x.cuda() for x in inputs]
    with torch.no_grad():
        compiled = torch.compile(model, fullgraph=True)
        assert_close(first(compiled(*inputs)), first(model(*inputs)), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "with_cache"),
    [("Transformer", TransformerWithCache), ("LanguageModel", LanguageModelWithCache)],
)
def test_a_decoding_step_never_waits(name, with_cache):
    model, _ = made(name)
    prompt, lengths, word = tokens(2, 5).cuda(), torch.tensor([5, 3]).cuda(), tokens(2).cuda()
    with torch.no_grad():
        cached = with_cache(model.cuda())
        state = cached.start(prompt, lengths).state
        with no_waiting():
            for _ in range(5):
                state = cached.step(word, state).state


@pytest.mark.parametrize("search", [greedy, partial(beam, width=3)])
def test_the_search_finds_the_cpus_sentences(search):
    model, (source, _, lengths) = made("Transformer")
    options = {"begin": 1, "end": 2, "max_len": 12}
    here = search(model, source, lengths, **options).tokens
    there = search(model.cuda(), source.cuda(), lengths.cuda(), **options).tokens
    without = search(WithoutCache(model), source.cuda(), lengths.cuda(), **options).tokens
    assert torch.equal(there.cpu(), here) and torch.equal(without.cpu(), here)


@pytest.mark.parametrize("precision", ["no", "bf16", "fp16"])
def test_fit_learns_there_and_brings_the_model_back(precision):
    torch.manual_seed(0)
    model = Transformer(TransformerConfig.TINY)
    history = fit(
        model,
        data.Batches(PAIRS, data.pad_pairs, batch_size=4, seed=0),
        translation_loss,
        torch.optim.Adam(model.parameters(), lr=3e-3),
        steps=60,
        mixed_precision=precision,
        progress=False,
    )
    assert history.losses[-1] < history.losses[0] / 3
    assert all(parameter.device.type == "cpu" for parameter in model.parameters())


def test_a_run_taken_up_again_there_is_the_run_that_never_stopped(tmp_path):
    def trained(*stops):
        torch.manual_seed(0)
        model = Transformer(TransformerConfig.TINY)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for steps in stops:
            fit(
                model,
                data.Batches(PAIRS, data.pad_pairs, batch_size=4, seed=0),
                translation_loss,
                optimizer,
                steps=steps,
                checkpoint=tmp_path / f"{stops}",
                resume=True,
                progress=False,
            )
        return model.state_dict()

    assert_close(trained(5, 12), trained(12), rtol=0, atol=0)
