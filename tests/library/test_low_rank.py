"""Low-rank differences beside a frozen body: nothing changes before the first step, only what
should learn learns, and merged layers answer the same.
"""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from lectures_lib import stored
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.models.minilm import checkpoint
from lectures_lib.tasks import alignment, low_rank
from lectures_lib.tasks.fine_tuning import (
    batches,
    fine_tune,
    pairs,
    predict,
    questions,
    sentences,
    tagged,
)
from lectures_lib.tasks.low_rank import LowRank
from lectures_lib.tasks.task_heads import SentenceClassifier, SpanExtractor, TokenTagger
from lectures_lib.tokenization import WordPiece

CONFIG = BertConfig(vocab_size=50, max_len=12, d_model=16, n_heads=2, d_ff=24, n_layers=2)
TOKENS = torch.tensor([[2, 7, 9, 11, 3], [2, 8, 3, 0, 0]])
LENGTHS = torch.tensor([5, 3])


def made(kind=SentenceClassifier):
    torch.manual_seed(0)
    body = Bert(CONFIG)
    model = kind(body) if kind is SpanExtractor else kind(body, 2)
    return model.eval()


def shaken(model):
    """Every B away from 0, where a wrong product would not show."""
    with torch.no_grad():
        for layer, name in low_rank.linear_layers(model.bert, LowRank):
            getattr(layer, name).B.normal_(std=0.1)
    return model


def test_the_formula():
    torch.manual_seed(0)
    linear, x = nn.Linear(6, 4), torch.randn(3, 6)
    W, b = linear.weight.clone(), linear.bias.clone()
    layer = LowRank(linear, r=2, alpha=6.0)
    nn.init.normal_(layer.B)
    assert_close(layer(x), x @ W.T + b + 6.0 / 2 * x @ layer.A.T @ layer.B.T)
    assert_close(layer(x), x @ (W + 3.0 * layer.B @ layer.A).T + b)


def test_a_layer_without_bias():
    layer = LowRank(nn.Linear(6, 4, bias=False), r=1)
    nn.init.normal_(layer.B)
    x = torch.randn(3, 6)
    assert_close(layer.merged()(x), layer(x))
    assert layer.merged().bias is None


def test_nothing_changes_before_the_first_step():
    model = made()
    before = model(TOKENS, lengths=LENGTHS)
    low_rank.adapt(model, r=4)
    assert torch.equal(model(TOKENS, lengths=LENGTHS), before)


def test_only_the_thin_matrices_and_the_head_learn():
    model = made()
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    low_rank.adapt(model, r=4)
    shaken(model)
    model(TOKENS, lengths=LENGTHS).square().sum().backward()
    for name, parameter in model.named_parameters():
        thin_or_head = name.endswith((".A", ".B")) or name.startswith("head.")
        assert parameter.requires_grad == thin_or_head, name
        assert (parameter.grad is not None and parameter.grad.any()) == thin_or_head, name
        if not thin_or_head:
            assert torch.equal(parameter, state[name])


def test_how_many_numbers_learn():
    model = made()
    low_rank.adapt(model, r=4)
    # in each of 2 blocks four of 16 × 16, one of 24 × 16, one of 16 × 24; the pooler; the head
    thin = 2 * (4 * (16 + 16) + 2 * (16 + 24)) + (16 + 16)
    assert sum(t.numel() for t in low_rank.learned(model).values()) == 4 * thin + 2 * (16 + 1)


@pytest.mark.parametrize("kind", [SentenceClassifier, TokenTagger, SpanExtractor])
def test_merged_layers_answer_the_same(kind):
    model = made(kind)
    names = list(model.state_dict())
    low_rank.adapt(model, r=4)
    shaken(model)
    adapted = model(TOKENS, lengths=LENGTHS)
    low_rank.merge(model)
    merged = model(TOKENS, lengths=LENGTHS)
    for one, other in zip(adapted, merged, strict=True):
        assert_close(one, other, atol=1e-6, rtol=1e-5)
    assert list(model.state_dict()) == names and not low_rank.linear_layers(model.bert, LowRank)
    assert all(p.requires_grad for p in model.parameters()), "the whole body can learn again"


def test_a_rank_that_is_refused_freezes_nothing(shapes_unchecked):
    model = made()
    for r in (0, 10_000):
        with pytest.raises(ValueError, match=f"got r = {r}"):
            low_rank.adapt(model, r=r)
        assert all(p.requires_grad for p in model.parameters())
        assert not low_rank.linear_layers(model.bert, LowRank)


def test_a_rank_that_only_some_layers_can_have_freezes_nothing(shapes_unchecked):
    """Feed-forward layers may be narrower than the vectors: the attention before them is not."""
    model = SentenceClassifier(Bert(replace(CONFIG, d_ff=8)), 2)
    with pytest.raises(ValueError, match="from 16 to 8 numbers has a rank of at most 8"):
        low_rank.adapt(model, r=10)
    assert all(p.requires_grad for p in model.parameters())


def test_adapted_twice_is_refused(shapes_unchecked):
    model = made()
    low_rank.adapt(model)
    with pytest.raises(ValueError, match=r"adapted before \(13 layers\): merge it first"):
        low_rank.adapt(model)
    low_rank.merge(model)
    low_rank.adapt(model)


@pytest.mark.parametrize(
    ("linear", "r", "error", "says"),
    [
        (nn.Linear(6, 4), 5, ValueError, "from 6 to 4 numbers has a rank of at most 4, got r = 5"),
        (nn.Linear(6, 4), 0, ValueError, "r must be at least 1, got r = 0"),
        (nn.Linear(6, 4), 1.5, TypeError, "r must be a whole number"),
        (nn.ReLU(), 1, TypeError, "beside an nn.Linear, got ReLU"),
    ],
)
def test_a_rank_that_does_not_fit_is_refused(shapes_unchecked, linear, r, error, says):
    with pytest.raises(error, match=says):
        LowRank(linear, r)


def test_it_learns_a_small_task():
    tokenizer = WordPiece.load(checkpoint() / "vocab.txt")
    rows = [
        {"text": f"a {colour} {thing}", "label": int(colour == "red")}
        for colour in ("red", "green", "blue")
        for thing in ("house", "dog", "car", "tree")
    ]
    torch.manual_seed(0)
    model = SentenceClassifier(Bert.from_pretrained(checkpoint(), dropout=0.0), 2)
    low_rank.adapt(model, r=2)
    cut = batches(sentences(rows, tokenizer), batch_size=6)
    history = fine_tune(model, cut, epochs=8, rate=5e-3)
    assert history.losses[-1] < 0.3 < history.losses[0]


def test_what_is_kept_comes_back(tmp_path):
    torch.manual_seed(0)
    model = SentenceClassifier(
        Bert.from_pretrained(checkpoint(), dropout=0.0), 2, names=("complaint", "praise")
    ).eval()
    low_rank.adapt(model, r=2)
    shaken(model)
    stored.save_adapted(model, tmp_path / "small.safetensors")
    back = stored.load_adapted(tmp_path / "small.safetensors")
    assert back.names == ("complaint", "praise")
    tokens = torch.tensor([[101, 2023, 2003, 2204, 102]])
    assert_close(back(tokens), model(tokens), atol=2e-2, rtol=2e-2)  # half precision
    assert (tmp_path / "small.safetensors").stat().st_size < 300_000


@torch.no_grad()
def test_what_was_learned_comes_back_beside_another_body():
    path = stored.FOLDER / "sentiment.safetensors"
    body = Bert.from_pretrained(checkpoint(), dropout=0.0)
    for parameter in body.parameters():
        parameter.mul_(1.01)
    published, other = stored.load_adapted(path), stored.load_adapted(path, body)
    W, other_W = (m.bert.encoder.blocks[0].self_attention.W_Q.weight for m in (published, other))
    original = Bert.from_pretrained(checkpoint()).encoder.blocks[0].self_attention.W_Q.weight
    assert_close(other_W - 1.01 * original, W - original, atol=1e-6, rtol=0)  # 2 B A beside both
    assert not torch.equal(W, original)
    assert_close(other.head.weight, published.head.weight)


def test_another_alpha_is_not_kept(tmp_path):
    model = made()
    low_rank.adapt(model, r=4, alpha=4.0)
    with pytest.raises(ValueError, match=r"α = 2 r can be kept, not with α / r = \[1.0\]"):
        stored.save_adapted(model, tmp_path / "small.safetensors")
    assert not (tmp_path / "small.safetensors").exists()


def test_a_plain_model_is_not_kept(tmp_path):
    with pytest.raises(ValueError, match="was not adapted"):
        stored.save_adapted(made(), tmp_path / "small.safetensors")


def test_a_damaged_small_file_is_refused(tmp_path):
    path = tmp_path / "small.safetensors"
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="is damaged"):
        stored.load_adapted(path)


def test_the_critic_knows_praise():
    model, tokenizer = stored.sentiment()
    texts = ["A warm and funny film.", "Dull, long and badly acted.", "I loved every minute."]
    rows = [{"text": text, "label": 0} for text in texts]
    assert predict(model, sentences(rows, tokenizer)) == [1, 0, 1]


def test_the_judge_of_pairs_knows_what_means_the_same():
    model, tokenizer = stored.similarity()
    asked = [
        ("A man is playing a guitar.", "Someone plays the guitar."),
        ("A man is playing a guitar.", "A man is cutting an onion."),
        ("A man is playing a guitar.", "The parliament has passed the law."),
    ]
    rows = [{"first": first, "second": second, "score": 0.0} for first, second in asked]
    same, half, other = predict(model, pairs(rows, tokenizer))
    assert 5.5 > same > 2.5 > half > other - 0.3 and other < 1


def test_the_tagger_finds_names():
    model, tokenizer = stored.entities()
    line = "Met Emma Watson at Heathrow today , she flew in from New York"
    words = line.split()
    rows = [{"words": words, "labels": ["O"] * len(words)}]
    (found,) = predict(model, tagged(rows, tokenizer, model.names))
    named = [word for word, label in zip(words, found, strict=True) if model.names[label] != "O"]
    assert {"Emma", "Watson", "New", "York"} <= set(named) and "flew" not in named


def test_the_reader_points_at_answers():
    model, tokenizer = stored.answers()
    text = (
        "The ferry leaves at seven in the morning. In winter it does not run, because of the ice."
    )
    asked = ["When does the ferry leave?", "Why does it not run in winter?"]
    rows = [{"question": question, "context": text, "answers": []} for question in asked]
    examples = questions(rows, tokenizer, 192)
    found = [
        alignment.quote(example.reads[0], text, *span)
        for example, span in zip(examples, predict(model, examples), strict=True)
    ]
    assert "seven" in found[0] and "ice" in found[1]
