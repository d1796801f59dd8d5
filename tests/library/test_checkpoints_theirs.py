"""Whatever a configuration allows, what we write is read by Hugging Face and by us: the same
numbers, the same options.
"""

import warnings
from dataclasses import replace

import pytest
import torch
import transformers
from torch.testing import assert_close

from lectures_lib.blocks.layers import ACTIVATIONS
from lectures_lib.models import hugging_face
from lectures_lib.models.bert import Bert, BertConfig, BertForPreTraining
from lectures_lib.models.bert.checkpoint import bert_config
from lectures_lib.models.vit import ViT, ViTConfig
from lectures_lib.models.vit.checkpoint import vit_config
from lectures_lib.tasks.task_heads import (
    MultipleChoice,
    SentenceClassifier,
    SentenceRegressor,
    SpanExtractor,
    TokenTagger,
)

BERT = BertConfig(11, d_model=8, n_layers=2, n_heads=2, d_ff=12, max_len=9, dropout=0.1)
OF_BERT = [{"activation": name} for name in ACTIVATIONS]
OF_BERT += [
    {"dropout": 0.1, "attention_dropout": 0.0},
    {"dropout": 0.0, "attention_dropout": 0.3},
    {"attention_dropout": 0.1},
]
OF_BERT += [
    {"eps": 1e-5},
    {"n_segments": 1},
    {"n_segments": 3},
    {"n_heads": 8},
    {"n_layers": 1},
    {"max_len": 3},
    {"init_std": 0.5},
]
VIT = ViTConfig.DIGITS
OF_VIT = [{"activation": name} for name in ACTIVATIONS]
OF_VIT += [
    {"dropout": 0.2, "attention_dropout": 0.3},
    {"attention_dropout": 0.3},
    {"eps": 1e-5},
    {"image_size": 12, "patch_size": 3},
]
OF_VIT += [{"n_channels": 3}, {"n_classes": 1}, {"n_classes": 2}, {"n_classes": 3}, {"n_heads": 1}]
TOKENS = torch.tensor([[1, 2, 3], [4, 5, 6]])
BODIES = [
    (
        SentenceClassifier,
        "ForSequenceClassification",
        lambda bert: SentenceClassifier(bert, 3, ["a", "b", "c"]),
    ),
    (SentenceRegressor, "ForSequenceClassification", SentenceRegressor),
    (MultipleChoice, "ForMultipleChoice", MultipleChoice),
    (TokenTagger, "ForTokenClassification", lambda bert: TokenTagger(bert, 3, dropout=0.4)),
    (SpanExtractor, "ForQuestionAnswering", SpanExtractor),
]


def shaken(model):
    """Other weights than the first ones: biases of 0 and norms of 1 would hide a mistake."""
    torch.manual_seed(4)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return model.eval()


@pytest.mark.parametrize("changes", OF_BERT, ids=str)
def test_a_bert_of_any_options_is_read_by_both(tmp_path, changes):
    config = replace(BERT, **changes)
    ours = shaken(Bert(config))
    folder = ours.save_pretrained(tmp_path)
    theirs = transformers.BertModel.from_pretrained(folder).eval()
    again = Bert.from_pretrained(folder)
    assert_close(theirs(TOKENS).last_hidden_state, ours(TOKENS).hidden, rtol=1e-4, atol=1e-5)
    assert_close(theirs(TOKENS).pooler_output, ours(TOKENS).pooled, rtol=1e-4, atol=1e-5)
    assert torch.equal(again(TOKENS).pooled, ours(TOKENS).pooled)
    of_attention = config.dropout if config.attention_dropout is None else config.attention_dropout
    assert (theirs.config.hidden_dropout_prob, theirs.config.attention_probs_dropout_prob) == (
        config.dropout,
        of_attention,
    )
    assert {block.self_attention.attention.dropout for block in again.encoder.blocks} == {
        of_attention
    }
    assert again.config == replace(
        config, attention_dropout=None if of_attention == config.dropout else of_attention
    )


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_pre_training_heads_of_any_activation_are_read_by_both(tmp_path, activation):
    ours = shaken(BertForPreTraining(replace(BERT, activation=activation)))
    folder = ours.save_pretrained(tmp_path)
    theirs = transformers.BertForPreTraining.from_pretrained(folder).eval()
    assert_close(theirs(TOKENS).prediction_logits, ours(TOKENS).words, rtol=1e-4, atol=1e-5)
    assert torch.equal(BertForPreTraining.from_pretrained(folder)(TOKENS).words, ours(TOKENS).words)


@pytest.mark.parametrize("changes", OF_VIT, ids=str)
def test_a_vit_of_any_options_is_read_by_both(tmp_path, changes):
    config = replace(VIT, **changes)
    names = [f"class {i}" for i in range(config.n_classes)]
    ours = shaken(ViT(config, names))
    folder = ours.save_pretrained(tmp_path)
    theirs = transformers.ViTForImageClassification.from_pretrained(folder).eval()
    again = ViT.from_pretrained(folder)
    images = torch.rand(2, config.n_channels, config.image_size, config.image_size)
    assert_close(theirs(images).logits, ours(images), rtol=1e-4, atol=1e-5)
    assert torch.equal(again(images), ours(images))
    assert (
        again.config == config
        and again.names
        == tuple(names)
        == ViT.from_pretrained(again.save_pretrained(tmp_path / "again")).names
    )
    assert list(theirs.config.id2label.values()) == names
    dropouts = (theirs.config.hidden_dropout_prob, theirs.config.attention_probs_dropout_prob)
    assert dropouts == (config.dropout, config.attention_dropout)
    assert {block.self_attention.attention.dropout for block in again.encoder.blocks} == {
        config.attention_dropout
    }


@pytest.mark.parametrize("changes", OF_BERT[:6], ids=str)
@pytest.mark.parametrize(
    ("kind", "their_name", "make"), BODIES, ids=[kind.__name__ for kind, _, _ in BODIES]
)
def test_heads_on_a_bert_of_any_options_are_read_by_both(tmp_path, kind, their_name, make, changes):
    ours = shaken(make(shaken(Bert(replace(BERT, **changes)))))
    tokens = TOKENS[:, None].repeat(1, 2, 1) if kind is MultipleChoice else TOKENS
    folder = ours.save_pretrained(tmp_path)
    theirs = getattr(transformers, f"Bert{their_name}").from_pretrained(folder).eval()
    said = theirs(tokens)
    said = (said.start_logits, said.end_logits) if kind is SpanExtractor else said.logits
    expected = ours(tokens)
    expected = tuple(expected) if kind is SpanExtractor else expected
    assert_close(said[:, 0] if kind is SentenceRegressor else said, expected, rtol=1e-4, atol=1e-5)
    again = kind.from_pretrained(folder)
    assert_close(tuple(again(tokens)), tuple(ours(tokens)), rtol=0, atol=0)
    assert (again.names, again.dropout.p) == (ours.names, ours.dropout.p)


@pytest.mark.parametrize(
    "kind", ["MaskedLM", "TokenClassification", "QuestionAnswering", "SequenceClassification"]
)
def test_a_body_is_read_from_their_checkpoints_with_and_without_a_pooler(tmp_path, kind):
    sizes = {
        "vocab_size": 11,
        "hidden_size": 8,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 12,
    }
    theirs = getattr(transformers, f"BertFor{kind}")(transformers.BertConfig(**sizes)).eval()
    theirs.save_pretrained(tmp_path)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ours = Bert.from_pretrained(tmp_path)
    assert_close(ours(TOKENS).hidden, theirs.bert(TOKENS).last_hidden_state, rtol=1e-4, atol=1e-5)
    has_pooler = kind == "SequenceClassification"
    assert (
        [str(w.message) for w in said if "no pooler" in str(w.message)] == []
        if has_pooler
        else "no pooler" in str(said[-1].message)
    )
    assert ours.pooler.weight.isfinite().all() and 0 < ours.pooler.weight.std() < 0.1


def test_a_regressors_checkpoint_is_no_classifier(tmp_path):
    folder = SentenceRegressor(Bert(BERT)).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="read it as a SentenceRegressor"):
        SentenceClassifier.from_pretrained(folder)


@pytest.mark.parametrize(
    ("config", "theirs", "message"),
    [
        (bert_config, {"hidden_act": "tanh"}, "hidden_act = 'tanh'"),
        (vit_config, {"hidden_act": "tanh"}, "hidden_act = 'tanh'"),
        (vit_config, {"image_size": [32, 16]}, r"image_size = \[32, 16\], not a square"),
        (vit_config, {"patch_size": (4, 2)}, r"patch_size = \(4, 2\), not a square"),
    ],
)
def test_options_that_we_do_not_have_are_refused(config, theirs, message):
    with pytest.raises(ValueError, match=message):
        config(theirs)


def test_sizes_given_as_height_and_width():
    assert vit_config({"image_size": [32, 32], "patch_size": (4, 4)}) == replace(
        ViTConfig.B16, image_size=32, patch_size=4, n_classes=2
    )


def test_each_activation_comes_back_from_its_written_name():
    assert {
        hugging_face.ACTIVATIONS[hugging_face.activation_written(name)] for name in ACTIVATIONS
    } == set(ACTIVATIONS)
