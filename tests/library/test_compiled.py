"""`torch.compile` and `torch.export` take every model whole: no graph break, the same numbers, any
batch and any length.
"""

from collections import Counter
from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from lectures_lib.decoding import TransformerWithCache, greedy
from lectures_lib.models.bert import BertConfig, BertForPreTraining
from lectures_lib.models.language_model import LanguageModel, LanguageModelConfig
from lectures_lib.models.transformer import Transformer, TransformerConfig
from lectures_lib.models.vit import ViT, ViTConfig

SMALL = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 32, "dropout": 0.0}


def tokens(batch: int, n: int) -> torch.Tensor:
    """Ids below 11."""
    return torch.randint(0, 11, (batch, n))


def lengths(batch: int, n: int) -> torch.Tensor:
    """Real lengths, one of them n."""
    return torch.randint(1, n + 1, (batch,)).index_fill(0, torch.tensor(0), n)


def transformer():
    """A Transformer, inputs of a given size, and which of their dimensions vary."""
    model = Transformer(TransformerConfig(11, **SMALL, max_len=32))
    return (
        model,
        lambda b, n: (tokens(b, n), tokens(b, n + 1), lengths(b, n)),
        ({0: "b", 1: "n"}, {0: "b", 1: "m"}, {0: "b"}),
    )


def language_model():
    """A GPT."""
    model = LanguageModel(LanguageModelConfig(11, **SMALL, max_len=32))
    return model, lambda b, n: (tokens(b, n),), ({0: "b", 1: "n"},)


def bert():
    """A BERT with its two heads."""
    model = BertForPreTraining(replace(BertConfig.TINY, vocab_size=11, **SMALL, max_len=32))
    return (
        model,
        lambda b, n: (tokens(b, n), tokens(b, n) % 2, lengths(b, n)),
        ({0: "b", 1: "n"}, {0: "b", 1: "n"}, {0: "b"}),
    )


def vit():
    """A ViT; its images all have one size."""
    model = ViT(ViTConfig.DIGITS)
    return model, lambda b, n: (torch.rand(b, 1, 8, 8),), ({0: "b"},)


MODELS = [transformer, language_model, bert, vit]


@pytest.fixture(autouse=True)
def _no_traces_left(shapes_unchecked):
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize("make", MODELS)
def test_compiled_whole_it_gives_the_same(make):
    model, inputs, _ = make()
    model.eval()
    compiled = torch.compile(model, fullgraph=True, backend="eager", dynamic=True)
    for size in ((2, 5), (3, 7)):
        given = inputs(*size)
        assert_close(compiled(*given), model(*given))


@pytest.mark.parametrize("make", MODELS)
def test_nothing_breaks_its_graph(make):
    model, inputs, _ = make()
    found = torch._dynamo.explain(model.eval())(*inputs(2, 5))
    assert (found.graph_count, found.graph_break_count) == (1, 0), found.break_reasons


@pytest.mark.parametrize("make", MODELS)
def test_exported_it_gives_the_same_for_any_batch_and_length(make):
    model, inputs, varying = make()
    sizes = {
        "b": torch.export.Dim("b", min=2, max=8),
        "n": torch.export.Dim("n", min=2, max=16),
        "m": torch.export.Dim("m", min=2, max=16),
    }
    shapes = tuple({i: sizes[name] for i, name in dimensions.items()} for dimensions in varying)
    program = torch.export.export(model.eval(), inputs(3, 6), dynamic_shapes=shapes).module()
    for size in ((3, 6), (2, 4), (5, 9)):
        given = inputs(*size)
        assert_close(program(*given), model(*given))


def test_a_compiled_step_writes_the_same_and_is_compiled_a_few_times_only():
    """A step with a cache, whose numbers of tokens and of rooms grow while it writes."""
    (model, inputs, _), compiled = transformer(), Counter()

    def count(graph, _):
        compiled["graphs"] += 1
        return graph.forward

    steps = TransformerWithCache(model)
    steps.step = torch.compile(steps.step, fullgraph=True, backend=count, dynamic=True)
    options = {"begin": 1, "end": 0, "max_len": 30, "never": [0]}
    for batch, n in ((2, 5), (3, 7)):
        source, _, source_lengths = inputs(batch, n)
        expected = greedy(model, source, source_lengths, **options)
        assert_close(greedy(steps, source, source_lengths, **options).scores, expected.scores)
    assert compiled["graphs"] <= 10


def test_it_would_show():
    """A model that reads a number from a tensor is not taken whole."""

    class Reads(nn.Module):
        def forward(self, x):
            return x * 2 if x.sum() > 0 else x

    assert torch._dynamo.explain(Reads())(torch.ones(2)).graph_break_count > 0


# torch says so of attention's fused kernel.
@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")
@pytest.mark.parametrize("make", MODELS)
def test_vmap_over_single_inputs_gives_the_batch(make):
    """Within it one tensor stands for many, whose numbers no check can read."""
    model, inputs, _ = make()
    model.eval()
    given = inputs(3, 5)
    one_by_one = torch.func.vmap(lambda *one: model(*(x[None] for x in one)))(*given)
    for found, expected in zip(
        torch.utils._pytree.tree_leaves(one_by_one),
        torch.utils._pytree.tree_leaves(model(*given)),
        strict=True,
    ):
        assert_close(found[:, 0], expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("make", MODELS)
def test_without_memory_it_gives_shapes(make):
    model, inputs, _ = make()
    given = inputs(3, 5)
    leaves = torch.utils._pytree.tree_leaves
    there = leaves(model.to("meta")(*(x.to("meta") for x in given)))
    assert [x.shape for x in there] == [x.shape for x in leaves(make()[0](*given))]
    assert {x.device.type for x in there} == {"meta"}
